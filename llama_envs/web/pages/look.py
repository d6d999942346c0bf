"""The page of recorded games."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from nicegui import background_tasks, run, ui
from nicegui.events import KeyEventArguments

from llama_envs.core.recording import position
from llama_envs.web.advisor import WORLDS, Advice, Advisor
from llama_envs.web.pages.common import OPEN, draw_advice, page_frame
from llama_envs.web.replay import Replay, Shown


class ReplayPage:
    """Some games, one of them on the page."""

    def __init__(self, games: Sequence[Replay], game: int, at: int, seat: int) -> None:
        self.games = games
        self.game = min(max(game, 0), len(games) - 1)
        self.number = min(max(at, 0), self.replay.last)
        self.seat = seat if 0 <= seat < self.replay.game.num_players else None
        self.advising, self.worlds = False, WORLDS[1]

    @property
    def replay(self) -> Replay:
        """The game that is shown."""
        return self.games[self.game]

    def show(self) -> None:
        """Build the page."""
        with page_frame("recorded games"):
            if len(self.games) > 1:
                ui.select(
                    {k: f"{k + 1}. {each.described()}" for k, each in enumerate(self.games)}, value=self.game,
                    label="Game", on_change=self._other_game,
                ).classes("w-96")  # fmt: skip
        self._body()
        ui.keyboard(on_key=self._key, ignore=["input", "select", "textarea"])

    @ui.refreshable_method
    def _body(self) -> None:
        replay = self.replay
        ui.label(replay.described()).classes("text-lg")
        with ui.row().classes("w-full items-center"):
            ui.button("‹", on_click=lambda: self._move(-1)).props('aria-label="back"')
            ui.button("›", on_click=lambda: self._move(1)).props('aria-label="forward"')
            self.slider = ui.slider(min=0, max=replay.last, value=self.number, on_change=self._slid).classes("grow")
            self.slider.style("width: 0; min-width: 12rem")
            self.slider.props('label aria-label="position"')
            ui.select({first: f"round {k + 1}" for k, first in enumerate(replay.rounds)}, label="Round",
                      on_change=lambda event: self._go_to(event.value)).classes("w-28")  # fmt: skip
            ui.select([OPEN, *replay.game.agents], label="Seen by", on_change=self._other_view,
                      value=OPEN if self.seat is None else replay.game.agents[self.seat]).classes("w-40")  # fmt: skip
        self.line = ui.label().classes("text-lg font-bold").props('role=status aria-live="polite"')
        self.picture = ui.html("", sanitize=False).classes("picture")
        with ui.expansion("Advisor").classes("w-full").props("header-class=text-white"):
            with ui.row().classes("items-center"):
                ui.switch("say what each action is worth", value=self.advising, on_change=self._advise_or_not)
                ui.select({worlds: f"{worlds} worlds" for worlds in WORLDS}, value=self.worlds, label="Budget",
                          on_change=self._other_budget).classes("w-32")  # fmt: skip
            self.advice = ui.column().classes("w-full")
        self._update()

    def _update(self) -> None:
        shown = self.replay.shown(self.number, self.seat)
        self.picture.set_content(re.sub(r' data-action="\d+" role="button"[^>]*', "", shown.svg))
        self.line.set_text(f"{shown.number} of {self.replay.last}: {self._told(shown)}")
        self.advice.clear()
        if self.advising and shown.to_move >= 0:
            background_tasks.create(self._think(self.game, self.number))

    def _told(self, shown: Shown) -> str:
        """What happened next."""
        if shown.number == self.replay.last:
            return "the end"
        if shown.to_move < 0:
            return "the others are choosing"
        names = self.replay.recorded.policies
        who = f"player_{shown.to_move}" + (f" ({names[shown.to_move]})" if names else "")
        took = "" if shown.seconds is None else f" after {shown.seconds:.1f} s"
        return f"{who} then chose: {shown.action}{took}" if shown.action else f"{who} was to move"

    async def _think(self, game: int, number: int) -> None:

        replay, client = self.replay, self.picture.client

        def advise() -> list[Advice]:
            return Advisor(replay.game).advise(position(replay.recorded, number), 0, self.worlds)

        advice = await run.io_bound(advise)
        if advice is not None and (game, number) == (self.game, self.number) and self.advising:
            with client:
                self.advice.clear()
                with self.advice:
                    draw_advice(advice)

    def _go_to(self, number: Any) -> None:
        if isinstance(number, int):
            self.slider.set_value(min(max(number, 0), self.replay.last))

    def _move(self, by: int) -> None:
        self._go_to(self.number + by)

    def _slid(self, event: Any) -> None:
        self.number = min(max(int(event.value or 0), 0), self.replay.last)
        self._update()

    def _key(self, event: KeyEventArguments) -> None:
        if event.action.keydown and (event.key.arrow_left or event.key.arrow_right):
            self._move(1 if event.key.arrow_right else -1)

    def _other_game(self, event: Any) -> None:
        self.game, self.number, self.seat = event.value, 0, None
        self._body.refresh()

    def _other_view(self, event: Any) -> None:
        self.seat = None if event.value == OPEN else self.replay.game.agents.index(event.value)
        self._update()

    def _advise_or_not(self, event: Any) -> None:
        self.advising = bool(event.value)
        self._update()

    def _other_budget(self, event: Any) -> None:
        self.worlds = event.value if event.value in WORLDS else WORLDS[1]
        self._update()
