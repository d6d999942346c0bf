"""Standings of made-up results: ratings with ties, cycles, and no false certainty."""

from __future__ import annotations

import numpy as np
import pytest

from llama_envs.core.registry import make_game
from llama_envs.evaluation.standings import Results, alpha_rank, bradley_terry, pairwise, ratings, standings
from tests.cases import GAMES


def made_up(names: str, wins: list[list[float]]) -> Results:
    """Results of one deal for each row: everybody at one table, ``wins[d][policy]`` in every rotation."""
    table = tuple(range(len(names)))
    win = np.repeat(np.array(wins, float)[:, None, None, :], len(names), axis=2)
    return Results(tuple(names), (table,), win, win * 0, np.zeros(win.shape[:3], np.bool_), {})


def test_deals_that_all_say_the_same_leave_the_rating_unbounded__B33() -> None:
    results = duels({"ab": 1.0}, deals=2)
    results.win[:] = 0.5  # every game is shared
    rating, spread, _ = ratings(results, 0)
    assert rating == pytest.approx([0, 0], abs=1e-6)
    assert np.isinf(spread).all()


def test_a_policy_that_never_wins_has_no_false_certainty() -> None:
    table = standings(make_game(GAMES[0], num_players=2), made_up("ab", [[1, 0]] * 50), 0).set_index("policy")
    assert table.loc["b", "win_share"] == 0
    assert table.loc["b", "win_share_95"] == pytest.approx(0.058, abs=0.001)  # 1 - 0.05 ** (1 / 50)
    assert np.isinf(table["rating_95"]).all()
    assert np.isfinite(table["rating"]).all()


def duels(shares: dict[str, float], deals: int = 1000) -> Results:
    """Tables of two: ``{"ab": 0.3}`` is a winning three deals in ten against b."""
    names = sorted(set("".join(shares)))
    tables = tuple((names.index(pair[0]), names.index(pair[1])) for pair in shares)
    win = np.zeros((deals, len(shares), 2, 2))
    for number, share in enumerate(shares.values()):
        win[:, number, :, 0] = (np.arange(deals) < round(share * deals))[:, None]
    win[..., 1] = 1 - win[..., 0]
    return Results(tuple(names), tables, win, win * 0, np.zeros(win.shape[:3], np.bool_), {})


def test_a_large_share_won_from_the_weak_stands_below_a_small_one_won_from_the_strong__B33() -> None:
    results = duels({"sc": 0.230, "mw": 0.459, "wc": 0.02})  # strong, champion, mediocre, weak
    table = standings(make_game(GAMES[0], num_players=2), results, 0)
    assert table["policy"].tolist() == ["c", "s", "w", "m"]
    shares = table.set_index("policy")["win_share"]
    assert (shares["s"], shares["m"]) == (0.230, 0.459)
    assert table["rating"].is_monotonic_decreasing


def test_no_policy_is_rated_without_an_interval_the_median_neither__B33() -> None:
    table = standings(make_game(GAMES[0], num_players=2), duels({"ab": 0.7, "bc": 0.6, "ac": 0.8}, 100), 0)
    middle = table.set_index("policy").loc["b"]
    assert middle["rating"] == 0
    assert 10 < middle["rating_95"] < 60
    one = standings(make_game(GAMES[0], num_players=2), duels({"ab": 1.0}, 1), 0)
    assert np.isinf(one["rating_95"]).all()


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
