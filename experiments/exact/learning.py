"""PPO's self-play on a solved variant, measured by the exact NashConv of its policy."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from stable_baselines3.common.callbacks import BaseCallback

from agents.ppo import actor, actor_weights
from agents.sequence_form import SequenceForm, enumerate_game, nash_conv, normalised, realise, strategy_of
from experiments.exact.variants import Variant
from experiments.train.learner import build, learn
from experiments.train.options import Options
from llama_envs.core.chance import derived_seed
from llama_envs.core.contract import Floats
from llama_envs.policies.network import probabilities

EVERY = 5  # rollouts between measurements of PPO
LEARNER = 0x5EED  # the stream of learners' seeds


def network_strategy(form: SequenceForm, network: Any) -> Floats:
    """The strategy (S,) of a masked actor network that samples: what it would do at every information set."""
    with torch.no_grad():
        logits = network(torch.from_numpy(form.observation)).numpy()
    return strategy_of(form, probabilities(logits, form.mask))


class NashConvDuringTraining(BaseCallback):
    """Measures the learner's present policy, and the average of all measured ones, every few rollouts.

    Attributes:
        rows: one for each measurement: steps, and NashConv in percent of the payoff range.
    """

    def __init__(self, form: SequenceForm, layers: list[int], every: int) -> None:
        super().__init__()
        self.form, self.every, self.rollouts = form, every, 0
        self.network = actor(form.game.observation.size, form.game.num_actions, layers)
        self.average = AveragePlan(form)
        self.rows: list[dict[str, float]] = []

    def _on_rollout_start(self) -> None:
        if self.rollouts % self.every == 0:
            self.measure()
        self.rollouts += 1

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        self.measure()

    def measure(self) -> None:
        """One more row."""
        self.network.load_state_dict(actor_weights(self.model.policy.state_dict()))
        strategy = network_strategy(self.form, self.network)
        self.average.add(strategy)
        percent = 100 / self.form.payoff_range
        self.rows.append(
            {
                "steps": self.model.num_timesteps,
                "nash_conv_percent": percent * nash_conv(self.form, strategy),
                "nash_conv_of_average_percent": percent * nash_conv(self.form, self.average.strategy()),
            }
        )


class AveragePlan:
    """The strategy that plays one of those added, drawn alike before the game."""

    def __init__(self, form: SequenceForm) -> None:
        self.form = form
        self._total = np.zeros(len(form.action))

    def add(self, strategy: Floats) -> None:
        """One more strategy."""
        plan = np.empty_like(strategy)
        realise(self.form.parent, self.form.first, strategy, plan)
        self._total += plan

    def strategy(self) -> Floats:
        """(S,), uniform where none of them leads."""
        return normalised(self.form, self._total)


def ppo_options(seed: int, steps: int) -> Options:
    """Self-play of a small network: against itself as it is and as it was.

    The learner's own seed is derived from ``seed``, so that no two of them share a game.
    """
    return Options(
        seed=derived_seed(LEARNER, seed) % 2**32, total_timesteps=steps, self_weight=0.6, snapshot_weight=0.4,
        scripted=(), num_envs=256, n_steps=32, batch_size=2048, n_epochs=4, layers=(64, 64), checkpoint_every=10**6,
        deals=0, evaluate_every=0,
    )  # fmt: skip


def train_ppo(form: SequenceForm, seed: int, steps: int) -> pd.DataFrame:
    """NashConv over training, by ``experiments.train``'s own learner, league and environment."""
    options = ppo_options(seed, steps)
    with tempfile.TemporaryDirectory() as folder:
        model, self_play = build(form.game, options, Path(folder))
        measure = NashConvDuringTraining(form, list(options.layers), EVERY)
        learn(model, options.total_timesteps, self_play, measure, quiet=True)
        model.logger.close()
    return pd.DataFrame(measure.rows).assign(seed=seed)


def train_on(job: tuple[Variant, int, int]) -> pd.DataFrame:
    """:func:`train_ppo` of a (variant, seed, steps), as a job of its own."""
    variant, seed, steps = job
    curve = train_ppo(enumerate_game(variant.make()), seed, steps)
    return curve.assign(variant=variant.name)[["variant", "seed", *curve.columns[:3]]]
