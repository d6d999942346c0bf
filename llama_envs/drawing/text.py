"""How wide text is, in the one font of all pictures: Aileron, which Pillow brings.

Where Pillow is installed its font is asked, which rounds the width of each letter to a quarter of a pixel; else the
same widths come from a table, without the rounding. The font has one weight and no kerning: bold is a stroke around
each letter and wider spacing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import ImageFont

OVERSAMPLE = 4  # sprites and letters are drawn so much larger, and reduced
SMALLEST_TEXT = 12
CAPITALS = 0.7  # height of a capital letter, as a part of the text size
ASCENT = 1.05  # of a line, from its top to the base line, likewise

# Widths of the letters from " " to "~", in thousandths of the text size, and of some others.
_WIDTHS = (
    216, 242, 339, 580, 580, 740, 654, 176, 315, 315, 560, 580, 220, 274, 220, 303, 580, 580, 580, 580, 580, 580, 580,
    580, 580, 580, 220, 220, 580, 580, 580, 499, 852, 639, 627, 699, 709, 587, 567, 710, 730, 264, 544, 609, 575, 866,
    718, 737, 598, 733, 619, 585, 612, 682, 622, 952, 625, 581, 591, 307, 303, 295, 580, 500, 300, 531, 611, 529, 615,
    549, 290, 615, 593, 238, 233, 522, 247, 855, 593, 586, 611, 615, 330, 459, 313, 592, 514, 785, 482, 513, 462, 303,
    250, 303, 580,
)  # fmt: skip
_OTHERS = {"·": 202, "…": 620}
_UNKNOWN = 500


@lru_cache(maxsize=64)
def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Pillow's font; ImportError where Pillow is missing."""
    from PIL import ImageFont

    return ImageFont.load_default(size=size)


def length(text: str, size: int) -> float:
    """Width of a text without strokes."""
    try:
        return font(size).getlength(text)
    except ImportError:
        return sum(map(_width, text)) * size / 1000


def _width(letter: str) -> int:
    place = ord(letter) - ord(" ")
    return _WIDTHS[place] if 0 <= place < len(_WIDTHS) else _OTHERS.get(letter, _UNKNOWN)


def weight(size: int, bold: bool) -> float:
    """Width of the stroke around each letter."""
    return max(1, round(size * OVERSAMPLE / 44)) / OVERSAMPLE if bold else 0.0


@lru_cache(maxsize=2048)
def starts(text: str, size: int, bold: bool) -> tuple[float, ...]:
    """Where each letter begins and, last, where the text ends."""
    gap = 1.5 * weight(size, bold) * OVERSAMPLE
    large = size * OVERSAMPLE
    return tuple((length(text[:k], large) + gap * k) / OVERSAMPLE for k in range(len(text) + 1))


def text_width(text: str, size: int, bold: bool = False) -> float:
    """Width of a line of text."""
    return starts(text, size, bold)[-1]


def base_line(size: int) -> float:
    """Where in a line of text its base line lies, from the top."""
    return round(size * OVERSAMPLE * ASCENT) / OVERSAMPLE


def fit(text: str, size: int, width: float, bold: bool = False) -> tuple[str, int]:
    """The text and the size, at most ``size``, that fit in ``width``; longer text ends in an ellipsis."""
    while size > SMALLEST_TEXT and text_width(text, size, bold) > width:
        size -= 1
    if text_width(text, size, bold) <= width:
        return text, size
    while text and text_width(text + "…", size, bold) > width:
        text = text[:-1]
    return text + "…", size
