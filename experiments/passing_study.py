"""What to pass, whom to mind and what to give as a goal in Llama Llama: a study with its report.

    python -m experiments.passing_study            # some minutes: experiments/reports/passing/report.md, PNG, CSV
    python -m experiments.passing_study --quick    # under a minute, to runs/passing/quick

Seats differ in what they do and in nothing else: the same deals, every seat in turn, the same luck. A deal is one
observation. What is asked of a pass is read off the state arrays; `experiments/passing_play.py` plays.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import tyro

from experiments.passing_play import (
    FIRST_ROUND,
    LAST,
    LEADER,
    Fork,
    bits_about_the_next,
    care_by_neighbour,
    passes_received,
    play_alike,
    play_arm,
    worth_of_goal,
    worth_of_kinds,
)
from experiments.study import (
    RULES_OF_REPORTING,
    Arrays,
    Estimate,
    Part,
    Seeds,
    Workers,
    bold,
    draw,
    gap,
    legend,
    library_versions,
    listed,
    over_deals,
    panels,
    pooled,
    prose,
    ratio,
    save_figure,
    save_table,
    split_seed,
    spread,
)
from llama_envs.cli.command import run_or_exit
from llama_envs.core.files import write_text
from llama_envs.core.game import Game
from llama_envs.core.registry import make_game
from llama_envs.core.runs import command_line
from llama_envs.core.validation import check_int
from llama_envs.llama_llama.deck import LETTERS, random_deck
from llama_envs.llama_llama.heuristic import DEFAULT_CARE
from llama_envs.policies import make_policy

PASSES = 4
CARES = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0)
PERMUTED = ((1, 2, 3, 4), (2, 4, 1, 3), (3, 1, 4, 2), (1, 4, 3, 2))
WORLDS = 128  # in which a seat looks at the next player's hand
AT_ONCE = 512  # deals; a change may change the last digits of what a network does
MAIN = 4  # players, where one figure must do


@dataclasses.dataclass(frozen=True)
class Options:
    """Study passing and goals in Llama Llama."""

    quick: bool = False
    """A few hundred deals and three decks, to try the machinery."""
    only: tuple[str, ...] = ()
    """Only these parts: passes, care, goal, kinds, dummies, decks."""
    players: tuple[int, ...] = (2, 3, 4)
    """Numbers of players."""
    deals: int = 8_000
    """Deals of the larger comparisons; the others take a fixed part of it."""
    search: str = "mc:32"
    """The search agent; it plays the first round only."""
    search_deals: int = 400
    """Deals of the search agent."""
    decks: int = 20
    """Random decks."""
    seed: int = 0
    """Seed of deals and policies."""
    processes: int = 2
    """Worker processes, one thread each; changes no number but the speed."""
    out: Path | None = None
    """Folder of the report; by default experiments/reports/passing, or with --quick or --only runs/passing/quick."""

    def check(self) -> None:
        """ValueError with one sentence for an option out of range."""
        unknown = [name for name in self.only if name not in PARTS]
        if unknown:
            raise ValueError(f"there is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}.")
        for players in self.players:
            check_int("players", players, 2, 4)
        check_int("deals", self.deals, 20, 10_000_000)
        check_int("search_deals", self.search_deals, 2, 10_000_000)
        check_int("decks", self.decks, 2, 10_000)
        check_int("processes", self.processes, 1, 1024)

    @property
    def folder(self) -> Path:
        """Where the report goes."""
        partial_run = self.quick or self.only
        return self.out or Path("runs/passing/quick" if partial_run else "experiments/reports/passing")


class Study:
    """The options, the games and the workers, and what all parts need of them.

    Attributes:
        games: played so far at the care sweep, and ``seconds`` that they took.
    """

    def __init__(self, options: Options, workers: Workers) -> None:
        self.options, self.workers = options, workers
        self.games, self.seconds = 0, 0.0

    def game(self, players: int, **changes: Any) -> Game:
        """The game for so many players."""
        return make_game("llama_llama", num_players=players, **changes)

    def seeds(self, share: float) -> Seeds:
        """Seeds of a share of the deals, at least 20 of them; always the same first ones."""
        return split_seed(self.options.seed, max(int(self.options.deals * share), 20))

    def run(self, function: Callable[..., Arrays], arms: dict[Any, tuple[Any, ...]], share: float, title: str) -> Any:
        """``function`` for every arm on the same deals."""
        seeds = self.seeds(share)
        return self.workers.by_deals(function, arms, dict.fromkeys(arms, seeds), AT_ONCE, title)

    @cached_property
    def trained(self) -> list[int]:
        """Numbers of players that a trained agent ships for."""
        return [players for players in self.options.players if ships(self.game(players))]

    @property
    def main_players(self) -> int:
        """The number of players that a single figure or table is about."""
        return MAIN if MAIN in self.options.players else self.options.players[-1]

    def save(self, frame: pd.DataFrame, name: str) -> str:
        """``frame`` as CSV in the report's folder; its name."""
        save_table(frame, self.options.folder / name)
        return name


def ships(game: Game) -> bool:
    """Whether a trained agent ships for ``game``."""
    try:
        make_policy("baseline", game)
    except ValueError:
        return False
    return True


# ---------------------------------------------------------------------------------------------------- what is passed

LABELS = {
    "random": "random",
    "switched:now": "greedy now",
    "heuristic:0": "careless heuristic",
    "heuristic": "heuristic",
    "baseline": "trained",
}


