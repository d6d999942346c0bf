"""Measure speed beside the peers in one run on one core, and write throughput.md, CSV and PNG.

    python -m experiments.throughput            # some minutes: experiments/reports
    python -m experiments.throughput --quick    # a minute or two, to try it: runs/throughput/quick

What each game must reach stands in its own package. Peers that are not installed are listed with the reason:
``pip install -c constraints.txt --group peers`` brings them.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path

import pandas as pd
import rich

from experiments.lib.published import report_folder
from experiments.throughput.held import numbers_to_hold, verdict
from experiments.throughput.measuring import run
from experiments.throughput.probes import Probe
from experiments.throughput.report import draw, report
from experiments.throughput.tables import frame
from llama_envs.cli.command import Kept, check_folder, parse_options, run_or_exit
from llama_envs.cli.run_folder import RUNS, default_name
from llama_envs.cli.show import show_table
from llama_envs.core.files import write_atomically, write_text
from llama_envs.core.validation import check_int


@dataclasses.dataclass(frozen=True)
class Options:
    """Measure speed beside the peers, on one core."""

    out: Path | None = None
    """Folder of the report; by default experiments/reports, with --quick runs/throughput/quick, with unusual repeats
    or seconds one of its own under runs."""
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
        check_folder("out", self.folder)

    @cached_property
    def folder(self) -> Path:
        """Where the report goes."""
        return report_folder("throughput", self)


def measure(options: Options, kept: Kept) -> None:
    """Measure, write everything, and show the numbers to hold; if it is interrupted, write the rates so far."""
    repeats, seconds = options.repeats, options.seconds
    if options.quick:
        repeats, seconds = min(repeats, 2), min(seconds, 0.02)
    probes: list[Probe] = []
    try:
        results = run(options.quick, repeats, seconds, rich.get_console(), probes)
    except KeyboardInterrupt:
        if any(probe.rates for probe in probes):
            path = RUNS / default_name("throughput-stopped") / "throughput.csv"
            write_atomically(path, partial(frame(probes).to_csv, index=False, float_format="%.6g"))
            kept.text = f"the rates so far are in {path}"
        raise
    table = partial(frame(results.probes).to_csv, index=False, float_format="%.6g")
    write_atomically(options.folder / "throughput.csv", table)
    draw(results.probes, options.folder / "throughput.png")
    write_text(options.folder / "throughput.md", report(results, repeats, seconds))
    rows = [
        {"what": row.what.replace("`", ""), "wanted": row.wanted, "found": row.found, "": verdict(row).replace("*", "")}
        for row in numbers_to_hold(results)
    ]
    show_table(pd.DataFrame(rows), "numbers to hold")


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    options = parse_options(Options, (__doc__ or "").partition("\n")[0], argv)
    began = time.perf_counter()
    kept = Kept()
    run_or_exit(lambda: measure(options, kept), kept)
    print(f"report: {options.folder / 'throughput.md'}, after {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
