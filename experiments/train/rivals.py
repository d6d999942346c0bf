"""How well a policy plays, alone among others that stay the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from llama_envs.cli.evaluate import evaluate, frame_of, show
from llama_envs.core.files import write_atomically
from llama_envs.core.game import Game
from llama_envs.evaluation.matches import play

TRIED = 50  # deals, to see whether games come to their end


def rivals_of(game: Game) -> tuple[str, ...]:
    """Random play, and the game's heuristic if it has one."""
    return ("random", "heuristic") if game.spec.heuristic is not None else ("random",)


def check_ends(game: Game) -> None:
    """ValueError if no game of an evaluation would count: a limit cuts all short, those of random players at least."""
    names = ["random"] * game.num_players
    if play(game, names, TRIED, seed=0).truncated.all():
        raise ValueError(
            f"{TRIED * game.num_players} random games were all cut short by a limit of the game, so that none would "
            f"count; without an evaluation (deals = 0, evaluate_every = 0) it can be trained on."
        )


def report(
    game: Game, model: Path, deals: int, seed: int, out: Path, spread: Callable[..., Iterable[Any]] = map
) -> pd.DataFrame:
    """The policy file ``model`` in one seat and each of its rivals in all others: shown, written to ``out``, returned.

    Raises:
        ValueError: no game counts, or the file cannot be read.
    """
    frames = []
    for rival in rivals_of(game):
        names = [f"ppo:{model}", *[rival] * (game.num_players - 1)]
        result = evaluate(game, names, deals, seed, spread=spread)
        show(result, f"{game.title}: the trained policy against {game.num_players - 1} × {rival}")
        frames.append(frame_of(result).assign(against=rival))
    table = pd.concat(frames)
    write_atomically(out, lambda path: table.to_csv(path, index=False))
    return table
