"""Intervals over deals: Student's t, honest where every deal said the same, never NaN.

One deal with all of its games is one observation.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

Floats = npt.NDArray[np.float64]
CONFIDENCE = 0.95


def ratio(numerator: Floats, denominator: Floats) -> tuple[float, float]:
    """Sum over sum of per-deal figures (D,), and half the width of its 95 % interval, deals being independent.

    For a linearised ratio (Cochran 1977, 6.3), right also where deals count unequally many games, and Student's t.
    One deal tells nothing of the spread: the half-width is infinite. Without any deal both are NaN.
    """
    whole = float(denominator.sum())
    if whole == 0:
        return float("nan"), float("nan")
    value = float(numerator.sum()) / whole
    deals = int((denominator > 0).sum())
    if deals < 2:
        return value, float("inf")
    spread = float(((numerator - value * denominator) ** 2).sum())
    error = float(np.sqrt(spread * deals / (deals - 1))) / whole
    return value, float(student.ppf((1 + CONFIDENCE) / 2, deals - 1)) * error


def share_ratio(numerator: Floats, denominator: Floats) -> tuple[float, float]:
    """:func:`ratio` of a share, its half-width at most 1.

    Where every deal gave the same share, the exact bound of that: what is seen in all of n deals holds for fewer than
    ``1 - 0.05 ** (1 / n)`` of them otherwise.
    """
    value, half = ratio(numerator, denominator)
    deals = int((denominator > 0).sum())
    if half == 0 or value in (0.0, 1.0):
        half = 1 - (1 - CONFIDENCE) ** (1 / deals)
    return value, min(half, 1.0) if deals else half
