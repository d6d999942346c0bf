"""PettingZoo's AEC environment over any Game."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import BaseWrapper, wrappers

from llama_envs.adapters.frames import MODES, FrameRenderer
from llama_envs.adapters.spaces import (
    as_action,
    check_reset_options,
    global_state,
    masked_observation,
    state_box,
)
from llama_envs.core.batch import Batch, illegal_action_message
from llama_envs.core.chance import check_seed
from llama_envs.core.errors import IllegalAction, ResetNeeded
from llama_envs.core.game import Game

ObsDict = dict[str, npt.NDArray[Any]]


class GameAECEnv(AECEnv[str, ObsDict, "int | None"]):
    """One game, one agent at a time.

    Observations are ``{"observation": float32 (D,) in [0, 1], "action_mask": int8 (A,)}``; the mask of an agent that is
    not to move is all zeros. ``rewards`` holds what the last action paid each agent; ``last()`` returns what an agent
    gathered since its own last action. All agents stay in ``agents`` until the game ends, for all of them at once.

    Args:
        game: what to play.
        render_mode: None, "human", "ansi" or "rgb_array".
        render_seat: whose view to render; None follows the agent to move.
        reveal: render everything, hidden cards included.

    Raises:
        IllegalAction: ``step`` with an action that the mask forbids; the game is unchanged.
        ResetNeeded: used before ``reset()`` or stepped after the end.
        ValueError: an action that is not an integer from 0 to A-1, or an option that ``reset`` does not know; the game
            is unchanged.

    Attributes:
        has_reset: whether there is a game.
    """

    def __init__(
        self, game: Game, render_mode: str | None = None, render_seat: int | None = None, reveal: bool = False
    ) -> None:
        super().__init__()
        self.game = game
        self.render_mode = render_mode
        self.metadata = {
            "name": game.id,
            "render_modes": list(MODES),
            "is_parallelizable": False,  # a waiting agent's mask is all zeros; GameParallelEnv is the parallel form
            "render_fps": 2,
        }
        self.possible_agents = game.agents
        self.agents: list[str] = []
        self.observation_spaces = {agent: masked_observation(game) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(game.num_actions) for agent in self.possible_agents}
        self.state_space = state_box(game)
        self._seat = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._frames = FrameRenderer(game, render_mode, render_seat, reveal)
        self.has_reset = False
        self._batch: Batch | None = None
        self._action = np.zeros(1, np.int64)
        self._mover = -1  # the seat to move; -1 when the game is over

    def observation_space(self, agent: str) -> spaces.Dict:
        """The same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The same object at every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game; with ``seed`` the first game of that seed, without the next one of the current seed.

        There are no ``options``.
        """
        check_reset_options(options)
        if self._batch is None or seed is not None:
            self._batch = Batch(self.game, 1, None if seed is None else check_seed(seed))
        self._batch.reset()  # a new batch keeps its first deal
        self.has_reset = True
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._select(self._batch)

    def step(self, action: int | None) -> None:
        """The action of ``agent_selection``; None once the game is over."""
        batch = self._playing()
        if not self.agents:
            raise ResetNeeded("the game is over; call reset() before the next step.")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._action[0] = chosen = as_action(action, self.game)
        try:
            reward, terminated, truncated = batch.step(self._action)
        except IllegalAction:
            message = illegal_action_message(self.game, chosen, batch.action_mask[0])
            raise IllegalAction(f"{message} ({agent} is to move).") from None
        self._mover = -1
        self._cumulative_rewards[agent] = 0.0
        (paid,) = reward.tolist()
        if any(paid):
            self.rewards = dict(zip(self.possible_agents, paid, strict=True))
            self._accumulate_rewards()
        else:
            self.rewards = dict.fromkeys(self.possible_agents, 0.0)
        if terminated[0] or truncated[0]:
            self.terminations = dict.fromkeys(self.agents, bool(terminated[0]))
            self.truncations = dict.fromkeys(self.agents, bool(truncated[0]))
            self._deads_step_first()
        else:
            self._select(batch)
        if self.render_mode == "human":
            self.render()

    def lose(self) -> None:
        """The game ends for all without a move, after an illegal action under PettingZoo's wrapper, which pays it."""
        self._mover = -1
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, False)

    def last(self, observe: bool = True) -> tuple[ObsDict | None, float, bool, bool, dict[str, Any]]:
        """Of ``agent_selection``: observation, what it was paid since its last action, terminated, truncated, info."""
        self._playing()
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def observe(self, agent: str) -> ObsDict:
        """A new observation dict of ``agent``."""
        batch = self._playing()
        seat = self._seat[agent]
        if seat == self._mover:
            return {
                "observation": batch.observation[0].copy(),
                "action_mask": batch.action_mask[0].astype(np.int8),
            }
        return {
            "observation": batch.observe(seat)[0],
            "action_mask": np.zeros(self.game.num_actions, np.int8),
        }

    def state(self) -> npt.NDArray[np.float32]:
        """Every agent's observation, concatenated: float32 (P * D,). For centralised training only."""
        batch = self._playing()
        return global_state(self.game, lambda seat: batch.observe(seat)[0])

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """One frame in the mode given at construction."""
        batch = self._playing()
        return self._frames.render(batch.state[0], self._seat[self.agent_selection] if self.agents else 0)

    def close(self) -> None:
        """Close the window, if any."""
        self._frames.close()

    def _select(self, batch: Batch) -> None:
        self._mover = batch.to_move.item()
        self.agent_selection = self.possible_agents[self._mover]

    def _playing(self) -> Batch:
        if self._batch is None:
            raise ResetNeeded("call reset() before anything else.")
        return self._batch


