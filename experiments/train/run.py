"""A run of training: one seed or several, their models, pictures and evaluation."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from agents.ppo import save_model
from experiments.lib.seeds import Purpose, run_seeds
from experiments.train.curve import draw_learning_curve
from experiments.train.learner import build, decisions_of, learn
from experiments.train.options import Options
from experiments.train.rivals import report, rivals_of
from llama_envs.core.files import write_atomically
from llama_envs.core.game import Game
from llama_envs.core.markdown import plural
from llama_envs.evaluation.intervals import mean_of, plus_minus
from llama_envs.evaluation.workers import Map, in_thread


@contextmanager
def side_by_side(options: Options) -> Iterator[Map]:
    """A ``map`` over seeds, no more processes than there are; one seed after the other is trained in this thread."""
    at_once = min(options.workers or os.cpu_count() or 1, options.seeds)
    if options.ray:
        with options.spread() as spread:
            yield spread
    elif at_once == 1:
        yield map
    else:
        with dataclasses.replace(options, workers=at_once).spread() as spread:
            yield spread


def train(game: Game, options: Options, folder: Path, spread: Map = map) -> None:
    """Train one seed or several, write models and pictures, and evaluate."""
    total, rollout = decisions_of(game, options)
    print(f"{total:,} decisions in {plural(total // rollout, 'rollout')} of {rollout:,}, in {folder}", flush=True)
    if options.seeds == 1:
        train_seed(game, options, folder)
        if options.deals:
            report(game, folder / "model.zip", options.deals, options.seed, folder / "evaluation.csv", in_thread)
    else:
        train_seeds(game, options, folder, spread)


def train_seed(game: Game, options: Options, folder: Path, label: str = "") -> None:
    """Train to ``options.total_timesteps``; write model and learning curve."""
    model, self_play = build(game, options, folder, lines=True, label=label)
    learn(model, decisions_of(game, options)[0], self_play, quiet=bool(label))
    model.logger.close()
    write_atomically(folder / "model.zip", lambda path: save_model(model, game, path))
    draw_learning_curve(game, [pd.read_csv(folder / "metrics.csv")], folder / "learning_curve.png")


def train_seeds(game: Game, options: Options, folder: Path, spread: Map) -> None:
    """Every run in a folder of its own, then one learning curve and one table of all."""
    seeds = run_seeds(options.seed, Purpose.RUNS, options.seeds).tolist()
    runs = {seed: folder / f"run-{number}" for number, seed in enumerate(seeds)}
    one = dataclasses.replace(options, seeds=1, ray=False, address="", resume=True)  # also what a lost task has left
    jobs = [(game, dataclasses.replace(one, seed=seed), own.resolve()) for seed, own in runs.items()]
    if options.ray:
        print(f"progress: {folder / 'run-*' / 'metrics.csv'}", flush=True)
    list(spread(one_of_many, jobs))
    metrics = [pd.read_csv(own / "metrics.csv") for own in runs.values()]
    draw_learning_curve(game, metrics, folder / "learning_curve.png")
    if options.deals:
        tables = []
        for seed, own in runs.items():
            table = report(game, own / "model.zip", options.deals, seed, own / "evaluation.csv", in_thread)
            tables.append(table.assign(seed=np.uint64(seed)))
        table = pd.concat(tables)
        write_atomically(folder / "evaluation.csv", lambda path: table.to_csv(path, index=False))
        for rival in rivals_of(game):
            shares = [float(own[own["against"] == rival]["win_share"].iloc[0]) for own in tables]
            print(f"win share against {rival}, over {options.seeds} seeds: {plus_minus(*mean_of(shares))}")


def _interrupt_once(*_: object) -> None:
    """The pool tells its processes to end, and again when the first has: that may not disturb another's saving."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def one_of_many(job: tuple[Game, Options, Path]) -> None:
    """One seed, here or in a process of its own, which keeps what it has when it is told to end."""
    game, options, folder = job
    folder.mkdir(exist_ok=True)
    alone = multiprocessing.parent_process() is not None
    if alone:
        signal.signal(signal.SIGTERM, _interrupt_once)
    try:
        train_seed(game, options, folder, f"{folder.name}: ")
    except KeyboardInterrupt:
        if alone:
            os._exit(130)
        raise
