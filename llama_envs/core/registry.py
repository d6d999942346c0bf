"""The games that are there: ``make_game("some_game", num_players=3)``.

A game is known by its :class:`~llama_envs.core.spec.GameSpec`. Those of this package and those that installed packages
offer in the entry-point group ``llama_envs.games`` are found by themselves; :func:`register_game` adds one in a running
program.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from llama_envs.core.spec import GameSpec
from llama_envs.core.validation import build_config

if TYPE_CHECKING:  # importing the registry compiles nothing
    from llama_envs.core.game import Game

GROUP = "llama_envs.games"

_ADDED: dict[str, GameSpec] = {}
_LISTENERS: list[Callable[[GameSpec], None]] = []


def game_specs() -> list[GameSpec]:
    """Every known game: those of this package by name, then the others."""
    return list(_known().values())


def game_names() -> list[str]:
    """Their names."""
    return list(_known())


def spec_of(name: str) -> GameSpec:
    """The spec of a game.

    Raises:
        ValueError: no game of this name; the message lists the known ones.
    """
    specs = _known()
    if name not in specs:
        raise ValueError(f"there is no game named {name!r}; the games are {', '.join(specs)}.")
    return specs[name]


def register_game(spec: GameSpec) -> None:
    """Make a game known in this process.

    Raises:
        ValueError: the name is taken by another game, or is no lower-case Python name.
    """
    if not spec.name.isidentifier() or spec.name != spec.name.lower():
        raise ValueError(f"the name of a game must be a lower-case Python name, got {spec.name!r}.")
    if _known().get(spec.name, spec) is not spec:
        raise ValueError(f"there is already a game named {spec.name!r}.")
    new = spec.name not in _known()
    _ADDED[spec.name] = spec
    for listener in _LISTENERS if new else ():
        listener(spec)


def on_registration(listener: Callable[[GameSpec], None]) -> None:
    """Call ``listener`` with every game: those already known now, later ones when they are registered."""
    _LISTENERS.append(listener)
    for spec in game_specs():
        listener(spec)


def added_games() -> dict[str, GameSpec]:
    """The games that :func:`register_game` added in this process, by name."""
    return dict(_ADDED)


def config_type(name: str) -> type[Any]:
    """The config dataclass of a game; ValueError as :func:`spec_of`."""
    return spec_of(name).config


def make_game(name: str, **options: Any) -> Game:
    """The Game of this name with ``options`` (fields of its config).

    Raises:
        ValueError: an unknown game or option, or a value that its config refuses.
    """
    spec = spec_of(name)
    game: Game = spec.make_game(build_config(spec.config, options))
    return game


def _known() -> dict[str, GameSpec]:
    return {**_installed(), **_ADDED}


@functools.cache
def _installed() -> dict[str, GameSpec]:
    specs: dict[str, GameSpec] = {}
    for folder in sorted(files("llama_envs").iterdir(), key=lambda entry: entry.name):
        if (folder / "rules.py").is_file():  # the packages of games
            spec = import_module(f"llama_envs.{folder.name}").SPEC
            specs[spec.name] = spec
    for point in entry_points(group=GROUP):
        try:
            spec = point.load()
        except Exception as error:
            warnings.warn(f"the game {point.name!r} ({point.value}) cannot be loaded: {error}", stacklevel=2)
            continue
        if not isinstance(spec, GameSpec) or spec.name in specs:
            problem = f"its name {spec.name!r} is taken" if isinstance(spec, GameSpec) else "it is no GameSpec"
            warnings.warn(f"the game {point.name!r} ({point.value}) is left out: {problem}.", stacklevel=2)
            continue
        specs[spec.name] = spec
    return specs
