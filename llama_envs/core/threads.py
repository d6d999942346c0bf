"""Threads that share the games of a batch: kernels release Python's lock, and no two games touch the same memory."""

from __future__ import annotations

import functools
import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait


def parts_of(number: int, parts: int) -> list[tuple[int, int]]:
    """``number`` games in so many runs of nearly equal length: the first of each, and the one beyond its last."""
    bounds = [number * part // parts for part in range(parts + 1)]
    return list(itertools.pairwise(bounds))


def in_threads(work: Callable[[int, int], object], parts: list[tuple[int, int]]) -> None:
    """Call ``work(first, beyond)`` for each part: the last in this thread, the others beside it; wait for all."""
    pool = _pool(len(parts))
    others = [pool.submit(work, *part) for part in parts[:-1]]
    try:
        work(*parts[-1])
    finally:
        wait(others)
    for other in others:
        other.result()


@functools.cache
def _pool(parts: int) -> ThreadPoolExecutor:
    """All its threads start here, so that none fails to when some games have moved."""
    pool = ThreadPoolExecutor(parts - 1, thread_name_prefix="llama_envs")
    all_started = threading.Barrier(parts - 1)
    try:
        wait([pool.submit(all_started.wait) for _ in range(parts - 1)])
    except RuntimeError:  # the operating system gives no more
        all_started.abort()
        raise
    return pool


if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
