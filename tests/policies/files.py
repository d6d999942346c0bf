"""Policy files of random networks; no test in here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from llama_envs.core.game import Game
from llama_envs.policies.network import Arrays, describe, write_policy


def random_arrays(
    game: Game,
    layers: Sequence[int] = (24, 16),
    inputs: Sequence[str] = ("observation",),
    parts: Sequence[str] = ("policy", "value"),
    statistics: bool = False,
    seed: int = 0,
) -> Arrays:
    """The arrays of networks with random weights, large enough that actions are no longer near uniform."""
    rng = np.random.default_rng(seed)
    sizes = {"observation": game.observation.size, "action_mask": game.num_actions}
    read = sum(sizes[name] for name in inputs)
    arrays = {}
    for part in parts:
        widths = [read, *layers, game.num_actions if part == "policy" else 1]
        for number, (into, out) in enumerate(pairwise(widths)):
            arrays[f"{part}.{number}.weight"] = rng.normal(0, 2 / np.sqrt(into), (out, into)).astype(np.float32)
            arrays[f"{part}.{number}.bias"] = rng.normal(0, 0.5, out).astype(np.float32)
    if statistics:
        arrays["observation.mean"] = rng.random(read).astype(np.float32) / 4
        arrays["observation.deviation"] = (rng.random(read) / 4 + 0.1).astype(np.float32)
    return arrays


def write_random(
    path: Path,
    game: Game,
    activation: str = "tanh",
    trained: Sequence[str] = ("policy", "value"),
    inputs: Sequence[str] = ("observation",),
    layers: Sequence[int] = (24, 16),
    statistics: bool = False,
    seed: int = 0,
) -> Arrays:
    """A policy file of random networks; returns its arrays."""
    arrays = random_arrays(game, layers, inputs, trained, statistics, seed)
    write_policy(path, describe(game, inputs=inputs, activation=activation, trained=trained, made={"seed": 3}), arrays)
    return arrays
