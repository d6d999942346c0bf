"""Text and picture of one game, limited to what the viewer may see.

:func:`look` reads the state once and leaves out all that is hidden; text and picture draw only what it returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from llama_envs.core import drawing
from llama_envs.core.compile import JIT
from llama_envs.core.drawing import Canvas, Colour, Pen, mix
from llama_envs.core.game import Game
from llama_envs.lama.state import DEAL, EXCHANGE, NOTHING, RETURN, STARTER, TURN

# ------------------------------------------------------------------------------------------------- what may be drawn


@dataclass(frozen=True)
class Seat:
    """What the viewer knows about one seat."""

    name: str
    hand: tuple[int, ...] | None  # cards of each rank; None when the viewer sees only their backs
    cards: int
    white: int
    black: int
    total: int
    change: int  # of the total in the scoring that has just been done
    to_move: bool
    is_viewer: bool
    opened: bool
    quit: bool
    wins: bool


@dataclass(frozen=True)
class Table:
    """What the viewer knows about the game."""

    ranks: tuple[str, ...]
    seats: tuple[Seat, ...]
    viewer: str | None
    round: int  # from 1
    phase: str
    over: bool
    top: int | None
    discard: tuple[int, ...]
    stock: tuple[int, ...] | None  # cards of each rank; None when hidden
    stock_size: int
    target: int
    status: str
    actions: tuple[str, ...]  # what may be decided now
    playable: frozenset[int]  # ranks that the seat to move may play, if the viewer sees its hand

    @property
    def unseen(self) -> tuple[int, ...] | None:
        return self.stock


def look(game: Game, state: Any, seat: int | None) -> Table:
    """All that ``seat`` may see of ``state``, or everything for None.

    Other hands and the order and kinds of the stock stay hidden to a seat at all times, after scoring as well.
    """
    n = game.num_players
    ranks = tuple(name.removeprefix("play ") for name in game.action_names[: game.config.num_ranks])
    over = bool(state["terminated"] or state["truncated"])
    totals = [int(total) for total in state["total"][:n]]
    mover, starter = int(state["to_move"]), int(state["starter"])
    seats = tuple(
        Seat(
            name=game.agents[i],
            hand=_counts(state["hand"][i], ranks) if seat is None or seat == i else None,
            cards=int(state["hand_size"][i]),
            white=int(state["white"][i]),
            black=int(state["black"][i]),
            total=totals[i],
            change=int(state["change"][i]),
            to_move=mover == i,
            is_viewer=seat == i,
            opened=starter == i,
            quit=starter >= 0 and not state["active"][i],
            wins=bool(state["terminated"]) and totals[i] == min(totals),
        )
        for i in range(n)
    )
    legal = _legal_actions(game, state)
    sees_mover = seat is None or seat == mover
    playable = [a for a in legal if a < len(ranks)] if sees_mover else []
    actions = [game.action_names[a] for a in legal if a >= len(ranks) or sees_mover]
    if not sees_mover and mover >= 0 and state["phase"] == TURN:
        actions.insert(0, "play a card")
    return Table(
        ranks=ranks,
        seats=seats,
        viewer=None if seat is None else game.agents[seat],
        round=int(state["round"]) + (not over),
        phase=_phase(state),
        over=over,
        top=int(state["top"]) if state["top"] >= 0 else None,
        discard=_counts(state["discard"], ranks),
        stock=_counts(state["stock"], ranks) if seat is None else None,
        stock_size=int(state["stock_size"]),
        target=game.config.target_score,
        status=_status(game, state, totals),
        actions=tuple(actions),
        playable=frozenset(playable),
    )


def _counts(row: Any, ranks: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(int(count) for count in row[: len(ranks)])
