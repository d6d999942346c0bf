"""When to quit a round of L.L.A.M.A., what a returned chip is worth, and where to sit: a study with its report.

    python -m experiments.quitting_study            # some minutes: experiments/reports/quitting/report.md, PNG, CSV
    python -m experiments.quitting_study --quick    # under a minute, to runs/quitting/quick

A position is played on twice, once after quitting and once after drawing, with the same luck; only what follows
differs. A deal is one observation. ``experiments/quitting_play.py`` plays.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import tyro

from experiments.quitting_play import CHIP, COULD_PLAY, STUCK, fork, play_alike, play_arm
from experiments.study import (
    RULES_OF_REPORTING,
    Arrays,
    Estimate,
    Part,
    Workers,
    bold,
    draw,
    legend,
    library_versions,
    listed,
    over_deals,
    panels,
    pooled,
    prose,
    save_figure,
    save_table,
    split_seed,
)
from llama_envs.cli.command import run_or_exit
from llama_envs.core.files import write_text
from llama_envs.core.game import Game
from llama_envs.core.registry import make_game
from llama_envs.core.runs import command_line
from llama_envs.core.validation import check_int
from llama_envs.lama.heuristic import DEFAULT_THRESHOLD
from llama_envs.policies import make_policy

THRESHOLDS = (0, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20)
PENALTIES = ((1, 3), (4, 6), (7, 9), (10, 12), (13, 15), (16, 20), (21, 31))  # bins, both ends included
STOCKS = ((1, 7), (8, 15), (16, 43))
MARGINS = ((-40, -11), (-10, -1), (0, 9), (10, 40))  # lowest total of the others less one's own
TOTALS = ((1, 9), (10, 19), (20, 29), (30, 39))
AT_ONCE = 256  # deals
TRAINED_SHARE = 0.25  # of the deals, for tables of trained agents, which take longer
MEASURES = {"win": ("win share", "percentage points", 100.0), "lead": ("lead in the round", "points", 1.0)}
CUTS = {  # how positions are cut, and by which measure
    "opponents": ("opponents left", "lead"),
    "stock": ("cards in the stock", "lead"),
    "margin": ("the others' lowest total less one's own", "win"),
    "highest total": ("highest total at the table", "win"),
}
NOTHING = Estimate(float("nan"), float("nan"), 0)
FEWEST_DRAWN = 30  # deals behind a point of a figure
TABLES = {"heuristic": "heuristic", "baseline": "trained"}


@dataclasses.dataclass(frozen=True)
class Options:
    """Study quitting, chips and seats in L.L.A.M.A."""

    quick: bool = False
    """A few hundred deals, to try the machinery."""
    only: tuple[str, ...] = ()
    """Only these parts: quit, threshold, early, chip, seats."""
    players: tuple[int, ...] = (2, 3, 4, 6)
    """Numbers of players."""
    deals: int = 8_000
    """Deals of the larger comparisons; tables of trained agents take a quarter of them."""
    seed: int = 0
    """Seed of deals and policies."""
    processes: int = 2
    """Worker processes, one thread each; changes no number but the speed."""
    out: Path | None = None
    """Folder of the report; by default experiments/reports/quitting, or with --quick or --only runs/quitting/quick."""

    def check(self) -> None:
        """ValueError with one sentence for an option out of range."""
        unknown = [name for name in self.only if name not in PARTS]
        if unknown:
            raise ValueError(f"there is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}.")
        for players in self.players:
            check_int("players", players, 2, 6)
        check_int("deals", self.deals, 20, 10_000_000)
        check_int("processes", self.processes, 1, 1024)

    @property
    def folder(self) -> Path:
        """Where the report goes."""
        incomplete = self.quick or self.only
        return self.out or Path("runs/quitting/quick" if incomplete else "experiments/reports/quitting")


class Study:
    """The options, the games and the workers."""

    def __init__(self, options: Options, workers: Workers) -> None:
        self.options, self.workers = options, workers

    def game(self, players: int) -> Game:
        """The game for so many players."""
        return make_game("lama", num_players=players)

    def run(self, function: Callable[..., Arrays], arms: dict[Any, tuple[Any, ...]], share: float, title: str) -> Any:
        """``function`` for every arm on a ``share`` of the deals, the first ones; less for tables of trained agents."""
        seeds = {}
        for name, arm in arms.items():
            part = share * TRAINED_SHARE if "baseline" in arm else share
            seeds[name] = split_seed(self.options.seed, max(int(self.options.deals * part), 20))
        return self.workers.by_deals(function, arms, seeds, AT_ONCE, title)

    @cached_property
    def tables(self) -> list[tuple[int, str]]:
        """Number of players and policy of every table: heuristics, and trained agents where they ship."""
        found = []
        for players in self.options.players:
            found.append((players, "heuristic"))
            try:
                make_policy("baseline", self.game(players))
            except ValueError:
                continue
            found.append((players, "baseline"))
        return found

    @property
    def main_players(self) -> int:
        """The number of players that a single figure or table is about."""
        return 4 if 4 in self.options.players else self.options.players[-1]

    def save(self, frame: pd.DataFrame, name: str) -> str:
        """``frame`` as CSV in the report's folder; its name."""
        save_table(frame, self.options.folder / name)
        return name


