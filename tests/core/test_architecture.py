"""Imports run one way only, nothing outside a game's package names a game, and importing the package is cheap."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from llama_envs.core.registry import game_specs
from tests.cases import CHECKOUT, GAMES, each_game, run_python

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGE = CHECKOUT / "llama_envs"
OURS = ("llama_envs", "agents", "experiments")
EVERY_FILE = sorted(path for folder in OURS for path in (CHECKOUT / folder).rglob("*.py"))
IN_THE_WHEEL = [path for path in EVERY_FILE if path.is_relative_to(PACKAGE)]
PACKAGES = sorted(path.parent.name for path in PACKAGE.glob("*/rules.py"))  # of games
API_LIBRARIES = ("pettingzoo", "gymnasium", "gym", "torch", "stable_baselines3", "sb3_contrib", "ray", "pyspiel")

# From left to right: a module imports from its own floor and those above it in this list. GAME stands for the package
# of any game; what matches longest counts, so "llama_envs.core" is what else is in it.
FLOORS = (
    ("llama_envs.core", "llama_envs.drawing", "GAME", "GAME.config", "GAME.deck"),
    ("GAME.state", "GAME.history"),
    ("GAME.rules", "GAME.observe", "GAME.resample", "GAME.heuristic",
     "llama_envs.core.batch_kernels", "llama_envs.core.extensive_form"),
    ("llama_envs.core.game", "GAME.render", "GAME.game", "GAME.readme"),
    ("llama_envs.core.batch", "llama_envs.core.recording"),
    ("llama_envs.policies",),
    ("llama_envs.adapters", "VERSION", "llama_envs"),
    ("llama_envs.evaluation",),
    ("llama_envs.testing", "llama_envs.web"),
    ("llama_envs.cli",),
    ("agents",),
    ("experiments",),
)  # fmt: skip

# What each part of the wheel may import beside what it always brings: the extras that bring the rest.
EXTRAS = {
    "llama_envs.adapters.frames": ("render",),
    "llama_envs.adapters.open_spiel": ("openspiel",),
    "llama_envs.adapters.rllib": ("ray",),
    "llama_envs.adapters.sb3": ("train",),
    "llama_envs.cli": ("cli", "ray"),
    "llama_envs.cli.table": ("cli", "web"),
    "llama_envs.web": ("web",),
    "llama_envs.drawing": ("render",),
    "llama_envs.evaluation.standings": ("cli", "openspiel"),
    "llama_envs.evaluation.tournament": ("cli",),
    **{f"llama_envs.{game}.render": ("render",) for game in PACKAGES},
}
MODULES = {"pillow": ("PIL",), "open_spiel": ("pyspiel", "open_spiel"), "docstring-parser": ("docstring_parser",)}

# Studies and examples that are about one game or both.
ABOUT_GAMES = ("experiments/passing*", "experiments/passing/*", "experiments/quitting*", "experiments/quitting/*",
               "experiments/examples/*")  # fmt: skip


def files(paths):
    return pytest.mark.parametrize("path", paths, ids=[str(path.relative_to(CHECKOUT)) for path in paths])


def module_of(path):
    parts = path.relative_to(CHECKOUT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


EVERY_MODULE = {module_of(path): path for path in EVERY_FILE}


# ------------------------------------------------------------------------------------------------------------- reading


def is_for_types(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def nodes(tree, functions=True):
    """Everything that is run: nothing under ``if TYPE_CHECKING``, and what is inside functions only if asked for."""
    for child in ast.iter_child_nodes(tree):
        if is_for_types(child):
            for other in child.orelse:
                yield other
                yield from nodes(other, functions)
        elif functions or not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child
            yield from nodes(child, functions)


def imported_modules(tree, module="", functions=True):
    """Every module that a source file imports: absolute dotted names."""
    package = module.split(".")[:-1]
    for node in nodes(tree, functions):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            yield stem
            yield from (f"{stem}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and "import" in ast.unparse(node.func):  # importlib, __import__
            yield from (arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))


def imports(path, functions=True):
    return set(imported_modules(ast.parse(path.read_text(encoding="utf-8")), module_of(path), functions))


def within(modules, *roots):
    return {name for name in modules if any(name == root or name.startswith(f"{root}.") for root in roots)}


def outside_the_standard_library(modules):
    return {name for name in modules if name.split(".")[0] not in sys.stdlib_module_names}


def floor_of(module):
    """The number of the floor on which a module stands."""
    found = {}
    for number, prefixes in enumerate(FLOORS):
        for prefix in prefixes:
            for game in PACKAGES:
                root = prefix.replace("GAME", f"llama_envs.{game}").replace("VERSION", f"llama_envs.{game}_v0")
                if module == root or (module.startswith(f"{root}.") and root != "llama_envs"):
                    found[root] = number
    assert found, f"{module} has no place; give it one in FLOORS"
    return found[max(found, key=len)]


SAMPLE = """
import torch.nn as nn
if TYPE_CHECKING:
    import pandas
