"""Random streams: uniform, apart from each other, and the same whatever else is played (known faults B18, B19)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from llama_envs.core.batch import policy_streams
from llama_envs.core.chance import (
    check_seed,
    draw_below,
    draw_card,
    draw_true,
    draw_unit,
    expand_seeds,
    next_word,
    philox,
    sample_legal,
    start_streams,
)
from llama_envs.core.compile import kernel

MULTIPLIER = 0xFFFEB81B  # of MWC64X
PERIOD_MODULUS = MULTIPLIER * 2**32 - 1
STARTS = 4096


def starts(seeds, rows=0, episodes=0):
    """The first words of the streams of (seeds, rows, episodes), broadcast against each other."""
    arrays = [np.array(x, np.uint64) for x in np.broadcast_arrays(seeds, rows, episodes)]
    streams = np.zeros(len(arrays[0]), np.uint64)
    start_streams(streams, *arrays, np.ones(len(streams), np.bool_))
    return streams


@kernel
def draws_below(streams, bound, out):
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = draw_below(streams, i, bound)


@kernel
def draws_unit(streams, out):
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = draw_unit(streams, i)


@kernel
def draws_card(streams, counts, out):
    total = counts.sum()
    for i in range(len(out)):
        out[i] = draw_card(counts, total, streams, i)


@kernel
def words_of(streams, out):
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = streams[i]
            next_word(streams, i)


def below(streams, bound, draws=1):
    out = np.zeros((len(streams), draws), np.int64)
    draws_below(streams.copy(), bound, out)
    return out


def p_uniform(values, bound):
    return stats.chisquare(np.bincount(np.ravel(values), minlength=bound)).pvalue


def p_independent(first, second, bound):
    """Chi-square of all pairs against the uniform: small when one tells something about the other."""
    return p_uniform(np.ravel(first) * bound + np.ravel(second), bound * bound)


FAMILIES = {
    "seeds": starts(np.arange(STARTS)),
    "rows of one seed": starts(7, np.arange(STARTS)),
    "episodes of one game": starts(7, 0, np.arange(STARTS)),
    "seeds far apart": starts(np.arange(STARTS, dtype=np.uint64) << np.uint64(48)),
}
each_family = pytest.mark.parametrize("streams", FAMILIES.values(), ids=FAMILIES)


@each_family
@pytest.mark.parametrize("bound", [2, 3, 6, 7, 56])
def test_first_draws_of_neighbouring_streams_are_uniform(streams, bound):
    assert p_uniform(below(streams, bound), bound) > 0.001


@pytest.mark.parametrize("bound", [2, 3, 6, 7, 52, 56])
def test_draws_of_one_stream_are_uniform_and_independent_of_the_one_before(bound):
    values = below(starts([3]), bound, 200_000)[0]
    assert p_uniform(values, bound) > 0.001
    assert p_independent(values[:-1], values[1:], bound) > 0.001


@each_family
def test_neighbouring_streams_are_independent__B19(streams):
    values = below(streams, 8, 16)
    assert p_independent(values[:-1], values[1:], 8) > 0.001
    assert p_independent(values[:, 0], values[:, 1], 8) > 0.001


def test_same_episode_of_neighbouring_rows_and_next_episode_of_one_row_are_independent__B19():
    rows, episodes = np.divmod(np.arange(STARTS), 64)
    values = below(starts(11, rows, episodes), 8, 4).reshape(64, 64, 4)
    assert p_independent(values[:-1], values[1:], 8) > 0.001
    assert p_independent(values[:, :-1], values[:, 1:], 8) > 0.001
    assert p_independent(values[:-1, 1:], values[1:, :-1], 8) > 0.001  # neither row + episode nor row - episode matters
    assert p_independent(values[:-1, :-1], values[1:, 1:], 8) > 0.001


def test_draw_below_is_exact_where_multiplying_without_rejection_is_not():
    bound = 3 * 2**30  # 2^32 words onto 3 * 2^30 numbers: without rejection every third number comes twice as often
    values = below(starts([5]), bound, 100_000)
    assert values.min() >= 0
    assert values.max() < bound
    assert p_uniform(values % 3, 3) > 0.001


def test_draw_below_one_is_always_zero():
    assert not below(starts(np.arange(100)), 1, 10).any()


def test_draw_unit_is_uniform_in_zero_to_one_and_never_one():
    out = np.zeros((1, 100_000))
    draws_unit(starts([9]), out)
    assert out.min() >= 0
    assert out.max() < 1
    assert stats.kstest(out[0], "uniform").pvalue > 0.001


def test_draw_card_follows_the_counts_and_never_takes_a_card_that_is_not_there():
    counts = np.array([0, 8, 1, 0, 3, 0], np.int8)  # 12 cards
    out = np.zeros(50_000, np.int64)
    draws_card(starts(1, np.arange(len(out))), counts, out)
    seen = np.bincount(out, minlength=6)
    assert not seen[counts == 0].any()
    present = counts > 0
    assert stats.chisquare(seen[present], counts[present] * (len(out) / 12)).pvalue > 0.001


def test_draw_true_is_uniform_over_the_true_entries():
    mask = np.tile([True, False, True, True, False], (30_000, 1))
    actions = np.zeros(len(mask), np.int64)
    sample_legal(mask, starts(2, np.arange(len(mask))), actions)
    seen = np.bincount(actions, minlength=5)
    assert seen[1] == seen[4] == 0
    assert stats.chisquare(seen[[0, 2, 3]]).pvalue > 0.001


def test_draw_true_of_nothing_is_minus_one_and_does_not_advance_the_stream():
    streams = starts([4])
    before = streams.copy()
    assert draw_true(np.zeros(3, np.bool_), streams, 0) == -1
    assert (streams == before).all()


@each_family
def test_no_stream_starts_in_a_word_from_which_the_generator_never_moves(streams):
    carry, low = streams >> np.uint64(32), streams & np.uint64(0xFFFFFFFF)
    assert (carry < MULTIPLIER).all()
    stuck = ((carry == 0) & (low == 0)) | ((carry == MULTIPLIER - 1) & (low == 0xFFFFFFFF))
    assert not stuck.any()


def test_streams_of_thousands_of_games_do_not_run_into_each_other():
    rows, episodes = np.divmod(np.arange(STARTS), 8)
    streams = np.concatenate([starts(1, rows, episodes), starts(2, rows, episodes)])
    words = np.zeros((len(streams), 400), np.uint64)
    words_of(streams, words)
    in_order = np.sort(words, axis=None)
    assert (in_order[1:] != in_order[:-1]).all()


def test_a_stream_is_the_documented_generator():
    streams = starts([123])
    word = int(streams[0])
    for _ in range(1000):
        low, carry = word & 0xFFFFFFFF, word >> 32
        assert int(next_word(streams, 0)) == low ^ carry
        word = MULTIPLIER * low + carry
        assert int(streams[0]) == word
        assert 0 < word < PERIOD_MODULUS


@pytest.mark.parametrize(
    ("left", "right", "key", "expected"),
    [
        (0x00000000, 0x00000000, 0x00000000, 0xFF1DAE59_6CD10DF2),
        (0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0x2C3F628B_AB4FD7AD),
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0xDD7CE038_F62A4C12),
    ],
)
def test_philox_gives_the_published_answers(left, right, key, expected):
    assert int(philox(np.uint64(left), np.uint64(right), np.uint64(key))) == expected


def test_policies_streams_never_meet_the_streams_of_games():
    games = starts(3, np.arange(512), 0)
    policies = np.concatenate([policy_streams(512, 3, lane) for lane in range(6)])
    assert len(np.unique(np.concatenate([games, policies]))) == 7 * 512


def test_policy_stream_depends_on_seed_lane_and_row_alone__B19():
    wide, narrow = policy_streams(100, 5, 2), policy_streams(7, 5, 2)
    assert (wide[:7] == narrow).all()
    assert not (policy_streams(7, 5, 3) == narrow).any()
    assert not (policy_streams(7, 6, 2) == narrow).any()


def test_policy_streams_without_a_seed_differ_each_time():
    assert not (policy_streams(4) == policy_streams(4)).any()


# ------------------------------------------------------------------------------------------------------- expand_seeds


def test_an_int_gives_each_game_its_row_and_a_list_gives_each_game_its_own_seed():
    seeds, rows, given = expand_seeds(9, 3)
    assert (seeds.tolist(), rows.tolist(), given) == ([9, 9, 9], [0, 1, 2], [True] * 3)
    seeds, rows, given = expand_seeds([4, 9, 2**64 - 1], 3)
    assert (seeds.tolist(), rows.tolist(), given) == ([4, 9, 2**64 - 1], [0, 0, 0], [True] * 3)


def test_none_entries_ask_the_operating_system_and_are_reported_as_not_given():
    first, _, given = expand_seeds([4, None, 9], 3)
    second, _, _ = expand_seeds([4, None, 9], 3)
    assert given == [True, False, True]
    assert first[1] != second[1]
    assert first[[0, 2]].tolist() == [4, 9]
    assert expand_seeds(None, 2)[2] == [False, False]


@pytest.mark.parametrize("seed", [[1, 2, 3], (1, 2, 3), np.array([1, 2, 3]), np.array([1, 2, 3], np.uint8)])
def test_lists_tuples_and_integer_arrays_of_seeds_are_the_same(seed):
    assert expand_seeds(seed, 3)[0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("seed", [5, np.int8(5), np.uint64(5), np.array(5)], ids=repr)
def test_any_kind_of_integer_is_one_seed(seed):
    assert expand_seeds(seed, 2)[0].tolist() == [5, 5]


@pytest.mark.parametrize(
    "seed",
    [-1, 2**64, True, np.True_, 1.0, np.float64(1), float("nan"), "1", b"1", "123", object(), iter([1, 2, 3]),
     np.array(1.0), [1, 2], [1, 2, 3, 4], [], [1, 2.0, 3], [1, "2", 3], [1, True, 3], [1, -2, 3], [1, 2**64, 3],
     [[1], [2], [3]], np.ones((3, 1), np.int64), np.array([1.0, 2.0, 3.0]), np.array([True, False, True])],
    ids=lambda seed: repr(seed).split(" at ")[0],
)  # fmt: skip
def test_anything_else_is_refused_with_a_sentence_that_names_the_field__B19(seed):
    with pytest.raises(ValueError, match=r"^seed(\[\d\])? must be .*got "):
        expand_seeds(seed, 3)


def test_the_refusal_names_the_entry():
    with pytest.raises(ValueError, match=r"^seed\[1\] must be an integer in \[0, 2\*\*64\), got 'x'\.$"):
        expand_seeds([1, "x", 3], 3)
    with pytest.raises(ValueError, match=r"^seed must be one integer or 3 of them, one for each game, got 2"):
        expand_seeds([1, 2], 3)


def test_check_seed_returns_a_python_int():
    assert type(check_seed(np.uint64(7))) is int