def within(values: npt.NDArray[Any], bounds: tuple[int, int]) -> npt.NDArray[np.bool_]:
    """Where ``values`` lie in the bin, both ends included."""
    return np.asarray((values >= bounds[0]) & (values <= bounds[1]))


def span(bounds: tuple[int, int]) -> str:
    """A bin, for people."""
    return f"{bounds[0]} to {bounds[1]}" if bounds[0] < bounds[1] else str(bounds[0])


def difference(result: Arrays, what: str, one: str, other: str, where: npt.NDArray[np.bool_]) -> Estimate:
    """What ``one`` action makes more of ``what`` ("win" or "lead") than the ``other``, in the positions ``where``."""
    return pooled(np.where(where, result[f"{what}_{one}"] - result[f"{what}_{other}"], np.nan))


# ---------------------------------------------------------------------------------------------------------- quitting


def quitting(study: Study) -> Part:
    """Quit or draw, when stuck: by penalty, opponents, stock and totals."""
    arms: dict[Any, tuple[Any, ...]] = {
        (players, policy): (study.game(players), policy, STUCK, ("quit", "draw"), 4) for players, policy in study.tables
    }
    found = study.run(fork, arms, 1.0, "quit or draw")
    cuts = groups_of(study)
    m = len(MEASURES) * len(PENALTIES) * len(arms)
    rows = []
    best: dict[Any, Estimate] = {}
    for (players, policy), result in found.items():
        for cut, groups in cuts.items():
            for group, holds in groups.items():
                for bounds in PENALTIES:
                    where = within(result["penalty"], bounds) & holds(result)
                    if not where.any():
                        continue
                    row = {"players": players, "policy": policy, "by": cut, "group": group, "penalty": span(bounds)}
                    row |= {"positions": int(where.sum())}
                    for measure in MEASURES:
                        estimate = difference(result, measure, "quit", "draw", where)
                        best[measure, players, policy, cut, group, bounds] = estimate
                        row |= {"deals": estimate.deals} | estimate.columns(measure, m)
                    rows.append(row)
    draw_quitting(study, best, cuts)
    table = pd.DataFrame(
        {"players": players, "table": TABLES[policy], "quit less draw": f"{name}, {unit}"}
        | {
            f"penalty {span(bounds)}": bold(estimate.text(1, scale), estimate.side(0.0, m))
            for bounds in PENALTIES
            for estimate in [best.get((measure, players, policy, "all", "all", bounds), NOTHING)]
        }
        for players, policy in study.tables
        for measure, (name, unit, scale) in MEASURES.items()
    )
    return Part(
        "Quit or draw?",
        """Who can play neither the top rank nor the next one must draw or quit. At which penalty in hand is it better
        to quit, and how does that depend on the opponents left, the stock and the totals?""",
        f"""Up to four such decisions of every game, drawn by lot, at tables of one policy; from each the game is
        played on twice, after quitting and after drawing, by the same policy in all seats and with the same luck. The
        numbers are what is found after quitting less what is found after drawing: the win share of the whole game, in
        percentage points, and the lead in the round, in points. They tell what one decision is worth if all play on by
        that policy; another continuation may value it otherwise. The heuristic quits when stuck at a penalty of
        {DEFAULT_THRESHOLD} or less. Bold: an interval for all {m} cells at once excludes 0; a finding by opponents,
        stock or totals holds for all cells of its own cut at once.""",
        quitting_findings(study, best, cuts),
        table,
        "quitting.png",
        [study.save(pd.DataFrame(rows), "quitting.csv")],
    )


