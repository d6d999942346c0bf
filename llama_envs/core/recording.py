"""Recorded games: one line of JSON a game, from which it is replayed exactly.

::

    {"format": "llama_envs game 1", "game": "<name>_v0", "config": {...}, "seed": 7, "row": 0, "episode": 0,
     "actions": [3, 9, ...], "totals": [12, 40], "policies": ["heuristic", "random"], "crc": 123456789}

``config`` has every field of the game's config, ``seed``, ``row`` and ``episode`` name the random stream
(:func:`llama_envs.core.chance.expand_seeds`), ``actions`` are those of all seats as they were to move, ``totals`` the
points after them, ``policies`` who sat where (may be empty), ``crc`` the CRC-32 of the line without it. Where somebody
took the time, ``"seconds": [0.8, 2.5, ...]`` of each decision stands before ``crc``.

To record, step a batch through a :class:`Recorder`; :func:`write_games`, :func:`append_game` and :func:`read_games` are
the file, :func:`replay` plays many games again at once, and :func:`position` one of them up to a decision.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from llama_envs.core.batch import Batch, illegal_action_message
from llama_envs.core.game import Game
from llama_envs.core.registry import config_type, make_game, spec_of
from llama_envs.core.validation import check_int

FORMAT = "llama_envs game 1"
KEYS = ("format", "game", "config", "seed", "row", "episode", "actions", "totals", "policies")

T = TypeVar("T")


# ------------------------------------------------------------------------------------------------------ configurations


def config_to_json(config: Any) -> Any:
    """A config dataclass as JSON values: dataclasses as objects, tuples as lists.

    What equality ignores is left out, and an option that came later (``metadata={"later": True}``) at its default.
    """
    if is_dataclass(config) and not isinstance(config, type):
        values = {field: getattr(config, field.name) for field in fields(config) if field.compare}
        return {
            field.name: config_to_json(value)
            for field, value in values.items()
            if not (field.metadata.get("later") and value == field.default)
        }
    if isinstance(config, (tuple, list)):
        return [config_to_json(entry) for entry in config]
    return config


def config_from_json(kind: type[T], value: Any) -> T:
    """The config dataclass ``kind`` that ``config_to_json`` turned into ``value``.

    Raises:
        ValueError: ``value`` is no object, has unknown or missing fields, or ``kind`` refuses one.
    """
    hints = get_type_hints(kind)
    options = [field for field in fields(kind) if field.compare]  # type: ignore[arg-type]
    given = value if isinstance(value, dict) else {}
    known = [field.name for field in options if field.name in given or not field.metadata.get("later")]
    if not isinstance(value, dict) or set(value) != set(known):
        found = ", ".join(map(str, value)) if isinstance(value, dict) else repr(value)
        raise ValueError(f"a {kind.__name__} must have the fields {', '.join(known)}, got {found}.")
    return kind(**{name: _from_json(hints[name], value[name]) for name in known})


def _from_json(hint: Any, value: Any) -> Any:
    """``value`` with objects turned into the dataclass that ``hint`` names, and lists into tuples."""
    if isinstance(value, list):
        return tuple(_from_json(hint, entry) for entry in value)
    if isinstance(value, dict):
        kinds = [kind for kind in _named_in(hint) if isinstance(kind, type) and is_dataclass(kind)]
        if len(kinds) != 1:
            raise ValueError(f"there is no object where {hint} is wanted, got {value!r}.")
        return config_from_json(kinds[0], value)
    return value


def _named_in(hint: Any) -> list[Any]:
    """All types inside a type hint."""
    return [hint, *(inner for part in get_args(hint) for inner in _named_in(part))]


# ------------------------------------------------------------------------------------------------------ recorded games


@dataclass(frozen=True, eq=False)
class RecordedGame:
    """One game, finished or not, from its beginning.

    Attributes:
        game: what was played.
        seed: of the random stream, with ``row`` and ``episode``.
        row: as in :func:`llama_envs.core.chance.expand_seeds`; 0 for a batch that was given a seed for each game.
        episode: as in :attr:`llama_envs.core.batch.Batch.episode`.
        actions: (T,) int64, in the order in which they were taken.
        totals: points of each seat after them.
        policies: who sat at each seat; empty if nobody noted it.
        seconds: how long each decision took; empty if nobody noted it.
        source: where it was read, for messages.
    """

    game: Game
    seed: int
    row: int
    episode: int
    actions: npt.NDArray[np.int64]
    totals: tuple[int, ...]
    policies: tuple[str, ...] = ()
    source: str = ""
    seconds: tuple[float, ...] = ()

    def to_json(self) -> str:
        """One line, without the end of line."""
        values = (
            FORMAT, self.game.id, config_to_json(self.game.config), self.seed, self.row, self.episode,
            self.actions.tolist(), list(self.totals), list(self.policies),
        )  # fmt: skip
        line: dict[str, Any] = dict(zip(KEYS, values, strict=True))
        if self.seconds:
            line["seconds"] = [round(second, 3) for second in self.seconds]
        return _dump({**line, "crc": _checksum(line)})


class _Reader:
    """Reads lines; those of one configuration share one Game."""

    def __init__(self) -> None:
        self.games: dict[str, Game] = {}

    def read(self, text: str, source: str) -> RecordedGame:
        try:
            line = json.loads(text)
        except ValueError as error:
            raise ValueError(f"it is damaged: no JSON ({error}).") from None
        if not isinstance(line, dict) or line.get("format") != FORMAT:
            found = line.get("format") if isinstance(line, dict) else None
            raise ValueError(f"it must have the format {FORMAT!r}, got {found!r}.")
        crc = line.pop("crc", None)
        if tuple(line) not in (KEYS, (*KEYS, "seconds")) or crc != _checksum(line):
            raise ValueError("it is damaged: its content does not fit its check sum.")
        game = self.game_of(line)
        actions, totals, policies = line["actions"], line["totals"], line["policies"]
        if len(totals) != game.num_players or len(policies) not in (0, game.num_players):
            raise ValueError(f"it must have totals, and policies or none, for {game.num_players} seats.")
        seconds = line.get("seconds", [])
        if len(seconds) not in (0, len(actions)):
            raise ValueError("it must have seconds for each of its actions, or none.")
        array = np.array(actions, np.int64).reshape(-1)
        return RecordedGame(
            game, line["seed"], line["row"], line["episode"], array, tuple(totals), tuple(policies), source,
            tuple(seconds),
        )  # fmt: skip

    def game_of(self, line: dict[str, Any]) -> Game:
        key = _dump([line["game"], line["config"]])
        if key not in self.games:
            name, _, version = str(line["game"]).rpartition("_v")
            config = config_from_json(config_type(name), line["config"]) if version == _version(name) else None
            if config is None:
                raise ValueError(f"it was recorded with {line['game']}, and here is {name}_v{_version(name)}.")
            self.games[key] = make_game(name, **{field.name: getattr(config, field.name) for field in fields(config)})
        return self.games[key]


def _version(name: str) -> str:
    """The version of a registered game; ValueError with the known names if there is none."""
    return str(spec_of(name).version)


def _dump(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _checksum(line: Any) -> int:
    return zlib.crc32(_dump(line).encode())


def write_games(path: Path, games: Iterable[RecordedGame]) -> None:
    """Write one line for each game to ``path``."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{game.to_json()}\n" for game in games)


