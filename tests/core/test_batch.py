"""Batch: seeds (known faults B18, B19), copies and buffers (B25, B26), actions (B22), ends (B06, B15, B16), memory."""

from __future__ import annotations

import copy
import gc
import io
import multiprocessing
import pickle
import random
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import cloudpickle
import numpy as np
import pytest

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.errors import IllegalAction, ResetNeeded
from llama_envs.core.threads import _workers
from llama_envs.core.threads import in_threads as run_in_threads
from tests.cases import (
    arrays_of,
    each_game,
    each_truncating,
    every_case,
    everything,
    fields,
    game_of,
    middle,
    new_batch,
    play,
    play_out,
    run_python,
)

COPIES = {
    "clone": lambda batch: batch.clone(),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda batch: pickle.loads(pickle.dumps(batch)),
    "cloudpickle": lambda batch: pickle.loads(cloudpickle.dumps(batch)),
}
each_copy = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)


# ---------------------------------------------------------------------------------------------- K6: one seed, one game


@every_case
def test_same_seed_and_actions_give_the_same_games__B18(case):
    first = play(new_batch(case, 8, 3, True), 200, policy_streams(8, 4))
    again = play(new_batch(case, 8, 3, True), 200, policy_streams(8, 4))
    other = play(new_batch(case, 8, 5, True), 200, policy_streams(8, 4))
    assert first.digest() == again.digest()
    assert first.digest() != other.digest()


TRACE = """
import sys
from tests.cases import new_batch, play
from llama_envs.core.batch import policy_streams
print(play(new_batch(eval(sys.argv[1]), 8, 3, True), 200, policy_streams(8, 4)).digest())
"""


@each_game
@pytest.mark.parametrize(
    "environment",
    [{"PYTHONHASHSEED": "1", "NUMBA_NUM_THREADS": "1"}, {"PYTHONHASHSEED": "2", "NUMBA_NUM_THREADS": "2"}],
    ids=str,
)
def test_fresh_process_hash_seed_and_number_of_threads_change_nothing__B18(case, environment):
    here = play(new_batch(case, 8, 3, True), 200, policy_streams(8, 4)).digest()
    assert run_python(TRACE, repr(case), **environment) == here


@every_case
def test_global_generators_are_neither_used_nor_touched__B18(case):
    expected = play(new_batch(case, 4, 3, True), 60, policy_streams(4, 4)).digest()

    def disturb():
        np.random.seed(next(noise))
        random.seed(next(noise))

    noise = iter(range(10_000))
    assert play(new_batch(case, 4, 3, True), 60, policy_streams(4, 4), disturb).digest() == expected
    before = random.getstate(), np.random.get_state()[1].tobytes()
    batch = new_batch(case, 4, None)
    batch.reset()
    play_out(batch, policy_streams(4))
    batch.worlds(0, policy_streams(4), 2)
    assert (random.getstate(), np.random.get_state()[1].tobytes()) == before


@every_case
def test_interleaved_batches_play_as_if_alone__B18(case):
    alone = [play(new_batch(case, 3, seed, True), 80, policy_streams(3, seed)).digest() for seed in (1, 2)]
    other, streams = new_batch(case, 3, 2, True), policy_streams(3, 2)
    parts = []

    def step_other():
        parts.append(play(other, 1, streams))

    together = play(new_batch(case, 3, 1, True), 80, policy_streams(3, 1), step_other)
    assert together.digest() == alone[0]
    assert play(new_batch(case, 3, 2, True), 80, policy_streams(3, 2)).actions.tobytes() == b"".join(
        part.actions.tobytes() for part in parts
    )


@every_case
def test_constructor_deals_the_first_episode_and_the_first_reset_keeps_it(case):
    batch = new_batch(case, 4, 3)
    dealt = fields(batch.state)
    batch.reset()
    assert fields(batch.state) == dealt
    assert batch.episode.tolist() == [0] * 4
    batch.reset()
    assert fields(batch.state) != dealt
    assert batch.episode.tolist() == [1] * 4
    batch.reset(seed=3)
    assert fields(batch.state) == dealt
    assert batch.episode.tolist() == [0] * 4


@every_case
def test_reset_after_a_step_goes_to_the_next_deal__B18(case):
    batch = new_batch(case, 4, 3)
    dealt = fields(batch.state)
    batch.step(batch.sample_actions(policy_streams(4, 1)))
    batch.reset()
    assert fields(batch.state) != dealt
    assert batch.episode.tolist() == [1] * 4


@every_case
def test_second_deal_of_a_seed_is_another_and_the_same_in_every_run__B18(case):
    deals = []
    for _ in range(2):
        batch = new_batch(case, 4, None)
        batch.reset(seed=7)
        first = fields(batch.state)
        batch.reset()
        deals.append((first, fields(batch.state)))
        assert deals[-1][0] != deals[-1][1]
    assert deals[0] == deals[1]


@every_case
def test_reset_keeps_the_configuration__B18(case):
    batch = new_batch(case, 4, 3)
    game, dtype = batch.game, batch.state.dtype
    for seed in (None, 5, [1, None, 2, 3]):
        batch.reset(seed)
        assert batch.game is game
        assert batch.state.dtype == dtype
        assert batch.game.config == type(batch.game.config)(**case[1])


@every_case
def test_without_a_seed_every_batch_is_another_game(case):
    assert fields(new_batch(case, 8, None).state) != fields(new_batch(case, 8, None).state)


# ----------------------------------------------------------------------------------------- K6: one row, one game (B19)


def ended_at_least(trace, episodes):
    return (trace.episode[-1] >= episodes).all()


