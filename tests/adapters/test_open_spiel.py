"""Every game in OpenSpiel: its own tests, and what its states promise. Tiny games are solved in ``tests/<game>``."""

from __future__ import annotations

import copy
import pickle
import random
import re
import subprocess
import sys
from collections import Counter
from dataclasses import fields

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import ismcts, mcts
from open_spiel.python.observation import INFO_STATE_OBS_TYPE, make_observation
from open_spiel.python.tests import games_sim_test

from llama_envs.core.registry import config_type, make_game, spec_of
from tests.adapters.spiel import CHANCE, middle, move, observations, spiel_game, strings
from tests.cases import CHECKOUT, GAMES, Case, cases_of, each_game, every_case, game_of, run_python
from tests.compat import COUNTS, record

# ------------------------------------------------------------------------------------------ registration and parameters


def test_every_game_of_the_registry_is_registered_with_every_field_of_its_config() -> None:
    registered = pyspiel.registered_names()
    for name in GAMES:
        assert f"python_{name}" in registered
        game = pyspiel.load_game(f"python_{name}")
        assert set(game.get_parameters()) == {field.name for field in fields(config_type(name))} | {"players"}
        assert game.tree.game is make_game(name)


@every_case
def test_parameters_build_the_same_game_as_options_do(case: Case) -> None:
    game = spiel_game(case)
    assert game.tree.game is game_of(case)
    assert pyspiel.load_game(str(game)).tree.game is game.tree.game
    assert pickle.loads(pickle.dumps(game)).tree.game is game.tree.game
    core = game.tree.game
    assert (game.num_players(), game.num_distinct_actions()) == (core.num_players, core.num_actions)
    assert game.max_chance_outcomes() == core.max_chance_outcomes
    assert game.observation_tensor_size() == game.information_state_tensor_size() == core.observation.size


@pytest.mark.parametrize("name", GAMES)
def test_players_is_another_name_for_num_players(name: str) -> None:
    for players in spec_of(name).players[:2]:
        assert pyspiel.load_game(f"python_{name}", {"players": players}).num_players() == players
        assert pyspiel.load_game(f"python_{name}(players={players})").num_players() == players


@pytest.mark.parametrize("name", GAMES)
def test_the_range_of_players_is_that_of_the_configs(name: str) -> None:
    ranges = {kind.short_name: (kind.min_num_players, kind.max_num_players) for kind in pyspiel.registered_games()}
    players = spec_of(name).players
    assert ranges[f"python_{name}"] == (players[0], players[-1])


