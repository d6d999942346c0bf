"""The report: a section for each setting, exploitability, and how the shipped baselines were made."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from experiments import baselines, exploit
from experiments.benchmark.findings import findings
from experiments.benchmark.measuring import REFERENCE, Measured
from llama_envs.cli.show import explained, markdown
from llama_envs.cli.tournament import RAW, readable_matrix, readable_one_vs_rest, readable_standings
from llama_envs.core.markdown import plural
from llama_envs.core.registry import game_specs
from llama_envs.core.runs import versions
from llama_envs.core.spec import GameSpec
from llama_envs.evaluation.tournament import Tournament
from llama_envs.policies.network import read_policy


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
        f"{plural(len(measured.table.plan.tables), 'table')}, {plural(setting.deals, 'deal')}. {RAW} Raw shares are "
        "for each seat held; "
        f"equality is {1 / setting.players:.3f}. Ratings are Bradley–Terry on the Elo scale, 0 being the median; "
        "alpha-rank is the mass of a policy in the long run where populations imitate winners. Milliseconds a decision "
        "are what a policy took; those that are one kernel (`random`, `heuristic`) play inside a compiled loop, and "
        f"their time includes the moves themselves. {explained(with_time(measured.table))}".rstrip(),
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
