"""Players: policies in the seats of a batch, each with its own stream; a policy that fails is named."""

from __future__ import annotations

import numpy as np
import pytest

from llama_envs.policies import Players, PolicyError, RandomPolicy, make_policy
from tests.cases import Asked, each_game, every_case, everything, fields, middle, new_batch
from tests.policies.kernels import stubborn

POLICIES = ("random", "heuristic")


def table(case, num_games, seed, policies=POLICIES, steps=150):
    """Actions, seats and rewards of ``steps`` decisions in games played by ``policies``, seat by seat in turn."""
    batch = new_batch(case, num_games, seed, autoreset=True)
    seats = np.arange(batch.game.num_players)
    assignment = np.tile(seats % len(policies), (num_games, 1))
    players = Players(batch, [make_policy(p, batch.game) for p in policies], assignment, seed=seed)
    actions = np.zeros(num_games, np.int64)
    frames = []
    for _ in range(steps):
        assert players.act(actions).all()
        frames.append((actions.copy(), batch.to_move.copy(), batch.step(actions)[0]))
    return [np.stack(part) for part in zip(*frames, strict=True)]


@every_case
def test_games_between_policies_do_not_depend_on_the_size_of_the_batch__B19(case):
    wide, narrow = table(case, 9, 4), table(case, 2, 4)
    for a, b in zip(wide, narrow, strict=True):
        assert a[:, :2].tobytes() == b.tobytes()


@every_case
def test_same_seed_same_games_between_policies_another_seed_other_games(case):
    first, again, other = table(case, 4, 4), table(case, 4, 4), table(case, 4, 5)
    assert [a.tobytes() for a in first] == [a.tobytes() for a in again]
    assert [a.tobytes() for a in first] != [a.tobytes() for a in other]


@every_case
def test_players_act_only_for_their_seats_and_leave_other_actions_alone(case):
    batch = middle(case, 60)
    assignment = np.full((60, batch.game.num_players), -1)
    assignment[:, 0] = 0
    actions = np.full(60, -7, np.int64)
    acted = Players(batch, [RandomPolicy()], assignment, seed=1).act(actions)
    assert (acted == (batch.to_move == 0)).all()
    assert (actions[~acted] == -7).all()
    assert batch.action_mask[np.flatnonzero(acted), actions[acted]].all()


@every_case
def test_players_wait_when_every_game_is_over(case):
    batch = new_batch(case, 3, 1)
    batch.state["to_move"] = -1
    batch.refresh()
    players = Players(batch, [RandomPolicy()], np.zeros((3, batch.game.num_players), np.int64), seed=1)
    assert not players.act(np.zeros(3, np.int64)).any()


@each_game
def test_two_seats_of_one_policy_have_their_own_streams(case):
    batch = new_batch(case, 50, 1)
    players = Players(batch, [RandomPolicy()], np.zeros((50, batch.game.num_players), np.int64), seed=1)
    assert len(np.unique(players.streams)) == players.streams.size


@each_game
def test_players_without_a_seed_are_others_each_time(case):
    batch = new_batch(case, 5, 1)
    assignment = np.zeros((5, batch.game.num_players), np.int64)
    first, second = (Players(batch, [RandomPolicy()], assignment).streams for _ in range(2))
    assert not (first == second).any()


# --------------------------------------------------------------------------------------------------- policies that fail


class Broken:
    """A policy that answers with what a function makes of its view."""

    needs_worlds = False

    def __init__(self, answer):
        self.answer = answer

    def act(self, view):
        return self.answer(view)


def raising(view):
    raise ZeroDivisionError("no\nmore")


ANSWERS = {
    "raises": (raising, "ZeroDivisionError: no"),
    "too few": (lambda view: np.zeros(len(view) - 1, np.int64), "act gave int64 of shape (2,), not 3 integers"),
    "floats": (lambda view: np.zeros(len(view)), "act gave float64 of shape (3,), not 3 integers"),
    "nothing": (lambda view: None, "act gave object of shape (), not 3 integers"),
    "bools": (lambda view: np.ones(len(view), np.bool_), "act gave bool of shape (3,), not 3 integers"),
    "an illegal action": (lambda view: view.mask.argmin(axis=1), "is not legal; legal are "),
    "an action that does not exist": (lambda view: np.full(len(view), 99), "action 99 is not legal; legal are "),
    "an action below zero": (lambda view: np.full(len(view), -1), "action -1 is not legal; legal are "),
}


def players_of(case, policy, names=("good", "bad")):
    """Three games in which the second seat to come is played by ``policy``."""
    batch = new_batch(case, 3, seed=2)
    assignment = np.zeros((3, batch.game.num_players), np.int64)
    assignment[np.arange(3), batch.to_move] = 1
    return Players(batch, [RandomPolicy(), policy], assignment, seed=1, names=names)


@each_game
@pytest.mark.parametrize(("answer", "message"), ANSWERS.values(), ids=ANSWERS)
def test_a_policy_that_fails_is_named_and_no_game_moves(case, answer, message):
    players = players_of(case, Broken(answer))
    before = everything(players.batch)
    for ask in (lambda: players.act(np.zeros(3, np.int64)), players.play):
        with pytest.raises(PolicyError) as failed:
            ask()
        assert failed.value.policy == "bad"
        assert message in failed.value.message
        assert "\n" not in str(failed.value)
        assert str(failed.value) == f"policy bad failed: {failed.value.message}"
        assert everything(players.batch) == before