def groups_of(study: Study) -> dict[str, dict[str, Callable[[Arrays], Any]]]:
    """How the positions are cut: by what, into which groups, and which positions belong to each."""

    def bins(name: str, bounds: Iterable[tuple[int, int]]) -> dict[str, Callable[[Arrays], Any]]:
        return {span(each): partial(in_bin, name, each) for each in bounds}

    return {
        "all": {"all": partial(in_bin, "penalty", (1, 31))},
        "opponents": bins("opponents", ((number, number) for number in range(1, max(study.options.players)))),
        "stock": bins("stock", STOCKS),
        "margin": bins("margin", MARGINS),
        "highest total": bins("most", ((0, 0), *TOTALS)),
    }


def in_bin(name: str, bounds: tuple[int, int], facts: Arrays) -> npt.NDArray[np.bool_]:
    """Where a fact lies in a bin."""
    return within(facts[name], bounds)


def draw_quitting(study: Study, best: dict[Any, Estimate], cuts: dict[str, dict[str, Any]]) -> None:
    """Quit less draw over the penalty: every table, and for the main one by opponents, stock and margin."""
    players = study.main_players
    policy = "baseline" if (players, "baseline") in study.tables else "heuristic"
    figure, axes = panels(6, rows=2, sharex=True)
    for axis, (measure, (name, unit, scale)) in zip(axes, MEASURES.items(), strict=False):
        for index, (number, table) in enumerate(study.tables):
            curve = [best.get((measure, number, table, "all", "all", bounds), NOTHING) for bounds in PENALTIES]
            draw_over_penalty(
                axis, curve, scale, index, linestyle="-" if table == "heuristic" else "--",
                color=f"C{study.options.players.index(number)}", label=f"{number} players, {TABLES[table]}",
            )  # fmt: skip
        axis.set_title("all positions")
        axis.set_ylabel(f"{name}, quit less draw, {unit}")
    legend(axes[1])
    for axis, (cut, (title, measure)) in zip(axes[2:], CUTS.items(), strict=True):
        name, unit, scale = MEASURES[measure]
        for index, group in enumerate(cuts[cut]):
            curve = [best.get((measure, players, policy, cut, group, bounds), NOTHING) for bounds in PENALTIES]
            draw_over_penalty(axis, curve, scale, index, label=group, color=f"C{index}")
        axis.set_title(f"{players} players, {TABLES[policy]}")
        axis.set_ylabel(f"{name}, quit less draw, {unit}")
        legend(axis, title)
    for axis in axes:
        axis.axhline(0, color="0.4", linestyle=":", linewidth=1)
        axis.set_xlabel("penalty in hand, points")
    save_figure(figure, study.options.folder / "quitting.png")


def draw_over_penalty(axis: Any, curve: list[Estimate], scale: float, shift: int, **style: Any) -> None:
    """One curve over the bins of the penalty, without those that few deals say something about."""
    places = [sum(bounds) / 2 + 0.15 * shift for bounds in PENALTIES]
    kept = [pair for pair in zip(places, curve, strict=True) if pair[1].deals >= FEWEST_DRAWN]
    if kept:
        draw(axis, [place for place, _ in kept], [estimate for _, estimate in kept], scale, **style)


def quitting_findings(study: Study, best: dict[Any, Estimate], cuts: dict[str, dict[str, Any]]) -> list[str]:
    """Sentences about the decision."""
    texts = []
    m = len(MEASURES) * len(PENALTIES) * len(study.tables)
    for players, policy in study.tables:
        parts = []
        for measure, (name, _, _) in MEASURES.items():
            cells = {b: best.get((measure, players, policy, "all", "all", b), NOTHING) for b in PENALTIES}
            parts.append(f"by {name} {sure_choice(cells, m) or 'nothing is sure'}")
        texts.append(f"{players} players, tables of {TABLES[policy]} seats: {'; '.join(parts)}.")
    for players, policy in study.tables:
        if players != study.main_players:
            continue
        for cut, (title, measure) in CUTS.items():
            family = len(cuts[cut]) * len(PENALTIES)
            parts = []
            for group in cuts[cut]:
                cells = {b: best.get((measure, players, policy, cut, group, b), NOTHING) for b in PENALTIES}
                if choice := sure_choice(cells, family):
                    parts.append(f"{group}: {choice}")
            texts.append(
                f"""{players} players, {TABLES[policy]}, {MEASURES[measure][0]} by {title}:
                {"; ".join(parts) if parts else "nothing is sure"}."""
            )
    return texts


