"""What a person may ask for before a game: who sits where, and the game's own options, from text fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from llama_envs.core.game import Game
from llama_envs.core.registry import make_game, spec_of
from llama_envs.policies import make_policy
from llama_envs.policies.names import policy_usage

ME = "me"
LONGEST_TEXT = 200  # of an option
LONGEST_FILE = 1_000_000  # bytes
OFFERED = ("random", "heuristic", "baseline", "mc:100", "mc:400", "mc:1600", "ismcts:100", "ismcts:1000")


@dataclass(frozen=True)
class Option:
    """A field of a game's config, as a form shows it.

    Attributes:
        name: of the field.
        text: its default as text.
        values: what may be chosen, for a field with a few values; empty: any text.
        switch: it is yes or no.
        upload: its value may also be a file's content.
        several: its value is any number of integers.
    """

    name: str
    text: str
    values: tuple[str, ...] = ()
    switch: bool = False
    upload: bool = False
    several: bool = False


def options_of(game: str) -> list[Option]:
    """The options of a game but for the number of players."""
    config = spec_of(game).config
    hints = get_type_hints(config)
    return [_option(field, hints[field.name]) for field in fields(config) if field.name != "num_players"]


def game_of(game: str, num_players: int, texts: Mapping[str, Any], files: Mapping[str, str]) -> Game:
    """The game that a form describes.

    Args:
        game: its name.
        num_players: seats.
        texts: what stands in the form by the name of the option; those at their default may be left out.
        files: contents of uploaded files by the name of the option.

    Raises:
        ValueError: one sentence about what is wrong.
    """
    config = spec_of(game).config
    known = {field.name: field for field in fields(config) if field.name != "num_players"}
    hints = get_type_hints(config)
    values: dict[str, Any] = {}
    for name, given in texts.items():
        if name not in known:
            raise ValueError(f"{game} has no option {name!r}.")
        option = _option(known[name], hints[name])
        if name not in files and str(given).strip() != option.text:
            values[name] = _value(option, given)
    for name, content in files.items():
        if name not in known or "upload" not in known[name].metadata:
            raise ValueError(f"{game} has no option {name!r} that takes a file.")
        values[name] = known[name].metadata["upload"](content)
    return make_game(game, num_players=num_players, **values)


def policies_for(game: Game, more: Sequence[str] = ()) -> list[str]:
    """The names of the policies that may sit at a table of this game: the usual ones, plug-ins, and ``more``."""
    plugins = [name for name, usage in policy_usage().items() if usage in (name, f"{name}[:argument]")]
    names = dict.fromkeys((*OFFERED, *plugins, *more))
    return [name for name in names if _can_be_made(name, game)]


def _can_be_made(name: str, game: Game) -> bool:
    try:
        make_policy(name, game)
    except ValueError:
        return False
    return True


def _option(field: Field[Any], hint: Any) -> Option:
    default = field.metadata.get("cli_default", None if field.default is MISSING else field.default)
    if isinstance(default, bool):
        return Option(field.name, str(default), switch=True)
    if get_origin(hint) is Literal:
        return Option(field.name, str(default), values=tuple(map(str, get_args(hint))))
    several = "tuple[" in str(field.metadata.get("cli", hint))
    return Option(field.name, _text(default), upload="upload" in field.metadata, several=several)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return " ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


def _value(option: Option, given: Any) -> Any:
    """What a text stands for: nothing, a number, several numbers, or a word."""
    if option.switch:
        return str(given) == "True"
    text = str(given).strip()
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"{option.name} must have at most {LONGEST_TEXT} characters, got {len(text)}.")
    if option.upload:  # a name would be a path of this machine
        raise ValueError(f"{option.name} must be {option.text!r} or an uploaded file.")
    if not text:
        return None
    words = re.split(r"[\s,]+", text.strip("()[] "))
    if all(re.fullmatch(r"-?\d{1,18}", word) for word in words):
        numbers = tuple(map(int, words))
        return numbers if option.several or len(numbers) > 1 else numbers[0]
    return text
