"""Distil a search agent into a network: what it thinks of every action, learned from many cheap searches.

    python -m experiments.distill <game> --num-players 4 --teacher mc:8

Games are played by the network and by scripted opponents; in every position that comes up the teacher (flat Monte
Carlo) estimates each legal action, and the network learns to predict those estimates (DAgger, Ross et al. 2011, with
values in place of labels). The noise of one estimate is large, but the network averages over positions, so few worlds
each are enough. ``runs/<name>/model.zip`` plays as ``ppo:PATH``, and ``experiments.train --start`` goes on from it. Its
value network is not trained, and not in the file.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from rich.progress import Progress

from agents.ppo import TorchPolicy, save_model
from experiments import train
from llama_envs.adapters.sb3 import SB3VecEnv
from llama_envs.cli.command import game_of, parse, run_or_exit
from llama_envs.cli.run_folder import default_name, open_run, whole_truth
from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.files import write_atomically
from llama_envs.core.game import Game
from llama_envs.core.validation import check_int
from llama_envs.policies import Policy, make_policy, make_view
from llama_envs.policies.search import MonteCarloPolicy

UNIT = 5.0  # points of the game for which the network learns 1


@dataclasses.dataclass(frozen=True)
class Options:
    """Distil a search agent into a network."""

    name: str = ""
    """Folder under runs/; by default game, players, seed and the time."""
    seed: int = 0
    """Seed of everything that is drawn."""
    positions: int = 8_000_000
    """Positions that the teacher looks at."""
    teacher: str = "mc:8"
    """Whose values are learned: mc:W[:ROLLOUT]."""
    opponents: str = "auto"
    """Who plays the other seats in half of the games, "auto" being the game's heuristic, or "random" without one; in
    the rest the network does."""
    explore: float = 0.05
    """Share of random moves."""
    scale: float = 1.0
    """Points that make a difference of 1 between two logits."""

    num_envs: int = 1024
    """Games played at once."""
    rollout: int = 16
    """Positions from each game between updates."""
    updates: int = 12
    """Minibatches after them."""
    batch_size: int = 4096
    """Minibatch."""
    memory: int = 2_000_000
    """Latest positions to learn from."""
    layers: tuple[int, ...] = (256, 256)
    """Hidden layers of the policy and of the value network."""
    learning_rate: float = 1e-3
    """Adam step size at the beginning; it falls linearly to a twentieth."""
    threads: int = 2
    """PyTorch threads."""
    deals: int = 1000
    """Deals of the evaluation at the end; 0 skips it."""

    def __post_init__(self) -> None:
        for field, most in (
            ("positions", 10**12), ("num_envs", 2**20), ("rollout", 2**20), ("updates", 10**6), ("batch_size", 2**24),
            ("memory", 2**28), ("threads", 1024),
        ):  # fmt: skip
            check_int(field, getattr(self, field), 1, most)
        check_int("seed", self.seed, 0, 2**32 - 1)
        check_int("deals", self.deals, 0, 10_000_000)
        if not 0 <= self.explore <= 1:
            raise ValueError(f"explore must be a share from 0 to 1, got {self.explore}.")
        if not 0 < self.learning_rate <= 1:
            raise ValueError(f"learning_rate must lie above 0 and at most at 1, got {self.learning_rate}.")
        if not 0 < self.scale < float("inf"):
            raise ValueError(f"scale must be above 0, got {self.scale}.")
        train.check_layers(self.layers)


class Memory:
    """The latest positions: observation, legal actions, and what the teacher thinks of them against their mean."""

    def __init__(self, game: Game, size: int) -> None:
        self.observation = np.zeros((size, game.observation.size), np.float32)
        self.mask = np.zeros((size, game.num_actions), np.bool_)
        self.value = np.zeros((size, game.num_actions), np.float32)
        self.seen = 0

    def add(
        self, observation: npt.NDArray[np.float32], mask: npt.NDArray[np.bool_], value: npt.NDArray[np.float64]
    ) -> None:
        """Positions (n, D), (n, A), and values (n, A) in units; they replace the oldest."""
        rows = np.arange(self.seen, self.seen + len(mask)) % len(self.mask)
        mean = np.where(mask, value, 0).sum(axis=1, keepdims=True) / mask.sum(axis=1, keepdims=True)
        self.observation[rows], self.mask[rows] = observation, mask
        self.value[rows] = np.where(mask, value - mean, 0)
        self.seen += len(mask)

    def sample(self, rng: np.random.Generator, n: int) -> list[torch.Tensor]:
        """A minibatch: observation, mask, value."""
        rows = rng.integers(0, min(self.seen, len(self.mask)), n)
        return [torch.from_numpy(piece[rows]) for piece in (self.observation, self.mask, self.value)]


class Lesson:
    """Games in which network, opponents and chance find positions, and the teacher's values of them."""

    def __init__(self, game: Game, options: Options, student: Policy) -> None:
        teacher = make_policy(options.teacher, game)
        if not isinstance(teacher, MonteCarloPolicy):
            raise ValueError(f"teacher must be mc:W or mc:W:ROLLOUT, got {options.teacher!r}.")
        rule = "heuristic" if game.spec.heuristic is not None else "random"
        opponents = make_policy(rule if options.opponents == "auto" else options.opponents, game)
        self.teacher, self.student, self.opponents = teacher, student, opponents
        self.options = options
        self.batch = Batch(game, options.num_envs, options.seed, autoreset=True)
        self.batch.reset()
        self.streams = [policy_streams(options.num_envs, options.seed, lane) for lane in range(2)]
        self.rng = np.random.default_rng(options.seed)

    def play(self, memory: Memory) -> None:
        """One move in every game."""
        batch, options = self.batch, self.options
        rows, seats = np.arange(options.num_envs), batch.to_move.astype(np.int64)
        view = make_view(batch, rows, seats, self.streams[0], self.teacher)
        values = self.teacher.values(view)
        memory.add(view.observation, view.mask, values / UNIT)
        actions = self.student.act(view)
        self.streams[0] = view.streams
        theirs = make_view(batch, rows, seats, self.streams[1], self.opponents)
        scripted = self.opponents.act(theirs)
        self.streams[1] = theirs.streams
        own_seat = (batch.episode.astype(np.int64) + rows // 2) % batch.game.num_players
        actions = np.where((rows % 2 == 0) & (seats != own_seat), scripted, actions)
        surprise = self.rng.random(options.num_envs) < options.explore
        batch.step(np.where(surprise, batch.sample_actions(self.streams[0]), actions))


def distil(game: Game, options: Options, folder: Path) -> None:
    """Play, learn, and write the model, its metrics and its evaluation."""
    torch.set_num_threads(options.threads)
    settings = train.Options(seed=options.seed, layers=options.layers)
    model = train.new_model(game, SB3VecEnv(game, 1), settings)
    network = torch.nn.Sequential(
        model.policy.features_extractor, model.policy.mlp_extractor.policy_net, model.policy.action_net
    )
    lesson = Lesson(game, options, TorchPolicy(network))
    memory = Memory(game, options.memory)
    rng = np.random.default_rng(options.seed)
    optimizer = torch.optim.Adam(network.parameters(), options.learning_rate)
    rows: list[dict[str, Any]] = []
    started = time.perf_counter()
    with Progress(transient=True) as progress:
        task = progress.add_task("distilling", total=options.positions)
        while memory.seen < options.positions:
            for group in optimizer.param_groups:
                group["lr"] = options.learning_rate * (1 - 0.95 * memory.seen / options.positions)
            for _ in range(options.rollout):
                lesson.play(memory)
            losses = [
                learn(network, optimizer, *memory.sample(rng, options.batch_size)) for _ in range(options.updates)
            ]
            if not np.isfinite(losses).all():
                raise ValueError(
                    f"distilling failed: after {memory.seen:,} positions the loss is not finite; try a lower "
                    f"learning_rate."
                )
            rows.append({"step": memory.seen, "loss": np.mean(losses), "seconds": time.perf_counter() - started})
            progress.update(task, completed=memory.seen)
    with torch.no_grad():
        for parameter in model.policy.action_net.parameters():
            parameter *= UNIT / options.scale
    frame = pd.DataFrame(rows)
    write_atomically(folder / "metrics.csv", lambda path: frame.to_csv(path, index=False))
    model.num_timesteps = memory.seen
    write_atomically(folder / "model.zip", lambda path: save_model(model, game, path, trained=("policy",)))
    if options.deals:
        train.report(game, folder / "model.zip", options.deals, options.seed, folder / "evaluation.csv")


def learn(
    network: Any, optimizer: torch.optim.Optimizer, observation: torch.Tensor, mask: torch.Tensor, value: torch.Tensor
) -> float:
    """One step towards the least squared error over legal actions, each row against its own mean; returns it."""
    logits = torch.where(mask, network(observation), 0.0)
    centred = torch.where(mask, logits - logits.sum(1, keepdim=True) / mask.sum(1, keepdim=True), 0.0)
    loss = ((centred - value) ** 2).sum() / mask.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    call = parse(Options, __doc__.partition("\n")[0], argv)
    options: Options = call.options
    game = run_or_exit(lambda: game_of(call))
    name = options.name or default_name(game.name, f"{game.num_players}p", "distilled", f"s{options.seed}")
    run_or_exit(lambda: Lesson(game, options, make_policy("random", game)))  # before anything is written
    config = run_or_exit(lambda: whole_truth(game, dataclasses.asdict(options), (options.teacher, options.opponents)))
    folder = run_or_exit(lambda: open_run(name, config, resume=False))
    run_or_exit(lambda: distil(game, options, folder), f"nothing was kept in {folder}")
    print(f"model: {folder / 'model.zip'}")


if __name__ == "__main__":
    main()
