"""The generated tables of the README files are up to date."""

from __future__ import annotations

import re

from tests.compat import STATUSES, kept
from tests.cases import CHECKOUT

from experiments.docs import outdated, readmes
from llama_envs.core.registry import game_names


def test_no_generated_table_differs_from_the_code() -> None:
    assert outdated() == []


def test_every_room_has_its_generated_tables() -> None:
    text = "\n".join(path.read_text() for path in readmes())
    blocks = re.findall(r"<!-- generated: (.+?) -->", text)
    for game in game_names():
        assert any(block.startswith(f"{game} actions") for block in blocks)
        assert any(block.startswith(f"{game} observation") for block in blocks)


def test_every_cell_of_the_compatibility_table_comes_from_a_test_that_exists() -> None:
    assert "<!-- generated: compatibility -->" in (CHECKOUT / "README.md").read_text()
    cells = kept()
    assert cells
    for cell in cells:
        path, _, name = cell["test"].partition("::")
        assert f"def {name}(" in (CHECKOUT / path).read_text()
        assert cell["status"] in STATUSES
