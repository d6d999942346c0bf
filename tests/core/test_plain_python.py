"""Compiled and plain Python (NUMBA_DISABLE_JIT=1) are the same game."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.llama_llama.config import LlamaLlamaConfig
from llama_envs.llama_llama.game import make_game


def digest() -> str:
    """30 games to their ends, with what all seats see and the worlds drawn for one of them."""
    found = hashlib.sha256()
    for n in (2, 3, 4):
        game = make_game(LlamaLlamaConfig(num_players=n, num_rounds=2, reward=("win", "rank", "score")[n - 2]))
        batch = Batch(game, 10, seed=n)
        picks, streams = policy_streams(10, 1), policy_streams(10, 2)
        step = 0
        while (batch.to_move >= 0).any():
            reward, terminated, _ = batch.step(batch.sample_actions(picks))
            found.update(reward.tobytes() + terminated.tobytes() + batch.action_mask.tobytes())
            step += 1
            for seat in range(n if step % 5 == 0 else 0):
                found.update(batch.observe(seat).tobytes() + batch.mask(seat).tobytes())
            if step % 5 == 0:
                worlds = batch.worlds(step // 5 % n, streams)
                for field in game.state_dtype.names or ():
                    found.update(np.ascontiguousarray(batch.state[field]).tobytes())
                    found.update(np.ascontiguousarray(worlds[field]).tobytes())
    return found.hexdigest()


def test_plain_python_plays_the_same_game() -> None:
    script = "from llama_llama.test_plain_python import digest; print(digest())"
    path = os.pathsep.join([str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == digest()
