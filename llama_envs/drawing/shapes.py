"""What a picture is made of, whatever draws it: shapes, sprites (what is drawn often, as a card), and where they lie.

Lengths are pixels of the finished picture, x to the right and y downwards. :mod:`~llama_envs.drawing.raster` makes an
RGB array of a :class:`Picture`, :mod:`~llama_envs.drawing.svg` a document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

Color = tuple[int, int, int]
Point = tuple[float, float]
Points = tuple[Point, ...]

# --------------------------------------------------------------------------------------------------- parts of a sprite


class Box(NamedTuple):
    """A rectangle with round corners; the outline lies within it, and has an opacity of 0 to 255."""

    x0: float
    y0: float
    x1: float
    y1: float
    radius: float
    fill: Color | None
    outline: Color | None = None
    thickness: float = 0
    opacity: int = 255


class Ellipse(NamedTuple):
    """A filled ellipse in the box from (x0, y0) to (x1, y1)."""

    x0: float
    y0: float
    x1: float
    y1: float
    fill: Color


class Wedge(NamedTuple):
    """A slice of a disc in such a box, from one angle to another, in degrees clockwise from the right."""

    x0: float
    y0: float
    x1: float
    y1: float
    start: float
    end: float
    fill: Color


class Polygon(NamedTuple):
    """A filled polygon."""

    points: Points
    fill: Color


class Stroke(NamedTuple):
    """A line from point to point with round joints and ends."""

    points: Points
    width: float
    fill: Color


class Lines(NamedTuple):
    """Straight lines, each from one point to another."""

    segments: tuple[tuple[Point, Point], ...]
    width: float
    fill: Color


class Letters(NamedTuple):
    """A text on a base line, with a stroke of its color around each letter; ``align`` is "l", "m" or "r"."""

    x: float
    y: float
    text: str
    size: float
    fill: Color
    stroke: float
    align: str


class Drawing(NamedTuple):
    """An art, its unit square put on the square with this corner and side."""

    art: Art
    left: float
    top: float
    side: float


class Turned(NamedTuple):
    """Shapes, turned by half around the middle of the sprite."""

    shapes: tuple[Shape, ...]


class Clipped(NamedTuple):
    """What of some lines lies inside a box."""

    box: Box
    lines: Lines


Shape: TypeAlias = "Box | Ellipse | Wedge | Polygon | Stroke | Lines | Letters | Drawing | Turned | Clipped"


class Pen:
    """Describes an art: shapes in a unit square."""

    def __init__(self) -> None:
        self.shapes: list[Ellipse | Polygon | Stroke] = []

    def ellipse(self, x0: float, y0: float, x1: float, y1: float, fill: Color) -> None:
        """A filled ellipse in the box from (x0, y0) to (x1, y1)."""
        self.shapes.append(Ellipse(x0, y0, x1, y1, fill))

    def polygon(self, points: Sequence[Point], fill: Color) -> None:
        """A filled polygon."""
        self.shapes.append(Polygon(tuple(points), fill))

    def stroke(self, points: Sequence[Point], width: float, fill: Color) -> None:
        """A line with round joints and ends."""
        self.shapes.append(Stroke(tuple(points), width, fill))


Art = Callable[[Pen], None]
Symbol: TypeAlias = "str | Art"


@lru_cache(maxsize=64)
def shapes_of(art: Art) -> tuple[Ellipse | Polygon | Stroke, ...]:
    """What an art consists of, in a unit square."""
    pen = Pen()
    art(pen)
    return tuple(pen.shapes)


@dataclass(frozen=True, eq=False)
class Sprite:
    """Shapes, drawn one over the other, that a picture may show in many places; equal to itself alone.

    Attributes:
        width, height: pixels.
        shapes: within them.
        fade: a color, and how much of it (0 to 1) is mixed into every other one.
    """

    width: int
    height: int
    shapes: tuple[Shape, ...]
    fade: tuple[Color, float] | None = None


# -------------------------------------------------------------------------------------------------- parts of a picture


class Placed(NamedTuple):
    """A sprite with its top left corner at (x, y)."""

    x: int
    y: int
    sprite: Sprite


class Panel(NamedTuple):
    """A rounded rectangle, filled or only its outline."""

    x: int
    y: int
    width: int
    height: int
    radius: int
    fill: Color | None
    outline: Color | None
    thickness: int


class Words(NamedTuple):
    """One line of text that begins at ``x`` on the base line ``y`` and is ``width`` wide."""

    x: int
    y: float
    text: str
    size: int
    color: Color
    bold: bool
    width: float


class Choice(NamedTuple):
    """Parts that stand for an action that the viewer may choose; ``kind`` says what they look like."""

    action: int
    name: str
    kind: str
    parts: tuple[Part, ...]


Part: TypeAlias = "Placed | Panel | Words | Choice"


@dataclass(frozen=True)
class Picture:
    """A picture as it is described, each part drawn over those before it.

    Attributes:
        width, height: pixels.
        color: of the background.
        parts: what lies on it.
    """

    width: int
    height: int
    color: Color
    parts: tuple[Part, ...]


def mix(color: Color, other: Color, part: float) -> Color:
    """``color`` with a part, 0 to 1, of another one."""
    red, green, blue = (round(a + (b - a) * part) for a, b in zip(color, other, strict=True))
    return red, green, blue
