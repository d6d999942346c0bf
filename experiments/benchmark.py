"""How good the policies are, in both games: tournaments, equal-time comparisons, exploitability, one report.

    python -m experiments.benchmark            # as make benchmark: writes experiments/reports/benchmark.md
    python -m experiments.benchmark --quick    # a few minutes; the report stays in runs/<name>/

Parts are kept in ``runs/<name>/``; ``--name NAME --resume`` goes on. Every table of the report says which command makes
it alone. What the findings say is read off the intervals.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from pathlib import Path
from typing import Any

import pandas as pd
import rich
from rich.progress import track

from experiments import baselines, exploit
from llama_envs.cli.command import parse_options, run_or_exit
from llama_envs.cli.run_folder import default_name, open_run, whole_truth
from llama_envs.cli.tournament import (
    markdown,
    plus_minus,
    readable_matrix,
    readable_one_vs_rest,
    readable_standings,
    run,
)
from llama_envs.core.files import write_text
from llama_envs.core.game import Game
from llama_envs.core.registry import game_specs, make_game
from llama_envs.core.runs import versions
from llama_envs.core.spec import GameSpec
from llama_envs.core.validation import check_int
from llama_envs.evaluation.tournament import Tournament, make_plan
from llama_envs.evaluation.workers import worker_pool
from llama_envs.policies import make_policy
from llama_envs.policies.network import read_policy

REPORT = Path(__file__).parent / "reports" / "benchmark.md"
REFERENCE = "heuristic"
FEWEST_DEALS = 15  # for a finding; fewer say too little of their own spread


@dataclasses.dataclass(frozen=True)
class Setting:
    """What is played with one number of players of one game.

    Attributes:
        game: its name.
        players: at a table.
        policies: of the tournament.
        deals: of the tournament.
        alone_deals: of every policy alone among P-1 of the reference; 0 where the tournament has those tables anyway.
        duel: policies that are compared at equal time.
        duel_deals: of that comparison.
        targets: of best responses.
        steps: that a best response is trained on.
    """

    game: str
    players: int
    policies: tuple[str, ...]
    deals: int
    alone_deals: int
    duel: tuple[str, ...]
    duel_deals: int
    targets: tuple[str, ...]
    steps: int

    def scaled(self, factor: float) -> Setting:
        """As many times the deals and steps, at least 2 of what is not 0."""
        sizes = {name: getattr(self, name) for name in ("deals", "alone_deals", "duel_deals", "steps")}
        larger = {name: max(round(size * factor), 2) for name, size in sizes.items() if size}
        return dataclasses.replace(self, **larger)

    @property
    def label(self) -> str:
        """As in ``lama-4p``."""
        return f"{self.game}-{self.players}p"


FAST = ("random", "heuristic", "baseline")
LAMA = (*FAST, "heuristic:3", "mc:100", "mc:400", "ismcts:1000")
LLAMA = (*FAST, "heuristic:0", "mc:8", "mc:32", "ismcts:100")
LAMA_DUEL = ("mc:1ms", "ismcts:1ms")
LLAMA_DUEL = ("mc:2ms", "ismcts:2ms")
TARGETS = ("heuristic", "baseline")
FULL = (
    Setting("lama", 2, LAMA, 300, 0, LAMA_DUEL, 300, TARGETS, 800_000),
    Setting("lama", 3, LAMA, 200, 300, LAMA_DUEL, 50, TARGETS, 800_000),
    Setting("lama", 4, LAMA, 100, 300, LAMA_DUEL, 40, TARGETS, 800_000),
    Setting("lama", 6, LAMA, 40, 120, LAMA_DUEL, 20, TARGETS, 800_000),
    Setting("llama_llama", 2, LLAMA, 80, 0, LLAMA_DUEL, 100, TARGETS, 500_000),
    Setting("llama_llama", 3, LLAMA, 60, 80, LLAMA_DUEL, 36, TARGETS, 500_000),
    Setting("llama_llama", 4, LLAMA, 30, 60, LLAMA_DUEL, 18, TARGETS, 500_000),
)
SMALL_LAMA = (*FAST, "mc:10", "ismcts:20")
SMALL_LLAMA = (*FAST, "mc:2", "ismcts:5")
QUICK = (
    Setting("lama", 2, SMALL_LAMA, 40, 0, LAMA_DUEL, 10, TARGETS, 65_536),
    Setting("lama", 3, SMALL_LAMA, 10, 10, (), 0, (), 0),
    Setting("lama", 4, SMALL_LAMA, 10, 10, (), 0, (), 0),
    Setting("lama", 6, SMALL_LAMA, 6, 6, (), 0, (), 0),
    Setting("llama_llama", 2, SMALL_LLAMA, 10, 0, LLAMA_DUEL, 4, ("heuristic",), 65_536),
    Setting("llama_llama", 3, SMALL_LLAMA, 4, 4, (), 0, (), 0),
    Setting("llama_llama", 4, SMALL_LLAMA, 4, 4, (), 0, (), 0),
)


@dataclasses.dataclass(frozen=True)
class Options:
    """Measure the policies in both games and write the report."""

    quick: bool = False
    """Small sizes, to try everything within a few minutes; the report stays in the run's folder."""
    out: Path | None = None
    """Folder of the report; by default experiments/reports, and with --quick the run's folder."""
    seed: int = 0
    """Seed of everything that is drawn."""
    scale: float = 1.0
    """Times as many deals and steps in every part."""
    workers: int = 0
    """Processes; 0 is one for each core. Results do not depend on it, but for policies with a time budget."""
    name: str = ""
    """Folder under runs/; by default benchmark and the time."""
    resume: bool = False
    """Go on with the run --name; give the options it was started with."""

    def __post_init__(self) -> None:
        if not 0 < self.scale < float("inf"):
            raise ValueError(f"scale must be above 0, got {self.scale}.")
        check_int("seed", self.seed, 0, 2**32 - 1)
        check_int("workers", self.workers, 0, 1024)
        if self.out is not None and self.out.exists() and not self.out.is_dir():
            raise ValueError(f"out must be a folder, got the file {self.out}.")


