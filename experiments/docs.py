"""Write the generated tables of the README files, or check them.

``python -m experiments.docs`` rewrites them; with ``--check`` it only exits with 1 if one is out of date.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

from experiments.run_folder import write_text
from llama_envs.core.registry import make_game
from llama_envs.llama_llama.deck import deck_table_markdown

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"(<!-- generated: (.+?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def actions(name: str) -> str:
    """The action table of a game with its largest set of actions."""
    most = {"chip_exchange": "choice"} if name == "lama" else {}
    names = make_game(name, **most).action_names
    return "\n".join(
        ["| action | meaning |", "|---|---|", *(f"| {number} | {text} |" for number, text in enumerate(names))]
    )


def observation(name: str) -> str:
    """The observation table of a game with its default options."""
    return make_game(name).observation.table()


def deck(name: str) -> str:
    """The cards of a game's default deck."""
    return deck_table_markdown(make_game(name).config.deck).rstrip()


TABLES: dict[str, Callable[[str], str]] = {"actions": actions, "observation": observation, "deck": deck}


def generated(text: str) -> str:
    """``text`` with every generated block written anew."""

    def block(match: re.Match[str]) -> str:
        game, table = match[2].split()
        return f"{match[1]}\n{TABLES[table](game)}\n\n{match[4]}"

    return BLOCK.sub(block, text)


def outdated() -> list[Path]:
    """README files whose generated tables differ from the code."""
    return [path for path in readmes() if generated(path.read_text()) != path.read_text()]


def readmes() -> list[Path]:
    """All README files of the project."""
    return [ROOT / "README.md", *sorted((ROOT / "llama_envs").glob("*/README.md"))]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say which files are out of date")
    check = parser.parse_args().check
    for path in outdated():
        print(f"{path.relative_to(ROOT)} {'is out of date' if check else 'rewritten'}")
        if check:
            sys.exit(1)
        write_text(path, generated(path.read_text()))


if __name__ == "__main__":
    main()
