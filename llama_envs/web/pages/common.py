"""What all pages have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from llama_envs.evaluation.intervals import plus_minus
from llama_envs.web.advisor import Advice, Judged, costs_by_kind

DEAREST = 10  # decisions that are listed after a game
OPEN = "all cards open"
STYLE = """
body { background: #1b1f2a; }
.nicegui-content { max-width: 1280px; margin: 0 auto; gap: 0.5rem; }
.picture { width: 100%; overflow-x: auto; }
.choices { position: sticky; bottom: 0; z-index: 5; padding: 8px 0; background: #1b1f2a; min-height: 52px; }
.picture svg { display: block; width: 100%; min-width: 720px; height: auto; border-radius: 12px; }
@media (min-width: 900px) { .picture svg { max-height: max(440px, calc(100vh - 165px)); } }
.picture [data-action] { cursor: pointer; }
.picture [data-action]:hover, .picture [data-action]:focus { filter: brightness(1.12); outline: none; }
.picture [data-action]:focus-visible { outline: 3px solid #ffd166; }
.picture [aria-pressed=true] { transform: translateY(-10px); filter: drop-shadow(0 0 5px #ffd166); }
.q-field__label, .q-field__native, .q-field__messages { color: #e6e8ee !important; }
"""


def page_frame(title: str) -> ui.row:
    """What all pages have: colors, and a row at the top."""
    ui.colors(primary="#2458a6", secondary="#3c4356", accent="#8a4fbf", positive="#1d6b4f", negative="#b3261e")
    ui.dark_mode(True)
    ui.add_css(STYLE)
    with ui.row().classes("w-full items-center justify-between"):
        with ui.row().classes("items-center"):
            ui.link("llama-envs", "/").classes("text-xl font-bold text-white no-underline")
            ui.label(title).classes("text-lg")
        row = ui.row().classes("items-center")
    return row


def gone() -> None:
    """A table that is no longer there."""
    page_frame("")
    ui.label("This table is no longer there.").classes("text-lg")
    ui.link("Begin a new game", "/").classes("text-white")


def say(error: Exception) -> None:
    """Say on the page what is wrong."""
    ui.notify(str(error), type="negative", position="top", multi_line=True)


async def do(action: Any) -> bool:
    """Await something that a person asked for; what is wrong with it is said on the page."""
    try:
        await action
    except ValueError as error:
        say(error)
        return False
    return True


def column(name: str) -> dict[str, str]:
    """A column of a table."""
    return {"name": name, "label": name, "field": name, "align": "left"}


def draw_advice(advice: Sequence[Advice], together: int = 1) -> None:
    """What is thought of each action, the best first; of ``together`` it is the first one that is rated."""
    rows = [
        {
            "action": each.name,
            "points": plus_minus(each.value.mean, each.value.half(), 2),
            "behind the best": "" if place == 0 else plus_minus(each.loss.mean, each.loss.half(), 2),
            **({} if each.chance is None else {"baseline": f"{each.chance:.0%}"}),
        }
        for place, each in enumerate(advice)
    ]
    ui.table(rows=rows, columns=[column(name) for name in rows[0]])
    more = f"; the first of {together} in order, the others as the heuristic would" if together > 1 else ""
    text = f"points: what this round brings against the mean of the others, by mc, with a 95 % interval{more}"
    ui.label(text).classes("text-xs")


def draw_costs(judged: Sequence[Judged], look: Callable[[int, int], None]) -> None:
    """What decisions cost by kind, and the dearest ones; ``look`` shows one: its number and seat."""
    kinds = costs_by_kind(judged)
    if not kinds:
        ui.label("There was nothing to decide.")
        return
    rows = [
        {"decision": kind, "how many": count, "points lost": f"{cost:.1f}"} for kind, (count, cost) in kinds.items()
    ]
    ui.table(rows=rows, columns=[column(name) for name in rows[0]])
    for each in sorted(judged, key=lambda each: -each.loss.mean)[:DEAREST]:
        if each.loss.mean > 0:
            cost = plus_minus(each.loss.mean, each.loss.half(), 2)
            text = f"decision {each.number}, player_{each.seat}: {each.action}, not {each.best}: {cost} points"
            ui.button(text, on_click=lambda each=each: look(each.number, each.seat), color="secondary").props(
                "no-caps align=left"
            )
