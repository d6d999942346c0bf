"""The names of the games: ``make_game("lama", num_players=3)``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from llama_envs.core.game import Game
from llama_envs.core.options import build_config

_ROOMS: dict[str, tuple[str, str, str]] = {
    "lama": ("llama_envs.lama.game", "make_game", "LamaConfig"),
    "llama_llama": ("llama_envs.llama_llama.game", "make_game", "LlamaLlamaConfig"),
}


def game_names() -> list[str]:
    """The registered games."""
    return list(_ROOMS)


def register_game(name: str, module: str, make: str = "make_game", config: str = "Config") -> None:
    """Add a room: ``module`` has a function ``make`` (config -> Game) and the config class ``config``.

    Raises:
        ValueError: the name is taken by another room.
    """
    room = (module, make, config)
    if _ROOMS.setdefault(name, room) != room:
        raise ValueError(f"there is already a game named {name!r}.")


def config_type(name: str) -> type[Any]:
    """The config dataclass of a game.

    Raises:
        ValueError: no game of this name; the message lists the known ones.
    """
    return _attribute(name, 2)


def make_game(name: str, **options: Any) -> Game:
    """The Game of this name with ``options`` (fields of its config).

    Raises:
        ValueError: an unknown game or option, or a value that its config refuses.
    """
    config = build_config(config_type(name), options)
    make: Callable[[Any], Game] = _attribute(name, 1)
    return make(config)


def _attribute(name: str, index: int) -> Any:
    if name not in _ROOMS:
        raise ValueError(f"there is no game named {name!r}; the games are {', '.join(_ROOMS)}.")
    room = _ROOMS[name]
    return getattr(import_module(room[0]), room[index])
