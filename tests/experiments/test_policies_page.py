"""docs/policies.md: every command and every piece of Python on it runs as it stands there, from top to bottom."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from llama_envs.cli import main as console
from llama_envs.core.registry import make_game
from llama_envs.evaluation import compare, play
from tests.cases import CHECKOUT

PAGE = (CHECKOUT / "docs" / "policies.md").read_text(encoding="utf-8")
EXAMPLES = CHECKOUT / "experiments" / "examples"
MINE = ("my_policy.py", "my_kernel_policy.py")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
COMMANDS = [line for language, block in BLOCKS if language == "" for line in block.splitlines()]
SHOWN = [(EXAMPLES / name).read_text(encoding="utf-8") for name in MINE]
PYTHON = [block for language, block in BLOCKS if language == "python" and block not in SHOWN]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the two policies in it, and nothing else."""
    for name in MINE:
        shutil.copy(EXAMPLES / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    monkeypatch.setattr(sys, "path", list(sys.path))
    console.main()


def test_the_page_shows_the_examples_and_how_to_use_them() -> None:
    assert all(("python", text) in BLOCKS for text in SHOWN)
    assert all(command.startswith("llama-envs ") for command in COMMANDS)
    assert len(COMMANDS) == 6
    assert len(PYTHON) == 3
    code = re.sub(r'""".*?"""', "", SHOWN[0].split("class Mine:")[1], flags=re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 10


@pytest.mark.exhaustive
def test_everything_on_the_page_runs_as_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(PYTHON)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "my_policy.py:Mine" in done.stdout
    assert (folder / "trained.npz").is_file()
    for command in COMMANDS:
        run(f"{command} --workers 1" if "tournament" in command else command, monkeypatch)
        shown = capsys.readouterr().out
        assert "players, seed 0" in shown, command
    report = (folder / "runs" / "mine" / "report.md").read_text(encoding="utf-8")
    assert "my_policy.py:Mine" in report
    assert "No policy failed." in report


def test_a_file_of_ones_own_reaches_worker_processes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = "--policies my_policy.py:Mine random --num-players 2 --deals 20 --workers 2 --name two"
    run(f"llama-envs tournament lama {arguments}", monkeypatch)
    standings = (folder / "runs" / "two" / "standings.csv").read_text(encoding="utf-8")
    assert "my_policy.py:Mine" in standings


@pytest.mark.parametrize("players", [2, 4])
def test_both_ways_to_write_it_play_the_same(folder: Path, players: int) -> None:
    game = make_game("lama", num_players=players)
    asked, compiled = (play(game, [f"{name}:Mine"] * players, 100, 3) for name in MINE)
    assert (asked.score == compiled.score).all()
    result = compare(game, ["my_policy.py:Mine", *["random"] * (players - 1)], deals=100)
    assert result.share[0] - result.interval[0] > 1 / players
