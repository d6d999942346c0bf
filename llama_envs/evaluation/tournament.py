"""A tournament of any number of policies: shared deals, all rotations of the seats, intervals over deals.

    python -m experiments.tournament lama --policies heuristic random mc:20 mc:100 --num-players 4 --deals 1000

Everything goes to ``runs/<name>/``: standings.csv, pairwise.csv, one_vs_rest.csv, tables.csv, games.parquet (every
game), heatmap.png, report.md, timing.csv, config, exact command, versions, and ``parts/``, from which ``--resume``
goes on.
Every deal is played at every table. A policy that raises an error is named with it; its games are not rated.
"""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from datetime import datetime, timezone
from functools import partial
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import rich
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table as RichTable

import agents  # noqa: F401  (registers the shipped policies)
from experiments.command import fail, game_of, parse, run_or_exit
from llama_envs.evaluation.schedules import DESIGNS, Table, make_tables, seat_orders
from experiments.evaluate import play
from experiments.run_folder import open_run, write_atomically, write_text
from llama_envs.evaluation.standings import (
    Results,
    every_place,
    matrix,
    one_against_the_rest,
    pairwise,
    standings,
    table_results,
)
from llama_envs.core.batch import illegal_action_message
from llama_envs.core.game import Game
from llama_envs.core.validation import check_choice, check_int
from llama_envs.policies.policy import Actions, Policy, View, make_policy

matplotlib.use("Agg")
import matplotlib.pyplot as plt

Spec = str | Policy


