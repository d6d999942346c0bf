"""Worlds drawn for a seat: exactly uniform on tiny decks, never impossible, and fit to play on from."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from llama_envs.core.batch import Batch, policy_streams, resampled
from llama_envs.core.game import Game
from llama_envs.llama_llama.config import LlamaLlamaConfig
from llama_envs.llama_llama.game import make_game
from tests.llama_llama.possible_worlds import View, World, possible_worlds
from tests.llama_llama.tables import expand, play, small_deck, small_game, view_of

DRAWS = 100_000


def draw_worlds(game: Game, state: Any, seat: int, number: int, seed: int = 1) -> Any:
    """(number,) worlds of ``seat`` in one game."""
    return resampled(game, state[None].copy(), np.array([seat]), policy_streams(1, seed), number)[0]


def world_counts(game: Game, worlds: Any) -> Counter[World]:
    kinds = game.num_actions
    rows = np.concatenate([worlds["hand"][:, :, :kinds].reshape(len(worlds), -1), worlds["goal"], worlds["owner"]], 1)
    counts: Counter[World] = Counter()
    for row, number in zip(*np.unique(rows, axis=0, return_counts=True), strict=True):
        hands = tuple(expand(row[hand * kinds : (hand + 1) * kinds]) for hand in range(4))
        goals, owner = (tuple(map(int, row[start : start + 4])) for start in (4 * kinds, 4 * kinds + 4))
        counts[hands, goals, owner] += int(number)
    return counts


def compare(found: Counter[World], possible: Counter[World]) -> tuple[float, float, float]:
    """p of the chi-square test, total variation distance, and the distance that chance alone is expected to make."""
    number, total = sum(found.values()), sum(possible.values())
    worlds = sorted(possible, key=lambda world: possible[world])
    expected = np.array([possible[world] for world in worlds]) * number / total
    seen = np.array([found[world] for world in worlds])
    distance = np.abs(seen - expected).sum() / 2 / number
    noise = np.sqrt(expected * (1 - expected / number) / (2 * np.pi)).sum() / number
    cells = (np.cumsum(expected) // 10).astype(int)  # neighbours together until 10 are expected
    seen, expected = (np.bincount(cells, values) for values in (seen, expected))
    keep = expected > 0
    if keep.sum() == 1:
        return 1.0, distance, noise
    return float(stats.chisquare(seen[keep], expected[keep]).pvalue), distance, noise


def anything(view: View) -> bool:
    return True


def own_kind_shown(view: View) -> bool:
    """A revealed goal may be the seat's own."""
    return view.goal in view.shown


def own_kind_shown_and_received(view: View) -> bool:
    return own_kind_shown(view) and any(view.goal in kinds for kinds in view.received)


def perhaps_returned(view: View) -> bool:
    """A received card may be one that the seat passed."""
    lap = view.num_players - 1
    return any(
        set(view.received[later]) & set(view.passed[earlier])
        for later in range(lap, len(view.passed))
        for earlier in range(later - lap + 1)
    )


def tied_ahead(view: View) -> bool:
    """A later round, in which the seat's goal has more than one place but not all."""
    return 1 < sum(view.seat in owners for owners in view.may_own) < 4


def dummy_after(steps: int) -> Callable[[View], bool]:
    """Three players: the dummy sits so many players after the seat."""
    return lambda view: view.left[(view.seat + steps) % 3] == 3


