"""What one seat of L.L.A.M.A. knows and could remember, as one vector in [0, 1] (README.md has the table).

Ranks take R places whatever the deck; a smaller deck leaves the last ones 0 (its llama is rank ``num_ranks - 1``).
``layout`` says where each piece lies, and ``observe`` writes it there; seats are ego-centric: own first, then to the
left.
"""

from __future__ import annotations

import numpy as np

from llama_envs.core.compile import kernel
from llama_envs.core.contract import Params, State, Vector
from llama_envs.core.observation import Observation, Slice
from llama_envs.core.rows import put_row
from llama_envs.lama.config import MAX_RANKS as R
from llama_envs.lama.config import LamaConfig
from llama_envs.lama.history import observe_events, slices_of_events

ROUNDS = 10  # scale of the round counter when there is no limit
WORST_HAND = 31
ONE = np.float32(1.0)
OWN, NEXT, ROW = np.uint64(0), np.uint64(1), np.uint64(R)  # steps between seats, and between their rows


def layout(config: LamaConfig, num_actions: int) -> Observation:
    """The named slices for ``config``, which has so many actions."""
    n = config.num_players
    stock = config.num_ranks * config.copies - n * config.hand_size - 1
    most = config.hand_size + stock
    highest = config.target_score - 1 + WORST_HAND  # nobody can have more points when the game ends
    return Observation(
        [
            Slice("phase", (3,), 1, "one-hot: a turn, returning a chip, exchanging chips"),
            Slice("hand", (R,), config.copies, "own cards of each rank"),
            Slice("holds", (R,), 1, "1 for each rank held (what a penalty counts)"),
            Slice("top", (R,), 1, "one-hot: the top discard"),
            Slice("discard", (R,), config.copies, "cards of each rank in the discard pile"),
            Slice("played", (n, R), config.copies, "cards of each rank that each seat played in this round"),
            Slice("drew_on", (n, R), config.copies, "how often each seat drew on each top rank (at most the copies)"),
            Slice("hand_size", (n,), most, "cards in each seat's hand, quitters included"),
            Slice("active", (n,), 1, "1 while the seat has not quit the round"),
            Slice("white", (n,), 10 if config.chip_exchange == "auto" else highest, "white chips of each seat"),
            Slice("black", (n,), highest // 10, "black chips of each seat"),
            Slice("total", (n,), highest, "penalty points of each seat"),
            Slice("starter", (n,), 1, "one-hot: the seat that opened the round"),
            Slice("last_actor", (n,), 1, "one-hot: the seat that took the last turn"),
            Slice("stock", (1,), max(stock, 1), "cards in the stock"),
            Slice("rounds", (1,), config.max_rounds or ROUNDS, "finished rounds (at most the scale)"),
            *slices_of_events(config, num_actions),
        ]
    )


@kernel
def observe(state: State, params: Params, seat: int, out: Vector) -> None:
    """Write the observation of ``seat`` to ``out`` (float32, the size of the layout)."""
    n = params.num_players
    at = params.at
    for phase in range(3):
        out[at.phase + np.uint64(phase)] = state.phase == phase
    put_row(out, at.hand, state.hand, seat, params.per_copy)
    put_row(out, at.holds, state.hand, seat, ONE)
    for rank in range(R):
        out[at.top + np.uint64(rank)] = state.top == rank
        out[at.discard + np.uint64(rank)] = np.float32(state.discard[rank]) * params.per_copy
    out[at.stock] = np.float32(state.stock_size) * params.per_stock
    out[at.rounds] = min(np.float32(state.rounds) * params.per_round, ONE)
    # read once: in the loop they would be read for every seat, as a write to ``out`` might have changed them
    played, drew_on, hand_size, active = at.played, at.drew_on, at.hand_size, at.active
    white, black, total, starter, last_actor = at.white, at.black, at.total, at.starter, at.last_actor
    ahead = np.uint64(n - seat)
    for other in range(n):  # ``ahead`` is how far to the left of ``seat`` it sits
        if other == seat:
            ahead = OWN
        put_row(out, played + ahead * ROW, state.played, other, params.per_copy)
        put_row(out, drew_on + ahead * ROW, state.drew_on, other, params.per_copy)
        out[hand_size + ahead] = np.float32(state.hand_size[other]) * params.per_hand_card
        out[active + ahead] = state.active[other]
        out[white + ahead] = np.float32(state.white[other]) * params.per_white
        out[black + ahead] = np.float32(state.black[other]) * params.per_black
        out[total + ahead] = np.float32(state.total[other]) * params.per_point
        out[starter + ahead] = state.starter == other
        out[last_actor + ahead] = state.last_actor == other
        ahead += NEXT
    observe_events(state, params, seat, out)
