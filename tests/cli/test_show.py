"""What commands print fits 80 columns, and nothing is cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from experiments.exact import __main__ as exact
from llama_envs.cli import evaluate, games, policies, show, tournament
from tests.experiments.commands import call, fits


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


MANY = ("heuristic", "random", "heuristic:0", "heuristic:1", "heuristic:2", "baseline")


@pytest.mark.parametrize(
    ("main", "arguments", "shown"),
    [
        (games.main, [], ["--num-players", "--max-rounds"]),
        (policies.main, [], ["ismcts:N[:ROLLOUT]"]),
        (exact.main, ["--variants", "lama-2x2-1-win", "--seeds", "0", "--workers", "1"], ["lama-2x2-1-win: NashConv"]),
        (evaluate.main, ["lama", "--policies", "heuristic", "random", "--deals", "1"], ["± ∞", "mean penalty"]),
        (
            tournament.main,
            ["lama", "--policies", *MANY, "--num-players", "3", "--deals", "6", "--workers", "1"],
            ["rating", "raw share", "alpha", "heuristic:2", "decision"],
        ),
        (
            tournament.main,
            ["lama", "--policies", *MANY[:2], "--num-players", "4", "--deals", "1", "--workers", "1"],
            ["± ∞", "± ∞: these games give no bound", "one (row) among 3"],
        ),
    ],
    ids=["games", "policies", "exact", "evaluate", "tournament", "tournament of one deal"],
)
def test_a_command_prints_at_most_80_columns_and_cuts_nothing(
    main: Callable[[Sequence[str]], None],
    arguments: list[str],
    shown: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call(main, arguments, tmp_path, monkeypatch) == 0
    printed = capsys.readouterr().out
    fits(printed)
    assert all(words in " ".join(printed.split()) for words in shown)


def test_columns_that_do_not_fit_follow_beside_the_names_and_long_names_go_on_in_the_next_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = ["ppo:runs/a_rather_long_name_of_a_run/model.zip", "[red]", "c"]
    frame = pd.DataFrame({"policy": names, **{f"number {k}": [f"{k}.250 ± 0.001"] * 3 for k in range(9)}})
    show.show_table(frame, "title", "a note " * 30)
    printed = capsys.readouterr().out
    fits(printed)
    assert printed.count("[red]") == 3
    assert all(printed.count(f"{k}.250 ± 0.001") == 3 for k in range(9))
    assert names[0] in "".join(line[:26].strip() for line in printed.splitlines())


def test_what_is_unbounded_is_explained_below_the_table_and_only_there(capsys: pytest.CaptureFixture[str]) -> None:
    for cell, explained in (("1 ± ∞", True), ("1 ± 2", False)):
        frame: Any = pd.DataFrame({"policy": ["a"], "rating": [cell]})
        show.show_table(frame, "title")
        assert ("± ∞: these games give no bound" in capsys.readouterr().out) == explained
        assert bool(show.explained(frame)) == explained
