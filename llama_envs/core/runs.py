"""How the running program was started, and with which versions: what files say of where they come from."""

from __future__ import annotations

import platform
import shlex
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

LIBRARIES = ("llama-envs", "numpy", "numba", "gymnasium", "pettingzoo", "torch", "stable-baselines3", "sb3-contrib")


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
    """How this process was started, without arguments: ``python -m experiments.train``, or a console command."""
    module = getattr(sys.modules.get("__main__"), "__spec__", None)
    if module is not None:
        return f"python -m {module.name.removesuffix('.__main__')}"
    program = Path(sys.argv[0] or "-c").name
    return f"python {program}" if program.endswith(".py") else program


def command_line() -> str:
    """The command that started this process, ready to paste."""
    return " ".join([command_name(), *map(shlex.quote, sys.argv[1:])])


def made_here() -> dict[str, Any]:
    """Command and versions, without the operating system."""
    return {"command": command_line(), "versions": {k: v for k, v in versions().items() if k != "platform"}}
