"""Instructions per decision, counted by callgrind: a measure of speed that no other work on the machine disturbs.

Counted are the instructions of the compiled loops over a batch, for a fixed processor (AVX2, since valgrind knows no
AVX-512), so that the number is the same on every x86-64 machine with the same versions.
"""

from __future__ import annotations

import ctypes
import functools
import json
import mmap
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.compile import JIT
from llama_envs.core.game import Game
from llama_envs.core.registry import make_game

PROCESSOR = {
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx,+avx2,+bmi,+bmi2,+fma,+lzcnt,+movbe,+popcnt,+sse4.1,+sse4.2",
}
GAMES = 1024
STAGES = 132  # steps that a game is ahead of another at most: whole rounds of 11 decisions for 2, 3, 4 and 6 seats
STEPS = 6  # of every game while instructions are counted
CALLGRIND = 0x43540000  # requests to callgrind begin here: 'C', 'T'
DUMP, TOGGLE, START = CALLGRIND, CALLGRIND + 2, CALLGRIND + 4


class NotHere(Exception):
    """Instructions cannot be counted on this machine; the message says why."""


@dataclass(frozen=True)
class Counted:
    """Instructions per decision: of ``Batch.step``'s loop, and of random playouts in a kernel."""

    game: str
    num_players: int
    step: float
    playout: float


def count_instructions(games: list[tuple[str, int]]) -> list[Counted]:
    """For each (game, number of players).

    Raises:
        NotHere: no valgrind, another processor, or no numba.
    """
    if shutil.which("valgrind") is None:
        raise NotHere("valgrind is not installed")
    if platform.machine() != "x86_64":
        raise NotHere(f"the fixed processor is an x86-64, this one is {platform.machine()}")
    if not JIT:
        raise NotHere("kernels run in plain Python")
    arguments = [f"{name}:{players}" for name, players in games]
    environment = {**os.environ, **PROCESSOR, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "experiments.throughput.instructions", *arguments]
    root = Path(__file__).resolve().parents[2]
    subprocess.run(command, env=environment, cwd=root, check=True, capture_output=True)  # compiles what is not cached
    with tempfile.TemporaryDirectory() as folder:
        valgrind = [
            "valgrind",
            "--tool=callgrind",
            "--instr-atstart=no",
            "--collect-atstart=no",
            f"--callgrind-out-file={folder}/out",
        ]
        done = subprocess.run([*valgrind, *command], env=environment, cwd=root, capture_output=True, text=True)
        if done.returncode != 0:
            raise NotHere(f"valgrind failed: {done.stderr.strip().splitlines()[-1]}")
        totals = [
            int(match[1])
            for number in range(1, 2 * len(games) + 1)
            if (match := re.search(r"^(?:totals|summary): (\d+)", Path(f"{folder}/out.{number}").read_text(), re.M))
        ]
    counted = []
    for k, decisions in enumerate(json.loads(done.stdout)):
        name, players = games[k]
        counted.append(Counted(name, players, totals[2 * k] / decisions[0], totals[2 * k + 1] / decisions[1]))
    return counted


# valgrind acts on this sequence of instructions, which does nothing on a processor; rax has the address of the request
MAGIC = bytes.fromhex(
    "4889f8"  # mov rax, rdi
    "31d2"  # xor edx, edx
    "48c1c703 48c1c70d 48c1c73d 48c1c733"  # rol rdi, 3; 13; 61; 51
    "4887db"  # xchg rbx, rbx
    "4889d0 c3"  # mov rax, rdx; ret
)


@functools.cache
def magic() -> tuple[mmap.mmap, Any]:
    """A function of the address of a request, and the memory that holds its code."""
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(MAGIC)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return page, ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(address)


def ask_callgrind(request: int) -> None:
    """Send a request to callgrind; nothing happens when it does not watch this process."""
    arguments = (ctypes.c_uint64 * 6)(request)
    magic()[1](ctypes.addressof(arguments))


def run_counted(game: Game) -> tuple[int, int]:
    """Run the two loops under callgrind's eyes, a dump each; the decisions that each took."""
    batch, streams = Batch(game, GAMES, 0, autoreset=True), policy_streams(GAMES, 1)
    stages = np.arange(GAMES) % STAGES  # as many games at each stage of a round, also where all rounds are as long
    for stage in range(STAGES):
        batch.step(batch.sample_actions(streams), stages >= stage)
    twin = batch.clone()
    twin.random_playout(streams, 1)
    everywhere, reward = np.ones(GAMES, np.bool_), np.empty((GAMES, game.num_players), np.float32)
    flags, step = np.empty(GAMES, np.bool_), game.batch_kernels.step
    ask_callgrind(START)
    for _ in range(STEPS):
        actions = batch.sample_actions(streams)
        ask_callgrind(TOGGLE)
        step(batch.buffers, game.records(game.params), actions, everywhere, True, reward, flags, flags)
        ask_callgrind(TOGGLE)
    ask_callgrind(DUMP)
    ask_callgrind(TOGGLE)
    twin.random_playout(streams, STEPS)
    ask_callgrind(TOGGLE)
    ask_callgrind(DUMP)
    return GAMES * STEPS, GAMES * STEPS


def main(games: Annotated[list[str], tyro.conf.Positional]) -> None:
    """Play each GAME:PLAYERS, and print how many decisions each counted part took (for callgrind to count)."""
    decisions = []
    for entry in games:
        name, _, players = entry.partition(":")
        decisions.append(run_counted(make_game(name, num_players=int(players))))
    print(json.dumps(decisions))


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
