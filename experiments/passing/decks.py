"""Whether the findings hang on the deck, or on the order of the pass counts."""

from __future__ import annotations

from typing import Any

import pandas as pd

from experiments.lib.estimates import frame, over_deals
from experiments.lib.figures import label, legend, panels
from experiments.lib.findings import by_players, listed, together
from experiments.lib.study import Part, Study
from experiments.passing.play import play_arm
from llama_envs.core.game import Game
from llama_envs.evaluation.intervals import Estimate
from llama_envs.llama_llama.deck import random_deck
from llama_envs.llama_llama.heuristic import DEFAULT_CARE

ORDERS = ((3, 2, 1, 0), (2, 0, 3, 1), (1, 3, 0, 2), (3, 0, 1, 2))  # of the four passes
CHECKS = {  # one seat, the others, who chooses its goal, and whether the lead that it loses is what is measured
    "care": ("switched:whole", "switched:careless", "", False),
    "beyond": ("switched:now", "switched:careless", "", True),
    "knowing": ("switched:own_unminded", "switched:whole", "", True),
    "choosing": ("switched:whole", "switched:whole", "random", True),
}


def variants_of(study: Study, players: int) -> dict[str, Game]:
    """The game as it is asked for, with its passes in other orders, and on random decks: by a name of each.

    Raises:
        ValueError: random decks cannot be played with these options.
    """
    found = {f"deck {study.rules.cards.name}": study.game(players, num_rounds=1)}
    counts = study.rules.pass_counts
    for order in dict.fromkeys(tuple(counts[place] for place in order) for order in ORDERS):
        if order != counts:
            found["-".join(map(str, order))] = study.game(players, num_rounds=1, pass_counts=order)
    for seed in range(study.options.decks):
        deck = random_deck(seed)
        try:
            found[deck.name] = study.game(players, num_rounds=1, deck=deck)
        except ValueError as error:
            rest = " ".join(name for name in study.subject.parts if name != "decks")
            raise ValueError(
                f"random decks cannot be played with these options ({error}); --only {rest} can."
            ) from None
    return found


def decks(study: Study) -> Part:
    """The findings on other decks and with other pass counts."""
    seats = study.options.num_players
    games = {(p, name): game for p in seats for name, game in variants_of(study, p).items()}
    arms: dict[Any, tuple[Any, ...]] = {
        (p, name, check): (game, one, rest, 1, False, choosing)
        for (p, name), game in games.items()
        for check, (one, rest, choosing, _) in CHECKS.items()
    }
    found = study.run(play_arm, arms, 0.08, "other decks")
    m = len(games)
    worth = {key: over_deals((-1 if CHECKS[key[2]][3] else 1) * result["first"]) for key, result in found.items()}
    variants = list(dict.fromkeys(name for _, name in games))
    asked, orders = variants[0], variants[1 : -study.options.decks]
    drawn = variants[-study.options.decks :]
    means = {(p, check): over_deals([worth[p, name, check].mean for name in drawn]) for p in seats for check in CHECKS}
    sides = {(p, check): [worth[p, name, check].side(0.0, m) for name in drawn] for p in seats for check in CHECKS}
    table = pd.DataFrame(
        {
            "worth of": study.say(f"decks.{check}", care=DEFAULT_CARE),
            "players": p,
            asked: worth[p, asked, check].text(2),
            "mean of random decks": means[p, check].text(2),
            "surely above 0": f"{sides[p, check].count(1)} of {len(drawn)}",
            "surely below 0": f"{sides[p, check].count(-1)} of {len(drawn)}",
        }
        | {order: worth[p, order, check].text(2) for order in orders}
        for check in CHECKS
        for p in seats
    )
    texts, whole = [], []
    for check in CHECKS:
        what = study.say(f"decks.{check}", care=DEFAULT_CARE)
        verdict = together(means[p, check].side(0.0, len(means)) for p in seats)
        text = {
            p: f"{means[p, check].text(2)} points (surely above 0 on {sides[p, check].count(1)} of {len(drawn)} decks, "
            f"below on {sides[p, check].count(-1)})"
            for p in seats
        }
        texts.append(study.say("decks.worth", verdict, what=what, worth=by_players(text)))
        if verdict > 0:
            whole.append(what)
    turned = [
        f"{study.say(f'decks.{check}', care=DEFAULT_CARE)} ({p} players, {order})"
        for order in orders
        for p in seats
        for check in CHECKS
        if worth[p, asked, check].side(0.0, m) * worth[p, order, check].side(0.0, m) < 0
    ]
    texts.append(study.say("decks.orders", "some" if turned else "none", what=listed(turned)))
    return study.part(
        "decks",
        [study.say("page.decks", "some" if whole else "none", what=listed(whole), decks=len(drawn))],
        texts,
        table,
        draw_decks(study, worth, variants),
        {"decks.csv": frame("players variant finding", m, lead=worth)},
        decks=len(drawn),
        last=len(drawn) - 1,
        deck=asked,
        m=m,
    )


def draw_decks(study: Study, worth: dict[Any, Estimate], variants: list[str]) -> Any:
    """Every variant's estimates, one panel for each finding."""
    figure, axes = panels(len(CHECKS), width=3.9, height=5.6, sharey=True)
    for axis, check in zip(axes, CHECKS, strict=True):
        for index, p in enumerate(study.options.num_players):
            for place, name in enumerate(variants):
                number = worth[p, name, check]
                axis.errorbar(
                    number.mean, place + 0.22 * (index - 1), xerr=number.half(), color=f"C{index}", marker="o",
                    markersize=3, linewidth=1, label=None if place else f"{p} players",
                )  # fmt: skip
        label(axis, "", "worth, points of lead in a round")
        axis.set_title(study.say(f"decks.{check}", care=DEFAULT_CARE), fontsize=9)
        axis.axvline(0, color="0.4", linestyle=":", linewidth=1)
    axes[0].set_yticks(range(len(variants)), variants, fontsize=8)
    axes[0].invert_yaxis()
    legend(axes[0])
    return figure
