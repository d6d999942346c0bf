"""The names by which everything asks for a policy: the suite's, registered ones, plug-ins, modules and files."""

from __future__ import annotations

import dataclasses
import pickle
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from llama_envs.core.batch import Batch
from llama_envs.core.registry import make_game
from llama_envs.policies import (
    Policy,
    RandomPolicy,
    ScriptedPolicy,
    make_policy,
    names,
    policy_usage,
    register_policy,
)
from llama_envs.policies.players import Players, PolicyError
from tests.cases import CHECKOUT, each_game, game_of, middle, run_python, view_of
from tests.policies.kernels import drawing


@pytest.fixture
def registry():
    """The registered names, put back afterwards."""
    kept = dict(names._REGISTERED)
    yield names._REGISTERED
    names._REGISTERED.clear()
    names._REGISTERED.update(kept)


def refusal(spec, case):
    """The one sentence with which a name is refused."""
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        make_policy(spec, game_of(case))
    assert type(refused.value) is ValueError
    message = str(refused.value)
    assert "\n" not in message
    assert message.endswith(".")
    return message


# ---------------------------------------------------------------------------------------------------------- the suite's


@each_game
def test_an_unknown_name_says_which_are_known_and_how_to_write_ones_own(case):
    message = refusal("nobody:5", case)
    assert message.startswith("unknown policy 'nobody'; known are ")
    for usage in (
        "random", "heuristic[:option]", "baseline", "mc:W", "ismcts:N", "network:PATH", "ppo:PATH", "tabular:PATH",
        "package.module:Name", "path/to/file.py:Name",
    ):  # fmt: skip
        assert usage in message


@each_game
@pytest.mark.parametrize("spec", ["", ":", ":5", "Random", " random", "no such:thing", "random-ish"])
def test_nearly_a_name_is_unknown(case, spec):
    assert refusal(spec, case).startswith("unknown policy ")


@each_game
@pytest.mark.parametrize("spec", [None, 5, 0.5, b"random", object(), ["random"], RandomPolicy.act, RandomPolicy])
def test_anything_but_a_name_or_a_policy_is_refused(case, spec):
    with pytest.raises(ValueError, match=r"^a policy must be a name or an object with act\(view\) and needs_worlds"):
        make_policy(spec, game_of(case))


@each_game
def test_a_policy_stands_for_itself(case):
    policy = RandomPolicy()
    assert make_policy(policy, game_of(case)) is policy
    assert isinstance(policy, Policy)


@each_game
@pytest.mark.parametrize("name", ["random", "baseline"])
def test_random_and_baseline_take_no_argument(case, name):
    assert refusal(f"{name}:3", case) == f"policy '{name}' takes no argument, got '3'."


USAGE = """
from llama_envs.policies import policy_usage
import llama_envs, sys
print(*policy_usage())
print(*{"torch", "stable_baselines3", "agents"} & set(sys.modules))
"""


def test_every_shipped_name_is_known_without_agents_and_torch():
    known, *loaded = run_python(USAGE).splitlines()
    assert {"random", "heuristic", "baseline", "mc", "ismcts", "network", "ppo", "tabular"} <= set(known.split())
    assert "".join(loaded) == ""


@each_game
def test_a_game_without_a_heuristic_says_so(case):
    game = game_of(case)
    bare = _without_heuristic(game)
    with pytest.raises(ValueError, match=rf"^there is no heuristic for {game.id}\.$"):
        make_policy("heuristic", bare)
    assert isinstance(make_policy("mc:2", bare).rollout, RandomPolicy)


def _without_heuristic(game):
    return dataclasses.replace(game, spec=dataclasses.replace(game.spec, heuristic=None))


# ------------------------------------------------------------------------------------------------------ registered ones


@each_game
def test_a_registered_name_is_known_with_its_argument_everywhere(case, registry):
    built = []
    register_policy("mine", lambda game, argument: built.append((game, argument)) or RandomPolicy(), "mine:NUMBER")
    assert isinstance(make_policy("mine:1:2", game_of(case)), RandomPolicy)
    assert built == [(game_of(case), "1:2")]
    assert policy_usage()["mine"] == "mine:NUMBER"
    assert "mine:NUMBER" in refusal("other", case)