@every_case
def test_row_depends_on_its_own_seed_alone_through_three_autoresets__B19(case):
    steps = 700
    seeds = [11, 12, 13, 14]
    four = play(new_batch(case, 4, seeds, True), steps, policy_streams(4, seeds))
    assert ended_at_least(four, 3)
    rows = [four.row(i) for i in range(4)]
    for i, seed in enumerate(seeds):
        alone = play(new_batch(case, 1, [seed], True), steps, policy_streams(1, [seed]))
        assert alone.row(0) == rows[i]
    shuffled = [14, 12, 11, 13, 99, 98, 97, 96]
    eight = play(new_batch(case, 8, shuffled, True), steps, policy_streams(8, shuffled))
    for place, i in enumerate((3, 1, 0, 2)):
        assert eight.row(place) == rows[i]


@every_case
def test_row_of_an_int_seed_does_not_depend_on_the_size_of_the_batch__B19(case):
    wide = play(new_batch(case, 9, 5, True), 150, policy_streams(9, 6))
    narrow = play(new_batch(case, 2, 5, True), 150, policy_streams(2, 6))
    assert [narrow.row(i) for i in range(2)] == [wide.row(i) for i in range(2)]
    assert wide.row(0) != wide.row(1)


@every_case
def test_first_row_of_an_int_seed_is_the_game_of_that_seed_in_a_list__B19(case):
    assert fields(new_batch(case, 3, 5).state[:1]) == fields(new_batch(case, 1, [5]).state)


@every_case
def test_neighbouring_int_seeds_share_no_game(case):
    deals = [fields(state) for seed in range(20) for state in new_batch(case, 20, seed).state]
    listed = [fields(state) for state in new_batch(case, 400, list(range(400))).state]
    possible = len(set(listed))  # small decks have few different deals
    assert len(set(deals)) == pytest.approx(possible, rel=0.15)


@every_case
def test_neighbouring_seeds_in_a_list_deal_unrelated_games__B19(case):
    """What the first seat to move holds is no more alike in seeds s, s+1 than in rows of one seed."""
    listed = new_batch(case, 2000, list(range(2000))).observation
    rows = new_batch(case, 2000, 1).observation
    distance = [np.abs(x[1:] - x[:-1]).sum(axis=1).mean() for x in (listed, rows)]
    assert distance[0] == pytest.approx(distance[1], rel=0.05)


@every_case
def test_other_actions_in_row_0_leave_the_other_rows_as_they_were__B19(case):
    streams, other_streams = policy_streams(5, 1), policy_streams(5, 1)
    other_streams[0] = policy_streams(1, 99)[0]
    first = play(new_batch(case, 5, 3, True), 200, streams)
    other = play(new_batch(case, 5, 3, True), 200, other_streams)
    assert first.row(0) != other.row(0)
    assert [first.row(i) for i in range(1, 5)] == [other.row(i) for i in range(1, 5)]


@every_case
def test_stepping_or_resetting_one_row_leaves_the_next_deals_of_the_others_as_they_were__B19(case):
    expected = new_batch(case, 3, 3)
    expected.reset()
    for touch in ("step", "reset", "reset with a seed"):
        batch = new_batch(case, 3, 3)
        first = np.array([True, False, False])
        if touch == "step":
            batch.step(batch.sample_actions(policy_streams(3, 1)), first)
        elif touch == "reset":
            batch.reset(where=first)
        else:
            batch.reset(seed=[8, None, None], where=first)
        batch.reset(where=~first)
        assert fields(batch.state[1:]) == fields(expected.state[1:]), touch
        assert batch.episode[1:].tolist() == [0, 0], touch


@every_case
def test_none_entries_of_a_seed_go_to_the_next_deal_of_their_game__B19(case):
    batch, twin = new_batch(case, 3, [1, 2, 3]), new_batch(case, 3, [1, 2, 3])
    for b in (batch, twin):
        b.reset()
    batch.reset(seed=[9, None, 7])
    twin.reset()
    assert batch.episode.tolist() == [0, 1, 0]
    assert fields(batch.state[1:2]) == fields(twin.state[1:2])
    assert fields(batch.state[0:1]) == fields(new_batch(case, 1, [9]).state)
    assert fields(batch.state[2:3]) == fields(new_batch(case, 1, [7]).state)


@every_case
def test_none_entries_at_construction_are_fresh_games(case):
    first, second = (new_batch(case, 2, [5, None], autoreset=True) for _ in range(2))
    traces = [play(batch, 100, policy_streams(2, 1)) for batch in (first, second)]
    assert traces[0].row(0) == traces[1].row(0)
    assert traces[0].row(1) != traces[1].row(1)


@every_case
@pytest.mark.parametrize("seed", [[1, 2], [1, 2, 3, 4], [], -1, 1.5, "1", True, [1, 2, "x"]], ids=repr)
def test_wrong_seeds_are_refused_and_change_nothing__B19(case, seed):
    batch = middle(case, 3)
    before = everything(batch)
    with pytest.raises(ValueError, match=r"^seed"):
        batch.reset(seed)
    assert everything(batch) == before
    with pytest.raises(ValueError, match=r"^seed"):
        new_batch(case, 3, seed)


@every_case
def test_seeds_given_as_an_array_are_copied__B26(case):
    seeds = np.array([4, 5, 6], np.uint64)
    batch = new_batch(case, 3, seeds)
    batch.reset(seed=seeds)
    seeds[:] = 9
    batch.reset()
    expected = new_batch(case, 3, [4, 5, 6])
    expected.reset()
    expected.reset()
    assert fields(batch.state) == fields(expected.state)


