"""Recorded evaluations, and the table of their decisions."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.decisions import decisions, load_decisions, write_table
from llama_envs.core.recording import RecordedGame, position
from llama_envs.core.registry import make_game
from llama_envs.evaluation import play
from tests.cases import CHECKOUT, GAMES


def recorded(name: str, deals: int = 20, num_players: int = 3, seed: int = 5) -> list[RecordedGame]:
    names = ["heuristic", *["random"] * (num_players - 1)]
    return list(play(make_game(name, num_players=num_players), names, deals, seed, record=True).recorded)


@pytest.mark.parametrize("name", GAMES)
def test_recording_changes_no_number_and_keeps_every_game_in_order(name: str) -> None:
    game = make_game(name, num_players=2)
    plain = play(game, ["heuristic", "random"], 30, 1, games_at_once=16)
    kept = play(game, ["heuristic", "random"], 30, 1, games_at_once=16, record=True)
    assert np.array_equal(plain.score, kept.score)
    assert np.array_equal(plain.win, kept.win)
    assert list(plain.recorded) == []
    assert len(kept.recorded) == 60
    for place, one in enumerate(kept.recorded):
        deal, rotation = divmod(place, 2)
        assert one.policies == (("heuristic", "random") if rotation == 0 else ("random", "heuristic"))
        seats = [(entrant + rotation) % 2 for entrant in range(2)]
        assert [one.totals[seat] for seat in seats] == kept.score[deal, rotation].tolist()


@pytest.mark.parametrize("name", GAMES)
def test_every_decision_is_one_row_as_it_was_in_the_game(name: str) -> None:
    games = recorded(name)
    piece = "hand"
    table = decisions(games, [piece])
    assert len(table) == sum(len(game.actions) for game in games)
    assert not table.drop(columns=["win_share", "seconds"]).isna().any().any()
    assert table["seconds"].isna().all()  # nobody took the time
    assert table["game"].is_monotonic_increasing
    for row in table.sample(60, random_state=1).to_dict("records"):
        game = games[row["game"]]
        batch = position(game, row["decision"])
        state, seat = batch.state[0], row["seat"]
        assert seat == batch.to_move[0]
        assert row["kind"] == game.game.kind_of(state, row["action"])
        assert row["deal"] == game.seed
        assert row["id"] == game.game.id
        assert row["policy"] == game.policies[seat]
        assert row["action"] == game.actions[row["decision"]]
        assert row["action_name"] == game.game.action_names[row["action"]]
        assert row["legal"] == batch.action_mask[0].sum()
        assert row["round"] == state["rounds"]
        assert row["total"] == state["total"][seat]
        assert [row[f"total_{i}"] for i in range(3)] == state["total"].tolist()
        assert row["win_share"] == game.game.win_shares(position(game).state)[0, seat]
        seen = game.game.observation.decode(batch.observation[0])[piece]
        assert [row[f"{piece}[{i}]"] for i in range(len(seen))] == seen.tolist()


def test_games_of_different_configurations_share_one_table() -> None:
    games = [*recorded("lama", 2, 3), *recorded("llama_llama", 2, 2), *recorded("lama", 2, 2)]
    table = decisions(games)
    assert table["game"].unique().tolist() == list(range(len(games)))
    assert table.groupby("game")["id"].first().tolist() == [game.game.id for game in games]
    assert table.loc[table["game"] == len(games) - 1, "total_2"].isna().all()


def test_unfinished_games_have_no_winner_and_games_without_decisions_no_row() -> None:
    whole = recorded("lama", 1)[0]
    begun = RecordedGame(whole.game, whole.seed, 0, 0, whole.actions[:5], (0, 0, 0))
    untouched = RecordedGame(whole.game, whole.seed, 0, 0, whole.actions[:0], (0, 0, 0))
    table = decisions([begun, untouched])
    assert len(table) == 5
    assert table["win_share"].isna().all()
    assert (table["policy"] == "").all()


def test_wrong_requests_are_one_sentence(tmp_path: Path) -> None:
    games = recorded("lama", 1)
    with pytest.raises(ValueError, match="observation must name each piece once, got hand hand"):
        decisions(games, ["hand", "hand"])
    with pytest.raises(ValueError, match=r"lama_v0 has no observation piece 'hands'; it has phase, hand"):
        decisions(games, ["hands"])
    with pytest.raises(ValueError, match="no recorded games"):
        decisions([])
    with pytest.raises(ValueError, match=r"must be a file that ends with \.csv or \.parquet, got .*table\.txt"):
        write_table(decisions(games), tmp_path / "table.txt")
    with pytest.raises(ValueError, match="out must be a file that can be written, got /proc"):
        write_table(decisions(games), Path("/proc/nothing/table.csv"))


def test_a_table_is_the_same_after_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    table = decisions(recorded("llama_llama", 3))
    write_table(table, tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "table.parquet"), table, check_categorical=False)


def test_a_hundred_thousand_decisions_take_seconds() -> None:
    game = make_game("llama_llama", num_players=4)
    games = play(game, ["random"] * 4, 160, 0, record=True).recorded
    decisions(games[:4])  # what is compiled once
    started = time.process_time()
    table = decisions(games)
    assert len(table) > 100_000
    assert time.process_time() - started < 5


def test_the_commands_record_and_read_a_file(tmp_path: Path) -> None:
    def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", f"experiments.{module}", *arguments],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, capture_output=True, text=True, timeout=300,
        )  # fmt: skip

    done = run("evaluate", "lama", "--policies", "heuristic", "random", "--deals", "8", "--record", "games.jsonl")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]
    done = run("decisions", "games.jsonl", "--out", "table.csv", "--observation", "hand")
    assert done.returncode == 0, done.stderr
    assert "decisions of 16 games" in done.stdout
    table = pd.read_csv(tmp_path / "table.csv", keep_default_na=False)
    expected = load_decisions(tmp_path / "games.jsonl", ["hand"])
    assert len(table) == len(expected)
    assert table["hand[0]"].tolist() == expected["hand[0]"].tolist()
    (tmp_path / "games.jsonl").write_text("{")
    done = run("decisions", "games.jsonl")
    assert done.returncode == 2
    assert done.stderr.startswith("error: games.jsonl, line 1: it is damaged: no JSON")
    assert done.stderr.count("\n") == 1
