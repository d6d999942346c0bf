"""Solve small variants of the games, and measure PPO's self-play against the solutions.

    python -m experiments.exact            # about six minutes: experiments/reports/exact.md, .csv, exact_ppo.csv, .png
    python -m experiments.exact --quick    # the smaller half of it in under a minute, to runs/<name>/

Every variant is enumerated with all of its chance and solved by CFR+; nothing is sampled. The policies go to
``runs/exact/<variant>.npz`` and are played as ``tabular:runs/exact/<variant>.npz``. A learner that is any good should
come near them: NashConv, what the seats could gain by their best responses, is computed exactly for networks too.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import rich
from rich.progress import track

from experiments.exact.learning import train_on
from experiments.exact.report import draw_curves, report
from experiments.exact.solving import Solution, solve
from experiments.exact.variants import Variant, chosen_variants
from experiments.lib.published import PUBLISHED, is_usual
from llama_envs.cli.command import check_folder, parse_options, run_or_exit
from llama_envs.cli.run_folder import default_name, open_run, whole_truth
from llama_envs.cli.spread import Spread
from llama_envs.core.files import write_atomically, write_json, write_text
from llama_envs.core.validation import check_int
from llama_envs.evaluation.workers import Map
from llama_envs.policies.tabular import save_table

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
    """Folder of the report; by default experiments/reports, and with --quick, or unusual variants, seeds or steps, the
    run's folder."""
    tables: Path = Path("runs/exact")
    """Folder of the policies."""
    seeds: int = 5
    """Seeds of PPO; 0 leaves it out."""
    steps: int = 500_000
    """Decisions that PPO learns from, for each seed."""
    name: str = ""
    """Folder under runs/; by default exact and the time."""
    resume: bool = False
    """Go on with the run --name; give the options it was started with."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("seeds", self.seeds, 0, 2**16)
        check_int("steps", self.steps, 1, 10**12)
        for variant in self.chosen:
            variant.make()
        check_folder("out", self.out or (PUBLISHED if is_usual(self) else None))
        check_folder("tables", self.tables)

    @property
    def chosen(self) -> Sequence[Variant]:
        """What is solved."""
        return chosen_variants(self.variants, self.quick)


def config_of(options: Options) -> dict[str, Any]:
    """What decides the results."""
    games = {variant.name: whole_truth(variant.make(), {}) for variant in options.chosen}
    return {"games": games, "seeds": options.seeds, "steps": options.steps}


def study(options: Options, folder: Path) -> Path:
    """Solve, train, save everything, but for what is in the run's ``folder`` already; the report's path."""
    out = options.out or (PUBLISHED if is_usual(options) else folder)
    if options.quick:
        options = dataclasses.replace(options, **{name: min(getattr(options, name), TRIED[name]) for name in TRIED})
    with options.spread() as spread:
        solutions = solve_all(options.chosen, options.tables, folder / "solved", spread)
        frame = pd.DataFrame([solution.row for solution in solutions.values()])
        write_atomically(out / "exact.csv", partial(frame.to_csv, index=False, float_format="%.9g"))
        curves = train_all([variant for variant in options.chosen if variant.ppo], options, folder / "ppo", spread)
    if curves is not None:
        save = partial(curves.to_csv, index=False, float_format="%.6g")
        write_atomically(out / "exact_ppo.csv", save)
        draw_curves(solutions, curves, out / "exact_ppo.png")
    path = out / "exact.md"
    write_text(path, report(options.chosen, solutions, curves, options.seeds, options.steps))
    return path


def solve_all(variants: Sequence[Variant], tables: Path, folder: Path, spread: Map) -> dict[str, Solution]:
    """The solution of each variant by its name, kept in ``folder`` one by one; its policy is written to ``tables``."""
    files = {variant.name: folder / f"{variant.name}.json" for variant in variants}
    missing = [variant for variant in variants if not files[variant.name].is_file()]
    if missing:
        print(f"solving {', '.join(variant.name for variant in missing)}", flush=True)
    for variant, (solution, table) in zip(missing, spread(solve, missing), strict=True):
        row = solution.row
        rich.print(f"{variant.name}: NashConv {row['nash_conv_percent']:.4f} %, {row['cpu_seconds']:.1f} s")
        write_atomically(tables / f"{variant.name}.npz", partial(save_table, game=variant.make(), table=table))
        write_json(files[variant.name], solution)
    return {name: Solution(**json.loads(file.read_text(encoding="utf-8"))) for name, file in files.items()}


def train_all(variants: Sequence[Variant], options: Options, folder: Path, spread: Map) -> pd.DataFrame | None:
    """Every seed on every variant, kept in ``folder`` one by one; None if there is nothing to train."""
    jobs = [(variant, seed, options.steps) for variant in variants for seed in range(options.seeds)]
    files = [folder / f"{variant.name}-{seed}.csv" for variant, seed, _ in jobs]
    missing = [(job, file) for job, file in zip(jobs, files, strict=True) if not file.is_file()]
    curves = track(spread(train_on, [job for job, _ in missing]), "training PPO", len(missing), transient=True)
    for (_, file), curve in zip(missing, curves, strict=True):
        write_atomically(file, partial(curve.to_csv, index=False))
    return pd.concat(map(pd.read_csv, files), ignore_index=True) if files else None


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    options = parse_options(Options, __doc__.partition("\n")[0], argv)
    name = options.name or default_name("exact-quick" if options.quick else "exact")
    folder = run_or_exit(lambda: open_run(name, config_of(options), options.resume))
    kept = f"what is solved and trained so far is in {folder}, and the same command with --name {name} --resume goes on"
    print(f"report: {run_or_exit(lambda: study(options, folder), kept)}")


if __name__ == "__main__":
    main()
