"""Policies: their names, what they may see (known faults B01, B02), and that their choices depend on nothing else."""

from __future__ import annotations

import copy
import gc
import pickle
import types

import numpy as np
import pytest
from tests.cases import each_game, every_case, everything, fields, game_of, middle, new_batch
from scipy import stats

import agents  # noqa: F401  (registers the shipped policies)
from llama_envs import lama_v0
from llama_envs.core import policy as policy_module
from llama_envs.core.batch import Batch, policy_streams, resampled
from llama_envs.policies.policy import (
    Players,
    Policy,
    RandomPolicy,
    ScriptedPolicy,
    View,
    look,
    make_policy,
    policy_usage,
    register_policy,
)

POLICIES = ("random", "heuristic")
each_policy = pytest.mark.parametrize("name", POLICIES)


def look_at(batch, policy, seed=5):
    """The view of ``policy`` on every game that goes on, whose seat to move it plays."""
    rows = np.flatnonzero(batch.to_move >= 0)
    return look(batch, rows, batch.to_move[rows].astype(np.int64), policy_streams(batch.num_games, seed)[rows], policy)


def hidden_twin(batch, seed=3):
    """The same games with all that the seat to move cannot know drawn again."""
    twin = batch.clone()
    rows = np.flatnonzero(batch.to_move >= 0)
    seats = batch.to_move[rows].astype(np.int64)
    twin.state[rows] = resampled(batch.game, batch._states[rows], seats, policy_streams(len(rows), seed), 1)[:, 0]
    twin.refresh()
    return twin


# -------------------------------------------------------------------------------------------------------------- names


@pytest.fixture
def registry():
    """The registry of names, put back afterwards."""
    kept = dict(policy_module._REGISTRY)
    yield policy_module._REGISTRY
    policy_module._REGISTRY.clear()
    policy_module._REGISTRY.update(kept)


@each_game
def test_an_unknown_name_says_which_are_known_and_how_to_add_one(case):
    with pytest.raises(ValueError, match="unknown policy 'nobody'") as refused:
        make_policy("nobody:5", game_of(case))
    message = str(refused.value)
    for usage in ("random", "heuristic[:option]", "ppo:PATH", "import agents", "register_policy"):
        assert usage in message


@each_game
@pytest.mark.parametrize("spec", ["", ":", ":5", "Random", " random"])
def test_nearly_a_name_is_unknown(case, spec):
    with pytest.raises(ValueError, match="unknown policy"):
        make_policy(spec, game_of(case))


@each_game
@pytest.mark.parametrize("spec", [None, 5, 0.5, b"random", object(), ["random"], RandomPolicy.act])
def test_anything_but_a_name_or_a_policy_is_refused(case, spec):
    with pytest.raises(ValueError, match=r"^a policy must be a name or an object with act\(view\) and needs_worlds"):
        make_policy(spec, game_of(case))


@each_game
def test_a_policy_stands_for_itself(case):
    policy = RandomPolicy()
    assert make_policy(policy, game_of(case)) is policy
    assert isinstance(policy, Policy)


@each_game
def test_random_takes_no_argument(case):
    with pytest.raises(ValueError, match="'random' takes no argument, got '3'"):
        make_policy("random:3", game_of(case))


@each_game
def test_a_registered_name_is_known_with_its_argument_everywhere(case, registry):
    built = []
    register_policy("mine", lambda game, argument: built.append((game, argument)) or RandomPolicy(), "mine:NUMBER")
    assert isinstance(make_policy("mine:1:2", game_of(case)), RandomPolicy)
    assert built == [(game_of(case), "1:2")]
    assert policy_usage()["mine"] == "mine:NUMBER"
    with pytest.raises(ValueError, match="mine:NUMBER"):
        make_policy("other", game_of(case))


def test_without_agents_only_random_is_known():
    from rooms import run_python

    code = "from llama_envs.policies.policy import policy_usage; import llama_envs.lama_v0; print(list(policy_usage()))"
    assert run_python(code) == "['random']"


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


