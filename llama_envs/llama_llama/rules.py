"""The rules of Llama Llama, clause by clause (README.md), each function on one game.

Action k chooses a card of kind k, as the goal or to pass. A pass of c cards is c cycles, in each of which every seat
picks one card; within a pass a seat's picks never fall in kind, so that each set of cards is picked in exactly one way.
``apply`` never draws a card: it leaves a chance event.
"""

from __future__ import annotations

import numpy as np

from llama_envs.core.chance import draw_below, draw_card
from llama_envs.core.compile import kernel
from llama_envs.core.contract import Floats, Integers, Mask, Params, State, Streams
from llama_envs.core.payoff import RANK, SCORE, WIN, against_the_others, rank_payoff, win_share
from llama_envs.llama_llama.config import DISPLAYS, HANDS, MAX_PASSED, MAX_PLAYERS
from llama_envs.llama_llama.deck import LETTERS
from llama_envs.llama_llama.history import forget_events, remember_round
from llama_envs.llama_llama.state import DEAL, DUMMY_DRAW, DUMMY_GOAL, DUMMY_SEAT, GOALS, NOTHING, PLACE

NUM_LETTERS = len(LETTERS)
ALL_HANDS = 15  # a bit for each of the four hands
MOST = 1  # points win (P19)
POINTS_PER_REWARD = 50.0  # (P20 "score")
TIE_BREAK = 1 << 24  # above any round score, which decides between equal totals (P19)


# ---------------------------------------------------------------------------------------------- a game and its rounds


@kernel
def start_game(state: State, params: Params) -> None:
    """An empty table and the first round (P4)."""
    state.terminated = False
    state.truncated = False
    state.rounds = 0
    forget_events(state)
    for seat in range(MAX_PLAYERS):
        state.total[seat] = 0
        state.round_score[seat] = 0
        state.reward[seat] = 0.0
    start_round(state, params)


@kernel
def start_round(state: State, params: Params) -> None:
    """All cards in the stock; where the dummies sit, then the deal, are due (P4, P11, P12)."""
    for hand in range(HANDS):
        state.goal[hand] = -1
        for kind in range(params.num_kinds):
            state.hand[hand, kind] = 0
    for kind in range(params.num_kinds):
        state.stock[kind] = params.deck[kind]
    for seat in range(MAX_PLAYERS):
        for place in range(MAX_PASSED):
            state.passed[seat, place] = -1
            state.received[seat, place] = -1
    state.to_move = -1
    state.phase = GOALS
    state.cycle = 0
    state.dealt = 0
    state.pending = 0
    state.drawn = 0
    plan_goals(state, params)
    seat_hands(state, params)
    state.chance = DUMMY_SEAT if params.num_players == 3 else DEAL


@kernel
def seat_hands(state: State, params: Params) -> None:
    """Seat i + 1 is at the left of seat i; with two players there is a dummy on each one's left (P11)."""
    n = params.num_players
    for seat in range(MAX_PLAYERS):
        state.left[seat] = -1
    for seat in range(n):
        if n == 2:
            state.left[seat] = n + seat
        else:
            state.left[seat] = next_seat(params, seat)


@kernel
def next_seat(params: Params, seat: int) -> int:
    """The next player to the left."""
    return seat + 1 if seat + 1 < params.num_players else 0


@kernel
def plan_goals(state: State, params: Params) -> None:
    """Whose goal may come to lie where: anywhere in the first round (P6), later by total and dummy icon (P7)."""
    n = params.num_players
    for display in range(DISPLAYS):
        state.owner[display] = -1
        state.may_own[display] = 0 if state.rounds > 0 else ALL_HANDS
    if state.rounds == 0:
        return
    place = 0  # of the display among those without the icon
    for display in range(DISPLAYS):
        owners = 0
        if params.dummy_display[display] == 1:
            owners = ALL_HANDS ^ ((1 << n) - 1)
        else:
            for seat in range(n):
                above, level = place_by_total(state, params, seat)
                if above <= place < above + level:
                    owners |= 1 << seat
            place += 1
        state.may_own[display] = owners


@kernel
def place_by_total(state: State, params: Params, seat: int) -> tuple[int, int]:
    """How many seats have more points than ``seat``, and how many, itself included, as many."""
    above = 0
    level = 0
    for other in range(params.num_players):
        above += int(state.total[other] > state.total[seat])
        level += int(state.total[other] == state.total[seat])
    return above, level


