"""PettingZoo's Parallel environment over any Game."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import ParallelEnv

from llama_envs.adapters.frames import MODES, FrameRenderer
from llama_envs.adapters.spaces import (
    ILLEGAL,
    ILLEGAL_REWARD,
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
from llama_envs.core.validation import check_choice

ObsDict = dict[str, npt.NDArray[Any]]
Step = tuple[dict[str, ObsDict], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class GameParallelEnv(ParallelEnv[str, ObsDict, int]):
    """One game, all agents at once.

    In a simultaneous game every agent decides in every step. In a game of turns the agent whose mask is not all zeros
    decides; what the others send is ignored. Observations are
    ``{"observation": float32 (D,), "action_mask": int8 (A,)}``.

    Args:
        game, render_mode, render_seat, reveal: as :class:`llama_envs.adapters.aec.GameAECEnv`.
        illegal_action: "lose": agents that act illegally are paid -1 and the game ends for all, as under PettingZoo's
            wrapper for AEC environments; their ``infos`` say ``illegal_action``. "error": an error, and nothing moves.

    Raises:
        IllegalAction: an illegal action, with ``illegal_action="error"``; the game is unchanged.
        ResetNeeded: used before ``reset()`` or stepped after the end.
        ValueError: an agent that must act has no action, or one that is not an integer from 0 to A-1; an option that
            ``reset`` does not know.
    """

    def __init__(
        self,
        game: Game,
        render_mode: str | None = None,
        render_seat: int | None = None,
        reveal: bool = False,
        illegal_action: str = "lose",
    ) -> None:
        check_choice("illegal_action", illegal_action, ILLEGAL)
        self.game = game
        self.illegal_action = illegal_action
        self.render_mode = render_mode
        self.metadata = {"name": game.id, "render_modes": list(MODES), "render_fps": 2}
        self.possible_agents = game.agents
        self.agents: list[str] = []
        self.observation_spaces = {agent: masked_observation(game) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(game.num_actions) for agent in self.possible_agents}
        self.state_space = state_box(game)
        self._frames = FrameRenderer(game, render_mode, render_seat, reveal)
        self._batch: Batch | None = None

    def observation_space(self, agent: str) -> spaces.Dict:
        """The same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The same object at every call."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, ObsDict], dict[str, dict[str, Any]]]:
        """Deal a new game; with ``seed`` the first game of that seed, without the next one of the current seed.

        There are no ``options``.
        """
        check_reset_options(options)
        if self._batch is None or seed is not None:
            self._batch = Batch(self.game, 1, None if seed is None else check_seed(seed))
        self._batch.reset()  # a new batch keeps its first deal
        self.agents = list(self.possible_agents)
        return self._observe(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, int]) -> Step:
        """One action of every agent that has something to decide."""
        batch = self._playing()
        if not self.agents:
            raise ResetNeeded("the game is over; call reset() before the next step.")
        chosen, illegal = self._check(actions)
        if illegal:
            return self._lose(illegal)
        rewards = np.zeros(self.game.num_players, np.float64)
        over = False
        for seat in sorted(chosen, key=lambda seat: (seat - int(batch.to_move[0])) % self.game.num_players):
            reward, terminated, truncated = batch.step([chosen[seat]])
            rewards += reward[0]
            over = bool(terminated[0] or truncated[0])
        agents = self.agents
        observations = self._observe()
        result: Step = (
            observations,
            dict(zip(agents, rewards.tolist(), strict=True)),
            dict.fromkeys(agents, over and bool(terminated[0])),
            dict.fromkeys(agents, over and bool(truncated[0])),
            {agent: {} for agent in agents},
        )
        if over:
            self.agents = []
        if self.render_mode == "human":
            self.render()
        return result

    def state(self) -> npt.NDArray[np.float32]:
        """Every agent's observation, concatenated: float32 (P * D,). For centralised training only."""
        batch = self._playing()
        return global_state(self.game, lambda seat: batch.observe(seat)[0])

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """One frame in the mode given at construction."""
        batch = self._playing()
        return self._frames.render(batch.state[0], max(int(batch.to_move[0]), 0))

    def close(self) -> None:
        """Close the window, if any."""
        self._frames.close()

    def _lose(self, losers: list[str]) -> Step:
        """The game ends at once for all; only those who acted illegally are paid."""
        agents, self.agents = self.agents, []
        observations = self._observe()
        for observation in observations.values():
            observation["action_mask"][:] = 0
        return (
            observations,
            {agent: ILLEGAL_REWARD if agent in losers else 0.0 for agent in agents},
            dict.fromkeys(agents, True),
            dict.fromkeys(agents, False),
            {agent: {"illegal_action": True} if agent in losers else {} for agent in agents},
        )

    def _check(self, actions: dict[str, int]) -> tuple[dict[int, int], list[str]]:
        """The action of every deciding seat, and the agents whose action is illegal; the game has not moved yet."""
        chosen: dict[int, int] = {}
        illegal: list[str] = []
        for seat, agent in enumerate(self.possible_agents):
            mask = self._playing().mask(seat)[0]
            if not mask.any():
                continue
            if agent not in actions:
                raise ValueError(f"{agent} must act in this step; actions were given for {sorted(actions)}.")
            action = as_action(actions[agent], self.game)
            if not mask[action]:
                if self.illegal_action == "error":
                    raise IllegalAction(f"{agent}: {illegal_action_message(self.game, action, mask)}.")
                illegal.append(agent)
            chosen[seat] = action
        return chosen, illegal

    def _observe(self) -> dict[str, ObsDict]:
        batch = self._playing()
        return {
            agent: {"observation": batch.observe(seat)[0], "action_mask": batch.mask(seat)[0].astype(np.int8)}
            for seat, agent in enumerate(self.possible_agents)
        }

    def _playing(self) -> Batch:
        if self._batch is None:
            raise ResetNeeded("call reset() before anything else.")
        return self._batch