@dataclasses.dataclass(frozen=True)
class Options:
    """Let policies play a tournament on shared deals, every table in all rotations of its seats."""

    policies: tuple[str, ...] = ("heuristic", "random")
    """Two or more; their order changes nothing. One that is named twice plays twice."""
    deals: int = 1000
    """Deals, each of them played at every table."""
    design: str = "auto"
    """"round_robin": every set of policies that fills a table; "balanced": fewer tables, at which every pair meets
    equally often; "one_vs_rest": one policy against the rest of the seats held by another, for every pair;
    "auto": the round robin if it is small, else balanced."""
    rest: str = ""
    """One of the policies: then only tables of one other among P-1 of it are played."""
    seed: int = 0
    """Seed of the deals, of policies that draw, and of the resampling behind the intervals of ratings."""
    block: int = 100
    """Most deals played together, which is what is lost when the tournament is killed; neighbours change with every
    block."""
    workers: int = 0
    """Processes; 0 is one for each core. The results do not depend on it."""
    name: str = ""
    """Folder under runs/; by default game, players, seed and the time."""
    resume: bool = False
    """Go on with the tournament --name; give the options it was started with."""

    def __post_init__(self) -> None:
        check_choice("design", self.design, DESIGNS)
        check_int("deals", self.deals, 1, 10_000_000)
        check_int("block", self.block, 1, 2**20)
        check_int("workers", self.workers, 0, 1024)
        check_int("seed", self.seed, 0, 2**63)


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is played, the same whatever the order in which the policies were named.

    Attributes:
        game: the game.
        policies: name in the tables -> policy, or how it is asked for.
        tables: who sits together.
        orders: circular orders of the places at a table, taken in turn by blocks of deals.
        deals, block, seed: as in the options.
    """

    game: Game
    policies: Mapping[str, Spec]
    tables: tuple[Table, ...]
    orders: tuple[tuple[int, ...], ...]
    deals: int
    block: int
    seed: int

    @property
    def blocks(self) -> list[slice]:
        """The deals of each block: equally many, and as many blocks for every order of the places."""
        rounds = -(-self.deals // (self.block * len(self.orders)))
        parts = np.array_split(np.arange(self.deals), min(rounds * len(self.orders), self.deals))
        return [slice(int(part[0]), int(part[-1]) + 1) for part in parts]

    @property
    def order_of_deals(self) -> list[tuple[int, ...]]:
        """The circular order of the places in each deal."""
        orders = (self.orders[number % len(self.orders)] for number in range(len(self.blocks)))
        return [
            order for order, block in zip(orders, self.blocks, strict=True) for _ in range(block.stop - block.start)
        ]

    @property
    def units(self) -> list[tuple[int, int]]:
        """What is played in one piece: (block, table)."""
        return [(block, table) for block in range(len(self.blocks)) for table in range(len(self.tables))]


@dataclasses.dataclass(frozen=True)
class Tournament:
    """What was played, the tables of :mod:`llama_envs.evaluation.standings`, and how long each policy took to decide."""

    plan: Plan
    results: Results
    standings: pd.DataFrame
    pairwise: pd.DataFrame
    one_vs_rest: pd.DataFrame
    tables: pd.DataFrame
    timing: pd.DataFrame


class PolicyError(Exception):
    """A policy raised something, or chose an action that is not legal."""

    def __init__(self, policy: str, message: str) -> None:
        super().__init__(policy, message)
        self.policy, self.message = policy, message


class Watched:
    """A policy under its name: errors carry the name, illegal actions are errors, decisions and time are counted."""

    def __init__(self, name: str, policy: Policy) -> None:
        self.name, self.policy = name, policy
        self.needs_worlds = policy.needs_worlds
        self.decisions, self.seconds = 0, 0.0

    def act(self, view: View) -> Actions:
        """What the policy does: (n,) int64; PolicyError if it fails."""
        mask = view.mask.copy()
        started = time.perf_counter()
        try:
            actions = np.asarray(self.policy.act(view))
        except Exception as error:
            raise PolicyError(self.name, f"{type(error).__name__}: {error}".splitlines()[0]) from error
        self.seconds += time.perf_counter() - started
        self.decisions += len(mask)
        if actions.shape != (len(mask),) or actions.dtype.kind not in "iu":
            raise PolicyError(self.name, f"act gave {actions.dtype} of shape {actions.shape}, not {len(mask)} integers")
        inside = (actions >= 0) & (actions < mask.shape[1])
        legal = inside & mask[np.arange(len(mask)), np.where(inside, actions, 0)]
        if not legal.all():
            row = int(np.flatnonzero(~legal)[0])
            raise PolicyError(self.name, illegal_action_message(view.game, int(actions[row]), mask[row]))
        return actions.astype(np.int64)


# ------------------------------------------------------------------------------------------------------------ playing


def make_plan(
    game: Game,
    policies: Sequence[str] | Mapping[str, Spec],
    deals: int = 1000,
    design: str = "auto",
    block: int = 100,
    seed: int = 0,
    rest: str = "",
) -> Plan:
    """Names in a fixed order, one named twice numbered, and their tables.

    Raises:
        ValueError: fewer than two policies, one that cannot be made, too many tables, or ``rest`` is not among them.
    """
    named: dict[str, Spec] = {}
    if isinstance(policies, Mapping):
        named.update(policies)
    else:
        for index, name in enumerate(policies):
            times = list(policies[:index]).count(name)
            named[f"{name} ({times + 1})" if times else name] = name
    if len(named) < 2:
        raise ValueError(f"policies must be two or more, got {len(named)}.")
    for spec in named.values():
        make_policy(spec, game)
    names = sorted(named)
    if rest and rest not in names:
        raise ValueError(f"rest must be one of the policies, {', '.join(names)}, got {rest!r}.")
    tables = make_tables(len(names), game.num_players, design, names.index(rest) if rest else None)
    orders = tuple(seat_orders(game.num_players, seed))
    return Plan(game, {name: named[name] for name in names}, tuple(tables), orders, deals, block, seed)


def run_tournament(plan: Plan, folder: Path, workers: int = 1, pool: Executor | None = None) -> Tournament:
    """Play what is not in ``folder / "parts"`` yet, then write everything there.

    Args:
        plan: what to play.
        folder: of the run.
        workers: processes to start.
        pool: from :func:`worker_pool`, to be used instead.
    """
    missing = [unit for unit in plan.units if not part_file(folder, unit).is_file()]
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, transient=True) as progress, _spread(plan, workers, pool) as spread:
        task = progress.add_task("playing", total=len(plan.units), completed=len(plan.units) - len(missing))
        for unit, part in zip(missing, spread(missing), strict=True):
            write_atomically(part_file(folder, unit), partial(_save_part, part))
            progress.advance(task)
    tournament = collect(plan, folder)
    write_results(tournament, folder)
    return tournament


@contextmanager
def worker_pool(workers: int) -> Iterator[Executor]:
    """Processes that play parts of tournaments, one thread each; they end with this process, however it ends."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _spread(plan: Plan, workers: int, pool: Executor | None) -> Iterator[Callable[..., Iterator[dict[str, Any]]]]:
    """A ``map`` over units: in this process, or in others."""
    if pool is None and workers == 1:
        players = _sit_down(plan)
        yield lambda units: (play_unit(plan, players, unit) for unit in units)
        return
    with nullcontext(pool) if pool is not None else worker_pool(workers) as there:
        assert there is not None
        yield lambda units: there.map(partial(_play_in_worker, plan, os.urandom(8)), units)


