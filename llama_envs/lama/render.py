"""Text and picture of one game, limited to what the viewer may see.

:func:`visible_table` reads the state and leaves out all that is hidden; text and picture draw only what it returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llama_envs.core.game import Game
from llama_envs.drawing.canvas import (
    BACK,
    BLUE,
    BRIGHT,
    CARD_COLORS,
    DANGER,
    FELT,
    FELT_EDGE,
    FINE,
    FOOTER,
    GAP,
    GOLD,
    GROUND,
    HEADER,
    INK,
    MARGIN,
    PANEL,
    PANEL_OUT,
    PANEL_TURN,
    SOFT,
    WHITE,
    WIDTH,
    Canvas,
    card,
    card_back,
    card_width,
    chip,
    draw_footer,
    draw_header,
    draw_points,
    fan,
    llama,
    llama_head,
    names_together,
    tile,
)
from llama_envs.drawing.renderer import DrawnTable
from llama_envs.drawing.shapes import Color, Picture, Symbol, mix
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
class VisibleTable:
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
    decides: bool  # whether the viewer may decide it
    playable: frozenset[int]  # ranks that the seat to move may play, if the viewer sees its hand

    @property
    def rest_name(self) -> str:
        """What ``rest`` counts."""
        return "stock" if self.viewer is None else "unseen"


def visible_table(game: Game, state: Any, seat: int | None) -> VisibleTable:
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
    legal = game.legal_actions(state, mover) if mover >= 0 else []
    sees_mover = seat is None or seat == mover
    actions = [game.action_names[a] for a in legal if sees_mover or a >= len(ranks)]
    if legal and not sees_mover and state["phase"] == TURN:
        actions.insert(0, "play a card")
    return VisibleTable(
        ranks=ranks,
        seats=seats,
        viewer=None if seat is None else game.agents[seat],
        round=int(state["rounds"]) + (not over and not _is_scored(state)),
        phase=_phase(state),
        over=over,
        top=int(state["top"]) if state["top"] >= 0 else None,
        discard=discard,
        rest=rest,
        stock_size=int(state["stock_size"]),
        target=game.config.target_score,
        status=_status(game, state, totals),
        actions=tuple(actions),
        decides=sees_mover,
        playable=frozenset(a for a in legal if a < len(ranks)) if sees_mover else frozenset(),
    )


def _counts(row: Any, ranks: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(int(count) for count in row[: len(ranks)])


def _is_scored(state: Any) -> bool:
    """Whether a round has just been scored; a game goes on from there at once, so only a viewer is shown it."""
    over = state["terminated"] or state["truncated"]
    return not over and bool(state["to_move"] < 0 and state["chance"] == NOTHING)


def _phase(state: Any) -> str:
    if _is_scored(state):
        return "round over"
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
        names = names_together(best)
        if state["terminated"]:
            return f"{names} {'wins' if len(best) == 1 else 'share the victory'} with {points}"
        return f"stopped at the round limit; lowest: {names} with {points}"
    if _is_scored(state):
        return "the round is scored"
    if state["chance"] == STARTER:
        return "chance decides who opens"
    if state["chance"] == DEAL:
        return "the cards are being dealt"
    if state["chance"] == DRAW:
        return f"{game.agents[state['last_actor']]} draws a card"
    return f"{game.agents[state['to_move']]} to {('move', 'return a chip', 'exchange chips')[state['phase']]}"


# ---------------------------------------------------------------------------------------------------------------- text


def _text(game: Game, table: VisibleTable) -> str:
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

HEIGHTS = {2: 576, 3: 640, 4: 704, 5: 784, 6: 864}  # for each number of players; multiples of 16, as video codecs like
FELT_WIDTH = 312
BADGES = {"winner": GOLD, "opened": SOFT, "quit": DANGER}
IVORY: Color = (238, 234, 222)
COAL: Color = (30, 30, 34)


@dataclass(frozen=True)
class _Kind:
    """How cards of one rank look."""

    color: Color
    index: Symbol
    centre: Symbol


def _kind(rank: int, ranks: tuple[str, ...]) -> _Kind:
    if rank == len(ranks) - 1:
        return _Kind(CARD_COLORS[-1], llama_head, llama)
    return _Kind(CARD_COLORS[rank], ranks[rank], ranks[rank])


def _picture(game: Game, table: VisibleTable) -> Picture:
    height = HEIGHTS[game.num_players]
    canvas = Canvas(WIDTH, height, GROUND)
    facts = (f"round {table.round}", table.phase, f"target {table.target}")
    draw_header(canvas, game.title, facts, table.viewer)
    top = MARGIN + HEADER
    bottom = height - MARGIN - FOOTER - GAP
    _draw_felt(canvas, table, top, bottom - top)
    left = MARGIN + FELT_WIDTH + GAP
    step = (bottom - top + GAP) / game.num_players
    for i, seat in enumerate(table.seats):
        y = round(top + i * step)
        _draw_seat(canvas, table, seat, left, y, WIDTH - MARGIN - left, round(top + (i + 1) * step) - GAP - y)
    actions = [(name, game.action_id(name) if table.decides else None) for name in table.actions]
    draw_footer(canvas, table.status, table.over, actions)
    return canvas.picture()


def _draw_felt(canvas: Canvas, table: VisibleTable, top: int, height: int) -> None:
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
                sprite = card(tall, kind.color, kind.index, kind.centre)
            canvas.paste(x + 2 * (pile - 1 - k), y + 2 * (pile - 1 - k), sprite)
        if not pile:
            canvas.panel(x, y, wide, tall, None, round(tall * 0.085), FELT_EDGE, 3)
        canvas.text(middle, y + tall + 24, f"{name} {count}", 18, BRIGHT, "centre", bold=True)
    y = top + height - space - legend
    step = min(44.0, (FELT_WIDTH - 96 - 16) / len(table.ranks))
    for k, (name, counts) in enumerate((("discard", table.discard), (table.rest_name, table.rest))):
        line = y + 54 + 36 * k
        canvas.text(MARGIN + 20, line, name, 15, pale)
        for rank, count in enumerate(counts):
            color = BRIGHT if count else mix(FELT, WHITE, 0.35)
            canvas.text(MARGIN + 96 + step * rank, line, str(count), 17, color, "centre", bold=True)
    for rank in range(len(table.ranks)):
        kind = _kind(rank, table.ranks)
        canvas.paste(MARGIN + 96 + step * rank - 12, y, tile(24, kind.color, kind.index))


def _draw_seat(canvas: Canvas, table: VisibleTable, seat: Seat, x: int, y: int, width: int, height: int) -> None:
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
    for k, (color, count) in enumerate(((IVORY, seat.white), (COAL, seat.black))):
        at = x + width - 246 + 76 * k
        canvas.paste(at, middle - 17, chip(34, color))
        canvas.text(at + 41, middle, str(count), 18, BRIGHT if count else SOFT, bold=True, width=32)
    end = x + width - 22
    draw_points(canvas, end, middle, seat.total, table.target, seat.wins, (FINE, GOLD, DANGER))
    if seat.change:
        color = DANGER if seat.change > 0 else FINE
        canvas.text(end, middle + 34, f"{seat.change:+d}", 15, color, "right", bold=True, width=72)


def _draw_hand(
    canvas: Canvas, table: VisibleTable, seat: Seat, ground: Color, x: int, y: int, width: int, height: int
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
        canvas.panel(x, top, card_width(tall), tall, None, round(tall * 0.085), mix(ground, WHITE, 0.15))
    for rank, place in zip(ranks, fan(ranks, tall, width), strict=True):
        if rank < 0:
            canvas.paste(x + place, top, card_back(tall, BACK, llama_head, fade))
            continue
        kind = _kind(rank, table.ranks)
        at = top + raised // 2
        playable = seat.to_move and rank in table.playable
        with canvas.choice(rank if playable else None, f"play {table.ranks[rank]}", "card"):
            if playable:
                at -= raised
                canvas.panel(x + place - 3, at - 3, card_width(tall) + 6, tall + 6, GOLD, round(tall * 0.085) + 3)
            canvas.paste(x + place, at, card(tall, kind.color, kind.index, kind.centre, fade))


# -------------------------------------------------------------------------------------------------------------- public


class LamaRenderer(DrawnTable):
    """Draws one game of L.L.A.M.A.; ``state`` is one record of ``Batch.state`` and is only read."""

    def text(self, game: Game, state: Any, seat: int | None) -> str:
        """A table for a terminal, seen by ``seat``, or with all cards open for None.

        One row a seat: cards of each rank (``?`` where hidden), cards in hand, chips, penalty points, and their change
        in the scoring that has just been done; ``>`` marks the seat to move. ``unseen`` counts the cards that the
        viewer has not seen: the stock and the other hands.
        """
        return _text(game, visible_table(game, state, seat))

    def describe(self, game: Game, state: Any, seat: int | None, together: bool = False) -> Picture:
        """The same as a picture; its size depends on ``num_players`` alone."""
        return _picture(game, visible_table(game, state, seat))