@dataclasses.dataclass(frozen=True)
class Measured:
    """What came out for one setting; a missing part is None.

    Attributes:
        setting: what was asked for.
        missing: policy -> why it could not play.
        table: the tournament.
        alone: every policy alone among the reference.
        duel: the comparison at equal time.
        exploited: rows of exploit.csv.
        commands: part -> the command that makes it alone.
        folder: where all of it lies.
    """

    setting: Setting
    game: Game
    missing: dict[str, str]
    table: Tournament
    alone: Tournament | None
    duel: Tournament | None
    exploited: pd.DataFrame
    commands: dict[str, str]
    folder: Path


# ---------------------------------------------------------------------------------------------------------- measuring


def measure(settings: Sequence[Setting], seed: int, folder: Path, workers: int) -> list[Measured]:
    """Everything in ``settings``; what ``folder`` holds already is not played again."""
    with worker_pool(workers) as pool:
        results = [play_tournaments(setting, seed, folder / setting.label, pool) for setting in settings]
        waiting = [future for measured in results for future in _submit_exploits(measured, seed, pool)]
        for future in track(as_completed(waiting), "best responses", len(waiting), transient=True):
            future.result()
    return [_with_exploits(measured, seed) for measured in results]


def why_not(setting: Setting, game: Game) -> dict[str, str]:
    """The policies of ``setting`` that cannot play here, each with the reason."""
    reasons = {}
    for name in dict.fromkeys((*setting.policies, *setting.duel, *setting.targets)):
        try:
            make_policy(name, game)
        except ValueError as error:
            reasons[name] = str(error).partition("; ")[0].rstrip(".")
    return reasons


