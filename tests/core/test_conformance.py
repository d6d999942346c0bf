"""Both games conform to the kit for whoever writes a game, in every configuration and with a history of events."""

from __future__ import annotations

import pytest

from llama_envs.core.registry import make_game
from llama_envs.testing import CHECKS, check_game
from tests.cases import CASES, GAMES

WITH_HISTORY = [pytest.param((name, {"num_players": 3, "history": 2}), id=f"{name}-history=2") for name in GAMES]
SMALL = {"num_players": 2, "num_ranks": 2, "copies": 2, "hand_size": 1, "max_rounds": 1}


@pytest.mark.parametrize("case", [*CASES, *WITH_HISTORY])
def test_the_game_conforms(case):
    name, config = case
    report = check_game(make_game(name, **config), games=40)
    assert len(report.checked) >= len(CHECKS) - 1
    assert set(report.left_out.values()) <= {"the game has more than 20,000 histories"}


def test_a_game_small_enough_to_enumerate_conforms_in_that_too():
    report = check_game(make_game("lama", **SMALL), games=40)
    assert len(report.checked) == len(CHECKS), report.left_out
