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
places that remain. Worlds in which an edge would have to carry more cards than it does are refused and drawn again
(``find_moves``), and the draws are weighted so that what is not refused is uniform, exactly.
A world takes 1 to 2 draws with the rulebook's pass counts; thousands, and so milliseconds, where almost whole hands
change hands twice and few cards after that, as with pass counts of 7, 7, 1.

What the other players picked and received on the way (``passed``, ``received``) is one legal course of events that
leads to the world, found at random but not uniformly. Picks of the running cycle are a random set of cards in hand.
"""

from __future__ import annotations

import numpy as np

from llama_envs.core.chance import draw_below, draw_card, draw_unit
from llama_envs.core.compile import kernel
from llama_envs.core.contract import Counts, Floats, Integers, Params, State, Streams
from llama_envs.llama_llama.config import DISPLAYS, HANDS, MAX_KINDS
from llama_envs.llama_llama.rules import next_seat
from llama_envs.llama_llama.state import GOALS

CLASSES = DISPLAYS - 1  # of passed cards: nobody decides anything after the last pass
FREE = CLASSES  # the class of all cards that the seat has never held
FAR = HANDS  # beyond hand 3: back in the hand of the seat
SHUFFLE = 840  # a multiple of 1 .. 8


@kernel
def resample_hidden(state: State, params: Params, seat: int, streams: Streams, i: int) -> None:
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
def move_cards(source: Counts, size: int, number: int, target: Counts, streams: Streams, i: int) -> None:
    """Move ``number`` random cards from the pile ``source`` of ``size`` cards to the pile ``target``."""
    for _ in range(number):
        kind = draw_card(source, size, streams, i)
        source[kind] -= 1
        target[kind] += 1
        size -= 1


# ----------------------------------------------------------------------------------------------- while goals are chosen


@kernel
def redeal(state: State, params: Params, seat: int, streams: Streams, i: int) -> None:
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


# -------------------------------------------------------------------------------------------- picks of the running pass


@kernel(allocates=True)
def redraw_picks(state: State, params: Params, seat: int, streams: Streams, i: int) -> None:
    """Other players' picks so far: the lowest of a random set of cards from their hands, in order."""
    start = params.pass_start[state.phase - 1]
    number = params.pass_counts[state.phase - 1]
    held = np.zeros(MAX_KINDS, np.int64)
    chosen = np.zeros(MAX_KINDS, np.int64)
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
def write_cards(pile: Counts, number: int, log: Counts, place: int) -> None:
    """Write the ``number`` lowest cards of ``pile`` to ``log`` from ``place`` on, in order of their kinds."""
    kind = 0
    left = pile[kind]
    for k in range(place, place + number):
        while left == 0:
            kind += 1
            left = pile[kind]
        log[k] = kind
        left -= 1


# -------------------------------------------------------------------------------------------------- the chain and reach


@kernel
def find_chain(state: State, params: Params, seat: int, chain: Integers) -> None:
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
def is_dummy(params: Params, chain: Integers, k: int) -> bool:
    """Whether hand ``k`` of the chain is a dummy."""
    return k < HANDS and chain[k] >= params.num_players


@kernel
def furthest(params: Params, chain: Integers, steps: int) -> int:
    """The furthest hand that a card can be in ``steps`` passes after the one in which the seat passed it."""
    k = 0
    for _ in range(steps + 1):
        k += 1
        if is_dummy(params, chain, k):
            k += 1
        if k >= FAR:
            return FAR
    return k


# -------------------------------------------------------------------------------------------------------------- a world


