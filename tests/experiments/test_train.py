"""experiments.train: what a run writes, killing and resuming it, bad options."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from agents.ppo import load_ppo, read_model
from experiments import train
from llama_envs.core.registry import game_names, make_game

ROOT = Path(__file__).parents[2]
TINY = ["--num-envs", "16", "--rollout", "8", "--batch-size", "64", "--layers", "16", "--checkpoint-every", "1",
        "--snapshot-every", "2", "--snapshots", "2", "--threads", "1", "--deals", "0"]  # fmt: skip


def run(arguments: list[str], folder: Path, **kwargs: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "experiments.train", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        **kwargs,  # type: ignore[call-overload]
    )


def weights(model: Path) -> dict[str, np.ndarray]:
    import io

    state = torch.load(io.BytesIO(read_model(model)[1]), weights_only=True)
    return {name: value.numpy() for name, value in state.items()}


@pytest.mark.parametrize("game", game_names())
def test_a_run_writes_config_command_versions_metrics_curve_tensorboard_model_and_evaluation(
    game: str, tmp_path: Path
) -> None:
    arguments = [game, "--name", "x", "--steps", "256", *TINY[:-2], "--deals", "5", "--num-players", "3"]
    done = run(arguments, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "win share" in done.stdout
    folder = tmp_path / "runs" / "x"
    config = json.loads((folder / "config.json").read_text())
    assert config["game"] == f"{game}_v0"
    assert config["num_players"] == 3
    assert config["seed"] == 0
    assert (folder / "command.txt").read_text().split()[:4] == ["python", "-m", "experiments.train", game]
    assert json.loads((folder / "versions.json").read_text())["numba"]
    assert len(pd.read_csv(folder / "metrics.csv")) >= 2
    assert (folder / "learning_curve.png").read_bytes()[:4] == b"\x89PNG"
    assert any((folder / "tensorboard").iterdir())
    assert set(pd.read_csv(folder / "evaluation.csv")["against"]) == {"random", "heuristic"}
    load_ppo(folder / "model.zip", make_game(game, num_players=3))
    leftovers = list(folder.rglob(".*"))
    assert leftovers == []


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(tmp_path: Path) -> None:
    for name, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        assert run(["lama", "--name", name, "--seed", seed, "--steps", "256", *TINY], tmp_path).returncode == 0
    a, b, c = (weights(tmp_path / "runs" / name / "model.zip") for name in "abc")
    assert all(np.array_equal(a[name], b[name]) for name in a)
    assert not all(np.array_equal(a[name], c[name]) for name in a)


def test_a_killed_run_resumes_and_ends_exactly_as_if_it_had_not_been_killed(tmp_path: Path) -> None:
    steps = ["--steps", str(128 * 40)]
    assert run(["lama", "--name", "whole", *steps, *TINY], tmp_path).returncode == 0
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments.train", "lama", "--name", "cut", *steps, *TINY],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    metrics = tmp_path / "runs" / "cut" / "metrics.csv"
    until = time.monotonic() + 120
    while time.monotonic() < until and not (metrics.is_file() and len(pd.read_csv(metrics)) >= 4):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "runs" / "cut" / "model.zip").exists(), "the run ended before it could be killed"
    done = run(["lama", "--name", "cut", "--resume", *steps, *TINY], tmp_path)
    assert done.returncode == 0, done.stderr
    whole, cut = (weights(tmp_path / "runs" / name / "model.zip") for name in ("whole", "cut"))
    assert all(np.array_equal(whole[name], cut[name]) for name in whole)
    rows = [pd.read_csv(tmp_path / "runs" / name / "metrics.csv") for name in ("whole", "cut")]
    assert rows[0]["step"].tolist() == rows[1]["step"].tolist()
    assert rows[0]["train/loss"].equals(rows[1]["train/loss"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lama", "--num-players", "7"], "num_players must be an integer from 2 to 6"),
        (["lama", "--hand-size", "20"], "hand_size must be at most 13"),
        (["lama", "--target-score", "0"], "target_score"),
        (["lama", "--steps", "0"], "steps must be an integer from 1"),
        (["lama", "--scripted", "nobody"], "unknown policy 'nobody'"),
        (["lama", "--seats", "all"], "seats must be 'one'"),
        (["lama", "--name", "a/b"], "name must be a plain folder name"),
        (["lama", "--name", "none", "--resume"], "there is no run"),
        (["lama", "--self-weight", "-1"], "self_weight must be 0 or more"),
        (["lama", "--no-such-option", "1"], "no-such-option"),
        (["chess"], "chess"),
    ],
)
def test_bad_options_give_one_sentence_and_exit_code_2_and_leave_nothing(
    arguments: list[str], words: str, tmp_path: Path
) -> None:
    done = run(arguments, tmp_path)
    assert done.returncode == 2
    assert words in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("model*"))
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())


def test_a_run_is_not_overwritten(tmp_path: Path) -> None:
    assert run(["lama", "--name", "x", "--steps", "128", *TINY], tmp_path).returncode == 0
    before = (tmp_path / "runs" / "x" / "model.zip").read_bytes()
    again = run(["lama", "--name", "x", "--steps", "128", *TINY], tmp_path)
    assert again.returncode == 2
    assert "choose another --name" in again.stderr
    assert (tmp_path / "runs" / "x" / "model.zip").read_bytes() == before


def test_a_damaged_checkpoint_is_refused_in_one_sentence(tmp_path: Path) -> None:
    assert run(["lama", "--name", "x", "--steps", "128", *TINY], tmp_path).returncode == 0
    checkpoint = tmp_path / "runs" / "x" / "checkpoint.pkl"
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    done = run(["lama", "--name", "x", "--resume", "--steps", "256", *TINY], tmp_path)
    assert done.returncode == 2
    assert "checkpoint.pkl is damaged" in done.stderr


def test_help_shows_every_option_with_its_default() -> None:
    for arguments in (["lama", "--help"], ["--help"]):
        done = run(arguments, ROOT)
        assert done.returncode == 0
        for field in dataclasses.fields(train.Options):
            assert f"--{field.name.replace('_', '-')}" in done.stdout
        assert "--target-score" in done.stdout
        assert "(default: 40)" in done.stdout


def test_frozen_opponents_change_only_at_refresh(tmp_path: Path) -> None:
    game = make_game("lama", num_players=3)
    options = train.Options(layers=(8,), num_envs=4, rollout=4, batch_size=16, snapshots=2, threads=1)
    league = train.League(game, options)
    model, _ = train.build(game, options, tmp_path)
    before = [value.clone() for value in league.current.network.state_dict().values()]
    model.learn(64)
    after = list(league.current.network.state_dict().values())
    assert all(torch.equal(old, new) for old, new in zip(before, after, strict=True))
    league.refresh(model)
    observation = torch.rand(5, game.observation.size)
    features = model.policy.mlp_extractor.forward_actor(model.policy.extract_features(observation))
    expected = model.policy.action_net(features)
    assert torch.allclose(league.current.network(observation), expected, atol=1e-5)
