"""What holds in every game: legal actions, what actions do, cards and chips, an end (known faults B06, B16, B23)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import pytest

from llama_envs import lama_v0
from llama_envs.core.batch import Batch, policy_streams
from llama_envs.lama.state import EXCHANGE, RETURN, TO_BLACK, TO_WHITE, TURN
from tests.lama.tables import penalties, random_play

CONFIGS: list[dict[str, Any]] = [
    *({"num_players": n, "chip_exchange": "choice"} for n in range(2, 7)),
    {"num_players": 3, "num_ranks": 3, "copies": 3, "hand_size": 2, "target_score": 25, "chip_exchange": "choice"},
    {"num_players": 2, "num_ranks": 2, "copies": 3, "hand_size": 2},
    {"num_players": 5, "chip_return": "auto", "next_starter": "rotate", "reward": "score", "max_rounds": 3},
]


def name_config(options: dict[str, Any]) -> str:
    return "-".join(map(str, options.values()))


every_config = pytest.mark.parametrize("options", CONFIGS, ids=name_config)


def legal_by_the_rules(batch: Batch) -> np.ndarray:
    """(N, A) bool: what the seat to move may do, read off the position (L6, L7, L8, L10, L12, L15)."""
    state, game = batch.state, batch.game
    rows = np.arange(len(state))
    ranks = game.config.num_ranks
    seat, playing = state["to_move"].astype(int), state["to_move"] >= 0
    held, top = state["hand"][rows, seat, :ranks], state["top"].astype(int)
    others_active = state["active"].astype(int).sum(1) - state["active"][rows, seat]
    turn = playing & (state["phase"] == TURN)
    giving = playing & (state["phase"] == RETURN)
    changing = playing & (state["phase"] == EXCHANGE)
    white, black = state["white"][rows, seat], state["black"][rows, seat]
    expected = np.zeros((len(state), game.num_actions), bool)
    for name in game.action_names:
        action = game.action_id(name)
        if name.startswith("play"):
            rank = action
            fits = (top == rank) | ((top + 1) % ranks == rank)
            expected[:, action] = turn & fits & (held[:, rank] > 0)
        elif name == "draw":
            expected[:, action] = turn & (state["stock"].sum(1) > 0) & (others_active > 0)
        elif name == "quit":
            expected[:, action] = turn
        elif name == "keep":
            expected[:, action] = giving | changing
        elif name == "return white":
            expected[:, action] = giving & (white > 0)
        elif name == "return black":
            expected[:, action] = giving & (black > 0)
        elif name == "ten white to black":
            expected[:, action] = changing & (white >= 10) & (state["direction"] != TO_WHITE)
        else:
            expected[:, action] = changing & (black > 0) & (state["direction"] != TO_BLACK)
    return expected


@every_config
def test_mask_is_never_empty_and_exactly_the_legal_set__B06(options: dict[str, Any]) -> None:
    batch = lama_v0.batch(2500, seed=7, autoreset=True, **options)
    streams = policy_streams(batch.num_games, 8)
    while batch.episode.sum() < 10_000:
        assert batch.action_mask.any(1).all()
        assert (batch.action_mask == legal_by_the_rules(batch)).all()
        batch.step(batch.sample_actions(streams))


@every_config
def test_only_the_seat_to_move_has_a_mask__B06(options: dict[str, Any]) -> None:
    batch = lama_v0.batch(300, seed=9, **options)
    for _ in random_play(batch, 60):
        for seat in range(batch.game.num_players):
            mask = batch.mask(seat)
            moving = batch.to_move == seat
            assert (mask[moving] == batch.action_mask[moving]).all()
            assert not mask[~moving].any()


@every_config
def test_cards_are_conserved_and_chips_are_points__L1_L2__B23(options: dict[str, Any]) -> None:
    batch = lama_v0.batch(500, seed=10, autoreset=True, **options)
    state, ranks, copies = batch.state, batch.game.config.num_ranks, batch.game.config.copies
    for _ in random_play(batch, 200):
        cards = state["hand"].sum(1, dtype=int) + state["stock"] + state["discard"]
        assert (cards[:, :ranks] == copies).all()
        assert (cards[:, ranks:] == 0).all()
        for name in ("hand", "stock", "discard", "white", "black"):
            assert (state[name] >= 0).all(), name
        assert (state["hand_size"] == state["hand"].sum(2)).all()
        assert (state["stock_size"] == state["stock"].sum(1)).all()
        assert (state["num_active"] == state["active"].sum(1)).all()
        assert (state["discard"][np.arange(500), state["top"]] > 0).all()
        assert (state["discard"].sum(1) == state["played"].sum((1, 2)) + 1).all()
        assert (state["total"] == state["white"] + 10 * state["black"]).all()
        if batch.game.config.chip_exchange == "auto":
            assert (state["white"] < 10).all()


# ---- what an action does is what its name says ----


def next_seat(before: Any, seat: int, active: np.ndarray) -> int:
    """The next seat to the left that is still in the round (L9)."""
    players = len(active)
    return next(s % players for s in range(seat + 1, seat + 1 + players) if active[s % players])


def check_effect(before: Any, name: str, after: Any, options: dict[str, Any]) -> None:
    """``before`` and ``after`` are the records around one action; every consequence is predicted from its name."""
    seat = int(before["to_move"])
    hands, active = before["hand"].astype(int), before["active"].astype(int)
    white, black = before["white"].astype(int), before["black"].astype(int)
    ranks = options.get("num_ranks", 7)
    top = int(before["top"])
    if name in ("ten white to black", "black to ten white"):
        sign = 1 if name == "ten white to black" else -1
        assert after["white"][seat] == white[seat] - 10 * sign
        assert after["black"][seat] == black[seat] + sign
        assert (after["total"] == before["total"]).all()
        assert (np.delete(after["white"], seat) == np.delete(white, seat)).all()
        return
    if before["phase"] == EXCHANGE:  # keep
        assert (after["total"] == before["total"]).all()
        assert (after["white"] == white).all()
        assert after["to_move"] != seat or after["rounds"] == before["rounds"] + 1
        return
    if before["phase"] == RETURN:
        given = {"keep": 0, "return white": 1, "return black": 10}[name]
        expected = before["total"] + penalties(hands[:, :ranks])
        expected[seat] -= given
        assert (after["total"] == expected).all()
        return
    moved = np.zeros(7, int)
    if name == "draw":
        moved = before["stock"].astype(int) - after["stock"]
        assert moved.sum() == 1
        assert moved.min() == 0
        hands[seat] += moved
        assert (after["drew_on"].astype(int) - before["drew_on"]).sum() == 1
        assert after["drew_on"][seat, top] == before["drew_on"][seat, top] + 1
    elif name == "quit":
        active[seat] = 0
    else:
        rank = ranks - 1 if name == "play llama" else int(name[-1]) - 1
        top = rank
        hands[seat, rank] -= 1
    emptied = hands[seat].sum() == 0
    alone = active.sum() == 1 and not emptied
    last = next_seat(before, seat, active) if active.any() else -1
    stuck = alone and hands[last, top] == 0 and hands[last, (top + 1) % ranks] == 0
    if emptied and before["total"][seat] > 0 and options.get("chip_return") != "auto":
        assert (after["phase"], after["to_move"], after["rounds"]) == (RETURN, seat, before["rounds"])
        assert (after["total"] == before["total"]).all()
    elif emptied or stuck or not active.any():
        expected = before["total"] + penalties(hands[:, :ranks])
        if emptied and before["total"][seat] > 0:
            expected[seat] -= 10 if black[seat] > 0 else 1
        assert (after["total"] == expected).all()
        assert after["phase"] == EXCHANGE or after["rounds"] == before["rounds"] + 1
        return
    else:
        assert (after["phase"], after["to_move"], after["rounds"]) == (TURN, last, before["rounds"])
    assert (after["hand"] == hands).all()
    assert (after["active"] == active).all()
    assert (after["top"], after["last_actor"]) == (top, seat)
    assert (after["stock"] == before["stock"] - moved).all()
    played = (before["hand"] - hands + moved * (np.arange(len(active)) == seat)[:, None]).sum(0)
    assert (after["discard"] == before["discard"] + played).all()
    assert (after["played"] - before["played"]).sum() == played.sum()
    assert (after["played"][seat] == before["played"][seat] + played).all()
    assert (after["white"] == white).all()
    assert (after["black"] == black).all()


@pytest.mark.parametrize(
    "options", CONFIGS[:6:2] + CONFIGS[5:], ids=lambda options: "-".join(map(str, options.values()))
)
def test_every_action_does_what_its_name_says_in_500_states__B23(options: dict[str, Any]) -> None:
    enough, at_a_time = 500, 10  # few at a time, so that they come from all moments of a game
    names = set(lama_v0.batch(1, seed=0, **options).game.action_names)
    if options.get("chip_return") == "auto":
        names -= {"keep", "return white", "return black"}
    checked: Counter[str] = Counter()
    batch = lama_v0.batch(2000, seed=11, **{"target_score": 200, **options})  # long games own many chips
    streams = policy_streams(batch.num_games, 12)
    while min(checked[name] for name in names) < enough:
        actions = batch.sample_actions(streams)
        samples = [
            (name, rows, batch.state[rows])
            for action, name in enumerate(batch.game.action_names)
            if checked[name] < enough and len(rows := np.flatnonzero(actions == action)[:at_a_time])
        ]
        batch.step(actions)
        for name, rows, before in samples:
            for i, after in enumerate(batch.state[rows]):
                check_effect(before[i], name, after, options)
            checked[name] += len(rows)
        batch.reset(where=batch.to_move < 0)


def test_label_to_action_and_back_is_the_identity__B23() -> None:
    for options in CONFIGS:
        game = lama_v0.batch(1, seed=0, **options).game
        assert [game.action_id(name) for name in game.action_names] == list(range(game.num_actions))
        assert len(set(game.action_names)) == game.num_actions


# ---- every game ends ----

Choice = Callable[[Batch, np.ndarray], np.ndarray]


def prefer(*wanted: str) -> Choice:
    """The first of these that is legal, else any legal action; "keep" where chips are asked for."""

    def choose(batch: Batch, streams: np.ndarray) -> np.ndarray:
        actions = batch.sample_actions(streams)
        for name in ("keep", *reversed(wanted)):
            action = batch.game.action_id(name)
            actions[batch.action_mask[:, action]] = action
        return actions

    return choose


def lengths(batch: Batch, choose: Choice, seed: int = 0) -> np.ndarray:
    """Decisions in each game, all played to their end."""
    streams = policy_streams(batch.num_games, seed)
    taken = np.zeros(batch.num_games, int)
    while (playing := batch.to_move >= 0).any():
        taken += playing
        assert taken.max() < 20_000, "a game does not end"
        batch.step(choose(batch, streams))
    assert (batch.state["terminated"] | batch.state["truncated"]).all()
    return taken


@pytest.mark.parametrize("num_players", range(2, 7))
@pytest.mark.parametrize("wanted", [("draw", "quit"), ("quit",)], ids=["always draw, never play", "always quit"])
def test_games_without_a_played_card_end__B16(wanted: tuple[str, ...], num_players: int) -> None:
    batch = lama_v0.batch(1000, num_players=num_players, seed=13)
    taken = lengths(batch, prefer(*wanted))
    assert batch.state["terminated"].all()
    assert (batch.state["total"].max(1) >= 40).all()
    if wanted == ("quit",):
        rounds = batch.state["rounds"]
        assert (taken <= num_players * rounds).all()
        assert (taken >= (num_players - 1) * rounds).all()


@pytest.mark.parametrize("num_players", range(2, 7))
def test_20_000_random_games_end_at_the_target__B16(num_players: int) -> None:
    batch = lama_v0.batch(20_000, num_players=num_players, seed=14)
    lengths(batch, lambda batch, streams: batch.sample_actions(streams))
    assert batch.state["terminated"].all()
    assert not batch.state["truncated"].any()
    assert (batch.state["total"].max(1) >= 40).all()


def finished(batch: Batch, games: int) -> Iterator[tuple[Any, bool, bool]]:
    """(final record, terminated, truncated) of at least so many episodes of a batch with autoreset."""
    streams = policy_streams(batch.num_games, 15)
    seen = 0
    while seen < games:
        _, terminated, truncated = batch.step(batch.sample_actions(streams))
        for row in np.flatnonzero(terminated | truncated):
            yield batch.final_state[row], bool(terminated[row]), bool(truncated[row])
            seen += 1


@pytest.mark.parametrize("num_players", [2, 4, 6])
def test_limit_truncates_and_a_natural_end_in_the_same_step_terminates__L18__B16(num_players: int) -> None:
    ends: Counter[tuple[bool, bool]] = Counter()
    batch = lama_v0.batch(500, num_players=num_players, seed=16, max_rounds=2, autoreset=True)
    for final, terminated, truncated in finished(batch, 3000):
        reached = bool(final["total"].max() >= 40)
        assert (terminated, truncated) == (reached, not reached)
        assert (final["rounds"] == 2) or (terminated and final["rounds"] < 2)
        assert (final["terminated"], final["truncated"]) == (terminated, truncated)
        ends[(bool(final["rounds"] == 2), terminated)] += 1
    assert ends[True, False] > 100
    assert ends[True, True] > 100  # the limit and the target in one step


def test_one_round_terminates_only_when_asked_to__L18__B16() -> None:
    for complete in (True, False):
        batch = lama_v0.batch(
            200, num_players=3, seed=17, max_rounds=1, single_round_terminates=complete, autoreset=True
        )
        for final, terminated, truncated in finished(batch, 500):
            assert final["rounds"] == 1
            assert terminated == (complete or final["total"].max() >= 40)
            assert truncated == (not terminated)


# ---- random games are as long as four independent engines, and our own referee, say ----
# Play is uniform over distinct playable ranks, draw (if legal) and quit; chips go back by themselves, so that no chip
# decision is counted. The other engines also ask the last remaining seat when it is stuck and can only quit; here it is
# not asked (L11), so that our games are shorter by one decision for each round that ends this way. Both are compared.

GAMES = 20_000
PUBLISHED_DECISIONS = {2: 11.7, 3: 17.7, 4: 23.4, 6: 35.0}  # with the stuck last seat's quit
PUBLISHED_ROUNDS = {2: 2.47, 4: 2.18, 6: 2.07}
REFEREE_DECISIONS = {2: 11.688, 3: 17.689, 4: 23.417, 6: 35.014}  # the same, 20,000 games of tests/oracles/lama.py
REFEREE_ASKED = {2: 10.685, 3: 16.761, 4: 22.548, 6: 34.201}  # without


class Sample(NamedTuple):
    """One number for each game."""

    asked: np.ndarray  # decisions that our rules ask for
    stuck: np.ndarray  # rounds that ended because the last remaining seat could not play
    emptied: np.ndarray  # rounds that ended with an empty hand
    all_quit: np.ndarray  # rounds that ended with the last seat's quit
    rounds: np.ndarray


@cache
def play_uniformly(num_players: int) -> Sample:
    batch = lama_v0.batch(GAMES, num_players=num_players, seed=num_players, chip_return="auto")
    state, quit_round = batch.state, batch.game.action_id("quit")
    streams = policy_streams(GAMES, num_players)
    rows = np.arange(GAMES)
    sample = Sample(*(np.zeros(GAMES, int) for _ in range(4)), rounds=state["rounds"])
    while (playing := batch.to_move >= 0).any():
        seat, rounds = batch.to_move.astype(int), state["rounds"].copy()
        last_card = state["hand_size"][rows, seat] == 1
        last_seat = state["num_active"] == 1
        actions = batch.sample_actions(streams)
        batch.step(actions)
        ended = state["rounds"] > rounds
        went_out = ended & last_card & (actions < batch.game.action_id("draw"))
        gave_up = ended & last_seat & (actions == quit_round)
        sample.asked[playing] += 1
        sample.emptied[went_out] += 1
        sample.all_quit[gave_up] += 1
        sample.stuck[ended & ~went_out & ~gave_up] += 1
    return sample


def assert_mean(sample: np.ndarray, published: float, error: float) -> None:
    """The mean is the published one within four standard errors, and ``error`` of the published figure itself."""
    standard_error = sample.std(ddof=1) / sqrt(len(sample))
    assert sample.mean() == pytest.approx(published, abs=4 * standard_error + error)


def reference_error(sample: np.ndarray) -> float:
    """Room for the sampling error of a figure that comes from as many games as ours: sqrt(2) standard errors in all."""
    return 4 * (sqrt(2) - 1) * float(sample.std(ddof=1)) / sqrt(len(sample))


@pytest.mark.parametrize("num_players", PUBLISHED_DECISIONS)
def test_decisions_per_game_with_the_stuck_seats_quit_are_the_published__L11(num_players: int) -> None:
    sample = play_uniformly(num_players)
    counted = sample.asked + sample.stuck
    assert_mean(counted, PUBLISHED_DECISIONS[num_players], error=0.05)  # published with one digit
    assert_mean(counted, REFEREE_DECISIONS[num_players], reference_error(counted))


@pytest.mark.parametrize("num_players", PUBLISHED_DECISIONS)
def test_decisions_per_game_are_one_less_for_each_round_with_a_stuck_last_seat__L11(num_players: int) -> None:
    sample = play_uniformly(num_players)
    assert_mean(sample.asked, REFEREE_ASKED[num_players], reference_error(sample.asked))
    assert_mean(
        sample.asked, PUBLISHED_DECISIONS[num_players] - float(sample.stuck.mean()), error=0.05
    )  # the stated difference, and nothing else
    assert sample.stuck.mean() > 0.5


@pytest.mark.parametrize("num_players", PUBLISHED_ROUNDS)
def test_rounds_per_game_are_the_published__L16(num_players: int) -> None:
    assert_mean(
        play_uniformly(num_players).rounds, PUBLISHED_ROUNDS[num_players], error=0.005
    )  # published with two digits


@pytest.mark.parametrize("num_players", PUBLISHED_DECISIONS)
def test_every_round_ends_in_one_of_three_ways__L11(num_players: int) -> None:
    sample = play_uniformly(num_players)
    assert (sample.stuck + sample.emptied + sample.all_quit == sample.rounds).all()


def test_mean_penalty_and_runs_of_a_dealt_hand_are_the_published__L4_L13() -> None:
    hands = lama_v0.batch(GAMES, num_players=6, seed=1).state["hand"]
    dealt = hands[:, 0]  # hands of one deal depend on each other: one from each
    assert_mean(penalties(dealt), 19.3, error=0.05)
    held = dealt > 0
    gaps = (held & ~np.roll(held, -1, axis=1)).sum(1)  # ranks that end a run; the ranks go round
    assert_mean(gaps <= 1, 0.295, error=0.0005)
