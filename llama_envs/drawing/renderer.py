"""From the description of a table to its pictures, and a picture in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from llama_envs.core.validation import check_int
from llama_envs.drawing.raster import need_pillow, pixels
from llama_envs.drawing.shapes import Picture
from llama_envs.drawing.svg import svg

if TYPE_CHECKING:
    from llama_envs.core.batch import Batch
    from llama_envs.core.game import Game


class DrawnTable(ABC):
    """A renderer (:class:`~llama_envs.core.game.Renderer`) that describes its picture once, for pixels and for SVG."""

    @abstractmethod
    def text(self, game: Game, state: Any, seat: int | None) -> str:
        """A table for a terminal, seen by ``seat``, or with all cards open for None."""

    @abstractmethod
    def describe(self, game: Game, state: Any, seat: int | None, together: bool = False) -> Picture:
        """The same as a description of a picture; ``together`` as in :meth:`svg`."""

    def picture(self, game: Game, state: Any, seat: int | None) -> npt.NDArray[np.uint8]:
        """An RGB image, uint8 (height, width, 3), a new array; its size depends on ``num_players`` alone.

        Raises:
            ImportError: Pillow is not installed (``pip install llama-envs[render]``).
        """
        need_pillow()
        return pixels(self.describe(game, state, seat))

    def svg(self, game: Game, state: Any, seat: int | None, together: bool = False) -> str:
        """The picture as one SVG document, without Pillow.

        Its title is the game's, its description the text for ``seat``. What stands for an action that the viewer may
        choose is a group with ``class="card"`` or ``class="button"`` and the action's number as ``data-action``; with
        ``together``, an action that it may choose among its next ones
        (:meth:`~llama_envs.core.game.Game.choices_together`).
        """
        return svg(self.describe(game, state, seat, together), game.title, self.text(game, state, seat))


@dataclass(frozen=True)
class Shown:
    """A picture that a notebook shows; ``svg`` is the document."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg


def show(batch: Batch, index: int = 0, seat: int | None = None) -> Shown:
    """One game of a batch as a picture for a notebook, or with its document as ``.svg``.

    Args:
        batch: of any game; one that nobody has drawn is shown as text.
        index: which of its games.
        seat: show what this seat may see; None for everything.

    Raises:
        ValueError: there is no such game or seat.
    """
    check_int("index", index, 0, batch.num_games - 1)
    if seat is not None:
        check_int("seat", seat, 0, batch.game.num_players - 1)
    return Shown(batch.game.renderer.svg(batch.game, batch.state[index], seat))
