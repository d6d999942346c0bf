"""``mc:W:ppo=PATH``: flat Monte Carlo in which the value network of a trained model takes the place of the rollout.

For every legal action, in each of W resampled worlds (the same worlds and luck for all actions), the action is taken
and the others play by the heuristic until the seat is to move again. There the network says what the seat can expect,
from the seat's observation in that world; a game that ends before needs no network. What the seat is paid on the way
counts too, so an action's value is in units of reward.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.ppo import actor, check_fits, critic_weights, load_state_dict, read_model
from agents.search.budget import Budget
from agents.search.rollout import Rollout, forget_plans, make_rollout, make_scratch, named_policy
from llama_envs.core.compile import kernel
from llama_envs.core.game import Game, Kernel
from llama_envs.core.policy import Actions, ScriptedPolicy, View

VALUE_PREFIX = "ppo="
WORLDS_AT_ONCE = 256  # a constant, so that the network's floats do not depend on the batch


class ValuePolicy:
    """Flat Monte Carlo, one decision ahead.

    Args:
        game: what is played.
        budget: resampled worlds for each decision; by the clock, choices cannot be reproduced.
        network: torch module from observations (n, D) to what the seat to move expects (n, 1), in reward.
        opponents: how the others play until then; None plays uniformly at random.
    """

    needs_worlds = True

    def __init__(self, game: Game, budget: Budget, network: Any, opponents: ScriptedPolicy | None) -> None:
        self.game, self.budget, self.network = game, budget, network
        self.opponents = make_rollout(game, opponents)
        self._look_ahead = compile_look_ahead(game, self.opponents)
        self._scratch = make_scratch(game, self.opponents)

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
        import torch

        game = view.game
        rows = slice(row, row + 1)
        paid = np.zeros((worlds, game.num_actions), np.float64)
        goes_on = np.zeros((worlds, game.num_actions), np.bool_)
        seen = np.zeros((worlds, game.num_actions, game.observation.size), np.float32)
        self._look_ahead(
            game.records(start[rows]), game.records(np.zeros(2, game.state_dtype)), game.records(game.params),
            view.seat[rows], view.mask[rows], view.streams[rows], self.opponents.options, self._scratch,
            paid, goes_on, seen,
        )  # fmt: skip
        if goes_on.any():
            with torch.no_grad():
                paid[goes_on] += self.network(torch.from_numpy(seen[goes_on])).numpy()[:, 0]
        values += paid.sum(axis=0)

    def __reduce__(self) -> tuple[Any, ...]:
        return ValuePolicy, (self.game, self.budget, self.network, self.opponents.policy)


_LOOK_AHEAD: dict[tuple[Any, ...], Kernel] = {}


def compile_look_ahead(game: Game, opponents: Rollout) -> Kernel:
    """The kernel that takes every legal action in sampled worlds and plays on until the seat is to move again."""
    key = (game.rules, opponents.key)
    if key not in _LOOK_AHEAD:
        _LOOK_AHEAD[key] = _look_ahead_kernel(game, opponents.pick)
    return _LOOK_AHEAD[key]


def _look_ahead_kernel(game: Game, pick: Kernel) -> Kernel:
    rules = game.rules
    apply, resample_hidden, observe = rules.apply, rules.resample_hidden, rules.observe
    sample_chance, apply_chance = rules.sample_chance, rules.apply_chance

    @kernel
    def play_on(state, params, seat, scratch, options, luck):
        """Play until ``seat`` must decide or the game is over; returns what it is paid."""
        paid = float(state.reward[seat])
        while True:
            if state.chance != 0:
                before = float(state.reward[seat])
                apply_chance(state, params, sample_chance(state, params, luck, 0))  # may add to the reward
                paid += float(state.reward[seat]) - before
            elif state.to_move < 0 or state.to_move == seat:
                return paid
            else:
                apply(state, params, pick(state, params, scratch, options, luck))
                paid += float(state.reward[seat])

    @kernel(allocates=True)
    def look_ahead(start, spare, all_params, seats, masks, streams, options, scratch, paid, goes_on, seen):
        """Write what ``seats[0]`` is paid, whether the game goes on, and what it sees then: (worlds, A, ...) each."""
        params = all_params[0]
        seat = seats[0]
        luck = np.zeros(1, np.uint64)
        for world in range(len(paid)):
            spare[0] = start[0]
            resample_hidden(spare[0], params, seat, streams, 0)
            future = streams[0]
            for action in range(masks.shape[1]):
                if masks[0, action]:
                    spare[1] = spare[0]
                    luck[0] = future
                    forget_plans(scratch)
                    apply(spare[1], params, action)
                    paid[world, action] = play_on(spare[1], params, seat, scratch, options, luck)
                    goes_on[world, action] = spare[1].to_move >= 0
                    if spare[1].to_move >= 0:
                        observe(spare[1], params, seat, seen[world, action])

    return look_ahead


def load_critic(path: str | Path, game: Game) -> Any:
    """The value network in a model file: a torch module from observations (n, D) to expected returns (n, 1).

    Raises:
        ValueError: the file is missing or damaged, or was made for another game, player count or observation.
    """
    made_for, weights = read_model(Path(path))
    check_fits(made_for, game, str(path))
    try:
        import torch  # noqa: F401
    except ImportError:
        raise ValueError("a value network needs torch: pip install 'llama-envs[train]'.") from None
    try:
        network = actor(game.observation.size, 1, made_for["net_arch"]["vf"])
        network.load_state_dict(critic_weights(load_state_dict(weights)))
    except Exception as error:  # a damaged file can make torch raise anything
        first_line = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ValueError(f"the weights in {path} are damaged ({first_line}).") from None
    return network


def build_value(game: Game, budget: Budget, path: str) -> ValuePolicy:
    """``mc:W:ppo=PATH``."""
    if not path:
        raise ValueError("a value network is written mc:W:ppo=PATH, with the path of a model file.")
    return ValuePolicy(game, budget, load_critic(path, game), named_policy(game, "", "mc:W:ppo=PATH"))
