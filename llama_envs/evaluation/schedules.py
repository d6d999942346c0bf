"""Tournament designs: which policies sit together at a table.

A table is a tuple of P policy numbers in non-decreasing order; a number that stands k times holds k seats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement, permutations, product
from math import comb

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from llama_envs.core.validation import check_choice

Table = tuple[int, ...]
DESIGNS = ("auto", "round_robin", "balanced", "one_vs_rest")
MOST_TABLES = 1000  # of a round robin
FEW_TABLES = 40  # up to which "auto" takes the round robin
MOST_BLOCKS = 50_000  # that a balanced design is chosen from
NODES = 2000  # of the search for a small balanced design: a limit that does not depend on the machine


def make_tables(policies: int, players: int, design: str, rest: int | None = None) -> list[Table]:
    """The tables at which ``policies`` policies (2 or more) meet, ``players`` seats each.

    ``round_robin``: every set of P different policies; with fewer policies than seats, every way to fill the seats
    with at least two of them. ``balanced``: fewer tables, chosen so that every policy sits at equally many and every
    pair meets at equally many (a 2-design). ``one_vs_rest``: one policy against P-1 of another, for every ordered pair.
    ``auto``: the round robin if that is at most 40 tables, else balanced. With ``rest`` there are only tables of one
    policy against P-1 of that one.

    Raises:
        ValueError: an unknown design, one beside ``rest`` that is not made of such tables, or too many tables.
    """
    check_choice("design", design, DESIGNS)
    if rest is not None and design not in ("auto", "one_vs_rest"):
        raise ValueError(
            f"design must be 'auto' or 'one_vs_rest' with rest, which makes its own tables, got {design!r}."
        )
    if rest is not None or design == "one_vs_rest" or (players == 2 and design == "balanced"):
        pairs = [pair for pair in permutations(range(policies), 2) if rest in (None, pair[1])]
        return sorted({tuple(sorted((one, *[other] * (players - 1)))) for one, other in pairs})
    whole = comb(policies, players) if policies >= players else comb(policies + players - 1, players) - policies
    if design == "balanced" or (design == "auto" and whole > FEW_TABLES):
        return balanced(policies, players) if policies > players else list(_all_tables(policies, players))
    if whole > MOST_TABLES:
        raise ValueError(
            f"a round robin of {policies} policies at tables of {players} needs {whole:,} tables, more than "
            f"{MOST_TABLES:,}; use --design balanced."
        )
    return list(_all_tables(policies, players))


def _all_tables(policies: int, players: int) -> Iterator[Table]:
    if policies >= players:
        yield from combinations(range(policies), players)
    else:
        yield from (table for table in combinations_with_replacement(range(policies), players) if len(set(table)) > 1)


def balanced(policies: int, players: int) -> list[Table]:
    """A 2-design: tables of different policies such that every pair meets at equally many.

    Made of whole orbits of tables under a cyclic shift of the policies (of all, or of all but one), the fewest that
    an integer programme finds; all of them together are a solution, so there always is one.

    Raises:
        ValueError: too many policies to choose from.
    """
    if comb(policies, players) > MOST_BLOCKS:
        raise ValueError(f"{policies} policies at tables of {players} are too many for a balanced design.")
    everyone = list(range(policies))
    shifts = [[*everyone[1:], 0], [*everyone[1:-1], 0, policies - 1]]
    return min((_smallest_design(policies, players, shift) for shift in shifts), key=len)


def _smallest_design(policies: int, players: int, shift: Sequence[int]) -> list[Table]:
    orbits = _orbits(combinations(range(policies), players), shift)
    pairs = [orbit[0] for orbit in _orbits(combinations(range(policies), 2), shift)]
    meets = np.array([[sum(set(pair) <= set(table) for table in orbit) for orbit in orbits] for pair in pairs])
    sizes = np.array([len(orbit) for orbit in orbits])
    # choose orbits (0 or 1 each) and the number of meetings (the last variable): meets @ chosen == meetings for all
    answer = milp(
        np.append(sizes, 0),
        constraints=LinearConstraint(np.column_stack([meets, -np.ones(len(pairs))]), 0, 0),
        integrality=np.ones(len(orbits) + 1),
        bounds=Bounds(np.append(np.zeros(len(orbits)), 1), np.append(np.ones(len(orbits)), np.inf)),
        options={"node_limit": NODES},
    )
    chosen = np.ones(len(orbits), np.bool_) if answer.x is None else np.round(answer.x[:-1]).astype(np.bool_)
    return sorted(table for orbit, taken in zip(orbits, chosen, strict=True) if taken for table in orbit)


def _orbits(sets: Iterator[Table], shift: Sequence[int]) -> list[list[Table]]:
    """``sets`` grouped into those that ``shift`` carries into each other."""
    orbits, seen = [], set()
    for start in sets:
        if start not in seen:
            orbit = [start]
            while (following := tuple(sorted(shift[member] for member in orbit[-1]))) != start:
                orbit.append(following)
            seen.update(orbit)
            orbits.append(orbit)
    return orbits


def seat_orders(players: int, seed: int) -> list[tuple[int, ...]]:
    """Circular orders of a table's P places, shuffled: who sits next to whom, or any seats away, evens out over them.

    Place 0 stays first, for every order is played in all rotations. All (P-1)! orders, or where P-1 is a prime the
    (P-1)(P-2) with places 1 to P-1 in arithmetic progression modulo it: every pair is at every distance equally often.
    """
    others = players - 1
    if all(others % factor for factor in range(2, others)):
        multiples = product(range(1, others), range(others)) if others > 1 else [(1, 0)]
        orders = [(0, *(1 + (step * place + start) % others for place in range(others))) for step, start in multiples]
    else:
        orders = [(0, *rest) for rest in permutations(range(1, players))]
    return [orders[index] for index in np.random.default_rng(seed).permutation(len(orders))]
