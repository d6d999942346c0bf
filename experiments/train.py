"""Train a MaskablePPO agent by self-play, then measure it against scripted opponents.

    python -m experiments.train <game> --num-players 4

Everything goes to ``runs/<name>/``: config.json, command.txt, versions.json, metrics.csv, learning_curve.png, the
TensorBoard log, model.zip (of Stable-Baselines3, and a policy file: ``ppo:runs/<name>/model.zip``), evaluation.csv and
the last checkpoint, from which ``--resume`` goes on exactly.
"""

from __future__ import annotations

import copy
import dataclasses
import io
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

from agents.ppo import TorchPolicy, actor, actor_weights, load_weights, save_model
from agents.standardise import Standardise, moments
from llama_envs.adapters.sb3 import SB3VecEnv
from llama_envs.cli.command import game_of, parse, run_or_exit
from llama_envs.cli.evaluate import evaluate, frame_of, show
from llama_envs.cli.run_folder import default_name, open_run, whole_truth
from llama_envs.core.batch import Batch
from llama_envs.core.files import write_atomically
from llama_envs.core.game import Game
from llama_envs.core.validation import check_choice, check_int
from llama_envs.policies import Players, Policy, PolicyError, make_policy
from llama_envs.policies.view import kernel_of

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SAMPLED_GAMES, SAMPLED_STEPS = 512, 100  # from which the observation is standardised
LOSSES = ("train/loss", "train/policy_gradient_loss", "train/value_loss")
WIDEST = 2**16
UNIMPORTANT = ("name", "resume", "checkpoint_every")  # options that change no result


@dataclasses.dataclass(frozen=True)
class Options:
    """Train a MaskablePPO agent by self-play and evaluate it."""

    name: str = ""
    """Folder under runs/; by default game, players, seed and the time."""
    seed: int = 0
    """Seed of everything that is drawn."""
    steps: int = 5_000_000
    """Decisions of the learner to train on."""
    start: str = ""
    """A policy file to start from, such as model.zip of another run (it must have the same layers); empty: random
    weights."""
    hold: int = 0
    """Rollouts at the beginning in which only the value network learns, as a started policy may have none of use."""
    resume: bool = False
    """Go on with the run --name from its last checkpoint; give the options it was started with, steps and deals may be
    more."""
    checkpoint_every: int = 10
    """Rollouts between checkpoints."""

    seats: str = "auto"
    """"one": the learner holds one seat in each game; "all": it plays every seat, in a game where all decide at once;
    "auto": every seat where that is possible."""
    self_weight: float = 0.4
    """Weight of the current policy among the opponents."""
    snapshot_weight: float = 0.3
    """Weight of past snapshots of the policy."""
    snapshots: int = 3
    """Past snapshots kept."""
    snapshot_every: int = 10
    """Rollouts between snapshots."""
    scripted: tuple[str, ...] = ("auto",)
    """Other opponents; "auto": the game's heuristic, if it has one."""
    scripted_weight: float = 0.3
    """Weight of the other opponents together."""

    num_envs: int = 1024
    """Environments stepped at once: games, or where every seat is played, seats (rounded down to whole games)."""
    rollout: int = 32
    """Decisions per game and rollout."""
    batch_size: int = 4096
    """Minibatch."""
    epochs: int = 2
    """Passes over a rollout."""
    layers: tuple[int, ...] = (128, 128)
    """Hidden layers of the policy and of the value network."""
    learning_rate: float = 1e-3
    """Adam step size at the beginning; it falls linearly to a tenth."""
    gamma: float = 1.0
    """Discount; 1 because games end."""
    gae_lambda: float = 0.95
    """Generalised advantage estimation."""
    entropy: float = 0.01
    """Weight of the entropy bonus."""
    clip: float = 0.2
    """PPO clip range."""
    threads: int = 2
    """PyTorch threads."""

    deals: int = 1000
    """Deals of the evaluation at the end; 0 skips it."""

    def __post_init__(self) -> None:
        check_choice("seats", self.seats, ("auto", "one", "all"))
        for field, most in (
            ("steps", 10**12), ("checkpoint_every", 10**6), ("snapshots", 64), ("snapshot_every", 10**6),
            ("num_envs", 2**20), ("rollout", 2**20), ("batch_size", 2**24), ("epochs", 1000), ("threads", 1024),
        ):  # fmt: skip
            check_int(field, getattr(self, field), 1, most)
        check_int("seed", self.seed, 0, 2**32 - 1)
        check_int("deals", self.deals, 0, 10_000_000)
        check_int("hold", self.hold, 0, 10**6)
        for field in ("self_weight", "snapshot_weight", "scripted_weight", "entropy"):
            if not 0 <= getattr(self, field) < float("inf"):
                raise ValueError(f"{field} must be 0 or more, got {getattr(self, field)}.")
        for field in ("gamma", "gae_lambda", "learning_rate", "clip"):
            if not 0 < getattr(self, field) <= 1:
                raise ValueError(f"{field} must lie above 0 and at most at 1, got {getattr(self, field)}.")
        if self.self_weight + self.snapshot_weight + self.scripted_weight * bool(self.scripted) <= 0:
            raise ValueError("one of self_weight, snapshot_weight and scripted_weight must be above 0.")
        check_layers(self.layers)


