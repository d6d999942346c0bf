"""``llama-envs``: the commands that work where only the wheel is installed (extra ``cli``).

Each is the same code as ``python -m experiments.<command>`` in a checkout.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

COMMANDS = {
    "evaluate": "play policies against each other on shared deals",
    "tournament": "any number of policies, at many tables",
    "table": "play, watch and look at recorded games in the browser",
    "games": "the games that are there, with their options",
    "policies": "the policies that are there, and how each is written",
}


def main() -> None:
    """The console command."""
    sys.path.insert(0, "")  # as ``python -m`` does: module:Name is looked for here too
    name = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if name in ("-h", "--help"):
        print("usage: llama-envs COMMAND [OPTIONS]   (llama-envs COMMAND --help shows them)\n")
        for command, meaning in COMMANDS.items():
            print(f"  {command:12} {meaning}")
        return
    if name == "--version":
        print(import_module("llama_envs").__version__)
        return
    if name not in COMMANDS:
        print(f"error: there is no command {name!r}; the commands are {', '.join(COMMANDS)}.", file=sys.stderr)
        sys.exit(2)
    try:
        run: Callable[[list[str]], None] = import_module(f"llama_envs.cli.{name}").main
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "llama_envs":
            raise
        extra = "web" if name == "table" else "cli"
        print(f"error: llama-envs {name} needs {error.name}: pip install 'llama-envs[{extra}]'.", file=sys.stderr)
        sys.exit(2)
    sys.argv[0] = f"llama-envs {name}"
    run(sys.argv[2:])


if __name__ == "__main__":
    main()
