"""experiments.notebooks: what runs is written with its outputs, what fails or warns is left as it was."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from experiments import notebooks


def notebook(path: Path, *sources: str) -> str:
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{i}") for i, source in enumerate(sources)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path.read_text()


def test_outputs_are_written_and_a_second_run_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "good.ipynb"
    notebook(path, "from pathlib import Path", "print(2 + 3)", "[file.name for file in Path().iterdir()]")
    notebooks.run(path, 60)
    first = path.read_text()
    cells = nbformat.read(path, as_version=4).cells
    assert cells[1].outputs[0].text == "5\n"
    assert "good.ipynb" in cells[2].outputs[0].data["text/plain"]
    assert [cell.execution_count for cell in cells] == [1, 2, 3]
    notebooks.run(path, 60)
    assert path.read_text() == first


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("import warnings; warnings.warn('old')", "writes to stderr: .*old"),
        ("print('a line\\n' * 90_000)", "bytes with its outputs; 500,000 are allowed"),
    ],
    ids=["fails", "warns", "too large"],
)
def test_what_fails_warns_or_is_too_large_is_left_as_it_was(tmp_path: Path, source: str, message: str) -> None:
    path = tmp_path / "bad.ipynb"
    before = notebook(path, source)
    with pytest.raises(ValueError, match=message):
        notebooks.run(path, 60)
    assert path.read_text() == before


def test_a_missing_notebook_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot read the notebook"):
        notebooks.run(tmp_path / "none.ipynb", 60)
