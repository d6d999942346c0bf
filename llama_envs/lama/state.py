"""The whole state of a game of L.L.A.M.A. as one record; a batch is an array of them.

``S`` is the largest number of seats and ``R`` of ranks: one record type, and so one compiled kernel, for every
configuration. ``Batch.state`` shows the seats that exist.
"""

from __future__ import annotations

import numpy as np

from llama_envs.core.observation import offsets_dtype
from llama_envs.lama.config import MAX_PLAYERS as S
from llama_envs.lama.config import MAX_RANKS as R

NOTHING, STARTER, DEAL, DRAW = 0, 1, 2, 3  # chance events
TURN, RETURN, EXCHANGE = 0, 1, 2  # phases: what the seat to move decides on
UNDECIDED, TO_BLACK, TO_WHITE = 0, 1, 2  # direction of a seat's exchange in this collection

STATE = np.dtype(
    [
        ("reward", np.float32, (S,)),  # paid by the last decision and the chance it triggered
        ("white", np.int16, (S,)),  # white chips, 1 penalty point each
        ("black", np.int16, (S,)),  # black chips, 10 each
        ("total", np.int16, (S,)),  # penalty points: white + 10 black
        ("change", np.int16, (S,)),  # change of the total in the round being scored
        ("rounds", np.int32),  # finished rounds
        ("hand", np.int8, (S, R)),  # cards of each rank that a seat holds; the last rank is the llama
        ("played", np.int8, (S, R)),  # cards of each rank that a seat played in this round
        ("drew_on", np.int8, (S, R)),  # how often a seat drew while this rank was on top, in this round
        ("hand_size", np.int8, (S,)),  # cards in hand
        ("active", np.int8, (S,)),  # 1 while the seat has not quit the round
        ("stock", np.int8, (R,)),  # cards of each rank in the face-down stock
        ("discard", np.int8, (R,)),  # cards of each rank in the discard pile
        ("stock_size", np.int8),  # cards in the stock
        ("top", np.int8),  # rank of the top discard; -1 during the deal
        ("to_move", np.int8),  # seat that must act; -1 when chance is due or the game is over
        ("chance", np.int8),  # pending chance event: NOTHING, STARTER, DEAL or DRAW
        ("phase", np.int8),  # TURN, RETURN or EXCHANGE
        ("num_active", np.int8),  # seats that have not quit the round
        ("starter", np.int8),  # seat that opened the round
        ("last_actor", np.int8),  # seat that took the last turn
        ("dealing", np.int8),  # seat that gets the next card of the deal; num_players: the first discard
        ("asked", np.int8),  # seats already asked for an exchange, counted from the starter
        ("direction", np.int8),  # UNDECIDED, TO_BLACK or TO_WHITE for the seat being asked
        ("terminated", np.bool_),  # the game is over (L16)
        ("truncated", np.bool_),  # the round limit was reached first (L18)
    ],
    align=True,
)
SEAT_FIELDS = ("reward", "white", "black", "total", "change", "hand", "played", "drew_on", "hand_size", "active")

OFFSETS = offsets_dtype(
    "phase", "hand", "holds", "top", "discard", "played", "drew_on", "hand_size", "active", "white", "black", "total",
    "starter", "last_actor", "stock", "rounds",
)  # fmt: skip

PARAMS = np.dtype(
    [
        ("num_players", np.int64),
        ("num_ranks", np.int64),
        ("copies", np.int64),
        ("cards_each", np.int64),  # hand size at the deal
        ("first_player", np.int64),  # -1: random
        ("rotate", np.int64),  # 1: the opening seat rotates; 0: the last actor opens
        ("ask_return", np.int64),
        ("ask_exchange", np.int64),
        ("target_score", np.int64),
        ("max_rounds", np.int64),  # 0: no limit
        ("single_round", np.int64),  # 1: the limit of one round is a natural end
        ("reward", np.int64),  # WIN, SCORE or RANK
        ("num_actions", np.int64),
        ("history", np.int64),  # events that the observation ends with
        ("history_at", np.int64),  # where they begin in it
        ("at", OFFSETS),  # where each slice of the observation begins
        # what the observation multiplies by: 1 / the scale of each slice
        ("per_copy", np.float32),
        ("per_hand_card", np.float32),
        ("per_stock", np.float32),
        ("per_white", np.float32),
        ("per_black", np.float32),
        ("per_point", np.float32),
        ("per_round", np.float32),
    ]
)
