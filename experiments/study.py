"""What the studies share: estimates with intervals over deals, tables, figures, reports, and two processes at work.

One deal with all of its games is one observation. A family of comparisons is judged by intervals that hold for all of
them at once (Bonferroni): only what lies outside these is claimed.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
import pandas as pd
from rich.progress import Progress
from scipy import stats

from llama_envs.core.batch import policy_streams
from llama_envs.core.files import write_atomically
from llama_envs.core.game import Game
from llama_envs.core.runs import versions
from llama_envs.evaluation.workers import workers
from llama_envs.policies import Policy, make_policy

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

CONFIDENCE = 0.95
FEWEST_DEALS = 10  # with fewer, chance agreement passes for precision

Floats = npt.NDArray[np.float64]
Seeds = npt.NDArray[np.uint64]
Arrays = dict[str, npt.NDArray[Any]]

# ----------------------------------------------------------------------------------------------------------- estimates


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A number found from deals.

    Attributes:
        mean: the number.
        error: its standard error, one deal being one observation.
        deals: how many deals say something about it.
    """

    mean: float
    error: float
    deals: int

    def half(self, comparisons: int = 1) -> float:
        """Half the width of the 95 % t interval; with ``comparisons``, of intervals that hold for so many at once."""
        if self.deals < 2:
            return float("nan")
        return float(stats.t.ppf(1 - (1 - CONFIDENCE) / (2 * comparisons), self.deals - 1) * self.error)

    def side(self, of: float, comparisons: int = 1) -> int:
        """1 or -1 where the interval lies wholly above or below ``of``, else 0; few deals decide nothing."""
        half = self.half(comparisons)
        if np.isnan(half) or self.deals < FEWEST_DEALS:
            return 0
        return int(self.mean - half > of) - int(self.mean + half < of)

    def text(self, digits: int = 1, scale: float = 1.0) -> str:
        """``12.3 ± 0.4``: the number and half its 95 % interval, both times ``scale``."""
        if not self.deals:
            return "–"
        mean = round(self.mean * scale, digits) + 0.0  # never "-0.0"
        return f"{mean:.{digits}f} ± {self.half() * scale:.{digits}f}"

    def times(self, factor: float) -> Estimate:
        """The number in other units."""
        return Estimate(self.mean * factor, self.error * abs(factor), self.deals)

    def columns(self, name: str, comparisons: int = 1) -> dict[str, float]:
        """For a table: the number, half its 95 % interval and half the one that holds for all comparisons at once."""
        family = {f"{name}_95_family": self.half(comparisons)} if comparisons > 1 else {}
        return {name: self.mean, f"{name}_95": self.half(), **family}


def over_deals(values: npt.ArrayLike) -> Estimate:
    """The mean of ``values`` (deals, ...): every deal counts by its own mean; NaN entries say nothing."""
    array = np.asarray(values, np.float64)
    table = array.reshape(len(array), -1)
    known = ~np.isnan(table)
    table, known = table[known.any(axis=1)], known[known.any(axis=1)]
    if not len(table):
        return Estimate(float("nan"), float("nan"), 0)
    means = np.where(known, table, 0.0).sum(axis=1) / known.sum(axis=1)
    error = means.std(ddof=1) / np.sqrt(len(means)) if len(means) > 1 else float("nan")
    return Estimate(float(means.mean()), float(error), len(means))


def ratio(part: npt.ArrayLike, whole: npt.ArrayLike) -> Estimate:
    """The sum of ``part`` (deals,) over the sum of ``whole`` (deals,), its error linearised (Cochran 1977, 6.4)."""
    parts, wholes = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    counted = wholes > 0
    parts, wholes = parts[counted], wholes[counted]
    deals = len(wholes)
    if not deals:
        return Estimate(float("nan"), float("nan"), 0)
    mean = parts.sum() / wholes.sum()
    if deals < 2:
        return Estimate(float(mean), float("nan"), deals)
    residual = parts - mean * wholes
    error = np.sqrt(deals / (deals - 1) * (residual**2).sum()) / wholes.sum()
    return Estimate(float(mean), float(error), deals)


