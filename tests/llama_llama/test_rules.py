"""The rules of Llama Llama, clause by clause (P1 to P20), on the kernels with chosen chance events and picks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.errors import IllegalAction
from llama_envs.core.game import Game
from llama_envs.llama_llama import rules
from llama_envs.llama_llama.config import LlamaLlamaConfig
from llama_envs.llama_llama.deck import load_deck, random_deck, score_hands
from llama_envs.llama_llama.game import make_game
from llama_envs.llama_llama.state import DEAL, DUMMY_DRAW, DUMMY_GOAL, DUMMY_SEAT, NOTHING, PLACE, STATE
from tests.llama_llama.tables import Table, expand, play, small_game

MARKED = (1,) * 16  # every card is of its own kind


def marked_game(num_players: int, **options: Any) -> Game:
    """Sixteen different cards in hands of four: hand h is dealt 4h to 4h + 3 and keeps three of them."""
    options = {"hand_size": 4, "pass_counts": (2, 1, 1, 1), **options}
    return small_game(MARKED, num_players=num_players, **options)


def started(num_players: int, dummy_seat: int = 0, **options: Any) -> Table:
    """A marked game at the beginning of its first pass."""
    table = Table(marked_game(num_players, **options))
    table.deal(dummy_seat)
    table.set_goals()
    return table


# ------------------------------------------------------------------------------------------------------- deal and goals


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_four_hands_of_eight_are_dealt_whatever_the_players__P4(num_players: int) -> None:
    batch = Batch(make_game(LlamaLlamaConfig(num_players=num_players)), 50, seed=1)
    assert (batch.state["hand"].sum(2) == 8).all()
    assert (batch.state["stock"] == 0).all()
    assert (batch.state["hand"].sum(1)[:, :12] == batch.game.config.cards.counts).all()


def test_deal_is_one_card_at_a_time_in_proportion_to_what_is_left__P4() -> None:
    table = Table(small_game((3, 3, 6), num_players=4, hand_size=3, pass_counts=(1, 1, 1, 1)))
    assert table["chance"] == DEAL
    assert table.probabilities() == [3 / 12, 3 / 12, 6 / 12]
    table.chance(0, 0)
    assert table.probabilities() == [1 / 10, 3 / 10, 6 / 10]
    table.chance(0)
    assert table.hands() == [(0, 0, 0), (), (), ()]
    table.chance(2, 2, 2, 2, 2, 2, 1, 1, 1)
    assert table.hands() == [(0, 0, 0), (2, 2, 2), (2, 2, 2), (1, 1, 1)]
    assert (table["chance"], table["to_move"]) == (NOTHING, 0)


def test_a_larger_deck_leaves_cards_aside() -> None:
    table = Table(small_game((3, 3, 6), num_players=4, hand_size=2, pass_counts=(1, 1, 1, 1)))
    table.deal()
    assert expand(table["stock"]) == (2, 2, 2, 2)


def test_goals_leave_the_hands_when_all_have_chosen__P5() -> None:
    table = Table(marked_game(4))
    table.deal()
    assert [table.legal(seat) for seat in range(4)] == [{4 * seat + k for k in range(4)} for seat in range(4)]
    table.act(1, 6, 8)
    assert table.hand(0) == (0, 1, 2, 3)
    assert table["goal"].tolist() == [1, 6, 8, -1]
    assert table.legal(2) == set()
    table.act(15)
    assert table.hands() == [(0, 2, 3), (4, 5, 7), (9, 10, 11), (12, 13, 14)]
    assert table["goal"].tolist() == [1, 6, 8, 15]


def test_every_dummy_adds_a_random_card__P5() -> None:
    table = Table(marked_game(2))
    table.deal()
    table.act(0, 4)
    assert table["chance"] == DUMMY_GOAL
    assert table.probabilities() == [0.25 * (8 <= kind < 12) for kind in range(16)]
    table.chance(9)
    assert table.probabilities() == [0.25 * (kind >= 12) for kind in range(16)]
    table.chance(12)
    assert table["goal"].tolist() == [0, 4, 9, 12]
    assert [len(hand) for hand in table.hands()] == [3, 3, 3, 3]


def test_dummy_goal_is_drawn_by_the_number_of_copies__P5() -> None:
    table = Table(small_game((8, 4), num_players=2, hand_size=3, pass_counts=(1, 1, 1, 1)))
    table.chance(*(0, 0, 0), *(0, 0, 0), *(0, 0, 1), *(1, 1, 1))
    table.act(0, 0)
    assert table.probabilities() == [2 / 3, 1 / 3]


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_first_goals_lie_anywhere__P6(num_players: int) -> None:
    table = Table(marked_game(num_players))
    table.deal()
    table.act(*(4 * seat for seat in range(num_players)))
    table.chance(*(4 * dummy for dummy in range(num_players, 4)))
    assert table["chance"] == PLACE
    assert table.probabilities() == [1 / 4] * 4
    table.chance(2)
    assert table.probabilities() == [1 / 3, 1 / 3, 0, 1 / 3]
    table.chance(0)
    assert table.probabilities() == [0, 1 / 2, 0, 1 / 2]
    table.chance(3)
    assert table.probabilities() == [0, 1, 0, 0]
    table.chance(1)
    assert table["owner"].tolist() == [2, 0, 3, 1]
    assert (table["phase"], table["to_move"]) == (1, 0)


def second_placement(num_players: int, totals: list[int], **options: Any) -> Table:
    """At the first PLACE of the second round, with these totals at the end of the first."""
    game = marked_game(num_players, target_score=10_000, num_rounds=9, **options)
    table = Table(game)
    while table["rounds"] == 0:
        last_pick = table["phase"] == 4 and table["to_move"] == num_players - 1
        if last_pick or (table["phase"] == 4 and table["chance"] == DUMMY_DRAW):
            scores = np.array([points_now(table, seat) for seat in range(num_players)])
            table.state["total"][:num_players] = 1000 + np.array(totals) - scores
        table.step_anyhow()
    while table["chance"] != PLACE:
        table.step_anyhow()
    return table


def points_now(table: Table, seat: int) -> int:
    """What the seat will score: its hand after the last step of the round, played on a copy."""
    future = table.twin()
    while future["rounds"] == table["rounds"]:
        future.step_anyhow()
    return int(future["total"][seat] - table["total"][seat])


def follow(table: Table, *outcomes: int) -> list[list[float]]:
    """The probabilities before each of these outcomes."""
    found = []
    for outcome in outcomes:
        found.append(table.probabilities())
        table.chance(outcome)
    return found


def test_later_goals_lie_by_total__P7() -> None:
    table = second_placement(4, [5, 20, 1, 7])
    assert follow(table, 1, 3, 0, 2) == [[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0]]


def test_tied_players_goals_are_shuffled_among_their_places__P7() -> None:
    table = second_placement(4, [9, 3, 9, 9])
    third = 1 / 3
    assert follow(table, 2, 0, 3, 1) == [[third, 0, third, third], [0.5, 0, 0, 0.5], [0, 0, 0, 1], [0, 1, 0, 0]]


def test_dummy_goals_lie_on_the_displays_with_the_icon__P7_P8() -> None:
    table = second_placement(3, [4, 8, 6])
    assert follow(table, 1, 2, 0, 3) == [[0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]]
    table = second_placement(3, [4, 8, 6], dummy_displays={3: (1,)})
    assert follow(table, 3, 1, 2, 0)[0] == [0, 0, 0, 1]
    table = second_placement(2, [4, 8])
    assert follow(table, 1, 0, 3, 2) == [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 1, 0]]
    table = second_placement(2, [4, 4], dummy_displays={2: (3, 1)})
    assert follow(table, 2, 1, 3, 0) == [[0, 0, 0.5, 0.5], [0.5, 0.5, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]]


# --------------------------------------------------------------------------------------------------------------- passes


def test_goals_are_revealed_one_before_each_pass__P9() -> None:
    table = started(4)
    goals = table["goal"].tolist()
    for phase in range(1, 5):
        assert table["phase"] == phase
        shown = table.decode(0)["revealed"]
        assert [list(np.flatnonzero(row)) for row in shown] == [[goals[d]] if d < phase else [] for d in range(4)]
        while table["phase"] == phase and not table["terminated"] and table["rounds"] == 0:
            table.step_anyhow()


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_every_player_passes_exactly_the_shown_number__P3_P9(num_players: int) -> None:
    game = make_game(LlamaLlamaConfig(num_players=num_players))
    batch = Batch(game, 30, seed=2)
    streams = policy_streams(30, 3)
    picks = np.zeros((30, 5, num_players), int)
    while (batch.state["rounds"] == 0).all() and (batch.to_move >= 0).all():
        np.add.at(picks, (np.arange(30), batch.state["phase"], batch.to_move), 1)
        batch.step(batch.sample_actions(streams))
    assert (picks == np.array([1, 4, 3, 2, 1])[None, :, None]).all()


def test_passing_goes_to_the_left__P9() -> None:
    table = started(4)
    table.act(0, 4, 8, 12, 2, 5, 10, 13)
    assert table.hands() == [(1, 12, 13), (0, 2, 6), (4, 5, 9), (8, 10, 14)]
    assert table["received"][:, :2].tolist() == [[12, 13], [0, 2], [4, 5], [8, 10]]
    assert table["passed"][:, :2].tolist() == [[0, 2], [4, 5], [8, 10], [12, 13]]


def test_picked_cards_stay_until_all_have_picked__P9() -> None:
    table = started(4)
    hands = table.hands()
    table.act(0, 4, 8, 12, 2, 5, 10)
    assert table.hands() == hands
    assert table.legal(3) == {13, 14}
    assert table.legal(0) == set()


def test_received_cards_cannot_be_passed_on_in_the_same_pass__P9() -> None:
    """With cards of all hands marked, nothing travels further than one seat in a pass."""
    table = started(4, pass_counts=(3, 3, 3, 3))
    for seats_away in range(1, 4):
        before = table.hands()
        while table["phase"] == seats_away:
            table.step_anyhow()
        assert table.hands() == [before[3], *before[:3]]


def test_picks_never_fall_in_kind_and_the_pass_stays_completable__P9() -> None:
    table = Table(small_game((2, 2, 2, 2, 2, 2), num_players=2, hand_size=3, pass_counts=(2, 2, 2, 2)))
    table.chance(0, 2, 2, 1, 1, 4, 0, 3, 3, 4, 5, 5)
    table.act(0, 4)
    table.chance(0, 4)
    table.chance(0, 1, 2, 3)
    assert table.hand(0) == (2, 2)
    assert table.legal(0) == {2}
    assert table.legal(1) == {1}
    table.act(2, 1)
    assert table.legal(0) == {2}
    table = started(4)
    assert table.legal() == {0, 1}  # 2 is the highest card of three and cannot come first of two
    table.act(1, 4, 8, 12)
    assert table.legal(0) == {2}


def test_every_set_of_cards_is_picked_in_exactly_one_way__P9() -> None:
    def sets(table: Table, left: int, picked: tuple[int, ...]) -> list[tuple[int, ...]]:
        if left == 0:
            return [picked]
        found = []
        for kind in sorted(table.legal(0)):
            twin = table.twin()
            for seat in range(table.n):
                twin.act(kind if seat == 0 else min(twin.legal()))
            found += sets(twin, left - 1, (*picked, kind))
        return found

    table = Table(small_game((4, 4, 4, 4), num_players=4, hand_size=4, pass_counts=(2, 3, 1, 1)))
    table.chance(0, 0, 1, 2, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3)
    table.act(2, 0, 1, 3)
    table.chance(0, 1, 2, 3)
    assert table.hand(0) == (0, 0, 1)
    assert sorted(sets(table, 2, ())) == [(0, 0), (0, 1)]


# -------------------------------------------------------------------------------------------------------------- dummies


def test_two_players_have_a_dummy_at_each_ones_left__P11() -> None:
    table = started(2)
    assert table["left"][:2].tolist() == [2, 3]
    table.act(0, 4, 1, 5)
    assert table.hands() == [(2,), (6,), (0, 1, 8, 9, 10), (4, 5, 12, 13, 14)]
    assert table["chance"] == DUMMY_DRAW
    table.chance(0, 9)  # P1 draws from hand 2, at the left of P0
    assert table.hand(1) == (0, 6, 9)
    table.chance(14, 13)  # P0 draws from hand 3, at the left of P1
    assert table.hand(0) == (2, 13, 14)
    assert table["received"][:2, :2].tolist() == [[14, 13], [0, 9]]
    assert (table["phase"], table["to_move"]) == (2, 0)
    while table["rounds"] == 0:
        table.step_anyhow()
    assert table["left"][:2].tolist() == [2, 3]  # they never move


@pytest.mark.parametrize("dummy_seat", [0, 1, 2])
def test_three_players_pass_into_and_draw_from_the_dummy__P12_P13(dummy_seat: int) -> None:
    table = started(3, dummy_seat)
    lefts = [(seat + 1) % 3 for seat in range(3)]
    lefts[dummy_seat] = 3
    assert table["left"][:3].tolist() == lefts
    table.act(0, 4, 8, 1, 5, 9)
    passed = {0: (0, 1), 1: (4, 5), 2: (8, 9)}
    kept = {0: (2,), 1: (6,), 2: (10,)}
    after = (dummy_seat + 1) % 3
    for seat in range(3):
        if seat != after:
            assert table.hand(seat) == tuple(sorted(kept[seat] + passed[(seat - 1) % 3]))
    assert table.hand(after) == kept[after]
    pile = tuple(sorted((12, 13, 14, *passed[dummy_seat])))
    assert table.hand(3) == pile
    assert table.probabilities() == [0.2 * (kind in pile) for kind in range(16)]  # 7 + k, here 3 + 2 (P13)
    just_passed = passed[dummy_seat]
    table.chance(just_passed[0])
    assert table.probabilities() == [0.25 * (kind in pile and kind != just_passed[0]) for kind in range(16)]
    table.chance(just_passed[1])  # the very cards just passed
    assert table.hand(after) == tuple(sorted(kept[after] + just_passed))
    assert table.hand(3) == (12, 13, 14)
    assert (table["phase"], table["chance"]) == (2, NOTHING)


def test_no_dummy_is_drawn_from_before_all_have_passed__P13() -> None:
    """Both dummies hold what was passed into them before the first draw, and no draw can bring a card of the other."""
    table = started(2)
    table.act(0, 4, 1, 5)
    assert {0, 1} <= set(table.hand(2))
    assert {4, 5} <= set(table.hand(3))


def test_first_dummy_sits_left_of_a_random_player__P12() -> None:
    table = Table(marked_game(3))
    assert table["chance"] == DUMMY_SEAT
    assert table.probabilities() == [1 / 3] * 3


@pytest.mark.parametrize(
    ("totals", "probabilities"),
    [
        ([1, 5, 5], [0, 0, 1]),  # P0 has the lowest total: the dummy at its right, which is the left of P2
        ([5, 1, 5], [1, 0, 0]),
        ([5, 6, 1], [0, 1, 0]),
        ([1, 1, 5], [0.5, 0, 0.5]),
        ([5, 1, 1], [0.5, 0.5, 0]),
        ([2, 2, 2], [1 / 3, 1 / 3, 1 / 3]),
    ],
)
def test_later_dummy_sits_at_the_right_of_the_lowest_total__P12(totals: list[int], probabilities: list[float]) -> None:
    table = Table(marked_game(3))
    table.state["rounds"] = 1
    table.state["total"][:3] = totals
    assert table.probabilities() == probabilities
    streams = policy_streams(1, 5)
    draws = Counter(table.game.rules.sample_chance(table.state, table.params, streams, 0) for _ in range(3000))
    assert [abs(draws[k] / 3000 - p) < 0.04 for k, p in enumerate(probabilities)] == [True] * 3


def test_four_players_have_no_dummy__P4() -> None:
    table = started(4)
    assert table["left"].tolist() == [1, 2, 3, 0]
    table.act(0, 4, 8, 12, 1, 5, 9, 13)
    assert table["chance"] == NOTHING


# -------------------------------------------------------------------------------------------------------------- scoring


def kinds_of(text: str) -> list[int]:
    """Some kind of each of these letters."""
    letters = load_deck("reconstructed").letters.tolist()
    return [letters.index("ABCDEFG".index(letter)) for letter in text]


def kernel_points(hand: str, goal: str) -> int:
    """Points of a hand on a goal, a kind name of the default deck."""
    game = make_game(LlamaLlamaConfig())
    held = np.array([hand.count(letter) for letter in "ABCDEFG"])
    kind = game.config.cards.kind_names.index(goal)
    return int(rules.goal_points(game.records(game.params)[0], kind, held))


GOALS_OF_THE_EXAMPLE = ("A:ABCDEFG", "B:AACC", "B:AACC", "D:AG+CE+BF")


@pytest.mark.parametrize(
    ("hand", "points"),
    [
        ("ABCDEFG", [51, 2, 2, 19]),
        ("AABBCCD", [2, 19, 19, 4]),  # printed as 0 and a sum of 40: a misprint (rules page)
        ("AABBCCC", [2, 19, 19, 0]),
    ],
)
def test_hands_of_the_rulebook_example__P14_P15(hand: str, points: list[int]) -> None:
    assert [kernel_points(hand, goal) for goal in GOALS_OF_THE_EXAMPLE] == points


def test_disjoint_copies_count__P15() -> None:
    assert kernel_points("DDFF", "D:DF") == 2 * 4 + 2 * 5
    assert kernel_points("DFF", "D:DF") == 4 + 5
    assert kernel_points("AAAGGGC", "D:AG+CE+BF") == 15


def test_a_card_serves_different_combinations__P16() -> None:
    assert kernel_points("AABB", "A:AABB") + kernel_points("AABB", "B:AA") == (2 + 10) + (4 + 7)


def test_equal_goals_each_score__P17() -> None:
    game = make_game(LlamaLlamaConfig(reward="score"))
    deck = game.config.cards
    table = Table(game)
    goals = [deck.kind_names.index(name) for name in GOALS_OF_THE_EXAMPLE]
    hands = [np.bincount(kinds_of(hand), minlength=12) for hand in ("ABCDEFG", "AABBCCD", "AABBCCC", "AAAAAAA")]
    table.state["hand"][:, :12] = hands
    table.state["goal"][:] = goals
    rules.score_round(table.state, table.params)
    assert table["round_score"].tolist() == [74, 44, 40, 7]
    assert table["round_score"].tolist() == score_hands(np.array(hands), np.array(goals), deck).sum(-1).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_kernel_scores_as_score_hands__P14(seed: int) -> None:
    game = make_game(LlamaLlamaConfig(deck=random_deck(seed)))
    deck = game.config.cards
    params = game.records(game.params)[0]
    rng = np.random.default_rng(seed)
    for _ in range(200):
        hand = np.bincount(rng.choice(np.repeat(np.arange(deck.num_kinds), deck.counts), 7), minlength=deck.num_kinds)
        held = np.bincount(deck.letters, weights=hand, minlength=7).astype(np.int64)
        found = [rules.goal_points(params, kind, held) for kind in range(deck.num_kinds)]
        assert found == score_hands(hand, np.arange(deck.num_kinds), deck).tolist()


def test_round_score_and_total_are_recorded__P10() -> None:
    game = make_game(LlamaLlamaConfig(target_score=10_000))
    batch = Batch(game, 20, seed=1)
    scores = []
    for _ in range(3):
        play(batch, 44, seed=2)
        scores.append(batch.state["round_score"].copy())
        assert np.array_equal(batch.state["total"], sum(scores))


# ------------------------------------------------------------------------------------------------------------------ end


def ended(totals: list[int], last: list[int], reward: str = "win", **options: Any) -> Table:
    """The game after its last round, in which the seats scored ``last`` and came to ``totals``."""
    n = len(totals)
    table = Table(make_game(LlamaLlamaConfig(num_players=n, num_rounds=1, reward=reward, **options)))  # type: ignore[arg-type]
    table.state["total"][:n] = totals
    table.state["round_score"][:n] = last
    rules.pay_game(table.state, table.params)
    return table


def test_game_ends_at_the_target__P18() -> None:
    for before, over in ((99, False), (100, True), (130, True)):
        table = Table(make_game(LlamaLlamaConfig()))
        table.state["total"][2] = before
        table.state["chance"] = NOTHING
        rules.score_round(table.state, table.params)  # empty hands: nobody scores
        assert (bool(table["terminated"]), bool(table["truncated"])) == (over, False)
        assert (table["to_move"], table["chance"]) == (-1, NOTHING if over else DEAL)


def test_game_ends_after_the_last_round__P18() -> None:
    batch = Batch(make_game(LlamaLlamaConfig(target_score=10_000)), 20, seed=1)
    play(batch, 4 * 44 - 1, seed=2)
    assert not batch.state["terminated"].any()
    play(batch, 1, seed=2)
    assert batch.state["terminated"].all()
    assert not batch.state["truncated"].any()
    assert (batch.state["rounds"] == 4).all()


@pytest.mark.parametrize(
    ("totals", "last", "reward"),
    [
        ([103, 101, 90, 80], [0, 90, 0, 0], [1, -1 / 3, -1 / 3, -1 / 3]),
        ([103, 103, 90, 80], [20, 25, 99, 0], [-1 / 3, 1, -1 / 3, -1 / 3]),
        ([103, 103, 90, 103], [20, 20, 99, 20], [1 / 9, 1 / 9, -1 / 3, 1 / 9]),
        ([50, 50], [7, 7], [0, 0]),
        ([50, 50], [7, 8], [-1, 1]),
    ],
)
def test_highest_total_then_last_round_then_shared__P19(
    totals: list[int], last: list[int], reward: list[float]
) -> None:
    table = ended(totals, last)
    assert table["reward"][: len(totals)].tolist() == pytest.approx(reward)
    assert sum(reward) == pytest.approx(0)
    shares = table.game.win_shares(np.array([table.state], STATE).view(table.game.visible_dtype))[0]
    assert (shares > 0).tolist() == [value > -1 / len(totals) - 0.01 and value >= 0 for value in reward]


def test_rank_reward_uses_the_tie_break__P20() -> None:
    assert ended([10, 30, 30, 5], [9, 1, 2, 3], "rank")["reward"].tolist() == pytest.approx([-1 / 3, 1 / 3, 1, -1])
    assert ended([10, 30, 30, 5], [9, 2, 2, 3], "rank")["reward"].tolist() == pytest.approx([-1 / 3, 2 / 3, 2 / 3, -1])


def test_illegal_pick_changes_nothing() -> None:
    batch = Batch(marked_game(4), 3, seed=1)
    before = batch.state.copy()
    missing = [int(np.flatnonzero(~mask)[0]) for mask in batch.action_mask]
    with pytest.raises(IllegalAction, match="legal are"):
        batch.step(missing)
    assert np.array_equal(batch.state, before)
