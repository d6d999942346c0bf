"""The first page: a form for a new game, and the recorded ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from nicegui import run, ui
from nicegui.events import UploadEventArguments

from llama_envs.core.chance import check_seed
from llama_envs.core.recording import RecordedGame, parse_games, read_games
from llama_envs.core.registry import game_specs, spec_of
from llama_envs.web import setup
from llama_envs.web.lobby import Lobby
from llama_envs.web.pages.common import do, page_frame, say
from llama_envs.web.replay import Replay
from llama_envs.web.table import LONGEST_NAME, Seat, Table

LATEST = 30  # recorded games that are listed
LARGEST_FILE = 5_000_000  # bytes of recorded games


class StartPage:
    """A form for a new game, and the recorded ones."""

    def __init__(self, lobby: Lobby, policies: Sequence[str]) -> None:
        self.lobby, self.policies = lobby, policies
        self.game = game_specs()[0].name
        self.players = _usual_number(self.game)
        self.seats: list[str] = []
        self.names: dict[int, str] = {}
        self.texts: dict[str, Any] = {}
        self.files: dict[str, str] = {}
        self.seed, self.analysis = "", False

    async def show(self) -> None:
        """Build the page."""
        page_frame("play, watch, and look again")
        with ui.card().classes("w-full"):
            ui.label("New game").classes("text-lg font-bold")
            self._form()
        with ui.card().classes("w-full"):
            ui.label("Recorded games").classes("text-lg font-bold")
            _file_button("Open a file of recorded games", self._look_at, LARGEST_FILE, ".jsonl")
            self._recorded()

    @ui.refreshable_method
    def _form(self) -> None:
        spec = spec_of(self.game)
        self.players = self.players if self.players in spec.players else _usual_number(self.game)
        offered = [setup.ME, *setup.policies_for(spec.make_game(spec.config(num_players=self.players)), self.policies)]
        usual = "heuristic" if "heuristic" in offered else "random"
        kept = [seat if seat in offered else usual for seat in self.seats[: self.players]]
        self.seats = (
            [*kept, *[usual] * (self.players - len(kept))] if kept else [setup.ME, *[usual] * (self.players - 1)]
        )
        with ui.row().classes("items-end"):
            ui.select({each.name: each.title for each in game_specs()}, label="Game", value=self.game,
                      on_change=self._other_game).classes("w-48")  # fmt: skip
            ui.select(list(spec.players), label="Players", value=self.players, on_change=self._other_number).classes(
                "w-24"
            )
        with ui.row().classes("items-start"):
            for seat in range(self.players):
                with ui.column().classes("gap-0"):
                    sit = partial(self._sit, seat)
                    ui.select(offered, label=f"player_{seat}", value=self.seats[seat], on_change=sit).classes("w-44")
                    if self.seats[seat] == setup.ME:
                        name = partial(self._name, seat)
                        ui.input("Name, if you like", value=self.names.get(seat, ""), on_change=name).props(
                            f"maxlength={LONGEST_NAME}"
                        ).classes("w-44")
        with ui.expansion("Options").classes("w-full").props("header-class=text-white"):
            with ui.row().classes("items-end"):
                for option in setup.options_of(self.game):
                    self._option(option)
                ui.input("Seed (empty: random)", value=self.seed,
                         on_change=lambda event: setattr(self, "seed", event.value or ""))  # fmt: skip
            ui.checkbox("Analysis: choices can be taken back", value=self.analysis,
                        on_change=lambda event: setattr(self, "analysis", bool(event.value)))  # fmt: skip
        ui.button("Start", on_click=self._begin).props("size=lg")

    def _option(self, option: setup.Option) -> None:
        """One option of the game."""
        label, value = option.name.replace("_", " "), self.texts.get(option.name, option.text)

        def changed(event: Any) -> None:
            self.texts[option.name] = "" if event.value is None else str(event.value)

        if option.switch:
            ui.switch(label, value=value == "True", on_change=changed)
        elif option.values:
            ui.select(list(option.values), label=label, value=value, on_change=changed).classes("w-40")
        elif option.upload:

            async def read(event: UploadEventArguments) -> None:
                content = await event.file.read()
                try:
                    self.files[option.name] = content[: setup.LONGEST_FILE].decode("utf-8-sig")
                except UnicodeDecodeError:
                    say(ValueError(f"{event.file.name} is no text."))

            _file_button(f"{label}: {option.text}, or a file", read, setup.LONGEST_FILE)
        else:
            ui.input(label, value=value, on_change=changed).classes("w-40")

    def _other_game(self, event: Any) -> None:
        self.game, self.texts, self.files = event.value, {}, {}
        self._form.refresh()

    def _other_number(self, event: Any) -> None:
        self.players = event.value
        self._form.refresh()

    def _sit(self, seat: int, event: Any) -> None:
        self.seats[seat] = event.value
        self._form.refresh()

    def _name(self, seat: int, event: Any) -> None:
        self.names[seat] = event.value or ""

    async def _begin(self) -> None:
        try:
            seed = check_seed(int(self.seed), "seed") if self.seed.strip() else None
        except ValueError:
            say(ValueError("the seed must be an integer from 0 to 2^64 - 1, or empty."))
            return

        def make() -> Table:
            game = setup.game_of(self.game, self.players, self.texts, self.files)
            offered = setup.policies_for(game, self.policies)
            for seat in self.seats:
                if seat != setup.ME and seat not in offered:
                    raise ValueError(f"{seat} cannot play this: it has nothing for {game.title} with these options.")
            seats = [
                Seat(None, self.names.get(number, "")) if seat == setup.ME else Seat(seat)
                for number, seat in enumerate(self.seats)
            ]
            return Table(game, seats, seed, self.analysis)

        await do(self._open(make))

    async def _open(self, make: Callable[[], Table]) -> None:

        table = await run.io_bound(make)
        if table is not None:  # None: the server is ending
            ui.navigate.to(f"/table/{self.lobby.open(table)}")

    async def _look_at(self, event: UploadEventArguments) -> None:
        """An uploaded file of recorded games."""

        content = await event.file.read()

        def read() -> list[Replay]:
            return [Replay(each) for each in parse_games(content.decode("utf-8-sig"), event.file.name)]

        try:
            games = await run.io_bound(read)
        except UnicodeDecodeError:
            say(ValueError(f"{event.file.name} is no text."))
        except ValueError as error:
            say(error)
        else:
            if games:
                ui.navigate.to(f"/replay/{self.lobby.show(games)}")
            else:
                say(ValueError(f"there is no game in {event.file.name}."))

    def _recorded(self) -> None:
        """The latest games of the file to which this server writes."""
        path = self.lobby.games
        if not path.is_file():
            ui.label("Games that are played here are kept, and listed here.")
            return
        try:
            games = read_games(path)[-LATEST:]
        except ValueError as error:
            ui.label(str(error))
            return
        with ui.column().classes("gap-1"):
            for recorded in reversed(games):
                ui.button(
                    _in_a_line(recorded), color="secondary", on_click=lambda recorded=recorded: self._look(recorded)
                ).props("no-caps align=left")

    def _look(self, recorded: RecordedGame) -> None:
        try:
            ui.navigate.to(f"/replay/{self.lobby.show([Replay(recorded)])}")
        except ValueError as error:
            say(error)


def _file_button(
    label: str, read: Callable[[UploadEventArguments], Awaitable[None]], most: int, kind: str = ""
) -> None:
    """A button for choosing a file of at most ``most`` bytes; the uploader itself has no good labels."""
    upload = ui.upload(auto_upload=True, on_upload=read, max_file_size=most).classes("hidden").props(f'accept="{kind}"')
    upload.on("rejected", lambda: say(ValueError(f"a file may have {most:,} bytes at most.")))
    button = ui.button(label, color="secondary").props("no-caps")
    button.on("click", js_handler=f"() => getElement({upload.id}).pickFiles()")


def _usual_number(game: str) -> int:
    return int(spec_of(game).config().num_players)


def _in_a_line(recorded: RecordedGame) -> str:
    names = recorded.policies or recorded.game.agents
    pairs = ", ".join(f"{name} {total}" for name, total in zip(names, recorded.totals, strict=True))
    return f"{recorded.game.title}: {pairs}"
