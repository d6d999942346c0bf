"""The kernels of a room, over a whole batch: written once here, compiled for each room, cached on disk.

Arrays of N games: ``states`` (N,) records, ``streams`` (N,) uint64, ``seats`` (N,) integers, ``mask`` (N, A) bool,
``observation`` (N, D) float32.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from llama_envs.core.chance import draw_true, stream_start
from llama_envs.core.compile import kernel
from llama_envs.core.game import Kernel, Rules

ALL_OVER = -2
NOT_ILLEGAL = -1
ZERO = np.uint64(0)
ONE = np.uint64(1)


class Loops(NamedTuple):
    """Compiled batch loops of a room."""

    start: Kernel
    first_illegal: Kernel
    advance: Kernel
    step: Kernel
    refresh: Kernel
    observe: Kernel
    mask: Kernel
    playout: Kernel
    play_random: Kernel
    worlds: Kernel


def compile_loops(rules: Rules) -> Loops:
    """The loops for one room. Nothing is compiled before the first call."""
    start_game, legal_actions, apply = rules.start_game, rules.legal_actions, rules.apply
    settle, resample_hidden, observe_one = rules.settle, rules.resample_hidden, rules.observe

    @kernel
    def start_episode(states, params, streams, seeds, rows, episodes, i):
        streams[i] = stream_start(seeds[i], rows[i], episodes[i])
        start_game(states[i], params)
        settle(states[i], params, streams, i)

    @kernel
    def see(state, params, mask, observation):
        """The view of the seat to move; zeros when there is none."""
        seat = state.to_move
        if seat >= 0:
            legal_actions(state, params, seat, mask)
            observe_one(state, params, seat, observation)
        else:
            mask[:] = False
            observation[:] = 0.0

    @kernel
    def start(states, all_params, streams, seeds, rows, episodes, where, mask, observation):
        """Start the current episode of every game with ``where[i]``."""
        params = all_params[0]
        for i in range(len(states)):
            if where[i]:
                start_episode(states, params, streams, seeds, rows, episodes, i)
                see(states[i], params, mask[i], observation[i])

    @kernel
    def first_illegal(states, mask, actions, where):
        """The first game whose action is not legal (-1: none; -2: every game with ``where[i]`` is over)."""
        chosen = 0
        playing = 0
        for i in range(len(states)):
            if not where[i]:
                continue
            chosen += 1
            if states[i].to_move < 0:
                continue
            playing += 1
            if actions[i] < 0 or actions[i] >= mask.shape[1] or not mask[i, actions[i]]:
                return i
        return ALL_OVER if chosen > 0 and playing == 0 else NOT_ILLEGAL

    @kernel(inline=True)
    def advance(
        first, beyond, states, all_params, streams, seeds, rows, episodes, actions, where, autoreset,
        mask, observation, reward, terminated, truncated, final,
    ):  # fmt: skip
        """Take one legal action in every game from ``first`` up to ``beyond`` with ``where[i]`` that is not over.

        With ``autoreset`` an ended game is copied to ``final[i]`` and its next episode starts at once.
        """
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
            settle(state, params, streams, i)
            for seat in range(reward.shape[1]):
                reward[i, seat] = state.reward[seat]
            terminated[i] = state.terminated
            truncated[i] = state.truncated
            if autoreset and (state.terminated or state.truncated):
                final[i] = states[i]
                episodes[i] += ONE
                start_episode(states, params, streams, seeds, rows, episodes, i)
            see(state, params, mask[i], observation[i])

    @kernel
    def step(
        states, all_params, streams, seeds, rows, episodes, actions, where, autoreset,
        mask, observation, reward, terminated, truncated, final,
    ):  # fmt: skip
        """``advance`` all games, unless an action is not legal; returns what ``first_illegal`` found."""
        illegal = first_illegal(states, mask, actions, where)
        if illegal == NOT_ILLEGAL:
            advance(
                0, len(states), states, all_params, streams, seeds, rows, episodes, actions, where, autoreset,
                mask, observation, reward, terminated, truncated, final,
            )  # fmt: skip
        return illegal

    @kernel
    def refresh(states, all_params, mask, observation):
        """Mask and observation of the seats to move."""
        params = all_params[0]
        for i in range(len(states)):
            see(states[i], params, mask[i], observation[i])

    @kernel
    def observe(states, all_params, seats, out):
        """The observation of ``seats[i]`` in game i."""
        params = all_params[0]
        for i in range(len(states)):
            observe_one(states[i], params, seats[i], out[i])

    @kernel
    def mask(states, all_params, seats, out):
        """What ``seats[i]`` may do now in game i."""
        params = all_params[0]
        for i in range(len(states)):
            out[i, :] = False
            if states[i].to_move >= 0:
                legal_actions(states[i], params, seats[i], out[i])

    @kernel
    def playout(states, all_params, streams, mask, decisions):
        """Play uniform legal actions in each game until ``decisions`` were taken in it, restarting ended games."""
        params = all_params[0]
        for i in range(len(states)):
            state = states[i]
            for _ in range(decisions):
                if state.to_move < 0:
                    start_game(state, params)
                    settle(state, params, streams, i)
                legal_actions(state, params, state.to_move, mask)
                apply(state, params, draw_true(mask, streams, i))
                settle(state, params, streams, i)

    @kernel
    def play_random(states, all_params, streams, learners, draws, mask, observation, acted, paid, early):
        """Uniform legal actions, seat s by stream ``draws[i, s]``, until ``learners[i]`` is to move or game i over.

        What ``learners[i]`` is paid meanwhile is added to ``paid[i]`` if ``acted[i]``, else to ``early[i]``.
        """
        params = all_params[0]
        for i in range(len(states)):
            state = states[i]
            learner = learners[i]
            if state.to_move < 0 or state.to_move == learner:
                continue
            while state.to_move >= 0 and state.to_move != learner:
                seat = state.to_move
                legal_actions(state, params, seat, mask[i])
                apply(state, params, draw_true(mask[i], draws[i], seat))
                settle(state, params, streams, i)
                if acted[i]:
                    paid[i] += state.reward[learner]
                else:
                    early[i] += state.reward[learner]
            see(state, params, mask[i], observation[i])

    @kernel
    def worlds(states, all_params, seats, streams, out):
        """``out[i, j]``: game i with all that ``seats[i]`` cannot know redrawn, from stream i."""
        params = all_params[0]
        for i in range(len(states)):
            for j in range(out.shape[1]):
                out[i, j] = states[i]
                resample_hidden(out[i, j], params, seats[i], streams, i)

    return Loops(start, first_illegal, advance, step, refresh, observe, mask, playout, play_random, worlds)
