"""A policy that is a kernel plays inside a compiled loop exactly as it does when it is asked by ``act``."""

from __future__ import annotations

import pickle
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest

from llama_envs.adapters.learner import LearnerGames
from llama_envs.core.batch import policy_streams
from llama_envs.evaluation import play
from llama_envs.policies import Players, RandomPolicy, ScriptedPolicy, make_policy
from llama_envs.policies.view import kernel_of
from tests.cases import Asked, each_game, every_case, everything, game_of, middle
from tests.policies.kernels import counting, drawing, remembering

GAMES, STEPS = 8, 30
OPPONENTS = {
    "random": "random",
    "heuristic": "heuristic",
    "one that draws": drawing(),
    "one that remembers": remembering(),
    "heuristic and random": {"heuristic": 0.5, "random": 0.5},
    "a mixture of all": ["heuristic", "random", drawing(0.9), remembering()],
}
each_opponent = pytest.mark.parametrize("opponents", OPPONENTS.values(), ids=OPPONENTS)


@contextmanager
def asking():
    """Every policy is asked, though it may be a kernel."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("llama_envs.policies.players.kernel_of", lambda policy: None)
        yield


# ----------------------------------------------------------------------------------------------- opponents of a learner


class Learner:
    """A learner that plays uniformly by streams of its own, and all that it is shown."""

    def __init__(self, case, opponents, num_games=GAMES):
        self.games = LearnerGames(game_of(case), num_games, opponents, None, seed=3)
        self.games.begin(np.ones(num_games, np.bool_))
        self.streams = policy_streams(num_games, 9)

    def play(self, steps):
        """What it sees: observations, masks, seats, rewards, ends, and all that the games hold."""
        games, seen = self.games, []
        for _ in range(steps):
            actions = games.batch.sample_actions(self.streams)
            result = games.step(actions, ~games.over)
            seen.append([array.tobytes() for array in (games.observe(), games.masks(), games.seat, *result)])
            if games.over.any():
                games.begin(games.over)
            seen.append([everything(games.batch), games._players.streams.tobytes()])
        return seen

    def state(self):
        return self.games.get_state(), self.streams.copy()

    def go_back(self, state):
        self.games.set_state(state[0])
        self.streams = state[1].copy()


@every_case
@each_opponent
def test_opponents_that_are_kernels_play_as_when_they_are_asked(case, opponents):
    with asking():
        learner = Learner(case, opponents)
        first = learner.play(STEPS)
        between, rest = learner.state(), learner.play(STEPS)
        assert not any(learner.games._players._kernels)
    fast = Learner(case, opponents)
    assert all(fast.games._players._kernels)
    assert fast.play(STEPS) == first
    here = fast.state()
    assert fast.play(STEPS) == rest
    fast.go_back(between)
    assert fast.play(STEPS) == rest
    with asking():
        learner.go_back(here)
        assert learner.play(STEPS) == rest
    assert fast.games._players.decisions.sum() > 0


@every_case
def test_a_policy_that_hides_its_kernel_is_asked_and_does_the_same(case):
    fast, slow = Learner(case, "heuristic"), Learner(case, Asked(make_policy("heuristic", game_of(case))))
    assert kernel_of(slow.games.opponents[0]) is None
    seen = [[step for step in learner.play(STEPS) if len(step) > 2] for learner in (fast, slow)]
    assert seen[0] == seen[1]


class OwnRandom(RandomPolicy):
    """What a subclass does is its ``act``, not the kernel that it inherits."""

    def act(self, view):
        return view.mask.argmax(axis=1)


class OwnScripted(ScriptedPolicy):
    def act(self, view):
        return view.mask.argmax(axis=1)


class OwnKernel(OwnScripted):
    @property
    def kernel(self):
        return remembering().kernel


class SetKernel:
    needs_worlds = True

    def __init__(self):
        self.kernel = remembering().kernel

    def act(self, view):
        return remembering().act(view)


class Renamed(ScriptedPolicy):
    """Another name and nothing else."""


@each_game
def test_a_class_that_inherits_a_kernel_but_has_its_own_act_is_asked(case):
    game = game_of(case)
    kernel = kernel_of(make_policy("heuristic", game))
    assert kernel_of(OwnRandom()) is None
    assert kernel_of(OwnScripted(kernel)) is None
    assert kernel_of(pickle.loads(pickle.dumps(OwnScripted(kernel)))) is None
    assert kernel_of(Renamed(kernel)).choose is kernel.choose
    assert kernel_of(OwnKernel(kernel)).choose is remembering().kernel.choose
    assert kernel_of(SetKernel()).choose is remembering().kernel.choose
    seen = [Learner(case, opponent).play(STEPS)[::2] for opponent in (OwnRandom(), OwnScripted(kernel))]
    assert seen[0] == seen[1]


@each_game
def test_seeds_given_later_start_the_same_games_either_way(case):
    seen = []
    for context in (asking, nullcontext):
        with context():
            learner = Learner(case, ["random", drawing()])
            learner.play(3)
            learner.games.begin(np.arange(GAMES) < 3, [7, None, 8, *[None] * (GAMES - 3)])
            seen.append(learner.play(10))
    assert seen[0] == seen[1]


# ------------------------------------------------------------------------------------------ matches, and seats of games


def entrants(game):
    """One policy for each seat, all of them kernels, of as many kinds as there are seats."""
    kinds = ["heuristic", drawing(), "random", remembering(), "heuristic", "random"]
    return kinds[: game.num_players]


@every_case
@pytest.mark.parametrize("record", [False, True])
def test_matches_of_kernels_are_those_of_policies_that_are_asked(case, record):
    game = game_of(case)
    with asking():
        slow = play(game, entrants(game), 4, 5, record=record)
    fast = play(game, entrants(game), 4, 5, record=record)
    for name in ("win", "score", "truncated", "decisions"):
        assert getattr(fast, name).tobytes() == getattr(slow, name).tobytes(), name
    assert [game.to_json() for game in fast.recorded] == [game.to_json() for game in slow.recorded]
    assert fast.decisions.min() > 0
    assert bool(fast.recorded) == record


@every_case
def test_kernels_choose_the_same_actions_one_by_one(case):
    def decisions(steps=60):
        batch = middle(case, 20)
        seats = batch.game.num_players
        policies = [make_policy(policy, batch.game) for policy in ("heuristic", "random", drawing(), remembering())]
        assignment = (np.arange(20)[:, None] + np.arange(seats)) % 5 - 1  # -1: nobody
        players, taken = Players(batch, policies, assignment, seed=4), []
        streams = policy_streams(20, 8)
        for _ in range(steps):
            actions = np.full(20, -7, np.int64)
            acted = players.act(actions)
            assert (acted == (assignment[np.arange(20), batch.to_move] >= 0)).all()
            assert (actions[~acted] == -7).all()
            taken.append((actions.tobytes(), players.streams.tobytes(), players.decisions.tolist()))
            batch.step(np.where(acted, actions, batch.sample_actions(streams)))
        return taken

    with asking():
        slow = decisions()
    assert decisions() == slow


@every_case
def test_playing_on_is_choosing_and_stepping_one_by_one(case):
    """The pay of the watched seats included, and where it stops: at the seats that are nobody's, and at the end."""
    batch, twin = (middle(case, 20, autoreset=False) for _ in range(2))
    watched = np.arange(20) % batch.game.num_players
    assignment = np.zeros((20, batch.game.num_players), np.int64)
    assignment[np.arange(20), (watched + 1) % batch.game.num_players] = -1
    assignment[::3] = 1
    policies = [drawing(), remembering()]
    one, other = Players(batch, policies, assignment, seed=2), Players(twin, policies, assignment, seed=2)
    streams = policy_streams(20, 3)
    paid, expected, actions = np.zeros(20, np.float32), np.zeros(20, np.float32), np.zeros(20, np.int64)
    for _ in range(200):
        one.play(watched, paid)
        while (acted := other.act(actions)).any():
            expected += twin.step(actions, acted)[0][np.arange(20), watched]
        assert everything(batch) == everything(twin)
        assert one.streams.tobytes() == other.streams.tobytes()
        assert paid.tobytes() == expected.tobytes()
        assert one.decisions.tolist() == other.decisions.tolist()
        waiting = batch.to_move >= 0
        if not waiting.any():
            break
        chosen = batch.sample_actions(streams)
        for each in (batch, twin):
            each.step(chosen, waiting)
    assert (batch.to_move < 0).all()
    assert paid.any()


@every_case
def test_every_seat_has_a_memory_of_its_own_that_is_empty_where_a_game_is_taken_up(case):
    batch, twin = (middle(case, 12, autoreset=False) for _ in range(2))
    Players(batch, [counting()], np.zeros((12, batch.game.num_players), np.int64), seed=1).play()
    counts = np.zeros((12, batch.game.num_players), np.int64)
    while (twin.to_move >= 0).any():
        actions = np.zeros(12, np.int64)
        for i in np.flatnonzero(twin.to_move >= 0):
            legal = np.flatnonzero(twin.action_mask[i])
            actions[i] = legal[counts[i, twin.to_move[i]] % len(legal)]
            counts[i, twin.to_move[i]] += 1
        twin.step(actions)
    assert everything(batch) == everything(twin)
    assert counts.max() > 5
