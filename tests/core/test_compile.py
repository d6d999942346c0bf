"""The compile cache and worker processes (known faults B51, B52)."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from llama_envs.core.batch import policy_streams
from llama_envs.core.compile import JIT, kernel, python_function, source_fingerprint
from tests.cases import (
    CHECKOUT,
    GAMES,
    cases_of,
    each_game,
    every_case,
    fields,
    new_batch,
    play,
    play_in_worker,
    run_python,
)

needs_numba = pytest.mark.skipif(not JIT, reason="kernels run in plain Python")

PLAYED = next(name for name in GAMES if hasattr(cases_of(name), "CHANGED_RULE"))

# Plays one game that is there in every copy, and says what it saw and how much of the two largest kernels was compiled.
PLAY = """
import hashlib, sys
import llama_envs
from llama_envs.adapters.api import batch as make_batch
from llama_envs.core.batch import policy_streams
batch, streams = make_batch("NAME", 4, seed=3, autoreset=True, **OPTIONS), policy_streams(4, 1)
seen = hashlib.sha256()
for _ in range(120):
    reward, terminated, truncated = batch.step(batch.sample_actions(streams))
    for array in (reward, terminated, truncated, batch.observation, batch.action_mask, batch.state["total"]):
        seen.update(array.tobytes())
kernels, hits, misses, cache = batch.game.batch_kernels, 0, 0, "none"
if hasattr(kernels.step, "stats"):
    hits = sum(sum(k.stats.cache_hits.values()) for k in (kernels.start, kernels.step))
    misses = sum(sum(k.stats.cache_misses.values()) for k in (kernels.start, kernels.step))
    cache = type(kernels.step._cache).__name__