@kernel(allocates=True)
def draw_world(state: State, params: Params, seat: int, streams: Streams, i: int) -> None:
    """Redraw the other hands, the goals and whose they are, the stock, and the logs of the other players."""
    passes = int(state.phase) - 1  # finished ones
    chain = np.zeros(HANDS, np.int64)
    reach = np.zeros(CLASSES, np.int64)  # the furthest hand of the chain that each class can be in
    find_chain(state, params, seat, chain)
    for c in range(passes):
        reach[c] = min(furthest(params, chain, passes - 1 - c), FAR - 1)
    unseen = np.zeros(MAX_KINDS, np.int8)  # cards of each kind that the seat was not dealt
    passed = np.zeros((CLASSES, MAX_KINDS), np.int8)  # cards of each class by kind
    received = np.zeros((CLASSES, MAX_KINDS), np.int8)  # cards that came in each pass by kind
    shown = np.zeros(DISPLAYS, np.int64)  # kinds of the revealed goals; -1: face down
    recall(state, params, seat, passes, unseen, passed, received, shown)
    most = np.zeros(CLASSES, np.int64)  # at most so many cards of each class have come back
    count_returns(params, passes, passed, received, most)
    chances = np.zeros(DISPLAYS, np.float64)  # how likely the own goal is to lie on each display
    weigh_displays(state, params, seat, passes, reach, unseen, passed, received, shown, most, chances)

    free = np.zeros(MAX_KINDS, np.int8)  # cards that the seat has never held or been shown
    away = np.zeros((CLASSES, MAX_KINDS), np.int8)  # cards of each class that have not come back
    came = np.zeros((CLASSES, CLASSES + 1, MAX_KINDS), np.int8)  # received cards by pass, class and kind
    crossed = np.zeros((HANDS, CLASSES + 1, CLASSES), np.int64)  # cards that cross each edge, by class and pass
    lies = np.zeros((CLASSES + 1, HANDS), np.int64)  # cards of each class in each hand of the chain
    while True:
        mine = draw_index(chances, streams, i)
        set_aside_shown(params, unseen, shown, mine, free)
        if not split_received(
            params, passes, reach, passed, received, most, free, away, came, crossed, streams, i
        ):  # fmt: skip
            continue
        if not draw_places(params, chain, passes, reach, crossed, lies, streams, i):
            continue
        if find_moves(params, chain, passes, lies, crossed, streams, i):
            break

    draw_goals(state, params, seat, shown, mine, free, streams, i)
    piles = np.zeros((CLASSES + 1, HANDS, MAX_KINDS), np.int8)  # cards by class, hand of the chain and kind
    lay_out(state, params, chain, passes, lies, free, away, piles, streams, i)
    write_past(state, params, chain, passes, lies, came, crossed, piles, streams, i)


@kernel
def recall(
    state: State, params: Params, seat: int, passes: int, unseen: Counts, passed: Counts, received: Counts,
    shown: Integers,
) -> None:  # fmt: skip
    """What ``seat`` remembers of the round: cards it was not dealt, what it passed and received, revealed goals."""
    for kind in range(params.num_kinds):
        unseen[kind] = params.deck[kind] - state.hand[seat, kind]
    unseen[state.goal[seat]] -= 1
    for c in range(passes):
        for place in range(params.pass_start[c], params.pass_start[c + 1]):
            passed[c, state.passed[seat, place]] += 1
            unseen[state.passed[seat, place]] -= 1
            received[c, state.received[seat, place]] += 1
            unseen[state.received[seat, place]] += 1
    for display in range(DISPLAYS):
        shown[display] = state.goal[state.owner[display]] if display < state.phase else -1


@kernel
def set_aside_shown(params: Params, unseen: Counts, shown: Integers, mine: int, free: Counts) -> None:
    """``free``: the unseen cards without the revealed goals of others, if the own goal lies on display ``mine``."""
    for kind in range(params.num_kinds):
        free[kind] = unseen[kind]
    for display in range(DISPLAYS):
        if shown[display] >= 0 and display != mine:
            free[shown[display]] -= 1


# ----------------------------------------------------------------------------------------------- counting possibilities


@kernel
def count_returns(params: Params, passes: int, passed: Counts, received: Counts, most: Integers) -> None:
    """At most so many cards of each class are back, by their kinds; a round trip takes ``num_players`` passes."""
    lap = params.num_players - 1
    for c in range(passes - lap):
        for kind in range(params.num_kinds):
            chances = 0
            for pass_ in range(c + lap, passes):
                chances += received[pass_, kind]
            most[c] += min(chances, passed[c, kind])


@kernel
def arrangements(params: Params, passes: int, reach: Integers, returned: Integers, free: int) -> float:
    """In how many ways the cards away and then the ``free`` ones fill the places that each can be in.

    ``returned``: cards of each class that are not away. Later classes choose first, as earlier ones reach as far.
    """
    ways = 1.0
    taken = 0
    for c in range(passes - 1, -1, -1):
        for _ in range(params.pass_counts[c] - returned[c]):
            ways *= (params.hand_size - 1) * reach[c] - taken
            taken += 1
    for left in range(2, free + 1):
        ways *= left
    return ways


