"""Command lines, called in the process of the test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

Refusal = Callable[[Callable[[Sequence[str]], object], Sequence[str]], str]  # the fixture ``refusal``


def call(
    main: Callable[[Sequence[str]], object], arguments: Sequence[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> int:
    """The exit code of ``main`` with these arguments, called in ``folder``."""
    monkeypatch.chdir(folder)
    try:
        main(list(arguments))
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def listing(folder: Path) -> dict[Path, int | None]:
    """Everything in ``folder`` with the time of its last change, of what is no folder."""
    return {path: None if path.is_dir() else path.lstat().st_mtime_ns for path in folder.rglob("*")}


def fits(printed: str) -> None:
    """What a command printed fits 80 columns, and nothing was cut."""
    assert printed.strip()
    assert "…" not in printed
    assert max(map(len, printed.splitlines())) <= 80


def sentence(errors: str) -> str:
    """The one sentence that a command left on stderr."""
    (line,) = errors.strip().splitlines()
    assert line.startswith("error: ")
    assert line.endswith(".")
    return line.removeprefix("error: ")
