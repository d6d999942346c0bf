"""Text and picture of one game, limited to what the viewer may see.

:func:`visible_table` reads the state and leaves out all that is hidden; text and picture draw only what it returns.
Picks are made in secret, so what a seat sees changes with its own picks alone until everybody has picked: not even
whose turn it is among the others is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from llama_envs.core.game import Game
from llama_envs.drawing.canvas import (
    BACK,
    BLUE,
    BRIGHT,
    CARD_COLORS,
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
    card_back,
    draw_footer,
    draw_header,
    draw_points,
    icon,
    llama_head,
    names_together,
    rules_card,
    rules_width,
    tile,
)
from llama_envs.drawing.renderer import DrawnTable
from llama_envs.drawing.shapes import Color, Pen, Picture, Sprite, mix
from llama_envs.drawing.text import SMALLEST_TEXT, text_width
from llama_envs.llama_llama.config import DISPLAYS, HANDS, LlamaLlamaConfig
from llama_envs.llama_llama.deck import LETTERS, Card, Deck, Rule, score_hands
from llama_envs.llama_llama.state import DEAL, DUMMY_DRAW, DUMMY_SEAT, GOALS, NOTHING

ORDINALS = ("1st", "2nd", "3rd", "4th")
Kinds = tuple[int, ...]
Lines = tuple[tuple[str, str], ...]  # of a rule: a text and, at the right, what it pays

# -------------------------------------------------------------------------------------------------- what may be drawn


@dataclass(frozen=True)
class Display:
    """What the viewer knows about one display card and the goal on it."""

    name: str
    passes: int
    placed: bool
    revealed: bool
    current: bool  # revealed last, for the pass that goes on
    goal: int | None  # its kind; None when the viewer does not see it
    owners: tuple[str, ...]  # whose goal it may be


@dataclass(frozen=True)
class Pass:
    """What a seat passed and received in one finished pass."""

    passed: Kinds
    received: Kinds


@dataclass(frozen=True)
class Hand:
    """What the viewer knows about one of the four hands, a seat's or a dummy's."""

    name: str
    is_dummy: bool
    is_viewer: bool
    chooses: bool  # the seat that must choose now, as far as the viewer may know
    wins: bool
    to: str | None  # the hand at its left, where its cards go
    cards: int
    kept: Kinds | None  # the cards, but for goal and picks; None when the viewer sees only their backs
    picks: Kinds  # chosen so far to be passed in this pass
    goal: int | None  # the goal that it gave, if the viewer knows it
    passes: tuple[Pass, ...]  # finished passes that the viewer knows
    worth: int | None  # what the hand would score on the goals revealed so far
    total: int
    last: int | None  # points of the last scored round


@dataclass(frozen=True)
class VisibleTable:
    """What the viewer knows about the game."""

    deck: Deck
    viewer: str | None
    round: int  # from 1
    num_rounds: int
    target: int
    phase: str
    passing: bool
    over: bool
    status: str
    actions: tuple[str, ...]  # names of the kinds that may be chosen now
    choices: frozenset[int]  # the same kinds
    displays: tuple[Display, ...]
    hands: tuple[Hand, ...]  # each at the left of the one before


def visible_table(game: Game, state: Any, seat: int | None) -> VisibleTable:
    """All that ``seat`` may see of ``state``, or everything for None.

    Hidden from a seat at all times, after scoring as well: the other hands and dummies, who gave which goal, and what
    others picked, passed and received; goals are hidden until they are revealed.
    """
    config: LlamaLlamaConfig = game.config
    phase = int(state["phase"])
    over = bool(state["terminated"])
    actor, choices = _choices(game, state, seat)
    return VisibleTable(
        deck=config.cards,
        viewer=None if seat is None else game.agents[seat],
        round=int(state["rounds"]) + (not over and not _is_scored(state)),
        num_rounds=config.num_rounds,
        target=config.target_score,
        phase=_phase(state),
        passing=phase != GOALS and not over and not _is_scored(state),
        over=over,
        status=_status(game, state, seat, actor),
        actions=tuple(config.cards.kind_names[kind] for kind in choices),
        choices=frozenset(choices),
        displays=tuple(_display(game, state, seat, display) for display in range(DISPLAYS)),
        hands=tuple(_hand(game, state, seat, hand, actor) for hand in _round_the_table(game, state)),
    )


def _choices(game: Game, state: Any, seat: int | None) -> tuple[int, list[int]]:
    """The seat that must choose, -1 if none, and the kinds it may choose.

    For the viewer ``seat`` that is itself until its own picks are made, whoever has picked before.
    """
    if state["to_move"] < 0:
        return -1, []
    actor = int(state["to_move"]) if seat is None else seat
    if _is_done(game, state, actor):
        return -1, []
    turn = np.frombuffer(state.tobytes(), game.state_dtype).copy()[0]
    turn["to_move"], turn["cycle"] = actor, _num_picks(state, actor)
    return actor, game.legal_actions(turn, actor)


def _num_picks(state: Any, seat: int) -> int:
    """Cards that ``seat`` has picked in the pass that goes on."""
    if state["phase"] == GOALS or state["to_move"] < 0:
        return 0
    return int(state["cycle"]) + int(seat < state["to_move"])


def _is_done(game: Game, state: Any, seat: int) -> bool:
    """Whether ``seat`` has its goal, or all its picks of this pass."""
    if state["phase"] == GOALS:
        return bool(state["goal"][seat] >= 0)
    return _num_picks(state, seat) == game.config.pass_counts[state["phase"] - 1]


def _names(game: Game) -> list[str]:
    """The four hands: the seats, then the dummies."""
    dummies = HANDS - game.num_players
    return game.agents + (["dummy"] if dummies == 1 else [f"dummy_{k}" for k in range(dummies)])


def _round_the_table(game: Game, state: Any) -> list[int]:
    """The hands from seat 0 on to the left; a dummy that has no place yet comes last."""
    order: list[int] = []
    for seat in range(game.num_players):
        order.append(seat)
        if state["left"][seat] >= game.num_players:
            order.append(int(state["left"][seat]))
    return order + [hand for hand in range(HANDS) if hand not in order]


def _display(game: Game, state: Any, seat: int | None, display: int) -> Display:
    phase, owner = int(state["phase"]), int(state["owner"][display])
    seen = owner >= 0 and (seat is None or display < phase)
    names, n = _names(game), game.num_players
    if seat is None and owner >= 0:
        owners = [names[owner]]
    else:
        may_own = [hand for hand in range(HANDS) if state["may_own"][display] >> hand & 1]
        players = [hand for hand in may_own if hand < n]
        owners = ["any player"] if len(players) == n else [names[hand] for hand in players]
        if len(may_own) > len(players):
            owners.append("a dummy" if n == 2 else "the dummy")
        if len(may_own) == HANDS:
            owners = ["anybody"]
    return Display(
        name=ORDINALS[display],
        passes=game.config.pass_counts[display],
        placed=owner >= 0,
        revealed=display < phase,
        current=display == phase - 1 and not state["terminated"] and not _is_scored(state),
        goal=int(state["goal"][owner]) if seen else None,
        owners=tuple(owners),
    )


def _hand(game: Game, state: Any, seat: int | None, hand: int, actor: int) -> Hand:
    n = game.num_players
    deck: Deck = game.config.cards
    phase, goal = int(state["phase"]), int(state["goal"][hand])
    is_dummy = hand >= n
    open_to_viewer = seat is None or seat == hand
    counts = state["hand"][hand][: deck.num_kinds].astype(np.int64)
    kept: Kinds | None = None
    picks: Kinds = ()
    passes: list[Pass] = []
    worth: int | None = None
    if open_to_viewer:
        if state["to_move"] >= 0 and phase == GOALS and goal >= 0:
            counts[goal] -= 1  # the chosen goal stays in the record's hand until all have chosen
        if phase != GOALS and not is_dummy:
            goals = [int(state["goal"][state["owner"][display]]) for display in range(phase)]
            worth = int(score_hands(counts, goals, deck).sum())
        if not is_dummy:
            starts = np.cumsum([0, *game.config.pass_counts])
            picks = tuple(int(k) for k in state["passed"][hand][starts[phase - 1] :][: _num_picks(state, hand)])
            finished = phase if state["terminated"] or _is_scored(state) else max(phase - 1, 0)
            passes = [
                Pass(*(_kinds(state[log][hand][starts[k] : starts[k + 1]]) for log in ("passed", "received")))
                for k in range(finished)
            ]
        left = counts.copy()
        np.subtract.at(left, list(picks), 1)
        kept = tuple(int(kind) for kind in np.repeat(np.arange(len(left)), left))
    return Hand(
        name=_names(game)[hand],
        is_dummy=is_dummy,
        is_viewer=seat == hand,
        chooses=hand == actor,
        wins=bool(state["terminated"]) and not is_dummy and bool(_winners(game, state)[hand]),
        to=_to(game, state, hand),
        cards=int(counts.sum()),
        kept=kept,
        picks=picks,
        goal=goal if open_to_viewer and goal >= 0 else None,
        passes=tuple(passes),
        worth=worth,
        total=0 if is_dummy else int(state["total"][hand]),
        last=int(state["round_score"][hand]) if state["rounds"] > 0 and not is_dummy else None,
    )


def _kinds(log: Any) -> Kinds:
    return tuple(sorted(int(kind) for kind in log))


def _to(game: Game, state: Any, hand: int) -> str | None:
    """Where the cards of ``hand`` go; None while nobody knows where the dummy sits."""
    if state["chance"] == DUMMY_SEAT:
        return None
    n = game.num_players
    if hand < n:
        return _names(game)[state["left"][hand]]
    right = next(seat for seat in range(n) if state["left"][seat] == hand)
    return game.agents[(right + 1) % n]


def decision_kind(state: Any, action: int) -> str:
    """ "goal", or the pass that a card is chosen for."""
    return "goal" if state["phase"] == GOALS else f"{ORDINALS[state['phase'] - 1]} pass"


def _is_scored(state: Any) -> bool:
    """Whether a round has just been scored; a game goes on from there at once, so only a viewer is shown it."""
    return not state["terminated"] and bool(state["to_move"] < 0 and state["chance"] == NOTHING)


def _phase(state: Any) -> str:
    if state["terminated"]:
        return "game over"
    if _is_scored(state):
        return "round over"
    if state["phase"] != GOALS:
        return f"pass {state['phase']} of {DISPLAYS}"
    if state["chance"] == NOTHING:
        return "choosing goals"
    return "deal" if state["chance"] in (DUMMY_SEAT, DEAL) else "placing goals"


def _winners(game: Game, state: Any) -> npt.NDArray[np.bool_]:
    """(P,) bool: who wins or shares the victory (P19)."""
    return game.win_shares(np.frombuffer(state.tobytes(), game.visible_dtype))[0] > 0


def _status(game: Game, state: Any, seat: int | None, actor: int) -> str:
    """Who must do what, or how the game ended."""
    if state["terminated"]:
        winners = np.flatnonzero(_winners(game, state))
        total = int(state["total"][winners[0]])
        points = f"{total} point{'' if total == 1 else 's'}"
        if (state["total"][: game.num_players] == total).sum() > len(winners):
            points += f" and {state['round_score'][winners[0]]} in the last round"
        names = names_together([game.agents[winner] for winner in winners])
        return f"{names} {'wins' if len(winners) == 1 else 'share the victory'} with {points}"
    if _is_scored(state):
        return "the round is scored"
    if state["chance"] == DUMMY_DRAW:
        pending = int(state["pending"])
        drawer = game.agents[(pending + 1) % game.num_players]
        return f"{drawer} draws from {_names(game)[state['left'][pending]]}"
    if state["chance"] != NOTHING:
        return {DUMMY_SEAT: "chance decides where the dummy sits", DEAL: "the cards are being dealt"}.get(
            int(state["chance"]), "the goals are being placed"
        )
    if actor < 0:
        assert seat is not None
        return f"{game.agents[seat]} is ready; the others are choosing"
    if state["phase"] == GOALS:
        return f"{game.agents[actor]} to choose a goal"
    count = game.config.pass_counts[state["phase"] - 1]
    return f"{game.agents[actor]} to pick card {_num_picks(state, actor) + 1} of {count} for {_to(game, state, actor)}"


# ---------------------------------------------------------------------------------------------------------------- text


def _text(game: Game, table: VisibleTable) -> str:
    """Two lines about the game, then the displays, the hands, and what the viewer knows about goals and passes."""
    facts = [
        game.title,
        f"round {table.round} of {table.num_rounds}",
        table.phase,
        f"target {table.target}",
        f"deck {table.deck.name}",
        f"seen by {table.viewer}" if table.viewer else "all cards open",
    ]
    status = table.status + (f": {', '.join(f'choose {name}' for name in table.actions)}" if table.actions else "")
    displays = [
        ("", "display", "pass", "goal of", "goal", "its rules"),
        *(_display_row(table.deck, each) for each in table.displays),
    ]
    hands: list[tuple[str, ...]] = [("", "hand", "passes to", "cards", "worth", "total", "last", "", "cards in hand")]
    hands += [_hand_row(table, hand) for hand in table.hands]
    lines = [
        " | ".join(facts),
        status,
        "",
        *_aligned(displays, numbers=(2,)),
        "",
        *_aligned(hands, numbers=(3, 4, 5, 6)),
    ]
    notes = [note for hand in table.hands for note in _notes(table.deck, hand)]
    if notes:
        lines += ["", *_aligned(notes)]
    return "\n".join(lines)


def _aligned(rows: Sequence[tuple[str, ...]], numbers: tuple[int, ...] = ()) -> list[str]:
    """The rows as lines, each column as wide as its widest cell, ``numbers`` to the right."""
    widths = [max(1, *map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if k in numbers else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((cells[0] + " " + "  ".join(cells[1:])).rstrip())
    return lines


def _display_row(deck: Deck, display: Display) -> tuple[str, ...]:
    owners = " or ".join(display.owners)
    if display.goal is None:
        goal, rules = "face down" if display.placed else "none yet", ""
    else:
        goal, rules = deck.kind_names[display.goal], ", ".join(deck.cards[display.goal].rules_text)
        if not display.revealed:
            rules += "  (face down)"
    return (">" if display.current else "", display.name, str(display.passes), owners, goal, rules)


def _hand_row(table: VisibleTable, hand: Hand) -> tuple[str, ...]:
    marks = {"winner": hand.wins, "you": hand.is_viewer}
    cards = "?" if hand.kept is None else _listed(table.deck, (*hand.kept, *hand.picks))
    points = (".", ".", ".")
    if not hand.is_dummy:
        unknown = "?" if table.displays[0].revealed else "."
        worth = unknown if hand.worth is None else str(hand.worth)
        points = (worth, str(hand.total), "." if hand.last is None else f"{hand.last:+d}")
    notes = ", ".join(mark for mark, applies in marks.items() if applies)
    return (">" if hand.chooses else "", hand.name, hand.to or "?", str(hand.cards), *points, notes, cards)


def _notes(deck: Deck, hand: Hand) -> list[tuple[str, ...]]:
    """Lines about the goal, the picks and the passes of a hand, as far as the viewer knows them."""
    notes: list[tuple[str, ...]] = []
    if hand.goal is not None:
        notes.append(("", hand.name, "goal", deck.kind_names[hand.goal]))
    if hand.picks:
        notes.append(("", hand.name, "picked", _listed(deck, hand.picks)))
    for k, done in enumerate(hand.passes, start=1):
        exchange = f"passed {_listed(deck, done.passed)}; received {_listed(deck, done.received)}"
        notes.append(("", hand.name, f"pass {k}", exchange))
    return notes


def _listed(deck: Deck, kinds: Kinds) -> str:
    """ "A:AABB x2, B:AA"; a dot for no cards."""
    counts = sorted(Counter(kinds).items())
    return ", ".join(deck.kind_names[kind] + (f" x{count}" if count > 1 else "") for kind, count in counts) or "."


# ------------------------------------------------------------------------------------------------------------- picture

HEIGHT = 944  # for any number of players, as there are always four hands; a multiple of 16, as video codecs like
BAND = 200  # height of the felt with the displays
LANE = 44  # width of the lane with the arrows at the left of the hands
CARD = (106, 116)  # width and height of a card in a hand
SMALL = (80, 88)  # of one that is face down
GOAL = (158, 176)  # and on a display
RULES, GOAL_RULES = 13, 16  # size of the rules on them
STEP = CARD[0] + 4  # from card to card
CARDS_WIDTH = 932  # of all that lies between the names and the points


def arrow_down(pen: Pen) -> None:
    """The head of an arrow that points down."""
    pen.polygon([(0.08, 0.22), (0.92, 0.22), (0.5, 0.86)], GOLD)


def arrow_up(pen: Pen) -> None:
    """The head of an arrow that points up."""
    pen.polygon([(0.08, 0.78), (0.92, 0.78), (0.5, 0.14)], GOLD)


def arrow_right(pen: Pen) -> None:
    """The head of an arrow that points to the right."""
    pen.polygon([(0.22, 0.08), (0.22, 0.92), (0.86, 0.5)], GOLD)


def dot(pen: Pen) -> None:
    """Where a hand lies on the way of the cards."""
    pen.ellipse(0.0, 0.0, 1.0, 1.0, GOLD)
    pen.ellipse(0.25, 0.25, 0.75, 0.75, GROUND)


def _picture(game: Game, table: VisibleTable) -> Picture:
    canvas = Canvas(WIDTH, HEIGHT, GROUND)
    facts = (f"round {table.round} of {table.num_rounds}", table.phase, f"target {table.target}")
    draw_header(canvas, game.title, facts, table.viewer)
    top = MARGIN + HEADER
    canvas.panel(MARGIN, top, WIDTH - 2 * MARGIN, BAND, FELT, 16, FELT_EDGE, 3)
    width = (WIDTH - 2 * MARGIN - 12) / DISPLAYS
    seen = [hand for hand in table.hands if hand.is_viewer]
    for k, display in enumerate(table.displays):
        done = seen[0].passes[k] if seen and k < len(seen[0].passes) else None
        _draw_display(canvas, table.deck, display, done, round(MARGIN + 12 + k * width), top, round(width) - 12)
    top += BAND + GAP
    bottom = HEIGHT - MARGIN - FOOTER - GAP
    step = (bottom - top + GAP) / HANDS
    tall = round(step) - GAP
    _draw_lane(canvas, table, top, step, tall)
    left = MARGIN + LANE
    for k, hand in enumerate(table.hands):
        _draw_hand(canvas, table, hand, left, round(top + k * step), WIDTH - MARGIN - left, tall)
    draw_footer(canvas, table.status, table.over, list(zip(table.actions, sorted(table.choices), strict=True)))
    return canvas.picture()


def _draw_display(
    canvas: Canvas, deck: Deck, display: Display, done: Pass | None, x: int, top: int, width: int
) -> None:
    """The goal, and at its right the display card's place and number, whose goal it may be, and what was passed."""
    wide, tall = GOAL
    y = top + (BAND - tall) // 2
    if display.current:
        canvas.panel(x - 4, y - 4, wide + 8, tall + 8, GOLD, round(tall * 0.085) + 4)
    if display.goal is not None:
        canvas.paste(
            x, y, _face(deck.cards[display.goal], GOAL, GOAL_RULES, None if display.revealed else (FELT, 0.45))
        )
    elif display.placed:
        canvas.paste(x, y, card_back(tall, BACK, llama_head, None, wide))
    else:
        canvas.panel(x, y, wide, tall, None, round(tall * 0.085), FELT_EDGE, 3)
    pale = mix(FELT, WHITE, 0.7)
    at, rest = x + wide + 14, width - wide - 14
    here = at + 10 + canvas.text(at, y + 15, display.name, 26, GOLD if display.current else BRIGHT, bold=True)
    if display.current:
        canvas.pill(here, y + 14, "now", 12, INK, GOLD)
    canvas.text(at, y + 42, f"pass {display.passes} card{'' if display.passes == 1 else 's'}", 15, BRIGHT, width=rest)
    whose = "goal of" if display.revealed else "face-down goal of" if display.placed else "for the goal of"
    canvas.text(at, y + 65, whose, 13, pale, width=rest)
    for k, line in enumerate(_wrapped(" or ".join(display.owners), rest, 14)):
        canvas.text(at, y + 84 + 17 * k, line, 14, BRIGHT, width=rest)
    if done is not None:
        for k, (label, kinds) in enumerate((("out", done.passed), ("in", done.received))):
            canvas.text(at, y + 141 + 24 * k, label, 13, pale)
            _draw_letters(canvas, deck, kinds, at + 26, y + 141 + 24 * k, rest - 26)


