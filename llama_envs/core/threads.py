"""Threads that share the games of a batch: kernels release Python's lock, and no two games touch the same memory.

Not an executor: an interrupt (Ctrl-C) inside one can leave it locked for ever, or a step half done. Here the calling
thread takes parts itself, and an interrupt comes out when every part is done.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread, get_ident

import numpy as np
import numpy.typing as npt

MOST_INTERRUPTS = 1000  # in one call; more are a fault of the work itself
LOOKS = 400  # at whether the others have ended, before going to sleep, from which it takes long to wake


class Job:
    """The parts of one call. Who wants a part claims it first; a thread that is late finds fewer left.

    Attributes:
        work: what to call with the number of a part.
        done: whether each part is, as ``work`` says.
        claims: the thread that claimed each part.
        ended: what each part of a helping thread raised, or None.
        signal: gets an entry for each.
    """

    def __init__(self, work: Callable[[int], object], done: npt.NDArray[np.bool_]) -> None:
        self.work = work
        self.done = memoryview(done)  # type: ignore[arg-type]  # a Buffer from Python 3.12 on
        self.parts = len(done)
        self.claims: dict[int, int] = {}
        self.ended: list[BaseException | None] = []
        self.signal: SimpleQueue[None] = SimpleQueue()

    def lead(self) -> None:
        """Do parts from the first on, in the calling thread; then wait until the others have ended theirs."""
        me = get_ident()
        for part in range(self.parts):
            if self.claims.setdefault(part, me) == me:  # also one that an interrupt stopped
                self.work(part)
        for _ in range(LOOKS):
            if all(self.done):
                return
        theirs = sum(claimant != me for claimant in self.claims.values())
        while len(self.ended) < theirs:
            self.signal.get()

    def help(self) -> None:
        """Do parts from the last on: so each thread keeps, from call to call, to games that its core has at hand."""
        me = get_ident()
        for part in reversed(range(self.parts)):
            if part in self.claims or self.claims.setdefault(part, me) != me:
                continue
            raised: BaseException | None = None
            try:
                self.work(part)
            except BaseException as error:  # for the caller, whatever it is
                raised = error
            self.ended.append(raised)
            self.signal.put(None)


def in_threads(work: Callable[[int], object], done: npt.NDArray[np.bool_]) -> None:
    """Call ``work(part)`` for every part, in this thread and one fewer others than parts; return when all have ended.

    Args:
        work: compiled code that sets ``done[part]`` as its last act, and does nothing where it is set: so a part that
            was interrupted on its way is neither left out nor done twice.
        done: one False for each of two or more parts.

    Raises:
        BaseException: what a part raised, or an interrupt, after every part has ended.
    """
    jobs, job = _workers(len(done) - 1), Job(work, done)
    interrupts: list[BaseException] = []
    ended = False
    while not ended and len(interrupts) < MOST_INTERRUPTS:
        try:
            for _ in range(len(done) - 1):
                jobs.put(job)
            job.lead()
            ended = True
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
        job.help()


if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads
    os.register_at_fork(after_in_child=_workers.cache_clear)
