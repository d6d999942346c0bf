"""The README's Python runs as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def test_the_readme_has_examples() -> None:
    assert len(BLOCKS) >= 3


def test_every_link_to_this_project_leads_to_a_file() -> None:
    text = (ROOT / "README.md").read_text()
    here = r"https://(?:github\.com/llama-envs/llama-envs/blob|raw\.githubusercontent\.com/llama-envs/llama-envs)/main/"
    paths = re.findall(rf"\({here}([^)]+)\)", text)
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / path).is_file()] == []
    assert not re.findall(r"\]\((?!https://)", text)  # a relative link is dead where the package is listed


@pytest.mark.parametrize("code", BLOCKS, ids=lambda code: code.splitlines()[0])
def test_example_runs(code: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