CASES = [
    # players, copies, hand, passes, phase, rounds before, which view
    (4, (3, 3, 3, 3), 3, (1, 1, 1, 1), 1, 0, anything),
    (4, (4, 4, 4), 3, (1, 1, 1, 1), 2, 0, own_kind_shown),
    (4, (3, 3, 3, 3), 3, (1, 1, 1, 1), 3, 0, anything),
    (4, (5, 4, 3), 3, (1, 1, 1, 1), 3, 0, own_kind_shown_and_received),
    (4, (3, 3, 3, 3), 3, (2, 1, 1, 1), 4, 0, anything),
    (4, (5, 4, 4), 3, (1, 2, 1, 1), 4, 0, own_kind_shown),
    (4, (2, 2, 2, 2, 2), 2, (1, 1, 1, 1), 4, 1, tied_ahead),
    (3, (3, 3, 3, 3), 3, (1, 1, 1, 1), 2, 0, dummy_after(0)),
    (3, (4, 4, 4), 3, (1, 1, 1, 1), 4, 0, dummy_after(0)),
    (3, (4, 4, 4), 3, (1, 1, 1, 1), 3, 0, dummy_after(1)),
    (3, (4, 4, 4), 3, (2, 1, 1, 1), 3, 0, dummy_after(2)),
    (3, (3, 3, 3), 2, (1, 1, 1, 1), 4, 0, perhaps_returned),
    (3, (4, 4, 4), 3, (2, 1, 1, 1), 4, 1, perhaps_returned),
    (2, (3, 3, 3, 3), 3, (1, 1, 1, 1), 2, 0, anything),
    (2, (3, 3, 3), 2, (1, 1, 1, 1), 4, 0, perhaps_returned),
    (2, (2, 2, 2, 2, 2), 2, (1, 1, 1, 1), 4, 1, perhaps_returned),
    (2, (4, 4, 4), 3, (2, 1, 1, 1), 3, 0, perhaps_returned),
    (2, (4, 4, 4), 3, (1, 2, 1, 1), 3, 0, own_kind_shown),
]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, (case[0], *case[3:6]))))
def test_worlds_are_uniform_over_what_legal_courses_lead_to(case: Any) -> None:
    n, copies, hand_size, pass_counts, phase, rounds, wanted = case
    game = small_game(
        copies, num_players=n, hand_size=hand_size, pass_counts=pass_counts, num_rounds=9, target_score=10_000
    )
    batch = Batch(game, 300, seed=3)
    play(batch, n * (rounds * (1 + sum(pass_counts)) + 1 + sum(pass_counts[: phase - 1])), seed=4)
    assert (batch.state["phase"] == phase).all()
    views = ((state, view_of(game, state, seat)) for state in batch.state for seat in range(n))
    state, view = next((state, view) for state, view in views if wanted(view))
    possible = possible_worlds(view)
    found = world_counts(game, draw_worlds(game, state, view.seat, DRAWS))
    assert set(found) <= set(possible)
    p, distance, noise = compare(found, possible)
    assert p > 1e-3
    assert distance < 1.5 * noise + 0.001
    assert len(found) > 1


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_worlds_of_the_goal_phase_are_uniform(num_players: int) -> None:
    game = small_game((2, 2, 2, 2), num_players=num_players, hand_size=2, pass_counts=(1, 1, 1, 1))
    batch = Batch(game, 1, seed=1)
    play(batch, 1, seed=1)
    worlds = draw_worlds(game, batch.state[0], num_players - 1, DRAWS)
    found: Counter[tuple[int, ...]] = Counter(expand(row) for row in worlds["hand"][:, 0])
    unseen = np.repeat(np.arange(4), game.config.cards.counts - batch.state["hand"][0, num_players - 1, :4])
    pairs = Counter(tuple(sorted((int(a), int(b)))) for k, a in enumerate(unseen) for b in unseen[k + 1 :])
    expected = {pair: count * DRAWS / pairs.total() for pair, count in pairs.items()}
    assert set(found) == set(expected)
    assert stats.chisquare([found[pair] for pair in expected], list(expected.values())).pvalue > 1e-3
    picked = worlds["hand"][np.arange(DRAWS), 0, worlds["goal"][:, 0]]
    assert (picked > 0).all()


def replay(game: Game, state: Any) -> None:
    """Undo all finished passes of a world by its logs, then play them again by the rules page: all are possible."""
    n, config = game.num_players, game.config
    starts = np.cumsum([0, *config.pass_counts])
    finished = int(state["phase"]) - 1
    hands = [Counter(expand(row)) for row in state["hand"]]
    lefts = [int(hand) for hand in state["left"][:n]]

    def cards(log: str, seat: int, number: int) -> Counter[int]:
        kinds = state[log][seat][starts[number] : starts[number + 1]].tolist()
        assert min(kinds) >= 0
        assert log == "received" or kinds == sorted(kinds)
        return Counter(kinds)

    def move(number: int, sign: int) -> None:
        before = [Counter(hand) for hand in hands]
        for seat in range(n):
            passed, received = cards("passed", seat, number), cards("received", (seat + 1) % n, number)
            steps = [(seat, passed, -1), (lefts[seat], passed, 1)]
            if lefts[seat] >= n:
                steps += [(lefts[seat], received, -1), ((seat + 1) % n, received, 1)]
            else:
                assert passed == received
            if sign > 0:
                assert passed <= before[seat]  # what is received in a pass cannot be passed on in it
                assert lefts[seat] < n or received <= before[lefts[seat]] + passed
            for hand, pile, way in steps:
                for kind, count in pile.items():
                    hands[hand][kind] += sign * way * count

    for number in reversed(range(finished)):
        move(number, -1)
        assert all(min(hand.values(), default=0) >= 0 for hand in hands)
    for number in range(finished):
        move(number, 1)
    assert [+hand for hand in hands] == [Counter(expand(row)) for row in state["hand"]]


def total_cards(state: Any) -> Any:
    """(N, K) cards of each kind in hands, stock and goals that have left their hands."""
    kinds = state["stock"].shape[1]
    goals = (state["goal"][:, :, None] == np.arange(kinds)).sum(1) * (state["phase"] > 0)[:, None]
    return state["hand"].sum(1) + state["stock"] + goals


