"""When to quit a round of L.L.A.M.A., what a returned chip is worth, and where to sit: a study with its report.

    python -m experiments.quitting_study            # some minutes: experiments/reports/quitting/report.md, PNG, CSV
    python -m experiments.quitting_study --quick    # under a minute, to runs/quitting/quick
    python -m experiments.quitting_study --target-score 20 --policies my_module:Mine

A position is played on twice, once after quitting and once after drawing, with the same luck; only what follows
differs. A deal is one observation. A module for each group of questions; ``play`` holds how they play, ``findings.md``
the text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from experiments.lib import report, study
from experiments.quitting.positions import chip, early, quitting
from experiments.quitting.whole_games import seats, threshold


@dataclasses.dataclass(frozen=True)
class Options(study.Options):
    """Study quitting, chips and seats in L.L.A.M.A."""

    num_players: tuple[int, ...] = (2, 3, 4, 6)
    """Numbers of players."""


def check(asked: study.Study) -> None:
    """ValueError if a part has nothing to ask under these rules."""
    rules = asked.rules
    why = "chip_return = 'auto'" if rules.chip_return == "auto" else "max_rounds = 1" if rules.max_rounds == 1 else ""
    if why and (not asked.options.only or "chip" in asked.options.only):
        rest = " ".join(name for name in SUBJECT.parts if name != "chip")
        raise ValueError(f"{why} leaves the part 'chip' nothing to ask; --only {rest} can be asked.")


SUBJECT = study.Subject(
    name="quitting",
    game="lama",
    options=Options,
    parts={"quit": quitting, "threshold": threshold, "early": early, "chip": chip, "seats": seats},
    quick={"deals": 200},
    at_once=256,
    labels={"random": "random", "heuristic": "heuristic", "baseline": "trained agent"},
    check=check,
)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    report.main(SUBJECT, argv)


if __name__ == "__main__":
    main()
