"""The kernels of a game, over a whole batch: written once here, compiled for each game, cached on disk."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from llama_envs.core.chance import draw_true, stream_start
from llama_envs.core.compile import kernel
from llama_envs.core.contract import Floats, Integers, Kernel, Mask, Params, Rules, State, Streams, Vector

ALL_OVER = -2
NOT_ILLEGAL = -1
ONE = np.uint64(1)

Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.float32]  # one row for each game


class Buffers(NamedTuple):
    """The arrays of a batch of N games.

    Attributes:
        states: (N,) records.
        streams: (N,) uint64, the random stream of each game.
        seeds, rows, episodes: (N,) uint64, what its stream starts from.
        mask: (N, A) bool, of the seat to move.
        observation: (N, D) float32, of the seat to move.
        final: (N,) records, with autoreset the last state of the episode that ended most recently.
    """

    states: Any
    streams: Streams
    seeds: Streams
    rows: Streams
    episodes: Streams
    mask: Bools
    observation: Rows
    final: Any


class BatchKernels(NamedTuple):
    """Compiled loops over a batch of one game."""

    start: Kernel
    first_illegal: Kernel
    advance: Kernel
    step: Kernel
    refresh: Kernel
    observe: Kernel
    mask: Kernel
    playout: Kernel
    worlds: Kernel


def _views(rules: Rules) -> Kernel:
    """``see(state, params, mask, observation)``: the view of the seat to move."""
    legal_actions, observe = rules.legal_actions, rules.observe

    @kernel
    def see(state: State, params: Params, mask: Mask, observation: Vector) -> None:
        """The view of the seat to move; zeros when there is none."""
        seat = state.to_move
        if seat >= 0:
            legal_actions(state, params, seat, mask)
            observe(state, params, seat, observation)
        else:
            mask[:] = False
            observation[:] = 0.0

    return see


@functools.cache
def compile_batch_kernels(rules: Rules, record: np.dtype[np.void]) -> BatchKernels:
    """The loops for one game on one kind of ``record``. Nothing is compiled before the first call."""
    start_game, legal_actions, apply = rules.start_game, rules.legal_actions, rules.apply
    resolve_chance, resample_hidden, observe_one = rules.resolve_chance, rules.resample_hidden, rules.observe
    see = _views(rules)

    @kernel
    def start_episode(buffers: Buffers, params: Params, i: int) -> None:
        buffers.streams[i] = stream_start(buffers.seeds[i], buffers.rows[i], buffers.episodes[i])
        start_game(buffers.states[i], params)
        resolve_chance(buffers.states[i], params, buffers.streams, i)

    @kernel
    def start(buffers: Buffers, all_params: Params, where: Bools) -> None:
        """Start the current episode of every game with ``where[i]``."""
        params = all_params[0]
        for i in range(len(buffers.states)):
            if where[i]:
                start_episode(buffers, params, i)
                see(buffers.states[i], params, buffers.mask[i], buffers.observation[i])

    @kernel
    def first_illegal(buffers: Buffers, actions: Integers, where: Bools) -> int:
        """The first game whose action is not legal (-1: none; -2: every game with ``where[i]`` is over)."""
        mask = buffers.mask
        chosen = 0
        playing = 0
        for i in range(len(mask)):
            if not where[i]:
                continue
            chosen += 1
            if 0 <= actions[i] < mask.shape[1] and mask[i, actions[i]]:
                playing += 1
            elif buffers.states[i].to_move >= 0:
                return i
        return ALL_OVER if chosen > 0 and playing == 0 else NOT_ILLEGAL

    @kernel(inline=True)
    def advance(
        first: int, beyond: int, buffers: Buffers, all_params: Params, actions: Integers, where: Bools, autoreset: bool,
        reward: Rows, terminated: Bools, truncated: Bools,
    ) -> None:  # fmt: skip
        """Take one legal action in every game from ``first`` up to ``beyond`` with ``where[i]`` that is not over.

        With ``autoreset`` an ended game is copied to ``final[i]`` and its next episode starts at once.
        """
        states, mask, observation = buffers.states, buffers.mask, buffers.observation
        params = all_params[0]
        for i in range(first, beyond):
            state = states[i]
            if state.to_move < 0 or not where[i]:
                for seat in range(reward.shape[1]):
                    reward[i, seat] = 0.0
                terminated[i] = state.terminated
                truncated[i] = state.truncated
                continue
            apply(state, params, actions[i])
            resolve_chance(state, params, buffers.streams, i)
            for seat in range(reward.shape[1]):
                reward[i, seat] = state.reward[seat]
            terminated[i] = state.terminated
            truncated[i] = state.truncated
            if autoreset and (state.terminated or state.truncated):
                buffers.final[i] = states[i]
                buffers.episodes[i] += ONE
                start_episode(buffers, params, i)
            see(state, params, mask[i], observation[i])

    @kernel
    def advance_part(
        part: int, done: Bools, bounds: Integers, buffers: Buffers, all_params: Params, actions: Integers,
        where: Bools, autoreset: bool, reward: Rows, terminated: Bools, truncated: Bools,
    ) -> None:  # fmt: skip
        """``advance`` the games of one part, unless that was done; ``done[part]`` says so in the same call."""
        if not done[part]:
            advance(
                bounds[part], bounds[part + 1], buffers, all_params, actions, where, autoreset,
                reward, terminated, truncated,
            )  # fmt: skip
            done[part] = True

    @kernel
    def step(
        buffers: Buffers, all_params: Params, actions: Integers, where: Bools, autoreset: bool,
        reward: Rows, terminated: Bools, truncated: Bools,
    ) -> int:  # fmt: skip
        """``advance`` all games, unless an action is not legal; returns what ``first_illegal`` found."""
        illegal = first_illegal(buffers, actions, where)
        if illegal == NOT_ILLEGAL:
            advance(
                0, len(buffers.states), buffers, all_params, actions, where, autoreset, reward, terminated, truncated
            )
        return illegal

    @kernel
    def refresh(buffers: Buffers, all_params: Params) -> None:
        """Mask and observation of the seats to move."""
        params = all_params[0]
        for i in range(len(buffers.states)):
            see(buffers.states[i], params, buffers.mask[i], buffers.observation[i])

    @kernel
    def observe(states: Any, all_params: Params, seats: Integers, out: Rows) -> None:
        """The observation of ``seats[i]`` in game i."""
        params = all_params[0]
        for i in range(len(states)):
            observe_one(states[i], params, seats[i], out[i])

    @kernel
    def mask(states: Any, all_params: Params, seats: Integers, out: Bools) -> None:
        """What ``seats[i]`` may do now in game i."""
        params = all_params[0]
        for i in range(len(states)):
            out[i, :] = False
            if states[i].to_move >= 0:
                legal_actions(states[i], params, seats[i], out[i])

    @kernel
    def playout(states: Any, all_params: Params, streams: Streams, mask: Mask, decisions: int) -> None:
        """Play uniform legal actions in each game until ``decisions`` were taken in it, restarting ended games."""
        params = all_params[0]
        for i in range(len(states)):
            state = states[i]
            for _ in range(decisions):
                if state.to_move < 0:
                    start_game(state, params)
                    resolve_chance(state, params, streams, i)
                legal_actions(state, params, state.to_move, mask)
                apply(state, params, draw_true(mask, streams, i))
                resolve_chance(state, params, streams, i)

    @kernel
    def worlds(states: Any, all_params: Params, seats: Integers, streams: Streams, out: Any) -> None:
        """``out[i, j]``: game i with all that ``seats[i]`` cannot know redrawn, from stream i."""
        params = all_params[0]
        for i in range(len(states)):
            for j in range(out.shape[1]):
                out[i, j] = states[i]
                resample_hidden(out[i, j], params, seats[i], streams, i)

    return BatchKernels(start, first_illegal, advance_part, step, refresh, observe, mask, playout, worlds)


@functools.cache
def compile_play(rules: Rules, record: np.dtype[np.void], choose: Kernel) -> Kernel:
    """The loop that plays one policy that is a kernel (:class:`~llama_envs.core.contract.PolicyKernel`) in a batch.

    ``play(buffers, params, who, index, asks, options, memory, streams, watched, paid, actions, move)`` plays every game
    in which the policy is to move (``who[i, seat] == index``) until it no longer is, and adds what ``watched[i]`` is
    paid meanwhile to ``paid[i]``. Seat s of game i draws from ``streams[i, s]``. Mask and observation are written where
    the next to move has ``asks[who]``, being no kernel. Without ``move`` it only writes its choice to ``actions[i]``.

    Returns:
        how many decisions it took, and the game in which it chose an illegal action, ``actions[i]`` (-1: none): nothing
        is played after that.
    """
    legal_actions, apply, resolve_chance = rules.legal_actions, rules.apply, rules.resolve_chance
    see = _views(rules)

    @kernel
    def play(
        buffers: Buffers, all_params: Params, who: Integers, index: int, asks: Bools, options: Floats,
        memory: Integers, streams: Streams, watched: Integers, paid: Vector, actions: Integers, move: bool,
    ) -> tuple[int, int]:  # fmt: skip
        params = all_params[0]
        decisions = 0
        for i in range(len(buffers.states)):
            state = buffers.states[i]
            if state.to_move < 0 or who[i, state.to_move] != index:
                continue
            memory[:] = 0
            mask = buffers.mask[i]
            while state.to_move >= 0 and who[i, state.to_move] == index:
                seat = np.int64(state.to_move)
                legal_actions(state, params, seat, mask)
                action = np.int64(choose(state, params, seat, mask, options, memory[seat], streams[i], seat))
                decisions += 1
                if action < 0 or action >= len(mask) or not mask[action]:
                    actions[i] = action
                    see(state, params, mask, buffers.observation[i])
                    return decisions, i
                if not move:
                    actions[i] = action
                    break
                apply(state, params, action)
                resolve_chance(state, params, buffers.streams, i)
                paid[i] += state.reward[watched[i]]
            if move and (state.to_move < 0 or asks[who[i, state.to_move]]):
                see(state, params, mask, buffers.observation[i])
        return decisions, NOT_ILLEGAL

    return play
