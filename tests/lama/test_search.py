"""Search in positions of L.L.A.M.A. in which the best action is known."""

from __future__ import annotations

import numpy as np
import pytest

from llama_envs.core.batch import Batch
from llama_envs.core.registry import make_game
from llama_envs.evaluation import compare
from llama_envs.policies import Policy, make_policy
from llama_envs.policies.search import TreeSearchPolicy, ValuePolicy
from llama_envs.policies.search.budget import Budget
from tests.cases import view_of
from tests.lama.tables import table

SEARCHES_FOR_POSITIONS = ["mc:60", "mc:60:random", "ismcts:60", "ismcts:60:random"]


@pytest.mark.parametrize("spec", SEARCHES_FOR_POSITIONS)
@pytest.mark.parametrize(
    ("hand", "top", "best"),
    [("L", "6", "play llama"), ("5", "5", "play 5"), ("1", "L", "play 1")],
)
def test_the_last_card_is_played_when_it_can_be(hand: str, top: str, best: str, spec: str) -> None:
    batch = table(hand, "1 2 3 4 5 6", "1 3 5 L", top=top)
    policy = make_policy(spec, batch.game)
    assert batch.game.action_names[policy.act(view_of(batch, policy))[0]] == best


@pytest.mark.parametrize("spec", SEARCHES_FOR_POSITIONS)
def test_a_hand_that_can_only_get_worse_is_given_up(spec: str) -> None:
    batch = table("1", "4", "5", top="3", stock="L L L L 6 6 6 6")
    policy = make_policy(spec, batch.game)
    assert batch.game.action_names[policy.act(view_of(batch, policy))[0]] == "quit"


def test_mc_beats_the_heuristic_in_both_player_counts_of_its_reference() -> None:
    for players, bar in ((2, 0.5), (4, 0.25)):
        game = make_game("lama", num_players=players)
        found = compare(game, ["mc:100", *["heuristic"] * (players - 1)], 600, 0)
        assert found.share[0] - found.interval[0] > bar


def values(policy: Policy, batch: Batch) -> np.ndarray:
    return policy.values(view_of(batch, policy))


def alone(hand: str, top: str, other: str) -> Batch:
    """L.L.A.M.A. with an empty stock, in which the other has quit: a puzzle without hidden cards."""
    return table(hand, other, top=top, quitters=[1], stock="")


def test_the_tree_finds_the_way_that_random_play_misses() -> None:
    batch = alone("1 2 3 4 5", "1", "6 L")
    play = batch.game.action_id("play 1")
    flat = values(make_policy("mc:2000:random", batch.game), batch)[0, play]
    patient = TreeSearchPolicy(batch.game, 2000, None, confidence=np.inf)  # gives up no action
    tree = values(patient, batch)[0, play]
    best = 16.0  # all five cards go: no penalty here, 6 + 10 there
    assert flat < best - 3
    assert best - 1.5 < tree <= best


def test_in_the_tree_the_others_go_for_their_own_result() -> None:
    batch = table("6 L", "1 2 3 4 5", top="L", stock="")  # whoever quits leaves the other alone
    quits = batch.game.action_id("quit")
    flat = values(make_policy("mc:2000:random", batch.game), batch)[0, quits]
    patient = TreeSearchPolicy(batch.game, 2000, None, confidence=np.inf)  # gives up no action
    tree = values(patient, batch)[0, quits]
    worst = -16.0  # the other plays everything
    assert flat > worst + 3
    assert worst <= tree < worst + 1.5


def test_what_the_seat_is_shown_makes_a_difference_in_the_tree() -> None:
    """A card drawn by the seat itself leads to another node for each rank."""
    batch = table("1 1 3", "5 5 5 5 5 5", top="2")
    policy = TreeSearchPolicy(batch.game, 400, None, confidence=np.inf)
    policy.values(view_of(batch, policy))
    assert policy.tree.used[0] > 20


class Constant:
    """A network that expects a quarter of every position."""

    inputs = ("observation",)

    def __call__(self, seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return np.full((len(seen), 1), 0.25, np.float32)


def test_a_game_that_is_won_at_once_counts_as_what_it_pays() -> None:
    batch = table("L", "1 2 3", top="L", white=[0, 9], black=[0, 3])  # the other gets 6 more, which makes 45
    policy = ValuePolicy(batch.game, Budget(5), Constant(), make_policy("heuristic", batch.game))
    values = policy.values(view_of(batch, policy, seed=3))[0]
    names = batch.game.action_names
    assert values[names.index("play llama")] == 1.0
    assert values[names.index("draw")] == 0.25
    assert values[names.index("quit")] < 1.0