_SEATED: dict[bytes, dict[str, Watched]] = {}  # of a worker: policies of the tournament that it plays


def _play_in_worker(plan: Plan, key: bytes, unit: tuple[int, int]) -> dict[str, Any]:
    if key not in _SEATED:
        _SEATED.clear()
        _SEATED[key] = _sit_down(plan)
    return play_unit(plan, _SEATED[key], unit)


def _sit_down(plan: Plan) -> dict[str, Watched]:
    players = {name: Watched(name, make_policy(spec, plan.game)) for name, spec in plan.policies.items()}
    if "torch" in sys.modules:  # sums of floats are formed in the same order wherever they are
        sys.modules["torch"].set_num_threads(1)
    return players


def play_unit(plan: Plan, players: Mapping[str, Watched], unit: tuple[int, int]) -> dict[str, Any]:
    """One block of deals at one table, every rotation: arrays by place (see :class:`Results`), errors and timing."""
    block, number = unit
    table = plan.tables[number]
    order = list(plan.orders[block % len(plan.orders)])
    everyone = list(players.values())
    deals = plan.blocks[block].stop - plan.blocks[block].start
    shape = (deals, len(table), len(table))
    win, score, truncated = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape[:2], np.bool_)
    for player in everyone:
        player.decisions, player.seconds = 0, 0.0
    failed = ("", "")
    try:
        games = play(plan.game, [everyone[table[place]] for place in order], deals, block_seed(plan, block), quiet=True)
    except PolicyError as error:
        failed = (error.policy, error.message)
    else:
        win[:, :, order], score[:, :, order], truncated = games.win, games.score, games.truncated
    clock = np.array([[player.decisions, player.seconds] for player in everyone])
    return {"win": win, "score": score, "truncated": truncated, "failed": np.array(failed), "clock": clock}


def block_seed(plan: Plan, block: int) -> int:
    """The seed of a block's deals, the same at every table."""
    return int(np.random.SeedSequence([plan.seed, block]).generate_state(1, np.uint64)[0])


def part_file(folder: Path, unit: tuple[int, int]) -> Path:
    """Where the games of (block, table) are kept."""
    return folder / "parts" / f"block-{unit[0]:05d}-table-{unit[1]:04d}.npz"


def _save_part(part: dict[str, Any], path: Path) -> None:
    np.savez_compressed(path, **part)


def collect(plan: Plan, folder: Path) -> Tournament:
    """All parts of a tournament that is over."""
    players = plan.game.num_players
    shape = (plan.deals, len(plan.tables), players, players)
    win, score = np.full(shape, np.nan), np.full(shape, np.nan)
    truncated = np.zeros(shape[:3], np.bool_)
    clock = np.zeros((len(plan.policies), 2))
    errors: dict[str, str] = {}
    for unit in plan.units:
        block, table = plan.blocks[unit[0]], unit[1]
        with np.load(part_file(folder, unit)) as part:
            win[block, table], score[block, table], truncated[block, table] = (
                part["win"], part["score"], part["truncated"],
            )  # fmt: skip
            clock += part["clock"]
            policy, message = part["failed"].tolist()
        if policy:
            errors.setdefault(policy, message)
    results = Results(tuple(plan.policies), plan.tables, win, score, truncated, errors)
    timing = pd.DataFrame({"policy": list(plan.policies), "decisions": clock[:, 0].astype(int), "seconds": clock[:, 1]})
    timing["ms_per_decision"] = 1000 * timing["seconds"] / timing["decisions"].where(timing["decisions"] > 0)
    return Tournament(
        plan,
        results,
        standings(plan.game, results, plan.seed),
        pairwise(results),
        one_against_the_rest(plan.game, results),
        table_results(plan.game, results),
        timing,
    )


