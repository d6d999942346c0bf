"""experiments.distill: what it learns, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from sb3_contrib import MaskablePPO

from agents.ppo import actor, actor_weights
from experiments import distill
from experiments.train import __main__ as train
from llama_envs.core.registry import make_game
from llama_envs.evaluation import compare
from llama_envs.policies import make_policy, make_view
from llama_envs.policies.network import load_value, read_policy
from tests.experiments.commands import call, sentence

TINY = ["lama", "--num-players", "2", "--num-envs", "64", "--n-steps", "4", "--batch-size", "256", "--layers", "32",
        "--threads", "1", "--teacher", "mc:4"]  # fmt: skip


@pytest.fixture(scope="module")
def distilled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one finished run."""
    folder = tmp_path_factory.mktemp("distilled")
    with pytest.MonkeyPatch.context() as patch:
        arguments = [*TINY, "--updates", "8", "--name", "x", "--positions", "16384", "--deals", "20"]
        assert call(distill.main, arguments, folder, patch) == 0
    return folder / "runs" / "x"


def test_a_run_writes_config_command_versions_metrics_model_and_evaluation(distilled: Path) -> None:
    config = json.loads((distilled / "config.json").read_text())
    assert (config["game"], config["num_players"], config["teacher"], config["seed"]) == ("lama_v0", 2, "mc:4", 0)
    assert (distilled / "command.txt").is_file()
    assert "torch" in json.loads((distilled / "versions.json").read_text())
    metrics = pd.read_csv(distilled / "metrics.csv")
    assert metrics["step"].iloc[-1] >= 16384
    assert set(pd.read_csv(distilled / "evaluation.csv")["against"]) == {"random", "heuristic"}


def test_the_network_learns_to_play(distilled: Path) -> None:
    result = compare(make_game("lama", num_players=2), [f"ppo:{distilled / 'model.zip'}", "random"], 300, 1)
    assert result.share[0] - result.interval[0] > 0.6


def test_the_file_does_not_claim_a_value_network__N03(distilled: Path) -> None:
    path, game = distilled / "model.zip", make_game("lama", num_players=2)
    file = read_policy(path)
    assert file.about["trained"] == ["policy"]
    assert not any(name.startswith("value") for name in file.arrays)
    assert file.about["made"]["decisions"] >= 16384
    with pytest.raises(ValueError, match="has no trained value network; trained was policy"):
        load_value(path, game)
    with pytest.raises(ValueError, match="has no trained value network; trained was policy"):
        make_policy(f"mc:4:network={path}", game)


def test_same_seed_same_weights_and_another_seed_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = []
    for number, seed in enumerate("001"):
        arguments = [
            *TINY,
            "--updates",
            "1",
            "--name",
            str(number),
            "--positions",
            "512",
            "--deals",
            "0",
            "--seed",
            seed,
        ]
        assert call(distill.main, arguments, tmp_path, monkeypatch) == 0
        arrays.append(read_policy(tmp_path / "runs" / str(number) / "model.zip").arrays)
    assert all(np.array_equal(arrays[0][name], arrays[1][name]) for name in arrays[0])
    assert not np.array_equal(arrays[0]["policy.1.weight"], arrays[2]["policy.1.weight"])


class Kept(list[np.ndarray]):
    """The values that a lesson would remember."""

    def add(self, observation: np.ndarray, mask: np.ndarray, value: np.ndarray) -> None:
        self.append(value)


@pytest.mark.parametrize("positions", [3, 70])
def test_the_teacher_thinks_the_same_in_parts_whoever_looks_at_them(positions: int) -> None:
    game, rows = make_game("llama_llama", num_players=3), np.arange(positions)
    found = []
    for workers in (1, 2, 5):
        options = distill.Options(num_envs=positions, teacher="mc:3", workers=workers)
        lesson, kept = distill.Lesson(game, options, make_policy("random", game)), Kept()
        with options.spread(light=True) as spread:
            for _ in range(4):
                seats = lesson.batch.to_move.astype(np.int64)
                whole = make_view(lesson.batch, rows, seats, lesson.streams[0], lesson.teacher)
                lesson.play(kept, spread)  # type: ignore[arg-type]
                assert np.array_equal(kept[-1], lesson.teacher.values(whole) / distill.UNIT)
        found.append((np.concatenate(kept), lesson.streams[0], lesson.batch.state))
    assert len(np.unique(found[0][0])) > 10
    assert all(np.array_equal(one, other) for case in found[1:] for one, other in zip(found[0], case, strict=True))


