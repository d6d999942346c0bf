"""``history=K``: the observation ends with the last K public events, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.registry import make_game
from llama_envs.lama.state import EXCHANGE

DRAW, QUIT = 7, 8


def courses(moves, **config):
    """One game of two after a fixed deal, ``moves`` being (action, drawn rank or None); all states on the way."""
    game = make_game("lama", num_players=2, hand_size=3, first_player=0, **config)
    states, params = game.records(np.zeros(1, game.state_dtype)), game.records(game.params)[0]
    rules, state = game.rules, states[0]
    rules.start_game(state, params)
    for rank in (4, 5, 5, 0, 0, 2, 2):  # 5 6 6 to player_0, 1 1 3 to player_1, and 3 is the first discard
        rules.apply_chance(state, params, rank)
    for action, drawn in moves:
        rules.apply(state, params, action)
        if drawn is not None:
            rules.apply_chance(state, params, drawn)
    return game, states[0]


# player_1 plays its 3 and then has to draw, or draws first and then plays it
PLAYED_FIRST = [(DRAW, 4), (2, None), (DRAW, 5), (DRAW, 0)]
DREW_FIRST = [(DRAW, 4), (DRAW, 0), (DRAW, 5), (2, None)]


def seen(moves, **config):
    game, state = courses(moves, **config)
    return game.observation.decode(game.observe(state, 0))


def test_two_histories_that_counts_alone_confuse_are_told_apart__B54():
    forgotten = [seen(moves) for moves in (PLAYED_FIRST, DREW_FIRST)]
    assert all((forgotten[0][name] == forgotten[1][name]).all() for name in forgotten[0])
    first, second = (seen(moves, history=4) for moves in (PLAYED_FIRST, DREW_FIRST))
    assert first["event_action"].argmax(axis=1).tolist() == [DRAW, DRAW, 2, DRAW]  # the latest first
    assert second["event_action"].argmax(axis=1).tolist() == [2, DRAW, DRAW, DRAW]
    assert first["event_seat"].argmax(axis=1).tolist() == [1, 0, 1, 0]


def test_the_top_card_on_which_a_seat_quit_is_kept():
    pieces = seen([(DRAW, 4), (2, None), (QUIT, None)], history=4)  # player_1 is stuck, so both hands follow
    assert pieces["event_action"][2:].argmax(axis=1).tolist() == [QUIT, 2]
    assert pieces["event_top"][2:].argmax(axis=1).tolist() == [2, 2]


def test_hands_laid_open_at_scoring_are_events_of_their_seats():
    game, state = courses([(QUIT, None), (QUIT, None)], history=4)
    for seat in (0, 1):
        pieces = game.observation.decode(game.observe(state, seat))
        assert (pieces["event_seat"].argmax(axis=1) == [(1 - seat) % 2, -seat % 2, (1 - seat) % 2, -seat % 2]).all()
        assert pieces["event_action"].any(axis=1).tolist() == [False, False, True, True]
        assert pieces["event_hand"][:2].tolist() == [[2, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 2, 0]]
        assert not pieces["event_hand"][2:].any()


def test_before_the_first_event_there_is_none_and_a_new_game_forgets_the_last():
    assert not any(piece.any() for name, piece in seen([], history=3).items() if name.startswith("event"))
    batch = Batch(make_game("lama", num_players=2, max_rounds=1, history=3), 64, seed=0, autoreset=True)
    streams, ended = policy_streams(64, 0), 0
    for _ in range(60):
        _, terminated, truncated = batch.step(batch.sample_actions(streams))
        over = terminated | truncated
        ended += over.sum()
        assert not batch.game.observation.view(batch.observation, "event_seat")[over].any()
    assert ended > 64


@pytest.mark.parametrize("config", [{"num_players": 4}, {"num_players": 3, "chip_exchange": "choice"}], ids=str)
def test_events_are_the_decisions_that_were_taken_and_nothing_else_changes(config):
    plain, batch = (Batch(make_game("lama", history=k, **config), 256, 1, autoreset=True) for k in (0, 5))
    game, streams, n = batch.game, policy_streams(256, 2), config["num_players"]
    decisions = [[] for _ in range(256)]
    for _ in range(150):
        before = batch.state.copy()
        actions = batch.sample_actions(streams)
        for one, other in zip(batch.step(actions), plain.step(actions), strict=True):
            assert (one == other).all()
        assert (batch.observation[:, : plain.game.observation.size] == plain.observation).all()
        assert (batch.episode == plain.episode).all()
        pieces = game.observation.decode(batch.observation)
        for i in range(256):
            scored = batch.state["rounds"][i] != before["rounds"][i] or batch.state["phase"][i] == EXCHANGE
            if scored or batch.to_move[i] < 0:
                decisions[i].clear()  # hands lie between
                continue
            decisions[i].append((before["to_move"][i], actions[i], before["top"][i]))
            for age, (seat, action, top) in enumerate(reversed(decisions[i][-5:])):
                ahead = (seat - batch.to_move[i]) % n
                assert np.flatnonzero(pieces["event_seat"][i, age]).tolist() == [ahead]
                assert np.flatnonzero(pieces["event_action"][i, age]).tolist() == [action]
                assert np.flatnonzero(pieces["event_top"][i, age]).tolist() == [top]


@pytest.mark.parametrize("history", [-1, 65, 1.5, "2"])
def test_other_lengths_are_refused(history):
    with pytest.raises((ValueError, TypeError), match="history must be"):
        make_game("lama", history=history)
