"""The RLlib adapter against the core, against RLlib's own episodes, and in training on a local Ray."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.cases import CASES, Case, each_truncating, every_case, game_of
from tests.compat import COUNTS, record

pytest.importorskip("ray.rllib", reason="Ray has its own environment: run `make test-ray`")

from ray.rllib.env.env_context import EnvContext
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode

from llama_envs.adapters.rllib import RLlibEnv
from llama_envs.core.batch import Batch
from llama_envs.core.errors import IllegalAction, ResetNeeded
from llama_envs.core.game import Game

GAMES = 500  # of each game, its configurations together
LOOKBACK = 1  # RLlib's default episode_lookback_horizon; with 0 its cuts lose steps of agents that wait


class Core:
    """The same game on a plain batch: whose turn it is, what they see, what everybody is paid."""

    def __init__(self, game: Game, seed: int) -> None:
        self.game, self.batch = game, Batch(game, 1, seed)

    def to_act(self) -> list[int]:
        first = int(self.batch.to_move[0])
        if first < 0 or not self.game.simultaneous:
            return [first] if first >= 0 else []
        return [(first + i) % self.game.num_players for i in range(self.game.num_players)]

    def step(self, actions: dict[str, int]) -> np.ndarray:
        paid = np.zeros(self.game.num_players)
        for seat in self.to_act():
            paid += self.batch.step([actions[f"player_{seat}"]])[0][0]
        return paid


def seats(agents: Any) -> list[int]:
    return sorted(int(agent.removeprefix("player_")) for agent in agents)


def legal(observations: dict[str, Any], rng: np.random.Generator) -> dict[str, int]:
    return {agent: int(rng.choice(np.flatnonzero(own["action_mask"]))) for agent, own in observations.items()}


def collect(case: Case, games: int) -> int:
    """Play and compare with the core step by step; returns how often a reward waited for its agent's next turn."""
    game = game_of(case)
    env = RLlibEnv({"game": game, "illegal_action": "error"})
    rng = np.random.default_rng(1)
    carried = 0
    for seed in range(games):
        core = Core(game, seed)
        observations, infos = env.reset(seed=seed)
        collected, paid = np.zeros(game.num_players), np.zeros(game.num_players)
        acted: set[str] = set()
        for _ in range(10_000):
            assert seats(observations) == sorted(core.to_act())
            assert set(infos) == set(observations)
            for agent, own in observations.items():
                seat = int(agent[-1])
                assert set(own) == {"observations", "action_mask"}  # ActionMaskingTorchRLModule's names
                assert np.array_equal(own["observations"], core.batch.observe(seat)[0])
                assert np.array_equal(own["action_mask"], core.batch.mask(seat)[0])
                assert own["action_mask"].any()
            assert all(env.observation_spaces[agent].contains(own) for agent, own in observations.items())
            actions = legal(observations, rng)
            acted |= set(actions)
            now = core.step(actions)
            observations, rewards, terminateds, truncateds, infos = env.step(actions)
            paid += now
            for agent, reward in rewards.items():
                assert isinstance(reward, float)
                collected[int(agent[-1])] += reward
            assert set(terminateds) == set(truncateds) == {"__all__"}
            if terminateds["__all__"] or truncateds["__all__"]:
                break
            assert set(rewards) == set(observations) & acted
            carried += any(now[seat] and f"player_{seat}" not in rewards for seat in range(game.num_players))
        assert not core.to_act()
        assert terminateds["__all__"] == core.batch.state["terminated"][0]
        assert truncateds["__all__"] == core.batch.state["truncated"][0]
        assert set(rewards) == set(env.possible_agents)
        assert set(observations) == acted
        for agent, own in observations.items():
            assert np.array_equal(own["observations"], core.batch.observe(int(agent[-1]))[0])
            assert not own["action_mask"].any()
        assert np.allclose(collected, paid, rtol=0, atol=1e-9)
    return carried


