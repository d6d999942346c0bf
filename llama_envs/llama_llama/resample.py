"""What a seat of Llama Llama cannot know, redrawn from what is possible.

Between the left and the right hand of ``seat`` the table is a chain of three other hands, numbered 1, 2, 3 to the left,
each a player's or a dummy: cards that the seat passes enter hand 1, cross *edge* 1 to hand 2, edge 2 to hand 3, and
edge 3 brings them back to the seat. In every pass every edge carries the same number of cards. A player sends on what
it held before the pass, a dummy also what it has just been given.

A *world* tells where every single card lies (also whose goal lies on which display), and for every card that the seat
received, whether it is one that the seat had passed before or one that it had never held. It is possible if some legal
game leads to it, with every kind of card that the seat has held, picked, passed, received and been shown. All possible
worlds are equally likely: two cards of a kind are two cards, and the seat follows those it has passed.

How: cards that the seat never held can have come from anywhere, so only those it passed are restricted. The cards of
one pass are a *class*; a later class reaches no further along the chain than an earlier one. ``draw_world`` puts the
classes at random, the last one first, where each can have got to by its own moves, and deals the free cards into the
places that remain. Worlds that need more room on some edge in some pass than there is are refused and drawn again
(``find_moves``), and the draws are weighted so that what is not refused is uniform, exactly.

What the other players picked and received on the way (``passed``, ``received``) is one legal course of events that
leads to the world, found at random but not uniformly. Picks of the running cycle are a random set of cards in hand.
"""

from __future__ import annotations

import numpy as np

from llama_envs.core.chance import draw_below, draw_card, draw_unit
from llama_envs.core.compile import kernel
from llama_envs.llama_llama.config import DISPLAYS, HANDS, MAX_KINDS
from llama_envs.llama_llama.rules import next_seat
from llama_envs.llama_llama.state import GOALS

CLASSES = DISPLAYS - 1  # of passed cards: nobody decides anything after the last pass
FREE = CLASSES  # the class of all cards that the seat has never held
FAR = HANDS  # beyond hand 3: back in the hand of the seat
SHUFFLE = 840  # a multiple of 1 .. 8


@kernel
def resample_hidden(state, params, seat, streams, i):
    """Redraw all that ``seat`` cannot know uniformly from what is possible (module docstring), by stream ``i``.

    Nothing changes while a chance event is pending, or after the end of the game, when all hands have been shown.
    """
    if state.to_move < 0:
        return
    if state.phase == GOALS:
        redeal(state, params, seat, streams, i)
    else:
        draw_world(state, params, seat, streams, i)
        redraw_picks(state, params, seat, streams, i)


@kernel
def move_cards(source, size, number, target, streams, i):
    """Move ``number`` random cards from the pile ``source`` of ``size`` cards to the pile ``target``."""
    for _ in range(number):
        kind = draw_card(source, size, streams, i)
        source[kind] -= 1
        target[kind] += 1
        size -= 1


# --------------------------------------------------------------------------------------------- while goals are chosen


@kernel
def redeal(state, params, seat, streams, i):
    """All other hands anew, and a random goal for each seat that has chosen one."""
    unseen = params.deck_size - params.hand_size
    for hand in range(HANDS):
        if hand != seat:
            for kind in range(params.num_kinds):
                state.stock[kind] += state.hand[hand, kind]
                state.hand[hand, kind] = 0
    for hand in range(HANDS):
        if hand != seat:
            move_cards(state.stock, unseen, params.hand_size, state.hand[hand], streams, i)
            unseen -= params.hand_size
            if hand < state.to_move:
                state.goal[hand] = draw_card(state.hand[hand], params.hand_size, streams, i)


# --------------------------------------------------------------------------------------------- picks of the running pass


@kernel
def redraw_picks(state, params, seat, streams, i):
    """Other players' picks so far: the lowest of a random set of cards from their hands, in order."""
    start = params.pass_start[state.phase - 1]
    number = params.pass_counts[state.phase - 1]
    held = np.empty(MAX_KINDS, np.int64)
    chosen = np.empty(MAX_KINDS, np.int64)
    for other in range(params.num_players):
        picks = state.cycle + int(other < state.to_move)
        if other == seat or picks == 0:
            continue
        for kind in range(params.num_kinds):
            held[kind] = state.hand[other, kind]
            chosen[kind] = 0
        move_cards(held, params.hand_size - 1, number, chosen, streams, i)
        write_cards(chosen, picks, state.passed[other], start)


@kernel
def write_cards(pile, number, log, place):
    """Write the ``number`` lowest cards of ``pile`` to ``log`` from ``place`` on, in order of their kinds."""
    kind = 0
    left = pile[kind]
    for k in range(place, place + number):
        while left == 0:
            kind += 1
            left = pile[kind]
        log[k] = kind
        left -= 1


