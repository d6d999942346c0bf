"""The options of learners by PPO, under the names of Stable-Baselines3, and what they must be."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

from llama_envs.cli.spread import Spread
from llama_envs.core.chance import check_seed
from llama_envs.core.validation import check_choice, check_int

RENAMED = {
    "steps": "total-timesteps", "rollout": "n-steps", "epochs": "n-epochs", "entropy": "ent-coef",
    "clip": "clip-range", "hold": "critic-warmup", "start": "init-from", "minibatch": "batch-size",
}  # fmt: skip
WIDEST, MOST_WEIGHTS = 2**16, 10**8
MOST_DECISIONS = 2**24  # of one rollout, which is held in memory
DEVICES = ("cpu", "cuda", "mps", "auto")


@dataclasses.dataclass(frozen=True)
class PPOOptions:
    """What every learner by PPO is told, with Stable-Baselines3 or RLlib."""

    name: str = ""
    """Folder under runs/; by default game, players, seed and the time."""
    seed: int = 0
    """Seed of everything that is drawn."""
    total_timesteps: int = 5_000_000
    """Decisions of the learner to train on, rounded up to whole rollouts."""
    resume: bool = False
    """Go on with the run --name from its last checkpoint; give the options it was started with, total_timesteps and
    deals may be more."""
    checkpoint_every: int = 10
    """Rollouts between checkpoints."""
    num_envs: int = 1024
    """Games stepped at once."""
    batch_size: int = 4096
    """Minibatch."""
    n_epochs: int = 2
    """Passes over a rollout."""
    layers: tuple[int, ...] = (128, 128)
    """Hidden layers of the policy and of the value network."""
    learning_rate: float = 1e-3
    """Adam step size at the beginning."""
    gamma: float = 1.0
    """Discount; 1 because games end."""
    gae_lambda: float = 0.95
    """Generalised advantage estimation."""
    ent_coef: float = 0.01
    """Weight of the entropy bonus."""
    clip_range: float = 0.2
    """PPO clip range."""
    deals: int = 1000
    """Deals of the evaluation at the end; 0 skips it."""

    unimportant: ClassVar[tuple[str, ...]] = ("name", "resume", "checkpoint_every")  # options that change no result

    def __post_init__(self) -> None:
        for field, most in (
            ("total_timesteps", 10**12), ("checkpoint_every", 10**6), ("num_envs", 2**20), ("batch_size", 2**24),
            ("n_epochs", 1000),
        ):  # fmt: skip
            check_int(field, getattr(self, field), 1, most)
        check_seed(self.seed)
        check_int("deals", self.deals, 0, 10_000_000)
        self.check_weight("ent_coef")
        for field in ("gamma", "gae_lambda", "learning_rate", "clip_range"):
            check_share(field, getattr(self, field))
        check_layers(self.layers)

    def check_weight(self, field: str) -> None:
        """ValueError unless an option is a finite number from 0."""
        if not 0 <= getattr(self, field) < float("inf"):
            raise ValueError(f"{field} must be 0 or more, got {getattr(self, field)}.")

    def important(self) -> dict[str, Any]:
        """The options that decide a result."""
        return {key: value for key, value in dataclasses.asdict(self).items() if key not in self.unimportant}


@dataclasses.dataclass(frozen=True)
class LearnerOptions(PPOOptions):
    """What every MaskablePPO of Stable-Baselines3 is told."""

    n_steps: int = 32
    """Decisions per game and rollout."""
    init_from: str = ""
    """A policy file to start from, such as model.zip of another run (it must have the same layers); empty: random
    weights."""
    critic_warmup: int = 0
    """Rollouts at the beginning in which only the value network learns: that of a file may be of no use."""
    device: str = "cpu"
    """Where the networks learn: cpu, cuda, mps, or auto, the first of cuda, mps and cpu that is there. Small networks
    learn fastest on the cpu."""
    threads: int = 1
    """PyTorch threads. More are a little faster on a machine that does nothing else, and ten times slower on one that
    does."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("n_steps", self.n_steps, 1, 2**20)
        check_int("critic_warmup", self.critic_warmup, 0, 10**6)
        check_choice("device", self.device, DEVICES)
        check_threads(self.threads)
        rollout = self.num_envs * self.n_steps
        if rollout > MOST_DECISIONS:
            raise ValueError(f"num_envs × n_steps must be at most {MOST_DECISIONS:,} decisions, got {rollout:,}.")


@dataclasses.dataclass(frozen=True)
class Options(LearnerOptions, Spread):
    """Train a MaskablePPO agent by self-play and evaluate it."""

    seats: str = "auto"
    """"one": the learner holds one seat in each game; "all": it plays every seat, in a game where all decide at once;
    "auto": every seat where that is possible. With every seat num_envs counts seats, rounded down to whole games."""
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
    evaluate_every: int = 10
    """Rollouts between evaluations of the policy against random play and the heuristic, alone among them, on deals that
    stay the same; 0: never. The best one is best_model.zip."""
    evaluate_deals: int = 200
    """Deals of such an evaluation."""
    seeds: int = 1
    """Independent runs, each of a seed derived from seed and in a folder of its own, and one learning curve of all."""
    workers: int = 0
    """Processes that train them side by side; 0 is one for each core. The results do not depend on it."""
    ray: bool = False
    """Ray tasks train them instead, with the same results."""
    address: str = ""
    """With --ray, the address of a cluster ("auto", host:port), each node of which has llama-envs[ray,train] and sees
    this folder under the same path, since every task writes into the run; empty: this machine."""

    unimportant: ClassVar[tuple[str, ...]] = (*PPOOptions.unimportant, "workers", "ray", "address")

    def __post_init__(self) -> None:
        LearnerOptions.__post_init__(self)
        Spread.__post_init__(self)
        check_choice("seats", self.seats, ("auto", "one", "all"))
        check_int("snapshots", self.snapshots, 1, 64)
        check_int("snapshot_every", self.snapshot_every, 1, 10**6)
        check_int("evaluate_every", self.evaluate_every, 0, 10**6)
        check_int("evaluate_deals", self.evaluate_deals, 1, 10_000_000)
        check_int("seeds", self.seeds, 1, 1000)
        if self.ray and (self.seeds == 1 or self.device != "cpu"):
            raise ValueError(
                f"ray must come with 2 seeds or more and device cpu, a core each, got {self.seeds} and {self.device}."
            )
        for field in ("self_weight", "snapshot_weight", "scripted_weight"):
            self.check_weight(field)
        if self.self_weight + self.snapshot_weight + self.scripted_weight * bool(self.scripted) <= 0:
            raise ValueError("one of self_weight, snapshot_weight and scripted_weight must be above 0.")


def check_share(field: str, value: float) -> None:
    """ValueError unless ``value`` lies above 0 and at most at 1."""
    if not 0 < value <= 1:
        raise ValueError(f"{field} must lie above 0 and at most at 1, got {value}.")


def check_threads(threads: int) -> None:
    """ValueError unless there are so many cores."""
    check_int("threads", threads, 1, os.cpu_count() or 1, ", one for each core at most")


def check_layers(layers: Sequence[int]) -> None:
    """ValueError unless there are some, all of a possible width, and not too many weights between them."""
    if not layers:
        raise ValueError("layers must be one or more widths, got none.")
    for width in layers:
        check_int("layers", width, 1, WIDEST)
    weights = sum(one * other for one, other in pairwise(layers))
    if weights > MOST_WEIGHTS:
        raise ValueError(f"layers must have at most {MOST_WEIGHTS:,} weights between them, got {weights:,}.")
