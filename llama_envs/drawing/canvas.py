"""Drawing helpers for card games, with Pillow: cards, chips, panels, fans, fitted text, and what all pictures share.

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
BAND_EDGE = 1.7  # how far a band of rules stays from the edge of its card, as a part of ``card_edge``
BAND_PAD = 0.4  # how far its text stays from the edge of the band, as a part of the text size

Color = tuple[int, int, int]
WHITE: Color = (255, 255, 255)
INK: Color = (24, 28, 38)
PAPER: Color = (252, 250, 245)
SHADE = (0, 0, 0, 110)


class Pen:
    """Draws in a unit square (x to the right, y downwards) that lies somewhere on an image."""

    def __init__(self, draw: ImageDraw.ImageDraw, left: float, top: float, side: float) -> None:
        self._draw, self._left, self._top, self._side = draw, left, top, side

    def _place(self, points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        return [(self._left + x * self._side, self._top + y * self._side) for x, y in points]

    def ellipse(self, x0: float, y0: float, x1: float, y1: float, fill: Color) -> None:
        """A filled ellipse in the box from (x0, y0) to (x1, y1)."""
        self._draw.ellipse(self._place([(x0, y0), (x1, y1)]), fill=fill)

    def polygon(self, points: Sequence[tuple[float, float]], fill: Color) -> None:
        """A filled polygon."""
        self._draw.polygon(self._place(points), fill=fill)

    def stroke(self, points: Sequence[tuple[float, float]], width: float, fill: Color) -> None:
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
        color: of the background.

    Raises:
        ImportError: Pillow is not installed.
    """

    def __init__(self, width: int, height: int, color: Color) -> None:
        try:
            from PIL import Image
        except ImportError as error:
            raise ImportError("drawing a picture needs Pillow: pip install llama-envs[render]") from error
        self.width, self.height = width, height
        self._image = Image.new("RGB", (width, height), color)

    def paste(self, x: float, y: float, sprite: Image.Image) -> None:
        """Put a sprite with its top left corner at (x, y)."""
        self._image.paste(sprite, (round(x), round(y)), sprite)

    def panel(
        self,
        x: int,
        y: int,
        width: int,
        height: int,
        fill: Color | None,
        radius: int = 12,
        outline: Color | None = None,
        thickness: int = 2,
    ) -> None:
        """A rounded rectangle, filled or only its outline."""
        self.paste(x, y, rounded(width, height, radius, fill, outline, thickness))

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: int,
        color: Color,
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
        self._image.paste(color, (round(start + line.left), round(y + line.top)), line.mask)
        return line.advance

    def pill(
        self,
        x: float,
        y: float,
        text: str,
        size: int,
        color: Color,
        fill: Color,
        height: int = 0,
        width: float | None = None,
    ) -> float:
        """A label, centred on ``y``, in a rounded box from ``x`` on; returns its width, which is at most ``width``."""
        height = height or round(size * 1.55)
        if width is not None:
            text, size = fit(text, size, width - height * 0.7, bold=True)
        across = round(_line(text, size, True).advance + height * 0.7)
        self.paste(x, y - height / 2, rounded(across, height, height // 2, fill))
        self.text(x + across / 2, y, text, size, color, "centre", bold=True)
        return across

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


def text_width(text: str, size: int, bold: bool = False) -> float:
    """Width of a line of text."""
    return _line(text, size, bold).advance


def fit(text: str, size: int, width: float, bold: bool = False) -> tuple[str, int]:
    """The text and the size, at most ``size``, that fit in ``width``; longer text ends in an ellipsis."""
    while size > SMALLEST_TEXT and text_width(text, size, bold) > width:
        size -= 1
    if text_width(text, size, bold) <= width:
        return text, size
    while text and text_width(text + "…", size, bold) > width:
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
        fill: Color | tuple[int, int, int, int] | None,
        outline: Color | tuple[int, int, int, int] | None = None,
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

    def disc(self, x: float, y: float, size: float, fill: Color) -> None:
        """A filled circle around (x, y)."""
        box = [(x - size / 2), (y - size / 2), (x + size / 2), (y + size / 2)]
        self.draw.ellipse([at * OVERSAMPLE for at in box], fill)

    def symbol(self, symbol: Symbol, x: float, y: float, size: float, color: Color) -> None:
        """A text whose capitals, or a drawing whose square, are centred on (x, y); ``size`` is their height."""
        if callable(symbol):
            corner = [(at - size / 2) * OVERSAMPLE for at in (x, y)]
            symbol(Pen(self.draw, corner[0], corner[1], size * OVERSAMPLE))
            return
        font = _font(round(size / CAPITALS * OVERSAMPLE))
        stroke = round(size * OVERSAMPLE / 36)
        place = (x * OVERSAMPLE, (y + size / 2) * OVERSAMPLE)
        self.draw.text(place, symbol, color, font, "ms", stroke_width=stroke, stroke_fill=color)

    def text(self, text: str, x: float, y: float, size: int, color: Color, align: str, bold: bool) -> None:
        """A line of text, its capitals centred on ``y``, that begins ("l") or ends ("r") at ``x``."""
        font = _font(size * OVERSAMPLE)
        stroke = max(1, round(size * OVERSAMPLE / 44)) if bold else 0
        place = (x * OVERSAMPLE, (y + size * CAPITALS / 2) * OVERSAMPLE)
        self.draw.text(place, text, color, font, align + "s", stroke_width=stroke, stroke_fill=color)

    def done(self, fade: tuple[Color, float] | None = None) -> Image.Image:
        """The sprite; ``fade`` mixes it with a part of a color."""
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
    fill: Color | None,
    outline: Color | None = None,
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
def tile(size: int, color: Color, symbol: Symbol) -> Image.Image:
    """A small rounded square with a symbol: a kind of card, in a legend or the head of a column."""
    sketch = _Sketch(size, size)
    sketch.rounded(0, size * 0.24, color)
    sketch.symbol(symbol, size / 2, size / 2, size * (0.8 if callable(symbol) else 0.5), WHITE)
    return sketch.done()


@lru_cache(maxsize=512)
def card(
    height: int,
    color: Color,
    index: Symbol,
    centre: Symbol | None = None,
    fade: tuple[Color, float] | None = None,
) -> Image.Image:
    """A card face.

    Args:
        height: pixels; the width is ``card_width(height)``.
        color: of its kind.
        index: shown small in two corners, so that a fan of cards can be read.
        centre: shown large in the middle; the index if not given.
        fade: a color and how much of it is mixed in, for a card that is out of play.
    """
    width = card_width(height)
    sketch = _blank(width, height, color)
    small = index_size(height)
    at = index_left(height)
    for _ in range(2):
        size = small * 1.35 if callable(index) else small
        sketch.symbol(index, at + small * 0.35, at + small * 0.55, size, WHITE)
        _turn(sketch)
    if not callable(centre or index):
        sketch.disc(width / 2, height / 2, width * 0.7, mix(color, WHITE, 0.16))
    big = width * 0.78 if callable(centre or index) else height * 0.34
    sketch.symbol(centre or index, width / 2, height * 0.5, big, WHITE)
    return sketch.done(fade)


@lru_cache(maxsize=512)
def rules_card(
    width: int,
    height: int,
    color: Color,
    symbol: Symbol,
    rules: tuple[tuple[tuple[str, str], ...], ...],
    size: int,
    fade: tuple[Color, float] | None = None,
) -> Image.Image:
    """The face of a card that says what it pays: a large symbol over a band of paper with its rules.

    Args:
        width, height: pixels.
        color: of its kind.
        symbol: shown large in the part above the band.
        rules: each some lines, and each line a text at the left and a price at the right.
        size: of the text of the rules.
        fade: as for :func:`card`.
    """
    sketch = _blank(width, height, color)
    edge = card_edge(height)
    step, pad = round(size * 1.3), size * 0.3
    left, right, bottom = edge * BAND_EDGE, width - edge * BAND_EDGE, height - edge * BAND_EDGE
    top = bottom - step * sum(map(len, rules)) - pad * (1 + len(rules))
    box = tuple(at * OVERSAMPLE for at in (left, top, right, bottom))
    sketch.draw.rounded_rectangle(box, round(height * 0.045) * OVERSAMPLE, PAPER)
    middle = (edge + top) / 2
    big = min(height * 0.34, (top - edge) * 0.6)
    sketch.disc(width / 2, middle, min(big * 1.55, top - edge * 1.6), mix(color, WHITE, 0.16))
    sketch.symbol(symbol, width / 2, middle, big, WHITE)
    y = top + pad
    for k, rule in enumerate(rules):
        if k:
            line = tuple(at * OVERSAMPLE for at in (left + size / 2, y - pad / 2, right - size / 2, y - pad / 2))
            sketch.draw.line(line, mix(PAPER, INK, 0.2), OVERSAMPLE)
        for text, price in rule:
            sketch.text(text, left + size * BAND_PAD, y + step / 2, size, INK, "l", False)
            sketch.text(price, right - size * BAND_PAD, y + step / 2, size, INK, "r", True)
            y += step
        y += pad
    return sketch.done(fade)


def _blank(width: int, height: int, color: Color) -> _Sketch:
    """A card without anything on it: ``color`` within an edge of paper."""
    sketch = _Sketch(width, height)
    corner = height * 0.085
    sketch.rounded(0, corner, PAPER, SHADE, max(0.75, height * 0.008))
    sketch.rounded(card_edge(height), corner * 0.7, color)
    return sketch


def _turn(sketch: _Sketch) -> None:
    """Turn a card by half, to draw the other corner."""
    from PIL import Image, ImageDraw

    sketch.image = sketch.image.transpose(Image.Transpose.ROTATE_180)
    sketch.draw = ImageDraw.Draw(sketch.image)


@lru_cache(maxsize=64)
def card_back(
    height: int,
    color: Color,
    emblem: Art | None = None,
    fade: tuple[Color, float] | None = None,
    width: int | None = None,
) -> Image.Image:
    """The back of a card: a lattice in lighter and darker ``color``, with an emblem on it."""
    from PIL import Image, ImageChops, ImageDraw

    width = width or card_width(height)
    edge, corner = card_edge(height), height * 0.085
    sketch = _blank(width, height, color)
    inner = _Sketch(width, height)
    inner.rounded(edge, corner * 0.7, color)
    lattice = Image.new("RGBA", inner.image.size, (0, 0, 0, 0))
    draw = ImageDraw.Draw(lattice)
    light = (*mix(color, WHITE, 0.28), 255)
    across, down = inner.image.size
    step = across / 6
    for k in range(-12, 24):
        draw.line(((k * step, 0), (k * step + down, down)), light, round(height * 0.008 * OVERSAMPLE))
        draw.line(((k * step, 0), (k * step - down, down)), light, round(height * 0.008 * OVERSAMPLE))
    lattice.putalpha(ImageChops.multiply(lattice.getchannel("A"), inner.image.getchannel("A")))
    sketch.image.alpha_composite(lattice)
    if emblem is not None:
        size = min(width, card_width(height))
        sketch.disc(width / 2, height / 2, size * 0.56, PAPER)
        sketch.disc(width / 2, height / 2, size * 0.51, color)
        sketch.symbol(emblem, width / 2, height / 2, size * 0.4, WHITE)
    return sketch.done(fade)


@lru_cache(maxsize=32)
def chip(size: int, color: Color) -> Image.Image:
    """A round chip with marks on its rim."""
    sketch = _Sketch(size, size)
    light = sum(color) > 384
    mark = mix(color, INK, 0.72) if light else mix(color, WHITE, 0.78)
    line = mix(color, INK, 0.45) if light else mix(color, WHITE, 0.45)
    middle, edge = size / 2, size * 0.04 * OVERSAMPLE
    sketch.disc(middle, middle, size, line)
    sketch.disc(middle, middle, size * 0.92, color)
    for k in range(6):
        end = size * OVERSAMPLE - edge
        sketch.draw.pieslice((edge, edge, end, end), 60 * k - 11, 60 * k + 11, mark)
    sketch.disc(middle, middle, size * 0.62, line)
    sketch.disc(middle, middle, size * 0.56, color)
    return sketch.done()


# ------------------------------------------------------------------------------------------------------------- measures


def mix(color: Color, other: Color, part: float) -> Color:
    """``color`` with a part, 0 to 1, of another one."""
    red, green, blue = (round(a + (b - a) * part) for a, b in zip(color, other, strict=True))
    return red, green, blue


def card_width(height: int) -> int:
    """Width of a card of this height."""
    return round(height * CARD_SHAPE)


def card_edge(height: int) -> float:
    """Width of the paper around the colored part of a card."""
    return max(2.0, height * 0.035)


def rules_width(width: int, height: int, size: int) -> float:
    """Width of a line of rules on a card of this size."""
    return width - 2 * BAND_EDGE * card_edge(height) - 2 * BAND_PAD * size


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
    """Where to put the left edges of cards of these kinds and this height, so that they fit in ``width``.

    They lie side by side while there is room, then overlap evenly. When that would hide indices, cards of one kind that
    follow each other move together until only their edges show, and the last of them keeps its index in sight.
    """
    count = len(kinds)
    if count < 2:
        return [0.0] * count
    free = width - card_width(height)
    new = [one != other for one, other in pairwise(kinds)]
    even = min(card_width(height) + 6.0, free / (count - 1))
    strip = index_strip(height)
    if even >= strip or not any(new) or all(new):
        steps = [even] * len(new)
    else:
        same = len(new) - sum(new)
        narrow = min(index_left(height) - 1, max(0.0, free - strip * sum(new)) / same)
        wide = (free - narrow * same) / sum(new)
        steps = [wide if changes else narrow for changes in new]
    places = [0.0]
    for step in steps:
        places.append(places[-1] + step)
    return places


# ------------------------------------------------------------------------------ what the pictures of all games share

WIDTH, MARGIN, GAP, HEADER, FOOTER = 1280, 20, 12, 48, 48  # of a frame; its height is up to the game

GROUND: Color = (27, 31, 43)
PANEL: Color = (40, 46, 62)
PANEL_OUT: Color = (33, 38, 51)
PANEL_TURN: Color = (54, 62, 84)
BAR: Color = (36, 41, 55)
FELT: Color = (22, 84, 76)
FELT_EDGE: Color = (34, 116, 104)
BRIGHT: Color = (243, 244, 248)
SOFT: Color = (164, 172, 190)
GOLD: Color = (255, 200, 70)
DANGER: Color = (235, 96, 84)
FINE: Color = (96, 200, 140)
BACK: Color = (48, 66, 118)
BLUE: Color = (120, 190, 255)
WOOL: Color = (255, 248, 236)
WOOL_SHADE: Color = (236, 222, 200)
CARD_COLORS: tuple[Color, ...] = (
    (124, 77, 178),
    (44, 118, 208),
    (58, 156, 84),
    (226, 176, 24),
    (234, 122, 38),
    (208, 52, 52),
    (219, 74, 142),
)


def llama(pen: Pen) -> None:
    """A llama with a blanket, from the side."""
    for x in (0.35, 0.53):
        pen.stroke([(x, 0.66), (x, 0.90)], 0.075, WOOL_SHADE)
    for x in (0.24, 0.64):
        pen.stroke([(x, 0.66), (x, 0.92)], 0.08, WOOL)
        pen.stroke([(x, 0.925), (x + 0.015, 0.925)], 0.07, INK)
    pen.ellipse(0.10, 0.44, 0.26, 0.60, WOOL_SHADE)
    for x, y, r in ((0.28, 0.60, 0.14), (0.40, 0.61, 0.16), (0.52, 0.61, 0.16), (0.62, 0.60, 0.14)):
        pen.ellipse(x - r, y - r, x + r, y + r, WOOL)
    pen.stroke([(0.66, 0.58), (0.72, 0.26)], 0.17, WOOL)
    pen.polygon([(0.655, 0.17), (0.67, 0.02), (0.735, 0.16)], WOOL)
    pen.polygon([(0.735, 0.16), (0.79, 0.02), (0.80, 0.18)], WOOL_SHADE)
    pen.ellipse(0.63, 0.12, 0.85, 0.32, WOOL)
    pen.ellipse(0.74, 0.19, 0.94, 0.325, WOOL)
    pen.ellipse(0.885, 0.215, 0.93, 0.25, INK)
    pen.ellipse(0.765, 0.175, 0.805, 0.22, INK)
    pen.polygon([(0.33, 0.44), (0.57, 0.44), (0.60, 0.68), (0.30, 0.68)], (64, 158, 206))
    pen.polygon([(0.322, 0.50), (0.578, 0.50), (0.587, 0.565), (0.313, 0.565)], (255, 205, 82))
    pen.polygon([(0.307, 0.62), (0.593, 0.62), (0.60, 0.68), (0.30, 0.68)], (240, 110, 70))
    pen.stroke([(0.625, 0.415), (0.755, 0.44)], 0.05, (64, 158, 206))


def llama_head(pen: Pen) -> None:
    """The head of a llama from the front, to be seen in the corner of a card."""
    for side in (-1, 1):
        pen.polygon([(0.5 + side * 0.10, 0.36), (0.5 + side * 0.30, 0.0), (0.5 + side * 0.32, 0.42)], WOOL)
    pen.ellipse(0.17, 0.20, 0.83, 0.84, WOOL)
    pen.ellipse(0.26, 0.46, 0.74, 0.98, WOOL_SHADE)
    for x in (0.33, 0.67):
        pen.ellipse(x - 0.065, 0.40, x + 0.065, 0.53, INK)
    pen.polygon([(0.41, 0.62), (0.59, 0.62), (0.5, 0.73)], INK)


def draw_header(canvas: Canvas, title: str, facts: Sequence[str], viewer: str | None) -> None:
    """Title, where the game is, and whose view it is."""
    y = MARGIN + HEADER / 2 - 8
    canvas.paste(MARGIN, y - 17, icon(34, llama_head))
    x = MARGIN + 46 + canvas.text(MARGIN + 46, y, title, 26, BRIGHT, bold=True)
    canvas.text(x + 20, y, "  ·  ".join(facts), 18, SOFT)
    canvas.text(canvas.width - MARGIN, y, f"seen by {viewer}" if viewer else "all cards open", 18, SOFT, "right")


def draw_footer(canvas: Canvas, status: str, over: bool, actions: Sequence[str]) -> None:
    """Who must do what, or how the game ended."""
    top = canvas.height - MARGIN - FOOTER
    canvas.panel(MARGIN, top, canvas.width - 2 * MARGIN, FOOTER, BAR, 14)
    y = top + FOOTER / 2
    x, end = MARGIN + 20.0, canvas.width - MARGIN - 20.0
    x += 20 + canvas.text(x, y, status, 18, GOLD if over else BRIGHT, bold=True, width=end - x)
    width = (end - x) / max(1, len(actions)) - 10
    for action in actions:
        x += 10 + canvas.pill(x, y, action, 15, INK, GOLD, 28, width)


def draw_points(
    canvas: Canvas, end: float, middle: float, total: int, target: int, wins: bool, bar: tuple[Color, Color, Color]
) -> None:
    """A total that ends at ``end``, over a bar that shows how near it is to the target, in colors from low to high."""
    canvas.text(end, middle - 15, str(total), 30, GOLD if wins else BRIGHT, "right", bold=True, width=72)
    reached = min(max(total / target, 0.0), 1.0)
    canvas.panel(round(end) - 72, round(middle) + 11, 72, 8, GROUND, 4)
    if reached > 0:
        low, half, high = bar
        color = mix(low, half, 2 * reached) if reached < 0.5 else mix(half, high, 2 * reached - 1)
        canvas.panel(round(end) - 72, round(middle) + 11, max(8, round(72 * reached)), 8, color, 4)


def names_together(names: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
