"""The numbers to hold, and whether they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.throughput.measuring import Results
from experiments.throughput.peers import PUFFER, PUFFER_LEGAL
from experiments.throughput.probes import DRAWN, GYM, SB3, Probe, among, bytes_of_a_step, stepping
from experiments.throughput.tables import best_case, find, number
from experiments.throughput.targets import COMPARED, TARGETS, Target
from llama_envs.core.registry import game_specs, make_game, spec_of
from llama_envs.core.spec import GameSpec

RAINBOW_ARENA = 149e3  # decisions/s of its rules without observations, as measured once on a machine of this kind

# Numbers to hold of every game that has targets.
OVER_LEDUC, TWO_THREADS = 5.0, 1.7
TRAINING_SHARE, OVER_TUTORIAL = 0.9, 20.0
WARM, COLD = 2.5, 45.0
BYTES = 512


@dataclass(frozen=True)
class Row:
    """One number to hold; ``reached`` is 1 or more where it holds, None where it was not measured."""

    what: str
    wanted: str
    found: str
    reached: float | None
    remark: str = ""


def numbers_to_hold(results: Results) -> list[Row]:
    """The table of numbers to hold."""
    held = [(spec, TARGETS[spec.name]) for spec in game_specs() if spec.name in TARGETS]
    rows = []
    for spec, target in held:
        rows += batch_rows(results.probes, spec, target)
    rows += peer_rows(results.probes, TARGETS[COMPARED])
    for spec, target in held:
        rows += loop_rows(results.probes, spec, target)
        rows += opponent_rows(results.probes, spec, target)
        rows.append(thread_row(results.probes, spec))
    titles = {spec.title for spec, _ in held}
    rows += training_rows(results, titles)
    for start in (start for start in results.starts if start.game in titles):
        warm = float(np.median(start.warm))
        rows.append(at_most(f"{start.game}: import + first step, warm cache", WARM, warm, "s"))
        if start.cold is None:
            rows.append(
                missing(f"{start.game}: import + first step, cold cache", f"≤ {COLD:g} s", "not measured with --quick")
            )
        else:
            rows.append(at_most(f"{start.game}: import + first step, cold cache", COLD, start.cold, "s"))
    for spec, _ in held:
        size = make_game(spec.name).state_dtype.itemsize
        rows.append(at_most(f"{spec.title}: bytes of a game", BYTES, size, "bytes"))
    return rows


def batch_rows(probes: Sequence[Probe], spec: GameSpec, target: Target) -> list[Row]:
    """Steps of a batch, and play inside a kernel."""
    rows = []
    for what, rate, label in (
        ("step, actions by a kernel", target.step, "`Batch.step` with observation, mask, reward, autoreset, N ≥ 1024"),
        ("random playouts", target.playouts, "random playouts in a kernel"),
    ):
        found = find(probes, what, spec.title, 1024)
        if found:
            slowest, fastest = min(found, key=lambda p: p.median), max(found, key=lambda p: p.median)
            remark = f"{slowest.players} players, N = {slowest.number}; the fastest {number(fastest.median)}"
            rows.append(at_least(f"{spec.title}: {label}", rate, slowest.median, f"slowest: {remark}"))
        else:
            rows.append(missing(f"{spec.title}: {label}", f"≥ {number(rate)}", "not measured at N ≥ 1024"))
    return [*rows, growth_row(probes, spec)]


def growth_row(probes: Sequence[Probe], spec: GameSpec) -> Row:
    """Whether a step's time grows with the players by no more than what it has to move."""
    fewest, *more = [
        (p, bytes_of_a_step(make_game(spec.name, num_players=p.players))) for p in find(probes, DRAWN, spec.title)
    ]
    what = f"{spec.title}: time of a step against the fewest players / growth of the bytes that it moves"
    growth = [
        (fewest[0].median / probe.median / (moved / fewest[1]), probe.players, moved / fewest[1])
        for probe, moved in more
    ]
    if not growth:
        return missing(what, "≤ 1 ×", "one number of players with --quick")
    most, players, bytes_grow = max(growth)
    return Row(what, "≤ 1 ×", f"{most:.3g} ×", 1 / most, f"most with {players} players; bytes grow {bytes_grow:.3g} ×")


def peer_rows(probes: Sequence[Probe], target: Target) -> list[Row]:
    """One game beside the peers that play batches."""
    title = spec_of(COMPARED).title
    step = best_case(probes, "step, actions by a kernel", 1024)
    drawn, floor = best_case(probes, DRAWN, 1024), best_case(probes, "moving the bytes", 1024)
    rows = []
    for what in (PUFFER, PUFFER_LEGAL):
        triad = find(probes, what, "triple triad")
        legal = find(probes, PUFFER_LEGAL, "triple triad")
        remark = ""
        if triad and legal and what == PUFFER:
            remark = f"{1 - legal[0].median / triad[0].median:.0%} of its actions are illegal and change nothing; "
            remark += f"the floor of a step, moving its bytes, reaches {floor / triad[0].median:.3g} ×" if floor else ""
        c_step = triad[0].median if triad else 0.0
        rows.append(ratio(f"{title} step / triple triad, {what}", target.over["triple_triad"], drawn, c_step, remark))
    rows.append(ratio(f"{title} step / RainbowArena's {title}", target.over["rainbow_arena"], step, RAINBOW_ARENA,
                      f"{number(RAINBOW_ARENA)} is not from this run: it does not install"))  # fmt: skip
    return rows