# ------------------------------------------------------------------------------------------------------------- chance


@kernel
def dummy_may_sit(state: State, params: Params, seat: int) -> bool:
    """Three players: left of anybody in the first round, later at the right of a seat with the lowest total (P12)."""
    after = next_seat(params, seat)
    above, level = place_by_total(state, params, after)
    return state.rounds == 0 or above + level == params.num_players


@kernel
def may_place(state: State, params: Params, hand: int) -> bool:
    """Whether the goal of ``hand`` may be the one on the next display (P6, P7)."""
    for display in range(state.pending):
        if state.owner[display] == hand:
            return False
    return (state.may_own[state.pending] >> hand) & 1 == 1


@kernel
def chance_outcomes(state: State, params: Params, probs: Floats) -> int:
    """Write the probability of each outcome of the pending event to ``probs``; returns how many outcomes there are."""
    if state.chance == DUMMY_SEAT or state.chance == PLACE:
        outcomes = params.num_players if state.chance == DUMMY_SEAT else HANDS
        possible = 0
        for outcome in range(outcomes):
            possible += int(is_possible(state, params, outcome))
        for outcome in range(outcomes):
            probs[outcome] = 1.0 / possible if is_possible(state, params, outcome) else 0.0
        return outcomes
    cards = pile_size(state, params)
    for kind in range(params.num_kinds):
        if state.chance == DEAL:
            probs[kind] = state.stock[kind] / cards
        else:
            probs[kind] = state.hand[pile(state), kind] / cards
    return params.num_kinds


@kernel
def is_possible(state: State, params: Params, outcome: int) -> bool:
    """Whether the pending DUMMY_SEAT or PLACE may have this outcome; the possible ones are equally likely."""
    if state.chance == DUMMY_SEAT:
        return dummy_may_sit(state, params, outcome)
    return may_place(state, params, outcome)


@kernel
def pile(state: State) -> int:
    """The dummy that the pending DUMMY_GOAL or DUMMY_DRAW takes a card from."""
    return state.pending if state.chance == DUMMY_GOAL else state.left[state.pending]


@kernel
def pile_size(state: State, params: Params) -> int:
    """Cards in the stock or dummy that the pending event takes a card from."""
    if state.chance == DEAL:
        return params.deck_size - state.dealt
    if state.chance == DUMMY_GOAL:
        return params.hand_size
    return params.hand_size - 1 + params.pass_counts[state.phase - 1] - state.drawn  # 7 + k (P13)


@kernel
def sample_chance(state: State, params: Params, streams: Streams, i: int) -> int:
    """Draw one outcome of the pending event from stream ``i``."""
    if state.chance == DEAL:
        return draw_card(state.stock[: params.num_kinds], pile_size(state, params), streams, i)
    if state.chance == DUMMY_GOAL or state.chance == DUMMY_DRAW:
        return draw_card(state.hand[pile(state), : params.num_kinds], pile_size(state, params), streams, i)
    possible = 0
    for outcome in range(HANDS):
        if outcome < params.num_players or state.chance == PLACE:
            possible += int(is_possible(state, params, outcome))
    left = draw_below(streams, i, possible)
    outcome = 0
    while True:
        if is_possible(state, params, outcome):
            if left == 0:
                return outcome
            left -= 1
        outcome += 1


@kernel
def apply_chance(state: State, params: Params, outcome: int) -> None:
    """Resolve the pending event."""
    if state.chance == DEAL:
        deal_card(state, params, outcome)
    elif state.chance == PLACE:
        place_goal(state, params, outcome)
    elif state.chance == DUMMY_DRAW:
        draw_from_dummy(state, params, outcome)
    elif state.chance == DUMMY_GOAL:
        dummy_goal(state, params, outcome)
    else:
        state.left[outcome] = params.num_players  # the only dummy (P12)
        state.chance = DEAL


