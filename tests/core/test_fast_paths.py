"""Faster ways to do the same: each gives exactly what the plain way gives."""

from __future__ import annotations

import numpy as np
import pytest

from llama_envs.core.batch import policy_streams
from llama_envs.core.chance import draw_card, draw_packed_card, pack_pile, unpack_pile
from llama_envs.core.compile import JIT, kernel
from llama_envs.core.contract import Record
from llama_envs.core.rows import put_row
from llama_envs.policies import Players, make_policy
from tests.cases import each_game, every_case, fields, new_batch, run_python

needs_numba = pytest.mark.skipif(not JIT, reason="kernels run in plain Python")


@pytest.mark.parametrize("counts", [[8] * 7, [16] * 7, [1], [3, 0, 0, 2], [0, 0, 127], [0, 1, 0, 5, 0, 0, 0, 9]])
def test_packed_pile_gives_the_cards_and_the_stream_of_a_plain_one(counts):
    plain = np.array(counts, np.int8)
    pile = pack_pile(plain)
    streams, twin = np.array([12345], np.uint64), np.array([12345], np.uint64)
    for total in range(int(plain.sum()), 0, -1):
        kind = draw_card(plain, total, streams, 0)
        card = np.uint64(draw_packed_card(pile, total, twin, 0))
        alone = np.zeros_like(plain)
        unpack_pile(card, alone)
        assert np.flatnonzero(alone).tolist() == [kind]
        assert alone[kind] == 1
        assert streams[0] == twin[0]
        plain[kind] -= 1
        pile = np.uint64(pile - card)
        left = np.full_like(plain, -1)
        unpack_pile(pile, left)
        assert left.tolist() == plain.tolist()


@every_case
def test_resolving_chance_is_sampling_and_applying_event_by_event(case):
    """From every state that 300 random games reach, the states and streams of both ways are the same bytes."""
    batch, streams = new_batch(case, 40, seed=5), policy_streams(40, 6)
    game, params = batch.game, batch._params
    rules = game.rules
    for _ in range(150):
        actions = batch.sample_actions(streams)
        for i in np.flatnonzero(batch.to_move >= 0):
            both = game.records(np.repeat(batch.state[i : i + 1], 2))
            luck = np.repeat(batch.streams[i], 2)
            for state in both:
                rules.apply(state, params[0], actions[i])
            rules.resolve_chance(both[0], params[0], luck, 0)
            while both[1]["chance"] != 0:
                rules.apply_chance(both[1], params[0], rules.sample_chance(both[1], params[0], luck, 1))
            assert fields(both[:1]) == fields(both[1:])
            assert luck[0] == luck[1]
        if (batch.to_move < 0).all():
            break
        batch.step(actions)
    assert batch.state["rounds"].max() >= 1


@every_case
def test_resolving_chance_goes_on_with_a_deal_that_has_begun(case):
    batch = new_batch(case, 1, seed=7)
    game, params = batch.game, batch._params
    rules = game.rules
    whole, begun = game.records(batch.state.copy()), game.records(batch.state.copy())
    one, other = np.array([99], np.uint64), np.array([99], np.uint64)
    for states in (whole, begun):
        rules.start_game(states[0], params[0])
    rules.resolve_chance(whole[0], params[0], one, 0)
    for _ in range(5):
        rules.apply_chance(begun[0], params[0], rules.sample_chance(begun[0], params[0], other, 0))
    rules.resolve_chance(begun[0], params[0], other, 0)
    assert fields(whole) == fields(begun)
    assert one[0] == other[0]


ROW = """
import numpy as np
from tests.core.test_fast_paths import written
print(written().tobytes().hex())
"""
TABLE = np.dtype([("counts", np.int8, (3, 7))])


@kernel
def put_all(tables, factor, out):
    for row in range(3):
        put_row(out, 2 + 7 * row, tables[0].counts, row, factor)


def written() -> np.ndarray:
    """Counts from 0 to 20 in rows of seven, as parts of each possible number of copies, in a longer vector of -1."""
    tables = np.zeros(1, TABLE)
    tables["counts"] = np.arange(21).reshape(3, 7)
    records = tables if JIT else tables.view(np.dtype((Record, TABLE)))
    out = np.full((16, 30), -1, np.float32)
    for copies in range(1, 17):
        put_all(records, np.float32(1 / copies), out[copies - 1])
    return out


def test_row_of_counts_is_scaled_and_clipped_and_nothing_beside_it_is_touched():
    out = written()
    for copies in range(1, 17):
        expected = np.minimum(np.arange(21, dtype=np.float32) * np.float32(1 / copies), np.float32(1))
        assert out[copies - 1, 2:23].tobytes() == expected.tobytes()
    assert (out[:, :2] == -1).all()
    assert (out[:, 23:] == -1).all()


@needs_numba
def test_row_of_counts_is_the_same_in_plain_python():
    assert run_python(ROW, NUMBA_DISABLE_JIT="1") == written().tobytes().hex()


@needs_numba
@each_game
def test_kernels_leave_no_memory_behind(case):
    """A kernel that is not said to allocate, but gets an array from another kernel, would never free it."""
    from numba.core.runtime import _nrt_python, rtsys

    batch = new_batch(case, 3, seed=1, autoreset=True)
    policies = [make_policy(name, batch.game) for name in ("heuristic", "mc:2", "random")]
    assignment = np.repeat(np.arange(3)[:, None], batch.game.num_players, axis=1)
    players, actions = Players(batch, policies, assignment, 0), np.zeros(3, np.int64)
    whole = new_batch(case, 3, seed=1)
    alone = Players(whole, policies, assignment, 0)
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        for _ in range(30):
            players.act(actions)
            batch.step(actions)
        alone.play()
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free
    assert (whole.to_move < 0).all()
