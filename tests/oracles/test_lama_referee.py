"""The referee of L.L.A.M.A. against the worked values of the rules page, scripted rounds and published figures."""

import random
from collections import Counter
from fractions import Fraction
from itertools import chain, combinations
from math import sqrt
from statistics import mean, stdev
from typing import Any

import pytest

from tests.oracles.lama import LamaReferee, penalty

LLAMA = 6


def cards(text: str) -> list[int]:
    """Rank indices of cards as a player writes them: "1 6 L" is [0, 5, 6]."""
    return [LLAMA if card == "L" else int(card) - 1 for card in text.split()]


def deal(referee: LamaReferee, *hands: str, top: str) -> None:
    """Force the pending deal: these hands in seat order, then the turned-up card."""
    for card in [*chain.from_iterable(cards(hand) for hand in hands), *cards(top)]:
        referee.resolve(card)


def dealt(*hands: str, top: str, first_player: int = 0, **settings: Any) -> LamaReferee:
    """A game in its first round with these hands; the default chip decisions are off unless a test sets them."""
    settings = {"chip_return": "auto", "hand_size": len(hands[0].split()), **settings}
    referee = LamaReferee(len(hands), first_player=first_player, **settings)
    deal(referee, *hands, top=top)
    return referee


def act(referee: LamaReferee, *names: str) -> None:
    for name in names:
        referee.act(name)


def play_randomly(referee: LamaReferee, rng: random.Random) -> None:
    """One step of a random game: a chance event by its probabilities, or a uniformly random legal action."""
    pending = referee.pending()
    if pending is not None:
        referee.resolve(rng.choices(list(pending), weights=[float(weight) for weight in pending.values()])[0])
    else:
        referee.act(rng.choice(sorted(referee.legal())))


# ---- components and deal ----


def test_deck_has_eight_cards_of_each_of_seven_ranks__L1() -> None:
    referee = LamaReferee(first_player=0)
    assert Counter(referee.stock) == dict.fromkeys(range(7), 8)
    assert referee.pending() == dict.fromkeys(range(7), Fraction(1, 7))


def test_white_chip_is_one_point_and_black_chip_ten__L2() -> None:
    referee = LamaReferee(2)
    referee.white, referee.black = [3, 0], [2, 1]
    assert referee.totals == [23, 10]


def test_chip_supply_does_not_run_out__L2() -> None:
    referee = dealt("6 6", "L L", top="1", target_score=1000, chip_exchange="choice")
    referee.white, referee.black = [50, 0], [0, 20]
    act(referee, "quit")
    assert (referee.white, referee.black) == ([56, 0], [0, 21])


def test_two_to_six_players_and_four_by_default__L3() -> None:
    assert LamaReferee().num_players == 4
    for num_players in range(2, 7):
        assert len(LamaReferee(num_players).hands) == num_players
    for num_players in (1, 7):
        with pytest.raises(ValueError, match="L3"):
            LamaReferee(num_players)


def test_six_cards_each_in_seat_order_then_one_turned_up__L4() -> None:
    referee = LamaReferee(3, first_player=2)
    dealt_cards = cards("1 2 3 4 5 6  L 1 2 3 4 5  6 L 1 2 3 4  5")
    for card in dealt_cards:
        assert (referee.phase, referee.to_move, referee.legal()) == ("chance", None, set())
        referee.resolve(card)
    assert referee.hands == [dealt_cards[0:6], dealt_cards[6:12], dealt_cards[12:18]]
    assert referee.discard == cards("5")
    assert Counter(referee.stock) == Counter(referee.deck) - Counter(dealt_cards)
    assert (referee.phase, referee.to_move, referee.pending()) == ("turn", 2, None)


def test_card_is_as_likely_as_its_share_of_the_undealt_cards__L4() -> None:
    referee = LamaReferee(2, first_player=0)
    for _ in range(8):
        referee.resolve(LLAMA)
    assert referee.pending() == {rank: Fraction(1, 6) for rank in range(6)}
    with pytest.raises(ValueError, match="not possible"):
        referee.resolve(LLAMA)
    referee.resolve(0)
    assert referee.pending() == {0: Fraction(7, 47), **{rank: Fraction(8, 47) for rank in range(1, 6)}}


