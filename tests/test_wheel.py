"""What the wheel holds plays by itself: without torch, without the checkout's agents and experiments."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

PLAYS = """
import sys
import gymnasium
import llama_envs
from llama_envs.core.registry import game_specs, make_game
from llama_envs.evaluation import compare

assert "site" in llama_envs.__file__, llama_envs.__file__
for spec in game_specs():
    for opponents in ("baseline", "heuristic", "mc:50"):
        envs = gymnasium.make_vec(spec.gymnasium_id, num_envs=4, opponents=opponents)
        observation, _ = envs.reset(seed=0)
        envs.step(observation["action_mask"].argmax(axis=1))
    game = make_game(spec.name, num_players=min(spec.players))
    print(compare(game, ["baseline", "heuristic"], deals=10, seed=0))
loaded = {name.split(".")[0] for name in sys.modules}
assert not loaded & {"torch", "agents", "experiments", "pandas", "stable_baselines3", "tyro"}, loaded
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, source = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "llama_envs", source / "llama_envs", ignore=shutil.ignore_patterns("__pycache__"))
    command = ["pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(source)]
    subprocess.run([sys.executable, "-m", *command], check=True, capture_output=True, text=True)
    return next(folder.glob("*.whl"))


@pytest.mark.exhaustive
def test_shipped_policies_play_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = ["pip", "install", "--quiet", "--no-deps", "--target", str(site), str(wheel)]
    subprocess.run([sys.executable, "-m", *command], check=True, capture_output=True, text=True)
    done = subprocess.run(
        [sys.executable, "-c", PLAYS], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "baseline" in done.stdout


@pytest.mark.exhaustive
def test_the_wheel_holds_the_package_alone_and_says_where_it_comes_from(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        about = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
        commands = archive.read(next(name for name in names if name.endswith("entry_points.txt"))).decode()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"llama_envs"}
    shipped = {path.relative_to(ROOT).as_posix() for path in (ROOT / "llama_envs").rglob("*.npz")}
    assert shipped <= set(names)
    assert len(shipped) >= 7
    assert about.count("Project-URL:") >= 3
    assert "llama-envs = llama_envs.cli.main:main" in commands
