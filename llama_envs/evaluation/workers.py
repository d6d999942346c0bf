"""Many independent jobs: done here, in other processes, or as Ray tasks, with the same results in the same order.

::

    with workers(processes=4) as spread:
        for result in spread(function, jobs):
            ...

An interrupt (Ctrl-C) comes through at once, however long a job takes: what the caller has kept of the results so far is
all there is.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import wait
from queue import Empty, SimpleQueue
from typing import Any

from llama_envs.policies.names import adopt, exported

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
_BUSY: list[threading.Thread] = []  # threads of this process in the middle of a job
ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


@contextmanager
def workers(processes: int = 1, other: Map | None = None) -> Iterator[Map]:
    """A ``map(function, jobs)`` whose results come in the order of the jobs and do not depend on who does the work.

    Args:
        processes: how many to start, one thread each; 0 is one for each core. With 1 the work is done in this process.
            Functions and jobs must be picklable where there are more. Policies that were registered are known in all.
        other: a map to be used instead, such as one over Ray tasks.

    Raises:
        BrokenProcessPool: a process died.
    """
    number = processes or os.cpu_count() or 1
    if other is not None:
        yield other
    elif number == 1:
        yield in_thread
    else:
        with worker_pool(number) as pool:
            yield partial(in_pool, pool)


@contextmanager
def threads(number: int = 1) -> Iterator[Map]:
    """As :func:`workers`, with threads of this process: for short jobs in compiled code, which runs side by side.

    Args:
        number: how many; 0 is one for each core. With 1 the work is done in the calling thread.
    """
    number = number or os.cpu_count() or 1
    if number == 1:
        yield map
        return
    pool = ThreadPoolExecutor(number)
    yield partial(in_pool, pool)
    pool.shutdown()  # not after an interrupt: who waits for a job then ends the process (see ``busy``)


@contextmanager
def worker_pool(number: int) -> Iterator[Executor]:
    """So many processes, one thread each; they end with this one, however it ends, and at once if it is interrupted."""
    context = multiprocessing.get_context("spawn")
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)  # read when a process starts
    pool = ProcessPoolExecutor(number, mp_context=context, initializer=_begin, initargs=(exported(), list(sys.path)))
    try:
        yield pool
    except BaseException:
        for child in multiprocessing.active_children():  # in the middle of a job, which may be long
            child.terminate()
        pool.shutdown(wait=False)
        raise
    else:
        pool.shutdown(wait=True, cancel_futures=True)
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def in_pool(pool: Executor, function: Callable[[Any], Any], jobs: Iterable[Any]) -> Iterator[Any]:
    """``map`` in a pool's processes; nothing is cancelled one by one, since :func:`worker_pool` ends all."""
    todo = list(jobs)
    with _deaf():
        futures = [pool.submit(function, job) for job in todo]
    for future in futures:
        yield future.result()


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes that start within never hear Ctrl-C, not even while they import; here it comes through afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def in_thread(function: Callable[[Any], Any], jobs: Iterable[Any]) -> Iterator[Any]:
    """``map`` in another thread of this process, so that this one can be interrupted while compiled code runs."""
    for job in jobs:
        answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        thread = threading.Thread(target=_answer, args=(function, job, answers), daemon=True)
        _BUSY.append(thread)
        thread.start()
        answered = None
        while answered is None:
            with suppress(Empty):  # now and then, since what stops a Ray task does not wake who waits for ever
                answered = answers.get(timeout=0.2)
        _BUSY.remove(thread)
        result, raised = answered
        if raised is not None:
            raise raised
        yield result


def _answer(function: Callable[[Any], Any], job: Any, answers: SimpleQueue[tuple[Any, BaseException | None]]) -> None:
    try:
        answers.put((function(job), None))
    except BaseException as error:
        answers.put((None, error))


def busy() -> bool:
    """Whether a job that was interrupted still runs in a thread: the process must then end without waiting for it."""
    return any(thread.is_alive() for thread in _BUSY)


def _begin(registered: bytes, path: list[str]) -> None:
    """What a process does first: know what its parent knows, leave Ctrl-C to it, and end with it, however it ends."""
    sys.path[:] = path
    adopt(registered)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
