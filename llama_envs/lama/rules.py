"""The rules of L.L.A.M.A., clause by clause (README.md), each function on one game.

Actions: play rank 0 .. R-1 (the last is the llama), then draw, quit, keep, return white, return black, ten white to
black, black to ten white, counted from R by the offsets below. ``apply`` never draws a card: it leaves a chance event.
"""

from __future__ import annotations

import numpy as np

from llama_envs.core.chance import draw_below, draw_card, draw_packed_card, pack_pile, unpack_pile
from llama_envs.core.compile import kernel
from llama_envs.core.contract import Floats, Mask, Params, State, Streams
from llama_envs.core.payoff import RANK, SCORE, WIN, against_the_others, rank_payoff, win_share
from llama_envs.lama.config import MAX_PLAYERS, MAX_RANKS
from llama_envs.lama.history import forget_events, remember_decision, remember_hands
from llama_envs.lama.state import DEAL, DRAW, EXCHANGE, NOTHING, RETURN, STARTER, TO_BLACK, TO_WHITE, TURN, UNDECIDED

DRAW_CARD, QUIT, KEEP, RETURN_WHITE, RETURN_BLACK, WHITE_TO_BLACK, BLACK_TO_WHITE = 0, 1, 2, 3, 4, 5, 6
LLAMA_PENALTY = 10
BLACK_CHIP = 10
NO_CARDS = np.uint64(0)  # a packed pile
FEWEST = -1  # points win (L17)
POINTS_PER_REWARD = 10.0  # (L20 "score")


# ---------------------------------------------------------------------------------------------- a game and its rounds


@kernel
def start_game(state: State, params: Params) -> None:
    """An empty table; chance decides who opens unless the configuration does (L5)."""
    state.terminated = False
    state.truncated = False
    state.rounds = 0
    forget_events(state)
    for seat in range(MAX_PLAYERS):
        state.white[seat] = 0
        state.black[seat] = 0
        state.total[seat] = 0
        state.reward[seat] = 0.0
    clear_table(state, params)
    if params.first_player >= 0:
        start_round(state, params, params.first_player)
    else:
        state.chance = STARTER


@kernel
def clear_table(state: State, params: Params) -> None:
    """All cards in the stock, nobody's turn (L1, L4)."""
    for seat in range(MAX_PLAYERS):
        state.hand_size[seat] = 0
        state.active[seat] = 0
        state.change[seat] = 0
        for rank in range(MAX_RANKS):
            state.hand[seat, rank] = 0
            state.played[seat, rank] = 0
            state.drew_on[seat, rank] = 0
    for rank in range(MAX_RANKS):
        state.stock[rank] = params.copies if rank < params.num_ranks else 0
        state.discard[rank] = 0
    state.stock_size = params.num_ranks * params.copies
    state.top = -1
    state.to_move = -1
    state.phase = TURN
    state.num_active = 0
    state.starter = -1
    state.last_actor = -1
    state.dealing = 0
    state.asked = 0
    state.direction = UNDECIDED


@kernel
def start_round(state: State, params: Params, starter: int) -> None:
    """Shuffle everything and deal (L4)."""
    clear_table(state, params)
    for seat in range(params.num_players):
        state.active[seat] = 1
    state.num_active = params.num_players
    state.starter = starter
    state.last_actor = starter
    state.chance = DEAL


# --------------------------------------------------------------------------------------------------------- the stock


@kernel
def take_from_stock(state: State, rank: int) -> None:
    """One card leaves the stock."""
    state.stock[rank] -= 1
    state.stock_size -= 1


@kernel
def deal_card(state: State, params: Params, rank: int) -> None:
    """The next card of the deal: each seat's hand in turn, then the first discard (L4)."""
    take_from_stock(state, rank)
    seat = state.dealing
    if seat < params.num_players:
        state.hand[seat, rank] += 1
        state.hand_size[seat] += 1
        if state.hand_size[seat] == params.cards_each:
            state.dealing += 1
    else:
        state.discard[rank] += 1
        state.top = rank
        state.chance = NOTHING
        state.to_move = state.starter