def pooled(values: npt.ArrayLike) -> Estimate:
    """The mean of all ``values`` (deals, ...) that are not NaN, each counting alike; a deal is one observation."""
    table = np.asarray(values, np.float64).reshape(len(np.asarray(values)), -1)
    return ratio(np.nansum(table, axis=1), (~np.isnan(table)).sum(axis=1))


def gap(part: npt.ArrayLike, whole: npt.ArrayLike, part_2: npt.ArrayLike, whole_2: npt.ArrayLike) -> Estimate:
    """The ratio of ``part`` to ``whole`` less that of ``part_2`` to ``whole_2``, all (deals,) of the same deals."""
    deals = len(np.asarray(part))
    residual, difference = np.zeros(deals), 0.0
    for sign, above, below in ((1, part, whole), (-1, part_2, whole_2)):
        parts, wholes = np.asarray(above, np.float64), np.asarray(below, np.float64)
        mean = parts.sum() / wholes.sum() if wholes.sum() else np.nan
        difference += sign * mean
        residual += sign * (parts - mean * wholes) / (wholes.sum() or np.nan)
    error = np.sqrt(deals / (deals - 1) * (residual**2).sum()) if deals > 1 else float("nan")
    return Estimate(float(difference), float(error), deals)


def spread(values: npt.ArrayLike) -> Estimate:
    """The standard deviation of all ``values`` (deals, ...), its error by the delta method; NaN entries say nothing."""
    array = np.asarray(values, np.float64)
    table = array.reshape(len(array), -1)
    squares = (table - np.nanmean(table)) ** 2
    known = ~np.isnan(squares)
    variance = ratio(np.where(known, squares, 0.0).sum(axis=1), known.sum(axis=1))
    deviation = float(np.sqrt(variance.mean))
    return Estimate(deviation, variance.error / (2 * deviation) if deviation else float("nan"), variance.deals)


def split_seed(seed: int, deals: int) -> Seeds:
    """One seed for each deal, (deals,) uint64; the first ones do not depend on how many are asked for."""
    return np.random.SeedSequence(seed).generate_state(deals, np.uint64).astype(np.uint64, copy=False)


# ------------------------------------------------------------------------------------------------------------- playing


@cache
def policy_of(name: str, game: Game) -> Policy:
    """A policy by its name, built once in a process."""
    return make_policy(name, game)


def seat_streams(seeds: Seeds, players: int) -> npt.NDArray[np.uint64]:
    """A random stream for each game and seat, (N, P) uint64."""
    return np.stack([policy_streams(len(seeds), seeds, lane) for lane in range(players)], axis=1)


# ------------------------------------------------------------------------------------------------------------- at work


def _call(job: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    function, arguments = job
    return function(*arguments)


class Workers:
    """Processes that work on parts of a study, one thread each; with one, this process does the work itself.

    Results do not depend on how many there are. They know the policies that were registered before they started.

    Args:
        processes: how many.
        quiet: show no progress bar.
    """

    def __init__(self, processes: int, quiet: bool = False) -> None:
        self.processes, self.quiet = processes, quiet
        self._open = ExitStack()

    def __enter__(self) -> Workers:
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(1)
        self._spread = self._open.enter_context(workers(self.processes))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)

    def map(self, function: Callable[..., Any], jobs: Sequence[tuple[Any, ...]], title: str) -> list[Any]:
        """``function(*job)`` for every job, in their order."""
        results = []
        with Progress(transient=True, disable=self.quiet) as progress:
            task = progress.add_task(title, total=len(jobs))
            for result in self._spread(_call, [(function, job) for job in jobs]):
                results.append(result)
                progress.advance(task)
        return results

    def by_deals(
        self,
        function: Callable[..., Arrays],
        arms: Mapping[Any, tuple[Any, ...]],
        seeds: Mapping[Any, Seeds],
        deals_at_once: int,
        title: str,
    ) -> dict[Any, Arrays]:
        """``function(*arm, seeds)`` for every arm, some of its deals at a time; its arrays have a row for each deal.

        The parts depend on ``deals_at_once`` alone, so that policies meet the same rows together whoever does the work.
        """
        jobs, owners = [], []
        for name, arm in arms.items():
            for first in range(0, len(seeds[name]), deals_at_once):
                jobs.append((*arm, seeds[name][first : first + deals_at_once]))
                owners.append(name)
        parts: dict[Any, list[Arrays]] = {name: [] for name in arms}
        for name, result in zip(owners, self.map(function, jobs, title), strict=True):
            parts[name].append(result)
        return {
            name: {key: np.concatenate([part[key] for part in found]) for key in found[0]}
            for name, found in parts.items()
        }


