"""The last public events of L.L.A.M.A., for a configuration with ``history`` above 0, the latest first.

An event is a decision (who, what, on which top discard) or a hand laid open at scoring (whose, which cards).
"""

from __future__ import annotations

import numpy as np

from llama_envs.core.compile import kernel
from llama_envs.core.contract import Params, State, Vector
from llama_envs.core.history import where_kept, with_events
from llama_envs.core.observation import Slice
from llama_envs.lama.config import MAX_HISTORY as H
from llama_envs.lama.config import MAX_RANKS as R
from llama_envs.lama.config import LamaConfig
from llama_envs.lama.state import STATE

NONE = -1

STATE_WITH_EVENTS = with_events(
    STATE,
    ("event_seat", np.int8, (H,)),  # who decided, or whose hand it is; -1: no event yet
    ("event_action", np.int8, (H,)),  # the decision; -1: a hand
    ("event_top", np.int8, (H,)),  # rank of the top discard before the decision; -1: a hand
    ("event_hand", np.int8, (H, R)),  # cards of each rank in the hand; zeros: a decision
)


def slices_of_events(config: LamaConfig, num_actions: int) -> list[Slice]:
    """What the observation ends with, where ``history`` is K > 0; each has a row for each event, the latest first."""
    k, n = config.history, config.num_players
    if k == 0:
        return []
    return [
        Slice("event_seat", (k, n), 1, "one-hot: who decided or whose hand was laid open (none: no event yet)"),
        Slice("event_action", (k, num_actions), 1, "one-hot: the decision (none: a hand)"),
        Slice("event_top", (k, R), 1, "one-hot: the top discard before the decision"),
        Slice("event_hand", (k, R), config.copies, "cards of each rank in a hand laid open at scoring"),
    ]


@where_kept("event_seat")
def forget_events(state: State) -> None:
    """A new game has none."""
    for event in range(H):
        state.event_seat[event] = NONE


@kernel
def add_event(state: State, params: Params, seat: int, action: int, top: int) -> None:
    """The events move back by one; the latest is a decision, or a hand that is yet empty."""
    for event in range(params.history - 1, 0, -1):
        state.event_seat[event] = state.event_seat[event - 1]
        state.event_action[event] = state.event_action[event - 1]
        state.event_top[event] = state.event_top[event - 1]
        for rank in range(R):
            state.event_hand[event, rank] = state.event_hand[event - 1, rank]
    state.event_seat[0] = seat
    state.event_action[0] = action
    state.event_top[0] = top
    for rank in range(R):
        state.event_hand[0, rank] = 0


@where_kept("event_seat")
def remember_decision(state: State, params: Params, seat: int, action: int) -> None:
    """The seat to move is about to take ``action``."""
    add_event(state, params, seat, action, state.top)


@where_kept("event_seat")
def remember_hands(state: State, params: Params) -> None:
    """All hands are laid open for scoring (L13)."""
    for seat in range(params.num_players):
        add_event(state, params, seat, NONE, NONE)
        for rank in range(R):
            state.event_hand[0, rank] = state.hand[seat, rank]


@where_kept("event_seat")
def observe_events(state: State, params: Params, seat: int, out: Vector) -> None:
    """Write the slices, seats ego-centric."""
    n, k, actions = params.num_players, params.history, params.num_actions
    seats = params.history_at
    choices = seats + k * n
    tops = choices + k * actions
    hands = tops + k * R
    out[seats:] = 0.0
    for event in range(k):
        if state.event_seat[event] == NONE:
            return
        out[seats + event * n + (state.event_seat[event] - seat) % n] = 1.0
        if state.event_action[event] != NONE:
            out[choices + event * actions + state.event_action[event]] = 1.0
            out[tops + event * R + state.event_top[event]] = 1.0
        for rank in range(R):
            out[hands + event * R + rank] = np.float32(state.event_hand[event, rank]) * params.per_copy