@kernel
def deal(state: State, params: Params, streams: Streams, i: int) -> None:
    """The deal from a full stock at once: the cards that ``deal_card`` would deal one by one (L4)."""
    stock = pack_pile(state.stock)
    for seat in range(params.num_players):
        hand = NO_CARDS
        for _ in range(params.cards_each):
            card = draw_packed_card(stock, state.stock_size, streams, i)
            stock -= card
            hand += card
            state.stock_size -= 1
        unpack_pile(hand, state.hand[seat])
        state.hand_size[seat] = params.cards_each
    unpack_pile(stock, state.stock)
    state.dealing = params.num_players
    deal_card(state, params, draw_card(state.stock, state.stock_size, streams, i))


@kernel
def drawn_card(state: State, params: Params, rank: int) -> None:
    """The card that the last actor draws; it cannot be played in this turn (L7)."""
    take_from_stock(state, rank)
    seat = state.last_actor
    state.hand[seat, rank] += 1
    state.hand_size[seat] += 1
    state.chance = NOTHING
    next_turn(state, params, seat)


@kernel
def chance_outcomes(state: State, params: Params, probs: Floats) -> int:
    """Write the probability of each outcome of the pending event to ``probs``; returns how many outcomes there are."""
    if state.chance == STARTER:
        for seat in range(params.num_players):
            probs[seat] = 1.0 / params.num_players
        return params.num_players
    for rank in range(params.num_ranks):
        probs[rank] = state.stock[rank] / state.stock_size
    return params.num_ranks


@kernel
def sample_chance(state: State, params: Params, streams: Streams, i: int) -> int:
    """An outcome of the pending event, drawn from stream ``i`` with the probabilities of ``chance_outcomes``."""
    if state.chance == STARTER:
        return draw_below(streams, i, params.num_players)
    return draw_card(state.stock, state.stock_size, streams, i)


@kernel
def apply_chance(state: State, params: Params, outcome: int) -> None:
    """Resolve the pending event: the opening seat, a dealt card or a drawn card."""
    if state.chance == DEAL:
        deal_card(state, params, outcome)
    elif state.chance == DRAW:
        drawn_card(state, params, outcome)
    else:
        start_round(state, params, outcome)


@kernel(inline=True)
def resolve_chance(state: State, params: Params, streams: Streams, i: int) -> None:
    """Resolve pending events from stream ``i``, as ``sample_chance`` and ``apply_chance`` do one by one."""
    while state.chance != NOTHING:
        if state.chance == DEAL and state.stock_size == params.num_ranks * params.copies:
            deal(state, params, streams, i)
        else:
            apply_chance(state, params, sample_chance(state, params, streams, i))


# ------------------------------------------------------------------------------------------------------------ a turn


@kernel(inline=True)
def next_rank(params: Params, rank: int) -> int:
    """1, 2, ..., 6, llama and 1 again (L6)."""
    return rank + 1 if rank + 1 < params.num_ranks else 0


@kernel(inline=True)
def can_play(state: State, params: Params, seat: int) -> bool:
    """Whether the seat holds the top rank or the next one (L6)."""
    return state.hand[seat, state.top] > 0 or state.hand[seat, next_rank(params, state.top)] > 0


@kernel(inline=True)
def legal_actions(state: State, params: Params, seat: int, mask: Mask) -> None:
    """Set ``mask[action]`` for everything ``seat`` may do now; nothing if it is not to move."""
    for action in range(len(mask)):
        mask[action] = False
    if seat != state.to_move:
        return
    after_ranks = params.num_ranks
    if state.phase == TURN:
        same = state.top
        higher = next_rank(params, same)
        mask[same] = state.hand[seat, same] > 0  # L6
        mask[higher] = state.hand[seat, higher] > 0  # L6
        mask[after_ranks + DRAW_CARD] = state.stock_size > 0 and state.num_active > 1  # L7, L10
        mask[after_ranks + QUIT] = True  # L8
    elif state.phase == RETURN:
        mask[after_ranks + KEEP] = True  # L12
        mask[after_ranks + RETURN_WHITE] = state.white[seat] > 0
        mask[after_ranks + RETURN_BLACK] = state.black[seat] > 0
    else:
        mask[after_ranks + KEEP] = True  # L15
        mask[after_ranks + WHITE_TO_BLACK] = state.direction != TO_WHITE and state.white[seat] >= BLACK_CHIP
        mask[after_ranks + BLACK_TO_WHITE] = state.direction != TO_BLACK and state.black[seat] > 0


