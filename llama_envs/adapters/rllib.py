"""RLlib on Ray, current API stack: a ``MultiAgentEnv`` over any Game, masked PPO, self-play against frozen snapshots.

.. code-block:: python

    from ray.rllib.algorithms.ppo import PPOConfig
    from llama_envs.adapters.rllib import League, configure

    config = configure(PPOConfig(), {"game": name, "num_players": 3}, League(snapshots=2))
    config.env_runners(num_env_runners=2).training(train_batch_size_per_learner=4000, gamma=1.0)
    algorithm = config.build_algo()
    algorithm.train()

Masks are honoured by RLlib's own ``ActionMaskingTorchRLModule``, for PPO and other algorithms with its modules. It asks
for observations ``{"observations": Box (D,), "action_mask": Box (A,)}``: mind the plural, the other adapters follow
PettingZoo and say ``observation``.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

try:
    import torch  # noqa: F401  (RLlib imports without it, and fails later)
    from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
    from ray.rllib.callbacks.callbacks import RLlibCallback
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.env.env_context import EnvContext
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
except ImportError as error:
    raise ImportError(
        f"llama_envs.adapters.rllib needs RLlib and torch ({error}): pip install 'llama-envs[ray]'"
    ) from error

from llama_envs.adapters.parallel import GameParallelEnv
from llama_envs.adapters.spaces import masked_observation
from llama_envs.core.chance import check_seed
from llama_envs.core.errors import ResetNeeded
from llama_envs.core.game import Game
from llama_envs.core.registry import make_game
from llama_envs.core.validation import check_int

ObsDict = dict[str, npt.NDArray[Any]]
Step = tuple[dict[str, ObsDict], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]

LEARNER = "main"


class RLlibEnv(MultiAgentEnv):
    """One game with every seat an agent, as RLlib wants it.

    The observation dict holds exactly the agents that must act next: one in a game of turns, all where everybody
    decides at once. Observations are ``{"observations": float32 (D,) in [0, 1], "action_mask": int8 (A,)}``.

    What an agent is paid while it waits is kept and delivered with its next observation, or at the end; what it is
    paid before its first decision comes with its first reward. At the end ``__all__`` is True in ``terminateds`` (in
    ``truncateds`` if a limit cut the game short), every agent is paid, and every agent that has acted gets a last
    observation, whose mask is all zeros. No single agent is ever marked: RLlib would take a truncation marked for each
    agent as a termination.

    Args:
        config: ``env_config``: "game" (a Game, or the name of one with its options beside it), "illegal_action" and
            "render_mode" as in :class:`llama_envs.adapters.parallel.GameParallelEnv`.

    An env runner seeds its environment i with seed + its index + i, which its neighbour has too; so the index of the
    runner is part of the seed here. A reset with the same seed in the main process is what the other adapters deal.

    Raises:
        ValueError: an unknown option, or actions that are not those of the agents that must act.
        IllegalAction: an illegal action, with ``illegal_action="error"``; the game is unchanged.
        ResetNeeded: stepped before ``reset()`` or after the end.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        options = dict(config)
        game = options.pop("game", None)
        illegal_action = options.pop("illegal_action", "lose")
        self.render_mode = options.pop("render_mode", None)
        if isinstance(game, str):
            game = make_game(game, **options)
        elif not isinstance(game, Game) or options:
            raise ValueError(f'env_config must have "game": a Game alone, or a name and its options, got {config!r}.')
        self.game: Game = game
        self._env = GameParallelEnv(game, self.render_mode, illegal_action=illegal_action)
        self.metadata = self._env.metadata
        self.possible_agents = list(game.agents)
        self.agents = list(game.agents)
        self.observation_spaces = {agent: plural(masked_observation(game)) for agent in game.agents}
        self.action_spaces = {agent: spaces.Discrete(game.num_actions) for agent in game.agents}
        self._runner = config.worker_index if isinstance(config, EnvContext) else 0
        self._to_act: list[str] = []
        self._acted: set[str] = set()
        self._owed: dict[str, float] = {}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, ObsDict], dict[str, dict[str, Any]]]:
        """Deal a new game; with ``seed`` the first game of that seed, without the next one of the current seed."""
        if seed is not None and self._runner:
            words = np.random.SeedSequence((check_seed(seed), self._runner)).generate_state(1, np.uint64)
            seed = int(words[0])
        seen, _ = self._env.reset(seed, options)
        self.agents = list(self.possible_agents)
        self._acted = set()
        self._owed = dict.fromkeys(self.agents, 0.0)
        observations = self._ask(seen)
        return observations, {agent: {} for agent in observations}

    def step(self, action_dict: Mapping[str, Any]) -> Step:
        """One action of every agent that was in the last observation dict."""
        if not self._to_act:
            raise ResetNeeded("there is no game going on; call reset() before the next step.")
        if set(action_dict) != set(self._to_act):
            raise ValueError(f"actions are due from {self._to_act}, not from {sorted(action_dict)}.")
        seen, paid, terminated, truncated, notes = self._env.step(dict(action_dict))
        self._acted.update(self._to_act)
        for agent, reward in paid.items():
            self._owed[agent] += reward
        ended, cut = any(terminated.values()), any(truncated.values())
        if ended or cut:
            self._to_act = []
            observations = {agent: plural_observation(seen[agent]) for agent in seen if agent in self._acted}
            rewards, self._owed = self._owed, {}
        else:
            observations = self._ask(seen)
            rewards = {agent: self._owed[agent] for agent in observations if agent in self._acted}
            self._owed.update(dict.fromkeys(rewards, 0.0))
        infos = {agent: notes[agent] for agent in observations}
        return observations, rewards, {"__all__": ended}, {"__all__": cut}, infos

    def render(self) -> Any:
        """One frame in the mode given by "render_mode"."""
        return self._env.render()

    def close(self) -> None:
        """Close the window, if any."""
        self._env.close()

    def _ask(self, seen: dict[str, ObsDict]) -> dict[str, ObsDict]:
        observations = {agent: plural_observation(own) for agent, own in seen.items() if own["action_mask"].any()}
        self._to_act = list(observations)
        return observations


