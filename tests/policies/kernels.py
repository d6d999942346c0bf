"""Policies that are kernels, for any game: one that draws, one that remembers, and some that fail."""

from __future__ import annotations

import numpy as np

from llama_envs.core.chance import draw_true, draw_unit
from llama_envs.core.compile import kernel
from llama_envs.policies import PolicyKernel, ScriptedPolicy


@kernel
def choose_now_and_then(state, params, seat, mask, options, memory, streams, i):
    """The last legal action, but a uniform one with probability ``options[0]``."""
    if draw_unit(streams, i) < options[0]:
        return draw_true(mask, streams, i)
    last = -1
    for action in range(len(mask)):
        if mask[action]:
            last = action
    return last


@kernel
def choose_by_total(state, params, seat, mask, options, memory, streams, i):
    """A legal action by rounds and the seat's total; with a memory, what it worked out from them is kept there."""
    rounds, total = int(state.rounds), int(state.total[seat])
    if len(memory) == 0:
        return legal_number(mask, 3 * total + rounds)
    if memory[0] != rounds + 1 or memory[1] != total:
        memory[0] = rounds + 1
        memory[1] = total
        memory[2] = 3 * total + rounds
    return legal_number(mask, memory[2])


@kernel
def choose_by_count(state, params, seat, mask, options, memory, streams, i):
    """The n-th legal action at its n-th decision in its memory, which breaks the rule: to see what a memory holds."""
    memory[0] += 1
    return legal_number(mask, memory[0] - 1)


@kernel
def legal_number(mask, number):
    """The legal action that comes as ``number``, counted round and round."""
    legal = 0
    for action in range(len(mask)):
        legal += int(mask[action])
    left = number % legal
    for action in range(len(mask)):
        if mask[action]:
            if left == 0:
                return action
            left -= 1
    return -1


@kernel
def choose_option(state, params, seat, mask, options, memory, streams, i):
    """The action ``options[0]`` after ``options[1]`` rounds; before that the first legal one."""
    if state.rounds >= options[1]:
        return int(options[0])
    for action in range(len(mask)):
        if mask[action]:
            return action
    return -1


def drawing(share: float = 0.3) -> ScriptedPolicy:
    return ScriptedPolicy(PolicyKernel(choose_now_and_then, np.array([share]), needs_mask=True))


def remembering() -> ScriptedPolicy:
    return ScriptedPolicy(PolicyKernel(choose_by_total, memory=3, needs_mask=True))


def counting() -> ScriptedPolicy:
    return ScriptedPolicy(PolicyKernel(choose_by_count, memory=1, needs_mask=True))


def stubborn(action: int, after: int = 0) -> ScriptedPolicy:
    return ScriptedPolicy(PolicyKernel(choose_option, np.array([action, after], np.float64), needs_mask=True))
