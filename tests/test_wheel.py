"""What the wheel holds plays by itself: without torch, without the checkout's agents and experiments."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
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


CONSOLE = [
    ["--version"],
    ["games"],
    ["policies"],
    ["evaluate", "lama", "--policies", "baseline", "heuristic", "heuristic", "mine.py:Mine", "--deals", "6"],
    ["tournament", "llama_llama", "--policies", "baseline", "mc:5", "random", "--num-players", "3", "--deals", "2"],
]
MINE = """
class Mine:
    needs_worlds = False
    def act(self, view):
        return view.mask.argmax(axis=1)
"""


@pytest.mark.exhaustive
def test_in_an_environment_of_its_own_the_wheel_plays_and_with_cli_it_has_its_commands(
    wheel: Path, tmp_path: Path
) -> None:
    """Base dependencies first, then the extra; from the index, with the pinned versions."""
    venv.create(tmp_path / "venv", with_pip=True)
    python, home = tmp_path / "venv" / "bin" / "python", {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, cwd=tmp_path, env={**home, **pip}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    install = [python, "-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "constraints.txt")]
    run(*install, wheel)
    installed = run(python, "-m", "pip", "list", "--format", "freeze").lower()
    assert not [name for name in ("torch", "pandas", "tyro", "pillow") if f"{name}==" in installed]
    assert run(python, "-c", PLAYS).count("baseline") == 2
    run(*install, f"{wheel}[cli]")
    (tmp_path / "mine.py").write_text(MINE)
    for arguments in CONSOLE:
        assert run(tmp_path / "venv" / "bin" / "llama-envs", *arguments)


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
