"""cli.run_folder: one process claims a run, which holds all that decides its results and refuses anything else."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from llama_envs.cli.run_folder import default_name, open_run, read_config, whole_truth
from llama_envs.core.registry import game_specs, make_game
from llama_envs.policies.shipped import baseline_file
from tests.cases import run_python

CONFIG = {"seed": 1, "deals": 100, "policies": ["random"]}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_run_begins_with_its_config_command_and_versions() -> None:
    folder = open_run("a", CONFIG, resume=False)
    assert read_config(folder) == CONFIG
    assert json.loads((folder / "versions.json").read_text(encoding="utf-8"))["python"]
    assert (folder / "command.txt").read_text(encoding="utf-8").strip()


def test_exactly_one_of_many_claims_succeeds__N12() -> None:
    for number in range(30):
        together = Barrier(4)

        def claim(_: int, name: str = str(number), together: Barrier = together) -> str:
            together.wait()
            try:
                open_run(name, CONFIG, resume=False)
            except ValueError as error:
                return str(error)
            return "claimed"

        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(claim, range(4)))
        assert found.count("claimed") == 1
        assert sum("exists; choose another --name" in sentence for sentence in found) == 3


def test_default_names_never_collide__N12() -> None:
    assert len({default_name("lama", "4p", "s0") for _ in range(500)}) == 500


def test_a_run_in_use_is_refused_to_another_process_and_free_when_that_one_ends() -> None:
    open_run("a", CONFIG, resume=False)
    there = f"import os; os.chdir({str(Path.cwd())!r})\nfrom llama_envs.cli.run_folder import open_run\n"
    code = f"""
try:
    open_run("a", {CONFIG!r}, resume=True)
    print("opened")
except ValueError as error:
    print(error)
"""
    assert run_python(there + code) == f"{Path('runs/a')} is in use by another process."
    assert run_python(there + f"open_run('b', {CONFIG!r}, resume=False)") == ""
    open_run("b", CONFIG, resume=True)


def test_every_difference_is_named_and_refused__N04() -> None:
    folder = open_run("a", CONFIG, resume=False)
    with pytest.raises(ValueError, match=r"deals was 100, is 50; policies was .*; seed was 1, is 2; give the same"):
        open_run("a", {"seed": 2, "deals": 50, "policies": ["heuristic"]}, resume=True, may_grow=("deals",))
    assert read_config(folder) == CONFIG


def test_what_may_grow_is_written_down_with_the_command__N04() -> None:
    folder = open_run("a", CONFIG, resume=False)
    open_run("a", {**CONFIG, "deals": 200}, resume=True, may_grow=("deals",))
    assert read_config(folder)["deals"] == 200
    assert len((folder / "command.txt").read_text(encoding="utf-8").splitlines()) == 2
    with pytest.raises(ValueError, match="deals was 200, is 150"):
        open_run("a", {**CONFIG, "deals": 150}, resume=True, may_grow=("deals",))


def shipped() -> tuple[Any, Path]:
    game = make_game(next(spec.name for spec in game_specs() if spec.baselines is not None))
    return game, baseline_file(game)


def test_a_replaced_policy_file_is_another_configuration__N05() -> None:
    game, file = shipped()
    shutil.copy(file, "mine.npz")
    first = whole_truth(game, {}, ["network:mine.npz", "random"])
    open_run("a", first, resume=False)
    Path("mine.npz").write_bytes(file.read_bytes() + b" ")
    with pytest.raises(ValueError, match=r"files was .*, is "):
        open_run("a", whole_truth(game, {}, ["network:mine.npz", "random"]), resume=True)


@pytest.mark.parametrize("spec", ["mine.py:Mine:table.txt", "ours:Mine:table.txt"])
@pytest.mark.parametrize("changed", ["source", "argument"])
def test_a_changed_policy_of_ones_own_is_another_configuration__N05(
    spec: str, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, _ = shipped()
    monkeypatch.syspath_prepend(".")
    for source in ("mine.py", "ours.py"):
        Path(source).write_text("class Mine: pass")
    Path("table.txt").write_text("1")
    open_run("a", whole_truth(game, {}, [spec]), resume=False)
    open_run("a", whole_truth(game, {}, [spec]), resume=True)
    Path(f"{spec[:4]}.py" if changed == "source" else "table.txt").write_text("# another")
    with pytest.raises(ValueError, match=r"files was .*, is "):
        open_run("a", whole_truth(game, {}, [spec]), resume=True)


def test_the_package_version_belongs_to_a_run__N05(monkeypatch: pytest.MonkeyPatch) -> None:
    game, _ = shipped()
    open_run("a", whole_truth(game, {}), resume=False)
    monkeypatch.setattr("llama_envs.__version__", "99.0")
    with pytest.raises(ValueError, match=r"llama_envs was '.*', is '99.0'"):
        open_run("a", whole_truth(game, {}), resume=True)


@pytest.mark.parametrize("content", ["", "{", "[]", "\x00"])
def test_a_damaged_config_is_named__K20(content: str) -> None:
    folder = open_run("a", CONFIG, resume=False)
    (folder / "config.json").write_text(content)
    with pytest.raises(ValueError, match=r"config.json is damaged"):
        open_run("a", CONFIG, resume=True)


@pytest.mark.parametrize("name", ["", "a/b", "..", ".hidden", "x" * 300, "a\nb"])
def test_a_name_that_is_no_folder_name_is_refused_and_leaves_nothing(name: str) -> None:
    with pytest.raises(ValueError, match="name must be a plain folder name"):
        open_run(name, CONFIG, resume=False)
    assert not Path("runs").exists()


def test_a_file_where_runs_are_kept_is_one_sentence__N26() -> None:
    Path("runs").write_text("mine")
    with pytest.raises(ValueError, match="runs are kept in a folder runs, and here that is a file"):
        open_run("a", CONFIG, resume=False)
    assert Path("runs").read_text() == "mine"


def test_there_must_be_a_run_to_resume() -> None:
    with pytest.raises(ValueError, match="there is no run"):
        open_run("a", CONFIG, resume=True)