@kernel
def deal_card(state: State, params: Params, kind: int) -> None:
    """The next card of the deal, to each of the four hands in turn; then the seats choose their goals (P4)."""
    state.stock[kind] -= 1
    state.hand[state.dealt // params.hand_size, kind] += 1
    state.dealt += 1
    if state.dealt == HANDS * params.hand_size:
        state.chance = NOTHING
        state.to_move = 0


@kernel
def deal(state: State, params: Params, streams: Streams, i: int) -> None:
    """The deal from a full stock at once: the cards that ``deal_card`` would deal one by one (P4)."""
    stock = state.stock[: params.num_kinds]
    for hand in range(HANDS):
        for _ in range(params.hand_size):
            kind = draw_card(stock, params.deck_size - state.dealt, streams, i)
            stock[kind] -= 1
            state.hand[hand, kind] += 1
            state.dealt += 1
    state.chance = NOTHING
    state.to_move = 0


@kernel(inline=True)
def resolve_chance(state: State, params: Params, streams: Streams, i: int) -> None:
    """Resolve pending events from stream ``i``, as ``sample_chance`` and ``apply_chance`` do one by one."""
    while state.chance != NOTHING:
        if state.chance == DEAL and state.dealt == 0:
            deal(state, params, streams, i)
        else:
            apply_chance(state, params, sample_chance(state, params, streams, i))


# ----------------------------------------------------------------------------------------------------------- decisions


@kernel(inline=True)
def legal_actions(state: State, params: Params, seat: int, mask: Mask) -> None:
    """Set ``mask[kind]`` for everything ``seat`` may pick in this cycle; nothing if it has picked already.

    A seat that comes later in the cycle gets its mask too: it does not depend on what the others pick.
    """
    for kind in range(len(mask)):
        mask[kind] = False
    if state.to_move < 0 or seat < state.to_move:
        return
    lowest = 0  # picks never fall in kind ...
    picked = 0  # cards of the lowest kind picked already
    needed = 1
    if state.phase != GOALS:
        start = params.pass_start[state.phase - 1]
        place = start + state.cycle
        needed = params.pass_start[state.phase] - place
        if place > start:
            lowest = state.passed[seat, place - 1]
            while place > start and state.passed[seat, place - 1] == lowest:
                picked += 1
                place -= 1
    available = 0
    for kind in range(params.num_kinds - 1, lowest - 1, -1):
        held = state.hand[seat, kind]
        if kind == lowest:
            held -= picked
        available += held
        mask[kind] = held > 0 and available >= needed  # ... and must leave enough cards for the rest of the pass (P9)


@kernel(inline=True)
def apply(state: State, params: Params, action: int) -> None:
    """One pick of the seat to move; the action must be legal. The last seat's pick ends the cycle."""
    seat = state.to_move
    for other in range(params.num_players):
        state.reward[other] = 0.0
    if state.phase == GOALS:
        state.goal[seat] = action  # (P5)
    else:
        state.passed[seat, params.pass_start[state.phase - 1] + state.cycle] = action  # (P9)
    state.to_move += 1
    if state.to_move < params.num_players:
        return
    state.to_move = 0
    if state.phase == GOALS:
        take_goals(state, params)
        return
    state.cycle += 1
    if state.cycle == params.pass_counts[state.phase - 1]:
        pass_cards(state, params)


# --------------------------------------------------------------------------------------------------------------- goals


@kernel
def take_goals(state: State, params: Params) -> None:
    """Every player's goal leaves its hand, all at the same time; dummies add one at random (P5)."""
    n = params.num_players
    for seat in range(n):
        state.hand[seat, state.goal[seat]] -= 1
    state.to_move = -1
    if n < HANDS:
        state.chance = DUMMY_GOAL
        state.pending = n
    else:
        state.chance = PLACE
        state.pending = 0


@kernel
def dummy_goal(state: State, params: Params, kind: int) -> None:
    """A card of a dummy becomes its goal (P5)."""
    state.hand[state.pending, kind] -= 1
    state.goal[state.pending] = kind
    state.pending += 1
    if state.pending == HANDS:
        state.chance = PLACE
        state.pending = 0


@kernel
def place_goal(state: State, params: Params, hand: int) -> None:
    """The goal of ``hand`` is the one on the next display (P6, P7)."""
    state.owner[state.pending] = hand
    state.pending += 1
    if state.pending == DISPLAYS:
        state.pending = 0
        state.chance = NOTHING
        start_pass(state)


# -------------------------------------------------------------------------------------------------------------- passes


@kernel
def start_pass(state: State) -> None:
    """The next goal is revealed, and every player picks (P9)."""
    state.phase += 1
    state.cycle = 0
    state.to_move = 0


@kernel
def pass_cards(state: State, params: Params) -> None:
    """All picked cards go to the left at once, to the neighbour or into the dummy there (P9, P13)."""
    start = params.pass_start[state.phase - 1]
    stop = params.pass_start[state.phase]
    for seat in range(params.num_players):
        to = state.left[seat]
        for place in range(start, stop):
            kind = state.passed[seat, place]
            state.hand[seat, kind] -= 1
            state.hand[to, kind] += 1
            if to < params.num_players:
                state.received[to, place] = kind
    state.to_move = -1
    next_dummy(state, params, 0)


@kernel
def next_dummy(state: State, params: Params, seat: int) -> None:
    """The dummy of the first player from ``seat`` on that has one is drawn from; without one the pass is over (P13)."""
    while seat < params.num_players and state.left[seat] < params.num_players:
        seat += 1
    if seat < params.num_players:
        state.chance = DUMMY_DRAW
        state.pending = seat
        state.drawn = 0
    else:
        state.chance = NOTHING
        state.pending = 0
        state.drawn = 0
        if state.phase == DISPLAYS:
            score_round(state, params)
        else:
            start_pass(state)


@kernel
def draw_from_dummy(state: State, params: Params, kind: int) -> None:
    """The next player to the left of the dummy draws a card, perhaps one just passed (P13)."""
    seat = next_seat(params, state.pending)
    state.hand[state.left[state.pending], kind] -= 1
    state.hand[seat, kind] += 1
    state.received[seat, params.pass_start[state.phase - 1] + state.drawn] = kind
    state.drawn += 1
    if state.drawn == params.pass_counts[state.phase - 1]:
        next_dummy(state, params, state.pending + 1)


# -------------------------------------------------------------------------------------------------- end of the round


@kernel(allocates=True)
def score_round(state: State, params: Params) -> None:
    """Every player scores its hand on all four goals; the game ends or another round begins (P10, P18)."""
    n = params.num_players
    held = np.empty(NUM_LETTERS, np.int64)
    highest = 0
    for seat in range(n):
        count_letters(state, params, seat, held)
        points = 0
        for hand in range(HANDS):
            points += goal_points(params, state.goal[hand], held)  # equal goals each score (P17)
        state.round_score[seat] = points
        state.total[seat] += points
        highest = max(highest, int(state.total[seat]))
    state.rounds += 1
    remember_round(state, params)
    if params.reward == SCORE:
        against_the_others(state.round_score, n, MOST, POINTS_PER_REWARD, state.reward)
    if highest >= params.target_score or state.rounds >= params.num_rounds:
        state.terminated = True
        pay_game(state, params)
    else:
        start_round(state, params)


@kernel
def count_letters(state: State, params: Params, seat: int, held: Integers) -> None:
    """Write to ``held`` how many cards of each letter ``seat`` holds."""
    for letter in range(NUM_LETTERS):
        held[letter] = 0
    for kind in range(params.num_kinds):
        held[params.letter[kind]] += state.hand[seat, kind]


@kernel
def goal_points(params: Params, kind: int, held: Integers) -> int:
    """Each combination of the goal pays for every disjoint copy of it among the letters held (P14, P15, P16)."""
    points = 0
    for combination in range(params.first_combination[kind], params.first_combination[kind + 1]):
        copies = params.hand_size
        for letter in range(NUM_LETTERS):
            needed = params.need[combination, letter]
            if needed > 0:
                copies = min(copies, held[letter] // needed)
        points += copies * params.points[combination]
    return points


@kernel(allocates=True)
def pay_game(state: State, params: Params) -> None:
    """Highest total wins, then most points in the final round, else it is shared (P19); "win", "rank" (P20)."""
    n = params.num_players
    score = np.empty(MAX_PLAYERS, np.int64)
    for seat in range(n):
        score[seat] = int(state.total[seat]) * TIE_BREAK + int(state.round_score[seat])
    if params.reward == WIN:
        win_share(score, n, MOST, state.reward)
    elif params.reward == RANK:
        rank_payoff(score, n, MOST, state.reward)
