"""The observation vector as named slices: where each piece lies, what it means, and how to read it back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from llama_envs.core.markdown import markdown_table


def offsets_dtype(*names: str) -> np.dtype[np.void]:
    """The record of where each slice of an observation begins, a field of the record ``params`` of a game.

    Offsets are unsigned: a kernel that adds an unsigned index to one needs no test for counting from the end.
    """
    return np.dtype([(name, np.uint64) for name in names])


@dataclass(frozen=True)
class Slice:
    """One named piece: ``shape`` values, each an integer quantity divided by ``scale`` and never above 1.

    A quantity that could exceed its scale is clipped there (the meaning then says "at most").
    """

    name: str
    shape: tuple[int, ...]
    scale: float
    meaning: str
    start: int = 0

    @property
    def size(self) -> int:
        """Number of values."""
        return prod(self.shape)

    @property
    def stop(self) -> int:
        """Offset of the first value after this slice."""
        return self.start + self.size


class Observation(Mapping[str, Slice]):
    """The layout of one seat's observation: an ordered mapping from name to :class:`Slice`.

    ``observation["hand"].start`` is an offset, ``observation.view(x, "hand")`` the piece of ``x``, (..., *shape),
    ``observation.decode(x)`` all pieces in their natural units.
    """

    def __init__(self, slices: Sequence[Slice]) -> None:
        placed: dict[str, Slice] = {}
        start = 0
        for piece in slices:
            if piece.name in placed:
                raise ValueError(f"observation slice {piece.name!r} is listed twice.")
            placed[piece.name] = Slice(piece.name, piece.shape, piece.scale, piece.meaning, start)
            start += piece.size
        self._slices = placed
        self.size = start

    def __getitem__(self, name: str) -> Slice:
        return self._slices[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._slices)

    def __len__(self) -> int:
        return len(self._slices)

    def offsets(self, dtype: np.dtype[np.void]) -> np.ndarray[Any, np.dtype[np.void]]:
        """Where each slice begins, as one record of ``dtype`` (:func:`offsets_dtype`).

        Raises:
            ValueError: the names in ``dtype`` are not those of this layout.
        """
        if set(dtype.names or ()) != set(self):
            raise ValueError(f"offsets for {', '.join(dtype.names or ())} do not fit the slices {', '.join(self)}.")
        record = np.zeros((), dtype)
        for name, piece in self.items():
            record[name] = piece.start
        return record

    def view(self, vector: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
        """The piece ``name`` of ``vector`` (..., size) as a view of shape (..., *shape), still scaled."""
        piece = self._slices[name]
        return vector[..., piece.start : piece.stop].reshape(*vector.shape[:-1], *piece.shape)

    def decode(self, vector: npt.ArrayLike) -> dict[str, npt.NDArray[np.int64]]:
        """Every piece of ``vector`` (..., size) in natural units: name -> int64 array (..., *shape).

        Raises:
            ValueError: the last axis of ``vector`` is not ``size`` long.
        """
        array = np.asarray(vector)
        if array.shape[-1:] != (self.size,):
            raise ValueError(f"an observation of this game has {self.size} values, got shape {array.shape}.")
        return {
            name: np.rint(self.view(array, name) * piece.scale).astype(np.int64) for name, piece in self._slices.items()
        }

    def table(self) -> str:
        """The layout as a Markdown table (the game's README holds it; CI fails when the two differ)."""
        rows = [
            (piece.start, f"`{piece.name}`", " × ".join(map(str, piece.shape)), f"{piece.scale:g}", piece.meaning)
            for piece in self._slices.values()
        ]
        return markdown_table(("offset", "name", "shape", "divided by", "meaning"), rows)
