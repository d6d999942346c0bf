"""Observations with mean 0 and standard deviation 1: the first step of a trained network.

An observation holds counts divided by what they can be at most, so most of its entries are small; a network learns
several times faster from standardised ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

SMALLEST = 0.02  # no entry is magnified more than fifty times


class Standardise(BaseFeaturesExtractor):
    """SB3 features extractor: ``(observation - mean) / deviation``, both constants that are saved with the weights.

    Args:
        observation_space: Box of shape (D,).
        mean: (D,) numbers.
        deviation: (D,) numbers above 0.
    """

    mean: torch.Tensor
    deviation: torch.Tensor

    def __init__(self, observation_space: Any, mean: Sequence[float], deviation: Sequence[float]) -> None:
        super().__init__(observation_space, features_dim=len(mean))
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float32))
        self.register_buffer("deviation", torch.tensor(deviation, dtype=torch.float32))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """(n, D) float32 to (n, D) float32."""
        return (observations - self.mean) / self.deviation


def moments(observations: npt.NDArray[np.float32]) -> dict[str, list[float]]:
    """The arguments of :class:`Standardise` from a sample of observations (n, D)."""
    deviation = np.maximum(observations.std(axis=0, dtype=np.float64), SMALLEST)
    return {"mean": observations.mean(axis=0, dtype=np.float64).tolist(), "deviation": deviation.tolist()}
