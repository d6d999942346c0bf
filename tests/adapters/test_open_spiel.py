"""Both games in OpenSpiel: its own tests, and tiny games solved a second time by brute force over the referees."""

from __future__ import annotations

import copy
import pickle
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as spiel_policy
from open_spiel.python.algorithms import cfr, expected_game_score, exploitability, ismcts, mcts
from open_spiel.python.observation import INFO_STATE_OBS_TYPE, make_observation
from open_spiel.python.tests import games_sim_test

import llama_envs.adapters.open_spiel as adapter
from llama_envs.core.registry import config_type, game_names, make_game
from llama_envs.llama_llama.deck import Card, Combination, Deck, load_deck
from tests.cases import CHECKOUT, Case, every_case, game_of, run_python
from tests.compat import COUNTS, record
from tests.oracles.lama import LamaReferee
from tests.oracles.llama_llama import LlamaLlamaReferee

SMALL = "python_lama(num_players=2,num_ranks=2,copies=2,hand_size=1,max_rounds=1,single_round_terminates=True)"
TINY = "python_lama(num_players=2,num_ranks=2,copies=3,hand_size=2,max_rounds=1,single_round_terminates=True)"
TINY_3 = "python_lama(num_players=2,num_ranks=3,copies=2,hand_size=2,max_rounds=1,single_round_terminates=True)"
OVER = pyspiel.PlayerId.TERMINAL
CHANCE = pyspiel.PlayerId.CHANCE


