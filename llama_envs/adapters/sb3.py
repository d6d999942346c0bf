"""A Stable-Baselines3 ``VecEnv`` on a Batch: no Python object per game, opponents played a whole batch at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

try:
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices
except ImportError:
    raise ImportError("llama_envs.adapters.sb3 needs Stable-Baselines3: pip install 'llama-envs[train]'.") from None

from llama_envs.adapters.frames import FrameRenderer
from llama_envs.adapters.gym_vector import GymVectorEnv
from llama_envs.adapters.learner import EverySeat, LearnerGames, Opponents, per_game_seeds
from llama_envs.adapters.spaces import observation_box
from llama_envs.core.chance import Seeds, fresh_seed
from llama_envs.core.game import Game
from llama_envs.core.registry import make_game
from llama_envs.core.validation import check_choice, check_int


class SB3VecEnv(VecEnv):
    """N environments of one game for one learner; observations are Box (D,) float32, masks come by ``action_masks``.

    With ``seats="one"`` the learner holds one seat in each of N games. All other seats are played inside ``step`` until
    the learner is to move again, and a step's reward is everything that its seat was paid meanwhile. With
    ``seats="all"`` (simultaneous games only) the learner plays every seat: environment ``g * P + s`` is seat s of
    game g, and every decision is a transition.

    Args:
        game: a Game, or the name of one (then ``config`` are its options).
        num_envs: number of environments; with ``seats="all"`` a multiple of the number of players.
        opponents: who plays the other seats: see :class:`llama_envs.adapters.learner.LearnerGames`.
        seats: "one" or "all".
        learner_seat: a seat, or None to draw it uniformly for every episode.
        seed: an int (game i gets seed + i, as in Stable-Baselines3), one for each game, or None.
        render_mode: None, "ansi", "rgb_array" or "human": shows the first game from the learner's seat.

    Every array that leaves the environment is new. ``infos[i]`` of an ended episode has ``terminal_observation`` and
    ``TimeLimit.truncated``. An episode that ends before the learner was asked anything is not reported; what
    its seat is paid before its first decision comes with the first reward.

    Raises:
        ValueError: an argument is out of range.
        IllegalAction: ``step`` with an action that the mask forbids; nothing has moved.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int,
        opponents: Opponents = "random",
        seats: str = "one",
        learner_seat: int | None = None,
        seed: Seeds = None,
        render_mode: str | None = None,
        **config: Any,
    ) -> None:
        played = make_game(game, **config) if isinstance(game, str) else game
        check_choice("seats", seats, ("one", "all"))
        check_int("num_envs", num_envs, 1, 2**24)
        if seats == "all":
            self._stand_on(EverySeat(played, num_envs, seed), render_mode)
        else:
            self._stand_on(LearnerGames(played, num_envs, opponents, learner_seat, seed), render_mode)

    @classmethod
    def from_vector_env(cls, envs: gym.vector.VectorEnv[Any, Any, Any]) -> SB3VecEnv:
        """What ``gymnasium.make_vec`` gave for one of our ids, for Stable-Baselines3: the same games and opponents.

        Wrappers around ``envs`` are left out, and ``envs`` itself must not be stepped any more.

        Raises:
            ValueError: a vector environment of another kind.
        """
        inner = envs.unwrapped
        if not isinstance(inner, GymVectorEnv):
            raise ValueError(f"from_vector_env takes what gymnasium.make_vec gives for a llama_envs id, got {envs!r}.")
        env = cls.__new__(cls)
        env._stand_on(inner.games, inner.render_mode)
        return env

    def _stand_on(self, games: LearnerGames | EverySeat, render_mode: str | None) -> None:
        self.games = games
        self.game = games.game
        self.render_mode = render_mode
        self._frames = FrameRenderer(self.game, render_mode, None, False)
        self._everywhere = np.ones(games.num_envs, np.bool_)
        self._pending_seeds: Seeds = None
        self._mask = np.zeros((games.num_envs, self.game.num_actions), np.bool_)
        VecEnv.__init__(self, games.num_envs, observation_box(self.game), spaces.Discrete(self.game.num_actions))

    def reset(self) -> npt.NDArray[np.float32]:
        """Start a new episode everywhere: observations (N, D)."""
        self.games.begin(self._everywhere, self._pending_seeds)
        self._pending_seeds = None
        self._reset_seeds()
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return self._see()

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Remember the actions for ``step_wait``."""
        self._chosen = np.asarray(actions)

    def step_wait(
        self,
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Observations (N, D), rewards (N,), dones (N,), and a list of N dicts."""
        rewards, terminated, truncated = self.games.step(self._chosen)
        dones = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if dones.any():
            last = self.games.observe()
            for env in np.flatnonzero(dones):
                infos[env] = {
                    "terminal_observation": last[env].copy(),
                    "TimeLimit.truncated": bool(truncated[env] and not terminated[env]),
                }
            self.games.begin(dones)
        if self.render_mode == "human":
            self.render()
        return self._see(), rewards, dones, infos

    def _see(self) -> npt.NDArray[np.float32]:
        """Observations of the learner; also refreshes the masks."""
        self._mask = self.games.masks()
        return self.games.observe()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """(N, A) bool: what the learner may do in each environment; a new array."""
        return self._mask.copy()

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """``action_masks`` of the environments ``indices``, one row for each; there are no other methods."""
        if method_name != "action_masks":
            raise AttributeError(f"these environments have no method {method_name!r}; they have 'action_masks'.")
        return list(self.action_masks()[list(self._get_indices(indices))])

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of this object, repeated for each of ``indices``."""
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Not supported: the environments share everything."""
        raise AttributeError(f"{attr_name!r} cannot be set: the environments are rows of one batch.")

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """False for each: there are no single environments to wrap."""
        return [False for _ in self._get_indices(indices)]

    def seed(self, seed: Seeds = None) -> Sequence[int | None]:
        """Game i begins with the first deal of its seed at the next ``reset``.

        An int s gives s + i to game i, as in Stable-Baselines3, so that runs of neighbouring seeds share games;
        independent runs give every game its own, as an array.
        """
        self._pending_seeds = per_game_seeds(fresh_seed() >> 8 if seed is None else seed, self.games.num_games)
        assert self._pending_seeds is not None
        self._seeds = list(self._pending_seeds)
        return self._seeds

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """The picture of the first game."""
        return [self._frame()]

    def render(self, mode: str | None = None) -> Any:
        """The first game from the learner's seat, in the mode given at construction."""
        return self._frame()

    def close(self) -> None:
        """Close the window, if any."""
        self._frames.close()

    def get_state(self) -> dict[str, Any]:
        """All that ``set_state`` needs to go on exactly from here; opponents' own parameters are not in it."""
        return {"games": self.games.get_state(), "mask": self._mask.copy()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to a state that ``get_state`` gave, here or in another process with the same arguments."""
        self.games.set_state(state["games"])
        self._mask = state["mask"].copy()
        self._pending_seeds = None

    def _frame(self) -> Any:
        return self._frames.render(self.games.batch.state[0], int(self.games.seat[0]))
