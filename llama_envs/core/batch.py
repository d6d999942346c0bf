"""Batch: N games of one configuration in one structured array, stepped together."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from llama_envs.core.batch_kernels import ALL_OVER, NOT_ILLEGAL, Buffers, compile_play
from llama_envs.core.chance import Seeds, expand_seeds, fresh_seed, sample_legal, start_streams
from llama_envs.core.compile import JIT, machine_code
from llama_envs.core.contract import Kernel, PolicyKernel, States
from llama_envs.core.errors import IllegalAction, ResetNeeded
from llama_envs.core.game import Game
from llama_envs.core.threads import in_threads
from llama_envs.core.validation import check_int

ONE = np.uint64(1)
FIRST_STREAM = np.uint64(0x268224D17073D3EE)  # stream_start(0, 0, 0), which a given stream of 0 stands for
POLICY_LANES = 2**31  # policies' streams start where no episode number reaches

PLAY_DTYPES = [np.dtype(kind) for kind in ("int64", "bool", "float64", "int64", "uint64", "int64", "float32", "int64")]
GAMES_PER_THREAD = 1024  # with fewer, waking a thread takes longer than their step
LEAD = 1.1  # games that the calling thread takes for each of another, which must be woken first

_CODE: dict[Kernel, Kernel] = {}  # machine code of each game's batch kernels, once :func:`_call` called them


class Batch:
    """N games of one configuration.

    Arrays are allocated once. ``state``, ``to_move``, ``action_mask`` and ``observation`` are views that the next
    ``step`` or ``reset`` overwrites (read-only but for ``state``): copy what you keep. What ``step``, ``observe`` and
    ``mask`` return is new.

    Args:
        game: the game to play.
        num_games: N.
        seed: see :func:`llama_envs.core.chance.expand_seeds`; None asks the operating system.
        autoreset: start the next episode of a game in the same step that ends it.
        threads: how many threads share a step at most; each gets at least GAMES_PER_THREAD games. Results do not depend
            on it.

    The constructor deals episode 0. A game's first ``reset()`` without a seed keeps that deal, unless the game has been
    stepped; later ones go to the next episode.
    """

    def __init__(
        self, game: Game, num_games: int, seed: Seeds = None, autoreset: bool = False, threads: int = 1
    ) -> None:
        self.game = game
        self.num_games = check_int("num_games", num_games, 1, 2**31 - 1)
        self.autoreset = bool(autoreset)
        self.threads = check_int("threads", threads, 1, 1024)
        n = self.num_games
        seeds, rows, _ = expand_seeds(seed, n)
        self._buffers = Buffers(
            states=game.records(np.zeros(n, game.state_dtype)),
            streams=np.zeros(n, np.uint64),
            seeds=seeds,
            rows=rows,
            episodes=np.zeros(n, np.uint64),
            mask=np.zeros((n, game.num_actions), np.bool_),
            observation=np.zeros((n, game.observation.size), np.float32),
            final=game.records(np.zeros(n, game.state_dtype)),
        )
        self._make_views()
        self._everywhere = np.ones(n, np.bool_)
        self._start(self._everywhere)
        self._fresh = np.ones(n, np.bool_)  # games that nobody has stepped or reset yet
        self._some_fresh = True  # whether there may be any

    # -------------------------------------------------------------------------------------------------------- reading

    @property
    def state(self) -> States:
        """Structured array (N,): every field of every game, without a copy (the game's ``state.py`` explains them).

        Writing to it is for experiments: call :meth:`refresh` afterwards.
        """
        return self._visible

    @property
    def final_state(self) -> States:
        """Structured array (N,): with autoreset, the last state of the episode that each game ended most recently."""
        return _read_only(self._buffers.final.view(np.ndarray).view(self.game.visible_dtype))

    @property
    def to_move(self) -> npt.NDArray[np.int8]:
        """(N,) int8: the seat that must act; -1 where the game is over."""
        return self._to_move_view

    @property
    def action_mask(self) -> npt.NDArray[np.bool_]:
        """(N, A) bool: legal actions of the seat to move; all False where the game is over."""
        return self._mask_view

    @property
    def observation(self) -> npt.NDArray[np.float32]:
        """(N, D) float32 in [0, 1]: what the seat to move sees; zeros where the game is over."""
        return self._observation_view

    @property
    def episode(self) -> npt.NDArray[np.uint64]:
        """(N,) uint64: number of the episode that each game is in, from 0."""
        return _read_only(self._buffers.episodes)

    @property
    def streams(self) -> npt.NDArray[np.uint64]:
        """(N,) uint64: the random stream of each game. For tests and tools: whoever reads it knows the future."""
        return _read_only(self._buffers.streams)

    @property
    def origin(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """(N,) uint64 each: seed and row that the streams start from (:func:`~llama_envs.core.chance.expand_seeds`)."""
        return _read_only(self._buffers.seeds), _read_only(self._buffers.rows)

    @property
    def buffers(self) -> Buffers:
        """The arrays that batch kernels take and write to, for tools that call those themselves."""
        return self._buffers

    def observe(self, seats: npt.ArrayLike, final: bool = False) -> npt.NDArray[np.float32]:
        """What ``seats`` (one seat, or one for each game) see: a new (N, D) float32 array.

        With ``final``, what they saw in ``final_state``.
        """
        out = np.empty_like(self._buffers.observation)
        states = self._buffers.final if final else self._buffers.states
        _call(self.game.batch_kernels.observe, (states, self._params, self._check_seats(seats), out))
        return out

    def mask(self, seats: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """What ``seats`` (one seat, or one for each game) may do now: a new (N, A) bool array."""
        out = np.empty_like(self._buffers.mask)
        self.game.batch_kernels.mask(self._buffers.states, self._params, self._check_seats(seats), out)
        return out

    def worlds(self, seats: npt.ArrayLike, streams: npt.NDArray[np.uint64], k: int = 1) -> States:
        """(N, k) states in which all that ``seats[i]`` cannot know is redrawn, from ``streams`` (N,), which advance.

        Such a state is called a determinization (Cowling, Powley & Whitehouse 2012). What lies open, such as hands that
        are shown when a round or the game is over, stays as it is.

        Raises:
            ValueError: ``streams`` is not a writable uint64 array (N,) or k is not from 1 to 1,000,000.
        """
        check_int("k", k, 1, 1_000_000)
        _check_streams(streams, (self.num_games,))
        return resampled(self.game, self._buffers.states, self._check_seats(seats), streams, k)

    def sample_actions(self, streams: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """A uniform legal action (N,) for each game, from ``streams`` (N,), which advance; -1 where the game is over.

        Raises:
            ValueError: ``streams`` is not a writable uint64 array (N,).
        """
        actions = np.empty(self.num_games, np.int64)
        _check_streams(streams, (self.num_games,))
        sample_legal(self._buffers.mask, streams, actions)
        return actions

    # -------------------------------------------------------------------------------------------------------- playing

    def reset(self, seed: Seeds = None, where: npt.ArrayLike | None = None) -> None:
        """Start a new episode in every game (or where the bool array ``where`` (N,) is True).

        Args:
            seed: None goes to the next episode of each game's stream; an int or one entry per game begins again with
                episode 0 of that seed, entries that are None excepted.
            where: games to reset; the others go on.

        Raises:
            ValueError: a seed or ``where`` has the wrong type or length.
        """
        n = self.num_games
        chosen = self._everywhere if where is None else self._check_where(where)
        reseeded = np.zeros(n, np.bool_)
        if seed is not None:
            seeds, rows, given = expand_seeds(seed, n)
            reseeded = chosen & np.array(given)
            buffers = self._buffers
            buffers.seeds[reseeded], buffers.rows[reseeded] = seeds[reseeded], rows[reseeded]
            buffers.episodes[reseeded] = 0
        self._buffers.episodes[chosen & ~reseeded & ~self._fresh] += ONE
        self._fresh[chosen] = False
        self._start(chosen)

    def step(
        self, actions: npt.ArrayLike, where: npt.ArrayLike | None = None
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Take one action in every game.

        Args:
            actions: (N,) integers. Where a game is over (only without autoreset) the entry is ignored.
            where: (N,) bool, the games to step; the others wait, their reward is 0 and their action is ignored.

        Returns:
            reward (N, P) float32 for every seat, terminated (N,) bool, truncated (N,) bool; new arrays.

        Raises:
            ValueError: wrong shape or type.
            IllegalAction: some action is not legal. No game has moved.
            ResetNeeded: every game to be stepped is over.
        """
        chosen = self._check_actions(actions)
        n = self.num_games
        stepped = self._everywhere if where is None else self._check_where(where)
        reward = np.empty((n, self.game.num_players), np.float32)
        terminated = np.empty(n, np.bool_)
        truncated = np.empty(n, np.bool_)
        arguments = (
            self._buffers, self._params, chosen, stepped, self.autoreset, reward, terminated, truncated,
        )  # fmt: skip
        threads = min(self.threads, n // GAMES_PER_THREAD) if JIT else 1
        if threads < 2:
            illegal = _call(self.game.batch_kernels.step, arguments)
        else:
            illegal = self._step_in_threads(threads, arguments)
        if illegal != NOT_ILLEGAL:
            self._refuse(illegal, np.asarray(actions))
        if self._some_fresh:
            self._fresh[stepped] = False
            self._some_fresh = where is not None and bool(self._fresh.any())
        return reward, terminated, truncated

    def play(
        self,
        policy: PolicyKernel,
        who: npt.NDArray[np.int64],
        index: int,
        streams: npt.NDArray[np.uint64],
        actions: npt.NDArray[np.int64],
        asks: npt.NDArray[np.bool_] | None = None,
        watched: npt.NDArray[np.int64] | None = None,
        paid: npt.NDArray[np.float32] | None = None,
        move: bool = True,
    ) -> tuple[int, int]:
        """Let a policy that is a kernel take all its decisions, game by game, until somebody else is to move.

        For batches without autoreset; :class:`llama_envs.policies.Players` calls it for whatever plays policies.

        Args:
            policy: the kernel and what it takes.
            who: (N, P), who holds each seat, from -1 to K - 1; the policy plays those that are ``index``.
            index: see ``who``.
            streams: (N, P) uint64, the random stream of each game and seat; they advance.
            actions: (N,), is written to.
            asks: (K + 1,) where the next to move needs mask and observation, by ``who``; None: everywhere.
            watched: (N,), the seat of each game whose pay is added to ``paid``.
            paid: (N,) float32, is added to.
            move: False only writes the next choice in each game to ``actions``.

        Returns:
            the number of decisions, and the game in which the policy chose an illegal action, ``actions[game]``, after
            which nothing was played; -1 if there is none.

        Raises:
            ValueError: an array has another shape, or names a seat or holder that is not there.
        """
        self._check_play(who, streams, actions, asks, watched, paid)
        n = self.num_games
        watched = np.zeros(n, np.int64) if watched is None else watched
        paid = np.zeros(n, np.float32) if paid is None else paid
        asks = np.ones(int(who.max(initial=index)) + 2, np.bool_) if asks is None else asks
        memory = np.zeros((self.game.num_players, policy.memory), np.int64)
        before = self._visible.copy() if move and self._some_fresh else None
        arrays = (who, asks, policy.options, memory, streams, watched, paid, actions)
        plain = all(array.flags.carray for array in arrays) and [array.dtype for array in arrays] == PLAY_DTYPES
        play = compile_play(self.game.rules, self.game.state_dtype, policy.choose)
        arguments = (self._buffers, self._params, who, index, *arrays[1:], move)
        decisions, illegal = _call(play, arguments) if plain else play(*arguments)
        if before is not None:
            self._fresh &= self._visible == before  # but for games that have moved
            self._some_fresh = bool(self._fresh.any())
        return int(decisions), int(illegal)

    def random_playout(self, streams: npt.NDArray[np.uint64], decisions: int) -> None:
        """Take so many uniform legal actions in every game inside one kernel, starting ended games again.

        For measuring: chance and actions come from ``streams`` (N,) alone, and :meth:`refresh` must follow before
        anything else is read.
        """
        _check_streams(streams, (self.num_games,))
        check_int("decisions", decisions, 0, 2**62)
        mask = np.zeros(self.game.num_actions, np.bool_)
        self.game.batch_kernels.playout(self._buffers.states, self._params, streams, mask, decisions)

    def begin_at(self, episodes: npt.ArrayLike, rows: npt.ArrayLike) -> None:
        """Start again, every game with this episode and row of its seed: to replay what was recorded.

        Args:
            episodes: one for all games, or (N,) integers from 0.
            rows: likewise.

        Raises:
            ValueError: another shape, or something else than integers from 0; nothing has changed.
        """
        numbers = [self._check_numbers("episodes", episodes), self._check_numbers("rows", rows)]
        self._buffers.episodes[:], self._buffers.rows[:] = numbers
        self._start(self._everywhere)

    def refresh(self) -> None:
        """Recompute ``observation`` and ``action_mask`` after ``state`` was written to."""
        self.game.batch_kernels.refresh(self._buffers, self._params)

    def clone(self) -> Batch:
        """An independent copy: same states, same streams, same future."""
        twin = object.__new__(Batch)
        twin.__setstate__(self.__getstate__())
        return twin

    # ------------------------------------------------------------------------------------------------------- plumbing

    def _check_numbers(self, name: str, numbers: npt.ArrayLike) -> npt.NDArray[Any]:
        """``numbers`` as an array that is one number or one for each game."""
        given = np.asarray(numbers)
        if given.dtype.kind not in "iu" or given.shape not in ((), (self.num_games,)) or (given < 0).any():
            raise ValueError(
                f"{name} must be an integer from 0, or {self.num_games} of them, one for each game, got {given.dtype} "
                f"of shape {given.shape}{f' from {given.min()}' if given.size and given.dtype.kind in 'iu' else ''}."
            )
        return given

    def _make_views(self) -> None:
        self._params = self.game.records(self.game.params)
        self._visible = self._buffers.states.view(np.ndarray).view(self.game.visible_dtype)
        self._to_move_view = _read_only(self._visible["to_move"])
        self._mask_view = _read_only(self._buffers.mask)
        self._observation_view = _read_only(self._buffers.observation)

    def __getstate__(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in ("game", "num_games", "autoreset", "threads", "_some_fresh")}
        arrays = {"_fresh": self._fresh, "_everywhere": self._everywhere, **self._buffers._asdict()}
        return {**plain, **{name: np.array(value, subok=False) for name, value in arrays.items()}}

    def __setstate__(self, values: dict[str, Any]) -> None:
        # arrays may come in a buffer that is shared or cannot be written to
        own = {name: np.array(value) if isinstance(value, np.ndarray) else value for name, value in values.items()}
        buffers = {name: own.pop(name) for name in Buffers._fields}
        self.__dict__.update(own)
        for name in ("states", "final"):
            buffers[name] = self.game.records(buffers[name])
        self._buffers = Buffers(**buffers)
        self._make_views()

    def __deepcopy__(self, memo: dict[int, Any]) -> Batch:
        return self.clone()

    def __len__(self) -> int:
        return self.num_games

    def __repr__(self) -> str:
        return f"Batch({self.num_games} × {self.game!r}, autoreset={self.autoreset})"

    def _start(self, where: npt.NDArray[np.bool_]) -> None:
        self.game.batch_kernels.start(self._buffers, self._params, where)

    def _step_in_threads(self, threads: int, arguments: tuple[Any, ...]) -> int:
        """What the kernel ``step`` does, by so many threads."""
        kernels, (chosen, stepped) = self.game.batch_kernels, arguments[2:4]
        illegal = int(_call(kernels.first_illegal, (self._buffers, chosen, stepped)))
        if illegal == NOT_ILLEGAL:
            done = np.zeros(threads, np.bool_)
            shares = np.cumsum([0.0, LEAD, *[1.0] * (threads - 1)])  # the caller's first
            bounds = (self.num_games * shares / shares[-1]).astype(np.int64)
            in_threads(lambda part: _call(kernels.advance, (part, done, bounds, *arguments)), done)
        return illegal

    def _check_seats(self, seats: npt.ArrayLike) -> npt.NDArray[np.int64]:
        players = self.game.num_players
        if type(seats) is int and 0 <= seats < players:
            return np.full(self.num_games, seats, np.int64)
        array = np.asarray(seats)
        if array.dtype.kind not in "iu" or array.shape not in ((), (self.num_games,)):
            raise ValueError(
                f"seats must be one integer or {self.num_games}, got {array.dtype} of shape {array.shape}."
            )
        if array.min() < 0 or array.max() >= players:
            raise ValueError(f"seats must lie in 0 to {players - 1}, got {array.min()} to {array.max()}.")
        return np.array(np.broadcast_to(array, (self.num_games,)), np.int64)

    def _check_play(
        self, who: Any, streams: Any, actions: Any, asks: Any = None, watched: Any = None, paid: Any = None
    ) -> None:
        n, players = self.num_games, self.game.num_players
        for name, array in (("actions", actions), ("watched", watched), ("paid", paid), ("who", who)):
            shape = (n, players) if name == "who" else (n,)
            if array is not None and array.shape != shape:
                raise ValueError(f"{name} must have the shape {shape}, got {array.shape}.")
        _check_streams(streams, (n, players))
        _check_range("who", who, -1, 2**31 if asks is None else len(asks) - 1)
        if watched is not None:
            _check_range("watched", watched, 0, players - 1)

    def _check_where(self, where: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        array = np.asarray(where)
        if array.shape != (self.num_games,) or array.dtype != np.bool_:
            raise ValueError(f"where must be {self.num_games} bools, got {array.dtype} of shape {array.shape}.")
        return np.array(array)  # a plain copy: one kernel serves read-only and strided arguments too

    def _check_actions(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        array = np.asarray(actions)
        if array.dtype.kind not in "iu" or array.shape != (self.num_games,):
            raise ValueError(
                f"actions must be {self.num_games} integers, one a game, got {array.dtype} of shape {array.shape}."
            )
        if array.dtype.kind == "u" and array.max() >= self.game.num_actions:
            array = np.minimum(array, np.uint64(2**62))
        if array.dtype == np.int64 and array.flags.carray:
            return array
        return array.astype(np.int64)  # a plain copy: one kernel serves read-only and strided arguments too

    def _refuse(self, illegal: int, actions: npt.NDArray[Any]) -> None:
        if illegal == ALL_OVER:
            raise ResetNeeded("every game to be stepped is over; call reset() before the next step.")
        raise IllegalAction(
            f"game {illegal}: {illegal_action_message(self.game, int(actions[illegal]), self._buffers.mask[illegal])}"
            f" (player_{self.to_move[illegal]} is to move; no game has moved)."
        )


def _check_range(name: str, array: npt.NDArray[Any], low: int, high: int) -> None:
    least, most = array.min(), array.max()
    if least < low or most > high:
        raise ValueError(f"{name} must lie in {low} to {high}, got {least} to {most}.")


def _check_streams(streams: Any, shape: tuple[int, ...]) -> None:
    """ValueError unless a kernel may take ``streams``; a stream of 0 becomes the one that it stands for."""
    fits = isinstance(streams, np.ndarray) and streams.shape == shape and streams.dtype == np.uint64
    if not fits or not streams.flags.writeable:
        found = f"{streams.dtype} of shape {streams.shape}" if isinstance(streams, np.ndarray) else repr(streams)
        raise ValueError(f"streams must be a writable uint64 array of shape {shape}, got {found}.")
    if not streams.all():
        streams[streams == 0] = FIRST_STREAM  # 0 itself would never change


def _call(loop: Kernel, arguments: tuple[Any, ...]) -> Any:
    """``loop(*arguments)``, all of which this module made, always in the same way."""
    code = _CODE.get(loop)
    if code is not None:
        return code(*arguments)
    result = loop(*arguments)
    _CODE[loop] = machine_code(loop, arguments)
    return result


def illegal_action_message(game: Game, action: int, mask: npt.NDArray[Any]) -> str:
    """Which action was not legal, and what was."""
    name = f" ({game.action_names[action]})" if 0 <= action < game.num_actions else ""
    legal = ", ".join(f"{a} ({game.action_names[a]})" for a in np.flatnonzero(mask))
    return f"action {action}{name} is not legal; legal are {legal}"


def resampled(
    game: Game, states: States, seats: npt.NDArray[np.int64], streams: npt.NDArray[np.uint64], k: int
) -> States:
    """(N, k) copies of ``states`` in which all that ``seats[i]`` cannot know is redrawn, from ``streams`` (N,)."""
    out = game.records(np.zeros((len(states), k), game.state_dtype))
    game.batch_kernels.worlds(game.records(states), game.records(game.params), seats, streams, out)
    return out.view(np.ndarray).view(game.visible_dtype)


def policy_streams(num_games: int, seed: Seeds = None, lane: int = 0) -> npt.NDArray[np.uint64]:
    """Random streams (N,) uint64 for choosing actions, apart from every game's own stream.

    Stream i depends on its seed (as in :class:`Batch`) and ``lane`` alone; lanes tell the seats of a game apart.
    """
    seeds, rows, _ = expand_seeds(fresh_seed() if seed is None else seed, num_games)
    streams = np.empty(num_games, np.uint64)
    lanes = np.full(num_games, POLICY_LANES + lane, np.uint64)
    start_streams(streams, seeds, rows, lanes, np.ones(num_games, np.bool_))
    return streams


def _read_only(array: Any) -> Any:
    view = array.view()
    view.flags.writeable = False
    return view