# ---------------------------------------------------------------------------------------------------- K8: copies (B25)


@every_case
@each_copy
def test_copy_at_200_points_has_the_same_present_and_the_same_future__B25(case, copied):
    batch = middle(case, 200)
    twin = copied(batch)
    assert everything(twin) == everything(batch)
    assert twin.game is batch.game
    assert play(batch, 100, policy_streams(200, 8)).digest() == play(twin, 100, policy_streams(200, 8)).digest()
    assert everything(twin) == everything(batch)
    assert fields(twin.final_state) == fields(batch.final_state)


@every_case
@each_copy
def test_copy_and_original_do_not_touch_each_other__B25(case, copied):
    batch = middle(case, 20)
    twin = copied(batch)
    before = everything(batch)
    play(twin, 30, policy_streams(20, 8))
    twin.reset(seed=77)
    assert everything(batch) == before
    before = everything(twin)
    play(batch, 30, policy_streams(20, 8))
    assert everything(twin) == before


@each_game
def test_arrays_from_a_buffer_that_cannot_be_written_to_are_copied__B25(case):
    """As shared memory and mapped files give them (Ray, joblib)."""
    batch, kept = middle(case, 20), []
    play(batch, 3, policy_streams(20, 7))
    stored = pickle.dumps(batch, protocol=5, buffer_callback=kept.append)
    assert kept
    buffers = [bytes(buffer.raw()) for buffer in kept]
    before = [bytes(bytearray(buffer)) for buffer in buffers]
    twin = pickle.loads(stored, buffers=buffers)
    assert play(twin, 30, policy_streams(20, 8)).digest() == play(batch, 30, policy_streams(20, 8)).digest()
    twin.reset()
    batch.reset()
    assert everything(twin) == everything(batch)
    assert buffers == before


@each_game
def test_copy_of_a_fresh_batch_also_keeps_its_first_deal_at_the_first_reset__B25(case):
    batch = new_batch(case, 3, 3)
    twin = batch.clone()
    twin.reset()
    assert fields(twin.state) == fields(batch.state)


@each_game
def test_game_survives_pickling_as_the_same_object(case):
    game = game_of(case)
    assert pickle.loads(pickle.dumps(game)) is game
    assert copy.deepcopy(game) is game


# --------------------------------------------------------------------------------------------------- K8: buffers (B26)


def outputs(batch, streams, world_streams):
    """Everything new that one step of a user's loop receives."""
    actions = batch.sample_actions(streams)
    reward, terminated, truncated = batch.step(actions)
    seats = range(batch.game.num_players)
    return [
        actions, reward, terminated, truncated,
        *(batch.observe(seat) for seat in seats),
        *(batch.observe(seat, final=True) for seat in seats),
        *(batch.mask(seat) for seat in seats),
        batch.worlds(0, world_streams, 2),
    ]  # fmt: skip


@every_case
def test_what_was_returned_never_changes_later__B26(case):
    batch, streams, world_streams = new_batch(case, 3, 3, True), policy_streams(3, 1), policy_streams(3, 2)
    kept = []
    for _ in range(200):
        kept += [(array, array.tobytes()) for array in outputs(batch, streams, world_streams)]
    batch.reset(seed=9)
    assert all(array.tobytes() == then for array, then in kept)


@every_case
def test_returned_arrays_share_no_memory_with_each_other_or_the_batch__B26(case):
    batch, streams, world_streams = new_batch(case, 3, 3, True), policy_streams(3, 1), policy_streams(3, 2)
    arrays = outputs(batch, streams, world_streams) + outputs(batch, streams, world_streams)
    owned = list(arrays_of(batch).values())
    for i, array in enumerate(arrays):
        assert not any(np.shares_memory(array, other) for other in arrays[:i] + owned)


@every_case
def test_writing_into_returned_arrays_changes_nothing__B26(case):
    def vandalise():
        for array in outputs_of_last:
            array.view(np.uint8).fill(255)

    batch, streams = new_batch(case, 3, 3, True), policy_streams(3, 1)
    twin, twin_streams = new_batch(case, 3, 3, True), policy_streams(3, 1)
    for _ in range(60):
        outputs_of_last = outputs(batch, streams, policy_streams(3, 2))
        expected = outputs(twin, twin_streams, policy_streams(3, 2))
        assert [a.tobytes() for a in outputs_of_last] == [a.tobytes() for a in expected]
        vandalise()
        assert everything(batch) == everything(twin)


@every_case
def test_readings_are_read_only__B26(case):
    batch = new_batch(case, 3, 3)
    before = everything(batch)
    for array in (batch.to_move, batch.action_mask, batch.observation, batch.episode, batch.final_state):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]
    assert everything(batch) == before


@every_case
def test_arrays_of_the_caller_are_left_as_they_are__B26(case):
    batch, streams = new_batch(case, 4, 3), policy_streams(4, 1)
    actions = batch.sample_actions(streams)
    where = np.array([True, False, True, True])
    seats = np.zeros(4, np.int64)
    given = [array.copy() for array in (actions, where, seats)]
    batch.step(actions, where)
    batch.observe(seats)
    batch.mask(seats)
    batch.reset(where=where)
    assert all((now == then).all() for now, then in zip((actions, where, seats), given, strict=True))
    assert not any(np.shares_memory(actions, array) for array in arrays_of(batch).values())