def play_tournaments(setting: Setting, seed: int, folder: Path, pool: Executor) -> Measured:
    """The tournaments of one setting."""
    game = make_game(setting.game, num_players=setting.players)
    missing = why_not(setting, game)
    policies = [name for name in setting.policies if name not in missing]
    duel = [name for name in setting.duel if name not in missing]
    parts: dict[str, tuple[list[str], int, str, str]] = {"table": (policies, setting.deals, "balanced", "")}
    if setting.players > 2 and setting.alone_deals and REFERENCE in policies:
        parts["alone"] = (policies, setting.alone_deals, "auto", REFERENCE)
    if setting.duel_deals and len(duel) > 1:
        parts["duel"] = (duel, setting.duel_deals, "one_vs_rest", "")
    done: dict[str, Tournament] = {}
    commands = {}
    for part, (names, deals, design, rest) in parts.items():
        rich.print(f"{game.title}, {game.num_players} players, {deals} deals: {', '.join(names)}")
        plan = make_plan(game, names, deals, design, seed=seed, rest=rest)
        words = ["experiments.tournament", game.name, "--policies", *names, "--num-players", str(game.num_players)]
        words += ["--deals", str(deals), "--seed", str(seed)]
        words += ["--rest", rest] if rest else ["--design", design]
        commands[part] = f"python -m {shlex.join(words)}"
        write_text(folder / part / "command.txt", commands[part] + "\n")
        done[part] = run(plan, folder / part, pool=pool)
    played = (done["table"], done.get("alone"), done.get("duel"))
    return Measured(setting, game, missing, *played, pd.DataFrame(), commands, folder)


def exploit_options(setting: Setting, target: str, seed: int) -> exploit.Options:
    """A best response, trained by one thread, many of them side by side."""
    return exploit.Options(target=target, steps=setting.steps, seed=seed, threads=1, candidates=4)


def exploit_command(setting: Setting, target: str, seed: int) -> str:
    """The command that does the same."""
    words = ["experiments.exploit", setting.game, "--target", target, "--num-players", str(setting.players)]
    words += ["--steps", str(setting.steps), "--candidates", "4", "--threads", "1", "--seed", str(seed)]
    return f"python -m {shlex.join(words)}"


def _submit_exploits(measured: Measured, seed: int, pool: Executor) -> Iterator[Future[None]]:
    for target in measured.setting.targets:
        if target not in measured.missing:
            options = exploit_options(measured.setting, target, seed)
            yield pool.submit(_exploit, measured.game, options, measured.folder / f"exploit-{target}")


def _exploit(game: Game, options: exploit.Options, folder: Path) -> None:
    """In a worker: train a best response and write what it gains, unless that is there."""
    if not (folder / "exploit.csv").is_file():
        rich.reconfigure(quiet=True)
        folder.mkdir(parents=True, exist_ok=True)
        resumed = dataclasses.replace(options, resume=(folder / "checkpoint.pkl").is_file())
        exploit.exploit(game, resumed, folder, quiet=True)


def _with_exploits(measured: Measured, seed: int) -> Measured:
    frames, commands = [], dict(measured.commands)
    for target in measured.setting.targets:
        file = measured.folder / f"exploit-{target}" / "exploit.csv"
        if file.is_file():
            frames.append(pd.read_csv(file))
            commands[f"exploit-{target}"] = exploit_command(measured.setting, target, seed)
    rows = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    return dataclasses.replace(measured, exploited=rows, commands=commands)


# ----------------------------------------------------------------------------------------------------------- findings


def findings(results: Sequence[Measured]) -> list[str]:
    """For each game a table at a glance, and lines that the intervals carry or leave open."""
    lines = []
    for title in dict.fromkeys(measured.game.title for measured in results):
        of_game = [measured for measured in results if measured.game.title == title]
        lines += [f"### {title}", "", markdown(at_a_glance(of_game))]
        lines += [*(f"- {sentence}" for sentence in _sentences(of_game) if sentence), ""]
    return lines


