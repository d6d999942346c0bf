"""The equilibrium of one variant, by CFR+."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np

from agents.sequence_form import (
    CFRPlus,
    SequenceForm,
    best_response,
    enumerate_game,
    game_values,
    nash_conv,
    strategy_of_deterministic,
    strategy_table,
    uniform_strategy,
)
from experiments.exact.variants import Variant
from llama_envs.policies import make_policy
from llama_envs.policies.tabular import StrategyTable

TARGET = 1e-4  # NashConv at which the solver stops, as a part of the payoff range
LEAST_GOOD = 1e-3  # what the report calls solved


@dataclasses.dataclass(frozen=True, eq=False)
class Solution:
    """A solved variant.

    Attributes:
        row: its line in the report's table.
        references: NashConv of policies without learning, in percent of the payoff range, where PPO is trained.
    """

    row: dict[str, Any]
    references: dict[str, float]


def solve(variant: Variant) -> tuple[Solution, StrategyTable]:
    """Enumerate and solve a variant, twice: with perfect recall, and by observation, which can be played."""
    started = time.process_time()
    form = enumerate_game(variant.make())
    most = 2000 if form.game.num_players > 2 else 100_000  # with more seats nothing promises that it gets there
    solver = CFRPlus(form, by_observation=False)
    strategy = solver.run(TARGET * form.payoff_range, most)
    held = CFRPlus(form)
    held.iterate(solver.iterations)
    playable = held.average()
    distance = nash_conv(form, strategy)
    row = {
        "variant": variant.name,
        "players": form.game.num_players,
        "histories": form.histories,
        "positions": form.positions,
        "information_sets": form.num_sets,
        "observations": form.num_cells,
        "iterations": solver.iterations,
        "payoff_range": form.payoff_range,
        "nash_conv": distance,
        "nash_conv_percent": 100 * distance / form.payoff_range,
        "nash_conv_by_observation_percent": 100 * nash_conv(form, playable) / form.payoff_range,
        **{f"value_{seat}": value for seat, value in enumerate(game_values(form, strategy))},
        **{f"best_{seat}": best_response(form, strategy, seat).value for seat in range(form.game.num_players)},
        "cpu_seconds": time.process_time() - started,
        "command": command_of(variant.name),
    }
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in row.items()}
    return Solution(plain, references(form) if variant.ppo else {}), strategy_table(form, playable)


def references(form: SequenceForm) -> dict[str, float]:
    """NashConv of policies without learning, in percent of the payoff range; the heuristic if the game has one."""
    strategies = {"random": uniform_strategy(form)}
    if form.game.spec.heuristic is not None:
        strategies["heuristic"] = strategy_of_deterministic(form, make_policy("heuristic", form.game))
    return {name: 100 * nash_conv(form, strategy) / form.payoff_range for name, strategy in strategies.items()}


def command_of(name: str) -> str:
    """The command that solves one variant alone."""
    return f"python -m experiments.exact --variants {name} --seeds 0"
