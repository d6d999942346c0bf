"""The numbers that each game must reach in ``experiments.throughput``; they stand in ``targets.toml``."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]


@dataclass(frozen=True)
class Target:
    """What one game must reach; rates are decisions per second.

    Attributes:
        step: steps of a batch of 1024 games or more.
        playouts: random play inside a kernel.
        raw_env, env: PettingZoo's loop over the AEC environment without and with its wrappers.
        against_heuristics: a learner's steps among heuristics, as a part of those among random players.
        most_instructions: instructions of a decision at most, in a "step" and in a "playout".
        over: multiples of peers, for the game that is compared with them.
    """

    step: float
    playouts: float
    raw_env: float
    env: float
    against_heuristics: float
    most_instructions: dict[str, int]
    over: dict[str, float] = field(default_factory=dict)


def load_targets() -> dict[str, Target]:
    """The targets of each game, by its name."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return {name: Target(**values) for name, values in tomllib.loads(text).items()}


TARGETS = load_targets()
COMPARED = next(name for name, target in TARGETS.items() if target.over)  # the game that is compared with the peers