def append_game(path: Path, game: RecordedGame) -> None:
    """Add one line to ``path``, which need not exist, in one piece: several programs may do so at once."""
    with path.open("ab", buffering=0) as file:
        file.write(f"{game.to_json()}\n".encode())


def read_games(path: str | Path) -> list[RecordedGame]:
    """The games in a file, in its order; equal configurations share one Game.

    Raises:
        ValueError: the file is missing, or a line is damaged, has another format, or is of another version of its game;
            one sentence that names file and line.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")  # with or without a byte order mark
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read {path} ({getattr(error, 'strerror', None) or error}).") from None
    return parse_games(text, str(path))


def parse_games(text: str, path: str) -> list[RecordedGame]:
    """The games in the text of a file; ``path`` is its name for messages. Errors as in :func:`read_games`."""
    reader, games = _Reader(), []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            games.append(reader.read(line, f"{path}, line {number}"))
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
    return games


# ----------------------------------------------------------------------------------------------------------- recording


class Recorder:
    """Steps a batch and notes what happens in it.

    Args:
        batch: every game at its beginning, without autoreset.

    Raises:
        ValueError: a game is on its way already, or the batch resets by itself.
    """

    def __init__(self, batch: Batch) -> None:
        if batch.autoreset:
            raise ValueError("a batch with autoreset cannot be recorded; reset it after each recording.")
        fresh = batch.clone()
        fresh.begin_at(batch.episode, batch.origin[1])
        names = fresh.state.dtype.names or ()
        if any((fresh.state[name] != batch.state[name]).any() for name in names):
            raise ValueError("a recording begins with the game; some games of this batch are on their way already.")
        self.batch = batch
        self._steps: list[npt.NDArray[np.int16]] = []

    def step(self, actions: npt.ArrayLike, where: npt.ArrayLike | None = None) -> Any:
        """``batch.step``, noted."""
        moving = self.batch.to_move >= 0
        if where is not None:
            moving = moving & np.asarray(where)
        result = self.batch.step(actions, where)
        self._steps.append(np.where(moving, actions, -1).astype(np.int16))
        return result

    def games(self, policies: Sequence[Sequence[str]] = ()) -> list[RecordedGame]:
        """What was played so far, one for each game; ``policies[i]`` names who sits at each seat of game i."""
        batch = self.batch
        taken = np.array(self._steps, np.int16).reshape(-1, batch.num_games)
        totals = batch.state["total"]
        (seeds, rows), episodes = batch.origin, batch.episode
        return [
            RecordedGame(
                batch.game,
                int(seeds[i]),
                int(rows[i]),
                int(episodes[i]),
                taken[taken[:, i] >= 0, i].astype(np.int64),
                tuple(totals[i].tolist()),
                tuple(policies[i]) if len(policies) else (),
            )
            for i in range(batch.num_games)
        ]


# ------------------------------------------------------------------------------------------------------------ replaying


class Decision(NamedTuple):
    """One decision in each of some games that are replayed together, about to be taken.

    Attributes:
        batch: the games, where the decision is due in ``rows``.
        rows: (m,) int64, indices of the games that have this many decisions.
        actions: (m,) int64, what was done there.
    """

    batch: Batch
    rows: npt.NDArray[np.int64]
    actions: npt.NDArray[np.int64]


def replay(games: Sequence[RecordedGame]) -> Iterator[Decision]:
    """Play ``games`` (of one configuration) again, all at once, decision by decision.

    Raises:
        ValueError: a game has an action that is not legal, or does not end with the totals that were recorded.
    """
    batch = start_again(games)
    lengths = np.array([len(game.actions) for game in games])
    taken = np.zeros((int(lengths.max(initial=0)), len(games)), np.int64)
    for i, game in enumerate(games):
        taken[: lengths[i], i] = game.actions
    for number, actions in enumerate(taken):
        rows = np.flatnonzero(lengths > number)
        _check_legal(games, batch, rows, actions, number)
        yield Decision(batch, rows, actions[rows])
        batch.step(actions, lengths > number)
    different = (batch.state["total"] != [game.totals for game in games]).any(axis=1)
    if different.any():
        i = int(np.flatnonzero(different)[0])
        ends, recorded = batch.state["total"][i].tolist(), list(games[i].totals)
        raise ValueError(f"{_named(games, i)} ends with the totals {ends}, but {recorded} were recorded.")


def start_again(games: Sequence[RecordedGame]) -> Batch:
    """A batch with ``games`` (of one configuration) at their beginning, each on its own random stream.

    Raises:
        ValueError: there are none, or they are of several configurations.
    """
    if len({id(recorded.game) for recorded in games}) != 1:
        raise ValueError("games to be replayed together must be of one configuration, and one game at least.")
    batch = Batch(games[0].game, len(games), [recorded.seed for recorded in games])
    batch.begin_at([recorded.episode for recorded in games], [recorded.row for recorded in games])
    return batch


def position(recorded: RecordedGame, decisions: int | None = None) -> Batch:
    """A batch of one game, after so many of its decisions (None: all of them).

    Raises:
        ValueError: there are not so many; or an action is not legal, or at the end the totals are not those that were
            recorded.
    """
    if decisions is not None:
        check_int("decisions", decisions, 0, len(recorded.actions), ", those of the game")
    for number, decision in enumerate(replay([recorded])):
        batch = decision.batch
        if number == decisions:
            return batch
    return batch if len(recorded.actions) else start_again([recorded])


def _check_legal(
    games: Sequence[RecordedGame],
    batch: Batch,
    rows: npt.NDArray[np.int64],
    actions: npt.NDArray[np.int64],
    number: int,
) -> None:
    known = np.clip(actions[rows], 0, batch.game.num_actions - 1)
    illegal = (known != actions[rows]) | ~batch.action_mask[rows, known]
    if illegal.any():
        row = int(rows[illegal][0])
        wrong = "the game is over" if batch.to_move[row] < 0 else ""
        wrong = wrong or illegal_action_message(batch.game, int(actions[row]), batch.action_mask[row])
        raise ValueError(f"{_named(games, row)} cannot be replayed: at decision {number}, {wrong}.")


def _named(games: Sequence[RecordedGame], i: int) -> str:
    return games[i].source or f"game {i}"
