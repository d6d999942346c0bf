"""Training with RLlib on a local Ray: masks, sample counts, the league, the command, and evaluation over tasks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from tests.cases import CHECKOUT, GAMES

pytest.importorskip("ray.rllib", reason="Ray has its own environment: run `make test-ray`")

import ray
import ray.cloudpickle
import torch
from ray.rllib.algorithms.ppo import PPOConfig

from experiments import train_rllib
from llama_envs.adapters.rllib import League, RLlibEnv, configure, masked_modules
from llama_envs.cli.on_ray import ray_map
from llama_envs.core.registry import game_names, make_game
from llama_envs.evaluation import compare, play
from llama_envs.evaluation.tournament import make_plan, run_tournament
from llama_envs.evaluation.workers import in_thread
from llama_envs.policies.network import describe, load_policy, load_value, read_policy, write_policy

ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # Ray's workers cannot import the tests
SMALL = {"minibatch_size": 64, "num_epochs": 1, "train_batch_size_per_learner": 200}
TINY = ["--layers", "16", "--train-batch-size", "200", "--batch-size", "64", "--n-epochs", "1", "--num-envs", "2",
        "--snapshots", "1", "--snapshot-every", "1", "--checkpoint-every", "1"]  # fmt: skip


@pytest.fixture(scope="module")
def local_ray(ray_folder):
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, _temp_dir=ray_folder)
    yield
    ray.shutdown()


class CountingEnv(RLlibEnv):
    """Counts who acted, and the games that each agent acted in; illegal actions are errors here."""

    taken: ClassVar[Counter[str]] = Counter()
    games: ClassVar[Counter[str]] = Counter()

    def step(self, action_dict: Any) -> Any:
        result = super().step(action_dict)
        self.taken.update(action_dict.keys())
        if result[2]["__all__"]:
            self.games.update(result[0].keys())
        return result


@pytest.mark.parametrize(("game", "players"), [("lama", 3), ("lama", 6), ("llama_llama", 3)])
def test_an_iteration_of_two_policies_is_legal_finite_and_trains_each_on_its_own_seats(
    game: str, players: int, local_ray: None
) -> None:
    policies = ["even", "odd"]
    config = PPOConfig().environment(
        CountingEnv,
        env_config={"game": game, "num_players": players, "illegal_action": "error"},
        disable_env_checking=True,
    )
    config.multi_agent(
        policies=set(policies), policy_mapping_fn=lambda agent, episode, **kwargs: policies[int(agent[-1]) % 2]
    )
    config.rl_module(rl_module_spec=masked_modules(policies, (16,)))
    config.env_runners(num_env_runners=0, batch_mode="complete_episodes")
    config.training(**{**SMALL, "minibatch_size": None}).debugging(seed=1)
    algorithm = config.build_algo()
    CountingEnv.taken.clear()
    CountingEnv.games.clear()
    result = algorithm.train()
    algorithm.stop()
    assert set(CountingEnv.taken) == {f"player_{seat}" for seat in range(players)}
    for index, policy in enumerate(policies):
        learned = result["learners"][policy]
        for name in ("total_loss", "policy_loss", "vf_loss", "entropy", "mean_kl_loss"):
            assert np.isfinite(learned[name]), name
        own = [f"player_{seat}" for seat in range(index, players, 2)]
        # RLlib adds a step without loss to each agent's episode, for the value after its end, and counts it
        expected = sum(CountingEnv.taken[agent] + CountingEnv.games[agent] for agent in own)
        assert learned["num_module_steps_trained"] == expected


def weights(holder: Any, name: str) -> dict[str, np.ndarray]:
    """A module's weights: those that every holder has."""
    state = holder.module[name].get_state(inference_only=True)
    return {key: np.asarray(value).copy() for key, value in state.items()}


def everywhere(algorithm: Any, name: str) -> list[dict[str, np.ndarray]]:
    found = algorithm.env_runner_group.foreach_env_runner(partial(weights, name=name), local_env_runner=True)
    learners = algorithm.learner_group.foreach_learner(lambda learner, **kwargs: weights(learner, name))
    return [*found, *(answer.get() for answer in learners)]


def same(some: dict[str, np.ndarray], others: dict[str, np.ndarray]) -> bool:
    return all(np.array_equal(some[key], others[key]) for key in some.keys() & others.keys())