@pytest.fixture(scope="session")
def tiny_deck(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a deck of eight cards: seven A, and one B that is worth having and worth showing."""
    first = Card("A", (Combination("A", 1),), (Combination("B", 5),), 7)
    second = Card("B", (Combination("B", 2),), (Combination("A", 3),), 1)
    path = tmp_path_factory.mktemp("decks") / "tiny.toml"
    path.write_text(Deck("tiny", (first, second), 8).to_toml())
    return str(path)


def tiny_llamas(deck: str, num_players: int, **options: Any) -> Any:
    parameters = {"hand_size": 2, "pass_counts": "[1 1 1 1]", "num_rounds": 1, **options}
    return pyspiel.load_game("python_llama_llama", {"num_players": num_players, "deck": deck, **parameters})


def spiel_game(case: Case) -> Any:
    """The OpenSpiel game of one of the rooms' configurations."""
    encoded = {name: "[" + " ".join(map(str, v)) + "]" if isinstance(v, tuple) else v for name, v in case[1].items()}
    return pyspiel.load_game(f"python_{case[0].removesuffix('_v0')}", encoded)


def move(state: Any, rng: random.Random) -> None:
    """A random action or outcome."""
    if state.is_chance_node():
        outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(rng.choices(outcomes, probabilities)[0])
    else:
        state.apply_action(rng.choice(state.legal_actions()))


def middle(game: Any, moves: int, rng: random.Random) -> Any:
    """A state with a seat to move, some moves into the game."""
    state = game.new_initial_state()
    while True:
        move(state, rng)
        if state.is_terminal():
            state = game.new_initial_state()
        moves -= 1
        if moves <= 0 and state.current_player() >= 0:
            return state


def observations(state: Any) -> list[str]:
    return [state.observation_string(seat) for seat in range(state.num_players())]


def strings(state: Any) -> list[str]:
    return [state.information_state_string(seat) for seat in range(state.num_players())]


# ------------------------------------------------------------------------------------------ registration and parameters


def test_every_game_of_the_registry_is_registered_with_every_field_of_its_config() -> None:
    registered = pyspiel.registered_names()
    for name in game_names():
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


def test_minus_one_stands_for_the_word_or_none() -> None:
    config = pyspiel.load_game("python_lama(max_rounds=-1,first_player=-1)").tree.game.config
    assert (config.max_rounds, config.first_player) == (None, "random")
    config = pyspiel.load_game("python_lama(max_rounds=3,first_player=1)").tree.game.config
    assert (config.max_rounds, config.first_player) == (3, 1)


def test_lists_are_numbers_in_brackets(tiny_deck: str) -> None:
    text = f"python_llama_llama(num_players=3,deck={tiny_deck},hand_size=2,pass_counts=[1 1 1 1],dummy_displays=[2])"
    config = pyspiel.load_game(text).tree.game.config
    assert config.pass_counts == (1, 1, 1, 1)
    assert config.marked_displays == (2,)
    assert config.cards == load_deck(tiny_deck, 1)
    assert pyspiel.load_game("python_llama_llama(dummy_displays=[])").tree.game is make_game("llama_llama")


def test_players_is_another_name_for_num_players() -> None:
    assert pyspiel.load_game("python_lama", {"players": 3}).num_players() == 3
    assert pyspiel.load_game("python_llama_llama(players=2)").num_players() == 2


def test_the_range_of_players_is_that_of_the_configs() -> None:
    ranges = {kind.short_name: (kind.min_num_players, kind.max_num_players) for kind in pyspiel.registered_games()}
    assert (ranges["python_lama"], ranges["python_llama_llama"]) == ((2, 6), (2, 4))


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("python_lama", {"num_players": 9}, "num_players must be an integer from 2 to 6, got 9."),
        ("python_lama", {"num_players": -1}, "num_players must be an integer from 2 to 6, got -1."),
        ("python_lama", {"reward": "luck"}, "reward must be one of 'win', 'score', 'rank', got 'luck'."),
        ("python_lama", {"single_round_terminates": True}, "needs max_rounds = 1"),
        ("python_llama_llama", {"pass_counts": "4-3-2-1"}, r"pass_counts must be numbers in brackets such as \[4 3"),
        ("python_llama_llama", {"pass_counts": "[4 3]"}, "pass_counts must be 4 integers from 1 to 7"),
        ("python_llama_llama", {"deck": "a,b"}, r"deck must be a word without , \( \) = that is no number, got 'a,b'."),
        ("python_llama_llama", {"deck": "32"}, "deck must be a word .* that is no number, got '32'."),
        ("python_llama_llama", {"deck": "nowhere"}, "nowhere"),
    ],
)
def test_a_wrong_parameter_is_one_sentence(name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pyspiel.load_game(name, parameters)


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
        state = spiel_game((f"{name}_v0", {"num_players": players})).new_initial_state()
        while not state.is_terminal():
            move(state, rng)
        shares = make_game(name, num_players=players).win_shares(state.position.state)[0][:players]
        winners = int((shares > 0).sum())
        best = (1 - (winners - 1) / (players - 1)) / winners
        expected = np.where(shares > 0, best, -1 / (players - 1))
        assert state.returns() == pytest.approx(expected.tolist())
    record("OpenSpiel", name, players, "works", "`python_lama`, `python_llama_llama`; tabular solvers on tiny decks")


def test_open_spiels_random_simulations_pass_on_tiny_games(tiny_deck: str, capfd: pytest.CaptureFixture[str]) -> None:
    for game in (pyspiel.load_game(TINY), tiny_llamas(tiny_deck, 2), tiny_llamas(tiny_deck, 3)):
        pyspiel.random_sim_test(game, 10, True, False)
        games_sim_test.GamesSimTest().sim_game(game)


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


def test_observations_tell_apart_what_one_seat_may_know_and_nothing_else() -> None:
    game = pyspiel.load_game(TINY)
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
            sign, scale = {"lama_v0": (-1, 10), "llama_llama_v0": (1, 50)}[case[0]]
            assert state.returns() == pytest.approx((sign * (total - others) / scale).tolist(), abs=1e-9)


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


def test_a_state_travels_to_a_process_that_imports_nothing_first() -> None:
    state = middle(pyspiel.load_game("python_llama_llama(num_players=3)"), 50, random.Random(7))
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
                worlds[other.position.state["hand"].tobytes() == state.position.state["hand"].tobytes()] += 1
                while not other.is_terminal():
                    move(other, rng)
            assert (str(state), strings(state)) == kept
    assert worlds[False] > 5


def test_a_pending_chance_event_is_not_looked_through() -> None:
    for name in game_names():
        state, rng = pyspiel.load_game(f"python_{name}").new_initial_state(), random.Random(10)
        while not state.is_terminal():
            if state.is_chance_node():
                with pytest.raises(ValueError, match="works where somebody is to move"):
                    state.resample_from_infostate(0, rng.random)
            move(state, rng)
        with pytest.raises(ValueError, match="works where somebody is to move"):
            state.resample_from_infostate(0, rng.random)


def test_information_set_search_runs_at_full_size() -> None:
    for name in game_names():
        game = pyspiel.load_game(f"python_{name}(num_players=2)")
        numbers = np.random.RandomState(0)
        bot = ismcts.ISMCTSBot(game, mcts.RandomRolloutEvaluator(1, numbers), 1.0, 20, random_state=numbers)
        state = middle(game, 1, random.Random(11))
        assert bot.step(state) in state.legal_actions()


# ------------------------------------------------------------------------------------------------------- perfect recall


class Recall:
    """Checks that strings and histories of own observations and actions stand for each other."""

    def __init__(self) -> None:
        self.string: dict[Any, str] = {}
        self.history: dict[str, Any] = {}

    def check(self, history: Any, string: str) -> None:
        assert self.string.setdefault(history, string) == string
        assert self.history.setdefault(string, history) == history


def playouts(game: Any, number: int, rng: random.Random) -> Recall:
    """Random games, each seat's history written down beside what OpenSpiel gives."""
    recall, repeated = Recall(), 0
    seats = range(game.num_players())
    for _ in range(number):
        state = game.new_initial_state()
        history: list[tuple[Any, ...]] = [(seat,) for seat in seats]
        while True:
            if not state.is_chance_node():
                for seat in seats:
                    seen = np.array(state.observation_tensor(seat), np.float32).tobytes()
                    history[seat] = (*history[seat], hash(seen))
                    string = state.information_state_string(seat)
                    repeated += history[seat] in recall.string
                    recall.check(history[seat], string)
            if state.is_terminal():
                break
            player = state.current_player()
            move(state, rng)
            if player >= 0:
                history[player] = (*history[player], ("did", state.history()[-1]))
    assert repeated > 0
    return recall


RECALLED = (
    (SMALL, 3500),
    (TINY, 3500),
    ("python_lama(num_players=3,num_ranks=2,copies=4,hand_size=2,max_rounds=2,chip_exchange=choice)", 600),
    ("python_lama(num_players=2,num_ranks=3,copies=2,hand_size=2,target_score=15,max_rounds=4,reward=score)", 600),
)


@pytest.mark.parametrize(("spec", "number"), RECALLED)
def test_equal_strings_are_equal_histories_of_cards_and_chips(spec: str, number: int) -> None:
    assert len(playouts(pyspiel.load_game(spec), number, random.Random(12)).string) > 50


@pytest.mark.parametrize(("num_players", "number"), [(2, 800), (3, 500), (4, 500)])
def test_equal_strings_are_equal_histories_of_passed_cards(tiny_deck: str, num_players: int, number: int) -> None:
    game = tiny_llamas(tiny_deck, num_players, num_rounds=1 if num_players == 2 else 2)
    assert len(playouts(game, number, random.Random(13)).string) > 50


# ---------------------------------------------------------------------------------------- brute force over the referees


class LamaTable:
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

    def after(self) -> dict[int, tuple[float, Callable[[], LamaTable]]]:
        """For each action or outcome its probability (1 for actions) and the position that follows."""
        options: list[tuple[int, float, int | str]] = [
            (outcome, float(chance), outcome) for outcome, chance in (self.referee.pending() or {}).items()
        ]
        options += [(self.index[name], 1.0, name) for name in self.referee.legal()]
        return {k: (p, lambda done=done: LamaTable(self.options, (*self.moves, done))) for k, p, done in options}

    def rewards(self) -> list[float]:
        return self.referee.rewards

    def sees(self, seat: int) -> Any:
        table = self.referee
        hands = tuple(sorted(table.hands[seat])), tuple(map(len, table.hands)), tuple(table.discard)
        chips = tuple(table.white), tuple(table.black), tuple(table.active)
        return hands, chips, table.phase, table.to_move, table.starter, table.last_actor


class LlamaLlamaTable:
    """The same for the other game."""

    def __init__(self, referee: LlamaLlamaReferee) -> None:
        self.referee = referee

    def player(self) -> int:
        pending = self.referee.pending() is not None
        return CHANCE if pending else OVER if self.referee.to_move is None else self.referee.to_move

    def after(self) -> dict[int, tuple[float, Callable[[], LlamaLlamaTable]]]:
        pending = self.referee.pending()
        if pending is not None:
            return {k: (float(p), lambda k=k: self.do("resolve", k)) for k, p in pending.items()}
        return {k: (1.0, lambda k=k: self.do("act", k)) for k in self.referee.legal()}

    def do(self, what: str, k: int) -> LlamaLlamaTable:
        referee = copy.copy(self.referee)
        for name, value in vars(referee).items():
            if isinstance(value, list) and name not in ("letters", "copies", "rules"):
                setattr(referee, name, copy.deepcopy(value))
        getattr(referee, what)(k)
        return LlamaLlamaTable(referee)

    def rewards(self) -> list[float]:
        return self.referee.rewards

    def sees(self, seat: int) -> Any:
        table = self.referee
        shown = tuple(table.goals_by_owner[table.display[display]] for display in range(table.revealed))
        own = table.goal_picks[seat], table.goals_by_owner[seat], tuple(table.hands[seat]), tuple(table.picks[seat])
        passed = tuple(map(tuple, table.passed[seat])), tuple(tuple(sorted(came)) for came in table.received[seat])
        neighbours = tuple(map(table.dummy_left_of, table.players))
        return shown, own, passed, table.phase, table.to_move, neighbours, tuple(table.totals)


@dataclass
class Node:
    """A node of the whole tree; ``key`` is the history of own observations and actions of the seat to move."""

    player: int
    key: Any
    paid: list[float]
    children: dict[int, tuple[float, Node]]


def whole_tree(table: Any, state: Any, recall: Recall, histories: tuple[Any, ...]) -> Node:
    """The tree of the referee, every node compared with OpenSpiel's."""
    player = table.player()
    assert state.current_player() == player
    if player != CHANCE:
        histories = tuple((*history, hash(table.sees(seat))) for seat, history in enumerate(histories))
    for seat, history in enumerate(histories):
        recall.check(history, state.information_state_string(seat))
    if player == OVER:
        assert state.returns() == pytest.approx(table.rewards(), abs=1e-12)
        return Node(player, None, state.returns(), {})
    following = table.after()
    assert state.legal_actions() == sorted(following)
    if player == CHANCE:
        assert dict(state.chance_outcomes()) == pytest.approx({k: p for k, (p, _) in following.items()})
    children = {}
    for k, (probability, go) in sorted(following.items()):
        known = histories
        if player >= 0:
            known = tuple((*h, ("did", k)) if seat == player else h for seat, h in enumerate(histories))
        children[k] = probability, whole_tree(go(), state.child(k), recall, known)
    return Node(player, histories[player] if player >= 0 else None, [], children)


Weights = Callable[[list[int]], list[float]]


def uniform(actions: list[int]) -> list[float]:
    return [1 / len(actions)] * len(actions)


def lopsided(actions: list[int]) -> list[float]:
    """Later actions likelier."""
    return [(action + 1) / sum(other + 1 for other in actions) for action in actions]


def first(actions: list[int]) -> list[float]:
    return [1.0] + [0.0] * (len(actions) - 1)


def branches(node: Node, weights: Weights) -> list[tuple[float, Node]]:
    if node.player == CHANCE:
        return list(node.children.values())
    chances = weights(sorted(node.children))
    return [(p, child) for p, (_, child) in zip(chances, node.children.values(), strict=True)]


def values(node: Node, weights: Weights) -> np.ndarray:
    """What each seat gets when all play by ``weights``."""
    if node.player == OVER:
        return np.array(node.paid)
    return np.sum([p * values(child, weights) for p, child in branches(node, weights) if p > 0], axis=0)


def best_value(root: Node, seat: int, weights: Weights) -> float:
    """What ``seat`` gets at best when the others play by ``weights``."""
    groups: dict[Any, list[tuple[float, Node]]] = defaultdict(list)
    choice: dict[Any, int] = {}

    def collect(node: Node, reach: float) -> None:
        if node.player == seat:
            groups[node.key].append((reach, node))
            for _, child in node.children.values():
                collect(child, reach)
        elif node.player != OVER:
            for p, child in branches(node, weights):
                collect(child, reach * p)

    def value(node: Node) -> float:
        if node.player == OVER:
            return node.paid[seat]
        if node.player != seat:
            return sum(p * value(child) for p, child in branches(node, weights) if p > 0)
        if node.key not in choice:
            nodes = groups[node.key]
            gains = {k: sum(reach * value(n.children[k][1]) for reach, n in nodes if reach > 0) for k in node.children}
            choice[node.key] = max(gains, key=gains.__getitem__)
        return value(node.children[choice[node.key]][1])

    collect(root, 1.0)
    return value(root)


def open_spiel_policy(game: Any, weights: Weights) -> Any:
    def probabilities(state: Any) -> dict[int, float]:
        actions = state.legal_actions()
        return dict(zip(actions, weights(actions), strict=True))

    return spiel_policy.tabular_policy_from_callable(game, probabilities)


def agree(game: Any, table: Any, information_sets: int, policies: tuple[Weights, ...]) -> list[float]:
    """Compare everything with brute force; returns NashConv for each of ``policies``."""
    seats = range(game.num_players())
    root = whole_tree(table, game.new_initial_state(), Recall(), tuple((seat,) for seat in seats))
    found = []
    for weights in policies:
        policy = open_spiel_policy(game, weights)
        assert len(policy.states) == information_sets
        expected = values(root, weights)
        got = expected_game_score.policy_value(game.new_initial_state(), [policy] * len(seats))
        assert got == pytest.approx(expected.tolist(), abs=1e-9)
        gains = [best_value(root, seat, weights) - expected[seat] for seat in seats]
        result = exploitability.nash_conv(game, policy, return_only_nash_conv=False)
        assert list(result.player_improvements) == pytest.approx(gains, abs=1e-9)
        assert min(result.player_improvements) >= -1e-9
        found.append(float(result.nash_conv))
    return found


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
    found = agree(
        game, LamaTable({f.name: getattr(config, f.name) for f in fields(config)}), information_sets, policies
    )
    assert found[0] == pytest.approx(found[0] if nash_conv is None else nash_conv, abs=1e-9)
    assert found[0] > 0.01


def llama_llama_table(game: Any) -> LlamaLlamaTable:
    config = game.tree.game.config
    options = {f.name: getattr(config, f.name) for f in fields(config) if f.name not in ("deck", "dummy_displays")}
    cards = config.cards.cards
    rules = [[(part.letters, part.points) for part in card.combinations] for card in cards]
    letters, copies = [card.letter for card in cards], [card.copies for card in cards]
    return LlamaLlamaTable(LlamaLlamaReferee(letters, copies, rules, **options))


@pytest.mark.parametrize(("num_players", "information_sets", "nash_conv"), [(2, 86, 0.0), (4, 152, 0.5)])
def test_solvers_agree_with_brute_force_on_passed_cards(
    tiny_deck: str, num_players: int, information_sets: int, nash_conv: float
) -> None:
    game = tiny_llamas(tiny_deck, num_players)
    found = agree(game, llama_llama_table(game), information_sets, (uniform,))
    assert found == [pytest.approx(nash_conv, abs=1e-9)]


def test_three_or_more_players_have_nash_conv_and_no_exploitability(tiny_deck: str) -> None:
    game = tiny_llamas(tiny_deck, 4)
    with pytest.raises(ValueError, match="2-player"):
        exploitability.exploitability(game, spiel_policy.UniformRandomPolicy(game))
    assert adapter.__doc__ is not None
    assert re.search(r"three or more players\s+there is no exploitability.*``nash_conv``", adapter.__doc__, re.DOTALL)
    assert "far beyond CFR, exploitability" in adapter.__doc__


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


def test_cfr_runs_on_passed_cards(tiny_deck: str) -> None:
    game = tiny_llamas(tiny_deck, 4)
    solver = cfr.CFRSolver(game)
    for _ in range(2):
        solver.evaluate_and_update_policy()
    assert 0 <= exploitability.nash_conv(game, solver.average_policy()) < 0.5


def test_cfr_and_exploitability_run_on_passed_cards_of_two(tiny_deck: str) -> None:
    game = tiny_llamas(tiny_deck, 2)
    solver = cfr.CFRSolver(game)
    solver.evaluate_and_update_policy()
    # whoever holds the only B, it is as likely to end with the one as with the other: nobody can gain or lose
    assert exploitability.exploitability(game, solver.average_policy()) == pytest.approx(0, abs=1e-9)


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
