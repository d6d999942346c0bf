"""Drawing helpers for card games: cards, backs, chips, panels, fans and fitted text, with Pillow.

Every shape is a *sprite*: an RGBA image drawn ``OVERSAMPLE`` times larger, reduced with the Lanczos filter, and kept in
a bounded cache, so that a frame is only a few dozen pastes. Pillow is imported when the first :class:`Canvas` is made.
Lengths are pixels of the finished frame; a ``Symbol`` is a text or a function that draws with a :class:`Pen`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont

OVERSAMPLE = 4
SMALLEST_TEXT = 12
CAPITALS = 0.7  # height of a capital letter, as a part of the text size
CARD_SHAPE = 0.7  # width of a card, as a part of its height

Colour = tuple[int, int, int]
WHITE: Colour = (255, 255, 255)
INK: Colour = (24, 28, 38)
PAPER: Colour = (252, 250, 245)
SHADE = (0, 0, 0, 110)


class Pen:
    """Draws in a unit square (x to the right, y downwards) that lies somewhere on an image."""

    def __init__(self, draw: ImageDraw.ImageDraw, left: float, top: float, side: float) -> None:
        self._draw, self._left, self._top, self._side = draw, left, top, side

    def _place(self, points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        return [(self._left + x * self._side, self._top + y * self._side) for x, y in points]

    def ellipse(self, x0: float, y0: float, x1: float, y1: float, fill: Colour) -> None:
        """A filled ellipse in the box from (x0, y0) to (x1, y1)."""
        self._draw.ellipse(self._place([(x0, y0), (x1, y1)]), fill=fill)

    def polygon(self, points: Sequence[tuple[float, float]], fill: Colour) -> None:
        """A filled polygon."""
        self._draw.polygon(self._place(points), fill=fill)

    def stroke(self, points: Sequence[tuple[float, float]], width: float, fill: Colour) -> None:
        """A line with round joints and ends."""
        self._draw.line(self._place(points), fill=fill, width=round(width * self._side))
        for x, y in points:
            self.ellipse(x - width / 2, y - width / 2, x + width / 2, y + width / 2, fill)


Art = Callable[[Pen], None]
Symbol: TypeAlias = "str | Art"


# ----------------------------------------------------------------------------------------------------------- the frame


class Canvas:
    """One frame.

    Args:
        width, height: pixels.
        colour: of the background.

    Raises:
        ImportError: Pillow is not installed.
    """

    def __init__(self, width: int, height: int, colour: Colour) -> None:
        try:
            from PIL import Image
        except ImportError as error:
            raise ImportError("drawing a picture needs Pillow: pip install llama-envs[render]") from error
        self._image = Image.new("RGB", (width, height), colour)

    def paste(self, x: float, y: float, sprite: Image.Image) -> None:
        """Put a sprite with its top left corner at (x, y)."""
        self._image.paste(sprite, (round(x), round(y)), sprite)

    def panel(
        self,
        x: int,
        y: int,
        width: int,
        height: int,
        fill: Colour,
        radius: int = 12,
        outline: Colour | None = None,
        thickness: int = 2,
    ) -> None:
        """A rounded rectangle."""
        self.paste(x, y, rounded(width, height, radius, fill, outline, thickness))

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: int,
        colour: Colour,
        align: str = "left",
        bold: bool = False,
        width: float | None = None,
    ) -> float:
        """One line of text, its capitals centred on height ``y``; returns its width.

        ``x`` is where it begins, its middle or its end (``align`` "left", "centre", "right"). With ``width`` it is made
        smaller, down to ``SMALLEST_TEXT``, and then cut with an ellipsis, until it fits.
        """
        if width is not None:
            text, size = fit(text, size, width, bold)
        line = _line(text, size, bold)
        start = x - line.advance * {"left": 0.0, "centre": 0.5, "right": 1.0}[align]
        self._image.paste(colour, (round(start + line.left), round(y + line.top)), line.mask)
        return line.advance

    def pill(self, x: float, y: float, text: str, size: int, colour: Colour, fill: Colour, height: int = 0) -> float:
        """A label in a rounded box that begins at ``x`` and is centred on ``y``; returns its width."""
        height = height or round(size * 1.55)
        width = round(_line(text, size, True).advance + height * 0.7)
        self.paste(x, y - height / 2, rounded(width, height, height // 2, fill))
        self.text(x + width / 2, y, text, size, colour, "centre", bold=True)
        return width

    def pixels(self) -> npt.NDArray[np.uint8]:
        """The frame so far as a new array, uint8 (height, width, 3)."""
        return np.array(self._image, np.uint8)


# ---------------------------------------------------------------------------------------------------------------- text


class _Line(NamedTuple):
    mask: Image.Image
    left: float
    top: float
    advance: float


@lru_cache(maxsize=64)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    from PIL import ImageFont

    return ImageFont.load_default(size=size)


@lru_cache(maxsize=2048)
def _line(text: str, size: int, bold: bool) -> _Line:
    """The mask of a line of text, where it lies relative to its start and the middle of its capitals, and its width."""
    from PIL import Image, ImageDraw

    font = _font(size * OVERSAMPLE)
    stroke = max(1, round(size * OVERSAMPLE / 44)) if bold else 0
    starts = [font.getlength(text[:k]) + 1.5 * stroke * k for k in range(len(text) + 1)]
    pad = OVERSAMPLE * 2
    across, down = (-(-round(length) // OVERSAMPLE) for length in (starts[-1] + 2 * pad, size * OVERSAMPLE * 1.4))
    baseline = round(size * OVERSAMPLE * 1.05)
    large = Image.new("L", (across * OVERSAMPLE, down * OVERSAMPLE))
    draw = ImageDraw.Draw(large)
    for start, letter in zip(starts, text, strict=False):  # the font has one weight: bold is a stroke and wider spacing
        draw.text((pad + start, baseline), letter, 255, font, "ls", stroke_width=stroke)
    mask = large.resize((across, down), Image.Resampling.LANCZOS)
    top = size * CAPITALS / 2 - baseline / OVERSAMPLE
    return _Line(mask, -pad / OVERSAMPLE, top, starts[-1] / OVERSAMPLE)


def fit(text: str, size: int, width: float, bold: bool = False) -> tuple[str, int]:
    """The text and the size, at most ``size``, that fit in ``width``; longer text ends in an ellipsis."""
    while size > SMALLEST_TEXT and _line(text, size, bold).advance > width:
        size -= 1
    if _line(text, size, bold).advance <= width:
        return text, size
    while text and _line(text + "…", size, bold).advance > width:
        text = text[:-1]
    return text + "…", size


# ------------------------------------------------------------------------------------------------------------- sprites


class _Sketch:
    """A sprite in the making, ``OVERSAMPLE`` times larger than it will be."""

    def __init__(self, width: int, height: int) -> None:
        from PIL import Image, ImageDraw

        self.size = width, height
        self.image = Image.new("RGBA", (width * OVERSAMPLE, height * OVERSAMPLE), (0, 0, 0, 0))
        self.draw = ImageDraw.Draw(self.image)

    def rounded(
        self,
        inset: float,
        radius: float,
        fill: Colour | tuple[int, int, int, int] | None,
        outline: Colour | tuple[int, int, int, int] | None = None,
        thickness: float = 0,
    ) -> None:
        """A rounded rectangle that keeps ``inset`` from each edge."""
        width, height = self.size
        box = (
            inset * OVERSAMPLE,
            inset * OVERSAMPLE,
            (width - inset) * OVERSAMPLE - 1,
            (height - inset) * OVERSAMPLE - 1,
        )
        self.draw.rounded_rectangle(box, radius * OVERSAMPLE, fill, outline, round(thickness * OVERSAMPLE))

    def disc(self, x: float, y: float, size: float, fill: Colour) -> None:
        """A filled circle around (x, y)."""
        box = [(x - size / 2), (y - size / 2), (x + size / 2), (y + size / 2)]
        self.draw.ellipse([at * OVERSAMPLE for at in box], fill)

    def symbol(self, symbol: Symbol, x: float, y: float, size: float, colour: Colour) -> None:
        """A text whose capitals, or a drawing whose square, are centred on (x, y); ``size`` is their height."""
        if callable(symbol):
            corner = [(at - size / 2) * OVERSAMPLE for at in (x, y)]
            symbol(Pen(self.draw, corner[0], corner[1], size * OVERSAMPLE))
            return
        font = _font(round(size / CAPITALS * OVERSAMPLE))
        stroke = round(size * OVERSAMPLE / 36)
        place = (x * OVERSAMPLE, (y + size / 2) * OVERSAMPLE)
        self.draw.text(place, symbol, colour, font, "ms", stroke_width=stroke, stroke_fill=colour)

    def done(self, fade: tuple[Colour, float] | None = None) -> Image.Image:
        """The sprite; ``fade`` mixes it with a part of a colour."""
        from PIL import Image

        image = self.image.resize(self.size, Image.Resampling.LANCZOS)
        if fade is not None:
            mixed = Image.blend(image.convert("RGB"), Image.new("RGB", self.size, fade[0]), fade[1]).convert("RGBA")
            mixed.putalpha(image.getchannel("A"))
            return mixed
        return image


@lru_cache(maxsize=256)
def rounded(
    width: int,
    height: int,
    radius: int,
    fill: Colour | None,
    outline: Colour | None = None,
    thickness: int = 2,
) -> Image.Image:
    """A rounded rectangle, filled or only its outline; a large one is a small one, stretched between its corners."""
    corner = radius + thickness
    across, down = min(width, 2 * corner + 1), min(height, 2 * corner + 1)
    sketch = _Sketch(across, down)
    sketch.rounded(0, radius, fill, outline, thickness if outline else 0)
    return _stretched(_stretched(sketch.done(), (width, down), corner), (width, height), corner)


def _stretched(image: Image.Image, size: tuple[int, int], corner: int) -> Image.Image:
    """The image made larger along one axis by repeating the row or column that follows the first ``corner`` ones."""
    from PIL import Image

    if image.size == size:
        return image
    out = Image.new("RGBA", size)
    (old_x, old_y), (new_x, new_y) = image.size, size
    axis = 0 if new_x > old_x else 1
    line = (corner, 0, corner + 1, old_y) if axis == 0 else (0, corner, old_x, corner + 1)
    out.paste(image.crop(line).resize(size, Image.Resampling.NEAREST))
    head = (corner, old_y) if axis == 0 else (old_x, corner)
    out.paste(image.crop((0, 0, *head)))
    out.paste(image.crop((old_x - head[0], old_y - head[1], old_x, old_y)), (new_x - head[0], new_y - head[1]))
    return out


@lru_cache(maxsize=64)
def icon(size: int, art: Art) -> Image.Image:
    """A drawing by itself."""
    sketch = _Sketch(size, size)
    sketch.symbol(art, size / 2, size / 2, size, WHITE)
    return sketch.done()


@lru_cache(maxsize=64)
def tile(size: int, colour: Colour, symbol: Symbol) -> Image.Image:
    """A small rounded square with a symbol: a kind of card, in a legend or the head of a column."""
    sketch = _Sketch(size, size)
    sketch.rounded(0, size * 0.24, colour)
    sketch.symbol(symbol, size / 2, size / 2, size * (0.8 if callable(symbol) else 0.5), WHITE)
    return sketch.done()


@lru_cache(maxsize=512)
def card(
    height: int,
    colour: Colour,
    index: Symbol,
    centre: Symbol | None = None,
    lines: tuple[str, ...] = (),
    fade: tuple[Colour, float] | None = None,
) -> Image.Image:
    """A card face.

    Args:
        height: pixels; the width is ``card_width(height)``.
        colour: of its kind.
        index: shown small in two corners, so that a fan of cards can be read.
        centre: shown large in the middle; the index if not given.
        lines: text under the middle, on a band of paper.
        fade: a colour and how much of it is mixed in, for a card that is out of play.
    """
    width = card_width(height)
    edge, corner = card_edge(height), height * 0.085
    sketch = _Sketch(width, height)
    sketch.rounded(0, corner, PAPER, SHADE, max(0.75, height * 0.008))
    sketch.rounded(edge, corner * 0.7, colour)
    small = index_size(height)
    at = index_left(height)
    for _ in range(2):
        if callable(index):
            sketch.symbol(index, at + small * 0.35, at + small * 0.55, small * 1.35, WHITE)
        else:
            sketch.symbol(index, at + small * 0.35, at + small * 0.55, small, WHITE)
        if lines:
            break
        _turn(sketch)
    if not lines and not callable(centre or index):
        sketch.disc(width / 2, height / 2, width * 0.7, mix(colour, WHITE, 0.16))
    big = width * 0.78 if callable(centre or index) else height * 0.34
    sketch.symbol(centre or index, width / 2, height * (0.34 if lines else 0.5), big * (0.75 if lines else 1), WHITE)
    if lines:
        _band(sketch, lines, edge, corner * 0.7)
    return sketch.done(fade)


def _turn(sketch: _Sketch) -> None:
    """Turn a card by half, to draw the other corner."""
    from PIL import Image, ImageDraw

    sketch.image = sketch.image.transpose(Image.Transpose.ROTATE_180)
    sketch.draw = ImageDraw.Draw(sketch.image)


def _band(sketch: _Sketch, lines: tuple[str, ...], edge: float, radius: float) -> None:
    """Lines of dark text on a band of paper in the lower part of a card."""
    width, height = sketch.size
    step = height * 0.155
    top = height - edge * 1.6 - step * len(lines)
    left, right = edge * 1.6, width - edge * 1.6
    box = tuple(OVERSAMPLE * at for at in (left, top, right, height - edge * 1.6))
    sketch.draw.rounded_rectangle(box, radius * 0.8 * OVERSAMPLE, PAPER)
    for k, text in enumerate(lines):
        size = round(step * 0.72 * OVERSAMPLE)
        room = (right - left - edge) * OVERSAMPLE
        size = min(size, int(size * room / max(_font(size).getlength(text), 1)))
        middle = (top + step * (k + 0.5)) * OVERSAMPLE
        place = (width / 2 * OVERSAMPLE, middle + size * CAPITALS / 2)
        sketch.draw.text(place, text, INK, _font(size), "ms", stroke_width=size // 30, stroke_fill=INK)


@lru_cache(maxsize=64)
def card_back(
    height: int, colour: Colour, emblem: Art | None = None, fade: tuple[Colour, float] | None = None
) -> Image.Image:
    """The back of a card: a lattice in lighter and darker ``colour``, with an emblem on it."""
    from PIL import Image, ImageChops, ImageDraw

    width = card_width(height)
    edge, corner = card_edge(height), height * 0.085
    sketch = _Sketch(width, height)
    sketch.rounded(0, corner, PAPER, SHADE, max(0.75, height * 0.008))
    sketch.rounded(edge, corner * 0.7, colour)
    inner = _Sketch(width, height)
    inner.rounded(edge, corner * 0.7, colour)
    lattice = Image.new("RGBA", inner.image.size, (0, 0, 0, 0))
    draw = ImageDraw.Draw(lattice)
    light = (*mix(colour, WHITE, 0.28), 255)
    across, down = inner.image.size
    step = across / 6
    for k in range(-12, 24):
        draw.line(((k * step, 0), (k * step + down, down)), light, round(height * 0.008 * OVERSAMPLE))
        draw.line(((k * step, 0), (k * step - down, down)), light, round(height * 0.008 * OVERSAMPLE))
    lattice.putalpha(ImageChops.multiply(lattice.getchannel("A"), inner.image.getchannel("A")))
    sketch.image.alpha_composite(lattice)
    if emblem is not None:
        sketch.disc(width / 2, height / 2, width * 0.56, PAPER)
        sketch.disc(width / 2, height / 2, width * 0.51, colour)
        sketch.symbol(emblem, width / 2, height / 2, width * 0.4, WHITE)
    return sketch.done(fade)


@lru_cache(maxsize=32)
def chip(size: int, colour: Colour) -> Image.Image:
    """A round chip with marks on its rim."""
    sketch = _Sketch(size, size)
    light = sum(colour) > 384
    mark = mix(colour, INK, 0.72) if light else mix(colour, WHITE, 0.78)
    line = mix(colour, INK, 0.45) if light else mix(colour, WHITE, 0.45)
    middle, edge = size / 2, size * 0.04 * OVERSAMPLE
    sketch.disc(middle, middle, size, line)
    sketch.disc(middle, middle, size * 0.92, colour)
    for k in range(6):
        end = size * OVERSAMPLE - edge
        sketch.draw.pieslice((edge, edge, end, end), 60 * k - 11, 60 * k + 11, mark)
    sketch.disc(middle, middle, size * 0.62, line)
    sketch.disc(middle, middle, size * 0.56, colour)
    return sketch.done()


# ------------------------------------------------------------------------------------------------------------- measures


def mix(colour: Colour, other: Colour, part: float) -> Colour:
    """``colour`` with a part, 0 to 1, of another one."""
    red, green, blue = (round(a + (b - a) * part) for a, b in zip(colour, other, strict=True))
    return red, green, blue


def card_width(height: int) -> int:
    """Width of a card of this height."""
    return round(height * CARD_SHAPE)


def card_edge(height: int) -> float:
    """Width of the paper around the coloured part of a card."""
    return max(2.0, height * 0.035)


def index_size(height: int) -> float:
    """Height of the capitals of a card's index."""
    return max(SMALLEST_TEXT * CAPITALS, height * 0.105)


def index_left(height: int) -> float:
    """Where on a card its index begins."""
    return card_edge(height) + index_size(height) * 0.45


def index_strip(height: int) -> float:
    """How much of the left of a card must stay visible so that its index can be read."""
    return index_left(height) + index_size(height) * 1.1


def fan(kinds: Sequence[int], height: int, width: float) -> list[float]:
    """Where to put the left edges of cards of these kinds, so that they fit in ``width``.

    They lie side by side while there is room, then overlap evenly. When that would hide indices, cards of one kind that
    follow each other move together until only their edges show, and the last of them keeps its index in sight.
    """
    count = len(kinds)
    if count < 2:
        return [0.0] * count
    room = width - card_width(height)
    new = [one != other for one, other in pairwise(kinds)]
    even = min(card_width(height) + 6.0, room / (count - 1))
    strip = index_strip(height)
    if even >= strip or not any(new) or all(new):
        steps = [even] * len(new)
    else:
        same = len(new) - sum(new)
        narrow = min(index_left(height) - 1, max(0.0, room - strip * sum(new)) / same)
        wide = (room - narrow * same) / sum(new)
        steps = [wide if changes else narrow for changes in new]
    places = [0.0]
    for step in steps:
        places.append(places[-1] + step)
    return places
