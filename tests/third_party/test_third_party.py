"""A game in a folder outside the suite, installed alone, has everything that the suite's own games have."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]

EVERY_DOOR = """
import gymnasium, pettingzoo, numpy as np
import llama_envs
from llama_envs.core.registry import game_names, make_game
from llama_envs.evaluation import compare

assert "kuhn" in game_names()
game = make_game("kuhn")
env = pettingzoo.make("aec", "kuhn_poker/kuhn_v0")
env.reset(seed=0)
env.step(1)
pettingzoo.make("parallel", "kuhn_poker/kuhn_v0").reset(seed=0)
gymnasium.make("kuhn_poker/KuhnPoker-v0").reset(seed=0)
envs = gymnasium.make_vec("kuhn_poker/KuhnPoker-v0", num_envs=8, opponents="mc:5")
observation, _ = envs.reset(seed=0)
envs.step(observation["action_mask"].argmax(axis=1))
won = compare(game, ["mc:50", "random"], deals=400, seed=0)
assert won.share[0] > 0.6, won  # with a queen between jack and king a search folds and calls right
print(won)
"""

OPEN_SPIEL = """
import llama_envs.adapters.open_spiel, pyspiel
from open_spiel.python.algorithms import cfr, expected_game_score
from open_spiel.python import policy

game = pyspiel.load_game("python_kuhn")
solver = cfr.CFRPlusSolver(game)
for _ in range(150):
    solver.evaluate_and_update_policy()
average = solver.average_policy()
value = expected_game_score.policy_value(game.new_initial_state(), [average, average])
assert abs(value[0] + 1 / 18) < 2e-3, value  # the first player's value (Kuhn 1950)
print(value)
"""

THROUGHPUT = """
from experiments.throughput.probes import measure, own_probes
from llama_envs.core.registry import game_specs

probes = own_probes((8,), {spec.name: spec.players[:1] if spec.name == "kuhn" else () for spec in game_specs()})
rows = [probe for probe in probes if probe.game == "Kuhn poker"]
measure(rows, 1, 0.001, silent=True)
assert len(rows) > 5 and all(probe.median > 0 for probe in rows), rows
print(rows)
"""

CONFORMS = """
from llama_envs.core.registry import make_game
from llama_envs.testing import check_game

report = check_game(make_game("kuhn"))
assert not report.left_out, report
print(report)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip installed nothing but the game."""
    target = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source")
    for file in ("pyproject.toml", "kuhn_poker/__init__.py", "kuhn_poker/game.py"):
        (source / file).parent.mkdir(exist_ok=True)
        (source / file).write_text((HERE / file).read_text())
    command = ["pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target", str(target), str(source)]
    subprocess.run([sys.executable, "-m", *command], check=True, capture_output=True, text=True)
    return target


def run(installed: Path, *arguments: str, cwd: Path = CHECKOUT) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, timeout=600, check=False,
        env={**__import__("os").environ, "PYTHONPATH": f"{installed}:{CHECKOUT}"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_a_small_package_that_names_nothing_of_the_suites_games() -> None:
    lines = [line for file in HERE.rglob("*") if file.suffix in (".py", ".toml") and "test" not in file.name
             for line in file.read_text().splitlines() if line.strip()]  # fmt: skip
    assert len(lines) <= 120
    assert not any(word in line for line in lines for word in ("lama_v0", "llama_llama", "LamaConfig"))


@pytest.mark.parametrize(
    "code", [EVERY_DOOR, OPEN_SPIEL, THROUGHPUT, CONFORMS], ids=["every API", "OpenSpiel", "throughput", "check_game"]
)
def test_installed_alone_it_has(code: str, installed: Path) -> None:
    assert run(installed, "-c", code)


def test_the_command_lines_know_it(installed: Path, tmp_path: Path) -> None:
    assert "kuhn: Kuhn poker, 2 to 2 players" in run(installed, "-m", "llama_envs.cli.main", "games")
    played = run(
        installed, "-m", "experiments.evaluate", "kuhn", "--policies", "mc:20", "random", "--deals", "100", cwd=tmp_path
    )
    assert "mc:20" in played
    run(installed, "-m", "experiments.tournament", "kuhn", "--policies", "mc:20", "mc:2", "random", "--deals", "40",
        "--workers", "1", "--name", "kuhn", cwd=tmp_path)  # fmt: skip
    assert "mc:20" in (tmp_path / "runs" / "kuhn" / "report.md").read_text()
    run(installed, "-m", "experiments.train", "kuhn", "--total-timesteps", "4096", "--num-envs", "64",
        "--n-steps", "16", "--batch-size", "256", "--layers", "16", "--scripted", "random", "--deals", "50",
        "--name", "learner", cwd=tmp_path)  # fmt: skip
    assert (tmp_path / "runs" / "learner" / "model.zip").is_file()
    model = f"ppo:{tmp_path / 'runs' / 'learner' / 'model.zip'}"
    run(installed, "-m", "experiments.exact", "--variants", "kuhn", "--seeds", "0", "--out", str(tmp_path / "exact"),
        "--tables", str(tmp_path / "tables"), cwd=tmp_path)  # fmt: skip
    assert "kuhn" in (tmp_path / "exact" / "exact.md").read_text()
    assert "ppo:" in run(
        installed, "-m", "experiments.evaluate", "kuhn", "--policies", model, "random", "--deals", "50"
    )
