"""What tournament games say: win shares, pairwise table, ratings and alpha-rank; a deal is one observation.

Games that were cut short, and all games at the tables of a policy that raised an error, are counted and never rated.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import choix
import numpy as np
import numpy.typing as npt
import pandas as pd

from llama_envs.core.game import Game
from llama_envs.evaluation.intervals import Floats, ratio, share_ratio
from llama_envs.evaluation.schedules import Table

Z95 = 1.959964  # half the width of a 95 % normal interval, in standard errors: of the resamples behind ratings
ELO = 400 / np.log(10)  # points in which odds of 10 to 1 are 400
RESAMPLES = 200  # of the deals, for the intervals of ratings


@dataclasses.dataclass(frozen=True)
class Results:
    """The games of a tournament: D deals, each played at T tables in all P rotations, by n policies.

    Attributes:
        policies: n names.
        tables: T tables, each P numbers of policies.
        win: (D, T, P rotations, P places) win share of whoever holds a place (ties split); NaN where cut short or
            not played to the end.
        score: the same for the final total.
        truncated: (D, T, P) bool, games cut short.
        errors: policy -> what it raised.
    """

    policies: tuple[str, ...]
    tables: tuple[Table, ...]
    win: Floats
    score: Floats
    truncated: npt.NDArray[np.bool_]
    errors: dict[str, str]

    @property
    def seats(self) -> npt.NDArray[np.int64]:
        """(T, n): how many places each policy holds at each table."""
        return np.array([np.bincount(table, minlength=len(self.policies)) for table in self.tables])

    @property
    def rated_tables(self) -> npt.NDArray[np.bool_]:
        """(T,): tables without a policy that raised an error."""
        failed = [index for index, policy in enumerate(self.policies) if policy in self.errors]
        return np.asarray(self.seats[:, failed].sum(axis=1) == 0)

    @property
    def rated(self) -> npt.NDArray[np.bool_]:
        """(D, T, P): games that count."""
        return self.rated_tables[None, :, None] & ~self.truncated

    def per_policy(self, values: Floats) -> Floats:
        """(D, T, n): sums of ``values`` (D, T, P, P) over the rated games and places of each policy."""
        counted = np.where(self.rated[..., None], values, 0.0).sum(axis=2)
        sums = np.zeros((*counted.shape[:2], len(self.policies)))
        for number, table in enumerate(self.tables):
            for place, policy in enumerate(table):
                sums[:, number, policy] += counted[:, number, place]
        return sums

    def wins(self) -> Floats:
        """(D, n, n): [d, i, j] is what i won of deal d at tables with j, once for each place that j held there.

        A shared victory counts as its share; so in every game each winner beats everybody else at the table, and
        policies that win together draw with each other.
        """
        wins = np.einsum("dti,tj->dij", self.per_policy(self.win), self.seats.astype(np.float64))
        wins[:, np.arange(len(self.policies)), np.arange(len(self.policies))] = 0.0
        return np.asarray(wins)


def standings(game: Game, results: Results, seed: int) -> pd.DataFrame:
    """One row for each policy, in the order of their ratings, the best first.

    ``rating`` corrects for whom a policy met: Bradley–Terry on the Elo scale, 0 being the median. ``win_share`` for
    each seat held is raw: policies whose tables, failures or games cut short differ met other rivals. ``rating_95`` is
    half of the 95 % interval of the rating's distance from the mean of all ratings; it and ``alpha_rank`` come from 200
    resamples of the deals.
    """
    count = results.per_policy(np.ones_like(results.win))
    win, score = results.per_policy(results.win), results.per_policy(results.score)
    rating, spread, mass = ratings(results, seed)
    held = results.seats > 0
    rows = []
    for index, policy in enumerate(results.policies):
        at = held[:, index]
        share, share_95 = share_ratio(win[:, :, index].sum(axis=1), count[:, :, index].sum(axis=1))
        mean, mean_95 = ratio(score[:, :, index].sum(axis=1), count[:, :, index].sum(axis=1))
        played = results.rated[:, at]
        rows.append(
            {
                "policy": policy,
                "win_share": share,
                "win_share_95": share_95,
                f"mean_{game.score_name}": mean,
                f"mean_{game.score_name}_95": mean_95,
                "rating": rating[index],
                "rating_95": spread[index],
                "alpha_rank": mass[index],
                "tables": int(at.sum()),
                "games": int(played.sum()),
                "truncated": int(results.truncated[:, at & results.rated_tables].sum()),
                "unrated": int(played[:, ~results.rated_tables[at]].size),
                "error": results.errors.get(policy, ""),
            }
        )
    frame = pd.DataFrame(rows)
    frame["order"] = frame["rating"].round(6)
    frame = frame.sort_values(
        ["order", "win_share", "policy"], ascending=[False, False, True], na_position="last", ignore_index=True
    )
    return frame.drop(columns="order")


def pairwise(results: Results) -> pd.DataFrame:
    """For every ordered pair: of the wins that either took in their common games, the share of ``policy``."""
    wins = results.wins()
    rows = []
    for one, policy in enumerate(results.policies):
        for other, rival in enumerate(results.policies):
            if one != other:
                share, share_95 = share_ratio(wins[:, one, other], wins[:, one, other] + wins[:, other, one])
                common = (results.seats[:, [one, other]] > 0).all(axis=1)
                games = int(results.rated[:, common].sum())
                rows.append({"policy": policy, "against": rival, "share": share, "share_95": share_95, "games": games})
    return pd.DataFrame(rows, columns=["policy", "against", "share", "share_95", "games"])


def one_against_the_rest(game: Game, results: Results) -> pd.DataFrame:
    """For tables of one policy among P-1 of another (P above 2): its win share; 1/P is equality."""
    places = np.array(results.tables)
    rows = []
    for number, table in enumerate(results.tables):
        members, held = np.unique(table, return_counts=True)
        if len(members) != 2 or held.min() != 1 or held.max() == 1:
            continue
        single, rest = members[held.argmin()], members[held.argmax()]
        place = int(np.flatnonzero(places[number] == single)[0])
        rated = results.rated[:, number]
        counts = rated.sum(axis=1).astype(np.float64)
        win, score = (
            np.where(rated, values[:, number, :, place], 0).sum(axis=1) for values in (results.win, results.score)
        )
        share, share_95 = share_ratio(win, counts)
        mean, mean_95 = ratio(score, counts)
        rows.append(
            {
                "policy": results.policies[single],
                "rest": results.policies[rest],
                "win_share": share,
                "win_share_95": share_95,
                f"mean_{game.score_name}": mean,
                f"mean_{game.score_name}_95": mean_95,
                "games": int(rated.sum()),
            }
        )
    return pd.DataFrame(rows)


def table_results(game: Game, results: Results) -> pd.DataFrame:
    """One row for each table and policy at it: seats, win share for each seat, mean score, games."""
    count = results.per_policy(np.ones_like(results.win))
    win, score = results.per_policy(results.win), results.per_policy(results.score)
    rows = []
    for number, table in enumerate(results.tables):
        for policy in sorted(set(table)):
            share, share_95 = share_ratio(win[:, number, policy], count[:, number, policy])
            mean, _ = ratio(score[:, number, policy], count[:, number, policy])
            rows.append(
                {
                    "table": number,
                    "policy": results.policies[policy],
                    "seats": table.count(policy),
                    "win_share": share,
                    "win_share_95": share_95,
                    f"mean_{game.score_name}": mean,
                    "games": int(results.rated[:, number].sum()),
                    "truncated": int(results.truncated[:, number].sum()),
                }
            )
    return pd.DataFrame(rows)


def every_place(results: Results, orders: Sequence[Sequence[int]]) -> pd.DataFrame:
    """One row for each place in each game: deal, table, rotation, seat, policy, win share, score, cut short, rated.

    ``orders`` has for each deal the circular order of a table's places: in rotation r the k-th of it holds seat
    (k + r) mod P.
    """
    players = results.win.shape[3]
    deal, table, rotation, place = (axis.ravel() for axis in np.indices(results.win.shape))
    position = np.argsort(np.array(orders), axis=1)[deal, place]
    return pd.DataFrame(
        {
            "deal": deal,
            "table": table,
            "rotation": rotation,
            "seat": (position + rotation) % players,
            "policy": np.array(results.policies)[np.array(results.tables)[table, place]],
            "win_share": results.win.ravel(),
            "score": results.score.ravel(),
            "truncated": np.repeat(results.truncated.ravel(), players),
            "rated": np.repeat(results.rated.ravel(), players),
        }
    )


def ratings(results: Results, seed: int) -> tuple[Floats, Floats, Floats]:
    """(n,) rating, (n,) half-width of its 95 % interval, (n,) alpha-rank mass; NaN for policies without rated games.

    The interval is that of the distance from the mean of all ratings, so that no policy has one of width 0, as the
    median's distance from itself would. It is infinite for a policy that won nothing, or everything, of which only a
    bound is known, and where there is one deal.
    """
    everyone = len(results.policies)
    rating, spread, mass = (np.full(everyone, np.nan) for _ in range(3))
    wins = results.wins()
    counted = np.flatnonzero(results.per_policy(np.ones_like(results.win)).sum(axis=(0, 1)) > 0)
    if len(counted) < 2:
        return rating, spread, mass
    wins = wins[:, counted][:, :, counted]
    rating[counted] = bradley_terry(wins.sum(axis=0))
    rng = np.random.default_rng(seed)
    deals = len(wins)
    drawn = [np.tensordot(rng.multinomial(deals, np.full(deals, 1 / deals)), wins, 1) for _ in range(RESAMPLES)]
    spread[counted] = np.inf
    if deals > 1:
        fitted = np.array([bradley_terry(sample) for sample in drawn])
        bounded = (wins.sum(axis=(0, 2)) > 0) & (wins.sum(axis=(0, 1)) > 0)
        half = Z95 * np.std(fitted - fitted.mean(axis=1, keepdims=True), axis=0, ddof=1)
        spread[counted[bounded]] = np.where(half[bounded] > 1e-9, half[bounded], np.inf)  # no spread is no knowledge
    with suppress(ImportError):  # open_spiel is an extra
        mass[counted] = np.mean([alpha_rank(sample) for sample in drawn], axis=0)
    return rating, spread, mass


def bradley_terry(wins: Floats) -> Floats:
    """(n,) maximum-likelihood ratings on the Elo scale, median 0, from ``wins[i, j]`` of i over j, draws half to each.

    With more than two at a table this is Luce's choice among its members, estimated by pairs (top-1 rank breaking).
    Every pair is given one drawn game on top, so that the ratings are finite whatever happened.
    Fitted by choix (iterative Luce spectral ranking, Maystre and Grossglauser 2015), which knows no order of games.
    """
    strength = choix.ilsr_pairwise_dense(_with_a_draw(wins), max_iter=1000)
    return np.asarray(ELO * (strength - np.median(strength)))


def alpha_rank(wins: Floats) -> Floats:
    """(n,) mass of each policy in OpenSpiel's alpha-rank (infinite alpha) of the pairwise win shares.

    Raises:
        ImportError: open_spiel is not installed.
    """
    from open_spiel.python.egt import alpharank

    drawn = _with_a_draw(wins)
    payoffs = drawn / (drawn + drawn.T + np.eye(len(drawn)))
    np.fill_diagonal(payoffs, 0.5)
    mass: Any = alpharank.compute([payoffs], use_inf_alpha=True, inf_alpha_eps=0.01)[2]
    return np.asarray(mass, np.float64)


def _with_a_draw(wins: Floats) -> Floats:
    return wins + 0.5 * (1 - np.eye(len(wins)))


def matrix(frame: pd.DataFrame, rows: str, columns: str, values: str, order: Sequence[str]) -> pd.DataFrame:
    """A long table as a matrix with rows and columns in ``order``."""
    return frame.pivot(index=rows, columns=columns, values=values).reindex(index=order, columns=order)