def check_layers(layers: Sequence[int]) -> None:
    """ValueError unless there are some, all of a possible width."""
    if not layers:
        raise ValueError("layers must be one or more widths, got none.")
    for width in layers:
        check_int("layers", width, 1, WIDEST)


def scripted_opponents(game: Game, options: Options) -> tuple[str, ...]:
    """The names behind ``options.scripted``."""
    found = ("heuristic",) if game.spec.heuristic is not None else ()
    return found if options.scripted == ("auto",) else options.scripted


class League:
    """The opponents: the current policy, a ring of past snapshots, and scripted ones. Copies sample their actions.

    Copies change only in ``refresh`` (the current policy, before every rollout) and ``remember`` (one snapshot).
    """

    def __init__(self, game: Game, options: Options) -> None:
        def blank() -> TorchPolicy:
            return TorchPolicy(actor(game.observation.size, game.num_actions, list(options.layers)), greedy=False)

        self.current = blank()
        self.past = [blank() for _ in range(options.snapshots)]
        self.remembered = 0
        self.weights: dict[str | Policy, float] = {}
        if options.self_weight > 0:
            self.weights[self.current] = options.self_weight
        for policy in self.past if options.snapshot_weight > 0 else []:
            self.weights[policy] = options.snapshot_weight / len(self.past)
        scripted = scripted_opponents(game, options) if options.scripted_weight > 0 else ()
        for name in scripted:
            self.weights[make_policy(name, game)] = options.scripted_weight / len(scripted)

    def refresh(self, model: MaskablePPO) -> None:
        """The current policy becomes the learner's present one."""
        self.current.network.load_state_dict(actor_weights(model.policy.state_dict()))

    def remember(self, model: MaskablePPO) -> None:
        """The learner's present policy replaces the oldest snapshot; at first, all of them."""
        slots = self.past if self.remembered == 0 else [self.past[self.remembered % len(self.past)]]
        for policy in slots:
            policy.network.load_state_dict(actor_weights(model.policy.state_dict()))
        self.remembered += 1

    def state(self) -> dict[str, Any]:
        """All that a checkpoint must hold."""
        networks = [policy.network.state_dict() for policy in (self.current, *self.past)]
        return {"networks": copy.deepcopy(networks), "remembered": self.remembered}

    def restore(self, state: dict[str, Any]) -> None:
        """Undo to a checkpoint."""
        self.remembered = state["remembered"]
        for policy, weights in zip((self.current, *self.past), state["networks"], strict=True):
            policy.network.load_state_dict(weights)


