"""Intervals over deals: what they cover, and what a handful of deals or equal ones tell."""

from __future__ import annotations

import numpy as np
import pytest

from llama_envs.evaluation.intervals import ratio, share_ratio


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(1000):
        games = rng.integers(1, 4, 100)  # deals count unequally
        wins = rng.binomial(games, 0.7)
        share, half = share_ratio(wins.astype(float), games.astype(float))
        covered += abs(share - 0.7) <= half
    assert 925 <= covered <= 970


def test_equal_weights_give_the_mean_and_students_interval() -> None:
    assert ratio(np.array([1.0, 2.0, 3.0]), np.ones(3)) == pytest.approx((2.0, 4.3027 / np.sqrt(3)), abs=1e-3)


def test_a_deal_that_counts_more_games_weighs_more_and_one_that_counts_none_nothing() -> None:
    value, half = ratio(np.array([1.0, 6.0, 0.0]), np.array([1.0, 3.0, 0.0]))
    assert value == pytest.approx(7 / 4)
    assert half == pytest.approx(ratio(np.array([1.0, 6.0]), np.array([1.0, 3.0]))[1])


@pytest.mark.parametrize(("share", "deals"), [(0.0, 50), (1.0, 50), (0.5, 20), (1.0, 2), (1.0, 1)])
def test_deals_that_all_say_the_same_are_no_certainty__N09(share: float, deals: int) -> None:
    value, half = share_ratio(np.full(deals, share), np.ones(deals))
    assert value == share
    assert half == pytest.approx(1 - 0.05 ** (1 / deals))  # what is seen in all n deals may be missing in 5 % of n


def test_one_deal_tells_nothing_of_the_spread_and_no_deal_nothing_at_all__N09() -> None:
    assert ratio(np.array([3.0]), np.ones(1)) == (3.0, np.inf)
    assert share_ratio(np.array([0.4]), np.ones(1)) == (0.4, 1.0)
    assert np.isnan(share_ratio(np.zeros(3), np.zeros(3))).all()
