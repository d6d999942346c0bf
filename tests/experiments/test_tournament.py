"""experiments.tournament: fair tables, deals as observations, ratings with ties, failures shown, resuming."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import agents  # noqa: F401
from experiments import tournament as module
from llama_envs.evaluation.schedules import balanced, make_tables, seat_orders
from llama_envs.evaluation.standings import Results, alpha_rank, bradley_terry, pairwise, ratings, share_ratio, standings
from experiments.tournament import Tournament, block_seed, make_plan, run_tournament
from llama_envs.core.batch import Batch
from llama_envs.policies.policy import Players, View, make_policy
from llama_envs.core.registry import game_names, make_game

ROOT = Path(__file__).parents[2]
FILES = ("standings.csv", "pairwise.csv", "tables.csv", "games.parquet", "heatmap.png", "report.md")


def play(folder: Path, policies: object, players: int = 2, game: str = "lama", **options: object) -> Tournament:
    plain = {"deals": 40, "design": "auto", "block": 100, "seed": 0, "workers": 1, "rest": "", **options}
    names = {"deals", "design", "block", "seed", "workers", "rest"}
    room = make_game(game, num_players=players, **{key: value for key, value in plain.items() if key not in names})
    settings = {key: plain[key] for key in names - {"workers"}}
    plan = make_plan(room, policies, **settings)  # type: ignore[arg-type]
    return run_tournament(plan, folder, workers=plain["workers"])  # type: ignore[arg-type]


def main(arguments: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """The command line in this process: its exit code."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["tournament", *arguments])
    try:
        module.main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def made_up(names: str, wins: list[list[float]]) -> Results:
    """Results of one deal for each row: everybody at one table, ``wins[d][policy]`` in every rotation."""
    table = tuple(range(len(names)))
    win = np.repeat(np.array(wins, float)[:, None, None, :], len(names), axis=2)
    return Results(tuple(names), (table,), win, win * 0, np.zeros(win.shape[:3], np.bool_), {})


class Raises:
    needs_worlds = False

    def __init__(self, after: int = 0) -> None:
        self.left = after

    def act(self, view: View) -> np.ndarray:
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("out of cards")
        return view.mask.argmax(axis=1)


class PlaysIllegally:
    needs_worlds = False

    def act(self, view: View) -> np.ndarray:
        return view.mask.argmin(axis=1)


class Notes:
    """Takes the first legal action; notes the seats it was asked in, and what it saw when a game was new."""

    needs_worlds = False

    def __init__(self, seen: dict[str, list[object]], name: str) -> None:
        self.seen, self.name = seen, name

    def act(self, view: View) -> np.ndarray:
        self.seen[self.name].append((view.seat.copy(), view.observation.copy()))
        return view.mask.argmax(axis=1)


# ------------------------------------------------------------------------------------------------------------- design


@pytest.mark.parametrize(("policies", "players"), [(5, 3), (7, 3), (8, 4), (13, 4), (10, 5), (9, 6), (12, 6)])
def test_a_balanced_design_seats_every_policy_and_every_pair_equally_often(policies: int, players: int) -> None:
    tables = balanced(policies, players)
    meetings = Counter(pair for table in tables for pair in combinations(table, 2))
    assert len(meetings) == policies * (policies - 1) // 2
    assert len(set(meetings.values())) == 1
    assert len(set(Counter(seat for table in tables for seat in table).values())) == 1
    assert all(len(set(table)) == players for table in tables)
    assert len(set(tables)) == len(tables) <= len(make_tables(policies, players, "round_robin"))


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("design", ["auto", "round_robin", "balanced", "one_vs_rest"])
def test_every_pair_meets_and_every_table_is_full_in_every_design(design: str, players: int) -> None:
    for policies in (2, 3, 5, 9):
        tables = make_tables(policies, players, design)
        assert {len(table) for table in tables} == {players}
        met = Counter(pair for table in tables for pair in combinations(sorted(set(table)), 2))
        assert len(met) == policies * (policies - 1) // 2
        assert len(set(met.values())) == 1


