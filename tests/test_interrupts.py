"""Ctrl-C in the commands that play many games: one line that says what is kept, exit code 130."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from tests.experiments.commands import call, sentence

STOPPED = [  # module, what is interrupted, arguments, what is said
    ("llama_envs.cli.evaluate", "compare", ["lama"], "nothing was written"),
    ("llama_envs.cli.tournament", "run_tournament", ["lama", "--name", "x"], "--name x --resume goes on"),
    ("experiments.exact.__main__", "solve_all", ["--quick"], "the policies solved so far are in runs/exact"),
    ("experiments.benchmark.__main__", "measure", ["--quick", "--name", "x"], "--name x --resume goes on"),
    ("experiments.throughput.__main__", "run", ["--quick"], "nothing was written"),
]


@pytest.mark.parametrize(("module", "name", "arguments", "words"), STOPPED, ids=lambda value: str(value)[:40])
def test_an_interrupt_is_one_line_that_says_what_is_kept(
    module: str,
    name: str,
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    command = import_module(module)
    monkeypatch.setattr(command, name, interrupted)
    assert call(command.main, arguments, tmp_path, monkeypatch) == 130
    assert words in sentence(capsys.readouterr().err)