def test_the_league_freezes_the_present_policy_in_turn_in_every_process_and_trains_nothing_else(
    local_ray: None, tmp_path: Path
) -> None:
    game = make_game("lama", num_players=3)
    config = configure(PPOConfig(), {"game": game, "illegal_action": "error"}, League(2, every=1), (16,))
    config.env_runners(num_env_runners=1, num_envs_per_env_runner=2).training(**SMALL, lr=0.01)
    algorithm = config.build_algo()
    try:
        main = [everywhere(algorithm, "main")[-1]]  # the learner's
        for name in ("past_0", "past_1"):
            copies = everywhere(algorithm, name)
            assert len(copies) == 3  # a runner, the one in this process, and the learner
            assert all(same(main[0], copy) for copy in copies)
        for iteration, expected in ((1, (1, 0)), (2, (1, 2)), (3, (3, 2))):
            result = algorithm.train()
            assert result["league_snapshots"] == iteration
            present = everywhere(algorithm, "main")
            assert all(same(present[0], copy) for copy in present)
            assert not same(main[-1], present[0])
            main.append(present[0])
            for name, number in zip(("past_0", "past_1"), expected, strict=True):
                assert all(same(main[number], copy) for copy in everywhere(algorithm, name)), (iteration, name)
        assert np.isfinite(result["env_runners"]["league_advantage"])
        check_model_file(game, algorithm, tmp_path / "model.zip")
    finally:
        algorithm.stop()


def check_model_file(game: Any, algorithm: Any, path: Path) -> None:
    """The written file chooses by the same logits as RLlib's module, and expects what it does."""
    weights = algorithm.learner_group.get_weights(["main"])["main"]
    write_policy(path, describe(game), train_rllib.arrays_of(weights))
    seen = torch.rand(20, game.observation.size)
    everything = np.ones((20, game.num_actions), np.bool_)

    def batch() -> Any:  # the module takes it apart
        return {"obs": {"observations": seen.clone(), "action_mask": torch.from_numpy(everything).float()}}

    with torch.no_grad():
        logits = algorithm.get_module("main").forward_inference(batch())["action_dist_inputs"].numpy()
        values = algorithm.learner_group._learner.module["main"].compute_values(batch()).numpy()
    assert np.allclose(load_policy(path, game).network(seen.numpy(), everything), logits, atol=1e-5)
    assert np.allclose(load_value(path, game)(seen.numpy(), everything)[:, 0], values, atol=1e-5)


def test_one_seat_of_every_game_learns_and_the_others_are_shared_as_asked() -> None:
    seats = [f"player_{seat}" for seat in range(4)]
    league = League(snapshots=2, self_weight=0.25)
    drawn = [
        [league.policy_of(seat, SimpleNamespace(id_=f"episode {number}"), agents=seats) for seat in seats]
        for number in range(4000)
    ]
    assert all("main" in game for game in drawn)
    assert drawn[7] == [league.policy_of(seat, SimpleNamespace(id_="episode 7"), agents=seats) for seat in seats]
    shares = Counter(policy for game in drawn for policy in game)
    assert shares["main"] / 4000 == pytest.approx(1 + 3 * 0.25, abs=0.05)
    assert shares["past_0"] == pytest.approx(shares["past_1"], rel=0.1)
    for seat in range(4):
        assert np.mean([game[seat] == "main" for game in drawn]) == pytest.approx(7 / 16, abs=0.04)


@pytest.mark.parametrize("name", game_names())
def test_evaluation_over_tasks_gives_exactly_the_numbers_of_one_process(
    name: str, local_ray: None, tmp_path: Path
) -> None:
    game = make_game(name, num_players=3)
    rng = np.random.default_rng(5)
    sizes = (game.observation.size, 32, game.num_actions)
    arrays = {}
    for layer, (inputs, outputs) in enumerate(pairwise(sizes)):
        arrays[f"policy.{layer}.weight"] = rng.normal(size=(outputs, inputs)).astype(np.float32) / 8
        arrays[f"policy.{layer}.bias"] = rng.normal(size=outputs).astype(np.float32)
    write_policy(tmp_path / "policy.npz", describe(game, trained=("policy",)), arrays)
    names = [f"ppo_sample:{tmp_path}/policy.npz", "heuristic", "random"]
    here = play(game, names, 60, 4, games_at_once=60)
    spread = play(game, names, 60, 4, games_at_once=60, spread=ray_map)
    for field in ("win", "score", "truncated", "decisions"):
        assert np.array_equal(getattr(here, field), getattr(spread, field)), field
    one, other = (compare(game, names, 30, 4, games_at_once=30, spread=way) for way in (map, ray_map))
    assert one.standings == other.standings


def test_a_tournament_over_tasks_gives_exactly_the_numbers_of_one_process(local_ray: None, tmp_path: Path) -> None:
    plan = make_plan(make_game(GAMES[0], num_players=3), ["heuristic", "random", "mc:2"], 12, block=3)
    here, there = (
        run_tournament(plan, tmp_path / name, spread) for name, spread in (("here", in_thread), ("there", ray_map))
    )
    assert here.standings.equals(there.standings)
    assert here.pairwise.equals(there.pairwise)
    assert here.timing["decisions"].equals(there.timing["decisions"])