def at_a_glance(results: Sequence[Measured]) -> pd.DataFrame:
    """One row for each number of players."""
    search = strongest_search(results)
    rows = []
    for measured in results:
        row = {"players": str(measured.setting.players)}
        row["beaten by nobody"] = ", ".join(f"`{name}`" for name in unbeaten(measured.table)) or "–"
        row["equal share"] = f"{1 / measured.setting.players:.3f}"
        for policy in filter(None, ("baseline", search)):
            alone = share_alone(measured, policy)
            row[f"`{policy}` among `{REFERENCE}`s"] = "–" if alone is None else plus_minus(*alone)
        if measured.duel is not None:
            first, second, share, half = duel_share(measured.duel)
            row[f"`{first}` against `{second}`"] = plus_minus(share, half)
        for bound in measured.exploited.to_dict("records"):
            row[f"gain against `{bound['target']}`"] = f"≥ {bound['lower_bound']:.3f}"
        rows.append(row)
    return pd.DataFrame(rows).fillna("–")


def _sentences(results: Sequence[Measured]) -> Iterator[str]:
    yield strongest(results)
    for policy in ("baseline", strongest_search(results)):
        if policy:
            yield against_reference(results, policy)
    yield equal_time(results)
    yield exploited(results)
    for measured in results:
        if cycle := first_cycle(measured.table):
            names = " beats ".join(f"`{name}`" for name in (*cycle, cycle[0]))
            yield f"With {measured.setting.players} players there is a cycle: {names}."
    yield not_rated(results)


def players_of(results: Sequence[Measured]) -> str:
    """As in "2, 3 and 4 players"."""
    return f"{listed([str(measured.setting.players) for measured in results])} players"


def listed(words: Sequence[str]) -> str:
    """As in "a, b and c"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def beats(table: Tournament) -> dict[tuple[str, str], bool]:
    """Whether the interval of a pair's share lies above one half."""
    frame = table.pairwise
    above = (frame["share"] - frame["share_95"].fillna(1) > 0.5) & (table.plan.deals >= FEWEST_DEALS)
    return dict(zip(zip(frame["policy"], frame["against"], strict=True), above, strict=True))


def unbeaten(table: Tournament) -> list[str]:
    """The policies that no other beats, the one with the largest win share first."""
    won = beats(table)
    rated = table.standings.loc[table.standings["win_share"].notna(), "policy"]
    return [name for name in rated if not any(won[rival, name] for rival in rated if rival != name)]


def strongest(results: Sequence[Measured]) -> str:
    """Which policy beats every other, with how many players."""
    best: dict[str, list[Measured]] = {}
    open_: list[Measured] = []
    for measured in results:
        won = beats(measured.table)
        names = [name for name in measured.table.standings["policy"] if name not in measured.table.results.errors]
        winners = [name for name in names if all(won[name, rival] for rival in names if rival != name)]
        if winners:
            best.setdefault(winners[0], []).append(measured)
        else:
            open_.append(measured)
    texts = [f"`{name}` beats every other policy with {players_of(where)}" for name, where in best.items()]
    if open_:
        texts.append(f"with {players_of(open_)} the intervals single out no policy that beats all others")
    text = "; ".join(texts)
    return f"{text[:1].upper()}{text[1:]}."


def strongest_search(results: Sequence[Measured]) -> str:
    """The search policy with the highest win share on average over the tournaments."""
    shares: dict[str, list[float]] = {}
    for measured in results:
        for row in measured.table.standings.to_dict("records"):
            if row["policy"].startswith(("mc:", "ismcts:")):
                shares.setdefault(row["policy"], []).append(float(row["win_share"]) * measured.setting.players)
    return max(sorted(shares), key=lambda name: sum(shares[name]) / len(shares[name]), default="")


