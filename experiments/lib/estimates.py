"""Estimates from deals, each one observation with all of its games; arrays have a row for each deal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from llama_envs.evaluation.intervals import Estimate, estimate

NOTHING = Estimate(float("nan"), float("nan"), 0)


def over_deals(values: npt.ArrayLike, share: bool = False) -> Estimate:
    """The mean of ``values`` (deals, ...): every deal counts by its own mean; NaN entries say nothing."""
    table = np.asarray(values, np.float64).reshape(len(np.asarray(values)), -1)
    known = (~np.isnan(table)).sum(axis=1)
    return estimate(np.nansum(table, axis=1) / np.maximum(known, 1), known > 0, share)


def pooled(values: npt.ArrayLike) -> Estimate:
    """The mean of all ``values`` (deals, ...) that are not NaN, each counting alike."""
    table = np.asarray(values, np.float64).reshape(len(np.asarray(values)), -1)
    return estimate(np.nansum(table, axis=1), (~np.isnan(table)).sum(axis=1))


def gap(part: npt.ArrayLike, whole: npt.ArrayLike, part_2: npt.ArrayLike, whole_2: npt.ArrayLike) -> Estimate:
    """The ratio of ``part`` to ``whole`` less that of ``part_2`` to ``whole_2``, all (deals,) of the same deals."""
    deals = len(np.asarray(part))
    residual, difference = np.zeros(deals), 0.0
    for sign, above, below in ((1, part, whole), (-1, part_2, whole_2)):
        parts, wholes = np.asarray(above, np.float64), np.asarray(below, np.float64)
        if not wholes.sum():
            return NOTHING
        mean = parts.sum() / wholes.sum()
        difference += sign * mean
        residual += sign * (parts - mean * wholes) / wholes.sum()
    error = np.sqrt(deals / (deals - 1) * (residual**2).sum()) if deals > 1 else float("inf")
    return Estimate(float(difference), float(error), deals)


def spread(values: npt.ArrayLike) -> Estimate:
    """The standard deviation of all ``values`` (deals, ...), its error by the delta method; NaN entries say nothing."""
    table = np.asarray(values, np.float64).reshape(len(np.asarray(values)), -1)
    known = ~np.isnan(table)
    if not known.any():
        return NOTHING
    squares = np.where(known, (table - np.nanmean(table)) ** 2, 0.0)
    variance = estimate(squares.sum(axis=1), known.sum(axis=1))
    deviation = float(np.sqrt(variance.mean))
    return Estimate(deviation, variance.error / (2 * deviation) if deviation else variance.error, variance.deals)


def frame(names: str, comparisons: int = 1, /, **numbers: Mapping[Any, Estimate]) -> pd.DataFrame:
    """A table with a row for each key of the first of ``numbers``, unless no deal says anything of it.

    Args:
        names: of the columns for the parts of the keys.
        comparisons: how many intervals are to hold at once, in the columns ``…_95_family``.
        numbers: columns of numbers with their intervals, by their names; the deals are those of the first.
    """
    first = next(iter(numbers.values()))
    return pd.DataFrame(
        dict(zip(names.split(), key, strict=True)) | {"deals": number.deals}
        | {k: value for name, of in numbers.items() for k, value in of[key].columns(name, comparisons).items()}
        for key, number in first.items()
        if number.deals
    )  # fmt: skip


def cell(number: Estimate, of: float, comparisons: int, digits: int = 1, scale: float = 1.0) -> str:
    """A number with its interval, bold if it surely is not ``of``."""
    text = number.text(digits, scale)
    return f"**{text}**" if number.side(of, comparisons) else text
