"""A recorded game is shown position by position as it is in the file, and a seat is told what it saw."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from llama_envs.core.recording import append_game, parse_games, position, read_games
from llama_envs.core.registry import make_game
from llama_envs.web.replay import Replay
from llama_envs.web.table import Seat, Table
from tests.cases import GAMES
from tests.web.test_table import content, play


def a_game(name: str, players: int = 2) -> Table:
    table = Table(make_game(name, num_players=players), [Seat(None, "Bo"), *[Seat("random")] * (players - 1)], seed=9)
    play(table)
    return table


@pytest.mark.parametrize("name", GAMES)
def test_every_position_is_that_of_the_file(name: str, tmp_path: Path) -> None:
    append_game(tmp_path / "games.jsonl", a_game(name).record())
    append_game(tmp_path / "games.jsonl", a_game(name, 3).record())
    recorded, other = read_games(tmp_path / "games.jsonl")
    assert other.game.num_players == 3
    shown = Replay(recorded)
    assert shown.last == len(recorded.actions)
    game = recorded.game
    for number in range(0, shown.last + 1, 3):
        batch = position(recorded, number)
        assert [shown.states[number][field].tobytes() for field in batch.state.dtype.names] == content(batch)
        seat = number % game.num_players
        assert shown.shown(number, seat).svg == game.renderer.svg(game, batch.state[0], seat)
        here = shown.shown(number, None)
        assert here.svg == game.renderer.svg(game, batch.state[0], None)
        assert here.to_move == batch.to_move[0]
        if number < shown.last:
            assert here.action == game.action_names[recorded.actions[number]]
            assert here.seconds == recorded.seconds[number]
    end = shown.shown(shown.last, None)
    assert (end.to_move, end.action, end.seconds) == (-1, "", None)


@pytest.mark.parametrize("name", GAMES)
def test_rounds_begin_where_they_do(name: str) -> None:
    table = a_game(name)
    shown = Replay(table.record())
    rounds = [int(position(shown.recorded, number).state["rounds"][0]) for number in range(shown.last)]
    assert shown.rounds == [0, *(np.flatnonzero(np.diff(rounds)) + 1).tolist()]
    assert "person:Bo" in shown.described()


def test_a_seat_is_not_told_what_others_picked_in_secret() -> None:
    shown = Replay(a_game("llama_llama", 3).record())
    for number in range(shown.last):
        mover = shown.movers[number]
        for seat in range(3):
            seen = shown.shown(number, seat)
            if seat == mover:
                assert seen.action == shown.game.action_names[shown.recorded.actions[number]]
            else:
                assert (seen.action, seen.to_move, seen.seconds) == ("", -1, None)
    open_cards = Replay(a_game("lama", 3).record())
    assert all(open_cards.shown(number, 0).action for number in range(open_cards.last))


def test_what_is_not_there_is_refused() -> None:
    shown = Replay(a_game(GAMES[0]).record())
    for number, seat in ((-1, None), (shown.last + 1, None), (0, 2), (0, -1)):
        with pytest.raises(ValueError, match=r"^this game has (positions|seats) [^\n]+\.$"):
            shown.shown(number, seat)


def test_seconds_are_part_of_what_the_check_sum_covers() -> None:
    line = a_game(GAMES[0]).record().to_json()
    assert '"seconds":[' in line
    with pytest.raises(ValueError, match="does not fit its check sum"):
        parse_games(line.replace('"seconds":[0', '"seconds":[1', 1), "file")
    (game,) = parse_games(line, "file")
    assert game.to_json() == line
