"""What one seat of Llama Llama knows and could remember, as one vector in [0, 1] (README.md has the table).

``layout`` and ``observe`` list the same pieces in the same order; seats come ego-centric, own seat first, then to the
left.
"""

from __future__ import annotations

import numpy as np

from llama_envs.core.compile import kernel
from llama_envs.core.contract import Params, State, Vector
from llama_envs.core.observation import Observation, Slice
from llama_envs.llama_llama.config import DISPLAYS, LlamaLlamaConfig
from llama_envs.llama_llama.state import GOALS

ONE = np.float32(1.0)
HERE, NEXT = np.uint64(0), np.uint64(1)  # unsigned places in a vector need no test for wrapping around


def layout(config: LlamaLlamaConfig) -> Observation:
    """The named slices for ``config``."""
    n, kinds, hand, target = config.num_players, config.cards.num_kinds, config.hand_size, config.target_score
    return Observation(
        [
            Slice("phase", (1 + DISPLAYS,), 1, "one-hot: choosing a goal, then the four passes"),
            Slice("goal", (kinds,), 1, "one-hot: the own goal card (none before it is chosen)"),
            Slice("revealed", (DISPLAYS, kinds), 1, "one-hot: the goal on each display (none while face down)"),
            Slice("hand", (kinds,), hand, "own cards of each kind, those picked in this pass included"),
            Slice("picked", (kinds,), hand, "own cards of each kind picked so far in this pass"),
            Slice("passed", (DISPLAYS, kinds), hand, "cards of each kind passed to the left in each finished pass"),
            Slice("received", (DISPLAYS, kinds), hand, "cards of each kind received in each finished pass"),
            Slice(
                "may_own",
                (DISPLAYS, n + 1),
                1,
                "1 for each seat, and last for the dummies, whose goal may lie on each display by the totals (P6, P7)",
            ),
            Slice("dummy_left", (n,), 1, "1 for each seat with a dummy at its left"),
            Slice("total", (n,), target, "points of each seat (at most the target)"),
            Slice("round_score", (n,), target, "points of each seat in the last scored round (at most the target)"),
            Slice("pass_count", (1,), hand, "cards to pass in this pass (0 while choosing a goal)"),
            Slice("rounds", (1,), config.num_rounds, "scored rounds"),
        ]
    )


@kernel
def observe(state: State, params: Params, seat: int, out: Vector) -> None:
    """Write the observation of ``seat`` to ``out`` (float32, the size of the layout)."""
    n = params.num_players
    kinds = params.num_kinds
    phase = state.phase
    for k in range(len(out)):
        out[k] = 0.0
    out[phase] = 1.0
    k = 1 + DISPLAYS
    if state.goal[seat] >= 0:
        out[k + state.goal[seat]] = 1.0
    k += kinds
    for display in range(phase):
        out[k + state.goal[state.owner[display]]] = 1.0
        k += kinds
    k = 1 + DISPLAYS + (1 + DISPLAYS) * kinds
    count_cards(state, params, seat, out[k : k + (2 + 2 * DISPLAYS) * kinds])
    k += (2 + 2 * DISPLAYS) * kinds
    own = np.uint64(k)
    seats = np.uint64(n)
    for display in range(DISPLAYS):
        out[own + np.uint64(display) * (seats + NEXT) + seats] = state.may_own[display] >= 1 << n
    totals = own + np.uint64(DISPLAYS) * (seats + NEXT)
    ahead = seats - np.uint64(seat)
    for other in range(n):  # in the order of the table; ``ahead`` is how far to the left of ``seat`` it sits
        if other == seat:
            ahead = HERE
        at = own + ahead
        for display in range(DISPLAYS):
            out[at] = (state.may_own[display] >> other) & 1
            at += seats + NEXT
        at = totals + ahead
        out[at] = state.left[other] >= n
        out[at + seats] = min(state.total[other] * params.per_point, 1.0)
        out[at + seats + seats] = min(state.round_score[other] * params.per_point, 1.0)
        ahead += NEXT
    k += DISPLAYS * (n + 1) + 3 * n
    if phase != GOALS:
        out[k] = params.pass_counts[phase - 1] / params.hand_size
    out[k + 1] = state.rounds / params.num_rounds


@kernel
def count_cards(state: State, params: Params, seat: int, out: Vector) -> None:
    """Own cards by kind, as parts of a full hand: held, picked, passed and received in each pass."""
    kinds = params.num_kinds
    for kind in range(kinds):
        out[kind] = state.hand[seat, kind] * params.per_card
    finished = 0
    if state.phase != GOALS:
        now = state.phase - 1
        start = params.pass_start[now]
        if state.to_move >= 0:
            for place in range(start, start + state.cycle + int(seat < state.to_move)):
                out[kinds + state.passed[seat, place]] += ONE
        finished = now
        if state.terminated:
            finished += 1
        for display in range(finished):
            passed = (2 + display) * kinds
            received = passed + DISPLAYS * kinds
            for place in range(params.pass_start[display], params.pass_start[display + 1]):
                out[passed + state.passed[seat, place]] += ONE
                out[received + state.received[seat, place]] += ONE
    share_of_hand(params, out[kinds : (2 + finished) * kinds])
    share_of_hand(params, out[(2 + DISPLAYS) * kinds : (2 + DISPLAYS + finished) * kinds])


@kernel
def share_of_hand(params: Params, out: Vector) -> None:
    """Turn numbers of cards into parts of a full hand."""
    for k in range(len(out)):
        out[k] *= params.per_card
