"""``mc:W`` and ``mc:W:ROLLOUT``: flat Monte Carlo over worlds that the seat considers possible.

For every legal action, in each of W resampled worlds (common random numbers: the same worlds and streams for all
actions), the action is taken and all seats play on by a scripted policy to the end of the round. The action with the
best mean result is chosen; a result is the seat's change in total against the mean of the others' (Sheppard 2002
calls such worlds and rollouts "selective sampling"; the true state is never looked at).
"""

from __future__ import annotations

import functools
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from llama_envs.core.compile import kernel
from llama_envs.core.contract import Floats, Integers, Kernel, Params, Rules, State, Streams
from llama_envs.core.game import Game
from llama_envs.policies.scripted import RandomPolicy
from llama_envs.policies.search.budget import Budget, parse_budget
from llama_envs.policies.search.rollout import (
    Scratch,
    compile_pick,
    forget,
    make_scratch,
    named_rollout,
    rollout_kernel,
    round_results,
)
from llama_envs.policies.search.value import VALUE_PREFIXES, build_value
from llama_envs.policies.view import Actions, Policy, View

USAGE = "mc:W[:ROLLOUT]"


class MonteCarloPolicy:
    """Flat Monte Carlo. One object may decide in several threads at once.

    Args:
        game: what is played.
        worlds: resampled worlds for each decision, or a budget; by the clock, choices cannot be reproduced.
        rollout: a policy that is a kernel, which plays on in them; None plays uniformly at random.
    """

    needs_worlds = True

    def __init__(self, game: Game, worlds: int | Budget, rollout: Policy | None) -> None:
        self.game = game
        self.budget = worlds if isinstance(worlds, Budget) else Budget(worlds)
        self.rollout = rollout or RandomPolicy()
        self._kernel = rollout_kernel(self.rollout)
        self._evaluate = compile_evaluate(
            game.rules, compile_pick(game.rules, self._kernel.choose, self._kernel.needs_mask)
        )
        self._sign = 1 if game.most_points_win else -1

    def act(self, view: View) -> Actions:
        """The action with the best mean result for each row: (n,) int64."""
        return np.where(view.mask, self.values(view), -np.inf).argmax(axis=1)

    def values(self, view: View) -> npt.NDArray[np.float64]:
        """The mean result of each legal action: (n, A) float64, in points of the game, higher is better."""
        game = view.game
        values = np.zeros(view.mask.shape, np.float64)
        start = game.records(view.worlds(1)[:, 0].copy())
        spare = game.records(np.zeros(2, game.state_dtype))
        params = game.records(game.params)
        scratch = make_scratch(game, self._kernel)

        def evaluate(rows: slice, worlds: int) -> None:
            self._evaluate(
                start[rows], spare, params, view.seat[rows], view.mask[rows], view.streams[rows],
                self._kernel.options, scratch, worlds, self._sign, values[rows],
            )  # fmt: skip

        if self.budget.count is not None:
            evaluate(slice(None), self.budget.count)
            return values / self.budget.count
        evaluate(slice(None), 0)  # compile before the clock starts
        for row in range(len(view)):
            values[row] /= self.budget.spend(partial(evaluate, slice(row, row + 1)))
        return values

    def results(self, view: View, worlds: int) -> npt.NDArray[np.float64]:
        """The result of each legal action in each of ``worlds`` worlds, in points: (worlds, n, A) float64.

        By the same worlds and streams as :meth:`values`, whose numbers are the means of these.
        """
        game = view.game
        results = np.zeros((worlds, *view.mask.shape), np.float64)
        start = game.records(view.worlds(1)[:, 0].copy())
        spare, params = game.records(np.zeros(2, game.state_dtype)), game.records(game.params)
        scratch = make_scratch(game, self._kernel)
        for world in results:
            self._evaluate(
                start, spare, params, view.seat, view.mask, view.streams, self._kernel.options, scratch, 1,
                self._sign, world,
            )  # fmt: skip
        return results

    def __reduce__(self) -> tuple[Any, ...]:
        return MonteCarloPolicy, (self.game, self.budget, self.rollout)


@functools.cache
def compile_evaluate(rules: Rules, pick: Kernel) -> Kernel:
    """The kernel that adds up the results of all legal actions in sampled worlds."""
    apply, resample_hidden = rules.apply, rules.resample_hidden
    sample_chance, apply_chance = rules.sample_chance, rules.apply_chance

    @kernel
    def finish_round(
        state: State, params: Params, scratch: Scratch, options: Floats, stream: Streams, rounds: int
    ) -> None:
        """Play on until the round of the first decision is scored."""
        while state.rounds == rounds:
            if state.chance != 0:
                apply_chance(state, params, sample_chance(state, params, stream, 0))
            else:
                apply(state, params, pick(state, params, scratch, scratch.memory[state.to_move], options, stream))

    @kernel(allocates=True)
    def evaluate(
        states: Any, spare: Any, all_params: Params, seats: Integers, masks: npt.NDArray[np.bool_], streams: Streams,
        options: Floats, scratch: Scratch, worlds: int, sign: int, values: Floats,
    ) -> None:  # fmt: skip
        """Add to ``values[i, a]`` the results of action a for ``seats[i]`` in ``worlds`` worlds of game i."""
        params = all_params[0]
        stream = np.zeros(1, np.uint64)
        results = np.zeros(params.num_players, np.float64)
        for i in range(len(states)):
            for _ in range(worlds):
                spare[0] = states[i]
                resample_hidden(spare[0], params, seats[i], streams, i)
                future = streams[i]
                for action in range(masks.shape[1]):
                    if masks[i, action]:
                        spare[1] = spare[0]
                        stream[0] = future
                        forget(scratch)
                        apply(spare[1], params, action)
                        finish_round(spare[1], params, scratch, options, stream, states[i].rounds)
                        round_results(states[i], spare[1], params.num_players, sign, results)
                        values[i, action] += results[seats[i]]

    return evaluate


def build(game: Game, argument: str) -> Policy:
    """``mc:W`` with the heuristic as rollout, or ``mc:W:ROLLOUT``; W is a number of worlds or a time such as ``5ms``.

    ROLLOUT is any policy that is a kernel, or ``network=PATH`` for the value network of a policy file.
    """
    number, _, name = argument.partition(":")
    budget = parse_budget(number, "worlds", USAGE)
    for prefix in VALUE_PREFIXES:
        if name.startswith(prefix):
            return build_value(game, budget, name.removeprefix(prefix))
    return MonteCarloPolicy(game, budget, named_rollout(game, name, USAGE))