def random_small_config(rng: random.Random) -> LlamaLlamaConfig:
    hand_size = rng.randint(2, 8)
    copies: tuple[int, ...] = ()
    while not 4 * hand_size <= sum(copies) <= 32:
        copies = tuple(rng.randint(1, 8) for _ in range(rng.randint(3, 12)))
    counts = tuple(rng.randint(1, hand_size - 1) for _ in range(4))
    n = rng.choice((2, 3, 4))
    return LlamaLlamaConfig(num_players=n, deck=small_deck(copies), pass_counts=counts, hand_size=hand_size)


DEFAULTS = [LlamaLlamaConfig(num_players=n) for n in (2, 3, 4)]
CONFIGS = DEFAULTS + [random_small_config(random.Random(seed)) for seed in range(30)]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"{c.num_players}-{c.hand_size}-{c.pass_counts}")
def test_worlds_look_alike_to_the_seat_and_can_be_played_on(config: LlamaLlamaConfig) -> None:
    game = make_game(config)
    games = 1000 if config in DEFAULTS else 60
    batch = Batch(game, games, seed=7, autoreset=True)
    picks, streams = policy_streams(games, 8), policy_streams(games, 9)
    length = game.num_players * (1 + sum(config.pass_counts))
    rng = random.Random(config.hand_size)
    deck = np.zeros(32, np.int64)
    deck[: game.num_actions] = config.cards.counts
    for k in range(2 * length):
        batch.step(batch.sample_actions(picks))
        if k % max(length // 12, 1) != 0:
            continue
        seats = np.array([rng.randrange(game.num_players) for _ in range(games)])
        twin = batch.clone()
        twin.state[...] = batch.worlds(seats, streams)[:, 0]
        twin.refresh()
        assert np.array_equal(batch.observe(seats), twin.observe(seats))
        assert np.array_equal(batch.mask(seats), twin.mask(seats))
        assert (total_cards(twin.state) == deck).all()
        for field in (
            "total",
            "round_score",
            "rounds",
            "left",
            "may_own",
            "to_move",
            "chance",
            "phase",
            "cycle",
            "dealt",
        ):
            assert np.array_equal(batch.state[field], twin.state[field])
        for seat in np.unique(seats):
            for field in ("hand", "passed", "received"):
                assert np.array_equal(batch.state[field][seats == seat, seat], twin.state[field][seats == seat, seat])
        if config.deck.size - config.hand_size > 12:
            changed = (batch.state["hand"] != twin.state["hand"]).any((1, 2))
            assert changed.mean() > 0.8
        for row in range(0, games, max(games // 40, 1)):
            replay(game, twin.state[row])
        for _ in range(length // 2):
            twin.step(twin.sample_actions(picks))
            assert (total_cards(twin.state) == deck).all()


def test_picks_of_others_are_redrawn_legally() -> None:
    """The picks of the running pass are in order and in the hand, for every seat, and take more than one value."""
    game = make_game(LlamaLlamaConfig())
    batch = Batch(game, 200, seed=1)
    play(batch, 4 + 4 * 2 + 2, seed=2)  # two seats have picked their third card, two have not
    worlds = batch.worlds(3, policy_streams(200, 3), 20)
    for seat, picks in ((0, 3), (1, 3), (2, 2)):
        logs = worlds["passed"][..., seat, :4].reshape(-1, 4)
        hands = worlds["hand"][..., seat, :].reshape(-1, 32)
        assert (logs[:, picks:] == -1).all()
        assert (np.diff(logs[:, :picks]) >= 0).all()
        for log, hand in zip(logs, hands, strict=True):
            counts = np.bincount(log[:picks], minlength=32)
            assert (counts <= hand).all()
            assert (hand - counts)[log[picks - 1] :].sum() >= 4 - picks
        assert len(np.unique(logs, axis=0)) > 40


def test_nothing_changes_without_a_decision() -> None:
    game = small_game((3, 3, 3), num_players=2, hand_size=2, pass_counts=(1, 1, 1, 1), num_rounds=1)
    batch = Batch(game, 5, seed=1)
    play(batch, 2 * 5, seed=1)
    assert batch.state["terminated"].all()
    assert np.array_equal(batch.worlds(0, policy_streams(5, 1))[:, 0], batch.state)


def test_the_stream_alone_decides() -> None:
    game = make_game(LlamaLlamaConfig(num_players=2))
    batch = Batch(game, 20, seed=1)
    play(batch, 15, seed=1)
    first, again, other = (batch.worlds(1, policy_streams(20, seed)) for seed in (5, 5, 6))
    assert np.array_equal(first, again)
    assert not np.array_equal(first["hand"], other["hand"])
