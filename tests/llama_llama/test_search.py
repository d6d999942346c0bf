"""Search in positions of Llama Llama in which the best card to pass is known."""

from __future__ import annotations

import numpy as np
import pytest

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.registry import make_game
from llama_envs.evaluation import compare
from llama_envs.llama_llama.deck import Card, Combination, Deck
from llama_envs.policies import make_policy
from llama_envs.policies.search import TreeSearchPolicy
from tests.cases import view_of

SEARCHES_FOR_POSITIONS = ["mc:60", "mc:60:random", "ismcts:60", "ismcts:60:random"]


def two_letters() -> Deck:
    """Every goal pays 1 for an A and 20 for a B."""
    pays = ((Combination("A", 1),), (Combination("B", 20),))
    return Deck("two letters", (Card("A", *pays, 16), Card("B", *pays, 16)), 32)


@pytest.mark.parametrize("spec", SEARCHES_FOR_POSITIONS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_last_card_passed_is_a_cheap_one(players: int, spec: str) -> None:
    game = make_game("llama_llama", num_players=players, deck=two_letters())
    batch = Batch(game, 30, seed=1)
    policy = make_policy(spec, game)
    streams = policy_streams(30, 4)
    both = 0
    while batch.state["rounds"].max() == 0:
        if batch.state["phase"][0] == 4:
            view = view_of(batch, policy)
            choice = view.mask.all(axis=1)
            both += choice.sum()
            assert not policy.act(view)[choice].any()
        batch.step(batch.sample_actions(streams))
    assert both > 30


def test_mc_beats_the_heuristic() -> None:
    game = make_game("llama_llama", num_players=4)
    found = compare(game, ["mc:15", *["heuristic"] * 3], 60, 0)
    assert found.share[0] - found.interval[0] > 0.25


def test_a_pick_of_another_seat_makes_no_difference_in_the_tree() -> None:
    """After the first pick of a pass the seat stands at one node, whatever the others picked meanwhile."""
    iterations = 50
    batch = Batch(make_game("llama_llama", num_players=4), 1, seed=6)
    for _ in range(4):
        batch.step(batch.sample_actions(policy_streams(1, 1)))
    assert batch.state["phase"][0] == 1
    policy = TreeSearchPolicy(batch.game, iterations, None, confidence=np.inf)
    view = view_of(batch, policy)
    policy.values(view)
    visits = policy.tree.visits[: policy.tree.used[0]].sum(axis=1)
    assert visits.max() == iterations
    assert 2 <= (visits == iterations).sum() <= view.mask[0].sum()
