"""The pages: a form, a table, and recorded games. What is on them comes from frames; they decide nothing."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui

from llama_envs.web.lobby import Lobby
from llama_envs.web.pages.common import gone
from llama_envs.web.pages.look import ReplayPage
from llama_envs.web.pages.play import TablePage
from llama_envs.web.pages.start import StartPage


def build(lobby: Lobby, policies: Sequence[str] = ()) -> None:
    """Register the pages with NiceGUI's app.

    Args:
        lobby: where tables are.
        policies: names beside those that the suite and its plug-ins offer.
    """

    @ui.page("/", title="llama-envs")
    async def start() -> None:
        await StartPage(lobby, policies).show()

    @ui.page("/table/{key}", title="llama-envs: table")
    def table(key: str) -> None:
        session = lobby.find(key)
        if session is None:
            gone()
        else:
            TablePage(lobby, session).show()

    @ui.page("/replay/{key}", title="llama-envs: replay")
    def replay(key: str, at: int = 0, game: int = 0, seat: int = -1) -> None:
        games = lobby.shown(key)
        if games is None:
            gone()
        else:
            ReplayPage(games, game, at, seat).show()
