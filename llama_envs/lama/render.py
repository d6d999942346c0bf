"""Text and picture of one game, limited to what the viewer may see.

:func:`look` reads the state and leaves out all that is hidden; text and picture draw only what it returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from llama_envs.core.compile import JIT
from llama_envs.core.drawing import (
    INK,
    WHITE,
    Canvas,
    Colour,
    Pen,
    Symbol,
    card,
    card_back,
    card_width,
    chip,
    fan,
    icon,
    mix,
    rounded,
    tile,
)
from llama_envs.core.game import Game
from llama_envs.lama.state import DEAL, DRAW, EXCHANGE, NOTHING, RETURN, STARTER, TURN

# -------------------------------------------------------------------------------------------------- what may be drawn


@dataclass(frozen=True)
class Seat:
    """What the viewer knows about one seat."""

    name: str
    hand: tuple[int, ...] | None  # cards of each rank; None when the viewer sees only their backs
    cards: int
    white: int
    black: int
    total: int
    change: int  # of the total in the scoring that is going on or has ended the game
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
    discard: tuple[int, ...]  # cards of each rank
    rest: tuple[int, ...]  # cards of each rank that the viewer has not seen; for None, those in the stock
    stock_size: int
    target: int
    status: str
    actions: tuple[str, ...]  # what may be decided now
    playable: frozenset[int]  # ranks that the seat to move may play, if the viewer sees its hand

    @property
    def rest_name(self) -> str:
        """What ``rest`` counts."""
        return "stock" if self.viewer is None else "unseen"


def look(game: Game, state: Any, seat: int | None) -> Table:
    """All that ``seat`` may see of ``state``, or everything for None.

    Other hands and the cards in the stock stay hidden from a seat at all times, after scoring as well.
    """
    n = game.num_players
    ranks = tuple(name.removeprefix("play ") for name in game.action_names[: game.config.num_ranks])
    over = bool(state["terminated"] or state["truncated"])
    totals = [int(total) for total in state["total"][:n]]
    mover, starter = -1 if over else int(state["to_move"]), int(state["starter"])
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
    discard = _counts(state["discard"], ranks)
    if seat is None:
        rest = _counts(state["stock"], ranks)
    else:
        own = _counts(state["hand"][seat], ranks)
        rest = tuple(game.config.copies - seen - held for seen, held in zip(discard, own, strict=True))
    legal = _legal_actions(game, state, mover)
    sees_mover = seat is None or seat == mover
    actions = [game.action_names[a] for a in legal if sees_mover or a >= len(ranks)]
    if legal and not sees_mover and state["phase"] == TURN:
        actions.insert(0, "play a card")
    return Table(
        ranks=ranks,
        seats=seats,
        viewer=None if seat is None else game.agents[seat],
        round=int(state["rounds"]) + (not over),
        phase=_phase(state),
        over=over,
        top=int(state["top"]) if state["top"] >= 0 else None,
        discard=discard,
        rest=rest,
        stock_size=int(state["stock_size"]),
        target=game.config.target_score,
        status=_status(game, state, totals),
        actions=tuple(actions),
        playable=frozenset(a for a in legal if a < len(ranks)) if sees_mover else frozenset(),
    )


def _counts(row: Any, ranks: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(int(count) for count in row[: len(ranks)])


def _legal_actions(game: Game, state: Any, mover: int) -> list[int]:
    """What the seat to move may do, by the rules themselves, on a copy of the state."""
    if mover < 0:
        return []
    states: Any = np.frombuffer(state.tobytes(), game.state_dtype).copy()
    params: Any = game.params
    if not JIT:
        states, params = states.view(np.recarray), params.view(np.recarray)
    mask = np.zeros((1, game.num_actions), np.bool_)
    game.loops.mask(states, params, np.array([mover], np.int64), mask)
    return [int(a) for a in np.flatnonzero(mask)]


def _phase(state: Any) -> str:
    if state["terminated"]:
        return "game over"
    if state["truncated"]:
        return "round limit"
    if state["chance"] != NOTHING:
        return {STARTER: "opening", DEAL: "deal", DRAW: "turn"}[int(state["chance"])]
    return {TURN: "turn", RETURN: "chip return", EXCHANGE: "chip exchange"}[int(state["phase"])]


def _status(game: Game, state: Any, totals: list[int]) -> str:
    """Who must do what, or how the game ended."""
    if state["terminated"] or state["truncated"]:
        best = [name for name, total in zip(game.agents, totals, strict=True) if total == min(totals)]
        points = f"{min(totals)} point{'' if min(totals) == 1 else 's'}"
        names = " and ".join([", ".join(best[:-1]), best[-1]] if len(best) > 1 else best)
        if state["terminated"]:
            return f"{names} {'wins' if len(best) == 1 else 'share the victory'} with {points}"
        return f"stopped at the round limit; lowest: {names} with {points}"
    if state["chance"] == STARTER:
        return "chance decides who opens"
    if state["chance"] == DEAL:
        return "the cards are being dealt"
    if state["chance"] == DRAW:
        return f"{game.agents[state['last_actor']]} draws a card"
    return f"{game.agents[state['to_move']]} to {('move', 'return a chip', 'exchange chips')[state['phase']]}"


# ---------------------------------------------------------------------------------------------------------------- text


def _text(game: Game, table: Table) -> str:
    """Two lines about the game, then a table of cards, chips and points."""
    facts = [
        game.title,
        f"round {table.round}",
        table.phase,
        "no discard" if table.top is None else f"top discard {table.ranks[table.top]}",
        f"stock {table.stock_size}",
        f"target {table.target}",
        f"seen by {table.viewer}" if table.viewer else "all cards open",
    ]
    status = table.status + (f": {', '.join(table.actions)}" if table.actions else "")
    head = ("", "", *table.ranks, "cards", "white", "black", "total", "change", "")
    rows = [
        ("", "discard", *_cells(table.discard), str(sum(table.discard)), "", "", "", "", ""),
        ("", table.rest_name, *_cells(table.rest), str(sum(table.rest)), "", "", "", "", ""),
        *(_seat_row(seat, len(table.ranks)) for seat in table.seats),
    ]
    widths = [max(2, *map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [" | ".join(facts), status, ""]
    for mark, name, *cells, notes in (head, *rows):
        numbers = " ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths[2:-1], strict=True))
        lines.append(f"{mark:1} {name:{widths[1]}} {numbers}  {notes}".rstrip())
    return "\n".join(lines)


def _cells(counts: tuple[int, ...]) -> list[str]:
    return [str(count) if count else "." for count in counts]


def _seat_row(seat: Seat, num_ranks: int) -> tuple[str, ...]:
    cards = ["?"] * num_ranks if seat.hand is None else _cells(seat.hand)
    numbers = (
        str(seat.cards),
        str(seat.white),
        str(seat.black),
        str(seat.total),
        f"{seat.change:+d}" if seat.change else ".",
    )
    return (">" if seat.to_move else "", seat.name, *cards, *numbers, ", ".join(_badges(seat)))


def _badges(seat: Seat) -> list[str]:
    marks = {"winner": seat.wins, "you": seat.is_viewer, "opened": seat.opened, "quit": seat.quit}
    return [mark for mark, applies in marks.items() if applies]


# ------------------------------------------------------------------------------------------------------------- picture

WIDTH = 1280
HEIGHTS = {2: 576, 3: 640, 4: 704, 5: 784, 6: 864}  # for each number of players; multiples of 16, as video codecs like
MARGIN, GAP, HEADER, FOOTER, FELT_WIDTH = 20, 12, 48, 48, 312

GROUND: Colour = (27, 31, 43)
PANEL: Colour = (40, 46, 62)
PANEL_OUT: Colour = (33, 38, 51)
PANEL_TURN: Colour = (54, 62, 84)
BAR: Colour = (36, 41, 55)
FELT: Colour = (22, 84, 76)
FELT_EDGE: Colour = (34, 116, 104)
BRIGHT: Colour = (243, 244, 248)
SOFT: Colour = (164, 172, 190)
GOLD: Colour = (255, 200, 70)
DANGER: Colour = (235, 96, 84)
FINE: Colour = (96, 200, 140)
BACK: Colour = (48, 66, 118)
BLUE: Colour = (120, 190, 255)
BADGES = {"winner": GOLD, "opened": SOFT, "quit": DANGER}
IVORY: Colour = (238, 234, 222)
COAL: Colour = (30, 30, 34)
WOOL: Colour = (255, 248, 236)
WOOL_SHADE: Colour = (236, 222, 200)
LLAMA_CARD: Colour = (219, 74, 142)
NUMBER_CARDS: tuple[Colour, ...] = (
    (124, 77, 178),
    (44, 118, 208),
    (58, 156, 84),
    (226, 176, 24),
    (234, 122, 38),
    (208, 52, 52),
)


def llama(pen: Pen) -> None:
    """A llama with a blanket, from the side."""
    for x in (0.35, 0.53):
        pen.stroke([(x, 0.66), (x, 0.90)], 0.075, WOOL_SHADE)
    for x in (0.24, 0.64):
        pen.stroke([(x, 0.66), (x, 0.92)], 0.08, WOOL)
        pen.stroke([(x, 0.925), (x + 0.015, 0.925)], 0.07, INK)
    pen.ellipse(0.10, 0.44, 0.26, 0.60, WOOL_SHADE)
    for x, y, r in ((0.28, 0.60, 0.14), (0.40, 0.61, 0.16), (0.52, 0.61, 0.16), (0.62, 0.60, 0.14)):
        pen.ellipse(x - r, y - r, x + r, y + r, WOOL)
    pen.stroke([(0.66, 0.58), (0.72, 0.26)], 0.17, WOOL)
    pen.polygon([(0.655, 0.17), (0.67, 0.02), (0.735, 0.16)], WOOL)
    pen.polygon([(0.735, 0.16), (0.79, 0.02), (0.80, 0.18)], WOOL_SHADE)
    pen.ellipse(0.63, 0.12, 0.85, 0.32, WOOL)
    pen.ellipse(0.74, 0.19, 0.94, 0.325, WOOL)
    pen.ellipse(0.885, 0.215, 0.93, 0.25, INK)
    pen.ellipse(0.765, 0.175, 0.805, 0.22, INK)
    pen.polygon([(0.33, 0.44), (0.57, 0.44), (0.60, 0.68), (0.30, 0.68)], (64, 158, 206))
    pen.polygon([(0.322, 0.50), (0.578, 0.50), (0.587, 0.565), (0.313, 0.565)], (255, 205, 82))
    pen.polygon([(0.307, 0.62), (0.593, 0.62), (0.60, 0.68), (0.30, 0.68)], (240, 110, 70))
    pen.stroke([(0.625, 0.415), (0.755, 0.44)], 0.05, (64, 158, 206))


def llama_head(pen: Pen) -> None:
    """The head of a llama from the front, to be seen in the corner of a card."""
    for side in (-1, 1):
        pen.polygon([(0.5 + side * 0.10, 0.36), (0.5 + side * 0.30, 0.0), (0.5 + side * 0.32, 0.42)], WOOL)
    pen.ellipse(0.17, 0.20, 0.83, 0.84, WOOL)
    pen.ellipse(0.26, 0.46, 0.74, 0.98, WOOL_SHADE)
    for x in (0.33, 0.67):
        pen.ellipse(x - 0.065, 0.40, x + 0.065, 0.53, INK)
    pen.polygon([(0.41, 0.62), (0.59, 0.62), (0.5, 0.73)], INK)


@dataclass(frozen=True)
class _Kind:
    """How cards of one rank look."""

    colour: Colour
    index: Symbol
    centre: Symbol


def _kind(rank: int, ranks: tuple[str, ...]) -> _Kind:
    if rank == len(ranks) - 1:
        return _Kind(LLAMA_CARD, llama_head, llama)
    return _Kind(NUMBER_CARDS[rank], ranks[rank], ranks[rank])


def _picture(game: Game, table: Table) -> npt.NDArray[np.uint8]:
    height = HEIGHTS[game.num_players]
    canvas = Canvas(WIDTH, height, GROUND)
    _draw_header(canvas, game, table)
    top = MARGIN + HEADER
    bottom = height - MARGIN - FOOTER - GAP
    _draw_felt(canvas, table, top, bottom - top)
    left = MARGIN + FELT_WIDTH + GAP
    step = (bottom - top + GAP) / game.num_players
    for i, seat in enumerate(table.seats):
        y = round(top + i * step)
        _draw_seat(canvas, table, seat, left, y, WIDTH - MARGIN - left, round(top + (i + 1) * step) - GAP - y)
    _draw_footer(canvas, table, height - MARGIN - FOOTER)
    return canvas.pixels()


def _draw_header(canvas: Canvas, game: Game, table: Table) -> None:
    """Title, round and phase, and whose view it is."""
    y = MARGIN + HEADER / 2 - 8
    canvas.paste(MARGIN, y - 17, icon(34, llama_head))
    x = MARGIN + 46 + canvas.text(MARGIN + 46, y, game.title, 26, BRIGHT, bold=True)
    canvas.text(x + 20, y, f"round {table.round}  ·  {table.phase}  ·  target {table.target}", 18, SOFT)
    canvas.text(WIDTH - MARGIN, y, f"seen by {table.viewer}" if table.viewer else "all cards open", 18, SOFT, "right")


def _draw_felt(canvas: Canvas, table: Table, top: int, height: int) -> None:
    """The stock, the discard pile, and how many cards of each rank were seen."""
    canvas.panel(MARGIN, top, FELT_WIDTH, height, FELT, 16, FELT_EDGE, 3)
    tall, label, legend = 168, 36, 108
    wide = card_width(tall)
    space = (height - tall - label - legend) // 3
    y = top + space
    pale = mix(FELT, WHITE, 0.75)
    for side, name, count in ((-1, "stock", table.stock_size), (1, "discard", sum(table.discard))):
        middle = MARGIN + FELT_WIDTH // 2 + side * (wide // 2 + 14)
        x = middle - wide // 2
        pile = min(count, 4)
        for k in range(pile):
            if side < 0 or table.top is None:
                sprite = card_back(tall, BACK, llama_head)
            else:
                kind = _kind(table.top, table.ranks)
                sprite = card(tall, kind.colour, kind.index, kind.centre)
            canvas.paste(x + 2 * (pile - 1 - k), y + 2 * (pile - 1 - k), sprite)
        if not pile:
            canvas.paste(x, y, rounded(wide, tall, round(tall * 0.085), None, FELT_EDGE, 3))
        canvas.text(middle, y + tall + 24, f"{name} {count}", 18, BRIGHT, "centre", bold=True)
    y = top + height - space - legend
    step = min(44.0, (FELT_WIDTH - 96 - 16) / len(table.ranks))
    for k, (name, counts) in enumerate((("discard", table.discard), (table.rest_name, table.rest))):
        line = y + 54 + 36 * k
        canvas.text(MARGIN + 20, line, name, 15, pale)
        for rank, count in enumerate(counts):
            colour = BRIGHT if count else mix(FELT, WHITE, 0.35)
            canvas.text(MARGIN + 96 + step * rank, line, str(count), 17, colour, "centre", bold=True)
    for rank in range(len(table.ranks)):
        kind = _kind(rank, table.ranks)
        canvas.paste(MARGIN + 96 + step * rank - 12, y, tile(24, kind.colour, kind.index))


def _draw_seat(canvas: Canvas, table: Table, seat: Seat, x: int, y: int, width: int, height: int) -> None:
    """One row: name, hand, chips, points."""
    fill = PANEL_TURN if seat.to_move or seat.wins else PANEL_OUT if seat.quit else PANEL
    canvas.panel(x, y, width, height, fill, 14, GOLD if seat.to_move or seat.wins else None, 3)
    middle = y + height / 2
    across = (
        x + 32 + canvas.text(x + 22, middle - 25, seat.name, 20, SOFT if seat.quit else BRIGHT, bold=True, width=110)
    )
    if seat.is_viewer:
        canvas.pill(across, middle - 25, "you", 12, INK, BLUE)
    canvas.text(x + 22, middle + 1, f"{seat.cards} card{'' if seat.cards == 1 else 's'}", 15, SOFT)
    across = x + 22.0
    for badge in _badges(seat):
        if badge in BADGES:
            across += 5 + canvas.pill(across, middle + 27, badge, 12, INK, BADGES[badge])
    _draw_hand(canvas, table, seat, fill, x + 190, y, width - 190 - 268, height)
    for k, (colour, count) in enumerate(((IVORY, seat.white), (COAL, seat.black))):
        at = x + width - 246 + 76 * k
        canvas.paste(at, middle - 17, chip(34, colour))
        canvas.text(at + 41, middle, str(count), 18, BRIGHT if count else SOFT, bold=True, width=32)
    end = x + width - 22
    canvas.text(end, middle - 15, str(seat.total), 30, GOLD if seat.wins else BRIGHT, "right", bold=True, width=72)
    if seat.change:
        colour = DANGER if seat.change > 0 else FINE
        canvas.text(end, middle + 34, f"{seat.change:+d}", 15, colour, "right", bold=True, width=72)
    reached = min(max(seat.total / table.target, 0.0), 1.0)
    canvas.panel(end - 72, round(middle) + 11, 72, 8, GROUND, 4)
    if reached > 0:
        colour = mix(FINE, GOLD, 2 * reached) if reached < 0.5 else mix(GOLD, DANGER, 2 * reached - 1)
        canvas.panel(end - 72, round(middle) + 11, max(8, round(72 * reached)), 8, colour, 4)


def _draw_hand(
    canvas: Canvas, table: Table, seat: Seat, ground: Colour, x: int, y: int, width: int, height: int
) -> None:
    """A fan of faces or backs; what may be played now is raised."""
    tall = min(height - 28, 132)
    raised = max(6, tall // 14) if seat.to_move and table.playable else 0
    fade = (ground, 0.6) if seat.quit else None
    if seat.hand is None:
        ranks = [-1] * seat.cards
    else:
        ranks = [rank for rank, count in enumerate(seat.hand) for _ in range(count)]
    top = y + (height - tall) // 2
    if not ranks:
        canvas.paste(x, top, rounded(card_width(tall), tall, round(tall * 0.085), None, mix(ground, WHITE, 0.15), 2))
    for rank, place in zip(ranks, fan(ranks, tall, width), strict=True):
        if rank < 0:
            canvas.paste(x + place, top, card_back(tall, BACK, llama_head, fade))
            continue
        kind = _kind(rank, table.ranks)
        at = top + raised // 2
        if seat.to_move and rank in table.playable:
            at -= raised
            canvas.paste(x + place - 3, at - 3, rounded(card_width(tall) + 6, tall + 6, round(tall * 0.085) + 3, GOLD))
        canvas.paste(x + place, at, card(tall, kind.colour, kind.index, kind.centre, (), fade))


def _draw_footer(canvas: Canvas, table: Table, top: int) -> None:
    """Who must do what, or how the game ended."""
    canvas.panel(MARGIN, top, WIDTH - 2 * MARGIN, FOOTER, BAR, 14)
    y = top + FOOTER / 2
    x = MARGIN + 20.0
    x += canvas.text(x, y, table.status, 18, GOLD if table.over else BRIGHT, bold=True, width=WIDTH - 2 * MARGIN - 40)
    x += 20
    for action in table.actions:
        x += 10 + canvas.pill(x, y, action, 15, INK, GOLD, 28)


# -------------------------------------------------------------------------------------------------------------- public


class LamaRenderer:
    """Draws one game of L.L.A.M.A.; ``state`` is one record of ``Batch.state`` and is only read."""

    def text(self, game: Game, state: Any, seat: int | None) -> str:
        """A table for a terminal, seen by ``seat``, or with all cards open for None.

        One row a seat: cards of each rank (``?`` where hidden), cards in hand, chips, penalty points, and their change
        in the scoring that has just been done; ``>`` marks the seat to move. ``unseen`` counts the cards that the
        viewer has not seen: the stock and the other hands.
        """
        return _text(game, look(game, state, seat))

    def picture(self, game: Game, state: Any, seat: int | None) -> npt.NDArray[np.uint8]:
        """The same as an RGB image, uint8 (height, width, 3), a new array; its size depends on ``num_players`` alone.

        Raises:
            ImportError: Pillow is not installed (``pip install llama-envs[render]``).
        """
        return _picture(game, look(game, state, seat))
