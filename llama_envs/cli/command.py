"""Command lines: one subcommand for each game, its options beside the experiment's own; errors in one sentence."""

from __future__ import annotations

import ast
import atexit
import contextlib
import dataclasses
import inspect
import io
import os
import shutil
import sys
import tempfile
import textwrap
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from errno import EFBIG, EIO, ENOSPC, EPIPE
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, NoReturn, TypeVar

import docstring_parser
import tyro

from llama_envs.core.game import Game
from llama_envs.core.interrupts import raising
from llama_envs.core.registry import config_type, game_names, make_game
from llama_envs.core.runs import command_name
from llama_envs.evaluation.workers import busy

O = TypeVar("O")  # noqa: E741
RENAMED = {"output": "out", "processes": "workers", "at-once": "workers"}  # of every command


@dataclasses.dataclass(frozen=True)
class Call:
    """A parsed command line: the game's name, its config fields, and the experiment's options."""

    game: str
    config: dict[str, Any]
    options: Any


def parse(
    options: type[O],
    description: str,
    argv: Sequence[str] | None = None,
    renamed: Mapping[str, str] = {},
    **defaults: Any,
) -> Call:
    """Parse ``<game> [options of the experiment] [options of the game]``; exits with code 2 on a mistake.

    ``renamed`` as in :func:`parse_for`; ``defaults`` replace defaults of the game's config where it has such a field.
    """
    show_what_the_terminal_can()
    commands = {name: _command(name, options, defaults) for name in game_names()}
    if (sys.argv[1:] if argv is None else list(argv)) in (["--help"], ["-h"]):  # every option, not just the games
        for name, command in commands.items():
            print(f"{name}:")
            with contextlib.suppress(SystemExit):
                tyro.cli(command, description=description, prog=f"{command_name()} {name}", args=["--help"])
        sys.exit(0)
    _refuse_words(argv, renamed, *commands.values())
    chosen: Any = _parsed(
        lambda: tyro.extras.subcommand_cli_from_dict(commands, description=description, prog=command_name(), args=argv)  # type: ignore[arg-type]
    )
    return Call(chosen.game_name, chosen.game_config(), run_or_exit(chosen.own))


def parse_for(
    game: str,
    options: type[O],
    description: str,
    argv: Sequence[str] | None = None,
    renamed: Mapping[str, str] = {},
) -> Call:
    """Parse ``[options of the experiment] [options of the game]`` of an experiment about one game.

    Args:
        game: its name.
        options: of the experiment; where one has the name of an option of the game, it takes its place.
        description: for the help text.
        argv: the arguments; by default those of this process.
        renamed: new names by old ones, both without dashes; an old name is refused in one sentence.
    """
    show_what_the_terminal_can()
    command = _command(game, options, {}, [field.name for field in dataclasses.fields(options)])  # type: ignore[arg-type]
    _refuse_words(argv, renamed, command)
    chosen: Any = _parsed(lambda: tyro.cli(command, description=description, prog=command_name(), args=argv))
    return Call(game, chosen.game_config(), run_or_exit(chosen.own))


def _refuse_words(argv: Sequence[str] | None, renamed: Mapping[str, str], *commands: type[Any]) -> None:
    """Exits with code 2 and one sentence on an option of an old name, and on one of several values that has none."""
    kinds = {
        field.name.replace("_", "-"): str(field.type) for command in commands for field in dataclasses.fields(command)
    }
    new_names = {**{old: new for old, new in RENAMED.items() if old not in kinds and new in kinds}, **renamed}
    given = sys.argv[1:] if argv is None else list(argv)
    for word, following in zip(given, [*given[1:], "--"], strict=False):
        if not word.startswith("--"):
            continue
        option = word.partition("=")[0].replace("_", "-").removeprefix("--")
        if option in new_names:
            fail(f"--{option} is called --{new_names[option]} now.")
        if "=" not in word and "tuple[" in kinds.get(option, "") and following.startswith("--"):
            fail(f"--{option} must have one value or more.")


