"""What chooses actions, and what it may look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from llama_envs.core.batch import Batch, resampled
from llama_envs.core.chance import sample_legal
from llama_envs.core.contract import PolicyKernel, States
from llama_envs.core.game import Game

Actions = npt.NDArray[np.int64]


@dataclass
class View:
    """What a policy sees of n games in which it is to move. Arrays are its own: it may keep or change them.

    Attributes:
        game: sizes, names and layout (the same for all rows; holds no position).
        observation: (n, D) float32.
        mask: (n, A) bool, never empty in a row.
        seat: (n,) int64, the seat that the policy plays.
        streams: (n,) uint64, the policy's own random stream in each row; draws advance it.
    """

    game: Game
    observation: npt.NDArray[np.float32]
    mask: npt.NDArray[np.bool_]
    seat: npt.NDArray[np.int64]
    streams: npt.NDArray[np.uint64]
    _possible: States | None = None  # one world in each row, itself already resampled: the true state is not in here

    def world(self) -> States:
        """(n,) states that the seat considers possible: the same ones whenever it is called, without drawing.

        Raises:
            ValueError: the policy does not declare ``needs_worlds = True``.
        """
        if self._possible is None:
            raise ValueError("a policy that asks for worlds must declare needs_worlds = True.")
        return self._possible

    def worlds(self, k: int) -> States:
        """(n, k) states, each drawn from what the seat considers possible, by its streams.

        Such a state is called a determinization (Cowling, Powley & Whitehouse 2012).

        Raises:
            ValueError: the policy does not declare ``needs_worlds = True``.
        """
        return resampled(self.game, self.world(), self.seat, self.streams, k)

    def part(self, rows: slice) -> View:
        """The view on some of the games; its arrays are parts of this one's."""
        possible = None if self._possible is None else self._possible[rows]
        return View(self.game, self.observation[rows], self.mask[rows], self.seat[rows], self.streams[rows], possible)

    def sample_legal(self) -> Actions:
        """A uniform legal action for each row, by its stream: (n,) int64."""
        actions = np.empty(len(self), np.int64)
        sample_legal(self.mask, self.streams, actions)
        return actions

    def __len__(self) -> int:
        return len(self.seat)


@runtime_checkable
class Policy(Protocol):
    """Chooses actions for a whole batch at a time; deterministic given the view (its streams included).

    A policy that is one kernel says so in an attribute ``kernel``
    (:class:`~llama_envs.core.contract.PolicyKernel`): whatever plays policies then calls that inside a compiled loop
    instead of ``act``. Both must choose the same actions; a subclass with an ``act`` of its own is asked by that.

    Attributes:
        needs_worlds: whether ``act`` calls ``view.worlds``.
    """

    needs_worlds: bool

    def act(self, view: View) -> Actions:
        """A legal action for each row: (n,) int64."""


def kernel_of(policy: Policy) -> PolicyKernel | None:
    """The kernel of a policy that is one, else None; a class that inherits a kernel but has its own ``act`` is none."""
    own: PolicyKernel | None = getattr(policy, "kernel", None)
    for kind in type(policy).__mro__:
        if "kernel" in vars(kind):
            return own
        if "act" in vars(kind):
            return None if any("kernel" in vars(base) for base in kind.__mro__) else own
    return own


def make_view(
    batch: Batch,
    rows: npt.NDArray[np.int64],
    seats: npt.NDArray[np.int64],
    streams: npt.NDArray[np.uint64],
    policy: Policy,
) -> View:
    """The view of ``policy`` on the games ``rows``, in which ``seats`` are to move; everything in it is a copy."""
    streams = streams.copy()
    possible = None
    if policy.needs_worlds:
        # a kernel draws from its streams for its choices alone, so here its world comes from a copy of them
        drawn = streams.copy() if kernel_of(policy) is not None else streams
        possible = resampled(batch.game, batch.state[rows], seats, drawn, 1)[:, 0].copy()
    return View(batch.game, batch.observation[rows], batch.action_mask[rows], seats.copy(), streams, possible)
