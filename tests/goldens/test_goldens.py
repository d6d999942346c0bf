"""Golden games: rules, rewards, observations, actions and random stream of a version never change."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from llama_envs.core.registry import make_game, spec_of
from tests.cases import GAMES, cases_of
from tests.goldens.make import first_difference, path_of, play_game, read, write

ALL = {name: read(path_of(make_game(name))) for name in GAMES}
GOLDENS = ALL[GAMES[0]]


def name_of(case: tuple[str, dict[str, Any]]) -> str:
    name, golden = case
    return "-".join([name, *map(str, golden["options"].values()), str(golden["seed"])])


@pytest.mark.parametrize("case", [(name, golden) for name, games in ALL.items() for golden in games], ids=name_of)
def test_golden_game_is_played_as_written_down(case: tuple[str, dict[str, Any]]) -> None:
    name, golden = case
    now = play_game(make_game(name, **golden["options"]), golden["seed"])
    difference = first_difference(golden, now)
    assert difference is None, difference


@pytest.mark.parametrize("name", ALL)
def test_goldens_are_the_cases_and_hold_every_player_count(name: str) -> None:
    assert [(golden["options"], golden["seed"]) for golden in ALL[name]] == cases_of(name).GOLDENS
    assert {golden["options"]["num_players"] for golden in ALL[name]} == set(spec_of(name).players)
    assert all(d["action"] in d["legal"] for golden in ALL[name] for d in golden["decisions"])


@pytest.mark.parametrize("name", ALL)
def test_goldens_hold_every_action_and_both_ends(name: str) -> None:
    decisions = [decision for golden in ALL[name] for decision in golden["decisions"]]
    assert {d["action"] for d in decisions} == set(make_game(name, **cases_of(name).EVERY_ACTION).action_names)
    both = {(True, False), (False, True)} if cases_of(name).TRUNCATING else {(True, False)}
    assert {(g["final"]["terminated"], g["final"]["truncated"]) for g in ALL[name]} == both


@pytest.mark.parametrize("name", ALL)
def test_generator_writes_what_is_read_back(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}_v0.json"
    write(path, name, cases_of(name).GOLDENS)
    assert path.read_text() == path_of(make_game(name)).read_text()
    assert read(path) == ALL[name]


@pytest.mark.parametrize("key", ["seat", "seen", "legal", "action"])
def test_mismatch_names_the_first_decision_that_differs(key: str) -> None:
    changed = copy.deepcopy(GOLDENS[0])
    changed["decisions"][2][key] = changed["decisions"][3][key] = "something else"
    message = first_difference(GOLDENS[0], changed)
    assert message is not None
    assert message.startswith("decision 2 (")
    assert f"{key} was {GOLDENS[0]['decisions'][2][key]}, is something else" in message


def test_mismatch_in_rewards_length_or_end_is_noticed() -> None:
    paid, longer, ended = (copy.deepcopy(GOLDENS[0]) for _ in range(3))
    paid["decisions"][-1]["reward"][0] = 0.5
    longer["decisions"].append(longer["decisions"][0])
    ended["final"]["total"][0] += 1
    assert "reward was" in str(first_difference(GOLDENS[0], paid))
    assert "decisions, has" in str(first_difference(GOLDENS[0], longer))
    assert "the end was" in str(first_difference(GOLDENS[0], ended))
    assert first_difference(GOLDENS[0], copy.deepcopy(GOLDENS[0])) is None
