"""Llama Llama by a rule of thumb: keep what the goals are expected to pay for.

A goal is worth what it pays. The revealed ones and the own one count once each; a goal not yet known counts as an
average over all cards the seat has not seen. The seat gives the goal that makes the rest of its hand worth most, and
passes the cards whose loss costs least, plus ``care`` times what they are worth together in the hand that gets them.
Two parts of it can be switched off, to find out what they are worth: :func:`rule_of_thumb`.
"""

from __future__ import annotations

import numpy as np

from llama_envs.core.compile import kernel
from llama_envs.core.contract import Floats, Integers, Mask, Params, PolicyKernel, State, Streams
from llama_envs.llama_llama.config import DISPLAYS, MAX_HAND
from llama_envs.llama_llama.rules import NUM_LETTERS, count_letters
from llama_envs.llama_llama.state import GOALS

DEFAULT_CARE = 0.3
PLENTY = 127
CARE, UNKNOWN, OWN = 0, 1, 2  # in ``options``: see ``rule_of_thumb``
KIND, POINTS, STOP, FIRST = 0, 1, 2, 3  # columns of ``payable_combinations``
LEFT, NEXT, PICKS = 0, 1, 2  # in ``memory``: picks left, the place of the next one, the first one


@kernel(allocates=True)
def choose(
    state: State, params: Params, seat: int, mask: Mask, options: Floats, memory: Integers, streams: Streams, i: int
) -> int:
    """The kind that ``seat`` picks; ``options`` are those of :func:`rule_of_thumb`.

    A plan is kept in ``memory`` until it is carried out: choosing one by one gives the same picks.
    """
    if len(memory) == 0:
        picks = np.empty(params.hand_size, np.int64)
        plan(state, params, seat, options, picks)
        return picks[0]
    if memory[LEFT] == 0:
        memory[LEFT] = plan(state, params, seat, options, memory[PICKS:])
        memory[NEXT] = PICKS
    memory[LEFT] -= 1
    memory[NEXT] += 1
    return memory[memory[NEXT] - 1]


@kernel
def plan(state: State, params: Params, seat: int, options: Floats, picks: Integers) -> int:
    """Write what ``seat`` picks until the goals are taken or this pass is over, whatever the others do.

    Returns:
        the number of picks. Choosing them one by one gives the same ones: a part of the best set completes it best.
    """
    if state.phase == GOALS:
        picks[0] = choose_goal(state, params, seat, options)
        return 1
    return choose_pass(state, params, seat, options, picks)


@kernel(allocates=True)
def choose_goal(state: State, params: Params, seat: int, options: Floats) -> int:
    """The kind whose giving makes the other cards worth most."""
    letters = np.zeros(NUM_LETTERS, np.int64)
    count_letters(state, params, seat, letters)
    expected = np.ones(params.num_kinds, np.float64)
    payable = payable_combinations(params, expected, letters)
    for kind in range(params.num_kinds):
        expected[kind] = 0.0
    expect_unknown_goals(state, params, seat, 1, options[UNKNOWN], expected)
    best = -np.inf
    best_kind = -1
    for kind in range(params.num_kinds):
        if state.hand[seat, kind] > 0:
            others = expected[kind]
            expected[kind] += 1.0
            letters[params.letter[kind]] -= 1
            value = worth(payable, expected, letters)
            letters[params.letter[kind]] += 1
            expected[kind] = others
            if value > best:
                best = value
                best_kind = kind
    return best_kind


@kernel(allocates=True)
def choose_pass(state: State, params: Params, seat: int, options: Floats, picks: Integers) -> int:
    """Write the best set of cards that completes the picks made so far in this pass, in order; returns how many.

    Only letters count, so each choice of letters is tried once, with the lowest kinds of them. Between choices of equal
    value the first one decides, in the order of ``next_choice``.
    """
    care = options[CARE]
    start = params.pass_start[state.phase - 1]
    picked = state.cycle
    needed = params.pass_start[state.phase] - start - picked
    counts = np.zeros((5, NUM_LETTERS), np.int64)  # one array, as allocating takes time
    keeps, gives, free, chosen, best_choice = counts[0], counts[1], counts[2], counts[3], counts[4]
    count_letters(state, params, seat, keeps)
    expected = np.zeros(params.num_kinds, np.float64)
    expect_goals(state, params, seat, options, expected)
    payable = payable_combinations(params, expected, keeps)
    for place in range(start, start + picked):
        move_letters(keeps, gives, params.letter[state.passed[seat, place]], 1)
    lowest = int(state.passed[seat, start + picked - 1]) if picked > 0 else 0
    for kind in range(lowest, params.num_kinds):
        free[params.letter[kind]] += cards_left(state, params, seat, kind, start, picked)
    choose_lowest(chosen, free, needed)
    best = -np.inf
    more = True
    while more:
        for letter in range(NUM_LETTERS):
            move_letters(keeps, gives, letter, chosen[letter])
        value = worth(payable, expected, keeps) - care * worth(payable, expected, gives)
        for letter in range(NUM_LETTERS):
            move_letters(gives, keeps, letter, chosen[letter])
        if value > best:
            best = value
            best_choice[:] = chosen
        more = next_choice(chosen, free)
    n = 0
    for kind in range(lowest, params.num_kinds):
        letter = params.letter[kind]
        for _ in range(min(best_choice[letter], cards_left(state, params, seat, kind, start, picked))):
            best_choice[letter] -= 1
            picks[n] = kind
            n += 1
    return n


@kernel
def move_letters(source: Integers, target: Integers, letter: int, number: int) -> None:
    """So many cards of a letter go from one count to the other."""
    source[letter] -= number
    target[letter] += number


