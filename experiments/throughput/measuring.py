"""Everything that is measured, in turns."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

import torch
from rich.console import Console

from experiments.learning_speed import LearningSpeed, learning_speeds, tutorial_speeds
from experiments.throughput.instructions import Counted, NotHere, count_instructions
from experiments.throughput.peers import peer_probes
from experiments.throughput.probes import Absent, Probe, measure, own_probes, thread_probes
from llama_envs.core.batch import GAMES_PER_THREAD
from llama_envs.core.registry import game_specs, spec_of


@dataclass
class Start:
    """Seconds from the start of Python to the end of the first step, with the compile cache empty and filled."""

    game: str
    cold: float | None
    warm: list[float]


@dataclass
class Results:
    """Everything that was measured."""

    probes: list[Probe]
    learning: list[LearningSpeed]
    tutorial: list[float]
    tutorial_absent: str
    starts: list[Start]
    counted: list[Counted]
    not_counted: str


def cores() -> set[int]:
    """The cores that this process may use."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def take(chosen: set[int]) -> None:
    """This thread, and those that it starts, on these cores, where the operating system allows it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, chosen)


def run(quick: bool, repeats: int, seconds: float, console: Console, probes: list[Probe]) -> Results:
    """Measure everything; each probe ``repeats`` times for so many ``seconds``.

    ``probes`` is empty and filled on the way, so that the caller keeps them when this is interrupted.
    """
    numbers = (1, 64) if quick else (1, 64, 1024, 8192)
    players = {spec.name: spec.players[:1] if quick else spec.players for spec in game_specs()}
    allowed = cores()
    take({min(allowed)})
    torch.set_num_threads(1)
    probes += own_probes(numbers, players) + peer_probes(64 if quick else 1024)
    measure(probes, repeats, seconds, silent=not console.is_terminal)
    console.print("decisions per second are measured; now training, the start and instructions")
    learning: list[LearningSpeed] = []
    tutorial: list[float] = []
    tutorial_absent = "not measured with --quick"
    if not quick:
        learning = learning_speeds(3, 1024)
        try:
            tutorial, tutorial_absent = tutorial_speeds(2), ""
        except Absent as reason:
            tutorial_absent = str(reason)
    starts = [start_times(name, not quick, 1 if quick else 5) for name in players]
    counted: list[Counted] = []
    not_counted = "not with --quick"
    if not quick:
        try:
            counted = count_instructions([(name, count) for name in players for count in players[name]])
        except NotHere as reason:
            not_counted = str(reason)
    take(allowed)
    number = 2048 if quick else 8192
    most = min(len(allowed), number // GAMES_PER_THREAD)
    threaded = thread_probes(number, sorted({1, min(2, most), most}))
    measure(threaded, repeats, seconds, silent=not console.is_terminal, clock=time.perf_counter)
    probes += threaded
    return Results(probes, learning, tutorial, tutorial_absent, starts, counted, not_counted)


FIRST_STEP = """
import sys
from llama_envs.core.registry import make_game
from llama_envs.core.batch import Batch
batch = Batch(make_game(sys.argv[1]), 1, 0)
batch.step(batch.action_mask.argmax(axis=1))
"""


def start_times(name: str, cold: bool, repeats: int) -> Start:
    """Time Python's start, import and first step of a game; ``cold`` first, with an empty compile cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder} if cold else dict(os.environ)

        def once() -> float:
            began = os.times()
            subprocess.run([sys.executable, "-c", FIRST_STEP, name], env=environment, check=True)
            ended = os.times()
            return (ended.children_user + ended.children_system) - (began.children_user + began.children_system)

        first = once()
        return Start(spec_of(name).title, first if cold else None, [once() for _ in range(repeats)])
