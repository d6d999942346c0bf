"""Game: one game with one configuration, as everything else in the suite sees it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from llama_envs.core.batch_kernels import BatchKernels, compile_batch_kernels
from llama_envs.core.compile import JIT
from llama_envs.core.contract import MOST_OUTCOMES, Record, Rules, State, States, complete, missing
from llama_envs.core.observation import Observation
from llama_envs.core.spec import GameSpec
from llama_envs.drawing.svg import text_svg


class Renderer(Protocol):
    """Draws one game. ``seat`` limits the drawing to what that seat may see; ``None`` shows everything."""

    def text(self, game: Game, state: State, seat: int | None) -> str:
        """A few lines of text."""

    def picture(self, game: Game, state: State, seat: int | None) -> npt.NDArray[np.uint8]:
        """An RGB image, uint8 (height, width, 3)."""

    def svg(self, game: Game, state: State, seat: int | None, together: bool = False) -> str:
        """One SVG document; what stands for an action that the viewer may choose has its number as ``data-action``.

        With ``together`` that is what it may choose among its next actions (:meth:`Game.choices_together`).
        """


class PlainText:
    """Shows a game by what its seats observe, in words; there are no pictures of it, but for those words as SVG."""

    def text(self, game: Game, state: State, seat: int | None) -> str:
        """What ``seat`` (None: every seat) observes, a line for each piece."""
        shown = range(game.num_players) if seat is None else (seat,)
        return "\n\n".join(self._of_seat(game, state, each) for each in shown)

    def _of_seat(self, game: Game, state: State, seat: int) -> str:
        pieces = game.observation.decode(game.observe(state, seat))
        lines = [f"  {name}: {' '.join(map(str, value.ravel().tolist()))}" for name, value in pieces.items()]
        return "\n".join([f"{game.title}, player_{seat}", *lines])

    def picture(self, game: Game, state: State, seat: int | None) -> npt.NDArray[np.uint8]:
        """ValueError: nobody has drawn this game."""
        raise ValueError(f"{game.title} has no pictures; use render_mode='ansi'.")

    def svg(self, game: Game, state: State, seat: int | None, together: bool = False) -> str:
        """The text as one SVG document; no part of it stands for an action."""
        return text_svg(self.text(game, state, seat), game.title)


@dataclass(frozen=True, eq=False)
class Game:
    """One game with one configuration.

    Attributes:
        spec: what is known of the game whatever its configuration; name, version, title and id come from it.
        config: the game's frozen config dataclass.
        num_players: seats.
        action_names: one name for each action; ``num_actions`` of them.
        observation: the layout of one seat's observation vector.
        state_dtype: the record of one game; ``visible_dtype`` is the same memory without the seats that do not exist.
        seat_fields: fields whose first axis is the seat.
        params: structured array (1,) with the configuration for the kernels.
        rules: the kernels (:mod:`llama_envs.core.contract`); those that it leaves out are filled in.
        most_points_win: direction of ``total``.
        score_name: what ``total`` counts, "penalty" or "points".
        simultaneous: whether all seats decide at the same moments, one action each in turn without seeing the others'.
        max_chance_outcomes: the largest number of outcomes of one chance event.
        max_decisions: no game has more decisions; None where the configuration sets no limit.
        max_chance_events: no game has more chance events; None where the configuration sets no limit.
        max_return: over a whole game a seat is paid at most this, and at least minus this.
        renderer: draws a game; by default as text, what each seat observes.
        ranking_key: states (N,) -> (N, P) int64 by which seats are ranked when a game is over; the highest wins. By
            default the totals.
        decision_kind: (record, action) -> what kind of decision it is, in a word or two, for tables by kind; by default
            the first word of the action's name.
        at_once: record -> how many of its next actions the seat to move may as well choose together, in ascending
            order, since it sees nothing new in between; by default 1.
        ending_after: (config, rounds) -> the config of the same game that is over after so many rounds, for showing
            how a round ended; None if a game has no rounds.
        public_actions: whether everybody sees each action when it is taken.

    Raises:
        ValueError: the game is not complete; the sentence says what is missing.
    """

    spec: GameSpec
    config: Any
    num_players: int
    action_names: tuple[str, ...]
    observation: Observation
    state_dtype: np.dtype[np.void]
    seat_fields: tuple[str, ...]
    params: States
    rules: Rules
    most_points_win: bool
    score_name: str
    simultaneous: bool
    max_chance_outcomes: int
    max_decisions: int | None
    max_chance_events: int | None
    max_return: float
    renderer: Renderer = dataclasses.field(default_factory=lambda: PlainText())
    ranking_key: Callable[[States], npt.NDArray[np.int64]] | None = None
    decision_kind: Callable[[State, int], str] | None = None
    at_once: Callable[[State], int] | None = None
    ending_after: Callable[[Any, int], Any] | None = None
    public_actions: bool = False

    def __post_init__(self) -> None:
        problem = missing(self.rules, self.state_dtype, self.seat_fields, self.params, self.num_players)
        if problem:
            raise ValueError(f"the game {self.name!r} is not complete: {problem}")
        if len(set(self.action_names)) != len(self.action_names) or not self.action_names:
            raise ValueError(f"the game {self.name!r} is not complete: action_names must be different names.")
        if self.rules.sample_chance is None and self.max_chance_outcomes > MOST_OUTCOMES:
            raise ValueError(
                f"the game {self.name!r} is not complete: an event of more than {MOST_OUTCOMES} outcomes needs a "
                f"kernel sample_chance."
            )
        object.__setattr__(self, "rules", complete(self.rules))

    @cached_property
    def batch_kernels(self) -> BatchKernels:
        """The kernels over a whole batch; games of the same rules and record share them."""
        return compile_batch_kernels(self.rules, self.state_dtype)

    @property
    def name(self) -> str:
        """Short, lower case."""
        return self.spec.name

    @property
    def version(self) -> int:
        """Version of rules, rewards, observations, actions and random stream."""
        return self.spec.version

    @property
    def title(self) -> str:
        """The name for people."""
        return self.spec.title

    @property
    def id(self) -> str:
        """Name and version, as in ``<name>_v0``."""
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

    def records(self, array: States) -> Any:
        """``array`` (visible or full records) as kernels take it: plain when compiled, else with attributes."""
        full = array.view(np.ndarray)
        if array.dtype == self.visible_dtype:
            full = full.view(self.state_dtype)
        return full if JIT else full.view(np.dtype((Record, full.dtype)))

    def legal_actions(self, state: State, seat: int) -> list[int]:
        """The actions that ``seat`` may take in ``state``, one record, which is only read."""
        states = self._one(state)
        mask = np.zeros((1, self.num_actions), np.bool_)
        self.batch_kernels.mask(states, self.records(self.params), np.array([seat], np.int64), mask)
        return [int(action) for action in np.flatnonzero(mask)]

    def observe(self, state: State, seat: int) -> npt.NDArray[np.float32]:
        """What ``seat`` sees in ``state``, one record, which is only read: (D,) float32."""
        out = np.zeros((1, self.observation.size), np.float32)
        self.batch_kernels.observe(self._one(state), self.records(self.params), np.array([seat], np.int64), out)
        return out[0]

    def _one(self, state: State) -> Any:
        """A copy of one record as the kernels take it, (1,)."""
        return self.records(np.frombuffer(state.tobytes(), self.state_dtype).copy())

    def ranking_keys(self, states: States) -> npt.NDArray[np.int64]:
        """(N, P) int64: by what seats are ranked when a game is over, the highest being the best."""
        visible = states.view(np.ndarray).view(self.visible_dtype)
        if self.ranking_key is not None:
            return self.ranking_key(visible)
        return visible["total"].astype(np.int64) * (1 if self.most_points_win else -1)

    def kind_of(self, state: State, action: int) -> str:
        """What kind of decision ``action`` is in ``state``, one record that waits for it."""
        if self.decision_kind is not None:
            return self.decision_kind(state, action)
        return self.action_names[action].split()[0]

    def choices_together(self, state: State) -> int:
        """How many actions the seat to move may choose together, in ascending order; ``state`` is one record."""
        return 1 if self.at_once is None else self.at_once(state)

    def win_shares(self, states: States) -> npt.NDArray[np.float64]:
        """(N, P) float64: 1 for the winner of each finished game, 1/k for each of k that share the victory, else 0."""
        keys = self.ranking_keys(states)
        winners = keys == keys.max(axis=1, keepdims=True)
        return winners / winners.sum(axis=1, keepdims=True)

    def action_id(self, name: str) -> int:
        """The action with this name; ValueError with all names if there is none."""
        if name not in self.action_names:
            raise ValueError(f"{self.id} has no action {name!r}; its actions are {', '.join(self.action_names)}.")
        return self.action_names.index(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.spec.make_game, (self.config,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Game:
        return self  # immutable

    def __repr__(self) -> str:
        return f"Game({self.id}, {self.config!r})"
