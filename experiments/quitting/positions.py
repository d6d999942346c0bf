"""Decisions played on after each of several actions: quit or draw, with a playable card, and the returned chip."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from experiments.lib.estimates import cell, frame, pooled
from experiments.lib.figures import draw, label, legend, panels
from experiments.lib.findings import either, listed, together
from experiments.lib.study import Arrays, Part, Study
from experiments.quitting.play import CHIP, COULD_PLAY, STUCK, fork
from llama_envs.evaluation.intervals import Estimate
from llama_envs.lama.heuristic import DEFAULT_THRESHOLD
from llama_envs.lama.rules import BLACK_CHIP, LLAMA_PENALTY

Bounds = tuple[int, int]  # of a bin, both ends included
ALL = "all"
MEASURES = {"win": ("win share", "percentage points", 100.0), "lead": ("lead in the round", "points", 1.0)}
CUTS = {  # how positions are cut, and by which measure
    "opponents": ("opponents left", "lead"),
    "stock": ("cards in the stock", "lead"),
    "margin": ("the others' lowest total less one's own", "win"),
    "highest total": ("highest total at the table", "win"),
}


def penalties(study: Study) -> list[Bounds]:
    """Bins of the penalty in hand, up to the highest there is (L13, L19)."""
    highest = sum(range(1, study.rules.num_ranks)) + LLAMA_PENALTY
    bins = ((1, 3), (4, 6), (7, 9), (10, 12), (13, 15), (16, 20), (21, highest))
    return [(low, min(high, highest)) for low, high in bins if low <= highest]


def totals(study: Study) -> list[Bounds]:
    """Bins of a total: quarters of the target score."""
    target = study.rules.target_score
    edges = [1, target // 4, target // 2, 3 * target // 4, target]
    return [(low, high - 1) for low, high in pairwise(edges) if 1 <= low < high]


def margins(study: Study) -> list[Bounds]:
    """Bins of the others' lowest total less one's own."""
    target, quarter = study.rules.target_score, study.rules.target_score // 4
    bins = ((-target, -quarter - 1), (-quarter, -1), (0, quarter - 1), (quarter, target))
    return [(low, high) for low, high in bins if low <= high]


def span(bounds: Bounds) -> str:
    """A bin, for people."""
    return f"{bounds[0]} to {bounds[1]}" if bounds[0] < bounds[1] else str(bounds[0])


def within(name: str, bounds: Bounds, facts: Arrays) -> npt.NDArray[np.bool_]:
    """Where a fact lies in a bin."""
    return np.asarray((facts[name] >= bounds[0]) & (facts[name] <= bounds[1]))


def difference(result: Arrays, what: str, one: str, other: str, where: npt.NDArray[np.bool_]) -> Estimate:
    """What ``one`` action makes more of ``what`` ("win" or "lead") than the ``other``, in the positions ``where``."""
    return pooled(np.where(where, result[f"{what}_{one}"] - result[f"{what}_{other}"], np.nan))


def forked(study: Study, kind: str, actions: tuple[str, ...], each: int, share: float, title: str) -> dict[Any, Arrays]:
    """:func:`fork` at every table."""
    arms = {(p, policy): (study.game(p), policy, kind, actions, each) for p, policy in study.tables}
    return finished(study, study.run(fork, arms, share, title), f"win_{actions[0]}")


def finished(study: Study, found: dict[Any, Arrays], win: str = "win") -> dict[Any, Arrays]:
    """What was found; ValueError if no game came to its end."""
    if all(np.isnan(result[win]).all() for result in found.values()):
        raise ValueError(f"no game came to its end within max_rounds = {study.rules.max_rounds}, so nobody won any.")
    return found


def style_of(study: Study, players: int, policy: str) -> dict[str, Any]:
    """How the curve of a table is drawn."""
    lines = ["-", "--", ":", "-."]
    policies = list(dict.fromkeys(name for _, name in study.tables))
    return {
        "color": f"C{study.options.num_players.index(players)}",
        "linestyle": lines[policies.index(policy) % len(lines)],
        "label": f"{players} players, {study.label(policy)}",
    }


# ------------------------------------------------------------------------------------------------------- quit or draw


def quitting(study: Study) -> Part:
    """Quit or draw, when stuck: by penalty, opponents, stock and totals."""
    found = forked(study, STUCK, ("quit", "draw"), 4, 1.0, "quit or draw")
    cuts, bins = groups_of(study), penalties(study)
    m = len(MEASURES) * len(bins) * len(study.tables)
    best = {
        (what, p, policy, cut, group, bounds): difference(result, what, "quit", "draw", where)
        for (p, policy), result in found.items()
        for cut, groups in cuts.items()
        for group, holds in groups.items()
        for bounds in bins
        for where in [within("penalty", bounds, result) & holds(result)]
        for what in MEASURES
    }
    numbers = {
        what: {(*key[1:5], span(key[5])): number for key, number in best.items() if key[0] == what} for what in MEASURES
    }
    table = pd.DataFrame(
        {"players": p, "table": study.label(policy), "quit less draw": f"{name}, {unit}"}
        | {
            f"penalty {span(bounds)}": cell(number, 0.0, m, 1, scale)
            for bounds in bins
            for number in [best[what, p, policy, ALL, ALL, bounds]]
        }
        for p, policy in study.tables
        for what, (name, unit, scale) in MEASURES.items()
    )

    def cells(what: str, p: int, policy: str, cut: str = ALL, group: str = ALL) -> dict[Bounds, Estimate]:
        return {bounds: best[what, p, policy, cut, group, bounds] for bounds in bins}

    return study.part(
        "quit",
        quitting_page(study, cells, m, len(bins) * len(cuts["margin"])),
        quitting_findings(study, cells, cuts, m),
        table,
        draw_quitting(study, cells, cuts),
        {"quitting.csv": frame("players policy by group penalty", m, **numbers)},
        right=3,
        threshold=DEFAULT_THRESHOLD,
        m=m,
    )


Cells = Callable[..., dict[Bounds, Estimate]]
Groups = dict[str, dict[str, Callable[[Arrays], Any]]]


def groups_of(study: Study) -> Groups:
    """How the positions are cut: by what, into which groups, and which positions belong to each."""

    def bins(name: str, bounds: Iterable[Bounds]) -> dict[str, Callable[[Arrays], Any]]:
        return {span(each): partial(within, name, each) for each in bounds}

    rules, most = study.rules, max(study.options.num_players)
    cards = rules.num_ranks * rules.copies - rules.hand_size * min(study.options.num_players) - 1
    stocks = [(low, high) for low, high in ((1, 7), (8, 15), (16, cards)) if low <= high]
    return {
        ALL: {ALL: partial(within, "penalty", (0, 10**6))},
        "opponents": bins("opponents", ((number, number) for number in range(1, most))),
        "stock": bins("stock", stocks),
        "margin": bins("margin", margins(study)),
        "highest total": bins("most", ((0, 0), *totals(study))),
    }


def draw_quitting(study: Study, cells: Cells, cuts: Groups) -> Any:
    """Quit less draw over the penalty: every table, and for the main one by opponents, stock and totals."""
    players = study.main_players
    policy = "baseline" if players in study.trained else "heuristic"
    figure, axes = panels(6, rows=2, sharex=True)
    middles = np.array([sum(bounds) / 2 for bounds in penalties(study)])
    for axis, (what, (name, unit, scale)) in zip(axes, MEASURES.items(), strict=False):
        for index, (number, table) in enumerate(study.tables):
            curve = list(cells(what, number, table).values())
            draw(axis, middles + 0.15 * index, curve, scale, **style_of(study, number, table))
        label(axis, "all positions", "penalty in hand, points", f"{name}, quit less draw, {unit}", 0)
    legend(axes[1])
    for axis, (cut, (title, what)) in zip(axes[2:], CUTS.items(), strict=True):
        name, unit, scale = MEASURES[what]
        for index, group in enumerate(cuts[cut]):
            curve = list(cells(what, players, policy, cut, group).values())
            draw(axis, middles + 0.15 * index, curve, scale, label=group, color=f"C{index}")
        where = f"{players} players, {study.label(policy)}"
        label(axis, where, "penalty in hand, points", f"{name}, quit less draw, {unit}", 0)
        legend(axis, title)
    return figure


def sure(cells: dict[Bounds, Estimate], family: int) -> tuple[list[Bounds], list[Bounds]]:
    """At which penalties quitting is surely better, and drawing."""
    return tuple([b for b, number in cells.items() if number.side(0.0, family) == side] for side in (1, -1))  # type: ignore[return-value]


def quitting_page(study: Study, cells: Cells, m: int, family: int) -> list[str]:
    """For whoever plays cards: up to where to quit, and from where on to draw."""
    p, ahead = study.main_players, margins(study)[-1]
    asked = (
        ("page.stuck", cells("lead", p, "heuristic"), m, 1.0),
        ("page.ahead", cells("win", p, "heuristic", "margin", span(ahead)), family, 100.0),
    )
    texts = []
    for name, own, comparisons, scale in asked:
        quit_, draw_ = sure(own, comparisons)
        numbers = {"players": p, "ahead": ahead[0], **dict.fromkeys(("most", "gain", "least", "loss"), "")}
        if quit_:
            numbers |= {"most": quit_[-1][1], "gain": own[quit_[-1]].text(1, scale)}
        if draw_:
            numbers |= {"least": draw_[0][0], "loss": own[draw_[0]].times(-1).text(1, scale)}
        texts.append(study.say(name, either(quit_, draw_), **numbers))
    return texts


def quitting_findings(study: Study, cells: Cells, cuts: Groups, m: int) -> list[str]:
    """Sentences about the decision."""

    def choice(name: str, own: dict[Bounds, Estimate], family: int, **numbers: Any) -> str:
        quit_, draw_ = sure(own, family)
        spans = {"quit": listed(map(span, quit_)), "draw": listed(map(span, draw_))}
        return study.say(name, either(quit_, draw_), **spans, **numbers)

    texts = []
    for p, policy in study.tables:
        who = study.label(policy)
        for what, (measure, *_) in MEASURES.items():
            texts.append(choice("quit.choice", cells(what, p, policy), m, players=p, who=who, measure=measure))
        for cut, (title, what) in CUTS.items() if p == study.main_players else ():
            family = len(cuts[cut]) * len(penalties(study))
            groups = {group: cells(what, p, policy, cut, group) for group in cuts[cut]}
            parts = [
                choice("quit.group", own, family, group=group)
                for group, own in groups.items()
                if any(sure(own, family))
            ]
            named = {"players": p, "who": who, "measure": MEASURES[what][0], "cut": title}
            texts.append(study.say("quit.cut", "some" if parts else "none", parts="; ".join(parts), **named))
    return texts


# ------------------------------------------------------------------------------------------ actions beside a usual one


def compared(
    study: Study, found: dict[Any, Arrays], actions: Iterable[str], usual: str, fact: str, bins: list[Bounds]
) -> tuple[dict[Any, Estimate], pd.DataFrame]:
    """How much more often each action wins than the ``usual`` one, by table, action and bin of a fact; as a table."""
    groups = {ALL: (0, 10**6), **{span(bounds): bounds for bounds in bins}}
    worth = {
        (*key, action, group): difference(result, "win", action, usual, within(fact, bounds, result))
        for key, result in found.items()
        for action in actions
        for group, bounds in groups.items()
    }
    table = pd.DataFrame(
        {"players": p, "table": study.label(policy), "action": action}
        | {f"{fact} {group}": cell(worth[p, policy, action, group], 0.0, len(worth), 1, 100) for group in groups}
        for p, policy in found
        for action in actions
    )
    return worth, table


def draw_compared(study: Study, worth: dict[Any, Estimate], titles: dict[str, str], x: str, y: str) -> Any:
    """A panel for each action: what it wins more, by bin."""
    figure, axes = panels(len(titles), width=5.6, sharey=True)
    bins = [group for group in dict.fromkeys(key[3] for key in worth) if group != ALL]
    for axis, (action, title) in zip(axes, titles.items(), strict=True):
        for index, (p, policy) in enumerate(study.tables):
            curve = [worth[p, policy, action, group] for group in bins]
            places = np.arange(len(bins)) + 0.05 * (index - len(study.tables) / 2)
            draw(axis, places, curve, 100, **style_of(study, p, policy))
        label(axis, title, x, level=0)
        axis.set_xticks(range(len(bins)), bins)
        axis.set_xlim(-0.5, len(bins) - 0.5)
    axes[0].set_ylabel(f"{y}, percentage points")
    legend(axes[-1])
    return figure


def early(study: Study) -> Part:
    """Quitting with a playable card in hand, and drawing instead of playing."""
    found = forked(study, COULD_PLAY, ("quit", "draw", "own"), 3, 0.5, "quitting early")
    worth, table = compared(study, found, ("quit", "draw"), "own", "penalty", penalties(study))
    m = len(worth)
    texts = []
    for action in ("quit", "draw"):
        sides = {key: number.side(0.0, m) for key, number in worth.items() if key[2] == action and key[3] != ALL}
        better = [
            f"{p} players, {study.label(policy)}, penalty {group} ({worth[p, policy, action, group].text(1, 100)})"
            for (p, policy, _, group), side in sides.items()
            if side > 0
        ]
        worse = list(sides.values()).count(-1)
        numbers = {"verb": action, "better": listed(better), "worse": worse, "cells": len(sides)}
        texts.append(study.say("early.instead", either(better, worse), **numbers))
    p = study.main_players
    costs = {action: worth[p, "heuristic", action, ALL].times(-1) for action in ("quit", "draw")}
    verdict = together(cost.side(0.0, 2) for cost in costs.values())
    titles = {action: f"{action} instead of the policy's choice" for action in ("quit", "draw")}
    x, y = "penalty in hand before the turn, points", "change of the win share"
    return study.part(
        "early",
        [study.say("page.play", verdict, players=p, **{action: cost.text(1, 100) for action, cost in costs.items()})],
        texts,
        table,
        draw_compared(study, worth, titles, x, y),
        {"early.csv": frame("players policy instead penalty", m, win_share=worth)},
        right=3,
        m=m,
    )


COLORS = {"white": 1, "black": BLACK_CHIP}


def chip(study: Study) -> Part:
    """What the returned chip is worth."""
    found = forked(study, CHIP, ("keep", *COLORS), 3, 0.5, "chips")
    worth, table = compared(study, found, COLORS, "keep", "total", totals(study))
    m, p = len(worth), study.main_players
    texts, page = [], []
    for color, points in COLORS.items():
        every = {(q, policy): worth[q, policy, color, ALL] for q, policy in found}
        text = listed(f"{e.text(1, 100)} ({key[0]} players, {study.label(key[1])})" for key, e in every.items())
        verdict = together(number.side(0.0, m) for number in every.values())
        texts.append(study.say("chip.worth", verdict, color=color, worth=text))
        own = every[p, "heuristic"]
        page.append(study.say(f"page.{color}", own.side(0.0, 2), worth=own.text(1, 100), players=p, points=points))
    bad = [
        f"{color}, {q} players, {study.label(policy)}, total {group}"
        for (q, policy, color, group), number in worth.items()
        if number.side(0.0, m) < 0
    ]
    texts.append(study.say("chip.costs", either([], bad), where=listed(bad)))
    titles = {color: f"a {color} chip ({points} point{'s' if points > 1 else ''})" for color, points in COLORS.items()}
    x, y = "own total before, penalty points", "win share, returned less kept"
    return study.part(
        "chip",
        page,
        texts,
        table,
        draw_compared(study, worth, titles, x, y),
        {"chip.csv": frame("players policy returned total", m, win_share=worth)},
        right=3,
        m=m,
    )