def python(*arguments: str, folder: Path, ray_folder: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "RAY_TMPDIR": ray_folder},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    try:
        return process.communicate(timeout=80)
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def test_a_killed_run_of_the_command_resumes_and_finishes(tmp_path: Path, ray_folder: str) -> None:
    command = ["experiments.train_rllib", "lama", "--num-env-runners", "1", "--name", "x", "--num-players", "3", *TINY]
    process = python(*command, "--total-timesteps", "600", "--deals", "0", folder=tmp_path, ray_folder=ray_folder)
    folder = tmp_path / "runs" / "x"
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None and not (folder / "checkpoint.json").is_file():
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    _, errors = process.communicate(timeout=30)
    assert (folder / "checkpoint.json").is_file(), errors
    before = json.loads((folder / "checkpoint.json").read_text())
    assert before["steps"] < 600, "the run ended before it could be killed"
    steps = 700
    again = python(
        *command, "--total-timesteps", str(steps), "--deals", "5", "--resume", folder=tmp_path, ray_folder=ray_folder
    )
    out, errors = finish(again)
    assert again.returncode == 0, errors
    assert f"of {steps:,} decisions" in out
    rows = pd.read_csv(folder / "metrics.csv")
    assert rows["step"].iloc[-1] >= steps
    assert rows["iteration"].tolist() == list(range(1, len(rows) + 1))
    assert rows["step"].iloc[: len(before["rows"])].tolist() == [row["step"] for row in before["rows"]]
    assert rows["league_snapshots"].iloc[-1] == len(rows)
    assert set(pd.read_csv(folder / "evaluation.csv")["against"]) == {"random", "heuristic"}
    about = read_policy(folder / "model.zip").about
    assert about["trained"] == ["policy", "value"]
    assert about["made"]["decisions"] == rows["step"].iloc[-1]
    load_policy(folder / "model.zip", make_game("lama", num_players=3))
    assert json.loads((folder / "config.json").read_text())["game"] == "lama_v0"
    assert list(folder.rglob(".checkpoint*")) == []
    assert len(list(folder.glob("checkpoint-*"))) == 1


@pytest.mark.parametrize("kept", [True, False])
def test_ctrl_c_says_in_one_line_what_is_kept(kept: bool, tmp_path: Path, ray_folder: str) -> None:
    command = ["experiments.train_rllib", "lama", "--name", "x", "--total-timesteps", "1000000", *TINY[:-1]]
    process = python(*command, "2" if kept else "1000", folder=tmp_path, ray_folder=ray_folder)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(4)]
    assert lines[-1].startswith("iteration 4: "), process.communicate(timeout=60)
    process.send_signal(signal.SIGINT)
    _, errors = finish(process)
    assert process.returncode == 130, errors
    said = errors.splitlines()[-1]
    assert "Traceback" not in errors
    if kept:
        steps = json.loads((tmp_path / "runs" / "x" / "checkpoint.json").read_text())["steps"]
        assert 400 <= steps < 10_000
        assert (
            f"stopped; runs/x keeps the last checkpoint, after {steps:,} decisions, and the same command with" in said
        )
        assert said.endswith(" --name x --resume goes on from there.")
    else:
        assert "stopped; runs/x keeps no checkpoint yet, and the same command with --name x --resume begins ag" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["experiments.train_rllib", "lama", "--num-players", "9"], "num_players must be an integer from 2 to 6"),
        (["experiments.train_rllib", "lama", "--num-env-runners", "0"], "num_env_runners must be an integer from 1"),
        (
            ["experiments.train_rllib", "lama", "--train-batch-size", "200"],
            "train_batch_size must be an integer from 256",
        ),
        (["experiments.train_rllib", "lama", "--minibatch", "64"], "--minibatch is called --batch-size now"),
        (["experiments.train_rllib", "lama", "--name", "none", "--resume"], "there is no run"),
        (
            ["experiments.train_rllib", "lama", "--address", "127.0.0.1:1"],
            "cannot start Ray or join it at '127.0.0.1:1'",
        ),
        (["experiments.evaluate", "lama", "--address", "auto"], "address is for --ray"),
    ],
)
def test_bad_options_give_one_sentence_and_exit_code_2_and_leave_nothing(
    arguments: list[str], words: str, tmp_path: Path, ray_folder: str
) -> None:
    done = python(*arguments, folder=tmp_path, ray_folder=ray_folder)
    errors = finish(done)[1]
    assert done.returncode == 2, errors
    assert words in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "runs").exists()
