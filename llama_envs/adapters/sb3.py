"""A Stable-Baselines3 ``VecEnv`` on a Batch: no Python object per game, opponents played a whole batch at a time."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices

from llama_envs.adapters.spaces import observation_box
from llama_envs.adapters.view import Viewer
from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.chance import Seeds, check_seed, expand_seeds, fresh_seed
from llama_envs.core.errors import IllegalAction
from llama_envs.core.game import Game
from llama_envs.core.options import check_choice, check_int
from llama_envs.core.policy import Players, Policy, make_policy, seat_policies
from llama_envs.core.registry import make_game

Opponents = str | Policy | Sequence[str | Policy] | Mapping[str | Policy, float]


class SB3VecEnv(VecEnv):
    """N environments of one game for one learner; observations are Box (D,) float32, masks come by ``action_masks``.

    With ``seats="one"`` the learner holds one seat in each of N games. All other seats are played inside ``step`` until
    the learner is to move again, and a step's reward is everything that its seat was paid meanwhile. With
    ``seats="all"`` (simultaneous games only) the learner plays every seat: environment ``g * P + s`` is seat s of
    game g, and every decision is a transition.

    Args:
        game: a Game, or the name of one (then ``config`` are its options).
        num_envs: number of environments; with ``seats="all"`` a multiple of the number of players.
        opponents: a policy (or its name) for all other seats, a sequence (each with equal chance), or a mapping from
            policy to weight. Each opponent seat draws its policy anew for every episode.
        seats: "one" or "all".
        learner_seat: a seat, or None to draw it uniformly for every episode.
        seed: an int (environment i gets seed + i, as in Stable-Baselines3), one for each game, or None.
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
        self.game = make_game(game, **config) if isinstance(game, str) else game
        check_choice("seats", seats, ("one", "all"))
        check_int("num_envs", num_envs, 1, 2**24)
        players = self.game.num_players
        self.all_seats = seats == "all"
        if self.all_seats and not self.game.simultaneous:
            raise ValueError(f"seats must be 'one' for {self.game.id}: its seats do not decide at the same moments.")
        if self.all_seats and num_envs % players:
            raise ValueError(
                f"num_envs must be a multiple of {players} (the players) with seats='all', got {num_envs}."
            )
        if learner_seat is not None:
            check_int("learner_seat", learner_seat, 0, players - 1, " or None")
        self.learner_seat = learner_seat
        self.render_mode = render_mode
        self._viewer = Viewer(self.game, render_mode, None, False)
        num_games = num_envs // players if self.all_seats else num_envs
        self._batch = Batch(self.game, num_games, self._per_game(seed, num_games))
        self._assignment = np.full((num_games, players), -1, np.int64)
        self._seat = np.zeros(num_games, np.int64)
        self._acted = np.zeros(num_games, np.bool_)  # the learner has acted in this episode
        self._early = np.zeros(num_games, np.float32)  # what its seat was paid before that
        self._mask = np.zeros((num_envs, self.game.num_actions), np.bool_)
        self._actions = np.zeros(num_games, np.int64)
        self._set_opponents(opponents)
        self._pending_seeds: Seeds = None
        self._reseed_players()
        box = observation_box(self.game)
        super().__init__(num_envs, box, spaces.Discrete(self.game.num_actions))

    # ------------------------------------------------------------------------------------------------------ opponents

    def _set_opponents(self, opponents: Opponents) -> None:
        weights: dict[str | Policy, float]
        if isinstance(opponents, Mapping):
            weights = dict(opponents)
        elif isinstance(opponents, Sequence) and not isinstance(opponents, str):
            weights = dict.fromkeys(opponents, 1.0)
        else:
            weights = {opponents: 1.0}
        total = sum(weights.values())
        if not all(weight >= 0 for weight in weights.values()) or not 0 < total < float("inf"):
            raise ValueError(f"opponents must have weights of 0 or more, not all 0, got {opponents!r}.")
        self._opponents = [make_policy(spec, self.game) for spec in weights]
        self._cumulative = np.cumsum(list(weights.values())) / total

    def _seat_players(self, games: npt.NDArray[np.int64]) -> None:
        """Draw the learner's seat and the opponents for the new episodes of ``games``."""
        if self.all_seats:
            return
        learner_seat = -1 if self.learner_seat is None else self.learner_seat
        seat_policies(self._draws, games, learner_seat, self._cumulative, self._seat, self._assignment)

    # --------------------------------------------------------------------------------------------------------- VecEnv

    def reset(self) -> npt.NDArray[np.float32]:
        """Start a new episode everywhere: observations (N, D)."""
        games = np.arange(self._batch.num_games)
        if self._pending_seeds is None:
            self._batch.reset()
        else:
            self._batch.reset(self._pending_seeds)
            self._reseed_players()
            self._pending_seeds = None
        self._reset_seeds()
        self._seat_players(games)
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._acted[:] = False
        self._early[:] = 0.0
        if not self.all_seats:
            self._play_opponents(np.zeros(self.num_envs, np.float32), {})
        return self._see()

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Remember the actions for ``step_wait``."""
        self._chosen = np.asarray(actions)

    def step_wait(
        self,
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Observations (N, D), rewards (N,), dones (N,), and a list of N dicts."""
        ended: dict[int, dict[str, Any]] = {}
        if self.all_seats:
            rewards = self._step_all(ended)
        else:
            reward, terminated, truncated = self._batch.step(self._chosen)
            rewards = reward[np.arange(self.num_envs), self._seat] + self._early
            self._early[:] = 0.0
            self._acted[:] = True
            self._finish(np.flatnonzero(terminated | truncated), truncated, ended)
            self._play_opponents(rewards, ended)
        dones = np.zeros(self.num_envs, np.bool_)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for index, info in ended.items():
            dones[index] = True
            infos[index] = info
        if self.render_mode == "human":
            self.render()
        return self._see(), rewards, dones, infos

    def _play_opponents(self, rewards: npt.NDArray[np.float32], ended: dict[int, dict[str, Any]]) -> None:
        """Let the opponents act until the learner is to move everywhere; their steps pay the learner too."""
        while True:
            waiting = self._players.act(self._actions)
            if not waiting.any():
                return
            reward, terminated, truncated = self._batch.step(self._actions, waiting)
            over = waiting & (terminated | truncated)
            paid = reward[np.arange(self.num_envs), self._seat]
            rewards += np.where(self._acted, paid, 0.0)
            self._early += np.where(self._acted, 0.0, paid)
            self._finish(np.flatnonzero(over), truncated, ended)

    def _finish(
        self, games: npt.NDArray[np.int64], truncated: npt.NDArray[np.bool_], ended: dict[int, dict[str, Any]]
    ) -> None:
        """Record the last observation of ended games and start their next episode."""
        if not len(games):
            return
        last = self._batch.observe(self._seat)
        for game in games[self._acted[games]]:
            ended[int(game)] = {
                "terminal_observation": last[game].copy(),
                "TimeLimit.truncated": bool(truncated[game]),
            }
        self._acted[games] = False
        self._early[games] = 0.0
        over = np.zeros(self._batch.num_games, np.bool_)
        over[games] = True
        self._batch.reset(where=over)
        self._seat_players(games)

    def _step_all(self, ended: dict[int, dict[str, Any]]) -> npt.NDArray[np.float32]:
        """One action of every seat of every game, in seat order."""
        players = self.game.num_players
        chosen = self._chosen.reshape(-1, players)
        self._refuse_illegal(chosen)
        total = np.zeros((self._batch.num_games, players), np.float32)
        for seat in range(players):
            reward, terminated, truncated = self._batch.step(chosen[:, seat])
            total += reward
        over = terminated | truncated
        if over.any():
            games = np.flatnonzero(over)
            for seat in range(players):
                last = self._batch.observe(seat)
                for game in games:
                    ended[int(game) * players + seat] = {
                        "terminal_observation": last[game].copy(),
                        "TimeLimit.truncated": bool(truncated[game]),
                    }
            self._batch.reset(where=over)
        return total.reshape(-1)

    def _refuse_illegal(self, chosen: npt.NDArray[Any]) -> None:
        """All seats of a cycle are checked before any of them moves."""
        flat = chosen.reshape(-1)
        if flat.dtype.kind not in "iu" or len(flat) != self.num_envs:
            raise ValueError(f"actions must be {self.num_envs} integers, got {flat.dtype} of shape {flat.shape}.")
        inside = (flat >= 0) & (flat < self.game.num_actions)
        legal = inside & self._mask[np.arange(self.num_envs), np.where(inside, flat, 0)]
        if not legal.all():
            env = int(np.flatnonzero(~legal)[0])
            allowed = np.flatnonzero(self._mask[env]).tolist()
            raise IllegalAction(f"environment {env}: action {flat[env]} is not legal; legal are {allowed}.")

    def _see(self) -> npt.NDArray[np.float32]:
        """Observations of the learner; also refreshes the masks."""
        if not self.all_seats:
            self._mask[:] = self._batch.action_mask
            return self._batch.observation.copy()
        players = range(self.game.num_players)
        self._mask[:] = np.stack([self._batch.mask(seat) for seat in players], axis=1).reshape(self._mask.shape)
        return np.stack([self._batch.observe(seat) for seat in players], axis=1).reshape(self.num_envs, -1)

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

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Environment i begins with the first deal of seed + i at the next ``reset``."""
        base = fresh_seed() >> 8 if seed is None else check_seed(seed)
        self._pending_seeds = self._per_game(base, self._batch.num_games)
        self._seeds = [base + i for i in range(self.num_envs)]
        return self._seeds

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """The picture of the first game."""
        return [self._frame()]

    def render(self, mode: str | None = None) -> Any:
        """The first game from the learner's seat, in the mode given at construction."""
        return self._frame()

    def close(self) -> None:
        """Close the window, if any."""
        self._viewer.close()

    def get_state(self) -> dict[str, Any]:
        """All that ``set_state`` needs to go on exactly from here; opponents' own parameters are not in it."""
        kept = ("_batch", "_seat", "_acted", "_early", "_mask", "_assignment", "_draws")
        return {**{name: copy.deepcopy(getattr(self, name)) for name in kept}, "streams": self._players.streams.copy()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to a state that ``get_state`` gave, here or in another process with the same arguments."""
        for name, value in copy.deepcopy(state).items():
            if name != "streams":
                setattr(self, name, value)
        self._players = Players(self._batch, self._opponents, self._assignment, streams=state["streams"].copy())
        self._pending_seeds = None

    # ------------------------------------------------------------------------------------------------------- plumbing

    def _frame(self) -> Any:
        return self._viewer.render(self._batch.state[0], int(self._seat[0]))

    @staticmethod
    def _per_game(seed: Seeds, num_games: int) -> Seeds:
        if isinstance(seed, (int, np.integer)):
            first = check_seed(seed)
            return [(first + i) % 2**64 for i in range(num_games)]
        if seed is not None:
            expand_seeds(seed, num_games)  # refuses a wrong length or entry
        return seed

    def _reseed_players(self) -> None:
        """Streams for opponents and seats from each game's own seed, so that no game depends on the others."""
        seeds = self._batch._seeds
        self._players = Players(self._batch, self._opponents, self._assignment, seeds)
        self._draws = policy_streams(self._batch.num_games, seeds, lane=self.game.num_players)
