"""Builds the Game of Llama Llama from its config."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import numpy as np
import numpy.typing as npt

from llama_envs.core.contract import Rules, State, States
from llama_envs.core.game import Game
from llama_envs.core.payoff import REWARDS
from llama_envs.llama_llama import SPEC, observe, render, resample, rules
from llama_envs.llama_llama.config import DISPLAYS, HANDS, LlamaLlamaConfig
from llama_envs.llama_llama.history import STATE_WITH_EVENTS
from llama_envs.llama_llama.state import GOALS, OFFSETS, PARAMS, SEAT_FIELDS, STATE

RULES = Rules(
    rules.start_game,
    rules.legal_actions,
    rules.apply,
    rules.chance_outcomes,
    rules.apply_chance,
    resample.resample_hidden,
    observe.observe,
    rules.sample_chance,
    rules.resolve_chance,
)


def action_names(config: LlamaLlamaConfig) -> tuple[str, ...]:
    """Choose a card of each kind, for the goal and for passing alike."""
    return tuple(f"choose {name}" for name in config.cards.kind_names)


def params(config: LlamaLlamaConfig) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """The record that every kernel gets."""
    record = np.zeros(1, PARAMS)
    deck = config.cards
    layout = observe.layout(replace(config, history=0))  # events come after all others
    values = {
        "num_players": config.num_players,
        "num_kinds": deck.num_kinds,
        "deck_size": deck.size,
        "hand_size": config.hand_size,
        "pass_counts": config.pass_counts,
        "pass_start": np.cumsum([0, *config.pass_counts]),
        "dummy_display": [display + 1 in config.marked_displays for display in range(DISPLAYS)],
        "target_score": config.target_score,
        "num_rounds": config.num_rounds,
        "history": config.history,
        "history_at": layout.size,
        "at": layout.offsets(OFFSETS),
        "per_card": 1.0 / config.hand_size,
        "per_point": 1.0 / config.target_score,
        "reward": REWARDS[config.reward],
    }
    for name, value in values.items():
        record[name] = value
    record["deck"][0, : deck.num_kinds] = deck.counts
    record["letter"][0, : deck.num_kinds] = deck.letters
    used = deck.points > 0  # (K, C): the combinations that are there
    record["first_combination"][0, : deck.num_kinds + 1] = np.cumsum([0, *used.sum(axis=1)])
    record["points"][0, : used.sum()] = deck.points[used]
    record["need"][0, : used.sum()] = deck.need[used]
    return record


def ranking_key(states: States) -> npt.NDArray[np.int64]:
    """The total, and between equal ones the points of the final round, as one number: (N, P) int64 (P19)."""
    return states["total"].astype(np.int64) * rules.TIE_BREAK + states["round_score"]


def cards_left_to_pick(config: LlamaLlamaConfig, state: State) -> int:
    """Picks are made in secret, so a seat may make all that it still has in this pass at once (P9)."""
    if state["phase"] == GOALS:
        return 1
    return int(config.pass_counts[state["phase"] - 1] - state["cycle"])


def max_return(config: LlamaLlamaConfig) -> float:
    """No seat is paid more over a game: an upper bound, simple rather than tight."""
    if config.reward != "score":
        return 1.0
    held = int(config.hand_size) - 1
    goal = max(
        sum(held // len(combination.letters) * combination.points for combination in card.combinations)
        for card in config.cards.cards
    )
    best = DISPLAYS * goal  # of one round
    return (min(int(config.target_score) - 1, (int(config.num_rounds) - 1) * best) + best) / rules.POINTS_PER_REWARD


@cache
def make_game(config: LlamaLlamaConfig) -> Game:
    """The Game for ``config``; the same object for equal configs."""
    passed = sum(config.pass_counts)
    n, rounds = int(config.num_players), int(config.num_rounds)
    dummies = HANDS - n
    events = HANDS * int(config.hand_size) + dummies + DISPLAYS + dummies * passed + int(n == 3)
    return Game(
        spec=SPEC,
        config=config,
        num_players=config.num_players,
        action_names=action_names(config),
        observation=observe.layout(config),
        state_dtype=STATE_WITH_EVENTS if config.history else STATE,
        seat_fields=SEAT_FIELDS,
        params=params(config),
        rules=RULES,
        renderer=render.LlamaLlamaRenderer(),
        most_points_win=True,
        score_name="points",
        simultaneous=True,
        max_chance_outcomes=max(config.cards.num_kinds, HANDS),
        max_decisions=rounds * n * (1 + passed),
        max_chance_events=rounds * events,
        max_return=max_return(config),
        ranking_key=ranking_key,
        decision_kind=render.decision_kind,
        ending_after=lambda config, rounds: replace(config, num_rounds=rounds),
        at_once=partial(cards_left_to_pick, config),
    )