def share_alone(measured: Measured, policy: str) -> tuple[float, float] | None:
    """Win share of ``policy`` alone among the reference, and its interval's half-width."""
    if measured.setting.players == 2:
        frame, columns = measured.table.pairwise, ("policy", "against", "share", "share_95")
    elif measured.alone is not None:
        frame, columns = measured.alone.one_vs_rest, ("policy", "rest", "win_share", "win_share_95")
    else:
        return None
    row = frame[(frame[columns[0]] == policy) & (frame[columns[1]] == REFERENCE)]
    return (float(row[columns[2]].iloc[0]), float(row[columns[3]].iloc[0])) if len(row) else None


def against_reference(results: Sequence[Measured], policy: str) -> str:
    """Where one ``policy`` among P-1 of the reference wins more than an equal share."""
    verdicts: dict[str, list[Measured]] = {"more than": [], "less than": [], "neither clearly more nor less than": []}
    for measured in results:
        share = share_alone(measured, policy)
        if share is not None:
            deals = (measured.alone or measured.table).plan.deals
            verdicts[compared(share, 1 / measured.setting.players, deals)].append(measured)
    texts = [f"{word} an equal share with {players_of(where)}" for word, where in verdicts.items() if where]
    return f"One `{policy}` among `{REFERENCE}`s wins {'; '.join(texts)}." if texts else ""


def compared(share: tuple[float, float], equal: float, deals: int) -> str:
    """What an interval says of a share."""
    value, half = share if deals >= FEWEST_DEALS else (share[0], 1.0)
    if value - half > equal:
        return "more than"
    return "less than" if value + half < equal else "neither clearly more nor less than"


def duel_share(table: Tournament) -> tuple[str, str, float, float]:
    """The two policies of a comparison, the share of the first, and its interval's half-width."""
    row = table.pairwise.iloc[0]
    return row["policy"], row["against"], float(row["share"]), float(row["share_95"])


def equal_time(results: Sequence[Measured]) -> str:
    """Which of the two that had the same time won more."""
    verdicts: dict[str, list[Measured]] = {"more than": [], "less than": [], "neither clearly more nor less than": []}
    names = ("", "")
    for measured in results:
        if measured.duel is not None:
            first, second, share, half = duel_share(measured.duel)
            names = (first, second)
            verdicts[compared((share, half), 0.5, measured.duel.plan.deals)].append(measured)
    texts = [f"{word} `{names[1]}` with {players_of(where)}" for word, where in verdicts.items() if where]
    return f"At equal time `{names[0]}` wins {'; '.join(texts)}." if texts else ""


def exploited(results: Sequence[Measured]) -> str:
    """Where a best response was shown to gain."""
    sure: dict[str, list[Measured]] = {}
    unsure: dict[str, list[Measured]] = {}
    for measured in results:
        for row in measured.exploited.to_dict("records"):
            (sure if row["lower_bound"] > 0 else unsure).setdefault(row["target"], []).append(measured)
    texts = [f"`{target}` is exploitable with {players_of(where)}" for target, where in sure.items()]
    texts += [f"no gain was shown against `{target}` with {players_of(where)}" for target, where in unsure.items()]
    text = "; ".join(texts)
    return f"{text[:1].upper()}{text[1:]}." if texts else ""


def first_cycle(table: Tournament) -> tuple[str, str, str] | None:
    """Three policies that beat each other in a circle, if the intervals show such a thing."""
    won = beats(table)
    names = sorted({name for name, _ in won})
    for a in names:
        for b in names:
            for c in names:
                if len({a, b, c}) == 3 and a == min(a, b, c) and won[a, b] and won[b, c] and won[c, a]:
                    return a, b, c
    return None


def not_rated(results: Sequence[Measured]) -> str:
    """Failures and games cut short, of all parts."""
    parts = [part for measured in results for part in (measured.table, measured.alone, measured.duel) if part]
    cut = sum(int(part.results.truncated.sum()) for part in parts)
    errors = {policy: error for part in parts for policy, error in part.results.errors.items()}
    text = f"{cut:,} games were cut short and are not counted." if cut else ""
    return " ".join(
        [text, *(f"`{policy}` failed ({error}) and is not rated." for policy, error in errors.items())]
    ).strip()


# ------------------------------------------------------------------------------------------------------------- report


