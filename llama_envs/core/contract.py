"""What a game must provide: one record, kernels on it, and what holds of both.

A game is a package with ``config.py`` (a frozen dataclass), ``state.py`` (one record), ``rules.py`` and ``observe.py``
(kernels on one game), ``render.py``, ``heuristic.py`` and ``game.py`` (``make_game(config) -> Game``); its
``__init__.py`` holds the :class:`~llama_envs.core.registry.GameSpec`. To add a game, copy a package.

The record of every game has, besides its own fields (S is any number of seats, at least ``num_players``):

======================  ==========  ====================================================================================
``to_move``             int8        the seat that must act; -1 while a chance event is pending and when the game is over
``chance``              int8        0, or the kind of the pending chance event
``terminated``          bool        the game reached its end
``truncated``           bool        a limit cut it short
``reward``              float32 (S) what the last decision, and the chance it triggered, paid each seat
``total``               int (S)     points of each seat so far
``rounds``              int         finished rounds; a search plays to the end of one. A game without rounds counts 1 at
                                    its end
======================  ==========  ====================================================================================

The record ``params`` holds the configuration, ``num_players`` (int) among it. The kernels work on one record ``state``
and that one; those in brackets have the default said here:

========================================================  ==============================================================
``start_game(state, params)``                             an empty table, a chance event or decision pending
``legal_actions(state, params, seat, mask)``              ``mask[a]`` is set to whether ``seat`` may take ``a`` now
``apply(state, params, action)``                          clears ``reward``, takes the action of the seat to move; never
                                                          draws
``chance_outcomes(state, params, probs) -> n``            writes the probabilities of the pending event's n outcomes
``apply_chance(state, params, outcome)``                  resolves the pending event; may add to ``reward``
``resample_hidden(state, params, seat, streams, i)``      redraws all that ``seat`` cannot know from what is possible
``observe(state, params, seat, out)``                     writes the observation of ``seat``, float32 in [0, 1]
[``sample_chance(state, params, streams, i) -> k``]       draws an outcome from stream i, by ``chance_outcomes``
[``resolve_chance(state, params, streams, i)``]           resolves events one by one, until a decision or the end
========================================================  ==============================================================
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from llama_envs.core.chance import Counts as Counts
from llama_envs.core.chance import Streams as Streams
from llama_envs.core.chance import draw_unit
from llama_envs.core.compile import kernel, python_function

Kernel = Callable[..., Any]
States = np.ndarray[Any, np.dtype[np.void]]  # records of games, (N,)
State: TypeAlias = Any  # one record of a game, its fields as attributes
Params: TypeAlias = Any  # the record with the configuration
Mask = npt.NDArray[np.bool_]  # (A,), what is legal
Vector = npt.NDArray[np.float32]  # (D,), an observation
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

MOST_OUTCOMES = 1024  # of an event, where a game leaves drawing them to the default


class Rules(NamedTuple):
    """The kernels of a game; signatures in the module docstring. The last two may be left out."""

    start_game: Kernel
    legal_actions: Kernel
    apply: Kernel
    chance_outcomes: Kernel
    apply_chance: Kernel
    resample_hidden: Kernel
    observe: Kernel
    sample_chance: Kernel = None  # type: ignore[assignment]  # ``complete`` fills in what a game leaves out
    resolve_chance: Kernel = None  # type: ignore[assignment]


class PolicyKernel(NamedTuple):
    """A policy as one kernel, which whatever plays policies calls inside its own compiled loop.

    ``choose(state, params, seat, mask, options, memory, streams, i) -> action`` is given one world that ``seat``
    considers possible, sometimes the true one, and must not depend on what that seat cannot see (a test of
    ``check_game`` and of every shipped policy).

    Attributes:
        choose: the kernel. It draws from ``streams[i]`` alone.
        options: numbers that it takes, float64.
        memory: how many int64 each seat is given as ``memory``. They are zeros at first; a kernel may keep its plan for
            its next decisions there. It must give the same actions where ``memory`` has length 0.
        needs_mask: whether ``mask`` (A,) must hold the legal actions. Otherwise it may hold anything.
    """

    choose: Kernel
    options: Floats = np.zeros(0)
    memory: int = 0
    needs_mask: bool = False


class Record(np.record):  # type: ignore[misc]
    """A record in plain Python: its fields are attributes, also those that numpy has a method of the same name for."""

    def __getattribute__(self, name: str) -> Any:
        dtype = super().__getattribute__("dtype")
        return super().__getitem__(name) if name in dtype.names else super().__getattribute__(name)


# ----------------------------------------------------------------------------------------------------------- defaults


@functools.cache
def complete(rules: Rules) -> Rules:
    """``rules`` with a default for whatever of chance a game leaves out."""
    sample, resolve = rules.sample_chance, rules.resolve_chance
    if sample is None:
        sample = _sampling(rules.chance_outcomes)
    if resolve is None:
        resolve = _one_by_one(rules.apply_chance, sample)
    return rules._replace(sample_chance=sample, resolve_chance=resolve)


def _sampling(chance_outcomes: Kernel) -> Kernel:
    @kernel(allocates=True)
    def sample_chance(state: State, params: Params, streams: Streams, i: int) -> int:
        """An outcome of the pending event, drawn from stream ``i`` with the probabilities of ``chance_outcomes``."""
        probs = np.zeros(MOST_OUTCOMES, np.float64)
        n = chance_outcomes(state, params, probs)
        left = draw_unit(streams, i)
        drawn = -1
        for outcome in range(n):
            if probs[outcome] > 0.0 and (drawn < 0 or left >= 0.0):
                drawn = outcome
                left -= probs[outcome]
        return drawn

    return sample_chance


def _one_by_one(apply_chance: Kernel, sample_chance: Kernel) -> Kernel:
    @kernel
    def resolve_chance(state: State, params: Params, streams: Streams, i: int) -> None:
        """Resolve pending events from stream ``i``."""
        while state.chance != 0:
            apply_chance(state, params, sample_chance(state, params, streams, i))

    return resolve_chance


# -------------------------------------------------------------------------------------------------------- completeness

FIELDS = {  # what every record has: kinds of dtype, whether one for each seat, and what for
    "to_move": ("i", False, "the seat that must act"),
    "chance": ("i", False, "the pending chance event"),
    "terminated": ("b", False, "whether the game reached its end"),
    "truncated": ("b", False, "whether a limit cut it short"),
    "reward": ("f", True, "what each seat was paid"),
    "total": ("i", True, "points of each seat"),
    "rounds": ("i", False, "finished rounds, to the end of which a search plays"),
}
ARGUMENTS = {
    "start_game": 2, "legal_actions": 4, "apply": 3, "chance_outcomes": 3, "apply_chance": 3, "resample_hidden": 5,
    "observe": 4, "sample_chance": 4, "resolve_chance": 4,
}  # fmt: skip


def missing(
    rules: Rules, state_dtype: np.dtype[Any], seat_fields: tuple[str, ...], params: States, num_players: int
) -> str | None:
    """One sentence on the first thing that a game lacks or has wrong; None if it is complete."""
    for name, number in ARGUMENTS.items():
        function = getattr(rules, name)
        if function is None and name in ("sample_chance", "resolve_chance"):
            continue
        if not callable(function) or len(inspect.signature(python_function(function)).parameters) != number:
            return f"its rules need a kernel {name} with {number} arguments, got {function!r}."
    known: Mapping[str, Any] = state_dtype.fields or {}
    for field in seat_fields:
        if field not in known:
            return f"seat_fields names {field!r}, which its state does not have."
    for field, (kind, each_seat, meaning) in FIELDS.items():
        if field not in known:
            return f"its state has no field {field!r} ({meaning})."
        dtype = known[field][0]
        if dtype.base.kind != kind or (field == "reward" and dtype.base != np.float32):
            wanted = {"i": "signed integers", "b": "a bool", "f": "float32"}[kind]
            return f"the field {field!r} of its state must be {wanted}, got {dtype}."
        if each_seat and (len(dtype.shape) != 1 or dtype.shape[0] < num_players or field not in seat_fields):
            return f"the field {field!r} of its state must have a place for each seat and be one of seat_fields."
        if not each_seat and dtype.shape:
            return f"the field {field!r} of its state must be one number, got shape {dtype.shape}."
    if params.shape != (1,) or "num_players" not in (params.dtype.names or ()):
        return "its params must be a structured array of shape (1,) with a field 'num_players'."
    if int(params["num_players"][0]) != num_players:
        return f"params say num_players = {params['num_players'][0]}, and the game says {num_players}."
    return None
