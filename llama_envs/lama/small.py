"""Variants that are small enough to be solved: one round between two, opened by seat 0, and one of two rounds."""

from __future__ import annotations

from llama_envs.core.spec import SmallGame


def one_round(num_ranks: int, copies: int, hand_size: int, reward: str = "score", **kind: bool) -> SmallGame:
    """One round with a deck of ``num_ranks`` ranks, ``copies`` of each, and ``hand_size`` cards each."""
    options = {
        "num_players": 2, "num_ranks": num_ranks, "copies": copies, "hand_size": hand_size, "first_player": 0,
        "max_rounds": 1, "single_round_terminates": True, "reward": reward,
    }  # fmt: skip
    return SmallGame(f"lama-{num_ranks}x{copies}-{hand_size}-{reward}", options, **kind)


TWO_ROUNDS = SmallGame(  # with a chip to return in the second
    "lama-2x2-1-score-2rounds",
    {
        "num_players": 2, "num_ranks": 2, "copies": 2, "hand_size": 1, "first_player": 0, "max_rounds": 2,
        "reward": "score",
    },
)  # fmt: skip

SMALL = (
    one_round(2, 2, 1, "win"),
    one_round(2, 3, 2, "win"),
    TWO_ROUNDS,
    one_round(3, 2, 1),
    one_round(3, 2, 2, "win"),
    one_round(3, 2, 2, ppo=True),
    one_round(7, 1, 2),
    one_round(4, 2, 2, slow=True),
    one_round(4, 2, 1, slow=True),
    one_round(3, 3, 2, slow=True),
)
