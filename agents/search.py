"""``mc:W`` and ``mc:W:ROLLOUT``: flat Monte Carlo over worlds that the seat considers possible.

For every legal action, in each of W resampled worlds (the same worlds and luck for all actions), the action is taken
and all seats play on by a scripted policy to the end of the round. The action with the best mean result is chosen;
a result is the seat's change in total against the mean of the others' (Sheppard 2002 calls such worlds and rollouts
"selective sampling"; the true state is never looked at).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from llama_envs.core.chance import draw_true
from llama_envs.core.compile import kernel
from llama_envs.core.game import Game, Kernel
from llama_envs.core.policy import Actions, Policy, ScriptedPolicy, View, make_policy, register_policy

MOST_WORLDS = 1_000_000


class MonteCarloPolicy:
    """Flat Monte Carlo.

    Args:
        game: what is played.
        worlds: resampled worlds for each decision.
        rollout: the scripted policy that plays on in them; None plays uniformly at random.
    """

    needs_worlds = True

    def __init__(self, game: Game, worlds: int, rollout: ScriptedPolicy | None) -> None:
        self.worlds = worlds
        self.rollout = rollout
        self._options = np.zeros(0) if rollout is None else rollout.options
        self._evaluate = compile_evaluate(game, None if rollout is None else rollout.choose)
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
        self._evaluate(
            start, spare, game.records(game.params), view.seat, view.mask, view.streams, self._options,
            self.worlds, self._sign, values,
        )  # fmt: skip
        return values / self.worlds


_EVALUATE: dict[tuple[Any, ...], Kernel] = {}


def compile_evaluate(game: Game, choose: Kernel | None) -> Kernel:
    """The kernel that adds up the results of all legal actions in sampled worlds, for a game and a rollout."""
    key = (game.rules, choose)
    if key not in _EVALUATE:
        _EVALUATE[key] = _evaluate_kernel(game, _uniform(game) if choose is None else _scripted(choose))
    return _EVALUATE[key]


def _scripted(choose: Kernel) -> Kernel:
    @kernel
    def pick(state, params, mask, options, luck):
        return choose(state, params, state.to_move, options)

    return pick


def _uniform(game: Game) -> Kernel:
    legal_actions = game.rules.legal_actions

    @kernel
    def pick(state, params, mask, options, luck):
        legal_actions(state, params, state.to_move, mask)
        return draw_true(mask, luck, 0)

    return pick


def _evaluate_kernel(game: Game, pick: Kernel) -> Kernel:
    rules = game.rules
    apply, resample_hidden = rules.apply, rules.resample_hidden
    sample_chance, apply_chance = rules.sample_chance, rules.apply_chance

    @kernel
    def finish_round(state, params, mask, options, luck, rounds):
        """Play on until the round of the first decision is scored."""
        while state.rounds == rounds:
            if state.chance != 0:
                apply_chance(state, params, sample_chance(state, params, luck, 0))
            else:
                apply(state, params, pick(state, params, mask, options, luck))

    @kernel
    def result(before, after, params, seat, sign):
        """Change of the seat's total against the mean of the others'."""
        own = 0.0
        others = 0.0
        for other in range(params.num_players):
            change = float(int(after.total[other]) - int(before.total[other]))
            if other == seat:
                own = change
            else:
                others += change
        return sign * (own - others / (params.num_players - 1))

    @kernel(allocates=True)
    def evaluate(states, spare, all_params, seats, masks, streams, options, worlds, sign, values):
        """Add to ``values[i, a]`` the results of action a for ``seats[i]`` in ``worlds`` worlds of game i."""
        params = all_params[0]
        luck = np.zeros(1, np.uint64)
        mask = np.zeros(masks.shape[1], np.bool_)
        for i in range(len(states)):
            for _ in range(worlds):
                spare[0] = states[i]
                resample_hidden(spare[0], params, seats[i], streams, i)
                future = streams[i]
                for action in range(masks.shape[1]):
                    if masks[i, action]:
                        spare[1] = spare[0]
                        luck[0] = future
                        apply(spare[1], params, action)
                        finish_round(spare[1], params, mask, options, luck, states[i].rounds)
                        values[i, action] += result(states[i], spare[1], params, seats[i], sign)

    return evaluate


def build(game: Game, argument: str) -> Policy:
    """``mc:W`` with the heuristic as rollout, or ``mc:W:ROLLOUT`` with ``random`` or any scripted policy."""
    number, _, name = argument.partition(":")
    try:
        worlds = int(number)
        if not 1 <= worlds <= MOST_WORLDS:
            raise ValueError
    except ValueError:
        raise ValueError(
            f"the worlds in 'mc:W' or 'mc:W:ROLLOUT' must be an integer from 1 to {MOST_WORLDS}, got {number!r}."
        ) from None
    if name == "random":
        return MonteCarloPolicy(game, worlds, None)
    rollout = make_policy(name or "heuristic", game)
    if not isinstance(rollout, ScriptedPolicy):
        raise ValueError(f"the rollout in 'mc:W:ROLLOUT' must be random or a scripted policy, got {name!r}.")
    return MonteCarloPolicy(game, worlds, rollout)


def register() -> None:
    """Register ``mc``."""
    register_policy("mc", build, "mc:W[:ROLLOUT]")
