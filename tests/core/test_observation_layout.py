"""The named slices of the observation vector (known faults B21; decode, table)."""

from __future__ import annotations

import numpy as np
import pytest

from llama_envs.core.observation import Observation, Slice, offsets_dtype
from llama_envs.core.registry import make_game
from tests.cases import each_game, every_case, game_of, middle

LAYOUT = Observation(
    [
        Slice("hand", (3,), 4, "cards of each kind"),
        Slice("seen", (2, 3), 1, "flags"),
        Slice("round", (1,), 10, "rounds"),
    ]
)


def every_seat(case, num_games=40):
    """Observations of every seat at many points of many games, terminal ones included: (X, D)."""
    batches = [middle(case, num_games, seed, autoreset) for seed, autoreset in ((1, True), (2, False))]
    seats = range(batches[0].game.num_players)
    return np.concatenate([batch.observe(seat) for batch in batches for seat in seats])


def test_slices_follow_each_other_without_gap_or_overlap():
    assert [(piece.start, piece.stop) for piece in LAYOUT.values()] == [(0, 3), (3, 9), (9, 10)]
    assert LAYOUT.size == 10
    assert list(LAYOUT) == ["hand", "seen", "round"]
    assert len(LAYOUT) == 3


def test_view_is_a_view_with_the_shape_of_the_piece():
    vectors = np.zeros((5, 7, 10), np.float32)
    piece = LAYOUT.view(vectors, "seen")
    assert piece.shape == (5, 7, 2, 3)
    piece[...] = 1
    assert (vectors.sum(axis=-1) == 6).all()
    assert vectors[..., 3:9].all()


def test_decode_gives_natural_units_by_name():
    vector = np.array([0.25, 0.5, 1, 0, 1, 0, 1, 0, 1, 0.3], np.float32)
    decoded = LAYOUT.decode(vector)
    assert list(decoded) == list(LAYOUT)
    assert decoded["hand"].tolist() == [1, 2, 4]
    assert decoded["seen"].tolist() == [[0, 1, 0], [1, 0, 1]]
    assert decoded["round"].tolist() == [3]
    assert {array.dtype for array in decoded.values()} == {np.dtype(np.int64)}


def test_decode_takes_any_number_of_leading_axes_and_lists():
    vectors = np.zeros((2, 4, 10), np.float32)
    vectors[1, 3, 0] = 1
    assert LAYOUT.decode(vectors)["hand"][1, 3].tolist() == [4, 0, 0]
    assert LAYOUT.decode([0.0] * 10)["round"].tolist() == [0]


@pytest.mark.parametrize("shape", [(), (9,), (11,), (10, 1), (0,)])
def test_decode_refuses_another_size(shape):
    with pytest.raises(ValueError, match=r"an observation of this game has 10 values, got shape \("):
        LAYOUT.decode(np.zeros(shape, np.float32))


def test_a_name_twice_is_refused():
    with pytest.raises(ValueError, match="'hand'"):
        Observation([Slice("hand", (1,), 1, "a"), Slice("hand", (2,), 1, "b")])


def test_an_unknown_name_is_a_key_error():
    with pytest.raises(KeyError):
        LAYOUT["foot"]


def test_table_has_one_row_a_slice_with_offset_shape_and_scale():
    rows = LAYOUT.table().splitlines()
    assert len(rows) == 2 + len(LAYOUT)
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert cells[2:] == [
        ["0", "`hand`", "3", "4", "cards of each kind"],
        ["3", "`seen`", "2 × 3", "1", "flags"],
        ["9", "`round`", "1", "10", "rounds"],
    ]
    assert {len(row) for row in cells} == {5}


@every_case
def test_layout_of_a_game_covers_its_whole_vector(case):
    layout = game_of(case).observation
    ends = [0, *(piece.stop for piece in layout.values())]
    assert [piece.start for piece in layout.values()] == ends[:-1]
    assert every_seat(case, 4).shape[1:] == (layout.size,) == (ends[-1],)


@every_case
def test_every_value_is_a_whole_number_of_units_from_zero_to_its_scale__B21(case):
    layout, vectors = game_of(case).observation, every_seat(case)
    for name, piece in layout.items():
        natural = layout.view(vectors, name).astype(np.float64) * piece.scale
        assert np.abs(natural - np.rint(natural)).max() < 1e-4, name
        assert natural.min() >= 0, name
        assert natural.max() <= piece.scale + 1e-4, name


@every_case
def test_decoding_and_dividing_again_gives_the_same_vector(case):
    layout, vectors = game_of(case).observation, every_seat(case)
    decoded = layout.decode(vectors)
    again = np.concatenate([decoded[n].reshape(len(vectors), -1) / p.scale for n, p in layout.items()], axis=1)
    assert again == pytest.approx(vectors, abs=1e-6)


@every_case
def test_kernel_writes_each_slice_in_its_length_where_its_offset_says(case):
    batches = [middle(case, 60, 1), middle(case, 60, 2, autoreset=False)]
    game, gap = batches[0].game, 5
    apart = game.params.copy()  # with the slices in the opposite order, and room between them
    places, size = {}, gap
    for name in reversed(list(game.observation)):
        places[name] = slice(size, size + game.observation[name].size)
        apart["at"][name] = size
        size = places[name].stop + gap
    between = np.ones(size, np.bool_)
    for place in places.values():
        between[place] = False
    for batch in batches:
        states = game.records(batch.state.copy())
        for seat in range(game.num_players):
            out = np.zeros((len(states), size), np.float32)
            game.batch_kernels.observe(states, game.records(apart), np.full(len(states), seat), out)
            together = batch.observe(seat)
            for name, piece in game.observation.items():
                assert (out[:, places[name]] == together[:, piece.start : piece.stop]).all(), name
            assert not out[:, between].any()


def test_offsets_are_those_of_the_slices():
    dtype = offsets_dtype("round", "hand", "seen")
    assert LAYOUT.offsets(dtype).tolist() == (9, 0, 3)
    with pytest.raises(ValueError, match="offsets for hand, seen do not fit the slices hand, seen, round"):
        LAYOUT.offsets(offsets_dtype("hand", "seen"))


@each_game
def test_vectors_are_float32_and_tell_positions_apart(case):
    vectors = every_seat(case)
    assert vectors.dtype == np.float32
    assert len(np.unique(vectors, axis=0)) > len(vectors) / 2


@every_case
def test_names_and_meanings_are_there_for_every_slice(case):
    for name, piece in game_of(case).observation.items():
        assert name == piece.name
        assert piece.meaning
        assert piece.scale > 0
        assert piece.size > 0
        assert "|" not in piece.meaning  # it stands in a Markdown table


@every_case
def test_options_may_be_numpy_integers(case):
    name, config = case
    options = {key: np.int16(value) if type(value) is int else value for key, value in config.items()}
    assert "num_players" in options
    game = make_game(name, **options)
    assert game is make_game(name, **config)
    assert type(game.config.num_players) is int
