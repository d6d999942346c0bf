"""experiments.exact: PPO measured against solved variants, and a report that says what was found."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from agents.ppo import actor
from agents.sequence_form import (
    SequenceForm,
    enumerate_game,
    game_values,
    nash_conv,
    normalised,
    uniform_strategy,
)
from experiments.exact import __main__ as exact
from experiments.exact import learning, report
from experiments.exact.variants import VARIANTS, chosen_variants
from experiments.train.learner import build
from llama_envs.core import registry
from llama_envs.policies.tabular import load_table
from tests.cases import CHECKOUT
from tests.experiments.commands import Refusal, call


@pytest.fixture(scope="module")
def middle() -> SequenceForm:
    (variant,) = chosen_variants(("lama-3x2-2-score",), quick=False)
    return enumerate_game(variant.make())


def lopsided(form: SequenceForm, seed: int) -> np.ndarray:
    """A random strategy that depends on the observation alone."""
    weight = np.random.default_rng(seed).random(len(form.action))
    return normalised(form, weight, form.slot)


def test_a_network_that_says_nothing_plays_uniformly(middle: SequenceForm) -> None:
    network = actor(middle.game.observation.size, middle.game.num_actions, [8])
    for parameter in network.parameters():
        parameter.data.zero_()
    assert learning.network_strategy(middle, network) == pytest.approx(uniform_strategy(middle))


def test_training_lowers_nash_conv_and_is_measured_from_the_first_step_to_the_last(middle: SequenceForm) -> None:
    curve = learning.train_ppo(middle, seed=0, steps=49_152)
    assert curve["steps"].iloc[0] == 0
    assert curve["steps"].iloc[-1] == 49_152
    untrained = 100 * nash_conv(middle, uniform_strategy(middle)) / middle.payoff_range
    assert curve["nash_conv_percent"].iloc[0] == pytest.approx(untrained, rel=0.05)
    assert curve["nash_conv_percent"].iloc[-1] < untrained / 2
    assert curve["nash_conv_of_average_percent"].iloc[0] == pytest.approx(curve["nash_conv_percent"].iloc[0])


def test_the_average_of_two_strategies_plays_each_half_the_time(middle: SequenceForm) -> None:
    average, first, second = learning.AveragePlan(middle), lopsided(middle, 1), lopsided(middle, 2)
    for strategy in (first, second):
        average.add(strategy)
    owner = np.concatenate([[0, 1], middle.seat[middle.set_of[2:]]])
    fixed = uniform_strategy(middle)

    def paid(strategy: np.ndarray) -> float:
        return float(game_values(middle, np.where(owner == 0, strategy, fixed))[0])

    assert paid(average.strategy()) == pytest.approx((paid(first) + paid(second)) / 2, abs=1e-12)


def test_five_seeds_are_five_samples_that_share_no_game__B20(middle: SequenceForm, tmp_path: Path) -> None:
    played: set[tuple[int, int]] = set()
    number = 0
    for seed in range(5):
        options = learning.ppo_options(seed, 8192)
        model, self_play = build(middle.game, options, tmp_path / str(seed))
        model.logger.close()
        self_play.env.reset()
        batch = self_play.env.games.batch
        origin = list(zip(*(array.tolist() for array in batch.origin), strict=True))
        played |= set(origin)
        number += len(origin)
    assert number == 5 * 256
    assert len(played) == number


def test_a_run_writes_report_tables_and_policies_that_agree(tmp_path: Path) -> None:
    names = ("lama-2x3-2-win", "llama_llama-ab12-4p-score")
    options = exact.Options(variants=names, out=tmp_path / "report", tables=tmp_path / "tables", seeds=0)
    text = exact.study(options, tmp_path / "run").read_text()
    frame = pd.read_csv(tmp_path / "report" / "exact.csv").set_index("variant")
    assert tuple(frame.index) == names
    assert frame.loc[names[0], "nash_conv_percent"] < 0.01
    assert frame.loc[names[1], "nash_conv_percent"] > 0.1
    assert f"It stayed above 0.1 % in `{names[1]}`, which is not solved." in text
    assert f"{frame.loc[names[0], 'histories']:,}" in text
    for name in names:
        variant = next(variant for variant in VARIANTS if variant.name == name)
        assert f"python -m experiments.exact --variants {name} --seeds 0" in text
        table = load_table(tmp_path / "tables" / f"{name}.npz", variant.make())
        assert len(table) == frame.loc[name, "observations"]


def test_numbers_do_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        exact.study(
            exact.Options(
                workers=workers, variants=("lama-2x2-1-win", "lama-3x2-2-score"), out=folder, tables=folder, seeds=2,
                steps=8192,
            ),
            tmp_path / f"run-{workers}",
        )  # fmt: skip
    one, two = (tmp_path / "1", tmp_path / "2")
    assert (one / "exact_ppo.csv").read_bytes() == (two / "exact_ppo.csv").read_bytes()
    solved = [pd.read_csv(folder / "exact.csv").drop(columns="cpu_seconds") for folder in (one, two)]
    assert solved[0].equals(solved[1])
    for name in ("lama-2x2-1-win.npz", "lama-3x2-2-score.npz"):
        assert (one / name).read_bytes() == (two / name).read_bytes()


def test_the_committed_report_is_about_the_committed_numbers_and_variants() -> None:
    folder = CHECKOUT / "experiments" / "reports"
    text = (folder / "exact.md").read_text()
    rows = pd.read_csv(folder / "exact.csv").to_dict("records")
    assert [row["variant"] for row in rows] == [variant.name for variant in VARIANTS]
    solutions: Any = {row["variant"]: SimpleNamespace(row=row) for row in rows}
    for line in report.findings(solutions).splitlines():
        assert line in text
    assert report.variants_text(VARIANTS) in text
    for row in rows:
        assert f"| `{row['variant']}` | {row['players']} | {row['histories']:,} | {row['information_sets']:,} |" in text
        if row["variant"] != "llama_llama-ab12-4p-score":
            assert row["nash_conv_percent"] < 0.1


def test_names_of_variants_are_unique_and_an_unknown_one_is_refused() -> None:
    names = [variant.name for variant in VARIANTS]
    assert len(set(names)) == len(names)
    with pytest.raises(ValueError, match=r"there is no variant 'chess' .*; the variants are lama-2x2-1-win"):
        chosen_variants(("chess",), quick=False)


def test_only_the_usual_questions_replace_the_committed_report() -> None:
    assert exact.is_usual(exact.Options(workers=1, name="x"))
    for changed in ({"quick": True}, {"variants": ("lama-2x2-1-win",)}, {"seeds": 0}, {"steps": 1}):
        assert not exact.is_usual(exact.Options(**changed))


def test_a_run_goes_on_with_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--variants", "lama-2x2-1-win", "lama-3x2-2-score", "--seeds", "2", "--steps", "8192", "--name", "x",
                 "--workers", "1"]  # fmt: skip
    train_on, trained = exact.train_on, []

    def interrupted(job: Any) -> pd.DataFrame:
        trained.append(job)
        if len(trained) == 2:
            raise KeyboardInterrupt
        return train_on(job)

    monkeypatch.setattr(exact, "train_on", interrupted)
    assert call(exact.main, arguments, tmp_path, monkeypatch) == 130
    assert "the same command with --name x --resume goes on" in capsys.readouterr().err
    monkeypatch.setattr(exact, "solve", None)  # both are solved
    assert call(exact.main, [*arguments, "--resume"], tmp_path, monkeypatch) == 0
    assert len(trained) == 3
    for file in ("exact.csv", "exact_ppo.csv"):
        assert (tmp_path / "runs" / "x" / file).is_file()
    curves = pd.read_csv(tmp_path / "runs" / "x" / "exact_ppo.csv")
    assert curves.groupby("seed").size().tolist() == [2, 2]
    assert call(exact.main, [*arguments[:-2], "--steps", "9", "--resume"], tmp_path, monkeypatch) == 2
    assert "steps was 8192, is 9" in capsys.readouterr().err


def test_a_game_of_another_package_is_solved_and_ppo_measured_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(CHECKOUT / "tests" / "third_party")
    from kuhn_poker import SPEC

    monkeypatch.setitem(registry._ADDED, "kuhn", SPEC)
    arguments = ["--variants", "kuhn", "--seeds", "1", "--steps", "2048", "--name", "kuhn"]
    assert call(exact.main, arguments, tmp_path, monkeypatch) == 0
    folder = tmp_path / "runs" / "kuhn"
    row = pd.read_csv(folder / "exact.csv").iloc[0]
    assert row["value_0"] == pytest.approx(-1 / 18, abs=1e-3)
    text = (folder / "exact.md").read_text()
    assert "| `kuhn` | 2 | 58 | 12 |" in text
    assert "L.L.A.M.A." not in text
    assert "## PPO on the same variants" in text
    assert len(load_table(tmp_path / "runs" / "exact" / "kuhn.npz", registry.make_game("kuhn"))) == 12


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--variants", "chess"], "there is no variant 'chess'"),
        (["--workers", "-1"], "workers must be an integer from 0"),
        (["--steps", "-5"], "steps must be an integer from 1"),
        (["--seeds", "-1"], "seeds must be an integer from 0"),
        (["--tables", __file__], "tables must be a folder, and "),
        (["--out", __file__], "out must be a folder, and "),
    ],
    ids=lambda value: " ".join(value[:1]) if isinstance(value, list) else "",
)
def test_bad_options_are_refused_before_anything_is_solved(arguments: list[str], words: str, refusal: Refusal) -> None:
    assert words in refusal(exact.main, arguments)
