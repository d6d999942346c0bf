"""A game in extensive form: one move at a time, chance included; for solvers and their libraries."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from llama_envs.core.compile import kernel
from llama_envs.core.contract import Kernel, Params, Rules, Vector

START, OBSERVE = -1, -2  # instead of an action: begin the game, or take the record as it is
CHANCE, OVER = -1, -4  # instead of the seat to move


@functools.cache
def compile_move(rules: Rules) -> Kernel:
    """``move(states, params, action, num_actions, choices, observation) -> who``, on the record ``states[0]``.

    ``action`` is one of the seat to move, an outcome of the pending chance event, START or OBSERVE. Written are
    ``choices`` (float64): the probability of each outcome where chance is to move, else 1 for each legal action; and,
    unless chance is to move, ``observation`` (P, D) of every seat.
    """
    start_game, legal_actions, apply = rules.start_game, rules.legal_actions, rules.apply
    chance_outcomes, apply_chance, observe = rules.chance_outcomes, rules.apply_chance, rules.observe

    @kernel(allocates=True)
    def move(states: Any, all_params: Params, action: int, num_actions: int, choices: Vector, observation: Any) -> int:
        state = states[0]
        params = all_params[0]
        if action == START:
            start_game(state, params)
        elif action >= 0 and state.chance != 0:
            apply_chance(state, params, action)
        elif action >= 0:
            apply(state, params, action)
        choices[:] = 0.0
        if state.chance != 0:
            chance_outcomes(state, params, choices)
            return CHANCE
        for seat in range(len(observation)):
            observe(state, params, seat, observation[seat])
        if state.to_move < 0:
            return OVER
        mask = np.zeros(num_actions, np.bool_)
        legal_actions(state, params, state.to_move, mask)
        for k in range(num_actions):
            choices[k] = mask[k]
        return int(state.to_move)

    return move
