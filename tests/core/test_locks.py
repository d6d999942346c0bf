"""Locks among processes: one at a time, free when who holds one dies, no use where there can be none."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from llama_envs.core import locks
from llama_envs.core.compile import JIT, kernel
from llama_envs.core.locks import Locks, locks_in
from tests.cases import CHECKOUT

pytestmark = pytest.mark.skipif(locks.fcntl is None, reason="there are no such locks on Windows")
TAKE = """
import sys, time
from llama_envs.core.locks import Locks
print(Locks(sys.argv[1]).take(sys.argv[2], float(sys.argv[3])), flush=True)
time.sleep(float(sys.argv[4]))
"""


@contextmanager
def other(path: Path, name: str, patience: float = 0, stays: float = 60) -> Iterator[subprocess.Popen[str]]:
    """Another process that tries to take a lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", TAKE, str(path), name, str(patience), str(stays)],
        cwd=CHECKOUT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def answer(process: subprocess.Popen[str]) -> bool:
    assert process.stdout is not None
    return {"True\n": True, "False\n": False}[process.stdout.readline()]


def free(path: Path, name: str) -> bool:
    with other(path, name, stays=0) as process:
        return answer(process)


def test_one_process_holds_a_name_until_it_lets_go_and_others_hold_others(tmp_path: Path) -> None:
    path = tmp_path / "file"
    mine = Locks(str(path))
    assert mine.take("a")
    assert mine.take("b")
    assert not free(path, "a")
    assert free(path, "c")
    mine.let_go("b")
    assert free(path, "b")
    assert not free(path, "a")
    with other(path, "a", patience=60) as waits:
        time.sleep(0.5)
        mine.let_go("a")
        assert answer(waits)
        assert not mine.take("a", patience=0.05)


def test_a_process_that_is_killed_lets_go_and_one_that_hangs_is_waited_for_only_so_long(tmp_path: Path) -> None:
    path = tmp_path / "file"
    mine = Locks(str(path))
    with other(path, "a") as holder:
        assert answer(holder)
        started = time.monotonic()
        assert not mine.take("a", patience=0.3)
        assert 0.3 <= time.monotonic() - started < 5
        holder.kill()
        assert mine.take("a")


@pytest.mark.parametrize("why", ["no folder", "no fcntl", "no locks"])
def test_where_there_are_no_locks_everyone_goes_on(why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(37, "No locks available")

    path = tmp_path / "missing" / "file" if why == "no folder" else tmp_path / "file"
    if why == "no fcntl":
        monkeypatch.setattr(locks, "fcntl", None)
    elif why == "no locks":
        monkeypatch.setattr(locks.fcntl, "lockf", refuse)
    assert not Locks(str(path)).take("a")


# -------------------------------------------------------------------------------------------------------------- kernels


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an empty compile cache."""
    if not JIT:
        pytest.skip("kernels run in plain Python")
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What is done with locks: ("take" or "let go", name)."""
    done: list[tuple[str, str]] = []
    take, let_go = Locks.take, Locks.let_go
    monkeypatch.setattr(Locks, "take", lambda self, name: done.append(("take", name)) or take(self, name))
    monkeypatch.setattr(Locks, "let_go", lambda self, name: done.append(("let go", name)) or let_go(self, name))
    return done


def test_kernels_are_compiled_under_locks_the_callee_s_inside_the_caller_s(
    cold: Path, taken: list[tuple[str, str]]
) -> None:
    @kernel
    def inner(x):
        return x + 1

    @kernel
    def outer(x):
        return inner(x) + inner(x + 1)

    assert outer(1) == 5
    assert [what for what, _ in taken] == ["take", "take", "let go", "let go"]
    assert taken[0][1] == taken[3][1] != taken[1][1] == taken[2][1]
    assert free(next(cold.rglob(".lock")), taken[0][1])
    assert outer(2) == 7
    assert len(taken) == 4  # what is there needs none


def test_a_kernel_that_cannot_be_compiled_lets_go_and_one_that_calls_itself_is_compiled(
    cold: Path, taken: list[tuple[str, str]]
) -> None:
    @kernel
    def wrong(x):
        return x + "text"

    @kernel
    def factorial(x):
        return 1 if x < 2 else x * factorial(x - 1)

    with pytest.raises(Exception, match="No implementation of function"):
        wrong(1)
    assert factorial(5) == 120
    names = {name for _, name in taken}
    assert sorted(taken) == sorted((what, name) for name in names for what in ("take", "let go"))
    assert all(free(next(cold.rglob(".lock")), name) for name in names)


def test_threads_that_need_kernels_at_once_get_them(cold: Path) -> None:
    def variant(step):
        @kernel
        def add(x):
            return x + step

        return add

    kernels, found = [variant(step % 3) for step in range(6)], []
    threads = [threading.Thread(target=lambda add=add: found.append(add(10))) for add in kernels]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(found) == [10, 10, 11, 11, 12, 12]


def test_without_locks_kernels_are_compiled_and_saved(cold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "fcntl", None)
    locks_in.cache_clear()

    def twice():
        @kernel
        def double(x):
            return 2 * x

        return double

    first, again = twice(), twice()
    assert first(2) == again(2) == 4
    assert sum(first.stats.cache_misses.values()) == sum(again.stats.cache_hits.values()) == 1
    assert not list(cold.rglob(".lock"))
    locks_in.cache_clear()
