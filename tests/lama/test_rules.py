"""Every clause of the rules page (L1 to L20) and every rule other projects got wrong, on the real kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product
from math import comb
from typing import Any

import numpy as np
import pytest

from llama_envs import lama_v0
from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.errors import IllegalAction, ResetNeeded
from llama_envs.lama.state import EXCHANGE, RETURN, TURN
from tests.lama.tables import act, chi_square_p, chips, count_cards, field, hand, legal, table

PLAYERS = [2, 3, 4, 5, 6]


# ---- components and deal ----


def test_deck_is_eight_each_of_one_to_six_and_llama__L1() -> None:
    batch = lama_v0.batch(1, seed=0)
    state = batch.state[0]
    assert (state["hand"].sum(0) + state["stock"] + state["discard"]).tolist() == [8] * 7
    assert batch.game.action_names[:7] == ("play 1", "play 2", "play 3", "play 4", "play 5", "play 6", "play llama")


def test_white_chip_is_one_point_and_black_chip_ten__L2() -> None:
    batch = table("6 L", "1 1", top="3", white=[3, 0], black=[0, 2], target_score=100)
    act(batch, "quit")  # seat 1 is stuck; penalties 16 and 1
    assert (chips(batch), field(batch, "total")) == (([9, 1], [1, 2]), [19, 21])


def test_chip_supply_does_not_run_out__L2() -> None:
    batch = table("6 6", "L L", top="2", white=[50, 0], black=[0, 20], target_score=1000, chip_exchange="choice")
    act(batch, "quit")
    assert chips(batch) == ([56, 0], [0, 21])


def test_two_to_six_players_and_four_by_default__L3() -> None:
    assert lama_v0.batch(1, seed=0).game.num_players == 4
    for num_players in PLAYERS:
        batch = lama_v0.batch(1, num_players=num_players, seed=0)
        assert batch.state["hand"].shape == (1, num_players, 7)
        assert len(batch.game.agents) == num_players
    for num_players in (1, 7):
        with pytest.raises(ValueError, match="num_players"):
            lama_v0.batch(1, num_players=num_players)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_six_cards_each_one_turned_up_and_the_rest_is_stock__L4(num_players: int) -> None:
    state = lama_v0.batch(200, num_players=num_players, seed=1).state
    assert (state["hand"].sum(2) == 6).all()
    assert (state["hand_size"] == 6).all()
    assert (state["discard"].sum(1) == 1).all()
    assert (state["discard"][np.arange(200), state["top"]] == 1).all()
    assert (state["stock"].sum(1) == 56 - 6 * num_players - 1).all()
    assert (state["stock_size"] == 56 - 6 * num_players - 1).all()
    assert (state["hand"].sum(1) + state["stock"] + state["discard"] == 8).all()
    assert (state["active"] == 1).all()
    assert (state["to_move"] == state["starter"]).all()


def test_every_round_is_dealt_from_all_cards__L4() -> None:
    batch = table("1 1 4", "2 2", top="1", stock="3")
    act(batch, "play 1", "quit", "quit")
    state = batch.state[0]
    assert state["rounds"] == 1
    assert state["hand"].sum(1).tolist() == [6, 6]
    assert (state["hand"].sum(0) + state["stock"] + state["discard"]).tolist() == [8] * 7
    assert (state["discard"].sum(), state["stock_size"]) == (1, 43)
    assert (state["active"].tolist(), state["phase"]) == ([1, 1], TURN)
    assert (state["played"].sum(), state["drew_on"].sum()) == (0, 0)


def test_every_card_is_as_likely_on_every_place_of_the_deal__L4() -> None:
    state = lama_v0.batch(20_000, num_players=6, seed=2).state
    top = np.bincount(state["top"], minlength=7)
    assert chi_square_p(top, np.full(7, 20_000 / 7)) > 0.001
    chance = np.array([comb(8, k) * comb(48, 6 - k) / comb(56, 6) for k in range(4)])
    chance[3] = 1 - chance[:3].sum()
    for seat, rank in product(range(6), range(7)):
        observed = np.bincount(np.minimum(state["hand"][:, seat, rank], 3), minlength=4)
        assert chi_square_p(observed, 20_000 * chance) > 0.001 / 42, (seat, rank)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_seed_decides_who_opens_and_each_seat_equally_often__L5(num_players: int) -> None:
    starters = lama_v0.batch(6000, num_players=num_players, seed=list(range(6000))).state["starter"]
    observed = np.bincount(starters, minlength=num_players)
    assert len(observed) == num_players
    assert chi_square_p(observed, np.full(num_players, 6000 / num_players)) > 0.001
    again = lama_v0.batch(6000, num_players=num_players, seed=list(range(6000))).state["starter"]
    assert (starters == again).all()


def test_first_player_may_be_a_seat__L5() -> None:
    for seat in range(3):
        batch = lama_v0.batch(100, num_players=3, seed=0, first_player=seat)
        assert (batch.to_move == seat).all()
        assert (batch.state["starter"] == seat).all()


def test_who_played_its_last_card_opens_the_next_round__L5_L11() -> None:
    batch = table("3 3", "4 4", "1", top="1", to_move=2)
    act(batch, "play 1")
    assert (field(batch, "rounds"), field(batch, "starter"), field(batch, "to_move")) == (1, 2, 2)


def test_quitter_is_active_again_in_the_round_its_neighbour_opens__L5_L8() -> None:
    batch = table("3 3", "2 1", "4 4", top="1", to_move=2)
    act(batch, "quit", "draw", "play 1", "draw", "play 2")  # seats 2, 0, 1, 0, 1
    assert (field(batch, "rounds"), field(batch, "starter"), field(batch, "to_move")) == (1, 1, 1)
    assert field(batch, "active") == [1, 1, 1]
    act(batch, "draw")
    assert field(batch, "to_move") == 2


def test_last_remaining_seat_that_quits_opens_the_next_round__L5() -> None:
    batch = table("3 3", "3 3", "1 1 1", "3 3", top="1", to_move=1)
    order = []
    for name in ("quit", "play 1", "quit", "quit", "play 1", "quit"):
        order.append(field(batch, "to_move"))
        act(batch, name)
    assert order == [1, 2, 3, 0, 2, 2]
    assert (field(batch, "rounds"), field(batch, "starter"), field(batch, "to_move")) == (1, 2, 2)


def test_last_to_quit_opens_though_another_holds_the_lowest_hand__L5() -> None:
    batch = table("1 L", "6 6", "3", top="1", to_move=1, starter=1)
    act(batch, "quit", "quit", "quit")  # seats 1, 2, 0
    assert (field(batch, "rounds"), field(batch, "total")) == (1, [11, 6, 3])
    assert (field(batch, "starter"), field(batch, "to_move")) == (0, 0)


def test_last_to_quit_opens_when_the_one_left_is_stuck__L5_L11() -> None:
    batch = table("6 6", "6 6", "3 3", "6 6", top="1", to_move=3, starter=3)
    act(batch, "quit", "quit", "quit")  # seats 3, 0, 1; seat 2 is never asked
    assert (field(batch, "rounds"), field(batch, "starter"), field(batch, "to_move")) == (1, 1, 1)


def test_last_remaining_seat_that_plays_until_it_is_stuck_opens__L5_L11() -> None:
    batch = table("6 6", "1 4", "6 6", top="1", to_move=2)
    act(batch, "quit", "quit", "play 1")
    assert (field(batch, "rounds"), field(batch, "starter"), field(batch, "to_move")) == (1, 1, 1)


def test_rotating_starter_is_the_seat_after_the_last_starter__L5() -> None:
    batch = lama_v0.batch(1, num_players=3, seed=0, first_player=2, next_starter="rotate", target_score=1000)
    starters = []
    for _ in range(7):
        starters.append(field(batch, "starter"))
        assert field(batch, "to_move") == starters[-1]
        rounds = field(batch, "rounds")
        while field(batch, "rounds") == rounds:
            act(batch, "quit" if "quit" in legal(batch) else "keep")
    assert starters == [2, 0, 1, 2, 0, 1, 2]


def test_starter_is_part_of_every_seats_observation__L5() -> None:
    batch = table("1 1", "1 1", "1 1", starter=2, to_move=1)
    for seat in range(3):
        seen = batch.game.observation.decode(batch.observe(seat)[0])
        assert seen["starter"].tolist() == [(seat + ahead) % 3 == 2 for ahead in range(3)]


# ---- a turn ----


@pytest.mark.parametrize(
    ("top", "playable"),
    [("1", "1 2"), ("2", "2 3"), ("3", "3 4"), ("4", "4 5"), ("5", "5 6"), ("6", "6 llama"), ("L", "llama 1")],
)
def test_same_rank_or_next_in_the_cycle_is_playable__L6(top: str, playable: str) -> None:
    batch = table("1 2 3 4 5 6 L", "1 1 1 1 1 2 2", top=top)
    assert legal(batch) == {f"play {rank}" for rank in playable.split()} | {"draw", "quit"}


def test_played_card_leaves_the_hand_and_becomes_the_top_discard__L6() -> None:
    batch = table("1 2 2 L", "1 1 1", top="1", stock="4 4")
    before = batch.state[0].copy()
    act(batch, "play 2")
    state = batch.state[0]
    assert (hand(batch, 0), hand(batch, 1)) == ("1 2 L", "1 1 1")
    assert (state["discard"] - before["discard"]).tolist() == count_cards("2").tolist()
    assert (state["top"], state["to_move"], state["hand_size"].tolist()) == (1, 1, [3, 3])
    assert (state["stock"] == before["stock"]).all()
    assert legal(batch) == {"draw", "quit"}  # over a 2, a 1 does not go


def test_illegal_action_is_refused_and_changes_nothing__L6() -> None:
    batch = table("1 3", "1 1", top="1")
    before = batch.state.tobytes()
    for name in ("play 2", "play 3", "play llama", "keep", "return white", "return black"):
        with pytest.raises(IllegalAction, match=name):
            act(batch, name)
    for action in (-1, batch.game.num_actions, 10**6):
        with pytest.raises(IllegalAction, match=r"legal are 0 \(play 1\), 7 \(draw\), 8 \(quit\)"):
            batch.step([action])
    assert batch.state.tobytes() == before


def test_draw_takes_one_card_from_the_stock_and_ends_the_turn__L7() -> None:
    batch = table("3 3", "4 4", top="1", stock="1")
    act(batch, "draw")
    assert (hand(batch, 0), field(batch, "stock"), field(batch, "hand_size")) == ("1 3 3", [0] * 7, [3, 2])
    assert field(batch, "to_move") == 1  # though the drawn card fits
    assert field(batch, "top") == 0
    act(batch, "quit")
    assert legal(batch) == {"play 1", "quit"}


def test_drawn_card_comes_from_the_stock_in_proportion__L7() -> None:
    drawn: Counter[str] = Counter()
    for seed in range(2000):
        batch = table("3 3", "4 4", top="1", stock="2 5 5 5", seed=seed)
        act(batch, "draw")
        drawn[hand(batch, 0)] += 1
    assert set(drawn) == {"2 3 3", "3 3 5"}
    assert chi_square_p(np.array([drawn["2 3 3"], drawn["3 3 5"]]), np.array([500.0, 1500.0])) > 0.001


def test_drawing_is_allowed_also_with_a_playable_card__L7() -> None:
    assert "draw" in legal(table("1 1", "1 1", top="1"))


def test_after_the_last_stock_card_nobody_draws_and_discards_stay__L7() -> None:
    hands = ["2 2 2 2 2 2", "3 3 3 3 3 3", "4 4 4 4 4 4", "5 5 5 5 5 5", "6 6 6 6 6 6", "L L L L L L"]
    batch = table(*hands, top="1")
    assert field(batch, "stock_size") == 19  # 56 - 36 - 1
    for drawn in range(19):
        assert (field(batch, "to_move"), field(batch, "stock_size")) == (drawn % 6, 19 - drawn)
        seen = batch.game.observation.decode(batch.observation[0])
        assert seen["stock"].tolist() == [19 - drawn]
        act(batch, "draw")
    state = batch.state[0]
    assert (state["stock_size"], state["stock"].tolist(), state["discard"].tolist()) == (0, [0] * 7, [1, *[0] * 6])
    assert state["hand"].sum(0).tolist() == [7, *[8] * 6]
    assert (state["rounds"], state["to_move"]) == (0, 1)
    with pytest.raises(IllegalAction, match="draw"):
        act(batch, "draw")  # a twentieth
    for _ in range(5):
        assert "draw" not in legal(batch)
        assert field(batch, "rounds") == 0
        act(batch, "quit")
        assert field(batch, "stock_size") == 0 or field(batch, "rounds") == 1


def test_twentieth_draw_is_masked_in_every_game_of_a_batch__L7() -> None:
    batch = lama_v0.batch(500, num_players=6, seed=3)
    draw, quit_round = batch.game.action_id("draw"), batch.game.action_id("quit")
    for _ in range(19):
        assert batch.action_mask[:, draw].all()
        batch.step(np.full(500, draw))
    assert not batch.action_mask[:, draw].any()
    assert batch.action_mask[:, quit_round].all()
    assert (batch.state["hand"].sum((1, 2)) == 55).all()
    assert (batch.state["rounds"] == 0).all()
    with pytest.raises(IllegalAction, match="draw"):
        batch.step(np.full(500, draw))


def test_with_empty_stock_and_nothing_playable_each_quits_in_turn__L7_L8_L11() -> None:
    batch = table("3 3", "4 4", "5 5", "6 6", top="1", stock="", starter=1, to_move=1)
    for seat in (1, 2, 3):
        assert (field(batch, "to_move"), field(batch, "rounds"), legal(batch)) == (seat, 0, {"quit"})
        act(batch, "quit")
    assert (field(batch, "rounds"), field(batch, "total")) == (1, [3, 4, 5, 6])


def test_stock_may_be_empty_from_the_deal_on__L7_L19() -> None:
    batch = lama_v0.batch(50, num_players=2, seed=0, num_ranks=3, copies=3, hand_size=4)
    assert (batch.state["stock_size"] == 0).all()
    assert not batch.action_mask[:, batch.game.action_id("draw")].any()
    assert (batch.game.observation.view(batch.observation, "stock") == 0).all()


def test_quitting_is_always_allowed_on_ones_turn__L8() -> None:
    assert legal(table("1 1", "1 1", top="1")) == {"play 1", "draw", "quit"}
    assert legal(table("4 4", "1 1", top="1")) == {"draw", "quit"}


def test_first_quitter_does_not_end_the_round__L8() -> None:
    batch = table("3 3", "1 3", "3 3", top="1")
    act(batch, "quit")
    assert (field(batch, "rounds"), field(batch, "to_move"), field(batch, "active")) == (0, 1, [0, 1, 1])
    assert legal(batch) == {"play 1", "draw", "quit"}
    act(batch, "draw")
    assert (field(batch, "to_move"), legal(batch)) == (2, {"draw", "quit"})


def test_quitter_keeps_penalty_for_face_down_cards__L8_L13() -> None:
    batch = table("6 L", "1 1", "1 2", top="1")
    act(batch, "quit")
    assert (hand(batch, 0), field(batch, "total")) == ("6 L", [0, 0, 0])
    act(batch, "play 1", "play 1", "play 1")
    assert (field(batch, "rounds"), field(batch, "total")) == (1, [16, 0, 2])


def test_who_neither_plays_nor_draws_must_quit__L8() -> None:
    batch = table("3 4 5", "2 6 L", top="1", stock="")
    assert legal(batch) == {"quit"}


def test_turns_skip_quitters_without_skip_or_repeat__L9() -> None:
    batch = table(*["3 3"] * 3, "4 4", "4 4", "4 4", top="1", stock="5 5 5 5 5 6 6 6")
    order = []
    for _ in range(11):
        seat = field(batch, "to_move")
        order.append(seat)
        act(batch, "quit" if seat in (1, 4) else "draw" if field(batch, "stock_size") else "quit")
    assert order == [0, 1, 2, 3, 4, 5, 0, 2, 3, 5, 0]


def test_turns_go_round_in_seat_order_from_any_starter__L9() -> None:
    for first in range(4):
        batch = table("3 3", "3 3", "4 4", "4 4", top="1", to_move=first, starter=first)
        order = []
        for _ in range(8):
            order.append(field(batch, "to_move"))
            act(batch, "draw")
        assert order == [(first + turn) % 4 for turn in range(8)]


def test_next_game_on_the_same_batch_goes_in_the_same_order__L9() -> None:
    batch = lama_v0.batch(1, num_players=5, seed=0, first_player=3)
    for _ in range(3):
        order = []
        for _ in range(5):
            order.append(field(batch, "to_move"))
            act(batch, "draw")
        assert order == [3, 4, 0, 1, 2]
        batch.reset()


def test_last_remaining_seat_may_play_or_quit_but_not_draw__L10() -> None:
    batch = table("3 3", "3 3", "1 5", top="1")
    assert "draw" in legal(batch)
    act(batch, "quit")
    assert "draw" in legal(batch)  # two are left
    act(batch, "quit")
    assert (field(batch, "rounds"), field(batch, "to_move")) == (0, 2)
    assert legal(batch) == {"play 1", "quit"}


def test_last_remaining_seat_goes_on_playing_until_its_hand_is_empty__L10_L11() -> None:
    batch = table("3 3 3", "1 1 2", top="1")
    act(batch, "quit", "play 1")
    assert (field(batch, "to_move"), legal(batch)) == (1, {"play 1", "play 2", "quit"})
    act(batch, "play 1")
    assert (field(batch, "to_move"), legal(batch), field(batch, "rounds")) == (1, {"play 2", "quit"}, 0)
    act(batch, "play 2")
    assert (field(batch, "rounds"), field(batch, "total")) == (1, [3, 0])


def test_last_remaining_seat_may_quit_with_a_playable_card__L8_L10() -> None:
    batch = table("3 3 3", "1 1 2", top="1")
    act(batch, "quit", "quit")
    assert (field(batch, "rounds"), field(batch, "total")) == (1, [3, 3])


# ---- end of a round ----


def test_round_ends_at_once_when_a_seat_plays_its_last_card__L11() -> None:
    batch = table("1", "1", "1 2", top="1")
    act(batch, "play 1")
    assert (field(batch, "rounds"), field(batch, "total")) == (1, [0, 1, 3])


def test_round_ends_when_every_seat_has_quit__L11() -> None:
    batch = table("1 1", "2 2", top="1")
    act(batch, "quit")
    assert (field(batch, "rounds"), field(batch, "to_move")) == (0, 1)
    act(batch, "quit")
    assert (field(batch, "rounds"), field(batch, "total")) == (1, [1, 2])


def test_stuck_last_remaining_seat_is_not_asked__L11() -> None:
    batch = table("1 1", "4 6", top="1")
    act(batch, "quit")
    assert (field(batch, "rounds"), field(batch, "total")) == (1, [1, 10])
    batch = table("1 1", "2 4 6", top="1")
    act(batch, "quit", "play 2")
    assert (field(batch, "rounds"), field(batch, "total")) == (1, [1, 10])


def test_round_goes_on_while_two_are_active_though_none_can_play__L11() -> None:
    batch = table("1 1", "4 4", "4 4", top="1")
    act(batch, "quit")
    assert (field(batch, "rounds"), field(batch, "to_move"), legal(batch)) == (0, 1, {"draw", "quit"})


def one_card_left(white: int, black: int, **options: Any) -> Any:
    """Two seats; seat 0 owns these chips and has just played its last card; seat 1 holds a 3."""
    batch = table("1", "3", top="1", white=[white, 0], black=[black, 0], **options)
    act(batch, "play 1")
    return batch


@pytest.mark.parametrize(
    ("white", "black", "choices"),
    [
        (2, 1, {"keep", "return white", "return black"}),
        (2, 0, {"keep", "return white"}),
        (0, 2, {"keep", "return black"}),
    ],
)
def test_who_emptied_its_hand_may_return_a_chip_it_owns__L12(white: int, black: int, choices: set[str]) -> None:
    batch = one_card_left(white, black)
    assert (field(batch, "phase"), field(batch, "to_move"), field(batch, "rounds")) == (RETURN, 0, 0)
    assert legal(batch) == choices
    assert field(batch, "total")[1] == 0  # the chip goes back before the others collect


@pytest.mark.parametrize(("name", "white", "black"), [("keep", 2, 1), ("return white", 1, 1), ("return black", 2, 0)])
def test_returned_chip_is_the_chosen_one__L12(name: str, white: int, black: int) -> None:
    batch = one_card_left(2, 1)
    act(batch, name)
    assert (chips(batch), field(batch, "total")) == (([white, 3], [black, 0]), [white + 10 * black, 3])
    assert (field(batch, "rounds"), field(batch, "phase"), field(batch, "to_move")) == (1, TURN, 0)


@pytest.mark.parametrize("chip_return", ["choice", "auto"])
def test_without_a_chip_nothing_is_asked_or_returned__L12(chip_return: str) -> None:
    batch = one_card_left(0, 0, chip_return=chip_return)
    assert (field(batch, "rounds"), field(batch, "total"), chips(batch)) == (1, [0, 3], ([0, 3], [0, 0]))


@pytest.mark.parametrize(("white", "black", "total"), [(2, 1, 2), (2, 0, 1), (0, 1, 0)])
def test_automatic_return_is_the_most_valuable_chip__L12(white: int, black: int, total: int) -> None:
    batch = one_card_left(white, black, chip_return="auto")
    assert (field(batch, "rounds"), field(batch, "total")) == (1, [total, 3])


def test_nobody_returns_a_chip_when_no_hand_is_empty__L12() -> None:
    for chip_return in ("choice", "auto"):
        batch = table("1 1", "3 3", top="1", white=[5, 5], chip_return=chip_return)
        act(batch, "quit")
        assert (field(batch, "rounds"), field(batch, "total")) == (1, [6, 8])


def test_other_seats_with_chips_are_not_asked_when_one_goes_out__L12() -> None:
    batch = table("1", "3", "4", top="1", white=[0, 7, 7])
    act(batch, "play 1")
    assert (field(batch, "rounds"), field(batch, "total")) == (1, [0, 10, 11])


def test_automatic_chips_leave_no_chip_actions__L12_L15() -> None:
    names = lama_v0.batch(1, chip_return="auto", seed=0).game.action_names
    assert names[-2:] == ("draw", "quit")
    names = lama_v0.batch(1, seed=0).game.action_names
    assert names[-3:] == ("keep", "return white", "return black")
    names = lama_v0.batch(1, chip_exchange="choice", seed=0).game.action_names
    assert names[-2:] == ("ten white to black", "black to ten white")


@pytest.mark.parametrize(
    ("cards", "points"),
    [("3 3 3 5 L L", 18), ("6 6 6", 6), ("1 2 3 4 5 6 L", 31), ("1 1 2 3 3 4 5 5 5 6 L L L", 31)],
)
def test_each_rank_held_counts_once__L13(cards: str, points: int) -> None:
    batch = table(cards, "4 4", top="2", to_move=1, target_score=100)
    act(batch, "quit")
    if field(batch, "rounds") == 0:
        act(batch, "quit")
    assert field(batch, "total") == [points, 4]


def test_empty_hand_has_no_penalty__L13() -> None:
    batch = table("1", "3", top="1")
    act(batch, "play 1")
    assert field(batch, "total")[0] == 0


def test_penalty_of_all_128_sets_of_ranks_with_random_copies__L13() -> None:
    worth = [1, 2, 3, 4, 5, 6, 10]
    rng = np.random.default_rng(0)
    patterns = np.array(list(product([0, 1], repeat=7)))[1:]  # the empty one goes out instead
    hands = np.repeat(patterns, 20, axis=0) * rng.integers(1, 9, (127 * 20, 7))
    batch = lama_v0.batch(len(hands), num_players=3, seed=0, target_score=1000)
    state = batch.state
    state["hand"][:, 0], state["hand"][:, 1], state["hand"][:, 2] = hands, count_cards("6 L"), count_cards("4 4 4")
    state["hand_size"] = state["hand"].sum(2)
    state["active"], state["num_active"], state["to_move"], state["top"] = [1, 0, 1], 2, 2, 0
    batch.refresh()
    quit_round = np.full(len(hands), batch.game.action_id("quit"))
    batch.step(quit_round)
    left = batch.state["rounds"] == 0  # seat 0 can play and quits too
    batch.step(quit_round, where=left)
    expected = [[sum(w for w, count in zip(worth, cards, strict=True) if count), 16, 4] for cards in hands.tolist()]
    assert batch.state["total"].tolist() == expected
    assert (batch.state["rounds"] == 1).all()


def test_penalty_is_collected_as_black_tens_and_white_ones__L14() -> None:
    batch = table("3 3 3 5 L L", "1 2 3 4 5 6", "6 6 6 6 6 6", top="3", target_score=100, chip_exchange="choice")
    act(batch, "quit", "quit")
    assert chips(batch) == ([8, 1, 6], [1, 2, 0])
    assert field(batch, "total") == [18, 21, 6]


def test_ten_white_become_a_black_in_collection__L15() -> None:
    batch = table("6 6", "1 1", "2", top="4", white=[5, 9, 7], black=[1, 0, 0])
    act(batch, "quit", "quit")
    assert chips(batch) == ([1, 0, 9], [2, 1, 0])
    assert field(batch, "total") == [21, 10, 9]


def exchange_asked() -> Any:
    """Seats 1, 2 and 0 are asked in this order, since seat 1 opened; white chips are 21, 21, 2 now, black 0, 2, 1."""
    batch = table(
        "6 6", "1 1", "2 2", top="4", starter=1, to_move=1, white=[15, 20, 0], black=[0, 2, 1],
        chip_exchange="choice", target_score=100,
    )  # fmt: skip
    act(batch, "quit", "quit")
    return batch


def test_exchange_is_asked_from_the_starter_on_of_seats_that_can__L15() -> None:
    batch = exchange_asked()
    assert chips(batch) == ([21, 21, 2], [0, 2, 1])
    assert (field(batch, "phase"), field(batch, "to_move")) == (EXCHANGE, 1)
    assert legal(batch) == {"keep", "ten white to black", "black to ten white"}
    act(batch, "keep")
    assert (field(batch, "to_move"), legal(batch)) == (2, {"keep", "black to ten white"})
    act(batch, "keep")
    assert (field(batch, "to_move"), legal(batch), field(batch, "rounds")) == (0, {"keep", "ten white to black"}, 0)
    act(batch, "keep")
    assert (field(batch, "phase"), field(batch, "rounds"), chips(batch)) == (TURN, 1, ([21, 21, 2], [0, 2, 1]))


@pytest.mark.parametrize(
    ("name", "first", "second"), [("ten white to black", (11, 3), (1, 4)), ("black to ten white", (31, 1), (41, 0))]
)
def test_exchange_goes_on_in_one_direction_only__L15(
    name: str, first: tuple[int, int], second: tuple[int, int]
) -> None:
    batch = exchange_asked()
    act(batch, name)
    assert (batch.state["white"][0, 1], batch.state["black"][0, 1], field(batch, "to_move")) == (*first, 1)
    assert legal(batch) == {"keep", name}
    act(batch, name)
    assert (batch.state["white"][0, 1], batch.state["black"][0, 1], field(batch, "to_move")) == (*second, 2)
    assert field(batch, "total") == [21, 41, 12]


def test_exchange_is_not_asked_when_nobody_can__L15() -> None:
    batch = table("6 6", "1 1", top="4", chip_exchange="choice")
    act(batch, "quit")
    assert (field(batch, "rounds"), chips(batch)) == (1, ([6, 1], [0, 0]))


# ---- end of the game ----


def scored(totals: list[int], **options: Any) -> tuple[Any, list[float]]:
    """A game whose round has just brought the seats to these totals, one point each in this round; and its reward."""
    before = [total - 1 for total in totals]
    white, black = [total % 10 for total in before], [total // 10 for total in before]
    batch = table(*["1"] * len(totals), top="4", white=white, black=black, **options)
    reward, _, _ = act(batch, *["quit"] * (len(totals) - 1))
    assert (field(batch, "total"), field(batch, "rounds")) == (totals, 1)
    return batch, reward


def is_over(batch: Any) -> tuple[bool, bool]:
    return bool(batch.state["terminated"][0]), bool(batch.state["truncated"][0])


def test_39_goes_on_and_exactly_40_ends_the_game__L16() -> None:
    batch, reward = scored([39, 3])
    assert (is_over(batch), reward) == ((False, False), [0, 0])
    assert field(batch, "to_move") >= 0
    assert (batch.state["hand"][0].sum(1) == 6).all()
    batch, reward = scored([40, 3])
    assert (is_over(batch), field(batch, "to_move"), reward) == ((True, False), -1, [-1, 1])
    assert is_over(scored([20, 3], target_score=20)[0]) == (True, False)
    assert is_over(scored([19, 3], target_score=20)[0]) == (False, False)


def test_seats_that_pass_40_together_are_ranked_by_total__L16_L17() -> None:
    _, reward = scored([44, 41, 47], reward="rank")
    assert reward == [0, 1, -1]
    _, reward = scored([44, 41, 47])
    assert reward == [-0.5, 1, -0.5]


def test_no_further_round_is_dealt_after_the_end__L16() -> None:
    batch, _ = scored([40, 3, 5])
    for seat in range(3):
        seen = batch.game.observation.decode(batch.observe(seat)[0])
        assert seen["hand"].tolist() == count_cards("1").tolist()
        assert seen["hand_size"].tolist() == [1, 1, 1]
        assert seen["rounds"].tolist() == [1]
    assert not batch.action_mask.any()
    assert not batch.mask(0).any()


def test_finished_game_refuses_every_step__L16() -> None:
    batch, _ = scored([40, 3])
    before = batch.state.tobytes()
    with pytest.raises(ResetNeeded, match=r"reset\(\)"):
        act(batch, "quit")
    assert batch.state.tobytes() == before


def test_chip_is_returned_before_the_game_ends__L16() -> None:
    batch = table("1", "3", "1", top="1", white=[6, 8, 4], black=[0, 3, 0])
    act(batch, "play 1")
    assert (field(batch, "phase"), is_over(batch)) == (RETURN, (False, False))
    reward, terminated, truncated = act(batch, "return white")
    assert (terminated, truncated, field(batch, "total")) == (True, False, [5, 41, 5])
    assert reward == [0.25, -0.5, 0.25]


def test_exchange_is_done_before_the_game_ends__L16() -> None:
    batch = table("1", "3", top="1", white=[0, 8], black=[0, 3], chip_exchange="choice")
    act(batch, "play 1")
    assert (field(batch, "phase"), is_over(batch), field(batch, "total")) == (EXCHANGE, (False, False), [0, 41])
    _, terminated, _ = act(batch, "keep")
    assert terminated


def test_returned_chip_can_bring_a_seat_below_the_target__L16() -> None:
    batch = table("1", "3", top="1", black=[4, 0], chip_return="auto", target_score=35)
    act(batch, "play 1")  # 40 would be enough, 30 is not
    assert (is_over(batch), field(batch, "total")) == ((False, False), [30, 3])


def test_lowest_total_wins__L17() -> None:
    batch, reward = scored([12, 40, 5])
    assert (is_over(batch), reward) == ((True, False), [-0.5, -0.5, 1])
    assert scored([12, 40, 5], reward="rank")[1] == [0, -1, 1]
    assert not batch.game.most_points_win


def test_tie_shares_the_victory_with_equal_reward__L17() -> None:
    assert scored([5, 40, 5])[1] == [0.25, -0.5, 0.25]
    assert scored([5, 40, 5], reward="rank")[1] == [0.5, -1, 0.5]


def test_seat_that_reached_40_need_not_be_last__L17() -> None:
    assert scored([40, 47, 44])[1] == [1, -0.5, -0.5]


@pytest.mark.parametrize("reward", ["win", "rank"])
def test_round_limit_truncates_and_pays_nothing__L18(reward: str) -> None:
    batch, paid = scored([10, 20, 30], max_rounds=2, reward=reward, target_score=1000)
    assert (is_over(batch), paid) == ((False, False), [0, 0, 0])
    while not any(is_over(batch)):
        paid, terminated, truncated = act(batch, "quit" if "quit" in legal(batch) else "keep")
    assert (terminated, truncated, field(batch, "rounds"), paid) == (False, True, 2, [0, 0, 0])
    assert field(batch, "to_move") == -1


def test_truncated_round_still_pays_its_score__L18_L20() -> None:
    batch = table("1 1", "3 3", top="4", max_rounds=1, reward="score")
    reward, terminated, truncated = act(batch, "quit")
    assert (terminated, truncated, reward) == (False, True, pytest.approx([0.2, -0.2]))


def test_natural_end_in_the_step_of_the_limit_terminates__L18() -> None:
    batch, reward = scored([10, 40], max_rounds=1)
    assert (is_over(batch), reward) == ((True, False), [1, -1])


def test_without_a_limit_no_round_truncates__L18() -> None:
    batch = table("1 1", "1 1", top="4")
    batch.state["rounds"] = 5000
    act(batch, "quit")
    assert (is_over(batch), field(batch, "rounds")) == ((False, False), 5001)


def test_single_round_may_be_a_complete_game__L18() -> None:
    batch, reward = scored([10, 20], max_rounds=1, single_round_terminates=True)
    assert (is_over(batch), reward) == ((True, False), [1, -1])


# ---- variants ----


def test_shrunk_deck_keeps_the_cycle_and_the_llama_last__L19() -> None:
    batch = table("1 L", "1 2", top="L", num_ranks=3, copies=2, hand_size=2)
    assert batch.game.action_names[:5] == ("play 1", "play 2", "play llama", "draw", "quit")
    assert legal(batch) == {"play llama", "play 1", "draw", "quit"}
    act(batch, "play 1", "quit")  # the last seat left holds a llama over a 1
    assert (field(batch, "rounds"), field(batch, "total")) == (1, [10, 3])


def test_two_ranks_are_a_cycle_of_two__L19() -> None:
    for top in ("1", "L"):
        batch = table("1 L", "1 1", top=top, num_ranks=2, copies=4, hand_size=2)
        assert legal(batch) == {"play 1", "play llama", "draw", "quit"}


@pytest.mark.parametrize(
    ("num_players", "num_ranks", "copies", "hand_size"),
    [(2, 2, 2, 1), (2, 7, 1, 3), (3, 4, 3, 3), (4, 5, 2, 2), (6, 7, 16, 18), (6, 3, 5, 2)],
)
def test_deal_follows_the_deck_options__L19(num_players: int, num_ranks: int, copies: int, hand_size: int) -> None:
    options = {"num_ranks": num_ranks, "copies": copies, "hand_size": hand_size}
    state = lama_v0.batch(100, num_players=num_players, seed=0, **options).state
    cards = (state["hand"].sum(1) + state["stock"] + state["discard"]).astype(int)
    assert (cards[:, :num_ranks] == copies).all()
    assert (cards[:, num_ranks:] == 0).all()
    assert (state["hand_size"] == hand_size).all()
    assert (state["stock_size"] == num_ranks * copies - num_players * hand_size - 1).all()


def win_reward(totals: tuple[int, ...]) -> list[Fraction]:
    """The winners share what the first places are worth together: +1 for one, -1/(n-1) for each of the others."""
    others, winners = len(totals) - 1, totals.count(min(totals))
    pot = 1 - Fraction(winners - 1, others)
    return [pot / winners if total == min(totals) else Fraction(-1, others) for total in totals]


def rank_reward(totals: tuple[int, ...]) -> list[Fraction]:
    """Equal steps from 1 to -1, averaged over all orders in which tied seats could be placed."""
    places = [[p for p, total in enumerate(sorted(totals)) if total == own] for own in totals]
    return [1 - Fraction(2 * sum(place), len(place) * (len(totals) - 1)) for place in places]


def score_reward(changes: tuple[int, ...]) -> list[Fraction]:
    others = len(changes) - 1
    return [(Fraction(sum(changes) - own, others) - own) / 10 for own in changes]


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("reward", ["win", "rank", "score"])
def test_rewards_are_shared_and_zero_sum_also_with_ties__L17_L20(reward: str, num_players: int) -> None:
    rng = np.random.default_rng(num_players)
    games = 400
    finals = rng.integers(39, 43, (games, num_players))  # many ties, and somebody nearly always reaches 40
    finals[:, 0] = rng.integers(40, 43, games)
    finals[:2] = 40
    batch = lama_v0.batch(games, num_players=num_players, seed=0, reward=reward)
    state = batch.state
    hands = np.zeros((games, num_players, 7), np.int64)
    hands[np.arange(games)[:, None], np.arange(num_players), rng.integers(1, 6, (games, num_players))] = 2
    points = np.argmax(hands, 2) + 1
    state["hand"], state["hand_size"], state["top"] = hands, 2, 0
    state["total"] = finals - points
    state["white"], state["black"] = state["total"] % 10, state["total"] // 10
    state["active"], state["num_active"] = 0, 1
    state["active"][:, num_players - 1], state["to_move"] = 1, num_players - 1
    batch.refresh()
    paid, terminated, truncated = batch.step(np.full(games, batch.game.action_id("quit")))
    assert terminated.all()
    assert not truncated.any()
    assert (batch.state["total"] == finals).all()
    assert paid.dtype == np.float32
    assert np.abs(paid.sum(1)).max() < 1e-6
    pays = {"win": win_reward, "rank": rank_reward, "score": score_reward}[reward]
    basis = points if reward == "score" else finals
    expected = [[float(x) for x in pays(tuple(row))] for row in basis.tolist()]
    assert paid.tolist() == [pytest.approx(row, abs=1e-6) for row in expected]


@pytest.mark.parametrize("num_players", PLAYERS)
def test_every_pattern_of_ties_is_paid_by_places__L20(num_players: int) -> None:
    for totals in {tuple(sorted(40 + v for v in row)) for row in product(range(2), repeat=num_players)}:
        for reward, pays in (("win", win_reward), ("rank", rank_reward)):
            for order in (totals, totals[::-1]):
                _, paid = scored(list(order), reward=reward)
                assert paid == pytest.approx([float(x) for x in pays(order)], abs=1e-6)


def test_best_reward_does_not_depend_on_the_seat__L20() -> None:
    for order in permutations([12, 40, 5]):
        _, reward = scored(list(order))
        assert np.argmax(reward) == order.index(5)


def test_score_reward_counts_the_returned_chip__L20() -> None:
    batch = table("1", "3", "L", top="1", black=[1, 1, 1], reward="score", chip_return="auto")
    reward, _, _ = act(batch, "play 1")  # changes in total: -10, +3, +10
    assert reward == pytest.approx([1.65, -0.3, -1.35])
    batch = table("1", "3", "L", top="1", black=[1, 1, 1], reward="score")
    assert act(batch, "play 1")[0] == [0, 0, 0]  # not yet paid
    assert act(batch, "return black")[0] == pytest.approx([1.65, -0.3, -1.35])


def test_round_is_paid_once_with_the_act_that_completes_it__L15_L20() -> None:
    batch = table("1 1", "3 3", top="4", black=[1, 1], chip_exchange="choice", reward="score")
    assert act(batch, "quit")[0] == [0, 0]  # still exchanging
    assert act(batch, "keep")[0] == [0, 0]
    assert act(batch, "keep")[0] == pytest.approx([0.2, -0.2])
    assert act(batch, "quit")[0] == [0, 0]


@pytest.mark.parametrize("reward", ["win", "rank"])
def test_nothing_is_paid_before_the_end_of_the_game__L20(reward: str) -> None:
    batch = table("1 1", "3 3", "4", top="1", reward=reward)
    assert act(batch, "play 1")[0] == [0, 0, 0]
    assert act(batch, "quit")[0] == [0, 0, 0]
    assert act(batch, "quit")[0] == [0, 0, 0]


# ---- chance ----


def deal_to(number_of_cards: int, **options: Any) -> Batch:
    """One game in which so many cards of the first deal have been dealt, always a likeliest one."""
    batch = lama_v0.batch(1, seed=0, **options)
    game, state, params = batch.game, batch._buffers.states[0], batch._params[0]
    game.rules.start_game(state, params)
    for _ in range(number_of_cards):
        probabilities = outcomes(batch)
        game.rules.apply_chance(state, params, int(np.argmax(probabilities)))
    return batch


def outcomes(batch: Batch) -> np.ndarray:
    """Probabilities of the pending chance event."""
    out = np.full(batch.game.max_chance_outcomes, np.nan)
    count = batch.game.rules.chance_outcomes(batch._buffers.states[0], batch._params[0], out)
    assert np.isnan(out[count:]).all()
    return out[:count]


def draw_pending(**options: Any) -> Batch:
    batch = table("3 3", "4 4", top="1", stock="1 1 1 2 5 5 L L L L", **options)
    batch.game.rules.apply(batch._buffers.states[0], batch._params[0], batch.game.action_id("draw"))
    return batch


PENDING: dict[str, Callable[[], Batch]] = {
    "who opens, 2 seats": lambda: deal_to(0, num_players=2),
    "who opens, 6 seats": lambda: deal_to(0, num_players=6),
    "the first card": lambda: deal_to(1, num_players=3),
    "a card in the middle of the deal": lambda: deal_to(14, num_players=3),
    "the first discard": lambda: deal_to(19, num_players=3),
    "a card of a small deck": lambda: deal_to(3, num_players=2, num_ranks=2, copies=4, hand_size=2, first_player=0),
    "a drawn card": draw_pending,
}


@pytest.mark.parametrize("event", PENDING)
def test_probabilities_of_a_chance_event_sum_to_one(event: str) -> None:
    probabilities = outcomes(PENDING[event]())
    assert (probabilities >= 0).all()
    assert probabilities.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("event", PENDING)
def test_sampled_outcomes_follow_their_probabilities(event: str) -> None:
    batch = PENDING[event]()
    before = batch.state.tobytes()
    probabilities = outcomes(batch)
    streams = policy_streams(1, 21)
    drawn = [
        batch.game.rules.sample_chance(batch._buffers.states[0], batch._params[0], streams, 0) for _ in range(20_000)
    ]
    assert batch.state.tobytes() == before  # looking at chance resolves nothing
    observed = np.bincount(drawn, minlength=len(probabilities))
    possible = probabilities > 0
    assert not observed[~possible].any()
    assert chi_square_p(observed[possible], 20_000 * probabilities[possible]) > 0.001


def test_drawn_card_is_as_likely_as_its_share_of_the_stock__L7() -> None:
    assert outcomes(draw_pending()).tolist() == [0.3, 0.1, 0, 0, 0.2, 0, 0.4]


def test_probabilities_sum_to_one_at_every_event_of_random_games() -> None:
    for options in ({"num_players": 6}, {"num_players": 2, "num_ranks": 2, "copies": 2, "hand_size": 1}):
        batch = lama_v0.batch(1, seed=3, **options)
        game, state, params, streams = batch.game, batch._buffers.states[0], batch._params[0], policy_streams(1, 4)
        for _ in range(10):
            game.rules.start_game(state, params)
            while not (state["terminated"] or state["truncated"]):
                if state["chance"]:
                    assert outcomes(batch).sum() == pytest.approx(1, abs=1e-12)
                    outcome = game.rules.sample_chance(state, params, streams, 0)
                    assert outcomes(batch)[outcome] > 0
                    game.rules.apply_chance(state, params, outcome)
                else:
                    batch.refresh()
                    game.rules.apply(state, params, batch.sample_actions(streams)[0])
