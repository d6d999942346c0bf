"""Whether it pays to mind what the left neighbour gets, and how much."""

from __future__ import annotations

from typing import Any

import pandas as pd

from experiments.lib.estimates import cell, frame, over_deals
from experiments.lib.figures import draw, label, legend, panels
from experiments.lib.findings import listed
from experiments.lib.study import Part, Study
from experiments.passing.play import play_alike, play_arm
from llama_envs.evaluation.intervals import Estimate
from llama_envs.llama_llama.heuristic import DEFAULT_CARE

CARES = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0)
RESTS = {0.0: "heuristic:0", DEFAULT_CARE: "heuristic"}


def care(study: Study) -> Part:
    """The heuristic's care for its left neighbour, swept."""
    seats = study.options.num_players
    arms: dict[Any, tuple[Any, ...]] = {
        (p, rest, value): (study.game(p), f"heuristic:{value}", policy, study.rules.num_rounds, False, "")
        for p in seats
        for rest, policy in RESTS.items()
        for value in (0.0, *CARES)
        if value != rest
    }
    found = study.run(play_arm, arms, 1.0, "care")
    alike_arms = {(p, value): (study.game(p), f"heuristic:{value}") for p in seats for value in (0.0, *CARES)}
    alike = study.run(play_alike, alike_arms, 0.4, "care of all alike")
    m = len(arms)
    wins = {key: over_deals(result["win"], share=True) for key, result in found.items()}
    leads = {key: over_deals(result["lead"]) for key, result in found.items()}
    points = {key: over_deals(result["points"]) for key, result in alike.items()}
    changes = {
        (p, value): over_deals(alike[p, value]["points"] - alike[p, 0.0]["points"]) for p in seats for value in CARES
    }
    table = pd.DataFrame(
        {
            "players": p,
            "care of the one": value,
            "care of the others": rest,
            "win share": cell(win, 1 / p, m, 3),
            "fair": f"{1 / p:.3f}",
            "lead, points a round": leads[p, rest, value].text(2),
        }
        for (p, rest, value), win in wins.items()
    )
    texts = []
    for p in seats:
        for rest in RESTS:
            own = {value: win for (q, r, value), win in wins.items() if (q, r) == (p, rest)}
            texts.append(study.say_of_sweep("care.sweep", own, p, m, rest=f"{rest:g}"))
        falls = [value for value in CARES if changes[p, value].side(0.0, len(changes)) < 0]
        most = min((changes[p, value] for value in CARES), key=lambda change: change.mean)
        texts.append(
            study.say(
                "care.alike", -1 if falls else 0, players=p, cares=listed(f"{value:g}" for value in falls),
                most=most.text(2),
            )
        )  # fmt: skip
    return study.part(
        "care",
        page(study, wins, m),
        texts,
        table,
        draw_care(study, wins, changes),
        {
            "care.csv": frame("players care_of_the_others care_of_the_one", m, win_share=wins, lead_a_round=leads),
            "care_alike.csv": frame("players care_of_all", len(changes), change=changes, points_a_round=points),
        },
        default=DEFAULT_CARE,
        m=m,
    )


def page(study: Study, wins: dict[Any, Estimate], m: int) -> list[str]:
    """For whoever plays cards."""
    p = study.main_players
    some, much = wins[p, 0.0, 0.5], wins[p, 0.0, 2.0]
    numbers = {"players": p, "fair": f"{100 / p:.1f}"}
    return [
        study.say("page.mind", some.side(1 / p, m), share=some.text(1, 100), **numbers),
        study.say("page.mind_much", much.side(1 / p, m), share=much.text(1, 100), **numbers),
    ]


def draw_care(study: Study, wins: dict[Any, Estimate], changes: dict[Any, Estimate]) -> Any:
    """Win share over care, and points of tables that care alike."""
    figure, axes = panels(3)
    for axis, rest in zip(axes, RESTS, strict=False):
        for index, p in enumerate(study.options.num_players):
            own = {value: win.times(p) for (q, r, value), win in wins.items() if (q, r) == (p, rest)}
            own[rest] = Estimate(1.0, 0.0, study.options.deals)  # all seats alike
            values = sorted(own)
            draw(axis, values, [own[value] for value in values], color=f"C{index}", label=f"{p} players")
        label(axis, f"one seat, the others at {rest:g}", "care of the one seat", "win share × players", 1)
        legend(axis)
    for index, p in enumerate(study.options.num_players):
        curve = [Estimate(0.0, 0.0, study.options.deals), *(changes[p, value] for value in CARES)]
        draw(axes[2], (0.0, *CARES), curve, color=f"C{index}", label=f"{p} players")
    label(axes[2], "all seats alike", "care of all seats", "points a round and seat, against care 0", 0)
    return figure