def passes(study: Study) -> Part:
    """What is passed, by whom: letters, reveals, known goals, points given up."""
    options = study.options
    names = [*LABELS, options.search]
    arms, seeds = {}, {}
    for players in options.players:
        for name in names:
            if name == "baseline" and players not in study.trained:
                continue
            searching = name == options.search
            arms[players, name] = (study.game(players), name, "heuristic", 1 if searching else 4, True, "")
            few = split_seed(options.seed, options.search_deals)
            seeds[players, name] = few if searching else study.seeds(0.2 if name == "baseline" else 0.4)
    # the search agent is slow: its deals are worked on a few at a time, so that both processes have some
    slow = {key: arms.pop(key) for key in list(arms) if key[1] == options.search}
    found = study.workers.by_deals(play_arm, slow, seeds, 10, "search agent") | study.workers.by_deals(
        play_arm, arms, seeds, AT_ONCE, "what is passed"
    )
    label = {**LABELS, options.search: "search"}
    rows, by_letter = [], []
    shown: dict[tuple[int, str], dict[str, Estimate]] = {}
    for players in options.players:
        for name in names:
            if (players, name) not in found:
                continue
            result = found[players, name]
            facts = facts_of(result)
            shown[players, name] = facts
            rows.append(
                {"players": players, "policy": name, "deals": len(result["win"])}
                | {key: value for fact, estimate in facts.items() for key, value in estimate.columns(fact).items()}
            )
            for number in range(PASSES):
                for letter, of in enumerate(LETTERS):
                    rate = ratio(result["passed"][:, number, letter], result["held"][:, number, letter])
                    by_letter.append(
                        {"players": players, "policy": name, "pass": number + 1, "letter": of, "deals": rate.deals}
                        | rate.columns("passed")
                    )
    draw_letters(study, found, label)
    table = pd.DataFrame(
        {
            "players": players,
            "policy": label[name],
            "win share": facts["win"].text(3),
            "lead, first round": facts["first"].text(2),
            "paid cards passed": facts["paid"].text(1, 100),
            "unpaid cards passed": facts["unpaid"].text(1, 100),
            "gives up nothing": facts["greedy"].text(1, 100),
            "points given up": facts["given_up"].text(3),
        }
        for (players, name), facts in shown.items()
    )
    return Part(
        "What is passed",
        """Which cards leave the hand, and how far does strong play depart from keeping what scores now?""",
        f"""One seat plays as the row says, all others the heuristic; every seat in turn. The seat knows the revealed
        goals and its own. A card is *paid* if these goals pay less without it. A pass *gives up nothing* if the cards
        kept are worth as much by these goals as any that could be kept, and else gives up the difference, in points, at
        the moment of the pass. Passes are those of the first round. *Greedy now* always gives up nothing; the heuristic
        also counts goals not known yet at their expectation, and its left neighbour's gain at {DEFAULT_CARE} of its
        points; the careless one does not mind the neighbour. *Lead* is points less the mean of the others'. The win
        share of whole games is to be compared with one in the number of players. Percentages of all cards held, and of
        all passes. The search agent ({options.search}) plays one round only.""",
        passes_findings(study, shown, found, label),
        table,
        "passes.png",
        [study.save(pd.DataFrame(rows), "passes.csv"), study.save(pd.DataFrame(by_letter), "letters.csv")],
    )


def facts_of(result: Arrays) -> dict[str, Estimate]:
    """The numbers of one arm."""
    held, passed = result["held"].sum(axis=(1, 2)), result["passed"].sum(axis=(1, 2))
    paid_held, paid_passed = result["paid"].sum(axis=1).T
    number = result["passes"].sum(axis=1)
    facts = {
        "win": over_deals(result["win"]),
        "first": over_deals(result["first"]),
        "paid": ratio(paid_passed, paid_held),
        "unpaid": ratio(passed - paid_passed, held - paid_held),
        "greedy": ratio(result["greedy"].sum(axis=1), number),
        "given_up": ratio(result["given_up"].sum(axis=1), number),
    }
    for pass_ in range(PASSES):
        once = result["passes"][:, pass_]
        facts[f"greedy_{pass_ + 1}"] = ratio(result["greedy"][:, pass_], once)
        facts[f"given_up_{pass_ + 1}"] = ratio(result["given_up"][:, pass_], once)
        facts[f"paid_{pass_ + 1}"] = ratio(result["paid"][:, pass_, 1], result["paid"][:, pass_, 0])
    return facts


def draw_letters(study: Study, found: dict[Any, Arrays], label: dict[str, str]) -> None:
    """Share of held cards that are passed, by letter and reveal, for the players of the main figure."""
    players = study.main_players
    names = [name for name in ("heuristic", "baseline", study.options.search) if (players, name) in found]
    figure, axes = panels(len(names), sharey=True)
    for axis, name in zip(axes, names, strict=True):
        result = found[players, name]
        for number in range(PASSES):
            rates = [
                ratio(result["passed"][:, number, letter], result["held"][:, number, letter])
                for letter in range(len(LETTERS))
            ]
            draw(
                axis, np.arange(len(LETTERS)) + 0.08 * (number - 1.5), rates, 100, color=f"C{number}",
                label=f"{ordinal(number)} pass, {count_of(study, players, number)} of 7 cards",
            )  # fmt: skip
            axis.axhline(100 * count_of(study, players, number) / 7, color=f"C{number}", linestyle=":", linewidth=1)
        axis.set_xticks(range(len(LETTERS)), list(LETTERS))
        axis.set_title(f"{label[name]}, {players} players")
        axis.set_xlabel("letter of the card")
    axes[0].set_ylabel("cards passed, % of those held")
    axes[0].set_ylim(0, 100)
    legend(axes[0], "dotted: at random")
    save_figure(figure, study.options.folder / "passes.png")


def count_of(study: Study, players: int, number: int) -> int:
    """Cards in a pass."""
    return int(study.game(players).config.pass_counts[number])


def ordinal(number: int) -> str:
    """``1st`` for 0."""
    return ("1st", "2nd", "3rd", "4th")[number]


def passes_findings(study: Study, shown: Any, found: dict[Any, Arrays], label: dict[str, str]) -> list[str]:
    """Sentences about the table."""
    texts = []
    names = [name for name in ("heuristic", "baseline", study.options.search) if any(key[1] == name for key in shown)]
    said = {name: label[name] if name == "heuristic" else f"{label[name]} agent" for name in names}
    compared = {key: facts for key, facts in shown.items() if key[1] in names}
    m = len(compared)
    for name in names[1:]:
        leads = {key[0]: facts["first"] for key, facts in compared.items() if key[1] == name}
        better = [players for players, lead in leads.items() if lead.side(0.0, m) > 0]
        text = listed(f"{lead.text(1)} ({players} players)" for players, lead in leads.items())
        texts.append(
            f"""How strong: in the first round the {said[name]} leads heuristics by {text} points; surely with
            {numbers(better)}."""
        )
    for name in names:
        own = {key[0]: facts for key, facts in compared.items() if key[1] == name}
        greedy = listed(f"{facts['greedy'].text(1, 100)} % ({players} players)" for players, facts in own.items())
        lost = listed(facts["given_up"].text(3) for facts in own.values())
        below = [players for players, facts in own.items() if facts["greedy"].side(1.0, m) < 0]
        texts.append(
            f"""The {said[name]} keeps what scores now in {greedy} of its passes, surely not always with
            {numbers(below)}; a pass of it gives up {lost} points on average."""
        )
        late = {players: greedy_rise(found[players, name]) for players in own}
        rises = [players for players, rise in late.items() if rise.side(0.0, m) > 0]
        text = listed(f"{rise.text(1, 100)} (of {players} players)" for players, rise in late.items())
        texts.append(
            f"""From its first to its last pass that share changes by {text} percentage points: a sure rise with
            {numbers(rises)}."""
        )
        rate = listed(
            f"{facts['paid'].text(1, 100)} against {facts['unpaid'].text(1, 100)} % ({players} players)"
            for players, facts in own.items()
        )
        texts.append(f"The {said[name]} passes a card that a known goal pays for, and one that none does: {rate}.")
    leads = {key[0]: facts["first"] for key, facts in shown.items() if key[1] == "switched:now"}
    worse = [players for players, lead in leads.items() if lead.side(0.0, len(leads)) < 0]
    text = listed(f"{lead.text(2)} points ({players} players)" for players, lead in leads.items())
    texts.append(
        f"""Does looking beyond known goals pay a rule of thumb? A seat that keeps exactly what scores now leads
        heuristics by {text} in the first round; it surely falls behind with {numbers(worse)}."""
    )
    texts.append(letters_finding(study, found, label, names))
    missing = [players for players in study.options.players if players not in study.trained]
    if missing:
        texts.append(f"No trained agent ships for {numbers(missing)}, so its rows are missing.")
    return texts


