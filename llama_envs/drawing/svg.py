"""A picture as an SVG document, in plain Python.

What is drawn often (a card, a llama on it) is defined once and used by its name, which is a hash of the definition:
many documents can stand in one page, since equal names mean equal things. There is no style sheet, no script, nothing
from outside. Text is text: ``textLength`` keeps the width that it has in the raster picture whatever font there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from html import escape as escape_html
from math import cos, radians, sin
from typing import NamedTuple

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
    Polygon,
    Shape,
    Sprite,
    Stroke,
    Turned,
    Wedge,
    Words,
    mix,
    shapes_of,
)
from llama_envs.drawing.text import OVERSAMPLE, length, weight

FONT = "Aileron, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"
MONOSPACED = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape(text: str) -> str:
    """Text as it may stand between tags and in attributes; a replacement character for what XML does not allow."""
    return escape_html(_NOT_XML.sub("\ufffd", text))


def svg(picture: Picture, title: str, description: str) -> str:
    """A picture as a document.

    Args:
        picture: what to draw.
        title: a name of the picture, for screen readers and tooltips.
        description: the same in words.
    """
    drawn = [_part(part) for part in picture.parts]
    body = f'<rect width="100%" height="100%" fill="{_color(picture.color)}"/>' + "".join(each.text for each in drawn)
    defs = dict(pair for each in drawn for pair in each.defs)
    return _document(picture.width, picture.height, FONT, title, description, defs, body)


def text_svg(text: str, title: str) -> str:
    """Lines of text as a document, in a font of one width."""
    lines = text.split("\n")
    width, height = 20 + round(8.43 * max(map(len, lines))), 20 + 18 * len(lines)
    spans = "".join(
        f'<tspan x="10" y="{24 + 18 * k}" textLength="{_number(8.43 * len(line))}">{escape(line)}</tspan>'
        for k, line in enumerate(lines)
        if line.strip()
    )
    body = f'<rect width="100%" height="100%" fill="#fff"/><text font-size="14">{spans}</text>'
    return _document(width, height, MONOSPACED, title, text, {}, body)


def _document(width: int, height: int, font: str, title: str, description: str, defs: dict[str, str], body: str) -> str:
    definitions = f"<defs>{''.join(defs.values())}</defs>" if defs else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="{font}" xml:space="preserve"><title>{escape(title)}</title><desc>{escape(description)}</desc>'
        f"{definitions}{body}</svg>"
    )


class _Drawn(NamedTuple):
    """Elements, and the definitions that they use by name, each after those that it uses itself."""

    text: str
    defs: tuple[tuple[str, str], ...] = ()


def _joined(parts: Iterable[_Drawn]) -> _Drawn:
    several = list(parts)
    return _Drawn("".join(each.text for each in several), tuple(pair for each in several for pair in each.defs))


def _defined(drawn: _Drawn, tag: str = "g") -> tuple[str, tuple[tuple[str, str], ...]]:
    """A name for what is drawn, and the definitions with it."""
    name = "s" + blake2b(drawn.text.encode(), digest_size=5).hexdigest()
    return name, (*drawn.defs, (name, f'<{tag} id="{name}">{drawn.text}</{tag}>'))


# --------------------------------------------------------------------------------------------------- parts of a picture


def _part(part: Part) -> _Drawn:
    if isinstance(part, Placed):
        name, defs = _sprite(part.sprite)
        return _Drawn(f'<use href="#{name}" x="{part.x}" y="{part.y}"/>', defs)
    if isinstance(part, Panel):
        x, y, width, height, radius, fill, outline, thickness = part
        return _Drawn(_box(Box(x, y, x + width, y + height, radius, fill, outline, thickness if outline else 0), None))
    if isinstance(part, Words):
        stroke = weight(part.size, part.bold)
        return _Drawn(_text(part.x, part.y, part.text, part.size, part.width - 1.5 * stroke, part.color, stroke, ""))
    assert isinstance(part, Choice)
    inner = _joined(map(_part, part.parts))
    label = escape(part.name)
    return _Drawn(
        f'<g class="{part.kind}" data-action="{part.action}" role="button" aria-label="{label}" tabindex="0">'
        f"<title>{label}</title>{inner.text}</g>",
        inner.defs,
    )


@lru_cache(maxsize=2048)
def _sprite(sprite: Sprite) -> tuple[str, tuple[tuple[str, str], ...]]:
    return _defined(_joined(_shape(shape, sprite, sprite.fade) for shape in sprite.shapes))


# --------------------------------------------------------------------------------------------------- parts of a sprite

Fade = tuple[Color, float] | None


def _shape(shape: Shape, sprite: Sprite, fade: Fade) -> _Drawn:
    if isinstance(shape, Drawing):
        name, defs = _art(shape, fade)
        left, top, side = map(_number, (shape.left, shape.top, shape.side))
        return _Drawn(f'<use href="#{name}" transform="translate({left} {top}) scale({side})"/>', defs)
    if isinstance(shape, Turned):
        inner = _joined(_shape(each, sprite, fade) for each in shape.shapes)
        middle = f"{_number(sprite.width / 2)} {_number(sprite.height / 2)}"
        return _Drawn(f'<g transform="rotate(180 {middle})">{inner.text}</g>', inner.defs)
    if isinstance(shape, Clipped):
        name, defs = _defined(_Drawn(_box(shape.box, None)), "clipPath")
        return _Drawn(f'<g clip-path="url(#{name})">{_plain(shape.lines, fade)}</g>', defs)
    return _Drawn(_plain(shape, fade))


def _art(drawing: Drawing, fade: Fade) -> tuple[str, tuple[tuple[str, str], ...]]:
    return _defined(_Drawn("".join(_plain(shape, fade) for shape in shapes_of(drawing.art))))


def _plain(shape: Shape, fade: Fade = None) -> str:
    """A shape that needs no definition."""
    if isinstance(shape, Box):
        return _box(shape, fade)
    if isinstance(shape, Letters):
        anchor = {"l": "", "m": ' text-anchor="middle"', "r": ' text-anchor="end"'}[shape.align]
        width = length(shape.text, round(shape.size * OVERSAMPLE)) / OVERSAMPLE
        color = _faded(shape.fill, fade)
        return _text(shape.x, shape.y, shape.text, shape.size, width, color, shape.stroke, anchor)
    paint = f'fill="{_color(_faded(shape.fill, fade))}"'  # type: ignore[union-attr]
    if isinstance(shape, Ellipse):
        x, y = (shape.x0 + shape.x1) / 2, (shape.y0 + shape.y1) / 2
        across, down = _number((shape.x1 - shape.x0) / 2), _number((shape.y1 - shape.y0) / 2)
        return f'<ellipse cx="{_number(x)}" cy="{_number(y)}" rx="{across}" ry="{down}" {paint}/>'
    if isinstance(shape, Polygon):
        return f'<path d="{_path(shape.points)}Z" {paint}/>'
    if isinstance(shape, Wedge):
        x, y, radius = (shape.x0 + shape.x1) / 2, (shape.y0 + shape.y1) / 2, (shape.x1 - shape.x0) / 2
        first, last = (
            f"{_number(x + radius * cos(radians(angle)))} {_number(y + radius * sin(radians(angle)))}"
            for angle in (shape.start, shape.end)
        )
        across = _number(radius)
        return f'<path d="M{_number(x)} {_number(y)}L{first}A{across} {across} 0 0 1 {last}Z" {paint}/>'
    paint = f'fill="none" {paint.replace("fill", "stroke")} stroke-width="{_number(shape.width)}"'  # type: ignore[union-attr]
    if isinstance(shape, Stroke):
        return f'<path d="{_path(shape.points)}" {paint} stroke-linecap="round" stroke-linejoin="round"/>'
    assert isinstance(shape, Lines)
    return f'<path d="{"".join(map(_path, shape.segments))}" {paint}/>'


def _box(box: Box, fade: Fade) -> str:
    """A rounded rectangle; its outline, which SVG draws on both sides of the edge, moved inwards."""
    fill = "none" if box.fill is None else _color(_faded(box.fill, fade))
    if box.outline is None:
        return _rectangle(box, 0, f'fill="{fill}"')
    line = f'stroke="{_color(_faded(box.outline, fade))}" stroke-width="{_number(box.thickness)}"'
    if box.opacity == 255:
        return _rectangle(box, box.thickness / 2, f'fill="{fill}" {line}')
    line += f' stroke-opacity="{_number(box.opacity / 255)}"'
    inside = _rectangle(box, box.thickness, f'fill="{fill}"')
    return inside + _rectangle(box, box.thickness / 2, f'fill="none" {line}')


def _rectangle(box: Box, inset: float, paint: str) -> str:
    x, y, width, height = box.x0 + inset, box.y0 + inset, box.x1 - box.x0 - 2 * inset, box.y1 - box.y0 - 2 * inset
    place = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'
    return f'<rect {place} rx="{_number(max(0.0, box.radius - inset))}" {paint}/>'


def _text(x: float, y: float, text: str, size: float, width: float, color: Color, stroke: float, anchor: str) -> str:
    """A line of text on the base line ``y``; ``stroke`` is how far bold letters reach beyond thin ones."""
    if not text:
        return ""
    line = f' stroke="{_color(color)}" stroke-width="{_number(2 * stroke)}"' if stroke else ""
    fitted = f' textLength="{_number(width)}" lengthAdjust="spacingAndGlyphs"' if len(text) > 1 else ""
    return (
        f'<text x="{_number(x)}" y="{_number(y)}" font-size="{_number(size)}"{fitted} fill="{_color(color)}"'
        f"{line}{anchor}>{escape(text)}</text>"
    )


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in points)


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _color(color: Color) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)


def _faded(color: Color, fade: Fade) -> Color:
    return color if fade is None else mix(color, *fade)