@every_case
def test_state_is_a_view_with_games_first_and_existing_seats_second(case):
    batch = new_batch(case, 5, 3)
    game = batch.game
    assert batch.state.shape == (5,)
    for name in game.seat_fields:
        field = batch.state[name]
        assert field.shape[:2] == (5, game.num_players)
        assert np.shares_memory(field, batch._buffers.states)
    for required in ("to_move", "chance", "terminated", "truncated", "reward", "total", "rounds"):
        assert required in batch.state.dtype.names


@every_case
def test_written_state_is_seen_after_refresh(case):
    source, batch = middle(case, 6, autoreset=False), new_batch(case, 6, 77)
    batch.state[:] = source.state
    batch.refresh()
    assert batch.observation.tobytes() == source.observation.tobytes()
    assert batch.action_mask.tobytes() == source.action_mask.tobytes()
    assert batch.to_move.tobytes() == source.to_move.tobytes()


@every_case
def test_positions_saved_with_numpy_come_back(case):
    source, batch = middle(case, 6, autoreset=False), new_batch(case, 6, 77)
    file = io.BytesIO()
    np.save(file, source.state)
    file.seek(0)
    loaded = np.load(file)
    for name in source.state.dtype.names:
        assert (loaded[name] == source.state[name]).all(), name
    batch.state[:] = loaded
    batch.refresh()
    for seat in range(batch.game.num_players):
        assert batch.observe(seat).tobytes() == source.observe(seat).tobytes()
    assert batch.action_mask.tobytes() == source.action_mask.tobytes()


# --------------------------------------------------------------------------------------------------- K7: actions (B22)

KINDS = {
    "int8": lambda a: a.astype(np.int8),
    "int32": lambda a: a.astype(np.int32),
    "int64": lambda a: a.astype(np.int64),
    "uint8": lambda a: a.astype(np.uint8),
    "uint64": lambda a: a.astype(np.uint64),
    "big-endian": lambda a: a.astype(">i4"),
    "list": lambda a: a.tolist(),
    "tuple": lambda a: tuple(a.tolist()),
    "list of numpy integers": lambda a: list(a.astype(np.int16)),
    "every second entry": lambda a: np.repeat(a, 2)[::2],
    "read-only": lambda a: _locked(a),
}


def _locked(array):
    array = array.copy()
    array.flags.writeable = False
    return array


@every_case
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_actions_of_any_integer_kind_are_the_same__B22(case, kind):
    batch, twin, streams = middle(case, 8), middle(case, 8), policy_streams(8, 2)
    for _ in range(5):
        actions = batch.sample_actions(streams)
        expected = twin.step(actions)
        given = batch.step(kind(actions))
        assert [a.tobytes() for a in given] == [a.tobytes() for a in expected]
    assert everything(batch) == everything(twin)


@each_game
def test_no_kind_of_argument_compiles_another_kernel__B22(case):
    """A read-only or strided argument must not cost a user half a minute of compilation."""
    batch = middle(case, 8)
    streams = policy_streams(8, 2)
    batch.observe(0)
    batch.mask(0)
    kernels = batch.game.batch_kernels
    if not hasattr(kernels.step, "signatures"):
        pytest.skip("kernels run in plain Python")
    before = [len(getattr(kernels, name).signatures) for name in ("start", "step", "observe", "mask")]
    for kind in KINDS.values():
        batch.step(kind(batch.sample_actions(streams)))
    some = np.array([True, False] * 8)
    for where in (_locked(some[:8]), some[::2], some[:8].tolist()):
        batch.step(batch.sample_actions(streams), where)
        batch.reset(where=where)
    for seats in (_locked(np.zeros(8, np.int32)), np.int8(1), [0, 1] * 4):
        batch.observe(seats)
        batch.mask(seats)
    assert [len(getattr(kernels, name).signatures) for name in ("start", "step", "observe", "mask")] == before


WRONG_SHAPE_OR_KIND = {
    "too short": lambda a: a[:-1],
    "too long": lambda a: np.append(a, 0),
    "a column": lambda a: a[:, None],
    "one number": lambda a: int(a[0]),
    "nothing": lambda a: None,
    "empty": lambda a: [],
    "floats": lambda a: a.astype(np.float64),
    "bools": lambda a: np.ones(len(a), np.bool_),
    "texts": lambda a: a.astype(str),
    "objects": lambda a: a.astype(object),
    "None in a list": lambda a: [None, *a[1:].tolist()],
}


@every_case
@pytest.mark.parametrize("spoil", WRONG_SHAPE_OR_KIND.values(), ids=WRONG_SHAPE_OR_KIND)
def test_actions_of_a_wrong_shape_or_kind_are_refused_and_change_nothing__B22(case, spoil):
    batch = middle(case, 4)
    actions = batch.sample_actions(policy_streams(4, 2))
    before = everything(batch)
    with pytest.raises(ValueError, match=r"^actions must be 4 integers, .*got .+\.$"):
        batch.step(spoil(actions))
    assert everything(batch) == before


@every_case
@pytest.mark.parametrize("action", ["-1", "n", "-n", "huge", "tiny"])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_actions_that_do_not_exist_are_refused_and_never_count_from_the_end__B22(case, action, dtype):
    batch = middle(case, 4)
    n = batch.game.num_actions
    value = {"-1": -1, "n": n, "-n": -n, "huge": 2**63 - 1, "tiny": -(2**63)}[action]
    if dtype == np.uint64:
        value = {"-1": 2**64 - 1, "n": n, "-n": 2**64 - n, "huge": 2**63 - 1, "tiny": 2**63}[action]
    actions = batch.sample_actions(policy_streams(4, 2)).astype(dtype)
    actions[2] = value
    before = everything(batch)
    with pytest.raises(IllegalAction, match=r"^game 2: action -?\d+ is not legal"):
        batch.step(actions)
    assert everything(batch) == before


