"""Solve small variants of the games, and measure PPO's self-play against the solutions.

    python -m experiments.exact            # about six minutes: experiments/reports/exact.md, .csv, exact_ppo.csv, .png
    python -m experiments.exact --quick    # the smaller half of it in under a minute, to runs/exact/quick

Every variant is enumerated with all of its chance and solved by CFR+; nothing is sampled. The policies go to
``runs/exact/<variant>.npz`` and are played as ``tabular:runs/exact/<variant>.npz``. A learner that is any good should
come near them: NashConv, what the seats could gain by their best responses, is computed exactly for networks too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pandas as pd
import rich
from rich.progress import track

from experiments.exact.learning import train_on
from experiments.exact.report import draw_curves, report
from experiments.exact.solving import Solution, solve
from experiments.exact.variants import Variant, chosen_variants
from llama_envs.cli.command import check_folder, parse_options, run_or_exit
from llama_envs.cli.spread import Spread
from llama_envs.core.files import write_atomically, write_text
from llama_envs.core.validation import check_int
from llama_envs.evaluation.workers import Map
from llama_envs.policies.tabular import save_table

REPORTS = Path(__file__).parents[1] / "reports"
TRIED = {"seeds": 2, "steps": 60_000}  # at most, with --quick


@dataclasses.dataclass(frozen=True)
class Options(Spread):
    """Solve small variants of the games, and measure PPO's self-play against the solutions."""

    quick: bool = False
    """The smaller variants, fewer seeds and steps."""
    variants: tuple[str, ...] = ()
    """Only these variants, by name, or other registered games, each with its default options; PPO is trained on those
    variants that the report draws, and on such games."""
    out: Path | None = None
    """Folder of the report; by default experiments/reports, or with --quick or --variants runs/exact/quick."""
    tables: Path = Path("runs/exact")
    """Folder of the policies."""
    seeds: int = 5
    """Seeds of PPO; 0 leaves it out."""
    steps: int = 500_000
    """Decisions that PPO learns from, for each seed."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("seeds", self.seeds, 0, 2**16)
        check_int("steps", self.steps, 1, 10**12)
        for variant in chosen_variants(self.variants, self.quick):
            variant.make()
        check_folder("out", self.folder)
        check_folder("tables", self.tables)

    @property
    def folder(self) -> Path:
        """Where the report goes."""
        return self.out or (Path("runs/exact/quick") if self.quick or self.variants else REPORTS)


def study(options: Options) -> Path:
    """Solve, train, save everything; the report's path."""
    if options.quick:
        options = dataclasses.replace(options, **{name: min(getattr(options, name), TRIED[name]) for name in TRIED})
    variants = chosen_variants(options.variants, options.quick)
    with options.spread() as spread:
        solutions = solve_all(variants, options.tables, spread)
        frame = pd.DataFrame([solution.row for solution in solutions.values()])
        write_atomically(
            options.folder / "exact.csv", lambda path: frame.to_csv(path, index=False, float_format="%.9g")
        )
        curves = train_all([variant for variant in variants if variant.ppo], options, spread)
    if curves is not None:
        save = partial(curves.to_csv, index=False, float_format="%.6g")
        write_atomically(options.folder / "exact_ppo.csv", save)
        draw_curves(solutions, curves, options.folder / "exact_ppo.png")
    path = options.folder / "exact.md"
    write_text(path, report(variants, solutions, curves, options.seeds, options.steps))
    return path


def solve_all(variants: Sequence[Variant], folder: Path, spread: Map) -> dict[str, Solution]:
    """The solution of each variant by its name; the policies are written to ``folder`` one by one."""
    solutions: dict[str, Solution] = {}
    for variant, solution in zip(variants, spread(solve, variants), strict=True):
        solutions[variant.name] = solution
        row = solution.row
        rich.print(f"{variant.name}: NashConv {row['nash_conv_percent']:.4f} %, {row['cpu_seconds']:.1f} s")
        write_atomically(folder / f"{variant.name}.npz", partial(save_table, game=variant.make(), table=solution.table))
    return solutions


def train_all(variants: Sequence[Variant], options: Options, spread: Map) -> pd.DataFrame | None:
    """Every seed on every variant; None if there is nothing to train."""
    jobs = [(variant, seed, options.steps) for variant in variants for seed in range(options.seeds)]
    if not jobs:
        return None
    return pd.concat(track(spread(train_on, jobs), "training PPO", len(jobs), transient=True), ignore_index=True)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    options = parse_options(Options, __doc__.partition("\n")[0], argv)
    report_file = run_or_exit(lambda: study(options), f"the policies solved so far are in {options.tables}")
    print(f"report: {report_file}")


if __name__ == "__main__":
    main()
