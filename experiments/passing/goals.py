"""What one's own goal is worth, known and chosen, and which kind of card to give as it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.lib.estimates import cell, frame, gap, over_deals, pooled
from experiments.lib.figures import draw, label, legend, panels
from experiments.lib.findings import either, listed, together
from experiments.lib.study import Arrays, Part, Seeds, Study
from experiments.passing.play import Fork, GoalsSeen, Line, play_arm
from llama_envs.core.game import Game
from llama_envs.evaluation.intervals import Estimate, estimate
from llama_envs.llama_llama.config import DISPLAYS


def worth_of_goal(game: Game, policy: str, rounds: int, forks: Sequence[Fork], seeds: Seeds) -> Arrays:
    """What changes in a round if one seat plays otherwise: for every seat in every round, at a table of ``policy``.

    Returns:
        arrays (D, rounds, P), NaN where the game was over: ``lead`` as played; for each fork, by its name, lead in it
        less lead as played; ``display`` where the seat's goal lay, 0 to 3.
    """
    players = game.num_players
    names = list(dict.fromkeys(name for fork in forks for name in (fork.passing, fork.choosing) if name))
    number_of = {"": 0, **{name: index + 1 for index, name in enumerate(names)}}
    line = Line.start(game, policy, names, seeds)
    shape = (len(seeds), rounds, players)
    found: Arrays = {name: np.full(shape, np.nan) for name in ("lead", "display", *(f.name for f in forks))}
    for number in range(rounds):
        goals = GoalsSeen(len(seeds), players)
        for seat in range(players):
            everywhere = np.full(len(seeds), seat)
            lead = line.fork(everywhere, watch=goals)[1]
            found["lead"][:, number, seat] = lead
            for fork in forks:
                passing, choosing = number_of[fork.passing], number_of[fork.choosing]
                found[fork.name][:, number, seat] = line.fork(everywhere, passing, choosing)[1] - lead
        found["display"][:, number] = np.where(goals.display < 0, np.nan, goals.display)
        line.advance()
    return found


FIRST_ROUND, LEADER, LAST = 0, 1, 2


def worth_of_kinds(game: Game, policy: str, rounds: int, seeds: Seeds) -> Arrays:
    """What giving each kind as the goal is worth, against the mean over all kinds in the hand, by forks.

    In the first round for seat (row mod P); in later rounds for the seat alone in front, and for the one alone behind.

    Returns:
        arrays (D, 3, K), for FIRST_ROUND, LEADER and LAST: ``gain``, the sum over rounds of the lead with this kind
        given less the mean over all kinds in the hand; ``held``, in how many rounds it was there; ``given``, in how
        many the policy gave it.
    """
    players, kinds = game.num_players, game.num_actions
    line = Line.start(game, policy, (), seeds)
    deals = np.arange(len(seeds))
    found: Arrays = {name: np.zeros((len(seeds), 3, kinds)) for name in ("gain", "held", "given")}
    for number in range(rounds):
        total = line.batch.state["total"].astype(np.int64)
        alive = np.asarray(line.batch.to_move >= 0)
        cases = [(FIRST_ROUND, deals % players, alive)] if number == 0 else []
        for group, best in ((LEADER, total.max(axis=1)), (LAST, total.min(axis=1))):
            if number:
                there = total == best[:, None]
                cases.append((group, there.argmax(axis=1), alive & (there.sum(axis=1) == 1)))
        goals = GoalsSeen(len(seeds), players)
        line.fork(deals % players, watch=goals)
        for group, seat, counted in cases:
            hand = (line.batch.state["hand"][deals, seat, :kinds] > 0) & counted[:, None]
            hand &= (hand.sum(axis=1) > 1)[:, None]
            leads = np.zeros((len(seeds), kinds))
            for kind in range(kinds):
                lead = line.fork(seat, goal=np.full(len(seeds), kind), where=hand[:, kind])[1]
                leads[:, kind] = np.where(hand[:, kind], lead, 0.0)
            mean = leads.sum(axis=1) / np.maximum(hand.sum(axis=1), 1)
            found["gain"][:, group] += np.where(hand, leads - mean[:, None], 0.0)
            found["held"][:, group] += hand
            found["given"][:, group] += hand & (goals.kind[deals, seat][:, None] == np.arange(kinds))
        line.advance()
    return found


# ------------------------------------------------------------------------------------------------------- one's own goal

FORKS = (
    Fork("random", choosing="random"),
    Fork("unminded", passing="switched:own_unminded"),
    Fork("both", "switched:own_unminded", "random"),
)
GAIN = {"random": "worth of choosing it", "unminded": "worth of knowing it", "both": "worth of both"}
ORDINALS = ("1st", "2nd", "3rd", "4th")


def goal(study: Study) -> Part:
    """What knowing and choosing one's own goal is worth, and where it lies."""
    seats, rounds = study.options.num_players, study.rules.num_rounds
    arms: dict[Any, tuple[Any, ...]] = {
        (p, policy): (study.game(p), "switched:whole", rounds, FORKS)
        if policy == "heuristic"
        else (study.game(p), policy, rounds, FORKS[:1])
        for p, policy in study.tables
    }
    found = study.run(worth_of_goal, arms, 0.4, "own goal")
    whole = {
        (p, fork.name): (
            study.game(p), fork.passing or "switched:whole", "switched:whole", rounds, False, fork.choosing
        )
        for p in seats
        for fork in FORKS
    }  # fmt: skip
    shares = {
        key: over_deals(result["win"], share=True)
        for key, result in study.run(play_arm, whole, 0.4, "own goal, whole games").items()
    }
    worth = worth_by_place(found)
    overall = {
        (p, policy, fork.name): pooled(-result[fork.name])
        for (p, policy), result in found.items()
        for fork in FORKS
        if fork.name in result
    }
    places = dict.fromkeys(key[:4] for key in worth if key[1] == "heuristic")
    table = pd.DataFrame(
        {
            "players": p,
            "rounds": rounds,
            "goal lies on the": ORDINALS[display - 1]
            + {1: " (leader)", p: " (last)"}.get(display, "") * (rounds == "later"),
        }
        | {title: worth[p, policy, rounds, display, name].text(2) for name, title in GAIN.items()}
        for p, policy, rounds, display in places
    )
    return study.part(
        "goal",
        goal_page(study, overall),
        goal_findings(study, found, worth, overall, shares),
        table,
        draw_goal(study, worth),
        {
            "goal.csv": frame("players policy rounds display fork", 14, worth=worth),
            "goal_overall.csv": frame("players policy fork", len(overall), worth=overall),
            "goal_games.csv": frame("players fork", len(shares), win_share=shares),
        },
        right=3,
    )