class MetricsFile(KVWriter):
    """Every dump of SB3's logger as one row of metrics.csv, rewritten atomically."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = []

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, Any], step: int = 0) -> None:
        """One more row."""
        numbers = {key: float(value) for key, value in key_values.items() if isinstance(value, (int, float, np.number))}
        self.rows.append({"step": step, **numbers})
        frame = pd.DataFrame(self.rows)
        write_atomically(self.path, lambda path: frame.to_csv(path, index=False))

    def close(self) -> None:
        """Nothing is held open."""


class Keeper(BaseCallback):
    """Between an update and the next rollout: refresh the league, and save a checkpoint from which to go on exactly.

    Stops with a ValueError at the first loss or weight that is not finite.
    """

    def __init__(
        self, folder: Path, env: SB3VecEnv, monitor: VecMonitor, league: League, metrics: MetricsFile, options: Options
    ):
        super().__init__()
        self.folder, self.env, self.monitor, self.league, self.metrics = folder, env, monitor, league, metrics
        self.options = options
        self.rollouts = 0
        self.resumed = False

    def _on_rollout_start(self) -> None:
        check_finite(self.model)
        if self.resumed:  # this very moment was saved
            self.resumed = False
        else:
            self.league.refresh(self.model)
            if self.rollouts > 0 and self.rollouts % self.options.snapshot_every == 0:
                self.league.remember(self.model)
            if self.rollouts % self.options.checkpoint_every == 0:
                self.save()
        policy: Any = self.model.policy
        for part in (policy.mlp_extractor.policy_net, policy.action_net):
            part.requires_grad_(self.rollouts >= self.options.hold)
        self.rollouts += 1

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        check_finite(self.model)

    def save(self) -> None:
        """One file, so that a checkpoint is there as a whole or not at all."""
        model_file = self.folder / "checkpoint_model.zip"
        write_atomically(model_file, self.model.save)
        state = {
            "model": model_file.read_bytes(),
            "rollouts": self.rollouts,
            "steps": self.model.num_timesteps,
            "league": self.league.state(),
            "env": self.env.get_state(),
            "monitor": (self.monitor.episode_returns.copy(), self.monitor.episode_lengths.copy()),
            "last_obs": self.model._last_obs,
            "last_starts": self.model._last_episode_starts,
            "recent": self.model.ep_info_buffer,
            "updates": self.model._n_updates,
            "metrics": self.metrics.rows,
            "unwritten": (dict(self.model.logger.name_to_value), dict(self.model.logger.name_to_excluded)),
            "torch": torch.get_rng_state(),
            "numpy": np.random.get_state(),
        }
        write_atomically(self.folder / "checkpoint.pkl", lambda path: path.write_bytes(pickle.dumps(state)))
        model_file.unlink()


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    call = parse(Options, __doc__.partition("\n")[0], argv)
    options: Options = call.options
    game = run_or_exit(lambda: game_of(call))
    run_or_exit(lambda: check(game, options))  # before anything is written
    name = options.name or default_name(game.name, f"{game.num_players}p", f"s{options.seed}")
    config = run_or_exit(lambda: config_of(game, options))
    folder = run_or_exit(lambda: open_run(name, config, options.resume, may_grow=("steps", "deals")))
    goes_on = f"the same command with --name {name} --resume goes on from the last checkpoint"
    run_or_exit(lambda: train(game, options, folder), goes_on)
    print(f"model: {folder / 'model.zip'}")


def config_of(game: Game, options: Options) -> dict[str, Any]:
    """What decides the results of a run, the contents of files included."""
    kept = {key: value for key, value in dataclasses.asdict(options).items() if key not in UNIMPORTANT}
    start = (f"ppo:{options.start}",) if options.start else ()
    return whole_truth(game, kept, (*scripted_opponents(game, options), *start))


def check(game: Game, options: Options) -> None:
    """ValueError if the options do not fit the game, the file to start from, or each other."""
    League(game, options)
    env = SB3VecEnv(game, game.num_players, "random", seats_of(game, options))
    if seats_of(game, options) == "all":
        check_int("num_envs", options.num_envs, game.num_players, 2**20, " with every seat played")
    decisions = num_envs_of(game, options) * options.rollout
    if options.batch_size == 1 or decisions % options.batch_size == 1:
        raise ValueError(
            f"num_envs × rollout = {decisions:,} decisions in minibatches of batch_size = {options.batch_size:,} "
            f"leave one with a single decision, whose advantage cannot be normalised; change num_envs, rollout or "
            f"batch_size."
        )
    if options.start:
        new_model(game, env, options)


def seats_of(game: Game, options: Options) -> str:
    """ "one" or "all"."""
    if options.seats == "auto":
        return "all" if game.simultaneous else "one"
    return options.seats


def train(game: Game, options: Options, folder: Path) -> None:
    """Train to ``options.steps``, write the model and its pictures, and evaluate it."""
    torch.set_num_threads(options.threads)
    model, keeper = build(game, options, folder)
    learn(model, options.steps, keeper)
    write_atomically(folder / "model.zip", lambda path: save_model(model, game, path))
    draw_learning_curve(game, pd.DataFrame(keeper.metrics.rows), folder / "learning_curve.png")
    if options.deals:
        report(game, folder / "model.zip", options.deals, options.seed, folder / "evaluation.csv")


def learn(model: MaskablePPO, steps: int, callback: BaseCallback, quiet: bool = False) -> None:
    """Go on until ``model`` has trained on ``steps`` decisions, with a progress bar.

    Raises:
        ValueError: an opponent failed, or a loss or weight is no longer finite.
    """
    remaining = steps - model.num_timesteps
    if remaining <= 0:
        return
    try:
        model.learn(remaining, callback=callback, reset_num_timesteps=False, progress_bar=not quiet)
    except PolicyError as error:
        raise ValueError(f"{error}.") from error
    except ValueError:
        check_finite(model)  # torch refuses NaN as well, in many lines
        raise


def check_finite(model: Any) -> None:
    """ValueError if the latest losses or a weight of ``model`` is infinite or not a number."""
    losses = {name: model.logger.name_to_value.get(name, 0.0) for name in LOSSES}
    wrong = [f"{name} = {value}" for name, value in losses.items() if not np.isfinite(value)]
    wrong += [name for name, value in model.policy.state_dict().items() if not torch.isfinite(value).all()]
    if wrong:
        raise ValueError(
            f"training failed: after {model.num_timesteps:,} decisions there are numbers that are not finite "
            f"({wrong[0]}); try a lower learning_rate."
        )


def num_envs_of(game: Game, options: Options) -> int:
    """Environments that are stepped at once: whole games where every seat is played."""
    return options.num_envs - (options.num_envs % game.num_players if seats_of(game, options) == "all" else 0)


def build(game: Game, options: Options, folder: Path) -> tuple[MaskablePPO, Keeper]:
    """The learner in its environment, new or as the checkpoint left it."""
    league = League(game, options)
    env = SB3VecEnv(
        game, num_envs_of(game, options), league.weights or "random", seats_of(game, options), seed=options.seed
    )
    monitor = VecMonitor(env)
    metrics = MetricsFile(folder / "metrics.csv")
    keeper = Keeper(folder, env, monitor, league, metrics, options)
    checkpoint = folder / "checkpoint.pkl"
    unwritten: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    if options.resume and checkpoint.is_file():
        try:
            state = pickle.loads(checkpoint.read_bytes())
        except (pickle.UnpicklingError, EOFError, AttributeError) as error:
            raise ValueError(f"{checkpoint} is damaged ({error}).") from None
        model = resume(state, keeper, monitor)
        unwritten = state["unwritten"]
    else:
        model = new_model(game, monitor, options)
        league.refresh(model)
        league.remember(model)
    logger = Logger(str(folder), [metrics, TensorBoardOutputFormat(str(folder / "tensorboard"))])
    logger.name_to_value.update(unwritten[0])
    logger.name_to_excluded.update(unwritten[1])
    model.set_logger(logger)
    return model, keeper


def new_model(game: Game, env: VecEnv, options: Options) -> MaskablePPO:
    """A learner at its beginning: random weights, or those of ``options.start``.

    Raises:
        ValueError: that file is damaged, or was made for other rules or other layers.
    """
    model = MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=_falling(options.learning_rate),
        n_steps=options.rollout,
        batch_size=options.batch_size,
        n_epochs=options.epochs,
        gamma=options.gamma,
        gae_lambda=options.gae_lambda,
        ent_coef=options.entropy,
        clip_range=options.clip,
        policy_kwargs={
            "net_arch": {"pi": list(options.layers), "vf": list(options.layers)},
            "features_extractor_class": Standardise,
            "features_extractor_kwargs": moments(sample_observations(game, options)),
        },
        stats_window_size=10_000,
        seed=options.seed,
        device="cpu",
    )
    if options.start:
        load_weights(model, game, Path(options.start))
    return model


def sample_observations(game: Game, options: Options) -> npt.NDArray[np.float32]:
    """What the seat to move sees where seats play at random or, as often, by rules of thumb: (n, D) float32."""
    players = [make_policy(name, game) for name in ("random", *scripted_opponents(game, options))]
    players = [policy for policy in players if kernel_of(policy) is not None]  # the quick ones
    batch = Batch(game, SAMPLED_GAMES, options.seed, autoreset=True)
    batch.reset()
    seats = np.arange(SAMPLED_GAMES)[:, None] + np.arange(game.num_players)
    table = Players(batch, players, seats % len(players), options.seed)
    actions = np.zeros(SAMPLED_GAMES, np.int64)
    seen = []
    for _ in range(SAMPLED_STEPS):
        seen.append(batch.observation.copy())
        table.act(actions)
        batch.step(actions)
    return np.concatenate(seen)


def resume(state: dict[str, Any], keeper: Keeper, monitor: VecMonitor) -> MaskablePPO:
    """Everything as it was when ``state`` was saved."""
    model = MaskablePPO.load(io.BytesIO(state["model"]), env=monitor, device="cpu", force_reset=False)
    monitor.reset()
    keeper.env.set_state(state["env"])
    keeper.league.restore(state["league"])
    keeper.metrics.rows = state["metrics"]
    keeper.rollouts, keeper.resumed = state["rollouts"], True
    monitor.episode_returns[:], monitor.episode_lengths[:] = state["monitor"]
    model._last_obs, model._last_episode_starts = state["last_obs"], state["last_starts"]
    model.ep_info_buffer, model._n_updates = state["recent"], state["updates"]
    model.num_timesteps = state["steps"]
    torch.set_rng_state(state["torch"])
    np.random.set_state(state["numpy"])
    return model


def report(game: Game, model: Path, deals: int, seed: int, out: Path) -> None:
    """One learner against the other seats filled with random policies, then with the game's heuristic if it has one."""
    frames = []
    for rival in ("random", "heuristic") if game.spec.heuristic is not None else ("random",):
        result = evaluate(game, [f"ppo:{model}", *[rival] * (game.num_players - 1)], deals, seed)
        show(result, f"{game.title}: the trained policy against {game.num_players - 1} × {rival}")
        frames.append(frame_of(result).assign(against=rival))
    table = pd.concat(frames)
    write_atomically(out, lambda path: table.to_csv(path, index=False))


