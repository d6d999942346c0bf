"""Train a masked PPO agent by self-play with RLlib, on this machine or on a Ray cluster, then measure it.

    python -m experiments.train_rllib <game> --num-env-runners 1
    python -m experiments.train_rllib <game> --num-env-runners 64 --address auto

Everything goes to ``runs/<name>/``: config.json, command.txt, versions.json, metrics.csv, model.zip (a policy file,
``ppo:PATH``, which needs no Ray), evaluation.csv and the last checkpoint, from which ``--resume`` goes on. Env runners
that are lost, with their node or alone, are replaced, and training goes on with the others meanwhile.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from experiments.lib.seeds import small_seed
from experiments.train.options import RENAMED, PPOOptions
from experiments.train.rivals import check_ends, report
from llama_envs.cli.command import game_of, parse, run_or_exit
from llama_envs.cli.on_ray import ray_session, require
from llama_envs.cli.run_folder import RUNS, default_name, open_run, whole_truth
from llama_envs.core.files import write_atomically, write_json
from llama_envs.core.game import Game
from llama_envs.core.runs import made_here
from llama_envs.core.validation import check_int
from llama_envs.policies.network import Arrays, describe, write_policy

PATIENCE = 300.0  # seconds without a single sample after which a run gives up


@dataclasses.dataclass(frozen=True)
class Options(PPOOptions):
    """Train a masked PPO agent by self-play with RLlib and evaluate it."""

    seed: int = 0
    """Seed of everything that is drawn; env runners work side by side, so that runs are not exactly repeatable."""
    total_timesteps: int = 20_000
    """Decisions to train on, of all seats together."""
    checkpoint_every: int = 5
    """Iterations between checkpoints."""
    address: str = ""
    """Address of a Ray cluster ("auto", or host:port), each node of which has llama-envs[ray]; empty: this machine."""
    num_env_runners: int = 1
    """Processes that play, one CPU each."""
    num_envs: int = 8
    """Games that each of them plays side by side."""
    snapshots: int = 3
    """Frozen snapshots kept as opponents; 0: the current policy plays every seat."""
    snapshot_every: int = 5
    """Iterations between snapshots."""
    self_weight: float = 0.5
    """Share of the opponents that are the current policy."""
    train_batch_size: int = 2000
    """Decisions an iteration."""
    batch_size: int = 256
    """Minibatch."""
    n_epochs: int = 4
    """Passes over an iteration's decisions."""
    deals: int = 200
    """Deals of the evaluation at the end; 0 skips it."""

    unimportant: ClassVar[tuple[str, ...]] = (*PPOOptions.unimportant, "address")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("num_envs", self.num_envs, 1, 10**4)
        check_int("num_env_runners", self.num_env_runners, 1, 10**5)
        check_int("snapshot_every", self.snapshot_every, 1, 10**6)
        check_int("snapshots", self.snapshots, 0, 64)
        check_int("train_batch_size", self.train_batch_size, self.batch_size, 10**8, ", the batch_size at least")
        if not 0 <= self.self_weight <= 1:
            raise ValueError(f"self_weight must lie in 0 to 1, got {self.self_weight}.")


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    call = parse(Options, __doc__.partition("\n")[0], argv, RENAMED)
    options: Options = call.options
    game = run_or_exit(lambda: game_of(call))
    run_or_exit(lambda: require("llama_envs.adapters.rllib", options.address))  # before anything is written
    if options.deals:
        run_or_exit(lambda: check_ends(game))
    name = options.name or default_name(game.name, f"{game.num_players}p", "rllib", f"s{options.seed}")
    run_or_exit(lambda: start(game, options, name), Kept(name))


class Kept:
    """As a text, what the run ``name`` keeps when it is stopped now."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        folder = RUNS / self.name
        goes_on = f"and the same command with --name {self.name} --resume"
        if (folder / "checkpoint.json").is_file():
            steps = json.loads((folder / "checkpoint.json").read_text())["steps"]
            return f"{folder} keeps the last checkpoint, after {steps:,} decisions, {goes_on} goes on from there"
        return f"{folder} keeps no checkpoint yet, {goes_on} begins again" if folder.is_dir() else "nothing was written"


def start(game: Game, options: Options, name: str) -> None:
    """Join Ray, then open the run and train."""
    with ray_session(options.address, options.num_env_runners):
        config = whole_truth(game, options.important())
        folder = open_run(name, config, options.resume, may_grow=("total_timesteps", "deals"))
        train(game, options, folder)
    if options.deals:
        report(game, folder / "model.zip", options.deals, options.seed, folder / "evaluation.csv")
    print(f"model: {folder / 'model.zip'}")


def train(game: Game, options: Options, folder: Path) -> None:
    """Train to ``options.total_timesteps`` with a checkpoint now and then, and write the model."""
    algorithm = build(game, options)
    try:
        steps, rows = restore(algorithm, folder) if options.resume else (0, [])
        heard = time.monotonic()
        while steps < options.total_timesteps:
            started = time.monotonic()
            result = algorithm.train()
            sampled = int(number(result, "env_runners", "num_env_steps_sampled") or 0)
            healthy = algorithm.env_runner_group.num_healthy_remote_workers()
            if not sampled:
                if time.monotonic() - heard > PATIENCE:
                    raise ValueError(f"no env runner has answered for {PATIENCE:.0f} s; {folder} can be resumed.")
                print(f"no samples: {healthy} of {options.num_env_runners} env runners are there", flush=True)
                time.sleep(1)
                continue
            heard = time.monotonic()
            steps += sampled
            rows.append(row(result, algorithm.iteration, steps, sampled / (heard - started), healthy))
            print(line(rows[-1], options), flush=True)
            frame = pd.DataFrame(rows)
            write_atomically(folder / "metrics.csv", partial(frame.to_csv, index=False))
            if algorithm.iteration % options.checkpoint_every == 0 or steps >= options.total_timesteps:
                save(algorithm, folder, steps, rows)
        weights = algorithm.learner_group.get_weights(["main"])["main"]
        made = {**made_here(), "seed": options.seed, "decisions": steps}
        about, arrays = describe(game, made=made), arrays_of(weights)
        write_atomically(folder / "model.zip", lambda path: write_policy(path, about, arrays))
    finally:
        algorithm.stop()


def build(game: Game, options: Options) -> Any:
    """RLlib's PPO with masked modules and a league."""
    from ray.rllib.algorithms.ppo import PPOConfig

    from llama_envs.adapters.rllib import League, configure

    league = League(options.snapshots, options.snapshot_every, options.self_weight)
    config = configure(PPOConfig(), {"game": game, "illegal_action": "error"}, league, options.layers)
    config.env_runners(num_env_runners=options.num_env_runners, num_envs_per_env_runner=options.num_envs)
    config.training(
        train_batch_size_per_learner=options.train_batch_size,
        minibatch_size=options.batch_size,
        num_epochs=options.n_epochs,
        lr=options.learning_rate,
        gamma=options.gamma,
        lambda_=options.gae_lambda,
        entropy_coeff=options.ent_coef,
        clip_param=options.clip_range,
    )
    config.fault_tolerance(restart_failed_env_runners=True)
    config.debugging(seed=small_seed(options.seed), log_level="ERROR")
    return config.build_algo()


