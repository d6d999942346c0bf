"""A table: one game between policies and people, and what each of them may be shown of it.

All that a page is told of a game is a :class:`Frame`, made from what its seat may see and from nothing else.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from traceback import extract_tb
from typing import Any

import numpy as np

from llama_envs.core.batch import Batch
from llama_envs.core.chance import derived_seed, fresh_seed
from llama_envs.core.contract import States
from llama_envs.core.game import Game
from llama_envs.core.recording import RecordedGame
from llama_envs.policies import make_policy
from llama_envs.policies.players import Players, PolicyError

LONGEST_NAME = 40
LOG_LINES = 30
_CHOICE = re.compile(r'<g class="(\w+)" data-action="(\d+)" role="button"')
_REACTS = re.compile(r' data-action="\d+" role="button" aria-label="[^"]*" tabindex="0"')


@dataclass(frozen=True)
class Seat:
    """Who sits at a seat: a policy by its name, or a person, who may have given a name or none."""

    policy: str | None = None
    person: str = ""

    def __post_init__(self) -> None:
        name = "".join(letter for letter in self.person if letter.isprintable()).strip()[:LONGEST_NAME]
        object.__setattr__(self, "person", name)

    @property
    def name(self) -> str:
        """As a record has it: the policy's name, "person" or "person:NAME"."""
        return self.policy or (f"person:{self.person}" if self.person else "person")


@dataclass(frozen=True)
class Standing:
    """A seat's points, and its share of the victory once the game is over."""

    agent: str
    name: str
    total: int
    share: float | None


@dataclass(frozen=True)
class Frame:
    """What one seat is shown, or with all cards open whoever watches policies.

    Attributes:
        number: of the position; what was chosen in another one comes too late.
        seat: whose view; None for all cards open.
        svg: the picture; what may be chosen has its action as ``data-action``.
        status: what is happening, a few words.
        turn: whether the seat is to choose.
        together: how many actions it chooses at once.
        choices: action and name of each; where several are chosen, of each card that may be among them.
        round_over: the picture shows the end of a round, all hands laid open, and somebody has to say "go on".
        over: nothing more happens.
        failed: which policy failed and how; empty if none did.
        log: the latest public actions, the last one at the end.
        standings: of every seat.
    """

    number: int
    seat: int | None
    svg: str
    status: str
    turn: bool
    together: int
    choices: tuple[tuple[int, str], ...]
    round_over: bool
    over: bool
    failed: str
    log: tuple[str, ...]
    standings: tuple[Standing, ...]


@dataclass(frozen=True)
class _Position:
    """Where the game stands; replaced as a whole, so that other threads may read it at any time."""

    number: int
    state: States  # (1,), a copy
    to_move: int
    over: bool
    scored: States | None = None  # the end of a round, until somebody goes on
    failed: str = ""
    log: tuple[str, ...] = ()
    picks: tuple[tuple[int, ...], ...] = ()  # of each seat: chosen together, and not yet taken


@dataclass(frozen=True)
class _Snapshot:
    """All that undoing needs."""

    batch: Batch
    streams: Any
    taken: int
    position: _Position