@kernel(inline=True)
def apply(state: State, params: Params, action: int) -> None:
    """One decision of the seat to move; the action must be legal."""
    seat = state.to_move
    for other in range(params.num_players):
        state.reward[other] = 0.0
    remember_decision(state, params, seat, action)
    choice = action - params.num_ranks
    if state.phase == RETURN:
        return_chip(state, seat, choice)
        collect_chips(state, params)
    elif state.phase == EXCHANGE:
        exchange_chips(state, seat, choice)
        ask_for_exchange(state, params)
    elif choice < 0:
        play(state, params, seat, action)
    elif choice == DRAW_CARD:
        draw(state, seat)
    else:
        quit_round(state, params, seat)


@kernel(inline=True)
def play(state: State, params: Params, seat: int, rank: int) -> None:
    """A card goes onto the discard pile; the last card ends the round at once (L6, L11)."""
    state.hand[seat, rank] -= 1
    state.hand_size[seat] -= 1
    state.discard[rank] += 1
    state.played[seat, rank] += 1
    state.top = rank
    state.last_actor = seat
    if state.hand_size[seat] == 0:
        end_round(state, params, seat)
    else:
        next_turn(state, params, seat)


@kernel
def draw(state: State, seat: int) -> None:
    """A card is due from the stock (L7)."""
    state.drew_on[seat, state.top] += 1
    state.last_actor = seat
    state.to_move = -1
    state.chance = DRAW


@kernel
def quit_round(state: State, params: Params, seat: int) -> None:
    """The hand stays and counts; no more turns in this round (L8)."""
    state.active[seat] = 0
    state.num_active -= 1
    state.last_actor = seat
    next_turn(state, params, seat)


@kernel(inline=True)
def next_turn(state: State, params: Params, seat: int) -> None:
    """The next seat that has not quit (L9); the round ends when nobody is left, or the last one is stuck (L11)."""
    if state.num_active == 0:
        end_round(state, params, -1)
        return
    seat = seat + 1 if seat + 1 < params.num_players else 0
    while state.active[seat] == 0:
        seat = seat + 1 if seat + 1 < params.num_players else 0
    if state.num_active == 1 and not can_play(state, params, seat):
        end_round(state, params, -1)
    else:
        state.to_move = seat


# -------------------------------------------------------------------------------------------------- end of the round


@kernel
def penalty(state: State, params: Params, seat: int) -> int:
    """Each rank held counts once, however many copies; the llama 10 (L13)."""
    llama = params.num_ranks - 1
    points = 0
    for rank in range(llama):
        if state.hand[seat, rank] > 0:
            points += rank + 1
    if state.hand[seat, llama] > 0:
        points += LLAMA_PENALTY
    return points


@kernel
def end_round(state: State, params: Params, emptied: int) -> None:
    """Scoring begins; the seat that emptied its hand (-1: nobody) may return a chip first (L11, L12)."""
    if emptied >= 0 and state.total[emptied] > 0:
        if params.ask_return == 1:
            state.phase = RETURN
            state.to_move = emptied
            return
        return_chip(state, emptied, RETURN_BLACK if state.black[emptied] > 0 else RETURN_WHITE)
    collect_chips(state, params)


@kernel
def return_chip(state: State, seat: int, choice: int) -> None:
    """One chip goes back to the supply, or none (L12)."""
    if choice == RETURN_WHITE:
        state.white[seat] -= 1
        change_total(state, seat, -1)
    elif choice == RETURN_BLACK:
        state.black[seat] -= 1
        change_total(state, seat, -BLACK_CHIP)


@kernel
def change_total(state: State, seat: int, points: int) -> None:
    """Chips in hand and this round's part of them, in penalty points: white 1, black 10 (L2)."""
    state.total[seat] += points
    state.change[seat] += points


