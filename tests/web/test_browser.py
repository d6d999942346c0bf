"""The pages in a real browser: whole games by mouse and by keyboard, and what must not happen on them."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from llama_envs.core.recording import RecordedGame, position, read_games
from llama_envs.core.registry import spec_of
from llama_envs.policies import make_policy, make_view
from llama_envs.web.advisor import Advisor
from llama_envs.web.replay import Replay
from tests.cases import CHECKOUT, GAMES
from tests.web.server import Server, browsing, serving

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]

PICTURES = os.environ.get("PICTURES")  # a folder: the pages are kept there, to be looked at
AXE = CHECKOUT / ".venv" / "node" / "node_modules" / "axe-core" / "axe.min.js"
MINE = """
import time

class Fails:
    needs_worlds = False
    def act(self, view):
        raise KeyError("the ace of spades")

class Slow:
    needs_worlds = False
    def act(self, view):
        time.sleep(0.2)
        with open("slow.txt", "a") as file:
            file.write("a decision\\n")
        return view.mask.argmax(axis=1)
"""
KUHN = "[llama_envs.games]\nkuhn = kuhn_poker:SPEC\n"  # as if pip had installed it there


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("table")
    (folder / "mine.py").write_text(MINE)
    with serving(folder, "--policies", "mine.py:Fails", "mine.py:Slow") as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as browser:
        yield browser


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    page = new_page(browser)
    yield page
    keep(page, "last")
    assert page.faults == []
    page.close()


def new_page(browser: Any, width: int = 1280, height: int = 800) -> Any:
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(15_000)
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("console", lambda message: page.faults.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: page.faults.append("something was executed"))
    return page


def keep(page: Any, name: str) -> None:
    if PICTURES:
        page.screenshot(path=str(Path(PICTURES) / f"{name}.png"), full_page=True)


def button(page: Any, name: str) -> Any:
    return page.get_by_role("button", name=name, exact=True)


def select(page: Any, label: str, value: str) -> None:
    """Choose from a list; again, if the form was being built anew meanwhile."""
    field = page.locator(".q-field", has=page.get_by_label(label, exact=True))
    for _ in range(5):
        try:
            field.click(timeout=4000)
            page.get_by_role("option", name=value, exact=True).click(timeout=4000)
            page.locator(".q-menu").wait_for(state="detached", timeout=4000)
        except Exception as error:  # the list was closed with the old form
            if type(error).__name__ != "TimeoutError":
                raise
            page.keyboard.press("Escape")
            continue
        page.wait_for_timeout(150)
        if value in field.inner_text().split("\n"):
            return
    raise AssertionError(f"{label} is not {value}: {field.inner_text()!r}")


def start(page: Any, server: Server, game: str, players: int, *seats: str, name: str = "", **texts: str) -> None:
    """A new table: ``seats`` from seat 0 on, the others as they are."""
    page.goto(server.url)
    select(page, "Game", spec_of(game).title)
    select(page, "Players", str(players))
    for number, seat in enumerate(seats):
        select(page, f"player_{number}", seat)
    if name:
        page.get_by_label("Name, if you like").first.fill(name)
    if texts:
        page.get_by_text("Options", exact=True).click()
        for label, text in texts.items():
            if label == "analysis":
                page.get_by_text("Analysis: choices can be taken back").click()
            else:
                page.get_by_label(re.compile(f"^{label.replace('_', ' ')}")).fill(text)
        page.wait_for_timeout(300)
    button(page, "Start").click()
    page.wait_for_url("**/table/*")
    page.locator(".picture").wait_for(state="attached")
    select(page, "The others play", "at once")


def number(page: Any) -> str:
    shown = page.locator("[data-number]")
    return shown.get_attribute("data-number") if shown.count() else ""


def settled(page: Any, before: str = "") -> str:
    """Wait until somebody is to choose, or to go on, in another position than ``before``: what is to be done."""
    page.wait_for_function(
        """before => {
            const shown = document.querySelector('[data-number]');
            if (document.body.innerText.match(/I am /)) return true;
            if (!shown || shown.dataset.number === before) return false;
            return document.querySelector('.choices button, .q-table');
        }""",
        arg=before,
    )
    if page.get_by_role("button", name=re.compile("^I am ")).is_visible():
        return "reveal"
    if button(page, "Again").count():
        return "over"
    return "go on" if button(page, "Go on").count() else "choose"


def wanted(page: Any) -> int:
    """How many cards are still to be chosen together; 0: one action."""
    more = page.get_by_role("button", name=re.compile(r"^\d+ more$"))
    return int(more.inner_text().split()[0]) if more.is_visible() else 0


def by_mouse(page: Any, rng: np.random.Generator) -> None:
    many = wanted(page)
    cards = page.locator(".picture g.card[data-action]")
    if not cards.count():
        cards = page.locator(".picture g.button[data-action]")
    for place in rng.choice(cards.count(), max(1, many), replace=False):
        cards.nth(place).click(position={"x": 6, "y": 14})
    if many:
        page.get_by_role("button", name=f"Confirm {many}").click()


def by_keyboard(page: Any, rng: np.random.Generator) -> None:
    many = wanted(page)
    choices = page.locator(".choices button").count() - (many > 0)  # the other one confirms
    page.locator("body").evaluate("body => document.activeElement.blur()")
    for place in sorted(rng.choice(min(9, choices), max(1, many), replace=False)):
        page.keyboard.press(str(place + 1))
    if many:
        page.wait_for_function(
            "many => document.activeElement.innerText.toUpperCase().includes('CONFIRM ' + many)", arg=many
        )
        page.keyboard.press("Enter")


def play(page: Any, choose: Any, most: int = 400) -> list[float]:
    """To the end; milliseconds from each choice to the next decision."""
    rng, before, times = np.random.default_rng(0), "", []
    for _ in range(most):
        started = time.perf_counter()
        what = settled(page, before)
        if before:
            times.append(1000 * (time.perf_counter() - started))
        if what == "over":
            return times
        before = number(page)
        if what == "reveal":
            assert page.locator("[data-number]").count() == 0  # no card of anybody's is on the page
            page.get_by_role("button", name=re.compile("^I am ")).click()
            before = ""
            page.locator("[data-number]").wait_for()
        elif what == "go on":
            button(page, "Go on").focus()
            page.keyboard.press("Enter")
        else:
            choose(page, rng)
    raise AssertionError("the game does not end")


def last_game(server: Server) -> RecordedGame:
    return read_games(server.games)[-1]


# -------------------------------------------------------------------------------------------------------- whole games


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("choose", [by_mouse, by_keyboard])
@pytest.mark.parametrize("game", GAMES)
def test_a_whole_game(page: Any, server: Server, game: str, choose: Any, players: int) -> None:
    start(page, server, game, players, name="Anna")
    keep(page, f"{game}-{players}-begin")
    play(page, choose)
    keep(page, f"{game}-{players}-end")
    recorded = last_game(server)
    assert recorded.game.name == game
    assert recorded.policies == ("person:Anna", *["heuristic"] * (players - 1))
    assert position(recorded).to_move[0] == -1
    for seat, total in enumerate(recorded.totals):
        row = page.locator("tr", has_text=f"player_{seat}")
        assert str(total) in row.inner_text().split("\t")
    people = [second for second in recorded.seconds if second > 0]
    assert people


@pytest.mark.parametrize("game", GAMES)
def test_two_people_at_one_screen_see_their_own_cards_only(page: Any, server: Server, game: str) -> None:
    start(page, server, game, 2, "me", "me", num_rounds="1") if game == "llama_llama" else start(
        page, server, game, 2, "me", "me", max_rounds="1"
    )
    play(page, by_mouse)
    assert last_game(server).policies == ("person", "person")


def test_policies_are_watched_step_by_step(page: Any, server: Server) -> None:
    start(page, server, "lama", 3, "heuristic")
    first = number(page)
    page.wait_for_timeout(300)
    assert number(page) == first == "0"  # nothing happens before somebody asks for it
    for step in range(1, 4):
        button(page, "Step").click()
        page.locator(f"[data-number='{step}']").wait_for()
    page.keyboard.press("ArrowRight")
    page.locator("[data-number='4']").wait_for()
    select(page, "Seen by", "player_1")
    assert "seen by player_1" in page.locator(".picture").inner_text()
    button(page, "Play").click()
    button(page, "Again").wait_for()
    page.get_by_role("button", name="What did it cost?").click()
    page.get_by_text("points lost").wait_for()
    keep(page, "watched")
    page.get_by_role("button", name=re.compile("^decision ")).first.click()
    page.wait_for_url("**/replay/*")
    page.locator(".picture svg").wait_for()


def test_a_game_that_nobody_has_drawn_is_text_with_buttons(browser: Any, tmp_path: Path) -> None:
    shutil.copytree(CHECKOUT / "tests" / "third_party" / "kuhn_poker", tmp_path / "kuhn_poker")
    about = tmp_path / "kuhn_poker-0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: kuhn-poker\nVersion: 0\n")
    (about / "entry_points.txt").write_text(KUHN)
    page = new_page(browser)
    with serving(tmp_path) as server:
        page.goto(server.url)
        select(page, "Game", "Kuhn poker")
        select(page, "player_1", "random")
        button(page, "Start").click()
        page.wait_for_url("**/table/*")
        select(page, "The others play", "at once")
        before = ""
        while settled(page, before) != "over":
            assert page.locator(".picture [data-action]").count() == 0
            before = number(page)
            page.locator(".choices button").first.click()
        page.close()
    (game,) = map(json.loads, server.games.read_text().splitlines())
    assert game["policies"] == ["person", "random"]


def test_a_closed_tab_ends_its_work(page: Any, server: Server, browser: Any) -> None:
    watching = new_page(browser)
    start(watching, server, "lama", 2, "mine.py:Slow", "mine.py:Slow", name="")
    button(watching, "Play").click()
    done = server.folder / "slow.txt"
    while not done.is_file():
        watching.wait_for_timeout(100)
    watching.close()
    time.sleep(7)  # it may come back within five seconds, after a reload
    size = done.stat().st_size
    time.sleep(1.5)
    assert done.stat().st_size == size


def test_reload_and_a_second_page_go_on_where_it_was(page: Any, server: Server, browser: Any) -> None:
    start(page, server, "llama_llama", 4)
    settled(page)
    by_mouse(page, np.random.default_rng(0))
    settled(page, "0")
    here = number(page)
    page.locator(".picture g.card[data-action]").nth(2).click(position={"x": 6, "y": 14})
    page.get_by_role("button", name="3 more").wait_for()
    page.reload()
    page.locator("[data-number]").wait_for()
    assert number(page) == here
    page.get_by_role("button", name="3 more").wait_for()  # what was picked is picked
    other = new_page(browser)
    other.goto(page.url)
    other.locator("[data-number]").wait_for()
    assert number(other) == here
    other.get_by_role("button", name="3 more").wait_for()
    pictures = [each.locator(".picture svg").inner_html() for each in (page, other)]
    plain = [re.sub(r' aria-pressed="\w+"', "", picture) for picture in pictures]  # set by the page, in any order
    assert plain[0] == plain[1]
    assert other.faults == []
    other.close()


def test_an_analysis_takes_back(page: Any, server: Server) -> None:
    start(page, server, "lama", 2, analysis="yes")
    settled(page)
    before, here = page.locator(".picture svg desc").text_content(), number(page)
    by_mouse(page, np.random.default_rng(0))
    settled(page, here)
    button(page, "Take back").click()
    page.wait_for_function("before => document.querySelector('.picture svg desc')?.textContent === before", arg=before)


# -------------------------------------------------------------------------------------------------- replay and advisor


def test_a_replay_is_the_file_position_by_position(page: Any, server: Server, tmp_path: Path) -> None:
    start(page, server, "llama_llama", 3, "heuristic", "heuristic", "random", num_rounds="2")
    button(page, "Play").click()
    button(page, "Again").wait_for()
    recorded = last_game(server)
    (tmp_path / "games.jsonl").write_text(f"{recorded.to_json()}\n")
    page.goto(server.url)
    page.locator("input[type=file]").first.set_input_files(tmp_path / "games.jsonl")
    page.wait_for_url("**/replay/*")
    page.locator(".picture svg").wait_for()
    replay = Replay(recorded)
    picture = page.locator(".picture svg desc")
    for at in range(replay.rounds[1] + 2):  # the whole file position by position: test_replay.py
        page.get_by_text(f"{at} of {replay.last}:", exact=False).wait_for()
        assert picture.text_content() == described(replay.shown(at, None).svg)
        if at < replay.rounds[1] + 1:
            assert replay.shown(at, None).action in page.locator("[role=status]").inner_text()
            button(page, "forward").click()
    select(page, "Round", "round 2")
    page.get_by_text(f"{replay.rounds[1]} of {replay.last}:", exact=False).wait_for()
    select(page, "Seen by", "player_1")
    page.wait_for_function("() => document.querySelector('.picture').innerText.includes('seen by player_1')")
    assert picture.text_content() == described(replay.shown(replay.rounds[1], 1).svg)
    keep(page, "replay")


def described(svg: str) -> str:
    from html import unescape

    found = re.search("<desc>(.*?)</desc>", svg, re.DOTALL)
    assert found is not None
    return unescape(found.group(1))


@pytest.mark.parametrize("game", GAMES)
def test_the_advisor_says_what_mc_says(page: Any, server: Server, game: str) -> None:
    start(page, server, game, 2, "heuristic")
    button(page, "Play").click()
    button(page, "Again").wait_for()
    page.get_by_role("button", name="Look at it again").click()
    page.wait_for_url("**/replay/*")
    recorded = last_game(server)
    batch = position(recorded, 4)
    page.get_by_text("Advisor", exact=True).click()
    page.get_by_role("switch").click()
    for at in range(1, 5):
        button(page, "forward").click()
        page.get_by_text(f"{at} of {len(recorded.actions)}:", exact=False).wait_for()
    search = make_policy("mc:400", batch.game)
    streams = np.array([Advisor(batch.game).seed], np.uint64)
    view = make_view(batch, np.array([0]), batch.to_move.astype(np.int64), streams, search)
    values = search.values(view)[0]
    names = [batch.game.action_names[action] for action in np.flatnonzero(batch.action_mask[0])]
    page.wait_for_function("names => names.every(name => document.querySelector('table')?.innerText.includes(name))",
                           arg=names)  # fmt: skip
    page.wait_for_timeout(500)
    for action in np.flatnonzero(batch.action_mask[0]):
        row = page.locator("tr", has=page.get_by_role("cell", name=batch.game.action_names[action], exact=True))
        assert f"{values[action] + 0.0:.2f} ±" in row.inner_text()
    keep(page, f"{game}-advisor")


# ------------------------------------------------------------------------------------------------- what must not happen


@pytest.mark.parametrize("game", GAMES)
def test_nothing_that_is_sent_holds_what_the_seat_may_not_see__B48(browser: Any, server: Server, game: str) -> None:
    page, sent = new_page(browser), []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: sent.append(as_text(data))))
    page.on("response", lambda response: sent.append(as_text(response.body())) if server.url in response.url else None)
    seed = "15241578753238836"
    start(page, server, game, 2, Seed=seed)
    play(page, by_mouse)
    recorded = last_game(server)
    assert str(recorded.seed) == seed
    words = "".join(sent)
    assert seed not in words.replace(f'"{seed}"', "", 1)  # but for the form that is told what was typed
    batch = position(recorded, 0)
    for secret in (*batch.streams.tolist(), *position(recorded).streams.tolist()):
        assert str(secret) not in words
    # every picture that was sent is one that the seat's own renderer draws, somewhere in this game
    replay = Replay(recorded)
    allowed = {described(replay.shown(at, 0).svg) for at in range(replay.last + 1)}
    pictures = set(re.findall(r"<desc>(.*?)</desc>", words.replace("\\n", "\n").replace('\\"', '"'), re.DOTALL))
    from html import unescape

    shown = {unescape(each) for each in pictures}
    assert len(shown) > 5
    open_hands = [text for text in shown - allowed if "all cards open" not in text]
    assert open_hands == []
    for text in shown - allowed:  # hands laid open: the end of a round or of the game
        assert "round over" in text or "game over" in text
    page.close()


def as_text(data: Any) -> str:
    return data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data)


def test_markup_in_a_name_stays_text(page: Any, server: Server) -> None:
    name = "<img src=x onerror=alert(1)><b>x</b>"
    start(page, server, "lama", 2, name=name)
    assert page.get_by_text(f"player_0: person:{name}").is_visible()
    assert page.locator("img[src=x]").count() == 0


def test_a_policy_that_fails_is_named_and_the_game_is_kept(page: Any, server: Server) -> None:
    start(page, server, "lama", 2, "heuristic", "mine.py:Fails")
    button(page, "Play").click()
    page.get_by_text("(mine.py:Fails) failed: KeyError in mine.py, line 7.").wait_for()
    assert "ace" not in page.inner_text("body")
    page.get_by_role("button", name="Download").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    (game,) = read_games(download.value.path())
    assert game.policies == ("heuristic", "mine.py:Fails")


def test_a_choice_that_comes_too_late_is_refused(page: Any, server: Server, browser: Any) -> None:
    start(page, server, "lama", 2)
    settled(page)
    here = number(page)
    page.evaluate("() => { window.old = document.querySelector('[data-number]').cloneNode(true); }")
    by_mouse(page, np.random.default_rng(0))
    settled(page, here)
    now = number(page)
    page.evaluate(
        """() => {
            const shown = document.querySelector('[data-number]');
            shown.dataset.number = window.old.dataset.number;
            shown.querySelector('[data-action]').dispatchEvent(new MouseEvent('click', {bubbles: true}));
        }"""
    )
    page.get_by_text("this choice came too late").wait_for()
    page.reload()
    settled(page)
    assert number(page) == now


def test_files_that_are_no_games_are_refused_in_a_sentence(page: Any, server: Server, tmp_path: Path) -> None:
    for name, content in (("a.jsonl", b"\xff\xfe\x00"), ("b.jsonl", b"{}"), ("c.jsonl", b"")):
        (tmp_path / name).write_bytes(content)
        page.goto(server.url)
        page.locator("input[type=file]").first.set_input_files(tmp_path / name)
        page.locator(".q-notification", has_text=name).wait_for()
        assert page.url.rstrip("/") == server.url


# -------------------------------------------------------------------------------------------------------- for everybody


@pytest.mark.parametrize("game", GAMES)
def test_a_phone_has_room_for_a_game(browser: Any, server: Server, game: str) -> None:
    page = new_page(browser, 390, 844)
    start(page, server, game, 4)
    settled(page)
    keep(page, f"{game}-phone")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    first = page.locator(".choices button").first
    box = first.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert box["y"] + box["height"] <= 844  # without scrolling
    assert box["height"] >= 30
    before = number(page)
    first.click()
    settled(page, before)
    assert page.faults == []
    page.close()


def test_axe_finds_nothing_serious(page: Any, server: Server) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; `make .venv/browser` does it where npm can")

    def check(what: str) -> None:
        page.add_script_tag(path=str(AXE))
        found = page.evaluate("() => axe.run(document)")
        serious = [each for each in found["violations"] if each["impact"] in ("serious", "critical")]
        told = [(each["id"], [node["html"][:150] for node in each["nodes"]][:4]) for each in serious]
        assert told == [], f"{what}: {json.dumps(told, indent=1)}"

    page.goto(server.url)
    button(page, "Start").wait_for()
    page.wait_for_load_state("networkidle")
    check("the first page")
    start(page, server, "llama_llama", 3)
    settled(page)
    check("a table")
    start(page, server, "lama", 3, "heuristic")
    button(page, "Play").click()
    button(page, "Again").wait_for()
    check("the end of a game")
    page.get_by_role("button", name="Look at it again").click()
    page.wait_for_url("**/replay/*")
    page.locator(".picture svg").wait_for()
    check("a replay")


@pytest.mark.parametrize("policy", ["heuristic", "mc:400"])
@pytest.mark.parametrize("game", GAMES)
def test_a_click_is_answered_soon(page: Any, server: Server, game: str, policy: str) -> None:
    short = {"num_rounds": "2"} if game == "llama_llama" else {"max_rounds": "2"}
    start(page, server, game, 4, "me", policy, policy, policy, **short)
    times = play(page, by_mouse)
    print(
        f"{game}, three {policy}: {np.median(times):.0f} ms from a click to the next decision (median of {len(times)})"
    )
    assert np.median(times) < 2000
