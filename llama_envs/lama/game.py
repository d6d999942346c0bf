"""Builds the Game of L.L.A.M.A. from its config."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from llama_envs.core.contract import Rules, States
from llama_envs.core.game import Game
from llama_envs.core.payoff import REWARDS
from llama_envs.lama import SPEC, observe, render, rules
from llama_envs.lama.config import LamaConfig
from llama_envs.lama.history import STATE_WITH_EVENTS
from llama_envs.lama.state import OFFSETS, PARAMS, SEAT_FIELDS, STATE, TURN

RULES = Rules(
    rules.start_game,
    rules.legal_actions,
    rules.apply,
    rules.chance_outcomes,
    rules.apply_chance,
    rules.resample_hidden,
    observe.observe,
    rules.sample_chance,
    rules.resolve_chance,
)
CHIP_ACTIONS = ("keep", "return white", "return black", "ten white to black", "black to ten white")


def rank_names(num_ranks: int) -> tuple[str, ...]:
    """ "1", "2", ..., "llama"."""
    return (*map(str, range(1, num_ranks)), "llama")


def action_names(config: LamaConfig) -> tuple[str, ...]:
    """Play each rank, draw, quit, then the chip decisions that this configuration asks for."""
    names = (*(f"play {rank}" for rank in rank_names(config.num_ranks)), "draw", "quit")
    if config.chip_exchange == "choice":
        return names + CHIP_ACTIONS
    return names + CHIP_ACTIONS[:3] if config.chip_return == "choice" else names


def params(config: LamaConfig) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """The record that every kernel gets."""
    record = np.zeros(1, PARAMS)
    actions = len(action_names(config))
    layout = observe.layout(replace(config, history=0), actions)  # events come after all others
    values = {
        "num_players": config.num_players,
        "num_ranks": config.num_ranks,
        "copies": config.copies,
        "cards_each": config.hand_size,
        "first_player": -1 if config.first_player == "random" else config.first_player,
        "rotate": config.next_starter == "rotate",
        "ask_return": config.chip_return == "choice",
        "ask_exchange": config.chip_exchange == "choice",
        "target_score": config.target_score,
        "max_rounds": config.max_rounds or 0,
        "single_round": config.single_round_terminates,
        "reward": REWARDS[config.reward],
        "num_actions": actions,
        "history": config.history,
        "history_at": layout.size,
        "at": layout.offsets(OFFSETS),
        "per_copy": 1 / layout["hand"].scale,
        "per_hand_card": 1 / layout["hand_size"].scale,
        "per_stock": 1 / layout["stock"].scale,
        "per_white": 1 / layout["white"].scale,
        "per_black": 1 / layout["black"].scale,
        "per_point": 1 / layout["total"].scale,
        "per_round": 1 / layout["rounds"].scale,
    }
    for name, value in values.items():
        record[name] = value
    return record


def ranking_key(states: States) -> npt.NDArray[np.int64]:
    """The fewer penalty points the better: minus the totals, (N, P) int64 (L17)."""
    return -states["total"].astype(np.int64)


class Limits(NamedTuple):
    """What no game of a configuration exceeds.

    Attributes:
        decisions: how many decisions it has; None where the configuration lets a game go on for ever.
        chance_events: how many chance events it has, likewise.
        paid: what a seat is paid over it, as an absolute value.
    """

    decisions: int | None
    chance_events: int | None
    paid: float


def limits(config: LamaConfig) -> Limits:
    """Upper bounds, simple rather than tight."""
    n, cards = int(config.num_players), int(config.num_ranks) * int(config.copies)
    stock = cards - n * int(config.hand_size) - 1
    worst = sum(range(1, config.num_ranks)) + rules.LLAMA_PENALTY  # of a hand (L13)
    highest = int(config.target_score) - 1 + worst
    if config.max_rounds is not None:
        highest = min(highest, int(config.max_rounds) * worst)
    paid = highest / rules.POINTS_PER_REWARD if config.reward == "score" else 1.0
    if config.max_rounds is None:  # chips go back, so totals need not rise (L12)
        return Limits(None, None, paid)
    turns = (cards - 1) + stock + n  # every card played but the first discard, the whole stock drawn, everybody quits
    chips = 1 + (n * (highest // rules.BLACK_CHIP + 1) if config.chip_exchange == "choice" else 0)
    rounds = int(config.max_rounds)
    return Limits(rounds * (turns + chips), 1 + rounds * cards, paid)


@cache
def make_game(config: LamaConfig) -> Game:
    """The Game for ``config``; the same object for equal configs."""
    most = limits(config)
    return Game(
        spec=SPEC,
        config=config,
        num_players=config.num_players,
        action_names=action_names(config),
        observation=observe.layout(config, len(action_names(config))),
        state_dtype=STATE_WITH_EVENTS if config.history else STATE,
        seat_fields=SEAT_FIELDS,
        params=params(config),
        rules=RULES,
        renderer=render.LamaRenderer(),
        most_points_win=False,
        score_name="penalty",
        simultaneous=False,
        max_chance_outcomes=max(config.num_ranks, config.num_players),
        max_decisions=most.decisions,
        max_chance_events=most.chance_events,
        max_return=most.paid,
        ranking_key=ranking_key,
        decision_kind=lambda state, action: (
            "chip" if state["phase"] != TURN else ("play", "draw", "quit")[max(0, action - config.num_ranks + 1)]
        ),
        ending_after=lambda config, rounds: replace(config, max_rounds=rounds, single_round_terminates=False),
        public_actions=True,
    )
