"""The configurations of L.L.A.M.A. that the generic tests play."""

from __future__ import annotations

from typing import Any

CONFIGS: tuple[dict[str, Any], ...] = (
    {"num_players": 2},
    {"num_players": 3, "chip_exchange": "choice", "reward": "score"},
    {"num_players": 4},
    {"num_players": 5, "reward": "rank", "next_starter": "rotate", "max_rounds": 3},
    {"num_players": 6, "chip_return": "auto", "target_score": 20},
    {"num_players": 2, "num_ranks": 2, "copies": 3, "hand_size": 2, "target_score": 25},
)
TRUNCATING: dict[str, Any] | None = {"num_players": 3, "max_rounds": 1}  # a limit cuts its episodes short
SHORT: dict[str, Any] = {"target_score": 10}  # games of a few decisions
PAID_EARLY = {"num_players": 3, "hand_size": 1, "reward": "score"}  # rounds often end before everybody had a turn
CHANGED_RULE = ("LLAMA_PENALTY = 10\n", "LLAMA_PENALTY = 20\n")  # a constant in rules.py, and another one for it
OTHER_RULES: list[tuple[str, dict[str, Any]]] = [  # other rules, by this field, of the same observations and actions
    ("next_starter", {"next_starter": "rotate"}),
    ("first_player", {"first_player": 1}),
    ("max_rounds", {"max_rounds": 10}),
]
POINTS_PER_REWARD = 10  # of the reward "score"
COUNTS = (2, 3, 6)  # numbers of players in the compatibility table
EVERY_SEAT_ACTS: dict[str, Any] = {"first_player": 0}  # no game ends before somebody was asked

GOLDENS: list[tuple[dict[str, Any], int]] = [
    *(({"num_players": n}, n) for n in range(2, 7)),
    ({"num_players": 4}, 2**64 - 1),
    ({"num_players": 2, "reward": "score", "chip_return": "auto"}, 11),
    ({"num_players": 3, "chip_exchange": "choice", "target_score": 60, "reward": "rank"}, 12),
    ({"num_players": 5, "next_starter": "rotate", "first_player": 3, "max_rounds": 2, "reward": "score"}, 13),
    ({"num_players": 6, "max_rounds": 1, "single_round_terminates": True, "chip_exchange": "choice"}, 14),
    ({"num_players": 2, "num_ranks": 2, "copies": 3, "hand_size": 2, "chip_exchange": "choice"}, 15),
    ({"num_players": 3, "num_ranks": 4, "copies": 3, "hand_size": 2, "target_score": 25}, 16),
    ({"num_players": 4, "num_ranks": 7, "copies": 16, "hand_size": 12, "chip_exchange": "choice"}, 17),
]
EVERY_ACTION: dict[str, Any] = {"chip_exchange": "choice"}  # whose actions the goldens hold, all of them

TRACED: tuple[int, list[dict[str, Any]]] = (  # games of each configuration that are compared from beginning to end
    4,
    [
        *({"num_players": n} for n in range(2, 7)),
        {"num_players": 2, "chip_exchange": "choice", "reward": "score", "target_score": 90},
        {"num_players": 3, "chip_return": "auto", "next_starter": "rotate", "reward": "rank", "first_player": 2},
        {"num_players": 4, "chip_exchange": "choice", "num_ranks": 4, "copies": 3, "hand_size": 2, "max_rounds": 3},
        {"num_players": 5, "max_rounds": 1, "single_round_terminates": True},
        {"num_players": 6, "num_ranks": 7, "copies": 16, "hand_size": 18, "reward": "score", "max_rounds": 1},
    ],
)

BASELINES: dict[int, float] = {2: 0.56, 3: 1 / 3, 4: 0.33, 6: 1 / 6}  # players -> less than its win share of heuristics
BASELINE_DEALS = 1000
