"""A Ray cluster of two local nodes: what is killed in the middle of training does not stop it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

pytest.importorskip("ray.rllib", reason="Ray has its own environment: run `make test-ray`")

import ray
from ray.cluster_utils import Cluster

from experiments import train_rllib
from llama_envs.core.registry import make_game
from llama_envs.policies.network import load_policy, load_value


@pytest.fixture
def two_nodes(ray_folder, monkeypatch):
    # Cluster writes its address into Ray's default folder, which it takes to be there
    monkeypatch.setenv("RAY_TMPDIR", ray_folder)
    Path(ray_folder, "ray").mkdir(exist_ok=True)
    nodes = {"num_cpus": 1, "temp_dir": ray_folder, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=nodes)
    try:
        second = cluster.add_node(num_cpus=1, temp_dir=ray_folder)
        cluster.wait_for_nodes()
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster, second
    finally:
        ray.shutdown()
        cluster.shutdown()


@pytest.mark.parametrize("lost", ["node", "env runner"])
def test_training_goes_on_and_finishes_without_what_is_killed(
    lost: str, two_nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster, second = two_nodes
    assert {node["NodeManagerAddress"] for node in ray.nodes()} == {"127.0.0.1"}
    game = make_game("lama", num_players=3)
    options = train_rllib.Options(
        total_timesteps=3000 if lost == "node" else 6000, num_env_runners=2, num_envs=2, train_batch_size=300,
        batch_size=64, n_epochs=1,
        layers=(16,), snapshots=1, snapshot_every=2, checkpoint_every=100,
    )  # fmt: skip
    built: list[Any] = []
    build, line = train_rllib.build, train_rllib.line

    def noted_build(*arguments: Any) -> Any:
        built.append(build(*arguments))
        return built[0]

    def kill_after_two(row: dict[str, Any], options: train_rllib.Options) -> str:
        if row["iteration"] == 2 and lost == "node":
            cluster.remove_node(second, allow_graceful=False)
        elif row["iteration"] == 2:
            ray.kill(built[0].env_runner_group._worker_manager.actors()[1], no_restart=False)
        return line(row, options)

    monkeypatch.setattr(train_rllib, "build", noted_build)
    monkeypatch.setattr(train_rllib, "line", kill_after_two)
    started = time.monotonic()
    train_rllib.train(game, options, tmp_path)
    assert time.monotonic() - started < 300  # it goes on at once, where a lost worker waited for would take for ever
    rows = pd.read_csv(tmp_path / "metrics.csv")
    assert rows["env_runners"].iloc[0] == 2
    assert rows["env_runners"].min() == 1
    assert rows["env_runners"].iloc[-1] == (1 if lost == "node" else 2)
    assert second.any_processes_alive() == (lost != "node")
    assert rows["step"].iloc[-1] >= options.total_timesteps
    assert rows["step"].is_monotonic_increasing
    assert rows["vf_loss"].notna().all()
    load_policy(tmp_path / "model.zip", game)
    load_value(tmp_path / "model.zip", game)