def numbers(players: list[int]) -> str:
    """``2 and 3 players``."""
    return f"{listed(map(str, players))} players" if players else "no number of players"


def greedy_rise(result: Arrays) -> Estimate:
    """Share of last passes that give up nothing, less that of first passes."""
    greedy, number = result["greedy"], result["passes"]
    return gap(greedy[:, -1], number[:, -1], greedy[:, 0], number[:, 0])


def letters_finding(study: Study, found: dict[Any, Arrays], label: dict[str, str], names: list[str]) -> str:
    """Which letters are passed more, and less, than cards on average."""
    players = study.main_players
    texts = []
    for name in names:
        if (players, name) not in found:
            continue
        result = found[players, name]
        passed, held = result["passed"].sum(axis=1), result["held"].sum(axis=1)
        even = passed.sum() / held.sum()
        sides = [ratio(passed[:, k], held[:, k]).side(even, len(LETTERS)) for k in range(len(LETTERS))]
        more = [LETTERS[k] for k, side in enumerate(sides) if side > 0]
        less = [LETTERS[k] for k, side in enumerate(sides) if side < 0]
        texts.append(f"{listed(more)} more and {listed(less)} less ({label[name]})")
    return f"With {players} players, of all cards held, a seat passes {'; '.join(texts)} often than cards on average."


# ------------------------------------------------------------------------------------------------------- whom to mind


def care(study: Study) -> Part:
    """The heuristic's care for its left neighbour, swept."""
    options = study.options
    rests = {0.0: "heuristic:0", DEFAULT_CARE: "heuristic"}
    arms: dict[Any, tuple[Any, ...]] = {}
    for players in options.players:
        game = study.game(players)
        for rest, policy in rests.items():
            for value in sorted({0.0, *CARES}):
                if value != rest:
                    arms[players, rest, value] = (game, f"heuristic:{value}", policy, 4, False, "")
    started = time.perf_counter()
    found = study.run(play_arm, arms, 1.0, "care")
    study.seconds = time.perf_counter() - started
    study.games = sum(result["win"].size for result in found.values())
    alike_arms = {
        (players, value): (study.game(players), f"heuristic:{value}")
        for players in options.players
        for value in (0.0, *CARES)
    }
    alike = study.run(play_alike, alike_arms, 0.4, "care of all alike")
    m = len(arms)
    rows, shown = [], []
    for (players, rest, value), result in found.items():
        win, lead = over_deals(result["win"]), over_deals(result["lead"])
        side = win.side(1 / players, m)
        rows.append(
            {"players": players, "care_of_the_one": value, "care_of_the_others": rest, "deals": win.deals}
            | {"fair_share": 1 / players, **win.columns("win_share", m), **lead.columns("lead_a_round", m)}
        )
        shown.append((players, rest, value, win, lead, side))
    together = []
    for (players, value), result in alike.items():
        change = over_deals(result["points"] - alike[players, 0.0]["points"])
        points = over_deals(result["points"])
        together.append(
            {"players": players, "care_of_all": value, "deals": points.deals}
            | points.columns("points_a_round") | change.columns("change", len(options.players) * len(CARES))
        )  # fmt: skip
    draw_care(study, shown, alike)
    table = pd.DataFrame(
        {
            "players": players,
            "care of the one": value,
            "care of the others": rest,
            "win share": bold(win.text(3), side),
            "fair": f"{1 / players:.3f}",
            "lead, points a round": lead.text(2),
        }
        for players, rest, value, win, lead, side in shown
    )
    return Part(
        "Minding the left neighbour",
        """Does it pay to pass defensively, and how much?""",
        f"""The heuristic passes the cards that cost it least, plus *care* times what these cards are worth together in
        the hand that gets them. One seat has a care of its own, at tables where all others have 0, and where they have
        the default of {DEFAULT_CARE}; every seat in turn, whole games. With equal care the share is exactly one in the
        number of players. Bold: an interval that holds for all {m} rows at once (Bonferroni) excludes that share.
        The right panel has the same care in all seats.""",
        care_findings(study, shown, alike),
        table,
        "care.png",
        [study.save(pd.DataFrame(rows), "care.csv"), study.save(pd.DataFrame(together), "care_alike.csv")],
    )


def draw_care(study: Study, shown: list[Any], alike: dict[Any, Arrays]) -> None:
    """Win share over care, and points of tables that care alike."""
    figure, axes = panels(3)
    for axis, rest in zip(axes, (0.0, DEFAULT_CARE), strict=False):
        for index, players in enumerate(study.options.players):
            kept = [(value, win) for p, r, value, win, _, _ in shown if (p, r) == (players, rest)]
            kept = sorted([*kept, (rest, Estimate(1 / players, 0.0, 2))], key=lambda pair: pair[0])
            relative = [Estimate(w.mean * players, w.error * players, w.deals) for _, w in kept]
            draw(axis, [value for value, _ in kept], relative, color=f"C{index}", label=f"{players} players")
        axis.axhline(1, color="0.4", linestyle=":", linewidth=1)
        axis.set_title(f"one seat, the others at {rest:g}")
        axis.set_xlabel("care of the one seat")
        axis.set_ylabel("win share × players")
        legend(axis)
    for index, players in enumerate(study.options.players):
        change = [over_deals(alike[players, value]["points"] - alike[players, 0.0]["points"]) for value in CARES]
        draw(axes[2], (0.0, *CARES), [Estimate(0.0, 0.0, 2), *change], color=f"C{index}", label=f"{players} players")
    axes[2].axhline(0, color="0.4", linestyle=":", linewidth=1)
    axes[2].set_title("all seats alike")
    axes[2].set_xlabel("care of all seats")
    axes[2].set_ylabel("points a round and seat, against care 0")
    save_figure(figure, study.options.folder / "care.png")


