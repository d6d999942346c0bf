"""``random``, ``heuristic`` and ``baseline``: what ships for the game at hand."""

from __future__ import annotations

from pathlib import Path

from llama_envs.core.game import Game
from llama_envs.policies.network import NetworkPolicy, load_policy
from llama_envs.policies.scripted import RandomPolicy, ScriptedPolicy


def build_random(game: Game, argument: str) -> RandomPolicy:
    """``random``: uniform over legal actions."""
    if argument:
        raise ValueError(f"policy 'random' takes no argument, got {argument!r}.")
    return RandomPolicy()


def build_heuristic(game: Game, argument: str) -> ScriptedPolicy:
    """``heuristic`` or ``heuristic:option``: the rule of thumb in the game's package; ValueError if it has none."""
    if game.spec.heuristic is None:
        raise ValueError(f"there is no heuristic for {game.id}.")
    return ScriptedPolicy(game.spec.heuristic(argument))


def build_baseline(game: Game, argument: str) -> NetworkPolicy:
    """``baseline``: the trained agent in the game's package for its number of players.

    Raises:
        ValueError: none ships for the game, its number of players or its options.
    """
    if argument:
        raise ValueError(f"policy 'baseline' takes no argument, got {argument!r}.")
    return load_policy(baseline_file(game), game)


def baseline_file(game: Game) -> Path:
    """The policy file behind ``baseline``; ValueError if none ships for the game and its number of players."""
    folder = game.spec.baselines
    made = sorted(file.stem for file in folder.glob("*.npz")) if folder is not None else []
    name = f"{game.name}_{game.num_players}p"
    if folder is None or name not in made:
        there = f"; there is one for each of {', '.join(made)}" if made else ""
        raise ValueError(f"no baseline ships for {game.id} with {game.num_players} players{there}.")
    return folder / f"{name}.npz"
