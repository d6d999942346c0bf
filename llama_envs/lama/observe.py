"""What one seat of L.L.A.M.A. knows and could remember, as one vector in [0, 1] (README.md has the table).

``layout`` and ``observe`` list the same pieces in the same order; seats are ego-centric: own first, then to the left.
"""

from __future__ import annotations

from llama_envs.core.compile import kernel
from llama_envs.core.observation import Observation, Slice
from llama_envs.lama.config import LamaConfig

ROUNDS = 10  # scale of the round counter when there is no limit


def layout(config: LamaConfig) -> Observation:
    """The named slices for ``config``."""
    n, ranks = config.num_players, config.num_ranks
    stock = ranks * config.copies - n * config.hand_size - 1
    most = config.hand_size + stock
    return Observation(
        [
            Slice("phase", (3,), 1, "one-hot: a turn, returning a chip, exchanging chips"),
            Slice("hand", (ranks,), config.copies, "own cards of each rank"),
            Slice("holds", (ranks,), 1, "1 for each rank held (what a penalty counts)"),
            Slice("top", (ranks,), 1, "one-hot: the top discard"),
            Slice("discard", (ranks,), config.copies, "cards of each rank in the discard pile"),
            Slice("played", (n, ranks), config.copies, "cards of each rank that each seat played in this round"),
            Slice(
                "drew_on", (n, ranks), config.copies, "how often each seat drew on each top rank (at most the copies)"
            ),
            Slice("hand_size", (n,), most, "cards in each seat's hand, quitters included"),
            Slice("active", (n,), 1, "1 while the seat has not quit the round"),
            Slice("stock", (1,), max(stock, 1), "cards in the stock"),
            Slice("white", (n,), 10, "white chips of each seat (at most 10)"),
            Slice("black", (n,), 4, "black chips of each seat (at most 4)"),
            Slice("total", (n,), config.target_score, "penalty points of each seat (at most the target)"),
            Slice("starter", (n,), 1, "one-hot: the seat that opened the round"),
            Slice("last_actor", (n,), 1, "one-hot: the seat that took the last turn"),
            Slice("rounds", (1,), config.max_rounds or ROUNDS, "finished rounds (at most the scale)"),
        ]
    )


@kernel
def observe(state, params, seat, out):
    """Write the observation of ``seat`` to ``out`` (float32, the size of the layout)."""
    n = params.num_players
    ranks = params.num_ranks
    per_copy = 1.0 / params.copies
    for phase in range(3):
        out[phase] = state.phase == phase
    k = 3
    for rank in range(ranks):
        held = state.hand[seat, rank]
        out[k + rank] = held * per_copy
        out[k + ranks + rank] = held > 0
        out[k + 2 * ranks + rank] = state.top == rank
        out[k + 3 * ranks + rank] = state.discard[rank] * per_copy
    k += 4 * ranks
    drew = k + n * ranks
    counts = drew + n * ranks
    chips = counts + 2 * n + 1
    last = chips + 5 * n
    out[counts + 2 * n] = state.stock_size / max(params.first_stock, 1)
    out[last] = min(state.rounds / params.round_scale, 1.0)
    for ahead in range(n):
        other = seat + ahead
        if other >= n:
            other -= n
        for rank in range(ranks):
            out[k + rank] = state.played[other, rank] * per_copy
            out[drew + rank] = min(state.drew_on[other, rank] * per_copy, 1.0)
        k += ranks
        drew += ranks
        out[counts + ahead] = state.hand_size[other] / params.largest_hand
        out[counts + n + ahead] = state.active[other]
        out[chips + ahead] = min(state.white[other] * 0.1, 1.0)
        out[chips + n + ahead] = min(state.black[other] * 0.25, 1.0)
        out[chips + 2 * n + ahead] = min(state.total[other] / params.target_score, 1.0)
        out[chips + 3 * n + ahead] = state.starter == other
        out[chips + 4 * n + ahead] = state.last_actor == other