def worth_by_place(found: dict[Any, Arrays]) -> dict[Any, Estimate]:
    """What is lost by each fork: by players, policy, first or later rounds, display of the goal, and fork."""
    return {
        (p, policy, word, display + 1, fork.name): pooled(np.where(at, -result[fork.name][:, rounds], np.nan))
        for (p, policy), result in found.items()
        for word, rounds in (("first", slice(0, 1)), ("later", slice(1, None)))
        for display in range(DISPLAYS)
        for fork in FORKS
        for at in [result["display"][:, rounds] == display]
        if fork.name in result and at.any()
    }


def draw_goal(study: Study, worth: dict[Any, Estimate]) -> Any:
    """Worth of knowing and of choosing by display, first and later rounds."""
    figure, axes = panels(len(study.options.num_players), sharey=True)
    for axis, p in zip(axes, study.options.num_players, strict=True):
        curves = [("random", "choosing", "C0"), ("unminded", "knowing", "C1")]
        for index, (name, word, color) in enumerate(curves):
            for later, word_2 in enumerate(("first", "later")):
                own = {key[3]: e for key, e in worth.items() if key[:3] == (p, "heuristic", word_2) and key[4] == name}
                draw(
                    axis, np.array(list(own)) + 0.06 * (2 * index + later - 1.5), list(own.values()), color=color,
                    linestyle="-" if later else "--", label=f"{word}, {'later rounds' if later else 'first round'}",
                )  # fmt: skip
        label(axis, f"{p} players", "display on which the own goal lies", level=0)
        axis.set_xticks(range(1, DISPLAYS + 1))
    axes[0].set_ylabel("worth, points a round")
    legend(axes[0])
    return figure


