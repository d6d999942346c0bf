"""What is seen of training: metrics, TensorBoard, win shares on the way, the best model, progress, several seeds."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from experiments.lib.seeds import Purpose, run_seed, run_seeds
from experiments.train import __main__ as train
from experiments.train import curve, learner, watch
from experiments.train.curve import draw_learning_curve, over_seeds
from experiments.train.options import RENAMED, Options
from experiments.train.watch import SHARE, MetricsFile, ProgressLines, TensorBoardLog, progress_line
from llama_envs.core.registry import make_game
from llama_envs.evaluation import compare
from llama_envs.policies.network import read_policy
from tests.experiments.commands import Refusal, call

SIZES = ["--num-envs", "16", "--n-steps", "8", "--batch-size", "64", "--layers", "16", "--num-players", "2"]


# ------------------------------------------------------------------------------------------------ metrics, TensorBoard


def test_a_line_of_metrics_costs_the_same_however_many_there_are__N20(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    metrics = MetricsFile(path)
    metrics.write({"a": 1.5, "text": "no number"}, {}, 1)
    metrics.write({"a": 2.5, "late": 0.1}, {}, 2)  # written anew, once, for a column that it lacked
    file, content = path.stat().st_ino, path.read_bytes()
    for step in range(3, 300):
        metrics.write({"a": np.float32(step)} if step % 2 else {"a": step, "late": -1.0}, {}, step)
        assert path.stat().st_ino == file  # the same file, and what is in it stays
        grown = path.read_bytes()
        assert grown.startswith(content)
        assert len(grown) - len(content) < 20
        content = grown
    frame = pd.read_csv(path)
    assert frame["step"].tolist() == list(range(1, 300))
    assert list(frame.columns) == ["step", "a", "late"]
    assert frame["late"].isna().tolist() == [step % 2 == 1 for step in range(1, 300)]


def test_a_resumed_run_goes_on_after_the_rows_of_its_checkpoint__N20(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    metrics = MetricsFile(path)
    for step in range(5):
        metrics.write({"a": 0.1 + step}, {}, step)
    before = path.read_bytes().splitlines()[:4]
    path.write_bytes(path.read_bytes() + b"5,0.")  # killed in the middle of a line
    again = MetricsFile(path, rows=3)
    assert path.read_bytes().splitlines() == before
    again.write({"a": 9.0}, {}, 3)
    assert pd.read_csv(path)["a"].tolist() == [0.1, 1.1, 2.1, 9.0]
    MetricsFile(path)
    assert not path.exists()  # nothing was kept of a run that begins again


def test_tensorboard_shows_every_step_once_after_a_stop__N14(tmp_path: Path) -> None:
    for first, last in ((1, 9), (6, 12)):  # the checkpoint was that of step 5
        log = TensorBoardLog(tmp_path, first - 1 if first > 1 else -1)
        for step in range(first, last):
            log.write({"loss": float(first)}, {"loss": ()}, step)
        log.close()
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert [event.step for event in events.Scalars("loss")] == list(range(1, 12))
    assert [event.value for event in events.Scalars("loss")] == [1.0] * 5 + [6.0] * 6


# ------------------------------------------------------------------------------ win shares, the best model, the picture


def test_win_shares_are_those_of_the_policy_file_on_deals_that_stay_and_the_best_one_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["lama", "--name", "x", "--total-timesteps", str(128 * 12), *SIZES, "--learning-rate", "0.02",
                 "--evaluate-every", "3", "--evaluate-deals", "40", "--deals", "0"]  # fmt: skip
    assert call(train.main, arguments, tmp_path, monkeypatch) == 0
    folder, game = tmp_path / "runs" / "x", make_game("lama", num_players=2)
    metrics = pd.read_csv(folder / "metrics.csv").set_index("step")
    shares = metrics[[f"{SHARE}random", f"{SHARE}heuristic"]].dropna()
    assert shares.index.tolist() == [0, 384, 768, 1152, 1536]
    best = int(shares.mean(axis=1).idxmax())
    for file, step in (("model.zip", 1536), ("best_model.zip", best)):
        assert read_policy(folder / file).about["made"]["decisions"] == step
        for rival in ("random", "heuristic"):
            found = compare(game, [f"ppo:{folder / file}", rival], 40, run_seed(0, Purpose.WATCHING))
            assert metrics.loc[step, f"{SHARE}{rival}"] == found.share[0]
            assert metrics.loc[step, f"{SHARE}{rival}_95"] == found.interval[0]
    assert shares.nunique().max() > 1
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "1,536 decisions in 12 rollouts of 128, in runs/x"
    lines = [line for line in shown if " of 1,536 decisions" in line]
    assert len(lines) == 5
    last = watch.plus_minus(*metrics.loc[1536, [f"{SHARE}heuristic", f"{SHARE}heuristic_95"]])
    assert lines[-1].startswith("1,536 of 1,536 decisions, ")
    assert lines[-1].endswith(f"wins {last} against heuristic")
    assert all(word in lines[-1] for word in ("/s, reward ", ", entropy ", "against random"))


def test_progress_is_printed_while_it_goes_on_where_the_output_is_no_terminal(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments.train", "lama", "--name", "x", "--total-timesteps", str(10**7), *SIZES,
         "--evaluate-every", "2", "--evaluate-deals", "2"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.getcwd()}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        lines = [process.stdout.readline() for _ in range(5)]
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert [" of 10,000,000 decisions" in line or " rollouts of 128" in line for line in lines] == [True] * 5
    assert "\x1b" not in "".join(lines)


def test_progress_lines_come_at_evaluations_and_every_few_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr(watch.time, "perf_counter", lambda: now[0])
    lines = ProgressLines(1000, "seed 3: ")
    printed = []
    for step in range(100, 1100, 100):
        lines.write({f"{SHARE}random": 0.5, f"{SHARE}random_95": 0.1} if step == 300 else {}, {}, step)
        printed.append(bool(capsys.readouterr().out))
        now[0] += 4
    assert printed == [True, False, True, False, False, True, False, False, True, False]
    assert progress_line({}, 5, 10, 0.0, "seed 3: ") == "seed 3: 5 of 10 decisions"


def frame(shares: list[float], **more: Any) -> pd.DataFrame:
    return pd.DataFrame(
        {"step": [0, 100, 200], f"{SHARE}random": shares, f"{SHARE}random_95": 0.05, "train/entropy_loss": -1.0, **more}
    )


def test_the_band_is_over_deals_for_one_run_and_over_seeds_for_several() -> None:
    runs = [frame([0.1, np.nan, 0.4]), frame([0.3, np.nan, 0.5]), frame([0.2, np.nan, 0.9])]
    alone = over_seeds(runs[:1], f"{SHARE}random")
    assert alone["mean"].tolist() == [0.1, 0.4]
    assert alone["half"].tolist() == [0.05, 0.05]
    together = over_seeds(runs, f"{SHARE}random")
    assert together.index.tolist() == [0, 200]
    assert together["mean"].tolist() == pytest.approx([0.2, 0.6])
    assert together["half"].iloc[0] == pytest.approx(4.302653 * 0.1 / np.sqrt(3), rel=1e-5)  # Student's t, 2 degrees


def test_the_learning_curve_shows_win_shares_where_they_were_measured_and_else_the_reward(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles: list[list[str]] = []
    monkeypatch.setattr(
        curve.plt, "close", lambda figure: titles.append([axis.get_title() for axis in figure.get_axes()])
    )
    reward = {"rollout/ep_rew_mean": 0.5}
    game = make_game("lama", num_players=2)
    draw_learning_curve(game, [frame([0.1, 0.2, 0.3], **reward)] * 2, tmp_path / "shares.png")
    draw_learning_curve(game, [frame([0.1, 0.2, 0.3], **reward)[["step", *reward]]], tmp_path / "reward.png")
    assert titles == [["win share against", "entropy of the policy"], ["mean reward of an episode"]]
    assert (tmp_path / "shares.png").read_bytes()[:4] == b"\x89PNG"


# -------------------------------------------------------------------------------------------------------- several seeds


def test_seeds_are_independent_runs_the_same_as_alone_whoever_trains_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = ["--total-timesteps", "256", *SIZES, "--evaluate-every", "1", "--evaluate-deals", "4"]
    for name, workers in (("here", "1"), ("two", "2")):
        arguments = [
            "lama",
            "--name",
            name,
            "--seed",
            "3",
            "--seeds",
            "2",
            "--workers",
            workers,
            *steps,
            "--deals",
            "6",
        ]
        assert call(train.main, arguments, tmp_path, monkeypatch) == 0
    assert "win share against heuristic, over 2 seeds: 0." in capsys.readouterr().out
    seeds = run_seeds(3, Purpose.RUNS, 2).tolist()
    arguments = ["lama", "--name", "alone", "--seed", str(seeds[1]), *steps, "--deals", "6"]
    assert call(train.main, arguments, tmp_path, monkeypatch) == 0
    runs = tmp_path / "runs"
    found = [read_policy(runs / path).arrays for path in
             ("here/run-0/model.zip", "two/run-0/model.zip", "here/run-1/model.zip", "two/run-1/model.zip",
              "alone/model.zip")]  # fmt: skip

    def same(one: int, two: int) -> bool:
        return all(np.array_equal(found[one][name], found[two][name]) for name in found[one])

    assert same(0, 1)
    assert same(2, 3)
    assert same(3, 4)
    assert not same(0, 2)
    assert (runs / "two" / "learning_curve.png").is_file()
    evaluated = [pd.read_csv(runs / path / "evaluation.csv")["win_share"] for path in ("alone", "two/run-1")]
    assert evaluated[0].equals(evaluated[1])
    table = pd.read_csv(runs / "two" / "evaluation.csv")
    assert set(zip(table["seed"], table["against"], strict=True)) == {
        (seed, rival) for seed in seeds for rival in ("random", "heuristic")
    }
    assert call(train.main, ["lama", "--name", "two", "--resume"], tmp_path, monkeypatch) == 2
    assert "seeds was 2, is 1" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_an_option_of_an_old_name_is_refused_with_the_new_one(old: str, new: str, refusal: Refusal) -> None:
    assert refusal(train.main, ["lama", f"--{old}", "5"]) == f"--{old} is called --{new} now."
    assert refusal(train.main, ["lama", f"--{old}=5"]) == f"--{old} is called --{new} now."


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--threads", "1024"], f"threads must be an integer from 1 to {os.cpu_count()}"),
        (["--name", "x" * 300], "name must be a plain folder name of at most 120 characters"),
        (["--num-envs", "1048576", "--n-steps", "1048576"], "num_envs × n_steps must be at most 16,777,216 decisions"),
        (["--layers", "65536", "65536"], "layers must have at most 100,000,000 weights between them"),
        (["--device", "tpu"], "device must be one of 'cpu', 'cuda', 'mps', 'auto', got 'tpu'"),
        (["--seed", "18446744073709551616"], "seed must be an integer in [0, 2**64)"),
        (["--evaluate-every", "-1"], "evaluate_every must be an integer from 0"),
        (["--clip-range", "nan"], "clip_range must lie above 0"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_options_of_training_are_checked_before_anything_is_written(
    arguments: list[str], words: str, refusal: Refusal
) -> None:
    assert words in refusal(train.main, ["lama", *arguments])


@pytest.mark.parametrize("absent", ["cuda", "mps"])
def test_a_device_that_is_not_here_is_refused(absent: str, refusal: Refusal, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (torch.cuda, torch.backends.mps):
        monkeypatch.setattr(module, "is_available", lambda: False)
    message = refusal(train.main, ["lama", "--device", absent])
    assert message == f"device must be one of those here, cpu, or auto, got {absent}."


@pytest.mark.parametrize("here", [(), ("cuda",), ("mps",), ("cuda", "mps")])
def test_the_device_that_auto_chooses_is_said_in_the_config(
    here: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((torch.cuda, "cuda"), (torch.backends.mps, "mps")):
        monkeypatch.setattr(module, "is_available", lambda name=name: name in here)
    config = learner.config_of(make_game("lama"), Options(device="auto"))
    assert config["device"] == (*here, "cpu")[0]
    assert learner.config_of(make_game("lama"), Options())["device"] == "cpu"


# -------------------------------------------------------------------------------------------------------------- threads


def test_training_keeps_its_speed_beside_one_busy_process_on_every_core(tmp_path: Path) -> None:
    """By processor time, of which the scheduler gives it less: two threads burned ten times as much of it waiting."""
    game = make_game("lama")

    def speed(folder: Path) -> float:
        options = Options(evaluate_every=0, num_envs=512)
        model, self_play = learner.build(game, options, folder)
        learner.learn(model, 16384, self_play, quiet=True)
        started = time.process_time()
        learner.learn(model, 16384 * 4, self_play, quiet=True)
        return 16384 * 3 / (time.process_time() - started)

    quiet = speed(tmp_path / "quiet")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        beside = speed(tmp_path / "beside")
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert beside >= 0.4 * quiet