else:
    import numpy
def f():
    from gymnasium import spaces
    from ..adapters import aec
    from . import batch
    importlib.import_module("pettingzoo")
class C:
    import scipy
"""


def test_the_reader_sees_every_way_to_import_but_for_types_alone():
    found = set(imported_modules(ast.parse(SAMPLE), "llama_envs.core.game"))
    assert {"torch.nn", "gymnasium", "gymnasium.spaces", "llama_envs.adapters.aec", "pettingzoo"} <= found
    assert {"llama_envs.core.batch", "numpy", "scipy"} <= found
    assert "pandas" not in found
    assert set(imported_modules(ast.parse(SAMPLE), "", functions=False)) == {"torch.nn", "numpy", "scipy"}


def test_there_is_something_to_read():
    assert sorted(GAMES) == PACKAGES
    assert len(IN_THE_WHEEL) > 50
    for game in PACKAGES:
        same = {"__init__", "config", "state", "rules", "observe", "render", "heuristic", "game"}
        assert same <= {path.stem for path in (PACKAGE / game).glob("*.py")}
        assert (CHECKOUT / "tests" / game / "cases.py").is_file()


@pytest.mark.parametrize("name", ["cases", "tables", *(
    f"test_{what}" for what in ("adapters", "config", "heuristic", "observation", "random_games", "referee", "render",
                                "resample", "rules", "search")
)])  # fmt: skip
def test_the_tests_of_every_game_have_the_same_names(name):
    assert all((CHECKOUT / "tests" / game / f"{name}.py").is_file() for game in PACKAGES)


# -------------------------------------------------------------------------------------------------------- the direction


def test_the_floors_are_those_of_the_plan():
    game = f"llama_envs.{PACKAGES[0]}"
    order = [
        f"{game}.config", f"{game}.state", f"{game}.rules", "llama_envs.core.game", "llama_envs.core.batch",
        "llama_envs.policies.search.rollout", "llama_envs.adapters.learner", "llama_envs.evaluation.matches",
        "llama_envs.cli.main", "agents.ppo", "experiments.train",
    ]  # fmt: skip
    assert [floor_of(module) for module in order] == sorted({floor_of(module) for module in order})
    with pytest.raises(AssertionError, match="has no place"):
        floor_of("llama_envs.something_new")


@files(EVERY_FILE)
def test_imports_run_only_to_the_left(path):
    here = floor_of(module_of(path))
    wrong = {name for name in within(imports(path), *OURS) if floor_of(name) > here}
    assert wrong == set()


def graph():
    """Module -> modules of ours that it imports when it is imported itself."""
    found = {}
    for module, path in EVERY_MODULE.items():
        names = imports(path, functions=False)
        deepest = {name for name in names if name in EVERY_MODULE}
        parents = {name.rpartition(".")[0] for name in names if name not in EVERY_MODULE}
        found[module] = (deepest | (parents & set(EVERY_MODULE))) - {module}
    for module, path in EVERY_MODULE.items():  # "from package import module" is no import of what the package holds
        for node in nodes(ast.parse(path.read_text(encoding="utf-8")), functions=False):
            if isinstance(node, ast.ImportFrom) and node.module in EVERY_MODULE:
                submodules = [f"{node.module}.{alias.name}" in EVERY_MODULE for alias in node.names]
                if all(submodules):
                    found[module].discard(node.module)
    return found


def cycle_in(arrows):
    """The modules of a circle of imports, or None."""
    done, path = set(), []

    def visit(module):
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return None
        path.append(module)
        for other in sorted(arrows.get(module, ())):
            circle = visit(other)
            if circle:
                return circle
        path.pop()
        done.add(module)
        return None

    for module in sorted(arrows):
        circle = visit(module)
        if circle:
            return circle
    return None


def test_no_imports_go_round_in_a_circle():
    arrows = graph()
    assert sum(map(len, arrows.values())) > 200
    assert cycle_in(arrows) is None
    assert cycle_in({"a": {"b"}, "b": {"c", "d"}, "c": set(), "d": {"b"}}) == ["b", "d", "b"]
    planted = {**arrows, "llama_envs.core.compile": {"llama_envs.core.batch"}}
    assert cycle_in(planted) is not None


# ---------------------------------------------------------------------------------------------------- who knows whom


@files([path for path in IN_THE_WHEEL if floor_of(module_of(path)) <= floor_of("llama_envs.policies")])
def test_nothing_left_of_the_adapters_knows_an_api_or_a_learner(path):
    assert not within(imports(path), *API_LIBRARIES)


@files(sorted((PACKAGE / "evaluation").rglob("*.py")))
def test_evaluation_needs_no_api_and_no_learner(path):
    optional = {"open_spiel"} if path.stem == "standings" else set()  # alpha-rank, where it is installed
    assert within(imports(path), *API_LIBRARIES, "open_spiel") <= {
        name for name in imports(path) if name.split(".")[0] in optional
    }


@files([path for path in EVERY_FILE if any(path.is_relative_to(PACKAGE / game) for game in PACKAGES)])
def test_the_package_of_a_game_imports_numpy_numba_core_and_itself_and_for_pictures_what_draws(path):
    allowed = ["numpy", "numba", "tomli", "llama_envs.core", module_of(path.parent / "__init__.py")]
    allowed += [f"llama_envs.{game}" for game in PACKAGES if path.is_relative_to(PACKAGE / game)]
    if path.stem == "render":
        allowed += ["llama_envs.drawing", "PIL"]
    used = outside_the_standard_library(imports(path))
    assert used - within(used, *allowed) == set()


@files(EVERY_FILE)
def test_nothing_that_ships_imports_the_tests(path):
    assert not within(imports(path), "tests", "pytest", "hypothesis")


@files(sorted((CHECKOUT / "agents").rglob("*.py")))
def test_an_agent_needs_no_adapter(path):
    assert not within(imports(path), "llama_envs.adapters", "pettingzoo", "gymnasium")


# ------------------------------------------------------------------------------------------------- names of games


def names_of_games():
    """How a game is called in sources: as a module, as a class, and by people."""
    found = defaultdict(set)
    for spec in game_specs():
        if spec.name in PACKAGES:
            words = re.split(r"[/-]", spec.gymnasium_id)[1]  # as in LamaConfig
            found[spec.name] |= {spec.name, spec.title, words, spec.name.upper()}
    return found


def games_named_in(text):
    text = re.sub(r"llama[_-]envs", "", text, flags=re.IGNORECASE)
    return sorted(
        name
        for words in names_of_games().values()
        for name in words
        if re.search(rf"(?<![A-Za-z]){re.escape(name)}", text)
    )


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("import llama_envs", False), ("pip install llama-envs", False), ("a llama with a blanket", False),
        ('make_game("lama")', True), ("SMALL_LAMA = 3", True), ("class LamaTable:", True), ("in L.L.A.M.A. one", True),
        ("llama_envs.llama_llama", True), ("Llama Llama", True), ("LlamaLlama-v0", True), ("lama_v0", True),
    ],
)  # fmt: skip
def test_the_reader_finds_the_name_of_a_game(text, named):
    assert bool(games_named_in(text)) == named


@files([
    path for path in EVERY_FILE
    if not any(path.is_relative_to(PACKAGE / game) or path == PACKAGE / f"{game}_v0.py" for game in PACKAGES)
    and not any(path.relative_to(CHECKOUT).match(pattern) for pattern in ABOUT_GAMES)
])  # fmt: skip
def test_nothing_outside_its_package_names_a_game(path):
    assert games_named_in(path.read_text(encoding="utf-8")) == []


# ---------------------------------------------------------------------------------------------------------- the wheel


def brought_by(project, extra=None):
    """The modules of what pyproject.toml asks for."""
    wanted = project["dependencies"] if extra is None else project["optional-dependencies"][extra]
    found = set()
    for line in wanted:
        name = re.match(r"[\w.-]+", line)[0].lower()
        if name == project["name"]:
            for other in re.search(r"\[(.*)\]", line)[1].split(","):
                found |= brought_by(project, other)
        else:
            found |= set(MODULES.get(name, (name.replace("-", "_"),)))
    return found


def test_the_wheel_needs_no_more_than_it_declares():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = brought_by(project)
    assert {"numpy", "numba", "gymnasium", "pettingzoo", "scipy"} <= base
    assert not base & {"torch", "stable_baselines3", "pandas", "matplotlib", "PIL", "tyro", "rich"}
    for path in IN_THE_WHEEL:
        extras = [extra for part, names in EXTRAS.items() if within({module_of(path)}, part) for extra in names]
        allowed = base.union({"llama_envs"}, *(brought_by(project, extra) for extra in extras))
        used = {name.split(".")[0] for name in outside_the_standard_library(imports(path))}
        assert used <= allowed, path


HEAVY = ("torch", "stable_baselines3", "sb3_contrib", "PIL", "pygame", "matplotlib", "pandas", "agents", "experiments")


def test_importing_the_package_loads_no_learner_and_no_drawing_library():
    loaded = run_python("import sys, llama_envs; print(*sys.modules)").split()
    assert "llama_envs" in loaded
    assert set(HEAVY) & set(loaded) == set()


PLAYED = """
import sys
from llama_envs.core.registry import make_game
from llama_envs.evaluation import compare
game = make_game(sys.argv[1], num_players=2)
print(compare(game, ["baseline", "heuristic"], deals=4, seed=0).games)
print(*{name.split(".")[0] for name in sys.modules})
"""


@each_game
def test_policies_play_matches_without_torch_or_pandas(case):
    games, loaded = run_python(PLAYED, case[0]).splitlines()
    assert games == "8"
    assert set(HEAVY) & set(loaded.split()) == set()


COMPILED = """
import gc, sys
import llama_envs
from llama_envs.core.registry import game_specs, make_game
name = sys.argv[1]
{more}
from numba.core.dispatcher import Dispatcher
dispatchers = [thing for thing in gc.get_objects() if isinstance(thing, Dispatcher)]
kernels = [dispatcher for dispatcher in dispatchers if "llama_envs" in dispatcher.py_func.__module__]
print(len(kernels), sum(len(kernel.overloads) for kernel in kernels), *sys.modules)
"""
BUILDING = {
    "nothing": "",
    "the module": "import importlib; importlib.import_module('llama_envs.' + name + '_v0')",
    "an environment": "from llama_envs.adapters.api import raw_env; raw_env(name)",
}


@each_game
@pytest.mark.parametrize("more", BUILDING)
def test_importing_and_building_an_environment_compiles_nothing(case, more):
    code = COMPILED.format(more=BUILDING[more])
    found, compiled, *loaded = run_python(code, case[0], NUMBA_DISABLE_JIT=None).split()
    assert int(compiled) == 0
    assert set(HEAVY) & set(loaded) == set()
    if more == "an environment":
        assert int(found) > 5


@each_game
def test_the_checked_list_of_compiled_kernels_can_fill_up(case):
    code = COMPILED.format(more="from llama_envs.adapters.api import batch; batch(name, 1)")
    assert int(run_python(code, case[0], NUMBA_DISABLE_JIT=None).split()[1]) > 0


def test_importing_writes_nothing_to_the_terminal_and_warns_of_nothing():
    assert run_python("import warnings; warnings.simplefilter('error'); import llama_envs") == ""


def test_source_has_no_machine_paths():
    here = re.escape(CHECKOUT.parts[1])  # where this checkout lies, beside where people's homes do
    for path in [*EVERY_FILE, *Path(CHECKOUT / "tests").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(rf"[\"'](/{here}/|/home/|/root/|/Users/|C:\\\\)", text), path
