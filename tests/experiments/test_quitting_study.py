"""experiments.quitting_study: the decisions that it asks about, and forks that differ in one action."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.lib.report import run
from experiments.lib.study import Study, policy_of, split_seed
from experiments.quitting.__main__ import SUBJECT, Options, main
from experiments.quitting.play import (
    CHIP,
    COULD_PLAY,
    STUCK,
    DecisionSample,
    PlayedBatch,
    action_of,
    fork,
    is_of,
    penalty_of,
    play_alike,
    play_arm,
    play_on,
    playable,
)
from experiments.quitting.positions import margins, penalties, totals
from llama_envs.core.batch import Batch
from llama_envs.core.registry import make_game
from llama_envs.evaluation import play
from llama_envs.policies import make_policy
from tests.cases import choose_in
from tests.experiments.commands import Refusal
from tests.experiments.reports import check_report


@pytest.mark.parametrize(
    ("cards", "points"),
    [((3, 3, 3, 5, 7, 7), 18), ((6, 6, 6), 6), ((1, 2, 3, 4, 5, 6, 7, 7, 1), 31), ((), 0)],
)
def test_every_rank_counts_once__L13(cards: tuple[int, ...], points: int) -> None:
    hand = np.bincount(np.array(cards, np.int64), minlength=8)[1:]
    assert penalty_of(hand.astype(np.int8)) == points


@pytest.mark.parametrize("players", [2, 4, 6])
def test_decisions_are_told_apart_by_what_is_legal(players: int) -> None:
    game = make_game("lama", num_players=players)
    batch = Batch(game, 60, 3)
    streams = split_seed(0, 60) | np.uint64(1)
    draw, quit_, keep = (action_of(game, name) for name in ("draw", "quit", "keep"))
    policy = make_policy("heuristic", game)
    met = dict.fromkeys((STUCK, COULD_PLAY, CHIP), 0)
    for _ in range(300):
        rows = np.flatnonzero(batch.to_move >= 0)
        if not len(rows):
            break
        state, mask = batch.state[rows], batch.action_mask[rows]
        may_play = mask[:, :draw].any(axis=1)
        turn = mask[:, quit_]
        np.testing.assert_array_equal(playable(state, state["to_move"].astype(np.int64))[turn], may_play[turn])
        np.testing.assert_array_equal(is_of(STUCK, state), mask[:, draw] & ~may_play)
        np.testing.assert_array_equal(is_of(COULD_PLAY, state), mask[:, draw] & may_play)
        np.testing.assert_array_equal(is_of(CHIP, state), mask[:, keep])
        for kind in met:
            met[kind] += int(is_of(kind, state).sum())
        actions = batch.sample_actions(streams)
        clever = choose_in(policy, game, batch.state[rows], batch.to_move[rows].astype(np.int64))
        actions[rows] = np.where(rows % 4 > 0, clever, actions[rows])  # random play rarely empties a hand
        batch.step(actions)
    assert min(met.values()) > 5


def test_every_decision_of_a_game_has_the_same_chance_to_be_kept() -> None:
    game = make_game("lama", num_players=2, first_player=0)
    seeds = np.full(2000, 11, np.uint64)  # the same game over and over: its decisions come in the same order
    batch = Batch(game, len(seeds), seeds)
    games = PlayedBatch(batch, [policy_of("heuristic", game)], np.zeros((len(seeds), 2), np.int64), seeds)
    sample = DecisionSample(batch, STUCK, 3, seeds)
    met: list[bytes] = []

    def before(rows: np.ndarray) -> None:
        if is_of(STUCK, batch.state[:1])[0]:
            met.append(batch.state[0].tobytes())
        sample(rows)

    while games.step(before=before):
        pass
    assert len(met) == sample.met[0] > 10
    assert len(set(met)) == len(met)
    kept = np.array([met.index(state.tobytes()) for state in sample.states.ravel()])
    counts = np.bincount(kept, minlength=len(met))
    expected = 3 * len(seeds) / len(met)
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()
    assert (np.diff(np.sort(kept.reshape(-1, 3), axis=1), axis=1) > 0).all()  # never one decision twice


def positions(kind: str, players: int = 3, deals: int = 60) -> tuple:
    game = make_game("lama", num_players=players)
    seeds = split_seed(1, deals)
    batch = Batch(game, deals, seeds)
    games = PlayedBatch(batch, [policy_of("heuristic", game)], np.zeros((deals, players), np.int64), seeds)
    sample = DecisionSample(batch, kind, 2, seeds)
    while games.step(before=sample):
        pass
    return game, sample.states[sample.present]


def test_the_same_action_with_the_same_luck_is_the_same_game_and_positions_stay_as_they_are() -> None:
    game, states = positions(STUCK)
    before, policy, seeds = states.copy(), policy_of("heuristic", game), split_seed(2, len(states))
    draw = action_of(game, "draw")
    one, other = (play_on(game, states, draw, policy, seeds) for _ in range(2))
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[1], other[1])
    np.testing.assert_array_equal(states, before)
    np.testing.assert_allclose(one[0].sum(axis=1), 1)
    assert (play_on(game, states, action_of(game, "quit"), policy, seeds)[0] != one[0]).any()


def test_who_quits_takes_the_penalty_in_its_hand() -> None:
    game, states = positions(STUCK)
    _, points = play_on(game, states, action_of(game, "quit"), policy_of("heuristic", game), split_seed(2, len(states)))
    rows, seats = np.arange(len(states)), states["to_move"].astype(np.int64)
    np.testing.assert_array_equal(points[rows, seats], penalty_of(states["hand"][rows, seats]))


def test_a_returned_chip_is_worth_its_points_and_only_owned_chips_are_returned() -> None:
    game, states = positions(CHIP)
    rows, seats = np.arange(len(states)), states["to_move"].astype(np.int64)
    policy, seeds = policy_of("heuristic", game), split_seed(2, len(states))
    points = {
        name: play_on(game, states, action_of(game, name), policy, seeds)[1][rows, seats]
        for name in ("keep", "white", "black")
    }
    assert (points["keep"] == 0).all()
    for name, value in (("white", 1), ("black", 10)):
        owned = states[name][rows, seats] > 0
        assert 0 < owned.sum() < len(owned)
        assert (points[name][owned] == -value).all()
        assert np.isnan(points[name][~owned]).all()


def test_a_fork_reports_the_position_and_the_others_mean() -> None:
    game = make_game("lama", num_players=2)
    result = fork(game, "heuristic", STUCK, ("quit", "draw", "own"), 2, split_seed(4, 80))
    kept = ~np.isnan(result["penalty"])
    assert (result["opponents"][kept] == 1).all()
    assert ((result["stock"][kept] >= 1) & (result["stock"][kept] <= 43)).all()
    small = kept & (result["penalty"] <= 5)
    large = kept & (result["penalty"] > 5)
    assert small.any()
    assert large.any()
    # when stuck the heuristic quits at a penalty of 5 or less, else it draws
    np.testing.assert_array_equal(result["win_own"][small], result["win_quit"][small])
    np.testing.assert_array_equal(result["win_own"][large], result["win_draw"][large])
    assert (result["lead_own"][small] >= -result["penalty"][small] - 10).all()


def test_arms_agree_with_the_evaluation_of_the_suite() -> None:
    game = make_game("lama", num_players=3)
    here = play_arm(game, "heuristic:8", "heuristic", split_seed(6, 50))
    there = play(game, ["heuristic:8", "heuristic", "heuristic"], 50, 6, orders=[(0, 1, 2)])
    np.testing.assert_array_equal(here["win"], there.win[:, :, 0])


def test_the_first_round_is_the_first_round() -> None:
    alone = make_game("lama", num_players=4, first_player=0, max_rounds=1, single_round_terminates=True)
    whole = play_alike(make_game("lama", num_players=4), "heuristic", 0, split_seed(7, 50))
    one = play_alike(alone, "heuristic", None, split_seed(7, 50))
    np.testing.assert_array_equal(whole["first"], one["first"])
    np.testing.assert_allclose(one["first"].mean(axis=1), one["points"])
    assert (whole["rounds"] > 1).any()


def test_the_report_is_whole_and_the_same_in_every_run(tmp_path: Path, every_verdict: set[str]) -> None:
    for name, only in (("a", ()), ("b", ("quit", "chip"))):
        run(SUBJECT, Options(only=only, num_players=(2, 3), deals=24, workers=1, out=tmp_path / name))
    assert set(SUBJECT.findings.sentences) - every_verdict == {"report.untrained", "seats.rotate"}
    text = check_report(tmp_path / "a")
    assert text.count("**Question.**") == len(SUBJECT.parts)
    assert len(list((tmp_path / "a").glob("*.csv"))) == 6
    again = sorted(path.name for path in (tmp_path / "b").glob("*.csv"))
    assert len(again) == 2
    for name in again:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    assert set(pd.read_csv(tmp_path / "a" / "quitting.csv")["by"]) > {"all", "opponents", "stock", "margin"}


def test_bins_follow_the_rules() -> None:
    usual = Study(SUBJECT, Options(), {})
    assert penalties(usual)[-1] == (21, 31)
    assert totals(usual) == [(1, 9), (10, 19), (20, 29), (30, 39)]
    assert margins(usual) == [(-40, -11), (-10, -1), (0, 9), (10, 40)]
    other = Study(SUBJECT, Options(), {"num_ranks": 4, "copies": 14, "target_score": 20})
    assert penalties(other) == [(1, 3), (4, 6), (7, 9), (10, 12), (13, 15), (16, 16)]
    assert totals(other) == [(1, 4), (5, 9), (10, 14), (15, 19)]
    assert margins(other) == [(-20, -6), (-5, -1), (0, 4), (5, 20)]


def test_a_study_of_ones_own_rules_and_policy_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("from llama_envs.policies import RandomPolicy as Mine\n", encoding="utf-8")
    rules = "--target-score 20 --num-ranks 4 --copies 14 --next-starter rotate --chip-return auto"
    arguments = f"--num-players 2 --policies mine.py:Mine --deals 20 --workers 1 --out here {rules}".split()
    main([*arguments, "--only", "quit", "threshold", "early", "seats"])
    text = check_report(Path("here"))
    assert "`next_starter = rotate`" in text
    assert "Later rounds are opened by each seat in turn" in text
    assert "last actor" not in text
    assert "No trained agent ships for 2 players" in text
    assert "| 2 | policy mine.py:Mine |" in text
    assert not re.search(r"21 to|30 to 39|-40", text)
    (line,) = re.findall(r"Reproduce: `(.* --only seats .*)`", text)
    main([*line.removeprefix("python -m experiments.quitting_study ").split(), "--out", "again", "--workers", "1"])
    assert Path("here/seats.csv").read_bytes() == Path("again/seats.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--num-players"], "--num-players must have one value or more."),
        (["--seed", "-1"], "seed must be an integer in [0, 2**64), got -1"),
        (["--out", "README.md"], "out must be a folder, and README.md is none"),
        (["--processes", "2"], "--processes is called --workers now"),
        (
            ["--chip-return", "auto"],
            "leaves the part 'chip' nothing to ask; --only quit threshold early seats can be asked",
        ),
        (["--max-rounds", "1", "--single-round-terminates"], "max_rounds = 1 leaves the part 'chip' nothing to ask"),
        (
            ["--max-rounds", "1", "--only", "quit", "--num-players", "2", "--deals", "20", "--workers", "1"],
            "no game came to its end within max_rounds = 1, so nobody won any",
        ),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_nothing(
    arguments: list[str], words: str, refusal: Refusal, tmp_path: Path
) -> None:
    (tmp_path / "README.md").write_text("kept", encoding="utf-8")
    assert words in refusal(main, arguments)


def test_games_that_are_cut_short_have_no_winner() -> None:
    game = make_game("lama", num_players=2, max_rounds=2)
    result = play_alike(game, "heuristic", None, split_seed(7, 60))
    assert np.isnan(result["win"]).any()
    assert not np.isnan(result["first"]).any()
