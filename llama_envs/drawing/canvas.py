"""What pictures of card games consist of: cards, chips, panels, fans, fitted text, and what all pictures share.

A :class:`Canvas` collects the description of a picture (:mod:`~llama_envs.drawing.shapes`). Lengths are pixels of the
finished picture; a ``Symbol`` is a text or a function that draws with a :class:`~llama_envs.drawing.shapes.Pen`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise

from llama_envs.drawing.shapes import (
    Box,
    Choice,
    Clipped,
    Color,
    Drawing,
    Ellipse,
    Letters,
    Lines,
    Panel,
    Part,
    Pen,
    Picture,
    Placed,
    Shape,
    Sprite,
    Symbol,
    Turned,
    Wedge,
    Words,
    mix,
)
from llama_envs.drawing.text import CAPITALS, OVERSAMPLE, SMALLEST_TEXT, base_line, fit, text_width, weight

CARD_SHAPE = 0.7  # width of a card, as a part of its height
BAND_EDGE = 1.7  # how far a band of rules stays from the edge of its card, as a part of ``card_edge``
BAND_PAD = 0.4  # how far its text stays from the edge of the band, as a part of the text size

WHITE: Color = (255, 255, 255)
INK: Color = (24, 28, 38)
PAPER: Color = (252, 250, 245)
SHADE: Color = (0, 0, 0)
SHADE_OPACITY = 110

# ---------------------------------------------------------------------------------------------------------- the canvas


class Canvas:
    """A picture in the making.

    Args:
        width, height: pixels.
        color: of the background.
    """

    def __init__(self, width: int, height: int, color: Color) -> None:
        self.width, self.height, self._color = width, height, color
        self._parts: list[Part] = []

    def picture(self) -> Picture:
        """What was put on the canvas so far."""
        return Picture(self.width, self.height, self._color, tuple(self._parts))

    def paste(self, x: float, y: float, sprite: Sprite) -> None:
        """Put a sprite with its top left corner at (x, y)."""
        self._parts.append(Placed(round(x), round(y), sprite))

    def panel(
        self,
        x: float,
        y: float,
        width: int,
        height: int,
        fill: Color | None,
        radius: int = 12,
        outline: Color | None = None,
        thickness: int = 2,
    ) -> None:
        """A rounded rectangle, filled or only its outline."""
        self._parts.append(Panel(round(x), round(y), width, height, radius, fill, outline, thickness))

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
        across = text_width(text, size, bold)
        start = x - across * {"left": 0.0, "centre": 0.5, "right": 1.0}[align]
        line = base_line(size)
        top = round(y + (size * CAPITALS / 2 - line))
        self._parts.append(Words(round(start), top + line, text, size, color, bold, across))
        return across

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
        across = round(text_width(text, size, True) + height * 0.7)
        self.panel(x, y - height / 2, across, height, fill, height // 2)
        self.text(x + across / 2, y, text, size, color, "centre", bold=True)
        return across

    @contextmanager
    def choice(self, action: int | None, name: str, kind: str) -> Iterator[None]:
        """What is drawn meanwhile stands for an action that the viewer may choose, if there is one.

        Args:
            action: its number; None for no such action.
            name: of the action, for people.
            kind: what is drawn, in a word: "card" or "button".
        """
        before = len(self._parts)
        yield
        if action is not None:
            self._parts[before:] = [Choice(action, name, kind, tuple(self._parts[before:]))]


# ------------------------------------------------------------------------------------------------------------- sprites


def _disc(x: float, y: float, size: float, fill: Color) -> Ellipse:
    """A filled circle around (x, y)."""
    return Ellipse(x - size / 2, y - size / 2, x + size / 2, y + size / 2, fill)


def _symbol(symbol: Symbol, x: float, y: float, size: float) -> Shape:
    """A text whose capitals, or a drawing whose square, are centred on (x, y); ``size`` is their height."""
    if callable(symbol):
        return Drawing(symbol, x - size / 2, y - size / 2, size)
    return Letters(x, y + size / 2, symbol, size / CAPITALS, WHITE, size / 36, "m")


def _text(text: str, x: float, y: float, size: int, color: Color, align: str, bold: bool) -> Letters:
    """A line of text, its capitals centred on ``y``, that begins ("l") or ends ("r") at ``x``."""
    return Letters(x, y + size * CAPITALS / 2, text, size, color, weight(size, bold), align)


@lru_cache(maxsize=64)
def icon(size: int, symbol: Symbol) -> Sprite:
    """A drawing by itself."""
    return Sprite(size, size, (_symbol(symbol, size / 2, size / 2, size),))


@lru_cache(maxsize=64)
def tile(size: int, color: Color, symbol: Symbol) -> Sprite:
    """A small rounded square with a symbol: a kind of card, in a legend or the head of a column."""
    part = 0.8 if callable(symbol) else 0.5
    face = _symbol(symbol, size / 2, size / 2, size * part)
    return Sprite(size, size, (Box(0, 0, size, size, size * 0.24, color), face))


@lru_cache(maxsize=512)
def card(
    height: int,
    color: Color,
    index: Symbol,
    centre: Symbol | None = None,
    fade: tuple[Color, float] | None = None,
) -> Sprite:
    """A card face.

    Args:
        height: pixels; the width is ``card_width(height)``.
        color: of its kind.
        index: shown small in two corners, so that a fan of cards can be read.
        centre: shown large in the middle; the index if not given.
        fade: a color and how much of it is mixed in, for a card that is out of play.
    """
    width = card_width(height)
    shapes = _blank(width, height, color)
    small = index_size(height)
    at = index_left(height)
    corner = _symbol(index, at + small * 0.35, at + small * 0.55, small * 1.35 if callable(index) else small)
    shapes += [corner, Turned((corner,))]
    if not callable(centre or index):
        shapes.append(_disc(width / 2, height / 2, width * 0.7, mix(color, WHITE, 0.16)))
    big = width * 0.78 if callable(centre or index) else height * 0.34
    shapes.append(_symbol(centre or index, width / 2, height * 0.5, big))
    return Sprite(width, height, tuple(shapes), fade)


@lru_cache(maxsize=512)
def rules_card(
    width: int,
    height: int,
    color: Color,
    symbol: Symbol,
    rules: tuple[tuple[tuple[str, str], ...], ...],
    size: int,
    fade: tuple[Color, float] | None = None,
) -> Sprite:
    """The face of a card that says what it pays: a large symbol over a band of paper with its rules.

    Args:
        width, height: pixels.
        color: of its kind.
        symbol: shown large in the part above the band.
        rules: each some lines, and each line a text at the left and a price at the right.
        size: of the text of the rules.
        fade: as for :func:`card`.
    """
    shapes = _blank(width, height, color)
    edge = card_edge(height)
    step, pad = round(size * 1.3), size * 0.3
    left, right, bottom = edge * BAND_EDGE, width - edge * BAND_EDGE, height - edge * BAND_EDGE
    top = bottom - step * sum(map(len, rules)) - pad * (1 + len(rules))
    last = 1 / OVERSAMPLE
    shapes.append(Box(left, top, right + last, bottom + last, round(height * 0.045), PAPER))
    middle = (edge + top) / 2
    big = min(height * 0.34, (top - edge) * 0.6)
    shapes.append(_disc(width / 2, middle, min(big * 1.55, top - edge * 1.6), mix(color, WHITE, 0.16)))
    shapes.append(_symbol(symbol, width / 2, middle, big))
    y = top + pad
    for k, rule in enumerate(rules):
        if k:
            line = (left + size / 2, y - pad / 2), (right - size / 2, y - pad / 2)
            shapes.append(Lines((line,), 1, mix(PAPER, INK, 0.2)))
        for text, price in rule:
            shapes.append(_text(text, left + size * BAND_PAD, y + step / 2, size, INK, "l", False))
            shapes.append(_text(price, right - size * BAND_PAD, y + step / 2, size, INK, "r", True))
            y += step
        y += pad
    return Sprite(width, height, tuple(shapes), fade)


def _blank(width: int, height: int, color: Color) -> list[Shape]:
    """A card without anything on it: ``color`` within an edge of paper."""
    line = max(0.75, height * 0.008)
    edge = Box(0, 0, width, height, height * 0.085, PAPER, SHADE, line, SHADE_OPACITY)
    return [edge, _inner(width, height, color)]


def _inner(width: int, height: int, color: Color) -> Box:
    """The colored part of a card."""
    edge = card_edge(height)
    return Box(edge, edge, width - edge, height - edge, height * 0.085 * 0.7, color)


@lru_cache(maxsize=64)
def card_back(
    height: int,
    color: Color,
    emblem: Symbol | None = None,
    fade: tuple[Color, float] | None = None,
    width: int | None = None,
) -> Sprite:
    """The back of a card: a lattice in lighter and darker ``color``, with an emblem on it."""
    width = width or card_width(height)
    step = width / 6
    ends = [(k * step, k * step + slope * height) for k in range(-12, 24) for slope in (1, -1)]
    lattice = tuple(
        ((top, 0.0), (bottom, float(height)))
        for top, bottom in ends
        if max(top, bottom) > -step and min(top, bottom) < width + step
    )
    lines = Lines(lattice, height * 0.008, mix(color, WHITE, 0.28))
    shapes = [*_blank(width, height, color), Clipped(_inner(width, height, color), lines)]
    if emblem is not None:
        size = min(width, card_width(height))
        shapes += [_disc(width / 2, height / 2, size * part, fill) for part, fill in ((0.56, PAPER), (0.51, color))]
        shapes.append(_symbol(emblem, width / 2, height / 2, size * 0.4))
    return Sprite(width, height, tuple(shapes), fade)


@lru_cache(maxsize=32)
def chip(size: int, color: Color) -> Sprite:
    """A round chip with marks on its rim."""
    light = sum(color) > 384
    mark = mix(color, INK, 0.72) if light else mix(color, WHITE, 0.78)
    line = mix(color, INK, 0.45) if light else mix(color, WHITE, 0.45)
    near = size * 0.04
    far = size - near
    shapes: list[Shape] = [_disc(size / 2, size / 2, size * part, fill) for part, fill in ((1, line), (0.92, color))]
    shapes += [Wedge(near, near, far, far, 60 * k - 11, 60 * k + 11, mark) for k in range(6)]
    shapes += [_disc(size / 2, size / 2, size * part, fill) for part, fill in ((0.62, line), (0.56, color))]
    return Sprite(size, size, tuple(shapes))


# ------------------------------------------------------------------------------------------------------------- measures


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


def draw_footer(canvas: Canvas, status: str, over: bool, actions: Sequence[tuple[str, int | None]]) -> None:
    """Who must do what, or how the game ended; actions have a name and, where the viewer may choose it, a number."""
    top = canvas.height - MARGIN - FOOTER
    canvas.panel(MARGIN, top, canvas.width - 2 * MARGIN, FOOTER, BAR, 14)
    y = top + FOOTER / 2
    x, end = MARGIN + 20.0, canvas.width - MARGIN - 20.0
    x += 20 + canvas.text(x, y, status, 18, GOLD if over else BRIGHT, bold=True, width=end - x)
    width = (end - x) / max(1, len(actions)) - 10
    for name, action in actions:
        with canvas.choice(action, name, "button"):
            x += 10 + canvas.pill(x, y, name, 15, INK, GOLD, 28, width)


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
