"""The page of a table."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from nicegui import background_tasks, ui
from nicegui.events import GenericEventArguments, KeyEventArguments

from llama_envs.core.recording import RecordedGame
from llama_envs.web.advisor import WORLDS, Advice, Advisor, Judged
from llama_envs.web.lobby import DELAYS, Lobby, Session
from llama_envs.web.pages.common import OPEN, column, do, draw_advice, draw_costs, page_frame, say
from llama_envs.web.table import Frame, Table

# What was clicked: the action, its place among the cards, and the position in which it was seen.
CLICK = """(event) => {
    if (event.type === 'keydown' && event.key !== 'Enter' && event.key !== ' ') return;
    const part = event.target.closest('[data-action]');
    const shown = event.currentTarget.querySelector('[data-number]');
    if (!part || !shown) return;
    event.preventDefault();
    const cards = [...event.currentTarget.querySelectorAll('g.card[data-action]')];
    emit({action: Number(part.dataset.action), card: cards.indexOf(part), number: Number(shown.dataset.number)});
}"""


class TablePage:
    """One browser's view of a session."""

    def __init__(self, lobby: Lobby, session: Session) -> None:
        self.lobby, self.session, self.table = lobby, session, session.table
        self.watched: int | None = None  # whose view, at a table without people
        self.frame: Frame | None = None
        self.advising, self.worlds = False, WORLDS[1]
        self.advised = -1  # the position that the advice is for

    @property
    def seat(self) -> int | None:
        """Whose cards are shown."""
        return self.session.revealed if self.table.people else self.watched

    def show(self) -> None:
        """Build the page."""
        table, client = self.table, ui.context.client
        with page_frame(table.game.title):
            self._controls()
        with ui.row().classes("w-full gap-2 items-center"):
            for number, seat in enumerate(table.seats):
                ui.label(f"player_{number}: {seat.name}").classes("px-2 rounded bg-secondary text-white")
            self.status = ui.label().classes("text-lg font-bold").props('role=status aria-live="polite"')
        self.hand_over = ui.card().classes("w-full items-center")
        self.picture = ui.html("", sanitize=False).classes("picture")
        self.picture.on("click", self._clicked, js_handler=CLICK)
        self.picture.on("keydown", self._clicked, js_handler=CLICK)
        self.choices = ui.row().classes("choices w-full items-center")
        self.end = ui.column().classes("w-full")
        with ui.row().classes("w-full items-start"):
            with ui.expansion("Advisor").classes("grow").props("header-class=text-white"):
                with ui.row().classes("items-center"):
                    ui.switch("say what each action is worth", on_change=self._advise_or_not)
                    ui.select({worlds: f"{worlds} worlds" for worlds in WORLDS}, value=self.worlds, label="Budget",
                              on_change=self._other_budget).classes("w-32")  # fmt: skip
                self.advice = ui.column().classes("w-full")
            self.log = ui.column().classes("gap-0 text-sm")
        ui.keyboard(on_key=self._key, ignore=["input", "select", "textarea"])
        self.session.join(self._update)
        client.on_delete(lambda: self.session.leave(self._update))
        self.client = client
        self._update()

    def _controls(self) -> None:
        names = list(DELAYS)
        now = next(name for name in names if DELAYS[name] == self.session.delay)
        ui.select(names, value=now, label="The others play", on_change=self._other_speed).classes("w-32")
        if not self.table.people:
            ui.select([OPEN, *self.table.game.agents], value=OPEN, label="Seen by", on_change=self._other_view).classes(
                "w-40"
            )
            self.run_button = ui.button("Play", on_click=lambda: self.session.run(not self.session.running))
            ui.button("Step", on_click=self.session.step, color="secondary")
        if self.table.analysis:
            ui.button("Take back", on_click=lambda: do(self.session.undo()), color="secondary")

    # ---------------------------------------------------------------------------------------------------- what is shown

    def _update(self) -> None:
        """There is something new to see."""
        with self.client:
            asks, people = self.table.asks, self.table.people
            waiting = len(people) > 1 and self.session.revealed is None and not self.table.over
            self.hand_over.set_visibility(waiting)
            self.picture.set_visibility(not waiting)
            if waiting:
                self.choices.set_visibility(False)
                self.frame = None
                self.picture.set_content("")
                self.choices.clear()
                self.log.clear()
                self.advice.clear()
                self._ask_for(asks)
                return
            frame = self.table.frame(self.seat)
            before, self.frame = self.frame, frame
            if before is None or (before.svg, before.number) != (frame.svg, frame.number):
                self.picture.set_content(f'<div data-number="{frame.number}">{self._marked(frame)}</div>')
            self.status.set_text(frame.failed or frame.status)
            if hasattr(self, "run_button"):
                self.run_button.set_text("Pause" if self.session.running else "Play")
                self.run_button.set_enabled(not self.table.over)
            if before is None or before.number != frame.number:
                self._draw_choices(frame)
                self._draw_log(frame)
                self._draw_end(frame)
                self.advice.clear()
            if self.advising and self.advised != frame.number:
                self._start_advising()

    def _ask_for(self, seat: int | None) -> None:
        """Several people at one screen: the next one takes the seat."""
        self.hand_over.clear()
        self.status.set_text("")
        if seat is None:
            return
        name = self.table.seats[seat].person or f"player_{seat}"
        with self.hand_over:
            ui.label(f"It is the turn of {name}. Nobody else looks?").classes("text-lg")
            ui.button(f"I am {name}", on_click=self.session.reveal).props("size=lg autofocus no-caps")

    def _marked(self, frame: Frame) -> str:
        """The picture with what is picked already."""
        places = iter(range(len(frame.choices)))
        if frame.together == 1 or not self.session.picked:
            return frame.svg
        return re.sub(
            r'<g class="card" data-action',
            lambda match: match.group() if next(places) not in self.session.picked else
            '<g class="card" aria-pressed="true" data-action',
            frame.svg,
        )  # fmt: skip

    def _draw_choices(self, frame: Frame) -> None:
        self.choices.clear()
        self.choices.set_visibility(bool(frame.choices) or frame.round_over)
        self.buttons: list[ui.button] = []
        with self.choices:
            if frame.round_over:
                ui.button("Go on", on_click=lambda: do(self.session.go_on())).props("size=lg autofocus")
                return
            for place, (_, name) in enumerate(frame.choices):
                key = f"{place + 1}  " if place < 9 else ""
                button = ui.button(f"{key}{name}", on_click=lambda place=place: self._choose(frame.number, place))
                self.buttons.append(button.props("no-caps"))
            if frame.together > 1:
                self.confirm = ui.button("", on_click=lambda: self._confirm_picked(frame.number), color="positive")
                self.confirm.props("no-caps")
            self._draw_picked()

    def _draw_picked(self) -> None:
        """Which of several choices are picked."""
        frame, picked = self.frame, self.session.picked
        if frame is None or frame.together == 1:
            return
        for place, button in enumerate(self.buttons):
            button.props(
                f"color={'accent' if place in picked else 'primary'} aria-pressed={str(place in picked).lower()}"
            )
        left = frame.together - len(picked)
        self.confirm.set_enabled(left == 0)
        self.confirm.set_text(f"Confirm {frame.together}" if left == 0 else f"{left} more")
        ui.run_javascript(
            f"document.querySelectorAll('.picture g.card[data-action]').forEach((card, place) => "
            f"card.setAttribute('aria-pressed', {json.dumps(picked)}.includes(place)));"
        )

    def _draw_log(self, frame: Frame) -> None:
        self.log.clear()
        with self.log:
            for line in frame.log[-8:]:
                ui.label(line)

    def _draw_end(self, frame: Frame) -> None:
        self.end.clear()
        if not (frame.over or frame.failed or frame.round_over):
            return
        points = self.table.game.score_name
        with self.end:
            rows = [
                {"seat": each.agent, "who": each.name, points: each.total,
                 "wins": "" if not each.share else "wins" if each.share == 1 else "shares the victory"}
                for each in frame.standings
            ]  # fmt: skip
            order = sorted(rows, key=lambda row: int(row[points]), reverse=self.table.game.most_points_win)
            ui.table(rows=order, columns=[column(name) for name in ("seat", "who", points, "wins")])
            if not (frame.over or frame.failed):
                return
            self.session.save()
            if self.session.problem:
                ui.label(self.session.problem).classes("text-lg")
            with ui.row():
                ui.button("Again", on_click=self._again)
                ui.button("Look at it again", on_click=self._look_again, color="secondary").props("no-caps")
                ui.button("Download", on_click=self._download, color="secondary")
                ui.button("What did it cost?", on_click=self._judge, color="secondary").props("no-caps")
            self.costs = ui.column().classes("w-full")

    # --------------------------------------------------------------------------------------------------- what is chosen

    async def _clicked(self, event: GenericEventArguments) -> None:
        """A part of the picture: {action, card, number}."""
        given, frame = event.args, self.frame
        if frame is None or not isinstance(given, dict):
            return
        action, card, number = (given.get(name) for name in ("action", "card", "number"))
        actions = [each for each, _ in frame.choices]
        if frame.together == 1 or number != frame.number:
            if isinstance(action, int) and isinstance(number, int):
                await self._send(number, [action])
            return
        if isinstance(card, int) and 0 <= card < len(actions):
            place = card
        else:  # a button that stands for any card of its kind
            free = [k for k, each in enumerate(actions) if each == action and k not in self.session.picked]
            if not free:
                return
            place = free[0]
        self._pick(place)

    async def _choose(self, number: int, place: int) -> None:
        """One of the buttons under the picture."""
        frame = self.frame
        if frame is None or number != frame.number or not 0 <= place < len(frame.choices):
            return
        if frame.together > 1:
            self._pick(place)
        else:
            await self._send(number, [frame.choices[place][0]])

    def _pick(self, place: int) -> None:
        """One more of several, or one less."""
        frame, picked = self.frame, self.session.picked
        assert frame is not None
        if place in picked:
            picked.remove(place)
        elif len(picked) < frame.together:
            picked.append(place)
        self._draw_picked()
        if len(picked) == frame.together:
            ui.run_javascript(f"getHtmlElement({self.confirm.id}).focus()")

    async def _confirm_picked(self, number: int) -> None:
        frame, picked = self.frame, self.session.picked
        if frame is not None and number == frame.number and len(picked) == frame.together > 1:
            self.session.picked = []  # so that a second confirmation finds nothing
            await self._send(number, [frame.choices[place][0] for place in picked])

    async def _send(self, number: int, actions: list[int]) -> None:
        if self.seat is not None:
            await do(self.session.choose(number, self.seat, actions))

    async def _key(self, event: KeyEventArguments) -> None:
        """1 to 9 choose, Enter confirms or goes on; the right arrow makes a step in what is watched."""
        if not event.action.keydown or event.action.repeat or event.modifiers.ctrl or event.modifiers.alt:
            return
        number = event.key.number
        if number and self.frame is not None:
            await self._choose(self.frame.number, number - 1)
        elif event.key.enter and self.frame is not None:
            if self.frame.round_over:
                await do(self.session.go_on())
            else:
                await self._confirm_picked(self.frame.number)
        elif event.key.arrow_right and not self.table.people:
            await self.session.step()

    def _other_speed(self, event: Any) -> None:
        self.session.delay = DELAYS.get(event.value, self.session.delay)

    def _other_view(self, event: Any) -> None:
        self.watched = None if event.value == OPEN else self.table.game.agents.index(event.value)
        self.frame = None
        self._update()

    # ------------------------------------------------------------------------------------------------- what it is worth

    def _advise_or_not(self, event: Any) -> None:
        self.advising, self.advised = bool(event.value), -1
        self.advice.clear()
        self._update()

    def _other_budget(self, event: Any) -> None:
        self.worlds, self.advised = event.value if event.value in WORLDS else WORLDS[1], -1
        self._update()

    def _start_advising(self) -> None:
        """Think in the table's thread about the decision that is shown."""
        frame = self.frame
        assert frame is not None
        self.advised = frame.number
        self.advice.clear()
        if frame.over or frame.failed or not (frame.turn or (not self.table.people and not self.session.running)):
            return

        def think() -> list[Advice] | None:
            if self.table.position.number != frame.number:
                return None
            return self.session.advisor().advise(self.table.batch, 0, self.worlds)

        async def later() -> None:
            advice = await self.session.in_thread(think)
            if advice is None or self.frame is None or self.frame.number != frame.number or not self.advising:
                return
            with self.client:
                self.advice.clear()
                with self.advice:
                    draw_advice(advice, frame.together)

        background_tasks.create(later())

    # --------------------------------------------------------------------------------------------------- after the game

    def _again(self) -> None:
        table = Table(self.table.game, self.table.seats, None, self.table.analysis)
        key = self.lobby.open(table)
        other = self.lobby.find(key)
        assert other is not None
        other.delay = self.session.delay
        ui.navigate.to(f"/table/{key}")

    def _look_again(self, at: int = 0, seat: int = -1) -> None:
        try:
            key = self.lobby.show([self.session.replay()])
        except ValueError as error:
            say(error)
            return
        ui.navigate.to(f"/replay/{key}?at={at}&seat={seat}")

    def _download(self) -> None:
        if self.table.over:
            ui.download.content(f"{self.table.record().to_json()}\n".encode(), "game.jsonl")

    async def _judge(self) -> None:
        """The decisions of people, or of all where none played, by what they cost."""
        seats, judged = self.table.people or list(range(self.table.game.num_players)), self.session.judged
        if judged is None:
            self.costs.clear()
            with self.costs:
                ui.label("Thinking about every decision …")
                ui.spinner()
            recorded = self.table.record()
            judged = await self.session.in_thread(
                lambda: all_of(self.session, self.session.advisor(), recorded, seats, self.worlds)
            )
            if judged is None:
                return
            self.session.judged = judged
        self.costs.clear()
        with self.costs:
            draw_costs(judged, self._look_again)


def all_of(
    session: Session, advisor: Advisor, recorded: RecordedGame, seats: Sequence[int], worlds: int
) -> list[Judged] | None:
    """Every decision, unless nobody looks any more."""
    judged = []
    for each in advisor.judge(recorded, seats, worlds):
        if not session.is_watched:
            return None
        judged.append(each)
    return judged
