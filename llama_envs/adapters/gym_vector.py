"""Gymnasium's single and vector environments over any Game: one learner's seat, the others played by policies."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from llama_envs.adapters.frames import MODES, FrameRenderer
from llama_envs.adapters.learner import LearnerGames, Opponents
from llama_envs.adapters.spaces import ILLEGAL, ILLEGAL_REWARD, as_action, check_reset_options, masked_observation
from llama_envs.core.batch import illegal_action_message
from llama_envs.core.chance import check_seed
from llama_envs.core.errors import IllegalAction, ResetNeeded
from llama_envs.core.game import Game
from llama_envs.core.registry import make_game
from llama_envs.core.validation import check_choice, check_int

ObsDict = dict[str, npt.NDArray[Any]]


class _NamesSB3Adapter(type):
    """Stable-Baselines3 takes no vector env; all that it quotes in its error is the text of the class: this one."""

    def __str__(cls) -> str:
        return f"{cls!r} (with Stable-Baselines3 use llama_envs.adapters.sb3.SB3VecEnv)"


class GymVectorEnv(VectorEnv[ObsDict, npt.NDArray[np.int64], npt.NDArray[Any]], metaclass=_NamesSB3Adapter):
    """N games of one learner as a native ``gymnasium.vector.VectorEnv``.

    Observations are ``{"observation": float32 (N, D) in [0, 1], "action_mask": int8 (N, A)}``. ``infos`` have the mask
    too, and the learner's ``seat``. The mask of a game that has ended is all zeros. Everything returned is new.

    Args:
        game: a Game, or the name of one (then ``config`` are its options).
        num_envs: N.
        opponents: who plays the other seats: see :class:`llama_envs.adapters.learner.LearnerGames`.
        learner_seat: a seat, or None to draw it for every episode.
        autoreset_mode: any of Gymnasium's three.
        illegal_action: "lose": an illegal action ends the episode with a reward of -1 and ``infos["illegal_action"]``;
            "error": it is an ``IllegalAction`` and nothing moves.
        render_mode: None, "ansi", "rgb_array" or "human".

    Raises:
        ValueError: an argument is out of range, or actions are not N integers from 0 to A-1.
        ResetNeeded: a step before ``reset``, or of an ended game with autoreset disabled; a first reset of only some.

    Attributes:
        games: the learner's side of the games.
    """

    _frames: FrameRenderer | None = None

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        opponents: Opponents = "random",
        learner_seat: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        illegal_action: str = "lose",
        render_mode: str | None = None,
        **config: Any,
    ) -> None:
        self.game = make_game(game, **config) if isinstance(game, str) else game
        self.num_envs = check_int("num_envs", num_envs, 1, 2**24)
        modes = {mode.value: mode for mode in AutoresetMode}
        name = autoreset_mode.value if isinstance(autoreset_mode, AutoresetMode) else autoreset_mode
        check_choice("autoreset_mode", name, modes)
        check_choice("illegal_action", illegal_action, ILLEGAL)
        self.autoreset_mode = modes[name]
        self.illegal_action = illegal_action
        self.render_mode = render_mode
        self.metadata = {"render_modes": list(MODES), "render_fps": 2, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = masked_observation(self.game)
        self.single_action_space = spaces.Discrete(self.game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._frames = FrameRenderer(self.game, render_mode, None, False)
        self.games = LearnerGames(self.game, num_envs, opponents, learner_seat)
        self._forfeit = np.zeros(num_envs, np.bool_)  # games ended by an illegal action
        self._ended = np.zeros(num_envs, np.bool_)
        self._has_reset = False

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObsDict, dict[str, Any]]:
        """Start episodes everywhere, or where the bool array ``options["reset_mask"]`` (N,) is True.

        Args:
            seed: an int gives seed + i to environment i; a list one seed, or None, to each; None keeps the streams.
            options: ``reset_mask`` and nothing else.

        Raises:
            ValueError: another option, or a wrong mask.
        """
        check_reset_options(options, ("reset_mask",))
        where = np.ones(self.num_envs, np.bool_)
        if options is not None and "reset_mask" in options:
            where = np.asarray(options["reset_mask"])
            if where.shape != (self.num_envs,) or where.dtype != np.bool_ or not where.any():
                raise ValueError(
                    f"reset_mask must be {self.num_envs} bools, not all False, got {where.dtype} {where.shape}."
                )
        if not self._has_reset and not where.all():
            raise ResetNeeded("the first reset() must start every environment, without a reset_mask.")
        self.games.begin(where, seed)
        if isinstance(seed, int):
            super().reset(seed=seed)
        self._forfeit[where] = False
        self._ended[where] = False
        self._has_reset = True
        return self._observe(), self._infos(where)

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[ObsDict, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        """One decision of the learner in every game, up to its next one: reward (N,) float64, terminated, truncated."""
        if not self._has_reset:
            raise ResetNeeded("call reset() before step().")
        resetting = np.zeros(self.num_envs, np.bool_)
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            resetting = self._ended.copy()
        elif self._ended.any():
            which = np.flatnonzero(self._ended).tolist()
            raise ResetNeeded(f"environments {which} have ended; reset them with options={{'reset_mask': ...}}.")
        stepped = ~resetting
        chosen = self._check(actions, stepped)
        legal = self.games.masks()[np.arange(self.num_envs), chosen]
        illegal = stepped & ~legal
        if illegal.any() and self.illegal_action == "error":
            self._refuse(int(np.flatnonzero(illegal)[0]), chosen)
        reward = np.zeros(self.num_envs, np.float64)
        terminated = np.zeros(self.num_envs, np.bool_)
        truncated = np.zeros(self.num_envs, np.bool_)
        moving = stepped & legal
        if moving.any():
            paid, over, cut = self.games.step(chosen, moving)
            reward[moving], terminated[moving], truncated[moving] = paid[moving], over[moving], cut[moving]
        reward[illegal], terminated[illegal] = ILLEGAL_REWARD, True
        self._forfeit |= illegal
        if resetting.any():
            self._begin(resetting)
        self._ended = terminated | truncated
        observation, infos = self._observe(), self._infos(np.ones(self.num_envs, np.bool_), illegal)
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._ended.any():
            observation, infos = self._same_step(observation, infos)
        if self.render_mode == "human":
            self.render()
        return observation, reward, terminated, truncated, infos

    def render(self) -> tuple[Any, ...]:
        """Frames of all games (of the first alone in a window), each from the learner's seat."""
        if not self._has_reset:
            raise ResetNeeded("call reset() before render().")
        shown = range(1 if self.render_mode == "human" else self.num_envs)
        state = self.games.batch.state
        assert self._frames is not None
        return tuple(self._frames.render(state[i], int(self.games.seat[i])) for i in shown)

    def close_extras(self, **kwargs: Any) -> None:
        """Close the window, if any."""
        if self._frames is not None:  # a constructor that refused its arguments leaves none
            self._frames.close()

    def _begin(self, where: npt.NDArray[np.bool_]) -> None:
        self.games.begin(where)
        self._forfeit[where] = False

    def _same_step(self, last: ObsDict, infos: dict[str, Any]) -> tuple[ObsDict, dict[str, Any]]:
        """Start the next episode of ended games; what they showed last goes to ``final_obs`` and ``final_info``."""
        ended = np.flatnonzero(self._ended)
        final: dict[str, Any] = {}
        for i in ended:
            shown = {key: value[i].copy() for key, value in last.items()}
            final = self._add_info(final, {"final_obs": shown, "final_info": _info_row(infos, int(i))}, int(i))
        self._begin(self._ended)
        self._ended = np.zeros(self.num_envs, np.bool_)
        return self._observe(), {**final, **self._infos(np.ones(self.num_envs, np.bool_))}

    def _observe(self) -> ObsDict:
        masks = self.games.masks()
        masks[self._forfeit] = False
        return {"observation": self.games.observe(), "action_mask": masks.astype(np.int8)}

    def _infos(self, where: npt.NDArray[np.bool_], illegal: npt.NDArray[np.bool_] | None = None) -> dict[str, Any]:
        masks = self.games.masks()
        masks[self._forfeit] = False
        infos = {
            "action_mask": np.where(where[:, None], masks, False).astype(np.int8),
            "_action_mask": where.copy(),
            "seat": np.where(where, self.games.seat, 0),
            "_seat": where.copy(),
        }
        if illegal is not None and illegal.any():
            infos["illegal_action"] = illegal.copy()
            infos["_illegal_action"] = illegal.copy()
        return infos

    def _check(self, actions: npt.ArrayLike, stepped: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """Actions as (N,) int64; those of games that are being reset are ignored, whatever they are."""
        array = np.asarray(actions)
        if array.shape != (self.num_envs,) or array.dtype.kind not in "iu":
            raise ValueError(f"actions must be {self.num_envs} integers, got {array.dtype} of shape {array.shape}.")
        outside = stepped & ((array < 0) | (array >= self.game.num_actions))
        if outside.any():
            worst = array[np.flatnonzero(outside)[0]]
            raise ValueError(f"actions must lie in 0 to {self.game.num_actions - 1}, got {worst}.")
        return np.where(stepped, array, 0).astype(np.int64)

    def _refuse(self, env: int, actions: npt.NDArray[np.int64]) -> None:
        message = illegal_action_message(self.game, int(actions[env]), self.games.masks()[env])
        raise IllegalAction(f"environment {env}: {message}; no game has moved.")


class GymEnv(gym.Env[ObsDict, int]):
    """One game of one learner as a ``gymnasium.Env``; arguments and conventions as :class:`GymVectorEnv`.

    Observations are ``{"observation": float32 (D,), "action_mask": int8 (A,)}``; ``info`` has mask and seat too.
    """

    metadata: dict[str, Any] = {"render_modes": list(MODES), "render_fps": 2}  # noqa: RUF012  (Gymnasium's own type)

    def __init__(
        self,
        game: Game | str,
        opponents: Opponents = "random",
        learner_seat: int | None = None,
        illegal_action: str = "lose",
        render_mode: str | None = None,
        **config: Any,
    ) -> None:
        self._vector = GymVectorEnv(
            game, 1, opponents, learner_seat, AutoresetMode.DISABLED, illegal_action, render_mode, **config
        )
        self.game = self._vector.game
        self.render_mode = render_mode
        self.observation_space = self._vector.single_observation_space
        self.action_space = self._vector.single_action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObsDict, dict[str, Any]]:
        """A new episode; with ``seed`` the first of that seed, without the next one of the stream.

        There are no ``options``.
        """
        check_reset_options(options)
        super().reset(seed=None if seed is None else check_seed(seed))
        observation, infos = self._vector.reset(seed=seed)
        return _row(observation), _info_row(infos, 0)

    def step(self, action: int) -> tuple[ObsDict, float, bool, bool, dict[str, Any]]:
        """One decision of the learner, up to its next one."""
        chosen = np.array([as_action(action, self.game)], np.int64)
        observation, reward, terminated, truncated, infos = self._vector.step(chosen)
        return _row(observation), float(reward[0]), bool(terminated[0]), bool(truncated[0]), _info_row(infos, 0)

    def render(self) -> Any:
        """One frame from the learner's seat."""
        return self._vector.render()[0]

    def close(self) -> None:
        """Close the window, if any."""
        self._vector.close_extras()


def _row(observation: ObsDict) -> ObsDict:
    return {key: value[0] for key, value in observation.items()}


def _info_row(infos: dict[str, Any], i: int) -> dict[str, Any]:
    """What the vector environment's infos say of environment i, scalars as Python's own."""
    return {
        key: value[i].item() if value.ndim == 1 else value[i].copy()
        for key, value in infos.items()
        if not key.startswith("_") and infos[f"_{key}"][i]
    }
