"""How much a search may do for one decision: a number of worlds or iterations, or a time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

MOST = 1_000_000  # worlds or iterations
LONGEST = 3_600_000.0  # milliseconds
_TIME = re.compile(r"(\d+(?:\.\d+)?)ms", re.ASCII)
_NUMBER = re.compile(r"\d+", re.ASCII)


@dataclass(frozen=True)
class Budget:
    """What one decision may cost.

    Attributes:
        count: so many worlds or iterations, or None to go by the clock.
        seconds: of wall time; how far a search comes in it differs from run to run.
    """

    count: int | None = None
    seconds: float = 0.0

    def spend(self, work: Callable[[int], bool | None]) -> int:
        """Call ``work(n)`` for n worlds or iterations at a time until the budget is used; returns how many, at least 1.

        By the clock, the first call does one and each next at most as many as all before, by the speed so far. Work
        that returns False wants no more.
        """
        if self.count is not None:
            work(self.count)
            return self.count
        started = time.perf_counter()
        done = 0
        affordable = 1
        while affordable >= 1 and done < MOST:
            now = min(affordable, max(done, 1), MOST - done)
            goes_on = work(now)
            done += now
            if goes_on is False:
                break
            used = time.perf_counter() - started
            affordable = int((self.seconds - used) / used * done)
        return done


def parse_budget(text: str, noun: str, usage: str) -> Budget:
    """The budget that ``text`` says: ``400``, or ``5ms``.

    Raises:
        ValueError: anything else.
    """
    number, milliseconds = _NUMBER.fullmatch(text), _TIME.fullmatch(text)
    if number and 1 <= int(text) <= MOST:
        return Budget(count=int(text))
    if milliseconds and 0 < float(milliseconds[1]) <= LONGEST:
        return Budget(seconds=float(milliseconds[1]) / 1000)
    raise ValueError(
        f"the {noun} in '{usage}' must be an integer from 1 to {MOST}, or a time of up to {LONGEST:.0f} ms "
        f"written like 5ms, got {text!r}."
    )