def draw_learning_curve(game: Game, metrics: pd.DataFrame, path: Path) -> None:
    """Mean episode reward, entropy and explained variance over the learner's decisions."""
    panels = {
        "rollout/ep_rew_mean": "mean reward of an episode",
        "train/entropy_loss": "entropy of the policy",
        "train/explained_variance": "explained variance of the value",
    }
    figure, axes = plt.subplots(1, len(panels), figsize=(13, 3.6), constrained_layout=True)
    for axis, (column, label) in zip(axes, panels.items(), strict=True):
        if column in metrics:
            sign = -1 if column == "train/entropy_loss" else 1
            axis.plot(metrics["step"] / 1e6, sign * metrics[column])
        axis.set_xlabel("decisions of the learner (millions)")
        axis.set_title(label)
        axis.grid(alpha=0.3)
    figure.suptitle(f"{game.title}, {game.num_players} players: MaskablePPO by self-play")
    write_atomically(path, lambda temporary: figure.savefig(temporary, dpi=120))
    plt.close(figure)


def _falling(start: float) -> Any:
    """A learning rate that falls linearly to a tenth of ``start``."""

    def rate(progress_remaining: float) -> float:
        return start * (0.1 + 0.9 * progress_remaining)

    return rate


if __name__ == "__main__":
    main()
