"""agents.search: Monte Carlo over possible worlds."""

from __future__ import annotations

import numpy as np
import pytest

import agents  # noqa: F401
from agents.search import MonteCarloPolicy
from experiments.evaluate import evaluate
from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.policy import Players, ScriptedPolicy, View, look, make_policy
from llama_envs.core.registry import game_names, make_game

CASES = [("lama", 2), ("lama", 4), ("llama_llama", 2), ("llama_llama", 3)]


def middle(name: str, players: int, num_games: int = 6, decisions: int = 9, **options: object) -> Batch:
    """Games some decisions after the deal, nobody finished."""
    batch = Batch(make_game(name, num_players=players, **options), num_games, seed=5)
    streams = policy_streams(num_games, 1)
    for _ in range(decisions):
        batch.step(batch.sample_actions(streams), batch.to_move >= 0)
    assert (batch.to_move >= 0).any()
    return batch


def view_of(batch: Batch, policy: MonteCarloPolicy | ScriptedPolicy, seed: int = 3) -> View:
    rows = np.flatnonzero(batch.to_move >= 0)
    seats = batch.to_move[rows].astype(np.int64)
    return look(batch, rows, seats, policy_streams(batch.num_games, seed)[rows], policy)


@pytest.mark.parametrize(("name", "players"), CASES)
def test_values_are_those_of_a_plain_python_search_with_the_same_worlds_and_luck(name: str, players: int) -> None:
    batch = middle(name, players, 3)
    game = batch.game
    policy = make_policy("mc:4", game)
    assert isinstance(policy, MonteCarloPolicy)
    view, again = view_of(batch, policy), view_of(batch, policy)
    values = policy.values(view)
    rules, params = game.rules, game.records(game.params)[0]
    rollout = make_policy("heuristic", game)
    assert isinstance(rollout, ScriptedPolicy)
    start = game.records(again.worlds(1)[:, 0].copy())
    for i in range(len(again)):
        expected = np.zeros(game.num_actions)
        seat = int(again.seat[i])
        for _ in range(4):
            world = start[i : i + 1].copy()
            rules.resample_hidden(world[0], params, seat, again.streams, i)
            for action in np.flatnonzero(again.mask[i]):
                played, luck = world.copy(), again.streams[i : i + 1].copy()
                rules.apply(played[0], params, action)
                while played["rounds"][0] == start["rounds"][i]:
                    if played["chance"][0]:
                        rules.apply_chance(played[0], params, rules.sample_chance(played[0], params, luck, 0))
                    else:
                        mover = int(played["to_move"][0])
                        rules.apply(played[0], params, rollout.choose(played[0], params, mover, rollout.options))
                change = (played["total"][0] - start["total"][i])[:players].astype(float)
                others = np.delete(change, seat).mean()
                expected[action] += (1 if game.most_points_win else -1) * (change[seat] - others)
        assert np.allclose(values[i][again.mask[i]], expected[again.mask[i]] / 4)


@pytest.mark.parametrize(("name", "players"), CASES)
def test_choice_does_not_depend_on_what_the_seat_cannot_see__B02(name: str, players: int) -> None:
    batch = middle(name, players)
    policy = make_policy("mc:30", batch.game)
    view = view_of(batch, policy)
    actions = policy.act(view_of(batch, policy))
    for disguise in range(5):
        twin = batch.clone()
        rows = np.flatnonzero(twin.to_move >= 0)
        seats = np.maximum(twin.to_move, 0).astype(np.int64)
        worlds = twin.worlds(seats, policy_streams(twin.num_games, 50 + disguise))[:, 0]
        twin.state[rows] = worlds[rows]
        assert twin.state.tobytes() != batch.state.tobytes()
        twin.refresh()
        other = view_of(twin, policy)
        assert np.array_equal(view.observation, other.observation)
        assert np.array_equal(policy.act(other), actions)


@pytest.mark.parametrize(("name", "players"), CASES)
def test_searching_leaves_the_games_and_their_later_draws_as_they_are__B02(name: str, players: int) -> None:
    batch, twin = middle(name, players), middle(name, players)
    policy = make_policy("mc:20", batch.game)
    policy.act(view_of(batch, policy))
    streams, others = policy_streams(6, 9), policy_streams(6, 9)
    for _ in range(30):
        if (batch.to_move < 0).all():
            break
        batch.step(batch.sample_actions(streams), batch.to_move >= 0)
        twin.step(twin.sample_actions(others), twin.to_move >= 0)
        assert batch.state.tobytes() == twin.state.tobytes()


@pytest.mark.parametrize("spec", ["mc:10", "mc:10:random", "mc:10:heuristic"])
@pytest.mark.parametrize("name", game_names())
def test_choices_are_legal_and_independent_of_the_batch(name: str, spec: str) -> None:
    def play(num_games: int) -> list[bytes]:
        batch = Batch(make_game(name, num_players=2), num_games, seed=list(range(num_games)))
        players = Players(
            batch, [make_policy(spec, batch.game)], np.zeros((num_games, 2), np.int64), list(range(num_games))
        )
        actions = np.zeros(num_games, np.int64)
        for _ in range(12):
            players.act(actions)
            batch.step(actions, batch.to_move >= 0)
        return [state.tobytes() for state in batch.state]

    assert play(5)[:3] == play(3)


def test_mc_beats_the_heuristic_in_both_player_counts_of_its_reference() -> None:
    for players, bar in ((2, 0.5), (4, 0.25)):
        game = make_game("lama", num_players=players)
        table, _ = evaluate(game, ["mc:100", *["heuristic"] * (players - 1)], 250, 0)
        assert table["win_share"][0] - table["win_share_95"][0] > bar


@pytest.mark.parametrize("spec", ["mc", "mc:0", "mc:x", "mc:10:ppo", "mc:10:mc:5", "mc:1.5"])
def test_bad_arguments_are_refused_in_one_sentence(spec: str) -> None:
    with pytest.raises(ValueError, match=r"mc:W|ppo:PATH") as refused:
        make_policy(spec, make_game("lama"))
    assert len(str(refused.value).splitlines()) == 1
