"""Games as lines of JSON: replayed exactly, refused in one sentence if they are of another version or damaged."""

from __future__ import annotations

import dataclasses
import json
import pickle
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.recording import (
    RecordedGame,
    Recorder,
    config_from_json,
    config_to_json,
    position,
    read_games,
    replay,
    write_games,
)
from llama_envs.core.registry import game_names
from tests.cases import CASES, Case, each_game, every_case, fields, game_of, new_batch

FIRST: Case = CASES[0].values[0]
FIELDS = config_to_json(game_of(FIRST).config)


def played(batch: Batch, steps: int = 20_000) -> tuple[list[RecordedGame], list[bytes]]:
    """A recording of random games, and every state on the way of game 0."""
    recorder, streams, states = Recorder(batch), policy_streams(batch.num_games, 9), []
    for _ in range(steps):
        if (batch.to_move < 0).all():
            break
        if batch.to_move[0] >= 0:
            states.append(fields(batch.state[:1].copy()))
        recorder.step(batch.sample_actions(streams))
    states.append(fields(batch.state[:1].copy()))
    names = [f"seat {seat}" for seat in range(batch.game.num_players)]
    return recorder.games([names] * batch.num_games), states


def rewritten(game: RecordedGame, /, **changes: Any) -> str:
    """A line with some values changed and a check sum that fits."""
    line = {key: value for key, value in json.loads(game.to_json()).items() if key != "crc"}
    line |= changes
    crc = zlib.crc32(json.dumps(line, separators=(",", ":")).encode())
    return json.dumps({**line, "crc": crc})


def refused(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "games.jsonl"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=r"games\.jsonl, line") as caught:
        list(replay(read_games(path)))
    message = str(caught.value)
    assert "\n" not in message
    return message


@every_case
def test_a_game_read_from_its_line_is_replayed_state_by_state(case: Case, tmp_path: Path) -> None:
    batch = new_batch(case, 5, seed=3)
    games, states = played(batch)
    write_games(tmp_path / "games.jsonl", games)
    assert len((tmp_path / "games.jsonl").read_text().splitlines()) == 5
    again = read_games(tmp_path / "games.jsonl")
    assert all(game.game is batch.game for game in again)
    seen = []
    for decision in replay(again):
        if 0 in decision.rows:
            seen.append(fields(decision.batch.state[:1].copy()))
    final = decision.batch
    assert [*seen, fields(final.state[:1].copy())] == states
    assert fields(final.state) == fields(batch.state)
    assert [game.policies for game in again] == [tuple(f"seat {i}" for i in range(batch.game.num_players))] * 5


@each_game
@pytest.mark.parametrize("seed", [7, [5, 2**64 - 1, 3]], ids=["one seed", "a seed for each"])
def test_later_episodes_and_every_kind_of_seed_are_replayed(case: Case, seed: Any) -> None:
    batch = new_batch(case, 3, seed=seed)
    batch.reset()
    batch.reset(where=np.array([False, True, True]))
    games, _ = played(batch)
    assert [game.episode for game in games] == [0, 1, 1]
    for decision in replay(games):
        ends = decision.batch
    assert fields(ends.state) == fields(batch.state)


