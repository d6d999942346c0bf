"""Which cards leave the hand, by whom, and what is given up for later."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from experiments.lib.estimates import frame, gap, over_deals
from experiments.lib.figures import draw, label, legend, panels
from experiments.lib.findings import by_players, either, listed, together
from experiments.lib.study import Arrays, Part, Study
from experiments.passing.play import play_arm
from llama_envs.evaluation.intervals import Estimate, estimate
from llama_envs.llama_llama.config import DISPLAYS
from llama_envs.llama_llama.deck import LETTERS
from llama_envs.llama_llama.heuristic import DEFAULT_CARE

SCRIPTED = ("random", "switched:now", "heuristic:0", "heuristic")


def passes(study: Study) -> Part:
    """What is passed, by whom: letters, reveals, known goals, points given up."""
    options = study.options
    arms: dict[Any, tuple[Any, ...]] = {}
    for players in options.num_players:
        game = study.game(players)
        for name in dict.fromkeys([*SCRIPTED, *study.agents(players), options.search]):
            rounds = 1 if name == options.search else game.config.num_rounds
            arms[players, name] = (game, name, "heuristic", rounds, True, "")
    slow = {key: options.search_deals for key in arms if key[1] == options.search}
    found = study.run(play_arm, arms, 0.4, "what is passed", slow=0.5, deals=slow)
    shown = {key: facts_of(result) for key, result in found.items()}
    by_fact = {fact: {key: facts[fact] for key, facts in shown.items()} for fact in next(iter(shown.values()))}
    letters = {
        (p, name, number + 1, of): estimate(result["passed"][:, number, k], result["held"][:, number, k], share=True)
        for (p, name), result in found.items()
        for number in range(DISPLAYS)
        for k, of in letters_in(study)
    }
    table = pd.DataFrame(
        {
            "players": players,
            "policy": study.label(name),
            "win share": facts["win"].text(3),
            "lead, first round": facts["first"].text(2),
            "paid cards passed, %": facts["paid"].text(1, 100),
            "unpaid cards passed, %": facts["unpaid"].text(1, 100),
            "gives up nothing, %": facts["greedy"].text(1, 100),
            "points given up": facts["given_up"].text(3),
        }
        for (players, name), facts in shown.items()
    )
    return study.part(
        "passes",
        page(study, shown, found),
        findings(study, shown, found),
        table,
        draw_letters(study, letters),
        {
            "passes.csv": frame("players policy", **by_fact),
            "letters.csv": frame("players policy pass letter", passed=letters),
        },
        care=DEFAULT_CARE,
        search=options.search,
    )


def facts_of(result: Arrays) -> dict[str, Estimate]:
    """The numbers of one arm."""
    held, passed = result["held"].sum(axis=(1, 2)), result["passed"].sum(axis=(1, 2))
    paid_held, paid_passed = result["paid"].sum(axis=1).T
    number = result["passes"].sum(axis=1)
    facts = {
        "first": over_deals(result["first"]),
        "win": over_deals(result["win"], share=True),
        "paid": estimate(paid_passed, paid_held, share=True),
        "unpaid": estimate(passed - paid_passed, held - paid_held, share=True),
        "greedy": estimate(result["greedy"].sum(axis=1), number, share=True),
        "given_up": estimate(result["given_up"].sum(axis=1), number),
    }
    for pass_ in range(DISPLAYS):
        once = result["passes"][:, pass_]
        facts[f"greedy_{pass_ + 1}"] = estimate(result["greedy"][:, pass_], once, share=True)
        facts[f"given_up_{pass_ + 1}"] = estimate(result["given_up"][:, pass_], once)
        facts[f"paid_{pass_ + 1}"] = estimate(result["paid"][:, pass_, 1], result["paid"][:, pass_, 0], share=True)
    return facts


def letters_in(study: Study) -> list[tuple[int, str]]:
    """The letters of the deck, each with its place in the alphabet."""
    return [(k, LETTERS[k]) for k in sorted({int(letter) for letter in study.rules.cards.letters})]


def rates_of(result: Arrays) -> dict[str, Estimate]:
    """How often each letter is passed when held, for letters that were held at all."""
    held, passed = result["held"].sum(axis=1), result["passed"].sum(axis=1)
    rates = {of: estimate(passed[:, k], held[:, k], share=True) for k, of in enumerate(LETTERS)}
    return {of: rate for of, rate in rates.items() if rate.deals}


def draw_letters(study: Study, letters: dict[Any, Estimate]) -> Any:
    """Share of held cards that are passed, by letter and reveal, for the players of the main figure."""
    players, there = study.main_players, letters_in(study)
    names = dict.fromkeys(["heuristic", *study.agents(players), study.options.search])
    figure, axes = panels(len(names), sharey=True)
    for axis, name in zip(axes, names, strict=True):
        for number, count in enumerate(study.rules.pass_counts):
            rates = [letters[players, name, number + 1, of] for _, of in there]
            cards = study.rules.hand_size - 1
            draw(
                axis, np.arange(len(there)) + 0.08 * (number - 1.5), rates, 100, color=f"C{number}",
                label=f"pass {number + 1}, {count} of {cards} cards",
            )  # fmt: skip
            axis.axhline(100 * count / cards, color=f"C{number}", linestyle=":", linewidth=1)
        label(axis, f"{study.label(name)}, {players} players", "letter of the card")
        axis.set_xticks(range(len(there)), [of for _, of in there])
    axes[0].set_ylabel("cards passed, % of those held")
    axes[0].set_ylim(0, 100)
    legend(axes[0], "dotted: at random")
    return figure


def page(study: Study, shown: Any, found: Any) -> list[str]:
    """For whoever plays cards."""
    players = study.main_players
    name = "baseline" if players in study.trained else study.options.search
    who, facts, result = study.label(name), shown[players, name], found[players, name]
    paid, held = result["paid"].sum(axis=1).T[::-1], result["held"].sum(axis=(1, 2))
    more = gap(paid[0], paid[1], result["passed"].sum(axis=(1, 2)) - paid[0], held - paid[1])
    numbers = {"players": players, "who": who, "paid": facts["paid"].text(1, 100)}
    rates = rates_of(result)
    top, low = (choose(rates, key=lambda of: rates[of].mean) for choose in (max, min))
    apart = int(rates[top].side(rates[low].mean, len(rates)) > 0 > rates[low].side(rates[top].mean, len(rates)))
    now = shown[players, "switched:now"]["first"]
    return [
        study.say("page.keep", more.side(0.0, 2), unpaid=facts["unpaid"].text(1, 100), **numbers),
        study.say(
            "page.letters", apart, top=top, low=low, most=rates[top].text(1, 100), least=rates[low].text(1, 100),
            who=who, players=players,
        ),
        study.say("page.later", now.side(0.0, 2), lead=now.text(1), players=players),
    ]  # fmt: skip


def findings(study: Study, shown: Any, found: Any) -> list[str]:
    """Sentences about the table."""
    texts = []
    measured = dict.fromkeys(["heuristic", *(name for _, name in study.tables), study.options.search])
    own = {name: {p: facts for (p, policy), facts in shown.items() if policy == name} for name in measured}
    m = sum(map(len, own.values()))

    def by(numbers: dict[int, Estimate], digits: int, unit: str, scale: float = 1.0) -> str:
        return by_players({p: number.text(digits, scale) for p, number in numbers.items()}, unit)

    for name, facts in own.items():
        who = study.label(name)
        lead, kept, lost = ({p: of[fact] for p, of in facts.items()} for fact in ("first", "greedy", "given_up"))
        rise = {p: greedy_rise(found[p, name]) for p in facts}
        if name != "heuristic":
            texts.append(study.say("passes.strong", common(lead, 0.0, m), who=who, leads=by(lead, 1, " points")))
        shares = {"kept": by(kept, 1, " % of passes", 100), "lost": by(lost, 2, " points")}
        texts.append(study.say("passes.greedy", common(kept, 1.0, m), who=who, **shares))
        rises = by(rise, 1, " percentage points", 100)
        texts.append(study.say("passes.rise", common(rise, 0.0, m), who=who, rises=rises))
    leads = {p: facts["first"] for (p, name), facts in shown.items() if name == "switched:now"}
    texts.append(study.say("passes.now", common(leads, 0.0, len(leads)), leads=by(leads, 2, " points")))
    for name in measured:
        if (study.main_players, name) in found:
            texts.append(letters_finding(study, name, found[study.main_players, name]))
    return texts


def common(numbers: dict[int, Estimate], of: float, m: int) -> int:
    """The verdict on numbers of all tables, of ``m`` comparisons."""
    return together(number.side(of, m) for number in numbers.values())


def greedy_rise(result: Arrays) -> Estimate:
    """Share of last passes that give up nothing, less that of first passes."""
    greedy, number = result["greedy"], result["passes"]
    return gap(greedy[:, -1], number[:, -1], greedy[:, 0], number[:, 0])


def letters_finding(study: Study, name: str, result: Arrays) -> str:
    """Which letters are passed more, and less, than cards on average."""
    even, rates = result["passed"].sum() / result["held"].sum(), rates_of(result)
    sides = {of: rate.side(even, len(rates)) for of, rate in rates.items()}
    more, less = ([of for of, side in sides.items() if side == wanted] for wanted in (1, -1))
    numbers = {"players": study.main_players, "who": study.label(name), "more": listed(more), "less": listed(less)}
    return study.say("passes.letters", either(more, less), **numbers)
