"""The configurations of Llama Llama that the generic tests play."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from llama_envs.llama_llama.deck import Combination, Deck, load_deck

CONFIGS: tuple[dict[str, Any], ...] = (
    {"num_players": 2},
    {"num_players": 3, "reward": "score"},
    {"num_players": 4, "reward": "rank", "target_score": 60},
)
TRUNCATING: dict[str, Any] | None = None  # every game ends by itself
SHORT: dict[str, Any] = {"num_rounds": 1, "pass_counts": (2, 1, 1, 1)}  # games of a few decisions


def _repriced() -> Deck:
    """The default deck, but a single card of its first kind pays 20."""
    deck = load_deck("reconstructed")
    first, *others = deck.cards
    letters = first.first[0].letters
    return replace(deck, cards=(replace(first, first=(Combination(letters, 20),)), *others))


OTHER_RULES: list[tuple[str, dict[str, Any]]] = [  # other rules, by this field, of the same observations and actions
    ("deck", {"deck": _repriced()}),
    ("pass_counts", {"pass_counts": (4, 3, 1, 2)}),
    ("dummy_displays", {"dummy_displays": {2: (1, 2), 3: (1,)}}),
]
POINTS_PER_REWARD = 50  # of the reward "score"
COUNTS = (2, 3, 4)  # numbers of players in the compatibility table
EVERY_SEAT_ACTS: dict[str, Any] = {}  # no game ends before somebody was asked

GOLDENS: list[tuple[dict[str, Any], int]] = [
    *(({"num_players": n}, n) for n in (2, 3, 4)),
    ({"num_players": 4, "reward": "score", "num_rounds": 2}, 2**64 - 1),
    ({"num_players": 3, "reward": "rank", "target_score": 60}, 11),
    ({"num_players": 2, "dummy_displays": [1, 2], "pass_counts": [1, 2, 3, 4]}, 12),
    ({"num_players": 3, "dummy_displays": [2], "num_rounds": 6, "target_score": 200}, 13),
]
EVERY_ACTION: dict[str, Any] = {}  # whose actions the goldens hold, all of them

TRACED: tuple[int, list[dict[str, Any]]] = (  # games of each configuration that are compared from beginning to end
    10,
    [{"num_players": n, "num_rounds": 2, "reward": ("win", "rank", "score")[n - 2]} for n in (2, 3, 4)],
)

BASELINES: dict[int, float] = {2: 1 / 2, 3: 1 / 3, 4: 1 / 4}  # players -> less than its win share of heuristics
BASELINE_DEALS = 500
