"""The referee of Llama Llama against the rulebook, clause by clause."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tests.oracles.llama_llama import HANDS, LlamaLlamaReferee, copies_of, score_goal

# The three cards of the rulebook's example, then simple ones for the other letters.
A, B, D, C, E, F, G = range(7)
LETTERS = ["A", "B", "D", "C", "E", "F", "G"]
RULES = [
    [("A", 1), ("ABCDEFG", 50)],
    [("B", 2), ("AACC", 15)],
    [("D", 4), ("AG", 5), ("CE", 5), ("BF", 5)],
    [("C", 3), ("AABB", 10)],
    [("E", 5), ("AA", 7)],
    [("F", 6), ("DF", 5)],
    [("G", 7), ("DF", 5)],
]
COPIES = [7, 6, 5, 5, 4, 3, 2]


def example_deck(**options: Any) -> LlamaLlamaReferee:
    return LlamaLlamaReferee(LETTERS, COPIES, RULES, **options)


def marked_deck(cards: int = 32, **options: Any) -> LlamaLlamaReferee:
    """Every card is its own kind, so that it can be followed; dealt in order, hand h holds cards 8h to 8h + 7."""
    rules = [[("A", 1), ("AA", 1)] for _ in range(cards)]
    return LlamaLlamaReferee(["A"] * cards, [1] * cards, rules, **options)


def resolve_while(referee: LlamaLlamaReferee, *events: str, choose: Callable[[set[int]], int] = min) -> None:
    """Resolve the events of these names that come next, by default to their lowest outcome."""
    while referee.event is not None and (not events or referee.event in events):
        referee.resolve(choose(set(referee.pending() or ())))


def act_all(referee: LlamaLlamaReferee, choose: Callable[[set[int]], int] = min) -> None:
    """Let everybody choose until the next chance event."""
    while referee.to_move is not None:
        referee.act(choose(referee.legal()))


def play_round(referee: LlamaLlamaReferee, choose: Callable[[set[int]], int] = min) -> None:
    played = referee.rounds_played
    while referee.rounds_played == played:
        if referee.to_move is None:
            referee.resolve(choose(set(referee.pending() or ())))
        else:
            referee.act(choose(referee.legal()))


def start_with_totals(referee: LlamaLlamaReferee, totals: list[int]) -> None:
    """Play one round and go on as if it had brought these totals."""
    play_round(referee)
    referee.totals = totals


# ------------------------------------------------------------------ scoring


def test_letter_rule_pays_for_every_card_of_the_letter__P14() -> None:
    assert score_goal("AABAC", [("A", 1)]) == 3
    assert score_goal("BBC", [("A", 1)]) == 0


@pytest.mark.parametrize(("letters", "copies"), [("DDFF", 2), ("DFF", 1), ("DF", 1), ("DD", 0), ("DDDFFFG", 3)])
def test_combination_pays_per_disjoint_copy__P15(letters: str, copies: int) -> None:
    assert copies_of("DF", letters) == copies


@pytest.mark.parametrize(("letters", "copies"), [("AABBCCC", 1), ("AAAACCC", 1), ("AAAACCCC", 2), ("AAAC", 0)])
def test_combination_with_repeated_letters_needs_each_of_them__P15(letters: str, copies: int) -> None:
    assert copies_of("AACC", letters) == copies


def test_alternatives_are_each_counted_by_themselves__P15() -> None:
    alternatives = [("AG", 5), ("CE", 5), ("BF", 5)]
    assert score_goal("ABCEFG", alternatives) == 15
    assert score_goal("AAGGCE", alternatives) == 15


def test_one_card_serves_in_different_combinations__P16() -> None:
    assert score_goal("AABB", [("AABB", 10), ("AA", 7)]) == 17
    assert example_deck().score([A, A, B, B], [C, E]) == [10, 7]


def test_repeated_goals_each_score__P17() -> None:
    assert example_deck().score([A, A, B], [A, A]) == [2, 2]
    assert sum(example_deck().score([A, A, B], [A, A, A, A])) == 8


def test_first_hand_of_the_rulebook_example_scores_74__P10_P14_P17() -> None:
    scores = example_deck().score([A, B, C, D, E, F, G], [A, B, B, D])
    assert scores == [51, 2, 2, 19]
    assert sum(scores) == 74


def test_second_hand_of_the_rulebook_example_scores_44_as_printed__P14_P17() -> None:
    scores = example_deck().score([A, A, B, B, C, C, D], [A, B, B, D])
    assert scores == [2, 19, 19, 4]
    assert sum(scores) == 44


def test_second_hand_of_the_rulebook_example_scores_40_with_a_third_c__P14_P17() -> None:
    scores = example_deck().score([A, A, B, B, C, C, C], [A, B, B, D])
    assert scores == [2, 19, 19, 0]
    assert sum(scores) == 40


def test_round_pays_the_kept_hand_on_all_four_goals__P10() -> None:
    referee = example_deck(pass_counts=(0, 0, 0, 0), num_rounds=1)
    for hand in ("AABCDEFG", "AABBBCCD", "ABCDDEEF", "AABCDEFG"):
        for letter in hand:
            referee.resolve(LETTERS.index(letter))
    for goal in (A, B, C, D):
        referee.act(goal)
    resolve_while(referee)
    kept = ["ABCDEFG", "AABBCCD", "ABDDEEF", "AABCEFG"]
    assert referee.hands == [sorted(map(LETTERS.index, hand)) for hand in kept]
    assert referee.terminated
    assert referee.round_scores == [[51 + 2 + 3 + 19, 2 + 19 + 16 + 4, 1 + 2 + 0 + 13, 2 + 2 + 3 + 15]]
    assert referee.totals == referee.round_scores[0]


# ------------------------------------------------------------------ deal and goals


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_four_hands_of_eight_are_dealt_card_by_card__P4(num_players: int) -> None:
    referee = marked_deck(num_players=num_players)
    resolve_while(referee, "dummy seat")
    for card in range(32):
        assert referee.event == "deal"
        assert referee.pending() == {kind: Fraction(1, 32 - card) for kind in range(card, 32)}
        referee.resolve(card)
    assert referee.hands == [list(range(8 * hand, 8 * hand + 8)) for hand in range(4)]
    assert referee.phase == "goal"


def test_deal_is_uniform_over_the_cards_left__P4() -> None:
    referee = example_deck()
    assert referee.pending() == {kind: Fraction(copies, 32) for kind, copies in enumerate(COPIES)}
    for left in (2, 1):
        assert referee.pending() is not None
        assert (referee.pending() or {})[G] == Fraction(left, 30 + left)
        referee.resolve(G)
    assert G not in (referee.pending() or {})


def test_cards_beyond_four_hands_stay_aside__P4() -> None:
    referee = marked_deck(hand_size=3, pass_counts=(2, 2, 1, 1))
    resolve_while(referee, "deal")
    assert referee.phase == "goal"
    assert referee.stock == list(range(12, 32))


def test_goal_leaves_the_hand_only_when_everybody_has_chosen__P5() -> None:
    referee = marked_deck()
    resolve_while(referee, "deal")
    for player in range(4):
        assert referee.to_move == player
        assert referee.legal() == set(range(8 * player, 8 * player + 8))
        assert [len(hand) for hand in referee.hands] == [8] * 4
        assert referee.goals_by_owner == [None] * 4
        referee.act(8 * player + 3)
    assert [len(hand) for hand in referee.hands] == [7] * 4
    assert referee.goals_by_owner == [3, 11, 19, 27]


def test_dummy_goal_is_a_random_card_of_the_dummy__P5() -> None:
    referee = example_deck(num_players=2)
    for letter in "AABBCCDEAABBCCDEAAABBDDFCDEEFFGG":
        referee.resolve(LETTERS.index(letter))
    referee.act(A)
    referee.act(B)
    assert referee.event == "dummy goal"
    assert referee.pending() == {
        A: Fraction(3, 8),
        B: Fraction(2, 8),
        D: Fraction(2, 8),
        F: Fraction(1, 8),
    }
    referee.resolve(D)
    assert referee.pending() == {
        C: Fraction(1, 8),
        D: Fraction(1, 8),
        E: Fraction(2, 8),
        F: Fraction(2, 8),
        G: Fraction(2, 8),
    }
    referee.resolve(G)
    assert referee.goals_by_owner == [A, B, D, G]
    assert [len(hand) for hand in referee.hands] == [7] * 4
    assert referee.event == "place"


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_first_round_shuffles_all_goals_over_the_displays__P6(num_players: int) -> None:
    referee = marked_deck(num_players=num_players)
    resolve_while(referee)
    act_all(referee)
    resolve_while(referee, "dummy goal")
    left = {0, 1, 2, 3}
    for owner in (2, 3, 0, 1):
        assert referee.event == "place"
        assert referee.pending() == dict.fromkeys(left, Fraction(1, len(left)))
        referee.resolve(owner)
        left.remove(owner)
    assert referee.display == [2, 3, 0, 1]


def test_later_rounds_lay_goals_by_total_highest_first__P7() -> None:
    referee = marked_deck(num_rounds=9, target_score=10**6)
    start_with_totals(referee, [7, 40, 12, 13])
    resolve_while(referee, "deal")
    act_all(referee)
    for owner in (1, 3, 2, 0):
        assert referee.pending() == {owner: Fraction(1)}
        referee.resolve(owner)
    assert referee.display == [1, 3, 2, 0]


def test_tied_players_goals_are_shuffled_among_their_places__P7() -> None:
    referee = marked_deck(num_rounds=9, target_score=10**6)
    start_with_totals(referee, [12, 40, 12, 12])
    resolve_while(referee, "deal")
    act_all(referee)
    assert referee.pending() == {1: Fraction(1)}
    referee.resolve(1)
    assert referee.pending() == dict.fromkeys((0, 2, 3), Fraction(1, 3))
    referee.resolve(2)
    assert referee.pending() == dict.fromkeys((0, 3), Fraction(1, 2))
    referee.resolve(3)
    assert referee.pending() == {0: Fraction(1)}


def test_later_rounds_lay_dummy_goals_on_the_marked_displays__P7_P8() -> None:
    referee = marked_deck(num_players=2, num_rounds=9, target_score=10**6, dummy_displays={2: (1, 3)})
    start_with_totals(referee, [5, 6])
    resolve_while(referee, "deal")
    act_all(referee)
    resolve_while(referee, "dummy goal")
    assert referee.pending() == dict.fromkeys((2, 3), Fraction(1, 2))
    referee.resolve(3)
    assert referee.pending() == {1: Fraction(1)}
    referee.resolve(1)
    assert referee.pending() == {2: Fraction(1)}
    referee.resolve(2)
    assert referee.pending() == {0: Fraction(1)}
    referee.resolve(0)
    assert referee.display == [3, 1, 2, 0]


@pytest.mark.parametrize(("num_players", "marked"), [(2, (3, 4)), (3, (4,)), (4, ())])
def test_default_dummy_displays_are_the_last_ones__P8(num_players: int, marked: tuple[int, ...]) -> None:
    assert marked_deck(num_players=num_players).marked_displays == marked


# ------------------------------------------------------------------ passing


def at_first_pass(referee: LlamaLlamaReferee) -> LlamaLlamaReferee:
    """Cards dealt in order, every hand's lowest card as goal, goals laid in order of the hands."""
    resolve_while(referee, "dummy seat", "deal")
    act_all(referee)
    resolve_while(referee, "dummy goal", "place")
    assert referee.phase == "pass"
    return referee


