"""Whole games are the same compiled, in plain Python, without numba installed, and in a fresh interpreter."""

from __future__ import annotations

import functools
import hashlib

import numpy as np
import pytest

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.registry import make_game
from tests.cases import GAMES, cases_of, run_python


@functools.cache
def trace(name: str) -> str:
    """SHA-256 of all that games show: states, every seat's observation and mask, rewards, ends, sampled worlds."""
    digest = hashlib.sha256()
    games, configs = cases_of(name).TRACED
    for number, options in enumerate(configs):
        batch = Batch(make_game(name, **options), games, seed=number)
        seats = range(batch.game.num_players)
        streams, search = policy_streams(games, number), policy_streams(games, number, 1)
        for step in range(10_000):
            fields = [np.ascontiguousarray(batch.state[field]) for field in batch.state.dtype.names or ()]
            views = [view(seat) for seat in seats for view in (batch.observe, batch.mask)]
            for array in (*fields, *views, batch.observation, batch.action_mask):
                digest.update(array.tobytes())
            if (batch.to_move < 0).all():
                break
            if step % 10 == 0:
                worlds = batch.worlds(np.maximum(batch.to_move, 0), search, 1)
                for field in worlds.dtype.names or ():
                    digest.update(np.ascontiguousarray(worlds[field]).tobytes())
            for array in batch.step(batch.sample_actions(streams)):
                digest.update(array.tobytes())
        assert (batch.to_move < 0).all()
        digest.update(streams.tobytes() + search.tobytes())
    return digest.hexdigest()


TRACE = """
import sys
from llama_envs.core.compile import JIT
from tests.core.test_plain_python import trace
print("compiled" if JIT else "plain", trace(sys.argv[1]))
"""
BLOCK_NUMBA = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ImportError(name + " is not to be imported")
sys.meta_path.insert(0, Blocker())
"""


@pytest.mark.parametrize("name", GAMES)
def test_plain_python_plays_the_same_games_as_compiled_code(name: str) -> None:
    assert run_python(TRACE, name, NUMBA_DISABLE_JIT="1", PYTHONWARNINGS="error") == f"plain {trace(name)}"


@pytest.mark.parametrize("name", GAMES[:1])
def test_without_numba_the_same_games_are_played(name: str) -> None:
    code = f"{BLOCK_NUMBA}{TRACE}assert 'numba' not in sys.modules"
    assert run_python(code, name, PYTHONWARNINGS="error") == f"plain {trace(name)}"


@pytest.mark.parametrize("name", GAMES[:1])
def test_fresh_interpreter_plays_the_same_games(name: str) -> None:
    assert run_python(TRACE, name, PYTHONHASHSEED="7", PYTHONWARNINGS="error") == f"compiled {trace(name)}"
