"""Measure speed beside the peers in one run on one core, and write throughput.md, CSV and PNG.

    python -m experiments.throughput            # some minutes: experiments/reports
    python -m experiments.throughput --quick    # a minute or two, to try it: runs/throughput/quick

What each game must reach stands in ``targets.toml``. Peers that are not installed are listed with the reason:
``pip install -c constraints.txt -e '.[peers]'`` brings them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import torch
import tyro
from rich.console import Console
from rich.table import Table

from experiments.instructions import Counted, NotHere, count_instructions
from experiments.learning_speed import LearningSpeed, learning_speeds, tutorial_speeds
from experiments.peers import PUFFER, PUFFER_LEGAL, peer_probes, peer_versions
from experiments.probes import (
    DRAWN,
    GYM,
    SB3,
    Absent,
    Probe,
    among,
    bytes_of_a_step,
    measure,
    own_probes,
    stepping,
    thread_probes,
)
from experiments.targets import COMPARED, TARGETS, Target
from llama_envs.cli.command import run_or_exit
from llama_envs.core.batch import GAMES_PER_THREAD
from llama_envs.core.files import write_atomically, write_text
from llama_envs.core.registry import game_specs, make_game, spec_of
from llama_envs.core.runs import command_line, versions
from llama_envs.core.spec import GameSpec
from llama_envs.core.validation import check_int

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HOW = """\
`{command}` wrote this file, `throughput.csv` and `throughput.png`: everything in one run, on one core and one thread,
in turns ({repeats} times {seconds:g} s each). Rates are decisions per second of processor time, medians with
quartiles. Play is uniform over legal actions unless said; a decision is one action of one player (of the learner's,
in vector environments)."""
HOW_PEERS = """\
Each is driven as its users do: PettingZoo by `agent_iter`, `last` and `step`, OpenSpiel from Python with tensor and
mask, Pgx as one compiled scan with its own reset, PufferLib by its C binding with actions drawn beforehand, and no
masks."""
HOW_THREADS = """\
`Batch(threads=...)` with actions drawn beforehand: decisions per second of time on the wall, with all cores. Results
do not depend on the number of threads."""
HOW_FLOOR = """\
Moving the bytes is a copy of what a step must read and write (record, observation, mask, stream, action, reward,
flags) of 1024 games by NumPy, without any rule. Instructions are counted by callgrind for a processor with AVX2,
Python's part included; one of them writes at most 32 bytes. What a step does beyond the floor is the rules
themselves: their branches depend on the cards, and so a processor often guesses them wrong."""
FLOOR_HEADER = [
    "game", "players", "bytes of the record", "bytes a step moves", "moving them takes", "a step takes",
    "a step / the floor", "least instructions that write observation and mask", "instructions of a step",
    "of a playout's decision",
]  # fmt: skip

REPORTS = Path(__file__).resolve().parent / "reports"
VECTOR = 32  # bytes that one instruction writes at most, on the processor for which instructions are counted
RAINBOW_ARENA = 149e3  # decisions/s of its rules without observations, as measured once on a machine of this kind

# Numbers to hold of every game that has targets.
OVER_LEDUC, TWO_THREADS = 5.0, 1.7
TRAINING_SHARE, OVER_TUTORIAL = 0.9, 20.0
WARM, COLD = 2.5, 45.0
BYTES = 512


@dataclass(frozen=True)
class Options:
    """Measure speed beside the peers, on one core."""

    out: Path | None = None
    """Folder of the report; by default experiments/reports, or with --quick runs/throughput/quick."""
    repeats: int = 9
    """Turns in which everything is timed."""
    seconds: float = 0.2
    """Processor time of each part in a turn."""
    quick: bool = False
    """To try it: few numbers of games and players, short times, no training, no cold start, no instructions."""

    def __post_init__(self) -> None:
        check_int("repeats", self.repeats, 1, 1000)
        if not 0 < self.seconds <= 60:
            raise ValueError(f"seconds must lie above 0 and at most at 60, got {self.seconds}.")

    @property
    def folder(self) -> Path:
        """Where the report goes: a run to try it leaves the published one alone."""
        return self.out or (Path("runs/throughput/quick") if self.quick else REPORTS)


@dataclass
class Start:
    """Seconds from the start of Python to the end of the first step, with the compile cache empty and filled."""

    game: str
    cold: float | None
    warm: list[float]


@dataclass
class Results:
    """Everything that was measured."""

    probes: list[Probe]
    learning: list[LearningSpeed]
    tutorial: list[float]
    tutorial_absent: str
    starts: list[Start]
    counted: list[Counted]
    not_counted: str


@dataclass(frozen=True)
class Row:
    """One number to hold; ``reached`` is 1 or more where it holds, None where it was not measured."""

    what: str
    wanted: str
    found: str
    reached: float | None
    remark: str = ""


def cores() -> set[int]:
    """The cores that this process may use."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def take(chosen: set[int]) -> None:
    """This thread, and those that it starts, on these cores, where the operating system allows it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, chosen)


def run(options: Options, console: Console) -> Results:
    """Measure everything."""
    numbers = (1, 64) if options.quick else (1, 64, 1024, 8192)
    players = {spec.name: spec.players[:1] if options.quick else spec.players for spec in game_specs()}
    allowed = cores()
    take({min(allowed)})
    torch.set_num_threads(1)
    probes = own_probes(numbers, players) + peer_probes(64 if options.quick else 1024)
    measure(probes, options.repeats, options.seconds, silent=not console.is_terminal)
    console.print("decisions per second are measured; now training, the start and instructions")
    learning: list[LearningSpeed] = []
    tutorial: list[float] = []
    tutorial_absent = "not measured with --quick"
    if not options.quick:
        learning = learning_speeds(3, 1024)
        try:
            tutorial, tutorial_absent = tutorial_speeds(2), ""
        except Absent as reason:
            tutorial_absent = str(reason)
    starts = [start_times(name, not options.quick, 1 if options.quick else 5) for name in players]
    counted: list[Counted] = []
    not_counted = "not with --quick"
    if not options.quick:
        try:
            counted = count_instructions([(name, count) for name in players for count in players[name]])
        except NotHere as reason:
            not_counted = str(reason)
    take(allowed)
    number = 2048 if options.quick else 8192
    most = min(len(allowed), number // GAMES_PER_THREAD)
    threaded = thread_probes(number, sorted({1, min(2, most), most}))
    measure(threaded, options.repeats, options.seconds, silent=not console.is_terminal, clock=time.perf_counter)
    probes += threaded
    return Results(probes, learning, tutorial, tutorial_absent, starts, counted, not_counted)


FIRST_STEP = """
import sys
from llama_envs.core.registry import make_game
from llama_envs.core.batch import Batch
batch = Batch(make_game(sys.argv[1]), 1, 0)
batch.step(batch.action_mask.argmax(axis=1))
"""


def start_times(name: str, cold: bool, repeats: int) -> Start:
    """Time Python's start, import and first step of a game; ``cold`` first, with an empty compile cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder} if cold else dict(os.environ)

        def once() -> float:
            began = os.times()
            subprocess.run([sys.executable, "-c", FIRST_STEP, name], env=environment, check=True)
            ended = os.times()
            return (ended.children_user + ended.children_system) - (began.children_user + began.children_system)

        first = once()
        return Start(spec_of(name).title, first if cold else None, [once() for _ in range(repeats)])


