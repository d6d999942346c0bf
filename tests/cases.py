"""The cases that the generic tests walk through, and how they play in them.

What they need to know of a game stands in ``tests/<game>/cases.py``: a new game is one more such module.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.game import Game
from llama_envs.core.registry import game_specs, make_game, spec_of
from llama_envs.policies import Actions, Players, Policy, View, make_view
from llama_envs.policies.scripted import compile_choose
from llama_envs.policies.view import kernel_of

CHECKOUT = Path(__file__).resolve().parent.parent

Case = tuple[str, dict[str, Any]]  # the name of a game, and its options


def cases_of(name: str) -> ModuleType:
    """What the tests know of a game."""
    return import_module(f"tests.{name}.cases")


GAMES = [spec.name for spec in game_specs() if (CHECKOUT / "tests" / spec.name / "cases.py").is_file()]


def _param(name: str, config: dict[str, Any]) -> Any:
    return pytest.param((name, config), id="-".join([name, *(f"{key}={value}" for key, value in config.items())]))


CASES = [_param(name, config) for name in GAMES for config in cases_of(name).CONFIGS]
FIRST_CASES = [_param(name, cases_of(name).CONFIGS[0]) for name in GAMES]
TRUNCATING_CASES = [_param(name, cases_of(name).TRUNCATING) for name in GAMES if cases_of(name).TRUNCATING is not None]

every_case = pytest.mark.parametrize("case", CASES)
each_game = pytest.mark.parametrize("case", FIRST_CASES)
each_truncating = pytest.mark.parametrize("case", TRUNCATING_CASES)


def api(case: Case) -> ModuleType:
    """The public module of the game."""
    return import_module(f"llama_envs.{spec_of(case[0]).id}")


def game_of(case: Case) -> Game:
    return make_game(case[0], **case[1])


def new_batch(case: Case, num_games: int, seed: Any = 0, autoreset: bool = False, threads: int = 1) -> Batch:
    return Batch(game_of(case), num_games, seed, autoreset, threads)


def middle(case: Case, num_games: int, seed: int = 0, autoreset: bool = True) -> Batch:
    """A batch whose rows stand at different points of their games: row i has taken up to 60 random actions."""
    batch = new_batch(case, num_games, seed, autoreset)
    streams = policy_streams(num_games, seed + 1)
    lengths = np.random.default_rng(seed).integers(0, 60, num_games)
    for step in range(60):
        waiting = lengths > step
        if (waiting & (batch.to_move >= 0)).any():
            batch.step(batch.sample_actions(streams), waiting)
    return batch


def view_of(batch: Batch, policy: Policy, seed: int = 5) -> View:
    """The view of ``policy`` on every game that goes on, whose seat to move it plays."""
    rows = np.flatnonzero(batch.to_move >= 0)
    seats = batch.to_move[rows].astype(np.int64)
    return make_view(batch, rows, seats, policy_streams(batch.num_games, seed)[rows], policy)


def choose_in(policy: Policy, game: Game, states: Any, seats: np.ndarray, seed: int = 5) -> np.ndarray:
    """What a policy that is a kernel does in these very states, hidden cards included, settling on nothing: (N,)."""
    kernel = kernel_of(policy)
    assert kernel is not None
    n, params = len(states), game.records(game.params)
    actions, masks = np.zeros(n, np.int64), np.zeros((n, game.num_actions), np.bool_)
    records, memory = game.records(states.copy()), np.zeros((n, 0), np.int64)
    game.batch_kernels.mask(records, params, seats, masks)
    compile_choose(kernel.choose)(
        records, params, seats, masks, kernel.options, memory, policy_streams(n, seed), actions
    )  # fmt: skip
    return actions


class Trace(NamedTuple):
    """What T random steps of a batch showed, time first."""

    actions: np.ndarray
    observation: np.ndarray
    mask: np.ndarray
    to_move: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    episode: np.ndarray

    def row(self, i: int) -> list[bytes]:
        return [array[:, i].tobytes() for array in self]

    def digest(self) -> str:
        return hashlib.sha256(b"".join(array.tobytes() for array in self)).hexdigest()


def play(batch: Batch, steps: int, streams: np.ndarray, between: Any = None) -> Trace:
    """``steps`` uniform actions in every game by ``streams``; ``between()`` runs before each."""
    frames = []
    for _ in range(steps):
        if between is not None:
            between()
        seen = batch.observation.copy(), batch.action_mask.copy(), batch.to_move.copy()
        actions = batch.sample_actions(streams)
        frames.append((actions, *seen, *batch.step(actions), batch.episode.copy()))
    return Trace(*(np.stack(arrays) for arrays in zip(*frames, strict=True)))


def fields(states: np.ndarray) -> bytes:
    """The content of records, without the padding between their fields."""
    return b"".join(states[name].tobytes() for name in states.dtype.names)


def arrays_of(batch: Batch) -> dict[str, np.ndarray]:
    """Every array that a batch owns."""
    own = {name: value for name, value in vars(batch).items() if isinstance(value, np.ndarray)}
    return {**own, **batch._buffers._asdict()}


def everything(batch: Batch) -> bytes:
    """All that a batch holds, as bytes."""
    plain = ("streams", "seeds", "rows", "episodes", "mask", "observation", "_fresh")
    arrays = arrays_of(batch)
    return fields(batch.state) + fields(batch.final_state) + b"".join(arrays[name].tobytes() for name in plain)


def play_out(batch: Batch, streams: np.ndarray) -> np.ndarray:
    """Random actions until every game of a batch without autoreset is over; what each seat was paid, (N, P) float64."""
    paid = np.zeros((batch.num_games, batch.game.num_players))
    for _ in range(20_000):
        if (batch.to_move < 0).all():
            return paid
        paid += batch.step(batch.sample_actions(streams))[0]
    raise AssertionError("a game did not end within 20,000 decisions.")


class Asked:
    """A policy that does not say that it is a kernel, so that it is asked by ``act``."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self.needs_worlds = policy, policy.needs_worlds

    def act(self, view: View) -> Actions:
        return self.policy.act(view)