@every_case
def test_illegal_action_is_named_with_its_game_and_what_was_legal_and_changes_nothing(case):
    batch = middle(case, 6)
    game = batch.game
    actions = batch.sample_actions(policy_streams(6, 2))
    row = next(i for i in range(5, -1, -1) if not batch.action_mask[i].all())
    illegal = int(np.flatnonzero(~batch.action_mask[row])[0])
    actions[row] = illegal
    before = everything(batch)
    with pytest.raises(IllegalAction) as refused:
        batch.step(actions)
    assert everything(batch) == before
    message = str(refused.value)
    assert f"game {row}:" in message
    assert f"action {illegal} ({game.action_names[illegal]}) is not legal" in message
    assert f"player_{batch.to_move[row]} is to move" in message
    for action in range(game.num_actions):
        listed = f"{action} ({game.action_names[action]})" in message.split("legal are")[1]
        assert listed == batch.action_mask[row, action]


@every_case
def test_the_first_of_several_illegal_actions_is_named_and_no_game_moves(case):
    batch = middle(case, 6)
    before = everything(batch)
    actions = batch.sample_actions(policy_streams(6, 2))
    actions[1] = actions[4] = -1
    with pytest.raises(IllegalAction, match=r"^game 1: .*no game has moved"):
        batch.step(actions)
    assert everything(batch) == before


@every_case
def test_play_goes_on_after_a_refused_action(case):
    batch, twin = middle(case, 6), middle(case, 6)
    with pytest.raises(IllegalAction):
        batch.step(np.full(6, -1))
    assert play(batch, 30, policy_streams(6, 2)).digest() == play(twin, 30, policy_streams(6, 2)).digest()


@each_game
@pytest.mark.parametrize(
    "seats", [-1, "n", [0, 0], 0.0, [0.0] * 4, True, [True] * 4, "0", None, [0, 1, -1, 0]], ids=repr
)
def test_wrong_seats_are_refused(case, seats):
    batch = middle(case, 4)
    seats = batch.game.num_players if seats == "n" else seats
    for ask in (batch.observe, batch.mask, lambda s: batch.worlds(s, policy_streams(4, 1))):
        with pytest.raises(ValueError, match=r"^seats must .*got "):
            ask(seats)


@each_game
@pytest.mark.parametrize("where", [[True], [1, 0, 1, 0], True, "1111", None], ids=repr)
def test_wrong_where_is_refused_and_changes_nothing(case, where):
    batch = middle(case, 4)
    before = everything(batch)
    actions = batch.sample_actions(policy_streams(4, 2))
    if where is not None:
        with pytest.raises(ValueError, match=r"^where must be 4 bools, got "):
            batch.step(actions, where)
        with pytest.raises(ValueError, match=r"^where must be 4 bools, got "):
            batch.reset(where=where)
    assert everything(batch) == before


@each_game
@pytest.mark.parametrize("num_games", [0, -1, 1.5, "4", True, None, 2**31], ids=repr)
def test_wrong_number_of_games_is_refused(case, num_games):
    with pytest.raises(ValueError, match=r"^num_games must be an integer from 1 to "):
        new_batch(case, num_games)


# ------------------------------------------------------------------- what a caller lends to compiled code (B53, again)

WRONG_STREAMS = {
    "too short": np.ones(3, np.uint64),
    "too long": np.ones(5, np.uint64),
    "empty": np.zeros(0, np.uint64),
    "a column": np.ones((4, 1), np.uint64),
    "int64": np.ones(4, np.int64),
    "uint32": np.ones(4, np.uint32),
    "big-endian": np.ones(4, ">u8"),
    "floats": np.ones(4),
    "a list": [1, 2, 3, 4],
    "a seed": 7,
    "nothing": None,
    "read-only": _locked(np.ones(4, np.uint64)),
}


@each_game
@pytest.mark.parametrize("streams", WRONG_STREAMS.values(), ids=WRONG_STREAMS)
def test_streams_of_a_wrong_shape_or_kind_are_refused_and_left_as_they_are__B53(case, streams):
    batch = middle(case, 4)
    before, given = everything(batch), copy.deepcopy(streams)
    for ask in (batch.sample_actions, lambda s: batch.worlds(0, s), lambda s: batch.random_playout(s, 1)):
        with pytest.raises(ValueError, match=r"^streams must be a writable uint64 array of shape \(4,\), got .+\.$"):
            ask(streams)
    assert everything(batch) == before
    assert np.array_equal(streams, given)


@each_game
def test_a_stream_of_zero_draws_as_any_other__B53(case):
    batch = middle(case, 4)
    for ask in (batch.sample_actions, lambda s: batch.worlds(0, s, 3)):
        zeros = np.zeros(4, np.uint64)
        zeros[0] = 5
        first, again = ask(zeros.copy()), ask(zeros.copy())
        assert first.tobytes() == again.tobytes()
    streams, seen = np.zeros(4, np.uint64), []
    for _ in range(40):
        batch.sample_actions(streams)
        seen.append(streams.copy())
    assert len(np.unique(np.stack(seen)[:, 0])) == 40


@each_game
def test_strided_streams_advance_where_they_are(case):
    batch = middle(case, 4)
    plain, spread = policy_streams(4, 1), np.repeat(policy_streams(4, 1), 2)
    assert (batch.sample_actions(spread[::2]) == batch.sample_actions(plain)).all()
    assert fields(batch.worlds(0, spread[::2], 2)) == fields(batch.worlds(0, plain, 2))
    assert (spread[::2] == plain).all()
    assert (spread[1::2] == policy_streams(4, 1)).all()


