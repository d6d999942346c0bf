"""What holds for the pictures of every game: they only look, cost little, and pixels and SVG show the same."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.game import PlainText
from llama_envs.drawing import show
from llama_envs.drawing.shapes import Choice, Panel, Part, Placed, Words
from tests.cases import CHECKOUT, each_game, every_case, game_of, middle, new_batch
from tests.drawing.pictures import NAMESPACE, choice_names, choices, elements, picture, svg, text

PIL_Image = pytest.importorskip("PIL.Image")
CHROMIUM = shutil.which("chromium")


def walk(case, steps: int = 60, seed: int = 5) -> Iterator[Batch]:
    """The positions of a game."""
    batch, streams = new_batch(case, 1, seed), policy_streams(1, seed)
    for _ in range(steps):
        yield batch
        if batch.to_move[0] < 0:
            return
        batch.step(batch.sample_actions(streams))


def viewers(batch: Batch) -> list[int | None]:
    return [None, *range(batch.game.num_players)]


# ---- only looking ----


@every_case
def test_rendering_changes_neither_the_state_nor_the_game(case):
    watched, alone = (new_batch(case, 1, 5) for _ in range(2))
    streams = [policy_streams(1, 5) for _ in range(2)]
    for k in range(40):
        before = watched.state.tobytes()
        for seat in (None, 0):
            text(watched, seat)
            if k % 10 == 0:
                picture(watched, seat)
                svg(watched, seat)
        assert watched.state.tobytes() == before
        if watched.to_move[0] < 0:
            break
        for batch, stream in zip((watched, alone), streams, strict=True):
            batch.step(batch.sample_actions(stream))
        np.testing.assert_array_equal(watched.state, alone.state)


@each_game
def test_same_state_gives_the_same_picture(case):
    batch = middle(case, 1)
    np.testing.assert_array_equal(picture(batch, 1), picture(batch.clone(), 1))
    assert svg(batch, 1) == svg(batch.clone(), 1)


@each_game
def test_missing_pillow_is_one_clear_sentence_and_text_needs_none(case, monkeypatch):
    batch = new_batch(case, 1)
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ImportError, match=r"pip install llama-envs\[render\]"):
        picture(batch, 0)
    assert text(batch, 0)


@each_game
def test_importing_the_game_imports_no_pillow(case):
    code = f"import sys, llama_envs.{case[0]}.game; sys.exit('PIL' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# ---- pixels and SVG ----


def flat(parts: tuple[Part, ...]) -> Iterator[Placed | Panel | Words]:
    for part in parts:
        if isinstance(part, Choice):
            yield from flat(part.parts)
        else:
            yield part


@every_case
def test_the_document_has_every_part_of_the_picture_in_its_place(case):
    """Sprites, panels and lines of text, in the order in which they are drawn over each other."""
    for k, batch in enumerate(walk(case)):
        seat = viewers(batch)[k % (batch.game.num_players + 1)]
        described = batch.game.renderer.describe(batch.game, batch.state[0], seat)
        found = []
        definitions, ground, *body = list(elements(svg(batch, seat), "svg")[0])[2:]
        assert definitions.tag == f"{NAMESPACE}defs"
        assert ground.get("width") == "100%"
        for top in body:
            for each in [inner for inner in top if inner.tag != f"{NAMESPACE}title"] if top.get("class") else [top]:
                kind = each.tag.removeprefix(NAMESPACE)
                place = float(each.get("x", 0)), float(each.get("y", 0))
                found.append((kind, *place, "".join(each.itertext()) if kind == "text" else ""))
        expected = []
        for part in flat(described.parts):
            if isinstance(part, Panel):
                inset = part.thickness / 2 if part.outline else 0
                expected.append(("rect", part.x + inset, part.y + inset, ""))
            elif isinstance(part, Words):
                expected.append(("text", part.x, part.y, part.text))
            else:
                expected.append(("use", part.x, part.y, ""))
        assert found == expected


@every_case
def test_a_document_stands_alone(case):
    """It is well-formed, says what it shows, defines what it uses, and asks for nothing from outside."""
    for batch in walk(case, 12):
        for seat in viewers(batch):
            document = svg(batch, seat)
            (root,) = elements(document, "svg")
            height, width, _ = picture(batch, 0).shape
            assert root.get("viewBox") == f"0 0 {width} {height}"
            assert root.findtext(f"{NAMESPACE}title") == batch.game.title
            assert root.findtext(f"{NAMESPACE}desc") == text(batch, seat)
            names = [each.attrib["id"] for each in root.iter() if "id" in each.attrib]
            assert len(set(names)) == len(names) > 3
            used = {each.attrib["href"] for each in root.iter(f"{NAMESPACE}use")}
            used |= {each.attrib["clip-path"][4:-1] for each in root.iter() if "clip-path" in each.attrib}
            assert used == {f"#{name}" for name in names}
            assert not {"script", "style", "image", "foreignObject"} & {each.tag.split("}")[1] for each in root.iter()}
            assert document.count("://") == 1  # the namespace
            assert "<!--" not in document
            assert len(document) < 50_000


@every_case
def test_cards_and_buttons_are_the_actions_that_the_viewer_may_choose(case):
    """The legal ones for the seat to move and for who sees everything, with their names; a button for each."""
    for batch in walk(case):
        mover = int(batch.to_move[0])
        legal = set(np.flatnonzero(batch.action_mask[0])) if mover >= 0 else set()
        for seat in (None, mover) if mover >= 0 else viewers(batch):
            document = svg(batch, seat)
            assert set(choices(document, "button")) == legal
            assert set(choices(document, "card")) <= legal
            assert set(choices(document, "button").values()) <= {1}
            for action, name in choice_names(document).items():
                assert name
                assert batch.game.action_names[action].endswith(name)


WITHOUT_PILLOW = """
import json, sys
sys.modules["PIL"] = None
from llama_envs.core.batch import Batch
from llama_envs.core.registry import make_game
from llama_envs.drawing.shapes import Words
batch = Batch(make_game(sys.argv[1], **json.loads(sys.argv[2])), 1, seed=0)
renderer = batch.game.renderer
words = [part for part in renderer.describe(batch.game, batch.state[0], 0).parts if isinstance(part, Words)]
print(json.dumps([renderer.svg(batch.game, batch.state[0], 0), [[part.x, part.y, part.text] for part in words]]))
"""


@each_game
def test_without_pillow_text_lies_at_most_three_pixels_elsewhere(case):
    options = json.dumps(case[1])
    run = [sys.executable, "-c", WITHOUT_PILLOW, case[0], options]
    done = subprocess.run(run, capture_output=True, text=True, check=True, cwd=CHECKOUT)
    document, words = json.loads(done.stdout)
    batch = new_batch(case, 1)
    described = batch.game.renderer.describe(batch.game, batch.state[0], 0)
    here = [part for part in described.parts if isinstance(part, Words)]
    assert elements(document, "desc")[0].text == text(batch, 0)
    assert [word[2] for word in words] == [part.text for part in here]
    assert max(abs(word[0] - part.x) for word, part in zip(words, here, strict=True)) <= 3
    assert [word[1] for word in words] == [part.y for part in here]


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
@each_game
def test_a_browser_shows_what_the_pixels_show(case, tmp_path: Path):
    """But for the letters, as fonts differ: no more than a small part of the pixels is of another color."""
    batch = middle(case, 1, autoreset=False)
    frame = picture(batch, None).astype(int)
    page, shot = tmp_path / "page.html", tmp_path / "shot.png"
    page.write_text(f'<!doctype html><meta charset="utf-8"><body style="margin:0">{svg(batch, None)}', encoding="utf-8")
    subprocess.run(
        [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--screenshot={shot}",
         f"--window-size={frame.shape[1]},{frame.shape[0]}", f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()],
        check=True, capture_output=True, timeout=120, env={**os.environ, "HOME": str(tmp_path)},
    )  # fmt: skip
    shown = np.array(PIL_Image.open(shot).convert("RGB")).astype(int)
    other = picture(new_batch(case, 1, 1), 0).astype(int)

    def apart(one: np.ndarray, two: np.ndarray) -> float:
        return float((np.abs(one - two).max(axis=2) > 60).mean())

    assert shown.shape == frame.shape
    assert apart(shown, frame) < 0.025 < 2 * 0.025 < apart(frame, other)


# ---- notebooks, and games that nobody has drawn ----


@each_game
def test_show_is_one_game_of_a_batch_for_a_notebook(case):
    batch = middle(case, 3)
    renderer = batch.game.renderer
    for index in range(3):
        for seat in (None, 1):
            shown = show(batch, index, seat)
            assert shown._repr_svg_() == shown.svg == renderer.svg(batch.game, batch.state[index], seat)
    assert show(batch).svg == show(batch, 0, None).svg != show(batch, 1).svg


@each_game
def test_a_game_that_nobody_has_drawn_is_shown_by_its_text(case):
    game, batch = game_of(case), middle(case, 1)
    document = PlainText().svg(game, batch.state[0], 1)
    said = PlainText().text(game, batch.state[0], 1)
    lines = ["".join(each.itertext()) for each in elements(document, "tspan")]
    assert lines == [line for line in said.split("\n") if line]
    assert elements(document, "title")[0].text == game.title
    (root,) = elements(document, "svg")
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for each in elements(document, "tspan"):
        assert float(each.attrib["x"]) + float(each.attrib["textLength"]) < width
        assert 10 < float(each.attrib["y"]) < height


@every_case
def test_pixels_take_at_most_50_ms_and_a_document_30(case):
    batch = middle(case, 1)
    for draw, limit in ((picture, 0.05), (svg, 0.03)):
        draw(batch, None)
        times = []
        for _ in range(5):
            start = time.perf_counter()
            draw(batch, None)
            times.append(time.perf_counter() - start)
        assert min(times) < limit
