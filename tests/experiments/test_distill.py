"""experiments.distill and experiments.baselines: what they learn, write and refuse."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from llama_envs.policies.baseline import model_file
from agents.ppo import PPOPolicy, actor, actor_weights, load_ppo, load_state_dict, read_model
from agents.standardise import SMALLEST, moments
from experiments import baselines, distill, train
from experiments.evaluate import evaluate
from llama_envs.core.registry import make_game

ROOT = Path(__file__).parents[2]
TINY = ["--num-envs", "64", "--rollout", "4", "--updates", "8", "--batch-size", "256", "--layers", "32", "--threads",
        "1", "--teacher", "mc:4"]  # fmt: skip


def run(module: str, arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def distilled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("distilled")
    arguments = ["lama", "--num-players", "2", "--name", "x", "--positions", "16384", *TINY, "--deals", "20"]
    done = run("experiments.distill", arguments, folder)
    assert done.returncode == 0, done.stderr
    return folder / "runs" / "x"


def test_a_run_writes_config_command_versions_metrics_model_and_evaluation(distilled: Path) -> None:
    config = json.loads((distilled / "config.json").read_text())
    assert (config["game"], config["num_players"], config["teacher"], config["seed"]) == ("lama_v0", 2, "mc:4", 0)
    assert (distilled / "command.txt").read_text().startswith("python -m experiments.distill lama")
    assert "torch" in json.loads((distilled / "versions.json").read_text())
    metrics = pd.read_csv(distilled / "metrics.csv")
    assert metrics["step"].iloc[-1] >= 16384
    assert set(pd.read_csv(distilled / "evaluation.csv")["against"]) == {"random", "heuristic"}


def test_the_network_learns_to_play(distilled: Path) -> None:
    game = make_game("lama", num_players=2)
    frame, _ = evaluate(game, [f"ppo:{distilled / 'model.zip'}", "random"], 300, 1)
    assert frame["win_share"][0] - frame["win_share_95"][0] > 0.6


def test_same_seed_same_weights_and_another_seed_others(distilled: Path, tmp_path: Path) -> None:
    first = load_state_dict(read_model(distilled / "model.zip")[1])
    for seed, same in ((0, True), (1, False)):
        arguments = ["lama", "--num-players", "2", "--name", f"s{seed}", "--positions", "16384", *TINY, "--deals", "0"]
        done = run("experiments.distill", [*arguments, "--seed", str(seed)], tmp_path)
        assert done.returncode == 0, done.stderr
        again = load_state_dict(read_model(tmp_path / "runs" / f"s{seed}" / "model.zip")[1])
        assert torch.equal(first["action_net.weight"], again["action_net.weight"]) is same


def test_values_are_learned_against_their_mean_over_legal_actions() -> None:
    game = make_game("lama", num_players=2)
    memory = distill.Memory(game, 4)
    mask = np.zeros((3, game.num_actions), np.bool_)
    mask[:, [0, 2]] = True
    value = np.where(mask, 0.0, 99.0)
    value[:, 0], value[:, 2] = 1.0, 4.0
    memory.add(np.zeros((3, game.observation.size), np.float32), mask, value)
    np.testing.assert_allclose(memory.value[:3, [0, 2]], [[-1.5, 1.5]] * 3)
    assert not memory.value[:, [1, 3]].any()
    memory.add(np.ones((3, game.observation.size), np.float32), mask, value)  # the two oldest are replaced
    assert memory.observation[:, 0].tolist() == [1, 1, 0, 1]
    assert all(len(piece) == 7 for piece in memory.sample(np.random.default_rng(0), 7))


def test_the_loss_is_zero_for_logits_that_differ_from_the_values_by_a_constant() -> None:
    network = torch.nn.Linear(2, 3)
    with torch.no_grad():
        network.weight.zero_()
        network.bias.copy_(torch.tensor([5.0, 7.0, -40.0]))
    mask = torch.tensor([[True, True, False]])
    value = torch.tensor([[-1.0, 1.0, 0.0]])
    optimizer = torch.optim.SGD(network.parameters(), 0.1)
    assert distill.learn(network, optimizer, torch.ones(1, 2), mask, value) == pytest.approx(0)
    assert distill.learn(network, optimizer, torch.ones(1, 2), mask, -value) == pytest.approx(4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--teacher", "heuristic"], "teacher must be mc:W"),
        (["--teacher", "mc:0"], "must be"),
        (["--explore", "2"], "explore must be a share"),
        (["--positions", "0"], "positions must be"),
        (["--scale", "0"], "scale must be above 0"),
        (["--opponents", "nobody"], "unknown policy 'nobody'"),
    ],
)
def test_bad_options_are_refused_and_write_nothing(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = run("experiments.distill", ["lama", "--name", "x", *arguments], tmp_path)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())  # out of the frame that it may stand in
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(("hold", "same"), [(2, True), (0, False)])
def test_training_goes_on_from_a_distilled_model_and_holds_its_policy_at_first(
    hold: int, same: bool, distilled: Path, tmp_path: Path
) -> None:
    start = distilled / "model.zip"
    arguments = ["lama", "--num-players", "2", "--name", "x", "--start", str(start), "--hold", str(hold)]
    sizes = ["--layers", "32", "--num-envs", "16", "--rollout", "8", "--batch-size", "64", "--steps", "256"]
    done = run("experiments.train", [*arguments, *sizes, "--threads", "1", "--deals", "0"], tmp_path)
    assert done.returncode == 0, done.stderr
    before, after = (load_state_dict(read_model(path)[1]) for path in (start, tmp_path / "runs" / "x" / "model.zip"))
    assert torch.equal(before["action_net.weight"], after["action_net.weight"]) is same
    assert not torch.equal(before["value_net.weight"], after["value_net.weight"])


def test_training_from_a_model_with_other_layers_is_refused(distilled: Path, tmp_path: Path) -> None:
    arguments = ["lama", "--num-players", "2", "--start", str(distilled / "model.zip"), "--layers", "16", "--name", "x"]
    done = run("experiments.train", [*arguments, "--steps", "64"], tmp_path)
    assert done.returncode == 2
    assert "has the layers [32], not [16]" in done.stderr


def test_a_standardised_policy_opens_as_one_network_of_raw_observations(distilled: Path) -> None:
    game = make_game("lama", num_players=2)
    state = load_state_dict(read_model(distilled / "model.zip")[1])
    observation = torch.rand(50, game.observation.size)
    hidden = (observation - state["features_extractor.mean"]) / state["features_extractor.deviation"]
    layer = "mlp_extractor.policy_net.0."
    hidden = torch.tanh(hidden @ state[layer + "weight"].T + state[layer + "bias"])
    expected = hidden @ state["action_net.weight"].T + state["action_net.bias"]
    network = actor(game.observation.size, game.num_actions, [32])
    network.load_state_dict(actor_weights(state))
    torch.testing.assert_close(network(observation), expected, atol=1e-3, rtol=1e-4)


def test_standardising_leaves_no_entry_undefined_and_most_near_unit_variance() -> None:
    game = make_game("llama_llama", num_players=3)
    sample = train.sample_observations(game, train.Options())
    found = moments(sample)
    deviation = np.array(found["deviation"])
    assert (deviation >= SMALLEST).all()
    scaled = (sample - found["mean"]) / deviation
    moving = sample.std(axis=0) > SMALLEST
    np.testing.assert_allclose(scaled[:, moving].std(axis=0), 1, atol=1e-3)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-3)


def test_a_recipe_writes_a_model_that_plays_and_a_record_with_its_commands(tmp_path: Path) -> None:
    arguments = ["--only", "llama_llama_2p", "--quick", "--out", "made", "--deals", "20"]
    done = run("experiments.baselines", arguments, tmp_path)
    assert done.returncode == 0, done.stderr
    game = make_game("llama_llama", num_players=2)
    policy = load_ppo(tmp_path / "made" / "llama_llama_2p.zip", game)
    assert isinstance(policy, PPOPolicy)
    record = json.loads((tmp_path / "made" / "llama_llama_2p.json").read_text())
    assert record["num_players"] == 2
    assert all(command.startswith("python -m experiments.") for command in record["commands"])
    assert set(record["evaluation"]["against"]) == {"heuristic", "random"}
    again = run("experiments.baselines", arguments, tmp_path)
    assert again.returncode == 2
    assert "exists; move it away first" in again.stderr


def test_an_unknown_recipe_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"there is no recipe 'chess'; .*lama_2p"):
        baselines.Options(only=("chess",))


def test_a_model_file_holds_description_and_weights_only() -> None:
    with zipfile.ZipFile(model_file("lama", 4)) as archive:
        assert sorted(archive.namelist()) == ["data", "policy.pth"]
