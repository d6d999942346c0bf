"""The configurations of Llama Llama that the generic tests play."""

from __future__ import annotations

from typing import Any

CONFIGS: tuple[dict[str, Any], ...] = (
    {"num_players": 2},
    {"num_players": 3, "reward": "score"},
    {"num_players": 4, "reward": "rank", "target_score": 60},
)
TRUNCATING: dict[str, Any] | None = None  # every game ends by itself
SHORT: dict[str, Any] = {"num_rounds": 1, "pass_counts": (2, 1, 1, 1)}  # games of a few decisions
OTHER_RULES: dict[str, Any] = {"pass_counts": (4, 3, 1, 2)}  # the same observation and actions

GOLDENS: list[tuple[dict[str, Any], int]] = [
    *(({"num_players": n}, n) for n in (2, 3, 4)),
    ({"num_players": 4, "reward": "score", "num_rounds": 2}, 2**64 - 1),
    ({"num_players": 3, "reward": "rank", "target_score": 60}, 11),
    ({"num_players": 2, "dummy_displays": [1, 2], "pass_counts": [1, 2, 3, 4]}, 12),
    ({"num_players": 3, "dummy_displays": [2], "num_rounds": 6, "target_score": 200}, 13),
]
EVERY_ACTION: dict[str, Any] = {}  # whose actions the goldens hold, all of them