def test_values_are_learned_against_their_mean_over_legal_actions(tmp_path: Path) -> None:
    game = make_game("lama", num_players=2)
    memory = distill.Memory(game, 4, tmp_path)
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


def test_distilling_stops_at_the_first_loss_that_is_not_finite__N01(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(distill, "learn", lambda *_: float("nan"))
    assert call(distill.main, [*TINY, "--name", "x", "--positions", "4096"], tmp_path, monkeypatch) == 2
    assert "distilling failed: after 256 positions the loss is not finite" in capsys.readouterr().err
    assert not (tmp_path / "runs" / "x" / "model.zip").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--teacher", "heuristic"], "teacher must be mc:W"),
        (["--teacher", "mc:0"], "must be"),
        (["--explore", "2"], "explore must be a share"),
        (["--positions", "0"], "positions must be"),
        (["--scale", "0"], "scale must be above 0"),
        (["--scale", "inf"], "scale must be above 0"),
        (["--seed", "-1"], "seed must be an integer in [0, 2**64)"),
        (["--opponents", "nobody"], "unknown policy 'nobody'"),
        (["--ray", "--workers", "2"], "workers are processes of this machine"),
        (["--address", "auto"], "address is for --ray"),
    ],
)
def test_bad_options_are_refused_and_write_nothing(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call(distill.main, ["lama", "--name", "x", *arguments], tmp_path, monkeypatch) == 2
    assert message in sentence(capsys.readouterr().err)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("warmup", "equal"), [(2, True), (0, False)])
def test_training_goes_on_from_a_distilled_model_and_holds_its_policy_at_first(
    warmup: int, equal: bool, distilled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = distilled / "model.zip"
    arguments = ["lama", "--num-players", "2", "--name", "x", "--init-from", str(start), "--critic-warmup", str(warmup)]
    sizes = ["--layers", "32", "--num-envs", "16", "--n-steps", "8", "--batch-size", "64", "--total-timesteps", "128"]
    assert call(train.main, [*arguments, *sizes, "--threads", "1", "--deals", "0"], tmp_path, monkeypatch) == 0
    before, after = (read_policy(path) for path in (start, tmp_path / "runs" / "x" / "model.zip"))
    names = [name for name in before.arrays if name.startswith("policy")]
    assert len(names) == 4
    assert all(np.array_equal(before.arrays[name], after.arrays[name]) for name in names) is equal
    assert after.about["trained"] == ["policy", "value"]


def test_a_standardised_policy_opens_as_one_network_of_raw_observations(distilled: Path) -> None:
    game = make_game("lama", num_players=2)
    state = MaskablePPO.load(distilled / "model.zip").policy.state_dict()
    observation = torch.rand(50, game.observation.size)
    hidden = (observation - state["features_extractor.mean"]) / state["features_extractor.deviation"]
    layer = "mlp_extractor.policy_net.0."
    hidden = torch.tanh(hidden @ state[layer + "weight"].T + state[layer + "bias"])
    expected = hidden @ state["action_net.weight"].T + state["action_net.bias"]
    network = actor(game.observation.size, game.num_actions, [32])
    network.load_state_dict(actor_weights(state))
    torch.testing.assert_close(network(observation), expected, atol=1e-3, rtol=1e-4)
    everything = np.ones((50, game.num_actions), np.bool_)
    found = read_policy(distilled / "model.zip").network("policy")(observation.numpy(), everything)
    np.testing.assert_allclose(found, expected, atol=1e-3, rtol=1e-4)
