"""``ismcts``: what its tree adds to flat Monte Carlo, and that it is a tree over information sets."""

from __future__ import annotations

import numpy as np
import pytest

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.registry import make_game, spec_of
from llama_envs.policies import make_policy
from llama_envs.policies.search import MonteCarloPolicy, TreeSearchPolicy
from tests.cases import GAMES, view_of

TABLES = [(name, players) for name in GAMES for players in spec_of(name).players]


def tree_search(spec: str, batch: Batch) -> TreeSearchPolicy:
    policy = make_policy(spec, batch.game)
    assert isinstance(policy, TreeSearchPolicy)
    return policy


def flat_search(spec: str, batch: Batch) -> MonteCarloPolicy:
    policy = make_policy(spec, batch.game)
    assert isinstance(policy, MonteCarloPolicy)
    return policy


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_one_iteration_is_flat_monte_carlo_in_one_world(name: str, players: int) -> None:
    batch = Batch(make_game(name, num_players=players), 8, seed=2)
    streams = policy_streams(8, 1)
    for _ in range(3 * players + 1):
        tree, flat = tree_search("ismcts:1", batch), flat_search("mc:1", batch)
        view, again = view_of(batch, tree), view_of(batch, tree)
        assert np.array_equal(tree.values(view), flat.values(again))
        assert np.array_equal(view.streams, again.streams)
        batch.step(batch.sample_actions(streams), batch.to_move >= 0)


@pytest.mark.parametrize("name", GAMES)
def test_a_full_tree_goes_on_by_its_rollout(name: str) -> None:
    batch = Batch(make_game(name, num_players=3), 4, seed=2)
    small = TreeSearchPolicy(batch.game, 200, None, nodes=3)
    view = view_of(batch, small)
    actions = small.act(view)
    assert view.mask[np.arange(4), actions].all()
    assert small.tree.used[0] == 3
    assert np.array_equal(small.act(view_of(batch, small)), actions)