@each_game
def test_a_position_on_the_way_is_the_one_that_was_there(case: Case) -> None:
    batch = new_batch(case, 2, seed=1)
    games, states = played(batch)
    for number in (0, 1, len(states) // 2, len(states) - 1):
        assert fields(position(games[0], number).state) == states[number]
    assert fields(position(games[0]).state) == states[-1]


@each_game
def test_an_unfinished_game_is_recorded_and_replayed(case: Case) -> None:
    batch = new_batch(case, 2, seed=1)
    games, states = played(batch, steps=4)
    assert len(games[0].actions) == 4
    assert fields(position(games[0]).state) == states[-1]
    nothing, _ = played(new_batch(case, 2, seed=1), steps=0)
    assert fields(position(nothing[0]).state) == states[0]


@each_game
def test_games_that_wait_are_not_recorded_while_they_wait(case: Case) -> None:
    batch = new_batch(case, 2, seed=1)
    recorder = Recorder(batch)
    streams = policy_streams(2, 9)
    for _ in range(3):
        recorder.step(batch.sample_actions(streams), np.array([True, False]))
    assert [len(game.actions) for game in recorder.games()] == [3, 0]
    assert recorder.games()[0].policies == ()


@every_case
def test_a_configuration_survives_json(case: Case) -> None:
    for history in (0, 2):  # at 0 it is left out: what was written before there was one reads the same
        config = dataclasses.replace(new_batch(case, 1).game.config, history=history)
        value = json.loads(json.dumps(config_to_json(config)))
        assert config_from_json(type(config), value) == config
        assert set(value) | {"history"} == {field.name for field in dataclasses.fields(config)}
        assert value.get("history", 0) == history


@each_game
def test_a_recorded_game_can_be_sent_to_another_process(case: Case) -> None:
    games, _ = played(new_batch(case, 1, seed=3))
    again = pickle.loads(pickle.dumps(games[0]))
    assert again.game is games[0].game
    assert again.to_json() == games[0].to_json()


# ----------------------------------------------------------------------------------------------------------- refusals


@pytest.fixture(scope="module")
def one() -> RecordedGame:
    return played(new_batch(FIRST, 1, seed=3))[0][0]


def test_another_version_is_refused_in_one_sentence(one: RecordedGame, tmp_path: Path) -> None:
    name = one.game.name
    message = refused(tmp_path, one.to_json(), rewritten(one, game=f"{name}_v1"))
    assert message.endswith(f"games.jsonl, line 2: it was recorded with {name}_v1, and here is {name}_v0.")


def test_an_unknown_game_or_format_is_refused(one: RecordedGame, tmp_path: Path) -> None:
    message = refused(tmp_path, rewritten(one, game="chess_v0"))
    assert f"there is no game named 'chess'; the games are {', '.join(game_names())}" in message
    message = refused(tmp_path, rewritten(one, format="llama_envs game 2"))
    assert "must have the format 'llama_envs game 1', got 'llama_envs game 2'" in message
    for line in ("[]", "7", "null", '{"a": 1}'):
        assert "must have the format" in refused(tmp_path, line)


def test_a_damaged_line_is_refused(one: RecordedGame, tmp_path: Path) -> None:
    line = one.to_json()
    assert "line 1: it is damaged: no JSON" in refused(tmp_path, line[: len(line) // 2])
    for before, after in (('"seed":', '"seed":1'), ('"actions":[', '"actions":[0,'), ('"totals":[', '"totals":[1')):
        assert before in line
        assert "does not fit its check sum" in refused(tmp_path, line.replace(before, after))
    without = {key: value for key, value in json.loads(line).items() if key != "crc"}
    assert "does not fit its check sum" in refused(tmp_path, json.dumps(without))
    assert "does not fit its check sum" in refused(tmp_path, json.dumps({**json.loads(line), "more": 1}))


def test_any_changed_character_is_noticed(one: RecordedGame, tmp_path: Path) -> None:
    line = one.to_json()
    rng = np.random.default_rng(0)
    for place in rng.choice(len(line), 60, replace=False):
        other = "7" if line[place] != "7" else "8"
        assert refused(tmp_path, line[:place] + other + line[place + 1 :])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"config": {"num_players": 2}}, f"must have the fields {', '.join(FIELDS)}, got num_players"),
        ({"totals": [1]}, "for 2 seats"),
        ({"policies": ["heuristic"]}, "for 2 seats"),
        ({"totals": [0, 0]}, "ends with the totals"),
        ({"seed": 4}, "cannot be replayed: at decision|ends with the totals"),
        ({"actions": [10**6]}, "cannot be replayed: at decision 0, action 1000000 is not legal; legal are"),
        ({"actions": [-1]}, "at decision 0, action -1 is not legal"),
    ],
)
def test_a_line_that_says_what_cannot_be_is_refused(
    one: RecordedGame, tmp_path: Path, changes: dict[str, Any], sentence: str
) -> None:
    message = refused(tmp_path, rewritten(one, **changes))
    assert any(part in message for part in sentence.split("|"))


def test_actions_after_the_end_are_refused(one: RecordedGame, tmp_path: Path) -> None:
    line = rewritten(one, actions=[*one.actions.tolist(), 0])
    assert f"at decision {len(one.actions)}, the game is over" in refused(tmp_path, line)


def test_an_option_that_the_game_refuses_is_named_with_its_line(one: RecordedGame, tmp_path: Path) -> None:
    config = {**json.loads(one.to_json())["config"], "num_players": 9}
    low, *_, high = one.game.spec.players
    message = refused(tmp_path, rewritten(one, config=config))
    assert f"line 1: num_players must be an integer from {low} to {high}" in message


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"cannot read .*none\.jsonl \(No such file"):
        read_games(tmp_path / "none.jsonl")


def test_empty_lines_are_no_games(one: RecordedGame, tmp_path: Path) -> None:
    (tmp_path / "games.jsonl").write_text(f"\n{one.to_json()}\n\n")
    assert len(read_games(tmp_path / "games.jsonl")) == 1


def test_a_recording_begins_with_the_game() -> None:
    batch = new_batch(FIRST, 3, seed=1)
    batch.step(batch.sample_actions(policy_streams(3, 0)))
    with pytest.raises(ValueError, match="a recording begins with the game"):
        Recorder(batch)
    with pytest.raises(ValueError, match="autoreset cannot be recorded"):
        Recorder(new_batch(FIRST, 3, seed=1, autoreset=True))


def test_games_of_two_configurations_are_not_replayed_together(one: RecordedGame) -> None:
    other = played(new_batch((FIRST[0], {"num_players": 3}), 1, seed=3))[0][0]
    with pytest.raises(ValueError, match="must be of one configuration"):
        list(replay([one, other]))
    with pytest.raises(ValueError, match="one game at least"):
        list(replay([]))


def test_a_byte_order_mark_is_no_part_of_the_first_game__N16(one: RecordedGame, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(one.to_json() + "\n", encoding="utf-8-sig")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert [game.to_json() for game in read_games(path)] == [one.to_json()]


def test_a_position_that_the_game_does_not_have_is_refused__N18(one: RecordedGame) -> None:
    for decisions in (-1, len(one.actions) + 1, 999_999):
        with pytest.raises(ValueError, match=f"decisions must be an integer from 0 to {len(one.actions)}"):
            position(one, decisions)
    assert (position(one, len(one.actions)).state == position(one).state).all()
