"""Command lines: one subcommand for each game, its options beside the experiment's own; errors in one sentence."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NoReturn, TypeVar

import docstring_parser
import tyro

from llama_envs.core.game import Game
from llama_envs.core.registry import config_type, game_names, make_game
from llama_envs.core.runs import command_name

O = TypeVar("O")  # noqa: E741


@dataclasses.dataclass(frozen=True)
class Call:
    """A parsed command line: the game's name, its config fields, and the experiment's options."""

    game: str
    config: dict[str, Any]
    options: Any


def parse(options: type[O], description: str, argv: Sequence[str] | None = None, **defaults: Any) -> Call:
    """Parse ``<game> [options of the experiment] [options of the game]``; exits with code 2 on a mistake.

    ``defaults`` replace defaults of the game's config where it has such a field.
    """
    commands = {name: _command(name, options, defaults) for name in game_names()}
    if (sys.argv[1:] if argv is None else list(argv)) in (["--help"], ["-h"]):  # every option, not just the games
        for name, command in commands.items():
            print(f"{name}:")
            with contextlib.suppress(SystemExit):
                tyro.cli(command, description=description, prog=f"{command_name()} {name}", args=["--help"])
        sys.exit(0)
    chosen = run_or_exit(
        lambda: tyro.extras.subcommand_cli_from_dict(commands, description=description, prog=command_name(), args=argv)  # type: ignore[arg-type]
    )
    return Call(chosen.game_name, chosen.game_config(), chosen.own())


def game_of(call: Call, **changes: Any) -> Game:
    """The game of a command line, with some options changed; ValueError if they are impossible."""
    return make_game(call.game, **{**call.config, **changes})


def run_or_exit(action: Callable[[], O]) -> O:
    """``action()``; an error that the user can act on becomes one sentence on stderr and exit code 2."""
    try:
        return action()
    except ValueError as error:
        fail(str(error))


def fail(message: str) -> NoReturn:
    """One sentence on stderr, exit code 2."""
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def _command(name: str, options: type[Any], defaults: dict[str, Any]) -> type[Any]:
    """A dataclass with the experiment's options and the game's, which tyro turns into a subcommand."""
    game = _cli_fields(config_type(name), defaults)
    own = [field.name for field in dataclasses.fields(options)]
    nullable = {field.name for field in dataclasses.fields(config_type(name)) if field.default is None} | set(defaults)
    clash = {field[0] for field in game} & set(own)
    assert not clash, f"options of {name} and of the experiment share names: {clash}"

    def game_config(self: Any) -> dict[str, Any]:
        values = {field_name: getattr(self, field_name) for field_name, *_ in game}
        return {key: value for key, value in values.items() if value is not None or key in nullable}

    def own_options(self: Any) -> Any:
        return options(**{field_name: getattr(self, field_name) for field_name in own})

    return dataclasses.make_dataclass(
        name,
        game,
        bases=(options,),
        namespace={"game_name": name, "game_config": game_config, "own": own_options, "__doc__": options.__doc__},
        frozen=True,
    )


def _cli_fields(config: type[Any], defaults: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """Each field of a game's config as a field of the command: its type, its default and its help."""
    import typing

    hints = typing.get_type_hints(config)
    helps = attribute_docs(config)
    fields = []
    for field in dataclasses.fields(config):
        kind = field.metadata.get("cli", hints[field.name])
        default = field.metadata.get("cli_default", field.default)
        if field.name in defaults:
            kind, default = kind | None if defaults[field.name] is None else kind, defaults[field.name]
        annotated: Any = Annotated[kind, tyro.conf.arg(help=helps.get(field.name, ""))]
        fields.append((field.name, annotated, dataclasses.field(default=default)))
    return fields


def attribute_docs(config: type[Any]) -> dict[str, str]:
    """The "Attributes:" section of a docstring: name -> text."""
    parsed = docstring_parser.parse(config.__doc__ or "", docstring_parser.DocstringStyle.GOOGLE)
    return {param.arg_name: " ".join((param.description or "").split()) for param in parsed.params}


def refuse_arguments(command: str, description: str, argv: Sequence[str] | None) -> None:
    """For commands that take none: help is shown, anything else is a mistake."""
    given = sys.argv[1:] if argv is None else list(argv)
    if given in (["--help"], ["-h"]):
        print(f"usage: {command}\n\n{description}")
        sys.exit(0)
    if given:
        fail(f"{command} takes no arguments, got {' '.join(given)}.")
