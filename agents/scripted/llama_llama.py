"""Llama Llama by a rule of thumb: keep what the goals are expected to pay for.

A goal is worth what it pays. The revealed ones and the own one count once each; a goal not yet known counts as an
average over all cards the seat has not seen. The seat gives the goal that makes the rest of its hand worth most, and
passes the cards whose loss costs least, plus ``care`` times what they are worth together in the hand that gets them.
"""

from __future__ import annotations

import numpy as np

from llama_envs.core.compile import kernel
from llama_envs.core.game import Game
from llama_envs.core.policy import Policy, ScriptedPolicy
from llama_envs.llama_llama.config import DISPLAYS
from llama_envs.llama_llama.state import GOALS

DEFAULT_CARE = 0.3
NUM_LETTERS = 7
PLENTY = 127


@kernel
def choose(state, params, seat, options):
    """The kind that ``seat`` picks; ``options[0]`` is how much it minds what it hands to the left."""
    if state.phase == GOALS:
        return choose_goal(state, params, seat)
    return choose_pass(state, params, seat, options[0])


@kernel(allocates=True)
def choose_goal(state, params, seat):
    """The kind whose giving makes the other cards worth most."""
    best = -np.inf
    best_kind = -1
    for kind in range(params.num_kinds):
        if state.hand[seat, kind] > 0:
            pays = expected_pay(state, params, seat, kind)
            letters = letters_held(state, params, seat)
            letters[params.letter[kind]] -= 1
            value = worth(params, pays, letters)
            if value > best:
                best = value
                best_kind = kind
    return best_kind


@kernel(allocates=True)
def choose_pass(state, params, seat, care):
    """The lowest kind of the best set of cards that completes the picks made so far in this pass."""
    pays = expected_pay(state, params, seat, state.goal[seat])
    start = params.pass_start[state.phase - 1]
    picked = state.cycle
    needed = params.pass_start[state.phase] - start - picked
    passing = np.zeros(NUM_LETTERS, np.int64)  # letters handed over
    for place in range(start, start + picked):
        passing[params.letter[state.passed[seat, place]]] += 1
    lowest = state.passed[seat, start + picked - 1] if picked > 0 else 0
    cards = cards_left(state, params, seat, start, picked)
    letters = letters_held(state, params, seat)
    best = -np.inf
    best_kind = -1
    for chosen in range(1 << len(cards)):
        count = 0
        first = -1
        low = 0
        for i in range(len(cards)):
            if (chosen >> i) & 1:
                count += 1
                low += int(cards[i] < lowest)
                if first < 0:
                    first = cards[i]
        if count != needed or low > 0:
            continue
        given = passing.copy()
        for i in range(len(cards)):
            if (chosen >> i) & 1:
                given[params.letter[cards[i]]] += 1
        value = worth(params, pays, letters - given) - care * worth(params, pays, given)
        if value > best:
            best = value
            best_kind = first
    return best_kind


@kernel(allocates=True)
def cards_left(state, params, seat, start, picked):
    """The kinds of the cards not picked in this pass, in rising order, one entry a card."""
    left = np.zeros(params.num_kinds, np.int64)
    total = -picked
    for kind in range(params.num_kinds):
        left[kind] = state.hand[seat, kind]
        total += int(state.hand[seat, kind])
    for place in range(start, start + picked):
        left[state.passed[seat, place]] -= 1
    cards = np.zeros(total, np.int64)
    i = 0
    for kind in range(params.num_kinds):
        for _ in range(left[kind]):
            cards[i] = kind
            i += 1
    return cards


@kernel(allocates=True)
def letters_held(state, params, seat):
    """Cards of each letter in the hand of ``seat``: (7,) int64."""
    letters = np.zeros(NUM_LETTERS, np.int64)
    for kind in range(params.num_kinds):
        letters[params.letter[kind]] += int(state.hand[seat, kind])
    return letters


@kernel(allocates=True)
def expected_pay(state, params, seat, own_goal):
    """What one copy of each combination is expected to be paid by all four goals, if ``seat`` gives ``own_goal``."""
    kinds = params.num_kinds
    times = np.zeros(kinds, np.float64)  # expected number of goals of each kind
    unseen = np.zeros(kinds, np.int64)
    total = 0
    for kind in range(kinds):
        unseen[kind] = params.deck[kind] - state.hand[seat, kind]
    revealed = 0 if state.phase == GOALS else int(state.phase)
    own_seen = False
    for display in range(revealed):
        kind = state.goal[state.owner[display]]
        times[kind] += 1.0
        unseen[kind] -= 1
        own_seen = own_seen or kind == own_goal
    known = revealed
    if not own_seen:  # an own goal of a revealed kind is taken for the revealed one
        times[own_goal] += 1.0
        known += 1
        if state.phase != GOALS:
            unseen[own_goal] -= 1
    for kind in range(kinds):
        total += max(unseen[kind], 0)
    pays = np.zeros(params.first_combination[kinds], np.float64)
    for kind in range(kinds):
        expected = times[kind]
        if total > 0:
            expected += (DISPLAYS - known) * max(unseen[kind], 0) / total
        for combination in range(params.first_combination[kind], params.first_combination[kind + 1]):
            pays[combination] = expected * params.points[combination]
    return pays


@kernel
def worth(params, pays, letters):
    """What the goals are expected to pay for a hand of ``letters`` (P14-P17)."""
    value = 0.0
    for combination in range(len(pays)):
        copies = PLENTY
        for letter in range(NUM_LETTERS):
            need = params.need[combination, letter]
            if need == 1:
                copies = min(copies, letters[letter])
            elif need > 1:
                copies = min(copies, letters[letter] // need)
        value += copies * pays[combination]
    return value


def build(game: Game, argument: str) -> Policy:
    """``heuristic`` or ``heuristic:CARE``: how much it minds what it hands to the left, 0 (not at all) to 10."""
    try:
        care = float(argument) if argument else DEFAULT_CARE
        if not 0 <= care <= 10:
            raise ValueError
    except ValueError:
        raise ValueError(f"the care in 'heuristic:CARE' must be a number from 0 to 10, got {argument!r}.") from None
    return ScriptedPolicy(choose, [care])
