"""A picture as an RGB array, with Pillow.

Every sprite is drawn ``OVERSAMPLE`` times larger, reduced with the Lanczos filter, and kept in a bounded cache, so that
a picture is only a few dozen pastes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

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
    Picture,
    Placed,
    Point,
    Polygon,
    Shape,
    Sprite,
    Stroke,
    Turned,
    Wedge,
    Words,
    shapes_of,
)
from llama_envs.drawing.text import OVERSAMPLE, base_line, font, starts, weight

if TYPE_CHECKING:
    from PIL import Image

PAD = 2  # pixels around a line of text


def need_pillow() -> None:
    """ImportError, in a sentence that says what to install, where Pillow is missing."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError as error:
        raise ImportError("drawing a picture needs Pillow: pip install llama-envs[render]") from error


def pixels(picture: Picture) -> npt.NDArray[np.uint8]:
    """The picture as a new array, uint8 (height, width, 3).

    Raises:
        ImportError: Pillow is not installed.
    """
    need_pillow()
    from PIL import Image

    image = Image.new("RGB", (picture.width, picture.height), picture.color)
    _paste(image, picture.parts)
    data = image.tobytes()
    del image  # its memory serves the array
    return np.frombuffer(data, np.uint8).reshape(picture.height, picture.width, 3).copy()


def _paste(image: Image.Image, parts: Sequence[Part]) -> None:
    for part in parts:
        if isinstance(part, Placed):
            drawn = _drawn(part.sprite)
            image.paste(drawn, (part.x, part.y), drawn)
        elif isinstance(part, Panel):
            drawn = _rounded(*part[2:])
            image.paste(drawn, (part.x, part.y), drawn)
        elif isinstance(part, Words):
            corner = part.x - PAD, round(part.y - base_line(part.size))
            image.paste(part.color, corner, _mask(part.text, part.size, part.bold))
        else:
            assert isinstance(part, Choice)
            _paste(image, part.parts)


@lru_cache(maxsize=2048)
def _mask(text: str, size: int, bold: bool) -> Image.Image:
    """A line of text, ``PAD`` to the left of where it begins and ``base_line`` above its base line."""
    from PIL import Image, ImageDraw

    places = [start * OVERSAMPLE for start in starts(text, size, bold)]
    pad = PAD * OVERSAMPLE
    across, down = (-(-round(length) // OVERSAMPLE) for length in (places[-1] + 2 * pad, size * OVERSAMPLE * 1.4))
    large = Image.new("L", (across * OVERSAMPLE, down * OVERSAMPLE))
    draw = ImageDraw.Draw(large)
    stroke = round(weight(size, bold) * OVERSAMPLE)
    line = round(base_line(size) * OVERSAMPLE)
    for place, letter in zip(places, text, strict=False):
        draw.text((pad + place, line), letter, 255, font(size * OVERSAMPLE), "ls", stroke_width=stroke)
    return large.resize((across, down), Image.Resampling.LANCZOS)


@lru_cache(maxsize=2048)
def _drawn(sprite: Sprite) -> Image.Image:
    from PIL import Image

    sketch = _Sketch(sprite.width, sprite.height)
    for shape in sprite.shapes:
        sketch.draw(shape)
    image = sketch.reduced()
    if sprite.fade is None:
        return image
    color, part = sprite.fade
    mixed = Image.blend(image.convert("RGB"), Image.new("RGB", image.size, color), part).convert("RGBA")
    mixed.putalpha(image.getchannel("A"))
    return mixed


@lru_cache(maxsize=256)
def _rounded(
    width: int, height: int, radius: int, fill: Color | None, outline: Color | None, thickness: int
) -> Image.Image:
    """A rounded rectangle; a large one is a small one, stretched between its corners."""
    corner = radius + thickness
    across, down = min(width, 2 * corner + 1), min(height, 2 * corner + 1)
    sketch = _Sketch(across, down)
    sketch.draw(Box(0, 0, across, down, radius, fill, outline, thickness if outline else 0))
    return _stretched(_stretched(sketch.reduced(), (width, down), corner), (width, height), corner)


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


class _Sketch:
    """A sprite in the making."""

    def __init__(self, width: int, height: int) -> None:
        from PIL import Image

        self.size = width, height
        self._show(Image.new("RGBA", (width * OVERSAMPLE, height * OVERSAMPLE), (0, 0, 0, 0)))

    def _show(self, image: Image.Image) -> None:
        from PIL import ImageDraw

        self.image, self.pen = image, ImageDraw.Draw(image)

    def reduced(self) -> Image.Image:
        """The finished sprite."""
        from PIL import Image

        return self.image.resize(self.size, Image.Resampling.LANCZOS)

    def draw(self, shape: Shape, left: float = 0.0, top: float = 0.0, side: float = OVERSAMPLE) -> None:
        """One more shape, whose unit is ``side`` pixels of the sketch."""

        def place(*points: Point) -> list[Point]:
            return [(left + x * side, top + y * side) for x, y in points]

        pen: Any = self.pen
        if isinstance(shape, Ellipse):
            pen.ellipse(place((shape.x0, shape.y0), (shape.x1, shape.y1)), shape.fill)
        elif isinstance(shape, Polygon):
            pen.polygon(place(*shape.points), shape.fill)
        elif isinstance(shape, Stroke):
            pen.line(place(*shape.points), shape.fill, round(shape.width * side))
            half = shape.width / 2
            for x, y in shape.points:
                pen.ellipse(place((x - half, y - half), (x + half, y + half)), shape.fill)
        elif isinstance(shape, Box):
            (x0, y0), (x1, y1) = place((shape.x0, shape.y0), (shape.x1, shape.y1))
            outline = None if shape.outline is None else (*shape.outline, shape.opacity)
            box = (x0, y0, x1 - 1, y1 - 1)
            pen.rounded_rectangle(box, shape.radius * side, shape.fill, outline, round(shape.thickness * side))
        elif isinstance(shape, Letters):
            stroke = round(shape.stroke * side)
            (at,) = place((shape.x, shape.y))
            large = font(round(shape.size * side))
            pen.text(at, shape.text, shape.fill, large, shape.align + "s", stroke_width=stroke, stroke_fill=shape.fill)
        elif isinstance(shape, Lines):
            for segment in shape.segments:
                pen.line(place(*segment), (*shape.fill, 255), round(shape.width * side))
        elif isinstance(shape, Wedge):
            pen.pieslice(place((shape.x0, shape.y0), (shape.x1, shape.y1)), shape.start, shape.end, shape.fill)
        elif isinstance(shape, Drawing):
            for piece in shapes_of(shape.art):
                self.draw(piece, shape.left * OVERSAMPLE, shape.top * OVERSAMPLE, shape.side * OVERSAMPLE)
        elif isinstance(shape, Turned):
            self._turn()
            for turned in shape.shapes:
                self.draw(turned)
            self._turn()
        else:
            assert isinstance(shape, Clipped)
            self._clip(shape)

    def _turn(self) -> None:
        from PIL import Image

        self._show(self.image.transpose(Image.Transpose.ROTATE_180))

    def _clip(self, shape: Clipped) -> None:
        from PIL import ImageChops

        inside, lines = _Sketch(*self.size), _Sketch(*self.size)
        inside.draw(shape.box)
        lines.draw(shape.lines)
        alpha = ImageChops.multiply(lines.image.getchannel("A"), inside.image.getchannel("A"))
        lines.image.putalpha(alpha)
        self.image.alpha_composite(lines.image)
