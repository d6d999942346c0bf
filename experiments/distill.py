"""Distil a search agent into a network: what it thinks of every action, learned from many cheap searches.

    python -m experiments.distill <game> --num-players 4 --teacher mc:8

Games are played by the network and by scripted opponents; in every position that comes up the teacher (flat Monte
Carlo) estimates each legal action, and the network learns to predict those estimates (DAgger, Ross et al. 2011, with
values in place of labels). The noise of one estimate is large, but the network averages over positions, so few worlds
each are enough. ``runs/<name>/model.zip`` plays as ``ppo:PATH``, and ``experiments.train --init-from`` goes on from it.
Its value network is not trained, and not in the file. Until it is written the positions are files of the run, so that
``--resume`` goes on exactly.

The teacher looks at the positions of a step in parts: threads of this machine do, in which kernels run side by side
(processes would take longer to be told than to think), or Ray tasks.
"""

from __future__ import annotations

import copy
import dataclasses
import os
import shutil
import time
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import rich
import torch
from rich.progress import Progress

from agents.ppo import TorchPolicy, save_model
from experiments.lib.seeds import Purpose, run_seed
from experiments.train.checkpoint import Checkpoint
from experiments.train.learner import new_model
from experiments.train.options import Options as TrainingOptions
from experiments.train.options import check_layers, check_share, check_threads
from experiments.train.rivals import check_ends, report
from experiments.train.watch import LINE_SECONDS, MetricsFile
from llama_envs.adapters.sb3 import SB3VecEnv
from llama_envs.cli.command import game_of, parse, run_or_exit
from llama_envs.cli.run_folder import RUNS, default_name, open_run, whole_truth
from llama_envs.cli.spread import Spread
from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.chance import check_seed
from llama_envs.core.files import naming, write_atomically
from llama_envs.core.game import Game
from llama_envs.core.validation import check_int
from llama_envs.evaluation.workers import Map, in_thread
from llama_envs.policies import Policy, View, make_policy, make_view
from llama_envs.policies.search import MonteCarloPolicy

UNIT = 5.0  # points of the game for which the network learns 1
CHECKPOINT_EVERY = 10  # rounds
PARTS = 16  # that a step's positions are looked at in, whoever does it


@dataclasses.dataclass(frozen=True)
class Options(Spread):
    """Distil a search agent into a network."""

    name: str = ""
    """Folder under runs/; by default game, players, seed and the time."""
    seed: int = 0
    """Seed of everything that is drawn."""
    resume: bool = False
    """Go on with the run --name from its last checkpoint; give the options it was started with, deals may be more."""
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
    n_steps: int = 16
    """Positions from each game between updates."""
    updates: int = 12
    """Minibatches after them."""
    batch_size: int = 4096
    """Minibatch."""
    memory: int = 2_000_000
    """Latest positions to learn from; about 1 kB each, in the run's folder until the model is written."""
    layers: tuple[int, ...] = (256, 256)
    """Hidden layers of the policy and of the value network."""
    learning_rate: float = 1e-3
    """Adam step size at the beginning; it falls linearly to a twentieth."""
    threads: int = 1
    """PyTorch threads."""
    deals: int = 1000
    """Deals of the evaluation at the end; 0 skips it."""

    workers: int = 0
    """Threads in which the teacher thinks; 0 is one for each core. The results do not depend on it."""

    unimportant: ClassVar[tuple[str, ...]] = ("name", "resume", "workers", "ray", "address")  # that change no result

    def __post_init__(self) -> None:
        super().__post_init__()
        for field, most in (
            ("positions", 10**12), ("num_envs", 2**20), ("n_steps", 2**20), ("updates", 10**6), ("batch_size", 2**24),
            ("memory", 2**28),
        ):  # fmt: skip
            check_int(field, getattr(self, field), 1, most)
        check_seed(self.seed)
        check_int("deals", self.deals, 0, 10_000_000)
        if not 0 <= self.explore <= 1:
            raise ValueError(f"explore must be a share from 0 to 1, got {self.explore}.")
        check_threads(self.threads)
        check_share("learning_rate", self.learning_rate)
        if not 0 < self.scale < float("inf"):
            raise ValueError(f"scale must be above 0, got {self.scale}.")
        check_layers(self.layers)