@kernel
def collect_chips(state: State, params: Params) -> None:
    """Every seat takes its penalty in chips (L13, L14); then exchanges (L15)."""
    remember_hands(state, params)
    for seat in range(params.num_players):
        points = penalty(state, params, seat)
        state.black[seat] += points // BLACK_CHIP
        state.white[seat] += points % BLACK_CHIP
        change_total(state, seat, points)
        while params.ask_exchange == 0 and state.white[seat] >= BLACK_CHIP:
            exchange_chips(state, seat, WHITE_TO_BLACK)
    state.direction = UNDECIDED
    if params.ask_exchange == 1:
        state.phase = EXCHANGE
        ask_for_exchange(state, params)
    else:
        finish_round(state, params)


@kernel
def exchange_chips(state: State, seat: int, choice: int) -> None:
    """Ten white for a black, a black for ten white, or enough of it (L15)."""
    if choice == WHITE_TO_BLACK:
        state.white[seat] -= BLACK_CHIP
        state.black[seat] += 1
        state.direction = TO_BLACK
    elif choice == BLACK_TO_WHITE:
        state.white[seat] += BLACK_CHIP
        state.black[seat] -= 1
        state.direction = TO_WHITE
    else:
        state.asked += 1
        state.direction = UNDECIDED


@kernel
def ask_for_exchange(state: State, params: Params) -> None:
    """The next seat from the starter on that can exchange (in its direction, once begun), or the end of the round."""
    while state.asked < params.num_players:
        seat = (state.starter + state.asked) % params.num_players
        if (state.direction != TO_WHITE and state.white[seat] >= BLACK_CHIP) or (
            state.direction != TO_BLACK and state.black[seat] > 0
        ):
            state.to_move = seat
            return
        state.asked += 1
        state.direction = UNDECIDED
    finish_round(state, params)


@kernel
def finish_round(state: State, params: Params) -> None:
    """The round is scored: pay it, and end the game or deal again (L16, L18)."""
    n = params.num_players
    state.to_move = -1
    state.rounds += 1
    if params.reward == SCORE:
        against_the_others(state.change, n, FEWEST, POINTS_PER_REWARD, state.reward)
    highest = 0
    for seat in range(n):
        highest = max(highest, state.total[seat])
    last_round = params.max_rounds > 0 and state.rounds >= params.max_rounds
    if highest >= params.target_score or (last_round and params.single_round == 1):
        state.terminated = True
        pay_game(state, params)
    elif last_round:
        state.truncated = True
    elif params.rotate == 1:
        start_round(state, params, (state.starter + 1) % n)
    else:
        start_round(state, params, state.last_actor)


@kernel
def pay_game(state: State, params: Params) -> None:
    """The lowest total wins, ties share (L17); "win" and "rank" are paid here (L20)."""
    if params.reward == WIN:
        win_share(state.total, params.num_players, FEWEST, state.reward)
    elif params.reward == RANK:
        rank_payoff(state.total, params.num_players, FEWEST, state.reward)


# ------------------------------------------------------------------------------------------- what a seat cannot know


@kernel
def resample_hidden(state: State, params: Params, seat: int, streams: Streams, i: int) -> None:
    """Redraw the stock and every other hand uniformly from what ``seat`` has seen, by stream ``i``.

    A seat knows its own hand, the discards and how many cards the others hold. It also knows that a last remaining seat
    to move can play (else the round would be over, L11). After scoring the hands lie open and stay as they are.
    """
    if state.phase == EXCHANGE or state.terminated or state.truncated:
        return
    while True:
        for other in range(params.num_players):
            if other != seat:
                hand_to_stock(state, params, other)
        for other in range(params.num_players):
            if other != seat:
                for _ in range(state.hand_size[other]):
                    rank = draw_card(state.stock, state.stock_size, streams, i)
                    take_from_stock(state, rank)
                    state.hand[other, rank] += 1
        if state.phase == RETURN or state.num_active != 1 or can_play(state, params, state.to_move):
            return


@kernel
def hand_to_stock(state: State, params: Params, seat: int) -> None:
    """The cards of a hand go back among the unseen ones; its size is remembered."""
    for rank in range(params.num_ranks):
        state.stock[rank] += state.hand[seat, rank]
        state.stock_size += state.hand[seat, rank]
        state.hand[seat, rank] = 0
