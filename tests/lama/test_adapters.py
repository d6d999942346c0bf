"""L.L.A.M.A. through the adapters: turns, quitters, late rewards, final observations (known faults B09, B12, B43)."""

from __future__ import annotations

import numpy as np
import pytest

from llama_envs import lama_v0


def turns(env, names):
    """Take the named actions in turn; the agents that took them."""
    actors = []
    for name in names:
        actors.append(env.agent_selection)
        env.step(env.unwrapped.game.action_id(name))
    return actors


def test_a_quitters_round_penalty_reaches_it_once_at_its_next_turn__B09():
    """Player 0 quits at once; the others play on, and the round is scored many steps later."""
    env = lama_v0.raw_env(num_players=4, reward="score", first_player=0, next_starter="rotate")
    env.reset(seed=2)
    env.step(env.game.action_id("quit"))
    assert set(env.rewards.values()) == {0.0}
    steps, batch = 0, env._batch
    while batch.state["rounds"][0] == 0:
        assert env.agent_selection != "player_0"
        draw = env.game.action_id("draw")
        env.step(draw if steps < 15 and batch.action_mask[0, draw] else env.game.action_id("quit"))
        steps += 1
    assert steps > 15
    change = batch.state["total"][0].astype(float)
    expected = -(change[0] - change[1:].mean()) / 10
    assert env._cumulative_rewards["player_0"] == pytest.approx(expected, abs=1e-6)
    while env.agent_selection != "player_0":
        env.step(env.game.action_id("draw"))
    assert batch.state["rounds"][0] == 1
    assert env.last()[1] == pytest.approx(expected, abs=1e-6)
    env.step(env.game.action_id("draw"))
    assert env._cumulative_rewards["player_0"] == 0


def test_six_players_two_of_whom_quit_take_turns_without_skip_or_repeat__B12():
    env = lama_v0.raw_env(num_players=6, first_player=0)
    env.reset(seed=1)
    names = ["draw", "quit", "draw", "draw", "quit", "draw", *["draw"] * 5]
    actors = turns(env, names)
    assert actors == [f"player_{seat}" for seat in (0, 1, 2, 3, 4, 5, 0, 2, 3, 5, 0)]
    assert env.agents == env.possible_agents == [f"player_{seat}" for seat in range(6)]


def test_a_quitter_stays_an_agent_and_acts_again_in_the_next_round__B12():
    env = lama_v0.raw_env(num_players=3, first_player=0, target_score=1000)
    env.reset(seed=1)
    assert turns(env, ["quit", "quit"]) == ["player_0", "player_1"]
    while env._batch.state["rounds"][0] == 0:
        assert env.agent_selection == "player_2"
        assert env.agents == env.possible_agents
        env.step(env.game.action_id("quit"))
    assert turns(env, ["draw"] * 4) == ["player_2", "player_0", "player_1", "player_2"]


def test_two_games_on_one_environment_go_in_the_same_order__B12():
    env = lama_v0.raw_env(num_players=6, first_player=3)
    orders = []
    for seed in (1, None, None):
        env.reset(seed=seed)
        orders.append(turns(env, ["draw", "quit", "draw", "quit", *["draw"] * 6]))
    assert orders[0] == orders[1] == orders[2]
    assert orders[0][:6] == [f"player_{seat}" for seat in (3, 4, 5, 0, 1, 2)]


def test_final_observation_shows_no_deal_of_a_further_round__B43():
    for seed in range(60):
        env = lama_v0.raw_env(num_players=3)
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        state = env._batch.state
        while not any(env.terminations.values()):
            hands, totals = state["hand"][0].copy(), state["total"][0].copy()
            assert totals.max() < 40
            env.step(int(rng.choice(np.flatnonzero(env._batch.action_mask[0]))))
        assert state["total"][0].max() >= 40
        assert np.abs(state["hand"][0] - hands).sum() <= 1  # at most the last card played has left a hand
        for seat, agent in enumerate(env.possible_agents):
            seen = env.game.observation.decode(env.observe(agent)["observation"])
            assert seen["hand"].tolist() == state["hand"][0, seat].tolist()
