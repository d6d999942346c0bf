"""Make the trained agents that ship in the games' packages again, each by the commands that its file records.

    python -m experiments.baselines                    # all of them, two at a time
    python -m experiments.baselines --only <game>_4p --out elsewhere

A game's ``baselines/recipe.toml`` says how: for which numbers of players, and a chain of experiments, each starting
from what the one before has learned. Every command runs with one PyTorch thread, so that the weights depend on seed and
versions alone.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from llama_envs.cli.command import check_folder, fail, parse_options, run_or_exit
from llama_envs.cli.run_folder import RUNS
from llama_envs.cli.show import markdown, show_table
from llama_envs.core.files import write_atomically, write_text
from llama_envs.core.registry import game_specs, make_game, spec_of
from llama_envs.core.runs import versions
from llama_envs.core.spec import GameSpec
from llama_envs.core.validation import check_int
from llama_envs.evaluation import compare
from llama_envs.evaluation.intervals import plus_minus
from llama_envs.evaluation.workers import in_thread, threads
from llama_envs.policies.network import read_policy, write_policy

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

SMALL = {  # what --quick replaces: it tries the machinery, and the agents that it makes play badly
    "experiments.distill": "--positions 2048 --num-envs 128 --memory 4096",
    "experiments.train": "--total-timesteps 8192 --num-envs 128",
}
BLOCK = re.compile(r"(<!-- generated: baselines -->\n)(.*?)(<!-- end -->)", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Options:
    """Make the trained agents that ship in the games' packages again."""

    only: tuple[str, ...] = ()
    """Which ones, by the names of their files, as in chess_2p; by default all."""
    out: Path | None = None
    """Folder of the policy files; by default the baselines of each game's package, or with --quick runs/baselines."""
    seed: int = 0
    """Seed of every command."""
    deals: int = 10_000
    """Deals of the evaluation against each rival."""
    workers: int = 2
    """Recipes that run side by side; 0 is one for each core."""
    quick: bool = False
    """A few thousand decisions in each command, to try the machinery; never touches what ships."""

    def __post_init__(self) -> None:
        check_int("seed", self.seed, 0, 2**64 - 2)
        check_int("deals", self.deals, 1, 10_000_000)
        check_int("workers", self.workers, 0, 1024)
        unknown = [name for name in self.only if name not in recipes()]
        if unknown:
            raise ValueError(f"there is no recipe {unknown[0]!r}; there is one for each of {', '.join(recipes())}.")
        check_folder("out", self.out)
        folders = [spec.baselines for spec in game_specs() if spec.baselines is not None]
        if self.quick and self.out is not None and self.out.resolve() in [folder.resolve() for folder in folders]:
            raise ValueError(f"out must be another folder with --quick: {self.out} holds what ships.")


class Recipe(NamedTuple):
    """How one baseline is made: the game, the number of players, and (experiment, its options) step by step."""

    game: str
    players: int
    steps: tuple[tuple[str, str], ...]


def recipes() -> dict[str, Recipe]:
    """Every recipe by the name of its file: the game's, and the number of players."""
    found = {}
    for spec in game_specs():
        file = spec.baselines / "recipe.toml" if spec.baselines is not None else None
        if file is not None and file.is_file():
            recipe = tomllib.loads(file.read_text(encoding="utf-8"))
            steps = tuple((step["experiment"], step["options"]) for step in recipe["steps"])
            for players in recipe["players"]:
                found[f"{spec.name}_{players}p"] = Recipe(spec.name, players, steps)
    return found


def commands(name: str, options: Options) -> list[list[str]]:
    """The commands of a recipe, each without the interpreter."""
    recipe = recipes()[name]
    made: list[list[str]] = []
    previous = ""
    for number, (module, arguments) in enumerate(recipe.steps):
        run = f"baseline-{name}-s{options.seed}-{number}"
        words = [module, recipe.game, "--num-players", str(recipe.players), "--name", run, "--seed", str(options.seed)]
        words += ["--threads", "1", "--deals", "0", *arguments.split()]
        if options.quick:
            words += SMALL[module].split()
        if previous:
            words += ["--init-from", str(RUNS / previous / "model.zip")]
        made.append(words)
        previous = run
    return made


def folder_of(name: str, options: Options) -> Path:
    """Where the file of a recipe goes."""
    shipped_with = spec_of(recipes()[name].game).baselines
    assert shipped_with is not None  # or it would have no recipe
    return options.out or (RUNS / "baselines" if options.quick else shipped_with)