@every_case
def test_a_collector_gets_who_must_act_what_they_see_and_what_everybody_earned(case: Case) -> None:
    carried = collect(case, -(-GAMES // sum(case[0] == param.values[0][0] for param in CASES)))
    if case[0] == "lama" and case[1].get("reward") == "score" and "max_rounds" not in case[1]:
        assert carried > 0, "no waiting agent was ever paid: the carry-over went untested"


@pytest.mark.parametrize(("name", "players"), COUNTS)
def test_100_games_with_every_number_of_players_are_collected_right(name: str, players: int) -> None:
    collect((name, {"num_players": players}), 100)
    record("RLlib on Ray", name, players, "works", "in `.venv-ray` (`make test-ray`): Ray 2.60 pins gymnasium 1.2.2")


def play_into_episode(env: RLlibEnv, rng: np.random.Generator, cut: float) -> list[MultiAgentEpisode]:
    """One random game in RLlib's own collector, cut into chunks at random."""
    episode = MultiAgentEpisode(
        observation_space=env.observation_spaces,
        action_space=env.action_spaces,
        agent_to_module_mapping_fn=lambda agent, episode, **kwargs: "main",
    )
    observations, infos = env.reset()
    episode.add_env_reset(observations=observations, infos=infos)
    chunks = [episode]
    while not episode.is_done:
        actions = legal(observations, rng)
        observations, rewards, terminateds, truncateds, infos = env.step(actions)
        episode.add_env_step(
            observations, actions, rewards, infos, terminateds=terminateds, truncateds=truncateds,
            extra_model_outputs={agent: {"drawn": action} for agent, action in actions.items()},
        )  # fmt: skip
        if not episode.is_done and rng.random() < cut:
            chunks.append(episode := episode.cut(len_lookback_buffer=LOOKBACK))
    return chunks


@every_case
def test_rllibs_own_episodes_lose_no_step_and_no_reward_however_they_are_cut(case: Case) -> None:
    game = game_of(case)
    env = RLlibEnv({"game": game, "illegal_action": "error"})
    env.reset(seed=3)
    core = Core(game, 3)
    core.batch.reset()
    rng = np.random.default_rng(0)
    for cut in np.linspace(0, 0.5, 12):
        taken: dict[str, list[int]] = {agent: [] for agent in game.agents}
        paid = np.zeros(game.num_players)
        core.batch.reset()
        real_step = env.step

        def step(actions: dict[str, int], taken=taken, paid=paid, real_step=real_step):
            for agent, action in actions.items():
                taken[agent].append(action)
            paid += core.step(actions)
            return real_step(actions)

        env.step = step
        chunks = play_into_episode(env, rng, cut)
        env.step = real_step
        for seat, agent in enumerate(game.agents):
            own = [chunk.agent_episodes[agent] for chunk in chunks if len(chunk.agent_episodes.get(agent, ()))]
            assert [int(action) for piece in own for action in piece.get_actions()] == taken[agent]
            assert [int(drawn) for piece in own for drawn in piece.get_extra_model_outputs("drawn")] == taken[agent]
            if taken[agent]:
                assert sum(piece.get_return() for piece in own) == pytest.approx(paid[seat], abs=1e-6)
                assert own[-1].is_done


@each_truncating
def test_a_game_cut_short_is_a_truncation_for_rllib_too(case: Case) -> None:
    env = RLlibEnv({"game": game_of(case), "illegal_action": "error"})
    (episode,) = play_into_episode(env, np.random.default_rng(0), cut=0)
    assert episode.is_truncated
    assert not episode.is_terminated
    assert all(own.is_truncated and not own.is_terminated for own in episode.agent_episodes.values())


def test_illegal_actions_are_errors_or_lose_as_asked() -> None:
    strict = RLlibEnv({"game": "lama", "num_players": 3, "illegal_action": "error"})
    observations, _ = strict.reset(seed=1)
    (agent,) = observations
    illegal = {agent: int(observations[agent]["action_mask"].argmin())}
    with pytest.raises(IllegalAction, match="is not legal"):
        strict.step(illegal)
    lenient = RLlibEnv({"game": "lama", "num_players": 3})
    lenient.reset(seed=1)
    last, rewards, terminateds, _, infos = lenient.step(illegal)
    assert rewards == {name: -1.0 if name == agent else 0.0 for name in lenient.possible_agents}
    assert terminateds["__all__"]
    assert set(last) == {agent}
    assert infos[agent] == {"illegal_action": True}


def test_misuse_is_refused_in_one_sentence() -> None:
    env = RLlibEnv({"game": "lama", "num_players": 3})
    with pytest.raises(ResetNeeded):
        env.step({"player_0": 0})
    (agent,) = env.reset(seed=1)[0]
    with pytest.raises(ValueError, match="actions are due from"):
        env.step({name: 0 for name in env.possible_agents if name != agent})
    with pytest.raises(ValueError, match="env_config must have"):
        RLlibEnv({"num_players": 3})
    with pytest.raises(ValueError, match="env_config must have"):
        RLlibEnv({"game": env.game, "num_players": 3})


def test_neighbouring_env_runners_deal_different_games() -> None:
    def first(runner: int, seed: int) -> bytes:
        env = RLlibEnv(EnvContext({"game": "lama"}, worker_index=runner))
        deals = [env.reset(seed=seed)[0], *(env.reset()[0] for _ in range(3))]  # one hand may come up twice by chance
        return b"".join(own["observations"].tobytes() for seen in deals for own in seen.values())

    # RLlib seeds environment i of runner w with seed + w + i
    deals = {first(runner, runner + i) for runner in range(1, 9) for i in range(8)}
    assert len(deals) == 64
