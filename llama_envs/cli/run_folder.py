"""``runs/<name>/``: the folder of an experiment, claimed by one process, with all that decides its results."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

import llama_envs
from llama_envs.core.files import plain, write_json, write_text
from llama_envs.core.game import Game
from llama_envs.core.recording import config_to_json
from llama_envs.core.runs import command_line, versions
from llama_envs.policies.names import files_of

RUNS = Path("runs")
LONGEST_NAME = 120
_LOCKS: dict[Path, FileLock] = {}  # of the runs that this process is in


def default_name(*parts: object) -> str:
    """A folder name of these parts, the time and 32 random bits: no two runs meet, also in the same second."""
    return "-".join([*map(str, parts), f"{datetime.now(timezone.utc):%Y%m%d-%H%M%S}", secrets.token_hex(4)])


def whole_truth(game: Game, options: Mapping[str, Any], policies: Iterable[object] = ()) -> dict[str, Any]:
    """What decides the results of a run: configuration with the contents of a deck, options, hashes of files.

    Args:
        game: what is played.
        options: of the experiment, without those that change no result.
        policies: names of policies; the files behind them are hashed.
    """
    files = {
        name: [_hash(path) for path in files_of(name, game)]
        for name in policies
        if isinstance(name, str) and files_of(name, game)
    }
    return {
        "game": game.id,
        **config_to_json(game.config),
        **options,
        "files": files,
        "llama_envs": llama_envs.__version__,
    }


def open_run(name: str, config: Mapping[str, Any], resume: bool, may_grow: Collection[str] = ()) -> Path:
    """The folder of the run ``name``, with config, command and versions in it, locked until this process ends.

    Args:
        name: of the folder under ``runs``.
        config: all that decides the results, the seed among it (:func:`whole_truth`).
        resume: go on with a run of this name.
        may_grow: numbers in ``config`` that a resumed run may raise; what they become is written down.

    Raises:
        ValueError: the run exists and ``resume`` is False, or the other way round; it is in use; it was started with
            another ``config`` (the sentence names every difference); or the name is no file name.
    """
    plain_name = name.isprintable() and Path(name).name == name and not name.startswith(".")
    if not name or not plain_name or len(name) > LONGEST_NAME:
        raise ValueError(f"name must be a plain folder name of at most {LONGEST_NAME} characters, got {_short(name)}.")
    folder = RUNS / name
    if RUNS.exists() and not RUNS.is_dir():
        raise ValueError(f"runs are kept in a folder {RUNS}, and here that is a file.")
    if not resume:
        try:
            RUNS.resolve().mkdir(parents=True, exist_ok=True)  # also where a link leads that leads nowhere yet
            folder.mkdir()  # one of two claims succeeds
        except FileExistsError:
            raise ValueError(f"{folder} exists; choose another --name, or go on with it by --resume.") from None
        except OSError as error:
            raise ValueError(f"cannot make {folder} ({error.strerror}).") from None
        _lock(folder)
        write_text(folder / "command.txt", command_line() + "\n")
        write_json(folder / "versions.json", versions())
        write_json(folder / "config.json", config)
        return folder
    if not (folder / "config.json").is_file():
        raise ValueError(f"there is no run {folder} to resume.")
    _lock(folder)
    now = json.loads(json.dumps(config, default=plain))
    before = read_config(folder)
    different = sorted(key for key in {*before, *now} if before.get(key) != now.get(key))
    grown = [key for key in different if key in may_grow and _grows(before.get(key), now.get(key))]
    refused = [
        f"{key} was {_short(before.get(key))}, is {_short(now.get(key))}" for key in different if key not in grown
    ]
    if refused:
        raise ValueError(f"{folder} was started with other options: {'; '.join(refused)}; give the same to --resume.")
    if grown:
        write_json(folder / "config.json", now)
        commands = (folder / "command.txt").read_text(encoding="utf-8") if (folder / "command.txt").is_file() else ""
        write_text(folder / "command.txt", f"{commands}{command_line()}\n")
    return folder


def read_config(folder: Path) -> dict[str, Any]:
    """What a run was started with.

    Raises:
        ValueError: its file is damaged.
    """
    path = folder / "config.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is damaged ({error}).") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path} is damaged: it holds no object.")
    return found


def _lock(folder: Path) -> None:
    held = _LOCKS.pop(folder.resolve(), None)
    if held is not None:
        held.release()
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise ValueError(f"{folder} is in use by another process.") from None
    _LOCKS[folder.resolve()] = lock


def _grows(before: Any, now: Any) -> bool:
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (before, now))
    return numbers and now > before


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ValueError(f"cannot read {path} ({error.strerror}).") from None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