def _game_attribute(name: str) -> property:
    def read(self: Any) -> Any:
        game = self._game_env
        if not game.has_reset:  # let PettingZoo's own wrapper say so
            raise AttributeError(name)
        return getattr(game, name)

    return property(read)


class _ReadsTheGame(BaseWrapper[str, Any, Any]):
    """For PettingZoo's wrappers: what they read of the game comes at once, not through every wrapper in between.

    A wrapped step is twice as fast; it was two thirds attribute look-ups.
    """

    agents = _game_attribute("agents")
    agent_selection = _game_attribute("agent_selection")
    rewards = _game_attribute("rewards")
    terminations = _game_attribute("terminations")
    truncations = _game_attribute("truncations")
    infos = _game_attribute("infos")
    _cumulative_rewards = _game_attribute("_cumulative_rewards")

    def __init__(self, env: AECEnv[Any, Any, Any], *arguments: Any, **options: Any) -> None:
        self._game_env = env.unwrapped  # BaseWrapper looks nothing up before this
        super().__init__(env, *arguments, **options)


class TerminateIllegalWrapper(_ReadsTheGame, wrappers.TerminateIllegalWrapper):
    """PettingZoo's, but that an illegal action terminates the game alone, which it calls truncated as well."""

    def step(self, action: int | None) -> None:
        """The action of ``agent_selection``; an illegal one loses and ends the game."""
        before = self._terminated
        super().step(action)
        if self._terminated and not before:
            self._game_env.lose()


class AssertOutOfBoundsWrapper(_ReadsTheGame, wrappers.AssertOutOfBoundsWrapper):
    """PettingZoo's."""


class OrderEnforcingWrapper(_ReadsTheGame, wrappers.OrderEnforcingWrapper):
    """PettingZoo's."""

    def __str__(self) -> str:
        return str(self.env)


def wrap(env: GameAECEnv) -> AECEnv[Any, Any, Any]:
    """``env`` wrapped as PettingZoo's classic games are: an illegal action loses and ends the game."""
    wrapped: AECEnv[Any, Any, Any] = TerminateIllegalWrapper(env, illegal_reward=-1)
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(wrapped))