def test_every_round_is_dealt_from_all_cards__L4() -> None:
    referee = dealt("1 1", "2 2", top="1")
    act(referee, "quit", "quit")
    assert referee.stock == referee.deck
    assert (referee.hands, referee.discard, referee.active) == ([[], []], [], [True, True])
    deal(referee, "3 3", "4 4", top="1")
    assert referee.hands == [cards("3 3"), cards("4 4")]


def test_first_player_is_each_seat_equally_often_by_default__L5() -> None:
    referee = LamaReferee(4)
    assert (referee.starter, referee.pending()) == (None, {seat: Fraction(1, 4) for seat in range(4)})
    referee.resolve(3)
    deal(referee, "1 1 1 1 1 1", "2 2 2 2 2 2", "3 3 3 3 3 3", "4 4 4 4 4 4", top="1")
    assert (referee.starter, referee.to_move) == (3, 3)


def test_first_player_may_be_a_seat__L5() -> None:
    assert dealt("1", "1", "1", top="1", first_player=1).to_move == 1


def test_who_played_its_last_card_opens_the_next_round__L5() -> None:
    referee = dealt("1 1", "3 3", "2 2", top="1")
    act(referee, "play 1", "quit", "play 2", "draw")  # seats 0, 1, 2, 0
    referee.resolve(LLAMA)
    referee.act("play 2")
    assert (referee.rounds_played, referee.last_actor, referee.starter) == (1, 2, 2)
    deal(referee, "1 1", "1 1", "1 1", top="1")
    assert (referee.to_move, referee.active) == (2, [True, True, True])


def test_last_remaining_seat_that_quits_opens_the_next_round__L5() -> None:
    referee = dealt("3 3", "1 1", "1 1", "3 3", top="1", first_player=1)
    act(referee, "quit", "play 1", "quit", "quit")  # seats 1, 2, 3, 0
    assert (referee.rounds_played, referee.to_move) == (0, 2)
    act(referee, "quit")
    assert (referee.rounds_played, referee.starter) == (1, 2)


def test_last_to_quit_opens_the_next_round_when_the_one_left_is_stuck__L5_L11() -> None:
    referee = dealt("6 6", "6 6", "3 3", "6 6", top="1", first_player=3)
    act(referee, "quit", "quit", "quit")  # seats 3, 0, 1; seat 2 is never asked
    assert (referee.rounds_played, referee.last_actor, referee.starter) == (1, 1, 1)


def test_rotating_starter_is_the_seat_after_the_last_starter__L5() -> None:
    referee = dealt("1", "1", "1", top="4", first_player=2, next_starter="rotate")
    starters = []
    for _ in range(3):
        act(referee, "quit", "quit")
        starters.append(referee.starter)
        deal(referee, "1", "1", "1", top="4")
    assert starters == [0, 1, 2]


# ---- a turn ----


@pytest.mark.parametrize(
    ("top", "playable"),
    [("1", "1 2"), ("2", "2 3"), ("3", "3 4"), ("4", "4 5"), ("5", "5 6"), ("6", "6 llama"), ("L", "llama 1")],
)
def test_same_rank_or_next_in_the_cycle_is_playable__L6(top: str, playable: str) -> None:
    referee = dealt("1 2 3 4 5 6 L", "1 1 1 1 1 2 2", top=top)
    assert referee.legal() == {f"play {rank}" for rank in playable.split()} | {"draw", "quit"}


def test_played_card_leaves_the_hand_and_becomes_the_top_discard__L6() -> None:
    referee = dealt("2 L 1 2", "1 1 1 1", top="1")
    referee.act("play 2")
    assert (Counter(referee.hands[0]), referee.discard) == (Counter(cards("L 1 2")), cards("1 2"))
    assert referee.to_move == 1
    assert referee.legal() == {"draw", "quit"}


def test_illegal_action_is_refused_and_changes_nothing__L6() -> None:
    referee = dealt("1 3", "1 1", top="1")
    for name in ("play 2", "play 3", "play llama", "keep", "return white", "no such action"):
        with pytest.raises(ValueError, match="not legal for seat 0"):
            referee.act(name)
    assert (referee.hands[0], referee.discard, referee.to_move) == (cards("1 3"), cards("1"), 0)