@kernel
def weigh_displays(
    state: State, params: Params, seat: int, passes: int, reach: Integers, unseen: Counts, passed: Counts,
    received: Counts, shown: Integers, most: Integers, chances: Floats,
) -> None:  # fmt: skip
    """Weights of the displays for the own goal: face-down ones and revealed ones of its kind, if it may lie there.

    A weight counts the ways to choose the revealed and received cards of that kind, and to arrange all that is left if
    as many cards as possible have come back (``split_received`` corrects for those that have not).
    """
    goal = state.goal[seat]
    alike = 0
    hidden_cards = params.deck_size - params.hand_size
    for c in range(passes):
        hidden_cards += most[c] - params.pass_counts[c]
    for display in range(DISPLAYS):
        alike += int(shown[display] == goal)
        hidden_cards -= int(shown[display] >= 0)
    ways = 1.0
    ways_if_shown = 0.0
    if alike > 0:
        ways = choices(params, passes, unseen[goal], alike, passed[:, goal], received[:, goal])
        ways_if_shown = choices(params, passes, unseen[goal], alike - 1, passed[:, goal], received[:, goal])
        ways *= arrangements(params, passes, reach, most, hidden_cards)
        ways_if_shown *= arrangements(params, passes, reach, most, hidden_cards + 1)
    for display in range(DISPLAYS):
        if (state.may_own[display] >> seat) & 1 == 0:
            chances[display] = 0.0
        elif shown[display] < 0:
            chances[display] = ways
        else:
            chances[display] = ways_if_shown if shown[display] == goal else 0.0


@kernel
def choices(params: Params, passes: int, unseen: int, shown: int, passed: Counts, received: Counts) -> float:
    """In how many ways cards of one kind can be those that others showed as goals and those received in each pass."""
    ways = 1.0
    pool = int(unseen)
    for _ in range(shown):
        ways *= max(pool, 0)
        pool -= 1
    for pass_ in range(passes):
        left = pass_ - (params.num_players - 1)
        if left >= 0:
            pool += passed[left]  # these can be back from now on
        for _ in range(received[pass_]):
            ways *= max(pool, 0)
            pool -= 1
    return ways


@kernel
def draw_index(weights: Floats, streams: Streams, i: int) -> int:
    """An index drawn in proportion to ``weights``."""
    total = 0.0
    for k in range(len(weights)):
        total += weights[k]
    left = draw_unit(streams, i) * total
    last = 0
    for k in range(len(weights)):
        if weights[k] > 0.0:
            last = k
            left -= weights[k]
            if left < 0.0:
                return k
    return last


# ---------------------------------------------------------------------------------------------------- drawing the cards


@kernel(allocates=True)
def split_received(
    params: Params, passes: int, reach: Integers, passed: Counts, received: Counts, most: Integers, free: Counts,
    away: Counts, came: Counts, crossed: Integers, streams: Streams, i: int,
) -> bool:  # fmt: skip
    """Draw which received cards are returned ones; False: draw again, so that each draw gets its due weight."""
    kinds = params.num_kinds
    lap = params.num_players - 1
    away[:] = passed
    came[:] = 0
    crossed[HANDS - 1, :, :] = 0
    for pass_ in range(passes):
        for kind in range(kinds):
            for _ in range(received[pass_, kind]):
                origin = FREE
                if pass_ >= lap:
                    origin = draw_origin(free[kind], away, pass_ - lap, kind, streams, i)
                came[pass_, origin, kind] += 1
                crossed[HANDS - 1, origin, pass_] += 1
                if origin == FREE:
                    free[kind] -= 1
                else:
                    away[origin, kind] -= 1
    if most[0] + most[1] + most[2] == 0:
        return True
    returned = np.zeros(CLASSES, np.int64)
    number = 0
    upper = 0
    for kind in range(kinds):
        number += free[kind]
    upper = number
    for c in range(passes):
        for pass_ in range(passes):
            returned[c] += crossed[HANDS - 1, c, pass_]
        upper += most[c] - returned[c]
    highest = arrangements(params, passes, reach, most, upper)
    return draw_unit(streams, i) * highest < arrangements(params, passes, reach, returned, number)


@kernel
def draw_origin(free: int, away: Counts, last: int, kind: int, streams: Streams, i: int) -> int:
    """The class of a received card of ``kind``: any unseen card of it, or one of the classes up to ``last``."""
    candidates = int(free)
    for c in range(last + 1):
        candidates += away[c, kind]
    left = draw_below(streams, i, candidates)
    for c in range(last + 1):
        if left < away[c, kind]:
            return c
        left -= away[c, kind]
    return FREE


