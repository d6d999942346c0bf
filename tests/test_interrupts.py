"""Ctrl-C in the commands that play many games: one line that says what is kept, exit code 130."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from llama_envs.core import interrupts
from tests.cases import CHECKOUT
from tests.experiments.commands import call, sentence

STOPPED = [  # module, what is interrupted, arguments, what is said
    ("llama_envs.cli.evaluate", "compare", ["lama"], "nothing was written"),
    ("llama_envs.cli.tournament", "run_tournament", ["lama", "--name", "x"], "--name x --resume goes on"),
    ("experiments.exact.__main__", "solve_all", ["--quick", "--name", "x"], "--name x --resume goes on"),
    ("experiments.benchmark.__main__", "measure", ["--quick", "--name", "x"], "--name x --resume goes on"),
    ("experiments.throughput.__main__", "run", ["--quick"], "nothing was written"),
]


@pytest.mark.parametrize(("module", "name", "arguments", "words"), STOPPED, ids=lambda value: str(value)[:40])
def test_an_interrupt_is_one_line_that_says_what_is_kept(
    module: str,
    name: str,
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    command = import_module(module)
    monkeypatch.setattr(command, name, interrupted)
    assert call(command.main, arguments, tmp_path, monkeypatch) == 130
    assert words in sentence(capsys.readouterr().err)


# ------------------------------------------------------------------------------------- before it begins, and afterwards


COMMANDS = [
    ["-m", "experiments.train", "lama"],
    ["-m", "experiments.quitting_study", "--quick"],
    ["-m", "experiments.train_rllib", "lama"],
    ["llama-envs", "tournament", "lama"],
]
ENTRY = """
import sys
sys.argv[0] = "/somewhere/bin/llama-envs"
from llama_envs.cli.main import main
main()
"""


def interrupted(arguments: list[str], folder: Path, wait: Callable[[subprocess.Popen[str]], object]) -> tuple[int, str]:
    """The exit code of a Python that got Ctrl-C after ``wait``, and what it left on stderr."""
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=folder, env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        wait(process)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    return process.returncode, errors


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[1])
def test_an_interrupt_while_a_command_imports_is_one_line(command: list[str], tmp_path: Path) -> None:
    arguments = command if command[0] == "-m" else ["-c", ENTRY, *command[1:]]
    told = ["-X", "importtime", *arguments]  # of every import, on stderr

    def numpy_is_there(process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        assert any(line.strip().endswith(" numpy") for line in process.stderr)

    code, errors = interrupted(told, tmp_path, numpy_is_there)
    assert code == 130
    assert [line for line in errors.splitlines() if "import time:" not in line][-1:] == ["error: stopped."]
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


IMPORTS = """
import {module}
import time
try:
    print("imported", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    raise SystemExit(7)
"""


@pytest.mark.parametrize("module", ["llama_envs", "experiments.lib.seeds"])
def test_a_program_that_imports_the_package_minds_its_own_interrupts(module: str, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "__init__.py").write_text("import llama_envs\n")  # while "-m" looks for the program
    (tmp_path / "theirs" / "program.py").write_text(IMPORTS.format(module=module))
    assert interrupted(["-m", "theirs.program"], tmp_path, lambda process: process.stdout.readline()) == (7, "")  # type: ignore[union-attr]


WORKERS = """
import os
import time
from llama_envs.cli.command import run_or_exit
from llama_envs.evaluation.workers import workers

if __name__ == "__mp_main__":
    os.write(1, f"{os.getpid()}\\n".encode())  # at once, since two of them write
    time.sleep(60)


def work():
    with workers(2) as spread:
        return list(spread(abs, [1, 2, 3]))


if __name__ == "__main__":
    run_or_exit(work)
"""


def test_worker_processes_that_still_import_add_no_line_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(WORKERS)

    def one_is_interrupted(process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        os.kill(int(process.stdout.readline()), signal.SIGINT)
        time.sleep(0.5)

    assert interrupted(["program.py"], tmp_path, one_is_interrupted) == (130, "error: stopped; nothing was written.\n")


def test_within_an_action_an_interrupt_is_raised_and_afterwards_it_is_answered_at_once() -> None:
    before = signal.signal(signal.SIGINT, interrupts.stop)
    try:
        with pytest.raises(KeyboardInterrupt), interrupts.raising():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is interrupts.stop
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with interrupts.raising():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # as whoever started the process wants it
        interrupts.stop_at_once()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
