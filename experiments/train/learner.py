"""MaskablePPO in its environment: how it begins, what happens between its rollouts, and how it goes on after a stop."""

from __future__ import annotations

import copy
import dataclasses
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

from agents.ppo import load_weights
from agents.standardise import Standardise, moments
from experiments.lib.seeds import Purpose, run_seed, run_seeds, small_seed
from experiments.train.checkpoint import Checkpoint
from experiments.train.opponents import OpponentPool, scripted_opponents
from experiments.train.options import Options
from experiments.train.rivals import check_ends
from experiments.train.watch import MetricsFile, ProgressLines, TensorBoardLog, Watch, progress_bar
from llama_envs.adapters.sb3 import SB3VecEnv
from llama_envs.cli.run_folder import whole_truth
from llama_envs.core.batch import Batch
from llama_envs.core.game import Game
from llama_envs.core.validation import check_int
from llama_envs.evaluation.workers import in_thread
from llama_envs.policies import Players, PolicyError, make_policy
from llama_envs.policies.view import kernel_of

SAMPLED_GAMES, SAMPLED_STEPS = 512, 100  # from which the observation is standardised
LOSSES = ("train/loss", "train/policy_gradient_loss", "train/value_loss")
LAST_RATE = 0.1  # of the learning rate at the end, in parts of that at the beginning


def seats_of(game: Game, options: Options) -> str:
    """ "one" or "all"."""
    if options.seats == "auto":
        return "all" if game.simultaneous else "one"
    return options.seats


def num_envs_of(game: Game, options: Options) -> int:
    """Environments that are stepped at once: whole games where every seat is played."""
    return options.num_envs - (options.num_envs % game.num_players if seats_of(game, options) == "all" else 0)


def decisions_of(game: Game, options: Options) -> tuple[int, int]:
    """How many decisions a run trains on, and how many each of its rollouts has."""
    rollout = num_envs_of(game, options) * options.n_steps
    return -(-options.total_timesteps // rollout) * rollout, rollout


def device_of(name: str) -> str:
    """The device behind the option ``device``.

    Raises:
        ValueError: it is not here.
    """
    here = ["cpu"]
    if torch.backends.mps.is_available():
        here.insert(0, "mps")
    if torch.cuda.is_available():
        here.insert(0, "cuda")
    if name not in (*here, "auto"):
        raise ValueError(f"device must be one of those here, {', '.join(here)}, or auto, got {name}.")
    return here[0] if name == "auto" else name


def config_of(game: Game, options: Options) -> dict[str, Any]:
    """What decides the results of a run, the contents of files included."""
    start = (f"ppo:{options.init_from}",) if options.init_from else ()
    kept = {**options.important(), "device": device_of(options.device)}
    return whole_truth(game, kept, (*scripted_opponents(game, options), *start))


def check(game: Game, options: Options) -> None:
    """ValueError if the options do not fit the game, the file to start from, each other, or this machine."""
    device_of(options.device)
    OpponentPool(game, options)
    env = SB3VecEnv(game, game.num_players, "random", seats_of(game, options))
    if seats_of(game, options) == "all":
        check_int("num_envs", options.num_envs, game.num_players, 2**20, " with every seat played")
    _, rollout = decisions_of(game, options)
    if options.batch_size == 1 or rollout % options.batch_size == 1:
        raise ValueError(
            f"num_envs × n_steps = {rollout:,} decisions in minibatches of batch_size = {options.batch_size:,} "
            f"leave one with a single decision, whose advantage cannot be normalised; change num_envs, n_steps or "
            f"batch_size."
        )
    if options.deals or options.evaluate_every:
        check_ends(game)
    if options.init_from:
        new_model(game, env, dataclasses.replace(options, num_envs=game.num_players, n_steps=2))


def new_model(game: Game, env: VecEnv, options: Options) -> MaskablePPO:
    """A learner at its beginning: random weights, or those of ``options.init_from``.

    Raises:
        ValueError: that file is damaged, or was made for other rules or other layers.
    """
    model = MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=_falling(options.learning_rate),
        n_steps=options.n_steps,
        batch_size=options.batch_size,
        n_epochs=options.n_epochs,
        gamma=options.gamma,
        gae_lambda=options.gae_lambda,
        ent_coef=options.ent_coef,
        clip_range=options.clip_range,
        policy_kwargs={
            "net_arch": {"pi": list(options.layers), "vf": list(options.layers)},
            "features_extractor_class": Standardise,
            "features_extractor_kwargs": moments(sample_observations(game, options)),
        },
        stats_window_size=10_000,
        seed=small_seed(options.seed),
        device=device_of(options.device),
    )
    if options.init_from:
        load_weights(model, game, Path(options.init_from))
    return model


