"""Figures of estimates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt

from llama_envs.evaluation.intervals import Estimate

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

FEWEST_DRAWN = 20  # deals behind a point


def panels(count: int, width: float = 4.6, height: float = 3.9, rows: int = 1, **options: Any) -> tuple[Figure, Any]:
    """A figure with ``count`` axes in ``rows``, as a flat array; width and height of each in inches."""
    columns = count // rows
    size = (width * columns, height * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, constrained_layout=True, squeeze=False, **options)
    for axis in axes.flat:
        axis.grid(alpha=0.3)
    return figure, axes.ravel()


def draw(axis: Any, places: npt.ArrayLike, estimates: Sequence[Estimate], scale: float = 1.0, **options: Any) -> None:
    """Points with their 95 % intervals, without those that few deals say something of."""
    kept = [pair for pair in zip(np.asarray(places), estimates, strict=True) if pair[1].deals >= FEWEST_DRAWN]
    if kept:
        means = [estimate.mean * scale for _, estimate in kept]
        halves = [estimate.half() * scale for _, estimate in kept]
        options = {"marker": "o", "markersize": 4, "capsize": 2, "linewidth": 1.2, **options}
        axis.errorbar([place for place, _ in kept], means, yerr=halves, **options)


def label(axis: Any, title: str, x: str, y: str = "", level: float | None = None) -> None:
    """Title and axes; a dotted line at ``level``."""
    axis.set_title(title)
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    if level is not None:
        axis.axhline(level, color="0.4", linestyle=":", linewidth=1)


def legend(axis: Any, title: str = "") -> None:
    """A small legend, if anything was drawn that has a label."""
    if axis.get_legend_handles_labels()[1]:
        axis.legend(fontsize=8, title=title or None, title_fontsize=8)
