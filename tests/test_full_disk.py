"""No room on the disk, a folder that nobody can write to, an output that takes nothing: one sentence, exit code 2."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest

from tests.cases import CHECKOUT
from tests.experiments.commands import call, sentence

resource = pytest.importorskip("resource")
SMALL = ["--num-envs", "64", "--n-steps", "8", "--batch-size", "64", "--deals", "0"]
FULL = [  # module, arguments, bytes that a file may have, the file that gets no more
    ("llama_envs.cli.evaluate", ["lama", "--deals", "4", "--out", "x.csv"], 60, "x.csv"),
    ("llama_envs.cli.evaluate", ["lama", "--deals", "4", "--record", "x.jsonl"], 900, "x.jsonl"),
    ("llama_envs.cli.tournament", ["lama", "--deals", "4", "--name", "x", "--policies", "random", "heuristic"], 1400,
     "runs/x/"),
    ("experiments.train.__main__", ["lama", "--name", "x", "--total-timesteps", "512", *SMALL], 20_000,
     "runs/x/"),
    ("experiments.distill", ["lama", "--num-players", "2", "--name", "x", "--positions", "512", "--teacher", "mc:1",
                             "--memory", "512", *SMALL], 20_000, "runs/x/"),
    ("experiments.exact.__main__", ["--variants", "lama-2x2-1-win", "--seeds", "0", "--name", "x"], 700, "exact"),
    ("experiments.quitting.__main__", ["--quick", "--only", "seats", "--deals", "20", "--num-players", "2",
                                       "--workers", "1", "--out", "x"], 300, "x/"),
]  # fmt: skip


@contextmanager
def room(size: int) -> Iterator[None]:
    """Within, no file can become longer than ``size`` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # zipfile leaves a file open that is full
@pytest.mark.parametrize(("module", "arguments", "size", "file"), FULL, ids=lambda value: str(value)[:30])
def test_a_file_that_finds_no_room_is_named_and_nothing_half_written_stays(
    module: str, arguments: list[str], size: int, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    with room(size):
        assert call(import_module(module).main, arguments, tmp_path, monkeypatch) == 2
    said = sentence(capsys.readouterr().err)
    assert said.startswith("cannot write or read ")
    assert file in said
    assert "File too large" in said
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size == size]
    gc.collect()


@pytest.mark.parametrize("module", ["llama_envs.cli.tournament", "experiments.train.__main__"])
def test_where_no_run_can_be_kept_nothing_begins(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(import_module(module).main, ["lama", "--name", "x"], Path("/proc"), monkeypatch) == 2
    assert sentence(capsys.readouterr().err).startswith("cannot make runs/x (")


@pytest.mark.parametrize(
    ("command", "said"),
    [("experiments.evaluate lama --deals 2 > /dev/full", "error: cannot print (No space left on device).\n"),
     ("llama_envs.cli.main games > /dev/full", "error: cannot print (No space left on device).\n"),
     ("llama_envs.cli.main games | head -1", "")],
)  # fmt: skip
def test_what_cannot_be_printed_is_one_sentence_and_what_nobody_reads_none(
    command: str, said: str, tmp_path: Path
) -> None:
    ended = subprocess.run(
        f"set -o pipefail; {sys.executable} -m {command}", shell=True, executable="/bin/bash", cwd=tmp_path, text=True,
        capture_output=True, env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (2, said)
