"""Search agents: what all of them promise, and flat Monte Carlo (known faults B02, B04, B18, B19, B53)."""

from __future__ import annotations

import math
import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import pytest

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.game import Game
from llama_envs.core.registry import make_game, spec_of
from llama_envs.policies import Players, Policy, ScriptedPolicy, make_policy
from llama_envs.policies.search import MonteCarloPolicy, budget
from llama_envs.policies.search.budget import MOST, Budget, parse_budget
from tests.cases import GAMES, fields, view_of
from tests.policies.files import write_random

PLAYERS = {name: spec_of(name).players for name in GAMES}
CASES = [(name, players) for name, counts in PLAYERS.items() for players in (counts[0], counts[len(counts) // 2])]
TABLES = [(name, players) for name, counts in PLAYERS.items() for players in counts]
SPECS = ["mc:4", "mc:4:random", "ismcts:4", "ismcts:4:random", "mc:4:network"]

every_search = pytest.mark.parametrize("spec", SPECS)
each_game = pytest.mark.parametrize(("name", "players"), CASES)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


def search(spec: str, game: Game, models: Path) -> Policy:
    """The search agent; ``network`` in a spec stands for a value network with random weights."""
    if not spec.endswith(":network"):
        return make_policy(spec, game)
    path = models / f"{game.name}-{game.num_players}.npz"
    if not path.exists():
        write_random(path, game, layers=(16,), seed=3)
    return make_policy(f"{spec}={path}", game)


def middle(name: str, players: int, num_games: int = 6, decisions: int = 9, **options: object) -> Batch:
    """Games some decisions after the deal."""
    batch = Batch(make_game(name, num_players=players, **options), num_games, seed=5)
    streams = policy_streams(num_games, 1)
    for _ in range(decisions):
        batch.step(batch.sample_actions(streams), batch.to_move >= 0)
    assert (batch.to_move >= 0).any()
    return batch


# --------------------------------------------------------------------------------------- what all search agents promise


@every_search
@each_game
def test_choice_does_not_depend_on_what_the_seat_cannot_see__B02(
    name: str, players: int, spec: str, models: Path
) -> None:
    batch = middle(name, players)
    policy = search(spec, batch.game, models)
    view = view_of(batch, policy)
    actions = policy.act(view_of(batch, policy))
    for disguise in range(3):
        twin = batch.clone()
        rows = np.flatnonzero(twin.to_move >= 0)
        seats = np.maximum(twin.to_move, 0).astype(np.int64)
        worlds = twin.worlds(seats, policy_streams(twin.num_games, 50 + disguise))[:, 0]
        twin.state[rows] = worlds[rows]
        assert twin.state.tobytes() != batch.state.tobytes()
        twin.refresh()
        other = view_of(twin, policy)
        assert np.array_equal(view.observation, other.observation)
        assert np.array_equal(policy.act(other), actions)


@every_search
@each_game
def test_searching_leaves_the_games_and_their_later_draws_as_they_are__B02(
    name: str, players: int, spec: str, models: Path
) -> None:
    batch, twin = middle(name, players), middle(name, players)
    policy = search(spec, batch.game, models)
    policy.act(view_of(batch, policy))
    streams, others = policy_streams(6, 9), policy_streams(6, 9)
    for _ in range(30):
        if (batch.to_move < 0).all():
            break
        batch.step(batch.sample_actions(streams), batch.to_move >= 0)
        twin.step(twin.sample_actions(others), twin.to_move >= 0)
        assert batch.state.tobytes() == twin.state.tobytes()


def reachable(thing: Any, seen: dict[int, Any]) -> Iterator[Any]:
    """All that attributes, items, closures and array bases lead to; modules and classes know no position."""
    try:
        if id(thing) in seen or isinstance(
            thing, (ModuleType, type, str, bytes, int, float, bool, BuiltinFunctionType)
        ):
            return
    except ReferenceError:  # the compiler keeps weak references to what is gone
        return
    seen[id(thing)] = thing
    yield thing
    own = getattr(thing, "__dict__", None)
    parts: list[Any] = list(own.values()) if isinstance(own, dict) else []
    if isinstance(thing, dict):
        parts += [*thing.keys(), *thing.values()]
    elif isinstance(thing, (list, tuple, set, frozenset)):
        parts += thing
    elif isinstance(thing, np.ndarray):
        parts.append(thing.base)
    elif isinstance(thing, FunctionType):
        parts += [cell.cell_contents for cell in thing.__closure__ or ()]
        parts.append(thing.__defaults__)
    elif isinstance(thing, MethodType):
        parts.append(thing.__self__)
    for part in parts:
        yield from reachable(part, seen)


def leaks(batch: Batch, thing: Any) -> list[Any]:
    """What ``thing`` leads to that is the batch, or memory of its positions or streams."""
    hidden = list(batch._buffers)
    return [
        found
        for found in reachable(thing, {})
        if isinstance(found, Batch)
        or (isinstance(found, np.ndarray) and any(np.may_share_memory(found, array) for array in hidden))
    ]


@every_search
@each_game
def test_neither_a_policy_nor_its_view_leads_to_the_batch__B02(
    name: str, players: int, spec: str, models: Path
) -> None:
    batch = middle(name, players)
    policy = search(spec, batch.game, models)
    view = view_of(batch, policy)
    policy.act(view)
    assert not leaks(batch, policy)
    assert not leaks(batch, view)
    assert leaks(batch, [lambda: batch.num_games])  # the walk does find a way when there is one
    assert leaks(batch, {"state": batch.state[2:3]["total"]})
    possible = view._possible
    assert possible is not None
    assert fields(possible) != fields(batch.state)  # and what it holds is not the truth copied


@every_search
@pytest.mark.parametrize(("name", "players"), TABLES)
def test_choices_are_legal_and_depend_on_seed_and_view_alone__B04_B18_B19(
    name: str, players: int, spec: str, models: Path
) -> None:
    game = make_game(name, num_players=players)

    def play(num_games: int) -> list[bytes]:
        batch = Batch(game, num_games, seed=list(range(num_games)))
        nobody = np.zeros((num_games, players), np.int64)
        table = Players(batch, [search(spec, game, models)], nobody, list(range(num_games)))
        actions = np.zeros(num_games, np.int64)
        for _ in range(2 * players + 2):
            table.act(actions)
            batch.step(actions, batch.to_move >= 0)  # raises IllegalAction
        return [state.tobytes() for state in batch.state]

    np.random.seed(1)
    first = play(4)
    np.random.seed(2)
    assert play(2) == first[:2]


@every_search
@each_game
def test_a_copy_made_by_pickle_chooses_the_same(name: str, players: int, spec: str, models: Path) -> None:
    batch = middle(name, players)
    policy = search(spec, batch.game, models)
    view, again = view_of(batch, policy), view_of(batch, policy)
    actions = policy.act(view)
    assert (pickle.loads(pickle.dumps(policy)).act(again) == actions).all()


@pytest.mark.parametrize("spec", ["mc:30", "ismcts:30", "mc:30:random", "mc:8:network"])
@pytest.mark.parametrize("name", GAMES)
def test_one_policy_in_two_threads_at_once_gives_the_serial_results__B53(name: str, spec: str, models: Path) -> None:
    batches = [middle(name, PLAYERS[name][0], decisions=decisions) for decisions in (3, 5, 7, 9)]
    policy = search(spec, batches[0].game, models)
    serial = [policy.act(view_of(batch, policy)) for batch in batches]
    together = threading.Barrier(2)

    def decide(number: int) -> list[np.ndarray]:
        together.wait(timeout=60)
        return [policy.act(view_of(batch, policy)) for batch in batches[:: 1 if number else -1]]

    with ThreadPoolExecutor(2) as pool:
        backwards, forwards = pool.map(decide, range(2))
    for found in (forwards, backwards[::-1]):
        assert all(np.array_equal(one, other) for one, other in zip(found, serial, strict=True))


# ------------------------------------------------------------------------------------------------------------------- mc


@pytest.mark.parametrize(("name", "players"), CASES)
def test_values_are_those_of_a_plain_python_search_with_the_same_worlds_and_luck(name: str, players: int) -> None:
    batch = middle(name, players, 3)
    game = batch.game
    policy = make_policy("mc:4", game)
    assert isinstance(policy, MonteCarloPolicy)
    view, again = view_of(batch, policy), view_of(batch, policy)
    values = policy.values(view)
    rules, params = game.rules, game.records(game.params)[0]
    rollout = make_policy("heuristic", game)
    assert isinstance(rollout, ScriptedPolicy)
    rule, mask, nothing = rollout.kernel, np.zeros(game.num_actions, np.bool_), np.zeros(0, np.int64)
    start = game.records(again.worlds(1)[:, 0].copy())
    for i in range(len(again)):
        expected = np.zeros(game.num_actions)
        seat = int(again.seat[i])
        for _ in range(4):
            world = start[i : i + 1].copy()
            rules.resample_hidden(world[0], params, seat, again.streams, i)
            for action in np.flatnonzero(again.mask[i]):
                played, luck = world.copy(), again.streams[i : i + 1].copy()
                rules.apply(played[0], params, action)
                while played["rounds"][0] == start["rounds"][i]:
                    if played["chance"][0]:
                        rules.apply_chance(played[0], params, rules.sample_chance(played[0], params, luck, 0))
                    else:
                        mover = int(played["to_move"][0])
                        rules.legal_actions(played[0], params, mover, mask)
                        choice = rule.choose(played[0], params, mover, mask, rule.options, nothing, luck, 0)
                        rules.apply(played[0], params, choice)
                change = (played["total"][0] - start["total"][i])[:players].astype(float)
                others = np.delete(change, seat).mean()
                expected[action] += (1 if game.most_points_win else -1) * (change[seat] - others)
        assert np.allclose(values[i][again.mask[i]], expected[again.mask[i]] / 4)


# ------------------------------------------------------------------------------------------------------ names, budgets


@pytest.mark.parametrize(
    "argument",
    ["", "0", "x", "-3", "1.5", "10:ppo", "10:mc:5", "10:nobody", "1000001", "0ms", "5 ms", "ms", "-1ms", "1e3ms",
     "nanms", "3600001ms", "٣"],
)  # fmt: skip
@pytest.mark.parametrize("search", ["mc", "ismcts"])
def test_bad_arguments_are_refused_in_one_sentence(search: str, argument: str) -> None:
    with pytest.raises(ValueError, match=rf"{search}:|network:PATH|unknown policy 'nobody'") as refused:
        make_policy(f"{search}:{argument}" if argument else search, make_game(GAMES[0]))
    assert len(str(refused.value).splitlines()) == 1


def test_a_budget_is_a_number_or_a_time() -> None:
    assert parse_budget("400", "worlds", "mc:W") == Budget(count=400)
    assert parse_budget(str(MOST), "worlds", "mc:W") == Budget(count=MOST)
    assert parse_budget("5ms", "worlds", "mc:W") == Budget(seconds=0.005)
    assert parse_budget("0.25ms", "worlds", "mc:W") == Budget(seconds=0.00025)


class Clock:
    """A clock that work moves on."""

    def __init__(self, cost: float) -> None:
        self.now, self.cost, self.work = 100.0, cost, list[int]()

    def perf_counter(self) -> float:
        return self.now

    def spend(self, n: int) -> None:
        self.work.append(n)
        self.now += n * self.cost


@pytest.mark.parametrize(("seconds", "cost", "expected"), [(0.005, 1e-5, 500), (0.005, 0.003, 1), (0.005, 1.0, 1)])
def test_a_time_is_used_and_not_passed_but_for_the_first_piece_of_work(
    seconds: float, cost: float, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(cost)
    monkeypatch.setattr(budget, "time", clock)
    done = Budget(seconds=seconds).spend(clock.spend)
    assert done == sum(clock.work)
    assert expected * 0.9 <= done <= expected
    assert len(clock.work) < 3 + 2 * math.log2(done + 1)


def test_a_number_is_done_at_once() -> None:
    clock = Clock(1.0)
    assert Budget(count=70).spend(clock.spend) == 70
    assert clock.work == [70]


@pytest.mark.parametrize("search", ["mc:3ms", "ismcts:3ms", "mc:0.001ms", "ismcts:0.001ms"])
@pytest.mark.parametrize("name", GAMES)
def test_a_search_by_the_clock_chooses_legal_actions(name: str, search: str) -> None:
    batch = middle(name, PLAYERS[name][0])
    policy = make_policy(search, batch.game)
    view = view_of(batch, policy)
    assert view.mask[np.arange(len(view)), policy.act(view)].all()
