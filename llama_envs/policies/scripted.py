"""Policies that are one kernel: uniform play, and rules of thumb."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from llama_envs.core.chance import draw_true
from llama_envs.core.compile import kernel
from llama_envs.core.contract import Floats, Integers, Kernel, Mask, Params, PolicyKernel, State, Streams
from llama_envs.policies.view import Actions, View


@kernel
def choose_uniformly(
    state: State, params: Params, seat: int, mask: Mask, options: Floats, memory: Integers, streams: Streams, i: int
) -> int:
    """A uniform legal action."""
    return draw_true(mask, streams, i)


class RandomPolicy:
    """Uniform over legal actions."""

    needs_worlds = False
    kernel = PolicyKernel(choose_uniformly, needs_mask=True)

    def act(self, view: View) -> Actions:
        """A uniform legal action for each row: (n,) int64."""
        return view.sample_legal()


class ScriptedPolicy:
    """A rule of thumb, written once as a kernel.

    ``act`` shows it a resampled world, so it can use only what the seat knows.

    Args:
        kernel: what chooses, with its options.
    """

    needs_worlds = True

    def __init__(self, kernel: PolicyKernel) -> None:
        self._kernel = kernel._replace(options=np.asarray(kernel.options, np.float64))

    @property
    def kernel(self) -> PolicyKernel:
        """What chooses."""
        return self._kernel

    def act(self, view: View) -> Actions:
        """The scripted action for each row: (n,) int64."""
        game, mine = view.game, self.kernel
        actions = np.empty(len(view), np.int64)
        memory = np.zeros((len(view), mine.memory), np.int64)
        compile_choose(mine.choose)(
            game.records(view.world()), game.records(game.params), view.seat, view.mask, mine.options, memory,
            view.streams, actions,
        )  # fmt: skip
        return actions


@functools.cache
def compile_choose(choose: Kernel) -> Kernel:
    """``choose`` over a batch: (states, params, seats, masks, options, memory, streams, actions) -> None."""

    @kernel
    def choose_all(
        states: Any, all_params: Params, seats: Integers, masks: npt.NDArray[np.bool_], options: Floats,
        memory: Integers, streams: Streams, actions: Integers,
    ) -> None:  # fmt: skip
        params = all_params[0]
        for i in range(len(states)):
            actions[i] = choose(states[i], params, seats[i], masks[i], options, memory[i], streams, i)

    return choose_all