def test_draw_ends_the_turn_also_when_the_drawn_card_fits__L7() -> None:
    referee = dealt("3 3", "4 4", top="1")
    referee.act("draw")
    assert referee.phase == "chance"
    assert referee.pending() == {
        rank: Fraction(count, 51)
        for rank, count in enumerate([7, 8, 6, 6, 8, 8, 8])  # 56 - 5 cards
    }
    referee.resolve(0)
    assert (referee.hands[0], referee.to_move, referee.last_actor) == (cards("3 3 1"), 1, 0)
    assert len(referee.stock) == 50


def test_empty_stock_forbids_drawing_and_discards_stay__L7() -> None:
    hands = ["1 1 1 1 1 1", "2 2 2 2 2 2", "3 3 3 3 3 3", "4 4 4 4 4 4", "5 5 5 5 5 5", "6 6 6 6 6 6"]
    referee = dealt(*hands, top="L")
    referee.act("play 1")
    for drawn in range(19):
        assert (referee.to_move, len(referee.stock)) == ((drawn + 1) % 6, 19 - drawn)
        referee.act("draw")
        referee.resolve(referee.stock[-1])
    assert (referee.to_move, referee.stock, referee.discard) == (2, [], cards("L 1"))
    assert Counter(chain(*referee.hands, referee.discard)) == Counter(referee.deck)
    assert "draw" not in referee.legal()
    referee.act("quit")
    for _ in range(4):
        assert "draw" not in referee.legal()
        referee.act("quit")


def test_stock_may_be_empty_from_the_deal_on__L7_L19() -> None:
    referee = LamaReferee(2, first_player=0, num_ranks=3, copies=3, hand_size=4)
    for card in [0, 0, 0, 1, 1, 1, 2, 2]:
        referee.resolve(card)
    assert referee.pending() == {2: Fraction(1)}  # one outcome, and still an event
    referee.resolve(2)
    assert (referee.stock, referee.legal()) == ([], {"play 1", "quit"})


def test_quitting_is_allowed_also_with_a_playable_card__L8() -> None:
    referee = dealt("1 1", "1 1", top="1")
    assert referee.legal() == {"play 1", "draw", "quit"}


def test_quitter_takes_no_more_turns_and_keeps_its_penalty__L8_L13() -> None:
    referee = dealt("6 L", "1 1", "1 2", top="1")
    act(referee, "quit")
    assert (referee.active, referee.hands[0]) == ([False, True, True], cards("6 L"))
    act(referee, "play 1", "play 1", "play 1")
    assert (referee.rounds_played, referee.totals) == (1, [16, 0, 2])


def test_who_neither_plays_nor_draws_must_quit__L8() -> None:
    referee = dealt("3 4 5", "2 6 L", top="1", copies=1)
    assert (referee.stock, referee.active, referee.legal()) == ([], [True, True], {"quit"})


def test_turns_go_round_in_seat_order_skipping_quitters__L9() -> None:
    referee = dealt("1 1 1", "3 3 3", "1 1 1", "3 3 3", top="1", first_player=2)
    order = []
    for name in ("play 1", "quit", "play 1", "draw", "play 1", "play 1", "quit", "play 1"):
        order.append(referee.to_move)
        referee.act(name)
        if referee.phase == "chance" and name == "draw":
            referee.resolve(LLAMA)
    assert order == [2, 3, 0, 1, 2, 0, 1, 2]
    assert referee.rounds_played == 1


def test_last_remaining_seat_may_not_draw__L10() -> None:
    referee = dealt("3 3", "3 3", "1 5", top="1")
    assert "draw" in referee.legal()
    act(referee, "quit")
    assert "draw" in referee.legal()  # two are left
    act(referee, "quit")
    assert (referee.to_move, referee.legal()) == (2, {"play 1", "quit"})


def test_last_remaining_seat_goes_on_playing__L10() -> None:
    referee = dealt("3 3 3", "1 1 2", top="1")
    act(referee, "quit", "play 1")
    assert (referee.to_move, referee.legal()) == (1, {"play 1", "play 2", "quit"})
    act(referee, "play 1")
    assert (referee.to_move, referee.legal()) == (1, {"play 2", "quit"})


# ---- end of a round ----


def test_round_ends_when_a_seat_plays_its_last_card__L11() -> None:
    referee = dealt("1", "1", "1", top="1")
    referee.act("play 1")
    assert (referee.rounds_played, referee.totals) == (1, [0, 1, 1])