def loop_rows(probes: Sequence[Probe], spec: GameSpec, target: Target) -> list[Row]:
    """PettingZoo's loop over one game."""
    rows = []
    for kind, wanted in (("raw_env", target.raw_env), ("env", target.env)):
        (found,) = find(probes, kind, spec.title)
        leduc = find(probes, f"PettingZoo {kind}", "leduc hold'em")
        rows.append(at_least(f"{spec.title}: `{kind}` AEC loop", wanted, found.median, ""))
        rows.append(ratio(f"{spec.title}: `{kind}` / PettingZoo's leduc hold'em", OVER_LEDUC, found.median,
                          leduc[0].median if leduc else 0, ""))  # fmt: skip
    return rows


def opponent_rows(probes: Sequence[Probe], spec: GameSpec, target: Target) -> list[Row]:
    """A learner's steps among heuristics, as a part of those among random players."""
    rows = []
    for what in (GYM, SB3):
        among_random, among_heuristics = (
            find(probes, among(what, opponent), spec.title) for opponent in ("random", "heuristic")
        )
        label = (
            f"{spec.title}, {make_game(spec.name).num_players} players: {what} among heuristics / among random players"
        )
        wanted = f"≥ {target.against_heuristics:.2f} ×"
        if not (among_random and among_heuristics):
            rows.append(missing(label, wanted, "the game ships no heuristic"))
            continue
        part = in_pairs(among_heuristics[0], among_random[0])
        remark = f"{number(among_heuristics[0].median)} steps/s among heuristics"
        rows.append(Row(label, wanted, f"{part:.3g} ×", part / target.against_heuristics, remark))
    return rows


def thread_row(probes: Sequence[Probe], spec: GameSpec) -> Row:
    """A step by two threads against one, by the clock on the wall."""
    alone, two = (
        [p for p in find(probes, stepping(threads), spec.title) if p.group == "threads"] for threads in (1, 2)
    )
    games = alone[0].number if alone else 0
    label = f"{spec.title}: `Batch(threads=2)` / one thread, N = {games}"
    if not two:
        return missing(label, f"≥ {TWO_THREADS:g} ×", "there is one core")
    times = in_pairs(two[0], alone[0])
    return Row(label, f"≥ {TWO_THREADS:g} ×", f"{times:.3g} ×", times / TWO_THREADS, "time on the wall")


def in_pairs(ours: Probe, theirs: Probe) -> float:
    """The median over turns of the one rate as a multiple of the other."""
    return float(np.median(np.array(ours.rates) / np.array(theirs.rates)))


def training_rows(results: Results, titles: set[str]) -> list[Row]:
    """Training speed in these games against an environment that does nothing, and against the tutorial."""
    if not results.learning:
        return [missing("training speed", f"≥ {TRAINING_SHARE:.0%}", results.tutorial_absent)]
    rows = []
    for speed in (speed for speed in results.learning if speed.game in titles):
        share, ours = speed.share, float(np.median(speed.ours))
        what = f"{speed.game}: MaskablePPO / the same on an environment that does nothing"
        rows.append(
            Row(what, f"≥ {TRAINING_SHARE:.0%}", f"{share:.1%}", share / TRAINING_SHARE, f"{number(ours)} decisions/s")
        )
        tutorial = float(np.median(results.tutorial)) if results.tutorial else 0.0
        remark = results.tutorial_absent
        if tutorial:
            most = float(np.median(speed.nothing)) / tutorial
            remark = f"an environment that does nothing reaches {most:.3g} ×: the learner sets the limit"
        rows.append(ratio(f"{speed.game}: MaskablePPO / PettingZoo's tutorial", OVER_TUTORIAL, ours, tutorial, remark))
    return rows


def at_least(what: str, wanted: float, found: float, remark: str) -> Row:
    """A rate that must be reached."""
    return Row(what, f"≥ {number(wanted)}", number(found), found / wanted, remark)


def at_most(what: str, wanted: float, found: float, unit: str) -> Row:
    """A quantity that must not be exceeded."""
    return Row(what, f"≤ {wanted:g} {unit}", f"{found:.3g} {unit}", wanted / found)


def ratio(what: str, wanted: float, ours: float, theirs: float, remark: str) -> Row:
    """A multiple of a peer that must be reached."""
    if not (ours and theirs):
        return missing(what, f"≥ {wanted:g} ×", remark or "not both are measured")
    return Row(what, f"≥ {wanted:g} ×", f"{ours / theirs:.3g} ×", ours / theirs / wanted, remark)


def missing(what: str, wanted: str, why: str) -> Row:
    """A number that this run does not have."""
    return Row(what, wanted, "–", None, why)


def verdict(row: Row) -> str:
    """Whether the number holds, or by how much it misses."""
    if row.reached is None:
        return "not measured"
    return "holds" if row.reached >= 1 else f"**misses** by {1 - row.reached:.0%}"
