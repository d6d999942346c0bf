"""Recorded games, position by position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from llama_envs.core.recording import RecordedGame, position, replay


@dataclass(frozen=True)
class Shown:
    """One position of a recorded game, as one seat saw it or with all cards open.

    Attributes:
        number: decisions before it.
        svg: the picture.
        to_move: the seat whose decision is next, -1 at the end.
        action: what it then did, by name; empty where the viewer did not see that, and at the end.
        seconds: how long that took; None if nobody noted it.
    """

    number: int
    svg: str
    to_move: int
    action: str
    seconds: float | None


class Replay:
    """One game, played again.

    Args:
        recorded: the game.

    Raises:
        ValueError: it cannot be played again as it was recorded.
    """

    def __init__(self, recorded: RecordedGame) -> None:
        self.recorded, self.game = recorded, recorded.game
        states, movers = [], []
        for decision in replay([recorded]):
            states.append(decision.batch.state.copy())
            movers.append(int(decision.batch.to_move[0]))
        end = position(recorded)
        self.states = (*states, end.state.copy())  # (1,) each
        self.movers = (*movers, -1)
        rounds = [int(state["rounds"][0]) for state in self.states]
        self.rounds = [0, *(np.flatnonzero(np.diff(rounds)) + 1).tolist()]  # where each begins
        if end.to_move[0] < 0 and len(self.rounds) > 1 and self.rounds[-1] == self.last:
            del self.rounds[-1]  # the end of the game is the beginning of none

    @property
    def last(self) -> int:
        """The number of the last position."""
        return len(self.states) - 1

    def shown(self, number: int, seat: int | None) -> Shown:
        """Position ``number`` as ``seat`` saw it, or with all cards open for None.

        Raises:
            ValueError: there is no such position or seat.
        """
        if not 0 <= number <= self.last:
            raise ValueError(f"this game has positions 0 to {self.last}, got {number}.")
        if seat is not None and not 0 <= seat < self.game.num_players:
            raise ValueError(f"this game has seats 0 to {self.game.num_players - 1}, got {seat}.")
        mover, over = self.movers[number], number == self.last
        sees = seat is None or seat == mover or self.game.public_actions
        action = "" if over or not sees else self.game.action_names[self.recorded.actions[number]]
        seconds = None if over or not self.recorded.seconds else self.recorded.seconds[number]
        if not sees and self.game.simultaneous:
            mover, seconds = -1, None
        return Shown(number, self.game.renderer.svg(self.game, self.states[number][0], seat), mover, action, seconds)

    def described(self) -> str:
        """The game in a line, for a list."""
        game, recorded = self.game, self.recorded
        players = recorded.policies or tuple(game.agents)
        pairs: Sequence[str] = [f"{name} {total}" for name, total in zip(players, recorded.totals, strict=True)]
        return f"{game.title}: {', '.join(pairs)} ({len(recorded.actions)} decisions)"
