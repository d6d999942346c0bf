"""Policies against each other on shared deals, every seat and neighbourhood evened out.

::

    from llama_envs.core.registry import make_game
    from llama_envs.evaluation import compare

    print(compare(make_game("some_game", num_players=2), ["mc:50", "heuristic"], deals=1000, seed=0))
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.chance import check_seed
from llama_envs.core.game import Game
from llama_envs.core.markdown import plural
from llama_envs.core.recording import RecordedGame, Recorder
from llama_envs.core.validation import check_int
from llama_envs.evaluation.intervals import Floats, plus_minus, ratio, share_ratio
from llama_envs.evaluation.schedules import seat_orders
from llama_envs.policies import Players, Policy, make_policy

MOST_DEALS = 10_000_000
GAMES_AT_ONCE = 8192


@dataclass(frozen=True)
class MatchResults:
    """Results of a set of games.

    Attributes:
        win: (deals, rotations, P) win share of each entrant (ties split); NaN where the game was truncated.
        score: (deals, rotations, P) final total of each entrant.
        truncated: (deals, rotations) bool.
        seconds: wall time.
        decisions: (P,) how many each entrant took.
        thinking: (P,) seconds that each entrant took for them.
        recorded: every game, deal by deal and rotation by rotation; empty unless asked for.
    """

    win: Floats
    score: Floats
    truncated: npt.NDArray[np.bool_]
    seconds: float
    decisions: npt.NDArray[np.int64]
    thinking: Floats
    recorded: Sequence[RecordedGame] = ()


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while games are played, with the ``result`` of the deals that were finished, as if no more were wanted.

    Attributes:
        result: what the interrupted function would have returned.
    """

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result


def play(
    game: Game,
    policies: Sequence[str | Policy],
    deals: int,
    seed: int,
    *,
    orders: Sequence[Sequence[int]] | None = None,
    games_at_once: int = GAMES_AT_ONCE,
    spread: Callable[..., Iterable[Any]] = map,
    record: bool = False,
    names: Sequence[str] = (),
    progress: Callable[[int], object] = lambda deals: None,
) -> MatchResults:
    """Play ``deals`` deals in every rotation of ``policies`` (one for each seat), deals taking circular orders in turn.

    In rotation r, the k-th entrant of the deal's order sits at seat (k + r) mod P. A game depends on ``seed``, its deal
    and its rotation alone.

    Args:
        game: what is played.
        policies: names, or policies that can be pickled where ``spread`` takes them to other processes.
        deals: how many.
        seed: of the deals, of policies that draw, and of the sequence of orders.
        orders: circular orders of the entrants; by default all of them, or a balanced sample
            (:func:`~llama_envs.evaluation.schedules.seat_orders`).
        games_at_once: bounds the memory; results do not depend on it.
        spread: maps over parts of the deals: ``map``, or one that does so elsewhere.
        record: keep every game.
        names: of the policies, for records and errors; by default what they were asked for by.
        progress: called with the number of deals that were just played.

    Raises:
        ValueError: a policy is unknown or does not fit.
        PolicyError: a policy failed.
        Interrupted: Ctrl-C, after some parts.
    """
    players = game.num_players
    names = list(names) or [policy if isinstance(policy, str) else type(policy).__name__ for policy in policies]
    for policy in policies:
        make_policy(policy, game)
    seeds = np.random.SeedSequence(seed).generate_state(deals, np.uint64).astype(np.uint64, copy=False)
    circles = np.array(seat_orders(players, seed) if orders is None else orders)
    circle = circles[np.arange(deals) % len(circles)]
    started = time.perf_counter()
    at_once = max(games_at_once // players, 1)
    parts = [slice(first, min(first + at_once, deals)) for first in range(0, deals, at_once)]
    job = partial(_play_deals, game, list(policies), names, record)
    results: list[tuple[Any, ...]] = []
    try:
        for part, result in zip(parts, spread(job, [(seeds[part], circle[part]) for part in parts]), strict=True):
            results.append(result)
            progress(part.stop - part.start)
    except KeyboardInterrupt as stop:
        if results:
            raise Interrupted(_joined(results, started)) from stop
        raise
    return _joined(results, started)


def _joined(results: Sequence[tuple[Any, ...]], started: float) -> MatchResults:
    """The results of consecutive parts as one."""
    win, score, truncated = (np.concatenate([result[k] for result in results]) for k in range(3))
    decisions, thinking = (np.sum([result[k] for result in results], axis=0) for k in (3, 4))
    recorded = [each for result in results for each in result[5]]
    return MatchResults(win, score, truncated, time.perf_counter() - started, decisions, thinking, recorded)


def _play_deals(
    game: Game,
    policies: Sequence[str | Policy],
    names: Sequence[str],
    record: bool,
    deals: tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]],
) -> tuple[Any, ...]:
    seeds, circle = deals
    players = game.num_players
    made = {policy: make_policy(policy, game) for policy in policies if isinstance(policy, str)}  # one for equal names
    entrants = [made[policy] if isinstance(policy, str) else policy for policy in policies]
    rotation = np.tile(np.arange(players), len(seeds))
    position = (np.arange(players) - rotation[:, None]) % players  # (games, seat) -> place in the deal's circle
    entrant = np.take_along_axis(np.repeat(circle, players, axis=0), position, axis=1)  # (games, seat) -> who
    seat = np.argsort(entrant, axis=1)  # (games, entrant) -> where it sits
    per_game = np.repeat(seeds, players)
    batch = Batch(game, len(per_game), per_game)
    streams = np.stack([policy_streams(len(per_game), per_game, lane) for lane in range(players)], axis=1)
    table = Players(batch, entrants, entrant, streams=np.take_along_axis(streams, entrant, axis=1), names=names)
    recorded: list[RecordedGame] = []
    if record:
        recorder, actions = Recorder(batch), np.zeros(len(per_game), np.int64)
        while table.act(actions).any():
            recorder.step(actions)
        recorded = recorder.games(np.array(names)[entrant].tolist())
    else:
        table.play()
    state = batch.state
    cut = state["truncated"].copy()
    share = np.where(cut[:, None], np.nan, game.win_shares(state))
    shape = (len(seeds), players, players)
    return (
        np.take_along_axis(share, seat, axis=1).reshape(shape),
        np.take_along_axis(state["total"].astype(np.float64), seat, axis=1).reshape(shape),
        cut.reshape(shape[:2]),
        table.decisions,
        table.seconds,
        recorded,
    )