def test_the_walk_itself_finds_a_hidden_path():
    batch = lama_v0.batch(2, seed=1)
    view = look_at(batch, make_policy("random", batch.game))
    view.worlds_of_the_batch = lambda k=batch._states[:1]: batch
    found = reachable(view)
    assert any(thing is batch for thing in found)
    assert any(isinstance(thing, np.ndarray) and np.shares_memory(thing, batch._states) for thing in found)


@every_case
@each_policy
def test_the_true_state_is_out_of_reach__B02(case, name):
    batch = middle(case, 30)
    policy = make_policy(name, batch.game)
    Players(batch, [policy], np.zeros((30, batch.game.num_players), np.int64), 4).act(np.zeros(30, np.int64))
    secret = ("_states", "_final", "_streams", "_seeds", "_rows", "_episodes", "_mask", "_observation")
    owned = [getattr(batch, name) for name in secret]
    for root in (look_at(batch, policy), policy):
        found = reachable(root)
        assert not any(isinstance(thing, Batch) for thing in found)
        arrays = [thing for thing in found if isinstance(thing, np.ndarray)]
        assert not any(np.shares_memory(array, own) for array in arrays for own in owned)
        streams = set(batch._streams.tolist())
        assert not any(streams & set(array.ravel().tolist()) for array in arrays if array.dtype == np.uint64)


@every_case
@each_policy
def test_a_view_is_the_same_whatever_the_hidden_cards_are__B01_B02(case, name):
    batch = middle(case, 300)
    twin = hidden_twin(batch)
    assert fields(twin.state) != fields(batch.state)
    policy = make_policy(name, batch.game)
    view, other = look_at(batch, policy), look_at(twin, policy)
    for field in ("observation", "mask", "seat", "streams"):
        assert getattr(view, field).tobytes() == getattr(other, field).tobytes(), field
    if policy.needs_worlds:
        assert fields(view._possible) == fields(other._possible)
        assert fields(view.worlds(3)) == fields(other.worlds(3))


@every_case
def test_a_view_without_worlds_holds_none(case):
    view = look_at(middle(case, 5), RandomPolicy())
    assert view._possible is None
    with pytest.raises(ValueError, match="needs_worlds = True"):
        view.worlds(1)


@every_case
def test_worlds_look_like_the_real_game_to_the_seat_and_differ_from_each_other__B02(case):
    batch = middle(case, 60)
    view = look_at(batch, make_policy("heuristic", batch.game))
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
    view = look_at(batch, make_policy("heuristic", batch.game))
    view.worlds(20)
    batch.worlds(0, policy_streams(20, 9), 20)
    assert everything(batch) == before


@every_case
@each_policy
def test_a_policy_may_keep_and_change_its_view__B26(case, name):
    batch = middle(case, 20)
    policy = make_policy(name, batch.game)
    before = everything(batch)
    view = look_at(batch, policy)
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
    first = policy.act(look_at(batch, policy))
    again = policy.act(copy.deepcopy(look_at(batch, policy)))
    assert first.dtype == np.int64
    assert (first == again).all()
    assert look_at(batch, policy).mask[np.arange(len(first)), first].all()


@every_case
@each_policy
def test_a_choice_does_not_depend_on_the_other_rows_of_the_view(case, name):
    batch = middle(case, 50)
    policy = make_policy(name, batch.game)
    together = policy.act(look_at(batch, policy))
    rows = np.flatnonzero(batch.to_move >= 0)
    streams = policy_streams(50, 5)
    for i, row in enumerate(rows):
        one = np.array([row])
        view = look(batch, one, batch.to_move[one].astype(np.int64), streams[one], policy)
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
    true = policy.act_in(batch.game, batch.state, seats)
    assert (policy.act_in(batch.game, twin.state, seats) == true).all()
    assert (policy.act(look_at(batch, policy)) == true).all()


@each_game
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))], ids=["deepcopy", "pickle"])
def test_a_scripted_policy_can_be_copied(case, copied):
    batch = middle(case, 200)
    policy = make_policy("heuristic", batch.game)
    assert (copied(policy).act(look_at(batch, policy)) == policy.act(look_at(batch, policy))).all()


