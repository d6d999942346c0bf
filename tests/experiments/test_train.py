"""experiments.train: what a run writes, resuming it, starting from a file, numbers that are not finite, bad options."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sb3_contrib import MaskablePPO

from agents.ppo import policy_of
from agents.standardise import SMALLEST, moments
from experiments.train import __main__ as train
from experiments.train import learner
from experiments.train.opponents import OpponentPool, scripted_opponents
from experiments.train.options import Options
from experiments.train.rivals import rivals_of
from llama_envs.adapters.sb3 import SB3VecEnv
from llama_envs.core.registry import game_names, make_game
from llama_envs.policies import make_policy
from llama_envs.policies.network import describe, read_policy, write_policy
from llama_envs.policies.shipped import baseline_file
from tests.cases import CHECKOUT
from tests.experiments.commands import Refusal, call, sentence

SIZES = ["--num-envs", "16", "--n-steps", "8", "--batch-size", "64", "--layers", "16", "--threads", "1"]
TINY = [
    *SIZES,
    "--checkpoint-every",
    "1",
    "--snapshot-every",
    "2",
    "--snapshots",
    "2",
    "--deals",
    "0",
    "--evaluate-every",
    "0",
]


def weights(model: Path) -> dict[str, np.ndarray]:
    return read_policy(model).arrays


def same(one: Path, two: Path) -> bool:
    first, second = weights(one), weights(two)
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one finished run of a single rollout."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("done")
        assert (
            call(train.main, ["lama", "--name", "x", "--seed", "7", "--total-timesteps", "128", *TINY], folder, patch)
            == 0
        )
    return folder / "runs" / "x"


@pytest.mark.parametrize("game", game_names())
def test_a_run_writes_config_versions_metrics_curve_tensorboard_model_and_evaluation(
    game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [game, "--name", "x", "--total-timesteps", "256", *TINY, "--deals", "5", "--num-players", "3"]
    assert call(train.main, arguments, tmp_path, monkeypatch) == 0
    assert "win share" in capsys.readouterr().out
    folder = tmp_path / "runs" / "x"
    config = json.loads((folder / "config.json").read_text())
    assert config["game"] == f"{game}_v0"
    assert config["num_players"] == 3
    assert config["seed"] == 0
    assert json.loads((folder / "versions.json").read_text())["numba"]
    assert len(pd.read_csv(folder / "metrics.csv")) >= 2
    assert (folder / "learning_curve.png").read_bytes()[:4] == b"\x89PNG"
    assert any((folder / "tensorboard").iterdir())
    assert set(pd.read_csv(folder / "evaluation.csv")["against"]) == {"random", "heuristic"}
    assert {path.name for path in folder.rglob(".*")} <= {".lock"}
    about = read_policy(folder / "model.zip").about
    assert about["trained"] == ["policy", "value"]
    assert (about["made"]["seed"], about["made"]["decisions"]) == (0, 256 if game == "lama" else 16 // 3 * 3 * 8 * 3)
    make_policy(f"ppo:{folder / 'model.zip'}", make_game(game, num_players=3))


def test_the_model_is_one_for_stable_baselines_too_and_both_choose_alike(done: Path) -> None:
    game = make_game("lama")
    model = MaskablePPO.load(done / "model.zip")
    _, arrays = policy_of(model, game)
    assert all(np.array_equal(arrays[name], array) for name, array in weights(done / "model.zip").items())


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(
    done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed, equal in (("7", True), ("8", False)):
        arguments = ["lama", "--name", seed, "--seed", seed, "--total-timesteps", "128", *TINY]
        assert call(train.main, arguments, tmp_path, monkeypatch) == 0
        assert same(done / "model.zip", tmp_path / "runs" / seed / "model.zip") is equal


def test_a_killed_run_resumes_and_ends_exactly_as_if_it_had_not_been_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = ["--total-timesteps", str(128 * 30)]
    command = ["experiments.train", "lama", "--name", "cut", *steps, *TINY]
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    folder = tmp_path / "runs" / "cut"
    until = time.monotonic() + 120
    while time.monotonic() < until and not _rows(folder / "metrics.csv") >= 4:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (folder / "model.zip").exists(), "the run ended before it could be killed"
    assert (folder / "command.txt").read_text().split() == ["python", "-m", *command]
    assert call(train.main, [*command[1:], "--resume"], tmp_path, monkeypatch) == 0
    assert call(train.main, ["lama", "--name", "whole", *steps, *TINY], tmp_path, monkeypatch) == 0
    assert same(folder / "model.zip", tmp_path / "runs" / "whole" / "model.zip")
    rows = [pd.read_csv(tmp_path / "runs" / name / "metrics.csv") for name in ("whole", "cut")]
    assert len(rows[0]) == 30
    assert rows[0]["step"].tolist() == rows[1]["step"].tolist()
    assert rows[0]["train/loss"].equals(rows[1]["train/loss"])


def _rows(metrics: Path) -> int:
    return len(pd.read_csv(metrics)) if metrics.is_file() else 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lama", "--num-players", "7"], "num_players must be an integer from 2 to 6"),
        (["lama", "--hand-size", "20"], "hand_size must be at most 13"),
        (["lama", "--target-score", "0"], "target_score"),
        (["lama", "--total-timesteps", "0"], "total_timesteps must be an integer from 1"),
        (["lama", "--scripted", "nobody"], "unknown policy 'nobody'"),
        (["lama", "--seats", "all"], "seats must be 'one'"),
        (["lama", "--name", "a/b"], "name must be a plain folder name"),
        (["lama", "--name", "none", "--resume"], "there is no run"),
        (["lama", "--seed", "-1"], "seed must be an integer in [0, 2**64)"),
        (["lama", "--self-weight", "-1"], "self_weight must be 0 or more"),
        (["lama", "--self-weight", "inf"], "self_weight must be 0 or more"),
        (["lama", "--ent-coef", "inf"], "ent_coef must be 0 or more"),
        (["lama", "--layers", "10000000", "8"], "layers must be an integer from 1 to 65536"),
        (["lama", "--init-from", "missing.zip"], "there is no policy file missing.zip"),
        (["lama", "--ray"], "ray must come with 2 seeds or more and device cpu, a core each, got 1 and cpu"),
        (["lama", "--ray", "--seeds", "2", "--device", "auto"], "device cpu, a core each, got 2 and auto"),
        (["lama", "--ray", "--seeds", "2", "--workers", "2"], "workers are processes of this machine"),
        (["lama", "--address", "auto"], "address is for --ray"),
        (["lama", "--no-such-option", "1"], "no-such-option"),
        (["chess"], "chess"),
    ],
)
def test_bad_options_give_one_sentence_and_exit_code_2_and_leave_nothing(
    arguments: list[str], words: str, refusal: Refusal, tmp_path: Path
) -> None:
    assert words in refusal(train.main, arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "sizes",
    [
        ("1", "17", "16"),
        ("17", "241", "4096"),  # the default minibatch
        ("1", "1", "16"),
        ("8", "8", "1"),
    ],
)
def test_a_minibatch_of_one_decision_is_refused_before_anything_is_written__N01(
    sizes: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["lama", "--n-epochs", "1", "--layers", "16", "--deals", "20", "--name", "x"]
    for option, size in zip(("--num-envs", "--n-steps", "--batch-size"), sizes, strict=True):
        arguments += [option, size]
    assert call(train.main, arguments, tmp_path, monkeypatch) == 2
    message = capsys.readouterr().err
    assert all(word in message for word in ("num_envs", "n_steps", "batch_size", "a single decision"))
    assert list(tmp_path.iterdir()) == []


def test_where_every_seat_is_played_whole_games_are_counted_for_the_minibatch__N01() -> None:
    game = make_game("llama_llama", num_players=3)
    learner.check(game, Options(num_envs=17, n_steps=1, batch_size=8, layers=(8,)))  # 15 environments, not 17
    with pytest.raises(ValueError, match="= 15 decisions in minibatches of batch_size = 7"):
        learner.check(game, Options(num_envs=17, n_steps=1, batch_size=7, layers=(8,)))


@pytest.mark.parametrize("entropy", ["0.01", "1e39"], ids=["poisoned", "by its options"])
def test_training_stops_at_the_first_number_that_is_not_finite__N01(
    entropy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    update = MaskablePPO.train

    def poison(model: Any) -> None:
        update(model)
        if model.num_timesteps == 256 and entropy == "0.01":
            with torch.no_grad():
                model.policy.action_net.bias[0] = float("nan")

    monkeypatch.setattr(MaskablePPO, "train", poison)
    arguments = ["lama", "--name", "x", "--total-timesteps", "1280", *TINY, "--ent-coef", entropy]
    assert call(train.main, arguments, tmp_path, monkeypatch) == 2
    message = capsys.readouterr().err.strip().splitlines()[-1]
    assert message.startswith("error: training failed: after ")
    assert message.endswith("try a lower learning_rate.")
    if entropy == "0.01":
        assert "after 256 decisions" in message
        assert "(action_net.bias)" in message
    folder = tmp_path / "runs" / "x"
    assert not (folder / "model.zip").exists()
    assert not (folder / "evaluation.csv").exists()


def test_the_last_update_is_looked_at_too__N01(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(MaskablePPO, "train", lambda model: model.logger.record("train/loss", float("nan")))
    arguments = ["lama", "--name", "x", "--total-timesteps", "128", *TINY]
    assert call(train.main, arguments, tmp_path, monkeypatch) == 2
    assert "after 128 decisions there are numbers that are not finite (train/loss = nan)" in capsys.readouterr().err
    assert not (tmp_path / "runs" / "x" / "model.zip").exists()


def test_a_run_is_not_overwritten(
    done: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (done / "model.zip").read_bytes()
    arguments = ["lama", "--name", "x", "--total-timesteps", "128", *TINY]
    assert call(train.main, arguments, done.parents[1], monkeypatch) == 2
    assert "choose another --name" in capsys.readouterr().err
    assert (done / "model.zip").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--seed", "8"], "seed was 7, is 8"),
        (["--learning-rate", "0.5"], "learning_rate was 0.001, is 0.5"),
        (["--layers", "32"], "layers was [16], is [32]"),
        (["--scripted", "random"], "scripted was ['auto'], is ['random']"),
        (["--reward", "score"], "reward was 'win', is 'score'"),
        (["--num-players", "3"], "num_players was 4, is 3"),
        (["--num-envs", "512"], "num_envs was 16, is 512"),
        (["--copies", "6"], "copies was 8, is 6"),
        (["--total-timesteps", "64"], "total_timesteps was 128, is 64"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_run_does_not_go_on_with_other_options__N04(
    options: list[str], words: str, done: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in done.iterdir() if path.is_file()}
    arguments = ["lama", "--name", "x", "--seed", "7", "--total-timesteps", "128", *TINY, "--resume", *options]
    assert call(train.main, arguments, done.parents[1], monkeypatch) == 2
    assert words in sentence(capsys.readouterr().err)
    assert {path: path.read_bytes() for path in done.iterdir() if path.is_file()} == before


def test_a_run_of_another_game_does_not_go_on__N04(
    done: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["llama_llama", "--name", "x", "--seed", "7", "--total-timesteps", "128", *TINY, "--resume"]
    assert call(train.main, arguments, done.parents[1], monkeypatch) == 2
    assert "game was 'lama_v0', is 'llama_llama_v0'" in sentence(capsys.readouterr().err)


def test_a_run_may_be_made_longer_and_says_so__N04(done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(done, tmp_path / "runs" / "x")
    arguments = ["lama", "--name", "x", "--seed", "7", "--total-timesteps", "256", *TINY, "--resume"]
    assert call(train.main, arguments, tmp_path, monkeypatch) == 0
    assert json.loads((tmp_path / "runs" / "x" / "config.json").read_text())["total_timesteps"] == 256
    assert read_policy(tmp_path / "runs" / "x" / "model.zip").about["made"]["decisions"] == 256


def test_a_damaged_checkpoint_is_refused_in_one_sentence(
    done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(done, tmp_path / "runs" / "x")
    checkpoint = tmp_path / "runs" / "x" / "checkpoint.pkl"
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    arguments = ["lama", "--name", "x", "--resume", "--seed", "7", "--total-timesteps", "256", *TINY]
    assert call(train.main, arguments, tmp_path, monkeypatch) == 2
    assert "checkpoint.pkl is damaged" in capsys.readouterr().err


def test_help_shows_every_option_with_its_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in (["lama", "--help"], ["--help"]):
        assert call(train.main, arguments, tmp_path, monkeypatch) == 0
        shown = capsys.readouterr().out
        for field in dataclasses.fields(Options):
            assert f"--{field.name.replace('_', '-')}" in shown
        assert "--target-score" in shown
        assert "(default: 40)" in shown


# ------------------------------------------------------------------------------------------------- starting from a file


def started(path: Path, layers: tuple[int, ...], **game: int) -> MaskablePPO:
    """A learner that begins with the weights in ``path``."""
    played = make_game("lama", **game)
    return learner.new_model(played, SB3VecEnv(played, 2), Options(init_from=str(path), layers=layers))


@pytest.mark.parametrize("plain", [False, True], ids=["the baseline", "one of plain observations"])
def test_a_learner_that_starts_from_a_file_chooses_as_the_file(plain: bool, tmp_path: Path) -> None:
    path, layers, game = baseline_file(make_game("lama", num_players=2)), (256, 256), make_game("lama", num_players=2)
    if plain:
        path, layers = tmp_path / "plain.npz", (8,)
        rng = np.random.default_rng(0)
        shapes = {"policy.0": (8, game.observation.size), "policy.1": (game.num_actions, 8)}
        arrays = {f"{name}.weight": rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
        arrays |= {f"{name}.bias": np.ones(shape[0], np.float32) for name, shape in shapes.items()}
        write_policy(path, describe(game, trained=("policy",)), arrays)
    model = started(path, layers, num_players=2)
    seen = learner.sample_observations(game, Options())[::500]
    everything = np.ones((len(seen), game.num_actions), np.bool_)
    expected = read_policy(path).network("policy")(seen, everything)
    with torch.no_grad():
        policy = model.policy
        hidden = policy.mlp_extractor.forward_actor(policy.extract_features(torch.from_numpy(seen)))
        found = policy.action_net(hidden).numpy()
    assert found == pytest.approx(expected, abs=1e-4)
    assert expected.std() > 0.1


@pytest.mark.parametrize(
    ("layers", "players", "words"),
    [
        ((256, 16), 2, "has the layers [256, 256], the model [256, 16]; give the same --layers"),
        ((256, 256, 256), 2, "has the layers [256, 256], the model [256, 256, 256]"),
        ((256,), 2, "has the layers [256, 256], the model [256]"),
        ((256, 256), 3, "with num_players = 2, not with 3"),
    ],
)
def test_a_file_of_other_layers_or_players_is_refused_before_anything_is_written(
    layers: tuple[int, ...], players: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    start = baseline_file(make_game("lama", num_players=2))
    arguments = ["lama", "--num-players", str(players), "--name", "x", "--init-from", str(start), "--layers"]
    assert call(train.main, [*arguments, *map(str, layers)], tmp_path, monkeypatch) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------------------------------------- opponents, inputs


def test_frozen_opponents_change_only_at_refresh(tmp_path: Path) -> None:
    game = make_game("lama", num_players=3)
    options = Options(layers=(8,), num_envs=4, n_steps=4, batch_size=16, snapshots=2, threads=1)
    league = OpponentPool(game, options)
    model, _ = learner.build(game, options, tmp_path)
    before = [value.clone() for value in league.current.network.state_dict().values()]
    model.learn(64)
    after = list(league.current.network.state_dict().values())
    assert all(torch.equal(old, new) for old, new in zip(before, after, strict=True))
    league.refresh(model)
    observation = torch.rand(5, game.observation.size)
    features = model.policy.mlp_extractor.forward_actor(model.policy.extract_features(observation))
    expected = model.policy.action_net(features)
    assert torch.allclose(league.current.network(observation), expected, atol=1e-5)


def test_a_game_without_a_heuristic_is_trained_against_the_learner_itself() -> None:
    bare: Any = SimpleNamespace(spec=SimpleNamespace(heuristic=None))
    assert rivals_of(bare) == ("random",)
    assert scripted_opponents(bare, Options()) == ()
    assert scripted_opponents(bare, Options(scripted=("random",))) == ("random",)
    assert scripted_opponents(make_game("lama"), Options()) == ("heuristic",)


def test_standardising_leaves_no_entry_undefined_and_most_near_unit_variance() -> None:
    sample = learner.sample_observations(make_game("llama_llama", num_players=3), Options())
    found = moments(sample)
    deviation = np.array(found["deviation"])
    assert (deviation >= SMALLEST).all()
    scaled = (sample - found["mean"]) / deviation
    moving = sample.std(axis=0) > SMALLEST
    np.testing.assert_allclose(scaled[:, moving].std(axis=0), 1, atol=1e-3)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-3)
