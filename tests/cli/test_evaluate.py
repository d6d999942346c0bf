"""``evaluate`` as a command: what it writes, and bad input in one sentence."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from llama_envs.cli import command
from llama_envs.cli import evaluate as module
from llama_envs.core.recording import read_games
from llama_envs.core.registry import make_game
from llama_envs.evaluation import compare
from tests.experiments.commands import Refusal, call


def test_the_table_is_that_of_compare_and_the_same_in_every_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["heuristic", "random", "random"]
    arguments = ["lama", "--policies", *names, "--deals", "40", "--seed", "3", "--out"]
    for out in ("a.csv", "b.csv"):
        assert call(module.main, [*arguments, out], tmp_path, monkeypatch) == 0
    shown = capsys.readouterr().out
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    table = pd.read_csv(tmp_path / "a.csv")
    rows = compare(make_game("lama", num_players=3), names, 40, 3).standings
    assert table["policy"].tolist() == ["heuristic", "random"]
    assert table["seats"].tolist() == [1, 2]
    assert table["win_share"].tolist() == pytest.approx([row.share for row in rows])
    assert table["win_share_95"].tolist() == pytest.approx([row.interval for row in rows])
    assert table["mean_penalty"].tolist() == pytest.approx([row.score for row in rows])
    assert f"{rows[0].share:.3f} ± {rows[0].interval:.3f}" in shown
    assert "40 deals in 3 rotations: 120 games" in " ".join(shown.split())
    assert f"{rows[0].score:.2f} ± {rows[0].score_interval:.2f}" in shown


STOPS = """
import os, signal
class Stops:
    needs_worlds = False
    calls = 0
    def act(self, view):
        Stops.calls += 1
        if Stops.calls == 120:
            os.kill(os.getpid(), signal.SIGINT)
        return view.mask.argmax(axis=1)
"""


def test_an_interrupted_comparison_shows_and_keeps_the_deals_that_were_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(STOPS)
    monkeypatch.setattr(module, "SMALLEST_PART", 8)
    monkeypatch.setattr(command, "busy", lambda: False)  # or this process would end while a thread still plays
    arguments = ["lama", "--policies", "mine.py:Stops", "random", "--deals", "400", "--seed", "3", "--out", "x.csv"]
    assert call(module.main, [*arguments, "--record", "x.jsonl"], tmp_path, monkeypatch) == 130
    printed = capsys.readouterr()
    table = pd.read_csv(tmp_path / "x.csv").set_index("policy")
    deals = int(table["deals"].iloc[0])
    assert 0 < deals < 400
    assert printed.err == f"error: stopped; what is shown is of the first {deals} of 400 deals.\n"
    assert f"{deals} deals in 2 rotations" in printed.out
    assert len(list(read_games(tmp_path / "x.jsonl"))) == 2 * deals
    again = compare(make_game("lama", num_players=2), ["mine.py:Stops", "random"], deals, 3)
    assert table["win_share"].tolist() == [row.share for row in again.standings]
    assert table["win_share_95"].tolist() == [row.interval for row in again.standings]


def test_games_are_recorded_as_they_were_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["lama", "--policies", "heuristic", "random", "--deals", "6", "--record", "games.jsonl"]
    assert call(module.main, arguments, tmp_path, monkeypatch) == 0
    games = list(read_games(tmp_path / "games.jsonl"))
    assert len(games) == 12
    assert {tuple(sorted(game.policies)) for game in games} == {("heuristic", "random")}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lama", "--policies", "heuristic", "nobody"], "unknown policy 'nobody'; known are"),
        (["lama", "--policies", "random"], "num_players must be an integer from 2 to 6, got 1"),
        (["lama", "--num-players", "4", "--policies", "random", "random"], "policies must be 4, one for each seat"),
        (["lama", "--policies", "random", "heuristic:99"], "'heuristic:T' must be an integer from 0 to 31"),
        (["llama_llama", "--policies", "random", "heuristic:x"], "care in 'heuristic:CARE' must be a number"),
        (["llama_llama", "--policies", *["random"] * 5], "num_players must be an integer from 2 to 4, got 5"),
        (["llama_llama", "--deck", "missing.toml"], "missing.toml"),
        (["lama", "--policies", "random", "ppo:missing.zip"], "there is no policy file missing.zip"),
        (["lama", "--policies", "random", "ppo:broken.zip"], "broken.zip is not a readable"),
        (["lama", "--max-rounds", "1", "--deals", "2"], "all 4 games were cut short by a limit of the game"),
        (["lama", "--deals", "0"], "deals must be an integer from 1"),
        (["lama", "--seed", "-1"], "seed"),
        (["lama", "--out", "file/all.csv", "--deals", "2"], "out must be a file that can be written, got file/all.csv"),
        (
            ["lama", "--record", "file/all.jsonl", "--deals", "2"],
            "record must be a file that can be written, got file/all.jsonl",
        ),
        (
            ["lama", "--policies", "random", "policy.py:Bad", "--deals", "2"],
            "policy.py:Bad failed: RuntimeError: out of cards (",
        ),
        (["lama", "--policies", "random", "policy.py:Bad", "--deals", "2"], "policy.py, line 4"),
        (["lama", "--policies", "random", "policy.py:Silent", "--deals", "2"], "needs_worlds"),
    ],
)
def test_bad_input_gives_one_sentence_and_exit_code_2(
    arguments: list[str], words: str, refusal: Refusal, tmp_path: Path
) -> None:
    (tmp_path / "broken.zip").write_bytes(b"not a zip")
    (tmp_path / "file").write_text("")
    (tmp_path / "policy.py").write_text(
        "class Bad:\n    needs_worlds = False\n    def act(self, view):\n        raise RuntimeError('out of cards')\n"
        "class Silent:\n    def act(self, view):\n        return view.mask.argmax(axis=1)\n"
    )
    assert words in refusal(module.main, arguments)
