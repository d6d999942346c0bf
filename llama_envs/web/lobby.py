"""The tables of a server: each moves on by itself, in a thread of its own, while somebody looks at it."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from llama_envs.core.recording import append_game
from llama_envs.web.advisor import Advisor, Judged
from llama_envs.web.replay import Replay
from llama_envs.web.table import Table

T = TypeVar("T")
MOST_TABLES = 200  # kept; the one that was looked at longest ago goes first
DELAYS = {"slow": 2.0, "normal": 0.7, "fast": 0.2, "at once": 0.0}  # seconds before a policy's action is shown


class Session:
    """A table, who is looking at it, and how it moves on.

    Attributes:
        revealed: the person's seat that the page shows now; None: whoever is to choose must say so first.
        running: whether a table without people plays on by itself.
        picked: which of the frame's choices are picked so far, where several are chosen together.
        saved: where the game was written to; None as long as it was not.
        problem: why it could not be.
    """

    def __init__(self, table: Table, games: Path) -> None:
        self.table, self.games = table, games
        self.delay = DELAYS["normal"]
        self.revealed: int | None = table.people[0] if len(table.people) == 1 else None
        self.running = False
        self.picked: list[int] = []
        self.saved: Path | None = None
        self.problem = ""
        self.judged: list[Judged] | None = None
        self._listeners: list[Callable[[], None]] = []
        self._thread = ThreadPoolExecutor(1, "table")
        self._task: asyncio.Task[None] | None = None
        self._advisor: Advisor | None = None

    # ------------------------------------------------------------------------------------------------- who looks at it

    def join(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` whenever there is something new to see, and play on if that had stopped."""
        self._listeners.append(listener)
        self.go()

    def leave(self, listener: Callable[[], None]) -> None:
        """Nobody to call any more; without anybody who looks, nothing is computed."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    @property
    def is_watched(self) -> bool:
        """Whether anybody looks at it."""
        return bool(self._listeners)

    def changed(self) -> None:
        """Tell everybody who looks."""
        for listener in list(self._listeners):
            listener()

    # ---------------------------------------------------------------------------------------------------- what they do

    async def choose(self, number: int, seat: int, actions: list[int]) -> None:
        """A person's choice; errors as in :meth:`~llama_envs.web.table.Table.choose`."""
        if seat != self.revealed:
            raise ValueError("this seat's cards are not open.")
        await self.in_thread(lambda: self.table.choose(number, seat, actions))
        self.picked = []
        self._after()

    async def undo(self) -> None:
        """Take back the latest choice."""
        await self.in_thread(self.table.undo)
        self.picked = []
        self._after()

    async def go_on(self) -> None:
        """Leave the end of a round."""
        await self.in_thread(self.table.go_on)
        self._after()

    async def step(self) -> None:
        """One action of a table without people."""
        if not self.running and not self.table.people:
            await self.in_thread(self.table.advance)
            self._after()

    def reveal(self) -> None:
        """The person who is to choose has taken the seat at the screen."""
        self.revealed = self.table.asks if self.table.asks is not None else self.revealed
        self.changed()

    def run(self, running: bool) -> None:
        """Play on, or pause."""
        self.running = running
        self.go()
        self.changed()

    def go(self) -> None:
        """See to it that the policies play, if it is their turn."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._play())

    async def in_thread(self, action: Callable[[], T]) -> T:
        """``action()`` in the table's own thread, after what is done there now."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, action)

    def advisor(self) -> Advisor:
        """The table's advisor; made in its thread."""
        if self._advisor is None:
            self._advisor = Advisor(self.table.game)
        return self._advisor

    def replay(self) -> Replay:
        """The game from its beginning.

        Raises:
            ValueError: it goes on.
        """
        if not self.table.over:
            raise ValueError("a game can be looked at again once it is over.")
        return Replay(self.table.record())

    def save(self) -> None:
        """Write the game to the file of games, once."""
        if self.saved is not None or not self.table.actions:
            return
        try:
            self.games.parent.mkdir(parents=True, exist_ok=True)
            append_game(self.games, self.table.record())
            self.saved, self.problem = self.games, ""
        except OSError as error:
            self.problem = f"the game could not be written to {self.games} ({error.strerror})."

    def close(self) -> None:
        """Nobody will come back: keep the game, end the thread."""
        self._listeners.clear()
        self.save()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _play(self) -> None:
        """Let policies play until a person is asked, nobody looks any more, or the game is over."""
        table = self.table
        while self.is_watched and not table.over and table.asks is None and table.position.scored is None:
            if not table.people and not self.running:
                return
            if table.position.to_move not in table.people:
                await asyncio.sleep(self.delay)
            if not await self.in_thread(table.advance):
                return
            self._show()

    def _show(self) -> None:
        table = self.table
        if len(table.people) > 1 and table.asks not in (None, self.revealed):
            self.revealed = None  # hand over
        if table.over:
            self.save()
        self.changed()

    def _after(self) -> None:
        self._show()
        self.go()


class Lobby:
    """The sessions of a server by keys that nobody guesses.

    Args:
        games: the file to which every game is written.
    """

    def __init__(self, games: Path) -> None:
        self.games = games
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._replays: OrderedDict[str, list[Replay]] = OrderedDict()

    def open(self, table: Table) -> str:
        """A new session; its key."""
        key = secrets.token_urlsafe(16)
        self._sessions[key] = Session(table, self.games)
        idle = (old for old, session in self._sessions.items() if not session.is_watched and old != key)
        while len(self._sessions) > MOST_TABLES and (old := next(idle, None)) is not None:
            self.drop(old)
            idle = (old for old, session in self._sessions.items() if not session.is_watched and old != key)
        return key

    def find(self, key: str) -> Session | None:
        """The session with this key; None if there is none (any more)."""
        if key in self._sessions:
            self._sessions.move_to_end(key)
        return self._sessions.get(key)

    def drop(self, key: str) -> None:
        """End a session; its game is written as far as it was played."""
        session = self._sessions.pop(key, None)
        if session is not None:
            session.close()

    def close(self) -> None:
        """End all sessions."""
        for key in list(self._sessions):
            self.drop(key)

    def show(self, replays: list[Replay]) -> str:
        """Games to look at; their key."""
        key = secrets.token_urlsafe(16)
        self._replays[key] = replays
        while len(self._replays) > MOST_TABLES:
            self._replays.popitem(last=False)
        return key

    def shown(self, key: str) -> list[Replay] | None:
        """The games with this key."""
        return self._replays.get(key)

    def __len__(self) -> int:
        return len(self._sessions)
