"""A table: people and policies play whole games at it, and a frame tells a seat what it may know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from llama_envs.core.batch import Batch, policy_streams, resampled
from llama_envs.core.recording import parse_games, position, replay
from llama_envs.core.registry import make_game
from llama_envs.web.setup import game_of, options_of, policies_for
from llama_envs.web.table import Frame, Seat, Table
from tests.cases import GAMES

TABLES = [
    pytest.param(name, players, id=f"{name}-{players}")
    for name in GAMES
    for players in make_game(name).spec.players
    if players in (2, 3, 4)
]


class Raises:
    needs_worlds = False

    def act(self, view: Any) -> Any:
        raise KeyError("the ace of spades")


class Illegal:
    needs_worlds = False

    def act(self, view: Any) -> Any:
        return (~view.mask).argmax(axis=1)


RAISES, ILLEGAL = f"{__name__}:Raises", f"{__name__}:Illegal"


def content(batch: Batch) -> list[bytes]:
    """The state, field by field: what lies between the fields is nothing."""
    return [batch.state[name].tobytes() for name in batch.state.dtype.names or ()]


def person_chooses(table: Table, rng: np.random.Generator) -> Frame:
    """Whoever is asked chooses at random."""
    seat = table.asks
    assert seat is not None
    frame = table.frame(seat)
    places = rng.choice(len(frame.choices), frame.together, replace=False)
    table.choose(frame.number, seat, [frame.choices[place][0] for place in places])
    return frame


def play(table: Table, seed: int = 0, each: Callable[[], object] = lambda: None) -> list[Frame]:
    """To the end; the frames in which somebody chose. ``each`` is called in every position."""
    rng, frames = np.random.default_rng(seed), []
    while not table.over:
        each()
        if table.position.scored is not None:
            table.go_on()
        elif table.asks is not None:
            frames.append(person_chooses(table, rng))
        else:
            assert table.advance()
    return frames


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_a_whole_game_is_recorded_as_it_was_played(name: str, players: int) -> None:
    game = make_game(name, num_players=players)
    table = Table(game, [Seat(None, "Anna"), *[Seat("heuristic")] * (players - 1)], seed=3)
    frames = play(table)
    assert all(frame.turn and frame.seat == 0 and frame.choices for frame in frames)
    end = table.frame(0)
    assert end.over
    assert not end.turn
    assert sum(each.share or 0 for each in end.standings) == pytest.approx(1)
    (recorded,) = parse_games(table.record().to_json(), "a table")
    assert recorded.policies == ("person:Anna", *["heuristic"] * (players - 1))
    assert len(recorded.seconds) == len(recorded.actions) == len(table.actions)
    assert tuple(each.total for each in end.standings) == recorded.totals
    list(replay([recorded]))  # raises if it ends otherwise
    assert content(position(recorded)) == content(table.batch)


@pytest.mark.parametrize("name", GAMES)
def test_people_alone_and_policies_alone_play_to_the_end(name: str) -> None:
    game = make_game(name, num_players=3)
    people = Table(game, [Seat(None)] * 3, seed=1)
    play(people)
    assert {seat.name for seat in people.seats} == {"person"}
    policies = Table(game, [Seat("heuristic"), Seat("random"), Seat("mc:4")], seed=1)
    assert play(policies) == []
    assert policies.frame(None).over
    assert policies.position.scored is None  # nobody has to go on where nobody sits


@pytest.mark.parametrize("name", GAMES)
def test_a_seed_decides_the_game(name: str) -> None:
    game = make_game(name, num_players=3)
    records = []
    for seed in (5, 5, 6):
        table = Table(game, [Seat("heuristic"), Seat("random"), Seat("mc:4")], seed)
        play(table)
        records.append(table.actions)
    assert records[0] == records[1] != records[2]


# ---------------------------------------------------------------------------------------------------- what is not shown


@pytest.mark.parametrize("pairs", [pytest.param(60), pytest.param(1000, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("name", GAMES)
def test_two_deals_that_differ_only_in_hidden_cards_give_the_same_frame__B48(name: str, pairs: int) -> None:
    compared, differed, phases = 0, 0, set()
    rng = np.random.default_rng(0)
    while compared < pairs:
        players = int(rng.choice(make_game(name).spec.players))
        table = Table(make_game(name, num_players=players), [Seat(None)] * players, seed=int(rng.integers(2**32)))

        def compare(table: Table = table, players: int = players) -> None:
            nonlocal compared, differed
            at = table.position
            if at.scored is not None or at.over or rng.random() < 0.7:
                return
            seat = int(rng.integers(players))
            seats, streams = np.array([seat]), rng.integers(2**63, size=1).astype(np.uint64)
            worlds = resampled(table.game, at.state, seats, streams, 1)[:, 0].view(at.state.dtype)
            frame = table.frame(seat)
            table.position = replace(at, state=worlds)
            other = table.frame(seat)
            table.position = at
            for field in fields(Frame):
                assert getattr(frame, field.name) == getattr(other, field.name), field.name
            compared += 1
            differed += worlds.tobytes() != at.state.tobytes()
            legal = table.game.legal_actions(at.state[0], at.to_move)
            phases.update(table.game.kind_of(at.state[0], action) for action in legal)

        play(table, int(rng.integers(1000)), compare)
    assert differed > pairs / 2
    assert len(phases) > 2


@pytest.mark.parametrize("name", GAMES)
def test_a_frame_holds_neither_seed_nor_stream(name: str) -> None:
    seed = 7_340_033_551_177
    table = Table(make_game(name, num_players=2), [Seat(None), Seat("heuristic")], seed)

    def look() -> None:
        text = repr(table.frame(0))
        secrets = (seed, int(table.batch.streams[0]), *map(int, table.players.streams.ravel()))
        assert not [secret for secret in secrets if str(secret) in text]

    play(table, each=look)


def test_people_do_not_see_all_cards_before_the_end() -> None:
    table = Table(make_game(GAMES[0], num_players=2), [Seat(None), Seat("random")], 0)
    with pytest.raises(ValueError, match="not shown with all cards open"):
        table.frame(None)
    play(table)
    table.frame(None)


def test_only_whose_turn_it_is_may_choose_in_the_picture() -> None:
    for name in GAMES:
        table = Table(make_game(name, num_players=2), [Seat(None)] * 2, 0)
        asks = table.asks
        assert asks is not None
        assert "data-action" in table.frame(asks).svg
        assert "data-action" not in table.frame(1 - asks).svg


# ------------------------------------------------------------------------------------------------------ what is refused


def asked(name: str, players: int = 2) -> tuple[Table, Frame, int]:
    """A table at which somebody is asked who has more than one choice and where something is illegal."""
    table = Table(make_game(name, num_players=players), [Seat(None)] * players, 2)
    rng = np.random.default_rng(0)
    while table.asks is None or len({action for action, _ in table.frame(table.asks).choices}) in (1, 99):
        person_chooses(table, rng)
    return table, table.frame(table.asks), table.asks


def everything(table: Table) -> Any:
    return (content(table.batch), table.players.streams.tobytes(), table.actions.copy(), table.position)


@pytest.mark.parametrize("name", GAMES)
def test_what_may_not_be_chosen_is_refused_and_changes_nothing(name: str) -> None:
    table, frame, seat = asked(name)
    legal = {action for action, _ in frame.choices}
    illegal = next(action for action in range(table.game.num_actions) if action not in legal)
    good = [action for action, _ in frame.choices[: frame.together]]
    before = everything(table)
    wrong: list[tuple[int, int, list[Any]]] = [
        (frame.number - 1, seat, good),
        (frame.number + 1, seat, good),
        (frame.number, 1 - seat, good),
        (frame.number, 17, good),
        (frame.number, seat, [illegal] * frame.together),
        (frame.number, seat, [-1] * frame.together),
        (frame.number, seat, [10**30] * frame.together),
        (frame.number, seat, []),
        (frame.number, seat, good * 9),
        (frame.number, seat, ["play"] * frame.together),
        (frame.number, seat, [None] * frame.together),
        (frame.number, seat, [0.5] * frame.together),
    ]
    for number, who, actions in wrong:
        with pytest.raises(ValueError, match=r"^[^\n]+\.$"):
            table.choose(number, who, actions)
        assert everything(table) == before, (number, who, actions)
    table.choose(frame.number, seat, good)


@pytest.mark.parametrize("name", GAMES)
def test_nothing_is_chosen_after_the_end(name: str) -> None:
    table = Table(make_game(name, num_players=2), [Seat(None), Seat("random")], 0)
    play(table)
    with pytest.raises(ValueError, match="not the turn"):
        table.choose(table.position.number, 0, [0])
    assert not table.advance()


def test_cards_passed_together_are_picked_one_after_the_other_in_any_order() -> None:
    game = make_game("llama_llama", num_players=4)
    states = []
    for order in (1, -1):
        table = Table(game, [Seat(None), *[Seat("heuristic")] * 3], 4)
        frame = table.frame(0)
        table.choose(frame.number, 0, [frame.choices[0][0]])  # the goal
        while table.asks is None:
            table.advance()
        frame = table.frame(0)
        assert frame.together == 4
        assert len(frame.choices) == 7  # every card of the hand but the goal
        table.choose(frame.number, 0, [frame.choices[place][0] for place in (1, 6, 2, 4)][::order])
        while table.asks is None:
            table.advance()
        states.append(content(table.batch))
        assert table.frame(0).together == 3
    assert states[0] == states[1]


@pytest.mark.parametrize("name", GAMES)
def test_an_analysis_takes_back_exactly_and_nothing_else_does(name: str) -> None:
    game = make_game(name, num_players=3)
    table = Table(game, [Seat(None), Seat("random"), Seat("heuristic")], 6, analysis=True)
    rng, befores = np.random.default_rng(0), []
    while len(befores) < 6:
        if table.position.scored is not None:
            table.go_on()
        elif table.asks is not None:
            befores.append((content(table.batch), table.players.streams.tobytes(), list(table.actions)))
            person_chooses(table, rng)
        else:
            table.advance()
    for before in reversed(befores):
        number = table.position.number
        table.undo()
        assert (content(table.batch), table.players.streams.tobytes(), table.actions) == before
        assert table.position.number > number  # a choice made before comes too late
    with pytest.raises(ValueError, match="nothing to take back"):
        table.undo()
    play(table)
    list(replay([table.record()]))
    plain = Table(game, [Seat(None)] * 3, 0)
    play(plain)
    with pytest.raises(ValueError, match="only an analysis"):
        plain.undo()


@pytest.mark.parametrize("policy", [RAISES, ILLEGAL])
@pytest.mark.parametrize("name", GAMES)
def test_a_policy_that_fails_is_named_without_what_it_says(name: str, policy: str) -> None:
    table = Table(make_game(name, num_players=2), [Seat(policy), Seat("random")], 0)
    play(table)
    failed = table.frame(None).failed
    assert policy in failed
    assert "ace" not in failed
    assert not [name for name in table.game.action_names if name in failed]
    assert ("KeyError in test_table.py, line" in failed) == (policy == RAISES)
    recorded = table.record()
    list(replay([recorded]))


# ------------------------------------------------------------------------------------------------------------ the form


@pytest.mark.parametrize("name", GAMES)
def test_the_options_as_they_stand_in_the_form_are_the_default_game(name: str) -> None:
    game = make_game(name)
    texts = {option.name: option.text for option in options_of(name)}
    assert game_of(name, game.num_players, texts, {}) is game


def test_options_are_read_from_text() -> None:
    game = game_of("lama", 3, {"first_player": "2", "max_rounds": "4", "chip_return": "auto", "copies": "6"}, {})
    assert game is make_game("lama", num_players=3, first_player=2, max_rounds=4, chip_return="auto", copies=6)
    game = game_of("lama", 2, {"max_rounds": "1", "single_round_terminates": "True"}, {})
    assert game is make_game("lama", num_players=2, max_rounds=1, single_round_terminates=True)
    game = game_of("llama_llama", 3, {"pass_counts": "2, 2,2 2", "dummy_displays": "2", "num_rounds": "1"}, {})
    assert game is make_game("llama_llama", num_players=3, pass_counts=(2, 2, 2, 2), dummy_displays=(2,), num_rounds=1)


@pytest.mark.parametrize(
    ("texts", "files", "words"),
    [
        ({"deck": "/etc/passwd"}, {}, "deck must be 'reconstructed' or an uploaded file"),
        ({"deck": "other.toml"}, {}, "deck must be 'reconstructed' or an uploaded file"),
        ({}, {"deck": "nonsense"}, "TOML"),
        ({}, {"deck": "/etc/passwd.toml"}, "TOML"),
        ({}, {"target_score": "1"}, "no option 'target_score' that takes a file"),
        ({"pass_counts": "4 3 2"}, {}, "pass_counts must be"),
        ({"target_score": "many"}, {}, "target_score must be"),
        ({"target_score": "9" * 400}, {}, "at most 200 characters"),
        ({"colour": "red"}, {}, "no option 'colour'"),
    ],
)
def test_what_a_form_gets_wrong_is_one_sentence(texts: Any, files: Any, words: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$") as refused:
        game_of("llama_llama", 4, texts, files)
    assert words.lower() in str(refused.value).lower()


def test_a_deck_is_read_from_what_was_uploaded() -> None:
    from llama_envs.llama_llama.deck.files import SHIPPED

    text = (SHIPPED / "reconstructed.toml").read_text().replace('name = "reconstructed"', 'name = "mine"', 1)
    game = game_of("llama_llama", 4, {}, {"deck": text})
    assert game.config.cards.name == "mine"


def test_only_policies_that_can_play_are_offered() -> None:
    offered = policies_for(make_game("lama", num_players=2), [RAISES, "network:missing.npz"])
    assert {"random", "heuristic", "baseline", "mc:400", RAISES} <= set(offered)
    assert "network:missing.npz" not in offered
    assert "baseline" not in policies_for(make_game("lama", num_players=2, copies=5))


def test_names_of_people_are_short_and_of_one_line() -> None:
    assert Seat(None, "  Anna\n\x00<b>\t").name == "person:Anna<b>"
    assert len(Seat(None, "x" * 999).person) == 40
    with pytest.raises(ValueError, match="needs as many seats"):
        Table(make_game(GAMES[0], num_players=2), [Seat("random")] * 3)


def test_a_game_without_pictures_is_shown_as_text_with_its_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    from llama_envs.core.game import PlainText

    game = replace(make_game("lama", num_players=2), renderer=PlainText())
    table = Table(game, [Seat(None), Seat("random")], 1)
    while table.asks is None:
        table.advance()
    frame = table.frame(0)
    assert "player_0" in frame.svg
    assert [action for action, _ in frame.choices] == game.legal_actions(table.batch.state[0], 0)
    assert Batch(game, 1).game is game
    assert len(policy_streams(1, 0)) == 1