@kernel
def cards_left(state: State, params: Params, seat: int, kind: int, start: int, picked: int) -> int:
    """Cards of a kind in the hand of ``seat`` that it has not picked yet in the pass that begins at ``start``."""
    left = int(state.hand[seat, kind])
    for place in range(start, start + picked):
        left -= int(state.passed[seat, place] == kind)
    return left


@kernel
def choose_lowest(chosen: Integers, free: Integers, number: int) -> None:
    """Choose ``number`` more of the ``free`` cards, of the lowest letters that have some left."""
    letter = 0
    while number > 0:
        more = min(number, free[letter] - chosen[letter])
        chosen[letter] += more
        number -= more
        letter += 1


@kernel
def next_choice(chosen: Integers, free: Integers) -> bool:
    """Go on to the next choice of as many letters, fewer of the highest letter coming first; False after the last."""
    lower = 0
    for letter in range(NUM_LETTERS):
        if lower > 0 and chosen[letter] < free[letter]:
            chosen[letter] += 1
            for other in range(letter):
                chosen[other] = 0
            choose_lowest(chosen, free, lower - 1)
            return True
        lower += chosen[letter]
    return False


@kernel
def expect_goals(state: State, params: Params, seat: int, options: Floats, expected: Floats) -> None:
    """Add to ``expected`` how many of the four goals are of each kind, as ``seat`` expects in a pass."""
    own_goal = state.goal[seat]
    known = int(state.phase)
    own_seen = options[OWN] == 0.0  # it passes as if the goal were nobody's
    for display in range(known):
        kind = state.goal[state.owner[display]]
        expected[kind] += 1.0
        own_seen = own_seen or kind == own_goal
    if not own_seen:  # an own goal of a revealed kind is taken for the revealed one
        expected[own_goal] += 1.0
        known += 1
    expect_unknown_goals(state, params, seat, known, options[UNKNOWN], expected)


@kernel
def expect_unknown_goals(state: State, params: Params, seat: int, known: int, weight: float, expected: Floats) -> None:
    """Add what the goals that are not among the ``known`` ones are on average: any card that ``seat`` has not seen.

    They count ``weight`` times.
    """
    total = 0
    for kind in range(params.num_kinds):
        total += count_unseen(state, params, seat, kind, expected)
    if total == 0 or known == DISPLAYS:
        return
    for kind in range(params.num_kinds):
        expected[kind] += weight * ((DISPLAYS - known) * count_unseen(state, params, seat, kind, expected) / total)


@kernel
def count_unseen(state: State, params: Params, seat: int, kind: int, known: Floats) -> int:
    """Cards of a kind that ``seat`` has not seen, if ``known[kind]`` of them are goals that lie on the table."""
    return max(params.deck[kind] - int(state.hand[seat, kind]) - int(known[kind]), 0)


@kernel(allocates=True)
def payable_combinations(params: Params, expected: Floats, letters: Integers) -> Integers:
    """What ``letters`` can be paid for by goals of kinds that are ``expected`` at all: (n, 3 + 2 * 7) int64.

    A row is the goal's kind, the points for a copy, and letters and how many of each it takes, up to column ``STOP``.
    """
    rows = np.empty((params.first_combination[params.num_kinds], FIRST + 2 * NUM_LETTERS), np.int64)
    n = 0
    for kind in range(params.num_kinds):
        if expected[kind] == 0.0:
            continue
        for combination in range(params.first_combination[kind], params.first_combination[kind + 1]):
            stop = FIRST
            for letter in range(NUM_LETTERS):
                need = params.need[combination, letter]
                if need > letters[letter]:
                    stop = -1
                    break
                if need > 0:
                    rows[n, stop] = letter
                    rows[n, stop + 1] = need
                    stop += 2
            if stop >= 0:
                rows[n, KIND] = kind
                rows[n, POINTS] = params.points[combination]
                rows[n, STOP] = stop
                n += 1
    return rows[:n]


@kernel
def worth(payable: Integers, expected: Floats, letters: Integers) -> float:
    """What the ``expected`` goals pay for a hand of ``letters`` (P14-P17)."""
    value = 0.0
    for i in range(len(payable)):
        copies = PLENTY
        for k in range(FIRST, payable[i, STOP], 2):
            need = payable[i, k + 1]
            held = letters[payable[i, k]]
            copies = min(copies, held if need == 1 else held // need)
        value += copies * (expected[payable[i, KIND]] * payable[i, POINTS])
    return value


def rule_of_thumb(care: float = DEFAULT_CARE, unknown_goals: bool = True, own_goal: bool = True) -> PolicyKernel:
    """The heuristic as a kernel, whole or with parts of it switched off.

    Args:
        care: how much it minds what it hands to the left.
        unknown_goals: whether goals not known yet count, as an average; else it keeps what the known ones pay now.
        own_goal: whether it minds its own goal in a pass before that is revealed.
    """
    return PolicyKernel(choose, np.array([care, unknown_goals, own_goal], np.float64), memory=PICKS + MAX_HAND)


def heuristic(argument: str) -> PolicyKernel:
    """``heuristic`` or ``heuristic:CARE``: how much it minds what it hands to the left, 0 (not at all) to 10."""
    try:
        care = float(argument) if argument else DEFAULT_CARE
        if not 0 <= care <= 10:
            raise ValueError
    except ValueError:
        raise ValueError(f"the care in 'heuristic:CARE' must be a number from 0 to 10, got {argument!r}.") from None
    return rule_of_thumb(care)