def test_goals_are_revealed_one_by_one_and_4_3_2_1_cards_passed__P3_P9() -> None:
    referee = at_first_pass(marked_deck(num_rounds=1))
    for revealed, cards in enumerate((4, 3, 2, 1), start=1):
        for _ in range(cards):
            for player in range(4):
                assert (referee.revealed, referee.to_move) == (revealed, player)
                assert [len(hand) for hand in referee.hands] == [7] * 4
                referee.act(min(referee.legal()))
    assert referee.terminated
    assert [[len(cards) for cards in passes] for passes in referee.passed] == [[4, 3, 2, 1]] * 4


def test_four_players_pass_to_the_left__P9() -> None:
    referee = at_first_pass(marked_deck())
    for _ in range(16):
        referee.act(min(referee.legal()))
    for player in range(4):
        going = [8 * player + card for card in (1, 2, 3, 4)]
        left = (player + 1) % 4
        assert referee.passed[player] == [going]
        assert referee.received[left] == [going]
        assert set(going) <= set(referee.hands[left])
        assert not set(going) & set(referee.hands[player])
    assert [len(hand) for hand in referee.hands] == [7] * 4


def test_card_received_in_a_pass_cannot_be_passed_on_in_it__P9() -> None:
    referee = at_first_pass(marked_deck())
    for player in (0, 1, 2, 3) * 4:
        assert referee.legal(player) <= set(range(8 * player, 8 * player + 8))
        referee.act(min(referee.legal()))
    assert {card // 8 for card in referee.legal(0)} == {0, 3}


def test_picks_come_in_non_decreasing_order_and_stay_completable__P9() -> None:
    referee = at_first_pass(marked_deck())
    assert referee.legal() == {1, 2, 3, 4}
    assert referee.legal(3) == {25, 26, 27, 28}
    referee.act(2)
    assert referee.legal(0) == set()
    for _ in range(3):
        referee.act(min(referee.legal()))
    assert referee.legal() == {3, 4, 5}
    with pytest.raises(ValueError, match="may not choose 1"):
        referee.act(1)


def test_equal_cards_may_be_passed_together__P9() -> None:
    referee = example_deck()
    for letter in "AAAAABBBBBBCCCCCDDDDDEEEAAEFFFGG":
        referee.resolve(LETTERS.index(letter))
    act_all(referee, max)
    resolve_while(referee)
    assert referee.hands[0] == [A] * 5 + [B] * 2
    for pick, legal in ((A, {A}), (A, {A}), (B, {A, B}), (B, {B})):  # only two cards are not A
        assert referee.legal() == legal
        referee.act(pick)
        for _ in range(3):
            referee.act(min(referee.legal()))
    assert referee.passed[0] == [[A, A, B, B]]


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_every_set_of_cards_can_be_picked_in_one_way__P9(num_players: int) -> None:
    hand = [0, 0, 1, 2, 2, 2, 3]
    ways: Counter[tuple[int, ...]] = Counter()

    def extend(picked: list[int]) -> None:
        referee = LlamaLlamaReferee(list("ABCD"), [10] * 4, [[("A", 1)]] * 4, num_players=num_players)
        at_first_pass(referee)
        referee.hands[0] = list(hand)
        for number, kind in enumerate(picked):
            while referee.to_move != 0 or len(referee.picks[0]) < number:
                referee.act(min(referee.legal()))
            referee.act(kind)
        if len(picked) == 4:
            ways[tuple(picked)] += 1
            return
        while referee.to_move != 0:
            referee.act(min(referee.legal()))
        for kind in referee.legal():
            extend([*picked, kind])

    extend([])
    subsets = {
        (a, b, c, d)
        for i, a in enumerate(hand)
        for j, b in enumerate(hand[i + 1 :], start=i + 1)
        for k, c in enumerate(hand[j + 1 :], start=j + 1)
        for d in hand[k + 1 :]
    }
    assert ways == dict.fromkeys(subsets, 1)


# ------------------------------------------------------------------ dummies


def test_two_players_have_a_dummy_at_each_left__P11() -> None:
    referee = marked_deck(num_players=2)
    assert [referee.dummy_left_of(player) for player in range(2)] == [2, 3]
    assert referee.event == "deal"
    play_round(referee)
    assert [referee.dummy_left_of(player) for player in range(2)] == [2, 3]


def test_two_players_draw_from_the_dummies_after_all_have_passed__P11_P13() -> None:
    referee = at_first_pass(marked_deck(num_players=2))
    for _ in range(8):
        referee.act(min(referee.legal()))
    assert referee.event == "draw"
    assert [len(hand) for hand in referee.hands] == [3, 3, 11, 11]
    assert referee.pending() == dict.fromkeys([1, 2, 3, 4, *range(17, 24)], Fraction(1, 11))  # P0 into hand 2
    referee.resolve(2)
    assert [len(hand) for hand in referee.hands] == [3, 4, 10, 11]  # P1 draws
    assert 2 in referee.hands[1]  # the very card just passed
    assert referee.pending() == dict.fromkeys([1, 3, 4, *range(17, 24)], Fraction(1, 10))
    for kind in (17, 1, 23):
        referee.resolve(kind)
    assert referee.received[1] == [[2, 17, 1, 23]]
    assert referee.pending() == dict.fromkeys([9, 10, 11, 12, *range(25, 32)], Fraction(1, 11))  # P1 into hand 3
    for kind in (25, 26, 27, 9):
        referee.resolve(kind)
    assert referee.received[0] == [[25, 26, 27, 9]]
    assert referee.phase == "pass"
    assert [len(hand) for hand in referee.hands] == [7] * 4


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_three_players_pass_through_the_dummy_at_its_seat__P12_P13(seat: int) -> None:
    referee = marked_deck(num_players=3)
    assert referee.event == "dummy seat"
    assert referee.pending() == dict.fromkeys((0, 1, 2), Fraction(1, 3))
    referee.resolve(seat)
    assert [referee.dummy_left_of(player) for player in range(3)] == [3 if p == seat else None for p in range(3)]
    at_first_pass(referee)
    for _ in range(12):
        referee.act(min(referee.legal()))
    drawer = (seat + 1) % 3
    going = {player: [8 * player + card for card in (1, 2, 3, 4)] for player in range(3)}
    for player in set(range(3)) - {seat}:
        assert referee.received[(player + 1) % 3] == [going[player]]
    assert referee.pending() == dict.fromkeys([*going[seat], *range(25, 32)], Fraction(1, 11))
    assert len(referee.hands[drawer]) == 3
    resolve_while(referee, "draw")
    assert set(referee.received[drawer][0]) <= set(referee.hands[drawer])
    assert len(referee.received[drawer][0]) == 4
    assert [len(hand) for hand in referee.hands] == [7] * 4


@pytest.mark.parametrize(
    ("totals", "seats"),
    [
        ([5, 9, 8], [2]),
        ([9, 5, 8], [0]),
        ([9, 8, 5], [1]),
        ([5, 5, 8], [0, 2]),
        ([9, 5, 5], [0, 1]),
        ([4, 4, 4], [0, 1, 2]),
    ],
)
def test_dummy_moves_to_the_right_of_the_lowest_total__P12(totals: list[int], seats: list[int]) -> None:
    referee = marked_deck(num_players=3, num_rounds=9, target_score=10**6)
    start_with_totals(referee, totals)
    assert referee.event == "dummy seat"
    assert referee.pending() == dict.fromkeys(seats, Fraction(1, len(seats)))
    referee.resolve(seats[-1])
    lowest = (seats[-1] + 1) % 3
    assert totals[lowest] == min(totals)
    at_first_pass(referee)
    for _ in range(12):
        referee.act(min(referee.legal()))
    assert referee.event == "draw"
    assert len(referee.hands[lowest]) == 3  # the player with the lowest total draws


# ------------------------------------------------------------------ end and rewards


def test_game_ends_after_four_rounds__P18() -> None:
    referee = marked_deck(target_score=10**6)
    for played in range(1, 5):
        play_round(referee)
        assert referee.rounds_played == played
        assert referee.terminated == (played == 4)
    assert referee.phase == "over"
    assert referee.pending() is None
    assert referee.to_move is None
    assert referee.legal() == set()


@pytest.mark.parametrize(("target", "over"), [(39, True), (40, True), (41, False)])
def test_game_ends_when_somebody_reaches_the_target__P18(target: int, over: bool) -> None:
    referee = marked_deck(target_score=target)  # every hand scores 7 on the letter and 3 on the pairs of each goal
    play_round(referee)
    assert referee.totals == [40] * 4
    assert referee.terminated is over


def finish(totals: list[int], final: list[int], **options: Any) -> LlamaLlamaReferee:
    """A game that has ended with these totals and these points in its final round."""

    class Scripted(LlamaLlamaReferee):
        def score(self, hand: Any, goals: Any) -> list[int]:
            return [final[[kinds is hand for kinds in self.hands].index(True)]]

    referee = Scripted(
        ["A"] * 32, [1] * 32, [[("A", 1)]] * 32, num_players=len(totals), num_rounds=1, target_score=10**6, **options
    )
    referee.totals = [total - points for total, points in zip(totals, final, strict=True)]
    play_round(referee)
    assert referee.totals == totals
    assert referee.terminated
    return referee


def test_highest_total_wins__P19() -> None:
    assert finish([101, 103, 99, 80], [60, 20, 10, 70]).winners() == [1]


def test_tie_goes_to_the_most_points_in_the_final_round__P19() -> None:
    assert finish([103, 103, 99, 103], [20, 30, 90, 25]).winners() == [1]


def test_victory_is_shared_when_the_final_round_ties_too__P19() -> None:
    assert finish([103, 103, 99, 103], [30, 30, 90, 25]).winners() == [0, 1]


@pytest.mark.parametrize(
    ("totals", "final", "rewards"),
    [
        ([90, 80, 70, 60], [1, 1, 1, 1], [1, -1 / 3, -1 / 3, -1 / 3]),
        ([90, 90, 70, 60], [5, 5, 1, 1], [1 / 3, 1 / 3, -1 / 3, -1 / 3]),
        ([90, 90, 70, 60], [5, 6, 1, 1], [-1 / 3, 1, -1 / 3, -1 / 3]),
        ([90, 90, 90], [5, 5, 5], [0, 0, 0]),
        ([10, 20], [5, 5], [-1, 1]),
    ],
)
def test_win_reward_is_shared_and_sums_to_zero__P20(totals: list[int], final: list[int], rewards: list[float]) -> None:
    assert finish(totals, final).rewards == pytest.approx(rewards)


@pytest.mark.parametrize(
    ("totals", "final", "rewards"),
    [
        ([90, 80, 70, 60], [1, 1, 1, 1], [1, 1 / 3, -1 / 3, -1]),
        ([90, 90, 70, 60], [5, 5, 1, 1], [2 / 3, 2 / 3, -1 / 3, -1]),
        ([90, 90, 70, 60], [5, 6, 1, 1], [1 / 3, 1, -1 / 3, -1]),
        ([90, 90, 90], [5, 5, 5], [0, 0, 0]),
        ([10, 20], [5, 5], [-1, 1]),
    ],
)
def test_rank_reward_averages_ties__P20(totals: list[int], final: list[int], rewards: list[float]) -> None:
    assert finish(totals, final, reward="rank").rewards == pytest.approx(rewards)


def test_score_reward_is_own_points_minus_the_mean_of_the_others__P20() -> None:
    assert finish([90, 80, 70], [30, 20, 10], reward="score").rewards == pytest.approx([0.3, 0.0, -0.3])


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_score_reward_is_paid_each_round_with_what_completes_it__P20(num_players: int) -> None:
    choose = random.Random(num_players)
    referee = example_deck(num_players=num_players, reward="score", target_score=10**6)
    paid = [0.0] * num_players
    rounds_paid = 0
    acted = False
    while not referee.terminated:
        played = referee.rounds_played
        if referee.to_move is not None:
            if acted:
                paid = [total + new for total, new in zip(paid, referee.rewards, strict=True)]
            referee.act(choose.choice(sorted(referee.legal())))
            acted = True
        else:
            referee.resolve(choose.choice(sorted(referee.pending() or ())))
        if referee.rounds_played > played:
            rounds_paid += any(referee.rewards)
    paid = [total + new for total, new in zip(paid, referee.rewards, strict=True)]
    means = [(sum(referee.totals) - own) / (num_players - 1) for own in referee.totals]
    assert rounds_paid == 4
    assert paid == pytest.approx([(own - mean) / 50 for own, mean in zip(referee.totals, means, strict=True)])


# ------------------------------------------------------------------ whole games


@pytest.mark.parametrize("reward", ["win", "score", "rank"])
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_cards_are_conserved_and_rewards_sum_to_zero_in_random_games__P1_P4_P9(num_players: int, reward: str) -> None:
    for seed in range(10):
        choose = random.Random(seed)
        hand_size = choose.choice([3, 5, 8])
        referee = example_deck(
            num_players=num_players,
            reward=reward,
            hand_size=hand_size,
            pass_counts=[choose.randrange(1, hand_size) for _ in range(4)],
            num_rounds=choose.choice([1, 2, 4]),
        )
        while not referee.terminated:
            pending = referee.pending()
            if pending is not None:
                assert sum(pending.values()) == 1
                assert all(share > 0 for share in pending.values())
                assert referee.legal() == set()
                outcomes = sorted(pending)
                referee.resolve(choose.choices(outcomes, [float(pending[outcome]) for outcome in outcomes])[0])
            else:
                assert referee.legal()
                referee.act(choose.choice(sorted(referee.legal())))
            laid = [goal for goal in referee.goals_by_owner if goal is not None]
            held = [kind for hand in referee.hands for kind in hand]
            assert Counter([*referee.stock, *held, *laid]) == Counter(dict(enumerate(COPIES)))
            assert sum(referee.rewards) == pytest.approx(0)
            if referee.phase == "pass":
                assert [len(hand) for hand in referee.hands] == [hand_size - 1] * HANDS
        assert referee.winners()
        assert referee.totals == [sum(column) for column in zip(*referee.round_scores, strict=True)]


def test_impossible_choices_and_outcomes_are_refused_and_change_nothing() -> None:
    referee = marked_deck()
    with pytest.raises(ValueError, match="may not choose"):
        referee.act(0)
    with pytest.raises(ValueError, match="not possible"):
        referee.resolve(32)
    assert referee.hands == [[], [], [], []]
    resolve_while(referee, "deal")
    with pytest.raises(ValueError, match="not possible"):
        referee.resolve(0)
    with pytest.raises(ValueError, match="may not choose 8"):
        referee.act(8)
    assert referee.to_move == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"num_players": 5}, "2 to 4 players"),
        ({"num_players": 1}, "2 to 4 players"),
        ({"pass_counts": (4, 3, 2)}, "four pass counts"),
        ({"pass_counts": (8, 3, 2, 1)}, "four pass counts"),
        ({"hand_size": 9}, "not enough"),
        ({"reward": "none"}, "unknown reward"),
        ({"num_players": 3, "dummy_displays": {3: (3, 4)}}, "1 dummies, but 2"),
        ({"num_players": 2, "dummy_displays": {2: (4, 4)}}, "each once"),
        ({"num_players": 3, "dummy_displays": {3: (5,)}}, "1 to 4"),
    ],
)
def test_options_that_make_no_game_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        marked_deck(**options)
