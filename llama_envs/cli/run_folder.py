"""``runs/<name>/``: what every experiment writes, file by file under a temporary name and then renamed."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import shlex
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RUNS = Path("runs")
LIBRARIES = ("llama-envs", "numpy", "numba", "gymnasium", "pettingzoo", "torch", "stable-baselines3", "sb3-contrib")


def write_atomically(path: Path, write: Callable[[Path], Any]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then rename it: what is there is always whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        write(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """``text`` to ``path``, atomically."""
    write_atomically(path, lambda temporary: temporary.write_text(text))


def write_json(path: Path, value: Any) -> None:
    """``value`` to ``path`` as JSON, atomically; dataclasses become objects."""
    write_text(path, json.dumps(value, indent=2, default=_plain) + "\n")


def versions() -> dict[str, str]:
    """Python, operating system, and the libraries that decide a result."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "not installed"
    return found


def command_name() -> str:
    """How this process was started, without arguments: ``python -m experiments.train``."""
    module = getattr(sys.modules.get("__main__"), "__spec__", None)
    return f"python -m {module.name}" if module is not None else f"python {sys.argv[0]}"


def command_line() -> str:
    """The command that started this process, ready to paste."""
    return " ".join([command_name(), *map(shlex.quote, sys.argv[1:])])


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


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return str(value)