@each_game
@pytest.mark.parametrize("k", [0, -1, 1.0, "2", True, None, 10**9], ids=repr)
def test_a_wrong_number_of_worlds_is_refused__B53(case, k):
    with pytest.raises(ValueError, match=r"^k must be an integer from 1 to 1000000, got "):
        middle(case, 4).worlds(0, policy_streams(4, 1), k)


# ----------------------------------------------------------------------------------------------------- K2: masks (B06)


@every_case
def test_whoever_is_to_move_has_a_legal_action_and_every_observation_is_in_range__B06_B21(case):
    batch, streams = new_batch(case, 256, 1, True), policy_streams(256, 2)
    rows = np.arange(256)
    for _ in range(300):
        assert batch.action_mask.any(axis=1).all()
        assert (batch.to_move >= 0).all()
        assert (batch.mask(batch.to_move) == batch.action_mask).all()
        assert (batch.observe(batch.to_move) == batch.observation).all()
        actions = batch.sample_actions(streams)
        assert batch.action_mask[rows, actions].all()
        batch.step(actions)
        for seat in range(batch.game.num_players):
            seen = batch.observe(seat)
            assert seen.min() >= 0
            assert seen.max() <= 1
    assert batch.episode.sum() > 256


@every_case
def test_nothing_is_legal_and_nothing_is_seen_after_the_end__B06(case):
    batch = new_batch(case, 5, 1)
    play_out(batch, policy_streams(5, 2))
    assert (batch.to_move == -1).all()
    assert not batch.action_mask.any()
    assert not batch.observation.any()
    assert not any(batch.mask(seat).any() for seat in range(batch.game.num_players))
    assert batch.sample_actions(policy_streams(5, 2)).tolist() == [-1] * 5


# ------------------------------------------------------------------------------------------------- K5: ends (B15, B16)


@every_case
def test_every_random_game_ends_in_exactly_one_way__B16(case):
    batch = new_batch(case, 2000, 1)
    play_out(batch, policy_streams(2000, 2))
    assert (batch.state["terminated"] ^ batch.state["truncated"]).all()


@each_truncating
def test_a_game_cut_by_its_limit_is_truncated_and_not_terminated__B16(case):
    batch, streams = new_batch(case, 200, 1), policy_streams(200, 2)
    flags = np.zeros((2, 200), np.bool_)
    while (batch.to_move >= 0).any():
        _, terminated, truncated = batch.step(batch.sample_actions(streams))
        flags |= terminated, truncated
    assert flags[1].any()
    assert not (flags[0] & flags[1]).any()
    assert (batch.state["truncated"] == flags[1]).all()


@every_case
def test_step_after_the_end_needs_a_reset(case):
    batch = new_batch(case, 3, 1)
    play_out(batch, policy_streams(3, 2))
    before = everything(batch)
    with pytest.raises(ResetNeeded, match="reset"):
        batch.step(np.zeros(3, np.int64))
    assert everything(batch) == before
    assert issubclass(ResetNeeded, ValueError)
    batch.reset()
    batch.step(batch.sample_actions(policy_streams(3, 2)))


@every_case
def test_games_that_are_over_wait_while_the_others_go_on(case):
    batch, streams = new_batch(case, 40, 1), policy_streams(40, 2)
    while not (batch.to_move < 0).any():
        batch.step(batch.sample_actions(streams))
    over = batch.to_move < 0
    assert not over.all()
    ended = fields(batch.state[over])
    actions = batch.sample_actions(streams)
    actions[over] = 10_000  # ignored
    reward, terminated, truncated = batch.step(actions)
    assert fields(batch.state[over]) == ended
    assert not reward[over].any()
    assert (terminated | truncated)[over].all()


@every_case
def test_stepping_some_games_leaves_the_others_as_they_are(case):
    batch, streams = middle(case, 12), policy_streams(12, 2)
    where = np.arange(12) % 3 == 0
    rest = ~where

    def rest_of():
        arrays = batch.observation, batch.action_mask, batch.streams, batch.episode
        return fields(batch.state[rest]), *(a[rest].tobytes() for a in arrays)

    before = rest_of()
    actions = np.where(where, batch.sample_actions(streams), -5)  # ignored elsewhere
    reward, terminated, truncated = batch.step(actions, where)
    assert rest_of() == before
    assert not reward[rest].any()
    assert not (terminated | truncated)[rest].any()


@every_case
def test_stepping_no_game_changes_nothing(case):
    batch = middle(case, 4)
    before = everything(batch)
    reward, terminated, truncated = batch.step(np.zeros(4, np.int64), np.zeros(4, np.bool_))
    assert everything(batch) == before
    assert not reward.any()
    assert not (terminated | truncated).any()


@every_case
def test_stepping_one_by_one_is_stepping_together(case):
    together, single = middle(case, 5), middle(case, 5)
    streams = policy_streams(5, 2)
    for _ in range(40):
        actions = together.sample_actions(streams)
        expected = together.step(actions)
        for i in range(5):
            reward, terminated, truncated = single.step(actions, np.arange(5) == i)
            assert (reward[i] == expected[0][i]).all()
            assert (terminated[i], truncated[i]) == (expected[1][i], expected[2][i])
        assert everything(single) == everything(together)