def test_round_ends_when_every_seat_has_quit__L11() -> None:
    referee = dealt("1 1", "2 2", top="1")
    act(referee, "quit")
    assert (referee.rounds_played, referee.to_move) == (0, 1)
    act(referee, "quit")
    assert (referee.rounds_played, referee.totals, referee.last_actor) == (1, [1, 2], 1)


def test_round_ends_unasked_when_the_last_remaining_seat_is_stuck_after_a_quit__L11() -> None:
    referee = dealt("1 1", "3 3", top="1")
    referee.act("quit")
    assert (referee.rounds_played, referee.totals, referee.last_actor) == (1, [1, 3], 0)


def test_round_ends_unasked_when_the_last_remaining_seat_is_stuck_after_its_play__L11() -> None:
    referee = dealt("1 1", "2 4", top="1")
    act(referee, "quit", "play 2")
    assert (referee.rounds_played, referee.totals, referee.last_actor) == (1, [1, 4], 1)


def test_round_goes_on_while_two_seats_are_active_though_none_can_play__L11() -> None:
    referee = dealt("1 1", "4 4", "4 4", top="1")
    referee.act("quit")
    assert (referee.rounds_played, referee.to_move, referee.legal()) == (0, 1, {"draw", "quit"})


def one_card_left(white: int, black: int, **settings: Any) -> LamaReferee:
    """Two seats; seat 0 owns these chips, has just played its last card, seat 1 holds a 3."""
    referee = dealt("1", "3", top="1", **{"chip_return": "choice", **settings})
    referee.white[0], referee.black[0] = white, black
    referee.act("play 1")
    return referee


@pytest.mark.parametrize(
    ("white", "black", "legal"),
    [
        (2, 1, {"keep", "return white", "return black"}),
        (2, 0, {"keep", "return white"}),
        (0, 2, {"keep", "return black"}),
    ],
)
def test_who_emptied_its_hand_may_return_a_chip_it_owns__L12(white: int, black: int, legal: set[str]) -> None:
    referee = one_card_left(white, black)
    assert (referee.phase, referee.to_move, referee.legal(), referee.rounds_played) == ("return", 0, legal, 0)
    assert referee.totals[1] == 0  # the chip goes back before the others collect


@pytest.mark.parametrize(("name", "white", "black"), [("keep", 2, 1), ("return white", 1, 1), ("return black", 2, 0)])
def test_returned_chip_is_the_chosen_one__L12(name: str, white: int, black: int) -> None:
    referee = one_card_left(2, 1)
    referee.act(name)
    assert (referee.white[0], referee.black[0], referee.totals[1], referee.rounds_played) == (white, black, 3, 1)


def test_no_chip_no_question__L12() -> None:
    referee = one_card_left(0, 0)
    assert (referee.phase, referee.rounds_played, referee.totals) == ("chance", 1, [0, 3])


@pytest.mark.parametrize(("white", "black", "total"), [(2, 1, 2), (2, 0, 1), (0, 1, 0), (0, 0, 0)])
def test_automatic_return_is_the_most_valuable_chip__L12(white: int, black: int, total: int) -> None:
    referee = one_card_left(white, black, chip_return="auto")
    assert (referee.rounds_played, referee.totals) == (1, [total, 3])


def test_nobody_returns_a_chip_when_no_hand_is_empty__L12() -> None:
    referee = dealt("1 1", "3 3", top="1", chip_return="choice")
    referee.white = [5, 5]
    referee.act("quit")
    assert (referee.rounds_played, referee.totals) == (1, [6, 8])


@pytest.mark.parametrize(
    ("hand", "points"),
    [("3 3 3 5 L L", 18), ("6 6 6", 6), ("1 2 3 4 5 6 L", 31), ("1 1 2 3 3 4 5 5 5 6 L L L", 31), ("", 0)],
)
def test_each_rank_held_counts_once__L13(hand: str, points: int) -> None:
    assert penalty(cards(hand), LLAMA) == points


def test_penalty_of_every_set_of_ranks__L13() -> None:
    worth = [1, 2, 3, 4, 5, 6, 10]
    rng = random.Random(0)
    for size in range(8):
        for ranks in combinations(range(7), size):
            hand = [rank for rank in ranks for _ in range(rng.randint(1, 8))]
            assert penalty(hand, LLAMA) == sum(worth[rank] for rank in ranks)


