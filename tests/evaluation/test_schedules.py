"""Who sits together, and where: every policy and every pair equally often, every distance around the table too."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from llama_envs.evaluation.schedules import balanced, make_tables, seat_orders


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