@every_case
def test_resetting_some_games_leaves_the_others_as_they_are(case):
    batch = middle(case, 12)
    where = np.arange(12) % 3 == 0
    before = batch.state.copy(), batch.episode.copy()
    batch.reset(where=where)
    assert fields(batch.state[~where]) == fields(before[0][~where])
    assert (batch.episode == before[1] + where).all()
    batch.reset(seed=5, where=where)
    assert fields(batch.state[~where]) == fields(before[0][~where])
    assert fields(batch.state[where]) == fields(new_batch(case, 12, 5).state[where])


@every_case
def test_autoreset_is_a_step_and_then_a_reset_of_what_ended__B15(case):
    automatic, by_hand = new_batch(case, 16, 3, True), new_batch(case, 16, 3)
    streams = policy_streams(16, 4)
    seats = range(automatic.game.num_players)
    ended = np.zeros(16, np.bool_)
    for _ in range(400):
        actions = automatic.sample_actions(streams)
        given, expected = automatic.step(actions), by_hand.step(actions)
        assert [a.tobytes() for a in given] == [a.tobytes() for a in expected]
        over = by_hand.to_move < 0
        ended |= over
        assert (over == (given[1] | given[2])).all()
        if over.any():
            assert fields(automatic.final_state[over]) == fields(by_hand.state[over])
            for seat in seats:
                last = automatic.observe(seat, final=True)
                assert last[over].tobytes() == by_hand.observe(seat)[over].tobytes()
            by_hand.reset(where=over)
        assert fields(automatic.state) == fields(by_hand.state)
        assert automatic.observation.tobytes() == by_hand.observation.tobytes()
        assert automatic.episode.tobytes() == by_hand.episode.tobytes()
    assert ended.all()


@every_case
def test_final_state_stays_until_the_next_end_of_its_game__B15(case):
    batch, streams = new_batch(case, 8, 3, True), policy_streams(8, 4)
    last = batch.final_state.copy()
    for _ in range(200):
        _, terminated, truncated = batch.step(batch.sample_actions(streams))
        over = terminated | truncated
        assert fields(batch.final_state[~over]) == fields(last[~over])
        assert (batch.final_state["terminated"][over] == terminated[over]).all()
        last = batch.final_state.copy()


@every_case
def test_rewards_of_a_step_are_those_of_the_state_it_reached(case):
    batch, streams = new_batch(case, 50, 3), policy_streams(50, 4)
    while (batch.to_move >= 0).all():
        reward, terminated, truncated = batch.step(batch.sample_actions(streams))
        assert (reward == batch.state["reward"]).all()
        assert (terminated == batch.state["terminated"]).all()
        assert (truncated == batch.state["truncated"]).all()
        assert reward.dtype == np.float32
        assert terminated.dtype == truncated.dtype == np.bool_


# ------------------------------------------------------------------------------------------------------------ threads


@pytest.fixture
def small_parts(monkeypatch):
    """Threads share a step of very few games too."""
    monkeypatch.setattr("llama_envs.core.batch.GAMES_PER_THREAD", 3)


def in_threads(case, num_games, threads, autoreset=True):
    return new_batch(case, num_games, 3, autoreset, threads)


@every_case
@pytest.mark.parametrize("threads", [2, 3, 7])
@pytest.mark.parametrize("autoreset", [False, True])
def test_number_of_threads_changes_nothing(case, threads, autoreset, small_parts):
    number = 20  # seven threads have only enough games for six
    alone, shared = in_threads(case, number, 1, autoreset), in_threads(case, number, threads, autoreset)
    used = watch_threads(shared)
    streams, where = policy_streams(number, 4), np.random.default_rng(0).random((120, number)) < 0.8
    for chosen in where:
        if (alone.to_move[chosen] < 0).all():
            break
        actions = alone.sample_actions(streams)
        results = [batch.step(actions, chosen) for batch in (alone, shared)]
        assert [a.tobytes() for a in results[0]] == [a.tobytes() for a in results[1]]
        assert everything(alone) == everything(shared)
    assert used == {min(threads, 6)}


def watch_threads(batch):
    """The numbers of threads that its steps were shared by, filled as it goes."""
    used, step = set(), batch._step_in_threads

    def noted(threads, arguments):
        used.add(threads)
        return step(threads, arguments)

    batch._step_in_threads = noted
    return used


@every_case
def test_an_illegal_action_in_the_last_part_moves_no_game_of_the_others(case, small_parts):
    batch = in_threads(case, 9, 3)
    play(batch, 10, policy_streams(9, 4))
    actions = batch.sample_actions(policy_streams(9, 5))
    actions[8] = np.flatnonzero(~batch.action_mask[8])[0]
    before = everything(batch)
    with pytest.raises(IllegalAction, match="game 8"):
        batch.step(actions)
    assert everything(batch) == before


@each_game
def test_threads_end_when_every_game_is_over_and_a_part_may_end_earlier(case, small_parts):
    batch, alone = in_threads(case, 6, 2, autoreset=False), in_threads(case, 6, 1, autoreset=False)
    streams = policy_streams(6, 4)
    first = np.arange(6) < 3
    while (batch.to_move[first] >= 0).any():
        actions = batch.sample_actions(streams)
        batch.step(actions, first)
        alone.step(actions, first)
    assert (play_out(batch, streams.copy()) == play_out(alone, streams.copy())).all()
    assert everything(batch) == everything(alone)
    with pytest.raises(ResetNeeded):
        batch.step(np.zeros(6, np.int64))


