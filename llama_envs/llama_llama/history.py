"""The last public events of Llama Llama, for a configuration with ``history`` above 0, the latest first.

An event is a scored round: the four goals and the points of every seat. Nothing else is laid open in a round that the
observation forgets, for the rules do not say that hands are shown.
"""

from __future__ import annotations

import numpy as np

from llama_envs.core.compile import kernel
from llama_envs.core.contract import Params, State, Vector
from llama_envs.core.history import where_kept, with_events
from llama_envs.core.observation import Slice
from llama_envs.llama_llama.config import DISPLAYS, LlamaLlamaConfig
from llama_envs.llama_llama.config import MAX_HISTORY as H
from llama_envs.llama_llama.config import MAX_PLAYERS as S
from llama_envs.llama_llama.state import STATE

NONE = -1

STATE_WITH_EVENTS = with_events(
    STATE,
    ("event_goal", np.int8, (H, DISPLAYS)),  # kind of the goal on each display; -1: no event yet
    ("event_score", np.int32, (H, S)),  # points of each seat in that round
)


def slices_of_events(config: LlamaLlamaConfig) -> list[Slice]:
    """What the observation ends with, where ``history`` is K > 0; each has a row for each event, the latest first."""
    k, n, kinds = config.history, config.num_players, config.cards.num_kinds
    if k == 0:
        return []
    return [
        Slice("event_goal", (k, DISPLAYS, kinds), 1, "one-hot: the goal on each display (none: no such round yet)"),
        Slice("event_score", (k, n), config.target_score, "points of each seat in that round (at most the target)"),
    ]


@where_kept("event_goal")
def forget_events(state: State) -> None:
    """A new game has none."""
    for event in range(H):
        for display in range(DISPLAYS):
            state.event_goal[event, display] = NONE


@where_kept("event_goal")
def remember_round(state: State, params: Params) -> None:
    """The round has been scored (P10)."""
    for event in range(params.history - 1, 0, -1):
        copy_event(state, event - 1, event)
    for display in range(DISPLAYS):
        state.event_goal[0, display] = state.goal[state.owner[display]]
    for seat in range(S):
        state.event_score[0, seat] = state.round_score[seat]


@kernel
def copy_event(state: State, source: int, target: int) -> None:
    """An event moves back."""
    for display in range(DISPLAYS):
        state.event_goal[target, display] = state.event_goal[source, display]
    for seat in range(S):
        state.event_score[target, seat] = state.event_score[source, seat]


@where_kept("event_goal")
def observe_events(state: State, params: Params, seat: int, out: Vector) -> None:
    """Write the slices, seats ego-centric; they are zeros so far."""
    n, kinds = params.num_players, params.num_kinds
    scores = params.history_at + params.history * DISPLAYS * kinds
    for event in range(params.history):
        if state.event_goal[event, 0] == NONE:
            return
        for display in range(DISPLAYS):
            row = params.history_at + (event * DISPLAYS + display) * kinds
            out[row + state.event_goal[event, display]] = 1.0
        for other in range(n):
            points = state.event_score[event, other] * params.per_point
            out[scores + event * n + (other - seat) % n] = min(points, 1.0)