def test_penalty_is_collected_as_black_tens_and_white_ones__L14() -> None:
    referee = dealt("3 3 3 5 L L", "1 2 3 4 5 6", "6 6 6 6 6 6", top="1", target_score=100)
    act(referee, "quit", "quit")
    assert (referee.white, referee.black) == ([8, 1, 6], [1, 2, 0])


def test_ten_white_become_a_black_in_collection__L15() -> None:
    referee = dealt("6 6", "1 1", top="1")
    referee.white, referee.black = [5, 9], [1, 0]
    act(referee, "quit", "quit")
    assert (referee.white, referee.black) == ([1, 0], [2, 1])


def exchange_asked() -> LamaReferee:
    """Seats 1, 2 and 0 are asked in this order: the round was opened by seat 1; scoring has left these chips."""
    referee = dealt("6 6", "1 1", "2 2", top="4", first_player=1, chip_exchange="choice", target_score=100)
    referee.white, referee.black = [15, 20, 0], [0, 2, 1]
    act(referee, "quit", "quit")
    return referee


def test_exchange_is_asked_from_the_starter_on_of_seats_that_can__L15() -> None:
    referee = exchange_asked()
    assert (referee.white, referee.black) == ([21, 21, 2], [0, 2, 1])
    assert (referee.phase, referee.to_move) == ("exchange", 1)
    assert referee.legal() == {"keep", "ten white to black", "black to ten white"}
    referee.act("keep")
    assert (referee.to_move, referee.legal()) == (2, {"keep", "black to ten white"})
    referee.act("keep")
    assert (referee.to_move, referee.legal(), referee.rounds_played) == (0, {"keep", "ten white to black"}, 0)
    referee.act("keep")
    assert (referee.phase, referee.rounds_played) == ("chance", 1)


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [("ten white to black", (11, 3), (1, 4)), ("black to ten white", (31, 1), (41, 0))],
)
def test_exchange_goes_on_in_one_direction_only__L15(
    name: str, first: tuple[int, int], second: tuple[int, int]
) -> None:
    referee = exchange_asked()
    referee.act(name)
    assert (referee.white[1], referee.black[1], referee.to_move) == (*first, 1)
    assert referee.legal() == {"keep", name}
    referee.act(name)
    assert (referee.white[1], referee.black[1], referee.to_move) == (*second, 2)
    assert referee.totals == [21, 41, 12]


def test_round_is_paid_with_the_act_that_completes_it__L15_L20() -> None:
    referee = dealt("1 1", "3 3", top="4", chip_exchange="choice", reward="score")
    referee.black = [1, 1]
    act(referee, "quit")
    assert referee.rewards == [0.0, 0.0]  # still exchanging
    act(referee, "keep")
    assert referee.rewards == [0.0, 0.0]
    act(referee, "keep")
    assert referee.rewards == [0.2, -0.2]
    referee.resolve(0)
    assert referee.rewards == [0.2, -0.2]  # chance pays nothing


# ---- end of the game ----


def scored(totals: list[int], **settings: Any) -> LamaReferee:
    """A game whose round has just brought the seats to these totals, one point each in this round."""
    referee = dealt(*(["1 1"] * len(totals)), top="4", **settings)
    referee.white = [total - 1 for total in totals]
    act(referee, *["quit"] * (len(totals) - 1))
    assert (referee.totals, referee.rounds_played) == (totals, 1)
    return referee


def test_game_ends_at_exactly_the_target__L16() -> None:
    below = scored([39, 3])
    assert (below.terminated, below.truncated, below.phase) == (False, False, "chance")
    reached = scored([40, 3])
    assert (reached.terminated, reached.truncated, reached.phase) == (True, False, "over")
    assert (reached.to_move, reached.pending(), reached.legal()) == (None, None, set())
    assert scored([20, 3], target_score=20).terminated


def test_final_position_shows_the_hands_that_were_scored__L16() -> None:
    referee = scored([40, 3])
    assert (referee.hands, referee.discard) == ([cards("1 1"), cards("1 1")], cards("4"))


def test_finished_game_refuses_every_step__L16() -> None:
    referee = scored([40, 3])
    with pytest.raises(ValueError, match="not legal"):
        referee.act("quit")
    with pytest.raises(ValueError, match="not possible"):
        referee.resolve(0)