@dataclass(frozen=True)
class Standing:
    """What one policy won.

    Attributes:
        policy: its name.
        seats: how many it holds at the table.
        share: its win share for each seat, ties split; NaN where no game counted.
        interval: half of the 95 % interval over deals.
        score: its mean final total, with ``score_interval``.
    """

    policy: str
    seats: int
    share: float
    interval: float
    score: float
    score_interval: float


@dataclass(frozen=True)
class Comparison:
    """P policies at one table; ``print`` shows it as a table.

    Attributes:
        game: what was played.
        names: (P,) the policies.
        standings: one row for each distinct name.
        deals: how many were played, each in every rotation of the seats.
        games: how many games count.
        truncated: games that a limit cut short, which do not count.
        seconds: wall time.
        recorded: every game, if asked for.
    """

    game: Game
    names: tuple[str, ...]
    standings: tuple[Standing, ...]
    deals: int
    games: int
    truncated: int
    seconds: float
    recorded: Sequence[RecordedGame] = ()

    @property
    def share(self) -> Floats:
        """(P,) float64: win share of each policy for each seat it holds; NaN where no game counted."""
        return self._column("share")

    @property
    def interval(self) -> Floats:
        """(P,) float64: half of the 95 % interval of ``share`` over deals."""
        return self._column("interval")

    @property
    def score(self) -> Floats:
        """(P,) float64: mean final total."""
        return self._column("score")

    @property
    def score_interval(self) -> Floats:
        """(P,) float64: half of the 95 % interval of ``score`` over deals."""
        return self._column("score_interval")

    def _column(self, name: str) -> Floats:
        rows = {row.policy: row for row in self.standings}
        return np.array([getattr(rows[policy], name) for policy in self.names])

    def __str__(self) -> str:
        width = max(len("policy"), *(len(row.policy) for row in self.standings))
        lines = [f"{'policy':{width}}  seats  win share        mean {self.game.score_name}"]
        for row in self.standings:
            share, score = plus_minus(row.share, row.interval), plus_minus(row.score, row.score_interval, 2)
            lines.append(f"{row.policy:{width}}  {row.seats:5}  {share:15}  {score}")
        lines.append(self.note)
        return "\n".join(lines)

    @property
    def note(self) -> str:
        """How the numbers came about, one sentence."""
        return (
            f"{plural(self.deals, 'deal')} in {self.game.num_players} rotations: {plural(self.games, 'game')}, "
            f"{self.truncated:,} cut short and not counted; ± is half a 95 % interval over deals"
        )


