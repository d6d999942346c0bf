"""Threads that share the games of a batch: kernels release Python's lock, and no two games touch the same memory.

Not an executor: an interrupt (Ctrl-C) inside one can leave it locked for ever, or a step half done. Here the calling
thread takes the first part itself, and an interrupt comes out when every part is done.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread

import numpy as np
import numpy.typing as npt

MOST_INTERRUPTS = 1000  # in one call; more are a fault of the work itself


class Job:
    """What helping threads do of a call: parts 1, 2, ...

    Attributes:
        ended: what each finished part raised, or None.
        signal: gets an entry when all parts have ended.
    """

    def __init__(self, work: Callable[[int], object], parts: int) -> None:
        self.work = work
        self.number = parts - 1
        self.ended: list[BaseException | None] = []
        self.signal: SimpleQueue[None] = SimpleQueue()
        self._waiting = list(range(1, parts))

    def run(self) -> None:
        """Take parts until none is left, beside other threads that do."""
        while True:
            try:
                part = self._waiting.pop()
            except IndexError:
                return
            raised: BaseException | None = None
            try:
                self.work(part)
            except BaseException as error:  # for the caller, whatever it is
                raised = error
            self.ended.append(raised)
            if len(self.ended) == self.number:
                self.signal.put(None)


def in_threads(work: Callable[[int], object], done: npt.NDArray[np.bool_]) -> None:
    """Call ``work(part)`` for every part, the first in this thread, the others in threads of their own; wait for all.

    Args:
        work: compiled code that sets ``done[part]`` as its last act, and does nothing where it is set: so a part that
            was interrupted on its way is neither left out nor done twice.
        done: one False for each of two or more parts.

    Raises:
        BaseException: what a part raised, or an interrupt, after every part is done.
    """
    parts = len(done)
    jobs, job = _workers(parts - 1), Job(work, parts)
    interrupts: list[BaseException] = []
    while not (done[0] and len(job.ended) == job.number) and len(interrupts) < MOST_INTERRUPTS:
        try:
            for _ in range(job.number):
                jobs.put(job)
            work(0)
            job.signal.get()
        except BaseException as error:  # an interrupt: go on
            interrupts.append(error)
    for raised in (*interrupts[:1], *job.ended):
        if raised is not None:
            raise raised


@functools.cache
def _workers(number: int) -> SimpleQueue[Job | None]:
    """What so many threads take their jobs from; None ends one."""
    jobs: SimpleQueue[Job | None] = SimpleQueue()
    for started in range(number):
        try:
            Thread(target=_work, args=(jobs,), name=f"llama_envs-{started}", daemon=True).start()
        except RuntimeError:  # the operating system gives no more
            for _ in range(started):
                jobs.put(None)
            raise
    return jobs


def _work(jobs: SimpleQueue[Job | None]) -> None:
    while (job := jobs.get()) is not None:
        job.run()


if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads
    os.register_at_fork(after_in_child=_workers.cache_clear)
