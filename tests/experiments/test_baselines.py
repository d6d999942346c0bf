"""experiments.baselines: the recipes are those behind what ships, and trying them touches nothing that ships."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path

import pytest

from experiments import baselines
from experiments.train.options import RENAMED
from llama_envs.core.registry import game_specs, make_game, spec_of
from llama_envs.policies import make_policy
from llama_envs.policies.network import read_policy
from tests.experiments.commands import Refusal, call

SHIPPED = {file.stem: file for spec in game_specs() for file in baselines.shipped(spec)}


def digests() -> dict[str, str]:
    """What ships: every file in a folder of baselines, and what is in it."""
    folders = [spec.baselines for spec in game_specs() if spec.baselines is not None]
    files = [file for folder in folders for file in folder.iterdir()]
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_there_is_a_recipe_for_everything_that_ships_and_for_nothing_else() -> None:
    assert set(baselines.recipes()) == set(SHIPPED)
    assert len(SHIPPED) == 7
    for name, recipe in baselines.recipes().items():
        assert recipe.players in spec_of(recipe.game).players
        assert name == f"{recipe.game}_{recipe.players}p"


@pytest.mark.parametrize("name", SHIPPED)
def test_what_ships_was_made_by_its_recipe(name: str) -> None:
    made = read_policy(SHIPPED[name]).about["made"]
    recipe = baselines.commands(name, baselines.Options(seed=made["seed"]))
    for old, new in RENAMED.items():  # what ships was made before options had the names of Stable-Baselines3
        made["commands"] = [command.replace(f" --{old} ", f" --{new} ") for command in made["commands"]]
    assert made["commands"] == [f"python -m {shlex.join(words)}" for words in recipe]
    assert made["minutes"] <= 30
    assert {"python", "numpy", "numba", "torch", "stable-baselines3", "sb3-contrib"} <= set(made["versions"])


@pytest.mark.parametrize("spec", [spec for spec in game_specs() if spec.baselines], ids=lambda spec: spec.name)
def test_the_table_of_what_ships_is_that_of_the_files(spec) -> None:
    assert spec.baselines is not None
    text = (spec.baselines / "README.md").read_text(encoding="utf-8")
    assert baselines.table(spec) in text
    assert baselines.with_table(text, spec) == text
    assert baselines.with_table(text.replace("0.", "0.9"), spec) != text.replace("0.", "0.9")


def test_a_chain_starts_each_experiment_from_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = (("experiments.distill", "--positions 5"), ("experiments.train", "--total-timesteps 7"))
    monkeypatch.setattr(baselines, "recipes", lambda: {"lama_2p": baselines.Recipe("lama", 2, steps)})
    first, second = baselines.commands("lama_2p", baselines.Options(seed=3))
    assert "--init-from" not in first
    assert second[second.index("--init-from") + 1] == "runs/baseline-lama_2p-s3-0/model.zip"
    assert second[second.index("--name") + 1] == "baseline-lama_2p-s3-1"
    assert second[second.index("--total-timesteps") + 1] == "7"


def test_trying_a_recipe_leaves_what_ships_alone_and_writes_one_file_that_says_how_it_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = "--total-timesteps 512 --num-envs 32 --n-steps 8 --batch-size 128 --n-epochs 1 --layers 8"
    monkeypatch.setitem(baselines.SMALL, "experiments.train", sizes)
    before = digests()
    arguments = ["--only", "llama_llama_2p", "--quick", "--deals", "20"]
    assert call(baselines.main, arguments, tmp_path, monkeypatch) == 0
    assert digests() == before
    folder = tmp_path / "runs" / "baselines"
    assert [file.name for file in folder.iterdir()] == ["llama_llama_2p.npz"]
    assert "policy: runs/baselines/llama_llama_2p.npz" in capsys.readouterr().out
    about = read_policy(folder / "llama_llama_2p.npz").about
    assert about["config"]["num_players"] == 2
    assert about["config"]["reward"] == "score"
    assert about["trained"] == ["policy", "value"]
    made = about["made"]
    assert all(command.startswith("python -m experiments.") for command in made["commands"])
    assert set(made["evaluation"]["against"]) == {"heuristic", "random"}
    assert made["evaluation"]["deals"] == 20
    make_policy(f"network:{folder / 'llama_llama_2p.npz'}", make_game("llama_llama", num_players=2))
    assert call(baselines.main, arguments, tmp_path, monkeypatch) == 2
    assert "exists; move it away first" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--quick", "--out", str(spec_of("lama").baselines)], "out must be another folder with --quick"),
        (["--only", "chess"], "there is no recipe 'chess'; there is one for each of lama_2p"),
        (["--out", __file__], "out must be a folder, and"),
        (["--seed", "-1"], "seed must be an integer from 0"),
        (["--deals", "0"], "deals must be an integer from 1"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_bad_options_are_refused_before_anything_is_made(
    arguments: list[str], words: str, refusal: Refusal, tmp_path: Path
) -> None:
    before = digests()
    assert words in refusal(baselines.main, arguments)
    assert list(tmp_path.iterdir()) == []
    assert digests() == before


def test_a_recipe_that_fails_says_so_and_writes_no_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = baselines.Recipe("lama", 2, (("no_such_experiment", "--steps 5"),))
    monkeypatch.setattr(baselines, "recipes", lambda: {"lama_2p": recipe})
    assert call(baselines.main, ["--out", "made"], tmp_path, monkeypatch) == 2
    message = capsys.readouterr().err.strip()
    assert message.startswith("error: python -m no_such_experiment lama --num-players 2 ")
    assert message.endswith("No module named no_such_experiment (see runs/baseline-lama_2p-s0-0.log).")
    assert not (tmp_path / "made").exists()
