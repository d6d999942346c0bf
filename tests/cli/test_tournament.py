"""``tournament`` as a command: the files that it writes, the same in whatever way it is played, resuming, bad input."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from llama_envs.cli import tournament as module
from llama_envs.cli.spread import Spread
from llama_envs.core.registry import make_game
from llama_envs.evaluation.tournament import Tournament, make_plan
from llama_envs.policies import View
from tests.cases import CHECKOUT
from tests.experiments.commands import Refusal, call

FILES = ("standings.csv", "pairwise.csv", "tables.csv", "games.parquet", "heatmap.png", "report.md")


def play(
    folder: Path, policies: Any, players: int = 2, workers: int = 1, deals: int = 40, block: int = 100, **game: Any
) -> Tournament:
    plan = make_plan(make_game("lama", num_players=players, **game), policies, deals, block=block)
    return module.play(plan, folder, Spread(workers=workers))


def files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


class Raises:
    needs_worlds = False

    def act(self, view: View) -> np.ndarray:
        raise RuntimeError("out of cards")


def test_the_report_names_what_failed_and_what_was_cut_short(tmp_path: Path) -> None:
    play(tmp_path / "failed", {"heuristic": "heuristic", "random": "random", "bad": Raises()}, deals=20)
    text = (tmp_path / "failed" / "report.md").read_text()
    assert "`bad` failed: RuntimeError: out of cards" in text
    assert "No game was cut short" in text
    play(tmp_path / "cut", ("heuristic", "random"), max_rounds=1)
    cut = (tmp_path / "cut" / "report.md").read_text()
    assert "80 games cut short" in cut
    assert "needs open_spiel" not in cut, "it is installed, and no game counts"
    assert "not computed: fewer than two are rated" in cut


def test_the_report_calls_raw_shares_raw_and_explains_what_is_unbounded__B33(tmp_path: Path) -> None:
    play(tmp_path / "one", ("heuristic", "random"), deals=1)
    text = (tmp_path / "one" / "report.md").read_text()
    assert "| policy | rating | raw share |" in text
    assert "± ∞" in text.partition("## Pairs")[0].partition("Ratings order the table")[0]
    assert "± ∞: these games give no bound" in text.partition("## Pairs")[0]
    play(tmp_path / "many", ("heuristic", "heuristic:0"), deals=40)
    assert "∞" not in (tmp_path / "many" / "report.md").read_text()


def test_the_order_of_the_policies_and_the_number_of_processes_change_nothing(tmp_path: Path) -> None:
    names = ["heuristic", "random", "mc:2", "heuristic:0"]
    play(tmp_path / "one", names, 3, deals=12, block=3)
    play(tmp_path / "two", names[::-1], 3, deals=12, block=3, workers=2)
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_a_tournament_goes_on_from_the_parts_that_are_there(tmp_path: Path) -> None:
    names = ("heuristic", "random", "heuristic:0")
    play(tmp_path, names, deals=30, block=10)
    before = files(tmp_path)
    parts = sorted((tmp_path / "parts").iterdir())
    assert len(parts) == 9
    kept = {path: path.stat().st_mtime_ns for path in parts[::2]}
    for path in [*parts[1::2], *(tmp_path / name for name in FILES)]:
        path.unlink()
    play(tmp_path, names, deals=30, block=10)
    assert files(tmp_path) == before
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and nothing more"], ids=["empty", "cut off"])
def test_a_damaged_part_is_named_and_played_again_without_it(content: bytes, tmp_path: Path) -> None:
    play(tmp_path, ("heuristic", "random"), deals=4, block=2)
    before = files(tmp_path)
    part = sorted((tmp_path / "parts").iterdir())[0]
    part.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{part.name} is damaged \(.*\); without it, --resume plays its games again"):
        play(tmp_path, ("heuristic", "random"), deals=4, block=2)
    part.unlink()
    play(tmp_path, ("heuristic", "random"), deals=4, block=2)
    assert files(tmp_path) == before


def start(arguments: list[str], folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "experiments.tournament", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks for processes in /proc")
def test_a_killed_tournament_resumes_and_gives_the_same_files_and_leaves_no_process(tmp_path: Path) -> None:
    names = ["mc:60", "heuristic"]
    arguments = ["lama", "--policies", *names, "--num-players", "3", "--deals", "24", "--block", "4", "--name", "cut"]
    process = start([*arguments, "--workers", "2"], tmp_path)
    folder = tmp_path / "runs" / "cut"
    until = time.monotonic() + 120
    while time.monotonic() < until and not len(list(folder.glob("parts/block*"))) >= 2:
        time.sleep(0.01)
    workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(workers) >= 2
    assert not (folder / "standings.csv").exists(), "the tournament ended before it could be killed"
    assert start([*arguments, "--resume", "--workers", "1"], tmp_path).wait(300) == 0
    play(tmp_path / "whole", names, 3, deals=24, block=4)
    for name in FILES[:-1]:
        assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    until = time.monotonic() + 10
    while time.monotonic() < until and any(b"spawn_main" in _command_of(pid) for pid in workers):
        time.sleep(0.1)
    assert not any(b"spawn_main" in _command_of(pid) for pid in workers)


def _command_of(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


# -------------------------------------------------------------------------------------------------------- command line


def test_a_run_writes_tables_picture_report_command_versions_and_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["lama", "--policies", "random", "heuristic", "--num-players", "3", "--deals", "6", "--name", "x"]
    assert call(module.main, [*arguments, "--workers", "1"], tmp_path, monkeypatch) == 0
    shown = capsys.readouterr().out
    assert "heuristic" in shown
    assert "report.md" in shown
    folder = tmp_path / "runs" / "x"
    assert {path.name for path in folder.iterdir() if path.name != ".lock"} == {
        *FILES, "one_vs_rest.csv", "timing.csv", "command.txt", "versions.json", "config.json", "parts",
    }  # fmt: skip
    assert (folder / "heatmap.png").read_bytes()[:4] == b"\x89PNG"
    text = (folder / "report.md").read_text()
    assert (folder / "command.txt").read_text().strip() in text
    assert "seed 0" in text
    assert "numba" in text
    rest = pd.read_csv(folder / "one_vs_rest.csv").set_index(["policy", "rest"])["win_share"]
    assert rest[("heuristic", "random")] > 0.8
    assert rest[("random", "heuristic")] < 0.2
    timing = pd.read_csv(folder / "timing.csv")
    assert (timing["decisions"] > 0).all()
    assert call(module.main, [*arguments, "--workers", "1"], tmp_path, monkeypatch) == 2, "a run was overwritten"
    assert call(module.main, [*arguments, "--workers", "1", "--resume", "--seed", "1"], tmp_path, monkeypatch) == 2
    assert "was started with other options: seed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lama", "--policies", "heuristic"], "policies must be two or more, got 1"),
        (["lama", "--policies", "heuristic", "nobody"], "unknown policy 'nobody'; known are"),
        (["lama", "--policies", "heuristic", "ppo:missing.zip"], "there is no policy file missing.zip"),
        (["lama", "--design", "swiss"], "design must be one of"),
        (["lama", "--rest", "random", "--design", "balanced"], "design must be 'auto' or 'one_vs_rest' with rest"),
        (["lama", "--ray", "--workers", "2"], "give workers = 2 or ray, not both"),
        (["lama", "--address", "auto"], "address is for --ray"),
        (["lama", "--rest", "mc:5"], "rest must be one of the policies, heuristic, random, got 'mc:5'"),
        (["lama", "--deals", "0"], "deals must be an integer from 1"),
        (["llama_llama", "--num-players", "5"], "num_players must be an integer from 2 to 4, got 5"),
        (["lama", "--name", "nothing", "--resume"], "there is no run"),
        (["lama", "--design", "round_robin", "--policies", *[f"heuristic:{t}" for t in range(20)]], "4,845 tables"),
    ],
)
def test_bad_input_gives_one_sentence_and_leaves_nothing(arguments: list[str], words: str, refusal: Refusal) -> None:
    assert words in refusal(module.main, arguments)
