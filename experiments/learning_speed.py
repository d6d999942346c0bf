"""How fast MaskablePPO trains here, on an environment that does nothing, and as PettingZoo's tutorial does it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from pettingzoo.utils import BaseWrapper
from sb3_contrib import MaskablePPO
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3.common.vec_env import VecEnv

from experiments.throughput.peers import load
from experiments.train.options import Options
from llama_envs.adapters.sb3 import SB3VecEnv
from llama_envs.core.registry import game_names, make_game

TUTORIAL_STEPS = 2048  # one rollout of MaskablePPO's defaults


@dataclass
class LearningSpeed:
    """Learner's decisions per second of processor time, repeat by repeat; nothing of the tutorial if ``absent``."""

    game: str
    ours: list[float]
    nothing: list[float]

    @property
    def share(self) -> float:
        """Our speed as a part of the speed on an environment that does nothing: the median of pairs."""
        return float(np.median(np.array(self.ours) / np.array(self.nothing)))


class NothingVecEnv(VecEnv):
    """Has the spaces of another environment, and does nothing."""

    def __init__(self, like: SB3VecEnv) -> None:
        super().__init__(like.num_envs, like.observation_space, like.action_space)
        self._observation = np.random.default_rng(0).random(like.reset().shape, np.float32)
        self._masks = list(np.stack(like.env_method("action_masks")))
        self._nothing = np.zeros(self.num_envs, np.float32), np.zeros(self.num_envs, np.bool_)

    def reset(self) -> Any:
        """The same observation always."""
        return self._observation

    def step_async(self, actions: Any) -> None:
        """Nothing."""

    def step_wait(self) -> Any:
        """The same observation, no reward, no end."""
        return self._observation, *self._nothing, [{} for _ in range(self.num_envs)]

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """The same masks always."""
        return self._masks

    def has_attr(self, attr_name: str) -> bool:
        """Only ``action_masks``."""
        return attr_name == "action_masks"

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """What Stable-Baselines3 asks for."""
        return [None] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Nothing."""

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Never."""
        return [False] * self.num_envs

    def close(self) -> None:
        """Nothing."""


def learning_speeds(repeats: int, num_envs: int) -> list[LearningSpeed]:
    """For each game at its default number of players, with the settings of ``experiments.train``, in turns."""
    found = []
    for name in game_names():
        env = SB3VecEnv(make_game(name), num_envs, opponents="random", seed=0)
        learners = [learner(env), learner(NothingVecEnv(env))]
        for train in learners:
            train()
        pairs = [[train() for train in learners] for _ in range(repeats)]
        ours, nothing = (list(rates) for rates in zip(*pairs, strict=True))
        found.append(LearningSpeed(make_game(name).title, ours, nothing))
    return found


def learner(env: VecEnv) -> Callable[[], float]:
    """MaskablePPO on ``env``; a call trains on one rollout and returns decisions per second."""
    options = Options()
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=options.n_steps, batch_size=options.batch_size, n_epochs=options.n_epochs,
        policy_kwargs={"net_arch": list(options.layers)}, gamma=options.gamma, device="cpu", seed=0,
    )  # fmt: skip
    return timed(model, env.num_envs * options.n_steps)


def timed(model: MaskablePPO, decisions: int) -> Callable[[], float]:
    """Train on ``decisions``, one rollout, at each call; decisions per second of processor time."""

    def train() -> float:
        start = time.process_time()
        model.learn(decisions, reset_num_timesteps=False)
        return decisions / (time.process_time() - start)

    return train


class ForSB3(BaseWrapper, gym.Env):  # type: ignore[misc]
    """A PettingZoo environment as the MaskablePPO tutorial turns it into a single agent's: it plays all seats."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """The first agent's observation."""
        BaseWrapper.reset(self, seed, options)
        self.observation_space = BaseWrapper.observation_space(self, self.possible_agents[0])["observation"]
        self.action_space = BaseWrapper.action_space(self, self.possible_agents[0])
        return self.observe(self.agent_selection), {}

    def step(self, action: Any) -> Any:
        """The next agent's observation, with the reward of the one that acted."""
        agent = self.agent_selection
        BaseWrapper.step(self, action)
        selected = self.agent_selection
        return (
            self.observe(selected), self._cumulative_rewards[agent], self.terminations[selected],
            self.truncations[selected], self.infos[selected],
        )  # fmt: skip

    def observe(self, agent: str) -> Any:
        """Without the mask."""
        return BaseWrapper.observe(self, agent)["observation"]

    def action_mask(self) -> Any:
        """The mask."""
        return BaseWrapper.observe(self, self.agent_selection)["action_mask"]


def tutorial_speeds(repeats: int) -> list[float]:
    """MaskablePPO with its defaults on one connect four of PettingZoo, as the tutorial shows it; raises Absent."""
    classic = load("pettingzoo.classic.connect_four_v3", "pettingzoo[classic]")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = ForSB3(classic.env())
        env.reset(seed=0)
        model = MaskablePPO("MlpPolicy", ActionMasker(env, ForSB3.action_mask), device="cpu", seed=0)
        train = timed(model, TUTORIAL_STEPS)
        return [train() for _ in range(repeats)]
