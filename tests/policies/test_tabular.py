"""Policies written down in a file: what they play, and which files are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.game import Game
from llama_envs.core.registry import make_game
from llama_envs.policies import View, make_policy
from llama_envs.policies.tabular import StrategyTable, TabularPolicy, load_table, observation_keys, save_table
from tests.cases import GAMES, cases_of

OPTIONS = {"num_players": 3, "reward": "score"}
N = 20_000


def first_decisions(game: Game, games: int = 400) -> View:
    batch = Batch(game, games, 5)
    seats = batch.to_move.astype(np.int64)
    return View(game, batch.observation.copy(), batch.action_mask.copy(), seats, policy_streams(games, 1))


def table_of(view: View) -> StrategyTable:
    """A lopsided table of everything in a view: legal action a has a weight of 1 + a."""
    _, rows = np.unique(observation_keys(view.seat, view.observation), return_index=True)
    weights = view.mask[rows] * (1.0 + np.arange(view.game.num_actions))
    return StrategyTable(view.seat[rows], view.observation[rows], weights / weights.sum(axis=1, keepdims=True))


@pytest.fixture(scope="module", params=GAMES)
def game(request: pytest.FixtureRequest) -> Game:
    return make_game(request.param, **OPTIONS)


@pytest.fixture
def saved(game: Game, tmp_path: Path) -> Path:
    path = tmp_path / "table.npz"
    save_table(path, game, table_of(first_decisions(game)))
    return path


def test_a_saved_table_is_loaded_unchanged_and_played_by_its_name(game: Game, saved: Path) -> None:
    table, loaded = table_of(first_decisions(game)), load_table(saved, game)
    for name in ("seat", "observation", "probabilities"):
        assert np.array_equal(getattr(table, name), getattr(loaded, name))
    policy = make_policy(f"tabular:{saved}", game)
    view = first_decisions(game)
    actions = policy.act(view)
    assert view.mask[np.arange(len(view)), actions].all()
    again = first_decisions(game)
    assert np.array_equal(actions, policy.act(again))
    assert np.array_equal(view.streams, again.streams)


def test_actions_are_drawn_as_often_as_the_table_says(game: Game) -> None:
    view = first_decisions(game)
    one = View(
        game, np.repeat(view.observation[:1], N, axis=0), np.repeat(view.mask[:1], N, axis=0),
        np.repeat(view.seat[:1], N), policy_streams(N, 3),
    )  # fmt: skip
    policy = TabularPolicy(table_of(view))
    expected = policy.probabilities(one)[0]
    assert (expected > 0).sum() > 1
    found = np.bincount(policy.act(one), minlength=game.num_actions) / N
    assert np.abs(found - expected).max() < 4 * np.sqrt(0.25 / N)


def test_the_two_seats_have_entries_of_their_own(game: Game) -> None:
    view = first_decisions(game)
    table = table_of(view)
    both = [np.concatenate([array, array]) for array in (table.observation, table.probabilities)]
    both[1][len(table) :] = np.eye(game.num_actions)[view.mask[0].argmax()]
    seats = np.concatenate([np.zeros(len(table), np.int64), np.ones(len(table), np.int64)])
    policy = TabularPolicy(StrategyTable(seats, *both))
    for seat, part in ((0, slice(0, len(table))), (1, slice(len(table), None))):
        asked = View(game, both[0][part], both[1][part] > 0, seats[part], policy_streams(len(table), 1))
        assert np.array_equal(policy.probabilities(asked), both[1][part])
        assert (asked.seat == seat).all()


def test_an_observation_that_the_table_lacks_is_an_error(game: Game) -> None:
    view = first_decisions(game)
    policy = TabularPolicy(table_of(view))
    view.observation[7] *= 0.5
    with pytest.raises(ValueError, match=f"no entry for what player_{view.seat[7]} sees"):
        policy.act(view)


def test_a_table_made_for_another_game_or_other_rules_is_refused(game: Game, saved: Path) -> None:
    changes = [*cases_of(game.name).OTHER_RULES, ("num_players", {"num_players": 2}), ("reward", {"reward": "win"})]
    for field, options in changes:
        with pytest.raises(ValueError, match=rf"was made for {game.id} with {field} = .*, not with .*\.$"):
            load_table(saved, make_game(game.name, **{**OPTIONS, **options}))
    for other in set(GAMES) - {game.name}:
        with pytest.raises(ValueError, match=f"was made for {game.id}, not for {other}_v0"):
            load_table(saved, make_game(other, **OPTIONS))


def test_a_damaged_or_missing_table_is_refused_in_one_sentence(game: Game, saved: Path) -> None:
    with pytest.raises(ValueError, match="there is no table"):
        load_table(saved.with_name("missing.npz"), game)
    with pytest.raises(ValueError, match="written tabular:PATH"):
        make_policy("tabular", game)
    whole = saved.read_bytes()
    for bad in (b"", b"not an archive", whole[: len(whole) // 2], whole[:-200]):
        saved.write_bytes(bad)
        with pytest.raises(ValueError, match="is not a readable table"):
            load_table(saved, game)


def test_probabilities_that_do_not_sum_to_one_are_refused(game: Game, tmp_path: Path) -> None:
    table = table_of(first_decisions(game))
    path = tmp_path / "bad.npz"
    save_table(path, game, StrategyTable(table.seat, table.observation, table.probabilities * 0.9))
    with pytest.raises(ValueError, match="do not sum to 1"):
        load_table(path, game)
    save_table(path, game, StrategyTable(table.seat, table.observation[:, 1:], table.probabilities))
    with pytest.raises(ValueError, match="do not fit together"):
        load_table(path, game)


def test_equal_hashes_mean_equal_rows() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (50_000, 12)).astype(np.float32) / 2
    keys = observation_keys(np.zeros(len(rows), np.int64), rows)
    assert len(np.unique(keys)) == len(np.unique(rows, axis=0))