@pytest.mark.parametrize("name", GAMES)
def test_a_wrong_parameter_is_one_sentence(name: str) -> None:
    low, *_, high = spec_of(name).players
    for wrong, message in (
        ({"num_players": high + 3}, f"num_players must be an integer from {low} to {high}, got {high + 3}."),
        ({"num_players": -1}, f"num_players must be an integer from {low} to {high}, got -1."),
        ({"reward": "luck"}, "reward must be one of 'win', 'score', 'rank', got 'luck'."),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            pyspiel.load_game(f"python_{name}", wrong)


def test_registering_compiles_nothing() -> None:
    code = """
import gc
import llama_envs.adapters.open_spiel
from numba.core.dispatcher import Dispatcher
print(sum(len(thing.overloads) for thing in gc.get_objects() if isinstance(thing, Dispatcher)
          and "llama_envs" in thing.py_func.__module__))
"""
    assert run_python(code, NUMBA_DISABLE_JIT=None) == "0"


# ------------------------------------------------------------------------------------------------ OpenSpiel's own tests


@every_case
def test_open_spiels_random_simulations_pass(case: Case, capfd: pytest.CaptureFixture[str]) -> None:
    game = spiel_game(case)
    pyspiel.random_sim_test(game, 1, True, False)
    games_sim_test.GamesSimTest().sim_game(game)
    assert "terminated with" in capfd.readouterr().out


@pytest.mark.parametrize(("name", "players"), COUNTS)
def test_games_of_every_number_of_players_are_those_of_the_core(name: str, players: int) -> None:
    rng = random.Random(players)
    for _ in range(5):
        state = spiel_game((name, {"num_players": players})).new_initial_state()
        while not state.is_terminal():
            move(state, rng)
        shares = make_game(name, num_players=players).win_shares(state.position.state)[0][:players]
        winners = int((shares > 0).sum())
        best = (1 - (winners - 1) / (players - 1)) / winners
        expected = np.where(shares > 0, best, -1 / (players - 1))
        assert state.returns() == pytest.approx(expected.tolist())
    ids = ", ".join(f"`python_{game}`" for game in GAMES)
    record("OpenSpiel", name, players, "works", f"{ids}; tabular solvers on tiny decks")


# --------------------------------------------------------------------------------------------------------- the contract


@every_case
def test_a_state_shows_what_the_record_holds(case: Case) -> None:
    game, rng = spiel_game(case), random.Random(1)
    core = game.tree.game
    plain = make_observation(game)
    informed = make_observation(game, INFO_STATE_OBS_TYPE)
    assert list(plain.dict) == list(informed.dict) == list(core.observation)
    expected = np.zeros((1, core.observation.size), np.float32)
    for moves in range(0, 60, 6):
        state = middle(game, moves, rng)
        record = state.position.state
        assert state.legal_actions() == core.legal_actions(record[0], state.current_player())
        assert [state.action_to_string(action) for action in state.legal_actions()] == [
            core.action_names[action] for action in state.legal_actions()
        ]
        for seat in range(core.num_players):
            core.batch_kernels.observe(core.records(record), core.records(core.params), np.array([seat]), expected)
            assert np.array_equal(state.observation_tensor(seat), expected[0])
            assert np.array_equal(state.information_state_tensor(seat), expected[0])
            for observer in (plain, informed):
                observer.set_from(state, seat)
                for name, piece in observer.dict.items():
                    assert np.array_equal(piece, core.observation.view(expected[0], name))
            assert plain.string_from(state, seat) == state.observation_string(seat)
            assert informed.string_from(state, seat) == state.information_state_string(seat)
            if seat != state.current_player():
                assert state.legal_actions(seat) == []


@each_game
def test_observations_tell_apart_what_one_seat_may_know_and_nothing_else(case: Case) -> None:
    game = spiel_game(case)
    for kind in (
        pyspiel.IIGObservationType(perfect_recall=False, public_info=False),
        pyspiel.IIGObservationType(perfect_recall=False, private_info=pyspiel.PrivateInfoType.ALL_PLAYERS),
    ):
        with pytest.raises(ValueError, match="is what one player sees"):
            make_observation(game, kind)
    with pytest.raises(ValueError, match="take no parameters"):
        make_observation(game, INFO_STATE_OBS_TYPE, {"a": 1})


@every_case
def test_nobody_sees_anything_while_chance_is_to_move(case: Case) -> None:
    game, rng = spiel_game(case), random.Random(2)
    state, events = game.new_initial_state(), 0
    while not state.is_terminal():
        seen, remembered, player = observations(state), strings(state), state.current_player()
        if player == CHANCE:
            assert sum(probability for _, probability in state.chance_outcomes()) == pytest.approx(1, abs=1e-12)
            assert all(probability > 0 for _, probability in state.chance_outcomes())
        move(state, rng)
        if state.is_chance_node():
            if player >= 0:  # a seat knows what it has just done
                assert state.information_state_string(player).startswith(f"{remembered[player]} > ")
                remembered[player] = state.information_state_string(player)
            assert (observations(state), strings(state)) == (seen, remembered)
            events += 1
    assert events > 5


@every_case
@pytest.mark.parametrize("reward", ["win", "score", "rank"])
def test_returns_add_up_stay_in_bounds_and_are_zero_sum(case: Case, reward: str) -> None:
    game, rng = spiel_game((case[0], {**case[1], "reward": reward})), random.Random(3)
    model = pyspiel.GameType.RewardModel
    assert game.get_type().reward_model == (model.REWARDS if reward == "score" else model.TERMINAL)
    assert game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
    assert game.utility_sum() == 0
    if reward != "score":
        assert (game.min_utility(), game.max_utility()) == (-1, 1)
    for _ in range(3):
        state = game.new_initial_state()
        paid = np.zeros(game.num_players())
        decisions = events = 0
        while not state.is_terminal():
            decisions += not state.is_chance_node()
            events += state.is_chance_node()
            move(state, rng)
            rewards = state.rewards()
            if reward != "score" and not state.is_terminal():
                assert rewards == [0] * game.num_players()
            paid += rewards
            assert state.returns() == pytest.approx(paid.tolist(), abs=1e-12)
        assert sum(state.returns()) == pytest.approx(0, abs=1e-9)
        assert all(game.min_utility() <= paid <= game.max_utility() for paid in state.returns())
        assert decisions <= game.max_game_length()
        assert events <= game.max_chance_nodes_in_history()
        total = state.position.state["total"][:, : game.num_players()].astype(np.int64)[0]
        others = (total.sum() - total) / (game.num_players() - 1)
        if reward == "score":
            sign = 1 if game.tree.game.most_points_win else -1
            scale = cases_of(case[0]).POINTS_PER_REWARD
            assert state.returns() == pytest.approx((sign * (total - others) / scale).tolist(), abs=1e-9)


@every_case
def test_serialised_states_go_on_as_the_original(case: Case) -> None:
    game, rng = spiel_game(case), random.Random(6)
    for moves in (0, 5, 40):
        state = game.new_initial_state() if moves == 0 else middle(game, moves, rng)
        copies = [
            pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))[1],
            game.deserialize_state(state.serialize()),
            pickle.loads(pickle.dumps(state)),
            copy.deepcopy(state),
            state.clone(),
        ]
        for _ in range(1000):
            if state.is_terminal():
                break
            action = rng.choice(state.legal_actions())
            for one in (state, *copies):
                one.apply_action(action)
            for one in copies:
                assert (str(one), strings(one), one.returns()) == (str(state), strings(state), state.returns())
                assert one.current_player() == state.current_player()
                assert one.legal_actions() == state.legal_actions()


