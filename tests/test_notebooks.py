"""The committed notebooks: executed from top to bottom, small, without warnings, errors or paths of a machine.

That they still run is tested by ``make test-notebooks``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cases import CHECKOUT

NOTEBOOKS = sorted((CHECKOUT / "notebooks").glob("*.ipynb"))
NAMES = ["01_quickstart", "02_train_and_evaluate", "03_card_passing", "04_exact_solving", "05_bring_your_own_game"]
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


def code_cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


def outputs(path: Path) -> list[dict[str, Any]]:
    return [output for cell in code_cells(path) for output in cell["outputs"]]


def test_every_notebook_is_there() -> None:
    assert [path.stem for path in NOTEBOOKS] == NAMES


@each_notebook
def test_it_is_committed_as_executed_from_top_to_bottom(path: Path) -> None:
    assert [cell["execution_count"] for cell in code_cells(path)] == list(range(1, len(code_cells(path)) + 1))
    assert len(outputs(path)) > 3


@each_notebook
def test_it_shows_no_warning_and_no_error(path: Path) -> None:
    for output in outputs(path):
        assert output["output_type"] != "error", output
        assert output.get("name") != "stderr", output
        assert "Warning" not in json.dumps(output.get("text", "")), output


@each_notebook
def test_it_is_small_and_says_nothing_of_the_machine_that_ran_it(path: Path) -> None:
    assert path.stat().st_size <= 500_000
    text = path.read_text()
    assert str(CHECKOUT) not in text
    assert not re.search(r"/(tmp|home|root|Users)/|C:\\\\", text)
    assert "execution" not in {key for cell in code_cells(path) for key in cell["metadata"]}  # when it ran
