"""SVG of each shape, of text with markup in it, and of fonts that are not there."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from llama_envs.drawing.canvas import Canvas, card, card_back, chip, icon, llama, rules_card, tile
from llama_envs.drawing.raster import pixels
from llama_envs.drawing.shapes import (
    Box,
    Clipped,
    Color,
    Drawing,
    Ellipse,
    Letters,
    Lines,
    Pen,
    Picture,
    Placed,
    Polygon,
    Shape,
    Sprite,
    Stroke,
    Turned,
    Wedge,
)
from llama_envs.drawing.svg import escape, svg, text_svg
from llama_envs.drawing.text import _OTHERS, _WIDTHS, font, length, text_width
from tests.drawing.pictures import NAMESPACE, choice_names, elements

RED, BLUE, GRAY = (255, 0, 0), (0, 0, 255), (128, 128, 128)


def document_of(*shapes: Shape, fade: tuple[Color, float] | None = None) -> str:
    sprite = Sprite(40, 20, shapes, fade)
    return svg(Picture(100, 50, GRAY, (Placed(5, 6, sprite),)), "title", "description")


def drawn(*shapes: Shape, fade: tuple[Color, float] | None = None) -> list[ElementTree.Element]:
    """What the last definition of a document with one sprite holds: the sprite itself."""
    return list(elements(document_of(*shapes, fade=fade), "defs")[0][-1])


def attributes(element: ElementTree.Element) -> dict[str, str]:
    return {"": element.tag.removeprefix(NAMESPACE), **element.attrib}


def dot(pen: Pen) -> None:
    pen.ellipse(0.25, 0.25, 0.75, 0.75, RED)


SHAPES: list[tuple[Shape, dict[str, str]]] = [
    (
        Box(1, 2, 31, 12, 3, RED),
        {"": "rect", "x": "1", "y": "2", "width": "30", "height": "10", "rx": "3", "fill": "#ff0000"},
    ),
    (
        Box(1, 2, 31, 12, 3, RED, BLUE, 2),  # the outline lies within
        {"": "rect", "x": "2", "y": "3", "width": "28", "height": "8", "rx": "2", "fill": "#ff0000",
         "stroke": "#0000ff", "stroke-width": "2"},
    ),
    (
        Box(0, 0, 10, 10, 0, None, BLUE, 1),
        {"": "rect", "x": "0.5", "y": "0.5", "width": "9", "height": "9", "rx": "0", "fill": "none",
         "stroke": "#0000ff", "stroke-width": "1"},
    ),
    (
        Ellipse(2, 4, 10, 8, RED),
        {"": "ellipse", "cx": "6", "cy": "6", "rx": "4", "ry": "2", "fill": "#ff0000"},
    ),
    (
        Wedge(0, 0, 10, 10, 0, 90, RED),
        {"": "path", "d": "M5 5L10 5A5 5 0 0 1 5 10Z", "fill": "#ff0000"},
    ),
    (
        Polygon(((0, 0), (4, 0), (2, 3.5)), RED),
        {"": "path", "d": "M0 0L4 0L2 3.5Z", "fill": "#ff0000"},
    ),
    (
        Stroke(((1, 1), (5, 1), (5, 9)), 2, RED),
        {"": "path", "d": "M1 1L5 1L5 9", "fill": "none", "stroke": "#ff0000", "stroke-width": "2",
         "stroke-linecap": "round", "stroke-linejoin": "round"},
    ),
    (
        Lines((((0, 0), (4, 0)), ((1, 2), (3, 4))), 0.5, RED),
        {"": "path", "d": "M0 0L4 0M1 2L3 4", "fill": "none", "stroke": "#ff0000", "stroke-width": "0.5"},
    ),
    (
        Letters(3, 15, "7", 12, RED, 0.25, "m"),  # the stroke of SVG lies on both sides of the edge
        {"": "text", "x": "3", "y": "15", "font-size": "12", "fill": "#ff0000", "stroke": "#ff0000",
         "stroke-width": "0.5", "text-anchor": "middle"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "expected"), SHAPES, ids=lambda each: type(each).__name__)
def test_each_shape_is_one_element(shape: Shape, expected: dict[str, str]) -> None:
    (element,) = drawn(shape)
    assert attributes(element) == expected


def test_every_kind_of_shape_is_drawn_in_its_color_mixed_with_the_fade() -> None:
    for shape, expected in SHAPES:
        (element,) = drawn(shape, fade=(GRAY, 0.5))
        mixed = {"#ff0000": "#c04040", "#0000ff": "#4040c0"}
        assert attributes(element) == {key: mixed.get(value, value) for key, value in expected.items()}


def test_translucent_outline_lies_on_nothing() -> None:
    """Like the edge of a card: what is below it shines through, not its own filling."""
    inside, line = map(attributes, drawn(Box(0, 0, 20, 10, 4, RED, BLUE, 2, 51)))
    assert (inside["x"], inside["width"], inside["fill"]) == ("2", "16", "#ff0000")
    assert (line["x"], line["fill"], line["stroke-width"], line["stroke-opacity"]) == ("1", "none", "2", "0.2")


def test_text_keeps_its_width_whatever_the_font() -> None:
    for align, anchor in (("l", None), ("m", "middle"), ("r", "end")):
        (element,) = drawn(Letters(3, 15, "AB CD", 14, RED, 0.0, align))
        assert element.text == "AB CD"
        assert element.get("text-anchor") == anchor
        assert float(element.attrib["textLength"]) == pytest.approx(length("AB CD", 56) / 4)
        assert element.get("stroke") is None
    assert drawn(Letters(3, 15, "", 14, RED, 0.0, "l")) == []


def test_an_art_is_defined_once_and_put_on_its_square() -> None:
    shapes = [Drawing(dot, 2, 3, 8), Turned((Drawing(dot, 2, 3, 8),))]
    definitions = elements(document_of(*shapes), "defs")[0]
    art, sprite = definitions
    assert [attributes(each)[""] for each in art] == ["ellipse"]
    use, turned = sprite
    assert attributes(use) == {"": "use", "href": f"#{art.attrib['id']}", "transform": "translate(2 3) scale(8)"}
    assert attributes(turned) == {"": "g", "transform": "rotate(180 20 10)"}
    assert attributes(turned[0]) == attributes(use)


def test_lines_are_cut_at_a_box() -> None:
    lines = Lines((((0, 0), (40, 20)),), 1, RED)
    clip, sprite = elements(document_of(Clipped(Box(5, 5, 35, 15, 2, BLUE), lines)), "defs")[0]
    assert attributes(clip[0])["x"] == "5"
    assert attributes(sprite[0]) == {"": "g", "clip-path": f"url(#{clip.attrib['id']})"}
    assert attributes(sprite[0][0])["d"] == "M0 0L40 20"


def test_names_are_those_of_contents() -> None:
    """So that many documents can stand in one page."""

    def names(*sprites: Sprite) -> list[str]:
        picture = Picture(100, 50, GRAY, tuple(Placed(0, 0, sprite) for sprite in sprites))
        return [each.attrib["href"] for each in elements(svg(picture, "", ""), "svg")[0].findall(f"{NAMESPACE}use")]

    one, same, other = (Sprite(9, 9, (Box(0, 0, 9, 9, 1, color),)) for color in (RED, RED, BLUE))
    assert names(one, other) == [*names(same), *names(other)]
    assert names(one) != names(other)


@pytest.mark.parametrize(
    "sprite",
    [
        card(100, RED, "7"),
        card(100, RED, llama, llama, (GRAY, 0.6)),
        card_back(88, BLUE, llama, None, 80),
        rules_card(106, 116, RED, "A", ((("A", "1"),), (("AB / CD", ""), ("EF", "10"))), 13),
        chip(34, GRAY),
        icon(16, llama),
        tile(24, RED, "3"),
    ],
)
def test_every_sprite_is_small_and_drawn_alike_by_both(sprite: Sprite) -> None:
    picture = Picture(sprite.width, sprite.height, GRAY, (Placed(0, 0, sprite),))
    assert pixels(picture).shape == (sprite.height, sprite.width, 3)
    assert (pixels(picture) != GRAY).any()
    document = svg(picture, "", "")
    assert len(document) < 4000
    uses = elements(document, "svg")[0].findall(f"{NAMESPACE}use")
    assert [(each.get("x"), each.get("y")) for each in uses] == [("0", "0")]


# ---- text from outside ----

HOSTILE = '</desc><script>alert("1")</script>\'&amp;\x00\x1b<b onload=x>'


def test_markup_in_names_is_text() -> None:
    canvas = Canvas(400, 60, GRAY)
    canvas.text(5, 30, HOSTILE, 14, RED)
    with canvas.choice(3, HOSTILE, "button"):
        canvas.pill(5, 50, HOSTILE, 14, RED, BLUE)
    document = svg(canvas.picture(), HOSTILE, HOSTILE)
    said = HOSTILE.replace("\x00", "\ufffd").replace("\x1b", "\ufffd")
    (root,) = elements(document, "svg")
    assert [each.tag.removeprefix(NAMESPACE) for each in root] == ["title", "desc", "rect", "text", "g"]
    assert root.findtext(f"{NAMESPACE}title") == root.findtext(f"{NAMESPACE}desc") == said
    assert [each.text for each in elements(document, "text")] == [said] * 2
    assert choice_names(document) == {3: said}
    assert "<script" not in document
    plain = text_svg(f"one\n{HOSTILE}", HOSTILE)
    assert [each.text for each in elements(plain, "tspan")] == ["one", said]
    assert "<script" not in plain


def test_only_what_xml_cannot_hold_is_replaced() -> None:
    assert escape("é \U0001f999 \t\n") == "é \U0001f999 \t\n"
    assert escape("\ud800\uffff\x0b") == "\ufffd" * 3


def test_a_choice_without_an_action_is_only_drawn() -> None:
    canvas = Canvas(100, 50, GRAY)
    with canvas.choice(None, "name", "card"):
        canvas.paste(0, 0, chip(20, RED))
    assert isinstance(canvas.picture().parts[0], Placed)


# ---- widths ----


def test_widths_of_letters_are_those_of_the_font() -> None:
    letters = [chr(ord(" ") + k) for k in range(len(_WIDTHS))]
    assert letters[-1] == "~"
    table = dict(zip(letters, _WIDTHS, strict=True)) | _OTHERS
    assert table == {letter: font(1000).getlength(letter) for letter in table}


def test_width_of_a_line_is_nearly_that_of_its_letters() -> None:
    """Pillow rounds each letter, to a quarter of a pixel; bold letters stand further apart."""
    for size in (12, 15, 20, 30):
        line = "player_0 to move · 12"
        exact = sum(dict(zip(map(chr, range(32, 127)), _WIDTHS, strict=True)).get(c, 202) for c in line) * size / 1000
        assert abs(text_width(line, size) - exact) < len(line) / 4
        assert text_width(line, size, bold=True) > text_width(line, size) + len(line) / 4
