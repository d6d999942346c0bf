"""The README's Python runs as it stands there."""

from __future__ import annotations

import os
import re
import shlex
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


SMALL = {  # sizes, so that every command ends within seconds; the rest of each is run as it stands
    "train": "--total-timesteps 4096 --num-envs 128 --n-steps 8 --batch-size 256 --deals 4 --seeds 2",
    "exploit": "--total-timesteps 4096 --num-envs 128 --n-steps 8 --batch-size 256 --deals 8 --selection-deals 4",
    "exact": "--steps 4096 --seeds 1",
    "evaluate": "--deals 20",
    "tournament": "--deals 6",
}
NOT_RUN = ("pip ", "make ", "llama-envs table")  # what installs, what these tests are part of, a server (tests/web)


def shell_commands() -> list[list[str]]:
    fenced = (ROOT / "README.md").read_text().split("```")[1::2]
    blocks = [block.splitlines()[1:] for block in fenced if block.startswith("\n")]  # of no language
    lines = [line.partition("#")[0].strip() for block in blocks for line in block]
    return [shlex.split(line) for line in lines if line and not line.startswith(NOT_RUN)]


def made_small(words: list[str]) -> list[str]:
    """A command with other sizes, where it has that option or takes a default that is large."""
    module = words[2].removeprefix("experiments.") if words[0] == "python" else words[1]
    for option, value in zip(*[iter(SMALL.get(module, "").split())] * 2, strict=True):
        if option in words:
            words = [*words[: words.index(option)], option, value, *words[words.index(option) + 2 :]]
        elif option != "--seeds":
            words = [*words, option, value]
    return words


@pytest.mark.exhaustive
def test_every_command_runs_one_after_the_other(tmp_path: Path) -> None:
    commands = shell_commands()
    assert len(commands) >= 12
    assert {words[0] for words in commands} == {"python", "llama-envs"}
    for words in map(made_small, commands):
        program = Path(sys.executable) if words[0] == "python" else Path(sys.executable).parent / words[0]
        done = subprocess.run(
            [program, *words[1:]], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, f"{shlex.join(words)}: {done.stderr[-2000:]}"
    for made in ("runs/mine/model.zip", "decisions.parquet", "g.jsonl"):
        assert (tmp_path / made).is_file()
