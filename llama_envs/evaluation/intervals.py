"""Intervals over deals: Student's t, honest where every deal said the same, never NaN.

One deal with all of its games is one observation.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

Floats = npt.NDArray[np.float64]
CONFIDENCE = 0.95
EXACT = 1e-12  # relative; what remains of equal figures after rounding
FEWEST_DEALS = 10  # with fewer, chance agreement passes for precision
UNBOUNDED = "± ∞"
UNBOUNDED_NOTE = (
    f"{UNBOUNDED}: these games give no bound, for a single deal was played, or a policy won nothing or everything."
)


def plus_minus(mean: float, half: float, digits: int = 3) -> str:
    """``mean ± half``; a dash where there is nothing to tell."""
    if np.isnan(mean):
        return "–"
    width = "" if np.isnan(half) else f" {UNBOUNDED}" if np.isinf(half) else f" ± {half:.{digits}f}"
    return f"{round(mean, digits) + 0.0:.{digits}f}{width}"  # never -0


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A number found from deals.

    Attributes:
        mean: the number; NaN if no deal says anything of it.
        error: its standard error, one deal being one observation; infinite for a single deal.
        deals: how many deals say something of it.
        share: it is a share, from 0 to 1.
    """

    mean: float
    error: float
    deals: int
    share: bool = False

    def half(self, comparisons: int = 1) -> float:
        """Half the width of the 95 % t interval; with ``comparisons``, of intervals that hold for so many at once.

        A single deal tells nothing of the spread: infinite, for a share 1. Where every deal gave the same share, or all
        or nothing, the exact bound of that: what is seen in all of n deals holds for fewer than ``1 - 0.05 ** (1 / n)``
        of them otherwise. NaN without any deal.
        """
        if not self.deals:
            return float("nan")
        chance = (1 - CONFIDENCE) / comparisons  # Bonferroni
        width = self.error
        if self.deals > 1:
            width *= float(student.ppf(1 - chance / 2, self.deals - 1))
        if self.share and (width == 0 or self.mean in (0.0, 1.0)):
            width = 1 - chance ** (1 / self.deals)
        return min(width, 1.0) if self.share else width

    def side(self, of: float, comparisons: int = 1) -> int:
        """1 or -1 where the interval lies wholly above or below ``of``, else 0; few deals decide nothing."""
        if self.deals < FEWEST_DEALS:
            return 0
        half = self.half(comparisons)
        return int(self.mean - half > of) - int(self.mean + half < of)

    def text(self, digits: int = 1, scale: float = 1.0) -> str:
        """``12.3 ± 0.4``, both times ``scale``; says where there is no interval, or every deal gave the same."""
        mean = plus_minus(self.mean * scale, float("nan"), digits)
        if not self.deals:
            return mean
        if self.deals == 1:
            return f"{mean} (one deal, no interval)"
        if self.error == 0 and not self.share:
            return f"always {mean}"
        return plus_minus(self.mean * scale, self.half() * scale, digits)

    def times(self, factor: float) -> Estimate:
        """The number in other units."""
        return Estimate(self.mean * factor, self.error * abs(factor), self.deals)

    def columns(self, name: str, comparisons: int = 1) -> dict[str, float]:
        """For a table: the number, half its 95 % interval and half the one that holds for all comparisons at once."""
        family = {f"{name}_95_family": self.half(comparisons)} if comparisons > 1 else {}
        return {name: self.mean, f"{name}_95": self.half(), **family}


def estimate(numerator: npt.ArrayLike, denominator: npt.ArrayLike, share: bool = False) -> Estimate:
    """Sum over sum of per-deal figures (D,), deals being independent: a linearised ratio (Cochran 1977, 6.3).

    Right also where deals count unequally much. Deals whose denominator is 0 say nothing.
    """
    part, whole = np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    part, whole = part[whole > 0], whole[whole > 0]
    deals = len(whole)
    if not deals:
        return Estimate(float("nan"), float("nan"), 0, share)
    mean = float(part.sum() / whole.sum())
    if deals < 2:
        return Estimate(mean, float("inf"), deals, share)
    squares = float(((part - mean * whole) ** 2).sum())
    error = float(np.sqrt(squares * deals / (deals - 1)) / whole.sum())
    return Estimate(mean, error if error > EXACT * max(abs(mean), 1) else 0.0, deals, share)


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> tuple[float, float]:
    """:func:`estimate`, and half the width of its 95 % interval: infinite for one deal, both NaN without any."""
    found = estimate(numerator, denominator)
    return found.mean, found.half()


def mean_of(values: npt.ArrayLike) -> tuple[float, float]:
    """Mean of independent figures (n,), such as one for each seed, and half the width of its 95 % interval.

    Student's t; infinite for a single figure.
    """
    array = np.asarray(values, np.float64)
    return ratio(array, np.ones(len(array)))


def share_ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> tuple[float, float]:
    """:func:`ratio` of a share, its half-width at most 1 and never 0."""
    found = estimate(numerator, denominator, share=True)
    return found.mean, found.half()
