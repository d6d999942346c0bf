"""L.L.A.M.A. through the adapters: turns, quitters, late rewards (known faults B09, B12, B43), and in OpenSpiel.

Tiny games are solved a second time by brute force over the referee.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import cfr, exploitability
from open_spiel.python.tests import games_sim_test

import llama_envs.adapters.open_spiel as adapter
from llama_envs import lama_v0
from tests.adapters.spiel import (
    CHANCE,
    OVER,
    Weights,
    agree,
    first,
    lopsided,
    middle,
    move,
    playouts,
    strings,
    uniform,
)
from tests.oracles.lama import LamaReferee

SMALL = "python_lama(num_players=2,num_ranks=2,copies=2,hand_size=1,max_rounds=1,single_round_terminates=True)"
TINY = "python_lama(num_players=2,num_ranks=2,copies=3,hand_size=2,max_rounds=1,single_round_terminates=True)"
TINY_3 = "python_lama(num_players=2,num_ranks=3,copies=2,hand_size=2,max_rounds=1,single_round_terminates=True)"
RECALLED = (
    (SMALL, 3500),
    (TINY, 3500),
    ("python_lama(num_players=3,num_ranks=2,copies=4,hand_size=2,max_rounds=2,chip_exchange=choice)", 600),
    ("python_lama(num_players=2,num_ranks=3,copies=2,hand_size=2,target_score=15,max_rounds=4,reward=score)", 600),
)


def turns(env, names):
    """Take the named actions in turn; the agents that took them."""
    actors = []
    for name in names:
        actors.append(env.agent_selection)
        env.step(env.unwrapped.game.action_id(name))
    return actors


def test_a_quitters_round_penalty_reaches_it_once_at_its_next_turn__B09():
    """Player 0 quits at once; the others play on, and the round is scored many steps later."""
    env = lama_v0.raw_env(num_players=4, reward="score", first_player=0, next_starter="rotate")
    env.reset(seed=2)
    env.step(env.game.action_id("quit"))
    assert set(env.rewards.values()) == {0.0}
    steps, batch = 0, env._batch
    while batch.state["rounds"][0] == 0:
        assert env.agent_selection != "player_0"
        draw = env.game.action_id("draw")
        env.step(draw if steps < 15 and batch.action_mask[0, draw] else env.game.action_id("quit"))
        steps += 1
    assert steps > 15
    change = batch.state["total"][0].astype(float)
    expected = -(change[0] - change[1:].mean()) / 10
    assert env._cumulative_rewards["player_0"] == pytest.approx(expected, abs=1e-6)
    while env.agent_selection != "player_0":
        env.step(env.game.action_id("draw"))
    assert batch.state["rounds"][0] == 1
    assert env.last()[1] == pytest.approx(expected, abs=1e-6)
    env.step(env.game.action_id("draw"))
    assert env._cumulative_rewards["player_0"] == 0


def test_six_players_two_of_whom_quit_take_turns_without_skip_or_repeat__B12():
    env = lama_v0.raw_env(num_players=6, first_player=0)
    env.reset(seed=1)
    names = ["draw", "quit", "draw", "draw", "quit", "draw", *["draw"] * 5]
    actors = turns(env, names)
    assert actors == [f"player_{seat}" for seat in (0, 1, 2, 3, 4, 5, 0, 2, 3, 5, 0)]
    assert env.agents == env.possible_agents == [f"player_{seat}" for seat in range(6)]


def test_a_quitter_stays_an_agent_and_acts_again_in_the_next_round__B12():
    env = lama_v0.raw_env(num_players=3, first_player=0, target_score=1000)
    env.reset(seed=1)
    assert turns(env, ["quit", "quit"]) == ["player_0", "player_1"]
    while env._batch.state["rounds"][0] == 0:
        assert env.agent_selection == "player_2"
        assert env.agents == env.possible_agents
        env.step(env.game.action_id("quit"))
    assert turns(env, ["draw"] * 4) == ["player_2", "player_0", "player_1", "player_2"]


def test_two_games_on_one_environment_go_in_the_same_order__B12():
    env = lama_v0.raw_env(num_players=6, first_player=3)
    orders = []
    for seed in (1, None, None):
        env.reset(seed=seed)
        orders.append(turns(env, ["draw", "quit", "draw", "quit", *["draw"] * 6]))
    assert orders[0] == orders[1] == orders[2]
    assert orders[0][:6] == [f"player_{seat}" for seat in (3, 4, 5, 0, 1, 2)]


def test_final_observation_shows_no_deal_of_a_further_round__B43():
    for seed in range(60):
        env = lama_v0.raw_env(num_players=3)
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        state = env._batch.state
        while not any(env.terminations.values()):
            hands, totals = state["hand"][0].copy(), state["total"][0].copy()
            assert totals.max() < 40
            env.step(int(rng.choice(np.flatnonzero(env._batch.action_mask[0]))))
        assert state["total"][0].max() >= 40
        assert np.abs(state["hand"][0] - hands).sum() <= 1  # at most the last card played has left a hand
        for seat, agent in enumerate(env.possible_agents):
            seen = env.game.observation.decode(env.observe(agent)["observation"])
            assert seen["hand"].tolist() == state["hand"][0, seat].tolist()


# ----------------------------------------------------------------------------------------------------------- OpenSpiel


class Table:
    """A position of the plain-Python referee: who is to move, what can happen, what a seat sees."""

    def __init__(self, options: dict[str, Any], moves: tuple[int | str, ...] = ()) -> None:
        self.options, self.moves = options, moves
        self.referee = LamaReferee(**options)
        for done in moves:  # its generator cannot be copied: play the moves again
            self.referee.act(done) if isinstance(done, str) else self.referee.resolve(done)
        names = [*self.referee.play_names, "draw", "quit", "keep", "return white", "return black"]
        self.index = {name: action for action, name in enumerate(names)}

    def player(self) -> int:
        pending = self.referee.pending() is not None
        return CHANCE if pending else OVER if self.referee.to_move is None else self.referee.to_move

    def after(self) -> dict[int, tuple[float, Callable[[], Table]]]:
        """For each action or outcome its probability (1 for actions) and the position that follows."""
        options: list[tuple[int, float, int | str]] = [
            (outcome, float(chance), outcome) for outcome, chance in (self.referee.pending() or {}).items()
        ]
        options += [(self.index[name], 1.0, name) for name in self.referee.legal()]
        return {k: (p, lambda done=done: Table(self.options, (*self.moves, done))) for k, p, done in options}

    def rewards(self) -> list[float]:
        return self.referee.rewards

    def sees(self, seat: int) -> Any:
        table = self.referee
        hands = tuple(sorted(table.hands[seat])), tuple(map(len, table.hands)), tuple(table.discard)
        chips = tuple(table.white), tuple(table.black), tuple(table.active)
        return hands, chips, table.phase, table.to_move, table.starter, table.last_actor


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("python_lama", {"num_players": 9}, "num_players must be an integer from 2 to 6, got 9."),
        ("python_lama", {"num_players": -1}, "num_players must be an integer from 2 to 6, got -1."),
        ("python_lama", {"reward": "luck"}, "reward must be one of 'win', 'score', 'rank', got 'luck'."),
        ("python_lama", {"single_round_terminates": True}, "needs max_rounds = 1"),
    ],
)
def test_a_wrong_parameter_is_one_sentence(name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pyspiel.load_game(name, parameters)


def test_open_spiels_random_simulations_pass_on_tiny_games(capfd: pytest.CaptureFixture[str]) -> None:
    for game in (pyspiel.load_game(TINY),):
        pyspiel.random_sim_test(game, 10, True, False)
        games_sim_test.GamesSimTest().sim_game(game)


def test_minus_one_stands_for_the_word_or_none() -> None:
    config = pyspiel.load_game("python_lama(max_rounds=-1,first_player=-1)").tree.game.config
    assert (config.max_rounds, config.first_player) == (None, "random")
    config = pyspiel.load_game("python_lama(max_rounds=3,first_player=1)").tree.game.config
    assert (config.max_rounds, config.first_player) == (3, 1)


def test_a_game_that_is_cut_short_pays_what_it_has_paid_by_then() -> None:
    for reward in ("win", "rank", "score"):
        game = pyspiel.load_game(f"python_lama(num_players=3,max_rounds=1,reward={reward})")
        state, rng = game.new_initial_state(), random.Random(4)
        while not state.is_terminal():
            move(state, rng)
        assert state.position.state["truncated"][0]
        assert (state.returns() == [0, 0, 0]) == (reward != "score")
        assert state.legal_actions() == []


def test_without_a_limit_the_length_is_declared_as_such() -> None:
    assert pyspiel.load_game("python_lama").max_game_length() == adapter.NO_LIMIT
    limited = pyspiel.load_game("python_lama(num_players=2,max_rounds=2)")
    assert limited.max_game_length() == 2 * (55 + 43 + 2 + 1)
    assert limited.max_chance_nodes_in_history() == 1 + 2 * 56


def test_an_illegal_action_is_one_sentence_and_changes_nothing() -> None:
    state = middle(pyspiel.load_game(TINY), 3, random.Random(5))
    before = str(state), strings(state)
    for action in sorted({*range(10)} - set(state.legal_actions())):
        with pytest.raises(ValueError, match=r"is not possible here; possible is [^.]*quit[^.]*\.$"):
            state.apply_action(action)
    assert (str(state), strings(state)) == before


@pytest.mark.parametrize(("spec", "number"), RECALLED)
def test_equal_strings_are_equal_histories_of_cards_and_chips(spec: str, number: int) -> None:
    assert len(playouts(pyspiel.load_game(spec), number, random.Random(12)).string) > 50


@pytest.mark.parametrize(
    ("spec", "information_sets", "policies", "nash_conv"),
    [
        (SMALL, 56, (uniform, lopsided, first), 4 / 3),
        (SMALL.replace(")", ",reward=score)"), 56, (uniform,), None),
        (TINY, 756, (uniform, lopsided), 77 / 45),
        (TINY_3.replace(")", ",first_player=0)"), 606, (uniform,), None),
    ],
    ids=["small", "score", "two ranks", "three ranks"],
)
def test_solvers_agree_with_brute_force_on_cards_and_chips(
    spec: str, information_sets: int, policies: tuple[Weights, ...], nash_conv: float | None
) -> None:
    game = pyspiel.load_game(spec)
    config = game.tree.game.config
    options = {f.name: getattr(config, f.name) for f in fields(config) if f.name != "history"}  # it is no rule
    found = agree(game, Table(options), information_sets, policies)
    assert found[0] == pytest.approx(found[0] if nash_conv is None else nash_conv, abs=1e-9)
    assert found[0] > 0.01


def test_cfr_finds_an_equilibrium_of_cards_and_chips() -> None:
    game = pyspiel.load_game(SMALL)
    solver = cfr.CFRPlusSolver(game)
    for _ in range(50):
        solver.evaluate_and_update_policy()
    assert 0 <= exploitability.exploitability(game, solver.average_policy()) < 0.02
    other = pyspiel.CFRSolver(game)
    for _ in range(50):
        other.evaluate_and_update_policy()
    assert 0 <= pyspiel.exploitability(game, other.average_policy()) < 0.1


def test_cfr_improves_on_the_uniform_policy_in_the_tiny_game() -> None:
    game = pyspiel.load_game(TINY)
    solver = cfr.CFRSolver(game)
    for _ in range(5):
        solver.evaluate_and_update_policy()
    assert 0 <= exploitability.nash_conv(game, solver.average_policy()) < 1
