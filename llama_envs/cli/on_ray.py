"""Ray for the experiments: a local one on the loopback interface, or a cluster; and ``map`` over its tasks."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


def require(module: str, address: str = "") -> None:
    """Import ``module``; ValueError with one sentence if Ray or what it needs is missing.

    Ray reads at its import where it may listen: without an address of a cluster, on the loopback interface alone.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
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
            ray.shutdown()


def _knock(address: str) -> None:
    """OSError unless something listens at ``address``; Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if port.isdigit() and "://" not in address:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def ray_map(function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """``map(function, items)``, each call a Ray task; the results come in order and are those of ``map``.

    Tasks compute with as many PyTorch threads as this process, so that sums of floats are formed in the same order.
    """
    import ray

    threads = sys.modules["torch"].get_num_threads() if "torch" in sys.modules else 0
    call = ray.remote(num_cpus=1, max_retries=3)(_call)
    shared = ray.put(function)
    for reference in [call.remote(shared, item, threads) for item in items]:
        yield ray.get(reference)


def _call(function: Callable[[T], R], item: T, threads: int) -> R:
    if threads:
        import torch

        torch.set_num_threads(threads)
    return function(item)
