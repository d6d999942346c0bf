"""Sampled worlds are exactly what the seat cannot rule out, each card of it equally likely (known fault B02)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from llama_envs import lama_v0
from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.registry import make_game
from llama_envs.lama.state import EXCHANGE, RETURN
from tests.lama.tables import act, chi_square_p, count_cards, field, legal, positions, random_play, table, write_cards

SAMPLES = 20_000
Hands = tuple[str, ...]


def sample(batch: Batch, seat: int, k: int, seed: int = 0) -> np.ndarray:
    """(k,) worlds of the only game, as ``seat`` sees it."""
    return batch.worlds(seat, policy_streams(1, seed), k)[0]


def deal_out(cards: list[int], sizes: list[int]) -> Counter[tuple[tuple[int, ...], ...]]:
    """In how many ways physical cards can lie in hands of these sizes, by the ranks in each hand."""
    if not sizes:
        return Counter({(): 1})
    ways: Counter[tuple[tuple[int, ...], ...]] = Counter()
    for chosen in combinations(range(len(cards)), sizes[0]):
        rest = [card for i, card in enumerate(cards) if i not in chosen]
        head = tuple(sorted(cards[i] for i in chosen))
        for tail, count in deal_out(rest, sizes[1:]).items():
            ways[(head, *tail)] += count
    return ways


def enumerate_worlds(
    batch: Batch, seat: int, possible: Callable[[Hands], bool] = lambda hands: True
) -> dict[Hands, float]:
    """Probability of the other seats' hands, by counting every way to deal the cards that ``seat`` cannot see."""
    state, ranks = batch.state[0], batch.game.config.num_ranks
    others = [other for other in range(batch.game.num_players) if other != seat]
    unseen = state["stock"].astype(int) + state["hand"][others].sum(0)
    cards = [rank for rank, count in enumerate(unseen) for _ in range(count)]
    ways = {}
    for hands, count in deal_out(cards, state["hand_size"][others].tolist()).items():
        written = tuple(write_cards(np.bincount(hand, minlength=ranks).tolist()) for hand in hands)
        if possible(written):
            ways[written] = count
    total = sum(ways.values())
    return {hands: count / total for hands, count in ways.items()}


def hands_in(world: Any, seat: int, ranks: int) -> Hands:
    return tuple(write_cards(cards[:ranks].tolist()) for other, cards in enumerate(world["hand"]) if other != seat)


def assert_uniform(batch: Batch, seat: int, expected: dict[Hands, float], seed: int = 0) -> None:
    ranks = batch.game.config.num_ranks
    seen = Counter(hands_in(world, seat, ranks) for world in sample(batch, seat, SAMPLES, seed))
    assert set(seen) <= set(expected)
    observed = np.array([seen[hands] for hands in expected])
    assert min(expected.values()) * SAMPLES > 4
    assert chi_square_p(observed, SAMPLES * np.array(list(expected.values()))) > 0.001


TINY = {"num_ranks": 3, "copies": 3, "hand_size": 2}


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_hands_are_uniform_over_all_ways_to_deal_the_unseen_cards__B02(seat: int) -> None:
    batch = table("1 2", "2 L", "1 L", top="1", to_move=1, **TINY)
    expected = enumerate_worlds(batch, seat)
    assert len(expected) > 10
    assert_uniform(batch, seat, expected, seed=seat)


def test_hands_that_grew_and_shrank_are_uniform__B02() -> None:
    batch = table("1", "2 L L", "1 2", top="2", stock="1", to_move=2, **TINY)
    expected = enumerate_worlds(batch, 0)
    assert {len(hands[0].split()) for hands in expected} == {3}
    assert_uniform(batch, 0, expected)


def test_quitters_hand_is_as_unknown_as_any_other__B02() -> None:
    batch = table("1 2", "2 L", "1 L", top="1", to_move=1, quitters=[0], **TINY)
    assert_uniform(batch, 1, enumerate_worlds(batch, 1))
    assert_uniform(batch, 2, enumerate_worlds(batch, 2))


@pytest.mark.parametrize("top", ["1", "L"])
@pytest.mark.parametrize("seat", [0, 2])
def test_last_remaining_seat_that_is_to_move_holds_a_playable_card__L11__B02(seat: int, top: str) -> None:
    hands = ("2 2", "1 L", "2 L") if top == "1" else ("1 L", "1 2", "2 L")
    batch = table(*hands, top=top, to_move=1, quitters=[0, 2], **TINY)
    fits = set(["1", "2"] if top == "1" else ["L", "1"])
    at = 0 if seat == 0 else 1  # where seat 1 is among the others
    expected = enumerate_worlds(batch, seat, lambda hands: bool(fits & set(hands[at].split())))
    assert len(expected) < len(enumerate_worlds(batch, seat))
    assert_uniform(batch, seat, expected, seed=seat)


