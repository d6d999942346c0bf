"""Options: defaults, and wrong ones refused in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from llama_envs import lama_v0
from llama_envs.core.registry import make_game
from llama_envs.lama.config import LamaConfig

Build = Callable[..., Any]


def make_batch(**options: Any) -> Any:
    return lama_v0.batch(2, seed=0, **options)


WAYS: dict[str, Build] = {
    "batch": make_batch,
    "env": lama_v0.env,
    "raw_env": lama_v0.raw_env,
    "parallel_env": lama_v0.parallel_env,
}

# options, and what the sentence must say besides the field's name
BAD: list[tuple[str, dict[str, Any], str]] = [
    *(("num_players", {"num_players": value}, "from 2 to 6") for value in (7, 1, 0, -1, 2.0, "2", True, np.True_, [2])),
    *(
        ("first_player", {"num_players": 3, "first_player": value}, "0 to 2.*'random'|'random'.*0 to 2")
        for value in (3, -1, "youngest", True, 1.0, None)
    ),
    *(("next_starter", {"next_starter": value}, "'last_actor', 'rotate'") for value in ("winner", 0, None, True)),
    *(("chip_return", {"chip_return": value}, "'choice', 'auto'") for value in ("never", True, None, ["auto"])),
    *(("chip_exchange", {"chip_exchange": value}, "'auto', 'choice'") for value in ("always", False, None)),
    *(
        ("target_score", {"target_score": value}, "from 1 to 10000")
        for value in (0, -40, 10_001, 40.0, "40", True, None)
    ),
    *(("max_rounds", {"max_rounds": value}, "from 1 to 10000 or None") for value in (0, -1, 10_001, 1.5, "3", True)),
    *(
        ("single_round_terminates", {"single_round_terminates": value}, "True or False")
        for value in (1, 0, "yes", None)
    ),
    *(
        ("single_round_terminates", {"single_round_terminates": True, "max_rounds": value}, "max_rounds = 1")
        for value in (None, 2)
    ),
    *(("num_ranks", {"num_ranks": value}, "from 2 to 7") for value in (1, 8, 7.0, "7", True, None)),
    *(("copies", {"copies": value}, "from 1 to 16") for value in (0, -8, 17, 8.0, "8", True, None)),
    *(("hand_size", {"hand_size": value}, "from 1 to") for value in (0, -6, 6.0, "6", True, None)),
    ("hand_size", {"num_players": 6, "hand_size": 10}, "at most 9.*6 hands.*56 cards, got 10"),
    ("hand_size", {"num_players": 4, "hand_size": 14}, "at most 13"),
    ("hand_size", {"num_players": 2, "num_ranks": 3, "copies": 3, "hand_size": 5}, "at most 4.*deck of 9"),
    *(("reward", {"reward": value}, "'win', 'score', 'rank'") for value in ("points", 0, None, True)),
]


@pytest.mark.parametrize(
    ("field", "options", "allowed"), BAD, ids=lambda value: str(value) if isinstance(value, dict) else ""
)
def test_wrong_option_is_refused_in_one_sentence(field: str, options: dict[str, Any], allowed: str) -> None:
    with pytest.raises(ValueError, match=allowed) as caught:
        make_batch(**options)
    message = str(caught.value)
    assert message.startswith(field)
    assert message.endswith(".")
    assert "\n" not in message
    assert message.count(". ") == 0
    assert repr(options[field]) in message or "max_rounds" in options


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"num_players": 7}, "num_players"),
        ({"num_players": 6, "hand_size": 10}, "hand_size"),
        ({"target_score": 0}, "target_score"),
        ({"copies": True}, "copies"),
    ],
)
def test_every_way_to_make_a_game_refuses_wrong_options(way: str, options: dict[str, Any], field: str) -> None:
    with pytest.raises(ValueError, match=f"^{field} must be"):
        WAYS[way](**options)


@pytest.mark.parametrize("way", WAYS)
def test_unknown_option_is_refused_with_the_known_ones(way: str) -> None:
    with pytest.raises(ValueError, match=r"unknown option 'hand_sise'; the options .*num_players.*hand_size.*reward"):
        WAYS[way](hand_sise=6)


def test_largest_deal_that_the_deck_allows_is_dealt() -> None:
    batch = make_batch(num_players=6, hand_size=9)
    assert (batch.state["stock_size"] == 1).all()
    batch = make_batch(num_players=5, hand_size=11)
    assert (batch.state["stock_size"] == 0).all()


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16])
def test_numpy_integers_are_options_too(kind: type) -> None:
    options = {"num_players": 3, "hand_size": 4, "target_score": 30, "max_rounds": 2, "first_player": 1}
    numpy_options = {name: kind(value) for name, value in options.items()}
    assert make_game("lama", **numpy_options) is make_game("lama", **options)
    batch = make_batch(**numpy_options)
    assert (batch.to_move == 1).all()


def test_defaults_are_the_rules_pages() -> None:
    assert LamaConfig() == LamaConfig(
        num_players=4, first_player="random", next_starter="last_actor", chip_return="choice", chip_exchange="auto",
        target_score=40, max_rounds=None, single_round_terminates=False, num_ranks=7, copies=8, hand_size=6,
        reward="win",
    )  # fmt: skip


def test_config_is_fixed_and_options_belong_to_one_game_only() -> None:
    with pytest.raises(AttributeError):
        LamaConfig().num_players = 3  # type: ignore[misc]
    four, two = make_batch(num_players=4), make_batch(num_players=2)
    assert (four.game.num_players, two.game.num_players) == (4, 2)
    four.reset()
    assert four.state["hand"].shape == (2, 4, 7)
    assert four.game.config == LamaConfig(num_players=4)
