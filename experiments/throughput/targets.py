"""The numbers that each game must reach in ``experiments.throughput``."""

from __future__ import annotations

from dataclasses import dataclass, field

from experiments.lib.measured import measured


@dataclass(frozen=True)
class Target:
    """What one game must reach; the file in its package says what each number is."""

    step: float
    playouts: float
    raw_env: float
    env: float
    against_heuristics: float
    most_instructions: dict[str, int]
    over: dict[str, float] = field(default_factory=dict)


TARGETS = {name: Target(**values) for name, values in measured("throughput").items()}
COMPARED = next(name for name, target in TARGETS.items() if target.over)  # the game that is compared with the peers
