"""The names by which everything asks for a policy: ``make_policy("heuristic:4", game)``.

A name is, in this order:

- one of the suite's, or one that :func:`register_policy` added;
- one that an installed package offers in the entry-point group ``llama_envs.policies``;
- ``package.module:Name`` or ``path/to/file.py:Name``, something of one's own.

What an entry point or ``Name`` stands for is a policy, or whatever makes one: a class or function that takes nothing,
the game, or the game and the argument that followed a second colon (``file.py:Name:argument``, else "").
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import inspect
import pickle
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, NamedTuple

from llama_envs.core.game import Game
from llama_envs.core.registry import added_games, game_names, register_game
from llama_envs.policies.view import Policy

GROUP = "llama_envs.policies"
OWN = ("package.module:Name", "path/to/file.py:Name")  # how policies of one's own are written

Build = Callable[[Game, str], Policy]


class _Entry(NamedTuple):
    build: Build | str  # or "module:name"
    usage: str


_HERE = "llama_envs.policies"
_SHIPPED = {
    "random": _Entry(f"{_HERE}.shipped:build_random", "random"),
    "heuristic": _Entry(f"{_HERE}.shipped:build_heuristic", "heuristic[:option]"),
    "baseline": _Entry(f"{_HERE}.shipped:build_baseline", "baseline"),
    "mc": _Entry(f"{_HERE}.search.monte_carlo:build", "mc:W[:ROLLOUT] (W worlds or a time like 5ms)"),
    "ismcts": _Entry(f"{_HERE}.search.ismcts:build", "ismcts:N[:ROLLOUT] (N iterations or a time like 5ms)"),
    "network": _Entry(f"{_HERE}.network:build_greedy", "network:PATH"),
    "network_sample": _Entry(f"{_HERE}.network:build_sampling", "network_sample:PATH"),
    "ppo": _Entry(f"{_HERE}.network:build_greedy", "ppo:PATH"),
    "ppo_sample": _Entry(f"{_HERE}.network:build_sampling", "ppo_sample:PATH"),
    "tabular": _Entry(f"{_HERE}.tabular:build", "tabular:PATH"),
}
_REGISTERED: dict[str, _Entry] = {}


def register_policy(name: str, build: Build, usage: str) -> None:
    """Make ``name`` (or ``name:argument``) stand for ``build(game, argument)`` wherever a policy is asked for.

    ``build`` raises ValueError with one sentence if it has nothing for the game or the argument is wrong. Worker
    processes are told of it, if ``build`` can be pickled (a function of a module or script, no lambda).
    """
    _REGISTERED[name] = _Entry(build, usage)


def policy_usage() -> dict[str, str]:
    """Every known name, and how it is written."""
    plugins = {name: f"{name}[:argument]" for name in _plugins()}
    ours = {name: entry.usage for name, entry in {**_SHIPPED, **_REGISTERED}.items()}
    return dict(sorted({**plugins, **ours}.items()))


def make_policy(spec: str | Policy, game: Game) -> Policy:
    """The policy that ``spec`` names ("random", "heuristic:4", ...), or ``spec`` itself if it is a policy.

    Raises:
        ValueError: an unknown name (the message lists the known ones), or an argument that the policy refuses.
    """
    if not isinstance(spec, str):
        if isinstance(spec, Policy) and not isinstance(spec, type):
            return spec
        raise ValueError(f"a policy must be a name or an object with act(view) and needs_worlds, got {_kind(spec)}.")
    name, _, argument = spec.partition(":")
    entry = _REGISTERED.get(name) or _SHIPPED.get(name)
    if entry is not None:
        build = _attribute(*entry.build.split(":")) if isinstance(entry.build, str) else entry.build
        return build(game, argument)
    if name in _plugins():
        try:
            made = _plugins()[name].load()
        except Exception as error:
            raise ValueError(
                f"policy {name!r} of {_plugins()[name].value} cannot be loaded ({_first(error)})."
            ) from error
        return _of_ones_own(made, spec, argument, game)
    return _of_ones_own(*_load(spec, name, argument), game=game)


def _kind(given: object) -> str:
    """For an error: what was given, without an address in memory."""
    return (
        f"the class {given.__name__}" if isinstance(given, type) else f"an object of the class {type(given).__name__}"
    )


def files_of(spec: str, game: Game) -> list[Path]:
    """The files that decide what the policy of this name does, beside the suite's own code."""
    name, _, argument = spec.partition(":")
    if name == "baseline" and game.spec.baselines is not None:
        return [game.spec.baselines / f"{game.name}_{game.num_players}p.npz"]
    parts = [part.partition("=")[2] or part for part in (argument, *argument.split(":")) if part]
    named = [Path(part) for part in dict.fromkeys(parts) if Path(part).is_file()]
    if ".py:" in spec or spec.endswith(".py"):
        path, _, rest = spec.partition(".py")
        return [Path(f"{path}.py"), *(Path(part) for part in rest.split(":")[2:] if Path(part).is_file())]
    if name in _SHIPPED or name in _REGISTERED:
        return named
    module = _plugins()[name].module if name in _plugins() else name
    return [*_source_of(module), *named]


