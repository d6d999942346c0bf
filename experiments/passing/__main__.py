"""What to pass, whom to mind and what to give as a goal in Llama Llama: a study with its report.

    python -m experiments.passing_study            # some minutes: experiments/reports/passing/report.md, PNG, CSV
    python -m experiments.passing_study --quick    # under a minute, to runs/passing/quick
    python -m experiments.passing_study --deck my.toml --pass-counts 3 3 2 2 --policies my_module:Mine

Seats differ in what they do and in nothing else: the same deals, every seat in turn, the same luck. A deal is one
observation. A module for each group of questions; ``measure`` and ``play`` hold what they count and how they play,
``findings.md`` the text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from experiments.lib import report, study
from experiments.passing.care import care
from experiments.passing.decks import decks, variants_of
from experiments.passing.dummies import dummies
from experiments.passing.goals import goal, kinds
from experiments.passing.passes import passes
from llama_envs.core.validation import check_int
from llama_envs.policies import make_policy


@dataclasses.dataclass(frozen=True)
class Options(study.Options):
    """Study passing and goals in Llama Llama."""

    num_players: tuple[int, ...] = (2, 3, 4)
    """Numbers of players."""
    search: str = "mc:32"
    """The search agent; it plays the first round only."""
    search_deals: int = 400
    """Deals of the search agent."""
    decks: int = 20
    """Random decks."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("search_deals", self.search_deals, 2, 10_000_000)
        check_int("decks", self.decks, 2, 10_000)


def check(asked: study.Study) -> None:
    """ValueError unless the search agent and the random decks can be played."""
    asked.labels[asked.options.search] = "search agent"
    for players in asked.options.num_players:
        make_policy(asked.options.search, asked.game(players))
        if not asked.options.only or "decks" in asked.options.only:
            variants_of(asked, players)


SUBJECT = study.Subject(
    name="passing",
    game="llama_llama",
    options=Options,
    parts={"passes": passes, "care": care, "goal": goal, "kinds": kinds, "dummies": dummies, "decks": decks},
    quick={"deals": 300, "search": "mc:4", "search_deals": 10, "decks": 3},
    at_once=512,
    labels={
        "random": "random",
        "switched:now": "greedy now",
        "heuristic:0": "careless heuristic",
        "heuristic": "heuristic",
        "baseline": "trained agent",
    },
    check=check,
)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    report.main(SUBJECT, argv)


if __name__ == "__main__":
    main()