# ------------------------------------------------------------------------------------------------------------ writing


def write_results(tournament: Tournament, folder: Path) -> None:
    """The CSV files, the picture and the report."""
    frames = {
        "standings": tournament.standings,
        "pairwise": tournament.pairwise,
        "one_vs_rest": tournament.one_vs_rest,
        "tables": tournament.tables,
        "timing": tournament.timing,
    }
    for name, frame in frames.items():
        if len(frame):
            write_atomically(folder / f"{name}.csv", partial(_save_csv, frame))
    games = every_place(tournament.results, tournament.plan.order_of_deals)
    write_atomically(folder / "games.parquet", partial(games.to_parquet, index=False))
    draw_heat_map(tournament, folder / "heatmap.png")
    write_text(folder / "report.md", report(tournament, folder))


def _save_csv(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path, index=False)


def plus_minus(mean: float, half: float, digits: int = 3) -> str:
    """``mean ± half``, a dash where there is nothing to tell."""
    if np.isnan(mean):
        return "–"
    width = "" if np.isnan(half) else " ± ∞" if np.isinf(half) else f" ± {half:.{digits}f}"
    return f"{round(mean, digits) + 0.0:.{digits}f}{width}"  # never -0


def readable_standings(tournament: Tournament) -> pd.DataFrame:
    """The standings with intervals as text, under short headings."""
    score = tournament.plan.game.score_name
    frame = tournament.standings
    columns: dict[str, list[str]] = {"policy": list(frame["policy"])}
    for title, column, digits in (
        ("win share", "win_share", 3), (f"mean {score}", f"mean_{score}", 2), ("rating", "rating", 0),
    ):  # fmt: skip
        pairs = zip(frame[column], frame[f"{column}_95"], strict=True)
        columns[title] = [plus_minus(mean, half, digits) for mean, half in pairs]
    columns["alpha-rank"] = [plus_minus(mass, float("nan"), 2) for mass in frame["alpha_rank"]]
    for title in ("games", "truncated", "unrated"):
        columns[title] = [f"{number:,}" for number in frame[title]]
    return pd.DataFrame(columns)


def readable_matrix(tournament: Tournament) -> pd.DataFrame:
    """The pairwise table with intervals as text, the best policies first."""
    order = list(tournament.standings["policy"])
    pairs = tournament.pairwise
    text = [plus_minus(share, half) for share, half in zip(pairs["share"], pairs["share_95"], strict=True)]
    return _text_matrix(pairs.assign(text=text), "against", order)


def readable_one_vs_rest(tournament: Tournament) -> pd.DataFrame:
    """Win share of one (row) against the rest held by another (column); empty without such tables."""
    frame = tournament.one_vs_rest
    if not len(frame):
        return frame
    order = [policy for policy in tournament.standings["policy"] if policy in {*frame["policy"], *frame["rest"]}]
    pairs = zip(frame["win_share"], frame["win_share_95"], strict=True)
    return _text_matrix(frame.assign(text=[plus_minus(*pair) for pair in pairs]), "rest", order)


def _text_matrix(frame: pd.DataFrame, columns: str, order: Sequence[str]) -> pd.DataFrame:
    """The column "text" as a matrix, blank where there is nothing; rows and columns that hold nothing are left out."""
    cells = matrix(frame, "policy", columns, "text", order).astype(object)
    cells = cells.dropna(axis=0, how="all").dropna(axis=1, how="all")
    return cells.where(cells.notna(), "").rename_axis(index="policy", columns=None).reset_index()