def care_findings(study: Study, shown: list[Any], alike: dict[Any, Arrays]) -> list[str]:
    """Sentences about the sweep."""
    texts = []
    for players in study.options.players:
        parts = []
        for rest, others in ((0.0, "careless others"), (DEFAULT_CARE, f"others at {DEFAULT_CARE:g}")):
            rows = [row for row in shown if (row[0], row[1]) == (players, rest)]
            better = [row for row in rows if row[5] > 0]
            worse = [row for row in rows if row[5] < 0]
            best = max(rows, key=lambda row: row[3].mean)
            parts.append(
                f"""among {others} the sure winners are cares of {listed(f"{row[2]:g}" for row in better)}, the sure
                losers {listed(f"{row[2]:g}" for row in worse)} (best seen: {best[2]:g} with {best[3].text(3)} against
                {1 / players:.3f})"""
            )
        texts.append(f"{players} players: {'; '.join(parts)}.")
    m = len(study.options.players) * len(CARES)
    falls = {}
    for players in study.options.players:
        change = {v: over_deals(alike[players, v]["points"] - alike[players, 0.0]["points"]) for v in CARES}
        falls[players] = [v for v, estimate in change.items() if estimate.side(0.0, m) < 0]
        strongest = min(change.values(), key=lambda estimate: estimate.mean)
        texts.append(
            f"""If all {players} care alike, points a round fall surely at a care of
            {listed(f"{v:g}" for v in falls[players])} (most: {strongest.text(2)})."""
            if falls[players]
            else f"If all {players} care alike, no surely lower points were found."
        )
    return texts


# ------------------------------------------------------------------------------------------------------ one's own goal

FORKS = (
    Fork("random", choosing="random"),
    Fork("unminded", passing="switched:own_unminded"),
    Fork("both", "switched:own_unminded", "random"),
)


def goal(study: Study) -> Part:
    """What knowing and choosing one's own goal is worth, and where it lies."""
    options = study.options
    arms: dict[Any, tuple[Any, ...]] = {
        (players, "heuristic"): (study.game(players), "switched:whole", 4, FORKS) for players in options.players
    }
    found = study.run(worth_of_goal, arms, 0.4, "own goal")
    if study.trained:
        more = {(players, "baseline"): (study.game(players), "baseline", 4, FORKS[:1]) for players in study.trained}
        found |= study.run(worth_of_goal, more, 0.1, "own goal, trained agents")
    whole = {
        (players, name): (study.game(players), policy, "switched:whole", 4, False, choosing)
        for players in options.players
        for name, policy, choosing in (
            ("random", "switched:whole", "random"),
            ("unminded", "switched:own_unminded", ""),
            ("both", "switched:own_unminded", "random"),
        )
    }
    wins = study.run(play_arm, whole, 0.4, "own goal, whole games")
    rows, table = [], []
    worth: dict[Any, Estimate] = {}
    for (players, policy), result in found.items():
        for later in (False, True):
            for display in range(PASSES):
                at = result["display"][:, 1:] == display if later else result["display"][:, :1] == display
                if not at.any():
                    continue
                line = {"players": players, "policy": policy, "rounds": "later" if later else "first"}
                line |= {"display": display + 1}
                text = {"players": players, "rounds": "later" if later else "first"}
                text["goal lies on the"] = f"{ordinal(display)}{rank_text(players, display) if later else ''}"
                for fork in FORKS:
                    if fork.name in result:
                        part = result[fork.name][:, 1:] if later else result[fork.name][:, :1]
                        estimate = pooled(np.where(at, -part, np.nan))
                        worth[players, policy, later, display, fork.name] = estimate
                        line |= estimate.columns(f"worth_{fork.name}", 14)
                        line["deals"] = estimate.deals
                        text[GAIN[fork.name]] = estimate.text(2)
                rows.append(line)
                if policy == "heuristic":
                    table.append(text)
    overall = {
        (players, policy, fork.name): pooled(-result[fork.name])
        for (players, policy), result in found.items()
        for fork in FORKS
        if fork.name in result
    }
    for (players, policy, name), estimate in overall.items():
        rows.append(
            {"players": players, "policy": policy, "rounds": "all", "deals": estimate.deals}
            | estimate.columns(f"worth_{name}", 14)
        )
    shares = {key: over_deals(result["win"]) for key, result in wins.items()}
    games = pd.DataFrame(
        {"players": players, "seat": name, "deals": share.deals, "fair_share": 1 / players}
        | share.columns("win_share", len(shares))
        for (players, name), share in shares.items()
    )
    draw_goal(study, worth)
    return Part(
        "One's own goal",
        """What is it worth to choose one's goal, and to know it while it lies face down? In later rounds the leader's
        goal lies on the 1st display and is revealed at once, the last player's stays hidden longest (P7).""",
        """Every round of a table of heuristics is played again from its beginning, with the same luck, once for each
        seat and change: the seat gives a random card of its hand as its goal; or it passes as if it did not know its
        own goal until it is revealed; or both. *Worth* is what it thereby loses of its lead (own points less the mean
        of the others'), in points a round. In the first round goals are placed at random and nobody knows where; later
        the place says how the seat stands. The CSV file also has tables of trained agents, for the choice alone.""",
        goal_findings(study, found, worth, overall, shares),
        pd.DataFrame(table),
        "goal.png",
        [study.save(pd.DataFrame(rows), "goal.csv"), study.save(games, "goal_games.csv")],
    )


GAIN = {"random": "worth of choosing it", "unminded": "worth of knowing it", "both": "worth of both"}


def rank_text(players: int, display: int) -> str:
    """How the owner stands in later rounds."""
    return {0: " (leader)", players - 1: " (last)"}.get(display, "")


def draw_goal(study: Study, worth: dict[Any, Estimate]) -> None:
    """Worth of knowing and of choosing by display, first and later rounds."""
    figure, axes = panels(len(study.options.players), sharey=True)
    for axis, players in zip(axes, study.options.players, strict=True):
        index = 0
        for name, label in (("random", "choosing"), ("unminded", "knowing")):
            for later in (False, True):
                kept = {
                    k[3]: e for k, e in worth.items() if (k[0], k[1], k[2], k[4]) == (players, "heuristic", later, name)
                }
                draw(
                    axis, np.array(list(kept)) + 1 + 0.06 * (index - 1.5), list(kept.values()),
                    color="C0" if name == "random" else "C1", linestyle="-" if later else "--",
                    label=f"{label}, {'later rounds' if later else 'first round'}",
                )  # fmt: skip
                index += 1
        axis.axhline(0, color="0.4", linestyle=":", linewidth=1)
        axis.set_xticks(range(1, 5))
        axis.set_title(f"{players} players")
        axis.set_xlabel("display on which the own goal lies")
    axes[0].set_ylabel("worth, points a round")
    legend(axes[0])
    save_figure(figure, study.options.folder / "goal.png")


