"""``baseline``: the trained agent that ships for the game and the number of players at hand.

The files lie in ``agents/baselines``; each has a JSON file beside it with the commands, seed, wall time and versions
that made it and what was measured. ``python -m experiments.baselines`` makes them again.
"""

from __future__ import annotations

from pathlib import Path

from agents.ppo import load_ppo
from llama_envs.core.game import Game
from llama_envs.core.policy import Policy, register_policy

FOLDER = Path(__file__).parent / "baselines"


def model_file(game: str, num_players: int) -> Path:
    """Where the baseline of a game with so many players lies, made or not."""
    return FOLDER / f"{game}_{num_players}p.zip"


def build(game: Game, argument: str) -> Policy:
    """The shipped agent; ValueError if none was made for the game, its players or its options."""
    if argument:
        raise ValueError(f"policy 'baseline' takes no argument, got {argument!r}.")
    path = model_file(game.name, game.num_players)
    if not path.is_file():
        made = ", ".join(sorted(file.stem for file in FOLDER.glob("*.zip")))
        raise ValueError(
            f"no baseline ships for {game.id} with {game.num_players} players; there is one for each of {made}."
        )
    return load_ppo(path, game)


def register() -> None:
    """Register ``baseline``."""
    register_policy("baseline", build, "baseline")
