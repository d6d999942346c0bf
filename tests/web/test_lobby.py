"""Sessions move on by themselves, each in its own thread, while somebody looks; and they leave nothing behind."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from llama_envs.core.recording import read_games
from llama_envs.core.registry import make_game
from llama_envs.web import lobby as lobby_module
from llama_envs.web.lobby import Lobby, Session
from llama_envs.web.table import Seat, Table

SLOW = 1.0  # seconds


class Slow:
    needs_worlds = False

    def act(self, view: Any) -> Any:
        time.sleep(SLOW)
        return view.mask.argmax(axis=1)


SLEEPS = f"{__name__}:Slow"


def small(*seats: Seat) -> Table:
    return Table(make_game("lama", num_players=len(seats), max_rounds=1), seats)


def opened(lobby: Lobby, *seats: Seat) -> Session:
    session = lobby.find(lobby.open(small(*seats)))
    assert session is not None
    session.delay, session.running = 0.0, True
    return session


async def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


def in_a_loop(work: Callable[[Lobby], Awaitable[None]], path: Path) -> Lobby:
    async def main() -> Lobby:
        lobby = Lobby(path)
        await work(lobby)
        lobby.close()
        return lobby

    return asyncio.run(main())


def nothing() -> None:
    """Somebody looks."""


def test_fifty_sessions_at_once_play_to_the_end_and_are_written(tmp_path: Path) -> None:
    async def work(lobby: Lobby) -> None:
        sessions = [opened(lobby, Seat("random"), Seat("random")) for _ in range(50)]
        for session in sessions:
            session.join(nothing)
        await until(lambda: all(session.table.over for session in sessions))
        await until(lambda: all(session.saved for session in sessions))

    in_a_loop(work, tmp_path / "new" / "games.jsonl")
    games = read_games(tmp_path / "new" / "games.jsonl")
    assert len(games) == 50
    assert len({game.seed for game in games}) == 50
    assert {game.policies for game in games} == {("random", "random")}


def test_a_slow_policy_delays_nobody_else_and_its_own_page_only_by_its_time(tmp_path: Path) -> None:
    async def work(lobby: Lobby) -> None:
        slow = [opened(lobby, Seat(SLEEPS), Seat(SLEEPS)) for _ in range(40)]
        for session in slow:
            session.join(nothing)
        await asyncio.sleep(0.1)
        quick = opened(lobby, Seat("random"), Seat("random"))
        started = time.monotonic()
        quick.join(nothing)
        await until(lambda: quick.table.over)
        assert time.monotonic() - started < SLOW / 2
        assert not any(session.table.over for session in slow)
        for session in slow:
            session.leave(nothing)

    in_a_loop(work, tmp_path / "games.jsonl")


def test_without_anybody_who_looks_nothing_is_computed(tmp_path: Path) -> None:
    async def work(lobby: Lobby) -> None:
        session = opened(lobby, Seat(SLEEPS), Seat(SLEEPS))
        session.join(nothing)
        await until(lambda: len(session.table.actions) >= 1)
        session.leave(nothing)
        await asyncio.sleep(2.5 * SLOW)
        assert len(session.table.actions) <= 2  # the decision that was being taken
        session.join(nothing)  # somebody is back: it goes on where it was
        await until(lambda: len(session.table.actions) >= 3)
        session.leave(nothing)

    in_a_loop(work, tmp_path / "games.jsonl")
    (game,) = read_games(tmp_path / "games.jsonl")  # as far as it was played
    assert len(game.actions) >= 3


def test_people_choose_hand_over_and_take_back(tmp_path: Path) -> None:
    async def work(lobby: Lobby) -> None:
        table = Table(make_game("lama", num_players=2, first_player=0), [Seat(None)] * 2, 0, analysis=True)
        session = lobby.find(lobby.open(table))
        assert session is not None
        session.join(nothing)
        assert session.revealed is None
        frame = table.frame(0)
        with pytest.raises(ValueError, match="not open"):
            await session.choose(frame.number, 0, [frame.choices[0][0]])
        session.reveal()
        assert session.revealed == 0
        await session.choose(frame.number, 0, [frame.choices[0][0]])
        assert session.revealed is None  # the other one is to sit down first
        assert table.asks == 1
        session.reveal()
        await session.undo()
        assert (table.asks, session.revealed, table.actions) == (0, None, [])

    in_a_loop(work, tmp_path / "games.jsonl")


def test_a_game_that_cannot_be_written_is_said_and_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    async def work(lobby: Lobby) -> None:
        session = opened(lobby, Seat("random"), Seat("random"))
        session.join(nothing)
        await until(lambda: session.table.over)
        await until(lambda: bool(session.problem))
        assert session.saved is None
        assert session.problem.endswith(".")
        assert "\n" not in session.problem
        assert session.table.record().actions.size
        session.games = tmp_path / "games.jsonl"
        session.save()
        assert (session.saved, session.problem) == (tmp_path / "games.jsonl", "")

    in_a_loop(work, tmp_path / "file" / "games.jsonl")


def test_old_tables_go_first_and_those_that_are_looked_at_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lobby_module, "MOST_TABLES", 3)

    async def work(lobby: Lobby) -> None:
        keys = [lobby.open(small(Seat(None), Seat(None))) for _ in range(3)]
        looked_at = lobby.find(keys[0])
        assert looked_at is not None
        looked_at.join(nothing)
        keys += [lobby.open(small(Seat(None), Seat(None))) for _ in range(3)]
        assert [lobby.find(key) is not None for key in keys] == [True, False, False, False, True, True]
        assert len(set(keys)) == 6
        assert min(map(len, keys)) >= 22  # 128 bits
        assert lobby.find("nobody's") is None

    in_a_loop(work, tmp_path / "games.jsonl")


@pytest.mark.parametrize("games", [pytest.param(150), pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_games_one_after_the_other_leave_memory_flat(
    games: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby_module, "MOST_TABLES", 5)
    used: list[int] = []

    async def work(lobby: Lobby) -> None:
        for number in range(games):
            session = opened(lobby, Seat("random"), Seat("random"))
            session.join(nothing)
            await until(lambda session=session: session.table.over)  # type: ignore[misc]
            session.leave(nothing)
            if number in (games // 3, games - 1):
                gc.collect()
                used.append(tracemalloc.get_traced_memory()[0])

    tracemalloc.start()
    try:
        lobby = in_a_loop(work, tmp_path / "games.jsonl")
    finally:
        tracemalloc.stop()
    assert len(lobby) == 0
    assert used[1] - used[0] < 200_000 + 100 * games  # bytes; a table is about 50,000
    assert sum(thread.name.startswith("table") for thread in threading.enumerate()) < 10
    assert len(read_games(tmp_path / "games.jsonl")) == games
    assert np.isfinite(used).all()
