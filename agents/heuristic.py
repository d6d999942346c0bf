"""``heuristic``: the shipped rule of thumb of the game at hand."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from llama_envs.core.game import Game
from llama_envs.core.policy import Policy, register_policy

_GAMES = ("lama", "llama_llama")  # each has a module of its name in agents/scripted


def build(game: Game, argument: str) -> Policy:
    """The heuristic of ``game``; ValueError if there is none."""
    if game.name not in _GAMES:
        raise ValueError(f"there is no heuristic for {game.id}; there is one for {', '.join(_GAMES)}.")
    make: Callable[[Game, str], Policy] = import_module(f"agents.scripted.{game.name}").build
    return make(game, argument)


def register() -> None:
    """Register ``heuristic``."""
    register_policy("heuristic", build, "heuristic[:option]")
