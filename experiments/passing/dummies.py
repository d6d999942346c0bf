"""What dummies change: cards that pass through them, what is known of the next hand, and whom to mind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from experiments.lib.estimates import frame, gap, pooled, spread
from experiments.lib.figures import draw, label, legend, panels
from experiments.lib.findings import listed
from experiments.lib.study import Arrays, Part, Seeds, Study, seat_streams
from experiments.passing.measure import Bools, Ints, measure_received
from experiments.passing.play import Line, lead_of, play_round
from llama_envs.core.batch import resampled
from llama_envs.core.contract import States
from llama_envs.core.game import Game
from llama_envs.evaluation.intervals import Estimate
from llama_envs.llama_llama.config import DISPLAYS
from llama_envs.llama_llama.rules import NUM_LETTERS

WORLDS = 128  # in which a seat looks at the next player's hand
CARE = 0.5
NEIGHBOURS = {True: "dummy", False: "player"}


def passes_received(game: Game, policy: str, seeds: Seeds) -> Arrays:
    """What the cards that come in are worth, at a table of ``policy``; ``game`` has one round.

    Returns:
        ``gain`` (D, P, 4), points that all four goals pay for the cards received in each pass, on top of those kept;
        ``back`` (D, P, 4), how many of the cards that the seat at the right passed were among them (by kind, at most
        those received of it); ``from_dummy`` and ``to_dummy`` (D, P) whether a dummy sits at the seat's right and left;
        ``points`` (D, P); ``lead`` (D, P).
    """
    players = game.num_players
    line = Line.start(game, policy, (), seeds)
    seen: list[tuple[States, Ints]] = []
    play_round(line.batch, line.seats, lambda before, rows, picks: seen.append((before, picks)))
    state = line.batch.state
    start = np.cumsum([0, *game.config.pass_counts])
    gain = np.zeros((len(seeds), players, DISPLAYS), np.int64)
    back = np.zeros_like(gain)
    for number, (before, picks) in enumerate(seen):
        received = state["received"][:, :, start[number] : start[number + 1]].astype(np.int64)
        into = np.zeros((len(seeds), players), np.int64)
        measure_received(game.records(before), game.records(game.params), picks, received, into)
        gain[:, :, number] = into
        kinds = np.arange(game.num_actions)
        sent = (np.roll(picks, 1, axis=1)[..., None] == kinds).sum(axis=2)
        back[:, :, number] = np.minimum(sent, (received[..., None] == kinds).sum(axis=2)).sum(axis=2)
    to_dummy = state["left"] >= players
    points = state["round_score"].astype(np.float64)
    leads = [lead_of(points, np.full(len(seeds), seat)) for seat in range(players)]
    return {
        "gain": gain, "back": back, "to_dummy": to_dummy, "from_dummy": np.roll(to_dummy, 1, axis=1),
        "points": points, "lead": np.stack(leads, axis=1),
    }  # fmt: skip


def bits_about_the_next(game: Game, policy: str, worlds: int, seeds: Seeds) -> Arrays:
    """How uncertain each seat is of the hand of the next player to its left, before every pass of the first round.

    Measured over ``worlds`` possible worlds: the entropy of the number of cards of a letter, summed over letters.

    Returns:
        ``bits`` (D, P, 4) and ``to_dummy`` (D, P).
    """
    players, letters = game.num_players, game.config.cards.letters
    line = Line.start(game, policy, (), seeds)
    bits = np.zeros((len(seeds), players, DISPLAYS))
    to_dummy = np.zeros((len(seeds), players), np.bool_)
    streams = seat_streams(seeds ^ np.uint64(1), players)

    def watch(before: States, rows: Ints, picks: Ints) -> None:
        to_dummy[rows] = before["left"] >= players
        for seat in range(players):
            own = streams[:, seat].copy()
            possible = resampled(game, before, np.full(len(rows), seat), own, worlds)
            hand = possible["hand"][:, :, (seat + 1) % players, : len(letters)]
            by_letter = np.stack([hand[..., letters == letter].sum(axis=2) for letter in range(NUM_LETTERS)], axis=2)
            shares = np.stack([(by_letter == held).mean(axis=1) for held in range(game.config.hand_size)], axis=2)
            bits[rows, seat, int(before["phase"][0]) - 1] = stats.entropy(shares, base=2, axis=2).sum(axis=1)

    play_round(line.batch, line.seats, watch)
    return {"bits": bits, "to_dummy": to_dummy}


def care_by_neighbour(game: Game, care: float, seeds: Seeds) -> Arrays:
    """What ``care`` of one seat at a careless table changes in the first round.

    Returns:
        (D, P) for each seat: ``own``, change of its points; ``next``, of the next player's; ``lead``, of its points
        less the mean of the others'; ``to_dummy``, whether a dummy sits at its left.
    """
    players = game.num_players
    line = Line.start(game, "heuristic:0", (f"heuristic:{care}",), seeds)
    shape = (len(seeds), players)
    found: Arrays = {name: np.zeros(shape) for name in ("own", "next", "lead")}
    found["to_dummy"] = np.asarray(line.batch.state["left"] >= players)
    everyone = np.zeros(len(seeds), np.int64)
    usual = line.fork(everyone)[0]["round_score"].astype(np.float64)
    for seat in range(players):
        state, lead = line.fork(everyone + seat, passing=1)
        change = state["round_score"] - usual
        found["own"][:, seat] = change[:, seat]
        found["next"][:, seat] = change[:, (seat + 1) % players]
        found["lead"][:, seat] = lead - lead_of(usual, everyone + seat)
    return found


def dummies(study: Study) -> Part:
    """A pass into a dummy against a pass to a player."""
    seats = study.options.num_players
    received = study.run(
        passes_received, {p: (study.game(p, num_rounds=1), "heuristic") for p in seats}, 0.6, "passes received"
    )
    known = study.run(
        bits_about_the_next, {p: (study.game(p), "heuristic", WORLDS) for p in seats}, 0.05, "what is known of the next"
    )
    minded = study.run(care_by_neighbour, {p: (study.game(p), CARE) for p in seats}, 1.0, "care by neighbour")
    counts, others = study.rules.pass_counts, study.rules.hand_size - 1
    facts = {
        (p, dummy, number): {
            "gain": pooled(np.where(source, received[p]["gain"][:, :, number], np.nan)),
            "gain_sd": spread(np.where(source, received[p]["gain"][:, :, number], np.nan)),
            "arrives": pooled(np.where(source, received[p]["back"][:, :, number] / counts[number], np.nan)),
            "bits": pooled(np.where(known[p]["to_dummy"] == dummy, known[p]["bits"][:, :, number], np.nan)),
        }
        for p in seats
        for dummy, source in neighbours(received[p], "from_dummy")
        for number in range(DISPLAYS)
    }
    table = pd.DataFrame(
        {
            "players": p,
            "passes go": "into a dummy" if dummy else "to a player",
            "pass (cards)": f"{number + 1} ({counts[number]})",
            "same kinds arrive, %": own["arrives"].text(1, 100),
            "drawn by chance, %": f"{100 * counts[number] / (others + counts[number]):.1f}" if dummy else "–",
            "gain of the next player": own["gain"].text(2),
            "its standard deviation": own["gain_sd"].text(2),
            "bits unknown of its hand, before": own["bits"].text(2),
        }
        for (p, dummy, number), own in facts.items()
    )
    minding = {
        name: {
            (p, NEIGHBOURS[dummy]): masked(minded[p][name], at) for p in seats for dummy, at in neighbours(minded[p])
        }
        for name in ("own", "next", "lead")
    }
    places = {
        name: {
            (p, place): masked(received[p][name], at) for p in seats for place, at in places_of(received[p], p).items()
        }
        for name in ("points", "lead")
    }
    passed = {
        fact: {(p, NEIGHBOURS[dummy], number + 1): own[fact] for (p, dummy, number), own in facts.items()}
        for fact in ("gain", "gain_sd", "arrives", "bits")
    }
    return study.part(
        "dummies",
        page(study, received, minded),
        findings(study, received, known, minded),
        table,
        draw_dummies(study, facts),
        {
            "dummies.csv": frame("players between pass", **passed),
            "dummy_places.csv": frame("players seat", 3, **places),
            "dummy_care.csv": frame("players left_neighbour", 12, **minding),
        },
        worlds=WORLDS,
        others=others,
    )


def neighbours(result: Arrays, side: str = "to_dummy") -> Iterator[tuple[bool, Bools]]:
    """Whether a dummy sits at that side, and at which seats (D, P) that is so, if at any."""
    for dummy in NEIGHBOURS:
        at = np.asarray(result[side] == dummy)
        if at.any():
            yield dummy, at


def masked(values: Any, where: Any) -> Estimate:
    """The mean of ``values`` (D, P) at the seats ``where``."""
    return pooled(np.where(where, values, np.nan))


def places_of(result: Arrays, players: int) -> dict[str, Bools]:
    """Which seats (D, P) sit where; with three players one gives to the dummy and one draws from it."""
    to, of = result["to_dummy"], result["from_dummy"]
    three = {"gives to the dummy": to, "draws from the dummy": of, "plays with players only": ~(to | of)}
    return {"all": np.ones_like(to), **(three if players == 3 else {})}


def draw_dummies(study: Study, facts: Any) -> Any:
    """Bits unknown, mean and spread of the next player's gain, pass by pass."""
    figure, axes = panels(3)
    passes = range(1, DISPLAYS + 1)
    shown = (
        ("bits", "the next player's hand", "unknown to the passing seat, bits"),
        ("gain", "what the next player gains", "mean gain from the cards got, points"),
        ("gain_sd", "how much that varies", "standard deviation of the gain, points"),
    )
    for axis, (fact, title, unit) in zip(axes, shown, strict=True):
        for p, dummy in dict.fromkeys(key[:2] for key in facts):
            draw(
                axis, passes, [facts[p, dummy, n][fact] for n in range(DISPLAYS)], linestyle="--" if dummy else "-",
                color=f"C{study.options.num_players.index(p)}",
                label=f"{p} players, {'into a dummy' if dummy else 'to a player'}",
            )  # fmt: skip
        label(axis, title, "before pass" if fact == "bits" else "pass", unit)
        axis.set_xticks(passes)
    legend(axes[1])
    return figure


