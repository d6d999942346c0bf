"""Command lines, called in the process of the test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest


def call(
    main: Callable[[Sequence[str]], None], arguments: Sequence[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> int:
    """The exit code of ``main`` with these arguments, called in ``folder``."""
    monkeypatch.chdir(folder)
    try:
        main(list(arguments))
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def sentence(errors: str) -> str:
    """The one sentence that a command left on stderr."""
    (line,) = errors.strip().splitlines()
    assert line.startswith("error: ")
    assert line.endswith(".")
    return line.removeprefix("error: ")
