"""Commands whose work Ray tasks do: the numbers of this machine's processes, what tasks know, how they end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("ray", reason="Ray has its own environment: run `make test-ray`")
pytest.importorskip("sb3_contrib", reason="training needs llama-envs[train]")

import ray

from experiments import distill
from experiments.train import __main__ as train
from experiments.train.checkpoint import Checkpoint
from llama_envs.cli.on_ray import ray_map
from tests.cases import CHECKOUT
from tests.experiments.commands import call
from tests.experiments.test_train_stopped import SIZES, same_weights, stop


@pytest.fixture(scope="module")
def two_tasks(ray_folder: str) -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _temp_dir=ray_folder)
    yield
    ray.shutdown()


@pytest.fixture
def elsewhere(ray_folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands in processes of their own keep Ray's files where those of the tests are."""
    monkeypatch.setenv("RAY_TMPDIR", ray_folder)


# ----------------------------------------------------------------------------------------------------- registered games

SCRIPT = """
import dataclasses
import sys
from llama_envs.cli import evaluate
from llama_envs.core.registry import register_game, spec_of
from llama_envs.policies import ScriptedPolicy, make_policy, register_policy


def build_own(game, argument):
    return make_policy("heuristic:" + argument, game)


if __name__ in ("__main__", "__mp_main__"):
    register_policy("own", build_own, "own:OPTION")
    register_game(dataclasses.replace(spec_of("lama"), name="their_game"))
if __name__ == "__main__":
    evaluate.main(["their_game", "--policies", "own:4", "random", "--deals", "60", "--num-players", "2", *sys.argv[1:]])
"""


def test_the_games_and_policies_that_a_script_registers_reach_tasks_as_they_reach_processes(
    elsewhere: None, tmp_path: Path
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    for name, who in (("ray", ["--ray"]), ("two", ["--workers", "2"])):
        subprocess.run(
            [sys.executable, "script.py", *who, "--out", f"{name}.csv"],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, check=True,
        )  # fmt: skip
    assert (tmp_path / "ray.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert set(pd.read_csv(tmp_path / "ray.csv")["policy"]) == {"own:4", "random"}


STOPPED = {
    "train": ["lama", "--seeds", "2", "--total-timesteps", str(128 * 60), *SIZES, "--checkpoint-every", "1000",
              "--snapshot-every", "2", "--deals", "4", "--evaluate-every", "7", "--evaluate-deals", "5"],
    "distill": ["lama", "--num-players", "2", "--num-envs", "40", "--n-steps", "4", "--updates", "4", "--batch-size",
                "64", "--layers", "16", "--teacher", "mc:2", "--positions", str(160 * 40), "--memory", "1000",
                "--deals", "0"],
}  # fmt: skip


@pytest.mark.parametrize("command", STOPPED)
def test_what_ray_computes_is_stopped_keeps_all_and_goes_on_to_the_numbers_of_this_machine(
    command: str, elsewhere: None, two_tasks: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, models = STOPPED[command], ["model.zip"]
    if command == "train":
        models = [f"run-{seed}/{file}.zip" for seed in (0, 1) for file in ("model", "best_model")]
    cut, whole = (tmp_path / "runs" / name for name in ("cut", "whole"))
    folder = (cut / models[0]).parent
    said = stop(
        [f"experiments.{command}", *arguments, "--name", "cut", "--ray"], tmp_path,
        str((folder / "metrics.csv").relative_to(tmp_path)), 9, seconds=4,
    )  # fmt: skip
    assert "keeps all but the running ro" in said
    kept = Checkpoint(folder / "checkpoint.pkl").read()
    assert kept is not None
    assert 0 <= len(pd.read_csv(folder / "metrics.csv")) - kept["rows"] <= 1
    assert not (folder / "model.zip").exists(), "it ended before it could be stopped"
    main = train.main if command == "train" else distill.main
    assert call(main, [*arguments, "--name", "cut", "--ray", "--resume"], tmp_path, monkeypatch) == 0
    assert call(main, [*arguments, "--name", "whole", "--workers", "1"], tmp_path, monkeypatch) == 0
    assert all(same_weights(cut / file, whole / file) for file in models)


# ------------------------------------------------------------------------------------------------------- how tasks fail


def root(number: int) -> float:
    if number < 0:
        raise ValueError(f"number must be 0 or more, got {number}.")
    return float(number**0.5)


def imports(name: str) -> object:
    return __import__(name)


def dies(_: object) -> None:
    os._exit(1)


def test_tasks_answer_in_order_and_raise_what_the_function_raises(two_tasks: None) -> None:
    assert list(ray_map(root, [4, 9, 16])) == [2, 3, 4]
    answers = ray_map(root, [4, -1, 9])
    assert next(answers) == 2
    with pytest.raises(ValueError, match=r"^number must be 0 or more, got -1\.$") as refused:
        next(answers)
    assert type(refused.value) is ValueError


def test_a_module_that_a_node_lacks_and_a_task_that_dies_are_named(two_tasks: None) -> None:
    with pytest.raises(ValueError, match=r"^a Ray task cannot import not_there, and each node must be able to\.$"):
        list(ray_map(imports, ["not_there"]))
    with pytest.raises(BrokenProcessPool):
        list(ray_map(dies, [1]))