def test_chip_is_returned_before_the_game_ends__L16() -> None:
    referee = dealt("1", "3", "1", top="1", chip_return="choice")
    referee.white, referee.black = [6, 8, 4], [0, 3, 0]
    referee.act("play 1")
    assert (referee.phase, referee.terminated) == ("return", False)
    referee.act("return white")
    assert (referee.terminated, referee.totals, referee.winners()) == (True, [5, 41, 5], [0, 2])


def test_lowest_total_wins__L17() -> None:
    referee = scored([12, 40, 5])
    assert (referee.terminated, referee.winners(), referee.rewards) == (True, [2], [-0.5, -0.5, 1.0])


def test_tie_shares_the_victory_with_equal_reward__L17() -> None:
    referee = scored([5, 40, 5])
    assert (referee.terminated, referee.winners(), referee.rewards) == (True, [0, 2], [0.25, -0.5, 0.25])


def test_seat_that_reached_the_target_need_not_be_last__L17() -> None:
    referee = scored([40, 47, 44])
    assert (referee.terminated, referee.winners()) == (True, [0])


@pytest.mark.parametrize("reward", ["win", "rank"])
def test_round_limit_truncates_and_pays_nothing__L18(reward: str) -> None:
    referee = scored([10, 20, 30], max_rounds=2, reward=reward)
    assert referee.phase == "chance"
    deal(referee, "1 1", "1 1", "1 1", top="4")
    act(referee, "quit", "quit")
    assert (referee.terminated, referee.truncated, referee.phase) == (False, True, "over")
    assert (referee.rounds_played, referee.rewards) == (2, [0.0, 0.0, 0.0])


def test_truncated_round_still_pays_its_score__L18_L20() -> None:
    referee = dealt("1 1", "3 3", top="4", max_rounds=1, reward="score")
    referee.act("quit")
    assert (referee.truncated, referee.rewards) == (True, [0.2, -0.2])


def test_natural_end_in_the_round_of_the_limit_terminates__L18() -> None:
    referee = scored([10, 40], max_rounds=1)
    assert (referee.terminated, referee.truncated, referee.rewards) == (True, False, [1.0, -1.0])


def test_single_round_may_be_a_complete_game__L18() -> None:
    referee = scored([10, 20], max_rounds=1, single_round_terminates=True)
    assert (referee.terminated, referee.truncated, referee.rewards) == (True, False, [1.0, -1.0])


# ---- variants ----


def test_shrunk_deck_keeps_the_cycle_and_the_llama_last__L19() -> None:
    referee = LamaReferee(2, first_player=0, num_ranks=3, copies=2, hand_size=2, chip_return="auto")
    assert referee.deck == [0, 0, 1, 1, 2, 2]
    for card in [0, 2, 0, 1, 2]:
        referee.resolve(card)
    assert referee.legal() == {"play llama", "play 1", "draw", "quit"}
    act(referee, "play 1", "quit")  # the last seat left holds a llama over a 1
    assert (referee.rounds_played, referee.totals) == (1, [10, 3])


def test_two_ranks_are_a_cycle_of_two__L19() -> None:
    referee = LamaReferee(2, first_player=0, num_ranks=2, copies=3, hand_size=2)
    for card in [0, 1, 0, 1, 1]:
        referee.resolve(card)
    assert referee.legal() == {"play 1", "play llama", "draw", "quit"}


@pytest.mark.parametrize(
    "settings",
    [
        {"num_ranks": 1},
        {"num_ranks": 8},
        {"copies": 0},
        {"hand_size": 0},
        {"num_players": 6, "hand_size": 10},
        {"num_players": 2, "num_ranks": 3, "copies": 3, "hand_size": 5},
    ],
)
def test_deck_that_cannot_be_dealt_is_refused__L19(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="L19"):
        LamaReferee(**settings)


@pytest.mark.parametrize(
    ("totals", "rewards"),
    [
        ([40, 1, 2, 3], [-1 / 3, 1.0, -1 / 3, -1 / 3]),
        ([40, 1, 1, 3], [-1 / 3, 1 / 3, 1 / 3, -1 / 3]),
        ([40, 1, 1, 1], [-1 / 3, 1 / 9, 1 / 9, 1 / 9]),
        ([40, 40, 40, 40], [0.0, 0.0, 0.0, 0.0]),
        ([40, 3], [-1.0, 1.0]),
    ],
)
def test_win_reward_is_shared_and_zero_sum__L20(totals: list[int], rewards: list[float]) -> None:
    assert scored(totals).rewards == pytest.approx(rewards)