def test_random_is_uniform_over_the_legal_actions():
    mask = np.tile([True, False, True, True, False], (30_000, 1))
    game = lama_v0.batch(1).game
    view = View(game, np.zeros((30_000, 1), np.float32), mask, np.zeros(30_000, np.int64), policy_streams(30_000, 1))
    counts = np.bincount(RandomPolicy().act(view), minlength=5)
    assert counts[1] == counts[4] == 0
    assert stats.chisquare(counts[[0, 2, 3]]).pvalue > 0.001


# ------------------------------------------------------------------------------------------------------------ players


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


# -------------------------------------------------------------------------------- the heuristic for L.L.A.M.A. (L6-L15)


def lama_rule(seen, names, threshold):
    """The heuristic's rule from what its seat sees: an action's name. Same rank, next rank, then quit if cheap."""
    ranks = len(seen["hand"])
    turn, returning, _ = seen["phase"]
    if turn:
        top = int(seen["top"].argmax())
        for rank in (top, (top + 1) % ranks):
            if seen["hand"][rank]:
                return names[rank]
        penalty = sum(10 if rank == ranks - 1 else rank + 1 for rank in range(ranks) if seen["hand"][rank])
        can_draw = seen["stock"][0] > 0 and seen["active"].sum() > 1
        return "draw" if can_draw and penalty > threshold else "quit"
    if returning:
        return "return black" if seen["black"][0] else "return white"
    return None  # chip exchange: only that the choice is legal


@pytest.mark.parametrize("argument", ["", ":0", ":9", ":31"])
@pytest.mark.parametrize("config", [{"num_players": n} for n in (2, 4, 6)] + [{"chip_exchange": "choice"}], ids=str)
def test_lama_heuristic_plays_same_rank_then_next_then_quits_at_the_threshold_or_draws(argument, config):
    batch = lama_v0.batch(300, seed=2, autoreset=True, **config)
    game, policy = batch.game, make_policy(f"heuristic{argument}", batch.game)
    threshold = int(argument[1:] or 5)
    streams, kinds = policy_streams(300, 3), set()
    for step in range(120):
        actions = policy.act(look_at(batch, policy))
        assert batch.action_mask[np.arange(300), actions].all()
        decoded = game.observation.decode(batch.observation)
        for i in range(0, 300, 10):
            expected = lama_rule({name: array[i] for name, array in decoded.items()}, game.action_names, threshold)
            if expected is not None:
                assert game.action_names[actions[i]] == expected
                kinds.add(expected.split()[0])
        batch.step(actions if step % 2 else batch.sample_actions(streams))
    assert {"play", "return", "draw" if threshold == 0 else "quit"} <= kinds


def test_lama_heuristic_exchanges_ten_white_for_a_black_and_ends():
    batch = lama_v0.batch(500, seed=2, autoreset=True, num_players=3, chip_exchange="choice")
    policy = make_policy("heuristic", batch.game)
    names = []
    for _ in range(400):
        actions = policy.act(look_at(batch, policy))
        names += [batch.game.action_names[a] for a in actions[batch.state["phase"] == 2]]
        batch.step(actions)
    assert set(names) == {"ten white to black", "keep"}


@pytest.mark.parametrize("argument", ["x", "-1", "32", "5.0", "5:5", "1e1", "inf"])
def test_lama_heuristic_refuses_a_threshold_that_is_none(argument):
    game = lama_v0.batch(1).game
    with pytest.raises(ValueError, match=rf"^the threshold in 'heuristic:T' must be .* 0 to 31, got '{argument}'\.$"):
        make_policy(f"heuristic:{argument}", game)


def test_lama_heuristic_beats_random():
    batch = lama_v0.batch(2000, seed=1, num_players=2)
    players = Players(batch, [make_policy(p, batch.game) for p in POLICIES], np.tile([0, 1], (2000, 1)), seed=2)
    actions, paid = np.zeros(2000, np.int64), np.zeros(2)
    while players.act(actions).any():
        paid += batch.step(actions)[0].sum(axis=0)
    assert paid[1] / 2000 > 0.8
