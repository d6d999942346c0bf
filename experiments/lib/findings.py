"""The text of a report, written by a person in a Markdown file; the program fills in numbers and picks verdicts.

::

    ## care: Minding the left neighbour

    ### how
    One seat counts {care:g} of the neighbour's points ...

    ### worth
    - above: With {players} players it pays: {lead} points.
    - below: With {players} players it costs: {lead} points.
    - undecided: With {players} players it is not sure whether it pays: {lead} points.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

VERDICTS = {1: "above", -1: "below", 0: "undecided"}


class Findings:
    """The sentences of files.

    Attributes:
        sentences: by part and name ("care.worth"), then by verdict, which is "" where there is only one.
    """

    def __init__(self, *paths: Path) -> None:
        self.sentences: dict[str, dict[str, str]] = {}
        for path in paths:
            part = name = verdict = ""
            for line in path.read_text(encoding="utf-8").splitlines():
                if line.startswith("## "):
                    part, _, title = line[3:].partition(": ")
                    name, verdict = f"{part}.title", ""
                    if title:
                        self.sentences[name] = {"": title}
                elif line.startswith("### "):
                    name, verdict = f"{part}.{line[4:].strip()}", ""
                    self.sentences[name] = {}
                elif part and line.strip():
                    if line.startswith("- "):
                        verdict, _, line = line[2:].partition(": ")
                    texts = self.sentences[name]
                    texts[verdict] = f"{texts.get(verdict, '')} {line.strip()}".strip()

    def say(self, name: str, verdict: int | str = "", **numbers: Any) -> str:
        """A sentence with its numbers; ``verdict`` is that of an interval (``Estimate.side``), or one of the file's."""
        return self.sentences[name][verdict if isinstance(verdict, str) else VERDICTS[verdict]].format(**numbers)


def listed(items: Iterable[object]) -> str:
    """``a, b and c``; empty without any."""
    words = [str(item) for item in items]
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def by_players(texts: Mapping[int, str], unit: str = "") -> str:
    """``0.2 points with 2, 0.3 points with 3 and 0.4 points with 4 players``."""
    return f"{listed(f'{text}{unit} with {players}' for players, text in texts.items())} players"


def together(sides: Iterable[int]) -> int:
    """The verdict that all of them share, else 0."""
    found = set(sides)
    return found.pop() if len(found) == 1 else 0


def either(above: object, below: object) -> str:
    """The verdict on several numbers, of which some surely lie above, or below, or on both sides, or none do."""
    return {(True, True): "both", (True, False): "above", (False, True): "below", (False, False): "none"}[
        bool(above), bool(below)
    ]