def parse_options(options: type[O], description: str, argv: Sequence[str] | None = None) -> O:
    """Parse the options of an experiment that is not about one game; exits with code 2 on a mistake."""
    show_what_the_terminal_can()
    own = [field.name for field in dataclasses.fields(options)]  # type: ignore[arg-type]
    unchecked = dataclasses.make_dataclass(
        options.__name__,
        _own_fields(options),
        bases=(options,),
        namespace={"__post_init__": _unchecked, "__doc__": options.__doc__},
        frozen=True,
    )
    _refuse_words(argv, {}, unchecked)
    chosen: Any = _parsed(lambda: tyro.cli(unchecked, description=description, prog=command_name(), args=argv))
    return run_or_exit(lambda: options(**{name: getattr(chosen, name) for name in own}))


def _unchecked(self: Any) -> None:
    """Options are checked when the experiment's own dataclass is made, so that a mistake is one sentence of ours."""


def _parsed(action: Callable[[], O]) -> O:
    """``action()``, a call of tyro; its error messages become one sentence."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return action()
    except SystemExit as stop:
        if not stop.code:
            raise
        lines = [line.strip("╭╮╰╯│─━┃ ") for line in said.getvalue().splitlines()]
        words = (
            " ".join(line for line in lines[1:] if line)
            .partition("For full helptext")[0]
            .partition(" Argument helptext")[0]
            .strip()
        )
        fail(f"{words or said.getvalue().strip()}{'' if words.endswith('.') else '.'}")


def game_of(call: Call, **changes: Any) -> Game:
    """The game of a command line, with some options changed; ValueError if they are impossible."""
    return make_game(call.game, **{**call.config, **changes})


class Kept:
    """As a text, what a command that is interrupted has kept by then."""

    text = "nothing was written"

    def __str__(self) -> str:
        return self.text


def run_or_exit(action: Callable[[], O], stopped: object = "nothing was written") -> O:
    """``action()``; what the user can act on becomes one sentence on stderr and exit code 2, 130 after Ctrl-C.

    Args:
        action: what is done.
        stopped: after Ctrl-C, what is kept and how to go on: a text, or what has one by then.
    """
    try:
        with raising():
            return action()
    except ValueError as error:
        fail(str(error))
    except BrokenProcessPool:
        fail(f"a worker process died; {stopped}.")
    except OSError as error:
        if error.filename is None:
            raise
        fail(f"cannot write or read {error.filename} ({error.strerror}).")
    except KeyboardInterrupt:
        if busy():  # compiled code, or the compiler, may not outlive the interpreter
            print(f"error: stopped; {stopped}.", file=sys.stderr, flush=True)
            sys.stdout.flush()
            os._exit(130)
        fail(f"stopped; {stopped}.", 130)


def fail(message: str, code: int = 2) -> NoReturn:
    """One sentence on stderr."""
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


def show_what_the_terminal_can() -> None:
    """A terminal that cannot show a character gets a substitute; what cannot be printed at all is one sentence."""
    if os.environ.get("COLUMNS") == "0":  # of a terminal that does not know its size
        del os.environ["COLUMNS"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    ours = command_name().startswith(("python -m experiments.", "python -m llama_envs.", "llama-envs"))
    if ours and sys.excepthook is sys.__excepthook__:
        sys.excepthook = _end
        atexit.register(_flush)


def _flush() -> None:
    try:
        sys.stdout.flush()
    except OSError as error:
        _cannot_print(error)


def _end(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if isinstance(error, OSError) and error.filename is None and error.errno in (ENOSPC, EPIPE, EIO, EFBIG):
        _cannot_print(error)
    sys.__excepthook__(kind, error, trace)


def _cannot_print(error: OSError) -> NoReturn:
    """End the process: silently if nobody reads any more (``| head``), otherwise with one sentence."""
    if error.errno != EPIPE:
        os.write(2, f"error: cannot print ({error.strerror}).\n".encode())
    os._exit(2)


def check_folder(field: str, path: Path | None) -> None:
    """ValueError with one sentence unless files can be written into ``path``, existing or not; leaves nothing."""
    if path is None:
        return
    try:
        there = next(parent for parent in (path.resolve(), *path.resolve().parents) if parent.exists())
        if not there.is_dir():
            raise ValueError(f"{field} must be a folder, and {there if there != path.resolve() else path} is none.")
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise ValueError(f"{field} must be a folder that can be written, got {path} ({error.strerror}).") from None


def check_output(field: str, path: Path | None, *suffixes: str) -> None:
    """ValueError with one sentence unless ``path`` (None: nothing is written) can be written; leaves nothing behind."""
    if path is None:
        return
    if suffixes and path.suffix not in suffixes:
        raise ValueError(f"{field} must be a file that ends with {' or '.join(suffixes)}, got {path}.")
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            raise ValueError(f"{field} must be a file, and {path} is {'a folder' if target.is_dir() else 'none'}.")
        there = next(parent for parent in (target, *target.parents) if parent.exists())
        if there != target:
            with tempfile.TemporaryFile(dir=there):
                pass
        elif not os.access(target, os.W_OK):
            raise ValueError(f"{field} must be a file that can be written, and {path} cannot.")
    except OSError as error:
        raise ValueError(f"{field} must be a file that can be written, got {path} ({error.strerror}).") from None


def _command(name: str, options: type[Any], defaults: dict[str, Any], replaced: Collection[str] = ()) -> type[Any]:
    """A dataclass with the experiment's options and the game's, but for the ``replaced``, for tyro."""
    game = [field for field in _cli_fields(config_type(name), defaults) if field[0] not in replaced]
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
        [*_own_fields(options), *game],
        bases=(options,),
        namespace={
            "game_name": name,
            "game_config": game_config,
            "own": own_options,
            "__post_init__": _unchecked,
            "__doc__": options.__doc__,
        },
        frozen=True,
    )


def _own_fields(options: type[Any]) -> list[tuple[str, Any, Any]]:
    """The fields of an experiment's options once more, with the strings below them as help, each in one line."""
    docs: dict[str, str] = {}
    for owner in reversed(options.__mro__):
        if dataclasses.is_dataclass(owner):
            docs |= _field_docs(owner)
    hints = typing.get_type_hints(options)
    return [
        (
            field.name,
            Annotated[hints[field.name], tyro.conf.arg(help=docs.get(field.name, ""))],
            dataclasses.field(default=field.default),
        )
        for field in dataclasses.fields(options)
        if field.default is not dataclasses.MISSING
    ]


def _field_docs(options: type[Any]) -> dict[str, str]:
    """Name -> the string below a field of a class."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(options))).body
    assert isinstance(tree, ast.ClassDef)
    return {
        field.target.id: " ".join(below.value.value.split())
        for field, below in pairwise(tree.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str)
    }


def _cli_fields(config: type[Any], defaults: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """Each field of a game's config as a field of the command: its type, its default and its help."""
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


def wrapped(start: str, text: str) -> str:
    """``start`` and ``text``, no wider than the terminal (or 80 columns), further lines below ``text``."""
    width = max(shutil.get_terminal_size((80, 24)).columns, len(start) + 20)
    return (
        textwrap.fill(start + text, width, subsequent_indent=" " * len(start), break_on_hyphens=False)
        if text
        else start
    )


def refuse_arguments(command: str, description: str, argv: Sequence[str] | None) -> None:
    """For commands that take none: help is shown, anything else is a mistake."""
    show_what_the_terminal_can()
    given = sys.argv[1:] if argv is None else list(argv)
    if given in (["--help"], ["-h"]):
        print(f"usage: {command}\n\n{description}")
        sys.exit(0)
    if given:
        fail(f"{command} takes no arguments, got {' '.join(given)}.")