def markdown(frame: pd.DataFrame) -> str:
    """A frame of texts as a Markdown table, numbers right-aligned."""
    rows = [[str(cell).replace("|", "\\|") for cell in row] for row in frame.itertuples(index=False)]
    head = [str(column).replace("|", "\\|") for column in frame.columns]
    line = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, line, *rows)) + "\n"


def report(tournament: Tournament, folder: Path) -> str:
    """The tournament in Markdown."""
    plan, results = tournament.plan, tournament.results
    players, game = plan.game.num_players, plan.game
    command = (folder / "command.txt").read_text().strip() if (folder / "command.txt").is_file() else ""
    found = folder / "versions.json"
    libraries = json.loads(found.read_text()) if found.is_file() else {}
    lines = [
        f"# Tournament: {game.title}, {players} players",
        "",
        *([f"`{command}`", ""] if command else []),
        f"{len(plan.policies)} policies at {len(plan.tables)} tables, {plan.deals:,} deals shared by all tables, each "
        f"in {players} rotations of the seats: {plan.deals * len(plan.tables) * players:,} games; seed {plan.seed}.",
        "",
        "## Standings",
        "",
        markdown(readable_standings(tournament)),
        f"Win share for each seat held; equality is {1 / players:.3f}. ± is a 95 % interval, one deal being one "
        "observation. Ratings are Bradley–Terry on the Elo scale, 0 being the median, shared victories counted as "
        "draws (± ∞ for a policy that won nothing or everything); alpha-rank is the mass that a policy holds in the "
        "long run where populations imitate winners, a mean over resampled "
        f"deals{'' if tournament.standings['alpha_rank'].notna().any() else ' (not computed: needs open_spiel)'}.",
        "",
        "## Pairs",
        "",
        "Of the wins that either took in their common games, the share of the policy in the row.",
        "",
        markdown(readable_matrix(tournament)),
        "![Heat map](heatmap.png)",
        "",
    ]
    if len(tournament.one_vs_rest):
        lines += [
            "## One against the rest",
            "",
            f"Win share of the policy in the row, alone among {players - 1} of the policy in the column; equality is "
            f"{1 / players:.3f}.",
            "",
            markdown(readable_one_vs_rest(tournament)),
        ]
    lines += ["## Not rated", "", *_not_rated(results), ""]
    lines += ["## Versions", "", ", ".join(f"{name} {number}" for name, number in libraries.items()), ""]
    return "\n".join(lines)


def _not_rated(results: Results) -> list[str]:
    cut = int(results.truncated.sum())
    lines = [f"- {cut:,} games cut short by a limit." if cut else "- No game was cut short."]
    for policy, error in results.errors.items():
        lines.append(f"- `{policy}` failed: {error}. None of its games are rated.")
    if not results.errors:
        lines.append("- No policy failed.")
    return lines


def draw_heat_map(tournament: Tournament, path: Path) -> None:
    """The pairwise table as a picture, and beside it one against the rest where that was played."""
    order = list(tournament.standings["policy"])
    panels = [("share of the wins of either", matrix(tournament.pairwise, "policy", "against", "share", order), 0.5)]
    rest = tournament.one_vs_rest
    if len(rest):
        equal = 1 / tournament.plan.game.num_players
        title = f"win share of one among {tournament.plan.game.num_players - 1} of the column"
        panels.append((title, matrix(rest, "policy", "rest", "win_share", order), equal))
    size = 2.4 + 0.72 * len(order)
    figure, axes = plt.subplots(
        1, len(panels), figsize=(size * len(panels) + 0.8, size), layout="constrained", squeeze=False
    )
    for axis, (title, cells, middle) in zip(axes[0], panels, strict=True):
        _draw_cells(axis, title, cells, middle)
        figure.colorbar(axis.images[0], ax=axis, shrink=0.8, extend="both")
    figure.suptitle(f"{tournament.plan.game.title}, {tournament.plan.game.num_players} players: row against column")
    write_atomically(path, lambda temporary: figure.savefig(temporary, dpi=110))
    plt.close(figure)