@pytest.mark.parametrize(
    ("totals", "rewards"),
    [
        ([40, 1, 2, 3], [-1.0, 1.0, 1 / 3, -1 / 3]),
        ([40, 1, 1, 3], [-1.0, 2 / 3, 2 / 3, -1 / 3]),
        ([40, 40, 2, 2], [-2 / 3, -2 / 3, 2 / 3, 2 / 3]),
        ([40, 40, 40, 40], [0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_rank_reward_runs_from_one_to_minus_one__L20(totals: list[int], rewards: list[float]) -> None:
    assert scored(totals, reward="rank").rewards == pytest.approx(rewards)


def test_score_reward_counts_the_returned_chip__L20() -> None:
    referee = dealt("1", "3", "L", top="1", reward="score")
    referee.black = [1, 1, 1]
    referee.act("play 1")  # changes in total: -10, +3, +10
    assert referee.rewards == pytest.approx([1.65, -0.3, -1.35])


def test_act_within_a_round_pays_nothing__L20() -> None:
    referee = dealt("1 1", "3 3", top="4", reward="score")
    referee.act("quit")
    assert referee.rewards == [0.2, -0.2]
    deal(referee, "4 4", "3 3", top="4")
    referee.act("play 4")
    assert referee.rewards == [0.0, 0.0]


# ---- random games ----


@pytest.mark.parametrize(
    "settings",
    [
        {"num_players": 2},
        {"num_players": 6, "next_starter": "rotate", "reward": "rank"},
        {"num_players": 3, "chip_exchange": "choice", "reward": "score", "max_rounds": 5},
        {"num_players": 4, "num_ranks": 4, "copies": 3, "hand_size": 2, "chip_return": "auto", "target_score": 15},
    ],
)
def test_random_games_end_with_cards_kept_and_rewards_balanced(settings: dict[str, Any]) -> None:
    for seed in range(25):
        rng = random.Random(seed)
        referee = LamaReferee(**settings)
        while referee.phase != "over":
            pending = referee.pending()
            assert (pending is None) == bool(referee.legal()) == (referee.to_move is not None)
            assert pending is None or sum(pending.values()) == 1
            play_randomly(referee, rng)
            assert sorted([*chain(*referee.hands), *referee.discard, *referee.stock]) == referee.deck
            assert sum(referee.rewards) == pytest.approx(0)
            assert min(*referee.white, *referee.black) >= 0
        assert referee.terminated != referee.truncated


PUBLISHED_DECISIONS = {2: 11.7, 3: 17.7, 4: 23.4, 6: 35.0}
PUBLISHED_ROUNDS = {2: 2.47, 4: 2.18, 6: 2.07}


def decisions_and_rounds(num_players: int, rng: random.Random) -> tuple[int, int]:
    """Length of one random game as other engines count it: the quit of a last seat that is stuck is a decision too."""
    referee = LamaReferee(num_players, chip_return="auto")
    decisions = 0
    while referee.phase != "over":
        seat, rounds_before = referee.to_move, referee.rounds_played
        if seat is None:
            play_randomly(referee, rng)
            continue
        name = rng.choice(sorted(referee.legal()))
        empties_hand = name.startswith("play") and len(referee.hands[seat]) == 1
        all_have_quit = name == "quit" and referee.active.count(True) == 1
        referee.act(name)
        decisions += 1
        if referee.rounds_played > rounds_before and not empties_hand and not all_have_quit:
            decisions += 1  # L11: the last seat was stuck, which this referee does not ask for
    return decisions, referee.rounds_played


@pytest.mark.parametrize("num_players", [2, 3, 4, 6])
def test_random_games_are_as_long_as_published(num_players: int) -> None:
    rng = random.Random(num_players)
    decisions, rounds = zip(*(decisions_and_rounds(num_players, rng) for _ in range(3000)), strict=True)
    assert_published(decisions, PUBLISHED_DECISIONS[num_players], rounding=0.05)
    if num_players in PUBLISHED_ROUNDS:
        assert_published(rounds, PUBLISHED_ROUNDS[num_players], rounding=0.005)


def assert_published(sample: tuple[int, ...], published: float, rounding: float) -> None:
    """The sample's mean is the published one within four standard errors and the rounding of the published figure."""
    error = stdev(sample) / sqrt(len(sample))
    assert mean(sample) == pytest.approx(published, abs=4 * error + rounding)