def plural(space: spaces.Dict) -> spaces.Dict:
    """The space with the key that RLlib's masking module reads."""
    return spaces.Dict({"observations": space["observation"], "action_mask": space["action_mask"]})


def plural_observation(observation: ObsDict) -> ObsDict:
    """The observation with the key that RLlib's masking module reads."""
    return {"observations": observation["observation"], "action_mask": observation["action_mask"]}


def masked_modules(
    policies: Sequence[str], layers: Sequence[int] = (128, 128), module: type[Any] = ActionMaskingTorchRLModule
) -> MultiRLModuleSpec:
    """One ``module`` that honours masks for each policy: tanh networks of these layers, values apart from actions."""
    model = DefaultModelConfig(fcnet_hiddens=list(layers), fcnet_activation="tanh", vf_share_layers=False)
    return MultiRLModuleSpec(
        rl_module_specs={name: RLModuleSpec(module_class=module, model_config=model) for name in policies}
    )


# -------------------------------------------------------------------------------------------------------- self-play


@dataclass(frozen=True)
class League:
    """Self-play: the policy that learns, "main", against itself and frozen snapshots of itself, "past_0" and so on.

    One seat of each game, drawn anew, is played by "main", and each other one by "main" with probability
    ``self_weight``, else by a snapshot. At first all snapshots are the initial policy; after every ``every`` iterations
    the oldest becomes a copy of "main".

    Args:
        snapshots: how many are kept; with 0, "main" plays every seat.
        every: iterations between snapshots.
        self_weight: see above.
    """

    snapshots: int = 3
    every: int = 5
    self_weight: float = 0.5

    def __post_init__(self) -> None:
        check_int("snapshots", self.snapshots, 0, 64)
        check_int("every", self.every, 1, 10**6)
        if not 0 <= self.self_weight <= 1:
            raise ValueError(f"self_weight must lie in 0 to 1, got {self.self_weight}.")

    @property
    def past(self) -> list[str]:
        """The names of the snapshots."""
        return [f"past_{slot}" for slot in range(self.snapshots)]

    @property
    def policies(self) -> list[str]:
        """All names."""
        return [LEARNER, *self.past]

    def policy_of(self, agent: str, episode: Any, agents: Sequence[str] = (), **kwargs: Any) -> str:
        """Who plays ``agent`` in ``episode``, RLlib's ``policy_mapping_fn``; drawn from the episode's own id."""
        if not self.past or agent == random.Random(episode.id_).choice(list(agents)):
            return LEARNER
        draw = random.Random(f"{episode.id_} {agent}")
        return LEARNER if draw.random() < self.self_weight else draw.choice(self.past)