def row(result: dict[str, Any], iteration: int, steps: int, speed: float, healthy: int) -> dict[str, Any]:
    """One row of metrics.csv."""
    return {
        "iteration": iteration,
        "step": steps,
        "steps_per_second": speed,
        "env_runners": healthy,
        "episodes": number(result, "env_runners", "num_episodes"),
        "episode_length": number(result, "env_runners", "episode_len_mean"),
        "league_snapshots": result["league_snapshots"],
        "league_advantage": number(result, "env_runners", "league_advantage"),
        **{
            name: number(result, "learners", "main", name)
            for name in ("policy_loss", "vf_loss", "entropy", "vf_explained_var", "mean_kl_loss")
        },
    }


def number(result: dict[str, Any], *path: str) -> float | None:
    """The number at ``path`` in a result, None if there is none."""
    value: Any = result
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return None if value is None or value != value else float(value)


def line(row: dict[str, Any], options: Options) -> str:
    """One line of progress."""

    def shown(name: str, form: str) -> str:
        return "–" if row[name] is None else format(row[name], form)

    return (
        f"iteration {row['iteration']}: {row['step']:,} of {options.total_timesteps:,} decisions, "
        f"{row['steps_per_second']:,.0f}/s, {row['env_runners']} of {options.num_env_runners} env runners, "
        f"entropy {shown('entropy', '.3f')}, advantage over {row['league_snapshots']} snapshots "
        f"{shown('league_advantage', '+.3f')}"
    )


def save(algorithm: Any, folder: Path, steps: int, rows: list[dict[str, Any]]) -> None:
    """A new checkpoint, complete before checkpoint.json names it; then the older ones go."""
    unfinished = folder.resolve() / f".checkpoint.{os.getpid()}"
    shutil.rmtree(unfinished, ignore_errors=True)
    algorithm.save_to_path(str(unfinished))
    name = f"checkpoint-{algorithm.iteration}"
    shutil.rmtree(folder / name, ignore_errors=True)
    os.replace(unfinished, folder / name)
    write_json(folder / "checkpoint.json", {"folder": name, "steps": steps, "rows": rows})
    for old in [*folder.glob("checkpoint-*"), *folder.glob(".checkpoint.*")]:
        if old.name != name:
            shutil.rmtree(old, ignore_errors=True)


def restore(algorithm: Any, folder: Path) -> tuple[int, list[dict[str, Any]]]:
    """Steps and rows that ``save`` wrote last, the algorithm set back to then; the beginning if it never did."""
    if not (folder / "checkpoint.json").is_file():
        return 0, []
    try:
        done: dict[str, Any] = json.loads((folder / "checkpoint.json").read_text())
        algorithm.restore_from_path(str((folder / done["folder"]).resolve()))
    except Exception as error:  # a damaged checkpoint can make RLlib raise anything
        first_line = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ValueError(
            f"the checkpoint in {folder} is damaged, or was made with other options ({first_line})."
        ) from None
    return done["steps"], done["rows"]


def arrays_of(weights: dict[str, Any]) -> Arrays:
    """The weights of RLlib's module under the names of a policy file."""
    arrays: Arrays = {}
    for part, encoder, head in (("policy", "actor_encoder", "pi"), ("value", "critic_encoder", "vf")):
        trunk = f"encoder.{encoder}.net.mlp."
        numbers = {int(name.removeprefix(trunk).split(".")[0]) for name in weights if name.startswith(trunk)}
        layers = [*(f"{trunk}{number}" for number in sorted(numbers)), f"{head}.net.mlp.0"]
        for number, layer in enumerate(layers):
            for kind in ("weight", "bias"):
                arrays[f"{part}.{number}.{kind}"] = weights[f"{layer}.{kind}"]
    return arrays


if __name__ == "__main__":
    main()