print(llama_envs.__file__, seen.hexdigest(), hits, misses, cache)
""".replace("NAME", PLAYED).replace("OPTIONS", repr(cases_of(PLAYED).CONFIGS[1]))
WITHOUT_NUMBA = "import sys; sys.modules['numba'] = None\n" + PLAY


class Played:
    """What ``PLAY`` printed."""

    def __init__(self, output: str) -> None:
        self.file, self.digest, hits, misses, self.cache = output.split()
        self.hits, self.misses = int(hits), int(misses)


class Copy:
    """The package copied to a folder of its own, with a compile cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.site, self.cache = folder / "site", folder / "cache"
        shutil.copytree(CHECKOUT / "llama_envs", self.site / "llama_envs", ignore=shutil.ignore_patterns("__pycache__"))

    def environment(self, **more: str | None) -> dict[str, str]:
        # Python's own bytecode is keyed by time and size of the source; here only the compile cache is on trial.
        wanted = {"NUMBA_CACHE_DIR": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_DISABLE_JIT": None, **more}
        variables = {**os.environ, "PYTHONPATH": str(self.site), **wanted}
        return {name: value for name, value in variables.items() if value is not None}

    def start(self, code: str = PLAY, **more: str | None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", code], env=self.environment(**more), cwd=self.site,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def finish(self, process: subprocess.Popen[str]) -> Played:
        output, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors
        assert errors == ""
        played = Played(output)
        assert Path(played.file).is_relative_to(self.site)
        return played

    def play(self, code: str = PLAY, **more: str | None) -> Played:
        return self.finish(self.start(code, **more))


@pytest.fixture(scope="module")
def here():
    """The digest of the same play in the checkout."""
    return Played(run_python(PLAY)).digest


@pytest.fixture(scope="module")
def copy_and_first_two(tmp_path_factory):
    """A copy with a cold cache, and what two processes that were started on it together played."""
    copy = Copy(tmp_path_factory.mktemp("warm"))
    together = [copy.start() for _ in range(2)]
    return copy, [copy.finish(process) for process in together]


@needs_numba
def test_two_processes_on_a_cold_cache_both_work_and_compile_each_kernel_once__B51(copy_and_first_two, here):
    _, played = copy_and_first_two
    assert [p.digest for p in played] == [here, here]
    assert sum(p.misses for p in played) == 2  # in one process or the other
    assert sum(p.hits for p in played) == 2


@needs_numba
def test_unchanged_code_is_not_compiled_again__B51(copy_and_first_two, here):
    copy, _ = copy_and_first_two
    again = copy.play()
    assert again.digest == here
    assert again.misses == 0
    assert again.hits == 2


@needs_numba
def test_a_rule_changed_in_place_is_seen_although_the_cache_is_warm__B51(copy_and_first_two, here):
    """The constant lies two calls and one file away from the cached loop; size and time of its file stay the same."""
    copy, _ = copy_and_first_two
    rules, (before, after) = copy.site / "llama_envs" / PLAYED / "rules.py", cases_of(PLAYED).CHANGED_RULE
    source, times = rules.read_text(), rules.stat()
    assert source.count(before) == 1
    assert len(before) == len(after)
    rules.write_text(source.replace(before, after))
    os.utime(rules, ns=(times.st_atime_ns, times.st_mtime_ns))
    try:
        changed = copy.play()
        assert changed.digest != here
        assert changed.misses > 0
        assert copy.play(NUMBA_DISABLE_JIT="1").digest == changed.digest
        assert copy.play().misses == 0
    finally:
        rules.write_text(source)
        os.utime(rules, ns=(times.st_atime_ns, times.st_mtime_ns))
    back = copy.play()
    assert (back.digest, back.misses) == (here, 0)


@needs_numba
def test_read_only_install_without_a_home_plays__B51(tmp_path, here):
    copy = Copy(tmp_path)
    for folder in [copy.site, *(path for path in copy.site.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()  # a file: not even root can put a cache there
    for path in [*copy.site.rglob("*"), copy.site]:
        path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        played = copy.play(NUMBA_CACHE_DIR=None, HOME=None, XDG_CACHE_HOME="/dev/null/none")
    finally:
        for path in [copy.site, *copy.site.rglob("*")]:
            path.chmod(stat.S_IRWXU)
    assert played.digest == here
    assert played.cache == "NullCache"


def test_without_numba_results_are_the_same__B51(here, tmp_path):
    played = Copy(tmp_path).play(WITHOUT_NUMBA)
    assert played.digest == here
    assert played.cache == "none"


def test_with_compilation_off_results_are_the_same(here, tmp_path):
    played = Copy(tmp_path).play(NUMBA_DISABLE_JIT="1")
    assert played.digest == here
    assert played.cache == "none"


SEVERAL = """
import sys
from tests.cases import fields, new_batch, play
from llama_envs.core.batch import policy_streams
batch, streams = new_batch(eval(sys.argv[1]), 3, 3, True), policy_streams(3, 4)
trace, worlds = play(batch, 60, streams), policy_streams(3, 5)
print(trace.digest(), fields(batch.worlds(0, worlds, 2)).hex(), worlds.tolist())
"""


@every_case
def test_plain_python_plays_and_imagines_the_same_in_every_configuration(case):
    batch, streams = new_batch(case, 3, 3, True), policy_streams(3, 4)
    trace, worlds = play(batch, 60, streams), policy_streams(3, 5)
    expected = f"{trace.digest()} {fields(batch.worlds(0, worlds, 2)).hex()} {worlds.tolist()}"
    assert run_python(SEVERAL, repr(case), NUMBA_DISABLE_JIT="1") == expected


# --------------------------------------------------------------------------------------------- the key of the cache


def adder(step):
    def add(x):
        return x + step

    return add


def test_fingerprint_follows_closures_constants_and_callees():
    one, two, again = adder(1), adder(2), adder(1)
    assert source_fingerprint(one) == source_fingerprint(again)
    assert source_fingerprint(one) != source_fingerprint(two)
    assert source_fingerprint(adder(np.arange(3))) != source_fingerprint(adder(np.arange(4)))
    namespace: dict[str, object] = {}
    exec("def inner(): return CONSTANT\ndef outer(): return inner()", namespace)
    prints = set()
    for constant in (1, 2, 1.0, "1", (1, 2)):
        source_fingerprint.cache_clear()
        namespace["CONSTANT"] = constant
        prints.add(source_fingerprint(namespace["outer"]))
    assert len(prints) == 5
    source_fingerprint.cache_clear()


def test_fingerprint_tells_equal_code_of_two_modules_apart():
    """Machine code imports the modules that it came from, which a moved or copied file no longer is."""
    prints = set()
    for module in ("here", "there"):
        namespace: dict[str, object] = {"__name__": module}
        exec("def inner(): return 1\ndef outer(): return inner()", namespace)
        prints.add(source_fingerprint(namespace["outer"]))
    assert len(prints) == 2


FINGERPRINT = """
import sys
from tests.cases import game_of
from llama_envs.core.compile import source_fingerprint, python_function
print(source_fingerprint(python_function(game_of(eval(sys.argv[1])).rules.apply)))
"""


@each_game
def test_fingerprint_does_not_depend_on_the_hash_seed(case):
    first, second = (run_python(FINGERPRINT, repr(case), PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert first == second


@needs_numba
def test_processes_that_compile_different_code_at_once_never_get_each_others__B51(tmp_path, monkeypatch):
    """Two functions of one place in the source; each saves after having read the index before the other saved."""
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))

    def variant(step):
        @kernel
        def add(x):
            return x + step

        return add

    first, second = variant(10), variant(20)
    files = first._cache._cache_file, second._cache._cache_file
    saved = [[], []]
    for file, calls in zip(files, saved, strict=True):
        file._load_index = dict
        write = file._save_data
        file._save_data = lambda name, data, write=write, calls=calls: calls.append((write, name, data))
    assert first(1) == 11
    assert second(1) == 21
    assert all(saved)
    for calls in reversed(saved):  # both have written their index; now the second writes its code, then the first
        for write, name, data in calls:
            write(name, data)
    fresh = variant(20), variant(10)
    assert [f(1) for f in fresh] == [21, 11]


def test_kernel_keeps_name_doc_and_the_python_function():
    @kernel
    def twice(x):
        """Two times x."""
        return 2 * x

    assert python_function(twice)(4) == twice(4) == 8
    assert python_function(twice).__doc__ == "Two times x."


# ---------------------------------------------------------------------------------------------------- processes (B52)


@each_game
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_worker_processes_play_as_the_parent_does_after_it_has_run_kernels__B52(case, method):
    seeds = [1, 2, 3]
    serial = [play_in_worker(case, seed) for seed in seeds]
    with multiprocessing.get_context(method).Pool(2) as pool:
        results = pool.starmap_async(play_in_worker, [(case, seed) for seed in seeds])
        assert results.get(timeout=60) == serial
        pool.close()
        pool.join()


@each_game
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_an_error_in_a_worker_reaches_the_parent_as_itself__B52(case):
    with multiprocessing.get_context().Pool(1) as pool, pytest.raises(ValueError, match=r"^seed must be an integer"):
        pool.apply(play_in_worker, (case, -1))
