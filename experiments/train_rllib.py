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
from typing import Any

import pandas as pd

from llama_envs.cli.command import game_of, parse, run_or_exit
from llama_envs.cli.evaluate import evaluate, frame_of, show
from llama_envs.cli.on_ray import ray_session, require
from llama_envs.cli.run_folder import default_name, open_run, whole_truth
from llama_envs.core.files import write_atomically, write_json
from llama_envs.core.game import Game
from llama_envs.core.runs import made_here
from llama_envs.core.validation import check_int
from llama_envs.policies.network import Arrays, describe, write_policy

UNIMPORTANT = ("name", "resume", "address", "checkpoint_every")  # options that change no result
PATIENCE = 300.0  # seconds without a single sample after which a run gives up


@dataclasses.dataclass(frozen=True)
class Options:
    """Train a masked PPO agent by self-play with RLlib and evaluate it."""

    name: str = ""
    """Folder under runs/; by default game, players, seed and the time."""
    seed: int = 0
    """Seed of everything that is drawn; env runners work side by side, so that runs are not exactly repeatable."""
    steps: int = 20_000
    """Decisions to train on, of all seats together."""
    resume: bool = False
    """Go on with the run --name from its last checkpoint; give the options it was started with, steps and deals may be
    more."""
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

    batch_size: int = 2000
    """Decisions an iteration."""
    minibatch: int = 256
    """Minibatch."""
    epochs: int = 4
    """Passes over an iteration's decisions."""
    layers: tuple[int, ...] = (128, 128)
    """Hidden layers of the policy and of the value network."""
    learning_rate: float = 1e-3
    """Adam step size."""
    gamma: float = 1.0
    """Discount; 1 because games end."""
    gae_lambda: float = 0.95
    """Generalised advantage estimation."""
    entropy: float = 0.01
    """Weight of the entropy bonus."""
    clip: float = 0.2
    """PPO clip range."""

    deals: int = 200
    """Deals of the evaluation at the end; 0 skips it."""

    def __post_init__(self) -> None:
        for field, most in (
            ("steps", 10**12), ("checkpoint_every", 10**6), ("num_env_runners", 10**5), ("num_envs", 10**4),
            ("snapshot_every", 10**6), ("batch_size", 10**8), ("minibatch", 10**7), ("epochs", 1000),
        ):  # fmt: skip
            check_int(field, getattr(self, field), 1, most)
        check_int("seed", self.seed, 0, 2**32 - 1)
        check_int("snapshots", self.snapshots, 0, 64)
        check_int("deals", self.deals, 0, 10_000_000)
        if self.minibatch > self.batch_size:
            raise ValueError(f"minibatch must be at most the batch_size, {self.batch_size}, got {self.minibatch}.")
        if not 0 <= self.self_weight <= 1:
            raise ValueError(f"self_weight must lie in 0 to 1, got {self.self_weight}.")
        if not 0 <= self.entropy < float("inf"):
            raise ValueError(f"entropy must be 0 or more, got {self.entropy}.")
        for field in ("gamma", "gae_lambda", "learning_rate", "clip"):
            if not 0 < getattr(self, field) <= 1:
                raise ValueError(f"{field} must lie above 0 and at most at 1, got {getattr(self, field)}.")
        if not self.layers:
            raise ValueError("layers must be one or more widths, got none.")
        for width in self.layers:
            check_int("layers", width, 1, 2**16)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    call = parse(Options, __doc__.partition("\n")[0], argv)
    options: Options = call.options
    game = run_or_exit(lambda: game_of(call))
    run_or_exit(lambda: require("llama_envs.adapters.rllib", options.address))  # before anything is written
    name = options.name or default_name(game.name, f"{game.num_players}p", "rllib", f"s{options.seed}")
    goes_on = f"the same command with --name {name} --resume goes on from the last checkpoint"
    run_or_exit(lambda: start(game, options, name), goes_on)


def start(game: Game, options: Options, name: str) -> None:
    """Join Ray, then open the run and train."""
    with ray_session(options.address, options.num_env_runners):
        kept = {key: value for key, value in dataclasses.asdict(options).items() if key not in UNIMPORTANT}
        folder = open_run(name, whole_truth(game, kept), options.resume, may_grow=("steps", "deals"))
        train(game, options, folder)
    if options.deals:
        report(game, folder / "model.zip", options, folder / "evaluation.csv")
    print(f"model: {folder / 'model.zip'}")


def train(game: Game, options: Options, folder: Path) -> None:
    """Train to ``options.steps`` with a checkpoint now and then, and write the model."""
    algorithm = build(game, options)
    try:
        steps, rows = restore(algorithm, folder) if options.resume else (0, [])
        heard = time.monotonic()
        while steps < options.steps:
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
            if algorithm.iteration % options.checkpoint_every == 0 or steps >= options.steps:
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
        train_batch_size_per_learner=options.batch_size,
        minibatch_size=options.minibatch,
        num_epochs=options.epochs,
        lr=options.learning_rate,
        gamma=options.gamma,
        lambda_=options.gae_lambda,
        entropy_coeff=options.entropy,
        clip_param=options.clip,
    )
    config.fault_tolerance(restart_failed_env_runners=True)
    config.debugging(seed=options.seed, log_level="ERROR")
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
        f"iteration {row['iteration']}: {row['step']:,} of {options.steps:,} decisions, "
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


def report(game: Game, model: Path, options: Options, out: Path) -> None:
    """One learner against the other seats filled with random policies, then with the game's heuristic if it has one."""
    frames = []
    for rival in ("random", "heuristic") if game.spec.heuristic is not None else ("random",):
        result = evaluate(game, [f"ppo:{model}", *[rival] * (game.num_players - 1)], options.deals, options.seed)
        show(result, f"{game.title}: the trained policy against {game.num_players - 1} × {rival}")
        frames.append(frame_of(result).assign(against=rival))
    table = pd.concat(frames)
    write_atomically(out, lambda path: table.to_csv(path, index=False))


if __name__ == "__main__":
    main()