@each_game
def test_a_state_travels_to_a_process_that_imports_nothing_first(case: Case) -> None:
    state = middle(spiel_game(case), 50, random.Random(7))
    code = """
import pickle, sys
state = pickle.loads(bytes.fromhex(sys.argv[1]))
state.apply_action(state.legal_actions()[0])
print(state.information_state_string(1), "|", state.get_game())
"""
    told = run_python(code, pickle.dumps(state).hex())
    state.apply_action(state.legal_actions()[0])
    assert told == f"{state.information_state_string(1)} | {state.get_game()}"


@every_case
def test_clones_are_independent(case: Case) -> None:
    game, rng = spiel_game(case), random.Random(8)
    for _ in range(5):
        state = middle(game, rng.randint(1, 40), rng)
        kept = str(state), strings(state), state.returns(), state.position.state.tobytes(), state.legal_actions()
        twin = state.clone()
        for _ in range(20):
            if twin.is_terminal():
                break
            move(twin, rng)
        now = str(state), strings(state), state.returns(), state.position.state.tobytes(), state.legal_actions()
        assert now == kept
        assert str(twin) != str(state)
        returns = state.returns()
        returns[0] = 99.0
        assert state.returns() == kept[2]


# ---------------------------------------------------------------------------------------------- what a seat cannot know


@every_case
def test_resampling_changes_nothing_that_the_seat_has_seen(case: Case) -> None:
    game, rng = spiel_game(case), random.Random(9)
    core, worlds = game.tree.game, Counter()
    for moves in (1, 10, 25, 60):
        state = middle(game, moves, rng)
        for seat in range(core.num_players):
            kept = str(state), strings(state)
            for _ in range(3):
                other = state.resample_from_infostate(seat, rng.random)
                assert other.history() == []  # the moves so far would tell the real cards
                assert other.information_state_string(seat) == state.information_state_string(seat)
                assert other.observation_tensor(seat) == state.observation_tensor(seat)
                assert other.current_player() == state.current_player()
                assert other.returns() == state.returns()
                if seat == state.current_player():
                    assert other.legal_actions() == state.legal_actions()
                worlds[other.position.state.tobytes() == state.position.state.tobytes()] += 1
                while not other.is_terminal():
                    move(other, rng)
            assert (str(state), strings(state)) == kept
    assert worlds[False] > 5


def test_a_pending_chance_event_is_not_looked_through() -> None:
    for name in GAMES:
        state, rng = pyspiel.load_game(f"python_{name}").new_initial_state(), random.Random(10)
        while not state.is_terminal():
            if state.is_chance_node():
                with pytest.raises(ValueError, match="works where somebody is to move"):
                    state.resample_from_infostate(0, rng.random)
            move(state, rng)
        with pytest.raises(ValueError, match="works where somebody is to move"):
            state.resample_from_infostate(0, rng.random)


def test_information_set_search_runs_at_full_size() -> None:
    for name in GAMES:
        game = pyspiel.load_game(f"python_{name}(num_players=2)")
        numbers = np.random.RandomState(0)
        bot = ismcts.ISMCTSBot(game, mcts.RandomRolloutEvaluator(1, numbers), 1.0, 20, random_state=numbers)
        state = middle(game, 1, random.Random(11))
        assert bot.step(state) in state.legal_actions()


# -------------------------------------------------------------------------------------------------------------- example


def test_the_example_runs_and_is_short() -> None:
    path = CHECKOUT / "experiments" / "examples" / "open_spiel_cfr.py"
    assert len(path.read_text().splitlines()) <= 40
    done = subprocess.run(
        [sys.executable, "-m", "experiments.examples.open_spiel_cfr"],
        cwd=CHECKOUT, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    found = [float(number) for number in re.findall(r"exploitability (\d\.\d+)", done.stdout)]
    assert len(found) > 2
    assert found[-1] < 0.05 < found[0]