def sample_observations(game: Game, options: Options) -> npt.NDArray[np.float32]:
    """What the seat to move sees where seats play at random or, as often, by rules of thumb: (n, D) float32."""
    players = [make_policy(name, game) for name in ("random", *scripted_opponents(game, options))]
    players = [policy for policy in players if kernel_of(policy) is not None]  # the quick ones
    seeds = run_seeds(options.seed, Purpose.STANDARDISING, SAMPLED_GAMES)
    batch = Batch(game, SAMPLED_GAMES, seeds, autoreset=True)
    batch.reset()
    seats = np.arange(SAMPLED_GAMES)[:, None] + np.arange(game.num_players)
    table = Players(batch, players, seats % len(players), seeds)
    actions = np.zeros(SAMPLED_GAMES, np.int64)
    seen = []
    for _ in range(SAMPLED_STEPS):
        seen.append(batch.observation.copy())
        table.act(actions)
        batch.step(actions)
    return np.concatenate(seen)


class SelfPlay(BaseCallback):
    """Between an update and the next rollout: check the model, renew the opponents, evaluate, log, keep the state.

    What was kept at the beginning of the running rollout is what ``checkpoint`` writes, every few rollouts and when
    training is stopped. Stops with a ValueError at the first loss or weight that is not finite.

    Attributes:
        pool: the opponents.
        env: the environment, without its monitor.
        rollouts: how many have begun.
    """

    def __init__(self, game: Game, options: Options, folder: Path) -> None:
        super().__init__()
        self.options, self.folder = options, folder
        self.pool = OpponentPool(game, options)
        self.env = SB3VecEnv(
            game, num_envs_of(game, options), self.pool.weights or "random", seats_of(game, options), seed=0
        )
        self.monitor = VecMonitor(self.env)
        self.checkpoint = Checkpoint(folder / "checkpoint.pkl")
        self.watch = Watch(
            game, options.evaluate_deals, run_seed(options.seed, Purpose.WATCHING), folder / "best_model.zip"
        )
        self.metrics_file: MetricsFile
        self.rollouts = 0
        self._done = -1  # decisions after which all this was done

    def _on_training_start(self) -> None:
        torch.set_num_threads(self.options.threads)  # of the thread that trains

    def _on_rollout_start(self) -> None:
        self.between_rollouts()
        policy: Any = self.model.policy
        for part in (policy.mlp_extractor.policy_net, policy.action_net):
            part.requires_grad_(self.rollouts >= self.options.critic_warmup)
        self.rollouts += 1

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        self.between_rollouts(last=True)

    def between_rollouts(self, last: bool = False) -> None:
        """All that is done there, once."""
        check_finite(self.model)
        if self._done == self.model.num_timesteps:  # a checkpoint was read
            return
        self._done = self.model.num_timesteps
        options = self.options
        self.pool.refresh(self.model)
        if self.rollouts > 0 and self.rollouts % options.snapshot_every == 0:
            self.pool.remember(self.model)
        due = options.evaluate_every > 0 and (last or self.rollouts % options.evaluate_every == 0)
        for name, value in self.watch.look(self.model).items() if due else ():
            self.model.logger.record(name, value)
        if due or self.rollouts > 0:
            self.model.dump_logs(self.rollouts)  # type: ignore[call-arg]  # of an algorithm on policy
        self.checkpoint.keep(self.state(), write=last or self.rollouts % options.checkpoint_every == 0)

    def state(self) -> dict[str, Any]:
        """All that is needed to go on exactly from here, nothing of it to change any more."""
        model = self.model
        assert model.ep_info_buffer is not None
        return {
            "policy": {name: value.detach().cpu().clone() for name, value in model.policy.state_dict().items()},
            "optimizer": copy.deepcopy(model.policy.optimizer.state_dict()),
            "rollouts": self.rollouts,
            "steps": model.num_timesteps,
            "updates": model._n_updates,
            "pool": self.pool.state(),
            "best": self.watch.best,
            "rows": self.metrics_file.rows,
            "env": self.env.get_state(),
            "monitor": (self.monitor.episode_returns.copy(), self.monitor.episode_lengths.copy()),
            "seen": (copy.copy(model._last_obs), copy.copy(model._last_episode_starts)),
            "episodes": copy.copy(model.ep_info_buffer),
            "torch": random_states(self.options.device),
            "numpy": np.random.get_state(),
        }

    def restore(self, model: MaskablePPO, state: dict[str, Any]) -> None:
        """Go back to a :meth:`state`, with a new ``model`` of the same options."""
        model.policy.load_state_dict(state["policy"])
        model.policy.optimizer.load_state_dict(state["optimizer"])
        self.monitor.reset()
        self.env.set_state(state["env"])
        self.pool.restore(state["pool"])
        self.watch.best = state["best"]
        self.rollouts, self._done = state["rollouts"], state["steps"]
        self.monitor.episode_returns[:], self.monitor.episode_lengths[:] = state["monitor"]
        model._last_obs, model._last_episode_starts = state["seen"]
        model.ep_info_buffer, model.ep_success_buffer = state["episodes"], deque()  # nothing here is a success
        model._n_updates = state["updates"]
        model.num_timesteps = state["steps"]
        set_random_states(state["torch"])
        np.random.set_state(state["numpy"])


