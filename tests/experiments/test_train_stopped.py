"""Ctrl-C in train, exploit and distill: one line within two seconds, all but the running rollout kept, and going on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from experiments import distill, exploit
from experiments.train import __main__ as train
from experiments.train.checkpoint import Checkpoint
from llama_envs.policies.network import read_policy
from tests.cases import CHECKOUT
from tests.experiments.commands import call, sentence

SIZES = ["--num-envs", "16", "--n-steps", "8", "--batch-size", "64", "--layers", "16", "--num-players", "2"]
SLOW = """
import time


class Slow:
    needs_worlds = False

    def __init__(self, game=None): ...

    def act(self, view):
        time.sleep({})
        return view.mask.argmax(axis=1)
"""


def stop(command: list[str], folder: Path, files: str, rows: int, also: str = "", seconds: float = 2) -> str:
    """Start a command, send Ctrl-C once ``files`` have so many rows of metrics; what it says within ``seconds``."""
    process = subprocess.Popen(
        [sys.executable, "-m", *command], cwd=folder, env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        until = time.monotonic() + 120
        while time.monotonic() < until and process.poll() is None:
            metrics = [folder / file for file in files.split()]
            if all(path.is_file() and len(path.read_text().splitlines()) > rows for path in metrics):
                break
            time.sleep(0.02)
        if also:
            time.sleep(float(also))
        started = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: every process of the command
        assert process.stderr is not None
        line = process.stderr.readline()
        assert time.monotonic() - started < seconds
        _, more = process.communicate(timeout=30)
        assert process.returncode == 130, line + more
        return sentence(line + more)
    finally:
        process.kill()
        process.wait()


def same_weights(one: Path, two: Path) -> bool:
    first, second = read_policy(one).arrays, read_policy(two).arrays
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)


def scalars(folder: Path, name: str = "train/loss") -> list[int]:
    """The steps at which TensorBoard shows a metric."""
    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    return [event.step for event in events.Scalars(name)]


def test_a_stopped_run_goes_on_as_if_it_had_not_been_stopped_with_metrics_and_every_step_once__N14(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["lama", "--total-timesteps", str(128 * 60), *SIZES, "--checkpoint-every", "1000", "--snapshot-every",
                 "2", "--deals", "0", "--evaluate-every", "7", "--evaluate-deals", "5"]  # fmt: skip
    said = stop(["experiments.train", *arguments, "--name", "cut"], tmp_path, "runs/cut/metrics.csv", 9)
    time.sleep(1)  # TensorBoard tells the order of its files by the second in their names
    assert "runs/cut keeps all but the running rollout" in said
    assert "--name cut --resume goes on" in said
    folder, whole = (tmp_path / "runs" / name for name in ("cut", "whole"))
    kept = Checkpoint(folder / "checkpoint.pkl").read()
    assert kept is not None
    rows = len(pd.read_csv(folder / "metrics.csv"))
    assert not (folder / "model.zip").exists(), "it ended before it could be stopped"
    assert 0 <= rows - kept["rows"] <= 1  # the checkpoint of the beginning would have none
    for name, more in (("cut", ["--resume"]), ("whole", [])):
        assert call(train.main, [*arguments, "--name", name, *more], tmp_path, monkeypatch) == 0
    assert same_weights(folder / "model.zip", whole / "model.zip")
    assert same_weights(folder / "best_model.zip", whole / "best_model.zip")
    cut, uncut = (pd.read_csv(path / "metrics.csv") for path in (folder, whole))
    steps = [128 * rollout for rollout in range(61)]
    assert cut["step"].tolist() == uncut["step"].tolist() == steps
    timing = [column for column in cut.columns if column.startswith("time/")]
    pd.testing.assert_frame_equal(cut.drop(columns=timing), uncut.drop(columns=timing))
    assert scalars(folder) == scalars(whole) == steps[1:]
    assert scalars(folder, "eval/win_share_random") == [*steps[::7], steps[-1]]


@pytest.mark.parametrize("command", ["train", "exploit"])
def test_an_opponent_that_thinks_long_does_not_delay_it(command: str, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW.format(60))
    slow = (
        ["--scripted", "slow.py:Slow", "--evaluate-every", "0"] if command == "train" else ["--target", "slow.py:Slow"]
    )
    if command == "exploit":
        (tmp_path / "slow.py").write_text(SLOW.format("0.0 if len(view) == 64 else 60"))  # the warning asks it for 64
        slow += ["--init-from", "none"]
    said = stop(
        [f"experiments.{command}", "lama", "--name", "x", *SIZES, *slow], tmp_path, "runs/x/config.json", 1, "4"
    )
    assert "runs/x keeps all but the running rollout" in said


def test_a_stopped_response_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["lama", *SIZES, "--total-timesteps", str(128 * 40), "--init-from", "none", "--candidates", "2",
                 "--selection-deals", "4", "--deals", "4", "--checkpoint-every", "1000"]  # fmt: skip
    stop(["experiments.exploit", *arguments, "--name", "cut"], tmp_path, "runs/cut/metrics.csv", 5)
    assert not (tmp_path / "runs" / "cut" / "exploit.csv").exists(), "it ended before it could be stopped"
    for name, more in (("cut", ["--resume"]), ("whole", [])):
        assert call(exploit.main, [*arguments, "--name", name, *more], tmp_path, monkeypatch) == 0
    cut, whole = (tmp_path / "runs" / name for name in ("cut", "whole"))
    for file in ("exploit.csv", "selection.csv"):
        assert (cut / file).read_bytes() == (whole / file).read_bytes()
    assert same_weights(cut / "model.zip", whole / "model.zip")


def test_a_stopped_distillation_keeps_its_positions_and_goes_on_exactly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["lama", "--num-players", "2", "--num-envs", "32", "--n-steps", "4", "--updates", "4", "--batch-size",
                 "64", "--layers", "16", "--teacher", "mc:2", "--positions", str(128 * 80), "--memory", "1000",
                 "--deals", "0"]  # fmt: skip
    said = stop(["experiments.distill", *arguments, "--name", "cut"], tmp_path, "runs/cut/metrics.csv", 13)
    assert "runs/cut keeps all but the running round" in said
    folder, whole = (tmp_path / "runs" / name for name in ("cut", "whole"))
    assert not (folder / "model.zip").exists(), "it ended before it could be stopped"
    state = Checkpoint(folder / "checkpoint.pkl").read()
    assert state is not None
    assert state["seen"] >= 128 * 12
    assert call(distill.main, [*arguments, "--name", "cut", "--resume", "--scale", "2"], tmp_path, monkeypatch) == 2
    assert "scale was 1.0, is 2.0" in sentence(capsys.readouterr().err)
    for name, more in (("cut", ["--resume"]), ("whole", [])):
        assert call(distill.main, [*arguments, "--name", name, *more], tmp_path, monkeypatch) == 0
        assert not (tmp_path / "runs" / name / "positions").exists()
    assert same_weights(folder / "model.zip", whole / "model.zip")
    cut, uncut = (pd.read_csv(path / "metrics.csv") for path in (folder, whole))
    assert cut[["step", "loss"]].equals(uncut[["step", "loss"]])


@pytest.mark.parametrize("seed", range(5))
def test_no_damaged_checkpoint_is_read__K20(seed: int, tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "checkpoint.pkl")
    checkpoint.keep({"weights": np.arange(1000.0), "steps": 5}, write=True)
    whole = bytearray(checkpoint.path.read_bytes())
    assert Checkpoint(checkpoint.path).read() is not None
    rng = np.random.default_rng(seed)
    for _ in range(50):
        damaged = whole.copy()
        damaged[rng.integers(len(whole))] ^= int(rng.integers(1, 256))
        cut = whole[: rng.integers(len(whole))]
        for content in (damaged, cut, b""):
            checkpoint.path.write_bytes(bytes(content))
            with pytest.raises(ValueError, match=r"checkpoint\.pkl is damaged"):
                Checkpoint(checkpoint.path).read()


def test_several_seeds_in_processes_keep_what_they_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["lama", "--name", "x", "--seeds", "2", "--workers", "2", "--total-timesteps", str(128 * 400), *SIZES,
                 "--checkpoint-every", "100000", "--deals", "0", "--evaluate-every", "0"]  # fmt: skip
    stop(["experiments.train", *arguments], tmp_path, "runs/x/run-0/metrics.csv runs/x/run-1/metrics.csv", 8)
    states = []
    for seed in (0, 1):
        checkpoint = tmp_path / "runs" / "x" / f"run-{seed}" / "checkpoint.pkl"
        until = time.monotonic() + 5  # it is written by a process that ends by itself
        while time.monotonic() < until and not (states[seed:] and states[seed]["rows"]):
            states[seed:] = [Checkpoint(checkpoint).read()]
            time.sleep(0.05)
    assert min(state["rows"] for state in states) > 0


def test_making_baselines_stops_at_once(tmp_path: Path) -> None:
    command = ["experiments.baselines", "--only", "llama_llama_2p", "llama_llama_3p", "--workers", "1"]
    said = stop(command, tmp_path, "runs/baseline-llama_llama_2p-s0-0/metrics.csv", 0, also="1")
    assert "runs/baseline-* keep what was trained" in said
    assert Checkpoint(tmp_path / "runs" / "baseline-llama_llama_2p-s0-0" / "checkpoint.pkl").read() is not None
    assert not (tmp_path / "runs" / "baseline-llama_llama_3p-s0-0").exists()
