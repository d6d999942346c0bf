"""What a seat sees: the truth, all that is public, and nothing that is hidden from it (known faults B01, B21)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from llama_envs import lama_v0
from llama_envs.core.batch import Batch
from llama_envs.lama.state import EXCHANGE, TURN
from tests.lama.tables import field, moments, positions, random_play, table

FULL: list[dict[str, Any]] = [{"num_players": n, "chip_exchange": "choice"} for n in range(2, 7)]
CONFIGS: list[dict[str, Any]] = [
    *FULL,
    {"num_players": 4},
    {"num_players": 3, "num_ranks": 4, "copies": 3, "hand_size": 3, "target_score": 15, "max_rounds": 3},
    {"num_players": 2, "num_ranks": 2, "copies": 3, "hand_size": 2, "chip_exchange": "choice"},
    {"num_players": 2, "num_ranks": 3, "copies": 3, "hand_size": 4, "target_score": 200, "reward": "rank"},
    {"num_players": 6, "copies": 16, "hand_size": 18, "chip_return": "auto", "next_starter": "rotate"},
    {"num_players": 5, "max_rounds": 1, "single_round_terminates": True, "target_score": 1},
]


def name_config(options: dict[str, Any]) -> str:
    return "-".join(map(str, options.values()))


every_config = pytest.mark.parametrize("options", CONFIGS, ids=name_config)
every_count = pytest.mark.parametrize("options", FULL, ids=name_config)


def truth(batch: Batch, seat: int) -> dict[str, np.ndarray]:
    """What the observation of ``seat`` must decode to, read off the positions; seats from ``seat`` on to the left."""
    state, config = batch.state, batch.game.config
    order = (seat + np.arange(config.num_players)) % config.num_players
    one_hot = state["top"][:, None] == np.arange(7)
    cards_seen = state["hand"][:, seat]
    scale = config.max_rounds or 10
    return {
        "phase": state["phase"][:, None] == np.arange(3),
        "hand": cards_seen,
        "holds": cards_seen > 0,
        "top": one_hot,
        "discard": state["discard"],
        "played": state["played"][:, order],
        "drew_on": np.minimum(state["drew_on"][:, order], config.copies),
        "hand_size": state["hand_size"][:, order],
        "active": state["active"][:, order],
        "stock": state["stock_size"][:, None],
        "white": state["white"][:, order],
        "black": state["black"][:, order],
        "total": state["total"][:, order],
        "starter": state["starter"][:, None] == order,
        "last_actor": state["last_actor"][:, None] == order,
        "rounds": np.minimum(state["rounds"], scale)[:, None],
    }


def assert_truth(batch: Batch) -> None:
    for seat in range(batch.game.num_players):
        vector = batch.observe(seat)
        assert vector.dtype == np.float32
        assert vector.min() >= 0
        assert vector.max() <= 1
        seen = batch.game.observation.decode(vector)
        expected = truth(batch, seat)
        assert set(seen) == set(expected)
        for name, value in expected.items():
            assert (seen[name] == value).all(), name


@every_config
def test_every_slice_decodes_to_the_truth_for_every_seat__B21(options: dict[str, Any]) -> None:
    batch = lama_v0.batch(200, seed=1, **options)
    assert_truth(batch)
    for step, _ in enumerate(random_play(batch, 400)):
        if step % 5 == 0:
            assert_truth(batch)
    assert_truth(batch)
    assert_truth(positions(300, seed=2, **options))


@every_config
def test_final_view_decodes_to_the_final_truth__B21(options: dict[str, Any]) -> None:
    batch = lama_v0.batch(50, seed=3, autoreset=True, **options)
    for _ in random_play(batch, 250):
        pass
    ended = batch.episode > 0
    assert ended.any()
    twin = lama_v0.batch(50, seed=3, **options)
    twin.state[:] = batch.final_state
    for seat in range(batch.game.num_players):
        seen = batch.game.observation.decode(batch.observe(seat, final=True)[ended])
        for name, value in truth(twin, seat).items():
            assert (seen[name] == value[ended]).all(), name


@every_config
def test_observation_of_the_batch_is_the_view_of_the_seat_to_move(options: dict[str, Any]) -> None:
    batch = positions(200, seed=4, **options)
    playing = batch.to_move >= 0
    seats = np.maximum(batch.to_move, 0)
    assert (batch.observation[playing] == batch.observe(seats)[playing]).all()
    assert (batch.observation[~playing] == 0).all()


@pytest.mark.parametrize("num_players", range(2, 7))
def test_observations_stay_in_bounds_through_2000_random_games__B21(num_players: int) -> None:
    for options in ({}, {"chip_exchange": "choice", "target_score": 100, "max_rounds": 4}):
        batch = lama_v0.batch(500, num_players=num_players, seed=5, autoreset=True, **options)
        streams = np.arange(1, 501, dtype=np.uint64) * np.uint64(0x123456789)
        while batch.episode.sum() < 2000:
            _, terminated, truncated = batch.step(batch.sample_actions(streams))
            for seat in range(num_players):
                seen = batch.observe(seat)
                assert seen.min() >= 0
                assert seen.max() <= 1
                if (ended := terminated | truncated).any():
                    final = batch.observe(seat, final=True)[ended]
                    assert final.min() >= 0
                    assert final.max() <= 1


def test_every_count_of_cards_chips_and_rounds_decodes_exactly_and_stays_in_bounds__B21() -> None:
    for copies in range(1, 17):
        for options in ({"hand_size": 1}, {"hand_size": (7 * copies - 1) // 2}):
            batch = lama_v0.batch(1, num_players=2, seed=0, copies=copies, chip_exchange="choice", **options)
            layout, state = batch.game.observation, batch.state
            for value in range(copies + 1):
                for name in ("hand", "discard", "played", "drew_on"):
                    state[name] = value
                assert_truth(batch)
            state["drew_on"] = copies + 3  # more draws than copies are seen as so many
            assert_truth(batch)
            for name in ("hand_size", "stock"):
                for value in range(round(layout[name].scale) + 1):
                    state["stock_size" if name == "stock" else name] = value
                    assert_truth(batch)
    for target in (1, 7, 40, 99, 1000, 10_000):
        batch = lama_v0.batch(1, num_players=2, seed=0, target_score=target, chip_exchange="choice", max_rounds=target)
        most = target - 1 + 31
        for points in {0, 1, 9, 10, most // 2, most - 1, most}:
            batch.state["white"], batch.state["total"], batch.state["black"] = points, points, points // 10
            assert_truth(batch)
            batch.state["rounds"] = min(points, target)
            assert_truth(batch)


def test_rounds_without_a_limit_stay_at_the_scale__B21() -> None:
    batch = lama_v0.batch(1, seed=0)
    for rounds in (9, 10, 11, 30_000):
        batch.state["rounds"] = rounds
        seen = batch.game.observation.decode(batch.observe(0)[0])
        assert seen["rounds"].tolist() == [min(rounds, 10)]


@every_config
def test_kernel_writes_exactly_the_layout(options: dict[str, Any]) -> None:
    batch = positions(100, seed=6, **options)
    game = batch.game
    assert sum(piece.size for piece in game.observation.values()) == game.observation.size
    assert batch.observation.shape == (100, game.observation.size)
    for seat in range(game.num_players):
        poisoned = np.full((100, game.observation.size + 9), np.nan, np.float32)
        game.batch_kernels.observe(batch._buffers.states, batch._params, np.full(100, seat), poisoned)
        assert np.isnan(poisoned[:, game.observation.size :]).all()
        assert not np.isnan(poisoned[:, : game.observation.size]).any()


# ---- hidden facts change nothing ----


def shuffle_hidden(batch: Batch, seat: int, rng: np.random.Generator) -> Batch:
    """A twin of the batch in which all cards that ``seat`` cannot see are shuffled; hands keep their sizes."""
    twin = batch.clone()
    state, ranks = twin.state, twin.game.config.num_ranks
    others = [other for other in range(twin.game.num_players) if other != seat]
    for row in range(len(state)):
        unseen = state["stock"][row].astype(int) + state["hand"][row, others].sum(0)
        cards = rng.permutation(np.repeat(np.arange(7), unseen))
        start = 0
        for other in others:
            stop = start + int(state["hand_size"][row, other])
            state["hand"][row, other] = np.bincount(cards[start:stop], minlength=7)
            start = stop
        state["stock"][row] = np.bincount(cards[start:], minlength=7)
        assert ranks == 7 or not state["stock"][row, ranks:].any()
    twin.refresh()
    return twin


@every_count
def test_hidden_cards_change_no_byte_of_a_seats_view_or_mask__B01(options: dict[str, Any]) -> None:
    batch = positions(1000, seed=7, **options)
    seen = {moment: int(here.sum()) for moment, here in moments(batch.state).items()}
    if options["num_players"] == 2:  # one of two has quit: the other is the last
        del seen["a turn after a quit"]
    assert min(seen.values()) > 100, seen
    rng = np.random.default_rng(8)
    for seat in range(batch.game.num_players):
        twin = shuffle_hidden(batch, seat, rng)
        moved = (twin.state["hand"] != batch.state["hand"]).any((1, 2))
        assert moved.mean() > 0.8  # the rest: all of the other hands are empty, or fell out alike
        assert twin.observe(seat).tobytes() == batch.observe(seat).tobytes()
        assert twin.mask(seat).tobytes() == batch.mask(seat).tobytes()


@every_count
def test_hidden_cards_change_no_byte_of_a_final_view__B01(options: dict[str, Any]) -> None:
    batch = lama_v0.batch(300, seed=9, autoreset=True, **options)
    for _ in random_play(batch, 400):
        pass
    assert (batch.episode > 0).all()
    ended = lama_v0.batch(300, seed=9, **options)
    ended.state[:] = batch.final_state
    rng = np.random.default_rng(10)
    for seat in range(batch.game.num_players):
        twin = shuffle_hidden(ended, seat, rng)
        assert twin.observe(seat).tobytes() == batch.observe(seat, final=True).tobytes()
        assert not twin.mask(seat).any()


def test_random_stream_and_episode_are_not_in_the_view__B01() -> None:
    batch = lama_v0.batch(20, seed=11)
    twin = lama_v0.batch(20, seed=12)
    twin.reset()
    twin.reset()
    twin.state[:] = batch.state
    twin.refresh()
    assert twin.observation.tobytes() == batch.observation.tobytes()
    assert twin.action_mask.tobytes() == batch.action_mask.tobytes()


# ---- public facts do change it ----


def flip(name: str, *index: int) -> Callable[[Any], None]:
    def change(state: Any) -> None:
        view = state[name]
        view[(0, *index)] = view[(0, *index)] + 1

    return change


def set_to(name: str, value: int) -> Callable[[Any], None]:
    def change(state: Any) -> None:
        state[name] = value

    return change


def swap_active(state: Any) -> None:
    state["active"] = state["active"][:, [1, 0, 2]]


PUBLIC: dict[str, Callable[[Any], None]] = {
    "top discard": set_to("top", 4),
    "discard pile": flip("discard", 3),
    "a card that seat 1 played": flip("played", 1, 2),
    "on what seat 2 drew": flip("drew_on", 2, 0),
    "hand size of seat 0": flip("hand_size", 0),
    "hand size of seat 2": flip("hand_size", 2),
    "who has quit": swap_active,
    "stock": flip("stock_size"),
    "white chips": flip("white", 1),
    "black chips": flip("black", 2),
    "total": flip("total", 0),
    "starter": set_to("starter", 2),
    "last actor": set_to("last_actor", 1),
    "finished rounds": flip("rounds"),
    "phase": set_to("phase", EXCHANGE),
}


@pytest.mark.parametrize("what", PUBLIC)
def test_public_facts_change_every_seats_view__B01(what: str) -> None:
    batch = table("1 2 3", "2 4", "5 6 L", top="1", stock="3 3 4", white=[3, 4, 5], black=[1, 0, 2], quitters=[1])
    before = [batch.observe(seat)[0] for seat in range(3)]
    PUBLIC[what](batch.state)
    for seat in range(3):
        assert (batch.observe(seat)[0] != before[seat]).any(), seat


def test_own_cards_change_only_ones_own_view__B01() -> None:
    batch = table("1 2 3", "2 4", "5 6 L", top="1")
    twin = table("1 2 3", "2 5", "4 6 L", top="1")
    assert (batch.observe(0) == twin.observe(0)).all()
    assert (batch.observe(1) != twin.observe(1)).any()
    assert (batch.observe(2) != twin.observe(2)).any()


def test_every_seat_sees_the_table_from_its_own_place() -> None:
    batch = table(*["1 2"] * 4, top="4", to_move=0)  # all alike, but for who opened
    batch.state["last_actor"] = 0
    views = [batch.game.observation.decode(batch.observe(seat)[0]) for seat in range(4)]
    for seat in range(4):
        assert np.argmax(views[seat]["starter"]) == (-seat) % 4
        assert np.argmax(views[seat]["last_actor"]) == (-seat) % 4
        for name in ("hand", "hand_size", "active", "total", "played"):
            assert (views[seat][name] == views[0][name]).all()


def test_smaller_deck_leaves_the_places_of_missing_ranks_empty__L19() -> None:
    batch = positions(100, seed=13, num_players=3, num_ranks=3, copies=4, hand_size=3)
    for seat in range(3):
        seen = batch.game.observation.decode(batch.observe(seat))
        for name in ("hand", "holds", "top", "discard", "played", "drew_on"):
            assert not seen[name][..., 3:].any()


def test_phase_is_seen_by_all_seats__L12() -> None:
    batch = table("1", "3", "4", top="1", white=[3, 0, 0])
    assert field(batch, "phase") == TURN
    batch.step([batch.game.action_id("play 1")])
    for seat in range(3):
        assert batch.game.observation.decode(batch.observe(seat)[0])["phase"].tolist() == [0, 1, 0]
