"""Policies in the seats of a batch: the one loop in which the suite plays them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from traceback import extract_tb
from typing import Any

import numpy as np
import numpy.typing as npt

from llama_envs.core.batch import Batch, illegal_action_message, policy_streams
from llama_envs.core.chance import Seeds, draw_below, draw_unit, fresh_seed
from llama_envs.core.compile import kernel
from llama_envs.core.contract import Floats, Integers, Streams
from llama_envs.policies.view import Actions, Policy, kernel_of, make_view


class PolicyError(Exception):
    """A policy raised something, or chose an action that is not legal.

    Attributes:
        policy: its name, or its number.
        message: what happened, one sentence.
    """

    def __init__(self, policy: str, message: str) -> None:
        super().__init__(policy, message)
        self.policy, self.message = policy, message

    def __str__(self) -> str:
        return f"policy {self.policy} failed: {self.message}"


class Players:
    """Plays seats of a batch by policies: ``assignment[game, seat]`` is an index into ``policies``, -1 for nobody.

    Every (game, seat) has its own random stream, so a choice depends neither on the size of the batch nor on what other
    games do. A policy that is a kernel plays inside a compiled loop, with the same actions as by ``act``.

    Args:
        batch: the games, without autoreset.
        policies: who plays.
        assignment: (N, P) integers; may be written to between steps.
        seed: of the policies' streams, as in :class:`Batch`; None asks the operating system.
        streams: (N, P) uint64 streams to use instead of ``seed``.
        names: of the policies, for errors; by default their numbers.

    Attributes:
        decisions: (K,) int64, how many each policy has taken.
        seconds: (K,) float64, the time it took; inside a compiled loop also that of the moves themselves.
    """

    def __init__(
        self,
        batch: Batch,
        policies: Sequence[Policy],
        assignment: npt.NDArray[np.integer[Any]],
        seed: Seeds = None,
        streams: npt.NDArray[np.uint64] | None = None,
        names: Sequence[str] = (),
    ) -> None:
        self.batch, self.policies, self.assignment = batch, list(policies), assignment
        self.names = list(names) or [str(number) for number in range(len(self.policies))]
        if streams is None:
            base = fresh_seed() if seed is None else seed
            seats = range(batch.game.num_players)
            streams = np.stack([policy_streams(batch.num_games, base, seat) for seat in seats], axis=1)
        self.streams = streams
        self.decisions = np.zeros(len(self.policies), np.int64)
        self.seconds = np.zeros(len(self.policies))
        self._kernels = [kernel_of(policy) for policy in self.policies]
        self._asks = np.array([*(own is None for own in self._kernels), True])  # the last one: for nobody's -1
        self._games = np.arange(batch.num_games)
        self._chosen = np.zeros(batch.num_games, np.int64)

    def act(self, actions: Actions) -> npt.NDArray[np.bool_]:
        """Fill ``actions`` (N,) where one of the policies is to move; returns where that is, (N,) bool.

        Raises:
            PolicyError: a policy failed.
        """
        who = self._who()
        for index in self._moving(who):
            if self._kernels[index] is not None:
                self._run(index, actions, move=False)
            else:
                self._choose(index, np.flatnonzero(who == index), actions)
        return np.asarray(who >= 0)

    def play(
        self,
        watched: npt.NDArray[np.int64] | None = None,
        paid: npt.NDArray[np.float32] | None = None,
    ) -> None:
        """Let the policies play until every game is over or waits for a seat that is nobody's.

        Args:
            watched: (N,), a seat of each game.
            paid: (N,) float32; what ``watched`` is paid meanwhile is added to it.

        Raises:
            PolicyError: a policy failed; the games stand where it did.
        """
        watched = np.zeros(len(self._games), np.int64) if watched is None else watched
        paid = np.zeros(len(self._games), np.float32) if paid is None else paid
        kernels = [index for index, own in enumerate(self._kernels) if own is not None]
        while True:
            while sum(self._run(index, self._chosen, watched, paid) for index in kernels):
                if len(kernels) == 1:  # it has played wherever it could
                    break
            if len(kernels) == len(self.policies):
                return
            who = self._who()
            moving = self._moving(who)
            if not moving:
                return
            for index in moving:  # those that are asked, all at once
                self._choose(index, np.flatnonzero(who == index), self._chosen)
            reward, _, _ = self.batch.step(self._chosen, who >= 0)
            paid += reward[self._games, watched]

    def _who(self) -> npt.NDArray[np.int64]:
        """(N,): the policy to move, -1 for nobody."""
        to_move = self.batch.to_move
        return np.where(to_move >= 0, self.assignment[self._games, to_move], -1)

    def _moving(self, who: npt.NDArray[np.int64]) -> list[int]:
        """The policies that are to move somewhere."""
        return np.flatnonzero(np.bincount(who + 1, minlength=2)[1:]).tolist()

    def _run(
        self,
        index: int,
        actions: Actions,
        watched: npt.NDArray[np.int64] | None = None,
        paid: npt.NDArray[np.float32] | None = None,
        move: bool = True,
    ) -> int:
        """One policy's kernel, everywhere; how many decisions it took."""
        own = self._kernels[index]
        assert own is not None
        started = time.perf_counter()
        decisions, illegal = self.batch.play(
            own,
            np.ascontiguousarray(self.assignment, np.int64),
            int(index),
            self.streams,
            actions,
            self._asks,
            watched,
            paid,
            move,
        )
        self.seconds[index] += time.perf_counter() - started
        self.decisions[index] += decisions
        if illegal >= 0:
            action, mask = int(actions[illegal]), self.batch.action_mask[illegal]
            raise PolicyError(self.names[index], illegal_action_message(self.batch.game, action, mask))
        return decisions

    def _choose(self, index: int, rows: npt.NDArray[np.int64], actions: Actions) -> None:
        """Ask one policy for its actions in the games ``rows``."""
        policy, seats = self.policies[index], self.batch.to_move[rows].astype(np.int64)
        view = make_view(self.batch, rows, seats, self.streams[rows, seats], policy)
        mask = view.mask.copy()
        started = time.perf_counter()
        try:
            chosen = np.asarray(policy.act(view))
        except (Exception, SystemExit) as error:  # a policy does not end the program that plays it
            first_line = f"{type(error).__name__}: {error}".splitlines()[0]
            at = extract_tb(error.__traceback__)[-1]
            raise PolicyError(
                self.names[index], f"{first_line} ({Path(at.filename).name}, line {at.lineno})"
            ) from error
        self.seconds[index] += time.perf_counter() - started
        self.decisions[index] += len(rows)
        if chosen.shape != (len(rows),) or chosen.dtype.kind not in "iu":
            raise PolicyError(
                self.names[index], f"act gave {chosen.dtype} of shape {chosen.shape}, not {len(rows)} integers"
            )
        inside = (chosen >= 0) & (chosen < mask.shape[1])
        legal = inside & mask[np.arange(len(rows)), np.where(inside, chosen, 0)]
        if not legal.all():
            row = int(np.flatnonzero(~legal)[0])
            raise PolicyError(self.names[index], illegal_action_message(self.batch.game, int(chosen[row]), mask[row]))
        actions[rows] = chosen
        self.streams[rows, seats] = view.streams


@kernel
def seat_policies(
    streams: Streams, games: Integers, learner_seat: int, cumulative: Floats, seat: Integers, assignment: Integers
) -> None:
    """Draw who plays in each of ``games`` from the game's own stream, for one learner among policies.

    ``seat[game]`` becomes the learner's (``learner_seat``; any seat if that is negative), and ``assignment[game]`` -1
    there and elsewhere a policy, by its ``cumulative`` share of the weight.
    """
    players = assignment.shape[1]
    for game in games:
        drawn = draw_below(streams, game, players)
        seat[game] = drawn if learner_seat < 0 else learner_seat
        for other in range(players):
            share = draw_unit(streams, game)
            policy = 0
            while policy < len(cumulative) - 1 and share >= cumulative[policy]:
                policy += 1
            assignment[game, other] = policy
        assignment[game, seat[game]] = -1
