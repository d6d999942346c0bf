"""``llama-envs``: the commands that install with the wheel, each the same code as in a checkout."""

from __future__ import annotations

import runpy
import sys
from importlib import import_module

import pytest

import llama_envs
from llama_envs.cli import main as module
from llama_envs.core.registry import game_specs
from llama_envs.policies import policy_usage


def run(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    """Exit code, output and errors of the console command."""
    monkeypatch.setattr(sys, "argv", ["llama-envs", *arguments])
    monkeypatch.setattr(sys, "path", list(sys.path))
    code = 0
    try:
        module.main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_help_and_version(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["--help"]):
        code, out, _ = run(arguments, monkeypatch, capsys)
        assert code == 0
        assert all(command in out for command in ("evaluate", "tournament", "games", "policies"))
    assert run(["--version"], monkeypatch, capsys)[1].strip() == llama_envs.__version__


def test_games_lists_every_game_with_every_option(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(["games"], monkeypatch, capsys)
    assert code == 0
    for spec in game_specs():
        assert f"{spec.name}: {spec.title}, {min(spec.players)} to {max(spec.players)} players" in out
        for field in spec.config.__dataclass_fields__:
            assert f"--{field.replace('_', '-')} " in out


def test_policies_lists_how_every_policy_is_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(["policies"], monkeypatch, capsys)
    assert code == 0
    assert all(" ".join(usage.split()) in " ".join(out.split()) for usage in policy_usage().values())
    assert "path/to/file.py:Name" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["play"], "there is no command 'play'; the commands are evaluate, tournament, table, games, policies"),
        (["games", "lama"], "llama-envs games takes no arguments, got lama"),
        (["evaluate", "lama", "--policies", "random", "nobody"], "unknown policy 'nobody'"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_code_2(
    arguments: list[str], words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, errors = run(arguments, monkeypatch, capsys)
    assert code == 2
    assert words in errors
    assert len(errors.strip().splitlines()) == 1


def test_what_is_missing_is_named_with_the_extra_that_brings_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.delitem(sys.modules, "llama_envs.cli.evaluate", raising=False)
    code, _, errors = run(["evaluate", "lama"], monkeypatch, capsys)
    assert code == 2
    assert "llama-envs evaluate needs pandas: pip install 'llama-envs[cli]'" in errors


@pytest.mark.parametrize("name", ["evaluate", "tournament"])
def test_the_modules_of_experiments_are_the_same_commands(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    monkeypatch.setattr(import_module(f"llama_envs.cli.{name}"), "main", lambda: called.append(name))
    runpy.run_module(f"experiments.{name}", run_name="__main__")
    assert called == [name]
