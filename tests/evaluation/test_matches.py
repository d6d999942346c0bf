"""Matches: shared deals, every seat and every neighbour, intervals over deals, failures with a name."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from llama_envs.core.game import Game
from llama_envs.core.registry import make_game
from llama_envs.evaluation import compare, play
from llama_envs.evaluation.schedules import seat_orders
from llama_envs.policies import PolicyError, View, make_policy
from tests.cases import GAMES, TRUNCATING_CASES, Asked, cases_of

FIRST = GAMES[0]


class FirstLegal:
    """Takes the first legal action, and notes how many games it was asked for in each seat."""

    needs_worlds = False

    def __init__(self) -> None:
        self.games = np.zeros(3, int)

    def act(self, view: View) -> np.ndarray:
        self.games = np.maximum(self.games, np.bincount(view.seat, minlength=3))
        return view.mask.argmax(axis=1)


class Raises:
    needs_worlds = False

    def act(self, view: View) -> np.ndarray:
        raise RuntimeError("out of cards")


class PlaysIllegally:
    needs_worlds = False

    def act(self, view: View) -> np.ndarray:
        return view.mask.argmin(axis=1)


def game_of(name: str, players: int = 3) -> Game:
    return make_game(name, num_players=players, **cases_of(name).EVERY_SEAT_ACTS)


# --------------------------------------------------------------------------------------------------- seats, neighbours


@pytest.mark.parametrize("name", GAMES)
def test_every_entrant_sits_in_every_seat_once_a_deal(name: str) -> None:
    watched = FirstLegal()
    games = play(game_of(name), [watched, FirstLegal(), FirstLegal()], 40, 1)
    assert watched.games.tolist() == [40, 40, 40]
    assert games.win.shape == (40, 3, 3)
    assert np.allclose(games.win.sum(axis=2), 1.0)


@pytest.mark.parametrize("name", GAMES)
def test_deterministic_entrants_see_the_same_deal_in_each_rotation(name: str) -> None:
    games = play(make_game(name, num_players=2), ["heuristic"] * 2, 60, 3)
    # the same policy at every seat: rotating the entrants only renames them
    assert np.array_equal(games.score[:, 0, 0], games.score[:, 1, 1])
    assert np.array_equal(games.score[:, 0, 1], games.score[:, 1, 0])


@pytest.mark.parametrize("name", GAMES)
def test_equal_policies_tie_exactly_when_deterministic(name: str) -> None:
    games = play(make_game(name, num_players=3), ["heuristic"] * 3, 200, 5)
    assert np.allclose(games.win.mean(axis=(0, 1)), 1 / 3)


@pytest.mark.parametrize("name", GAMES)
def test_deals_take_every_circular_order_of_the_entrants_in_turn__N02(name: str) -> None:
    game = make_game(name, num_players=4)
    names = ["heuristic", "heuristic:0", "heuristic:1", "heuristic:2"]  # deterministic: each deal can be played again
    orders = seat_orders(4, 7)
    assert sorted(orders) == sorted((0, *rest) for rest in permutations((1, 2, 3)))
    games = play(game, names, 12, 7)
    for number, order in enumerate(orders):
        one = play(game, names, 12, 7, orders=[order])
        for deal in (number, number + 6):
            assert np.array_equal(games.score[deal], one.score[deal])
    alike = play(game, names, 12, 7, orders=orders[:1])
    assert not np.array_equal(games.score, alike.score)


@pytest.mark.parametrize("name", GAMES)
def test_the_order_in_which_policies_are_typed_changes_no_number__N02(name: str) -> None:
    game = make_game(name, num_players=3)
    names = ["heuristic", "random", "heuristic:0"]
    tables = []
    for typed in permutations(names):
        result = compare(game, typed, 30, 2)
        assert [row.policy for row in result.standings] == list(typed)
        assert result.share.tolist() == [row.share for row in result.standings]
        tables.append({row.policy: row for row in result.standings})
    assert all(table == tables[0] for table in tables)


def test_results_do_not_depend_on_how_many_games_are_played_at_once() -> None:
    game = make_game(FIRST, num_players=3)
    names = ["heuristic", "random", "random"]
    together, apart = (compare(game, names, 50, 2, games_at_once=number) for number in (10_000, 7))
    assert together.standings == apart.standings


@pytest.mark.parametrize("name", GAMES)
def test_a_policy_that_is_a_kernel_plays_as_one_that_is_asked(name: str) -> None:
    game = make_game(name, num_players=3)
    kernels = [make_policy(policy, game) for policy in ("heuristic", "random", "heuristic:0")]
    inside, asked = play(game, kernels, 40, 4), play(game, [Asked(policy) for policy in kernels], 40, 4)
    assert np.array_equal(inside.score, asked.score)
    assert inside.decisions.tolist() == asked.decisions.tolist()


# -------------------------------------------------------------------------------------------------------------- numbers


def test_intervals_are_over_deals_not_over_games() -> None:
    game = make_game(FIRST, num_players=2)
    row = compare(game, ["heuristic", "heuristic:0"], 400, 4).standings[0]
    by_hand = play(game, ["heuristic", "heuristic:0"], 400, 4).win[:, :, 0].mean(axis=1)
    assert row.interval == pytest.approx(stats.t.ppf(0.975, 399) * by_hand.std(ddof=1) / 20)
    assert row.share == pytest.approx(by_hand.mean())


@pytest.mark.parametrize("deals", [1, 2])
def test_one_or_two_deals_are_shown_with_the_width_that_they_deserve__N09(deals: int) -> None:
    result = compare(make_game(FIRST, num_players=2), ["heuristic", "random"], deals, 0)
    assert (result.interval >= 1 - 0.05 ** (1 / deals) - 1e-12).all()
    assert "nan" not in str(result)
    assert f"{deals} deal{'s' if deals > 1 else ''} in 2 rotations" in str(result)


def test_games_cut_short_are_shown_and_not_counted() -> None:
    name, options = TRUNCATING_CASES[0].values[0]
    result = compare(make_game(name, **{**options, "num_players": 2}), ["heuristic", "random"], 50, 0)
    assert (result.truncated, result.games) == (100, 0)
    assert np.isnan(result.share).all()
    assert "0 games, 100 cut short and not counted" in str(result)


def test_the_fewest_points_win_one_game_and_the_most_the_other() -> None:
    for name in GAMES:
        game = make_game(name, num_players=2)
        result = compare(game, ["heuristic", "random"], 100, 0)
        assert (result.score[0] > result.score[1]) == game.most_points_win
        assert result.share[0] > 0.8


def test_equal_names_are_one_policy_in_several_seats_and_objects_are_told_apart() -> None:
    game = make_game(FIRST, num_players=3)
    result = compare(game, ["heuristic", "random", "random"], 50, 0)
    assert [(row.policy, row.seats) for row in result.standings] == [("heuristic", 1), ("random", 2)]
    assert result.share[0] + 2 * result.share[1] == pytest.approx(1)
    assert result.share.tolist()[1:] == [result.share[1]] * 2
    one, two = FirstLegal(), FirstLegal()
    assert compare(game, [one, two, "random"], 5, 0).names == ("FirstLegal", "FirstLegal (2)", "random")
    assert compare(game, [one, one, "random"], 5, 0).names == ("FirstLegal", "FirstLegal", "random")


def test_the_result_prints_as_a_table() -> None:
    result = compare(make_game(FIRST, num_players=2), ["heuristic", "random"], 50, 0)
    head, first, second, note = str(result).splitlines()
    assert head.split() == ["policy", "seats", "win", "share", "mean", "penalty"]
    assert first.split()[:5] == ["heuristic", "1", f"{result.share[0]:.3f}", "±", f"{result.interval[0]:.3f}"]
    assert second.startswith("random")
    assert note.startswith("50 deals in 2 rotations: 100 games, 0 cut short")


def test_decisions_and_time_are_counted_for_each_entrant() -> None:
    game = make_game(FIRST, num_players=2)
    games = play(game, ["mc:20", "random"], 20, 0)
    assert (games.decisions > 20).all()
    assert games.thinking[0] > games.thinking[1] > 0
    recorded = play(game, ["mc:20", "random"], 20, 0, record=True)
    assert sum(len(one.actions) for one in recorded.recorded) == games.decisions.sum()
    assert np.array_equal(recorded.score, games.score)


# ------------------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("bad", "words"),
    [(Raises(), "RuntimeError: out of cards"), (PlaysIllegally(), "is not legal; legal are")],
    ids=["raises", "illegal"],
)
def test_a_policy_that_fails_is_named(bad: Any, words: str) -> None:
    with pytest.raises(PolicyError, match=f"^policy {type(bad).__name__} failed: .*{words}"):
        compare(make_game(FIRST, num_players=2), [bad, "random"], 5, 0)


@pytest.mark.parametrize(
    ("policies", "options", "words"),
    [
        (["random"], {}, "policies must be 2, one for each seat, got 1"),
        (["random"] * 3, {}, "policies must be 2, one for each seat, got 3"),
        (["random", "nobody"], {}, "unknown policy 'nobody'; known are"),
        (["random", 5], {}, "a policy must be a name or an object with act"),
        (["random"] * 2, {"deals": 0}, "deals must be an integer from 1"),
        (["random"] * 2, {"seed": -1}, "seed"),
        (["random"] * 2, {"games_at_once": 0}, "games_at_once must be an integer from 1"),
    ],
)
def test_what_cannot_be_played_is_refused_in_one_sentence(
    policies: list[Any], options: dict[str, int], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        compare(make_game(FIRST, num_players=2), policies, **options)
