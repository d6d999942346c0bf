"""The kernels and the plain-Python referee, which was written from the rules page alone, tell the same game.

Hypothesis chooses the configuration, a taste for the kinds of action, and the seed by which cards and actions are
drawn; after every decision and every chance event all that both know must be equal.
"""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from llama_envs.core.game import Game
from llama_envs.core.registry import make_game
from llama_envs.lama.state import EXCHANGE, RETURN, TURN
from tests.oracles.lama import LamaReferee

GAMES_AT_ONCE = 5  # of one configuration
EXAMPLES = 90  # for each number of players: 5 x 90 x 5 = 2,250 games in all
MOST_EVENTS = 1500  # games go on longer only with small decks and high targets; there, the rest is more of the same
PHASES = {TURN: "turn", RETURN: "return", EXCHANGE: "exchange"}

played: Counter[str] = Counter()


class Kernels:
    """One record driven by the rules kernels alone, chance outcomes given from outside."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._records = game.records(np.zeros(1, game.state_dtype))
        self.record, self.params = self._records[0], game.records(game.params)[0]
        self._probabilities = np.zeros(game.max_chance_outcomes)
        self._mask = np.zeros(game.num_actions, np.bool_)
        game.rules.start_game(self.record, self.params)

    def pending(self) -> dict[int, float] | None:
        if self.record["chance"] == 0:
            return None
        count = self.game.rules.chance_outcomes(self.record, self.params, self._probabilities)
        return {k: float(p) for k, p in enumerate(self._probabilities[:count]) if p > 0}

    def legal(self, seat: int) -> set[str]:
        self.game.rules.legal_actions(self.record, self.params, seat, self._mask)
        return {name for name, is_legal in zip(self.game.action_names, self._mask, strict=True) if is_legal}

    def act(self, name: str) -> None:
        self.game.rules.apply(self.record, self.params, self.game.action_id(name))

    def resolve(self, outcome: int) -> None:
        self.game.rules.apply_chance(self.record, self.params, outcome)


def count_ranks(cards: list[int]) -> list[int]:
    return [cards.count(rank) for rank in range(7)]


def told_by_referee(referee: LamaReferee) -> dict[str, Any]:
    phase = referee.phase
    facts = {
        "terminated": referee.terminated,
        "truncated": referee.truncated,
        "to_move": -1 if referee.to_move is None else referee.to_move,
        "white": referee.white,
        "black": referee.black,
        "total": referee.totals,
        "rounds": referee.rounds_played,
        "hand": [count_ranks(hand) for hand in referee.hands],
        "hand_size": [len(hand) for hand in referee.hands],
        "stock": count_ranks(referee.stock),
        "discard": count_ranks(referee.discard),
        "top": referee.discard[-1] if referee.discard else -1,
        "starter": -1 if referee.starter is None else referee.starter,
    }
    if referee.starter is not None:
        facts["active"] = referee.active
    if phase in PHASES.values():
        facts["phase"] = phase
    return facts


def told_by_kernels(kernels: Kernels, names: dict[str, Any]) -> dict[str, Any]:
    record, players = kernels.record, kernels.game.num_players
    facts = {}
    for name in names:
        value = record[name].tolist()
        facts[name] = value[:players] if name in kernels.game.seat_fields else value
    if "phase" in names:
        facts["phase"] = PHASES[facts["phase"]]
    return facts


def compare(kernels: Kernels, referee: LamaReferee) -> dict[int, Fraction] | None:
    """All that both know is equal; returns what is pending."""
    facts = told_by_referee(referee)
    assert told_by_kernels(kernels, facts) == facts
    players = kernels.game.num_players
    assert kernels.record["reward"].tolist()[:players] == pytest.approx(referee.rewards, abs=1e-6)
    pending = referee.pending()
    told = kernels.pending()
    assert told == (None if pending is None else {outcome: float(p) for outcome, p in pending.items()})
    for seat in range(players):
        assert kernels.legal(seat) == (referee.legal() if seat == referee.to_move else set())
    return pending


def kind_of(name: str) -> str:
    return name.split()[0] if name.startswith(("play", "return")) else name


def play_both(options: dict[str, Any], taste: dict[str, int], seed: int) -> None:
    """One game told by both, from the start to its end (or ``MOST_EVENTS``)."""
    rng = random.Random(seed)
    kernels, referee = Kernels(make_game("lama", **options)), LamaReferee(**options)
    for _ in range(MOST_EVENTS):
        pending = compare(kernels, referee)
        if pending is not None:
            outcome = rng.choices(list(pending), [float(p) for p in pending.values()])[0]
            kernels.resolve(outcome)
            referee.resolve(outcome)
            continue
        if referee.phase == "over":
            played["terminated" if referee.terminated else "truncated"] += 1
            return
        names = sorted(referee.legal())
        name = rng.choices(names, [taste[kind_of(name)] for name in names])[0]
        played[kind_of(name)] += 1
        kernels.act(name)
        referee.act(name)
        if referee.phase != "chance":
            assert kernels.record["last_actor"] == referee.last_actor
    played["cut short"] += 1


@st.composite
def configurations(draw: st.DrawFn, num_players: int) -> dict[str, Any]:
    """Any options of the game; a full deck as often as a small one."""
    options: dict[str, Any] = {
        "num_players": num_players,
        "first_player": draw(st.sampled_from(["random", *range(num_players)])),
        "next_starter": draw(st.sampled_from(["last_actor", "rotate"])),
        "chip_return": draw(st.sampled_from(["choice", "auto"])),
        "chip_exchange": draw(st.sampled_from(["auto", "choice"])),
        "reward": draw(st.sampled_from(["win", "score", "rank"])),
        "target_score": draw(st.one_of(st.just(40), st.integers(1, 80))),
        "max_rounds": draw(st.one_of(st.none(), st.integers(1, 4))),
    }
    if options["max_rounds"] == 1:
        options["single_round_terminates"] = draw(st.booleans())
    if draw(st.booleans()):
        options["num_ranks"] = ranks = draw(st.integers(2, 7))
        fewest = -(-(num_players + 1) // ranks)  # a card for each seat and one to turn up
        options["copies"] = copies = draw(st.integers(fewest, max(fewest, 8)))
        options["hand_size"] = draw(st.integers(1, min((ranks * copies - 1) // num_players, 8)))
    return options


tastes = st.fixed_dictionaries(
    {
        "play": st.sampled_from([2, 1, 8]),
        "draw": st.sampled_from([2, 1, 8]),
        "quit": st.sampled_from([2, 1, 8]),
        "keep": st.sampled_from([1, 3]),
        "return": st.sampled_from([1, 3]),
        "ten white to black": st.sampled_from([1, 3]),
        "black to ten white": st.sampled_from([1, 3]),
    }
)


EVEN_TASTE = dict.fromkeys(("play", "draw", "quit", "keep", "return", "ten white to black", "black to ten white"), 1)


@pytest.mark.parametrize("num_players", range(2, 7))
def test_kernels_and_referee_agree_state_by_state(num_players: int) -> None:
    long = {"num_players": num_players, "chip_exchange": "choice", "target_score": 200, "reward": "score"}

    @settings(max_examples=EXAMPLES, deadline=None)
    @example(options=long, taste=EVEN_TASTE, seed=1)
    @example(options={**long, "max_rounds": 2}, taste=EVEN_TASTE, seed=2)
    @given(options=configurations(num_players), taste=tastes, seed=st.integers(0, 2**32 - 1))
    def agree(options: dict[str, Any], taste: dict[str, int], seed: int) -> None:
        eager = {**taste, "play": 20 * taste["play"], "draw": 4 * taste["draw"]}  # hands get empty, chips go back
        for game in range(GAMES_AT_ONCE):
            play_both(options, eager if game % 2 else taste, seed + game)

    played.clear()
    agree()
    assert played["terminated"] + played["truncated"] + played["cut short"] >= EXAMPLES * GAMES_AT_ONCE
    for kind in ("terminated", "truncated", *EVEN_TASTE):
        assert played[kind] > 0, kind
