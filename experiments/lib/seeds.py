"""Seeds of the games of a run: no two runs of other seeds, and no two purposes of one run, share a stream."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt


class Purpose(IntEnum):
    """What games are drawn for. What is evaluated at the end uses the run's seed itself, as `evaluate --seed` does."""

    TRAINING = 1
    STANDARDISING = 2  # the sample from which the observation is standardised
    WATCHING = 3  # the evaluation during training
    SELECTION = 4  # among the candidates of a best response
    FINAL = 5  # what a best response gains
    LESSON = 6  # what a teacher looks at
    MINIBATCHES = 7  # of what it has seen
    RUNS = 8  # seeds of several runs of one command


def run_seeds(seed: int, purpose: Purpose, number: int) -> npt.NDArray[np.uint64]:
    """(number,) uint64: one seed for each game of a ``purpose`` in the run of ``seed``, from 0."""
    return np.random.SeedSequence(seed, spawn_key=(purpose,)).generate_state(number, np.uint64).astype(np.uint64)


def small_seed(seed: int) -> int:
    """For generators of libraries that take no more than 32 bits: initial weights and minibatches, never games."""
    return seed % 2**32


def run_seed(seed: int, purpose: Purpose) -> int:
    """One seed for all games of a ``purpose``, where whoever plays them tells them apart."""
    return int(run_seeds(seed, purpose, 1)[0])
