"""What is seen of training while it goes on: metrics, win shares against policies that stay the same, progress."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import rich
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, TensorBoardOutputFormat
from torch.utils.tensorboard import SummaryWriter

from agents.ppo import policy_of, save_model
from experiments.train.rivals import rivals_of
from llama_envs.core.files import naming, write_atomically, write_text
from llama_envs.core.game import Game
from llama_envs.evaluation import compare
from llama_envs.evaluation.intervals import plus_minus
from llama_envs.policies.network import NetworkPolicy, PolicyFile

NUMBERS = (int, float, np.number)
SHARE = "eval/win_share_"  # and the rival: a column; with _95 half of its interval
LINE_SECONDS = 10.0  # between lines of progress, where nothing is evaluated


class MetricsFile(KVWriter):
    """Every dump of SB3's logger as one more line of a CSV file.

    The file is written anew only when a column appears that it lacks, so that a line costs the same however many there
    are.

    Args:
        path: of the file.
        rows: lines that stay, of what is there; a resumed run goes on after those of its checkpoint.
    """

    def __init__(self, path: Path, rows: int = 0) -> None:
        self.path, self.rows = path, rows
        self._columns: list[str] = []
        if rows:
            self._rewrite(pd.read_csv(path, nrows=rows, dtype=str))
        else:
            path.unlink(missing_ok=True)

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, Any], step: int = 0) -> None:
        """One more line."""
        row = {"step": step, **{key: value for key, value in key_values.items() if isinstance(value, NUMBERS)}}
        missing = [name for name in row if name not in self._columns]
        if missing:
            before = pd.read_csv(self.path, dtype=str) if self._columns else pd.DataFrame()
            self._rewrite(before.reindex(columns=[*self._columns, *missing]))
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow([row.get(name, "") for name in self._columns])
        with naming(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(line.getvalue())
        self.rows += 1

    def close(self) -> None:
        """Nothing is held open."""

    def _rewrite(self, frame: pd.DataFrame) -> None:
        self._columns = list(frame.columns)
        write_text(self.path, frame.to_csv(index=False, lineterminator="\n"))


class TensorBoardLog(TensorBoardOutputFormat):
    """SB3's, in which what a stopped run has logged after ``step`` is forgotten: every step is shown once."""

    def __init__(self, folder: Path, step: int) -> None:
        self.writer = SummaryWriter(str(folder), purge_step=step + 1)
        self._is_closed = False


class ProgressLines(KVWriter):
    """Prints a line with the main metrics: the first, at every evaluation, and every few seconds."""

    def __init__(self, total: int, label: str) -> None:
        self.total, self.label = total, label
        self._last: tuple[float, int] | None = None  # when the last line was printed, and its step

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, Any], step: int = 0) -> None:
        """Prints, if it is time to."""
        now = time.perf_counter()
        before, done = self._last or (now, step)
        evaluated = any(name.startswith(SHARE) for name in key_values)
        if self._last is None or evaluated or now - before >= LINE_SECONDS:
            speed = (step - done) / (now - before) if step > done else 0.0
            print(progress_line(key_values, step, self.total, speed, self.label), flush=True)
            self._last = now, step

    def close(self) -> None:
        """Nothing is held open."""


def progress_line(metrics: Mapping[str, Any], step: int, total: int, speed: float, label: str = "") -> str:
    """Steps, steps per second, reward, entropy and win shares in one line."""
    parts = [f"{label}{step:,} of {total:,} decisions"]
    if speed > 0:
        parts.append(f"{speed:,.0f}/s")
    if "rollout/ep_rew_mean" in metrics:
        parts.append(f"reward {metrics['rollout/ep_rew_mean']:+.3f}")
    if "train/entropy_loss" in metrics:
        parts.append(f"entropy {-metrics['train/entropy_loss']:.3f}")
    for name, value in metrics.items():
        if name.startswith(SHARE) and not name.endswith("_95"):
            parts.append(f"wins {plus_minus(value, metrics[f'{name}_95'])} against {name.removeprefix(SHARE)}")
    return ", ".join(parts)


class Watch:
    """The learner alone among policies that stay the same, on deals that stay the same; the best one is kept.

    Args:
        game: what is played.
        deals: how many, each in every rotation.
        seed: of the deals.
        path: where the best model goes: the one with the highest mean of its win shares.
        best: that mean, of a resumed run.
    """

    def __init__(self, game: Game, deals: int, seed: int, path: Path, best: float = -1.0) -> None:
        self.game, self.deals, self.seed, self.path, self.best = game, deals, seed, path, best

    def look(self, model: MaskablePPO) -> dict[str, float]:
        """Win shares, with half of their 95 % intervals over deals, by column."""
        policy = NetworkPolicy(PolicyFile(*policy_of(model, self.game)).network("policy"))
        found, shares = {}, []
        for rival in rivals_of(self.game):
            result = compare(self.game, [policy, *[rival] * (self.game.num_players - 1)], self.deals, self.seed)
            found[f"{SHARE}{rival}"] = float(result.share[0])
            shares.append(found[f"{SHARE}{rival}"])
            found[f"{SHARE}{rival}_95"] = float(result.interval[0])
        mean = float(np.mean(shares))
        if mean > self.best:
            write_atomically(self.path, lambda path: save_model(model, self.game, path))
            self.best = mean
        return found


@contextmanager
def progress_bar(total: int, shown: bool) -> Iterator[BaseCallback]:
    """A callback that moves a bar, where the output is a terminal."""
    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, disable=not (shown and rich.get_console().is_terminal), transient=True) as progress:
        yield Bar(progress, progress.add_task("training", total=total))


class Bar(BaseCallback):
    """Moves a bar of rich to the number of decisions."""

    def __init__(self, progress: Progress, task: Any) -> None:
        super().__init__()
        self.progress, self.task = progress, task

    def _on_step(self) -> bool:
        self.progress.update(self.task, completed=self.model.num_timesteps)
        return True