class LeagueCallback(RLlibCallback):
    """Keeps the snapshots of a :class:`League`, in the learners and in every env runner.

    Results have ``league_snapshots``, how many were taken, and under ``env_runners`` ``league_advantage``: what "main"
    is paid a seat more than the snapshots in the same game.
    """

    def __init__(self, league: League) -> None:
        super().__init__()
        self.league = league

    def on_algorithm_init(self, *, algorithm: Any, **kwargs: Any) -> None:
        """All snapshots become the initial policy."""
        if self.league.past:
            freeze(algorithm, self.league.past)

    def on_train_result(self, *, algorithm: Any, result: dict[str, Any], **kwargs: Any) -> None:
        """When it is time, the oldest snapshot becomes a copy of the present policy."""
        taken, rest = divmod(algorithm.iteration, self.league.every)
        if self.league.past and taken and rest == 0:
            freeze(algorithm, [self.league.past[(taken - 1) % len(self.league.past)]])
        result["league_snapshots"] = taken if self.league.past else 0

    def on_episode_end(
        self, *, episode: Any, prev_episode_chunks: Sequence[Any] = (), metrics_logger: Any, **kwargs: Any
    ) -> None:
        """Note how "main" did against the snapshots."""
        paid: dict[str, float] = {}
        policy: dict[str, str] = {}
        for chunk in (*prev_episode_chunks, episode):
            for agent, own in chunk.agent_episodes.items():
                paid[agent] = paid.get(agent, 0.0) + own.get_return()
                policy[agent] = own.module_id
        main = [paid[agent] for agent in paid if policy[agent] == LEARNER]
        past = [paid[agent] for agent in paid if policy[agent] != LEARNER]
        if main and past:
            metrics_logger.log_value("league_advantage", float(np.mean(main) - np.mean(past)), window=1000)


def freeze(algorithm: Any, names: Sequence[str]) -> None:
    """Copy "main" into the policies ``names``, in the learners and in every env runner.

    Env runners are written to directly: RLlib's ``sync_weights`` carries the number of the last update, and a runner
    that has already had that update would ignore the copies.
    """
    for inference_only in (False, True):
        found = algorithm.learner_group.get_state(
            components=[f"learner/rl_module/{LEARNER}"], inference_only=inference_only
        )
        modules = dict.fromkeys(names, found["learner"]["rl_module"][LEARNER])
        if inference_only:
            algorithm.env_runner_group.foreach_env_runner(
                partial(_set_modules, modules), local_env_runner=True, timeout_seconds=60.0
            )
        else:
            algorithm.learner_group.set_state({"learner": {"rl_module": modules}})


def _set_modules(modules: dict[str, Any], env_runner: Any) -> None:
    if env_runner.module is not None:
        env_runner.set_state({"rl_module": modules})


def configure(
    config: AlgorithmConfig,
    env_config: Mapping[str, Any],
    league: League | None = None,
    layers: Sequence[int] = (128, 128),
) -> AlgorithmConfig:
    """``config`` (PPO's, say) with the game, masked modules and a league; everything else is left to the caller.

    RLlib's own check of environments is off: it ignores masks, and leaves every environment at the deals of seed 42.
    """
    league = league or League()
    agents = RLlibEnv(env_config).possible_agents
    config.environment(RLlibEnv, env_config=dict(env_config), disable_env_checking=True)
    config.multi_agent(
        policies=set(league.policies),
        policy_mapping_fn=partial(league.policy_of, agents=agents),
        policies_to_train=[LEARNER],
    )
    config.rl_module(rl_module_spec=masked_modules(league.policies, layers))
    config.callbacks(partial(LeagueCallback, league))
    return config