class Table:
    """One game. Its methods are called from one thread at a time, :meth:`frame` from any.

    Args:
        game: what is played.
        seats: who sits where.
        seed: of the deal and of the policies; None asks the operating system.
        analysis: whether a person may take choices back.

    Raises:
        ValueError: the number of seats is wrong, or a policy cannot be made.
    """

    def __init__(self, game: Game, seats: Sequence[Seat], seed: int | None = None, analysis: bool = False) -> None:
        if len(seats) != game.num_players:
            raise ValueError(f"{game.title} with {game.num_players} players needs as many seats, got {len(seats)}.")
        self.game, self.seats, self.analysis = game, tuple(seats), analysis
        self.seed = fresh_seed() if seed is None else seed
        self.batch = Batch(game, 1, [self.seed])
        names = list(dict.fromkeys(seat.policy for seat in seats if seat.policy is not None))
        assignment = np.array([[-1 if seat.policy is None else names.index(seat.policy) for seat in seats]])
        policies = [make_policy(name, game) for name in names]
        self.players = Players(self.batch, policies, assignment, [derived_seed(self.seed, 1)], names=names)
        self.people = [number for number, seat in enumerate(seats) if seat.policy is None]
        self.actions: list[int] = []
        self.seconds: list[float] = []
        self._snapshots: list[_Snapshot] = []
        self._since = time.perf_counter()
        self.position = self._new_position(0, None, (), ((),) * len(seats))

    # ------------------------------------------------------------------------------------------------- what is going on

    @property
    def over(self) -> bool:
        """Whether nothing more happens: the game has ended, or a policy failed."""
        return self.position.over or bool(self.position.failed)

    @property
    def asks(self) -> int | None:
        """The seat of the person who must choose; None if nobody must."""
        at = self.position
        waits = not self.over and at.scored is None and at.to_move in self.people
        return at.to_move if waits and not at.picks[at.to_move] else None

    def frame(self, seat: int | None) -> Frame:
        """What ``seat`` is shown.

        Raises:
            ValueError: all cards open are asked for while people play.
        """
        at = self.position
        if seat is None and self.people and not at.over:
            raise ValueError("a table at which people sit is not shown with all cards open.")
        turn = seat is not None and self.asks == seat and at is self.position
        state = at.state if at.scored is None else at.scored
        together = self.game.choices_together(at.state[0]) if turn else 1
        laid_open = at.over or at.scored is not None  # hands are, for scoring; no card of the next round is dealt
        svg = self.game.renderer.svg(self.game, state[0], None if laid_open else seat, together > 1)
        cards = [int(action) for kind, action in _CHOICE.findall(svg) if kind == "card"]
        if not turn:
            svg = _REACTS.sub("", svg)
        if not cards:
            together = 1  # nothing in the picture to choose several of
        choices = () if not turn else cards if together > 1 else self.game.legal_actions(at.state[0], at.to_move)
        return Frame(
            number=at.number,
            seat=seat,
            svg=svg,
            status=self._status(at, turn, together),
            turn=turn,
            together=together,
            choices=tuple((action, self.game.action_names[action]) for action in choices),
            round_over=at.scored is not None,
            over=at.over,
            failed=at.failed,
            log=at.log,
            standings=self._standings(at),
        )

    def record(self) -> RecordedGame:
        """The game as far as it was played; whoever reads it knows all cards."""
        return RecordedGame(
            self.game, self.seed, 0, 0, np.array(self.actions, np.int64), tuple(self.batch.state["total"][0].tolist()),
            tuple(seat.name for seat in self.seats), seconds=tuple(self.seconds),
        )  # fmt: skip

    # ----------------------------------------------------------------------------------------------------- what is done

    def choose(self, number: int, seat: int, actions: Sequence[int]) -> None:
        """A person's choice: one action, or as many as are chosen together, in any order.

        Args:
            number: of the frame in which it was made.
            seat: who makes it.
            actions: what is chosen.

        Raises:
            ValueError: it comes too late, it is not this seat's turn, or it is not legal; nothing has changed.
        """
        at = self.position
        if number != at.number:
            raise ValueError("this choice came too late: the game has gone on.")
        if self.asks is None or self.asks != seat:
            raise ValueError(f"it is not the turn of {self._agent(seat)}.")
        if not all(type(action) is int for action in actions):
            raise ValueError(f"actions must be integers, got {actions!r}.")
        together = self.game.choices_together(at.state[0])
        if len(actions) not in (1, together):
            raise ValueError(f"{together} must be chosen together, got {len(actions)}.")
        chosen = sorted(actions)
        self._rehearse(chosen)
        if self.analysis:
            self._snapshots.append(self._snapshot())
        self._take(chosen[0], time.perf_counter() - self._since, chosen[1:])

    def advance(self) -> bool:
        """Let a policy take the next action, or take the next one that was chosen already.

        Returns:
            Whether something was done; if not, the game waits for a person, or is over.
        """
        at = self.position
        if self.over or at.scored is not None or self.asks is not None:
            return False
        if at.to_move in self.people:
            first, *others = at.picks[at.to_move]
            self._take(first, 0.0, others)
            return True
        chosen, started = np.zeros(1, np.int64), time.perf_counter()
        try:
            self.players.act(chosen)
        except PolicyError as error:
            self.position = replace(at, number=at.number + 1, failed=_without_cards(error, self._who(at.to_move)))
            return True
        self._take(int(chosen[0]), time.perf_counter() - started)
        return True

    def go_on(self) -> None:
        """Leave the end of a round."""
        at = self.position
        if at.scored is not None:
            self.position = replace(at, number=at.number + 1, scored=None)
            self._since = time.perf_counter()

    @property
    def can_undo(self) -> bool:
        """Whether there is a person's choice that may be taken back."""
        return bool(self._snapshots)

    def undo(self) -> None:
        """Take back the latest choice of a person, and all that followed; chance will decide as it did.

        Raises:
            ValueError: this is no analysis, or nothing was chosen.
        """
        if not self._snapshots:
            raise ValueError("there is nothing to take back." if self.analysis else "only an analysis takes back.")
        back = self._snapshots.pop()
        self.batch = self.players.batch = back.batch
        self.players.streams = back.streams
        del self.actions[back.taken :], self.seconds[back.taken :]
        self.position = replace(back.position, number=self.position.number + 1)
        self._since = time.perf_counter()

    # -------------------------------------------------------------------------------------------------------- in detail

    def _take(self, action: int, seconds: float, picks: Sequence[int] = ()) -> None:
        """One action of the seat to move, which has chosen ``picks`` to follow."""
        at = self.position
        self.batch.step([action])
        self.actions.append(action)
        self.seconds.append(seconds)
        rounds = int(self.batch.state["rounds"][0])
        ended = rounds > at.state["rounds"][0]
        line = f"{self._agent(at.to_move)}: {self.game.action_names[action]}"
        log = (*at.log, line)[-LOG_LINES:] if self.game.public_actions else ()
        if ended and log:
            log = (*log, f"— end of round {rounds} —")
        later = tuple(tuple(picks) if seat == at.to_move else own for seat, own in enumerate(at.picks))
        self.position = self._new_position(at.number + 1, self._end_of_round(rounds) if ended else None, log, later)
        self._since = time.perf_counter()

    def _new_position(
        self, number: int, scored: States | None, log: tuple[str, ...], picks: tuple[tuple[int, ...], ...]
    ) -> _Position:
        to_move = int(self.batch.to_move[0])
        return _Position(number, self.batch.state.copy(), to_move, to_move < 0, scored, "", log, picks)

    def _end_of_round(self, rounds: int) -> States | None:
        """The table when round ``rounds`` was scored, if people are to see it: nobody moves, no cards are dealt yet."""
        if not self.people or self.batch.to_move[0] < 0 or self.game.ending_after is None:
            return None
        shorter = self.game.spec.make_game(self.game.ending_after(self.game.config, rounds))
        batch = Batch(shorter, 1, [self.seed])
        for action in self.actions:
            batch.step([action])
        scored = batch.state.copy()
        for flag in ("terminated", "truncated"):
            if flag in (scored.dtype.names or ()):
                scored[flag] = False
        return scored

    def _rehearse(self, actions: Sequence[int]) -> None:
        """ValueError unless the seat to move may take ``actions``, others moving in between."""
        rehearsal = self.batch.clone()
        seat = int(rehearsal.to_move[0])
        for action in actions:
            while int(rehearsal.to_move[0]) != seat:
                rehearsal.step(rehearsal.action_mask.argmax(axis=1))
            known = 0 <= action < self.game.num_actions
            if not known or not rehearsal.action_mask[0, action]:
                name = self.game.action_names[action] if known else "this"
                raise ValueError(f"{self._agent(seat)} may not {name} here.")
            rehearsal.step([action])

    def _snapshot(self) -> _Snapshot:
        return _Snapshot(self.batch.clone(), self.players.streams.copy(), len(self.actions), self.position)

    def _standings(self, at: _Position) -> tuple[Standing, ...]:
        state = at.state if at.scored is None else at.scored
        shares = self.game.win_shares(state)[0] if at.over else [None] * self.game.num_players
        totals = state.view(np.ndarray).view(self.game.visible_dtype)["total"][0]
        return tuple(
            Standing(agent, seat.name, int(total), None if share is None else float(share))
            for agent, seat, total, share in zip(self.game.agents, self.seats, totals, shares, strict=True)
        )

    def _status(self, at: _Position, turn: bool, together: int) -> str:
        if at.failed:
            return "a policy failed"
        if at.over:
            return "the game is over"
        if at.scored is not None:
            return "the round is over"
        if turn:
            return "your turn" if together == 1 else f"choose {together} together"
        if self.game.simultaneous:
            return "the others are choosing"  # which of them is nobody's business
        return f"{self._who(at.to_move)} is to move"

    def _agent(self, seat: int) -> str:
        return self.game.agents[seat] if 0 <= seat < self.game.num_players else f"seat {seat}"

    def _who(self, seat: int) -> str:
        return f"{self._agent(seat)} ({self.seats[seat].name})"


def _without_cards(error: PolicyError, who: str) -> str:
    """What went wrong, without what the policy or the game said of it: that may tell cards."""
    cause = error.__cause__
    if cause is None:
        return f"{who} failed: what it chose is not legal."
    at = extract_tb(cause.__traceback__)[-1]
    return f"{who} failed: {type(cause).__name__} in {Path(at.filename).name}, line {at.lineno}."
