"""Sequence form and CFR+: enumeration and NashConv agree with OpenSpiel, the value with a linear program and play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
import scipy.sparse
from open_spiel.python import policy as spiel_policy
from open_spiel.python.algorithms import expected_game_score, exploitability
from scipy.optimize import linprog

import llama_envs.adapters.open_spiel  # noqa: F401
from agents.sequence_form import (
    CFRPlus,
    SequenceForm,
    best_response,
    enumerate_game,
    game_values,
    nash_conv,
    normalised,
    strategy_of_deterministic,
    strategy_table,
    uniform_strategy,
)
from llama_envs.core.batch import Batch
from llama_envs.core.registry import make_game
from llama_envs.llama_llama.deck import Card, Combination, Deck
from llama_envs.policies import Players, Policy, make_policy
from llama_envs.policies.tabular import TabularPolicy, load_table, save_table
from tests.cases import CHECKOUT

ONE_ROUND = {"num_players": 2, "max_rounds": 1, "single_round_terminates": True, "first_player": 0}
SMALL = {**ONE_ROUND, "num_ranks": 2, "copies": 2, "hand_size": 1}
MIDDLE = {**ONE_ROUND, "num_ranks": 3, "copies": 2, "hand_size": 2, "reward": "score"}
TWO_ROUNDS = {**SMALL, "max_rounds": 2, "single_round_terminates": False, "reward": "score"}
THREE = {**SMALL, "num_players": 3}
TINY_LLAMAS = {"hand_size": 2, "pass_counts": (1, 1, 1, 1), "num_rounds": 1}


@pytest.fixture(scope="module")
def middle() -> SequenceForm:
    return enumerate_game(make_game("lama", **MIDDLE))


@pytest.fixture(scope="module")
def equilibrium(middle: SequenceForm) -> np.ndarray:
    return CFRPlus(middle).run(1e-4 * middle.payoff_range)


def lopsided(form: SequenceForm, seed: int) -> np.ndarray:
    """A random strategy that depends on the observation alone."""
    weight = np.random.default_rng(seed).random(len(form.action))
    return normalised(form, weight, form.slot)


# ------------------------------------------------------------------------------------------------- against OpenSpiel


def open_spiel_game(name: str, options: dict[str, Any], deck: str = "") -> Any:
    encoded = {key: "[1 1 1 1]" if key == "pass_counts" else value for key, value in options.items()}
    return pyspiel.load_game(f"python_{name}", {**encoded, **({"deck": deck} if deck else {})})


def walk(state: Any, sets: dict[str, int], nodes: list[int]) -> None:
    nodes[0] += 1
    if state.is_terminal():
        return
    if not state.is_chance_node():
        sets[state.information_state_string()] = state.current_player()
    for action in state.legal_actions():
        walk(state.child(action), sets, nodes)


def as_open_spiel_policy(game: Any, policy: TabularPolicy) -> Any:
    known = {
        (int(seat), observation.tobytes()): row
        for seat, observation, row in zip(
            policy.table.seat, policy.table.observation, policy.table.probabilities, strict=True
        )
    }

    def probabilities(state: Any) -> dict[int, float]:
        seat = state.current_player()
        row = known[seat, np.array(state.observation_tensor(seat), np.float32).tobytes()]
        return {action: row[action] for action in state.legal_actions()}

    return spiel_policy.tabular_policy_from_callable(game, probabilities)


@pytest.fixture(scope="module")
def deck_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("decks") / "ab8.toml"
    cards = (
        Card("A", (Combination("A", 1),), (Combination("B", 3),), 7),
        Card("B", (Combination("B", 2),), (Combination("A", 2),), 1),
    )
    path.write_text(Deck("ab8", cards, 8).to_toml())
    return str(path)


@pytest.mark.parametrize(
    ("name", "options", "seeds"),
    [
        pytest.param("lama", SMALL, (1, 2), id="small"),
        pytest.param("lama", MIDDLE, (3,), id="middle"),
        pytest.param("lama", TWO_ROUNDS, (4,), id="two rounds", marks=pytest.mark.exhaustive),
        pytest.param("lama", THREE, (5,), id="three seats"),
    ],
)
def test_histories_information_sets_values_and_nash_conv_are_those_of_open_spiel(
    name: str, options: dict[str, Any], seeds: tuple[int, ...]
) -> None:
    form, game = enumerate_game(make_game(name, **options)), open_spiel_game(name, options)
    check_against_open_spiel(form, game, seeds)


def test_passed_cards_are_those_of_open_spiel(deck_path: str) -> None:
    options = {"num_players": 4, **TINY_LLAMAS}
    form = enumerate_game(make_game("llama_llama", deck=deck_path, **options))
    check_against_open_spiel(form, open_spiel_game("llama_llama", options, deck_path), (6,))


def check_against_open_spiel(form: SequenceForm, game: Any, seeds: tuple[int, ...]) -> None:
    sets: dict[str, int] = {}
    nodes = [0]
    walk(game.new_initial_state(), sets, nodes)
    assert form.histories == nodes[0]
    assert form.num_sets == len(sets)
    assert np.bincount(form.seat).tolist() == np.bincount(list(sets.values())).tolist()
    for seed in seeds:
        strategy = lopsided(form, seed)
        policy = as_open_spiel_policy(game, TabularPolicy(strategy_table(form, strategy)))
        seats = [policy] * game.num_players()
        values = expected_game_score.policy_value(game.new_initial_state(), seats)
        assert game_values(form, strategy) == pytest.approx(np.asarray(values), abs=1e-9)
        assert nash_conv(form, strategy) == pytest.approx(exploitability.nash_conv(game, policy), abs=1e-9)


# ------------------------------------------------------------------------------------------------------------ solving


def value_by_linear_program(form: SequenceForm) -> float:
    """What seat 0 can be sure of, by the linear program of the sequence form (two seats, zero-sum)."""
    size = len(form.action)
    payoff = scipy.sparse.coo_matrix((form.payment[:, 0], (form.meeting[:, 0], form.meeting[:, 1])), (size, size))

    def constraints(seat: int) -> scipy.sparse.csr_matrix:
        """E x = e: a set's sequences carry on the weight of the sequence that leads to it."""
        sets = np.flatnonzero(form.seat == seat)
        rows, columns, entries = [0], [seat], [1.0]
        for row, i in enumerate(sets, start=1):
            for sequence in range(form.first[i], form.first[i + 1]):
                rows.append(row), columns.append(sequence), entries.append(1.0)
            rows.append(row), columns.append(form.parent[i]), entries.append(-1.0)
        return scipy.sparse.coo_matrix((entries, (rows, columns)), (len(sets) + 1, size)).tocsr()

    mine, theirs = constraints(0), constraints(1)
    # max q[0] over plans x and q with F' q <= A' x, E x = e
    bounds = [(0, None)] * size + [(None, None)] * theirs.shape[0]
    result = linprog(
        -np.eye(1, size + theirs.shape[0], size)[0],
        A_ub=scipy.sparse.hstack([-payoff.T, theirs.T]).tocsr(),
        b_ub=np.zeros(size),
        A_eq=scipy.sparse.hstack([mine, scipy.sparse.csr_matrix((mine.shape[0], theirs.shape[0]))]).tocsr(),
        b_eq=np.eye(1, mine.shape[0])[0],
        bounds=bounds,
    )
    assert result.status == 0
    return float(-result.fun)