@kernel
def draw_places(
    params: Params, chain: Integers, passes: int, reach: Integers, crossed: Integers, lies: Integers, streams: Streams,
    i: int,
) -> bool:  # fmt: skip
    """Draw how many cards of each class lie in each hand: every card in a random place of those in its reach.

    False as soon as more cards of a class are beyond an edge than can have crossed it (``find_moves`` looks closer).
    """
    capacity = params.hand_size - 1
    wait_1 = 0 if is_dummy(params, chain, 1) else 1  # passes before a card can cross edge 1, and edge 2
    wait_2 = wait_1 if is_dummy(params, chain, 2) else wait_1 + 1
    taken = 0
    lies[:] = 0
    for c in range(passes - 1, -1, -1):
        number = params.pass_counts[c]
        for pass_ in range(passes):
            number -= crossed[HANDS - 1, c, pass_]
        for _ in range(number):
            place = draw_below(streams, i, capacity * reach[c] - taken)
            k = 1
            while place >= capacity - lies[FREE, k]:
                place -= capacity - lies[FREE, k]
                k += 1
            lies[c, k] += 1
            lies[FREE, k] += 1  # for now, the places taken
            taken += 1
        beyond = params.pass_counts[c] - lies[c, 1]
        if beyond > cards_passed(params, c + wait_1, passes):
            return False
        if beyond - lies[c, 2] > cards_passed(params, c + wait_2, passes):
            return False
    for k in range(1, HANDS):
        lies[FREE, k] = capacity - lies[FREE, k]
    return True


@kernel
def cards_passed(params: Params, first: int, passes: int) -> int:
    """How many cards crossed every edge from the pass ``first`` on."""
    return params.pass_start[passes] - params.pass_start[first] if first < passes else 0


@kernel
def draw_goals(
    state: State, params: Params, seat: int, shown: Integers, mine: int, free: Counts, streams: Streams, i: int
) -> None:
    """Whose goal lies on each display, and the cards face down there that are not the seat's own (P5, P6, P7)."""
    total = 0
    for kind in range(params.num_kinds):
        total += free[kind]
    placed = 1 << seat
    for display in range(DISPLAYS):
        if display == mine:
            state.owner[display] = seat
            continue
        owners = int(state.may_own[display]) & ~placed
        number = 0
        for hand in range(HANDS):
            number += (owners >> hand) & 1
        left = draw_below(streams, i, number)
        hand = 0
        while (owners >> hand) & 1 == 0 or left > 0:
            left -= (owners >> hand) & 1
            hand += 1
        placed |= 1 << hand
        state.owner[display] = hand
        if shown[display] >= 0:
            state.goal[hand] = shown[display]
        else:
            kind = draw_card(free, total, streams, i)
            free[kind] -= 1
            total -= 1
            state.goal[hand] = kind


@kernel
def lay_out(
    state: State, params: Params, chain: Integers, passes: int, lies: Integers, free: Counts, away: Counts,
    piles: Counts, streams: Streams, i: int,
) -> None:  # fmt: skip
    """Deal the cards of each class, and then the free ones, to the hands of the chain; the rest was never dealt."""
    total = 0
    for kind in range(params.num_kinds):
        total += free[kind]
    for c in range(passes):
        left = 0
        for k in range(1, HANDS):
            left += lies[c, k]
        for k in range(1, HANDS):
            move_cards(away[c], left, lies[c, k], piles[c, k], streams, i)
            left -= lies[c, k]
    for k in range(1, HANDS):
        move_cards(free, total, lies[FREE, k], piles[FREE, k], streams, i)
        total -= lies[FREE, k]
    for kind in range(params.num_kinds):
        state.stock[kind] = free[kind]
        for k in range(1, HANDS):
            held = piles[FREE, k, kind]
            for c in range(passes):
                held += piles[c, k, kind]
            state.hand[chain[k], kind] = held


# ------------------------------------------------------------------------------------------------------------- the past