def goal_page(study: Study, overall: Any) -> list[str]:
    """For whoever plays cards."""
    p = study.main_players
    choosing, knowing = (overall[p, "heuristic", name] for name in ("random", "unminded"))
    return [
        study.say("page.choose", choosing.side(0.0, 2), points=choosing.text(1), players=p),
        study.say("page.remember", knowing.side(0.0, 2), points=knowing.text(1), players=p),
    ]


def goal_findings(study: Study, found: Any, worth: Any, overall: Any, shares: Any) -> list[str]:
    """Sentences about the goal."""
    texts = []
    m = len(overall)
    for p in study.options.num_players:
        three = [overall[p, "heuristic", fork.name] for fork in FORKS]
        texts.append(
            study.say(
                "goal.worth", together(number.side(0.0, m) for number in three), players=p,
                choosing=three[0].text(2), knowing=three[1].text(2), both=three[2].text(2),
                random=shares[p, "random"].text(3), unminded=shares[p, "unminded"].text(3), fair=f"{1 / p:.3f}",
            )
        )  # fmt: skip
    for p, policy in study.tables:
        if policy != "heuristic":
            number = overall[p, policy, "random"]
            who = study.label(policy)
            texts.append(study.say("goal.agents", number.side(0.0, m), who=who, players=p, worth=number.text(2)))
    for p in study.options.num_players:
        for name, sentence in (("unminded", "goal.last_knows"), ("random", "goal.last_chooses")):
            if (p, "heuristic", "later", 1, name) in worth and (p, "heuristic", "later", p, name) in worth:
                first, last = (worth[p, "heuristic", "later", display, name] for display in (1, p))
                values, display = (found[p, "heuristic"][what][:, 1:] for what in (name, "display"))
                sums = [np.where(display == at, -values, 0.0).sum(axis=(1, 2)) for at in (p - 1, 0)]
                counts = [(display == at).sum(axis=(1, 2)) for at in (p - 1, 0)]
                difference = gap(sums[0], counts[0], sums[1], counts[1])
                side = difference.side(0.0, 2 * len(study.options.num_players))
                texts.append(study.say(sentence, side, players=p, last=last.text(2), first=first.text(2)))
    return texts


# --------------------------------------------------------------------------------------------------- kinds as the goal

GROUPS = {FIRST_ROUND: "first round", LEADER: "leader, later", LAST: "last, later"}


def kinds(study: Study) -> Part:
    """Which kind of card to give as the goal, in front and behind."""
    rounds = study.rules.num_rounds
    arms: dict[Any, tuple[Any, ...]] = {(p, policy): (study.game(p), policy, rounds) for p, policy in study.tables}
    found = study.run(worth_of_kinds, arms, 1.0, "kinds of goal", slow=0.05)
    cards = study.rules.cards
    names = cards.kind_names
    groups = {group: title for group, title in GROUPS.items() if rounds > 1 or group == FIRST_ROUND}
    m = len(study.options.num_players) * len(groups) * len(names)
    facts = {
        (p, policy, group, name): kind_facts(result, group, kind)
        for (p, policy), result in found.items()
        for group in groups
        for kind, name in enumerate(names)
    }
    gains, given = ({(*key[:2], groups[key[2]], key[3]): fact[k] for key, fact in facts.items()} for k in (0, 1))
    main = study.main_players
    table = pd.DataFrame(
        {"kind": f"`{name}`", "rules": " · ".join(card.rules_text)}
        | {
            f"gain, {title}": cell(gain, 0.0, m, 2)
            for group, title in groups.items()
            for gain in [facts[main, "heuristic", group, name][0]]
        }
        | {
            f"given by the {study.label(policy)}, %": facts[main, policy, FIRST_ROUND, name][1].text(1, 100)
            for p, policy in study.tables
            if p == main
        }
        for name, card in zip(names, cards.cards, strict=True)
    )
    first, second = cards.cards[0].rules_text
    return study.part(
        "kinds",
        [
            study.say("page.codes", code=names[0], first=first, second=second),
            *(
                kinds_page(study, {k: facts[main, "heuristic", group, k][0] for k in names}, group, m)
                for group in groups
            ),
        ],
        kinds_findings(study, found, facts, groups, m),
        table,
        draw_kinds(study, facts, groups, names),
        {"kinds.csv": frame("players policy group kind", m, gain=gains, given_when_held=given)},
        players=main,
        m=m,
    )