def sure_choice(cells: dict[tuple[int, int], Estimate], family: int) -> str:
    """At which penalties quitting is surely better, and drawing; "" if at none."""
    parts = []
    for side, verb in ((1, "quit"), (-1, "draw")):
        sure = [span(bounds) for bounds, estimate in cells.items() if estimate.side(0.0, family) == side]
        if sure:
            parts.append(f"{verb} at {listed(sure)}")
    return ", ".join(parts)


# --------------------------------------------------------------------------------------------------------- threshold


def threshold(study: Study) -> Part:
    """The heuristic's threshold, swept."""
    arms: dict[Any, tuple[Any, ...]] = {
        (players, value): (study.game(players), f"heuristic:{value}", "heuristic")
        for players in study.options.players
        for value in THRESHOLDS
        if value != DEFAULT_THRESHOLD
    }
    found = study.run(play_arm, arms, 0.5, "threshold")
    everyone: dict[Any, tuple[Any, ...]] = {
        (players, value): (study.game(players), f"heuristic:{value}", None)
        for players in study.options.players
        for value in THRESHOLDS
    }
    alike = study.run(play_alike, everyone, 0.25, "threshold of all alike")
    m = len(arms)
    shown = {key: over_deals(result["win"]) for key, result in found.items()}
    rows = [
        {"players": key[0], "threshold": key[1], "fair_share": 1 / key[0], "deals": win.deals}
        | win.columns("win_share", m) | over_deals(found[key]["lead"]).columns("lead_a_round", m)
        for key, win in shown.items()
    ]  # fmt: skip
    together = [
        {"players": key[0], "threshold_of_all": key[1], "deals": len(result["points"])}
        | over_deals(result["points"]).columns("points_a_round") | over_deals(result["rounds"]).columns("rounds")
        for key, result in alike.items()
    ]  # fmt: skip
    figure, axes = panels(2, width=5.6)
    for index, players in enumerate(study.options.players):
        curve = [
            shown[players, value].times(players) if value != DEFAULT_THRESHOLD else Estimate(1.0, 0.0, 2)
            for value in THRESHOLDS
        ]
        draw(axes[0], THRESHOLDS, curve, color=f"C{index}", label=f"{players} players")
        points = [over_deals(alike[players, value]["points"]) for value in THRESHOLDS]
        draw(axes[1], THRESHOLDS, points, color=f"C{index}", label=f"{players} players")
    axes[0].axhline(1, color="0.4", linestyle=":", linewidth=1)
    axes[0].set_xlabel("threshold of the one seat, penalty points")
    axes[0].set_ylabel("win share × players")
    axes[0].set_title(f"one seat, the others at {DEFAULT_THRESHOLD}")
    axes[1].set_xlabel("threshold of all seats, penalty points")
    axes[1].set_ylabel("penalty points a round and seat")
    axes[1].set_title("all seats alike")
    legend(axes[0])
    save_figure(figure, study.options.folder / "threshold.png")
    texts = []
    for players in study.options.players:
        own = {value: win for (number, value), win in shown.items() if number == players}
        better = [str(value) for value, win in own.items() if win.side(1 / players, m) > 0]
        worse = [str(value) for value, win in own.items() if win.side(1 / players, m) < 0]
        top = max(own, key=lambda value: own[value].mean)
        texts.append(
            f"""{players} players, against seats that quit at {DEFAULT_THRESHOLD}: sure winners are the thresholds
            {listed(better)}, sure losers {listed(worse)} (best seen: {top} with {own[top].text(3)} against
            {1 / players:.3f})."""
        )
    table = pd.DataFrame(
        {"threshold": value}
        | {
            f"{players} players (fair {1 / players:.3f})": (
                bold(shown[players, value].text(3), shown[players, value].side(1 / players, m))
                if value != DEFAULT_THRESHOLD
                else f"{1 / players:.3f}"
            )
            for players in study.options.players
        }
        for value in THRESHOLDS
    )
    return Part(
        "How much penalty to quit with",
        """A seat quits, when stuck, at a penalty of T or less. Which T wins most?""",
        f"""Whole games, one seat with another threshold than the others' {DEFAULT_THRESHOLD}, every seat in turn; win
        share of the one. Bold: an interval for all {m} rows at once excludes one in the number of players. The right
        panel has the same threshold in all seats.""",
        texts,
        table,
        "threshold.png",
        [study.save(pd.DataFrame(rows), "threshold.csv"), study.save(pd.DataFrame(together), "threshold_alike.csv")],
    )


