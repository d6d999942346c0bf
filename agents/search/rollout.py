"""How a search plays on in a world: by a scripted policy or at random, to the end of the round."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.scripted.planning import PlanningPolicy
from llama_envs.core.chance import draw_true
from llama_envs.core.compile import kernel
from llama_envs.core.game import Game, Kernel
from llama_envs.core.policy import ScriptedPolicy, make_policy

LEFT, NEXT, FIRST = 0, 1, 2  # columns of ``plans``: actions left, the place of the next one, the first one


class Rollout(NamedTuple):
    """A policy for both sides of a rollout.

    Attributes:
        policy: the policy; None plays uniformly at random.
        key: what kernels that are compiled for it may be kept under.
        pick: kernel ``pick(state, params, scratch, options, luck) -> action`` of the seat to move; ``luck``: streams.
        options: what the policy takes, float64.
        longest: the most actions that it settles at once.
    """

    policy: ScriptedPolicy | None
    key: Any
    pick: Kernel
    options: npt.NDArray[np.float64]
    longest: int


_PICK: dict[Any, Kernel] = {}


def make_rollout(game: Game, policy: ScriptedPolicy | None) -> Rollout:
    """The rollout by ``policy``; None plays uniformly at random."""
    if policy is None:
        key: Any = game.rules
        options, longest = np.zeros(0), 0
    elif isinstance(policy, PlanningPolicy):
        key, options, longest = policy.plan, policy.options, policy.longest
    else:
        key, options, longest = policy.choose, policy.options, 0
    if key not in _PICK:
        if policy is None:
            _PICK[key] = _uniform(game)
        elif isinstance(policy, PlanningPolicy):
            _PICK[key] = _planned(policy.plan)
        else:
            _PICK[key] = _scripted(policy.choose)
    return Rollout(policy, key, _PICK[key], options, longest)


def named_policy(game: Game, name: str, usage: str) -> ScriptedPolicy | None:
    """What ``name`` means as a rollout: ``random`` (None), a scripted policy, or the heuristic if it is empty.

    Raises:
        ValueError: no such policy, or one that no rollout can use.
    """
    if name == "random":
        return None
    policy = make_policy(name or "heuristic", game)
    if not isinstance(policy, ScriptedPolicy):
        raise ValueError(f"the rollout in '{usage}' must be random or a scripted policy, got {name!r}.")
    return policy


class Scratch(NamedTuple):
    """What rollouts write to.

    Attributes:
        mask: (A,) bool.
        plans: (P, 2 + longest) int64: what each seat has settled on.
    """

    mask: npt.NDArray[np.bool_]
    plans: npt.NDArray[np.int64]


def make_scratch(game: Game, rollout: Rollout) -> Scratch:
    """Scratch memory for ``rollout``."""
    return Scratch(
        np.zeros(game.num_actions, np.bool_), np.zeros((game.num_players, FIRST + rollout.longest), np.int64)
    )


def _scripted(choose: Kernel) -> Kernel:
    @kernel
    def pick(state, params, scratch, options, luck):
        return choose(state, params, state.to_move, options)

    return pick


def _planned(plan: Kernel) -> Kernel:
    @kernel
    def pick(state, params, scratch, options, luck):
        mine = scratch.plans[state.to_move]
        if mine[LEFT] == 0:
            mine[LEFT] = plan(state, params, state.to_move, options, mine[FIRST:])
            mine[NEXT] = FIRST
        mine[LEFT] -= 1
        mine[NEXT] += 1
        return mine[mine[NEXT] - 1]

    return pick


def _uniform(game: Game) -> Kernel:
    legal_actions = game.rules.legal_actions

    @kernel
    def pick(state, params, scratch, options, luck):
        legal_actions(state, params, state.to_move, scratch.mask)
        return draw_true(scratch.mask, luck, 0)

    return pick


@kernel
def forget_plans(scratch):
    """Nobody has settled on anything: before a rollout."""
    for seat in range(len(scratch.plans)):
        scratch.plans[seat, LEFT] = 0


@kernel
def round_results(before, after, num_players, sign, results):
    """Write each seat's change in total against the mean of the others', better being higher, to ``results``."""
    everyone = 0.0
    for seat in range(num_players):
        results[seat] = float(int(after.total[seat]) - int(before.total[seat]))
        everyone += results[seat]
    for seat in range(num_players):
        own = results[seat]
        results[seat] = sign * (own - (everyone - own) / (num_players - 1))
