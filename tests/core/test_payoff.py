"""What a finished game pays (known faults B10)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from llama_envs.core.payoff import against_the_others, rank_payoff, win_share

SIGNS = {"most points win": 1, "fewest points win": -1}
each_sign = pytest.mark.parametrize("sign", SIGNS.values(), ids=SIGNS)
each_size = pytest.mark.parametrize("n", range(2, 7))


def paid(kernel, scores, sign, *more):
    out = np.full(len(scores) + 1, 99.0, np.float32)
    kernel(np.array(scores, np.int16), len(scores), sign, *more, out)
    assert out[-1] == 99, "a payoff wrote past the last seat"
    return out[:-1].tolist()


def all_scores(n):
    """Every pattern of ties and orders of n seats that three levels can show."""
    return product((3, 17, 40), repeat=n)


def mean_of_places(scores, sign, value_of_place):
    """Each seat gets the mean value of the places that it shares with its equals; a second telling, in fractions."""
    order = sorted(scores, key=lambda score: -sign * score)
    places = {score: [place for place, other in enumerate(order) if other == score] for score in scores}
    return [sum(map(value_of_place, places[s]), Fraction(0)) / len(places[s]) for s in scores]


@each_sign
@each_size
def test_winner_gets_one_others_minus_one_over_the_others_and_tied_winners_share(n, sign):
    for scores in all_scores(n):
        best = max(sign * score for score in scores)
        winners = sum(sign * score == best for score in scores)
        share = (1 + Fraction(-(winners - 1), n - 1)) / winners
        expected = [share if sign * score == best else Fraction(-1, n - 1) for score in scores]
        assert paid(win_share, scores, sign) == pytest.approx([float(x) for x in expected], abs=1e-6)


@each_sign
@each_size
def test_rank_payoff_runs_from_one_to_minus_one_in_equal_steps_and_ties_get_the_mean(n, sign):
    for scores in all_scores(n):
        expected = mean_of_places(scores, sign, lambda place: 1 - Fraction(2 * place, n - 1))
        assert paid(rank_payoff, scores, sign) == pytest.approx([float(x) for x in expected], abs=1e-6)


@each_sign
@each_size
def test_score_payoff_is_own_points_against_the_mean_of_the_others(n, sign):
    for scores in all_scores(n):
        others = [Fraction(sum(scores) - score, n - 1) for score in scores]
        expected = [sign * (score - mean) / 10 for score, mean in zip(scores, others, strict=True)]
        assert paid(against_the_others, scores, sign, 10.0) == pytest.approx([float(x) for x in expected], abs=1e-5)


@each_sign
@each_size
@pytest.mark.parametrize("kernel", [win_share, rank_payoff], ids=["win", "rank"])
def test_payoff_is_zero_sum_within_one_and_best_for_the_best__B10(n, sign, kernel):
    for scores in all_scores(n):
        out = paid(kernel, scores, sign)
        assert sum(out) == pytest.approx(0, abs=1e-6)
        assert max(map(abs, out)) <= 1
        best = max(sign * score for score in scores)
        assert all(x == max(out) for x, score in zip(out, scores, strict=True) if sign * score == best)
        assert sum(x == max(out) for x in out) == sum(sign * score == best for score in scores)


@each_sign
@each_size
def test_score_payoff_is_zero_sum__B10(n, sign):
    for scores in all_scores(n):
        assert sum(paid(against_the_others, scores, sign, 10.0)) == pytest.approx(0, abs=1e-5)


@each_sign
@each_size
def test_a_tie_of_all_pays_everybody_exactly_zero__B10(n, sign):
    for kernel, more in ((win_share, ()), (rank_payoff, ()), (against_the_others, (10.0,))):
        assert paid(kernel, [40] * n, sign, *more) == [0.0] * n


def test_fewest_points_win_with_totals_12_40_5__B10():
    assert paid(rank_payoff, [12, 40, 5], -1) == [0, -1, 1]
    assert paid(win_share, [12, 40, 5], -1) == [-0.5, -0.5, 1]


def test_fewest_points_win_shared_with_totals_5_40_5__B10():
    out = paid(win_share, [5, 40, 5], -1)
    assert out[0] == out[2] == 0.25
    assert out[1] == -0.5


def test_most_points_win_with_totals_100_83_97__B10():
    assert paid(rank_payoff, [100, 83, 97], 1) == [1, -1, 0]
    assert paid(win_share, [100, 83, 97], 1) == [1, -0.5, -0.5]
