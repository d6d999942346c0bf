"""Threads that share the games of a batch: kernels release Python's lock, and no two games touch the same memory.

Not an executor: an interrupt (Ctrl-C) inside one can leave it locked for ever, or a step half done. Here the caller
only waits, and an interrupt comes out when the step is over.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread


def parts_of(number: int, parts: int) -> list[tuple[int, int]]:
    """``number`` games in so many runs of nearly equal length: the first of each, and the one beyond its last."""
    bounds = [number * part // parts for part in range(parts + 1)]
    return list(itertools.pairwise(bounds))


class Job:
    """A step in parts.

    Attributes:
        ended: what each finished part raised, or None.
        signal: gets an entry when all parts have ended.
    """

    def __init__(self, work: Callable[[int, int], object], parts: list[tuple[int, int]]) -> None:
        self.work = work
        self.number = len(parts)
        self.ended: list[BaseException | None] = []
        self.signal: SimpleQueue[None] = SimpleQueue()
        self._waiting = list(parts)

    def run(self) -> None:
        """Take parts until none is left, beside other threads that do."""
        while True:
            try:
                part = self._waiting.pop()
            except IndexError:
                return
            raised: BaseException | None = None
            try:
                self.work(*part)
            except BaseException as error:  # for the caller, whatever it is
                raised = error
            self.ended.append(raised)
            if len(self.ended) == self.number:
                self.signal.put(None)


def in_threads(work: Callable[[int, int], object], parts: list[tuple[int, int]]) -> None:
    """Call ``work(first, beyond)`` for each part in a thread of its own, and wait for all; raises what one raised."""
    jobs, job = _workers(len(parts)), Job(work, parts)
    interrupted: BaseException | None = None
    while len(job.ended) < job.number:
        try:
            for _ in parts:
                jobs.put(job)
            job.signal.get()
        except BaseException as error:  # an interrupt: wait on
            interrupted = error
    for raised in (interrupted, *job.ended):
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