def test_last_remaining_seat_itself_sees_no_condition__B02() -> None:
    batch = table("2 2", "1 L", "2 L", top="1", to_move=1, quitters=[0, 2], **TINY)
    assert_uniform(batch, 1, enumerate_worlds(batch, 1))


def test_hands_are_uniform_while_a_chip_is_being_returned__L12__B02() -> None:
    batch = table("1", "2 L", "2 2", top="1", white=[3, 0, 0], **TINY)
    act(batch, "play 1")
    assert field(batch, "phase") == RETURN
    for seat in range(3):
        assert_uniform(batch, seat, enumerate_worlds(batch, seat), seed=seat)


def test_hands_are_uniform_while_a_chip_is_returned_by_the_last_remaining_seat__L12__B02() -> None:
    batch = table("1", "2 L", "2 2", top="1", white=[3, 0, 0], quitters=[1, 2], **TINY)
    act(batch, "play 1")
    assert field(batch, "phase") == RETURN
    assert_uniform(batch, 1, enumerate_worlds(batch, 1))


def test_hands_are_uniform_while_a_card_is_being_drawn__L7__B02() -> None:
    game = make_game("lama", num_players=3, **TINY)
    batch = table("1 2", "2 L", "1 L", top="1", **TINY)
    game.rules.apply(batch._buffers.states[0], game.records(game.params)[0], game.action_id("draw"))
    assert (field(batch, "to_move"), field(batch, "chance") > 0) == (-1, True)
    assert_uniform(batch, 0, enumerate_worlds(batch, 0))
    assert_uniform(batch, 2, enumerate_worlds(batch, 2))


# ---- what the seat knows stays as it is ----

CONFIGS: list[dict[str, Any]] = [
    *({"num_players": n, "chip_exchange": "choice"} for n in range(2, 7)),
    {"num_players": 4, "num_ranks": 4, "copies": 4, "hand_size": 3, "chip_exchange": "choice"},
    {"num_players": 6, "num_ranks": 7, "copies": 16, "hand_size": 18},
]
every_config = pytest.mark.parametrize("options", CONFIGS, ids=lambda options: "-".join(map(str, options.values())))


def put(batch: Batch, worlds: np.ndarray) -> Batch:
    """A batch of the same games in these states."""
    twin = batch.clone()
    twin.state[:] = worlds
    twin.refresh()
    return twin


@every_config
def test_every_sample_gives_the_seat_the_same_view_and_public_facts__B02(options: dict[str, Any]) -> None:
    batch = positions(200, **options)
    hidden = {"hand", "stock"}
    for seat in range(batch.game.num_players):
        worlds = batch.worlds(seat, policy_streams(batch.num_games, seat), 3)
        for j in range(3):
            twin = put(batch, worlds[:, j])
            assert twin.observe(seat).tobytes() == batch.observe(seat).tobytes()
            assert twin.mask(seat).tobytes() == batch.mask(seat).tobytes()
            for name in set(batch.state.dtype.names or ()) - hidden:
                assert (twin.state[name] == batch.state[name]).all(), name
            assert (twin.state["hand"][:, seat] == batch.state["hand"][:, seat]).all()


@every_config
def test_samples_conserve_the_cards_and_every_hands_size__B02(options: dict[str, Any]) -> None:
    batch = positions(200, **options)
    config, before = batch.game.config, batch.state
    for seat in range(batch.game.num_players):
        worlds = batch.worlds(seat, policy_streams(batch.num_games, seat), 4)
        cards = worlds["hand"].sum(2, dtype=int) + worlds["stock"] + worlds["discard"]
        assert (cards[..., : config.num_ranks] == config.copies).all()
        assert (worlds["hand"] >= 0).all()
        assert (worlds["stock"] >= 0).all()
        assert (worlds["hand"].sum(3) == before["hand_size"][:, None]).all()
        assert (worlds["stock"].sum(2) == before["stock_size"][:, None]).all()


@every_config
def test_samples_go_on_legally_to_the_end__B02(options: dict[str, Any]) -> None:
    batch = positions(200, **options)
    twin = put(batch, batch.worlds(0, policy_streams(batch.num_games, 5), 1)[:, 0])
    playing = batch.to_move >= 0
    assert twin.action_mask[playing].any(1).all()
    state, config = twin.state, batch.game.config
    for _ in random_play(twin, 20_000, seed=6):
        cards = state["hand"].sum(1, dtype=int) + state["stock"] + state["discard"]
        assert (cards[:, : config.num_ranks] == config.copies).all()
        assert (state["hand"] >= 0).all()
        assert twin.action_mask[twin.to_move >= 0].any(1).all()
    assert (state["terminated"] | state["truncated"]).all()


