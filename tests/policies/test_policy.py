"""Policies: what they may see (known faults B01, B02), and that their choices depend on nothing else."""

from __future__ import annotations

import copy
import gc
import pickle
import types

import numpy as np
import pytest
from scipy import stats

from llama_envs.core.batch import Batch, policy_streams, resampled
from llama_envs.policies import Players, RandomPolicy, ScriptedPolicy, View, make_policy, make_view
from tests.cases import (
    choose_in,
    each_game,
    every_case,
    everything,
    fields,
    game_of,
    middle,
    new_batch,
    view_of,
)

POLICIES = ("random", "heuristic")
each_policy = pytest.mark.parametrize("name", POLICIES)


def hidden_twin(batch, seed=3):
    """The same games with all that the seat to move cannot know drawn again."""
    twin = batch.clone()
    rows = np.flatnonzero(batch.to_move >= 0)
    seats = batch.to_move[rows].astype(np.int64)
    twin.state[rows] = resampled(batch.game, batch.state[rows], seats, policy_streams(len(rows), seed), 1)[:, 0]
    twin.refresh()
    return twin


# ------------------------------------------------------------------------------------------------ what a policy sees


def reachable(root):
    """Every object that can be reached from ``root`` without going through modules, classes or the compiler."""
    seen, stack, found = set(), [root], []
    while stack:
        thing = stack.pop()
        if id(thing) in seen or isinstance(thing, (type, types.ModuleType, types.CodeType, str, bytes, int, float)):
            continue
        seen.add(id(thing))
        found.append(thing)
        if isinstance(thing, np.ndarray):
            stack.append(thing.base)
        elif isinstance(thing, types.FunctionType):
            stack += [thing.__defaults__, thing.__kwdefaults__, thing.__dict__]
            stack += [cell.cell_contents for cell in thing.__closure__ or ()]
        elif type(thing).__module__.startswith(("numba", "llvmlite")):
            stack.append(getattr(thing, "py_func", None))
        else:
            stack += gc.get_referents(thing)
    return found


@each_game
def test_the_walk_itself_finds_a_hidden_path(case):
    batch = new_batch(case, 2, seed=1)
    view = view_of(batch, make_policy("random", batch.game))
    view.worlds_of_the_batch = lambda k=batch._buffers.states[:1]: batch
    found = reachable(view)
    assert any(thing is batch for thing in found)
    assert any(isinstance(thing, np.ndarray) and np.shares_memory(thing, batch._buffers.states) for thing in found)


@every_case
@each_policy
def test_the_true_state_is_out_of_reach__B02(case, name):
    batch = middle(case, 30)
    policy = make_policy(name, batch.game)
    Players(batch, [policy], np.zeros((30, batch.game.num_players), np.int64), 4).act(np.zeros(30, np.int64))
    owned = list(batch._buffers)
    for root in (view_of(batch, policy), policy):
        found = reachable(root)
        assert not any(isinstance(thing, Batch) for thing in found)
        arrays = [thing for thing in found if isinstance(thing, np.ndarray)]
        assert not any(np.shares_memory(array, own) for array in arrays for own in owned)
        streams = set(batch.streams.tolist())
        assert not any(streams & set(array.ravel().tolist()) for array in arrays if array.dtype == np.uint64)


@every_case
@each_policy
def test_a_view_is_the_same_whatever_the_hidden_cards_are__B01_B02(case, name):
    batch = middle(case, 300)
    twin = hidden_twin(batch)
    assert fields(twin.state) != fields(batch.state)
    policy = make_policy(name, batch.game)
    view, other = view_of(batch, policy), view_of(twin, policy)
    for field in ("observation", "mask", "seat", "streams"):
        assert getattr(view, field).tobytes() == getattr(other, field).tobytes(), field
    if policy.needs_worlds:
        assert fields(view._possible) == fields(other._possible)
        assert fields(view.worlds(3)) == fields(other.worlds(3))


@every_case
def test_a_view_without_worlds_holds_none(case):
    view = view_of(middle(case, 5), RandomPolicy())
    assert view._possible is None
    with pytest.raises(ValueError, match="needs_worlds = True"):
        view.worlds(1)


