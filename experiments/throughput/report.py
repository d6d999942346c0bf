"""The report and its picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np

from experiments.throughput.held import numbers_to_hold, verdict
from experiments.throughput.measuring import Results
from experiments.throughput.peers import peer_versions
from experiments.throughput.probes import Probe
from experiments.throughput.tables import (
    batch_table,
    floor_table,
    interface_table,
    number,
    peer_table,
    thread_table,
)
from llama_envs.core.files import write_atomically
from llama_envs.core.markdown import markdown_table
from llama_envs.core.registry import game_specs, make_game
from llama_envs.core.runs import command_line, versions

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
    colors = ["tab:grey" if probe.group == "peer" else "tab:green" for _, probe in ordered]
    axes.barh([label for (label, _), _ in ordered], medians, xerr=errors, color=colors, height=0.7)
    axes.set_xscale("log")
    axes.set_xlabel("decisions per second of one core (green: llama-envs, grey: others); lines: quartiles")
    axes.margins(y=0.01)
    for place, value in enumerate(medians):
        axes.text(value * 1.15, place, number(value), va="center", fontsize=7)
    axes.set_xlim(right=max(medians) * 4)
    axes.tick_params(axis="y", labelsize=8)
    write_atomically(path, lambda temporary: figure.savefig(temporary, dpi=110))
    plt.close(figure)


def report(results: Results, repeats: int, seconds: float) -> str:
    """The report in Markdown."""
    rows = numbers_to_hold(results)
    used = {**versions(), **peer_versions()}
    counted = "" if results.counted else f" Instructions were not counted: {results.not_counted}."
    parts = [
        "# Speed, beside the peers",
        HOW.format(command=command_line(), repeats=repeats, seconds=seconds),
        "## Numbers to hold",
        markdown_table(
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
        + markdown_table(["game", "decisions/s", "on an environment that does nothing", "share"], rows)
        + f"\n\nPettingZoo's tutorial (one connect four, MaskablePPO's defaults): {tutorial}."
    )


def with_rates(rates: Sequence[float]) -> str:
    """Median and range of a few rates."""
    return f"{number(float(np.median(rates)))} ({number(min(rates))} – {number(max(rates))})"
