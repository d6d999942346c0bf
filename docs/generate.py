"""Write the generated parts of the README files and of docs/, or check them.

``python -m docs.generate`` rewrites them; with ``--check`` it only exits with 1 if one is out of date. It knows the
games that have a README in this package. ``readme.py`` of a game may add tables of its own: ``TABLES``, by their names,
each a function of the Game that gives Markdown.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image

from llama_envs.core.batch import Batch
from llama_envs.core.files import write_atomically, write_text
from llama_envs.core.game import Game
from llama_envs.core.markdown import markdown_table
from llama_envs.core.registry import game_specs, make_game
from llama_envs.core.spec import GameSpec
from llama_envs.policies import Players, make_policy

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "llama_envs"
PICTURE_SEED = 3
BLOCK = re.compile(r"(<!-- generated: (.+?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)

Table = Callable[[Game], str]


def actions(game: Game) -> str:
    """The action table of a game."""
    return markdown_table(("action", "meaning"), enumerate(game.action_names))


def observation(game: Game) -> str:
    """The observation table of a game."""
    return game.observation.table()


def documented() -> list[GameSpec]:
    """The games that have a README here."""
    return [spec for spec in game_specs() if (PACKAGE / spec.name / "README.md").is_file()]


def tables_of(name: str) -> dict[str, Table]:
    """The tables that the README of a game may ask for."""
    module = f"llama_envs.{name}.readme"
    own: dict[str, Table] = import_module(module).TABLES if find_spec(module) is not None else {}
    return {"actions": actions, "observation": observation, **own}


def compatibility() -> str:
    """What works with which library, as the tests found it (``tests/compat.py``)."""
    cells = json.loads((ROOT / "tests" / "compatibility.json").read_text(encoding="utf-8"))
    titles = {spec.name: spec.title for spec in documented()}
    columns, rows = list(titles), []
    for library in dict.fromkeys(cell["library"] for cell in cells):
        row = [cell for cell in cells if cell["library"] == library]
        players = {
            game: [c["players"] for c in row if c["game"] == game and c["status"] == "works"] for game in columns
        }
        works = [", ".join(str(count) for count in players[game]) or "–" for game in columns]
        remarks = []
        for note in dict.fromkeys(cell["note"] for cell in row if cell["note"]):
            games = [game for game in columns if any(cell["game"] == game and cell["note"] == note for cell in row)]
            of = "" if games == columns else f"{', '.join(titles[game] for game in games)}: "
            remarks.append(of + note)
        rows.append([library, *works, "; ".join(remarks)])
    return markdown_table(("library", *(f"{title}, players" for title in titles.values()), "remark"), rows)


def source(path: str) -> str:
    """A Python file of the project."""
    return f"```python\n{read(ROOT / path)}```"


def generated(text: str) -> str:
    """``text`` with every block ``<!-- generated: ... -->`` written anew.

    A block is ``compatibility``, ``source PATH``, or ``GAME TABLE [option=value ...]``.
    """
    return BLOCK.sub(lambda match: f"{match[1]}\n{content(match[2])}\n\n{match[4]}", text)


def content(wanted: str) -> str:
    """What stands in a block."""
    match wanted.split():
        case ["compatibility"]:
            return compatibility()
        case ["source", path]:
            return source(path)
        case [name, table, *options]:
            return tables_of(name)[table](make_game(name, **dict(option.split("=") for option in options)))
        case _:
            raise ValueError(f"a generated block is not known: {wanted!r}.")


def outdated() -> list[Path]:
    """Pages whose generated tables differ from the code."""
    return [path for path in pages() if generated(read(path)) != read(path)]


def pages() -> list[Path]:
    """All pages that may hold generated tables."""
    games = [PACKAGE / spec.name / "README.md" for spec in documented()]
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *games]


def read(path: Path) -> str:
    """The text of a page."""
    return path.read_text(encoding="utf-8")


def draw(spec: GameSpec, decisions: int) -> Path:
    """The picture of a game for its README: the table after some decisions of the heuristic, from the mover's seat."""
    game = make_game(spec.name)
    batch = Batch(game, 1, seed=PICTURE_SEED)
    players = Players(batch, [make_policy("heuristic", game)], np.zeros((1, game.num_players), np.int64), PICTURE_SEED)
    action = np.zeros(1, np.int64)
    for _ in range(decisions):
        players.act(action)
        batch.step(action)
    frame = game.renderer.picture(game, batch.state[0], int(batch.to_move[0]))
    path = PACKAGE / spec.name / "table.png"
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
        write_text(path, generated(read(path)))
    if arguments.pictures:
        for spec in documented():
            if spec.picture is not None:
                print(f"{draw(spec, spec.picture).relative_to(ROOT)} drawn")


if __name__ == "__main__":
    main()
