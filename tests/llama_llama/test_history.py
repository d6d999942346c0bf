"""``history=K``: the observation ends with the last K public events, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.registry import make_game


@pytest.mark.parametrize("players", [2, 3, 4])
def test_events_are_the_scored_rounds_and_nothing_else_changes__B54(players):
    plain, batch = (
        Batch(make_game("llama_llama", num_players=players, history=k), 64, 1, autoreset=True) for k in (0, 2)
    )
    game, streams = batch.game, policy_streams(64, 2)
    rounds = [[] for _ in range(64)]
    for _ in range(4 * players * 11):
        before, revealed = batch.state["rounds"].copy(), game.observation.decode(batch.observation)["revealed"]
        actions = batch.sample_actions(streams)
        _, terminated, _ = batch.step(actions)
        plain.step(actions)
        assert (batch.observation[:, : plain.game.observation.size] == plain.observation).all()
        pieces = game.observation.decode(batch.observation)
        for i in range(64):
            if terminated[i]:
                rounds[i].clear()
            elif batch.state["rounds"][i] > before[i]:
                goals = np.flatnonzero(revealed[i].ravel()) % revealed.shape[2]
                rounds[i].insert(0, (goals.tolist(), batch.state["round_score"][i].tolist()))
            assert pieces["event_goal"][i].any(axis=(1, 2)).tolist() == [len(rounds[i]) > age for age in (0, 1)]
            for age, (goals, points) in enumerate(rounds[i][:2]):
                seat = batch.to_move[i]
                assert pieces["event_goal"][i, age].argmax(axis=1).tolist() == goals
                assert pieces["event_score"][i, age].tolist() == [*points[seat:], *points[:seat]]
    assert batch.episode.min() >= 1


def test_earlier_rounds_that_a_seat_would_forget_are_told_apart__B54():
    batch = Batch(make_game("llama_llama", num_players=2, target_score=1000, history=3), 512, seed=0)
    streams = policy_streams(512, 0)
    while (batch.state["rounds"] < 3).any():
        batch.step(batch.sample_actions(streams), batch.state["rounds"] < 3)
    pieces = batch.game.observation.decode(batch.observation)
    assert (pieces["event_score"][:, :, 0].sum(axis=1) == pieces["total"][:, 0]).all()
    assert len({tuple(points) for points in pieces["event_score"][:, 1].tolist()}) > 100


@pytest.mark.parametrize("history", [-1, 17, 1.5, "2"])
def test_other_lengths_are_refused(history):
    with pytest.raises((ValueError, TypeError), match="history must be"):
        make_game("llama_llama", history=history)
