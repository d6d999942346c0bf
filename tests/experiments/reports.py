"""Reports of studies: what must be true of any."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd


def check_report(folder: Path) -> str:
    """Every file that a report names is there, its numbers have intervals, its sentences are filled in; its text."""
    text = (folder / "report.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(([^)]+)\)", text)
    assert linked
    for name in linked:
        assert (folder / name).stat().st_size > 100, name
        if name.endswith(".png"):
            assert (folder / name).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        else:
            frame = pd.read_csv(folder / name)
            assert len(frame)
            for column in (column for column in frame if f"{column}_95" in frame):
                known = (frame["deals"] > 1) & frame[column].notna()
                assert (frame.loc[known, f"{column}_95"] >= 0).all(), (name, column)
            assert any(str(column).endswith("_95") for column in frame), name
    assert text.count("Reproduce: `python -m experiments.") == text.count("**Question.**")
    prose = re.sub(r"`[^`]*`", "CODE", text)
    assert re.findall(r".*(?:\bnan\b|[{}]|  | [.,;:]).*", prose) == []
    return text