@each_game
@pytest.mark.parametrize("action", [-1, 99, 2**40])
def test_a_kernel_that_chooses_an_illegal_action_is_named_and_its_game_stays_where_it_was(case, action):
    players = players_of(case, stubborn(action))
    batch = players.batch

    def position():
        return fields(batch.state), *(a.tobytes() for a in (batch.streams, batch.action_mask, batch.observation))

    before = position()
    for ask in (lambda: players.act(np.zeros(3, np.int64)), players.play):
        with pytest.raises(PolicyError, match=rf"^policy bad failed: action {action} is not legal; legal are "):
            ask()
        assert position() == before


@each_game
def test_a_game_that_a_failing_kernel_did_not_move_keeps_its_first_deal__K20(case):
    players = players_of(case, stubborn(-1))
    batch = players.batch
    dealt = fields(batch.state)
    with pytest.raises(PolicyError, match="policy bad failed"):
        players.play()
    batch.reset()
    assert batch.episode.tolist() == [0, 0, 0]
    assert fields(batch.state) == dealt
    moved = players_of(case, RandomPolicy())
    moved.play()
    moved.batch.reset()
    assert moved.batch.episode.tolist() == [1, 1, 1]


WRONG_TO_PLAY = {
    "who of other games": ({"who": np.zeros((4, 2), np.int64)}, "who must have the shape"),
    "a holder that is not there": ({"who": 5}, "who must lie in -1 to 2, got 5 to 5"),
    "a holder below -1": ({"who": -2}, "who must lie in -1 to 2, got -2 to -2"),
    "too few actions": ({"actions": np.zeros(2, np.int64)}, "actions must have the shape"),
    "too few that are paid": ({"paid": np.zeros(2, np.float32)}, "paid must have the shape"),
    "a seat that is not there": ({"watched": np.full(3, 9, np.int64)}, "watched must lie in 0 to"),
    "streams of seat 0 alone": ({"streams": np.ones(3, np.uint64)}, "streams must be a writable uint64 array"),
    "streams of another kind": ({"streams": 1.0}, "streams must be a writable uint64 array"),
}


@each_game
@pytest.mark.parametrize(("wrong", "words"), WRONG_TO_PLAY.values(), ids=WRONG_TO_PLAY)
def test_arrays_that_do_not_fit_are_refused_before_a_kernel_sees_them__B53(case, wrong, words):
    batch = new_batch(case, 3, 1)
    seats = (3, batch.game.num_players)
    arrays = {
        "who": np.zeros(seats, np.int64), "index": 0, "streams": np.ones(seats, np.uint64),
        "actions": np.zeros(3, np.int64), "asks": np.ones(3, np.bool_),
    }  # fmt: skip
    for name, value in wrong.items():
        arrays[name] = value if isinstance(value, np.ndarray) else np.full(seats, value)
    before = everything(batch)
    with pytest.raises(ValueError, match=words):
        batch.play(RandomPolicy().kernel, **arrays)
    assert everything(batch) == before


@each_game
def test_a_kernel_that_fails_later_leaves_the_game_at_the_decision_at_which_it_did(case):
    players = players_of(case, stubborn(-1, after=1))
    with pytest.raises(PolicyError, match="policy bad failed: action -1 is not legal"):
        players.play()
    batch = players.batch
    stopped = np.flatnonzero((batch.state["rounds"] == 1) & (players._who() == 1))
    assert len(stopped) > 0
    row = stopped[0]
    shown = batch.mask(batch.to_move[row])[row], batch.observe(batch.to_move[row])[row]
    assert (batch.action_mask[row] == shown[0]).all()
    assert (batch.observation[row] == shown[1]).all()
    assert players.decisions.min() > 0


@each_game
def test_a_policy_without_a_name_is_named_by_its_number(case):
    players = players_of(case, Broken(raising), names=())
    with pytest.raises(PolicyError, match=r"^policy 1 failed: ZeroDivisionError: no \(test_players\.py, line \d+\)$"):
        players.play()


@each_game
def test_decisions_and_seconds_are_counted_for_each_policy(case):
    batch, twin = new_batch(case, 5, seed=2), new_batch(case, 5, seed=2)
    assignment = np.tile(np.arange(batch.game.num_players) % 3, (5, 1))
    policies = [make_policy("heuristic", batch.game), RandomPolicy(), Asked(RandomPolicy())]
    players, counted = Players(batch, policies, assignment, seed=1), Players(twin, policies, assignment, seed=1)
    players.play()
    expected, actions = np.zeros(3, np.int64), np.zeros(5, np.int64)
    while (acted := counted.act(actions)).any():
        expected += np.bincount(assignment[np.arange(5), twin.to_move][acted], minlength=3)
        twin.step(actions, acted)
    assert everything(batch) == everything(twin)
    assert players.decisions.tolist() == counted.decisions.tolist() == expected.tolist()
    sitting = np.unique(assignment)
    assert (players.seconds[sitting] > 0).all()
    assert (counted.seconds[sitting] > 0).all()
