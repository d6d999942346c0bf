"""The games and the training behind the report; what a folder holds already is not played again."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import rich

from experiments import exploit
from experiments.benchmark.settings import Setting
from llama_envs.cli.run_folder import whole_truth
from llama_envs.cli.tournament import run
from llama_envs.core.files import write_text
from llama_envs.core.game import Game
from llama_envs.core.registry import make_game
from llama_envs.evaluation.tournament import Tournament, make_plan
from llama_envs.evaluation.workers import Map
from llama_envs.policies import make_policy

REFERENCE = "heuristic"


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


def measure(settings: Sequence[Setting], seed: int, folder: Path, spread: Map) -> list[Measured]:
    """Everything in ``settings``."""
    results = [play_tournaments(setting, seed, folder / setting.label, spread) for setting in settings]
    jobs = [
        (measured.game, exploit_options(measured.setting, target, seed), measured.folder.resolve())
        for measured in results
        for target in measured.setting.targets
        if target not in measured.missing
    ]
    for (game, options, _), _ in zip(jobs, spread(exploit_target, jobs), strict=True):
        rich.print(f"{game.title}, {game.num_players} players: best response to {options.target} measured")
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


def play_tournaments(setting: Setting, seed: int, folder: Path, spread: Map) -> Measured:
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
        done[part] = run(plan, folder / part, spread)
    played = (done["table"], done.get("alone"), done.get("duel"))
    return Measured(setting, game, missing, *played, pd.DataFrame(), commands, folder)


def exploit_options(setting: Setting, target: str, seed: int) -> exploit.Options:
    """A best response, trained by one thread, many of them side by side."""
    return exploit.Options(target=target, total_timesteps=setting.steps, seed=seed, candidates=4)


def exploit_command(setting: Setting, target: str, seed: int) -> str:
    """The command that does the same."""
    words = ["experiments.exploit", setting.game, "--target", target, "--num-players", str(setting.players)]
    words += ["--total-timesteps", str(setting.steps), "--candidates", "4", "--seed", str(seed)]
    return f"python -m {shlex.join(words)}"


def exploit_target(job: tuple[Game, exploit.Options, Path]) -> None:
    """Train a best response and write what it gains to the setting's folder, unless that is there."""
    game, options, parent = job
    folder = parent / f"exploit-{options.target}"
    if (folder / "exploit.csv").is_file():
        return
    console = rich.get_console()
    console.quiet = True
    try:
        folder.mkdir(parents=True, exist_ok=True)
        resumed = dataclasses.replace(options, resume=(folder / "checkpoint.pkl").is_file())
        exploit.exploit(game, resumed, folder, quiet=True)
    finally:
        console.quiet = False


def _with_exploits(measured: Measured, seed: int) -> Measured:
    frames, commands = [], dict(measured.commands)
    for target in measured.setting.targets:
        file = measured.folder / f"exploit-{target}" / "exploit.csv"
        if file.is_file():
            frames.append(pd.read_csv(file))
            commands[f"exploit-{target}"] = exploit_command(measured.setting, target, seed)
    rows = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    return dataclasses.replace(measured, exploited=rows, commands=commands)


def config_of(setting: Setting) -> dict[str, Any]:
    """What decides the results of one setting, the contents of policies included."""
    game = make_game(setting.game, num_players=setting.players)
    policies = dict.fromkeys((*setting.policies, *setting.duel, *setting.targets))
    return whole_truth(game, dataclasses.asdict(setting), policies)


def minutes_of(folder: Path) -> float:
    """From the start of a run to its last result."""
    results = [*folder.rglob("parts/*.npz"), *folder.rglob("exploit.csv")]
    return (max(file.stat().st_mtime for file in results) - (folder / "command.txt").stat().st_mtime) / 60
