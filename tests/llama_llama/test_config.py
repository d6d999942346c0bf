"""Options and what a game says of itself: defaults, equal ones, and wrong ones refused in one sentence."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest

from llama_envs.llama_llama.config import LlamaLlamaConfig
from llama_envs.llama_llama.deck import load_deck
from llama_envs.llama_llama.game import make_game
from llama_envs.llama_llama.state import STATE
from tests.llama_llama.tables import small_deck


def test_default_options_are_the_rulebook_game__P1_P3_P8() -> None:
    config = LlamaLlamaConfig()
    assert (config.num_players, config.pass_counts, config.hand_size) == (4, (4, 3, 2, 1), 8)
    assert (config.target_score, config.num_rounds, config.reward) == (100, 4, "win")
    assert config.deck == load_deck("reconstructed")
    assert dict(config.dummy_displays) == {3: (4,), 2: (3, 4)}  # type: ignore[arg-type]


def test_record_is_small_enough() -> None:
    assert STATE.itemsize <= 512


def test_game_is_described() -> None:
    game = make_game(LlamaLlamaConfig(num_players=3))
    assert (game.id, game.title, game.num_players, game.num_actions) == ("llama_llama_v0", "Llama Llama", 3, 12)
    assert game.action_names[0] == "choose A:ABCDEFG"
    assert game.simultaneous
    assert game.most_points_win
    assert game.max_chance_outcomes == 12
    assert pickle.loads(pickle.dumps(game)) is game
    assert copy.deepcopy(game) is game


def test_equal_configs_are_equal_however_written(tmp_path: Path) -> None:
    deck = load_deck("reconstructed")
    path = tmp_path / "mine.toml"
    path.write_text(deck.to_toml(), encoding="utf-8")
    one = LlamaLlamaConfig(num_players=3)
    for other in (
        LlamaLlamaConfig(num_players=3, deck=deck, pass_counts=[4, 3, 2, 1]),
        LlamaLlamaConfig(num_players=3, deck=str(path), dummy_displays={2: [4, 3], 3: [4]}),
        LlamaLlamaConfig(num_players=3, dummy_displays=((3, (4,)), (2, (3, 4)))),
        pickle.loads(pickle.dumps(one)),
    ):
        assert other == one
        assert hash(other) == hash(one)
        assert make_game(other) is make_game(one)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"num_players": 5}, "num_players must be an integer from 2 to 4, got 5."),
        ({"num_players": True}, "num_players must be an integer from 2 to 4, got True."),
        ({"hand_size": 9}, "hand_size must be an integer from 2 to 8, got 9."),
        ({"pass_counts": (4, 3, 2)}, "pass_counts must be 4 integers from 1 to 7 (a hand without its goal card)"),
        ({"pass_counts": (4, 3, 2, 8)}, "pass_counts must be 4 integers from 1 to 7"),
        ({"pass_counts": (4, 3, 2, 0)}, "pass_counts must be 4 integers from 1 to 7"),
        ({"pass_counts": "4321"}, "pass_counts must be 4 integers from 1 to 7"),
        ({"pass_counts": 4}, "pass_counts must be 4 integers from 1 to 7"),
        ({"num_players": 3, "dummy_displays": {3: (3, 4)}}, "for 3 players must name 1 distinct displays from 1 to 4"),
        ({"num_players": 2, "dummy_displays": {2: (3, 3)}}, "for 2 players must name 2 distinct displays from 1 to 4"),
        (
            {"num_players": 4, "dummy_displays": (3, 4)},
            "dummy_displays does not apply to 4 players, who have no dummies",
        ),
        ({"num_players": 2, "dummy_displays": {2: (3, 5)}}, "for 2 players must name 2 distinct displays from 1 to 4"),
        ({"num_players": 2, "dummy_displays": {3: (4,)}}, "dummy_displays must have an entry for 2 players"),
        ({"dummy_displays": {1: (4,)}}, "the number of players in dummy_displays must be an integer from 2 to 4"),
        ({"dummy_displays": 4}, "dummy_displays must look like {3: (4,), 2: (3, 4)}, got 4."),
        ({"target_score": 0}, "target_score must be an integer from 1 to 1000000, got 0."),
        ({"num_rounds": 0}, "num_rounds must be an integer from 1 to 100, got 0."),
        ({"reward": "money"}, "reward must be one of 'win', 'score', 'rank', got 'money'."),
        ({"deck": "nonesuch"}, "unknown deck"),
        (
            {"deck": small_deck((3, 4)), "hand_size": 2},
            "deck must have at least 8 cards, two for each of 4 hands, got 7.",
        ),
        (
            {"deck": small_deck((4, 4, 4)), "hand_size": 4},
            "hand_size must be from 2 to 3, so that 4 hands fit in a deck",
        ),
    ],
)
def test_bad_options_are_refused_in_one_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=r"\.$") as caught:
        LlamaLlamaConfig(**options)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
