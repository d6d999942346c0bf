"""Games from the side of one learner: in one seat of each, the others played by policies, or in every seat.

Both classes have the same methods over ``num_envs`` rows; the environments of other libraries stand on them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from llama_envs.core.batch import Batch, illegal_action_message, policy_streams
from llama_envs.core.chance import Seeds, check_seed
from llama_envs.core.errors import IllegalAction
from llama_envs.core.game import Game
from llama_envs.core.validation import check_int
from llama_envs.policies import Players, Policy, make_policy
from llama_envs.policies.players import seat_policies

Opponents = str | Policy | Sequence[str | Policy] | Mapping[str | Policy, float]


class LearnerGames:
    """N games with a learner in one seat; the step from one of its decisions to the next.

    A game that has ended waits for :meth:`begin`. An episode that ends before the learner was asked anything is
    followed at once by the next; what its seat is paid before its first decision comes with the first reward.

    Args:
        game: what to play.
        num_games: N.
        opponents: a policy (or its name) for all other seats, a sequence (each with equal chance), or a mapping from
            policy to weight. Each opponent seat draws its policy anew for every episode.
        learner_seat: a seat, or None to draw it uniformly for every episode.
        seed: see :func:`per_game_seeds`.

    Attributes:
        batch: the games.
        seat: (N,) int64, the learner's.
    """

    def __init__(
        self, game: Game, num_games: int, opponents: Opponents, learner_seat: int | None, seed: Seeds = None
    ) -> None:
        if learner_seat is not None:
            check_int("learner_seat", learner_seat, 0, game.num_players - 1, " or None")
        self.game = game
        self.num_games = num_games
        self.num_envs = num_games
        self.opponents, self._cumulative = weighted_policies(opponents, game)
        self._learner_seat = -1 if learner_seat is None else learner_seat
        self.batch = Batch(game, num_games, per_game_seeds(seed, num_games))
        self.seat = np.zeros(num_games, np.int64)
        self._assignment = np.full((num_games, game.num_players), -1, np.int64)
        self._acted = np.zeros(num_games, np.bool_)  # the learner has acted in this episode
        self._early = np.zeros(num_games, np.float32)  # what its seat was paid before that
        self._seat_streams = np.zeros(num_games, np.uint64)  # that seats and opponents are drawn from
        self._reseed(np.ones(num_games, np.bool_))

    def begin(self, where: npt.NDArray[np.bool_], seed: Seeds = None) -> None:
        """Start an episode in the games ``where``, up to the learner's first decision.

        Without a seed it is the next of each game's stream; with one (an entry may be None) the first of that seed.
        """
        seeds = per_game_seeds(seed, self.num_games)
        self.batch.reset(seeds, where)
        if seeds is not None:
            self._reseed(where & np.array([entry is not None for entry in seeds]))
        self._seat(where)
        while True:
            self._play_opponents(np.zeros(self.num_games, np.float32))
            again = self.over & ~self._acted & where
            if not again.any():
                return
            self.batch.reset(where=again)
            self._seat(again)

    def step(
        self, actions: npt.ArrayLike, where: npt.NDArray[np.bool_] | None = None
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """The learner's actions, and the others' until it is to move again or its game is over.

        Returns:
            reward (N,) float32 of the learner's seat for all that happened, terminated (N,) and truncated (N,) bool.

        Raises:
            IllegalAction: an action is not legal; nothing has moved.
        """
        reward, _, _ = self.batch.step(actions, where)
        stepped = np.ones(self.num_games, np.bool_) if where is None else where
        paid = reward[np.arange(self.num_games), self.seat] + np.where(stepped, self._early, 0)
        self._early[stepped] = 0.0
        self._acted |= stepped
        self._play_opponents(paid)
        state = self.batch.state
        return paid, state["terminated"].copy(), state["truncated"].copy()

    @property
    def over(self) -> npt.NDArray[np.bool_]:
        """(N,) bool: games that have ended."""
        return np.asarray(self.batch.to_move < 0)

    def observe(self) -> npt.NDArray[np.float32]:
        """What the learner sees, also of a game that has ended: a new (N, D) array."""
        return self.batch.observe(self.seat) if self.over.any() else self.batch.observation.copy()

    def masks(self) -> npt.NDArray[np.bool_]:
        """What the learner may do, nothing where the game has ended: a new (N, A) array."""
        return self.batch.action_mask.copy()

    def get_state(self) -> dict[str, Any]:
        """All that :meth:`set_state` needs to go on exactly from here; opponents' own parameters are not in it."""
        kept = ("batch", "seat", "_assignment", "_acted", "_early", "_seat_streams")
        return {**{name: copy.deepcopy(getattr(self, name)) for name in kept}, "streams": self._players.streams.copy()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to what ``get_state`` gave, here or in another process with the same arguments."""
        for name, value in copy.deepcopy(state).items():
            if name != "streams":
                setattr(self, name, value)
        self._players = Players(self.batch, self.opponents, self._assignment, streams=state["streams"].copy())

    def _seat(self, where: npt.NDArray[np.bool_]) -> None:
        """Draw the learner's seat and the opponents of new episodes."""
        games = np.flatnonzero(where)
        seat_policies(self._seat_streams, games, self._learner_seat, self._cumulative, self.seat, self._assignment)
        self._acted[where] = False
        self._early[where] = 0.0

    def _play_opponents(self, paid: npt.NDArray[np.float32]) -> None:
        """Let the others act until the learner is to move in every game that goes on; their steps pay it too."""
        gathered = np.where(self._acted, paid, self._early)
        self._players.play(self.seat, gathered)
        np.copyto(paid, gathered, where=self._acted)
        np.copyto(self._early, gathered, where=~self._acted)

    def _reseed(self, where: npt.NDArray[np.bool_]) -> None:
        """Streams for opponents and seats from each game's own seed, so that no game depends on the others."""
        seeds = self.batch.origin[0]
        lanes = range(self.game.num_players)
        streams = np.stack([policy_streams(self.num_games, seeds, lane) for lane in lanes], axis=1)
        seat_streams = policy_streams(self.num_games, seeds, self.game.num_players)
        if not where.all():  # the others go on
            streams[~where], seat_streams[~where] = self._players.streams[~where], self._seat_streams[~where]
        self._players = Players(self.batch, self.opponents, self._assignment, streams=streams)
        self._seat_streams = seat_streams


class EverySeat:
    """A learner in every seat of a simultaneous game: row ``g * P + s`` is seat s of game g.

    Args:
        game: what to play; all its seats decide at the same moments.
        num_envs: rows, a multiple of the number of players P.
        seed: see :func:`per_game_seeds`; one for each game.

    Attributes:
        batch: the games.
        seat: (num_envs,) int64, the seat of each row.
    """

    def __init__(self, game: Game, num_envs: int, seed: Seeds = None) -> None:
        players = game.num_players
        if not game.simultaneous:
            raise ValueError(f"seats must be 'one' for {game.id}: its seats do not decide at the same moments.")
        if num_envs % players:
            raise ValueError(
                f"num_envs must be a multiple of {players} (the players) with seats='all', got {num_envs}."
            )
        self.game = game
        self.num_envs = num_envs
        self.num_games = num_envs // players
        self.batch = Batch(game, self.num_games, per_game_seeds(seed, self.num_games))
        self.seat = np.tile(np.arange(players), self.num_games)
        self._masks: npt.NDArray[np.bool_] | None = None  # of this moment, once asked for

    def begin(self, where: npt.NDArray[np.bool_], seed: Seeds = None) -> None:
        """Start an episode in the games of the rows ``where``; a seed as in :meth:`LearnerGames.begin`, one a game."""
        games = where.reshape(self.num_games, -1).any(axis=1)
        self.batch.reset(per_game_seeds(seed, self.num_games), games)
        self._masks = None

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """One action of every seat; all of them are checked before any seat moves.

        Returns:
            reward (num_envs,) float32, terminated (num_envs,) and truncated (num_envs,) bool.

        Raises:
            IllegalAction: an action is not legal; nothing has moved.
        """
        chosen = self._check(actions)
        self._masks = None
        players = self.game.num_players
        reward = np.zeros((self.num_games, players), np.float32)
        for seat in range(players):
            paid, terminated, truncated = self.batch.step(chosen[:, seat])
            reward += paid
        return reward.reshape(-1), np.repeat(terminated, players), np.repeat(truncated, players)

    def observe(self) -> npt.NDArray[np.float32]:
        """What every seat sees: a new (num_envs, D) array."""
        return self._each_seat(self.batch.observe)

    def masks(self) -> npt.NDArray[np.bool_]:
        """What every seat may do, nothing where the game has ended: a new (num_envs, A) array."""
        return self._present_masks().copy()

    def get_state(self) -> dict[str, Any]:
        """All that :meth:`set_state` needs to go on exactly from here."""
        return {"batch": self.batch.clone()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to what ``get_state`` gave, here or in another process with the same arguments."""
        self.batch = state["batch"].clone()
        self._masks = None

    def _present_masks(self) -> npt.NDArray[np.bool_]:
        if self._masks is None:
            self._masks = self._each_seat(self.batch.mask)
        return self._masks

    def _each_seat(self, of_seat: Callable[[int], npt.NDArray[Any]]) -> Any:
        rows = np.stack([of_seat(seat) for seat in range(self.game.num_players)], axis=1)
        return rows.reshape(self.num_envs, -1)

    def _check(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Actions as (games, P) int64, all legal."""
        flat = np.asarray(actions)
        if flat.dtype.kind not in "iu" or flat.shape != (self.num_envs,):
            raise ValueError(f"actions must be {self.num_envs} integers, got {flat.dtype} of shape {flat.shape}.")
        masks = self._present_masks()
        inside = (flat >= 0) & (flat < self.game.num_actions)
        legal = inside & masks[np.arange(self.num_envs), np.where(inside, flat, 0)]
        if not legal.all():
            env = int(np.flatnonzero(~legal)[0])
            message = illegal_action_message(self.game, int(flat[env]), masks[env])
            raise IllegalAction(f"environment {env}: {message}; no game has moved.")
        return flat.reshape(self.num_games, -1).astype(np.int64)


def weighted_policies(opponents: Opponents, game: Game) -> tuple[list[Policy], npt.NDArray[np.float64]]:
    """The policies, and the cumulative share of their weights.

    Raises:
        ValueError: an unknown policy, a negative weight, or only weights of 0.
    """
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
    return [make_policy(spec, game) for spec in weights], np.cumsum(list(weights.values())) / total


def per_game_seeds(seed: Seeds, num_games: int) -> list[int | None] | None:
    """One seed for each game: an int gives seed + i to game i, as in Gymnasium and Stable-Baselines3; None stays None.

    Raises:
        ValueError: a wrong length, or an entry that is not an integer in [0, 2**64) or None.
    """
    if seed is None:
        return None
    if isinstance(seed, (int, np.integer)):
        first = check_seed(seed)
        return [(first + i) % 2**64 for i in range(num_games)]
    if isinstance(seed, (str, bytes)) or not hasattr(seed, "__len__") or len(seed) != num_games:
        raise ValueError(f"seed must be an integer, or {num_games} of them, one for each environment, got {seed!r}.")
    return [None if entry is None else check_seed(entry, f"seed[{i}]") for i, entry in enumerate(seed)]
