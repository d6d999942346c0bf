"""Text and picture of L.L.A.M.A.: what they show, what they hide, and that they only look."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from llama_envs.core.batch import Batch
from llama_envs.drawing.canvas import SMALLEST_TEXT, fan, fit
from llama_envs.lama.config import LamaConfig
from llama_envs.lama.game import make_game
from llama_envs.lama.render import LamaRenderer
from llama_envs.lama.state import DEAL, DRAW, EXCHANGE, RETURN, STARTER, TURN
from tests.drawing.pictures import choices, picture, svg, text

pytest.importorskip("PIL")

CONFIGS = [
    *(LamaConfig(num_players=n, first_player=0) for n in range(2, 7)),
    LamaConfig(num_players=3, num_ranks=3, copies=4, hand_size=3),
    LamaConfig(num_players=4, chip_exchange="choice"),
    LamaConfig(num_players=2, max_rounds=2, target_score=1000, chip_return="auto"),
]
NAMES = [f"{c.num_players} players, {c.num_ranks} ranks, exchange {c.chip_exchange}, {c.max_rounds}" for c in CONFIGS]
each_config = pytest.mark.parametrize("config", CONFIGS, ids=NAMES)


def game_of(seed: int = 0, **options: Any) -> Batch:
    return Batch(make_game(LamaConfig(**options)), 1, seed=seed)


def act(batch: Batch, name: str) -> None:
    batch.step(np.array([batch.game.action_id(name)]))


def positions(config: LamaConfig, seed: int = 0, games: int = 2) -> Iterator[Batch]:
    """Every position of some random games in which quitting is rare, the last one included."""
    batch = Batch(make_game(config), 1, seed=seed)
    rng = np.random.default_rng(seed)
    weight = np.ones(batch.game.num_actions)
    weight[batch.game.action_id("quit")] = 0.5
    for _ in range(games):
        yield batch
        while batch.to_move[0] >= 0:
            batch.step((batch.action_mask * rng.random(batch.game.num_actions) * weight).argmax(axis=1))
            yield batch
        batch.reset()


def position(config: LamaConfig, wanted: Callable[[Any], bool]) -> Batch:
    """The first position of random games that is ``wanted``."""
    return next(batch for batch in positions(config, games=500) if wanted(batch.state[0]))


def row_of(rendered: str, name: str) -> list[str]:
    """The cells of one row of the table."""
    row = next(line for line in rendered.splitlines() if line[2:].startswith(name))
    return row[2:].replace(",", "").split()


def pool(batch: Batch, seat: int, rng: np.random.Generator) -> None:
    """Shuffle all cards that ``seat`` cannot see among the other hands and the stock."""
    state = batch.state[0]
    ranks = np.arange(batch.game.config.num_ranks)
    others = [other for other in range(batch.game.num_players) if other != seat]
    places = [*(state["hand"][other] for other in others), state["stock"]]
    cards = rng.permutation(np.concatenate([np.repeat(ranks, place[: len(ranks)]) for place in places]))
    for place in places:
        held, cards = np.split(cards, [place.sum()])
        place[: len(ranks)] = np.bincount(held, minlength=len(ranks))
    batch.refresh()


# ---- what is shown ----


def test_text_has_the_public_facts() -> None:
    batch = position(
        LamaConfig(num_players=4),
        lambda s: s["rounds"] > 0 and s["num_active"] < 4 and s["phase"] == TURN and s["discard"].sum() > 3,
    )
    state, mover = batch.state[0], int(batch.to_move[0])
    viewer = (mover + 1) % 4
    shown = text(batch, viewer)
    top = ["1", "2", "3", "4", "5", "6", "llama"][state["top"]]
    facts = (
        f"round {state['rounds'] + 1}",
        f"top discard {top}",
        f"stock {state['stock_size']}",
        f"player_{mover} to move",
    )
    for fact in (*facts, "target 40", "L.L.A.M.A."):
        assert fact in shown
    dotted = [str(count) if count else "." for count in state["discard"]]
    assert row_of(shown, "discard") == ["discard", *dotted, str(state["discard"].sum())]
    for seat in range(4):
        _, *cells = row_of(shown, f"player_{seat}")
        hand = [str(count) if count else "." for count in state["hand"][seat]] if seat == viewer else ["?"] * 7
        public = [str(state[field][seat]) for field in ("hand_size", "white", "black", "total")]
        assert cells[:11] == hand + public
        notes = cells[12:]
        assert ("quit" in notes) == (state["active"][seat] == 0)
        assert ("opened" in notes) == (state["starter"] == seat)
        assert ("you" in notes) == (seat == viewer)
    marked = [line.split()[1] for line in shown.splitlines() if line.startswith(">")]
    assert marked == [f"player_{mover}"]


def test_text_is_an_aligned_table_without_color_codes_or_trailing_blanks() -> None:
    for batch in positions(LamaConfig(num_players=3)):
        for seat in (0, None):
            shown = text(batch, seat)
            lines = shown.splitlines()
            assert shown.isascii()
            assert "\x1b" not in shown
            assert not shown.endswith("\n")
            assert lines == [line.rstrip() for line in lines]
            total = lines[3].index("total") + len("total")
            for line, points in zip(lines[-3:], batch.state[0]["total"], strict=True):
                assert line[:total].endswith(f" {points}")


def test_actions_are_named_to_the_seat_to_move_and_only_the_public_ones_to_others() -> None:
    batch = game_of(num_players=2, first_player=0)
    state = batch.state[0]
    state["hand"][0] = [1, 1, 1, 1, 1, 1, 0]
    state["top"] = 2
    batch.refresh()
    assert "player_0 to move: play 3, play 4, draw, quit" in text(batch, 0)
    assert "player_0 to move: play 3, play 4, draw, quit" in text(batch, None)
    assert "player_0 to move: play a card, draw, quit" in text(batch, 1)


def test_last_seat_is_not_offered_a_draw__L10() -> None:
    batch = position(LamaConfig(num_players=3), lambda s: s["num_active"] == 1 and s["phase"] == TURN)
    assert "play a card, quit" in text(batch, (int(batch.to_move[0]) + 1) % 3)


def test_chip_decisions_are_named_to_every_viewer__L12_L15() -> None:
    config = LamaConfig(num_players=3, chip_exchange="choice")
    returns = position(config, lambda s: s["phase"] == RETURN)
    state, mover = returns.state[0], int(returns.to_move[0])
    state["white"][mover], state["black"][mover] = 3, 0
    returns.refresh()
    exchange = position(config, lambda s: s["phase"] == EXCHANGE and s["black"][s["to_move"]] > 0)
    for seat in (0, 1, 2, None):
        assert "to return a chip: keep, return white\n" in text(returns, seat)
        assert "black to ten white" in text(exchange, seat)


def test_winners_are_named__L17() -> None:
    batch = position(LamaConfig(num_players=3), lambda s: s["terminated"])
    state = batch.state[0]
    state["total"] = [12, 40, 5]
    assert "player_2 wins with 5 points" in text(batch, 0)
    assert "winner" in row_of(text(batch, 0), "player_2")
    state["total"] = [5, 40, 5]
    shown = text(batch, 1)
    assert "player_0 and player_2 share the victory with 5 points" in shown
    assert ["winner" in row_of(shown, f"player_{seat}") for seat in range(3)] == [True, False, True]
    assert not any(line.startswith(">") for line in shown.splitlines())


def test_truncated_game_has_no_winner__L18() -> None:
    config = LamaConfig(num_players=2, max_rounds=1)
    batch = position(config, lambda s: s["truncated"])
    assert "stopped at the round limit" in text(batch, 0)
    assert "winner" not in text(batch, 0)


@pytest.mark.parametrize(
    ("chance", "shown"),
    [(STARTER, "chance decides who opens"), (DEAL, "the cards are being dealt"), (DRAW, "player_1 draws a card")],
)
def test_pending_chance_is_told(chance: int, shown: str) -> None:
    batch = game_of(num_players=2, first_player=1)
    state = batch.state[0]
    state["chance"], state["to_move"] = chance, -1
    if chance != DRAW:
        for field in ("hand", "hand_size", "discard"):
            state[field] = 0
        state["top"] = -1
    assert shown in text(batch, 0)
    assert picture(batch, 0).std() > 0


@each_config
def test_playable_cards_can_be_chosen_by_who_may_play_them(config: LamaConfig) -> None:
    """Each one in the hand of the seat to move; nothing by the other seats, though they are told what may be done."""
    seen = 0
    for batch in positions(config, games=1):
        state, mover = batch.state[0], int(batch.to_move[0])
        playable = [rank for rank in range(config.num_ranks) if mover >= 0 and batch.action_mask[0, rank]]
        for seat in (None, *range(config.num_players)):
            document = svg(batch, seat)
            if mover >= 0 and seat in (None, mover):
                assert choices(document, "card") == {rank: state["hand"][mover][rank] for rank in playable}
            else:
                assert "data-action" not in document
        seen += len(playable)
    assert seen > 0


# ---- the picture ----


@each_config
def test_pictures_are_rgb_arrays_of_one_size_for_a_player_count(config: LamaConfig) -> None:
    renderer = LamaRenderer()
    shapes = set()
    for k, batch in enumerate(positions(config, games=1)):
        for seat in (None, *range(config.num_players)) if k % 25 == 0 or batch.to_move[0] < 0 else ():
            frame = renderer.picture(batch.game, batch.state[0], seat)
            assert frame.dtype == np.uint8
            assert len(np.unique(frame.reshape(-1, 3) @ np.array([1, 256, 65536]))) > 10
            shapes.add(frame.shape)
    assert len(shapes) == 1
    height, width, channels = shapes.pop()
    assert channels == 3
    assert height % 16 == width % 16 == 0  # what video codecs ask for
    assert picture(game_of(num_players=config.num_players), 0).shape == (height, width, 3)


def test_picture_changes_with_every_action_and_earlier_frames_stay() -> None:
    frames: list[npt.NDArray[np.uint8]] = []
    copies = []
    for batch in positions(LamaConfig(num_players=4), games=1):
        frames.append(picture(batch, 0))
        copies.append(frames[-1].copy())
        if len(frames) == 25:
            break
    for frame, copy in zip(frames, copies, strict=True):
        np.testing.assert_array_equal(frame, copy)
    assert all((one != other).any() for one, other in pairwise(frames))
    frames[-1][:] = 0  # the caller's own
    assert picture(batch, 0).any()


def test_seat_to_move_is_highlighted() -> None:
    batch = game_of(num_players=2, first_player=0)
    before = picture(batch, None)
    batch.state["to_move"] = 1
    after = picture(batch, None)
    changed = (before != after).any(axis=(1, 2))
    assert changed[: len(changed) // 2].any()
    assert changed[len(changed) // 2 :].any()


@pytest.mark.parametrize("num_players", range(2, 7))
def test_hands_of_any_size_stay_in_their_place(num_players: int) -> None:
    """A hand of 25 changes nothing to the right of where hands are drawn."""
    batch = game_of(num_players=num_players, first_player=0, copies=16)
    state = batch.state[0]
    small = picture(batch, 1)
    state["hand"][1], state["hand_size"][1] = [4, 5, 3, 4, 4, 3, 2], 25
    big = picture(batch, 1)
    columns = np.flatnonzero((small != big).any(axis=(0, 2)))
    right = columns[columns > 340]  # past the panel with the piles
    assert right.max() < 1000


def test_fan_keeps_cards_inside_and_an_index_of_each_kind_in_sight() -> None:
    for count in range(1, 60):
        kinds = sorted(k % 7 for k in range(count))
        places = fan(kinds, 100, 400)
        assert len(places) == count
        assert places == sorted(places)
        assert places[-1] + 70 <= 400.001
        last = [b - a for a, b, one, other in zip(places, places[1:], kinds, kinds[1:], strict=False) if one != other]
        assert min(last, default=99.0) >= 18
    assert fan([], 100, 400) == []
    assert fan([0] * 30, 100, 400)[-1] == pytest.approx(330)


def test_long_text_is_cut_and_never_too_small_to_read() -> None:
    words, size = fit("player_0 and player_1 share the victory", 30, 120)
    assert size == SMALLEST_TEXT
    assert words.endswith("…")
    assert fit("short", 20, 500) == ("short", 20)


# ---- what is hidden ----


@each_config
def test_text_and_picture_do_not_depend_on_what_the_viewer_cannot_see(config: LamaConfig) -> None:
    rng = np.random.default_rng(1)
    hidden_changed = 0
    for k, batch in enumerate(positions(config, seed=3)):
        final = batch.to_move[0] < 0
        twin = batch.clone()
        for viewer in range(config.num_players):
            pool(twin, viewer, rng)
            assert text(twin, viewer) == text(batch, viewer)
            if (k + viewer) % 4 == 0 or final:
                assert svg(twin, viewer) == svg(batch, viewer)
            if k % 20 == viewer or final:
                np.testing.assert_array_equal(picture(twin, viewer), picture(batch, viewer))
            hidden_changed += int((twin.state["hand"] != batch.state["hand"]).any())
            twin = batch.clone()
    assert hidden_changed > 0


def test_revealed_view_differs_and_shows_every_hand() -> None:
    batch = game_of(num_players=3)
    state = batch.state[0]
    shown = text(batch, None)
    assert "?" not in shown
    assert "all cards open" in shown
    for seat in range(3):
        hand = [str(count) if count else "." for count in state["hand"][seat]]
        assert row_of(shown, f"player_{seat}")[1:8] == hand
        assert shown != text(batch, seat)
        assert (picture(batch, None) != picture(batch, seat)).any()
    stock = [str(count) if count else "." for count in state["stock"]]
    assert row_of(shown, "stock") == ["stock", *stock, str(state["stock_size"])]


def test_public_facts_do_change_text_and_picture() -> None:
    batch = game_of(num_players=3, first_player=0)
    state = batch.state[0]
    for field, value in (
        ("top", (state["top"] + 2) % 7),
        ("hand_size", [6, 9, 6]),
        ("active", [1, 1, 0]),
        ("white", [0, 4, 0]),
        ("black", [0, 0, 3]),
        ("total", [0, 17, 0]),
        ("stock_size", 5),
        ("starter", 2),
        ("rounds", 4),
    ):
        before = text(batch, 0), picture(batch, 0)
        state[field] = value
        assert text(batch, 0) != before[0], field
        assert (picture(batch, 0) != before[1]).any(), field