@every_case
def test_worlds_look_like_the_real_game_to_the_seat_and_differ_from_each_other__B02(case):
    batch = middle(case, 60)
    view = view_of(batch, make_policy("heuristic", batch.game))
    worlds = view.worlds(8)
    assert worlds.shape == (len(view), 8)
    seen = new_batch(case, len(view))
    for k in range(8):
        seen.state[:] = worlds[:, k]
        seen.refresh()
        assert (seen.to_move == view.seat).all()
        assert seen.observe(view.seat).tobytes() == view.observation.tobytes()
        assert (seen.action_mask == view.mask).all()
    different = [len({fields(world) for world in row}) for row in worlds]
    assert max(different) > 1


@every_case
def test_asking_for_worlds_changes_neither_the_games_nor_their_future__B02(case):
    batch = middle(case, 20)
    before = everything(batch)
    view = view_of(batch, make_policy("heuristic", batch.game))
    view.worlds(20)
    batch.worlds(0, policy_streams(20, 9), 20)
    assert everything(batch) == before


@every_case
@each_policy
def test_a_policy_may_keep_and_change_its_view__B26(case, name):
    batch = middle(case, 20)
    policy = make_policy(name, batch.game)
    before = everything(batch)
    view = view_of(batch, policy)
    for array in (view.observation, view.mask, view.seat, view.streams, view._possible):
        if array is not None:
            array.view(np.uint8).fill(1)
    assert everything(batch) == before


# ------------------------------------------------------------------------------------------------------------ choices


@every_case
@each_policy
def test_choices_are_legal_and_fixed_by_the_view(case, name):
    batch = middle(case, 200)
    policy = make_policy(name, batch.game)
    first = policy.act(view_of(batch, policy))
    again = policy.act(copy.deepcopy(view_of(batch, policy)))
    assert first.dtype == np.int64
    assert (first == again).all()
    assert view_of(batch, policy).mask[np.arange(len(first)), first].all()


@every_case
@each_policy
def test_a_choice_does_not_depend_on_the_other_rows_of_the_view(case, name):
    batch = middle(case, 50)
    policy = make_policy(name, batch.game)
    together = policy.act(view_of(batch, policy))
    rows = np.flatnonzero(batch.to_move >= 0)
    streams = policy_streams(50, 5)
    for i, row in enumerate(rows):
        one = np.array([row])
        view = make_view(batch, one, batch.to_move[one].astype(np.int64), streams[one], policy)
        assert policy.act(view)[0] == together[i]


@every_case
def test_a_scripted_choice_does_not_depend_on_hidden_cards__B01(case):
    batch = middle(case, 2000)
    twin = hidden_twin(batch)
    assert fields(twin.state) != fields(batch.state)
    policy = make_policy("heuristic", batch.game)
    assert isinstance(policy, ScriptedPolicy)
    seats = batch.to_move.astype(np.int64)
    assert (seats >= 0).all()
    true = choose_in(policy, batch.game, batch.state, seats)
    assert (choose_in(policy, batch.game, twin.state, seats) == true).all()
    assert (policy.act(view_of(batch, policy)) == true).all()


@each_game
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))], ids=["deepcopy", "pickle"])
def test_a_scripted_policy_can_be_copied(case, copied):
    batch = middle(case, 200)
    policy = make_policy("heuristic", batch.game)
    assert (copied(policy).act(view_of(batch, policy)) == policy.act(view_of(batch, policy))).all()


@each_game
def test_random_is_uniform_over_the_legal_actions(case):
    mask = np.tile([True, False, True, True, False], (30_000, 1))
    view = View(
        game_of(case), np.zeros((30_000, 1), np.float32), mask, np.zeros(30_000, np.int64), policy_streams(30_000, 1)
    )
    counts = np.bincount(RandomPolicy().act(view), minlength=5)
    assert counts[1] == counts[4] == 0
    assert stats.chisquare(counts[[0, 2, 3]]).pvalue > 0.001
