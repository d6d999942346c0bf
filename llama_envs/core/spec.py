"""GameSpec: what is known of a game before any of its configurations is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:  # a spec is cheap to import
    from llama_envs.core.contract import PolicyKernel

T = TypeVar("T")


class Lazy(Generic[T]):
    """A field that may be given as ``"package.module:name"`` and is then imported when it is first read."""

    def __init__(self, *default: T) -> None:
        self.default = default

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = name

    def __get__(self, spec: Any, owner: type[Any]) -> T:
        if spec is None:  # dataclass asks for the default
            if not self.default:
                raise AttributeError(self.name)
            return self.default[0]
        value = spec.__dict__[self.name]
        if isinstance(value, str):
            module, _, attribute = value.partition(":")
            value = spec.__dict__[self.name] = getattr(import_module(module), attribute)
        return value

    def __set__(self, spec: Any, value: T | str) -> None:
        spec.__dict__[self.name] = value


@dataclass(frozen=True)
class SmallGame:
    """A variant of a game that is small enough to be solved.

    Attributes:
        name: in tables and files, beginning with the game's.
        options: of the config.
        slow: it takes more than a few seconds to solve.
        ppo: a learner is measured against its solution.
    """

    name: str
    options: Mapping[str, Any]
    slow: bool = False
    ppo: bool = False


@dataclass(frozen=True, eq=False)
class GameSpec:
    """All that the suite knows of a game. It stands in the ``__init__`` of the game's package.

    The entry-point group ``llama_envs.games`` makes it known where the package is installed,
    :func:`llama_envs.core.registry.register_game` in a running program.

    Attributes:
        name: short, lower case, a Python name.
        title: for people.
        version: of rules, rewards, observations, actions and random stream.
        gymnasium_id: "namespace/Name-v0"; PettingZoo's ids are "namespace/name_v0".
        players: the numbers of players that the config accepts, ascending.
        config: the config dataclass; ``config()`` is the default game.
        make_game: config -> Game; the same object for equal configs.
        heuristic: argument -> the shipped rule of thumb, a :class:`PolicyKernel`; "" is its default. ValueError with
            one sentence if the argument is wrong. None: the game ships none.
        baselines: folder with the trained policies that ship, ``<name>_<players>p.npz``; None: there are none.
        picture: decisions of the heuristic before the picture for the documentation; None: it has no picture.
        small: the variants that are solved exactly, each a :class:`SmallGame`.
        measured: TOML file with what ``experiments.benchmark`` plays (tables ``full`` and ``quick``) and what the game
            must reach in ``experiments.throughput``; None: it is not in the benchmark and has nothing to hold.
    """

    name: str
    title: str
    gymnasium_id: str
    players: tuple[int, ...]
    config: Lazy[type[Any]] = Lazy()
    make_game: Lazy[Callable[[Any], Any]] = Lazy()
    heuristic: Lazy[Callable[[str], PolicyKernel] | None] = Lazy(None)
    version: int = 0
    baselines: Path | None = None
    picture: int | None = None
    small: Lazy[tuple[SmallGame, ...]] = Lazy(())
    measured: Path | None = None

    @property
    def id(self) -> str:
        """Name and version, as in ``<name>_v0``."""
        return f"{self.name}_v{self.version}"

    @property
    def pettingzoo_id(self) -> str:
        """``namespace/<name>_v0``, the namespace being that of the Gymnasium id."""
        return f"{self.gymnasium_id.rpartition('/')[0]}/{self.id}"
