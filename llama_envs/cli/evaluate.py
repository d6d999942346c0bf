"""Play policies against each other: the same deals with seats rotated, intervals over deals.

python -m experiments.evaluate lama --policies ppo:runs/x/model.zip heuristic heuristic random --deals 2000

With ``--record games.jsonl`` every game is kept, to be replayed or read as a table (``experiments.decisions``).

With ``--ray`` each ``--games-at-once`` games are one Ray task, here or on a cluster, with exactly the same numbers.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import rich
from rich.progress import Progress
from rich.table import Table

import agents  # noqa: F401  (registers the shipped policies)
from experiments.command import fail, game_of, parse, run_or_exit
from experiments.on_ray import ray_map, ray_session
from experiments.run_folder import write_atomically
from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.game import Game
from llama_envs.core.validation import check_int
from llama_envs.policies.policy import Players, Policy, make_policy
from llama_envs.core.recording import RecordedGame, Recorder, write_games

Z95 = 1.959964  # half the width of a 95 % normal interval, in standard errors


@dataclasses.dataclass(frozen=True)
class Options:
    """Play policies against each other on shared deals with seats rotated."""

    policies: tuple[str, ...] = ("heuristic", "random")
    """One policy for each seat; every deal is played once in each rotation of them."""
    deals: int = 2000
    """Number of deals."""
    seed: int = 0
    """Seed of the deals and of policies that draw."""
    out: Path | None = None
    """Also write the table to this CSV file."""
    record: Path | None = None
    """Also write every game to this file, one line of JSON each (llama_envs.core.recording reads them)."""
    games_at_once: int = 8192
    """Games played together, with --ray in one task; changes speed and memory only."""
    ray: bool = False
    """Spread the games over Ray tasks."""
    address: str = ""
    """With --ray, the address of a cluster ("auto", host:port), each node of which can import this checkout; empty:
    this machine."""

    def __post_init__(self) -> None:
        if self.address and not self.ray:
            raise ValueError(f"address is for --ray, got {self.address!r} without it.")


@dataclasses.dataclass(frozen=True)
class Games:
    """Results of a set of games.

    Attributes:
        win: (deals, rotations, P) win share of each entrant (ties split); NaN where the game was truncated.
        score: (deals, rotations, P) final total of each entrant.
        truncated: (deals, rotations) bool.
        seconds: wall time.
        recorded: every game, deal by deal and rotation by rotation; empty unless asked for.
    """

    win: npt.NDArray[np.float64]
    score: npt.NDArray[np.float64]
    truncated: npt.NDArray[np.bool_]
    seconds: float
    recorded: Sequence[RecordedGame] = ()


def play(
    game: Game,
    policies: Sequence[Policy],
    deals: int,
    seed: int,
    games_at_once: int = 8192,
    spread: Callable[..., Any] = map,
    quiet: bool = False,
    record: Sequence[str] = (),
) -> Games:
    """Play ``deals`` deals in every rotation of ``policies`` (one for each seat).

    In rotation r, entrant e sits at seat (e + r) mod P. A game depends on ``seed``, its deal and its rotation alone.
    ``spread`` maps over parts of the deals: ``map``, or ``ray_map``. The parts do not depend on it, so that policies
    meet the same rows together and their floats are the same too. ``quiet`` shows no progress bar.
    With ``record``, the names of the policies, every game is recorded too.
    """
    players = game.num_players
    seeds = np.random.SeedSequence(seed).generate_state(deals, np.uint64).astype(np.uint64, copy=False)
    win = np.full((deals, players, players), np.nan)
    score = np.zeros((deals, players, players))
    truncated = np.zeros((deals, players), np.bool_)
    recorded: list[RecordedGame] = []
    started = time.perf_counter()
    at_once = max(games_at_once // players, 1)
    parts = [slice(first, min(first + at_once, deals)) for first in range(0, deals, at_once)]
    with Progress(transient=True, disable=quiet) as progress:
        task = progress.add_task("playing", total=deals)
        results = spread(partial(_play_deals, game, list(policies), tuple(record)), [seeds[part] for part in parts])
        for part, result in zip(parts, results, strict=True):
            win[part], score[part], truncated[part], played = result
            recorded += played
            progress.advance(task, part.stop - part.start)
    return Games(win, score, truncated, time.perf_counter() - started, recorded)


def _play_deals(
    game: Game, policies: Sequence[Policy], names: Sequence[str], seeds: npt.NDArray[np.uint64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.bool_], list[RecordedGame]]:
    players = game.num_players
    shape = (len(seeds), players, players)
    rotation = np.tile(np.arange(players), len(seeds))
    entrant = (np.arange(players) - rotation[:, None]) % players  # (games, seat) -> who sits there
    per_game = np.repeat(seeds, players)
    batch = Batch(game, len(per_game), per_game)
    streams = np.stack([policy_streams(len(per_game), per_game, lane) for lane in range(players)], axis=1)
    table = Players(batch, policies, entrant, streams=np.take_along_axis(streams, entrant, axis=1))
    actions = np.zeros(len(per_game), np.int64)
    recorder = Recorder(batch) if names else None
    while table.act(actions).any():
        (recorder or batch).step(actions)
    seat = (np.arange(players) + rotation[:, None]) % players  # (games, entrant) -> where it sits
    total = batch.state["total"].astype(np.float64)
    cut = batch.state["truncated"].copy()
    share = np.where(cut[:, None], np.nan, game.win_shares(batch.state))
    return (
        np.take_along_axis(share, seat, axis=1).reshape(shape),
        np.take_along_axis(total, seat, axis=1).reshape(shape),
        cut.reshape(shape[:2]),
        recorder.games(np.array(names)[entrant].tolist()) if recorder else [],
    )


def summarise(game: Game, names: Sequence[str], games: Games) -> pd.DataFrame:
    """One row for each distinct name: win share and mean score with 95 % intervals over deals."""
    rows = []
    for name in dict.fromkeys(names):
        seats = [index for index, other in enumerate(names) if other == name]
        counted = ~games.truncated
        win, win_error = _clustered(games.win[:, :, seats], counted)
        score, score_error = _clustered(games.score[:, :, seats], counted)
        rows.append(
            {
                "policy": name,
                "seats": len(seats),
                "win_share": win,
                "win_share_95": Z95 * win_error,
                f"mean_{game.score_name}": score,
                f"mean_{game.score_name}_95": Z95 * score_error,
                "deals": len(games.win),
                "games": int(counted.sum()),
                "truncated": int(games.truncated.sum()),
            }
        )
    return pd.DataFrame(rows)


def _clustered(values: npt.NDArray[np.float64], counted: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Mean and standard error of ``values`` (deals, rotations, entrants), one deal being one observation."""
    kept = np.where(counted[:, :, None], values, np.nan)
    deals = kept.reshape(len(kept), -1)
    deals = deals[~np.isnan(deals).all(axis=1)]
    if not len(deals):
        return float("nan"), float("nan")
    means = np.nanmean(deals, axis=1)
    error = means.std(ddof=1) / np.sqrt(len(means)) if len(means) > 1 else float("nan")
    return float(means.mean()), float(error)