def test_the_solved_value_is_that_of_the_linear_program(middle: SequenceForm, equilibrium: np.ndarray) -> None:
    value = value_by_linear_program(middle)
    assert 0.1 < value < 0.3
    bound = nash_conv(middle, equilibrium)
    assert game_values(middle, equilibrium)[0] == pytest.approx(value, abs=bound + 1e-9)
    assert -best_response(middle, equilibrium, 1).value <= value <= best_response(middle, equilibrium, 0).value


def test_nash_conv_falls_below_a_thousandth_of_the_payoff_range(middle: SequenceForm, equilibrium: np.ndarray) -> None:
    before = nash_conv(middle, uniform_strategy(middle)) / middle.payoff_range
    assert before > 0.4
    assert 0 <= nash_conv(middle, equilibrium) / middle.payoff_range < 1e-4


def test_whoever_opens_the_smallest_game_wins_it() -> None:
    form = enumerate_game(make_game("lama", **SMALL))
    assert game_values(form, CFRPlus(form).run(1e-6)).tolist() == pytest.approx([1, -1], abs=1e-6)


def test_kuhn_poker_of_another_package_is_worth_minus_an_eighteenth_to_the_first_player(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(CHECKOUT / "tests" / "third_party")
    from kuhn_poker.game import Config
    from kuhn_poker.game import make_game as make_kuhn

    form = enumerate_game(make_kuhn(Config()))
    assert (form.num_sets, form.histories) == (12, 58)  # Kuhn 1950: 12 information sets; 30 ends, 24 decisions, 4 deals
    strategy = CFRPlus(form).run(1e-5)
    assert game_values(form, strategy)[0] == pytest.approx(-1 / 18, abs=1e-4)


def test_with_perfect_recall_cfr_goes_on_below_what_the_latest_observation_allows() -> None:
    form = enumerate_game(make_game("lama", **{**MIDDLE, "num_ranks": 4}))
    assert form.num_cells < form.num_sets / 4
    found = {}
    for by_observation in (False, True):
        solver = CFRPlus(form, by_observation)
        solver.iterate(200)
        found[by_observation] = nash_conv(form, solver.average()) / form.payoff_range
    assert found[False] < 1e-4
    assert found[False] < found[True] < 1e-3
    recalling = CFRPlus(form, by_observation=False)
    recalling.iterate(50)
    with pytest.raises(ValueError, match="depends on more than the latest observation"):
        strategy_table(form, recalling.average())


def test_nobody_gains_against_the_equilibrium_and_the_best_response_gains_most(
    middle: SequenceForm, equilibrium: np.ndarray
) -> None:
    rivals = [uniform_strategy(middle), *(lopsided(middle, seed) for seed in range(5))]
    rivals.append(strategy_of_deterministic(middle, make_policy("heuristic", middle.game)))
    replies = [best_response(middle, equilibrium, seat).strategy for seat in (0, 1)]
    value, bound = game_values(middle, equilibrium), nash_conv(middle, equilibrium)
    owner = np.concatenate([[0, 1], middle.seat[middle.set_of[2:]]])
    for rival in rivals:
        assert nash_conv(middle, rival) > 0.05
        for seat in (0, 1):
            mixed = np.where(owner == seat, equilibrium, rival)
            paid = game_values(middle, mixed)[seat]
            best = best_response(middle, rival, seat)
            assert paid >= value[seat] - bound - 1e-12
            assert paid <= best.value + 1e-12
            assert game_values(middle, best.strategy)[seat] == pytest.approx(best.value, abs=1e-12)
    for seat, reply in enumerate(replies):  # even the best that the other can do takes no more than the bound
        assert value[1 - seat] - bound - 1e-12 <= game_values(middle, reply)[1 - seat] <= value[1 - seat]


def test_two_enumerations_are_the_same_bit_by_bit(middle: SequenceForm) -> None:
    again = enumerate_game(middle.game)
    for name in ("seat", "parent", "first", "action", "observation", "cell", "slot", "meeting", "payment"):
        assert np.array_equal(getattr(middle, name), getattr(again, name)), name
    assert (middle.histories, middle.positions) == (again.histories, again.positions)
    assert middle.positions < middle.histories / 2  # the order in which cards are dealt to a hand is nobody's to know


def test_a_game_too_large_to_enumerate_is_refused() -> None:
    with pytest.raises(ValueError, match="too large: more than 1,000 positions"):
        enumerate_game(make_game("lama", num_players=2, max_rounds=1), most_positions=1000)


def test_a_strategy_at_three_seats_is_measured_by_what_each_could_gain() -> None:
    form = enumerate_game(make_game("lama", **THREE))
    strategy = uniform_strategy(form)
    gains = [best_response(form, strategy, seat).value for seat in range(3)] - game_values(form, strategy)
    assert (gains >= 0).all()
    assert nash_conv(form, strategy) == pytest.approx(gains.sum())


# -------------------------------------------------------------------------------------------------- the loaded policy


def paid_to_first_seat(form: SequenceForm, policies: list[Policy], deals: int) -> tuple[float, float]:
    """Mean reward of seat 0 over games in a Batch, and half its 99.9 % interval."""
    batch = Batch(form.game, deals, 11)
    paid = np.zeros(deals, np.float32)
    Players(batch, policies, np.tile([0, 1], (deals, 1)), 12).play(np.zeros(deals, np.int64), paid)
    return float(paid.mean()), float(3.3 * paid.std(ddof=1) / np.sqrt(deals))


def test_the_loaded_policy_gets_the_value_against_itself_and_no_less_against_others(
    middle: SequenceForm, equilibrium: np.ndarray, tmp_path: Path
) -> None:
    path = tmp_path / "equilibrium.npz"
    save_table(path, middle.game, strategy_table(middle, equilibrium))
    assert len(load_table(path, middle.game)) == middle.num_cells
    solved = make_policy(f"tabular:{path}", middle.game)
    value = game_values(middle, equilibrium)[0]
    mean, half = paid_to_first_seat(middle, [solved, solved], 60_000)
    assert half < 0.02
    assert abs(mean - value) < half
    others: list[Policy] = [make_policy(name, middle.game) for name in ("random", "heuristic", "mc:10")]
    for other, deals in zip(others, (20_000, 20_000, 2_000), strict=True):
        mean, half = paid_to_first_seat(middle, [solved, other], deals)
        assert mean > value - half
        mean, half = paid_to_first_seat(middle, [other, solved], deals)
        assert mean < value + half
