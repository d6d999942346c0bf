"""Ray for the experiments: a local one on the loopback interface, or a cluster; and ``map`` over its tasks."""

from __future__ import annotations

import functools
import logging
import os
import pickle
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from llama_envs.policies.names import adopt, exported

T = TypeVar("T")
R = TypeVar("R")
LAST_WORDS = 1.0  # seconds that tasks have after an interrupt
_RUNNING: list[list[Any]] = []  # what each map still waits for
_LEAVING = threading.Event()


def require(module: str, address: str = "") -> None:
    """Import ``module``; ValueError with one sentence if Ray or what it needs is missing.

    Ray reads at its import where it may listen: without an address of a cluster, on the loopback interface alone.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")  # once left, it is not started again by whoever asks for it
    if not address:
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # the name notwithstanding, on Linux too
    try:
        __import__(module)
    except ImportError as error:
        sentence = str(error) if "llama-envs[ray]" in str(error) else f"{error}: pip install 'llama-envs[ray]'"
        raise ValueError(sentence) from None


@contextmanager
def ray_session(address: str = "", cpus: int = 0) -> Iterator[Any]:
    """Ray, started here or joined at ``address``, and left again; a session that is already there is used as it is.

    Args:
        address: of a running cluster ("auto", "host:port"); empty starts Ray on this machine, reachable from it alone.
        cpus: tasks and actors that must be able to run at once.

    Raises:
        ValueError: Ray is missing, the cluster cannot be reached or is too small.
    """
    require("ray", address)
    import ray

    mine = not ray.is_initialized()
    if mine:
        quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
        try:
            if address:
                _knock(address)
                ray.init(address=address, **quiet)
            else:
                ray.init(num_cpus=max(os.cpu_count() or 1, cpus), include_dashboard=False, **quiet)
        except (OSError, RuntimeError, ValueError) as error:
            first_line = str(error).strip().partition("\n")[0]
            raise ValueError(f"cannot start Ray or join it at {address or 'this machine'!r}: {first_line}") from None
    try:
        there = int(ray.cluster_resources().get("CPU", 0))
        if there < cpus:
            raise ValueError(f"{cpus} CPUs are needed at once, and the Ray cluster has {there}.")
        yield ray
    finally:
        if mine:
            _LEAVING.set()
            for running in list(_RUNNING):  # of another thread, or of a map that nobody goes on with
                _end(running)
            ray.shutdown()
            _LEAVING.clear()


def _knock(address: str) -> None:
    """OSError unless something listens at ``address``; Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if port.isdigit() and "://" not in address:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def ray_map(function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """``map(function, items)``, each call a Ray task; the results come in order and are those of ``map``.

    Tasks compute with as many PyTorch threads as this process, so that sums of floats are formed in the same order, and
    know the games and policies that were registered here. An interrupt reaches them too.

    Raises:
        Exception: what a task raised.
        BrokenProcessPool: a task's process or node died, again and again, or Ray has been left.
        ValueError: a registered game or policy cannot be sent, or a node lacks a module.
    """
    import ray
    from ray import cloudpickle

    if _LEAVING.is_set():
        raise BrokenProcessPool("Ray has been left.")
    threads = sys.modules["torch"].get_num_threads() if "torch" in sys.modules else 0
    known = ray.put((list(sys.path), exported(cloudpickle.dumps), threads, cloudpickle.dumps(function)))
    running = [_task().remote(known, cloudpickle.dumps(item)) for item in items]
    _RUNNING.append(running)
    try:
        while running:
            result = ray.get(running[0])
            del running[0]
            yield result
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, ImportError):
            raise ValueError(f"a Ray task cannot import {error.cause.name}, and each node must be able to.") from None
        raise error.cause from None
    except ray.exceptions.RayError as error:
        raise BrokenProcessPool(str(error)) from None
    finally:
        _RUNNING.remove(running)
        if not _LEAVING.is_set() and ray.is_initialized():
            _end(running)


def _end(running: list[Any]) -> None:
    """An interrupt for all tasks that have not ended; they have a moment to keep what they have."""
    import ray

    tasks = list(running)  # another thread may go on taking from it
    for task in tasks:
        ray.cancel(task)
    if tasks:
        ray.wait(tasks, num_returns=len(tasks), timeout=LAST_WORDS)


@functools.cache
def _task() -> Any:
    import ray

    return ray.remote(num_cpus=1, max_retries=3)(_call)


def _call(known: tuple[list[str], bytes, int, bytes], item: bytes) -> Any:
    path, registered, threads, function = known
    sys.path.extend(folder for folder in path if folder not in sys.path)
    adopt(registered)  # before anything that needs it is unpickled
    if threads:
        import torch

        torch.set_num_threads(threads)
    return pickle.loads(function)(pickle.loads(item))