def random_states(device: str) -> dict[str, torch.Tensor]:
    """Of torch's generators that a learner draws from."""
    device = device_of(device)
    others = {"cuda": torch.cuda.get_rng_state, "mps": torch.mps.get_rng_state}
    return {"cpu": torch.get_rng_state(), **({device: others[device]()} if device in others else {})}


def set_random_states(states: dict[str, torch.Tensor]) -> None:
    """Undo :func:`random_states`."""
    setters = {"cpu": torch.set_rng_state, "cuda": torch.cuda.set_rng_state, "mps": torch.mps.set_rng_state}
    for device, state in states.items():
        setters[device](state)


def build(
    game: Game, options: Options, folder: Path, lines: bool = False, label: str = ""
) -> tuple[MaskablePPO, SelfPlay]:
    """The learner in its environment, new or as the checkpoint left it.

    Args:
        game: what it learns.
        options: of its run; with ``resume`` the checkpoint in ``folder`` is read if there is one.
        folder: for metrics, TensorBoard, checkpoint and best model.
        lines: print progress.
        label: before every such line.

    Raises:
        ValueError: the checkpoint is damaged.
    """
    torch.set_num_threads(options.threads)
    self_play = SelfPlay(game, options, folder)
    state = self_play.checkpoint.read() if options.resume else None
    model = new_model(game, self_play.monitor, options)
    self_play.env.seed(run_seeds(options.seed, Purpose.TRAINING, self_play.env.games.num_games))  # not SB3's s + i
    if state is None:
        self_play.pool.refresh(model)
        self_play.pool.remember(model)
    else:
        self_play.restore(model, state)
    step, rows = (state["steps"], state["rows"]) if state is not None else (0, 0)
    self_play.metrics_file = MetricsFile(folder / "metrics.csv", rows)
    outputs = [self_play.metrics_file, TensorBoardLog(folder / "tensorboard", step if rows else -1)]
    if lines:
        outputs.append(ProgressLines(decisions_of(game, options)[0], label))
    model.set_logger(Logger(str(folder), outputs))
    return model, self_play


def learn(model: MaskablePPO, steps: int, self_play: SelfPlay, *others: BaseCallback, quiet: bool = False) -> None:
    """Go on until ``model`` has trained on ``steps`` decisions; an interrupt keeps all but the running rollout.

    Args:
        model: with its ``self_play``, as :func:`build` gave them.
        steps: in all, those before included.
        self_play: what happens between rollouts.
        others: further callbacks.
        quiet: show no progress bar.

    Raises:
        ValueError: an opponent failed, or a loss or weight is no longer finite.
    """
    remaining = steps - model.num_timesteps
    if remaining <= 0:
        return
    with progress_bar(steps, not quiet) as bar:

        def job(callbacks: list[BaseCallback]) -> None:
            model.learn(remaining, CallbackList(callbacks), log_interval=None, reset_num_timesteps=False)

        try:
            list(in_thread(job, [[self_play, *others, bar]]))
        except PolicyError as error:
            raise ValueError(f"{error}.") from error
        except ValueError:
            check_finite(model)  # torch refuses NaN as well, in many lines
            raise
        except KeyboardInterrupt:
            self_play.checkpoint.close()
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


def _falling(start: float) -> Any:
    """A learning rate that falls linearly to a part of ``start``."""

    def rate(progress_remaining: float) -> float:
        return start * (LAST_RATE + (1 - LAST_RATE) * progress_remaining)

    return rate