def goal_findings(study: Study, found: Any, worth: Any, overall: Any, shares: Any) -> list[str]:
    """Sentences about the goal."""
    texts = []
    m = len(overall)
    for players in study.options.players:
        choosing, knowing = overall[players, "heuristic", "random"], overall[players, "heuristic", "unminded"]
        both = overall[players, "heuristic", "both"]
        sure = all(estimate.side(0.0, m) > 0 for estimate in (choosing, knowing, both))
        texts.append(
            f"""{players} players: choosing one's goal is worth {choosing.text(2)} points a round, knowing it
            {knowing.text(2)}, both together {both.text(2)}{" (all surely above 0)" if sure else ""}. Over whole games
            the seat that chooses at random wins {shares[players, "random"].text(3)}, the one that does not mind its own
            goal {shares[players, "unminded"].text(3)}, against {1 / players:.3f}."""
        )
    for players in study.trained:
        estimate = overall[players, "baseline", "random"]
        word = {1: "surely above 0", -1: "surely below 0", 0: "not surely different from 0"}[estimate.side(0.0, m)]
        texts.append(
            f"""At tables of trained agents ({players} players) choosing the goal is worth {estimate.text(2)} points a
            round, {word}."""
        )
    family = 2 * len(study.options.players)
    for players in study.options.players:
        for name, what in (("unminded", "knowing"), ("random", "choosing")):
            first, last = (worth[players, "heuristic", True, display, name] for display in (0, players - 1))
            values, display = found[players, "heuristic"][name][:, 1:], found[players, "heuristic"]["display"][:, 1:]
            sums = [np.where(display == at, -values, 0.0).sum(axis=(1, 2)) for at in (players - 1, 0)]
            counts = [(display == at).sum(axis=(1, 2)) for at in (players - 1, 0)]
            difference = gap(sums[0], counts[0], sums[1], counts[1])
            side = difference.side(0.0, family)
            word = {1: "more", -1: "less", 0: "not surely more or less"}[side]
            texts.append(
                f"""{players} players, later rounds: {what} the goal is worth {word} to the last
                ({last.text(2)}) than to the leader ({first.text(2)}); difference {difference.text(2)}."""
            )
    return texts


# --------------------------------------------------------------------------------------------------- kinds as the goal

GROUPS = {FIRST_ROUND: "first round", LEADER: "leader, later", LAST: "last, later"}


def kinds(study: Study) -> Part:
    """Which kind of card to give as the goal, in front and behind."""
    options = study.options
    found = study.run(
        worth_of_kinds,
        {(players, "heuristic"): (study.game(players), "heuristic", 4) for players in options.players},
        1.0,
        "kinds of goal",
    )
    if study.trained:
        more = {(players, "baseline"): (study.game(players), "baseline", 4) for players in study.trained}
        found |= study.run(worth_of_kinds, more, 0.05, "kinds of goal, trained agents")
    cards = study.game(options.players[0]).config.cards
    names = cards.kind_names
    m = len(options.players) * len(GROUPS) * len(names)
    rows = []
    for (players, policy), result in found.items():
        for group, label in GROUPS.items():
            for kind, name in enumerate(names):
                gain, given = kind_facts(result, group, kind)
                rows.append(
                    {"players": players, "policy": policy, "group": label, "kind": name, "deals": gain.deals}
                    | gain.columns("gain", m) | given.columns("given_when_held")
                )  # fmt: skip
    texts = []
    for players in options.players:
        result = found[players, "heuristic"]
        for group, label in GROUPS.items():
            sides = [kind_facts(result, group, kind)[0].side(0.0, m) for kind in range(len(names))]
            good = [f"`{name}`" for name, side in zip(names, sides, strict=True) if side > 0]
            bad = [f"`{name}`" for name, side in zip(names, sides, strict=True) if side < 0]
            texts.append(
                f"""{players} players, {label}: surely better than the hand's average: {listed(good)}; surely worse:
                {listed(bad)}."""
            )
        gaps = [last_less_leader(result, kind) for kind in range(len(names))]
        differ = [
            f"`{name}` ({difference.text(2)})"
            for name, difference in zip(names, gaps, strict=True)
            if difference.side(0.0, len(options.players) * len(names))
        ]
        texts.append(
            f"{players} players: what a kind gains the last less what it gains the leader is surely not 0 for "
            f"{listed(differ)}."
        )
    for players in study.trained:
        texts += trained_goals(players, found[players, "baseline"], names, len(study.trained) * len(names))
    draw_kinds(study, found, names)
    players = study.main_players
    tables = {LABELS[policy]: result for (seats, policy), result in found.items() if seats == players}
    table = pd.DataFrame(
        {"kind": f"`{names[kind]}`", "rules": " · ".join(cards.cards[kind].rules_text)}
        | {
            f"gain, {label}": bold(gain.text(2), gain.side(0.0, m))
            for group, label in GROUPS.items()
            for gain in [kind_facts(found[players, "heuristic"], group, kind)[0]]
        }
        | {
            f"given by the {policy}": kind_facts(result, FIRST_ROUND, kind)[1].text(0, 100)
            for policy, result in tables.items()
        }
        for kind in range(len(names))
    )
    return Part(
        "Which card to give as the goal",
        """Which kind of card makes a good goal, and is it another one for who leads than for who is last?""",
        f"""At a table of heuristics one seat's goal is replaced, with the same luck, by each kind that it holds in
        turn; *gain* is its lead in the round less the mean over all kinds in its hand, in points. In the first round
        one seat a deal, in later rounds whoever is alone in front and alone behind. The table is for {players} players;
        bold: an interval for all {m} gains at once excludes 0. *Given* is how often, in %, a seat gives the kind as its
        goal when it holds it, in the first round. The CSV file has the other rounds and numbers of players, and gains
        at tables of trained agents.""",
        texts,
        table,
        "kinds.png",
        [study.save(pd.DataFrame(rows), "kinds.csv")],
    )


def trained_goals(players: int, result: Arrays, names: tuple[str, ...], m: int) -> list[str]:
    """Which goals the trained agent gives, and whether its place in the totals matters."""
    rates = [kind_facts(result, FIRST_ROUND, kind)[1] for kind in range(len(names))]
    most = sorted(range(len(names)), key=lambda kind: -np.nan_to_num(rates[kind].mean, nan=-1))[:3]
    given, held = result["given"], result["held"]
    differ = [
        f"`{names[kind]}` ({more.text(0, 100)} percentage points)"
        for kind in range(len(names))
        if (more := gap(given[:, LAST, kind], held[:, LAST, kind], given[:, LEADER, kind], held[:, LEADER, kind])).side(
            0.0, m
        )
    ]
    chosen = listed(f"`{names[kind]}` in {rates[kind].text(0, 100)} %" for kind in most)
    return [
        f"""The trained agent of {players} players gives, when it holds them, {chosen} of first rounds. What it gives
        more often as the last than as the leader, surely: {listed(differ)}."""
    ]


