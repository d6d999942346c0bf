"""The whole state of a game of Llama Llama as one record; a batch is an array of them.

``S`` is the largest number of seats and ``K`` of kinds of cards: one record type, and so one compiled kernel, for every
deck and configuration. There are always four hands, displays and goals: hands 0 .. n-1 are the players', n .. 3 are
dummies. ``Batch.state`` shows the seats that exist.
"""

from __future__ import annotations

import numpy as np

from llama_envs.core.observation import offsets_dtype
from llama_envs.llama_llama.config import DISPLAYS, HANDS, MAX_COMBINATIONS, MAX_PASSED
from llama_envs.llama_llama.config import MAX_KINDS as K
from llama_envs.llama_llama.config import MAX_PLAYERS as S
from llama_envs.llama_llama.deck import LETTERS

NOTHING, DUMMY_SEAT, DEAL, DUMMY_GOAL, PLACE, DUMMY_DRAW = 0, 1, 2, 3, 4, 5  # chance events
GOALS = 0  # the phase in which goals are chosen; phases 1 to 4 are the passes

STATE = np.dtype(
    [
        ("reward", np.float32, (S,)),  # paid by the last decision and the chance it triggered
        ("total", np.int32, (S,)),  # points of all scored rounds
        ("round_score", np.int32, (S,)),  # points of the round scored last
        ("rounds", np.int16),  # scored rounds
        ("hand", np.int8, (HANDS, K)),  # cards of each kind in each hand; a picked card stays until all have picked
        ("stock", np.int8, (K,)),  # cards of each kind not dealt (yet)
        ("passed", np.int8, (S, MAX_PASSED)),  # kinds a seat picked in this round, pass by pass; -1: none yet
        ("received", np.int8, (S, MAX_PASSED)),  # kinds a seat received in this round, pass by pass; -1: none yet
        ("goal", np.int8, (HANDS,)),  # kind of the goal that each hand gave; -1: none yet
        ("owner", np.int8, (DISPLAYS,)),  # hand whose goal lies on each display; -1: none yet
        ("may_own", np.int8, (DISPLAYS,)),  # bit h is set where the goal of hand h may come to lie in this round
        ("left", np.int8, (S,)),  # hand at the left of each seat: a seat or a dummy; -1: not known yet
        ("to_move", np.int8),  # seat that must act; -1 when chance is due or the game is over
        ("chance", np.int8),  # pending chance event: NOTHING, DUMMY_SEAT, DEAL, DUMMY_GOAL, PLACE or DUMMY_DRAW
        ("phase", np.int8),  # GOALS, or the number of the pass, 1 to 4, which is also the number of revealed goals
        ("cycle", np.int8),  # cards that every seat has picked in this pass
        ("dealt", np.int8),  # cards dealt so far in this round
        ("pending", np.int8),  # DUMMY_GOAL: the dummy; PLACE: the display; DUMMY_DRAW: the seat at the dummy's right
        ("drawn", np.int8),  # DUMMY_DRAW: cards drawn so far from that dummy in this pass
        ("terminated", np.bool_),  # the game is over (P18)
        ("truncated", np.bool_),  # always False: a game has no other end
    ],
    align=True,
)
SEAT_FIELDS = ("reward", "total", "round_score", "passed", "received", "left")

OFFSETS = offsets_dtype(
    "phase", "goal", "revealed", "hand", "picked", "passed", "received", "may_own", "dummy_left", "total",
    "round_score", "pass_count", "rounds",
)  # fmt: skip

PARAMS = np.dtype(
    [
        ("num_players", np.int64),
        ("num_kinds", np.int64),
        ("deck_size", np.int64),
        ("hand_size", np.int64),  # cards dealt to each hand
        ("pass_counts", np.int64, (DISPLAYS,)),
        ("pass_start", np.int64, (DISPLAYS + 1,)),  # where each pass begins in ``passed`` and ``received``
        ("dummy_display", np.int64, (DISPLAYS,)),  # 1: the display carries the dummy icon
        ("target_score", np.int64),
        ("num_rounds", np.int64),
        ("reward", np.int64),  # WIN, SCORE or RANK
        ("history", np.int64),  # events that the observation ends with
        ("history_at", np.int64),  # where they begin in it
        ("at", OFFSETS),  # where each slice of the observation begins
        ("per_card", np.float64),  # 1 / hand_size
        ("per_point", np.float64),  # 1 / target_score
        ("deck", np.int64, (K,)),  # copies of each kind
        ("letter", np.int64, (K,)),  # letter of each kind, A = 0
        ("first_combination", np.int64, (K + 1,)),  # a kind pays for the combinations from its first to the next kind's
        ("points", np.int64, (MAX_COMBINATIONS,)),  # for each copy of a combination
        ("need", np.int64, (MAX_COMBINATIONS, len(LETTERS))),  # cards of each letter in a combination
    ]
)