@kernel(allocates=True)
def find_moves(
    params: Params, chain: Integers, passes: int, lies: Integers, crossed: Integers, streams: Streams, i: int
) -> bool:
    """Find in which pass the cards crossed edges 1 and 2, so that they lie where they do; False if that is impossible.

    Written to ``crossed``, where edge 3 is given. In the last pass must cross what has not crossed before, so at most
    four numbers are open; all their values are tried, from a random one on.
    """
    if passes == 0:
        return True
    last = passes - 1
    over = np.zeros((HANDS, CLASSES), np.int64)  # cards of each class that are beyond each edge at last
    for c in range(passes):
        for pass_ in range(passes):
            over[2, c] += crossed[3, c, pass_]
        over[2, c] += lies[c, 3]
        over[1, c] = over[2, c] + lies[c, 2]
    through = is_dummy(params, chain, 1)  # cards can cross edge 1 in the pass in which they were passed
    ways_0 = over[1, 0] + 1 if through and last > 0 else 1
    ways_1 = over[1, 0] + 1 if last > 1 else 1
    ways_2 = over[1, 1] + 1 if through and last > 1 else 1
    ways_3 = over[2, 0] + 1 if last > 1 else 1
    ways = ways_0 * ways_1 * ways_2 * ways_3
    first = draw_below(streams, i, ways) if ways > 1 else 0
    for k in range(ways):
        code = k + first if k + first < ways else k + first - ways
        crossed[1, :CLASSES, :] = 0
        crossed[2, :CLASSES, :] = 0
        crossed[1, 0, 0] = code % ways_0
        code //= ways_0
        crossed[1, 0, 1] = code % ways_1
        code //= ways_1
        crossed[1, 1, 1] = code % ways_2
        crossed[2, 0, 1] = code // ways_2
        possible = True
        for edge in range(1, 3):
            for c in range(passes):
                left = over[edge, c]
                for pass_ in range(last):
                    left -= crossed[edge, c, pass_]
                crossed[edge, c, last] = left
                possible = possible and left >= 0
        if possible and moves_fit(params, chain, passes, crossed):
            return True
    return False


@kernel(allocates=True)
def moves_fit(params: Params, chain: Integers, passes: int, crossed: Integers) -> bool:
    """Whether every hand had the cards of each class that it sends, and free ones to fill up each pass.

    Also completes ``crossed``: what the seat itself passed (edge 0), and the free cards.
    """
    capacity = params.hand_size - 1
    held = np.zeros((CLASSES, HANDS), np.int64)
    for pass_ in range(passes):
        number = params.pass_counts[pass_]
        for c in range(CLASSES):
            crossed[0, c, pass_] = number if c == pass_ else 0
        crossed[0, FREE, pass_] = 0
        for k in range(1, HANDS):
            sent = 0
            kept = 0
            for c in range(pass_ + 1):
                ready = held[c, k] + (crossed[k - 1, c, pass_] if is_dummy(params, chain, k) else 0)
                if crossed[k, c, pass_] > ready:
                    return False
                kept += ready - crossed[k, c, pass_]
                sent += crossed[k, c, pass_]
            crossed[k, FREE, pass_] = number - sent
            if sent > number or kept > (capacity if is_dummy(params, chain, k) else capacity - number):
                return False
        for k in range(1, HANDS):
            for c in range(pass_ + 1):
                held[c, k] += crossed[k - 1, c, pass_] - crossed[k, c, pass_]
    return True


@kernel(allocates=True)
def write_past(
    state: State, params: Params, chain: Integers, passes: int, lies: Integers, came: Counts, crossed: Integers,
    piles: Counts, streams: Streams, i: int,
) -> None:  # fmt: skip
    """Take back pass after pass, from the last one on, and log what the other players passed and received in it."""
    edge = np.zeros((CLASSES + 1, MAX_KINDS), np.int8)  # cards that cross an edge in a pass, by class and kind
    back = np.zeros((CLASSES + 1, MAX_KINDS), np.int8)
    for pass_ in range(passes - 1, -1, -1):
        edge[:] = came[pass_]
        for k in range(HANDS - 1, 0, -1):  # the cards on edge k return to hand k, which returns those it was given
            dummy = is_dummy(params, chain, k)
            if not dummy:
                log_cards(params, edge, state.passed[chain[k]], pass_)
            else:
                give_back(params, edge, piles, lies, crossed, k, pass_)
            back[:] = 0
            for c in range(CLASSES + 1):
                number = crossed[k - 1, c, pass_]
                move_cards(piles[c, k], lies[c, k], number, back[c], streams, i)
                lies[c, k] -= number
            if not dummy:
                log_cards(params, back, state.received[chain[k]], pass_)
                give_back(params, edge, piles, lies, crossed, k, pass_)
            edge[:] = back


@kernel
def give_back(
    params: Params, edge: Counts, piles: Counts, lies: Integers, crossed: Integers, k: int, pass_: int
) -> None:
    """The cards on edge ``k`` lie in hand ``k`` again."""
    for c in range(CLASSES + 1):
        lies[c, k] += crossed[k, c, pass_]
        for kind in range(params.num_kinds):
            piles[c, k, kind] += edge[c, kind]


@kernel
def log_cards(params: Params, edge: Counts, log: Counts, pass_: int) -> None:
    """Write the cards on an edge to ``log``, in order of their kinds."""
    place = params.pass_start[pass_]
    for kind in range(params.num_kinds):
        for c in range(CLASSES + 1):
            for _ in range(edge[c, kind]):
                log[place] = kind
                place += 1