def kind_facts(result: Arrays, group: int, kind: int) -> tuple[Estimate, Estimate]:
    """Gain of a kind as the goal, and how often it is given when held."""
    held = result["held"][:, group, kind]
    return ratio(result["gain"][:, group, kind], held), ratio(result["given"][:, group, kind], held)


def last_less_leader(result: Arrays, kind: int) -> Estimate:
    """Gain of a kind for the last less its gain for the leader."""
    gain, held = result["gain"][:, :, kind], result["held"][:, :, kind]
    return gap(gain[:, LAST], held[:, LAST], gain[:, LEADER], held[:, LEADER])


def draw_kinds(study: Study, found: dict[Any, Arrays], names: tuple[str, ...]) -> None:
    """Gain of each kind, for the three groups."""
    figure, axes = panels(len(study.options.players), sharey=True)
    for axis, players in zip(axes, study.options.players, strict=True):
        for group, label in GROUPS.items():
            gains = [kind_facts(found[players, "heuristic"], group, kind)[0] for kind in range(len(names))]
            places = np.arange(len(names)) + 0.2 * (group - 1)
            draw(axis, places, gains, linestyle="", label=label, color=f"C{group}")
        axis.axhline(0, color="0.4", linestyle=":", linewidth=1)
        axis.set_xticks(range(len(names)), names, rotation=75, fontsize=8)
        axis.set_title(f"{players} players")
    axes[0].set_ylabel("gain against the hand's average, points")
    legend(axes[0])
    save_figure(figure, study.options.folder / "kinds.png")


# ------------------------------------------------------------------------------------------------------------- dummies


def dummies(study: Study) -> Part:
    """A pass into a dummy against a pass to a player."""
    options = study.options
    one_round = {players: (study.game(players, num_rounds=1), "heuristic") for players in options.players}
    received = study.run(passes_received, one_round, 0.6, "passes received")
    known = study.run(
        bits_about_the_next,
        {players: (study.game(players), "heuristic", WORLDS) for players in options.players},
        0.05,
        "what is known of the next hand",
    )
    minded = study.run(
        care_by_neighbour,
        {players: (study.game(players), 0.5) for players in options.players},
        1.0,
        "care by neighbour",
    )
    rows, table = [], []
    for players in options.players:
        kinds_of_neighbour = {True: "dummy", False: "player"}
        for dummy, neighbour in kinds_of_neighbour.items():
            from_it = received[players]["from_dummy"] == dummy
            if not from_it.any():
                continue
            for number in range(PASSES):
                count = count_of(study, players, number)
                gain = np.where(from_it, received[players]["gain"][:, :, number], np.nan)
                through = np.where(from_it, received[players]["back"][:, :, number] / count, np.nan)
                bits = [
                    pooled(np.where(known[players]["to_dummy"] == dummy, known[players]["bits"][:, :, at], np.nan))
                    for at in range(PASSES)
                ]
                facts = {
                    "gain": pooled(gain),
                    "gain_sd": spread(gain),
                    "arrives": pooled(through),
                    "bits": bits[number],
                }
                rows.append(
                    {"players": players, "between": neighbour, "pass": number + 1, "cards": count}
                    | {"deals": facts["gain"].deals, "deals_bits": bits[number].deals}
                    | {key: value for fact, estimate in facts.items() for key, value in estimate.columns(fact).items()}
                )
                table.append(
                    {
                        "players": players,
                        "passes go": f"{'into a dummy' if dummy else 'to a player'}",
                        "pass": f"{number + 1} ({count} cards)",
                        "same kinds arrive, %": facts["arrives"].text(1, 100),
                        "drawn by chance, %": f"{100 * count / (7 + count):.1f}" if dummy else "–",
                        "gain of the next player": facts["gain"].text(2),
                        "its standard deviation": facts["gain_sd"].text(2),
                        "bits unknown of its hand, before": facts["bits"].text(2),
                    }
                )
    places = places_table(study, received)
    care_rows = care_table(study, minded)
    draw_dummies(study, known, received)
    return Part(
        "Dummies",
        """What does it change that with 2 and 3 players cards pass through dummy hands?""",
        f"""A pass of k cards into a dummy is shuffled into it, and the next player draws k of the 7 + k (P13). Tables
        of heuristics, first round, in which with three players the dummy's place is drawn by lot (P12), so that seats
        differ by luck alone. *Same kinds arrive* compares, kind by kind, the cards passed with those that the next
        player gets, which also come together by chance. *Gain* is what all four goals pay more for the cards that the
        next player keeps and gets than for those it keeps. *Bits* is how uncertain the passing seat is of the next
        player's hand before the pass: the entropy of the number of cards of a letter over {WORLDS} possible worlds,
        summed over letters; a world is drawn from what is possible, not from how heuristics pass.""",
        dummies_findings(study, received, known, minded),
        pd.DataFrame(table),
        "dummies.png",
        [
            study.save(pd.DataFrame(rows), "dummies.csv"),
            study.save(places, "dummy_places.csv"),
            study.save(care_rows, "dummy_care.csv"),
        ],
    )


PLACES = {"gives to the dummy": "to_dummy", "draws from the dummy": "from_dummy", "plays with players only": ""}


def place_masks(result: Arrays) -> dict[str, Any]:
    """Which seats (D, P) sit where, with three players."""
    there = {name: result[field] for name, field in PLACES.items() if field}
    return there | {"plays with players only": ~(result["to_dummy"] | result["from_dummy"])}


def places_table(study: Study, received: dict[int, Arrays]) -> pd.DataFrame:
    """Points by place at the table, and overall for each number of players."""
    rows = []
    for players, result in received.items():
        masks = {"all": np.ones_like(result["to_dummy"])} | (place_masks(result) if players == 3 else {})
        for name, mask in masks.items():
            points = np.where(mask, result["points"], np.nan)
            lead = np.where(mask, result["lead"], np.nan)
            rows.append(
                {"players": players, "seat": name, "deals": len(points)}
                | pooled(points).columns("points") | spread(points).columns("points_sd")
                | pooled(lead).columns("lead", 3) | spread(lead).columns("lead_sd")
            )  # fmt: skip
    return pd.DataFrame(rows)


