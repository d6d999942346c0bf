"""Policies: what chooses actions, what it may look at, and the names by which everything asks for one.

``make_policy("heuristic:4", game)`` builds a policy from its name; ``random`` is built in, ``import agents`` registers
the others, and ``register_policy`` adds yours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from llama_envs.core.batch import Batch, policy_streams, resampled
from llama_envs.core.chance import Seeds, draw_below, draw_unit, fresh_seed, sample_legal
from llama_envs.core.compile import kernel
from llama_envs.core.game import Game, Kernel, State

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
    _possible: State | None = None  # one world in each row, itself already resampled: the true state is not in here

    def worlds(self, k: int) -> State:
        """(n, k) states, each drawn from what the seat considers possible.

        Raises:
            ValueError: the policy does not declare ``needs_worlds = True``.
        """
        if self._possible is None:
            raise ValueError("a policy that asks for worlds must declare needs_worlds = True.")
        return resampled(self.game, self._possible, self.seat, self.streams, k)

    def __len__(self) -> int:
        return len(self.seat)


@runtime_checkable
class Policy(Protocol):
    """Chooses actions for a whole batch at a time; deterministic given the view (its streams included).

    Attributes:
        needs_worlds: whether ``act`` calls ``view.worlds``.
    """

    needs_worlds: bool

    def act(self, view: View) -> Actions:
        """A legal action for each row: (n,) int64."""


class RandomPolicy:
    """Uniform over legal actions."""

    needs_worlds = False

    def act(self, view: View) -> Actions:
        """A uniform legal action for each row: (n,) int64."""
        actions = np.empty(len(view), np.int64)
        sample_legal(view.mask, view.streams, actions)
        return actions


class ScriptedPolicy:
    """A rule of thumb, written once as a kernel ``choose(state, params, seat, options) -> action``.

    It looks at a resampled world, so it can use only what the seat knows; search rollouts may call ``choose`` directly.

    Args:
        choose: the kernel.
        options: numbers that it takes, as float64.
    """

    needs_worlds = True

    def __init__(self, choose: Kernel, options: Sequence[float] = ()) -> None:
        self.choose = choose
        self.options = np.array(options, np.float64)
        self._choose_all = compile_choose(choose)

    def act(self, view: View) -> Actions:
        """The scripted action for each row: (n,) int64."""
        return self.act_in(view.game, view.worlds(1)[:, 0], view.seat)

    def act_in(self, game: Game, worlds: State, seats: npt.NDArray[np.int64]) -> Actions:
        """The scripted action of ``seats[i]`` in ``worlds[i]``: (n,) int64."""
        actions = np.empty(len(worlds), np.int64)
        self._choose_all(game.records(worlds), game.records(game.params), seats, self.options, actions)
        return actions

    def __reduce__(self) -> tuple[Any, ...]:
        return ScriptedPolicy, (self.choose, self.options)


_CHOOSE_ALL: dict[Kernel, Kernel] = {}


def compile_choose(choose: Kernel) -> Kernel:
    """``choose`` over a batch: (states, params, seats, options, actions) -> None."""
    if choose not in _CHOOSE_ALL:

        @kernel
        def choose_all(states, all_params, seats, options, actions):
            params = all_params[0]
            for i in range(len(states)):
                actions[i] = choose(states[i], params, seats[i], options)

        _CHOOSE_ALL[choose] = choose_all
    return _CHOOSE_ALL[choose]


# ------------------------------------------------------------------------------------------------------------- names


class _Entry(NamedTuple):
    build: Callable[[Game, str], Policy]
    usage: str


_REGISTRY: dict[str, _Entry] = {}


def register_policy(name: str, build: Callable[[Game, str], Policy], usage: str) -> None:
    """Make ``name`` (or ``name:argument``) stand for ``build(game, argument)`` wherever a policy is asked for.

    ``build`` raises ValueError with one sentence if it has nothing for the game or the argument is wrong.
    """
    _REGISTRY[name] = _Entry(build, usage)


def policy_usage() -> dict[str, str]:
    """Registered names, and how each is written."""
    return {name: entry.usage for name, entry in sorted(_REGISTRY.items())}


def make_policy(spec: str | Policy, game: Game) -> Policy:
    """The policy that ``spec`` names ("random", "heuristic:4", ...), or ``spec`` itself if it is a policy.

    Raises:
        ValueError: an unknown name (the message lists the known ones), or an argument that the policy refuses.
    """
    if not isinstance(spec, str):
        if isinstance(spec, Policy):
            return spec
        raise ValueError(f"a policy must be a name or an object with act(view) and needs_worlds, got {spec!r}.")
    name, _, argument = spec.partition(":")
    if name not in _REGISTRY:
        known = ", ".join(entry.usage for _, entry in sorted(_REGISTRY.items()))
        raise ValueError(
            f"unknown policy {name!r}; known are {known} ('import agents' registers the shipped ones, "
            "llama_envs.core.policy.register_policy adds yours)."
        )
    return _REGISTRY[name].build(game, argument)


def _build_random(game: Game, argument: str) -> Policy:
    if argument:
        raise ValueError(f"policy 'random' takes no argument, got {argument!r}.")
    return RandomPolicy()


register_policy("random", _build_random, "random")


# ------------------------------------------------------------------------------------------------- playing in a batch


class Players:
    """Plays seats of a batch by policies: ``assignment[game, seat]`` is an index into ``policies``, -1 for nobody.

    Every (game, seat) has its own random stream, so a choice depends neither on the size of the batch nor on what other
    games do.

    Args:
        batch: the games.
        policies: who plays.
        assignment: (N, P) integers; may be written to between steps.
        seed: of the policies' streams, as in :class:`Batch`; None asks the operating system.
        streams: (N, P) uint64 streams to use instead of ``seed``.
    """

    def __init__(
        self,
        batch: Batch,
        policies: Sequence[Policy],
        assignment: npt.NDArray[np.integer[Any]],
        seed: Seeds = None,
        streams: npt.NDArray[np.uint64] | None = None,
    ) -> None:
        self.batch, self.policies, self.assignment = batch, list(policies), assignment
        if streams is None:
            base = fresh_seed() if seed is None else seed
            seats = range(batch.game.num_players)
            streams = np.stack([policy_streams(batch.num_games, base, seat) for seat in seats], axis=1)
        self.streams = streams

    def act(self, actions: Actions) -> npt.NDArray[np.bool_]:
        """Fill ``actions`` (N,) where one of the policies is to move; returns where that is, (N,) bool."""
        to_move = self.batch.to_move.astype(np.int64)
        who = np.where(to_move >= 0, self.assignment[np.arange(len(to_move)), to_move], -1)
        for index in np.unique(who[who >= 0]):
            rows = np.flatnonzero(who == index)
            view = look(self.batch, rows, to_move[rows], self.streams[rows, to_move[rows]], self.policies[index])
            actions[rows] = self.policies[index].act(view)
            self.streams[rows, to_move[rows]] = view.streams
        return np.asarray(who >= 0)


@kernel
def seat_policies(streams, games, learner_seat, cumulative, seat, assignment):
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


def look(
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
        possible = resampled(batch.game, batch._states[rows], seats, streams, 1)[:, 0].copy()
    return View(batch.game, batch.observation[rows], batch.action_mask[rows], seats.copy(), streams, possible)