def _draw_cells(axis: Any, title: str, cells: pd.DataFrame, middle: float) -> None:
    values = cells.to_numpy(dtype=np.float64)
    scale = matplotlib.colors.Normalize(middle / 2, middle * 1.5)
    axis.imshow(values, cmap="RdBu", norm=scale)
    axis.set_xticks(range(len(cells)), list(cells.columns), rotation=45, ha="right")
    axis.set_yticks(range(len(cells)), list(cells.index))
    axis.set_title(title, fontsize=10)
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            strong = abs(scale(value) - 0.5) > 0.32
            axis.text(
                column, row, f"{value:.2f}", ha="center", va="center", color="white" if strong else "black", fontsize=9
            )


# ------------------------------------------------------------------------------------------------------- command line


def show(tournament: Tournament) -> None:
    """Print the tables."""
    plan = tournament.plan
    players = plan.game.num_players
    timing = dict(zip(tournament.timing["policy"], tournament.timing["ms_per_decision"], strict=True))
    frame = readable_standings(tournament)
    frame["not rated"] = [f"{number:,}" for number in tournament.standings[["truncated", "unrated"]].sum(axis=1)]
    frame = frame.drop(columns=["games", "truncated", "unrated"])
    frame["ms/decision"] = ["–" if np.isnan(timing[name]) else f"{timing[name]:.3g}" for name in frame["policy"]]
    rich.print(
        _rich_table(
            frame,
            f"{plan.game.title}, {players} players, seed {plan.seed}",
            f"{len(plan.tables)} tables, {plan.deals:,} deals, {players} rotations; equality is {1 / players:.3f}; "
            "± is a 95 % interval over deals",
        )
    )
    if len(plan.policies) <= 10:
        rich.print(_rich_table(readable_matrix(tournament), "share of the wins of either, row against column"))
        if len(tournament.one_vs_rest):
            title = f"win share of one (row) among {players - 1} of another (column)"
            rich.print(_rich_table(readable_one_vs_rest(tournament), title))
    for policy, error in tournament.results.errors.items():
        rich.print(RichTable(title=f"{policy} failed, its games are not rated: {error}", title_style="bold red"))


def _rich_table(frame: pd.DataFrame, title: str, caption: str | None = None) -> RichTable:
    table = RichTable(title=title, caption=caption)
    for column in frame.columns:
        table.add_column(column, justify="left" if column == "policy" else "right", no_wrap=column == "policy")
    for row in frame.itertuples(index=False):
        table.add_row(*(str(cell) for cell in row))
    return table


def check_same(folder: Path, config: Mapping[str, Any]) -> None:
    """ValueError unless the run in ``folder`` was started with ``config``."""
    before = json.loads((folder / "config.json").read_text())
    now = json.loads(json.dumps(config, default=str))
    changed = sorted(key for key in {*before, *now} if before.get(key) != now.get(key))
    if changed:
        raise ValueError(f"{folder} was started with other options: {', '.join(changed)}; give the same to --resume.")


def main() -> None:
    """The command line."""
    call = parse(Options, "Let policies play a tournament on shared deals, every table in all rotations of its seats.")
    options: Options = call.options
    game = run_or_exit(lambda: game_of(call))
    plan = run_or_exit(
        lambda: make_plan(
            game, options.policies, options.deals, options.design, options.block, options.seed, options.rest
        )
    )
    name = options.name or (
        f"tournament-{game.name}-{game.num_players}p-s{options.seed}-{datetime.now(timezone.utc):%Y%m%d-%H%M%S}"
    )
    config = {
        "game": game.id, **call.config, "policies": list(plan.policies), "deals": plan.deals, "design": options.design,
        "rest": options.rest, "block": plan.block, "seed": plan.seed, "tables": [list(table) for table in plan.tables],
    }  # fmt: skip
    folder = run_or_exit(lambda: open_run(name, config, options.resume))
    run_or_exit(lambda: check_same(folder, config))
    try:
        tournament = run_tournament(plan, folder, options.workers or os.cpu_count() or 1)
    except BrokenProcessPool:
        fail(f"a worker process died; the same command with --name {name} --resume goes on.")
    except KeyboardInterrupt:
        fail(f"stopped; the same command with --name {name} --resume goes on.")
    show(tournament)
    print(f"report: {folder / 'report.md'}")


if __name__ == "__main__":
    main()
