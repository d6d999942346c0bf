"""How good the policies are, in both games: tournaments, equal-time comparisons, exploitability, one report.

    python -m experiments.benchmark            # as make benchmark: writes experiments/reports/benchmark.md
    python -m experiments.benchmark --quick    # a few minutes; the report stays in runs/<name>/

Parts are kept in ``runs/<name>/``; ``--name NAME --resume`` goes on. Every table of the report says which command makes
it alone. What the findings say is read off the intervals.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from experiments.benchmark.measuring import Measured, config_of, measure, minutes_of
from experiments.benchmark.report import report
from experiments.benchmark.settings import Setting, settings
from experiments.lib.published import PUBLISHED, is_usual
from llama_envs.cli.command import check_folder, parse_options, run_or_exit
from llama_envs.cli.run_folder import default_name, open_run
from llama_envs.cli.spread import Spread
from llama_envs.core.chance import check_seed
from llama_envs.core.files import write_text


@dataclasses.dataclass(frozen=True)
class Options(Spread):
    """Measure the policies in both games and write the report."""

    quick: bool = False
    """Small sizes, to try everything within a few minutes; the report stays in the run's folder."""
    out: Path | None = None
    """Folder of the report; by default experiments/reports, with --quick, another seed or scale the run's folder."""
    seed: int = 0
    """Seed of everything that is drawn."""
    scale: float = 1.0
    """Times as many deals and steps in every part."""
    name: str = ""
    """Folder under runs/; by default benchmark and the time."""
    resume: bool = False
    """Go on with the run --name; give the options it was started with."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.scale <= 1000:
            raise ValueError(f"scale must be above 0 and at most 1000, got {self.scale}.")
        check_seed(self.seed)
        check_folder("out", self.out or (PUBLISHED if is_usual(self) else None))

    @property
    def settings(self) -> list[Setting]:
        """What is played."""
        return [setting.scaled(self.scale) for setting in settings(self.quick)]


def measured(options: Options, folder: Path) -> list[Measured]:
    """Everything, by whom the options say."""
    with options.spread() as spread:
        return measure(options.settings, options.seed, folder, spread)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    options = parse_options(Options, __doc__.partition("\n")[0], argv)
    name = options.name or default_name("benchmark-quick" if options.quick else "benchmark")
    config = run_or_exit(lambda: {"seed": options.seed, "settings": list(map(config_of, options.settings))})
    folder = run_or_exit(lambda: open_run(name, config, options.resume))
    results = run_or_exit(lambda: measured(options, folder), f"--name {name} --resume goes on")
    out = options.out or (PUBLISHED if is_usual(options) else folder)
    command = (folder / "command.txt").read_text(encoding="utf-8").strip()
    out.mkdir(parents=True, exist_ok=True)
    text = report(results, options.seed, options.quick, minutes_of(folder), command, out)
    write_text(out / "benchmark.md", text)
    print(f"report: {out / 'benchmark.md'}")


if __name__ == "__main__":
    main()