# ------------------------------------------------------------------------------------------------------ quitting early


def early(study: Study) -> Part:
    """Quitting with a playable card in hand, and drawing instead of playing."""
    arms: dict[Any, tuple[Any, ...]] = {
        (players, policy): (study.game(players), policy, COULD_PLAY, ("quit", "draw", "own"), 3)
        for players, policy in study.tables
    }
    found = study.run(fork, arms, 0.5, "quitting early")
    m = 2 * len(PENALTIES) * len(arms)
    best = {
        (key, other, bounds): difference(result, "win", other, "own", within(result["penalty"], bounds))
        for key, result in found.items()
        for other in ("quit", "draw")
        for bounds in PENALTIES
    }
    rows = [
        {"players": key[0], "policy": key[1], "instead": other, "penalty": span(bounds), "deals": estimate.deals}
        | estimate.columns("win_share", m)
        for (key, other, bounds), estimate in best.items()
        if estimate.deals
    ]
    figure, axes = panels(2, width=5.6, sharey=True)
    places = np.array([sum(bounds) / 2 for bounds in PENALTIES])
    for axis, other in zip(axes, ("quit", "draw"), strict=True):
        for index, (players, policy) in enumerate(study.tables):
            curve = [best[(players, policy), other, bounds] for bounds in PENALTIES]
            draw(
                axis, places + 0.15 * index, curve, 100, color=f"C{study.options.players.index(players)}",
                linestyle="-" if policy == "heuristic" else "--", label=f"{players} players, {TABLES[policy]}",
            )  # fmt: skip
        axis.axhline(0, color="0.4", linestyle=":", linewidth=1)
        axis.set_xlabel("penalty in hand before the turn, points")
        axis.set_title(f"{other} instead of the policy's choice")
    axes[0].set_ylabel("change of the win share, percentage points")
    legend(axes[0])
    save_figure(figure, study.options.folder / "early.png")
    texts = []
    for other in ("quit", "draw"):
        better = [
            f"{key[0]} players, {TABLES[key[1]]}, penalty {span(bounds)} ({estimate.text(1, 100)})"
            for (key, what, bounds), estimate in best.items()
            if what == other and estimate.side(0.0, m) > 0
        ]
        worse = sum(estimate.side(0.0, m) < 0 for (_, what, _), estimate in best.items() if what == other)
        texts.append(
            f"""To {other} although a card could be played surely gains: {listed(better)}; it surely costs in {worse} of
            {m // 2} cells."""
        )
    table = pd.DataFrame(
        {"players": key[0], "table": TABLES[key[1]], "instead": other}
        | {
            f"penalty {span(bounds)}": bold(estimate.text(1, 100), estimate.side(0.0, m))
            for bounds in PENALTIES
            for estimate in [best[key, other, bounds]]
        }
        for key in found
        for other in ("quit", "draw")
    )
    return Part(
        "With a playable card",
        """Quitting and drawing are legal with a playable card too (L7, L8). Is it ever right?""",
        f"""As above, but at up to three decisions of a game at which a card could be played; quitting, and drawing,
        against what the policy itself does there (nearly always: play). Win share in percentage points; bold: an
        interval for all {m} cells at once excludes 0.""",
        texts,
        table,
        "early.png",
        [study.save(pd.DataFrame(rows), "early.csv")],
    )


# --------------------------------------------------------------------------------------------------------------- chips