def test_two_policies_at_a_table_of_four_meet_in_every_split_and_one_against_three_is_among_them() -> None:
    assert make_tables(2, 4, "auto") == [(0, 0, 0, 1), (0, 0, 1, 1), (0, 1, 1, 1)]
    assert make_tables(2, 4, "one_vs_rest") == [(0, 0, 0, 1), (0, 1, 1, 1)]


def test_with_a_rest_every_other_policy_sits_alone_among_it(tmp_path: Path) -> None:
    assert make_tables(3, 4, "auto", rest=1) == [(0, 1, 1, 1), (1, 1, 1, 2)]
    done = play(tmp_path, ("random", "heuristic", "heuristic:0"), 3, rest="heuristic")
    assert set(done.one_vs_rest["rest"]) == {"heuristic"}
    assert set(done.one_vs_rest["policy"]) == {"random", "heuristic:0"}


def test_too_many_tables_are_refused_with_a_way_out() -> None:
    with pytest.raises(ValueError, match="use --design balanced"):
        make_tables(20, 4, "round_robin")


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_over_the_orders_of_places_everyone_sits_at_every_distance_from_everyone_equally_often(players: int) -> None:
    orders = seat_orders(players, 0)
    assert len(set(orders)) == len(orders)
    distance = Counter(
        (order[a], order[b], (b - a) % players)
        for order in orders
        for a in range(players)
        for b in range(players)
        if a != b
    )
    assert len(distance) == players * (players - 1) ** 2
    assert len(set(distance.values())) == 1


@pytest.mark.parametrize("game", game_names())
def test_every_policy_plays_every_seat_equally_often_and_deals_do_not_repeat(game: str, tmp_path: Path) -> None:
    seen: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {name: [] for name in "abc"}
    seating = {"first_player": 0} if game == "lama" else {}
    play(tmp_path, {name: Notes(seen, name) for name in "abc"}, 3, game, deals=400, block=400, **seating)
    openings = []
    for name in "abc":
        asked = np.zeros(3, int)
        for seats, rows in seen[name]:
            asked = np.maximum(asked, np.bincount(seats, minlength=3))
            if (seats == 0).all() and len(openings) < 2:  # the first decision in two orders of the places
                openings.append(rows)
        assert asked.tolist() == [200, 200, 200]
    assert len(np.unique(np.concatenate(openings), axis=0)) > 350


@pytest.mark.parametrize("game", game_names())
def test_the_table_of_all_games_says_who_sat_where_as_the_games_played_again_show(game: str, tmp_path: Path) -> None:
    room = make_game(game, num_players=3)
    names = ["heuristic", "heuristic:0", "heuristic:1"]  # their choices need no luck, so a game can be played again
    plan = play(tmp_path, names, 3, game, deals=13).plan
    games = pd.read_parquet(tmp_path / "games.parquet")
    assert len(games) == 13 * 3 * 3
    policies = [make_policy(name, room) for name in names]
    for number, block in enumerate(plan.blocks):
        size = block.stop - block.start
        seeds = np.random.SeedSequence(block_seed(plan, number)).generate_state(size, np.uint64)
        for rotation in range(3):
            rows = games[games["deal"].between(block.start, block.stop - 1) & (games["rotation"] == rotation)]
            rows = rows.sort_values(["deal", "seat"])
            assignment = rows["policy"].map(names.index).to_numpy().reshape(size, 3)
            batch = Batch(room, size, seeds.astype(np.uint64))
            table, actions = Players(batch, policies, assignment, 0), np.zeros(size, np.int64)
            while table.act(actions).any():
                batch.step(actions)
            assert np.array_equal(batch.state["total"], rows["score"].to_numpy().reshape(size, 3))


@pytest.mark.parametrize("game", game_names())
def test_all_tables_play_the_same_deals(game: str, tmp_path: Path) -> None:
    room = make_game(game, num_players=3)
    copies = {name: make_policy("heuristic", room) for name in "abcd"}
    done = play(tmp_path, copies, 3, game, deals=30, design="round_robin")
    assert len(done.results.tables) == 4
    for table in (1, 2, 3):
        assert np.array_equal(done.results.score[:, table], done.results.score[:, 0])


# --------------------------------------------------------------------------------------------- equal policies, evidence


