"""Text and picture of Llama Llama: what they show, what they hide, and that they only look."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.game import Game
from llama_envs.drawing.canvas import CARD_COLORS, SMALLEST_TEXT
from llama_envs.llama_llama import render
from llama_envs.llama_llama.config import LlamaLlamaConfig
from llama_envs.llama_llama.deck import Card, Combination, Deck, load_deck, random_deck
from llama_envs.llama_llama.game import make_game
from llama_envs.llama_llama.render import LlamaLlamaRenderer
from llama_envs.llama_llama.state import DEAL, DUMMY_DRAW, DUMMY_GOAL, DUMMY_SEAT, GOALS, NOTHING, PLACE
from tests.drawing.pictures import choices, picture, svg, text

pytest.importorskip("PIL")

TINY_DECK = Deck(
    "tiny",
    (
        Card("A", (Combination("A", 1),), (Combination("AB", 4),), 8),
        Card("B", (Combination("B", 2),), (Combination("AA", 3), Combination("BB", 3)), 8),
    ),
    16,
)
CONFIGS = [
    *(LlamaLlamaConfig(num_players=n) for n in (2, 3, 4)),
    LlamaLlamaConfig(num_players=3, deck=random_deck(3), dummy_displays={3: (1,)}),
    LlamaLlamaConfig(num_players=4, deck=TINY_DECK, hand_size=4, pass_counts=(1, 3, 2, 1)),
    LlamaLlamaConfig(num_players=2, pass_counts=(7, 1, 7, 2), num_rounds=2),
]
NAMES = [f"{c.num_players} players, {c.deck}, {c.hand_size} cards, {c.pass_counts}" for c in CONFIGS]
each_config = pytest.mark.parametrize("config", CONFIGS, ids=NAMES)
each_number = pytest.mark.parametrize("num_players", [2, 3, 4])


def game_of(seed: int = 0, **options: Any) -> Batch:
    return Batch(make_game(LlamaLlamaConfig(**options)), 1, seed=seed)


def positions(config: LlamaLlamaConfig, seed: int = 0, games: int = 2) -> Iterator[Batch]:
    """Every position of some random games, the last one included."""
    batch = Batch(make_game(config), 1, seed=seed)
    streams = policy_streams(1, seed)
    for _ in range(games):
        yield batch
        while batch.to_move[0] >= 0:
            batch.step(batch.sample_actions(streams))
            yield batch
        batch.reset()


def position(config: LlamaLlamaConfig, wanted: Callable[[Any], bool]) -> Batch:
    """The first position of random games that is ``wanted``."""
    return next(batch for batch in positions(config, games=50) if wanted(batch.state[0]))


def table_of(rendered: str, head: str) -> dict[str, dict[str, str]]:
    """The table whose first column is called ``head``: the cells of each row by row and column name."""
    lines = rendered.splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith(f"  {head} "))
    names = list(re.finditer(r"\S+(?: \S+)*", lines[first]))
    rows = {}
    for line in lines[first + 1 : first + 5]:
        cells = {name[0]: line[name.start() :].split("  ")[0].strip() for name in names if name[0] in ("display", head)}
        rest = re.split(r"  +", line[2:].strip())
        rows[cells[head]] = dict(zip([name[0] for name in names], rest, strict=False)) | {"line": line}
    return rows


def notes_of(rendered: str, name: str) -> dict[str, str]:
    """What is said of one hand below the tables: "goal", "picked", "pass 1" ..."""
    block = rendered.split("\n\n")[3] if rendered.count("\n\n") == 3 else ""
    rows = [re.split(r"  +", line.strip(), maxsplit=2) for line in block.splitlines()]
    return {what: said for who, what, said in rows if who == name}


def listed(game: Game, counts: Any) -> str:
    """Cards as the text lists them."""
    names = game.config.cards.kind_names
    return ", ".join(names[k] + (f" x{n}" if n > 1 else "") for k, n in enumerate(counts[: len(names)]) if n)


def kinds_listed(game: Game, kinds: Any) -> str:
    return listed(game, np.bincount(kinds, minlength=game.num_actions))


# ---- what is shown ----


@each_number
def test_text_has_the_public_facts(num_players: int) -> None:
    batch = position(LlamaLlamaConfig(num_players=num_players), lambda s: s["rounds"] == 1 and s["phase"] == 2)
    state, game = batch.state[0], batch.game
    names, viewer = game.config.cards.kind_names, num_players - 1
    shown = text(batch, viewer)
    for fact in ("Llama Llama", "round 2 of 4", "pass 2 of 4", "target 100", f"seen by player_{viewer}"):
        assert fact in shown
    displays = table_of(shown, "display")
    assert [row["pass"] for row in displays.values()] == ["4", "3", "2", "1"]
    for display, row in enumerate(displays.values()):
        goal = names[state["goal"][state["owner"][display]]] if display < 2 else "face down"
        assert row["goal"] == goal
        assert row["line"].startswith(">") == (display == 1)
    hands = table_of(shown, "hand")
    for seat in range(num_players):
        row = hands[f"player_{seat}"]
        assert [row["cards"], row["total"], row["last"]] == ["7", str(state["total"][seat]), row["last"]]
        assert row["last"] == f"{state['round_score'][seat]:+d}"
        assert (row["worth"] == "?") == (seat != viewer)
        assert row["line"].endswith("?") == (seat != viewer)
    assert hands[f"player_{viewer}"]["line"].endswith(f"you  {listed(game, state['hand'][viewer])}")


def test_revealed_goal_is_shown_with_both_rules__P9() -> None:
    batch = position(LlamaLlamaConfig(), lambda s: s["phase"] == 4)
    state, deck = batch.state[0], batch.game.config.cards
    for display, row in enumerate(table_of(text(batch, 0), "display").values()):
        assert row["its rules"] == ", ".join(deck.cards[state["goal"][state["owner"][display]]].rules_text)


def test_text_is_aligned_without_color_codes_or_trailing_blanks() -> None:
    for batch in positions(LlamaLlamaConfig(num_players=3), games=1):
        for seat in (0, None):
            shown = text(batch, seat)
            lines = shown.splitlines()
            assert shown.isascii()
            assert "\x1b" not in shown
            assert not shown.endswith("\n")
            assert lines == [line.rstrip() for line in lines]
            head = next(line for line in lines if line.startswith("  hand"))
            total = head.index("total") + len("total")
            for name, row in table_of(shown, "hand").items():
                points = "." if name == "dummy" else str(batch.state[0]["total"][int(name[-1])])
                assert row["line"][:total].endswith(f" {points}")


def test_hands_come_in_the_order_of_passing_and_dummies_where_they_sit__P11_P12() -> None:
    assert list(table_of(text(game_of(num_players=4), 0), "hand")) == [f"player_{seat}" for seat in range(4)]
    two = table_of(text(game_of(num_players=2), 0), "hand")
    assert list(two) == ["player_0", "dummy_0", "player_1", "dummy_1"]
    assert [row["passes to"] for row in two.values()] == ["dummy_0", "player_1", "dummy_1", "player_0"]
    for seed in range(10):
        batch = game_of(seed, num_players=3)
        hands = table_of(text(batch, 0), "hand")
        assert list(hands)[list(hands).index("dummy") - 1] == f"player_{batch.state['left'][0].tolist().index(3)}"


@each_number
def test_cards_go_to_the_neighbour_that_is_named__P9_P13(num_players: int) -> None:
    batch = position(LlamaLlamaConfig(num_players=num_players), lambda s: s["phase"] == 2)
    shown = text(batch, None)
    exchanges = 0
    for name, row in table_of(shown, "hand").items():
        if name.startswith("player") and row["passes to"].startswith("player"):
            sent = notes_of(shown, name)["pass 1"].split("; ")[0].removeprefix("passed ")
            assert notes_of(shown, row["passes to"])["pass 1"].split("; received ")[1] == sent
            exchanges += 1
    assert exchanges == {2: 0, 3: 2, 4: 4}[num_players]


def test_own_goal_picks_and_passes_are_shown_and_nobody_elses() -> None:
    batch = position(LlamaLlamaConfig(), lambda s: s["phase"] == 2 and s["cycle"] == 1 and s["to_move"] == 2)
    state, game = batch.state[0], batch.game
    for seat, picks in ((1, 2), (3, 1)):
        shown = text(batch, seat)
        notes = notes_of(shown, f"player_{seat}")
        assert notes["goal"] == game.config.cards.kind_names[state["goal"][seat]]
        assert notes["picked"] == kinds_listed(game, state["passed"][seat][4 : 4 + picks])
        passed, received = (kinds_listed(game, state[log][seat][:4]) for log in ("passed", "received"))
        assert notes["pass 1"] == f"passed {passed}; received {received}"
        assert set(notes) == {"goal", "picked", "pass 1"}
        assert not any(notes_of(shown, f"player_{other}") for other in range(4) if other != seat)


def test_chosen_goal_leaves_the_hand_that_is_shown__P5() -> None:
    batch = game_of(num_players=3)
    batch.step(np.array([np.flatnonzero(batch.action_mask[0])[0]]))
    state = batch.state[0]
    left = state["hand"][0].copy()
    left[state["goal"][0]] -= 1
    for seat in (0, None):
        row = table_of(text(batch, seat), "hand")["player_0"]
        assert row["cards"] == "7"
        assert row["line"].endswith(listed(batch.game, left))
    assert table_of(text(batch, 1), "hand")["player_0"]["cards"] == "8"


def test_every_seat_is_told_its_own_choices_whoever_is_to_move() -> None:
    batch = position(LlamaLlamaConfig(), lambda s: s["phase"] == 1 and s["cycle"] == 1 and s["to_move"] == 2)
    names = batch.game.action_names
    for seat in (2, 3):
        legal = ", ".join(names[a] for a in np.flatnonzero(batch.mask(seat)[0]))
        assert f"player_{seat} to pick card 2 of 4 for player_{(seat + 1) % 4}: {legal}\n" in text(batch, seat)
    for seat in (0, 1):  # have picked in this cycle; which cards can come next does not depend on the others
        twin = batch.clone()
        streams = policy_streams(1, 0)
        while twin.state["cycle"][0] == 1:
            twin.step(twin.sample_actions(streams))
        legal = ", ".join(names[a] for a in np.flatnonzero(twin.mask(seat)[0]))
        for each in (batch, twin):
            assert f"player_{seat} to pick card 3 of 4 for player_{seat + 1}: {legal}\n" in text(each, seat)
    legal = ", ".join(names[a] for a in np.flatnonzero(batch.action_mask[0]))
    assert f"player_2 to pick card 2 of 4 for player_3: {legal}\n" in text(batch, None)


def test_seat_that_has_made_all_its_picks_is_ready() -> None:
    goals = position(LlamaLlamaConfig(), lambda s: s["phase"] == GOALS and s["to_move"] == 1)
    last = position(LlamaLlamaConfig(), lambda s: s["phase"] == 1 and s["cycle"] == 3 and s["to_move"] == 1)
    for batch in (goals, last):
        assert "player_0 is ready; the others are choosing\n" in text(batch, 0)
        assert "ready" not in text(batch, 1)
        assert not any(
            line.startswith(">") and "player" in line for line in text(batch, 0).split("hand", 1)[1].split("\n")
        )


def test_who_may_own_a_goal_is_what_everybody_can_work_out__P6_P7() -> None:
    first = game_of(num_players=3)
    assert [row["goal of"] for row in table_of(text(first, 0), "display").values()] == ["anybody"] * 4
    batch = position(LlamaLlamaConfig(num_players=3), lambda s: s["rounds"] == 1 and s["phase"] == 1)
    state = batch.state[0]
    state["may_own"] = [0b010, 0b101, 0b101, 0b1000]
    owners = ["player_1", "player_0 or player_2", "player_0 or player_2", "the dummy"]
    assert [row["goal of"] for row in table_of(text(batch, 2), "display").values()] == owners
    state["may_own"] = [0b111, 0b111, 0b111, 0b1000]
    assert table_of(text(batch, 2), "display")["2nd"]["goal of"] == "any player"
    two = position(LlamaLlamaConfig(num_players=2), lambda s: s["rounds"] == 1)
    assert [row["goal of"] for row in table_of(text(two, 0), "display").values()][2:] == ["a dummy"] * 2


@each_number
def test_worth_of_a_hand_at_the_end_is_what_it_scored__P10(num_players: int) -> None:
    batch = position(LlamaLlamaConfig(num_players=num_players), lambda s: s["terminated"])
    hands = table_of(text(batch, None), "hand")
    for seat in range(num_players):
        assert hands[f"player_{seat}"]["worth"] == str(batch.state["round_score"][0, seat])


def test_winners_are_named__P19() -> None:
    batch = position(LlamaLlamaConfig(num_players=3), lambda s: s["terminated"])
    state = batch.state[0]
    state["total"], state["round_score"] = [60, 40, 101], [9, 9, 9]
    assert "player_2 wins with 101 points\n" in text(batch, 0)
    assert "winner" in table_of(text(batch, 0), "hand")["player_2"]["line"]
    state["total"], state["round_score"] = [60, 101, 101], [99, 30, 20]
    assert "player_1 wins with 101 points and 30 in the last round\n" in text(batch, 0)
    state["round_score"] = [99, 30, 30]
    shown = text(batch, 1)
    assert "player_1 and player_2 share the victory with 101 points\n" in shown
    hands = table_of(shown, "hand")
    assert ["winner" in hands[f"player_{seat}"]["line"] for seat in range(3)] == [False, True, True]
    assert not any(line.startswith(">") for line in shown.splitlines())


@each_number
def test_pending_chance_is_told_and_drawn(num_players: int) -> None:
    game = make_game(LlamaLlamaConfig(num_players=num_players))
    state = np.zeros(1, game.state_dtype)
    record, params, rng = game.records(state)[0], game.records(game.params)[0], np.random.default_rng(0)
    game.rules.start_game(record, params)
    said = {
        DUMMY_SEAT: "chance decides where the dummy sits",
        DEAL: "the cards are being dealt",
        DUMMY_GOAL: "the goals are being placed",
        PLACE: "the goals are being placed",
        DUMMY_DRAW: "draws from dummy",
    }
    seen: set[int] = set()
    while state["phase"][0] < 2:
        chance = int(state["chance"][0])
        if chance == NOTHING:
            legal = game.legal_actions(state[0], int(state["to_move"][0]))
            game.rules.apply(record, params, int(rng.choice(legal)))
            continue
        for seat in (None, *range(num_players)):
            shown = game.renderer.text(game, state[0], seat)
            assert said[chance] in shown
            assert not any(line.startswith("> player") for line in shown.splitlines())
            if chance not in seen:
                assert game.renderer.picture(game, state[0], seat).std() > 0
        seen.add(chance)
        probs = np.zeros(game.max_chance_outcomes)
        outcomes = game.rules.chance_outcomes(record, params, probs)
        game.rules.apply_chance(record, params, int(rng.choice(outcomes, p=probs[:outcomes])))
    expected = {2: {DEAL, DUMMY_GOAL, PLACE, DUMMY_DRAW}, 3: set(said), 4: {DEAL, PLACE}}
    assert seen == expected[num_players]


@each_config
def test_every_seat_can_choose_its_own_cards_whoever_is_to_move(config: LlamaLlamaConfig) -> None:
    """Each card of a kind that may come next, and none of those picked before; nothing by a seat that is ready."""
    seen = ready = 0
    for k, batch in enumerate(positions(config, games=1)):
        state, mover = batch.state[0], int(batch.to_move[0])
        if k % 5 in (1, 3, 4) and mover >= 0:
            continue
        if mover < 0:
            assert not any("data-action" in svg(batch, seat) for seat in (None, *range(config.num_players)))
            continue
        for seat in range(mover, config.num_players):
            mask, hand = batch.mask(seat)[0], state["hand"][seat].copy()
            if state["phase"] != GOALS:
                start = sum(config.pass_counts[: state["phase"] - 1])
                np.subtract.at(hand, state["passed"][seat][start : start + state["cycle"]], 1)
            if seat == mover:
                assert choices(svg(batch, seat), "card") == {kind: hand[kind] for kind in np.flatnonzero(mask)}
                assert choices(svg(batch, None), "card") == choices(svg(batch, seat), "card")
            else:
                assert set(choices(svg(batch, seat), "card")) == set(choices(svg(batch, seat), "button"))
                assert all(hand[kind] for kind in choices(svg(batch, seat), "card"))
            seen += 1
        for seat in range(mover):
            if "is ready" in text(batch, seat):
                assert "data-action" not in svg(batch, seat)
                ready += 1
    assert min(seen, ready) > 0


# ---- the picture ----


@each_config
def test_pictures_are_rgb_arrays_of_one_size_for_a_player_count(config: LlamaLlamaConfig) -> None:
    renderer = LlamaLlamaRenderer()
    shapes = set()
    for k, batch in enumerate(positions(config, games=1)):
        for seat in (None, *range(config.num_players)) if k % 13 == 0 or batch.to_move[0] < 0 else ():
            frame = renderer.picture(batch.game, batch.state[0], seat)
            assert frame.dtype == np.uint8
            assert len(np.unique(frame.reshape(-1, 3) @ np.array([1, 256, 65536]))) > 10
            shapes.add(frame.shape)
    assert len(shapes) == 1
    height, width, channels = shapes.pop()
    assert channels == 3
    assert height % 16 == width % 16 == 0  # what video codecs ask for
    assert picture(game_of(num_players=config.num_players), 0).shape == (height, width, 3)


def test_revealed_picture_changes_with_every_pick_and_earlier_frames_stay() -> None:
    frames: list[npt.NDArray[np.uint8]] = []
    copies = []
    for batch in positions(LlamaLlamaConfig(num_players=3), games=1):
        frames.append(picture(batch, None))
        copies.append(frames[-1].copy())
        if len(frames) == 25:
            break
    for frame, copy in zip(frames, copies, strict=True):
        np.testing.assert_array_equal(frame, copy)
    assert all((one != other).any() for one, other in pairwise(frames))
    frames[-1][:] = 0  # the caller's own
    assert picture(batch, None).any()


def test_seat_to_move_is_highlighted_where_everything_is_open() -> None:
    batch = game_of(num_players=2)
    before = picture(batch, None)
    batch.state["to_move"] = 1
    batch.state["goal"][0, 0] = np.flatnonzero(batch.state["hand"][0, 0])[0]
    changed = (before != picture(batch, None)).any(axis=(1, 2))
    assert changed[280:416].any()  # the row of player_0
    assert changed[578:714].any()  # and of player_1, below a dummy


def test_every_letter_has_its_own_color() -> None:
    assert len(set(CARD_COLORS)) == 7
    batch = game_of(num_players=2)
    state, deck = batch.state[0], batch.game.config.cards
    state["hand"][0] = 0
    first = [list(deck.letters).index(letter) for letter in range(7)]
    state["hand"][0][first] = 1
    batch.refresh()
    shown = {tuple(map(int, pixel)) for pixel in picture(batch, 0)[280:416].reshape(-1, 3)}
    assert set(CARD_COLORS) <= shown


@pytest.mark.parametrize("deck", [load_deck("reconstructed"), *map(random_deck, range(5))], ids=str)
def test_rules_on_cards_are_complete_and_large_enough_to_read(deck: Deck, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []

    def spy(width: int, height: int, *args: Any) -> None:
        drawn.append((args[2], args[3]))

    monkeypatch.setattr(render, "rules_card", spy)
    for card in deck.cards:
        for measures, size in ((render.CARD, render.RULES), (render.GOAL, render.GOAL_RULES)):
            render._face.__wrapped__(card, measures, size)
            rules, text_size = drawn.pop()
            assert text_size >= SMALLEST_TEXT
            for rule, combinations in zip(rules, (card.first, card.second), strict=True):
                words = " ".join(word for line in rule for word in line if word)
                assert re.findall("[A-G]+", words) == [combination.letters for combination in combinations]
                assert {int(price) for _, price in rule if price} == {each.points for each in combinations}


def test_card_with_more_rules_than_room_is_cut_with_an_ellipsis(monkeypatch: pytest.MonkeyPatch) -> None:
    many = tuple(Combination(letters, k + 1) for k, letters in enumerate(("AA", "AB", "AC", "AD", "AE", "AF", "AG")))
    drawn = []
    monkeypatch.setattr(render, "rules_card", lambda *args: drawn.append(args[4]))
    render._face.__wrapped__(Card("A", many, many), render.CARD, render.RULES)
    assert 2 <= sum(map(len, drawn[0])) <= 5
    assert drawn[0][0][-1] == ("…", "")


# ---- what is hidden ----


def disguise(batch: Batch, seat: int, rng: np.random.Generator) -> None:
    """Change all that ``seat`` cannot see: cards, picks, goals, where they lie, and who has picked in this cycle."""
    state, n, kinds = batch.state[0], batch.game.num_players, batch.game.num_actions
    phase = int(state["phase"])
    shown = [int(state["goal"][state["owner"][display]]) for display in range(phase)]
    own = int(state["goal"][seat])
    others = [hand for hand in range(4) if hand != seat]
    for hand in others:
        cards = rng.integers(kinds, size=state["hand"][hand].sum())
        state["hand"][hand][:kinds] = np.bincount(cards, minlength=kinds)
    for other in range(n):
        for log in ("passed", "received"):
            if other != seat:
                row = state[log][other]
                row[row >= 0] = rng.integers(kinds, size=(row >= 0).sum())
    if phase != GOALS:
        placed = rng.permutation(4)
        while seat in placed[:phase] and shown[list(placed).index(seat)] != own:
            placed = rng.permutation(4)
        state["owner"] = placed
        state["goal"] = rng.integers(kinds, size=4)
        state["goal"][placed[:phase]] = shown
        state["goal"][seat] = own
    if state["to_move"] < 0:
        return
    if phase == GOALS:
        state["to_move"] = rng.integers(seat + 1) if own < 0 else rng.integers(seat + 1, n)
        state["goal"][others] = rng.integers(-1, kinds, size=3)
        return
    picks = int(state["cycle"]) + int(seat < state["to_move"])
    full = picks == batch.game.config.pass_counts[phase - 1]
    if seat < n - 1 and picks > 0 and (full or rng.random() < 0.5):
        state["cycle"], state["to_move"] = picks - 1, rng.integers(seat + 1, n)
    else:
        state["cycle"], state["to_move"] = picks, rng.integers(seat + 1)


@each_config
def test_text_and_picture_do_not_depend_on_what_the_viewer_cannot_see(config: LlamaLlamaConfig) -> None:
    rng = np.random.default_rng(1)
    hands_changed = goals_changed = cycles_changed = 0
    for k, batch in enumerate(positions(config, seed=3)):
        final = batch.to_move[0] < 0
        for viewer in range(config.num_players):
            twin = batch.clone()
            disguise(twin, viewer, rng)
            assert text(twin, viewer) == text(batch, viewer)
            if (k + viewer) % 6 == 0 or final:
                assert svg(twin, viewer) == svg(batch, viewer)
            if k % 12 == viewer or final:
                np.testing.assert_array_equal(picture(twin, viewer), picture(batch, viewer))
            hands_changed += int((twin.state["hand"] != batch.state["hand"]).any())
            goals_changed += int((twin.state["owner"] != batch.state["owner"]).any())
            cycles_changed += int(twin.state["cycle"][0] != batch.state["cycle"][0])
    assert min(hands_changed, goals_changed, cycles_changed) > 0


@each_config
def test_every_world_that_a_seat_holds_possible_looks_the_same_to_it(config: LlamaLlamaConfig) -> None:
    streams = policy_streams(1, 0)
    for k, batch in enumerate(positions(config, seed=4, games=1)):
        viewer = k % config.num_players
        for world in batch.worlds(viewer, streams, 3)[0]:
            assert batch.game.renderer.text(batch.game, world, viewer) == text(batch, viewer)


@each_number
def test_view_of_a_waiting_seat_stays_while_others_pick(num_players: int) -> None:
    batch = game_of(num_players=num_players)
    streams = policy_streams(1, 1)
    while batch.to_move[0] >= 0:
        mover, stage = int(batch.to_move[0]), (int(batch.state["rounds"][0]), int(batch.state["phase"][0]))
        before = [text(batch, seat) for seat in range(num_players)]
        frame = picture(batch, num_players - 1 - mover // 2)
        batch.step(batch.sample_actions(streams))
        if stage != (batch.state["rounds"][0], batch.state["phase"][0]) or batch.to_move[0] < 0:
            continue
        for seat in range(num_players):
            assert (text(batch, seat) == before[seat]) == (seat != mover)
        if num_players - 1 - mover // 2 != mover and batch.state["phase"][0] == 1:
            np.testing.assert_array_equal(picture(batch, num_players - 1 - mover // 2), frame)


def test_face_down_goals_are_named_only_where_everything_is_open() -> None:
    batch = position(LlamaLlamaConfig(num_players=3), lambda s: s["rounds"] == 1 and s["phase"] == 1)
    state, names = batch.state[0], batch.game.config.cards.kind_names
    for seat in range(3):
        goals = [row["goal"] for row in table_of(text(batch, seat), "display").values()]
        assert goals[1:] == ["face down"] * 3
    rows = list(table_of(text(batch, None), "display").values())
    for display in range(4):
        owner = int(state["owner"][display])
        assert rows[display]["goal"] == names[state["goal"][owner]]
        assert rows[display]["goal of"] == (f"player_{owner}" if owner < 3 else "dummy")
        assert ("(face down)" in rows[display]["line"]) == (display > 0)


@each_number
def test_revealed_view_differs_and_shows_every_hand(num_players: int) -> None:
    batch = position(LlamaLlamaConfig(num_players=num_players), lambda s: s["phase"] == 2 and s["cycle"] == 1)
    state = batch.state[0]
    shown = text(batch, None)
    assert "?" not in shown
    assert "all cards open" in shown
    hands = table_of(shown, "hand")
    for seat in range(num_players):
        assert hands[f"player_{seat}"]["line"].endswith(listed(batch.game, state["hand"][seat]))
        assert notes_of(shown, f"player_{seat}")["picked"] == kinds_listed(batch.game, state["passed"][seat][4:5])
        assert shown != text(batch, seat)
        assert (picture(batch, None) != picture(batch, seat)).any()
    for k in range(4 - num_players):
        name = "dummy" if num_players == 3 else f"dummy_{k}"
        assert hands[name]["line"].endswith(listed(batch.game, state["hand"][num_players + k]))


def test_public_facts_do_change_text_and_picture() -> None:
    batch = position(LlamaLlamaConfig(num_players=3), lambda s: s["rounds"] == 1 and s["phase"] == 2)
    state = batch.state[0]
    left = [3, 2, 0] if state["left"][1] == 3 else [1, 3, 0]
    for field, value in (
        ("total", [7, 80, 3]),
        ("round_score", [7, 61, 3]),
        ("may_own", [5, 5, 2, 8]),
        ("left", left),
        ("rounds", 2),
        ("phase", 3),
    ):
        before = text(batch, 0), picture(batch, 0)
        state[field] = value
        assert text(batch, 0) != before[0], field
        assert (picture(batch, 0) != before[1]).any(), field