def compare(
    game: Game,
    policies: Sequence[str | Policy],
    deals: int = 1000,
    seed: int = 0,
    *,
    games_at_once: int = GAMES_AT_ONCE,
    spread: Callable[..., Iterable[Any]] = map,
    record: bool = False,
    progress: Callable[[int], object] = lambda deals: None,
) -> Comparison:
    """Play policies against each other, one in each seat, on shared deals.

    Every deal is played in all rotations of the seats, and deals take the circular orders of the policies in turn, so
    that neither seats nor neighbours favour anybody: the order in which policies are named changes no number. (Objects
    of one class have no names but their places, so give policies that draw as names, or as classes of their own.)

    Args:
        game: what is played.
        policies: P names or policies, one for each seat; equal names are one policy in several seats.
        deals: how many.
        seed: of deals and of policies that draw.
        games_at_once, spread, record, progress: as in :func:`play`.

    Raises:
        ValueError: the number of policies is not the number of players, one is unknown or does not fit, or a number is
            out of range.
        PolicyError: a policy failed.
        Interrupted: Ctrl-C, after some deals.
    """
    if len(policies) != game.num_players:
        raise ValueError(f"policies must be {game.num_players}, one for each seat, got {len(policies)}.")
    check_int("deals", deals, 1, MOST_DEALS)
    check_int("games_at_once", games_at_once, 1, 2**24)
    check_seed(seed)
    names = names_of(policies)
    order = sorted(range(len(names)), key=names.__getitem__)
    try:
        results = play(
            game, [policies[k] for k in order], deals, seed, games_at_once=games_at_once, spread=spread, record=record,
            names=[names[k] for k in order], progress=progress,
        )  # fmt: skip
    except Interrupted as stop:
        raise Interrupted(_compared(game, names, order, stop.result)) from stop
    return _compared(game, names, order, results)


def _compared(game: Game, names: Sequence[str], order: Sequence[int], results: MatchResults) -> Comparison:
    """What policies won: ``order`` says which of the ``names`` each entrant in ``results`` has."""
    standings = []
    for name in dict.fromkeys(names):
        seats = [place for place, k in enumerate(order) if names[k] == name]
        counted = np.where(results.truncated[:, :, None], 0, 1) * np.ones((1, 1, len(seats)))
        whole = counted.sum(axis=(1, 2))
        won, scored = (
            np.where(counted > 0, values[:, :, seats], 0.0).sum(axis=(1, 2)) for values in (results.win, results.score)
        )
        standings.append(Standing(name, len(seats), *share_ratio(won, whole), *ratio(scored, whole)))
    cut = int(results.truncated.sum())
    return Comparison(
        game,
        tuple(names),
        tuple(standings),
        len(results.win),
        results.truncated.size - cut,
        cut,
        results.seconds,
        results.recorded,
    )


def names_of(policies: Sequence[str | Policy]) -> list[str]:
    """The policies' names in tables: how they were asked for; objects by their class, the second of it as ``Name (2)``.

    One object in several seats, and one name, is one policy.
    """
    kinds: dict[str, list[int]] = {}
    found = []
    for policy in policies:
        if isinstance(policy, str):
            found.append(policy)
            continue
        alike = kinds.setdefault(type(policy).__name__, [])
        if id(policy) not in alike:
            alike.append(id(policy))
        found.append(numbered(type(policy).__name__, alike.index(id(policy))))
    return found


def numbered(name: str, times: int) -> str:
    """``name`` that stood in a table so many times before."""
    return f"{name} ({times + 1})" if times else name