def report(results: Sequence[Measured], seed: int, quick: bool, minutes: float, command: str, pictures: Path) -> str:
    """The whole report in Markdown; heat maps are copied to ``pictures`` and named relative to it."""
    lines = [
        "# Benchmark of the policies",
        "",
        f"Made by `{command}` with seed {seed} in {minutes:.0f} minutes on {os.cpu_count()} cores"
        f"{' in the quick form: too few deals for conclusions' if quick else ''}. "
        "Every deal is played in all rotations of the seats and at every table; ± is a 95 % interval with the deal as "
        "the observation, for each number by itself.",
        "",
        "## Findings",
        "",
        *findings(results),
        "",
    ]
    for measured in results:
        lines += _section(measured, pictures)
    lines += _exploit_section(results)
    lines += baseline_section()
    found = versions()
    lines += ["## Versions", "", ", ".join(f"{library} {number}" for library, number in found.items()), ""]
    return "\n".join(lines)


def _section(measured: Measured, pictures: Path) -> list[str]:
    setting, game = measured.setting, measured.game
    name = f"benchmark-{setting.label}.png"
    shutil.copyfile(measured.folder / "table" / "heatmap.png", pictures / name)
    lines = [
        f"## {game.title}, {setting.players} players",
        "",
        f"`{measured.commands['table']}`",
        "",
        markdown(with_time(measured.table)),
        f"{len(measured.table.plan.tables)} tables, {setting.deals:,} deals. Win share is for each seat held; equality "
        f"is {1 / setting.players:.3f}. The rating is Bradley–Terry on the Elo scale, 0 being the median; alpha-rank "
        "is the mass of a policy in the long run where populations imitate winners. Milliseconds a decision are what a "
        "policy took; those that are one kernel (`random`, `heuristic`) play inside a compiled loop, and their time "
        "includes the moves themselves.",
        "",
        "Pairs: of the wins that either took in their common games, the share of the row.",
        "",
        markdown(readable_matrix(measured.table)),
        f"![Pairs, {game.title}, {setting.players} players]({name})",
        "",
    ]
    if measured.alone is not None:
        lines += [
            f"One policy alone among {setting.players - 1} of `{REFERENCE}` ({setting.alone_deals:,} deals): "
            f"`{measured.commands['alone']}`",
            "",
            markdown(readable_one_vs_rest(measured.alone)),
        ]
    if measured.duel is not None:
        lines += [
            f"Equal time, share of the row as above ({setting.duel_deals:,} deals; {_times(measured.duel)}): "
            f"`{measured.commands['duel']}`",
            "",
            markdown(readable_matrix(measured.duel)),
        ]
        if setting.players > 2:
            lines += [
                f"and one (row) among {setting.players - 1} of the other:",
                "",
                markdown(readable_one_vs_rest(measured.duel)),
            ]
    absent = [f"`{name}` ({why})" for name, why in measured.missing.items()]
    return [*lines, *([f"Not played: {', '.join(absent)}.", ""] if absent else [])]


def _times(table: Tournament) -> str:
    """What a decision of each policy took."""
    pairs = zip(table.timing["policy"], table.timing["ms_per_decision"], strict=True)
    return ", ".join(f"`{name}` took {cost:.2g} ms a decision" for name, cost in pairs)


def with_time(table: Tournament) -> pd.DataFrame:
    """The standings and what a decision cost."""
    frame = readable_standings(table)
    cost = dict(zip(table.timing["policy"], table.timing["ms_per_decision"], strict=True))
    return frame.assign(**{"ms a decision": [f"{cost[name]:.2g}" for name in frame["policy"]]})


