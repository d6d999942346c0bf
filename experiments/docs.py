"""Write the generated tables of the README files, or check them.

``python -m experiments.docs`` rewrites them; with ``--check`` it only exits with 1 if one is out of date.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

import agents  # noqa: F401  (registers the shipped policies)
from experiments.run_folder import write_atomically, write_text
from llama_envs.core.batch import Batch
from llama_envs.policies.policy import Players, make_policy
from llama_envs.core.registry import game_names, make_game
from llama_envs.llama_llama.deck import deck_table_markdown

ROOT = Path(__file__).parent.parent
PICTURES = {"lama": 46, "llama_llama": 4 + 16 + 4 + 2}  # game -> decisions before the picture
PICTURE_SEED = 3
BLOCK = re.compile(r"(<!-- generated: (.+?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def actions(name: str, options: dict[str, str]) -> str:
    """The action table of a game."""
    names = make_game(name, **options).action_names
    return "\n".join(
        ["| action | meaning |", "|---|---|", *(f"| {number} | {text} |" for number, text in enumerate(names))]
    )


def observation(name: str, options: dict[str, str]) -> str:
    """The observation table of a game."""
    return make_game(name, **options).observation.table()


def deck(name: str, options: dict[str, str]) -> str:
    """The cards of a game's deck."""
    return deck_table_markdown(make_game(name, **options).config.deck).rstrip()


def compatibility() -> str:
    """What works with which library, as the tests found it (``tests/compat.py``)."""
    cells = json.loads((ROOT / "tests" / "compatibility.json").read_text())
    columns = game_names()
    lines = [
        "| library | " + " | ".join(f"{make_game(game).title}, players" for game in columns) + " | remark |",
        "|---" * (len(columns) + 2) + "|",
    ]
    for library in dict.fromkeys(cell["library"] for cell in cells):
        row = [cell for cell in cells if cell["library"] == library]
        players = {
            game: [c["players"] for c in row if c["game"] == game and c["status"] == "works"] for game in columns
        }
        works = [", ".join(str(count) for count in players[game]) or "–" for game in columns]
        remarks = []
        for note in dict.fromkeys(cell["note"] for cell in row if cell["note"]):
            games = [game for game in columns if any(cell["game"] == game and cell["note"] == note for cell in row)]
            of = "" if games == columns else f"{', '.join(make_game(game).title for game in games)}: "
            remarks.append(of + note)
        lines.append(f"| {library} | {' | '.join(works)} | {'; '.join(remarks)} |")
    return "\n".join(lines)


PROJECT_TABLES: dict[str, Callable[[], str]] = {"compatibility": compatibility}
TABLES: dict[str, Callable[[str, dict[str, str]], str]] = {"actions": actions, "observation": observation, "deck": deck}


def generated(text: str) -> str:
    """``text`` with every block ``<!-- generated: [GAME] TABLE [option=value ...] -->`` written anew."""

    def block(match: re.Match[str]) -> str:
        if match[2] in PROJECT_TABLES:
            return f"{match[1]}\n{PROJECT_TABLES[match[2]]()}\n\n{match[4]}"
        game, table, *options = match[2].split()
        return f"{match[1]}\n{TABLES[table](game, dict(option.split('=') for option in options))}\n\n{match[4]}"

    return BLOCK.sub(block, text)


def outdated() -> list[Path]:
    """README files whose generated tables differ from the code."""
    return [path for path in readmes() if generated(path.read_text()) != path.read_text()]


def readmes() -> list[Path]:
    """All README files of the project."""
    return [ROOT / "README.md", *sorted((ROOT / "llama_envs").glob("*/README.md"))]


def draw(name: str, decisions: int) -> Path:
    """The picture of a game for its README: the table after some decisions of the heuristic, from the mover's seat."""
    game = make_game(name)
    batch = Batch(game, 1, seed=PICTURE_SEED)
    players = Players(batch, [make_policy("heuristic", game)], np.zeros((1, game.num_players), np.int64), PICTURE_SEED)
    action = np.zeros(1, np.int64)
    for _ in range(decisions):
        players.act(action)
        batch.step(action)
    frame = game.renderer.picture(game, batch.state[0], int(batch.to_move[0]))
    path = ROOT / "llama_envs" / name / "table.png"
    write_atomically(path, lambda temporary: Image.fromarray(frame).quantize(256).save(temporary, optimize=True))
    return path


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say which files are out of date")
    parser.add_argument("--pictures", action="store_true", help="also draw the pictures")
    arguments = parser.parse_args()
    check = arguments.check
    for path in outdated():
        print(f"{path.relative_to(ROOT)} {'is out of date' if check else 'rewritten'}")
        if check:
            sys.exit(1)
        write_text(path, generated(path.read_text()))
    if arguments.pictures:
        for name, decisions in PICTURES.items():
            print(f"{draw(name, decisions).relative_to(ROOT)} drawn")


if __name__ == "__main__":
    main()
