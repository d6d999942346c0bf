"""Mistakes that once ended in another library's words, in silence, or in numbers out of range: one sentence each."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from llama_envs.cli import evaluate
from llama_envs.cli.run_folder import open_run
from llama_envs.core.batch import Batch
from llama_envs.core.registry import make_game
from llama_envs.drawing import show
from llama_envs.policies import make_policy
from llama_envs.policies.network import read_policy
from llama_envs.testing import check_game
from tests.experiments.commands import call


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"num_ranks": 2, "copies": 1, "num_players": 2},
            "num_ranks × copies must be at least 3, a card for",
        ),
        ({"num_ranks": 2, "copies": 2, "num_players": 2}, "hand_size must be at most 1, so that 2 hands and the first"),
    ],
)
def test_a_deck_that_is_too_small_is_told_in_possible_numbers(options: dict[str, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make_game("lama", **options)


def test_a_picture_of_no_game_and_of_no_seat() -> None:
    batch = Batch(make_game("lama"), 2, 0)
    with pytest.raises(ValueError, match="index must be an integer from 0 to 1, got 2"):
        show(batch, 2)
    with pytest.raises(ValueError, match="seat must be an integer from 0 to 3, got 4"):
        show(batch, 0, 4)


def test_the_name_of_a_game_is_no_game() -> None:
    with pytest.raises(ValueError, match=r"game must be a Game, as make_game\(...\) makes one, got 'lama'"):
        check_game("lama")  # type: ignore[arg-type]


def test_what_is_no_policy_is_named_by_its_kind() -> None:
    for given, kind in ((object(), "an object of the class object"), (int, "the class int")):
        with pytest.raises(ValueError, match=rf"needs_worlds, got {kind}\."):
            make_policy(given, make_game("lama"))  # type: ignore[arg-type]


def test_a_file_that_is_no_archive_is_no_policy(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# hello")
    with pytest.raises(ValueError, match=r"README.md is not a readable policy file \(it is no zip archive\)"):
        read_policy(tmp_path / "README.md")


@pytest.mark.parametrize("numbers", [-1, [0, -1], 0.5, [0, 1, 2], "x", True])
def test_a_batch_begins_at_episodes_and_rows_that_there_are(numbers: object) -> None:
    batch = Batch(make_game("lama"), 2, 0)
    before = batch.state.copy(), batch.episode.copy(), batch.origin[1].copy()
    for arguments in ((numbers, 0), (0, numbers)):
        with pytest.raises(ValueError, match="must be an integer from 0, or 2 of them"):
            batch.begin_at(*arguments)  # type: ignore[arg-type]
    for one, other in zip(before, (batch.state, batch.episode, batch.origin[1]), strict=True):
        assert np.array_equal(one, other)


def test_a_playout_of_fewer_than_no_decisions_is_refused() -> None:
    batch = Batch(make_game("lama"), 2, 0)
    with pytest.raises(ValueError, match="decisions must be an integer from 0"):
        batch.random_playout(np.ones(2, np.uint64), -1)


def test_runs_are_kept_where_a_link_leads_that_leads_nowhere_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.symlink("elsewhere", "runs")
    assert open_run("x", {}, False).is_dir()
    assert (tmp_path / "elsewhere" / "x" / "config.json").is_file()


def test_a_terminal_of_no_width_is_one_of_80_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "0")
    assert call(evaluate.main, ["lama", "--deals", "2"], tmp_path, monkeypatch) == 0
    assert "heuristic" in capsys.readouterr().out
