"""The compatibility table: what the tests of other libraries found, cell by cell.

A test calls :func:`record` once for each cell, after it has shown what it says. The cells are kept in
``compatibility.json``, from which ``python -m docs.generate`` writes docs/compatibility.md. A cell that differs from
the kept one fails its test, so the table cannot drift. To write the file anew, delete it and run
``COMPATIBILITY=write python -m pytest tests/adapters`` (without ``-n``).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TypedDict

from llama_envs.core.registry import game_names
from tests.cases import GAMES, cases_of

FILE = Path(__file__).with_name("compatibility.json")
STATUSES = ("works", "unsupported")
COUNTS = tuple((name, players) for name in GAMES for players in cases_of(name).COUNTS)


class Cell(TypedDict):
    """One game with one number of players in one API of one library."""

    library: str
    game: str
    players: int
    status: str
    note: str
    test: str


def kept() -> list[Cell]:
    """The cells of the file, in the order of the table."""
    return json.loads(FILE.read_text()) if FILE.exists() else []


def record(library: str, game: str, players: int, status: str, note: str = "") -> None:
    """Say what the running test found.

    Args:
        library: the row of the table: the library, and which of its APIs, as in "TorchRL, AEC".
        game: the name of a game in the registry.
        players: how many seats were tested.
        status: "works", or "unsupported".
        note: what a user must know; the exact reason where it is unsupported.

    Raises:
        AssertionError: the file holds something else.
    """
    assert game in game_names(), game
    assert status in STATUSES, status
    assert note or status == "works", "a reason is missing"
    test = os.environ["PYTEST_CURRENT_TEST"].partition("[")[0].partition(" ")[0]
    cell = Cell(library=library, game=game, players=players, status=status, note=note, test=test)
    if os.environ.get("COMPATIBILITY") == "write":
        _write(cell)
    assert cell in kept(), f"{FILE.name} does not hold {cell}; see tests/compat.py."


def _write(cell: Cell) -> None:
    assert "PYTEST_XDIST_WORKER" not in os.environ, "write the file from one process, without -n."
    others = [other for other in kept() if _place(other) != _place(cell)]
    lines = [json.dumps(row, ensure_ascii=False) for row in sorted([*others, cell], key=_place)]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n")


def _place(cell: Cell) -> tuple[str, str, int]:
    return cell["library"].casefold(), cell["game"], cell["players"]
