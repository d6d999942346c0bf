"""The agents that ship: their files, what they say of themselves, and how well they play."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest
from llama_envs.policies.baseline import FOLDER, model_file
from llama_envs.policies.policy import make_policy

import agents  # noqa: F401
from agents.ppo import load_ppo, load_state_dict, read_model
from experiments import baselines
from experiments.evaluate import evaluate, play
from llama_envs.core.registry import make_game

PROMISED = [("lama", 2), ("lama", 3), ("lama", 4), ("lama", 6), ("llama_llama", 2), ("llama_llama", 3),
            ("llama_llama", 4)]  # fmt: skip
BARS = {("lama", 2): 0.56, ("lama", 4): 0.33}  # win share against heuristics, equal play being 1 / players


@pytest.mark.parametrize("case", PROMISED, ids=lambda case: f"{case[0]}-{case[1]}")
def test_every_promised_baseline_is_small_and_says_how_it_was_made(case: tuple[str, int]) -> None:
    path = model_file(*case)
    assert path.stat().st_size <= 2_000_000
    record = json.loads(path.with_suffix(".json").read_text())
    assert record["bytes"] == path.stat().st_size
    assert record["minutes"] <= 30
    assert record["game"] == make_game(case[0], num_players=case[1]).id
    assert {"python", "numpy", "numba", "torch", "stable-baselines3", "sb3-contrib"} <= set(record["versions"])
    recipe = baselines.commands(path.stem, baselines.Options(seed=record["seed"]))
    assert record["commands"] == [f"python -m {shlex.join(words)}" for words in recipe]


@pytest.mark.parametrize("case", PROMISED, ids=lambda case: f"{case[0]}-{case[1]}")
def test_baseline_beats_the_heuristic_in_every_seat_count(case: tuple[str, int]) -> None:
    game = make_game(case[0], num_players=case[1])
    frame, _ = evaluate(game, ["baseline", *["heuristic"] * (case[1] - 1)], 1000 if case[0] == "lama" else 500, 99)
    share, half = frame["win_share"][0], frame["win_share_95"][0]
    assert frame["truncated"][0] == 0
    assert share - half > 1 / case[1]
    assert share > BARS.get(case, 0)


def test_files_are_the_policies_of_their_games_and_no_others() -> None:
    assert {path.stem for path in FOLDER.glob("*.zip")} == {model_file(*case).stem for case in PROMISED}
    for case in PROMISED:
        made_for, weights = read_model(model_file(*case))
        assert (made_for["game"], made_for["num_players"]) == case
        assert all(np.isfinite(tensor.numpy()).all() for tensor in load_state_dict(weights).values())


def test_baseline_is_the_ppo_policy_of_its_file() -> None:
    game = make_game("lama", num_players=3)
    ours, theirs = make_policy("baseline", game), load_ppo(model_file("lama", 3), game)
    shared = [play(game, [policy, *[make_policy("heuristic", game)] * 2], 50, 3).score for policy in (ours, theirs)]
    np.testing.assert_array_equal(*shared)


def test_without_a_baseline_for_the_players_one_sentence_lists_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"no baseline ships for lama_v0 with 5 players; .*lama_4p.*\.$"):
        make_policy("baseline", make_game("lama", num_players=5))


def test_other_options_that_change_the_observation_are_refused() -> None:
    with pytest.raises(ValueError, match="observation"):
        make_policy("baseline", make_game("lama", num_players=4, target_score=60))


def test_an_argument_is_refused() -> None:
    with pytest.raises(ValueError, match="takes no argument, got 'x'"):
        make_policy("baseline:x", make_game("lama", num_players=4))
