"""Imports run one way only, and importing the package is cheap."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from tests.cases import CHECKOUT, run_python

PACKAGE = CHECKOUT / "llama_envs"
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/rules.py"))
API_LIBRARIES = {"pettingzoo", "gymnasium", "gym", "torch", "stable_baselines3", "sb3_contrib", "ray", "pyspiel"}
KERNEL_FILES = [PACKAGE / room / name for room in ROOMS for name in ("rules.py", "observe.py")]
CORE_FILES = sorted((PACKAGE / "core").rglob("*.py"))
ROOM_FILES = sorted(path for room in ROOMS for path in (PACKAGE / room).rglob("*.py"))
ADAPTER_FILES = sorted((PACKAGE / "adapters").rglob("*.py"))
EVERY_FILE = sorted(
    path for folder in ("llama_envs", "agents", "experiments") for path in (CHECKOUT / folder).rglob("*.py")
)


def files(paths):
    return pytest.mark.parametrize("path", paths, ids=[str(path.relative_to(CHECKOUT)) for path in paths])


def imported_modules(tree, module=""):
    """Every module that a source file imports, wherever in it: absolute dotted names."""
    package = module.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            yield stem
            yield from (f"{stem}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and "import" in ast.unparse(node.func):  # importlib, __import__
            yield from (arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))


def imports(path):
    module = ".".join(path.relative_to(CHECKOUT).with_suffix("").parts)
    return set(imported_modules(ast.parse(path.read_text()), module))


def within(modules, *roots):
    return {name for name in modules if any(name == root or name.startswith(f"{root}.") for root in roots)}


def outside_the_standard_library(modules):
    return {name for name in modules if name.split(".")[0] not in sys.stdlib_module_names}


def test_the_reader_sees_every_way_to_import():
    source = """
import torch.nn as nn
def f():
    from gymnasium import spaces
    from ..adapters import aec
    from . import batch
    importlib.import_module("pettingzoo")
"""
    found = set(imported_modules(ast.parse(source), "llama_envs.core.game"))
    assert {"torch.nn", "gymnasium", "gymnasium.spaces", "llama_envs.adapters.aec", "pettingzoo"} <= found
    assert "llama_envs.core.batch" in found


def test_there_is_something_to_read():
    assert "lama" in ROOMS
    assert len(CORE_FILES) > 5
    assert len(ADAPTER_FILES) > 3


@files(CORE_FILES + ROOM_FILES)
def test_nothing_left_of_the_door_knows_an_api_or_a_learner(path):
    assert not within(imports(path), *API_LIBRARIES)
    assert not within(imports(path), "llama_envs.adapters", "agents", "experiments", "tests")


@files(CORE_FILES)
def test_core_knows_no_room(path):
    assert not within(imports(path), *(f"llama_envs.{room}" for room in ROOMS))
    assert not within(imports(path), *(f"llama_envs.{room}_v0" for room in ROOMS))


@files(ROOM_FILES)
def test_a_room_knows_no_other_room(path):
    others = [room for room in ROOMS if room != path.relative_to(PACKAGE).parts[0]]
    assert not within(imports(path), *(f"llama_envs.{room}" for room in others))


@files(KERNEL_FILES)
def test_rules_and_observe_import_only_numpy_numba_core_and_their_own_room(path):
    allowed = ("numpy", "numba", "llama_envs.core", f"llama_envs.{path.parent.name}")
    used = outside_the_standard_library(imports(path))
    assert used - within(used, *allowed) == set()


@files(ADAPTER_FILES)
def test_an_adapter_names_no_game(path):
    assert not within(imports(path), *(f"llama_envs.{room}" for room in ROOMS))
    text = re.sub(r"llama[_-]envs", "", path.read_text(), flags=re.IGNORECASE)
    assert "lama" not in text.lower()
    assert "l.l.a.m.a" not in text.lower()


@files(ADAPTER_FILES)
def test_an_adapter_needs_nothing_to_its_right(path):
    assert not within(imports(path), "agents", "experiments", "tests", "notebooks")


@files(sorted((CHECKOUT / "agents").rglob("*.py")))
def test_an_agent_needs_no_adapter_and_no_experiment(path):
    assert not within(imports(path), "llama_envs.adapters", "experiments", "tests", "pettingzoo", "gymnasium")


@files(EVERY_FILE)
def test_nothing_that_ships_imports_the_tests(path):
    assert not within(imports(path), "tests", "oracles", "rooms", "pytest", "hypothesis")


def test_the_wheel_needs_no_more_than_it_declares():
    declared = {"numpy", "numba", "llvmlite", "gymnasium", "pettingzoo", "tomli"}
    # extras, imported where they are used
    optional = {"PIL", "pygame", "stable_baselines3", "torch", "matplotlib", "pyspiel", "ray"}
    for path in PACKAGE.rglob("*.py"):
        used = {name.split(".")[0] for name in outside_the_standard_library(imports(path))}
        assert used <= declared | optional | {"llama_envs"}, path


HEAVY = ("torch", "stable_baselines3", "sb3_contrib", "PIL", "pygame", "matplotlib", "pandas", "agents")


def test_importing_the_package_loads_no_learner_and_no_drawing_library():
    loaded = run_python("import sys, llama_envs; print(*sys.modules)").split()
    assert "llama_envs" in loaded
    assert set(HEAVY) & set(loaded) == set()


COMPILED = """
import gc, sys
import llama_envs
{more}
from numba.core.dispatcher import Dispatcher
dispatchers = [thing for thing in gc.get_objects() if isinstance(thing, Dispatcher)]
kernels = [dispatcher for dispatcher in dispatchers if "llama_envs" in dispatcher.py_func.__module__]
print(len(kernels), sum(len(kernel.overloads) for kernel in kernels), *sys.modules)
"""


@pytest.mark.parametrize("more", ["", "import llama_envs.lama_v0", "from llama_envs import lama_v0; lama_v0.raw_env()"])
def test_importing_and_building_an_environment_compiles_nothing(more):
    found, compiled, *loaded = run_python(COMPILED.format(more=more), NUMBA_DISABLE_JIT=None).split()
    assert int(compiled) == 0
    assert set(HEAVY) & set(loaded) == set()
    if more:
        assert int(found) > 5


def test_the_checked_list_of_compiled_kernels_can_fill_up():
    code = COMPILED.format(more="from llama_envs import lama_v0; lama_v0.batch(1)")
    assert int(run_python(code, NUMBA_DISABLE_JIT=None).split()[1]) > 0


def test_importing_writes_nothing_to_the_terminal_and_warns_of_nothing():
    assert run_python("import warnings; warnings.simplefilter('error'); import llama_envs") == ""


def test_source_has_no_machine_paths():
    here = re.escape(CHECKOUT.parts[1])  # where this checkout lies, beside where people's homes do
    for path in [*EVERY_FILE, *Path(CHECKOUT / "tests").rglob("*.py")]:
        text = path.read_text()
        assert not re.search(rf"[\"'](/{here}/|/home/|/root/|/Users/|C:\\\\)", text), path
