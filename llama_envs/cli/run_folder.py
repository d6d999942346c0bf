"""``runs/<name>/``: the folder of an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from llama_envs.core.files import write_json, write_text
from llama_envs.core.runs import command_line, versions

RUNS = Path("runs")


def open_run(name: str, config: dict[str, Any], resume: bool) -> Path:
    """The folder of the run ``name``, with config (the seed among it), command and versions in it.

    Raises:
        ValueError: the run exists and ``resume`` is False, or the other way round; or the name is no file name.
    """
    if not name or Path(name).name != name or name.startswith("."):
        raise ValueError(f"name must be a plain folder name, got {name!r}.")
    folder = RUNS / name
    if resume:
        if not (folder / "config.json").is_file():
            raise ValueError(f"there is no run {folder} to resume.")
        return folder
    if folder.exists():
        raise ValueError(f"{folder} exists; choose another --name, or go on with it by --resume.")
    write_text(folder / "command.txt", command_line() + "\n")
    write_json(folder / "versions.json", versions())
    write_json(folder / "config.json", config)
    return folder
