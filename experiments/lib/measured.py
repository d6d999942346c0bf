"""What the experiments are to measure of each game, as its own package says."""

from __future__ import annotations

import sys
from typing import Any

from llama_envs.core.registry import game_specs

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]


def measured(table: str) -> dict[str, dict[str, Any]]:
    """A table of every game's file, by the game's name; games without one are left out."""
    found = {}
    for spec in game_specs():
        if spec.measured is not None:
            content = tomllib.loads(spec.measured.read_text(encoding="utf-8"))
            if table in content:
                found[spec.name] = content[table]
    return found
