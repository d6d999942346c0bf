"""What one seat of Llama Llama knows and could remember, as one vector in [0, 1] (README.md has the table).

``layout`` says where each piece lies, and ``observe`` writes it there; seats are ego-centric: own first, then to the
left.
"""

from __future__ import annotations

import numpy as np

from llama_envs.core.compile import kernel
from llama_envs.core.contract import Params, State, Vector
from llama_envs.core.observation import Observation, Slice
from llama_envs.llama_llama.config import DISPLAYS, LlamaLlamaConfig
from llama_envs.llama_llama.history import observe_events, slices_of_events
from llama_envs.llama_llama.state import GOALS

ONE = np.float32(1.0)
OWN, NEXT = np.uint64(0), np.uint64(1)  # steps between seats


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
            *slices_of_events(config),
        ]
    )


@kernel
def observe(state: State, params: Params, seat: int, out: Vector) -> None:
    """Write the observation of ``seat`` to ``out`` (float32, the size of the layout)."""
    n = params.num_players
    at = params.at
    phase = state.phase
    for k in range(len(out)):
        out[k] = 0.0
    out[at.phase + np.uint64(phase)] = 1.0
    if state.goal[seat] >= 0:
        out[at.goal + np.uint64(state.goal[seat])] = 1.0
    for display in range(phase):
        goal = state.goal[state.owner[display]]
        out[at.revealed + np.uint64(display * params.num_kinds + goal)] = 1.0
    count_cards(state, params, seat, out)
    owners = np.uint64(n) + NEXT  # that a display is told of: the seats, and the dummies together
    for display in range(DISPLAYS):
        out[at.may_own + np.uint64(display) * owners + np.uint64(n)] = state.may_own[display] >= 1 << n
    may_own, dummy_left, total, round_score = at.may_own, at.dummy_left, at.total, at.round_score
    ahead = np.uint64(n - seat)
    for other in range(n):  # ``ahead`` is how far to the left of ``seat`` it sits
        if other == seat:
            ahead = OWN
        for display in range(DISPLAYS):
            out[may_own + np.uint64(display) * owners + ahead] = (state.may_own[display] >> other) & 1
        out[dummy_left + ahead] = state.left[other] >= n
        out[total + ahead] = min(state.total[other] * params.per_point, 1.0)
        out[round_score + ahead] = min(state.round_score[other] * params.per_point, 1.0)
        ahead += NEXT
    if phase != GOALS:
        out[at.pass_count] = params.pass_counts[phase - 1] / params.hand_size
    out[at.rounds] = state.rounds / params.num_rounds
    observe_events(state, params, seat, out)


@kernel
def count_cards(state: State, params: Params, seat: int, out: Vector) -> None:
    """Own cards by kind, as parts of a full hand: held, picked, passed and received in each pass."""
    kinds = params.num_kinds
    hand, picked, passed, received = params.at.hand, params.at.picked, params.at.passed, params.at.received
    for kind in range(kinds):
        out[hand + np.uint64(kind)] = state.hand[seat, kind] * params.per_card
    if state.phase == GOALS:
        return
    now = state.phase - 1
    start = params.pass_start[now]
    if state.to_move >= 0:
        for place in range(start, start + state.cycle + int(seat < state.to_move)):
            out[picked + np.uint64(state.passed[seat, place])] += ONE
    finished = now + int(state.terminated)
    for display in range(finished):
        row = np.uint64(display * kinds)
        for place in range(params.pass_start[display], params.pass_start[display + 1]):
            out[passed + row + np.uint64(state.passed[seat, place])] += ONE
            out[received + row + np.uint64(state.received[seat, place])] += ONE
    share_of_hand(params, out, picked, kinds)
    share_of_hand(params, out, passed, finished * kinds)
    share_of_hand(params, out, received, finished * kinds)


@kernel
def share_of_hand(params: Params, out: Vector, start: np.uint64, size: int) -> None:
    """Turn numbers of cards into parts of a full hand."""
    for k in range(size):
        out[start + np.uint64(k)] *= params.per_card
