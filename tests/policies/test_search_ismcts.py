"""``ismcts``: what its tree adds to flat Monte Carlo, and that it is a tree over information sets."""

from __future__ import annotations

import numpy as np
import pytest
from llama_envs.policies.policy import View, look, make_policy

import agents  # noqa: F401
from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.registry import make_game
from llama_envs.policies.search import MonteCarloPolicy, TreeSearchPolicy
from tests.lama.tables import table

TABLES = [*(("lama", players) for players in range(2, 7)), *(("llama_llama", players) for players in range(2, 5))]


def tree_search(spec: str, batch: Batch) -> TreeSearchPolicy:
    policy = make_policy(spec, batch.game)
    assert isinstance(policy, TreeSearchPolicy)
    return policy


def flat_search(spec: str, batch: Batch) -> MonteCarloPolicy:
    policy = make_policy(spec, batch.game)
    assert isinstance(policy, MonteCarloPolicy)
    return policy


def view_of(batch: Batch, seed: int = 3) -> View:
    rows = np.flatnonzero(batch.to_move >= 0)
    streams = policy_streams(batch.num_games, seed)[rows]
    return look(batch, rows, batch.to_move[rows].astype(np.int64), streams, make_policy("mc:1", batch.game))


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_one_iteration_is_flat_monte_carlo_in_one_world(name: str, players: int) -> None:
    batch = Batch(make_game(name, num_players=players), 8, seed=2)
    streams = policy_streams(8, 1)
    for _ in range(3 * players + 1):
        tree, flat = tree_search("ismcts:1", batch), flat_search("mc:1", batch)
        view, again = view_of(batch), view_of(batch)
        assert np.array_equal(tree.values(view), flat.values(again))
        assert np.array_equal(view.streams, again.streams)
        batch.step(batch.sample_actions(streams), batch.to_move >= 0)


def alone(hand: str, top: str, other: str) -> Batch:
    """L.L.A.M.A. with an empty stock, in which the other has quit: a puzzle without hidden cards."""
    return table(hand, other, top=top, quitters=[1], stock="")


def test_the_tree_finds_the_way_that_random_play_misses() -> None:
    batch = alone("1 2 3 4 5", "1", "6 L")
    play = batch.game.action_id("play 1")
    flat = flat_search("mc:2000:random", batch).values(view_of(batch))[0, play]
    patient = TreeSearchPolicy(batch.game, 2000, None, confidence=np.inf)  # gives up no action
    tree = patient.values(view_of(batch))[0, play]
    best = 16.0  # all five cards go: no penalty here, 6 + 10 there
    assert flat < best - 3
    assert best - 1.5 < tree <= best


def test_in_the_tree_the_others_go_for_their_own_result() -> None:
    batch = table("6 L", "1 2 3 4 5", top="L", stock="")  # whoever quits leaves the other alone
    quits = batch.game.action_id("quit")
    flat = flat_search("mc:2000:random", batch).values(view_of(batch))[0, quits]
    patient = TreeSearchPolicy(batch.game, 2000, None, confidence=np.inf)  # gives up no action
    tree = patient.values(view_of(batch))[0, quits]
    worst = -16.0  # the other plays everything
    assert flat > worst + 3
    assert worst <= tree < worst + 1.5


def test_a_pick_of_another_seat_makes_no_difference_in_the_tree() -> None:
    """After the first pick of a pass the seat stands at one node, whatever the others picked meanwhile."""
    iterations = 50
    batch = Batch(make_game("llama_llama", num_players=4), 1, seed=6)
    for _ in range(4):
        batch.step(batch.sample_actions(policy_streams(1, 1)))
    assert batch.state["phase"][0] == 1
    policy = TreeSearchPolicy(batch.game, iterations, None, confidence=np.inf)
    view = view_of(batch)
    policy.values(view)
    visits = policy.tree.visits[: policy.tree.used[0]].sum(axis=1)
    assert visits.max() == iterations
    assert 2 <= (visits == iterations).sum() <= view.mask[0].sum()


def test_what_the_seat_is_shown_makes_a_difference_in_the_tree() -> None:
    """A card drawn by the seat itself leads to another node for each rank."""
    batch = table("1 1 3", "5 5 5 5 5 5", top="2")
    policy = TreeSearchPolicy(batch.game, 400, None, confidence=np.inf)
    policy.values(view_of(batch))
    assert policy.tree.used[0] > 20


@pytest.mark.parametrize("name", ["lama", "llama_llama"])
def test_a_full_tree_goes_on_by_its_rollout(name: str) -> None:
    batch = Batch(make_game(name, num_players=3), 4, seed=2)
    small = TreeSearchPolicy(batch.game, 200, None, nodes=3)
    view = view_of(batch)
    actions = small.act(view)
    assert view.mask[np.arange(4), actions].all()
    assert small.tree.used[0] == 3
    assert np.array_equal(small.act(view_of(batch)), actions)
