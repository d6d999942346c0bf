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


def said(text: str) -> str:
    """What was printed, out of the frame that it may stand in, on one line."""
    return " ".join(text.replace("│", " ").split())
