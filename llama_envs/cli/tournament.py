"""A tournament of any number of policies: shared deals, all rotations of the seats, intervals over deals.

    python -m experiments.tournament <game> --policies heuristic random mc:20 mc:100 --num-players 4 --deals 1000

(``llama-envs tournament`` where only the wheel is installed.) Everything goes to ``runs/<name>/``: standings.csv,
pairwise.csv, one_vs_rest.csv, tables.csv, games.parquet (every game), heatmap.png, report.md, timing.csv, config, exact
command, versions, and ``parts/``, from which ``--resume`` goes on.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import rich
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from llama_envs.cli.command import fail, game_of, parse, run_or_exit
from llama_envs.cli.run_folder import default_name, open_run, whole_truth
from llama_envs.cli.show import explained, markdown, show_table
from llama_envs.cli.spread import Spread
from llama_envs.core.chance import check_seed
from llama_envs.core.files import write_atomically, write_text
from llama_envs.core.markdown import plural
from llama_envs.core.validation import check_choice, check_int
from llama_envs.evaluation.intervals import plus_minus
from llama_envs.evaluation.schedules import DESIGNS
from llama_envs.evaluation.standings import Results, every_place, matrix
from llama_envs.evaluation.tournament import Plan, Tournament, make_plan, run_tournament
from llama_envs.evaluation.workers import Map, in_thread

matplotlib.use("Agg")
import matplotlib.pyplot as plt

RAW = (
    "Ratings order the table, since they correct for whom a policy met; raw shares do not. ± of a rating is that of "
    "its distance from the mean."
)


@dataclasses.dataclass(frozen=True)
class Options(Spread):
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
    """One of the policies: then only tables of one other among P-1 of it are played, and the design stays "auto"."""
    seed: int = 0
    """Seed of the deals, of policies that draw, and of the resampling behind the intervals of ratings."""
    block: int = 100
    """Most deals played together, which is what is lost when the tournament is killed; neighbours change with every
    block."""
    name: str = ""
    """Folder under runs/; by default game, players, seed and the time."""
    resume: bool = False
    """Go on with the tournament --name; give the options it was started with."""

    def __post_init__(self) -> None:
        check_choice("design", self.design, DESIGNS)
        check_int("deals", self.deals, 1, 10_000_000)
        check_int("block", self.block, 1, 2**20)
        check_seed(self.seed)
        super().__post_init__()


# ------------------------------------------------------------------------------------------------------------ writing


def run(plan: Plan, folder: Path, spread: Map = in_thread) -> Tournament:
    """:func:`~llama_envs.evaluation.tournament.run_tournament` with a progress bar; then write everything there."""
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, transient=True) as bar:
        task = bar.add_task("playing")
        tournament = run_tournament(plan, folder, spread, lambda done, of: bar.update(task, completed=done, total=of))
    write_results(tournament, folder)
    return tournament


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


def readable_standings(tournament: Tournament) -> pd.DataFrame:
    """The standings with intervals as text, under short headings."""
    score = tournament.plan.game.score_name
    frame = tournament.standings
    columns: dict[str, list[str]] = {"policy": list(frame["policy"])}
    for title, column, digits in (
        ("rating", "rating", 0), ("raw share", "win_share", 3), (f"mean {score}", f"mean_{score}", 2),
    ):  # fmt: skip
        pairs = zip(frame[column], frame[f"{column}_95"], strict=True)
        columns[title] = [plus_minus(mean, half, digits) for mean, half in pairs]
    columns["alpha rank"] = [plus_minus(mass, float("nan"), 2) for mass in frame["alpha_rank"]]
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


def report(tournament: Tournament, folder: Path) -> str:
    """The tournament in Markdown."""
    plan, results = tournament.plan, tournament.results
    players, game = plan.game.num_players, plan.game
    table = readable_standings(tournament)
    command = (folder / "command.txt").read_text(encoding="utf-8").strip() if (folder / "command.txt").is_file() else ""
    found = folder / "versions.json"
    libraries = json.loads(found.read_text(encoding="utf-8")) if found.is_file() else {}
    lines = [
        f"# Tournament: {game.title}, {players} players",
        "",
        *([f"`{command}`", ""] if command else []),
        f"{len(plan.policies)} policies at {plural(len(plan.tables), 'table')}, {plural(plan.deals, 'deal')} shared by "
        f"all tables, each in {players} rotations of the seats: "
        f"{plan.deals * len(plan.tables) * players:,} games; seed {plan.seed}.",
        "",
        "## Standings",
        "",
        markdown(table),
        f"{RAW} Ratings are Bradley–Terry on the Elo scale, 0 being the median, shared victories counted as draws. The "
        f"raw share is of wins for each seat held; equality is {1 / players:.3f}. ± is a 95 % interval, one deal being "
        "one observation. Alpha-rank is the mass that a policy holds in the long run where populations imitate "
        f"winners, a mean over resampled deals{_no_alpha_rank(tournament)}. {explained(table)}".rstrip(),
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


def _no_alpha_rank(tournament: Tournament) -> str:
    if tournament.standings["alpha_rank"].notna().any():
        return ""
    return f" (not computed: {'needs open_spiel' if find_spec('open_spiel') is None else 'fewer than two are rated'})"


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
    frame = readable_standings(tournament).drop(columns=["games", "truncated", "unrated"])
    frame["not rated"] = [f"{number:,}" for number in tournament.standings[["truncated", "unrated"]].sum(axis=1)]
    frame["ms a decision"] = ["–" if np.isnan(timing[name]) else f"{timing[name]:.3g}" for name in frame["policy"]]
    show_table(
        frame,
        f"{plan.game.title}, {players} players, seed {plan.seed}",
        f"{plural(len(plan.tables), 'table')}, {plural(plan.deals, 'deal')}, {players} rotations; equality is "
        f"{1 / players:.3f}; ± is a 95 % interval over deals. {RAW}",
    )
    if len(plan.policies) <= 10:
        show_table(readable_matrix(tournament), "share of the wins of either, row against column")
        if len(tournament.one_vs_rest):
            title = f"win share of one (row) among {players - 1} of another (column)"
            show_table(readable_one_vs_rest(tournament), title)
    for policy, error in tournament.results.errors.items():
        rich.print(Text(f"{policy} failed, its games are not rated: {error}", style="bold red"))


def play(plan: Plan, folder: Path, options: Spread) -> Tournament:
    """:func:`run`, by whom the options say."""
    with options.spread() as spread:
        return run(plan, folder, spread)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    call = parse(
        Options, "Let policies play a tournament on shared deals, every table in all rotations of its seats.", argv
    )
    options: Options = call.options
    game = run_or_exit(lambda: game_of(call))
    plan = run_or_exit(
        lambda: make_plan(
            game, options.policies, options.deals, options.design, options.block, options.seed, options.rest
        )
    )
    name = options.name or default_name("tournament", game.name, f"{game.num_players}p", f"s{options.seed}")
    kept = {
        "policies": list(plan.policies), "deals": plan.deals, "design": options.design, "rest": options.rest,
        "block": plan.block, "seed": plan.seed, "tables": [list(table) for table in plan.tables],
    }  # fmt: skip
    folder = run_or_exit(lambda: open_run(name, whole_truth(game, kept, options.policies), options.resume))
    kept_so_far = f"the same command with --name {name} --resume goes on"
    tournament = run_or_exit(lambda: play(plan, folder, options), kept_so_far)
    show(tournament)
    if tournament.results.truncated.all():
        fail("all games were cut short by a limit of the game, and none counts.")
    print(f"report: {folder / 'report.md'}")


if __name__ == "__main__":
    main()
