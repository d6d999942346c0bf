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
    """What one game must reach; ``targets.toml`` says what each number is."""

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
