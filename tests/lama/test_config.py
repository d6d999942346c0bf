"""Wrong options are refused in one sentence; chance follows its probabilities; the same games without a compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.lama.tables import chi_square_p, table
from tests.lama.trace import trace

from llama_envs import lama_v0
from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.registry import make_game
from llama_envs.lama.config import LamaConfig

Build = Callable[..., Any]


def make_batch(**options: Any) -> Any:
    return lama_v0.batch(2, seed=0, **options)


DOORS: dict[str, Build] = {
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


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"num_players": 7}, "num_players"),
        ({"num_players": 6, "hand_size": 10}, "hand_size"),
        ({"target_score": 0}, "target_score"),
        ({"copies": True}, "copies"),
    ],
)
def test_every_door_refuses_wrong_options(door: str, options: dict[str, Any], field: str) -> None:
    with pytest.raises(ValueError, match=f"^{field} must be"):
        DOORS[door](**options)


@pytest.mark.parametrize("door", DOORS)
def test_unknown_option_is_refused_with_the_known_ones(door: str) -> None:
    with pytest.raises(ValueError, match=r"unknown option 'hand_sise'; the options .*num_players.*hand_size.*reward"):
        DOORS[door](hand_sise=6)


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


# ---- chance ----


def deal_to(number_of_cards: int, **options: Any) -> Batch:
    """One game in which so many cards of the first deal have been dealt, always a likeliest one."""
    batch = lama_v0.batch(1, seed=0, **options)
    game, state, params = batch.game, batch._states[0], batch._params[0]
    game.rules.start_game(state, params)
    for _ in range(number_of_cards):
        probabilities = outcomes(batch)
        game.rules.apply_chance(state, params, int(np.argmax(probabilities)))
    return batch


def outcomes(batch: Batch) -> np.ndarray:
    """Probabilities of the pending chance event."""
    out = np.full(batch.game.max_chance_outcomes, np.nan)
    count = batch.game.rules.chance_outcomes(batch._states[0], batch._params[0], out)
    assert np.isnan(out[count:]).all()
    return out[:count]


def draw_pending(**options: Any) -> Batch:
    batch = table("3 3", "4 4", top="1", stock="1 1 1 2 5 5 L L L L", **options)
    batch.game.rules.apply(batch._states[0], batch._params[0], batch.game.action_id("draw"))
    return batch


PENDING: dict[str, Callable[[], Batch]] = {
    "who opens, 2 seats": lambda: deal_to(0, num_players=2),
    "who opens, 6 seats": lambda: deal_to(0, num_players=6),
    "the first card": lambda: deal_to(1, num_players=3),
    "a card in the middle of the deal": lambda: deal_to(14, num_players=3),
    "the first discard": lambda: deal_to(19, num_players=3),
    "a card of a small deck": lambda: deal_to(3, num_players=2, num_ranks=2, copies=4, hand_size=2, first_player=0),
    "a drawn card": draw_pending,
}


@pytest.mark.parametrize("event", PENDING)
def test_probabilities_of_a_chance_event_sum_to_one(event: str) -> None:
    probabilities = outcomes(PENDING[event]())
    assert (probabilities >= 0).all()
    assert probabilities.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("event", PENDING)
def test_sampled_outcomes_follow_their_probabilities(event: str) -> None:
    batch = PENDING[event]()
    before = batch.state.tobytes()
    probabilities = outcomes(batch)
    streams = policy_streams(1, 21)
    drawn = [batch.game.rules.sample_chance(batch._states[0], batch._params[0], streams, 0) for _ in range(20_000)]
    assert batch.state.tobytes() == before  # looking at chance resolves nothing
    observed = np.bincount(drawn, minlength=len(probabilities))
    possible = probabilities > 0
    assert not observed[~possible].any()
    assert chi_square_p(observed[possible], 20_000 * probabilities[possible]) > 0.001


def test_drawn_card_is_as_likely_as_its_share_of_the_stock__L7() -> None:
    assert outcomes(draw_pending()).tolist() == [0.3, 0.1, 0, 0, 0.2, 0, 0.4]


def test_probabilities_sum_to_one_at_every_event_of_random_games() -> None:
    for options in ({"num_players": 6}, {"num_players": 2, "num_ranks": 2, "copies": 2, "hand_size": 1}):
        batch = lama_v0.batch(1, seed=3, **options)
        game, state, params, streams = batch.game, batch._states[0], batch._params[0], policy_streams(1, 4)
        for _ in range(10):
            game.rules.start_game(state, params)
            while not (state["terminated"] or state["truncated"]):
                if state["chance"]:
                    assert outcomes(batch).sum() == pytest.approx(1, abs=1e-12)
                    outcome = game.rules.sample_chance(state, params, streams, 0)
                    assert outcomes(batch)[outcome] > 0
                    game.rules.apply_chance(state, params, outcome)
                else:
                    batch.refresh()
                    game.rules.apply(state, params, batch.sample_actions(streams)[0])


# ---- the same without a compiler ----

TRACE = Path(__file__).with_name("lama_trace.py")
BLOCK_NUMBA = """
import runpy, sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ImportError(name + " is not to be imported")
sys.meta_path.insert(0, Blocker())
sys.argv = [sys.argv[1], "--without-numba"]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(*arguments: str, **environment: str) -> str:
    """Output of a fresh interpreter in which every warning is an error."""
    root = TRACE.parent.parent.parent
    variables = {**os.environ, "PYTHONPATH": str(root), **environment}
    command = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_plain_python_plays_the_same_games_as_compiled_code() -> None:
    assert run(str(TRACE), NUMBA_DISABLE_JIT="1") == f"plain {trace()}"


def test_without_numba_the_same_games_are_played() -> None:
    assert run("-c", BLOCK_NUMBA, str(TRACE)) == f"plain {trace()}"


def test_fresh_interpreter_plays_the_same_games() -> None:
    assert run(str(TRACE), PYTHONHASHSEED="7") == f"compiled {trace()}"
