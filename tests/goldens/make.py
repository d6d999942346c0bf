"""Golden games: whole games written down decision by decision, so that a version never changes unnoticed.

``python -m tests.goldens.make NAME`` writes ``tests/goldens/NAME_v0.json``. It does not overwrite: a change of rules,
rewards, observations, actions or random stream is a new version of the game, with a new file. Decisions follow from
the seed, its number and the mask alone (``choose``), so that a golden game needs no policy. Options and seeds of the
games stand in ``tests/NAME/cases.py``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from llama_envs.core.batch import Batch
from llama_envs.core.game import Game
from llama_envs.core.registry import make_game
from tests.cases import GAMES, cases_of

FOLDER = Path(__file__).parent


def choose(seed: int, number: int, legal: np.ndarray) -> int:
    """The action (one of ``legal``) of decision ``number``."""
    word = hashlib.sha256(f"{seed}/{number}".encode()).digest()[:8]
    return int(legal[int.from_bytes(word, "big") % len(legal)])


def seen_by_all(batch: Batch) -> str:
    """Hash of what every seat observes."""
    digest = hashlib.sha256()
    for seat in range(batch.game.num_players):
        digest.update(batch.observe(seat).astype("<f4").tobytes())
    return digest.hexdigest()[:16]


def play_game(game: Game, seed: int) -> dict[str, Any]:
    """One game as plain data: its decisions in order, and how it ended."""
    batch = Batch(game, 1, seed)
    decisions = []
    while (seat := int(batch.to_move[0])) >= 0:
        legal = np.flatnonzero(batch.action_mask[0])
        action = choose(seed, len(decisions), legal)
        decision: dict[str, Any] = {
            "seat": seat,
            "seen": seen_by_all(batch),
            "legal": [game.action_names[a] for a in legal],
            "action": game.action_names[action],
        }
        reward, terminated, truncated = batch.step([action])
        if reward.any():
            decision["reward"] = [round(float(r), 6) for r in reward[0]]
        decisions.append(decision)
    return {
        "decisions": decisions,
        "final": {
            "seen": seen_by_all(batch),
            "total": batch.state["total"][0].tolist(),
            "terminated": bool(terminated[0]),
            "truncated": bool(truncated[0]),
        },
    }


def path_of(game: Game) -> Path:
    return FOLDER / f"{game.id}.json"


def read(path: Path) -> list[dict[str, Any]]:
    """The golden games of a file: each with ``options``, ``seed``, ``decisions`` and ``final``."""
    games: list[dict[str, Any]] = json.loads(path.read_text())["games"]
    return games


def write(path: Path, name: str, cases: list[tuple[dict[str, Any], int]]) -> None:
    """One line for each decision, so that a difference reads well."""
    games = []
    for options, seed in cases:
        played = play_game(make_game(name, **options), seed)
        head = f'"options": {json.dumps(options)}, "seed": {seed},'
        lines = ",\n  ".join(json.dumps(decision) for decision in played["decisions"])
        games.append(f'{{{head}\n "decisions": [\n  {lines}],\n "final": {json.dumps(played["final"])}}}')
    path.write_text('{{"game": "{}", "games": [\n{}\n]}}\n'.format(path.stem, ",\n".join(games)))


def first_difference(golden: dict[str, Any], now: dict[str, Any]) -> str | None:
    """What differs first between a golden game and the same game played now; None if nothing does."""
    for number, (then, today) in enumerate(zip(golden["decisions"], now["decisions"], strict=False)):
        for key in dict.fromkeys([*then, *today]):
            if then.get(key) != today.get(key):
                return f"decision {number} ({then}): {key} was {then.get(key)}, is {today.get(key)}"
    lengths = len(golden["decisions"]), len(now["decisions"])
    if lengths[0] != lengths[1]:
        return "the game had {} decisions, has {}".format(*lengths)
    if golden["final"] != now["final"]:
        return f"the end was {golden['final']}, is {now['final']}"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description="Write down golden games.")
    parser.add_argument("name", choices=GAMES, help="which game")
    parser.add_argument("--overwrite", action="store_true", help="replace the file of a version never released")
    arguments = parser.parse_args()
    path = path_of(make_game(arguments.name))
    if path.exists() and not arguments.overwrite:
        parser.error(f"{path.name} exists; a changed game is a new version (--overwrite if it was never released).")
    cases = cases_of(arguments.name).GOLDENS
    write(path, arguments.name, cases)
    print(f"{path.name}: {len(cases)} games")


if __name__ == "__main__":
    main()
