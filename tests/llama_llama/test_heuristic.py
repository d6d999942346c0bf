"""The heuristic chooses what the rule of thumb says, spelled out here card by card."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator

import numpy as np
import pytest

import agents  # noqa: F401
from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.game import Game
from llama_envs.core.registry import make_game
from llama_envs.llama_llama.config import MAX_HAND
from llama_envs.llama_llama.deck import random_deck
from llama_envs.llama_llama.heuristic import CARE, plan
from llama_envs.policies import make_policy
from llama_envs.policies.view import kernel_of
from tests.cases import choose_in

TABLES = {
    "two": {"num_players": 2},
    "three": {"num_players": 3},
    "four": {"num_players": 4},
    "long passes": {"num_players": 4, "pass_counts": (2, 5, 7, 4)},
    "another deck": {"num_players": 4, "deck": random_deck(3)},
}


class RuleOfThumb:
    """The choice of one seat, in plain Python: every set of cards is tried, in the order of the binary numbers."""

    def __init__(self, game: Game, state: np.void, seat: int, care: float) -> None:
        params = game.params[0]
        self.kinds = range(int(params["num_kinds"]))
        self.deck = params["deck"].tolist()
        self.letter = params["letter"].tolist()
        first = params["first_combination"].tolist()
        self.combinations = [
            (kind, params["need"][c].tolist(), int(params["points"][c]))
            for kind in self.kinds
            for c in range(first[kind], first[kind + 1])
        ]
        self.care = care
        self.hand = state["hand"][seat].tolist()
        self.phase = int(state["phase"])
        self.goal = int(state["goal"][seat])
        self.shown = [int(state["goal"][state["owner"][display]]) for display in range(self.phase)]
        if self.phase > 0:
            start, stop = params["pass_start"][self.phase - 1 : self.phase + 1].tolist()
            self.picked = state["passed"][seat, start : start + int(state["cycle"])].tolist()
            self.needed = stop - start - len(self.picked)

    def choose(self) -> int:
        return self.choose_card() if self.phase else self.choose_goal()

    def choose_goal(self) -> int:
        held = [kind for kind in self.kinds if self.hand[kind]]
        values = []
        for kind in held:
            cards = [k for k in self.kinds for _ in range(self.hand[k])]
            cards.remove(kind)
            values.append(self.worth(self.expected(kind), cards))
        return held[values.index(max(values))]

    def choose_card(self) -> int:
        goals = self.expected(self.goal)
        spare = [kind for kind in self.kinds for _ in range(self.hand[kind])]
        for kind in self.picked:
            spare.remove(kind)
        best, best_kind = -np.inf, -1
        for code in range(1 << len(spare)):
            chosen = [kind for i, kind in enumerate(spare) if code >> i & 1]
            if len(chosen) != self.needed or (self.picked and chosen[0] < self.picked[-1]):
                continue
            kept = [kind for i, kind in enumerate(spare) if not code >> i & 1]
            value = self.worth(goals, kept) - self.care * self.worth(goals, chosen + self.picked)
            if value > best:
                best, best_kind = value, chosen[0]
        return best_kind

    def expected(self, own_goal: int) -> list[float]:
        """How many goals of each kind: known ones, and an average over unseen cards for the others."""
        hidden = [] if own_goal in self.shown else [own_goal]
        known = self.shown + hidden
        in_hand = 0 if self.phase else 1  # the own goal is still among the cards held
        unseen = [
            max(self.deck[k] - self.hand[k] - self.shown.count(k) - (0 if in_hand else hidden.count(k)), 0)
            for k in self.kinds
        ]
        total = sum(unseen)
        return [known.count(k) + ((4 - len(known)) * unseen[k] / total if total else 0.0) for k in self.kinds]

    def worth(self, goals: list[float], cards: list[int]) -> float:
        letters = [self.letter[kind] for kind in cards]
        counts = [letters.count(letter) for letter in range(7)]
        value = 0.0
        for kind, need, points in self.combinations:
            copies = min(count // needed for count, needed in zip(counts, need, strict=True) if needed)
            value += copies * (goals[kind] * points)
        return value


def positions(options: dict[str, object], games: int, erratic: int) -> Iterator[tuple[Batch, np.ndarray]]:
    """Games that the heuristic plays, but every ``erratic``-th choice is random; the batch before each step."""
    batch = Batch(make_game("llama_llama", **options), games, seed=11)
    heuristic = make_policy("heuristic", batch.game)
    streams = policy_streams(games, 2)
    for step in itertools.count():
        if (batch.to_move < 0).any():
            return
        seats = batch.to_move.astype(np.int64)
        yield batch, seats
        actions = choose_in(heuristic, batch.game, batch.state, seats)
        odd = (np.arange(games) + step) % erratic == 0
        batch.step(np.where(odd, batch.sample_actions(streams), actions))


@pytest.mark.parametrize("care", [0.3, 0.0, 2.0])
@pytest.mark.parametrize("table", TABLES)
def test_the_kernel_chooses_what_the_rule_of_thumb_says(table: str, care: float) -> None:
    chosen = set()
    for step, (batch, seats) in enumerate(positions(TABLES[table], 12, 3)):
        actions = choose_in(make_policy(f"heuristic:{care}", batch.game), batch.game, batch.state, seats)
        for i in range(step % 4, 12, 4):
            rule = RuleOfThumb(batch.game, batch.state[i], int(seats[i]), care)
            assert actions[i] == rule.choose(), (step, i)
            chosen.add((rule.phase, int(actions[i])))
    assert {phase for phase, _ in chosen} == set(range(5))
    assert len(chosen) > 20


@pytest.mark.parametrize("table", TABLES)
def test_a_plan_is_what_choosing_one_by_one_gives(table: str) -> None:
    longest = 0
    plans: dict[tuple[int, int], list[int]] = {}
    for batch, seats in positions(TABLES[table], 20, 10**9):
        game = batch.game
        policy = make_policy("heuristic", game)
        actions = choose_in(policy, game, batch.state, seats)
        records, params = game.records(batch.state.copy()), game.records(game.params)[0]
        for i, seat in enumerate(seats):
            planned = np.full(MAX_HAND, -1)
            number = plan(records[i], params, seat, kernel_of(policy).options, planned)
            whole = plans.get((i, int(seat)))
            if not whole:
                whole = planned[:number].tolist()
                longest = max(longest, number)
            assert planned[:number].tolist() == whole
            assert whole[0] == actions[i]
            plans[i, int(seat)] = whole[1:]
    assert longest == max(batch.game.config.pass_counts)


def test_a_policy_with_a_memory_can_be_copied() -> None:
    policy = make_policy("heuristic:1.5", make_game("llama_llama", num_players=3))
    kernel, twin = kernel_of(policy), kernel_of(pickle.loads(pickle.dumps(policy)))
    assert kernel is not None
    assert twin is not None
    assert (twin.choose, twin.memory, twin.needs_mask) == (kernel.choose, kernel.memory, kernel.needs_mask)
    assert kernel.memory > MAX_HAND - 1
    assert twin.options.tolist() == kernel.options.tolist()
    assert twin.options[CARE] == 1.5


@pytest.mark.parametrize("argument", ["x", "-0.1", "10.5", "nan", "inf", "1:1"])
def test_a_care_that_is_none_is_refused(argument: str) -> None:
    game = make_game("llama_llama")
    with pytest.raises(ValueError, match=rf"^the care in 'heuristic:CARE' must be .* 0 to 10, got '{argument}'\.$"):
        make_policy(f"heuristic:{argument}", game)