def build_drawing(game, argument):
    return drawing(float(argument or 0.5))


@each_game
def test_another_process_adopts_what_was_registered(case, registry):
    register_policy("drawing", build_drawing, "drawing:SHARE")
    stored = names.exported()
    registry.clear()
    assert refusal("drawing:0.2", case).startswith("unknown policy 'drawing'")
    names.adopt(stored)
    policy = make_policy("drawing:0.2", game_of(case))
    assert policy.kernel.options.tolist() == [0.2]
    assert policy_usage()["drawing"] == "drawing:SHARE"


def test_what_cannot_be_sent_to_another_process_is_named(registry):
    register_policy("drawing", build_drawing, "drawing:SHARE")
    register_policy("local", lambda game, argument: RandomPolicy(), "local")
    with pytest.raises(
        ValueError, match=r"^policy 'local' cannot be made known to worker processes \(.*\.$"
    ) as refused:
        names.exported()
    assert "\n" not in str(refused.value)


# ---------------------------------------------------------------------------------------------------- modules and files


@pytest.fixture
def bad(tmp_path, monkeypatch):
    """A folder with files and a package that cannot be run."""
    package = tmp_path / "package_of_bad_policies"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "broken.py").write_text("import a_module_that_is_not_there\n")
    (package / "failing.py").write_text("1 / 0\n")
    (tmp_path / "failing.py").write_text("raise RuntimeError('two\\nlines')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith(package.name)]:
        del sys.modules[name]


OWN = {"file": str(CHECKOUT / "tests" / "policies" / "own.py"), "module": "tests.policies.own"}
each_way = pytest.mark.parametrize("way", ["file", "module"])


@each_game
@each_way
def test_what_makes_a_policy_is_given_what_it_takes(case, way):
    game = game_of(case)

    def made(rest):
        policy = make_policy(f"{OWN[way]}:{rest}", game)
        return type(policy).__name__, policy.game, policy.argument

    assert made("First") == ("First", None, "nothing")
    assert made("First:x:y") == ("First", game, "x:y")
    assert made("Bare") == ("Bare", None, "nothing")
    assert made("ForGame") == ("ForGame", game, "nothing")
    assert made("ForBoth") == ("ForBoth", game, "")
    assert made("ForBoth:a") == ("ForBoth", game, "a")
    assert made("build") == ("ForBoth", game, "")
    assert made("build:5ms") == ("ForBoth", game, "5ms")
    assert made("ready") == ("First", None, "nothing")


@each_game
@each_way
def test_policies_of_ones_own_play(case, way):
    batch = middle(case, 20)
    actions = [policy.act(view_of(batch, policy)).tolist() for policy in (
        make_policy(f"{OWN[way]}:{name}", batch.game) for name in ("First", "ready", "scripted")
    )]  # fmt: skip
    expected = batch.action_mask[batch.to_move >= 0].argmax(axis=1).tolist()
    assert actions == [expected] * 3
    assert isinstance(make_policy(f"mc:2:{OWN[way]}:scripted", batch.game).rollout, ScriptedPolicy)


REFUSED = {
    "Missing": "there is no 'Missing' in it; it has ",
    "": "there is no '' in it; it has ",
    "number": "must be a policy, a class or a function, got 7.",
    "greedy": "must take nothing, the game, or the game and an argument.",
    "nothing": "makes None, which has no act(view) and needs_worlds.",
    "Bare:5": "takes no argument, got '5'.",
    "ForGame:5": "takes no argument, got '5'.",
    "ready:5": "takes no argument, got '5'.",
    "failing": "cannot be made (ZeroDivisionError: so it is).",
}


@each_game
@each_way
@pytest.mark.parametrize("rest", REFUSED)
def test_what_is_no_policy_is_refused_in_one_sentence(case, way, rest):
    spec = f"{OWN[way]}:{rest}"
    if (way, rest) == ("module", ""):  # nothing says that a module is meant
        assert refusal(spec, case).startswith("unknown policy ")
        return
    message = refusal(spec, case)
    assert message.startswith(f"policy {spec!r}")
    assert REFUSED[rest] in message


@each_game
@each_way
def test_what_a_policy_of_ones_own_says_of_its_argument_comes_out_as_it_is(case, way):
    assert refusal(f"{OWN[way]}:ForBoth:wrong", case) == "the argument must not be wrong."


@each_game
def test_files_and_modules_that_cannot_be_run_are_refused_in_one_sentence(case, bad):
    assert refusal(f"{bad}/none.py:Name", case) == f"there is no file {bad}/none.py with a policy in it."
    assert "cannot be run (RuntimeError: two)" in refusal(f"{bad}/failing.py:Name", case)
    assert "there is no '' in it; it has " in refusal(OWN["file"], case)
    message = refusal("package_of_bad_policies.failing:Name", case)
    assert "cannot be imported (ZeroDivisionError: division by zero)" in message
    message = refusal("package_of_bad_policies.broken:Name", case)
    assert "cannot be imported (ModuleNotFoundError: No module named 'a_module_that_is_not_there')" in message
    for unknown in ("package_of_bad_policies.none:Name", "no_such_package:Name", "no_such_package.inner:Name"):
        assert refusal(unknown, case).startswith(f"unknown policy '{unknown.partition(':')[0]}'")


@each_game
def test_a_file_is_run_once_in_a_process_whatever_path_leads_to_it(case, monkeypatch):
    monkeypatch.chdir(CHECKOUT / "tests")
    paths = (OWN["file"], "policies/own.py", "./policies/../policies/own.py")
    assert len({id(make_policy(f"{path}:ready", game_of(case))) for path in paths}) == 1
    policy = make_policy("policies/own.py:First:a", game_of(case))
    assert pickle.loads(pickle.dumps(policy)).argument == "a"


# ------------------------------------------------------------------------------------------------------------- plug-ins


@pytest.fixture
def plugins(monkeypatch):
    """Installed packages offer policies."""
    offered = {"theirs": "build", "object": "ready", "gone": "Missing", "random": "First"}
    points = {name: EntryPoint(name, f"{OWN['module']}:{what}", names.GROUP) for name, what in offered.items()}
    monkeypatch.setattr(names, "_plugins", lambda: points)


@each_game
def test_what_an_installed_package_offers_has_a_name(case, plugins):
    game = game_of(case)
    assert make_policy("theirs", game).argument == ""
    assert make_policy("theirs:a:b", game).argument == "a:b"
    assert (make_policy("object", game).act(view_of(middle(case, 5), RandomPolicy())) >= 0).all()
    assert policy_usage()["theirs"] == "theirs[:argument]"
    assert "theirs[:argument]" in refusal("nobody", case)


@each_game
def test_no_package_takes_a_name_of_the_suites_or_a_registered_one(case, plugins, registry):
    assert isinstance(make_policy("random", game_of(case)), RandomPolicy)
    assert policy_usage()["random"] == "random"
    register_policy("theirs", lambda game, argument: RandomPolicy(), "theirs")
    assert isinstance(make_policy("theirs", game_of(case)), RandomPolicy)


@each_game
def test_a_plug_in_that_cannot_be_loaded_is_named(case, plugins):
    message = refusal("gone", case)
    assert message.startswith("policy 'gone' of tests.policies.own:Missing cannot be loaded (AttributeError: ")


def test_a_file_that_was_changed_is_another_policy(tmp_path: Path) -> None:
    game, file = make_game("lama", num_players=2), tmp_path / "mine.py"
    source = "class Mine:\n    needs_worlds = False\n    number = {}\n    def act(self, view): ..."
    for number in (1, 2):
        file.write_text(source.format(number))
        assert make_policy(f"{file}:Mine", game).number == number


def test_a_policy_that_ends_the_program_is_named(tmp_path: Path) -> None:
    game, file = make_game("lama", num_players=2), tmp_path / "ends.py"
    file.write_text("import sys\nsys.exit(3)")
    with pytest.raises(ValueError, match=r"cannot be run \(SystemExit: 3"):
        make_policy(f"{file}:Mine", game)
    file.write_text("class Mine:\n    needs_worlds = False\n    def act(self, view):\n        raise SystemExit(3)\n")
    with pytest.raises(PolicyError, match=r"SystemExit: 3 \(ends.py, line 4\)"):
        Players(Batch(game, 4, 0), [make_policy(f"{file}:Mine", game)], np.zeros((4, 2), np.int64)).play()