# ------------------------------------------------------------------------------------------------------------- reports


@dataclasses.dataclass
class Part:
    """One question of a study and what was found.

    Attributes:
        title: of the section.
        question: one paragraph.
        how: what was played, one paragraph.
        findings: sentences that the intervals decide.
        table: texts.
        figure: name of a PNG file.
        data: names of CSV files.
    """

    title: str
    question: str
    how: str
    findings: list[str]
    table: pd.DataFrame
    figure: str
    data: list[str]

    def text(self, command: str) -> str:
        """The section as Markdown; ``command`` makes its numbers again."""
        csv = ", ".join(f"[{file}]({file})" for file in self.data)
        return "\n\n".join(
            [
                f"## {self.title}",
                f"**Question.** {prose(self.question)}",
                "**Findings.**",
                "\n".join(f"- {prose(finding)}" for finding in self.findings),
                f"![{self.title}]({self.figure})",
                f"**What was played.** {prose(self.how)}",
                markdown_table(self.table),
                f"Reproduce: `{command}`. Numbers: {csv}.",
            ]
        )


RULES_OF_REPORTING = """Every number comes with ± half of its 95 % interval. A deal with all of its games is one
    observation; the arms of a comparison play the same deals from the same seats. *Surely* stands for intervals that
    hold for a whole family of comparisons at once (Bonferroni); what is not said to be sure may be chance. A CSV column
    `…_95` is half a 95 % interval, `…_95_family` half one that holds for the family."""


def library_versions() -> str:
    """What the numbers depend on, in one line."""
    return ", ".join(f"{name} {version}" for name, version in versions().items() if name != "platform") + "."


def prose(text: str) -> str:
    """One paragraph, on one line."""
    return " ".join(text.split())


def markdown_table(frame: pd.DataFrame) -> str:
    """``frame`` (texts) as a Markdown table without its index."""
    names = [str(name) for name in frame.columns]
    lines = ["| " + " | ".join(names) + " |", "|---" * len(names) + "|"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in frame.itertuples(index=False)]
    return "\n".join(lines)


def bold(text: str, sure: int) -> str:
    """``text``, bold if it is sure."""
    return f"**{text}**" if sure else text


def listed(items: Iterable[str]) -> str:
    """``a, b and c``."""
    words = list(items)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "none"


def save_table(frame: pd.DataFrame, path: Path) -> None:
    """``frame`` as CSV, six significant digits."""
    write_atomically(path, lambda temporary: frame.to_csv(temporary, index=False, float_format="%.6g"))


def save_figure(figure: Figure, path: Path) -> None:
    """``figure`` as PNG; closes it."""
    write_atomically(path, lambda temporary: figure.savefig(temporary, dpi=110))
    plt.close(figure)


def panels(count: int, width: float = 4.6, height: float = 3.9, rows: int = 1, **options: Any) -> tuple[Figure, Any]:
    """A figure with ``count`` axes in ``rows``, as a flat array; width and height of each in inches."""
    columns = count // rows
    size = (width * columns, height * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, constrained_layout=True, squeeze=False, **options)
    for axis in axes.flat:
        axis.grid(alpha=0.3)
    return figure, axes.ravel()


def draw(axis: Any, places: npt.ArrayLike, estimates: Sequence[Estimate], scale: float = 1.0, **options: Any) -> None:
    """Points with their 95 % intervals."""
    means = [estimate.mean * scale for estimate in estimates]
    halves = [estimate.half() * scale for estimate in estimates]
    options = {"marker": "o", "markersize": 4, "capsize": 2, "linewidth": 1.2, **options}
    axis.errorbar(places, means, yerr=halves, **options)


def legend(axis: Any, title: str = "") -> None:
    """A small legend, if anything was drawn that has a label."""
    if axis.get_legend_handles_labels()[1]:
        axis.legend(fontsize=8, title=title or None, title_fontsize=8)
