"""Random games are as long as four independent engines, and our own referee, say.

Play is uniform over distinct playable ranks, draw (if legal) and quit; chips go back by themselves, so that no chip
decision is counted. The other engines also ask the last remaining seat when it is stuck and can only quit; here it is
not asked (L11), so that our games are shorter by one decision for each round that ends this way. Both are compared.
"""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import NamedTuple

import numpy as np
import pytest
from tests.lama.tables import penalties

from llama_envs import lama_v0
from llama_envs.core.batch import policy_streams

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
def play(num_players: int) -> Sample:
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
    sample = play(num_players)
    counted = sample.asked + sample.stuck
    assert_mean(counted, PUBLISHED_DECISIONS[num_players], error=0.05)  # published with one digit
    assert_mean(counted, REFEREE_DECISIONS[num_players], reference_error(counted))


@pytest.mark.parametrize("num_players", PUBLISHED_DECISIONS)
def test_decisions_per_game_are_one_less_for_each_round_with_a_stuck_last_seat__L11(num_players: int) -> None:
    sample = play(num_players)
    assert_mean(sample.asked, REFEREE_ASKED[num_players], reference_error(sample.asked))
    assert_mean(
        sample.asked, PUBLISHED_DECISIONS[num_players] - float(sample.stuck.mean()), error=0.05
    )  # the stated difference, and nothing else
    assert sample.stuck.mean() > 0.5


@pytest.mark.parametrize("num_players", PUBLISHED_ROUNDS)
def test_rounds_per_game_are_the_published__L16(num_players: int) -> None:
    assert_mean(play(num_players).rounds, PUBLISHED_ROUNDS[num_players], error=0.005)  # published with two digits


@pytest.mark.parametrize("num_players", PUBLISHED_DECISIONS)
def test_every_round_ends_in_one_of_three_ways__L11(num_players: int) -> None:
    sample = play(num_players)
    assert (sample.stuck + sample.emptied + sample.all_quit == sample.rounds).all()


def test_mean_penalty_and_runs_of_a_dealt_hand_are_the_published__L4_L13() -> None:
    hands = lama_v0.batch(GAMES, num_players=6, seed=1).state["hand"]
    dealt = hands[:, 0]  # hands of one deal depend on each other: one from each
    assert_mean(penalties(dealt), 19.3, error=0.05)
    held = dealt > 0
    gaps = (held & ~np.roll(held, -1, axis=1)).sum(1)  # ranks that end a run; the ranks go round
    assert_mean(gaps <= 1, 0.295, error=0.0005)
