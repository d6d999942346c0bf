"""L.L.A.M.A. by a rule of thumb: the same rank first, else the next; when stuck, quit if cheap, else draw."""

from __future__ import annotations

import numpy as np

from llama_envs.core.compile import kernel
from llama_envs.core.contract import Floats, Integers, Mask, Params, PolicyKernel, State, Streams
from llama_envs.lama.rules import (
    BLACK_CHIP,
    DRAW_CARD,
    KEEP,
    QUIT,
    RETURN_BLACK,
    RETURN_WHITE,
    WHITE_TO_BLACK,
    next_rank,
    penalty,
)
from llama_envs.lama.state import RETURN, TO_WHITE, TURN

DEFAULT_THRESHOLD = 5


@kernel
def choose(
    state: State, params: Params, seat: int, mask: Mask, options: Floats, memory: Integers, streams: Streams, i: int
) -> int:
    """The action of ``seat``; ``options[0]`` is the largest penalty at which a stuck seat quits."""
    after_ranks = params.num_ranks
    if state.phase == TURN:
        same = state.top
        higher = next_rank(params, same)
        if state.hand[seat, same] > 0:
            return int(same)
        if state.hand[seat, higher] > 0:
            return int(higher)
        can_draw = state.stock_size > 0 and state.num_active > 1
        if can_draw and penalty(state, params, seat) > options[0]:
            return after_ranks + DRAW_CARD
        return after_ranks + QUIT
    if state.phase == RETURN:
        return after_ranks + (RETURN_BLACK if state.black[seat] > 0 else RETURN_WHITE)
    if state.direction != TO_WHITE and state.white[seat] >= BLACK_CHIP:
        return after_ranks + WHITE_TO_BLACK
    return after_ranks + KEEP


def heuristic(argument: str) -> PolicyKernel:
    """``heuristic`` or ``heuristic:T``: a stuck seat quits at a penalty of T (default 5) or less."""
    try:
        threshold = int(argument) if argument else DEFAULT_THRESHOLD
        if not 0 <= threshold <= 31:
            raise ValueError
    except ValueError:
        raise ValueError(f"the threshold in 'heuristic:T' must be an integer from 0 to 31, got {argument!r}.") from None
    return PolicyKernel(choose, np.array([threshold], np.float64))