@pytest.mark.parametrize("game", game_names())
def test_a_deterministic_policy_ties_with_itself_exactly_whether_named_twice_or_otherwise(
    game: str, tmp_path: Path
) -> None:
    room = make_game(game, num_players=2)
    other = {"other": make_policy("heuristic", room), "heuristic": "heuristic"}
    for number, policies in enumerate((("heuristic", "heuristic"), other)):
        table = play(tmp_path / str(number), policies, 2, game).standings
        assert len(table) == 2
        assert table["win_share"].tolist() == [0.5, 0.5]
        assert table["rating"].tolist() == pytest.approx([0, 0], abs=1e-9)
        assert table["alpha_rank"].tolist() == pytest.approx([0.5, 0.5])
        assert table[f"mean_{room.score_name}"].nunique() == 1


def test_one_deterministic_policy_under_two_names_fills_a_table_of_three_in_equal_shares(tmp_path: Path) -> None:
    done = play(tmp_path, ("heuristic", "heuristic"), 3)
    assert done.standings["win_share"].tolist() == pytest.approx([1 / 3, 1 / 3], abs=1e-12)
    assert done.one_vs_rest["win_share"].tolist() == pytest.approx([1 / 3, 1 / 3], abs=1e-12)


def test_equal_policies_among_others_and_equal_policies_that_draw_tie_within_their_intervals(tmp_path: Path) -> None:
    mixed = play(tmp_path / "a", ("heuristic", "heuristic", "heuristic:0", "random"), 4, deals=600)
    row = mixed.pairwise.set_index(["policy", "against"]).loc[("heuristic", "heuristic (2)")]
    assert abs(row["share"] - 0.5) < 1.53 * row["share_95"]  # three standard errors
    drawn = play(tmp_path / "b", ("random", "random"), 2, deals=400).standings
    assert (abs(drawn["win_share"] - 0.5) < 1.53 * drawn["win_share_95"]).all()
    assert drawn["win_share_95"].gt(0.01).all()


def test_a_deal_is_one_observation_however_many_games_are_played_on_it(tmp_path: Path) -> None:
    done = play(tmp_path, ("heuristic", "heuristic:0"), 2, deals=200)
    index = done.results.policies.index("heuristic")
    per_deal = done.results.win[:, 0, :, index].mean(axis=1)
    row = done.standings.set_index("policy").loc["heuristic"]
    assert row["win_share"] == pytest.approx(per_deal.mean())
    assert row["win_share_95"] == pytest.approx(1.971957 * per_deal.std(ddof=1) / np.sqrt(200))  # Student's t
    assert row["games"] == 400


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(1000):
        games = rng.integers(1, 4, 100)  # deals count unequally
        wins = rng.binomial(games, 0.7)
        share, half = share_ratio(wins.astype(float), games.astype(float))
        covered += abs(share - 0.7) <= half
    assert 925 <= covered <= 970


def test_a_policy_that_never_wins_has_no_false_certainty() -> None:
    table = standings(make_game("lama", num_players=2), made_up("ab", [[1, 0]] * 50), 0).set_index("policy")
    assert table.loc["b", "win_share"] == 0
    assert table.loc["b", "win_share_95"] == pytest.approx(0.058, abs=0.001)  # 1 - 0.05 ** (1 / 50)
    assert np.isinf(table["rating_95"]).all()
    assert np.isfinite(table["rating"]).all()


# ------------------------------------------------------------------------------------------------------------- ratings


def rating_of(results: Results) -> dict[str, float]:
    return dict(zip(results.policies, ratings(results, 0)[0], strict=True))


def test_a_draw_between_equals_keeps_them_equal_and_so_does_a_draw_of_six() -> None:
    assert rating_of(made_up("ab", [[0.5, 0.5]])) == pytest.approx({"a": 0, "b": 0}, abs=1e-9)
    six = rating_of(made_up("abcdef", [[1 / 6] * 6]))
    assert max(six.values()) - min(six.values()) < 1e-9


def test_two_that_share_a_victory_are_equal_and_above_the_rest() -> None:
    got = rating_of(made_up("abcde", [[0.5, 0.5, 0, 0, 0]] * 3))
    assert got["a"] == pytest.approx(got["b"])
    assert got["b"] > max(got["c"], got["d"], got["e"]) + 1


