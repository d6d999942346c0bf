"""Tournaments: fair seats, shared deals, deals as observations, failures named and not rated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from llama_envs.core.batch import Batch
from llama_envs.core.registry import make_game
from llama_envs.evaluation.schedules import make_tables
from llama_envs.evaluation.standings import every_place
from llama_envs.evaluation.tournament import Tournament, block_seed, make_plan, run_tournament
from llama_envs.policies import Players, View, make_policy
from tests.cases import GAMES, cases_of


def play(folder: Path, policies: Any, players: int = 2, game: str = GAMES[0], **options: Any) -> Tournament:
    """A tournament of 40 deals; ``options`` of the plan, or of the game."""
    plain = {"deals": 40, "design": "auto", "block": 100, "seed": 0, "rest": "", **options}
    names = {"deals", "design", "block", "seed", "rest"}
    played = make_game(game, num_players=players, **{key: value for key, value in plain.items() if key not in names})
    return run_tournament(make_plan(played, policies, **{name: plain[name] for name in names}), folder)


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


def test_with_a_rest_every_other_policy_sits_alone_among_it(tmp_path: Path) -> None:
    assert make_tables(3, 4, "auto", rest=1) == [(0, 1, 1, 1), (1, 1, 1, 2)]
    done = play(tmp_path, ("random", "heuristic", "heuristic:0"), 3, rest="heuristic")
    assert set(done.one_vs_rest["rest"]) == {"heuristic"}
    assert set(done.one_vs_rest["policy"]) == {"random", "heuristic:0"}


@pytest.mark.parametrize("design", ["balanced", "round_robin"])
def test_a_rest_goes_with_no_design_that_it_would_overrule(design: str) -> None:
    with pytest.raises(ValueError, match=f"design must be 'auto' or 'one_vs_rest' with rest, .* got '{design}'"):
        make_plan(make_game(GAMES[0], num_players=3), ("random", "heuristic"), design=design, rest="random")


@pytest.mark.parametrize("game", GAMES)
def test_every_policy_plays_every_seat_equally_often_and_deals_do_not_repeat(game: str, tmp_path: Path) -> None:
    seen: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {name: [] for name in "abc"}
    seating = cases_of(game).EVERY_SEAT_ACTS
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


@pytest.mark.parametrize("game", GAMES)
def test_the_table_of_all_games_says_who_sat_where_as_the_games_played_again_show(game: str, tmp_path: Path) -> None:
    played = make_game(game, num_players=3)
    names = ["heuristic", "heuristic:0", "heuristic:1"]  # their choices need no luck, so a game can be played again
    done = play(tmp_path, names, 3, game, deals=13)
    plan, games = done.plan, every_place(done.results, done.plan.order_of_deals)
    assert len(games) == 13 * 3 * 3
    policies = [make_policy(name, played) for name in names]
    for number, block in enumerate(plan.blocks):
        size = block.stop - block.start
        seeds = np.random.SeedSequence(block_seed(plan, number)).generate_state(size, np.uint64)
        for rotation in range(3):
            rows = games[games["deal"].between(block.start, block.stop - 1) & (games["rotation"] == rotation)]
            rows = rows.sort_values(["deal", "seat"])
            assignment = rows["policy"].map(names.index).to_numpy().reshape(size, 3)
            batch = Batch(played, size, seeds.astype(np.uint64))
            Players(batch, policies, assignment, 0).play()
            assert np.array_equal(batch.state["total"], rows["score"].to_numpy().reshape(size, 3))


@pytest.mark.parametrize("game", GAMES)
def test_all_tables_play_the_same_deals(game: str, tmp_path: Path) -> None:
    played = make_game(game, num_players=3)
    copies = {name: make_policy("heuristic", played) for name in "abcd"}
    done = play(tmp_path, copies, 3, game, deals=30, design="round_robin")
    assert len(done.results.tables) == 4
    for table in (1, 2, 3):
        assert np.array_equal(done.results.score[:, table], done.results.score[:, 0])


# --------------------------------------------------------------------------------------------- equal policies, evidence


@pytest.mark.parametrize("game", GAMES)
def test_a_deterministic_policy_ties_with_itself_exactly_whether_named_twice_or_otherwise(
    game: str, tmp_path: Path
) -> None:
    played = make_game(game, num_players=2)
    other = {"other": make_policy("heuristic", played), "heuristic": "heuristic"}
    for number, policies in enumerate((("heuristic", "heuristic"), other)):
        table = play(tmp_path / str(number), policies, 2, game).standings
        assert len(table) == 2
        assert table["win_share"].tolist() == [0.5, 0.5]
        assert table["rating"].tolist() == pytest.approx([0, 0], abs=1e-9)
        assert table["alpha_rank"].tolist() == pytest.approx([0.5, 0.5])
        assert table[f"mean_{played.score_name}"].nunique() == 1


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


@pytest.mark.parametrize("game", GAMES)
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


def test_games_cut_short_are_counted_and_never_rated(tmp_path: Path) -> None:
    every = play(tmp_path / "all", ("heuristic", "random"), max_rounds=1)
    assert every.standings["truncated"].tolist() == [80, 80]
    assert every.standings[["win_share", "rating", "alpha_rank"]].isna().all(axis=None)
    some = play(tmp_path / "some", ("heuristic", "heuristic:0"), max_rounds=6)
    cut = some.results.truncated
    assert 0 < cut.sum() < cut.size
    assert some.standings["games"].tolist() == [cut.size - cut.sum()] * 2
    assert some.standings["win_share"].sum() == pytest.approx(1)


def test_other_seeds_are_other_deals(tmp_path: Path) -> None:
    one, two = (play(tmp_path / str(seed), ("heuristic", "random"), seed=seed) for seed in (0, 1))
    assert not np.array_equal(one.results.score, two.results.score)
