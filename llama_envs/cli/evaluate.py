"""Play policies against each other: the same deals with seats rotated, intervals over deals.

    python -m experiments.evaluate <game> --policies ppo:runs/x/model.zip heuristic heuristic random --deals 2000

(``llama-envs evaluate`` where only the wheel is installed.) With ``--record games.jsonl`` every game is kept, to be
replayed or read as a table (``experiments.decisions``). With ``--ray`` each ``--games-at-once`` games are one Ray task,
here or on a cluster, with exactly the same numbers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich.progress import Progress

from llama_envs.cli.command import Kept, check_output, game_of, parse, run_or_exit
from llama_envs.cli.show import show_table
from llama_envs.cli.spread import Spread
from llama_envs.core.chance import check_seed
from llama_envs.core.files import write_atomically
from llama_envs.core.game import Game
from llama_envs.core.markdown import plural
from llama_envs.core.recording import write_games
from llama_envs.core.validation import check_int
from llama_envs.evaluation import Comparison, compare
from llama_envs.evaluation.intervals import plus_minus
from llama_envs.evaluation.matches import GAMES_AT_ONCE, MOST_DEALS, Interrupted
from llama_envs.policies import PolicyError

PARTS, SMALLEST_PART = 16, 256  # in so many parts a comparison is played, of so many games at least


@dataclasses.dataclass(frozen=True)
class Options(Spread):
    """Play policies against each other on shared deals with seats rotated."""

    policies: tuple[str, ...] = ("heuristic", "random")
    """One policy for each seat; every deal is played once in each rotation of them, and deals take their circular
    orders in turn."""
    deals: int = 2000
    """Number of deals."""
    seed: int = 0
    """Seed of the deals and of policies that draw."""
    out: Path | None = None
    """Also write the table to this CSV file."""
    record: Path | None = None
    """Also write every game to this file, one line of JSON each (llama_envs.core.recording reads them)."""
    games_at_once: int = GAMES_AT_ONCE
    """Games played together at most, with --ray in one task; changes speed and memory only."""
    workers: int = 1
    """Processes that play; 0 is one for each core. The results do not depend on it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("deals", self.deals, 1, MOST_DEALS)
        check_int("games_at_once", self.games_at_once, 1, 2**24)
        check_seed(self.seed)
        check_output("out", self.out, ".csv")
        check_output("record", self.record, ".jsonl")  # so never the file of --out


def evaluate(
    game: Game,
    names: Sequence[str],
    deals: int,
    seed: int,
    games_at_once: int = GAMES_AT_ONCE,
    spread: Callable[..., Iterable[Any]] = map,
    record: bool = False,
) -> Comparison:
    """:func:`~llama_envs.evaluation.compare` with a progress bar.

    Raises:
        ValueError: as ``compare``; or a policy failed, or no game came to its end.
    """
    with Progress(transient=True) as bar:
        task = bar.add_task("playing", total=deals)
        try:
            result = compare(
                game, names, deals, seed, games_at_once=games_at_once, spread=spread, record=record,
                progress=lambda played: bar.advance(task, played),
            )  # fmt: skip
        except PolicyError as error:
            raise ValueError(f"{error}.") from error
    if not result.games:
        raise ValueError(f"all {result.truncated:,} games were cut short by a limit of the game, and none counts.")
    return result


def frame_of(result: Comparison) -> pd.DataFrame:
    """One row for each distinct name: win share and mean score with half of their 95 % intervals."""
    score = f"mean_{result.game.score_name}"
    return pd.DataFrame(
        [
            {
                "policy": row.policy,
                "seats": row.seats,
                "win_share": row.share,
                "win_share_95": row.interval,
                score: row.score,
                f"{score}_95": row.score_interval,
                "deals": result.deals,
                "games": result.games,
                "truncated": result.truncated,
            }
            for row in result.standings
        ]
    )


def show(result: Comparison, title: str) -> None:
    """Print the table."""
    speed = (result.games + result.truncated) / result.seconds
    rows = [
        {
            "policy": row.policy,
            "seats": row.seats,
            "win share": plus_minus(row.share, row.interval),
            f"mean {result.game.score_name}": plus_minus(row.score, row.score_interval, 2),
        }
        for row in result.standings
    ]
    show_table(pd.DataFrame(rows), title, f"{result.note}; {speed:,.0f} games/s.")


def _evaluate(game: Game, options: Options, kept: Kept) -> None:
    """Play, write, show; all of it with the deals that were finished where it is interrupted."""
    title = f"{game.title}, {game.num_players} players, seed {options.seed}"
    parts = -(-options.deals * game.num_players // PARTS)
    at_once = min(options.games_at_once, max(parts, SMALLEST_PART))
    try:
        with options.spread() as spread:
            result = evaluate(
                game, options.policies, options.deals, options.seed, at_once, spread, options.record is not None
            )
    except Interrupted as stop:
        _keep(stop.result, options, title)
        kept.text = f"what is shown is of the first {stop.result.deals:,} of {plural(options.deals, 'deal')}"
        raise
    _keep(result, options, title)


def _keep(result: Comparison, options: Options, title: str) -> None:
    record, out = options.record, options.out
    if record is not None:
        write_atomically(record, lambda path: write_games(path, result.recorded))
    if out is not None:
        write_atomically(out, lambda path: frame_of(result).to_csv(path, index=False))
    show(result, title)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    call = parse(
        Options, "Play policies against each other on shared deals with seats rotated.", argv, num_players=None
    )
    options: Options = call.options
    players = call.config["num_players"] or len(options.policies)
    game = run_or_exit(lambda: game_of(call, num_players=players))
    kept = Kept()
    run_or_exit(lambda: _evaluate(game, options, kept), kept)


if __name__ == "__main__":
    main()