def test_draws_bring_unequal_policies_together() -> None:
    before = rating_of(made_up("ab", [[1, 0]] * 6 + [[0, 1]] * 2))
    after = rating_of(made_up("ab", [[1, 0]] * 6 + [[0, 1]] * 2 + [[0.5, 0.5]] * 8))
    assert 0 < after["a"] - after["b"] < before["a"] - before["b"] - 1


def test_ratings_know_no_order_of_games_nor_of_seats() -> None:
    games = [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0.5, 0, 0.5], [0, 0, 1], [1, 0, 0]]
    straight = rating_of(made_up("abc", games))
    backwards = rating_of(made_up("abc", games[::-1]))
    reseated = rating_of(made_up("cba", [game[::-1] for game in games]))
    assert straight == pytest.approx(backwards)
    assert straight == pytest.approx(reseated)


def test_rock_paper_scissors_is_equal_in_rating_and_in_alpha_rank_and_the_pairs_show_the_cycle() -> None:
    win = np.full((30, 3, 2, 2), np.nan)
    tables = ((0, 1), (0, 2), (1, 2))
    for number, winner in enumerate((0, 2, 1)):  # a beats b, c beats a, b beats c: two games in three
        place = tables[number].index(winner)
        win[:, number, :, place] = np.repeat(np.arange(30) % 3 < 2, 2).reshape(30, 2)
        win[:, number, :, 1 - place] = 1 - win[:, number, :, place]
    results = Results(("a", "b", "c"), tables, win, win * 0, np.zeros((30, 3, 2), np.bool_), {})
    rating, _, mass = ratings(results, 0)
    assert rating == pytest.approx([0, 0, 0], abs=1e-6)
    assert alpha_rank(results.wins().sum(axis=0)) == pytest.approx([1 / 3] * 3, abs=1e-6)
    assert mass == pytest.approx([1 / 3] * 3, abs=0.1)
    shares = pairwise(results).set_index(["policy", "against"])["share"]
    for better, worse in (("a", "b"), ("b", "c"), ("c", "a")):
        assert shares[(better, worse)] == pytest.approx(2 / 3)
        assert shares[(worse, better)] == pytest.approx(1 / 3)


def test_the_rating_library_gives_the_closed_form_of_two_and_the_choice_model_of_three() -> None:
    got = bradley_terry(np.array([[0, 29.5], [9.5, 0]]))  # and half a game for each
    assert got[0] - got[1] == pytest.approx(400 * np.log10(30 / 10), abs=1e-6)
    won = 1000 * np.array([0.6, 0.3, 0.1])
    three = bradley_terry(np.repeat(won[:, None], 3, axis=1) * (1 - np.eye(3)))
    assert three[0] - three[1] == pytest.approx(400 * np.log10(2), abs=1)
    assert three[1] - three[2] == pytest.approx(400 * np.log10(3), abs=1)


@pytest.mark.parametrize("game", game_names())
def test_the_winner_is_rated_above_the_loser_whether_fewest_or_most_points_win(game: str, tmp_path: Path) -> None:
    table = play(tmp_path, ("random", "heuristic"), 2, game).standings
    assert table["policy"].tolist() == ["heuristic", "random"]
    assert table["rating"].is_monotonic_decreasing
    assert table["win_share"][0] > 0.8


# -------------------------------------------------------------------------------------------- failures, cut-short games


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (Raises(), "RuntimeError: out of cards"),
        (Raises(after=9), "RuntimeError: out of cards"),
        (PlaysIllegally(), "is not legal; legal are"),
    ],
)
def test_a_policy_that_fails_is_named_with_its_error_and_the_others_are_rated_as_without_it(
    bad: object, words: str, tmp_path: Path
) -> None:
    names = {"heuristic": "heuristic", "random": "random"}
    done = play(tmp_path / "with", {**names, "bad": bad}, deals=20)
    alone = play(tmp_path / "without", names, deals=20)
    row = done.standings.set_index("policy").loc["bad"]
    assert words in row["error"]
    assert (row["games"], row["unrated"]) == (0, 80)
    assert np.isnan(row["rating"])
    assert np.isnan(row["win_share"])
    rest = done.standings[done.standings["policy"] != "bad"].reset_index(drop=True)
    judged = ["policy", "win_share", "win_share_95", "rating", "rating_95", "alpha_rank", "games"]
    pd.testing.assert_frame_equal(rest[judged], alone.standings[judged])
    assert rest["unrated"].tolist() == [40, 40]
    text = (tmp_path / "with" / "report.md").read_text()
    assert "`bad` failed" in text
    assert words in text