# -------------------------------------------------------------------------------------------------------------- tables


def frame(probes: Sequence[Probe]) -> pd.DataFrame:
    """One row for each probe; an absent one has its reason instead of rates."""
    rows = []
    for probe in probes:
        low, high = probe.spread if probe.rates else (np.nan, np.nan)
        rows.append(
            {
                "group": probe.group, "what": probe.what, "game": probe.game, "players": probe.players,
                "games": probe.number, "decisions_per_second": probe.median if probe.rates else np.nan,
                "lower_quartile": low, "upper_quartile": high, "repeats": len(probe.rates), "absent": probe.absent,
            }
        )  # fmt: skip
    return pd.DataFrame(rows).astype({"players": "Int64"})


def number(value: float) -> str:
    """1234567 as "1.23 M"."""
    for unit, letter in ((1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:.3g}{letter}"
    return f"{value:.3g}"


def with_spread(probe: Probe) -> str:
    """Median and quartiles."""
    low, high = probe.spread
    return f"{number(probe.median)} ({number(low)} – {number(high)})"


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def find(probes: Sequence[Probe], what: str, game: str, least: int = 1) -> list[Probe]:
    """Probes that were measured with at least so many games at once."""
    return [p for p in probes if p.what == what and p.game == game and p.number >= least and p.rates]


def batch_table(probes: Sequence[Probe]) -> str:
    """Steps of a batch by game, players and number of games."""
    chosen = [p for p in probes if p.group in ("Batch", "playouts")]
    numbers = sorted({p.number for p in chosen if p.group == "Batch"})
    rows = []
    for game, players in dict.fromkeys((p.game, p.players) for p in chosen):
        for what in dict.fromkeys(p.what for p in chosen if p.group == "Batch"):
            cells = {p.number: with_spread(p) for p in chosen if (p.game, p.players, p.what) == (game, players, what)}
            rows.append([game, str(players), what, *(cells.get(n, "") for n in numbers)])
        (played,) = [p for p in chosen if (p.game, p.players, p.group) == (game, players, "playouts")]
        rows.append(
            [game, str(players), "random playouts, 1024 games", with_spread(played), *[""] * (len(numbers) - 1)]
        )
    return markdown(["game", "players", "", *(f"N = {n}" for n in numbers)], rows)


def interface_table(probes: Sequence[Probe]) -> str:
    """The other ways to play."""
    rows = [
        [p.game, str(p.players), p.what, str(p.number), with_spread(p)]
        for p in probes
        if p.group in ("AEC", "Parallel", "vector", "search")
    ]
    return markdown(["game", "players", "", "games at once", "decisions/s"], rows)


def thread_table(probes: Sequence[Probe]) -> str:
    """Steps by one thread and by more, and how many times as fast more are."""
    rows = []
    for probe in (p for p in probes if p.group == "threads"):
        (alone,) = [p for p in find(probes, "step, 1 thread", probe.game) if p.group == "threads"]
        rows.append([probe.game, str(probe.players), str(probe.number), probe.what, with_spread(probe),
                     f"{probe.median / alone.median:.3g} ×"])  # fmt: skip
    return markdown(["game", "players", "games at once", "", "decisions/s", "one thread"], rows)


def peer_table(probes: Sequence[Probe]) -> str:
    """The peers, and our nearest counterpart as a multiple of each: one game at a time, or a batch."""
    batch, raw, wrapped = (
        best_case(probes, *key) for key in (("step, actions by a kernel", 1024), ("raw_env", 1), ("env", 1))
    )
    rows = []
    for peer in (p for p in probes if p.group == "peer"):
        if not peer.rates:
            rows.append([peer.what, peer.game, str(peer.number), f"not measured: {peer.absent}", "", ""])
            continue
        ours, name = (batch, "Batch.step") if peer.number > 1 else (raw, "raw_env")
        if peer.what == "PettingZoo env":
            ours, name = wrapped, "env"
        elif peer.what in (PUFFER, PUFFER_LEGAL):
            ours, name = best_case(probes, DRAWN, 1024), "Batch.step, actions drawn beforehand"
        ratio = f"{ours / peer.median:.3g} ×" if ours else "–"
        rows.append([peer.what, peer.game, str(peer.number), with_spread(peer), name, ratio])
    header = ["peer", "its game", "games at once", "decisions/s", f"against {spec_of(COMPARED).title}'s", "ours"]
    return markdown(header, rows)


def best_case(probes: Sequence[Probe], what: str, least: int) -> float:
    """The game that is compared with the peers, at its default number of players."""
    game = make_game(COMPARED)
    found = [p for p in find(probes, what, game.title, least) if p.players == game.num_players]
    return found[0].median if found else 0.0


def floor_table(results: Results) -> str:
    """How far a step is from moving its bytes, and from writing its observation in the fewest instructions."""
    rows = []
    for spec in game_specs():
        for probe in [p for p in results.probes if p.group == "floor" and p.game == spec.title]:
            game = make_game(spec.name, num_players=probe.players)
            step = [p for p in find(results.probes, DRAWN, probe.game, 64) if p.players == probe.players]
            nearest = min(step, key=lambda p: abs(p.number - probe.number))
            counted = [c for c in results.counted if (c.game, c.num_players) == (spec.name, probe.players)]
            written = 4 * game.observation.size + game.num_actions
            rows.append([
                game.title, str(probe.players), str(game.state_dtype.itemsize), str(bytes_of_a_step(game)),
                f"{1e9 / probe.median:.1f} ns", f"{1e9 / nearest.median:.1f} ns",
                f"{probe.median / nearest.median:.1f} ×", str(-(-written // VECTOR)),
                *((f"{counted[0].step:.0f}", f"{counted[0].playout:.0f}") if counted else ("–", "–")),
            ])  # fmt: skip
    return markdown(FLOOR_HEADER, rows)


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


# -------------------------------------------------------------------------------------------------------------- report


def draw(probes: Sequence[Probe], path: Path) -> None:
    """Bars on a logarithmic scale: ours and the peers, default players, the largest batch of each kind."""
    chosen: dict[tuple[str, str], Probe] = {}
    shown = {spec.title: (make_game(spec.name).num_players, min(spec.players)) for spec in game_specs()}
    for probe in probes:
        own = probe.group in ("Batch", "playouts", "AEC", "vector", "Parallel") and probe.number in (1, 64, 1024)
        if probe.rates and (probe.group == "peer" or (own and probe.players in shown[probe.game])):
            label = probe.what + (", one game" if probe.group == "Batch" and probe.number == 1 else "")
            chosen[(f"{probe.game}: {label}" if probe.group != "peer" else f"{label}: {probe.game}", probe.group)] = (
                probe
            )
    ordered = sorted(chosen.items(), key=lambda item: item[1].median)
    figure, axes = plt.subplots(figsize=(9, 0.27 * len(ordered) + 1.2), layout="constrained")
    medians = [probe.median for _, probe in ordered]
    errors = np.array([[m - p.spread[0], p.spread[1] - m] for m, (_, p) in zip(medians, ordered, strict=True)]).T
    colours = ["tab:grey" if probe.group == "peer" else "tab:green" for _, probe in ordered]
    axes.barh([label for (label, _), _ in ordered], medians, xerr=errors, color=colours, height=0.7)
    axes.set_xscale("log")
    axes.set_xlabel("decisions per second of one core (green: llama-envs, grey: others); lines: quartiles")
    axes.margins(y=0.01)
    for place, value in enumerate(medians):
        axes.text(value * 1.15, place, number(value), va="center", fontsize=7)
    axes.set_xlim(right=max(medians) * 4)
    axes.tick_params(axis="y", labelsize=8)
    write_atomically(path, lambda temporary: figure.savefig(temporary, dpi=110))
    plt.close(figure)


def report(results: Results, options: Options) -> str:
    """The report in Markdown."""
    rows = numbers_to_hold(results)
    used = {**versions(), **peer_versions()}
    counted = "" if results.counted else f" Instructions were not counted: {results.not_counted}."
    parts = [
        "# Speed, beside the peers",
        HOW.format(command=command_line(), repeats=options.repeats, seconds=options.seconds),
        "## Numbers to hold",
        markdown(
            ["what", "wanted", "found", "", "remark"], [[r.what, r.wanted, r.found, verdict(r), r.remark] for r in rows]
        ),
        "![Decisions per second](throughput.png)",
        "## Batches and playouts",
        "A step is `Batch.step` with observation, mask, reward and autoreset, the choice of the actions included.",
        batch_table(results.probes),
        "## One game, vector environments, search",
        interface_table(results.probes),
        "## Peers",
        HOW_PEERS,
        peer_table(results.probes),
        "## Threads",
        HOW_THREADS,
        thread_table(results.probes),
        "## Training",
        training(results),
        "## The floor",
        HOW_FLOOR + counted,
        floor_table(results),
        "## Versions",
        ", ".join(f"{name} {version}" for name, version in used.items()) + ".",
    ]
    return "\n\n".join(parts) + "\n"


def training(results: Results) -> str:
    """Learning speeds."""
    if not results.learning:
        return "Not measured with --quick."
    rows = [[s.game, with_rates(s.ours), with_rates(s.nothing), f"{s.share:.1%}"] for s in results.learning]
    tutorial = f"{with_rates(results.tutorial)} decisions/s" if results.tutorial else results.tutorial_absent
    return (
        "MaskablePPO with the settings of `experiments.train`, 1024 environments, random opponents, one thread.\n\n"
        + markdown(["game", "decisions/s", "on an environment that does nothing", "share"], rows)
        + f"\n\nPettingZoo's tutorial (one connect four, MaskablePPO's defaults): {tutorial}."
    )


def with_rates(rates: Sequence[float]) -> str:
    """Median and range of a few rates."""
    return f"{number(float(np.median(rates)))} ({number(min(rates))} – {number(max(rates))})"


def show(rows: Sequence[Row], console: Console) -> None:
    """The numbers to hold, on the screen."""
    table = Table(title="numbers to hold")
    for column in ("what", "wanted", "found", ""):
        table.add_column(column)
    for row in rows:
        colour = "yellow" if row.reached is None else "green" if row.reached >= 1 else "red"
        table.add_row(row.what, row.wanted, row.found, f"[{colour}]{verdict(row).replace('*', '')}[/]")
    console.print(table)


def main() -> None:
    """The command line."""
    console = Console()
    options = run_or_exit(lambda: tyro.cli(Options, description=(__doc__ or "").partition("\n")[0]))
    if options.quick:
        options = Options(options.out, min(options.repeats, 2), min(options.seconds, 0.02), True)
    began = time.perf_counter()
    results = run(options, console)
    table: Any = frame(results.probes)
    write_atomically(
        options.folder / "throughput.csv", lambda temporary: table.to_csv(temporary, index=False, float_format="%.6g")
    )
    draw(results.probes, options.folder / "throughput.png")
    write_text(options.folder / "throughput.md", report(results, options))
    show(numbers_to_hold(results), console)
    console.print(f"{options.folder / 'throughput.md'}, after {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