# ------------------------------------------------------------------------------------------------- the chain and reach


@kernel
def find_chain(state, params, seat, chain):
    """Write the seat and the three hands to its left to ``chain``."""
    chain[0] = seat
    player = seat
    k = 1
    while k < HANDS:
        chain[k] = state.left[player]
        player = next_seat(params, player)
        if chain[k] >= params.num_players and k + 1 < HANDS:
            k += 1
            chain[k] = player
        k += 1


@kernel
def is_dummy(params, chain, k):
    """Whether hand ``k`` of the chain is a dummy."""
    return k < HANDS and chain[k] >= params.num_players


@kernel
def furthest(params, chain, steps):
    """The furthest hand that a card can be in ``steps`` passes after the one in which the seat passed it."""
    k = 0
    for _ in range(steps + 1):
        k += 1
        if is_dummy(params, chain, k):
            k += 1
        if k >= FAR:
            return FAR
    return k


# ------------------------------------------------------------------------------------------------------------- a world


@kernel
def draw_world(state, params, seat, streams, i):
    """Redraw the other hands, goals and owners, the stock, and the logs of the other players."""
    kinds = params.num_kinds
    passes = state.phase - 1  # finished ones
    room = params.hand_size - 1
    chain = np.empty(HANDS, np.int64)
    find_chain(state, params, seat, chain)

    shown = np.empty(DISPLAYS, np.int64)  # kinds of the revealed goals; -1: face down
    for display in range(DISPLAYS):
        shown[display] = state.goal[state.owner[display]] if display < state.phase else -1
    unseen = np.empty(MAX_KINDS, np.int64)  # cards of each kind that the seat was not dealt
    away = np.zeros((CLASSES, MAX_KINDS), np.int64)  # cards of each class by kind: passed and not back
    got = np.zeros((CLASSES, MAX_KINDS), np.int64)  # cards received in each pass by kind
    know_cards(state, params, seat, unseen, away, got)
    most = np.empty(CLASSES, np.int64)  # at most so many cards of each class have come back
    returns = count_returns(params, chain, passes, away, got, most)
    chances = np.empty(DISPLAYS, np.float64)  # how likely the own goal is to lie on each display
    weigh_displays(state, params, seat, shown, unseen, away, got, chain, passes, most, chances)

    free = np.empty(MAX_KINDS, np.int64)  # cards that the seat has never held nor seen, by kind
    out = np.empty((CLASSES, MAX_KINDS), np.int64)  # as ``away``, for this draw
    back = np.empty((CLASSES, CLASSES, MAX_KINDS), np.int64)  # returned cards by pass, class and kind
    crossed = np.empty((HANDS, CLASSES, CLASSES), np.int64)  # cards that cross an edge, by edge, class and pass
    lies = np.empty((CLASSES, HANDS), np.int64)  # cards of each class in each hand of the chain
    while True:
        mine = draw_index(chances, streams, i)
        for kind in range(kinds):
            free[kind] = unseen[kind]
        for display in range(state.phase):
            if display != mine:
                free[shown[display]] -= 1
        out[:] = away
        back[:] = 0
        crossed[:] = 0
        if returns > 0 and not draw_returns(
            params, chain, passes, got, free, out, back, crossed[HANDS - 1], most, streams, i
        ):
            continue
        if not draw_places(params, chain, passes, room, crossed[HANDS - 1], lies, streams, i):
            continue
        if find_moves(params, chain, passes, room, lies, crossed, streams, i):
            break

    for pass_ in range(passes):
        for kind in range(kinds):
            came_back = 0
            for c in range(CLASSES):
                came_back += back[pass_, c, kind]
            if returns == 0:
                free[kind] -= got[pass_, kind]
    total = 0
    for kind in range(kinds):
        total += free[kind]
    total -= draw_goals(state, params, seat, shown, mine, free, total, streams, i)
    piles = np.zeros((CLASSES + 1, HANDS, MAX_KINDS), np.int64)  # cards by class, hand of the chain and kind
    for k in range(1, HANDS):
        places = room
        for c in range(passes):
            left = 0
            for kind in range(kinds):
                left += out[c, kind]
            move_cards(out[c], left, lies[c, k], piles[c, k], streams, i)
            places -= lies[c, k]
        move_cards(free, total, places, piles[FREE, k], streams, i)
        total -= places
        for kind in range(kinds):
            held = piles[FREE, k, kind]
            for c in range(passes):
                held += piles[c, k, kind]
            state.hand[chain[k], kind] = held
    for kind in range(kinds):
        state.stock[kind] = free[kind]
    write_past(state, params, chain, passes, piles, back, got, crossed, streams, i)