@each_game
@each_copy
def test_copies_and_forked_processes_go_on_in_threads(case, copied, small_parts):
    batch = in_threads(case, 8, 2)
    play(batch, 5, policy_streams(8, 4))
    twin = copied(batch)
    assert twin.threads == 2
    with multiprocessing.get_context("fork").Pool(1) as pool:
        there = pool.apply_async(digest_of, (twin,)).get(timeout=60)
    assert play(batch, 20, policy_streams(8, 5)).digest() == there == digest_of(twin)


def digest_of(batch):
    return play(batch, 20, policy_streams(8, 5)).digest()


@each_game
def test_where_the_system_gives_no_thread_no_game_moves(case, small_parts, monkeypatch):
    batch, start, started = in_threads(case, 30, 9), threading.Thread.start, []

    def failing(self):
        if len(started) == 3:
            raise RuntimeError("can't start new thread")
        started.append(self)
        start(self)

    actions, before = batch.sample_actions(policy_streams(30, 4)), everything(batch)
    _workers.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", failing)
        with pytest.raises(RuntimeError, match="new thread"):
            batch.step(actions)
    assert everything(batch) == before
    batch.step(actions)
    assert everything(batch) != before


INTERRUPTED = """
import signal, sys, time
import numpy as np
import llama_envs.core.batch as core
from tests.cases import new_batch, everything
from llama_envs.core.batch import policy_streams
core.GAMES_PER_THREAD = 8
batch, alone = (new_batch(eval(sys.argv[1]), 64, 3, True, threads) for threads in (4, 1))
class Interrupt(BaseException): pass
def interrupt(number, frame):
    raise Interrupt
signal.signal(signal.SIGALRM, interrupt)
streams, delays, interrupts = policy_streams(64, 4), np.random.default_rng(0), 0
for _ in range(2000):
    actions = alone.sample_actions(streams)
    alone.step(actions)
    before = everything(batch)
    try:
        signal.setitimer(signal.ITIMER_REAL, delays.uniform(1e-6, 2e-4))
        try:
            batch.step(actions)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Interrupt:
        interrupts += 1
        if everything(batch) == before:  # it came before the step
            batch.step(actions)
    assert batch.state.tobytes() == alone.state.tobytes()
assert interrupts > 100, interrupts
print("whole")
"""


@each_game
def test_an_interrupt_never_leaves_a_step_half_done_or_threads_hanging(case):
    assert run_python(INTERRUPTED, repr(case)) == "whole"


def test_what_a_part_raises_comes_out_when_all_have_ended():
    done, ended = np.zeros(3, np.bool_), []

    def work(part):
        if done[part]:
            return
        if part == 1:
            raise ZeroDivisionError
        time.sleep(0.05)
        ended.append(part)
        done[part] = True

    with pytest.raises(ZeroDivisionError):
        run_in_threads(work, done)
    assert sorted(ended) == [0, 2]


def test_the_callers_thread_takes_the_first_part_and_others_the_rest_at_the_same_time():
    done, by, together = np.zeros(3, np.bool_), {}, threading.Barrier(3)

    def work(part):
        by[part] = threading.get_ident()
        together.wait(timeout=30)
        done[part] = True

    run_in_threads(work, done)
    assert by[0] == threading.get_ident()
    assert len(set(by.values())) == 3


def test_what_no_thread_has_begun_the_callers_thread_does(monkeypatch):
    monkeypatch.setattr("llama_envs.core.threads._workers", lambda number: SimpleQueue())  # nobody takes from it
    done = np.zeros(3, np.bool_)
    run_in_threads(lambda part: done.__setitem__(part, True), done)
    assert done.all()


def test_an_interrupted_first_part_is_done_before_the_interrupt_comes_out():
    done, tries = np.zeros(2, np.bool_), []

    def work(part):
        tries.append(part)
        if part == 0 and tries.count(0) < 3:
            raise KeyboardInterrupt
        done[part] = True

    with pytest.raises(KeyboardInterrupt):
        run_in_threads(work, done)
    assert done.all()
    assert (tries.count(0), tries.count(1)) == (3, 1)


@each_game
@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2", 1025])
def test_bad_numbers_of_threads_are_refused(case, threads):
    with pytest.raises(ValueError, match="threads must be"):
        in_threads(case, 8, threads)


@each_game
def test_batches_in_threads_of_the_caller_share_threads_without_harm(case, small_parts):
    batches = [in_threads(case, 8, 2) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        digests = list(pool.map(digest_of, batches))
    assert digests == [digest_of(in_threads(case, 8, 1))] * 4


# ------------------------------------------------------------------------------------------------------------- memory


@every_case
def test_a_game_takes_at_most_512_bytes(case):
    assert game_of(case).state_dtype.itemsize <= 512


@every_case
def test_nothing_stays_allocated_and_no_buffer_moves_after_construction(case):
    batch, streams = new_batch(case, 64, 1, True), policy_streams(64, 2)
    game = batch.game

    def loop(steps):
        for _ in range(steps):
            batch.step(batch.sample_actions(streams))
            batch.observe(0)
            batch.mask(game.num_players - 1)
        batch.reset()
        batch.reset(seed=3)

    loop(20)
    places = {name: array.ctypes.data for name, array in arrays_of(batch).items()}
    gc.collect()
    tracemalloc.start()
    try:
        loop(20)
        before = tracemalloc.get_traced_memory()[0]
        loop(300)
        gc.collect()
        growth = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert growth < 8192
    assert {name: array.ctypes.data for name, array in arrays_of(batch).items()} == places


@each_game
def test_batch_says_its_length_and_what_it_is(case):
    batch = new_batch(case, 7)
    assert len(batch) == batch.num_games == 7
    assert "7" in repr(batch)
    assert batch.game.id in repr(batch)
    assert isinstance(batch, Batch)