def chip(study: Study) -> Part:
    """What the returned chip is worth."""
    arms: dict[Any, tuple[Any, ...]] = {
        (players, policy): (study.game(players), policy, CHIP, ("keep", "white", "black"), 3)
        for players, policy in study.tables
    }
    found = study.run(fork, arms, 0.5, "chips")
    groups = {"all": (0, 40), **{span(bounds): bounds for bounds in TOTALS}}
    m = 2 * len(groups) * len(arms)
    worth = {
        (key, color, group): difference(result, "win", color, "keep", within(result["total"], bounds))
        for key, result in found.items()
        for color in ("white", "black")
        for group, bounds in groups.items()
    }
    rows = [
        {"players": key[0], "policy": key[1], "returned": color, "total": group, "deals": estimate.deals}
        | estimate.columns("win_share", m)
        for (key, color, group), estimate in worth.items()
        if estimate.deals
    ]
    figure, axes = panels(2, width=5.6, sharey=True)
    for axis, color in zip(axes, ("white", "black"), strict=True):
        for index, (players, policy) in enumerate(study.tables):
            curve = [worth[(players, policy), color, span(bounds)] for bounds in TOTALS]
            kept = [(n, estimate) for n, estimate in enumerate(curve) if estimate.deals >= FEWEST_DRAWN]
            if kept:
                draw(
                    axis, [n + 0.05 * (index - 3.5) for n, _ in kept], [estimate for _, estimate in kept], 100,
                    color=f"C{study.options.players.index(players)}", linestyle="-" if policy == "heuristic" else "--",
                    label=f"{players} players, {TABLES[policy]}",
                )  # fmt: skip
        axis.axhline(0, color="0.4", linestyle=":", linewidth=1)
        axis.set_xticks(range(len(TOTALS)), [span(bounds) for bounds in TOTALS])
        axis.set_xlim(-0.5, len(TOTALS) - 0.5)
        axis.set_xlabel("own total before, penalty points")
        axis.set_title(f"a {color} chip ({'1 point' if color == 'white' else '10 points'})")
    axes[0].set_ylabel("win share, returned less kept, percentage points")
    legend(axes[1])
    save_figure(figure, study.options.folder / "chip.png")
    texts = []
    for color in ("white", "black"):
        every = {key: worth[key, color, "all"] for key in found}
        sure = [key for key, estimate in every.items() if estimate.side(0.0, m) > 0]
        text = listed(
            f"{estimate.text(1, 100)} ({key[0]} players, {TABLES[key[1]]})" for key, estimate in every.items()
        )
        texts.append(
            f"""A returned {color} chip is worth, in percentage points of the win, {text}; surely above 0 at
            {len(sure)} of {len(every)} tables."""
        )
    bad = [
        f"{color}, {key[0]} players, {TABLES[key[1]]}, total {group}"
        for (key, color, group), estimate in worth.items()
        if estimate.side(0.0, m) < 0
    ]
    texts.append(f"Where returning a chip surely costs: {listed(bad)}.")
    table = pd.DataFrame(
        {"players": key[0], "table": TABLES[key[1]], "chip": color}
        | {
            f"total {group}": bold(estimate.text(1, 100), estimate.side(0.0, m))
            for group in groups
            for estimate in [worth[key, color, group]]
        }
        for key in found
        for color in ("white", "black")
    )
    return Part(
        "The returned chip",
        """Who empties its hand may return a chip (L12). What is a white or a black one worth?""",
        f"""At up to three such decisions of a game it is played on after keeping all, after returning a white and after
        returning a black chip, where it has one, with the same luck. Win share of whole games, returned less kept, in
        percentage points; bold: an interval for all {m} cells at once excludes 0. Totals are the seat's own before the
        decision.""",
        texts,
        table,
        "chip.png",
        [study.save(pd.DataFrame(rows), "chip.csv")],
    )


# --------------------------------------------------------------------------------------------------------------- seats