def _exploit_section(results: Sequence[Measured]) -> list[str]:
    frames, commands = [], []
    for measured in results:
        if len(measured.exploited):
            text = exploit.readable(measured.game, measured.exploited)
            text = text.rename(columns={f"lead in {measured.game.score_name}": "lead in points"})
            text.insert(0, "game", f"{measured.game.title}, {measured.setting.players} players")
            text["gain at least"] = [f"{bound:.3f}" for bound in measured.exploited["lower_bound"]]
            frames.append(text)
            commands += [f"- `{line}`" for part, line in measured.commands.items() if part.startswith("exploit-")]
    if not frames:
        return []
    return [
        "## Exploitability, lower bounds",
        "",
        "A learner holds one seat, frozen copies of the target all others. It starts from the shipped baseline, if "
        "there is one; the best of its models is chosen on some deals and measured on others. The gain is its win "
        "share above an equal one. A better response could only gain more; a gain below 0 is a response worse than the "
        "target.",
        "",
        markdown(pd.concat(frames, ignore_index=True)),
        *commands,
        "",
    ]


def baseline_section() -> list[str]:
    """How the shipped baselines were made: what their files say, and what is written about them by hand."""
    lines: list[str] = []
    for spec in game_specs():
        lines += _baselines_of(spec)
    return ["## How the baselines were made", "", *lines] if lines else []


def _baselines_of(spec: GameSpec) -> list[str]:
    files = baselines.shipped(spec)
    if not files or spec.baselines is None:
        return []
    made = {file.stem: read_policy(file).about["made"] for file in files}
    libraries = {library: number for record in made.values() for library, number in record["versions"].items()}
    story = spec.baselines / "README.md"
    return [
        f"### {spec.title}",
        "",
        *([_demoted(story.read_text(encoding="utf-8"), 2), ""] if story.is_file() else [baselines.table(spec), ""]),
        "The commands:",
        "",
        *(f"- {name}: `{line}`" for name, record in made.items() for line in record["commands"]),
        "",
        "Versions: " + ", ".join(f"{library} {number}" for library, number in libraries.items()) + ".",
        "",
    ]


def _demoted(text: str, levels: int) -> str:
    """Markdown to stand inside a section: without its title and comments, other headings so many levels down."""
    lines = [line for line in text.strip().splitlines() if not line.startswith("<!--")]
    if lines and lines[0].startswith("# "):
        lines = lines[1:]
    inside_code = False
    shifted = []
    for line in lines:
        inside_code ^= line.startswith("```")
        shifted.append(f"{'#' * levels}{line}" if line.startswith("#") and not inside_code else line)
    return "\n".join(shifted).strip()


def config_of(setting: Setting) -> dict[str, Any]:
    """What decides the results of one setting, the contents of policies included."""
    game = make_game(setting.game, num_players=setting.players)
    policies = dict.fromkeys((*setting.policies, *setting.duel, *setting.targets))
    return whole_truth(game, dataclasses.asdict(setting), policies)


def minutes_of(folder: Path) -> float:
    """From the start of a run to its last result."""
    results = [*folder.rglob("parts/*.npz"), *folder.rglob("exploit.csv")]
    return (max(file.stat().st_mtime for file in results) - (folder / "command.txt").stat().st_mtime) / 60


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    options = parse_options(Options, __doc__.partition("\n")[0], argv)
    settings = [setting.scaled(options.scale) for setting in (QUICK if options.quick else FULL)]
    name = options.name or default_name("benchmark-quick" if options.quick else "benchmark")
    config = run_or_exit(lambda: {"seed": options.seed, "settings": [config_of(setting) for setting in settings]})
    folder = run_or_exit(lambda: open_run(name, config, options.resume))
    results = run_or_exit(
        lambda: measure(settings, options.seed, folder, options.workers or os.cpu_count() or 1),
        f"--name {name} --resume goes on",
    )
    out = options.out or (folder if options.quick else REPORT.parent)
    out.mkdir(parents=True, exist_ok=True)
    command = (folder / "command.txt").read_text(encoding="utf-8").strip()
    text = report(results, options.seed, options.quick, minutes_of(folder), command, out)
    write_text(out / REPORT.name, text)
    print(f"report: {out / REPORT.name}")


if __name__ == "__main__":
    main()