def show(game: Game, title: str, frame: pd.DataFrame, seconds: float) -> None:
    """Print the table."""
    games, cut = int(frame["games"].iloc[0]), int(frame["truncated"].iloc[0])
    table = Table(
        title=title,
        caption=f"{frame['deals'].iloc[0]} deals, each in {game.num_players} rotations: {games} games, {cut} cut short "
        f"and not counted, {(games + cut) / seconds:,.0f} games/s; ± is a 95 % interval over deals",
    )
    for column in ("policy", "seats", "win share", f"mean {game.score_name}"):
        table.add_column(column, justify="left" if column == "policy" else "right")
    for row in frame.to_dict("records"):
        mean, half = row[f"mean_{game.score_name}"], row[f"mean_{game.score_name}_95"]
        share = f"{row['win_share']:.3f} ± {row['win_share_95']:.3f}"
        table.add_row(str(row["policy"]), str(row["seats"]), share, f"{mean:.2f} ± {half:.2f}")
    rich.print(table)


def evaluate(
    game: Game,
    names: Sequence[str],
    deals: int,
    seed: int,
    games_at_once: int = 8192,
    spread: Callable[..., Any] = map,
    record: Path | None = None,
) -> tuple[pd.DataFrame, float]:
    """The table of ``names`` (one for each seat) and the seconds it took; ``spread`` as in :func:`play`.

    With ``record`` every game is written to that file.

    Raises:
        ValueError: the number of names is not the number of players, a name or number is wrong, or ``record`` cannot be
            written.
    """
    if len(names) != game.num_players:
        raise ValueError(f"policies must be {game.num_players} names, one for each seat, got {len(names)}.")
    check_int("deals", deals, 1, 10_000_000)
    check_int("games_at_once", games_at_once, 1, 2**24)
    policies = {name: make_policy(name, game) for name in names}
    kept = names if record is not None else ()
    games = play(game, [policies[name] for name in names], deals, seed, games_at_once, spread, record=kept)
    if record is not None:
        try:
            write_atomically(record, lambda path: write_games(path, games.recorded))
        except OSError as error:
            raise ValueError(f"cannot write {record} ({error.strerror}).") from None
    return summarise(game, names, games), games.seconds


def _evaluate(game: Game, options: Options) -> tuple[pd.DataFrame, float]:
    arguments = (game, options.policies, options.deals, options.seed, options.games_at_once)
    if not options.ray:
        return evaluate(*arguments, record=options.record)
    with ray_session(options.address):
        return evaluate(*arguments, ray_map, options.record)


def main() -> None:
    """The command line."""
    call = parse(Options, "Play policies against each other on shared deals with seats rotated.", num_players=None)
    options: Options = call.options
    players = call.config["num_players"] or len(options.policies)
    game = run_or_exit(lambda: game_of(call, num_players=players))
    frame, seconds = run_or_exit(lambda: _evaluate(game, options))
    show(game, f"{game.title}, {players} players, seed {options.seed}", frame, seconds)
    if options.out is not None:
        out = options.out
        try:
            write_atomically(out, lambda path: frame.to_csv(path, index=False))
        except OSError as error:
            fail(f"cannot write {out} ({error.strerror}).")


if __name__ == "__main__":
    main()