def make(name: str, options: Options) -> dict[str, Any]:
    """Run a recipe, measure what it made, and write that as one policy file; returns what the file says of its making.

    Raises:
        ValueError: a command failed; nothing is written.
    """
    recipe = recipes()[name]
    game = make_game(recipe.game, num_players=recipe.players)
    environment = {**os.environ, "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    chain = commands(name, options)
    started = time.perf_counter()
    for words in chain:
        folder = RUNS / words[words.index("--name") + 1]
        log = folder.with_suffix(".log")
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w") as output:
            done = subprocess.run([sys.executable, "-m", *words], env=environment, stdout=output, stderr=output)
        if done.returncode:
            lines = [line.strip("╭│╰╮╯─ ") for line in log.read_text(errors="replace").splitlines()]
            last = ([line for line in lines if line] or ["no output"])[-1]
            raise ValueError(f"python -m {shlex.join(words)} failed: {last} (see {log}).")
    minutes = round((time.perf_counter() - started) / 60, 1)
    results = {}
    for rival in ("heuristic", "random") if game.spec.heuristic is not None else ("random",):
        names = [f"ppo:{folder / 'model.zip'}", *[rival] * (game.num_players - 1)]
        first = compare(game, names, options.deals, options.seed + 1).standings[0]
        results[rival] = {"win_share": round(first.share, 4), "win_share_95": round(first.interval, 4)}
    made = {
        "commands": [f"python -m {shlex.join(words)}" for words in chain],
        "seed": options.seed,
        "minutes": minutes,
        "versions": {key: value for key, value in versions().items() if key != "platform"},
        "evaluation": {"deals": options.deals, "seed": options.seed + 1, "against": results},
    }
    learned = read_policy(folder / "model.zip")
    target = folder_of(name, options) / f"{name}.npz"
    write_atomically(target, lambda path: write_policy(path, {**learned.about, "made": made}, learned.arrays))
    return made


def shipped(spec: GameSpec) -> list[Path]:
    """The policy files that ship with a game, by number of players."""
    return sorted(spec.baselines.glob(f"{spec.name}_*p.npz")) if spec.baselines is not None else []


def table(spec: GameSpec) -> str:
    """What ships with a game, and what it won, in Markdown: as its files say."""
    rows = []
    for file in shipped(spec):
        policy = read_policy(file)
        made = policy.about["made"]
        rows.append(
            {
                "baseline": f"`{file.stem}`",
                "trained": " and ".join(policy.about["trained"]),
                "minutes": f"{made['minutes']}",
                "kB": f"{file.stat().st_size / 1000:.0f}",
                "equal share": f"{1 / policy.about['config']['num_players']:.3f}",
                **{
                    f"alone among `{rival}`": plus_minus(found["win_share"], found["win_share_95"])
                    for rival, found in made["evaluation"]["against"].items()
                },
            }
        )
    return markdown(pd.DataFrame(rows).fillna("–")).rstrip()


def with_table(text: str, spec: GameSpec) -> str:
    """A README with the block ``<!-- generated: baselines -->`` written anew."""
    return BLOCK.sub(lambda match: f"{match[1]}\n{table(spec)}\n\n{match[3]}", text)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    options = parse_options(Options, __doc__.partition("\n")[0], argv)
    chosen = options.only or tuple(recipes())
    taken = [RUNS / words[words.index("--name") + 1] for name in chosen for words in commands(name, options)]
    for folder in taken:
        if folder.exists():
            fail(f"{folder} exists; move it away first.")
    with nullcontext(in_thread) if options.workers == 1 else threads(options.workers) as spread:
        kept = f"{RUNS / 'baseline-*'} keep what was trained, and the command in its command.txt goes on with --resume"
        records = run_or_exit(lambda: list(spread(lambda name: make(name, options), chosen)), kept)
    rows = [
        {"baseline": name, "minutes": record["minutes"]}
        | {f"against {rival}": plus_minus(r["win_share"], r["win_share_95"])
           for rival, r in record["evaluation"]["against"].items()}
        for name, record in zip(chosen, records, strict=True)
    ]  # fmt: skip
    show_table(pd.DataFrame(rows), "baselines")
    for name in chosen:
        print(f"policy: {folder_of(name, options) / name}.npz")
    for spec in game_specs():
        readme = spec.baselines / "README.md" if spec.baselines is not None else None
        if readme is not None and readme.is_file() and readme.parent in [folder_of(name, options) for name in chosen]:
            write_text(readme, with_table(readme.read_text(encoding="utf-8"), spec))


if __name__ == "__main__":
    main()