def _source_of(module: str) -> list[Path]:
    """The file of a module, if it has one."""
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return []
    return [Path(found.origin)] if found is not None and found.origin and Path(found.origin).is_file() else []


def exported(dumps: Callable[[Any], bytes] = pickle.dumps) -> bytes:
    """What :func:`adopt` needs to make registered policies and games known in another process.

    Args:
        dumps: pickles.

    Raises:
        ValueError: a policy's ``build`` or a game cannot be pickled.
    """
    ours: tuple[tuple[str, dict[str, Any]], ...] = (("policy", _REGISTERED), ("game", added_games()))
    for kind, entries in ours:
        for name, entry in entries.items():
            try:
                dumps(entry)
            except Exception as error:
                raise ValueError(
                    f"{kind} {name!r} cannot be made known to worker processes ({_first(error)}); what makes it must "
                    f"be a function of a module."
                ) from None
    return dumps((_REGISTERED, added_games()))


def adopt(registered: bytes) -> None:
    """Make the policies and games known that another process has registered."""
    policies, games = pickle.loads(registered)
    _REGISTERED.update(policies)
    for spec in games.values():
        if spec.name not in game_names():
            register_game(spec)


@functools.cache
def _plugins() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _load(spec: str, name: str, argument: str) -> tuple[Any, str, str]:  # -> (what it names, spec, its argument)
    if ".py:" in spec or spec.endswith(".py"):
        path, _, rest = spec.partition(".py:")
        attribute, _, own = rest.partition(":")
        module = _module_of_file(f"{path}.py" if not path.endswith(".py") else path)
    elif argument and all(part.isidentifier() for part in name.split(".")):
        attribute, _, own = argument.partition(":")
        try:
            module = import_module(name)
        except ModuleNotFoundError as error:
            if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
                raise ValueError(_unknown(name)) from None
            raise ValueError(f"policy {spec!r}: module {name} cannot be imported ({_first(error)}).") from error
        except Exception as error:
            raise ValueError(f"policy {spec!r}: module {name} cannot be imported ({_first(error)}).") from error
    else:
        raise ValueError(_unknown(name))
    if not attribute or not hasattr(module, attribute):
        public = [key for key in vars(module) if not key.startswith("_")]
        raise ValueError(f"policy {spec!r}: there is no {attribute!r} in it; it has {', '.join(public) or 'nothing'}.")
    return getattr(module, attribute), spec, own


def _module_of_file(path: str) -> Any:
    """A Python file as a module of its own name, run once in a process as long as it stays the same."""
    file = Path(path).resolve()
    if not file.is_file():
        raise ValueError(f"there is no file {path} with a policy in it.")
    content = str(file).encode() + b"\0" + file.read_bytes()
    name = f"_policy_file_{hashlib.sha256(content).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if not isinstance(error, (Exception, SystemExit)):
            raise
        raise ValueError(f"{path} cannot be run ({_first(error)}).") from error
    return module


def _of_ones_own(made: Any, spec: str, argument: str, game: Game) -> Policy:
    """The policy that an object of one's own is or makes."""
    if isinstance(made, Policy) and not isinstance(made, type):
        if argument:
            raise ValueError(f"policy {spec!r} takes no argument, got {argument!r}.")
        return made
    if not callable(made):
        raise ValueError(f"policy {spec!r} must be a policy, a class or a function, got {made!r}.")
    parameters = [
        parameter for parameter in inspect.signature(made).parameters.values()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]  # fmt: skip
    needed = [parameter for parameter in parameters if parameter.default is parameter.empty]
    if len(needed) > 2:
        raise ValueError(f"policy {spec!r} must take nothing, the game, or the game and an argument.")
    if argument and len(parameters) < 2:
        raise ValueError(f"policy {spec!r} takes no argument, got {argument!r}.")
    try:
        policy = made(*(game, argument)[: len(parameters) if argument else len(needed)])
    except ValueError:  # says what it does not like
        raise
    except Exception as error:
        raise ValueError(f"policy {spec!r} cannot be made ({_first(error)}).") from error
    if not isinstance(policy, Policy):
        raise ValueError(f"policy {spec!r} makes {policy!r}, which has no act(view) and needs_worlds.")
    return policy


def _attribute(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def _unknown(name: str) -> str:
    return f"unknown policy {name!r}; known are {', '.join([*policy_usage().values(), *OWN])}."


def _first(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
