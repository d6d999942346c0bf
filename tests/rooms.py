"""The rooms that the generic tests walk through, and how they play in them. A new game is one more ``Room``."""

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

CHECKOUT = Path(__file__).resolve().parent.parent


class Room(NamedTuple):
    """A game, the configurations that the tests use, and one whose limit cuts episodes short, if there is one."""

    door: str
    configs: tuple[dict[str, Any], ...]
    truncating: dict[str, Any] | None = None


ROOMS = (
    Room(
        "lama_v0",
        (
            {"num_players": 2},
            {"num_players": 3, "chip_exchange": "choice", "reward": "score"},
            {"num_players": 4},
            {"num_players": 5, "reward": "rank", "next_starter": "rotate", "max_rounds": 3},
            {"num_players": 6, "chip_return": "auto", "target_score": 20},
            {"num_players": 2, "num_ranks": 2, "copies": 3, "hand_size": 2, "target_score": 25},
        ),
        {"num_players": 3, "max_rounds": 1},
    ),
    Room(
        "llama_llama_v0",
        (
            {"num_players": 2},
            {"num_players": 3, "reward": "score"},
            {"num_players": 4, "reward": "rank", "target_score": 60},
        ),
    ),
)

Case = tuple[str, dict[str, Any]]


def _name(door: str, config: dict[str, Any]) -> str:
    return "-".join([door, *(f"{key}={value}" for key, value in config.items())])


def _param(door: str, config: dict[str, Any]) -> Any:
    return pytest.param((door, config), id=_name(door, config))


CASES = [_param(room.door, config) for room in ROOMS for config in room.configs]
FIRST_CASES = [_param(room.door, room.configs[0]) for room in ROOMS]
TRUNCATING_CASES = [_param(room.door, room.truncating) for room in ROOMS if room.truncating is not None]

every_case = pytest.mark.parametrize("case", CASES)
each_room = pytest.mark.parametrize("case", FIRST_CASES)
each_truncating = pytest.mark.parametrize("case", TRUNCATING_CASES)


def door(case: Case) -> ModuleType:
    return import_module(f"llama_envs.{case[0]}")


def game_of(case: Case) -> Game:
    return new_batch(case, 1, seed=0).game


def new_batch(case: Case, num_games: int, seed: Any = 0, autoreset: bool = False, threads: int = 1) -> Batch:
    return door(case).batch(num_games, seed=seed, autoreset=autoreset, threads=threads, **case[1])


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


def everything(batch: Batch) -> bytes:
    """All that a batch holds, as bytes."""
    plain = ("_streams", "_seeds", "_rows", "_episodes", "_fresh", "_mask", "_observation")
    arrays = b"".join(getattr(batch, name).tobytes() for name in plain)
    return fields(batch.state) + fields(batch.final_state) + arrays


def play_out(batch: Batch, streams: np.ndarray) -> np.ndarray:
    """Random actions until every game of a batch without autoreset is over; what each seat was paid, (N, P) float64."""
    paid = np.zeros((batch.num_games, batch.game.num_players))
    for _ in range(20_000):
        if (batch.to_move < 0).all():
            return paid
        paid += batch.step(batch.sample_actions(streams))[0]
    raise AssertionError("a game did not end within 20,000 decisions.")


class Diary:
    """Notes every action in games of one learner, whoever took it: ``games[i]`` is its episodes, (seat, actions)."""

    def __init__(self, games: Any) -> None:
        games._all_random = False  # else a kernel plays on; test_random_opponents_* proves that it does the same
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
    variables = {**os.environ, "PYTHONPATH": f"{CHECKOUT}{os.pathsep}{CHECKOUT / 'tests'}"}
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
