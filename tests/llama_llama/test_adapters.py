"""Llama Llama in OpenSpiel: tiny games solved a second time by brute force over the referee."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pyspiel
import pytest
from open_spiel.python import policy as spiel_policy
from open_spiel.python.algorithms import cfr, exploitability
from open_spiel.python.tests import games_sim_test

import llama_envs.adapters.open_spiel as adapter
from llama_envs.core.registry import make_game
from llama_envs.llama_llama.deck import Card, Combination, Deck, load_deck
from tests.adapters.spiel import CHANCE, OVER, agree, playouts, uniform
from tests.oracles.llama_llama import LlamaLlamaReferee


@pytest.fixture(scope="session")
def tiny_deck(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a deck of eight cards: seven A, and one B that is worth having and worth showing."""
    first = Card("A", (Combination("A", 1),), (Combination("B", 5),), 7)
    second = Card("B", (Combination("B", 2),), (Combination("A", 3),), 1)
    path = tmp_path_factory.mktemp("decks") / "tiny.toml"
    path.write_text(Deck("tiny", (first, second), 8).to_toml())
    return str(path)


def tiny(deck: str, num_players: int, **options: Any) -> Any:
    parameters = {"hand_size": 2, "pass_counts": "[1 1 1 1]", "num_rounds": 1, **options}
    return pyspiel.load_game("python_llama_llama", {"num_players": num_players, "deck": deck, **parameters})


class Table:
    """A position of the plain-Python referee: who is to move, what can happen, what a seat sees."""

    def __init__(self, referee: LlamaLlamaReferee) -> None:
        self.referee = referee

    def player(self) -> int:
        pending = self.referee.pending() is not None
        return CHANCE if pending else OVER if self.referee.to_move is None else self.referee.to_move

    def after(self) -> dict[int, tuple[float, Callable[[], Table]]]:
        pending = self.referee.pending()
        if pending is not None:
            return {k: (float(p), lambda k=k: self.do("resolve", k)) for k, p in pending.items()}
        return {k: (1.0, lambda k=k: self.do("act", k)) for k in self.referee.legal()}

    def do(self, what: str, k: int) -> Table:
        referee = copy.copy(self.referee)
        for name, value in vars(referee).items():
            if isinstance(value, list) and name not in ("letters", "copies", "rules"):
                setattr(referee, name, copy.deepcopy(value))
        getattr(referee, what)(k)
        return Table(referee)

    def rewards(self) -> list[float]:
        return self.referee.rewards

    def sees(self, seat: int) -> Any:
        table = self.referee
        shown = tuple(table.goals_by_owner[table.display[display]] for display in range(table.revealed))
        own = table.goal_picks[seat], table.goals_by_owner[seat], tuple(table.hands[seat]), tuple(table.picks[seat])
        passed = tuple(map(tuple, table.passed[seat])), tuple(tuple(sorted(came)) for came in table.received[seat])
        neighbours = tuple(map(table.dummy_left_of, table.players))
        return shown, own, passed, table.phase, table.to_move, neighbours, tuple(table.totals)


def table_of(game: Any) -> Table:
    config = game.tree.game.config
    options = {
        f.name: getattr(config, f.name) for f in fields(config) if f.name not in ("deck", "dummy_displays", "history")
    }
    cards = config.cards.cards
    rules = [[(part.letters, part.points) for part in card.combinations] for card in cards]
    letters, copies = [card.letter for card in cards], [card.copies for card in cards]
    return Table(LlamaLlamaReferee(letters, copies, rules, **options))


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
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


def test_open_spiels_random_simulations_pass_on_tiny_games(tiny_deck: str, capfd: pytest.CaptureFixture[str]) -> None:
    for game in (tiny(tiny_deck, 2), tiny(tiny_deck, 3)):
        pyspiel.random_sim_test(game, 10, True, False)
        games_sim_test.GamesSimTest().sim_game(game)


def test_lists_are_numbers_in_brackets(tiny_deck: str) -> None:
    text = f"python_llama_llama(num_players=3,deck={tiny_deck},hand_size=2,pass_counts=[1 1 1 1],dummy_displays=[2])"
    config = pyspiel.load_game(text).tree.game.config
    assert config.pass_counts == (1, 1, 1, 1)
    assert config.marked_displays == (2,)
    assert config.cards == load_deck(tiny_deck, 1)
    assert pyspiel.load_game("python_llama_llama(dummy_displays=[])").tree.game is make_game("llama_llama")


@pytest.mark.parametrize(("num_players", "number"), [(2, 800), (3, 500), (4, 500)])
def test_equal_strings_are_equal_histories_of_passed_cards(tiny_deck: str, num_players: int, number: int) -> None:
    game = tiny(tiny_deck, num_players, num_rounds=1 if num_players == 2 else 2)
    assert len(playouts(game, number, random.Random(13)).string) > 50


@pytest.mark.parametrize(("num_players", "information_sets", "nash_conv"), [(2, 86, 0.0), (4, 152, 0.5)])
def test_solvers_agree_with_brute_force_on_passed_cards(
    tiny_deck: str, num_players: int, information_sets: int, nash_conv: float
) -> None:
    game = tiny(tiny_deck, num_players)
    found = agree(game, table_of(game), information_sets, (uniform,))
    assert found == [pytest.approx(nash_conv, abs=1e-9)]


def test_three_or_more_players_have_nash_conv_and_no_exploitability(tiny_deck: str) -> None:
    game = tiny(tiny_deck, 4)
    with pytest.raises(ValueError, match="2-player"):
        exploitability.exploitability(game, spiel_policy.UniformRandomPolicy(game))
    assert adapter.__doc__ is not None
    assert re.search(r"three or more players\s+there is no exploitability.*``nash_conv``", adapter.__doc__, re.DOTALL)
    assert "far beyond CFR, exploitability" in adapter.__doc__


def test_cfr_runs_on_passed_cards(tiny_deck: str) -> None:
    game = tiny(tiny_deck, 4)
    solver = cfr.CFRSolver(game)
    for _ in range(2):
        solver.evaluate_and_update_policy()
    assert 0 <= exploitability.nash_conv(game, solver.average_policy()) < 0.5


def test_cfr_and_exploitability_run_on_passed_cards_of_two(tiny_deck: str) -> None:
    game = tiny(tiny_deck, 2)
    solver = cfr.CFRSolver(game)
    solver.evaluate_and_update_policy()
    # whoever holds the only B, it is as likely to end with the one as with the other: nobody can gain or lose
    assert exploitability.exploitability(game, solver.average_policy()) == pytest.approx(0, abs=1e-9)
