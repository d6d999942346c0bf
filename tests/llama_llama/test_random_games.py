"""What holds in every game of Llama Llama: cards, hands and rewards."""

from __future__ import annotations

import numpy as np
import pytest

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.llama_llama.config import LlamaLlamaConfig
from llama_envs.llama_llama.deck import random_deck
from llama_envs.llama_llama.game import make_game


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_cards_and_hand_sizes_are_conserved__P9_P13(num_players: int) -> None:
    game = make_game(LlamaLlamaConfig(num_players=num_players, deck=random_deck(3)))
    batch = Batch(game, 50, seed=2, autoreset=True)
    streams = policy_streams(50, 3)
    deck = np.zeros(32, int)
    deck[: game.num_actions] = game.config.cards.counts
    for _ in range(num_players * 11 * 3):
        batch.step(batch.sample_actions(streams))
        state = batch.state
        laid = (state["goal"][:, :, None] == np.arange(32)).sum(1) * (state["phase"] > 0)[:, None]
        assert (state["hand"].sum(1) + state["stock"] + laid == deck).all()
        assert (state["hand"].sum(2) == np.where(state["phase"] > 0, 7, 8)[:, None]).all()
        assert (state["hand"] >= 0).all()


def test_score_reward_is_own_minus_the_mean_of_the_others__P20() -> None:
    game = make_game(LlamaLlamaConfig(num_players=3, reward="score", target_score=10_000))
    batch = Batch(game, 20, seed=1)
    streams = policy_streams(20, 2)
    while (batch.to_move >= 0).all():
        rounds = batch.state["rounds"][0]
        reward, _, _ = batch.step(batch.sample_actions(streams))
        points = batch.state["round_score"].astype(float)
        due = (points - (points.sum(1, keepdims=True) - points) / 2) / 50
        assert np.allclose(reward, due if batch.state["rounds"][0] > rounds else 0, atol=1e-6)


def test_win_reward_is_paid_once_and_sums_to_zero__P20() -> None:
    batch = Batch(make_game(LlamaLlamaConfig(num_players=3)), 50, seed=1)
    streams = policy_streams(50, 2)
    paid = np.zeros((50, 3))
    while (batch.to_move >= 0).any():
        reward, terminated, _ = batch.step(batch.sample_actions(streams))
        assert (np.abs(reward).sum(1)[~terminated] == 0).all()
        assert np.allclose(reward.sum(1), 0, atol=1e-6)
        paid += reward
    best = batch.state["total"].max(1, keepdims=True)
    assert ((paid > 0) <= (batch.state["total"] == best)).all()
    assert (np.abs(paid).sum(1) > 0).all()
