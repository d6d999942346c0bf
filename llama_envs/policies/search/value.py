"""``mc:W:network=PATH``: flat Monte Carlo in which the value network of a trained model takes the place of the rollout.

For every legal action, in each of W resampled worlds (the same worlds and streams for all actions), the action is taken
and the others play by the heuristic until the seat is to move again. There the network says what the seat can expect,
from the seat's observation in that world; a game that ends before needs no network. What the seat is paid on the way
counts too, so an action's value is in units of reward.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from llama_envs.core.compile import kernel
from llama_envs.core.contract import Floats, Integers, Kernel, Params, Rules, State, Streams
from llama_envs.core.game import Game
from llama_envs.policies.network import Network, load_value
from llama_envs.policies.scripted import RandomPolicy
from llama_envs.policies.search.budget import Budget
from llama_envs.policies.search.rollout import (
    Scratch,
    compile_pick,
    forget,
    make_scratch,
    named_rollout,
    rollout_kernel,
)
from llama_envs.policies.view import Actions, Policy, View

VALUE_PREFIXES = ("network=", "ppo=")
WORLDS_AT_ONCE = 256  # bounds the memory


class ValuePolicy:
    """Flat Monte Carlo, one decision ahead.

    Args:
        game: what is played.
        budget: resampled worlds for each decision; by the clock, choices cannot be reproduced.
        network: from observations (n, D) to what the seat to move expects (n, 1), in reward.
        opponents: a policy that is a kernel, how the others play until then; None plays uniformly at random.
    """

    needs_worlds = True

    def __init__(self, game: Game, budget: Budget, network: Network, opponents: Policy | None) -> None:
        self.game, self.budget, self.network = game, budget, network
        self.opponents = opponents or RandomPolicy()
        self._kernel = rollout_kernel(self.opponents)
        self._look_ahead = compile_look_ahead(
            game.rules, compile_pick(game.rules, self._kernel.choose, self._kernel.needs_mask)
        )

    def act(self, view: View) -> Actions:
        """The action with the best mean value for each row: (n,) int64."""
        return np.where(view.mask, self.values(view), -np.inf).argmax(axis=1)

    def values(self, view: View) -> npt.NDArray[np.float64]:
        """The mean value of each legal action: (n, A) float64, in reward."""
        values = np.zeros(view.mask.shape, np.float64)
        start = view.worlds(1)[:, 0].copy()
        self._evaluate(view, start, 0, 0, values[0])  # compile before the clock starts
        for row in range(len(view)):

            def work(worlds: int, row: int = row) -> None:
                for first in range(0, worlds, WORLDS_AT_ONCE):
                    self._evaluate(view, start, row, min(WORLDS_AT_ONCE, worlds - first), values[row])

            values[row] /= self.budget.spend(work)
        return values

    def _evaluate(
        self, view: View, start: npt.NDArray[Any], row: int, worlds: int, values: npt.NDArray[np.float64]
    ) -> None:
        """Add to ``values`` (A,) those of every legal action in so many worlds of one row."""
        game = view.game
        rows = slice(row, row + 1)
        paid = np.zeros((worlds, game.num_actions), np.float64)
        goes_on = np.zeros((worlds, game.num_actions), np.bool_)
        seen = np.zeros((worlds, game.num_actions, game.observation.size), np.float32)
        self._look_ahead(
            game.records(start[rows]), game.records(np.zeros(2, game.state_dtype)), game.records(game.params),
            view.seat[rows], view.mask[rows], view.streams[rows], self._kernel.options,
            make_scratch(game, self._kernel),
            paid, goes_on, seen,
        )  # fmt: skip
        if goes_on.any():
            masks = np.zeros((int(goes_on.sum()), game.num_actions), np.bool_)
            paid[goes_on] += self.network(seen[goes_on], masks)[:, 0]
        values += paid.sum(axis=0)

    def __reduce__(self) -> tuple[Any, ...]:
        return ValuePolicy, (self.game, self.budget, self.network, self.opponents)


@functools.cache
def compile_look_ahead(rules: Rules, pick: Kernel) -> Kernel:
    """The kernel that takes every legal action in sampled worlds and plays on until the seat is to move again."""
    apply, resample_hidden, observe = rules.apply, rules.resample_hidden, rules.observe
    sample_chance, apply_chance = rules.sample_chance, rules.apply_chance

    @kernel
    def play_on(state: State, params: Params, seat: int, scratch: Scratch, options: Floats, stream: Streams) -> float:
        """Play until ``seat`` must decide or the game is over; returns what it is paid."""
        paid = float(state.reward[seat])
        while True:
            if state.chance != 0:
                before = float(state.reward[seat])
                apply_chance(state, params, sample_chance(state, params, stream, 0))  # may add to the reward
                paid += float(state.reward[seat]) - before
            elif state.to_move < 0 or state.to_move == seat:
                return paid
            else:
                apply(state, params, pick(state, params, scratch, scratch.memory[state.to_move], options, stream))
                paid += float(state.reward[seat])

    @kernel(allocates=True)
    def look_ahead(
        start: Any, spare: Any, all_params: Params, seats: Integers, masks: npt.NDArray[np.bool_], streams: Streams,
        options: Floats, scratch: Scratch, paid: Floats, goes_on: npt.NDArray[np.bool_], seen: npt.NDArray[np.float32],
    ) -> None:  # fmt: skip
        """Write what ``seats[0]`` is paid, whether the game goes on, and what it sees then: (worlds, A, ...) each."""
        params = all_params[0]
        seat = seats[0]
        stream = np.zeros(1, np.uint64)
        for world in range(len(paid)):
            spare[0] = start[0]
            resample_hidden(spare[0], params, seat, streams, 0)
            future = streams[0]
            for action in range(masks.shape[1]):
                if masks[0, action]:
                    spare[1] = spare[0]
                    stream[0] = future
                    forget(scratch)
                    apply(spare[1], params, action)
                    paid[world, action] = play_on(spare[1], params, seat, scratch, options, stream)
                    goes_on[world, action] = spare[1].to_move >= 0
                    if spare[1].to_move >= 0:
                        observe(spare[1], params, seat, seen[world, action])

    return look_ahead


def build_value(game: Game, budget: Budget, path: str) -> ValuePolicy:
    """``mc:W:network=PATH``."""
    if not path:
        raise ValueError("a value network is written mc:W:network=PATH, with the path of a policy file.")
    network = load_value(path, game)
    if network.inputs != ("observation",):
        raise ValueError(
            f"the value network in {path} reads {' and '.join(network.inputs)}; a search has observations."
        )
    return ValuePolicy(game, budget, network, named_rollout(game, "", "mc:W:network=PATH"))
