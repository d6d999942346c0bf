"""Recorded games as one table, a row for each decision, for analysis with pandas.

    python -m experiments.evaluate <game> --policies heuristic random --deals 2000 --record games.jsonl
    python -m experiments.decisions games.jsonl --out decisions.parquet --observation hand top

Games are replayed together, so a million decisions take seconds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import tyro

from llama_envs.cli.command import check_output, parse_options, run_or_exit
from llama_envs.cli.show import show_table
from llama_envs.core.batch import Batch
from llama_envs.core.files import write_atomically
from llama_envs.core.game import Game
from llama_envs.core.recording import RecordedGame, read_games, replay, start_again

AT_ONCE = 8192  # games replayed together; bounds memory only

Ints = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Options:
    """Turn recorded games into a table with a row for each decision."""

    games: tyro.conf.Positional[Path]
    """A file of recorded games."""
    out: Path | None = None
    """Where to write the table: .csv, or .parquet if pyarrow is installed; by default its head is shown."""
    observation: tuple[str, ...] = ()
    """Pieces of the observation to add, in natural units, a column for each number."""

    def __post_init__(self) -> None:
        check_output("out", self.out, ".csv", ".parquet")


def decisions(games: Sequence[RecordedGame], observation: Sequence[str] = ()) -> pd.DataFrame:
    """One row for each decision of ``games``, game by game.

    Columns: ``game`` (place in ``games``), ``id``, ``deal`` (the seed), ``row``, ``episode``, ``decision`` (from 0),
    ``round`` (finished rounds, where a game has rounds), ``seat``, ``policy`` (of the seat, if noted), ``action``,
    ``action_name``, ``kind`` (of decision), ``seconds`` (that it took; NaN if nobody noted it), ``legal`` (number of
    legal actions), ``total`` (of the seat), ``total_0`` ... (of each seat),
    ``win_share`` (of the seat at the end; NaN if the game was cut short or is not over), and ``name[i]`` for each
    number of the pieces ``observation``.

    Raises:
        ValueError: a game cannot be replayed, has no such piece, or one is named twice.
    """
    if len(set(observation)) < len(observation):
        raise ValueError(f"observation must name each piece once, got {' '.join(observation)}.")
    groups: dict[Game, list[int]] = {}
    for index, recorded in enumerate(games):
        groups.setdefault(recorded.game, []).append(index)
    portions = [
        indices[first : first + AT_ONCE] for indices in groups.values() for first in range(0, len(indices), AT_ONCE)
    ]
    parts = [_part([games[index] for index in portion], portion, observation) for portion in portions]
    if not parts:
        raise ValueError("there are no recorded games.")
    table = pd.concat(parts, ignore_index=True)
    for name in ("id", "policy", "action_name", "kind"):
        table[name] = table[name].astype("category")
    return table.sort_values(["game", "decision"], kind="stable", ignore_index=True)


def load_decisions(path: str | Path, observation: Sequence[str] = ()) -> pd.DataFrame:
    """:func:`decisions` of a file of recorded games.

    Raises:
        ValueError: the file cannot be read or replayed; one sentence.
    """
    return decisions(read_games(path), observation)


class _Rows(NamedTuple):
    """Decisions of some games of one configuration, step by step and then put together: m of them."""

    row: Ints  # (m,) place of the game among them
    decision: Ints
    round: Ints
    seat: Ints
    action: Ints
    kind: npt.NDArray[np.object_]
    legal: Ints
    totals: Ints  # (m, P)
    seen: npt.NDArray[np.float32]  # (m, numbers asked for)


def _part(games: Sequence[RecordedGame], indices: Sequence[int], observation: Sequence[str]) -> pd.DataFrame:
    """The rows of some games of one configuration; ``indices`` are their places among all games."""
    game = games[0].game
    pieces = _pieces(game, observation)
    at, share = _replayed(games, list(pieces.values()))
    names = np.array([recorded.policies or ("",) * game.num_players for recorded in games], object)
    seconds = np.full((len(games), max(1, *(len(recorded.actions) for recorded in games))), np.nan)
    for row, recorded in enumerate(games):
        seconds[row, : len(recorded.seconds)] = recorded.seconds
    scales = [game.observation[name].scale for name in observation for _ in range(game.observation[name].size)]
    numbers = np.rint(at.seen * scales).astype(np.int32).T
    return pd.DataFrame(
        {
            "game": np.asarray(indices)[at.row],
            "id": game.id,
            "deal": np.array([recorded.seed for recorded in games], np.uint64)[at.row],
            "row": np.array([recorded.row for recorded in games])[at.row],
            "episode": np.array([recorded.episode for recorded in games])[at.row],
            "decision": at.decision,
            "round": at.round,
            "seat": at.seat,
            "policy": pd.Categorical(names[at.row, at.seat]),
            "action": at.action,
            "action_name": pd.Categorical(np.array(game.action_names, object)[at.action]),
            "kind": pd.Categorical(at.kind),
            "seconds": seconds[at.row, at.decision],
            "legal": at.legal,
            "total": at.totals[np.arange(len(at.row)), at.seat],
            **{f"total_{seat}": at.totals[:, seat] for seat in range(game.num_players)},
            "win_share": share[at.row, at.seat],
            **dict(zip(pieces, numbers, strict=True)),
        }
    )


def _replayed(games: Sequence[RecordedGame], offsets: list[int]) -> tuple[_Rows, npt.NDArray[np.float64]]:
    """All decisions, with the observation at ``offsets``; and (games, P) the win shares, NaN for unfinished games."""
    batch = start_again(games)
    steps = [_due(batch, np.zeros(0, np.int64), np.zeros(0, np.int64), 0, offsets)]
    for number, decision in enumerate(replay(games)):
        batch = decision.batch
        steps.append(_due(batch, decision.rows, decision.actions, number, offsets))
    share = np.where(batch.state["terminated"][:, None], batch.game.win_shares(batch.state), np.nan)
    return _Rows(*(np.concatenate(columns) for columns in zip(*steps, strict=True))), share


def _due(batch: Batch, rows: Ints, actions: Ints, number: int, offsets: list[int]) -> _Rows:
    """Decision ``number`` of the games ``rows``, about to be taken."""
    state = batch.state
    rounds = state["rounds"][rows] if "rounds" in (state.dtype.names or ()) else np.zeros(len(rows))
    kinds = [batch.game.kind_of(state[row], action) for row, action in zip(rows, actions, strict=True)]
    return _Rows(
        rows, np.full(len(rows), number), rounds.astype(np.int64), batch.to_move[rows].astype(np.int64), actions,
        np.array(kinds, object), batch.action_mask[rows].sum(axis=1), state["total"][rows].astype(np.int64),
        batch.observation[rows][:, offsets],
    )  # fmt: skip


def _pieces(game: Game, observation: Sequence[str]) -> dict[str, int]:
    """A column's name and its offset in the observation, for each number of the pieces."""
    found: dict[str, int] = {}
    for name in observation:
        if name not in game.observation:
            raise ValueError(f"{game.id} has no observation piece {name!r}; it has {', '.join(game.observation)}.")
        piece = game.observation[name]
        labels = (
            [name]
            if piece.shape == (1,)
            else [name + "".join(f"[{i}]" for i in index) for index in product(*map(range, piece.shape))]
        )
        found |= {label: piece.start + offset for offset, label in enumerate(labels)}
    return found


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table as its file name says, atomically.

    Raises:
        ValueError: the name ends otherwise, pyarrow is missing, or the file cannot be written.
    """
    check_output("out", path, ".csv", ".parquet")
    try:
        if path.suffix == ".csv":
            write_atomically(path, lambda temporary: table.to_csv(temporary, index=False))
        else:
            write_atomically(path, lambda temporary: table.to_parquet(temporary, index=False))
    except ImportError:
        raise ValueError("a .parquet file needs pyarrow: pip install 'llama-envs[cli]'.") from None


def _run(options: Options) -> None:
    table = load_decisions(options.games, options.observation)
    if options.out is None:
        show_table(table.head(20).astype(str), "The first decisions")
    else:
        write_table(table, options.out)
    print(f"{len(table):,} decisions of {table['game'].nunique():,} games")


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    options = parse_options(Options, __doc__.partition("\n")[0], argv)
    run_or_exit(lambda: _run(options))


if __name__ == "__main__":
    main()
