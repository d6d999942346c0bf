"""Make the trained agents that ship in agents/baselines again, each by the commands that its JSON file records.

    python -m experiments.baselines                    # all of them, two at a time
    python -m experiments.baselines --only lama_4p --out elsewhere

A recipe is a chain of experiments, each starting from the model of the one before. Every command runs with one
PyTorch thread, so that the weights depend on seed and versions alone.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import tyro

import agents  # noqa: F401  (registers the shipped policies)
from llama_envs.policies.baseline import FOLDER, model_file
from agents.ppo import load_state_dict, read_model, write_model
from llama_envs.cli.command import fail, run_or_exit
from experiments.evaluate import evaluate
from experiments.run_folder import RUNS, versions, write_atomically, write_json
from llama_envs.core.validation import check_int
from llama_envs.core.registry import make_game

Step = tuple[str, str]  # an experiment and its options

DISTIL = ("experiments.distill", "--positions 6000000")
BY_SCORE = ("experiments.train", "--reward score --steps 6000000 --entropy 0.003 --epochs 4 --layers 256 256")
RECIPES: dict[tuple[str, int], tuple[Step, ...]] = {
    **{("lama", players): (DISTIL,) for players in (2, 3, 4, 6)},
    **{("llama_llama", players): (BY_SCORE,) for players in (2, 3, 4)},
}
SMALL = {  # what --quick replaces: it tries the machinery and makes nothing of use
    "experiments.distill": "--positions 2048 --num-envs 128 --memory 4096",
    "experiments.train": "--steps 8192 --num-envs 128",
}
RIVALS = ("heuristic", "random")


@dataclasses.dataclass(frozen=True)
class Options:
    """Make the trained agents that ship in agents/baselines again."""

    only: tuple[str, ...] = ()
    """Which ones, as lama_4p; by default all."""
    out: Path = FOLDER
    """Where model and JSON files go."""
    seed: int = 0
    """Seed of every command."""
    deals: int = 10_000
    """Deals of the evaluation against each rival."""
    at_once: int = 2
    """Recipes that run side by side."""
    quick: bool = False
    """A few thousand decisions in each command, to try the machinery."""

    def __post_init__(self) -> None:
        check_int("deals", self.deals, 1, 10_000_000)
        check_int("at_once", self.at_once, 1, 1024)
        unknown = [name for name in self.only if name not in names()]
        if unknown:
            raise ValueError(f"there is no recipe {unknown[0]!r}; there is one for each of {', '.join(names())}.")


def names() -> dict[str, tuple[str, int]]:
    """Every recipe by its name: ``lama_4p`` is ("lama", 4)."""
    return {model_file(*key).stem: key for key in RECIPES}


def commands(name: str, options: Options) -> list[list[str]]:
    """The commands of a recipe, each without the interpreter."""
    game, players = names()[name]
    made: list[list[str]] = []
    previous = ""
    for number, (module, arguments) in enumerate(RECIPES[game, players]):
        run = f"baseline-{name}-s{options.seed}-{number}"
        words = [module, game, "--num-players", str(players), "--name", run, "--seed", str(options.seed)]
        words += ["--threads", "1", "--deals", "0", *arguments.split()]
        if options.quick:
            words += SMALL[module].split()
        if previous:
            words += ["--start", str(RUNS / previous / "model.zip")]
        made.append(words)
        previous = run
    return made


def make(name: str, options: Options) -> dict[str, Any]:
    """Run a recipe, write its model and JSON files, and return what the latter holds."""
    game = make_game(names()[name][0], num_players=names()[name][1])
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
            last = (log.read_text().strip().splitlines() or ["no output"])[-1]
            raise ValueError(f"python -m {shlex.join(words)} failed: {last} (see {log}).")
    seconds = time.perf_counter() - started
    made_for, weights = read_model(folder / "model.zip")
    target = options.out / model_file(*names()[name]).name
    write_atomically(target, lambda path: write_model(path, made_for, load_state_dict(weights)))
    results = {}
    for rival in RIVALS:
        frame, _ = evaluate(game, [f"ppo:{target}", *[rival] * (game.num_players - 1)], options.deals, options.seed + 1)
        results[rival] = {key: round(float(frame.iloc[0][key]), 4) for key in ("win_share", "win_share_95")}
    record = {
        "game": game.id,
        "num_players": game.num_players,
        "commands": [f"python -m {shlex.join(words)}" for words in chain],
        "seed": options.seed,
        "minutes": round(seconds / 60, 1),
        "versions": {key: value for key, value in versions().items() if key != "platform"},
        "bytes": target.stat().st_size,
        "evaluation": {"deals": options.deals, "seed": options.seed + 1, "against": results},
    }
    write_json(target.with_suffix(".json"), record)
    return record


def main() -> None:
    """The command line."""
    options = run_or_exit(lambda: tyro.cli(Options, description=__doc__.partition("\n")[0]))
    chosen = options.only or tuple(names())
    taken = [RUNS / words[words.index("--name") + 1] for name in chosen for words in commands(name, options)]
    for folder in taken:
        if folder.exists():
            fail(f"{folder} exists; move it away first.")
    with ThreadPoolExecutor(options.at_once) as pool:
        records = run_or_exit(lambda: list(pool.map(lambda name: make(name, options), chosen)))
    rows = [
        {"baseline": name, "minutes": record["minutes"]}
        | {f"against {rival}": f"{r['win_share']:.3f} ± {r['win_share_95']:.3f}"
           for rival, r in record["evaluation"]["against"].items()}
        for name, record in zip(chosen, records, strict=True)
    ]  # fmt: skip
    print(pd.DataFrame(rows).to_string(index=False))


if __name__ == "__main__":
    main()
