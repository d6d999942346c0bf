"""Bad command lines, generated from the options of every command: one sentence, exit code 2, the disk as it was."""

from __future__ import annotations

import dataclasses
import signal
import subprocess
import sys
import typing
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from llama_envs.core.registry import config_type
from tests.experiments.commands import Refusal

COMMANDS = {  # module -> what stands before its options
    "llama_envs.cli.evaluate": ("lama",),
    "llama_envs.cli.tournament": ("lama",),
    "experiments.train.__main__": ("lama",),
    "experiments.exploit": ("lama",),
    "experiments.distill": ("lama",),
    "experiments.exact.__main__": (),
    "experiments.benchmark.__main__": (),
    "experiments.throughput.__main__": (),
    "experiments.passing.__main__": (),
    "experiments.quitting.__main__": (),
    "experiments.baselines": ("--quick",),
    "experiments.decisions": ("games.jsonl",),
    "experiments.notebooks": (),
    "llama_envs.cli.table": ("--no-browser",),
}
SECONDS = 20  # a command line that is not refused by then was taken
NUMBERS = {
    int: ("x", "1.5", "inf", "nan", "-5", "9" * 30, ""),
    float: ("x", "inf", "nan", "-1e9", "1e999", ""),
    bool: ("perhaps",),
}
WORDS = {  # for texts: names of policies and of files, choices; a run's folder
    "name": ("a/b", "..", "x" * 300, "name\0"),
    "address": ("auto",),
    "pieces": ("nobody",),
}
FILES = ("there", "file/inner", "/proc/{}.csv", "/proc/{}.jsonl")  # a folder, below a file, where nobody can write
FOLDERS = ("file", "file/inner", "/proc/{}")


def cases_of(module: str) -> Iterator[tuple[str, ...]]:
    """Bad arguments of one command, one mistake in each."""
    options = import_module(module).Options
    yield ("--nothing", "1")
    for field in dataclasses.fields(options):
        yield from mistakes(field.name, typing.get_type_hints(options)[field.name], module)


def mistakes(name: str, kind: Any, module: str) -> Iterator[tuple[str, ...]]:
    """Bad values of one option, and no value."""
    option = f"--{name.replace('_', '-')}"
    kinds = {kind, *typing.get_args(kind)}
    if kind is bool:
        yield (option, "perhaps")
        return
    if name in ("games", "paths") and kind is not Path:  # without a name
        return
    if "ClassVar" not in str(kind):
        yield (option,)
    for number in (int, float):
        if number in kinds:
            yield from ((option, text) for text in NUMBERS[number])
    if Path in kinds:
        is_file = module.endswith(("evaluate", "decisions", "table"))
        yield from ((option, text.format(name)) for text in (FILES if is_file else FOLDERS))
    if str in kinds:
        yield from ((option, text) for text in WORDS.get(name, ("nobody",)))


def config_cases(game: str) -> Iterator[tuple[str, ...]]:
    """Bad values of a game's own options."""
    kinds = typing.get_type_hints(config_type(game))
    for field in dataclasses.fields(config_type(game)):
        kind = field.metadata.get("cli", kinds[field.name])
        yield from mistakes(field.name, kind, "")


ALL = [(module, (*before, *case)) for module, before in COMMANDS.items() for case in cases_of(module)]
ALL += [
    ("llama_envs.cli.evaluate", (game, "--deals", "1", *case))
    for game in ("lama", "llama_llama")
    for case in config_cases(game)
]
ALL += [(module, words) for module, before in COMMANDS.items() if before == ("lama",) for words in ((), ("chess",))]
ALL += [
    ("experiments.train_rllib", ("lama", *mistake))
    for mistake in cases_of("experiments.train_rllib")
    if mistake[0] not in ("--address", "--name")  # which are looked at where Ray is
]
ALL += [(f"llama_envs.cli.{name}", ("--seed", "1")) for name in ("games", "policies")]


EVERY = 3  # so many of them are left to make test-all: prime to the number of mistakes of an option
SHOWN = [pytest.param(*case, marks=() if k % EVERY == 0 else pytest.mark.exhaustive) for k, case in enumerate(ALL)]


def test_there_are_200_of_them_and_as_many_in_make_test() -> None:
    assert len(set(ALL)) == len(ALL)
    assert len(ALL) // EVERY >= 200


@pytest.mark.parametrize(("module", "arguments"), SHOWN, ids=lambda value: str(value)[:60])
def test_a_bad_command_line_is_refused(
    module: str, arguments: tuple[str, ...], refusal: Refusal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "file").write_text("kept")

    def taken(*_: object, **__: object) -> None:
        raise AssertionError(f"{module} {' '.join(arguments)} was not refused")

    start = subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda command, *a, **k: (taken if sys.executable in command else start)(command, *a, **k)
    )
    signal.signal(signal.SIGALRM, taken)
    signal.alarm(SECONDS)
    try:
        said = refusal(import_module(module).main, arguments)
        assert "pip install" not in said
    finally:
        signal.alarm(0)


@pytest.mark.parametrize(
    ("module", "arguments", "words"),
    [
        ("llama_envs.cli.evaluate", ("lama", "--output", "x.csv"), "--output is called --out now."),
        ("llama_envs.cli.tournament", ("lama", "--processes", "2"), "--processes is called --workers now."),
        ("llama_envs.cli.tournament", ("lama", "--policies"), "--policies must have one value or more."),
        ("experiments.benchmark.__main__", ("--at-once=2",), "--at-once is called --workers now."),
    ],
)
def test_an_old_name_is_told_the_new_one(module: str, arguments: tuple[str, ...], words: str, refusal: Refusal) -> None:
    assert refusal(import_module(module).main, arguments) == words