def test_games_cut_short_are_counted_and_never_rated(tmp_path: Path) -> None:
    every = play(tmp_path / "all", ("heuristic", "random"), max_rounds=1)
    assert every.standings["truncated"].tolist() == [80, 80]
    assert every.standings[["win_share", "rating", "alpha_rank"]].isna().all(axis=None)
    assert "80 games cut short" in (tmp_path / "all" / "report.md").read_text()
    some = play(tmp_path / "some", ("heuristic", "heuristic:0"), max_rounds=6)
    cut = some.results.truncated
    assert 0 < cut.sum() < cut.size
    assert some.standings["games"].tolist() == [cut.size - cut.sum()] * 2
    assert some.standings["win_share"].sum() == pytest.approx(1)


# ---------------------------------------------------------------------------------- the same result, in whatever way


def files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


def test_the_order_of_the_policies_and_the_number_of_processes_change_nothing(tmp_path: Path) -> None:
    names = ["heuristic", "random", "mc:2", "heuristic:0"]
    play(tmp_path / "one", names, 3, deals=12)
    play(tmp_path / "two", names[::-1], 3, deals=12, workers=2)
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_other_seeds_are_other_deals(tmp_path: Path) -> None:
    one, two = (play(tmp_path / str(seed), ("heuristic", "random"), seed=seed) for seed in (0, 1))
    assert not np.array_equal(one.results.score, two.results.score)


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


def start(arguments: list[str], folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "experiments.tournament", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks for processes in /proc")
def test_a_killed_tournament_resumes_and_gives_the_same_files_and_leaves_no_process(tmp_path: Path) -> None:
    names = ["mc:60", "heuristic"]
    arguments = ["lama", "--policies", *names, "--num-players", "3", "--deals", "40", "--block", "4", "--name", "cut"]
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
    play(tmp_path / "whole", names, 3, deals=40, block=4)
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
    assert main([*arguments, "--workers", "1"], tmp_path, monkeypatch) == 0
    shown = capsys.readouterr().out
    assert "heuristic" in shown
    assert "report.md" in shown
    folder = tmp_path / "runs" / "x"
    assert {path.name for path in folder.iterdir()} == {
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
    assert main([*arguments, "--workers", "1"], tmp_path, monkeypatch) == 2, "a run was overwritten"
    assert main([*arguments, "--workers", "1", "--resume", "--seed", "1"], tmp_path, monkeypatch) == 2
    assert "was started with other options: seed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lama", "--policies", "heuristic"], "policies must be two or more, got 1"),
        (["lama", "--policies", "heuristic", "nobody"], "unknown policy 'nobody'; known are"),
        (["lama", "--policies", "heuristic", "ppo:missing.zip"], "there is no model file missing.zip"),
        (["lama", "--design", "swiss"], "design must be one of"),
        (["lama", "--rest", "mc:5"], "rest must be one of the policies, heuristic, random, got 'mc:5'"),
        (["lama", "--deals", "0"], "deals must be an integer from 1"),
        (["llama_llama", "--num-players", "5"], "num_players must be an integer from 2 to 4, got 5"),
        (["lama", "--name", "nothing", "--resume"], "there is no run"),
        (["lama", "--design", "round_robin", "--policies", *[f"heuristic:{t}" for t in range(20)]], "4,845 tables"),
    ],
)
def test_bad_input_gives_one_sentence_and_leaves_nothing(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(arguments, tmp_path, monkeypatch) == 2
    error = capsys.readouterr().err
    assert words in error
    assert list(tmp_path.iterdir()) == []
