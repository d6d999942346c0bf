"""experiments.evaluate: shared deals, rotated seats, intervals over deals, bad input."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import agents  # noqa: F401
from experiments.evaluate import evaluate, play, summarise
from llama_envs.policies.policy import View, make_policy
from llama_envs.core.registry import game_names, make_game

ROOT = Path(__file__).parents[2]


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "experiments.evaluate", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )


class Watcher:
    """Takes the first legal action and counts in which seats it was asked."""

    needs_worlds = False

    def __init__(self) -> None:
        self.games = np.zeros(3, int)

    def act(self, view: View) -> np.ndarray:
        self.games = np.maximum(self.games, np.bincount(view.seat, minlength=3))
        return view.mask.argmax(axis=1)


@pytest.mark.parametrize("game", game_names())
def test_every_entrant_sits_in_every_seat_once_a_deal(game: str) -> None:
    room = make_game(game, num_players=3, **({"first_player": 0} if game == "lama" else {}))
    watched = Watcher()
    games = play(room, [watched, Watcher(), Watcher()], 40, 1)
    assert watched.games.tolist() == [40, 40, 40]
    assert games.win.shape == (40, 3, 3)
    assert np.allclose(games.win.sum(axis=2), 1.0)


@pytest.mark.parametrize("game", game_names())
def test_deterministic_entrants_see_the_same_deal_in_each_rotation(game: str) -> None:
    room = make_game(game, num_players=2)
    games = play(room, [make_policy("heuristic", room)] * 2, 60, 3)
    # the same policy at every seat: rotating the entrants only renames them
    assert np.array_equal(games.score[:, 0, 0], games.score[:, 1, 1])
    assert np.array_equal(games.score[:, 0, 1], games.score[:, 1, 0])


@pytest.mark.parametrize("game", game_names())
def test_equal_policies_tie_exactly_when_deterministic(game: str) -> None:
    room = make_game(game, num_players=3)
    games = play(room, [make_policy("heuristic", room)] * 3, 200, 5)
    per_entrant = games.win.mean(axis=(0, 1))
    assert np.allclose(per_entrant, 1 / 3)


def test_results_do_not_depend_on_how_many_games_are_played_at_once() -> None:
    room = make_game("lama", num_players=3)
    names = ["heuristic", "random", "random"]
    together, _ = evaluate(room, names, 50, 2, games_at_once=10_000)
    apart, _ = evaluate(room, names, 50, 2, games_at_once=7)
    pd.testing.assert_frame_equal(together, apart)


def test_permuting_the_entrants_permutes_the_table_and_changes_nothing_else() -> None:
    room = make_game("lama", num_players=2)
    one, _ = evaluate(room, ["heuristic:5", "heuristic:2"], 300, 2)
    two, _ = evaluate(room, ["heuristic:2", "heuristic:5"], 300, 2)
    pd.testing.assert_frame_equal(one, two.iloc[::-1].reset_index(drop=True))


def test_intervals_are_over_deals_not_over_games() -> None:
    room = make_game("lama", num_players=2)
    names = ["heuristic", "heuristic:0"]
    games = play(room, [make_policy(name, room) for name in names], 400, 4)
    row = summarise(room, names, games).iloc[0]
    by_hand = games.win[:, :, 0].mean(axis=1)
    assert row["win_share_95"] == pytest.approx(1.959964 * by_hand.std(ddof=1) / 20)
    assert row["win_share"] == pytest.approx(by_hand.mean())


def test_games_cut_short_are_shown_and_not_counted() -> None:
    room = make_game("lama", num_players=2, max_rounds=1)
    table, _ = evaluate(room, ["heuristic", "random"], 50, 0)
    assert table["truncated"].tolist() == [100, 100]
    assert table["games"].tolist() == [0, 0]
    assert table["win_share"].isna().all()


def test_the_fewest_points_win_one_game_and_the_most_the_other() -> None:
    for game, better in (("lama", "min"), ("llama_llama", "max")):
        room = make_game(game, num_players=2)
        table, _ = evaluate(room, ["heuristic", "random"], 100, 0)
        scores = table[f"mean_{room.score_name}"]
        assert scores.idxmin() == 0 if better == "min" else scores.idxmax() == 0
        assert table["win_share"][0] > 0.8


def test_the_table_is_written_to_csv_and_the_same_in_every_run(tmp_path: Path) -> None:
    arguments = ["lama", "--policies", "heuristic", "random", "random", "--deals", "40", "--seed", "3", "--out"]
    assert run([*arguments, "a.csv"], tmp_path).returncode == 0
    assert run([*arguments, "b.csv"], tmp_path).returncode == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert len(pd.read_csv(tmp_path / "a.csv")) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lama", "--policies", "heuristic", "nobody"], "unknown policy 'nobody'; known are"),
        (["lama", "--policies", "random"], "num_players must be an integer from 2 to 6, got 1"),
        (["lama", "--num-players", "4", "--policies", "random", "random"], "policies must be 4 names"),
        (["lama", "--policies", "random", "heuristic:99"], "'heuristic:T' must be an integer from 0 to 31"),
        (["llama_llama", "--policies", "random", "heuristic:x"], "care in 'heuristic:CARE' must be a number"),
        (["llama_llama", "--policies", *["random"] * 5], "num_players must be an integer from 2 to 4, got 5"),
        (["llama_llama", "--deck", "missing.toml"], "missing.toml"),
        (["lama", "--policies", "random", "ppo:missing.zip"], "there is no model file missing.zip"),
        (["lama", "--policies", "random", "ppo:broken.zip"], "broken.zip is not a readable"),
        (["lama", "--deals", "0"], "deals must be an integer from 1"),
        (["lama", "--out", "/nowhere/at/all.csv", "--deals", "2"], "cannot write"),
    ],
)
def test_bad_input_gives_one_sentence_and_exit_code_2(arguments: list[str], words: str, tmp_path: Path) -> None:
    (tmp_path / "broken.zip").write_bytes(b"not a zip")
    if "/nowhere/at/all.csv" in arguments:
        (tmp_path / "file").write_text("")
        arguments = [argument.replace("/nowhere/at/all.csv", "file/all.csv") for argument in arguments]
    done = run(arguments, tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