def _wrapped(text: str, width: float, size: int) -> list[str]:
    """Lines that fit in ``width``, broken at spaces."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and text_width(longer, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _draw_letters(canvas: Canvas, deck: Deck, kinds: Kinds, x: float, y: float, width: float) -> None:
    """The letters of some cards as tiles, or as text where there is no room for tiles."""
    letters = [deck.cards[kind].letter for kind in kinds]
    if 21 * len(letters) - 1 > width:
        canvas.text(x, y, "".join(letters), 14, BRIGHT, bold=True, width=width)
        return
    for k, letter in enumerate(letters):
        canvas.paste(x + 21 * k, y - 10, tile(20, CARD_COLORS[LETTERS.index(letter)], letter))


def _draw_lane(canvas: Canvas, table: VisibleTable, top: int, step: float, tall: int) -> None:
    """The way of the cards: down from hand to hand, and from the last one up to the first."""
    side, x = 24, MARGIN + 2
    middles = [round(top + k * step + tall / 2) for k in range(len(table.hands))]
    color = mix(GROUND, GOLD, 0.55 if table.passing else 0.3)
    canvas.panel(x, middles[0], side, middles[-1] - middles[0], None, 10, color, 3)
    right = x + side - 2
    for k, middle in enumerate(middles):
        canvas.panel(right, middle - 1, MARGIN + LANE - right, 3, color, 1)
        canvas.paste(right - 7, middle - 7, icon(15, dot))
        if k:
            canvas.paste(right - 8, round((middles[k - 1] + middle) / 2) - 8, icon(16, arrow_down))
    canvas.paste(x - 7, round((middles[0] + middles[-1]) / 2) - 8, icon(16, arrow_up))


def _draw_hand(canvas: Canvas, table: VisibleTable, hand: Hand, x: int, y: int, width: int, height: int) -> None:
    """One row: name, where the cards go, the cards, what is picked, the own goal, points."""
    fill = PANEL_TURN if hand.chooses or hand.wins else PANEL_OUT if hand.is_dummy else PANEL
    canvas.panel(x, y, width, height, fill, 14, GOLD if hand.chooses or hand.wins else None, 3)
    middle = y + height / 2
    at = x + 18
    name = SOFT if hand.is_dummy else BRIGHT
    here = at + 8 + canvas.text(at, middle - 32, hand.name, 20, name, bold=True, width=100)
    if hand.is_viewer:
        canvas.pill(here, middle - 32, "you", 12, INK, BLUE)
    canvas.text(at, middle - 7, f"{hand.cards} card{'' if hand.cards == 1 else 's'}", 15, SOFT)
    if hand.to is not None:
        canvas.text(at, middle + 14, f"{'drawn by' if hand.is_dummy else 'passes to'} {hand.to}", 15, SOFT, width=136)
    if hand.wins:
        canvas.pill(at, middle + 38, "winner", 12, INK, GOLD)
    elif hand.worth is not None:
        canvas.text(at, middle + 36, f"worth {hand.worth}{'' if table.over else ' now'}", 15, FINE, width=136)
    _draw_cards(canvas, table, hand, fill, x + 162, y + (height - CARD[1]) // 2)
    if hand.is_dummy:
        return
    end = x + width - 20
    draw_points(canvas, end, middle, hand.total, table.target, hand.wins, (BLUE, FINE, GOLD))
    if hand.last is not None:
        canvas.text(end, middle + 34, f"{hand.last:+d}", 15, FINE, "right", bold=True, width=72)


def _draw_cards(canvas: Canvas, table: VisibleTable, hand: Hand, ground: Color, x: int, y: int) -> None:
    """The cards kept, after an arrow those picked to be passed, and at the end the own goal."""
    wide, tall = CARD
    dim = (ground, 0.3) if hand.is_dummy else None
    if hand.kept is None:
        back = card_back(SMALL[1], BACK, llama_head, dim, SMALL[0])
        step = min(SMALL[0] + 6, (CARDS_WIDTH - SMALL[0]) / max(1, hand.cards - 1))
        for k in range(hand.cards):
            canvas.paste(x + step * k, y + (tall - SMALL[1]) / 2, back)
        return
    goal_x = x + STEP * 7 + 48
    for kind in hand.kept:
        possible = kind in table.choices
        fade = (ground, 0.5) if hand.chooses and not possible else dim
        with canvas.choice(
            kind if hand.chooses and possible else None, f"choose {table.deck.kind_names[kind]}", "card"
        ):
            canvas.paste(x, y, _face(table.deck.cards[kind], CARD, RULES, fade))
        x += STEP
    if hand.picks:
        canvas.paste(x + 3, y + tall / 2 - 9, icon(18, arrow_right))
        x += 24
    for kind in hand.picks:
        canvas.panel(x - 3, y - 3, wide + 6, tall + 6, GOLD, round(tall * 0.085) + 3)
        canvas.paste(x, y, _face(table.deck.cards[kind], CARD, RULES))
        x += STEP
    if hand.goal is not None:
        canvas.panel(goal_x - 14, y + 8, 2, tall - 16, mix(ground, WHITE, 0.15), 1)
        canvas.paste(goal_x, y, _face(table.deck.cards[hand.goal], CARD, RULES, dim))
        canvas.pill(goal_x + wide / 2 - 19, y + 3, "goal", 12, INK, SOFT if hand.is_dummy else BLUE)


@lru_cache(maxsize=512)
def _face(card: Card, measures: tuple[int, int], text: int, fade: tuple[Color, float] | None = None) -> Sprite:
    """A card with its letter and two rules, in text of size ``text``, or a smaller one where that saves a line."""
    wide, tall = measures

    def written(size: int) -> list[Lines]:
        return [_price_list(rule, rules_width(wide, tall, size), size) for rule in (card.first, card.second)]

    size = min((text, SMALLEST_TEXT), key=lambda each: (sum(map(len, written(each))), -each))
    first, second = written(size)
    most = int(tall * 0.66 / (size * 1.3))  # lines that leave room for the letter
    first = _shortened(first, most - 1)
    rules = (first, _shortened(second, most - len(first)))
    return rules_card(wide, tall, CARD_COLORS[LETTERS.index(card.letter)], card.letter, rules, size, fade)


def _price_list(rule: Rule, width: float, size: int) -> Lines:
    """Lines of combinations and points; alternatives of equal points stand together: "AG / CE / BF" and "5"."""
    lines: list[tuple[str, str]] = []
    for points, group in groupby(rule, key=lambda combination: combination.points):
        price = str(points)
        rest = width - text_width(price, size, bold=True) - size * 0.2
        texts = _wrapped(
            " / ".join(combination.letters for combination in group).replace(" / ", " /\u00a0"), rest, size
        )
        lines += [(text.replace("\u00a0", " "), "") for text in texts[:-1]]
        last = texts[-1].replace("\u00a0", " ")
        lines += [(last, price)] if text_width(last, size) <= rest else [(last, ""), ("", price)]
    return tuple(lines)


def _shortened(lines: Lines, most: int) -> Lines:
    return lines if len(lines) <= most else (*lines[: most - 1], ("…", ""))


# -------------------------------------------------------------------------------------------------------------- public


class LlamaLlamaRenderer(DrawnTable):
    """Draws one game of Llama Llama; ``state`` is one record of ``Batch.state`` and is only read."""

    def text(self, game: Game, state: Any, seat: int | None) -> str:
        """A table for a terminal, seen by ``seat``, or with all cards open for None.

        One row a display card: how many cards are passed under it, whose goal may lie there, and the goal once it is
        revealed. One row a hand, each at the left of the one above, dummies where they sit: where its cards go, how
        many there are, what they would score on the goals revealed so far (``?`` where hidden), total, points of the
        last scored round, and the cards. Then the own goal, picks and passes. ``>`` marks the goal revealed last and
        who must choose.
        """
        return _text(game, visible_table(game, state, seat))

    def describe(self, game: Game, state: Any, seat: int | None, together: bool = False) -> Picture:
        """The same as a picture, always of one size; ``together``: every card that may be among those passed."""
        table = visible_table(game, state, seat)
        if together and table.choices:
            held = {kind for hand in table.hands if hand.chooses for kind in hand.kept or ()}
            later = frozenset(kind for kind in held if kind >= min(table.choices))
            names = tuple(table.deck.kind_names[kind] for kind in sorted(later))
            count, actor = game.choices_together(state), int(state["to_move"])
            status = f"{game.agents[actor]} to pass {count} cards to {_to(game, state, actor)}"
            table = replace(table, choices=later, actions=names, status=status)
        return _picture(game, table)