def seats(study: Study) -> Part:
    """Advantage of opening the first round, and of every seat after it."""
    arms: dict[Any, tuple[Any, ...]] = {
        (players, policy): (study.game(players), policy, 0) for players, policy in study.tables
    }
    found = study.run(play_alike, arms, 2.5, "seats")
    m = sum(players for players, _ in arms)
    rows, shown = [], {}
    for (players, policy), result in found.items():
        mean = result["first"].mean(axis=1)
        for seat in range(players):
            win = over_deals(result["win"][:, seat])
            points = over_deals(result["first"][:, seat] - mean)
            shown[players, policy, seat] = (win, points)
            rows.append(
                {"players": players, "policy": policy, "seats_after_the_starter": seat, "fair_share": 1 / players}
                | {"deals": win.deals} | win.columns("win_share", m) | points.columns("first_round_points", m)
            )  # fmt: skip
    figure, axes = panels(2, width=5.6)
    for index, (players, policy) in enumerate(study.tables):
        style = {"color": f"C{study.options.players.index(players)}", "label": f"{players} players, {TABLES[policy]}"}
        style["linestyle"] = "-" if policy == "heuristic" else "--"
        own = [shown[players, policy, seat] for seat in range(players)]
        places = np.arange(players) + 0.04 * (index - 3.5)
        draw(axes[0], places, [points for _, points in own], 1.0, **style)
        draw(axes[1], places, [win.times(players) for win, _ in own], 1.0, **style)
    for axis, level in zip(axes, (0, 1), strict=True):
        axis.axhline(level, color="0.4", linestyle=":", linewidth=1)
        axis.set_xticks(range(max(study.options.players)))
        axis.set_xlabel("seats after the one that opens the first round")
    axes[0].set_ylabel("penalty of the first round, less the table's mean")
    axes[1].set_ylabel("win share of the game × players")
    legend(axes[0])
    save_figure(figure, study.options.folder / "seats.png")
    texts = []
    for players, policy in study.tables:
        win, points = shown[players, policy, 0]
        words = {-1: "fewer", 1: "more", 0: "not surely fewer or more"}
        win_words = {
            1: "wins surely more than its share",
            -1: "wins surely less",
            0: "does not surely win more or less",
        }
        texts.append(
            f"""{players} players, {TABLES[policy]}: the opening seat takes {words[points.side(0.0, m)]} penalty points
            than the table's mean in the first round ({points.text(2)}), and {win_words[win.side(1 / players, m)]} of
            games ({win.text(3)} against {1 / players:.3f})."""
        )
    table = pd.DataFrame(
        {"players": players, "table": TABLES[policy], "": what}
        | {
            f"seat {seat}": (
                "–"
                if seat >= players
                else bold(shown[players, policy, seat][0].text(3), shown[players, policy, seat][0].side(1 / players, m))
                if what == "win share"
                else bold(shown[players, policy, seat][1].text(2), shown[players, policy, seat][1].side(0.0, m))
            )
            for seat in range(max(study.options.players))
        }
        for players, policy in study.tables
        for what in ("win share", "first round")
    )
    return Part(
        "Seat and starter",
        """Is it an advantage to open the first round? Later rounds are opened by the last actor of the one before
        (L5).""",
        f"""Whole games, seat 0 opens the first round, all seats play alike. *First round*: penalty points less the mean
        of the table. Bold: an interval for all {m} of a kind at once excludes an even share, or 0.""",
        texts,
        table,
        "seats.png",
        [study.save(pd.DataFrame(rows), "seats.csv")],
    )


# -------------------------------------------------------------------------------------------------------------- report

PARTS: dict[str, Callable[[Study], Part]] = {
    "quit": quitting,
    "threshold": threshold,
    "early": early,
    "chip": chip,
    "seats": seats,
}


def report(study: Study, parts: dict[str, Part], seconds: float) -> str:
    """The report as Markdown."""
    options = study.options
    players = "" if options.players == Options.players else f" --players {' '.join(map(str, options.players))}"
    same = f"{players} --seed {options.seed} --deals {options.deals}"
    missing = [str(number) for number in options.players if (number, "baseline") not in study.tables]
    unshipped = f"No trained agent ships for {listed(missing)} players." if missing else ""
    texts = [
        "# Quitting in L.L.A.M.A.",
        f"Generated by `{command_line()}` (seed {options.seed}).",
        prose(
            f"""{RULES_OF_REPORTING} Fewest points win: a *lead* is the others' mean less one's own points. Clauses, as
            L8, are those of the rules page. {unshipped}"""
        ),
        *(part.text(f"python -m experiments.quitting_study --only {name}{same}") for name, part in parts.items()),
        "## How it was run",
        f"{options.processes} processes of one thread, {seconds / 60:.1f} minutes.",
        library_versions(),
    ]
    return "\n\n".join(texts) + "\n"


def run(options: Options) -> Path:
    """All parts, and the report; its path. ValueError for bad options."""
    options.check()
    started = time.perf_counter()
    with Workers(options.processes) as workers:
        study = Study(options, workers)
        parts = {name: PARTS[name](study) for name in PARTS if not options.only or name in options.only}
    path = options.folder / "report.md"
    write_text(path, report(study, parts, time.perf_counter() - started))
    return path


def main() -> None:
    """The command line."""
    options = tyro.cli(Options, description=__doc__.partition("\n")[0])
    if options.quick:
        options = dataclasses.replace(options, deals=min(options.deals, 200))
    print(f"report: {run_or_exit(lambda: run(options))}")


if __name__ == "__main__":
    main()
