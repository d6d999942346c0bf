"""The generated tables of the README files and of docs/ are up to date."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import generate as docs
from llama_envs.core.registry import make_game
from tests.cases import CHECKOUT, GAMES
from tests.compat import STATUSES, kept

BLOCKS = re.findall(r"<!-- generated: (.+?) -->", "\n".join(docs.read(path) for path in docs.pages()))


def test_no_generated_table_differs_from_the_code() -> None:
    assert docs.outdated() == []


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_its_generated_tables(name: str) -> None:
    assert name in [spec.name for spec in docs.documented()]
    for table in docs.tables_of(name):  # the game's own among them
        assert any(block.startswith(f"{name} {table}") for block in BLOCKS), table


@pytest.mark.parametrize("name", GAMES)
def test_tables_say_what_the_game_says(name: str) -> None:
    game = make_game(name)
    tables = {table: make(game) for table, make in docs.tables_of(name).items()}
    assert [line.split(" | ")[1].removesuffix(" |") for line in tables["actions"].splitlines()[2:]] == list(
        game.action_names
    )
    assert all(f"`{piece}`" in tables["observation"] for piece in game.observation)
    for text in tables.values():
        widths = {line.replace("\\|", "").count("|") for line in text.splitlines()}
        assert len(widths) == 1  # a table, every row as wide as its head


def test_a_table_that_differs_is_named_and_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "README.md"
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    monkeypatch.setattr(docs, "documented", lambda: [])
    page.write_text(f"before\n<!-- generated: {GAMES[0]} actions -->\nold\n<!-- end -->\nafter\n", encoding="utf-8")
    assert docs.outdated() == [page]
    page.write_text(docs.generated(docs.read(page)), encoding="utf-8")
    assert docs.outdated() == []
    text = page.read_text(encoding="utf-8")
    assert docs.actions(make_game(GAMES[0])) in text
    assert "old" not in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")


def test_a_block_that_nobody_writes_is_an_error() -> None:
    with pytest.raises(ValueError, match="a generated block is not known: 'nothing'"):
        docs.generated("<!-- generated: nothing -->\n<!-- end -->")


def test_every_cell_of_the_compatibility_table_comes_from_a_test_that_exists() -> None:
    assert "compatibility" in BLOCKS
    cells = kept()
    assert cells
    for cell in cells:
        path, _, name = cell["test"].partition("::")
        assert f"def {name}(" in (CHECKOUT / path).read_text()
        assert cell["status"] in STATUSES