class Memory:
    """The latest positions: observation, legal actions, and what the teacher thinks of them against their mean.

    They are files, so that a stopped run has them, whatever their size and however it was stopped.

    Args:
        game: whose positions.
        size: how many.
        folder: of the files; those of a stopped run are gone on with.
    """

    def __init__(self, game: Game, size: int, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.observation = _array(folder / "observation", (size, game.observation.size), np.float32)
        self.mask = _array(folder / "mask", (size, game.num_actions), np.bool_)
        self.value = _array(folder / "value", (size, game.num_actions), np.float32)
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


def _array(path: Path, shape: tuple[int, int], kind: type[Any]) -> npt.NDArray[Any]:
    """An array in a file; OSError now, not in the middle of the run, if the disk is too full for it."""
    size = shape[0] * shape[1] * np.dtype(kind).itemsize
    with naming(path), path.open("a+b") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
    return np.memmap(path, kind, "r+", shape=shape)


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
        bounds = np.linspace(0, options.num_envs, min(PARTS, options.num_envs) + 1, dtype=np.int64)
        self.parts = [slice(*ends) for ends in pairwise(bounds)]
        seed = run_seed(options.seed, Purpose.LESSON)
        self.batch = Batch(game, options.num_envs, seed, autoreset=True)
        self.batch.reset()
        self.streams = [policy_streams(options.num_envs, seed, lane) for lane in range(2)]
        self.rng = np.random.default_rng(seed)

    def state(self) -> dict[str, Any]:
        """All that :meth:`restore` needs to go on exactly from here."""
        return copy.deepcopy({"batch": self.batch, "streams": self.streams, "rng": self.rng})

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to a :meth:`state`."""
        self.batch, self.streams, self.rng = (copy.deepcopy(state)[name] for name in ("batch", "streams", "rng"))

    def play(self, memory: Memory, spread: Map = map) -> None:
        """One move in every game; ``spread`` maps the teacher over parts of the positions."""
        batch, options = self.batch, self.options
        rows, seats = np.arange(options.num_envs), batch.to_move.astype(np.int64)
        view = make_view(batch, rows, seats, self.streams[0], self.teacher)
        found = spread(partial(values_of, self.teacher), [view.part(part) for part in self.parts])
        values, view.streams = (np.concatenate(pieces) for pieces in zip(*found, strict=True))
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


def values_of(teacher: MonteCarloPolicy, view: View) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint64]]:
    """What the teacher thinks of every action (n, A), and its random streams (n,) after that."""
    return teacher.values(view), view.streams


class Distillation:
    """A network that learns from a lesson, and all that is needed to go on with it after a stop."""

    def __init__(self, game: Game, options: Options, folder: Path, spread: Map) -> None:
        self.game, self.options, self.folder, self.spread = game, options, folder, spread
        settings = TrainingOptions(seed=options.seed, layers=options.layers)
        self.model = new_model(game, SB3VecEnv(game, 1), settings)
        policy = self.model.policy
        self.network = torch.nn.Sequential(
            policy.features_extractor, policy.mlp_extractor.policy_net, policy.action_net
        )
        self.optimizer = torch.optim.Adam(self.network.parameters(), options.learning_rate)
        self.lesson = Lesson(game, options, TorchPolicy(self.network))
        self.memory = Memory(game, min(options.memory, most_positions(options)), folder / "positions")
        self.rng = np.random.default_rng(run_seed(options.seed, Purpose.MINIBATCHES))
        self.checkpoint = Checkpoint(folder / "checkpoint.pkl")
        self.updates = 0
        state = self.checkpoint.read() if options.resume else None
        self.metrics = MetricsFile(folder / "metrics.csv", state["rows"] if state else 0)
        if state:
            self.network.load_state_dict(state["network"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.lesson.restore(state["lesson"])
            self.rng, self.memory.seen, self.updates = copy.deepcopy(state["rng"]), state["seen"], state["updates"]

    def state(self) -> dict[str, Any]:
        """All that is needed to go on exactly from here, but for the positions."""
        return {
            "network": copy.deepcopy(self.network.state_dict()),
            "optimizer": copy.deepcopy(self.optimizer.state_dict()),
            "lesson": self.lesson.state(),
            "rng": copy.deepcopy(self.rng),
            "seen": self.memory.seen,
            "updates": self.updates,
            "rows": self.metrics.rows,
        }

    def run(self, progress: Progress) -> None:
        """Play and learn until the teacher has looked at all positions."""
        options, memory = self.options, self.memory
        torch.set_num_threads(options.threads)
        task = progress.add_task("distilling", total=options.positions)
        started = said = time.perf_counter()
        before = memory.seen
        while memory.seen < options.positions:
            self.checkpoint.keep(self.state(), write=self.updates % CHECKPOINT_EVERY == 0)
            for group in self.optimizer.param_groups:
                group["lr"] = options.learning_rate * (1 - 0.95 * memory.seen / options.positions)
            for _ in range(options.n_steps):
                self.lesson.play(memory, self.spread)
            losses = [
                learn(self.network, self.optimizer, *memory.sample(self.rng, options.batch_size))
                for _ in range(options.updates)
            ]
            if not np.isfinite(losses).all():
                raise ValueError(
                    f"distilling failed: after {memory.seen:,} positions the loss is not finite; try a lower "
                    f"learning_rate."
                )
            self.updates += 1
            now = time.perf_counter()
            self.metrics.write({"loss": float(np.mean(losses)), "seconds": now - started}, {}, memory.seen)
            progress.update(task, completed=memory.seen)
            if now - said > LINE_SECONDS or self.updates == 1:
                speed = (memory.seen - before) / (now - started)
                print(
                    f"{memory.seen:,} of {options.positions:,} positions, {speed:,.0f}/s, loss {np.mean(losses):.4f}",
                    flush=True,
                )
                said = now
        self.checkpoint.keep(self.state(), write=True)

    def write_model(self) -> None:
        """The model, its logits in the units that were asked for; the positions are not needed any more."""
        with torch.no_grad():
            for parameter in self.model.policy.action_net.parameters():
                parameter *= UNIT / self.options.scale
        self.model.num_timesteps = self.memory.seen
        path = self.folder / "model.zip"
        write_atomically(path, lambda file: save_model(self.model, self.game, file, trained=("policy",)))
        shutil.rmtree(self.folder / "positions")


def most_positions(options: Options) -> int:
    """How many the teacher really looks at: whole rounds of moves in every game."""
    rollout = options.num_envs * options.n_steps
    return -(-options.positions // rollout) * rollout


def distil(game: Game, options: Options, folder: Path, spread: Map = map) -> None:
    """Play, learn, and write the model, its metrics and its evaluation; an interrupt keeps what was done."""
    distillation = Distillation(game, options, folder, spread)
    with Progress(transient=True, disable=not rich.get_console().is_terminal) as progress:
        try:
            list(in_thread(distillation.run, [progress]))
        except KeyboardInterrupt:
            distillation.checkpoint.close()
            raise
    distillation.write_model()
    if options.deals:
        report(game, folder / "model.zip", options.deals, options.seed, folder / "evaluation.csv", in_thread)


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
    call = parse(Options, __doc__.partition("\n")[0], argv, {"rollout": "n-steps"})
    options: Options = call.options
    game = run_or_exit(lambda: game_of(call))
    name = options.name or default_name(game.name, f"{game.num_players}p", "distilled", f"s{options.seed}")
    run_or_exit(lambda: Lesson(game, options, make_policy("random", game)))  # before anything is written
    if options.deals:
        run_or_exit(lambda: check_ends(game))
    kept = {key: value for key, value in dataclasses.asdict(options).items() if key not in options.unimportant}
    config = run_or_exit(lambda: whole_truth(game, kept, (options.teacher, options.opponents)))
    folder = RUNS / name

    def start() -> None:
        with options.spread(light=True) as spread:  # before anything is written
            open_run(name, config, options.resume, ("deals",))
            distil(game, options, folder, spread)

    goes_on = f"{folder} keeps all but the running round, and the same command with --name {name} --resume goes on"
    run_or_exit(start, goes_on)
    print(f"model: {folder / 'model.zip'}")


if __name__ == "__main__":
    main()