def care_table(study: Study, minded: dict[int, Arrays]) -> pd.DataFrame:
    """What care changes, by neighbour."""
    rows = []
    for players, result in minded.items():
        for dummy in (True, False):
            at = result["to_dummy"] == dummy
            if at.any():
                row: dict[str, Any] = {
                    "players": players,
                    "left_neighbour": "dummy" if dummy else "player",
                    "deals": len(at),
                }
                for name in ("own", "next", "lead"):
                    row |= pooled(np.where(at, result[name], np.nan)).columns(name, 12)
                rows.append(row)
    return pd.DataFrame(rows)


def draw_dummies(study: Study, known: dict[int, Arrays], received: dict[int, Arrays]) -> None:
    """Bits unknown, mean and spread of the next player's gain, pass by pass."""
    figure, axes = panels(3)
    for index, players in enumerate(study.options.players):
        for dummy in (True, False):
            to = known[players]["to_dummy"] == dummy
            source = received[players]["from_dummy"] == dummy
            if not to.any():
                continue
            style: dict[str, Any] = {
                "label": f"{players} players, {'into a dummy' if dummy else 'to a player'}",
                "color": f"C{index}",
                "linestyle": "--" if dummy else "-",
            }
            bits = [pooled(np.where(to, known[players]["bits"][:, :, n], np.nan)) for n in range(PASSES)]
            gains = [np.where(source, received[players]["gain"][:, :, n], np.nan) for n in range(PASSES)]
            draw(axes[0], range(1, 5), bits, **style)
            draw(axes[1], range(1, 5), [pooled(gain) for gain in gains], **style)
            draw(axes[2], range(1, 5), [spread(gain) for gain in gains], **style)
    titles = (
        ("the next player's hand", "unknown to the passing seat, bits"),
        ("what the next player gains", "mean gain from the cards got, points"),
        ("how much that varies", "standard deviation of the gain, points"),
    )
    for axis, (title, label) in zip(axes, titles, strict=True):
        axis.set_title(title)
        axis.set_ylabel(label)
        axis.set_xlabel("pass")
        axis.set_xticks(range(1, 5))
    axes[0].set_xlabel("before pass")
    legend(axes[1])
    save_figure(figure, study.options.folder / "dummies.png")


def dummies_findings(study: Study, received: Any, known: Any, minded: Any) -> list[str]:
    """Sentences about dummies."""
    texts = []
    players = study.options.players
    for number in players:
        bits = known[number]["bits"]
        learnt = bits[:, :, 0] - bits[:, :, 1]
        parts = []
        for dummy in (True, False):
            at = known[number]["to_dummy"] == dummy
            if at.any():
                parts.append(
                    f"{pooled(np.where(at, learnt, np.nan)).text(2)} bits {'into a dummy' if dummy else 'to a player'}"
                )
        texts.append(
            f"""{number} players: with the first pass, and the goal and the cards that come with it, a seat learns of
            the next player's hand {listed(parts)}."""
        )
    if 3 in players:
        texts += three_player_findings(received[3], known[3])
    for number in players:
        for dummy in (True, False):
            at = minded[number]["to_dummy"] == dummy
            if at.any():
                own, after, lead = (
                    pooled(np.where(at, minded[number][name], np.nan)) for name in ("own", "next", "lead")
                )
                word = {1: "it pays", -1: "it costs", 0: "no sure effect"}[lead.side(0.0, 4)]
                texts.append(
                    f"""{number} players, {"dummy" if dummy else "player"} at the left: a care of 0.5 among careless
                    seats changes one's own points by {own.text(2)}, the next player's by {after.text(2)} and the lead
                    by {lead.text(2)} in the first round: {word}."""
                )
    return texts


def three_player_findings(received: Arrays, known: Arrays) -> list[str]:
    """What the dummy's place, drawn by lot, does to the seats."""
    texts = []
    masks = place_masks(received)
    leads = {name: pooled(np.where(mask, received["lead"], np.nan)) for name, mask in masks.items()}
    sides = {name: lead.side(0.0, len(leads)) for name, lead in leads.items()}
    words = {1: "surely gains by it", -1: "surely loses by it", 0: "neither surely gains nor loses"}
    texts.append(
        "3 players, by lot: "
        + "; ".join(
            f"who {name} leads by {lead.text(2)} points and {words[sides[name]]}" for name, lead in leads.items()
        )
        + "."
    )
    source = received["from_dummy"]
    gain = received["gain"].sum(axis=2).astype(np.float64)
    taken, given = np.where(source, gain, np.nan), np.where(~source, gain, np.nan)
    difference = gap(np.nansum(taken, axis=1), source.sum(axis=1), np.nansum(given, axis=1), (~source).sum(axis=1))
    word = {1: "more", -1: "less", 0: "not surely more or less"}[difference.side(0.0)]
    wide, narrow = spread(taken), spread(given)
    apart = abs(wide.mean - narrow.mean) > wide.half() + narrow.half()
    texts.append(
        f"""3 players: the ten cards drawn from a dummy are worth {word} than ten passed by a player
        ({pooled(taken).text(2)} against {pooled(given).text(2)} points, difference {difference.text(2)}), and vary
        {("more" if wide.mean > narrow.mean else "less") if apart else "not surely differently"}: standard deviation
        {wide.text(2)} against {narrow.text(2)}."""
    )
    return texts


# -------------------------------------------------------------------------------------------------------------- decks

CHECKS = {  # one seat, the others, who chooses its goal; what is measured is the lead that it makes
    "care": ("switched:whole", "switched:careless", "", f"care of {DEFAULT_CARE:g} among careless seats"),
    "beyond": ("switched:now", "switched:careless", "", "looking beyond known goals"),
    "knowing": ("switched:own_unminded", "switched:whole", "", "knowing one's own goal"),
    "choosing": ("switched:whole", "switched:whole", "random", "choosing one's goal"),
}
LOSES = ("beyond", "knowing", "choosing")  # arms that lack what is measured


