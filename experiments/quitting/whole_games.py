"""Whole games: the penalty to quit with, and where to sit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from experiments.lib.estimates import cell, frame, over_deals
from experiments.lib.figures import draw, label, legend, panels
from experiments.lib.study import Part, Study
from experiments.quitting.play import play_alike, play_arm
from experiments.quitting.positions import finished, style_of
from llama_envs.evaluation.intervals import Estimate
from llama_envs.lama.heuristic import DEFAULT_THRESHOLD

THRESHOLDS = (0, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20)


def threshold(study: Study) -> Part:
    """The heuristic's threshold, swept."""
    seats = study.options.num_players
    arms: dict[Any, tuple[Any, ...]] = {
        (p, value): (study.game(p), f"heuristic:{value}", "heuristic")
        for p in seats
        for value in THRESHOLDS
        if value != DEFAULT_THRESHOLD
    }
    found = finished(study, study.run(play_arm, arms, 0.5, "threshold"))
    everyone = {(p, value): (study.game(p), f"heuristic:{value}", None) for p in seats for value in THRESHOLDS}
    alike = study.run(play_alike, everyone, 0.25, "threshold of all alike")
    m = len(arms)
    shown = {key: over_deals(result["win"], share=True) for key, result in found.items()}
    points = {key: over_deals(result["points"]) for key, result in alike.items()}
    leads = {key: over_deals(result["lead"]) for key, result in found.items()}
    rounds = {key: over_deals(result["rounds"]) for key, result in alike.items()}
    figure, axes = panels(2, width=5.6)
    even = Estimate(1.0, 0.0, study.options.deals)  # all seats alike
    for index, p in enumerate(seats):
        curve = [even if value == DEFAULT_THRESHOLD else shown[p, value].times(p) for value in THRESHOLDS]
        draw(axes[0], THRESHOLDS, curve, color=f"C{index}", label=f"{p} players")
        draw(axes[1], THRESHOLDS, [points[p, value] for value in THRESHOLDS], color=f"C{index}")
    title = f"one seat, the others at {DEFAULT_THRESHOLD}"
    label(axes[0], title, "threshold of the one seat, penalty points", "win share × players", 1)
    label(axes[1], "all seats alike", "threshold of all seats, penalty points", "penalty points a round and seat")
    legend(axes[0])
    own = {p: {value: win for (q, value), win in shown.items() if q == p} for p in seats}
    table = pd.DataFrame(
        {"threshold": value}
        | {
            f"{p} players (fair {1 / p:.3f})": cell(shown[p, value], 1 / p, m, 3)
            if value != DEFAULT_THRESHOLD
            else f"{1 / p:.3f}"
            for p in seats
        }
        for value in THRESHOLDS
    )
    page = []
    for p in seats:
        best = max(own[p], key=lambda value: own[p][value].mean)
        numbers = {"players": p, "best": best, "default": DEFAULT_THRESHOLD, "share": own[p][best].text(1, 100)}
        page.append(study.say("page.threshold", own[p][best].side(1 / p, m), fair=f"{100 / p:.1f}", **numbers))
    return study.part(
        "threshold",
        page,
        [study.say_of_sweep("threshold.sweep", own[p], p, m, default=DEFAULT_THRESHOLD) for p in seats],
        table,
        figure,
        {
            "threshold.csv": frame("players threshold", m, win_share=shown, lead_a_round=leads),
            "threshold_alike.csv": frame("players threshold_of_all", points_a_round=points, rounds=rounds),
        },
        right=1,
        m=m,
        default=DEFAULT_THRESHOLD,
    )


def seats(study: Study) -> Part:
    """Advantage of opening the first round, and of every seat after it."""
    arms: dict[Any, tuple[Any, ...]] = {(p, policy): (study.game(p), policy, 0) for p, policy in study.tables}
    found = finished(study, study.run(play_alike, arms, 2.5, "seats"))
    m = sum(p for p, _ in arms)
    wins, points = {}, {}
    for (p, policy), result in found.items():
        for seat in range(p):
            wins[p, policy, seat] = over_deals(result["win"][:, seat], share=True)
            points[p, policy, seat] = over_deals(result["first"][:, seat] - result["first"].mean(axis=1))
    figure, axes = panels(2, width=5.6)
    for index, (p, policy) in enumerate(study.tables):
        places = np.arange(p) + 0.04 * (index - len(study.tables) / 2)
        style = style_of(study, p, policy)
        draw(axes[0], places, [points[p, policy, seat] for seat in range(p)], 1.0, **style)
        draw(axes[1], places, [wins[p, policy, seat].times(p) for seat in range(p)], 1.0, **style)
    after = "seats after the one that opens the first round"
    label(axes[0], "", after, "penalty of the first round, less the table's mean", 0)
    label(axes[1], "", after, "win share of the game × players", 1)
    for axis in axes:
        axis.set_xticks(range(max(study.options.num_players)))
    legend(axes[0])
    texts = []
    for p, policy in study.tables:
        win, first = wins[p, policy, 0], points[p, policy, 0]
        numbers = {"players": p, "who": study.label(policy)}
        texts.append(study.say("seats.first", first.side(0.0, m), points=first.text(2), **numbers))
        texts.append(study.say("seats.win", win.side(1 / p, m), share=win.text(3), fair=f"{1 / p:.3f}", **numbers))
    table = pd.DataFrame(
        {"players": p, "table": study.label(policy), "number": what}
        | {
            f"seat {seat}": "–" if seat >= p else cell(own[p, policy, seat], of, m, digits)
            for seat in range(max(study.options.num_players))
        }
        for p, policy in study.tables
        for what, own, digits, of in (("win share", wins, 3, 1 / p), ("first round", points, 2, 0.0))
    )
    p = study.main_players
    win = wins[p, "heuristic", 0]
    return study.part(
        "seats",
        [study.say("page.seat", win.side(1 / p, m), players=p, share=win.text(1, 100), fair=f"{100 / p:.1f}")],
        texts,
        table,
        figure,
        {"seats.csv": frame("players policy seats_after_the_starter", m, win_share=wins, first_round_points=points)},
        right=3,
        starter=study.say(f"seats.{study.rules.next_starter}"),
        m=m,
    )
