"""Forty games over many configurations as one hash: ``python tests/lama/lama_trace.py`` prints it."""

from __future__ import annotations

import hashlib
import sys
from typing import Any

import numpy as np

from llama_envs import lama_v0
from llama_envs.core.batch import policy_streams
from llama_envs.core.compile import JIT

CONFIGS: list[dict[str, Any]] = [
    *({"num_players": n} for n in range(2, 7)),
    {"num_players": 2, "chip_exchange": "choice", "reward": "score", "target_score": 90},
    {"num_players": 3, "chip_return": "auto", "next_starter": "rotate", "reward": "rank", "first_player": 2},
    {"num_players": 4, "chip_exchange": "choice", "num_ranks": 4, "copies": 3, "hand_size": 2, "max_rounds": 3},
    {"num_players": 5, "max_rounds": 1, "single_round_terminates": True},
    {"num_players": 6, "num_ranks": 7, "copies": 16, "hand_size": 18, "reward": "score", "max_rounds": 1},
]
GAMES = 4  # of each configuration


def trace() -> str:
    """SHA-256 of all that 40 games show: states, every seat's observation and mask, rewards, ends, sampled worlds."""
    digest = hashlib.sha256()
    for number, options in enumerate(CONFIGS):
        batch = lama_v0.batch(GAMES, seed=number, **options)
        streams, search = policy_streams(GAMES, number), policy_streams(GAMES, number, 1)
        for step in range(10_000):
            fields = [np.ascontiguousarray(batch.state[name]) for name in batch.state.dtype.names or ()]
            views = [view(seat) for seat in range(batch.game.num_players) for view in (batch.observe, batch.mask)]
            for array in (*fields, *views, batch.observation, batch.action_mask):
                digest.update(array.tobytes())
            if (batch.to_move < 0).all():
                break
            if step % 10 == 0:
                world = batch.worlds(np.maximum(batch.to_move, 0), search, 1)
                digest.update(np.ascontiguousarray(world["hand"]).tobytes())
            for array in batch.step(batch.sample_actions(streams)):
                digest.update(array.tobytes())
        digest.update(streams.tobytes() + search.tobytes())
    return digest.hexdigest()


if __name__ == "__main__":
    if "--without-numba" in sys.argv:
        assert "numba" not in sys.modules
    print("compiled" if JIT else "plain", trace())
