"""The kernels against the plain-Python referee, state by state, over players, decks and options."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from llama_envs.core.game import Game
from llama_envs.llama_llama.config import LlamaLlamaConfig
from llama_envs.llama_llama.deck import Deck, load_deck, random_deck
from llama_envs.llama_llama.game import make_game
from llama_envs.llama_llama.state import DEAL, DUMMY_DRAW, DUMMY_GOAL, DUMMY_SEAT, PLACE
from tests.llama_llama.tables import small_deck
from tests.oracles.llama_llama import LlamaLlamaReferee

EVENTS = {"dummy seat": DUMMY_SEAT, "deal": DEAL, "dummy goal": DUMMY_GOAL, "place": PLACE, "draw": DUMMY_DRAW}
GAMES = 2100
PARTS = 6


def random_config(rng: random.Random) -> LlamaLlamaConfig:
    """Players, deck, hand size and every option at random; often a small deck, so that totals tie."""
    n = rng.choice((2, 3, 4))
    hand_size = rng.choice((2, 3, 3, 4, 5, 8))
    if hand_size == 8:
        deck: Deck = rng.choice((load_deck("reconstructed"), random_deck(rng.randrange(50))))
    else:
        copies: tuple[int, ...] = ()
        while not 4 * hand_size <= sum(copies) <= 32:
            copies = tuple(rng.randint(1, 7) for _ in range(rng.randint(4, 9)))
        deck = small_deck(copies, pairs=hand_size > 2)
    counts = (
        (4, 3, 2, 1) if hand_size == 8 and rng.random() < 0.5 else [rng.randint(1, hand_size - 1) for _ in range(4)]
    )
    return LlamaLlamaConfig(
        num_players=n,
        deck=deck,
        pass_counts=counts,
        dummy_displays={2: tuple(rng.sample(range(1, 5), 2)), 3: (rng.randint(1, 4),)},
        target_score=rng.choice((1, 20, 60, 100, 10_000)),
        num_rounds=rng.choice((1, 2, 3, 4)),
        hand_size=hand_size,
        reward=rng.choice(("win", "score", "rank")),
    )


def make_referee(config: LlamaLlamaConfig) -> LlamaLlamaReferee:
    deck = config.cards
    return LlamaLlamaReferee(
        letters=[card.letter for card in deck.cards],
        copies=[card.copies for card in deck.cards],
        rules=[[(part.letters, part.points) for part in card.combinations] for card in deck.cards],
        num_players=config.num_players,
        pass_counts=config.pass_counts,
        dummy_displays=dict(config.dummy_displays),  # type: ignore[arg-type]
        target_score=config.target_score,
        num_rounds=config.num_rounds,
        hand_size=config.hand_size,
        reward=config.reward,
    )


def piles(counts: Any, kinds: int) -> list[list[int]]:
    return [np.repeat(np.arange(kinds), row[:kinds]).tolist() for row in counts]


def assert_same(game: Game, state: Any, referee: LlamaLlamaReferee) -> None:
    """Every field of the record says what the referee says."""
    n, kinds = game.num_players, game.num_actions
    assert int(state["to_move"]) == (-1 if referee.to_move is None else referee.to_move)
    assert int(state["chance"]) == (0 if referee.event is None else EVENTS[referee.event])
    assert bool(state["terminated"]) == referee.terminated
    assert not state["truncated"]
    assert piles(state["hand"], kinds) == referee.hands
    assert piles(state["stock"][None], kinds) == [sorted(referee.stock)]
    assert state["total"][:n].tolist() == referee.totals
    assert state["round_score"][:n].tolist() == (referee.round_scores[-1] if referee.round_scores else [0] * n)
    assert int(state["rounds"]) == referee.rounds_played
    assert int(state["phase"]) == referee.revealed
    picks = [referee.goal_picks[p] if p < n else None for p in range(4)]
    goals = [goal if goal is not None else pick for goal, pick in zip(referee.goals_by_owner, picks, strict=True)]
    assert state["goal"].tolist() == [-1 if goal is None else goal for goal in goals]
    assert state["owner"].tolist() == [-1 if owner is None else owner for owner in referee.display]
    lefts = [referee.dummy_left_of(p) for p in range(n)]
    assert state["left"][:n].tolist() == [(p + 1) % n if hand is None else hand for p, hand in enumerate(lefts)]
    assert np.allclose(state["reward"][:n], referee.rewards, atol=1e-6)
    for seat in range(n):
        passed = [kind for pile in referee.passed[seat] for kind in pile] + referee.picks[seat]
        assert [kind for kind in state["passed"][seat].tolist() if kind >= 0] == passed
        received = [kind for pile in referee.received[seat] for kind in pile]
        assert [kind for kind in state["received"][seat].tolist() if kind >= 0] == received


def chance_outcome(game: Game, state: Any, params: Any, referee: LlamaLlamaReferee, rng: random.Random) -> int:
    """Check the probabilities of the pending event and choose an outcome by them."""
    probs = np.full(game.max_chance_outcomes, np.nan)
    number = game.rules.chance_outcomes(state, params, probs)
    pending = referee.pending()
    assert pending is not None
    expected = [float(pending.get(outcome, 0)) for outcome in range(number)]
    assert max(pending) < number <= game.max_chance_outcomes
    assert np.allclose(probs[:number], expected, atol=1e-12)
    return rng.choices(range(number), expected)[0]


def play_both(config: LlamaLlamaConfig, rng: random.Random) -> int:
    """One random game on both; returns the number of steps compared."""
    game, referee = make_game(config), make_referee(config)
    state, params = game.records(np.zeros(1, game.state_dtype))[0], game.records(game.params)[0]
    mask = np.zeros(game.num_actions, np.bool_)
    game.rules.start_game(state, params)
    steps = 0
    while True:
        assert_same(game, state, referee)
        for seat in range(game.num_players):
            game.rules.legal_actions(state, params, seat, mask)
            assert set(np.flatnonzero(mask)) == referee.legal(seat)
        if referee.terminated:
            break
        if referee.event is not None:
            outcome = chance_outcome(game, state, params, referee, rng)
            game.rules.apply_chance(state, params, outcome)
            referee.resolve(outcome)
        else:
            action = rng.choice(sorted(referee.legal()))
            game.rules.apply(state, params, action)
            referee.act(action)
        steps += 1
    shares = game.win_shares(np.array([state], game.state_dtype).view(game.visible_dtype))
    winners = referee.winners()
    assert shares[0].tolist() == [1 / len(winners) if seat in winners else 0.0 for seat in range(game.num_players)]
    return steps


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_games_agree_state_by_state(part: int) -> None:
    rng = random.Random(part)
    assert sum(play_both(random_config(rng), rng) for _ in range(GAMES // PARTS)) > 50 * GAMES // PARTS


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_default_game_agrees_state_by_state(num_players: int) -> None:
    rng = random.Random(num_players)
    for _ in range(5):
        play_both(LlamaLlamaConfig(num_players=num_players), rng)