def kinds_page(study: Study, gains: dict[str, Estimate], group: int, m: int) -> str:
    """For whoever plays cards: the best goal."""
    best, worst = (choose(gains, key=lambda name: np.nan_to_num(gains[name].mean)) for choose in (max, min))
    verdict = either(gains[best].side(0.0, m) > 0, gains[worst].side(0.0, m) < 0)
    sentence = {FIRST_ROUND: "page.goal_first", LEADER: "page.goal_leader", LAST: "page.goal_last"}[group]
    return study.say(
        sentence, verdict, players=study.main_players, best=best, worst=worst, gain=gains[best].text(1),
        loss=gains[worst].times(-1).text(1),
    )  # fmt: skip


def kinds_findings(study: Study, found: Any, facts: Any, groups: dict[int, str], m: int) -> list[str]:
    """Sentences about the kinds."""
    texts, names = [], study.rules.cards.kind_names
    for p in study.options.num_players:
        for group, title in groups.items():
            sides = {name: facts[p, "heuristic", group, name][0].side(0.0, m) for name in names}
            good, bad = ([f"`{name}`" for name, side in sides.items() if side == wanted] for wanted in (1, -1))
            numbers = {"players": p, "when": title, "good": listed(good), "bad": listed(bad)}
            texts.append(study.say("kinds.gains", either(good, bad), **numbers))
        if LAST in groups:
            gaps = {name: last_less_leader(found[p, "heuristic"], kind) for kind, name in enumerate(names)}
            differ = {k: e for k, e in gaps.items() if e.side(0.0, len(study.options.num_players) * len(names))}
            text = listed(f"`{name}` ({number.text(1)})" for name, number in differ.items())
            texts.append(study.say("kinds.last_leader", "some" if differ else "none", players=p, kinds=text))
    for p, policy in study.tables:
        if policy != "heuristic":
            given = {name: facts[p, policy, FIRST_ROUND, name][1] for name in names}
            most = sorted(given, key=lambda name: -np.nan_to_num(given[name].mean, nan=-1.0))[:3]
            text = listed(f"`{name}` in {given[name].text(1, 100)} %" for name in most)
            texts.append(study.say("kinds.agents", who=study.label(policy), players=p, kinds=text))
    return texts


def kind_facts(result: Arrays, group: int, kind: int) -> tuple[Estimate, Estimate]:
    """Gain of a kind as the goal, and how often it is given when held."""
    held = result["held"][:, group, kind]
    return estimate(result["gain"][:, group, kind], held), estimate(result["given"][:, group, kind], held, share=True)


def last_less_leader(result: Arrays, kind: int) -> Estimate:
    """Gain of a kind for the last less its gain for the leader."""
    gain, held = result["gain"][:, :, kind], result["held"][:, :, kind]
    return gap(gain[:, LAST], held[:, LAST], gain[:, LEADER], held[:, LEADER])


def draw_kinds(study: Study, facts: Any, groups: dict[int, str], names: tuple[str, ...]) -> Any:
    """Gain of each kind, for the three groups."""
    figure, axes = panels(len(study.options.num_players), sharey=True)
    for axis, p in zip(axes, study.options.num_players, strict=True):
        for group, title in groups.items():
            gains = [facts[p, "heuristic", group, name][0] for name in names]
            draw(axis, np.arange(len(names)) + 0.2 * (group - 1), gains, linestyle="", label=title, color=f"C{group}")
        label(axis, f"{p} players", "", level=0)
        axis.set_xticks(range(len(names)), names, rotation=75, fontsize=8)
    axes[0].set_ylabel("gain against the hand's average, points")
    legend(axes[0])
    return figure
