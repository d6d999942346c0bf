"""The server of the pages: on this machine only, and only for its own pages."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from traceback import extract_tb
from typing import Any

from nicegui import app, ui

from llama_envs.web.lobby import Lobby
from llama_envs.web.pages import build

HOST = "127.0.0.1"
LARGEST_REQUEST = 6_000_000  # bytes; an uploaded file of games is the largest
LARGEST_MESSAGE = 100_000  # bytes, of a page to the server
HEADERS = (
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Guard:
    """ASGI middleware that refuses what does not come from the server's own pages.

    A request must name this machine as its host (so that no other name leads here) and, where the browser says from
    which site it comes, this server; a body has a limit.

    Args:
        app: what is guarded.
        port: of the server.
    """

    def __init__(self, app: Any, port: int) -> None:
        self.app = app
        self.hosts = {f"{name}:{port}" for name in (HOST, "localhost")}
        if port == 80:
            self.hosts |= {HOST, "localhost"}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One connection."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        problem = self._problem(headers)
        if problem:
            await _refuse(scope, send, *problem)
            return
        if scope["type"] == "websocket":
            await self.app(scope, receive, send)
        else:
            await self.app(scope, _limited(receive), _with_headers(send))

    def _problem(self, headers: dict[bytes, str]) -> tuple[int, str] | None:
        if headers.get(b"host", "") not in self.hosts:
            return 400, "This server answers to its own address only."
        origin = headers.get(b"origin")
        if origin is not None and origin.removeprefix("http://") not in self.hosts:
            return 403, "This server answers to its own pages only."
        elsewhere = headers.get(b"sec-fetch-site") in ("cross-site", "same-site")
        if elsewhere and headers.get(b"sec-fetch-mode") != "navigate":
            return 403, "This server answers to its own pages only."
        length = headers.get(b"content-length", "0")
        if not length.isdigit() or int(length) > LARGEST_REQUEST:
            return 413, "This is too large."
        return None


async def _refuse(scope: Any, send: Any, status: int, text: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": text.encode()})


def _limited(receive: Any) -> Callable[[], Any]:
    """A body without a length must not be endless either."""
    read = 0

    async def limited() -> Any:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        return message if read <= LARGEST_REQUEST else {"type": "http.disconnect"}

    return limited


def _with_headers(send: Any) -> Callable[[Any], Any]:
    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *HEADERS]}
        await send(message)

    return sending


def _tell(error: Exception) -> None:
    """A fault of the page, in the terminal: what and where, without its words."""
    at = extract_tb(error.__traceback__)[-1]
    print(f"error: {type(error).__name__} in {Path(at.filename).name}, line {at.lineno}.", file=sys.stderr, flush=True)


def _tell_and_say_so(error: Exception) -> None:
    """The same, and a page that says no more."""
    _tell(error)
    ui.label("Something went wrong here; the terminal says where.")


def serve(port: int, games: Path, policies: Sequence[str] = (), show: bool = True) -> None:
    """Serve the pages until Ctrl-C; every game is then written.

    Args:
        port: of 127.0.0.1.
        games: the file to which games are appended.
        policies: names that may be chosen beside those that the suite and its plug-ins offer.
        show: open a browser.
    """
    lobby = Lobby(games)
    build(lobby, policies)
    app.add_middleware(Guard, port=port)
    app.on_shutdown(lobby.close)
    app.on_exception(_tell)
    app.on_page_exception(_tell_and_say_so)
    logging.getLogger("nicegui").setLevel(logging.CRITICAL)  # its messages quote exceptions, and those may tell cards
    ui.run(
        host=HOST, port=port, title="llama-envs", favicon="🦙", language="en-US", show=show, reload=False,
        show_welcome_message=False, reconnect_timeout=5.0, message_history_length=20, ws_max_size=LARGEST_MESSAGE,
        access_log=False, uvicorn_logging_level="critical",
    )  # fmt: skip
