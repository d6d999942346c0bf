"""The learning curve of a run, or of several seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

from experiments.train.watch import SHARE
from llama_envs.core.files import write_atomically
from llama_envs.core.game import Game
from llama_envs.evaluation.intervals import mean_of

matplotlib.use("Agg")
import matplotlib.pyplot as plt

OTHERS = {
    "rollout/ep_rew_mean": "mean reward of an episode",
    "train/entropy_loss": "entropy of the policy",
    "train/explained_variance": "explained variance of the value",
}


def over_seeds(runs: Sequence[pd.DataFrame], column: str) -> pd.DataFrame:
    """``mean`` of a column and ``half`` its 95 % interval by step: over seeds, or for one run what it says itself."""
    table = pd.concat([run.set_index("step")[column] for run in runs], axis=1).dropna()
    found = np.array([mean_of(row) for row in table.to_numpy()]).reshape(-1, 2)
    frame = pd.DataFrame(found, index=table.index, columns=["mean", "half"])
    if len(runs) == 1:
        own = f"{column}_95"
        frame["half"] = runs[0].set_index("step")[own].reindex(frame.index) if own in runs[0] else np.nan
    return frame


def draw_learning_curve(game: Game, runs: Sequence[pd.DataFrame], path: Path) -> None:
    """Win shares with their bands over the learner's decisions (without any, its reward), entropy and value."""
    columns = list(dict.fromkeys(column for run in runs for column in run.columns))
    shares = [column for column in columns if column.startswith(SHARE) and not column.endswith("_95")]
    others = [column for column in OTHERS if column in columns and not (shares and column == "rollout/ep_rew_mean")]
    panels = [shares] * bool(shares) + [[column] for column in others]
    if not panels:
        return
    figure, axes = plt.subplots(
        1, len(panels), figsize=(4.4 * len(panels), 3.6), constrained_layout=True, squeeze=False
    )
    for axis, panel in zip(axes[0], panels, strict=True):
        for column in panel:
            curve = over_seeds(runs, column)
            sign = -1 if column == "train/entropy_loss" else 1
            drawn = axis.plot(curve.index / 1e6, sign * curve["mean"], label=column.removeprefix(SHARE))[0]
            if np.isfinite(curve["half"]).all():
                low, high = (sign * curve["mean"] + side * curve["half"] for side in (-1, 1))
                axis.fill_between(curve.index / 1e6, low, high, alpha=0.25, color=drawn.get_color())
        axis.set_title("win share against" if panel == shares else OTHERS[panel[0]])
        if panel == shares:
            axis.axhline(1 / game.num_players, linestyle=":", color="0.4", linewidth=1, label="an equal share")
            axis.set_ylim(0, 1)
            axis.legend()
        axis.set_xlabel("decisions of the learner (millions)")
        axis.grid(alpha=0.3)
    seeds = f", {len(runs)} seeds" if len(runs) > 1 else ""
    figure.suptitle(f"{game.title}, {game.num_players} players: MaskablePPO{seeds}")
    write_atomically(path, lambda temporary: figure.savefig(temporary, dpi=120))
    plt.close(figure)
