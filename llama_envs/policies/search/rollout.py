"""How a search plays on in a world: by any policy that is a kernel, to the end of the round."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from llama_envs.core.compile import kernel
from llama_envs.core.contract import Floats, Integers, Kernel, Params, PolicyKernel, Rules, State, Streams
from llama_envs.core.game import Game
from llama_envs.policies.names import make_policy
from llama_envs.policies.view import Policy, kernel_of


class Scratch(NamedTuple):
    """What rollouts write to.

    Attributes:
        mask: (A,) bool.
        memory: (P, m) int64, what each seat's policy has settled on.
    """

    mask: npt.NDArray[np.bool_]
    memory: npt.NDArray[np.int64]


def make_scratch(game: Game, rollout: PolicyKernel) -> Scratch:
    """Scratch memory for ``rollout``."""
    return Scratch(np.zeros(game.num_actions, np.bool_), np.zeros((game.num_players, rollout.memory), np.int64))


def rollout_kernel(policy: Policy) -> PolicyKernel:
    """The kernel of a policy that plays in rollouts.

    Raises:
        ValueError: the policy is no kernel.
    """
    own = kernel_of(policy)
    if own is None:
        raise ValueError(f"a rollout must be played by a policy that is a kernel, got {policy!r}.")
    return own


def named_rollout(game: Game, name: str, usage: str) -> Policy:
    """What ``name`` means as a rollout: a policy that is a kernel; the heuristic if it is empty.

    Raises:
        ValueError: no such policy, or one that no rollout can use.
    """
    policy = make_policy(name or ("heuristic" if game.spec.heuristic is not None else "random"), game)
    if kernel_of(policy) is None:
        raise ValueError(f"the rollout in '{usage}' must be random or a scripted policy, got {name!r}.")
    return policy


@functools.cache
def compile_pick(rules: Rules, choose: Kernel, needs_mask: bool) -> Kernel:
    """``pick(state, params, scratch, memory, options, streams) -> action`` of the seat to move, from ``streams[0]``.

    ``memory`` is the seat's row of ``scratch.memory``, or an empty one.
    """
    legal_actions = rules.legal_actions

    @kernel
    def pick(
        state: State, params: Params, scratch: Scratch, memory: Integers, options: Floats, streams: Streams
    ) -> int:
        if needs_mask:
            legal_actions(state, params, state.to_move, scratch.mask)
        return choose(state, params, state.to_move, scratch.mask, options, memory, streams, 0)

    return pick


@kernel
def forget(scratch: Scratch) -> None:
    """Nobody has settled on anything: before a rollout."""
    for seat in range(scratch.memory.shape[0]):
        for k in range(scratch.memory.shape[1]):
            scratch.memory[seat, k] = 0


@kernel
def round_results(before: State, after: State, num_players: int, sign: int, results: Floats) -> None:
    """Write each seat's change in total against the mean of the others', better being higher, to ``results``."""
    everyone = 0.0
    for seat in range(num_players):
        results[seat] = float(int(after.total[seat]) - int(before.total[seat]))
        everyone += results[seat]
    for seat in range(num_players):
        own = results[seat]
        results[seat] = sign * (own - (everyone - own) / (num_players - 1))
