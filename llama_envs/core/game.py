"""Game: what a room must provide, and the one door through which everything else in the suite sees a game.

A room is a package with ``config.py`` (a frozen dataclass), ``state.py`` (one record), ``rules.py`` and ``observe.py``
(kernels on one game), ``render.py`` and ``game.py`` (``make_game(config) -> Game``). To add a game, copy a room.

The record of every room has, besides its own fields:

======================  ==========  ====================================================================================
``to_move``             int8        the seat that must act; -1 while a chance event is pending and when the game is over
``chance``              int8        0, or the kind of the pending chance event
``terminated``          bool        the game reached its end
``truncated``           bool        a limit cut it short
``reward``              float32 (S) what the last decision, and the chance it triggered, paid each seat
``total``               int16 (S)   points of each seat so far
======================  ==========  ====================================================================================

and the room's kernels work on one such record ``state`` and one record ``params`` with the configuration:

======================================================  ================================================================
``start_game(state, params)``                           an empty table, with the first chance event or decision pending
``legal_actions(state, params, seat, mask)``            ``mask[a]`` is set to whether ``seat`` may take ``a`` now
``apply(state, params, action)``                        clears ``reward``, takes the action of the seat to move
``chance_outcomes(state, params, probs) -> n``          writes the probabilities of the n outcomes of the pending event
``sample_chance(state, params, streams, i) -> k``       draws one of them from random stream i
``apply_chance(state, params, outcome)``                resolves the pending event; may add to ``reward``
``settle(state, params, streams, i)``                   resolves events from random stream i until a decision or the end
``resample_hidden(state, params, seat, streams, i)``    redraws all that ``seat`` cannot know from what is possible
``observe(state, params, seat, out)``                   writes the observation of ``seat``, float32 in [0, 1]
======================================================  ================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from llama_envs.core.compile import JIT
from llama_envs.core.observation import Observation

if TYPE_CHECKING:
    from llama_envs.core.loops import Loops

Kernel = Callable[..., Any]
State = np.ndarray[Any, np.dtype[np.void]]


class Rules(NamedTuple):
    """The kernels of a room; signatures in the module docstring."""

    start_game: Kernel
    legal_actions: Kernel
    apply: Kernel
    chance_outcomes: Kernel
    sample_chance: Kernel
    apply_chance: Kernel
    settle: Kernel
    resample_hidden: Kernel
    observe: Kernel


class Record(np.record):  # type: ignore[misc]
    """A record in plain Python: its fields are attributes, also those that numpy has a method of the same name for."""

    def __getattribute__(self, name: str) -> Any:
        dtype = super().__getattribute__("dtype")
        return super().__getitem__(name) if name in dtype.names else super().__getattribute__(name)


class Renderer(Protocol):
    """Draws one game. ``seat`` limits the drawing to what that seat may see; ``None`` shows everything."""

    def text(self, game: Game, state: Any, seat: int | None) -> str:
        """A few lines of text."""

    def picture(self, game: Game, state: Any, seat: int | None) -> npt.NDArray[np.uint8]:
        """An RGB image, uint8 (height, width, 3)."""


@dataclass(frozen=True, eq=False)
class Game:
    """One game with one configuration.

    Attributes:
        name: the room's name, "lama"; ``id`` adds the version, "lama_v0".
        version: version of rules, rewards, observations, actions and random stream.
        title: for people.
        config: the room's frozen config dataclass.
        num_players: seats.
        action_names: one name for each action; ``num_actions`` of them.
        observation: the layout of one seat's observation vector.
        state_dtype: the record of one game; ``visible_dtype`` is the same memory without the seats that do not exist.
        seat_fields: fields whose first axis is the seat.
        params: structured array (1,) with the configuration for the kernels.
        rules: the kernels.
        loops: the same kernels over a whole batch.
        renderer: draws a game.
        make: builds this game again from its config (used to pickle it).
        most_points_win: direction of ``total``.
        score_name: what ``total`` counts, "penalty" or "points".
        simultaneous: whether all seats decide at the same moments, one action each in turn without seeing the others'.
        max_chance_outcomes: the largest number of outcomes of one chance event.
        max_decisions: no game has more decisions; None where the configuration sets no limit.
        max_chance_events: no game has more chance events; None where the configuration sets no limit.
        max_return: no seat is paid more, or less than minus this, over a game.
        standing: states (N,) -> (N, P) int64 by which seats are ranked when a game is over; the highest wins.
    """

    name: str
    version: int
    title: str
    config: Any
    num_players: int
    action_names: tuple[str, ...]
    observation: Observation
    state_dtype: np.dtype[np.void]
    seat_fields: tuple[str, ...]
    params: State
    rules: Rules
    loops: Loops
    renderer: Renderer
    make: Callable[[Any], Game]
    most_points_win: bool
    score_name: str
    simultaneous: bool
    max_chance_outcomes: int
    max_decisions: int | None
    max_chance_events: int | None
    max_return: float
    standing: Callable[[State], npt.NDArray[np.int64]]

    @property
    def id(self) -> str:
        """Name and version, as in ``lama_v0``."""
        return f"{self.name}_v{self.version}"

    @cached_property
    def num_actions(self) -> int:
        """Number of actions A."""
        return len(self.action_names)

    @property
    def agents(self) -> list[str]:
        """``player_0`` ... ``player_{n-1}``."""
        return [f"player_{seat}" for seat in range(self.num_players)]

    @cached_property
    def visible_dtype(self) -> np.dtype[np.void]:
        """``state_dtype`` with only the first ``num_players`` seats of each seat field: a view of the same memory."""
        formats: list[Any] = []
        offsets: list[int] = []
        assert self.state_dtype.fields is not None
        assert self.state_dtype.names is not None
        for name in self.state_dtype.names:
            dtype, offset = self.state_dtype.fields[name][:2]
            if name in self.seat_fields:
                assert dtype.subdtype is not None
                base, shape = dtype.subdtype
                dtype = np.dtype((base, (self.num_players, *shape[1:])))
            formats.append(dtype)
            offsets.append(offset)
        return np.dtype(
            {
                "names": list(self.state_dtype.names),
                "formats": formats,
                "offsets": offsets,
                "itemsize": self.state_dtype.itemsize,
            }
        )

    def records(self, array: State) -> Any:
        """``array`` (visible or full records) as kernels take it: plain when compiled, else with attributes."""
        full = array.view(np.ndarray)
        if array.dtype == self.visible_dtype:
            full = full.view(self.state_dtype)
        return full if JIT else full.view(np.dtype((Record, full.dtype)))

    def legal_actions(self, state: Any, seat: int) -> list[int]:
        """The actions that ``seat`` may take in ``state``, one record, which is only read."""
        states = self.records(np.frombuffer(state.tobytes(), self.state_dtype).copy())
        mask = np.zeros((1, self.num_actions), np.bool_)
        self.loops.mask(states, self.records(self.params), np.array([seat], np.int64), mask)
        return [int(action) for action in np.flatnonzero(mask)]

    def win_shares(self, states: State) -> npt.NDArray[np.float64]:
        """(N, P) float64: 1 for the winner of each finished game, 1/k for each of k that share the victory, else 0."""
        standing = self.standing(states.view(np.ndarray).view(self.visible_dtype))
        winners = standing == standing.max(axis=1, keepdims=True)
        return winners / winners.sum(axis=1, keepdims=True)

    def action_id(self, name: str) -> int:
        """The action with this name; ValueError with all names if there is none."""
        if name not in self.action_names:
            raise ValueError(f"{self.id} has no action {name!r}; its actions are {', '.join(self.action_names)}.")
        return self.action_names.index(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.make, (self.config,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Game:
        return self  # immutable

    def __repr__(self) -> str:
        return f"Game({self.id}, {self.config!r})"
