"""What is passed and received in Llama Llama, measured: letters, points kept and given up, cards that goals pay for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.lib.study import Arrays
from llama_envs.core.compile import kernel
from llama_envs.core.contract import Integers, Params, State, States
from llama_envs.core.game import Game
from llama_envs.llama_llama.config import DISPLAYS
from llama_envs.llama_llama.rules import NUM_LETTERS, count_letters, goal_points

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Watch = Callable[[States, Ints, Ints], None]  # states before a pass (n,), rows of the batch (n,), picks (n, P, count)


@kernel
def known_goals(state: State, params: Params, seat: int, known: Integers) -> int:
    """Write the kinds of the goals that ``seat`` knows to lie on the table; returns how many.

    Those revealed, and its own, unless a revealed one of the same kind may be its own (P6, P7).
    """
    number = 0
    own_seen = False
    for display in range(state.phase):
        kind = state.goal[state.owner[display]]
        known[number] = kind
        number += 1
        own_seen = own_seen or (kind == state.goal[seat] and (state.may_own[display] >> seat) & 1 == 1)
    if not own_seen:
        known[number] = state.goal[seat]
        number += 1
    return number


@kernel
def paid_by(params: Params, goals: Any, number: int, letters: Integers) -> int:
    """Points that the first ``number`` of ``goals`` pay for ``letters``."""
    points = 0
    for i in range(number):
        points += goal_points(params, goals[i], letters)
    return points


@kernel(allocates=True)
def most_kept(params: Params, goals: Integers, number: int, letters: Integers, count: int) -> int:
    """The most points that ``goals`` can pay for a hand of ``letters`` from which ``count`` cards go."""
    cards = np.zeros(params.hand_size, np.int64)
    size = 0
    for letter in range(NUM_LETTERS):
        for _ in range(letters[letter]):
            cards[size] = letter
            size += 1
    best = 0
    kept = np.zeros(NUM_LETTERS, np.int64)
    for chosen in range(1 << size):
        stay = 0
        for i in range(size):
            stay += (chosen >> i) & 1
        if stay != size - count:
            continue
        kept[:] = 0
        for i in range(size):
            kept[cards[i]] += (chosen >> i) & 1
        best = max(best, paid_by(params, goals, number, kept))
    return best


@kernel(allocates=True)
def measure_passes(
    states: Any, all_params: Params, picks: Ints, held: Ints, passed: Ints, paid: Ints, best: Ints, kept: Ints
) -> None:
    """For every game i and seat s: letters held and passed, cards that known goals pay for, points kept and possible.

    ``paid[i, s]``: cards held, and cards passed, without which the known goals pay less now. ``kept[i, s]``: points
    that the known goals pay for the cards not passed; ``best[i, s]``: the most that they could.
    """
    params = all_params[0]
    known = np.zeros(DISPLAYS + 1, np.int64)
    letters = np.zeros(NUM_LETTERS, np.int64)
    for i in range(len(states)):
        state = states[i]
        for seat in range(picks.shape[1]):
            count_letters(state, params, seat, letters)
            held[i, seat] = letters
            passed[i, seat] = 0
            for pick in range(picks.shape[2]):
                passed[i, seat, params.letter[picks[i, seat, pick]]] += 1
            number = known_goals(state, params, seat, known)
            whole = paid_by(params, known, number, letters)
            paid[i, seat] = 0
            for letter in range(NUM_LETTERS):
                if letters[letter] > 0:
                    letters[letter] -= 1
                    if paid_by(params, known, number, letters) < whole:
                        paid[i, seat, 0] += held[i, seat, letter]
                        paid[i, seat, 1] += passed[i, seat, letter]
                    letters[letter] += 1
            best[i, seat] = most_kept(params, known, number, letters, picks.shape[2])
            for letter in range(NUM_LETTERS):
                letters[letter] -= passed[i, seat, letter]
            kept[i, seat] = paid_by(params, known, number, letters)


@kernel(allocates=True)
def measure_received(states: Any, all_params: Params, picks: Ints, received: Ints, gain: Ints) -> None:
    """``gain[i, s]``: points that all four goals pay more for what seat s keeps and receives than for what it keeps."""
    params = all_params[0]
    letters = np.zeros(NUM_LETTERS, np.int64)
    for i in range(len(states)):
        state = states[i]
        for seat in range(picks.shape[1]):
            count_letters(state, params, seat, letters)
            for pick in range(picks.shape[2]):
                letters[params.letter[picks[i, seat, pick]]] -= 1
            before = paid_by(params, state.goal, DISPLAYS, letters)
            for pick in range(picks.shape[2]):
                letters[params.letter[received[i, seat, pick]]] += 1
            gain[i, seat] = paid_by(params, state.goal, DISPLAYS, letters) - before


class PassLog:
    """Adds up, for each row of a batch, what one seat of it passes; a :data:`Watch`.

    Attributes:
        sums: arrays (N, 4 passes, ...): ``held`` and ``passed`` by letter (..., 7); ``paid`` (..., 2), cards held and
            passed that a goal known to the seat pays for; ``best``, the points that these goals could pay for what is
            kept, and ``given_up``, how much less they do; ``greedy``, 1 where nothing is given up; ``passes``.
    """

    def __init__(self, game: Game, num_games: int, seat: Ints) -> None:
        self.game, self.seat = game, seat
        shape = (num_games, DISPLAYS)
        self.sums: Arrays = {
            "held": np.zeros((*shape, NUM_LETTERS), np.int64),
            "passed": np.zeros((*shape, NUM_LETTERS), np.int64),
            "paid": np.zeros((*shape, 2), np.int64),
            **{name: np.zeros(shape, np.int64) for name in ("given_up", "best", "greedy", "passes")},
        }

    def __call__(self, before: States, rows: Ints, picks: Ints) -> None:
        """Add one pass."""
        n, players, _ = picks.shape
        held, passed = np.zeros((2, n, players, NUM_LETTERS), np.int64)
        paid = np.zeros((n, players, 2), np.int64)
        best, kept = np.zeros((2, n, players), np.int64)
        records = self.game.records
        measure_passes(records(before), records(self.game.params), picks, held, passed, paid, best, kept)
        number = int(before["phase"][0]) - 1
        at = (np.arange(n), self.seat[rows])
        given_up = best[at] - kept[at]
        found = {
            "held": held[at], "passed": passed[at], "paid": paid[at], "given_up": given_up, "best": best[at],
            "greedy": given_up == 0, "passes": np.ones(n, np.int64),
        }  # fmt: skip
        for name, values in found.items():
            self.sums[name][rows, number] += values