@pytest.mark.parametrize("num_players", range(2, 7))
def test_500_samples_of_a_full_deck_are_not_the_true_world__B02(num_players: int) -> None:
    batch = lama_v0.batch(1, num_players=num_players, seed=4)
    for _ in range(2):
        act(batch, "draw")
    for seat in range(num_players):
        worlds = sample(batch, seat, 500, seed=seat)
        others = [other for other in range(num_players) if other != seat]
        assert len({world["hand"][others].tobytes() for world in worlds}) > 250
        for other in others:
            assert len(np.unique(worlds["hand"][:, other], axis=0)) > 200
        for rank in range(7):  # mean of a hypergeometric hand, within five standard errors
            unseen = batch.state["hand"][0, others, rank].sum() + batch.state["stock"][0, rank]
            everything = batch.state["hand_size"][0, others].sum() + batch.state["stock_size"][0]
            share = unseen / everything
            size = batch.state["hand_size"][0, others[0]]
            held = worlds["hand"][:, others[0], rank]
            assert abs(held.mean() - size * share) < 5 * np.sqrt(size * share * (1 - share) / 500) + 1e-9


def test_different_streams_give_different_worlds_and_equal_ones_the_same__B02() -> None:
    batch = lama_v0.batch(50, num_players=4, seed=5)
    first, again, other = (batch.worlds(0, policy_streams(50, seed), 1)[:, 0] for seed in (1, 1, 2))
    assert first.tobytes() == again.tobytes()
    assert not (first["hand"] == other["hand"]).all((1, 2)).any()


def test_streams_advance_so_that_the_next_worlds_are_new__B02() -> None:
    batch = lama_v0.batch(50, num_players=4, seed=5)
    streams = policy_streams(50, 1)
    first, second = batch.worlds(0, streams, 1)[:, 0], batch.worlds(0, streams, 1)[:, 0]
    assert not (first["hand"] == second["hand"]).all((1, 2)).any()


def test_worlds_differ_in_the_cards_that_are_drawn_later__B02() -> None:
    batch = table("3 3", "4 4", "5 5", top="1", stock="1 2 4 5 6 L")
    drawn = set()
    for seed, world in enumerate(sample(batch, 0, 30)):
        twin = lama_v0.batch(1, num_players=3, seed=seed)
        twin.state[:] = world
        twin.refresh()
        before = twin.state["hand"][0, 0].copy()
        act(twin, "draw")
        drawn.add(int(np.argmax(twin.state["hand"][0, 0] - before)))
    assert len(drawn) > 3


@pytest.mark.parametrize("num_players", [2, 4, 6])
def test_sampling_worlds_changes_neither_the_game_nor_its_later_draws__B02(num_players: int) -> None:
    watched, alone = (lama_v0.batch(100, num_players=num_players, seed=6, autoreset=True) for _ in range(2))
    streams = policy_streams(100, 7)
    search = policy_streams(100, 8)
    for _ in range(150):
        before = watched.state.tobytes()
        worlds = watched.worlds(np.maximum(watched.to_move, 0), search, 5)
        worlds["hand"] = 0  # the worlds are the searcher's own
        assert watched.state.tobytes() == before
        actions = watched.sample_actions(streams)
        for mine, its in zip(watched.step(actions), alone.step(actions), strict=True):
            assert mine.tobytes() == its.tobytes()
        assert watched.observation.tobytes() == alone.observation.tobytes()
        assert watched.state.tobytes() == alone.state.tobytes()


def test_seat_that_saw_every_card_knows_the_world__B02() -> None:
    batch = table("1", "2 3", top="1", num_ranks=4, copies=2, hand_size=2, stock="")
    worlds = sample(batch, 0, 100)  # one of 8 cards in hand, five discarded: two are left for the other seat
    assert (worlds["hand"][:, 1, :4] == count_cards("2 3", 4)).all()
    assert legal(batch) == {"play 1", "quit"}


def test_hands_that_lie_open_at_the_exchange_of_chips_and_at_the_end_stay_as_they_are__L15__K20() -> None:
    game = make_game("lama", num_players=3, chip_exchange="choice")
    batch, streams = Batch(game, 200, 1), policy_streams(200, 2)
    exchanged = 0
    while (batch.to_move >= 0).any():
        asked = batch.state["phase"] == EXCHANGE
        if asked.any():
            exchanged += int(asked.sum())
            hands = batch.worlds(0, policy_streams(200, 3), 4)["hand"]
            assert (hands == batch.state["hand"][:, None])[asked].all()
        batch.step(batch.sample_actions(streams))
    assert exchanged > 10
    assert (batch.worlds(0, streams, 4)["hand"] == batch.state["hand"][:, None]).all()