def decks(study: Study) -> Part:
    """The findings on other decks and with other pass counts."""
    options = study.options
    variants: dict[str, dict[str, Any]] = {"the deck of the rules page": {}}
    variants |= {"-".join(map(str, counts)): {"pass_counts": counts} for counts in PERMUTED}
    random_decks = [random_deck(number) for number in range(options.decks)]
    variants |= {deck.name: {"deck": deck} for deck in random_decks}
    arms: dict[Any, tuple[Any, ...]] = {}
    for players in options.players:
        for variant, changes in variants.items():
            game = study.game(players, num_rounds=1, **changes)
            for check, (one, rest, choosing, _) in CHECKS.items():
                arms[players, variant, check] = (game, one, rest, 1, check == "knowing", choosing)
    found = study.run(play_arm, arms, 0.08, "other decks")
    m = len(options.players) * len(variants)
    rows = []
    worth: dict[Any, Estimate] = {}
    for (players, variant, check), result in found.items():
        estimate = over_deals((-1 if check in LOSES else 1) * result["first"])
        worth[players, variant, check] = estimate
        rows.append(
            {"players": players, "variant": variant, "finding": check, "deals": estimate.deals}
            | estimate.columns("lead", m)
        )
        if check == "knowing":
            facts = facts_of(result)
            rows.extend(
                {"players": players, "variant": variant, "finding": name, "deals": facts[name].deals}
                | facts[name].columns("lead")
                for name in ("greedy", "paid", "unpaid")
            )
    names = [deck.name for deck in random_decks]
    table = []
    for check, (*_, label) in CHECKS.items():
        for players in options.players:
            own = [worth[players, name, check] for name in names]
            sides = [estimate.side(0.0, m) for estimate in own]
            table.append(
                {
                    "worth of": label,
                    "players": players,
                    "default deck": worth[players, "the deck of the rules page", check].text(2),
                    "mean of random decks": over_deals([estimate.mean for estimate in own]).text(2),
                    "surely above 0": f"{sides.count(1)} of {len(own)}",
                    "surely below 0": f"{sides.count(-1)} of {len(own)}",
                }
                | {counts: worth[players, counts, check].text(2) for counts in list(variants)[1 : 1 + len(PERMUTED)]}
            )
    draw_decks(study, worth, list(variants))
    return Part(
        "Do the findings hang on one deck?",
        """The deck is in part assumed. Do the findings hold on random decks, and with other pass counts?""",
        f"""{options.decks} decks of `random_deck` (seeds 0 to {options.decks - 1}), and the default deck with the pass
        counts in another order. One round each; what is measured is the lead that care, looking beyond known goals,
        knowing or choosing one's own goal makes, in points. *Mean of random decks* takes a deck as one observation: its
        interval says what to expect of another random deck. *Surely* means by intervals that hold for all {m} variants
        of a finding at once.""",
        decks_findings(study, worth, names, m),
        pd.DataFrame(table),
        "decks.png",
        [study.save(pd.DataFrame(rows), "decks.csv")],
    )


def draw_decks(study: Study, worth: dict[Any, Estimate], variants: list[str]) -> None:
    """Every variant's estimates, one panel for each finding."""
    figure, axes = panels(len(CHECKS), width=3.9, height=5.6, sharey=True)
    for axis, (check, (*_, label)) in zip(axes, CHECKS.items(), strict=True):
        for index, players in enumerate(study.options.players):
            for place, variant in enumerate(variants):
                estimate = worth[players, variant, check]
                axis.errorbar(
                    estimate.mean, place + 0.22 * (index - 1), xerr=estimate.half(), color=f"C{index}", marker="o",
                    markersize=3, linewidth=1, label=f"{players} players" if not place else None,
                )  # fmt: skip
        axis.axvline(0, color="0.4", linestyle=":", linewidth=1)
        axis.set_title(label, fontsize=9)
        axis.set_xlabel("worth, points of lead in a round")
    axes[0].set_yticks(range(len(variants)), ["default deck", *variants[1:]], fontsize=8)
    axes[0].invert_yaxis()
    legend(axes[0])
    save_figure(figure, study.options.folder / "decks.png")


def decks_findings(study: Study, worth: dict[Any, Estimate], names: list[str], m: int) -> list[str]:
    """Sentences about the decks."""
    texts = []
    families = len(CHECKS) * len(study.options.players)
    for check, (*_, label) in CHECKS.items():
        parts = []
        for players in study.options.players:
            own = [worth[players, name, check] for name in names]
            mean = over_deals([estimate.mean for estimate in own])
            sides = [estimate.side(0.0, m) for estimate in own]
            word = {1: "pays", -1: "costs", 0: "has no sure effect"}[mean.side(0.0, families)]
            parts.append(
                f"{word} with {players} players ({mean.text(2)}; surely above 0 on {sides.count(1)} decks, "
                f"below on {sides.count(-1)})"
            )
        texts.append(f"Over random decks, {label} {'; '.join(parts)}.")
    for counts in ("-".join(map(str, order)) for order in PERMUTED):
        signs = [
            (check, players)
            for check in CHECKS
            for players in study.options.players
            if worth[players, "the deck of the rules page", check].side(0.0, m)
            * worth[players, counts, check].side(0.0, m) < 0
        ]  # fmt: skip
        if signs:
            turned = listed(f"{CHECKS[check][3]} ({players} players)" for check, players in signs)
            texts.append(f"With passes of {counts} this turns round, surely: {turned}.")
    if not any(text.startswith("With passes") for text in texts):
        texts.append("No order of the pass counts turns any of these findings round.")
    return texts


# -------------------------------------------------------------------------------------------------------------- report

PARTS: dict[str, Callable[[Study], Part]] = {
    "passes": passes,
    "care": care,
    "goal": goal,
    "kinds": kinds,
    "dummies": dummies,
    "decks": decks,
}


def report(study: Study, parts: dict[str, Part], seconds: float) -> str:
    """The report as Markdown."""
    options = study.options
    own = {"passes": f" --search {options.search} --search-deals {options.search_deals}"}
    own["decks"] = f" --decks {options.decks}"
    players = "" if options.players == Options.players else f" --players {' '.join(map(str, options.players))}"
    same = f"{players} --seed {options.seed} --deals {options.deals}"
    texts = [
        "# Passing cards in Llama Llama",
        f"Generated by `{command_line()}` (seed {options.seed}).",
        prose(
            f"""{RULES_OF_REPORTING} The heuristic is the suite's rule of thumb: what is found at its tables is found
            against it. Where trained or searching agents were asked, the text says so. Clauses, as P7, are those of the
            rules page."""
        ),
        *(
            part.text(f"python -m experiments.passing_study --only {name}{same}{own.get(name, '')}")
            for name, part in parts.items()
        ),
        "## How it was run",
    ]
    speed = ""
    if study.games:
        speed = f"""The sweep of care played {study.games:,} games of scripted policies in {study.seconds:.0f} s:
            {60 * study.games / study.seconds:,.0f} games a minute in this run."""
    texts.append(prose(f"{options.processes} processes of one thread, {seconds / 60:.1f} minutes in all. {speed}"))
    return "\n\n".join([*texts, library_versions()]) + "\n"


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
        options = dataclasses.replace(
            options,
            deals=min(options.deals, 300),
            search="mc:4" if options.search == Options.search else options.search,
            search_deals=min(options.search_deals, 10),
            decks=min(options.decks, 3),
        )
    print(f"report: {run_or_exit(lambda: run(options))}")


if __name__ == "__main__":
    main()