def page(study: Study, received: Any, minded: Any) -> list[str]:
    """For whoever plays cards: when to mind the neighbour, and where luck sits."""
    texts = []
    last = {dummy: (p, at) for p in minded for dummy, at in neighbours(minded[p])}
    for dummy, (p, at) in sorted(last.items()):
        found = masked(minded[p]["next"], at)
        name = "page.mind_dummy" if dummy else "page.mind_player"
        texts.append(study.say(name, found.side(0.0, 2), players=p, points=found.text(1)))
    if 3 in study.options.num_players:
        lead = masked(received[3]["lead"], received[3]["from_dummy"])
        texts.append(study.say("page.draw", lead.side(0.0, 3), lead=lead.text(1)))
    return texts


def findings(study: Study, received: Any, known: Any, minded: Any) -> list[str]:
    """Sentences about dummies."""
    texts = []
    for p in study.options.num_players:
        for dummy, at in neighbours(known[p]):
            learnt = masked(known[p]["bits"][:, :, 0] - known[p]["bits"][:, :, 1], at)
            texts.append(study.say("dummies.learnt", NEIGHBOURS[dummy], players=p, bits=learnt.text(2)))
    if 3 in study.options.num_players:
        texts += three_player_findings(study, received[3])
    for p in study.options.num_players:
        for dummy, at in neighbours(minded[p]):
            own, after, lead = (masked(minded[p][name], at) for name in ("own", "next", "lead"))
            texts.append(
                study.say(
                    "dummies.care", lead.side(0.0, 4), players=p, neighbour=NEIGHBOURS[dummy], care=CARE,
                    own=own.text(2), after=after.text(2), lead=lead.text(2),
                )
            )  # fmt: skip
    return texts


def three_player_findings(study: Study, received: Arrays) -> list[str]:
    """What the dummy's place, drawn by lot, does to the seats."""
    leads = {name: masked(received["lead"], mask) for name, mask in places_of(received, 3).items() if name != "all"}
    texts = [
        study.say("dummies.place", lead.side(0.0, len(leads)), who=name, lead=lead.text(2))
        for name, lead in leads.items()
    ]
    source, gain = received["from_dummy"], received["gain"].sum(axis=2).astype(np.float64)
    taken, given = np.where(source, gain, 0.0), np.where(source, 0.0, gain)
    difference = gap(taken.sum(axis=1), source.sum(axis=1), given.sum(axis=1), (~source).sum(axis=1))
    wide, narrow = spread(np.where(source, gain, np.nan)), spread(np.where(source, np.nan, gain))
    texts.append(
        study.say(
            "dummies.drawn", difference.side(0.0), cards=sum(study.rules.pass_counts),
            drawn=masked(gain, source).text(2), passed=masked(gain, ~source).text(2), difference=difference.text(2),
            sds=listed((wide.text(2), narrow.text(2))),
        )
    )  # fmt: skip
    return texts
