"""Who does the work of a command that plays many games: this process, other processes, or Ray."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

from llama_envs.cli.on_ray import ray_map, ray_session
from llama_envs.core.validation import check_int
from llama_envs.evaluation.workers import Map, threads, workers


@dataclasses.dataclass(frozen=True)
class Spread:
    """The options of such a command; its results do not depend on them."""

    workers: int = 0
    """Processes that play; 0 is one for each core. The results do not depend on it."""
    ray: bool = False
    """Ray tasks do the work instead, with the same results."""
    address: str = ""
    """With --ray, the address of a cluster ("auto", host:port), each node of which can import this package; empty:
    this machine."""

    def __post_init__(self) -> None:
        check_int("workers", self.workers, 0, 1024)
        if self.address and not self.ray:
            raise ValueError(f"address is for --ray, got {self.address!r} without it.")
        if self.ray and self.workers != type(self).workers:
            raise ValueError(f"workers are processes of this machine: give workers = {self.workers} or ray, not both.")

    @contextmanager
    def spread(self, light: bool = False) -> Iterator[Map]:
        """A ``map(function, jobs)`` as in :func:`~llama_envs.evaluation.workers.workers`.

        Args:
            light: the jobs are too short for other processes of this machine, and compiled code: threads do them.

        Raises:
            ValueError: Ray is missing or cannot be reached.
        """
        if self.ray:
            with ray_session(self.address):
                yield ray_map
        else:
            with (threads if light else workers)(self.workers) as spread:
                yield spread
