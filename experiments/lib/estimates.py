"""Estimates from deals, each one observation with all of its games; arrays have a row for each deal."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

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
