"""Games are known by their specs: those of the package, those of installed packages, those of a running program."""

from __future__ import annotations

import copy
import dataclasses
import warnings
from importlib.metadata import EntryPoint

import gymnasium
import pettingzoo
import pytest
from pettingzoo.env_registry import registration

import llama_envs  # noqa: F401  (registers the ids)
from llama_envs.core import registry
from llama_envs.core.registry import (
    config_type,
    game_names,
    game_specs,
    make_game,
    on_registration,
    register_game,
    spec_of,
)
from llama_envs.core.spec import GameSpec
from tests.cases import FIRST_CASES, GAMES, each_game

FIRST = FIRST_CASES[0].values[0][0]


@pytest.fixture
def put_back(monkeypatch):
    """Specs, listeners and ids as they were."""
    monkeypatch.setattr(registry, "_ADDED", dict(registry._ADDED))
    monkeypatch.setattr(registry, "_LISTENERS", list(registry._LISTENERS))
    ids = (gymnasium.registry, registration.aec_registry, registration.parallel_registry)
    before = [dict(each) for each in ids]
    yield
    for each, kept in zip(ids, before, strict=True):
        each.clear()
        each.update(kept)


def another(name="another", **changes):
    """The first game under another name."""
    plain = {"name": name, "title": "Another", "gymnasium_id": f"somewhere/{name.title()}-v0", "baselines": None}
    return dataclasses.replace(spec_of(FIRST), **{**plain, **changes})


@each_game
def test_a_spec_says_what_holds_of_every_configuration(case):
    spec = spec_of(case[0])
    assert spec.config is config_type(case[0])
    assert spec.id == f"{spec.name}_v{spec.version}"
    assert spec.pettingzoo_id == f"llama_envs/{spec.id}"
    assert spec.gymnasium_id in gymnasium.registry
    for players in spec.players:
        assert make_game(case[0], num_players=players).spec is spec
    for players in (spec.players[0] - 1, spec.players[-1] + 1):
        with pytest.raises(ValueError, match=r"^num_players must be"):
            make_game(case[0], num_players=players)
    assert sorted(spec.players) == list(spec.players)


def test_specs_and_names_are_in_the_same_order_and_those_of_the_package_come_first():
    assert [spec.name for spec in game_specs()] == game_names()
    assert game_names()[: len(GAMES)] == sorted(GAMES)


def test_an_unknown_game_is_named_with_those_that_are_known():
    for ask in (spec_of, config_type, make_game):
        with pytest.raises(ValueError, match=rf"^there is no game named 'nothing'; the games are {GAMES[0]}, .*\.$"):
            ask("nothing")


def test_a_registered_game_is_known_with_its_ids_and_listeners_are_told_once(put_back):
    told = []
    on_registration(told.append)
    assert told == game_specs()
    spec = another()
    register_game(spec)
    register_game(spec)  # again changes nothing
    assert told[-1] is spec
    assert told.count(spec) == 1
    assert spec_of("another") is spec
    assert game_names()[-1] == "another"
    env = gymnasium.make("somewhere/Another-v0")
    assert env.reset(seed=1)[1]["seat"] >= 0
    assert pettingzoo.make("aec", "somewhere/another_v0", num_players=2).unwrapped.game.config.num_players == 2


@pytest.mark.parametrize("name", ["Another", "an-other", "an other", "", "2nd"])
def test_a_name_that_is_no_python_name_in_small_letters_is_refused(name, put_back):
    with pytest.raises(ValueError, match=r"name.*\.$"):
        register_game(another(name))
    assert name not in game_names()


@each_game
def test_the_name_of_another_game_is_refused(case, put_back):
    with pytest.raises(ValueError, match=rf"^there is already a game named '{case[0]}'\.$"):
        register_game(another(case[0]))


def test_fields_given_as_text_are_imported_when_they_are_read():
    lazy = GameSpec("g", "G", "n/G-v0", (2,), config="not_there:Config", make_game="llama_envs.core.registry:make_game")
    assert lazy.make_game is make_game
    assert lazy.heuristic is None
    with pytest.raises(ModuleNotFoundError, match="not_there"):
        lazy.config  # noqa: B018
    assert copy.copy(lazy).make_game is make_game


@pytest.fixture
def installed(monkeypatch):
    """What installed packages offer is what a test says."""

    def offer(**points):
        registry._installed.cache_clear()
        offered = [EntryPoint(name, value, registry.GROUP) for name, value in points.items()]
        monkeypatch.setattr(registry, "entry_points", lambda group: offered if group == "llama_envs.games" else [])
        return registry._installed()

    yield offer
    monkeypatch.undo()
    registry._installed.cache_clear()


SPEC = another()
NOT_A_SPEC = object()
TAKEN = another(FIRST)


def test_games_of_installed_packages_are_found_by_themselves(installed):
    assert list(installed(more=f"{__name__}:SPEC")) == [*sorted(GAMES), "another"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("not_there:SPEC", "cannot be loaded: No module named 'not_there'"),
        (f"{__name__}:NOT_THERE", "cannot be loaded: .*has no attribute 'NOT_THERE'"),
        (f"{__name__}:NOT_A_SPEC", "is left out: it is no GameSpec"),
        (f"{__name__}:TAKEN", f"is left out: its name '{FIRST}' is taken"),
    ],
)
def test_a_package_whose_game_cannot_be_used_is_a_warning_and_the_others_are_there(installed, value, problem):
    with pytest.warns(UserWarning, match=problem):
        assert list(installed(more=value)) == sorted(GAMES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        registry._installed()  # said once