class Diary:
    """Notes every action in games of one learner, whoever took it: ``games[i]`` is its episodes, (seat, actions)."""

    def __init__(self, games: Any) -> None:
        # kernels play on without a word; tests/policies/test_kernels.py proves that asking them is the same
        games.opponents = [Asked(policy) for policy in games.opponents]
        streams = games._players.streams
        games._players = Players(games.batch, games.opponents, games._assignment, streams=streams)
        batch, step, reset = games.batch, games.batch.step, games.batch.reset
        self.games: list[list[tuple[int, list[int]]]] = [[] for _ in range(batch.num_games)]
        running: list[list[int]] = [[] for _ in range(batch.num_games)]

        def noted_step(actions: np.ndarray, where: np.ndarray | None = None) -> Any:
            moving = np.ones(batch.num_games, np.bool_) if where is None else where
            before = batch.to_move.copy()
            result = step(actions, where)
            for i in np.flatnonzero(moving & (before >= 0)):
                running[i].append(int(actions[i]))
            return result

        def noted_reset(seed: Any = None, where: np.ndarray | None = None) -> None:
            for i in np.flatnonzero(where if where is not None else np.zeros(batch.num_games, np.bool_)):
                if running[i]:
                    self.games[i].append((int(games.seat[i]), running[i]))
                    running[i] = []
            reset(seed, where)

        batch.step, batch.reset = noted_step, noted_reset


def play_in_worker(case: Case, seed: int) -> str:
    """What a worker process does: its own batch, 60 steps, and the digest of what it saw."""
    return play(new_batch(case, 6, seed, autoreset=True), 60, policy_streams(6, seed)).digest()


def run_python(code: str, *arguments: str, timeout: float = 120, **environment: str | None) -> str:
    """The output of ``code`` in a fresh interpreter; ``name=None`` removes an environment variable."""
    variables = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    for name, value in environment.items():
        if value is None:
            variables.pop(name, None)
        else:
            variables[name] = value
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=variables, cwd=CHECKOUT, capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
