"""L.L.A.M.A.: games played, positions kept, and played on after each of several actions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from experiments.lib.study import Arrays, Seeds, policy_of, seat_streams
from llama_envs.core.batch import Batch
from llama_envs.core.contract import States
from llama_envs.core.game import Game
from llama_envs.lama.rules import DRAW_CARD as DRAW
from llama_envs.lama.rules import KEEP, LLAMA_PENALTY, QUIT, RETURN_BLACK, RETURN_WHITE
from llama_envs.lama.state import RETURN, TURN
from llama_envs.policies import Players, Policy

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

STUCK, COULD_PLAY, CHIP = "stuck", "could play", "chip"  # decisions that positions are kept of
OWN_CHOICE = -1  # in place of an action: what the policy does


class PlayedBatch:
    """Games of ``policies`` in lists of rows; ``who[i, s]`` plays seat s of game i.

    Attributes:
        batch: the games.
    """

    def __init__(self, batch: Batch, policies: Sequence[Policy], who: Ints, seeds: Seeds) -> None:
        self.batch = batch
        self.players = Players(batch, policies, who, streams=seat_streams(seeds, batch.game.num_players))
        self.actions = np.zeros(batch.num_games, np.int64)

    def step(self, first: Ints | None = None, before: Callable[[Ints], None] | None = None) -> bool:
        """One action in every game that is not over: ``first`` (N,) where it is not OWN_CHOICE; False if all are over.

        ``before`` sees the rows that are about to be played.
        """
        rows = np.flatnonzero(self.batch.to_move >= 0)
        if not len(rows):
            return False
        if before is not None:
            before(rows)
        self.players.act(self.actions)
        if first is not None:
            self.actions[rows] = np.where(first[rows] == OWN_CHOICE, self.actions[rows], first[rows])
        self.batch.step(self.actions)
        return True


def win_shares(batch: Batch) -> Floats:
    """(N, P) win shares; NaN where a limit of the game cut it short."""
    return np.where(batch.state["terminated"][:, None], batch.game.win_shares(batch.state), np.nan)


def penalty_of(hand: npt.NDArray[np.int8]) -> Ints:
    """Penalty points (...,) of hands (..., R): every rank held counts once, the llama 10 (L13)."""
    points = np.array([*range(1, hand.shape[-1]), LLAMA_PENALTY])
    return ((hand > 0) * points).sum(axis=-1)


def playable(state: States, seats: Ints) -> Bools:
    """Whether ``seats`` (n,) hold the top rank or the next one (L6)."""
    hand = state["hand"][np.arange(len(state)), seats]
    ranks = hand.shape[1]
    top = state["top"].astype(np.int64)
    rows = np.arange(len(state))
    return np.asarray((hand[rows, top] > 0) | (hand[rows, (top + 1) % ranks] > 0))


def is_of(kind: str, state: States) -> Bools:
    """Which states (n,), none of them over, are a decision of this kind: (n,)."""
    seats = state["to_move"].astype(np.int64)
    if kind == CHIP:
        return np.asarray(state["phase"] == RETURN)
    may_draw = (state["phase"] == TURN) & (state["stock_size"] > 0) & (state["num_active"] > 1)  # L7, L10
    can = playable(state, seats)
    return np.asarray(may_draw & (can if kind == COULD_PLAY else ~can))


class DecisionSample:
    """Keeps up to ``each`` decisions of a kind from every game, each decision with the same chance (reservoir)."""

    def __init__(self, batch: Batch, kind: str, each: int, seeds: Seeds) -> None:
        self.batch, self.kind, self.each = batch, kind, each
        self.states = np.zeros((batch.num_games, each), batch.state.dtype)
        self.met = np.zeros(batch.num_games, np.int64)
        self.rng = np.random.default_rng([int(seeds[0] >> np.uint64(1)), len(seeds)])

    def __call__(self, rows: Ints) -> None:
        """Look at the games ``rows``, about to be played."""
        rows = rows[is_of(self.kind, self.batch.state[rows])]
        place = np.where(self.met[rows] < self.each, self.met[rows], self.rng.integers(0, self.met[rows] + 1))
        self.met[rows] += 1
        kept = place < self.each
        self.states[rows[kept], place[kept]] = self.batch.state[rows[kept]]

    @property
    def present(self) -> Bools:
        """(N, each): where a decision is kept."""
        return np.asarray(np.arange(self.each) < self.met[:, None])


def action_of(game: Game, name: str) -> int:
    """The action of a fork: "own" for what the policy does."""
    after_ranks = int(game.config.num_ranks)
    numbers = {"quit": QUIT, "draw": DRAW, "keep": KEEP, "white": RETURN_WHITE, "black": RETURN_BLACK}
    return OWN_CHOICE if name == "own" else after_ranks + numbers[name]


def play_on(game: Game, states: States, action: int, policy: Policy, seeds: Seeds) -> tuple[Floats, Floats]:
    """``states`` (M,) after ``action``, played to the end by ``policy`` in every seat.

    Returns:
        (M, P): win shares at the end, and the points of each seat in the round that is being played.
    """
    batch = Batch(game, len(states), seeds)
    batch.state[:] = states
    batch.refresh()
    games = PlayedBatch(batch, [policy], np.zeros((len(states), game.num_players), np.int64), seeds)
    legal = batch.action_mask[np.arange(len(states)), max(action, 0)] | (action == OWN_CHOICE)
    first = np.where(legal, action, OWN_CHOICE)
    points = np.zeros((len(states), game.num_players))
    running = np.ones(len(states), np.bool_)
    going = games.step(first)
    while going:
        ended = running & (batch.state["rounds"] > states["rounds"])
        points[ended] = batch.state["total"][ended].astype(np.float64) - states["total"][ended]
        running &= ~ended
        going = games.step()
    win = np.where(legal[:, None], win_shares(batch), np.nan)
    return win, np.where(legal[:, None], points, np.nan)


def fork(game: Game, policy: str, kind: str, actions: Sequence[str], each: int, seeds: Seeds) -> Arrays:
    """Decisions of a kind at tables of ``policy``, each played on after every one of ``actions``, with the same luck.

    Returns:
        (D, each), NaN where there was no such decision: ``penalty`` in hand, ``opponents`` that have not quit,
        ``stock`` cards, ``total`` of the seat, ``margin``, the lowest total of the others less its own, ``most``, the
        highest total; for every action, NaN where it was not legal, ``win_NAME``, the seat's win share, and
        ``lead_NAME``, how many points fewer than the others' mean it gets in the round.
    """
    batch = Batch(game, len(seeds), seeds)
    playing = policy_of(policy, game)
    games = PlayedBatch(batch, [playing], np.zeros((len(seeds), game.num_players), np.int64), seeds)
    sample = DecisionSample(batch, kind, each, seeds)
    while games.step(before=sample):
        pass
    present = sample.present
    states = sample.states[present]
    if not len(states):
        raise ValueError(f"no decision of the kind {kind!r} came up in {len(seeds)} games; ask for more --deals.")
    futures = seeds[np.nonzero(present)[0]] + np.nonzero(present)[1].astype(np.uint64) + np.uint64(1)
    seats = states["to_move"].astype(np.int64)
    rows = np.arange(len(states))
    total = states["total"].astype(np.float64)
    others = np.where(np.arange(game.num_players) == seats[:, None], np.inf, total)
    facts = {
        "penalty": penalty_of(states["hand"][rows, seats]),
        "opponents": states["num_active"] - 1,
        "stock": states["stock_size"],
        "total": total[rows, seats],
        "margin": others.min(axis=1) - total[rows, seats],
        "most": total.max(axis=1),
    }
    for name in actions:
        win, points = play_on(game, states, action_of(game, name), playing, futures)
        own = points[rows, seats]
        facts[f"win_{name}"] = win[rows, seats]
        facts[f"lead_{name}"] = (points.sum(axis=1) - own) / (game.num_players - 1) - own
    found: Arrays = {}
    for name, values in facts.items():
        found[name] = np.full(present.shape, np.nan)
        found[name][present] = values
    return found


def play_arm(game: Game, one: str, rest: str, seeds: Seeds) -> Arrays:
    """Every deal with ``one`` in each seat in turn among ``rest``, whole games.

    Returns:
        (D, P), by the seat that the one sits at: ``win`` its share, ``lead``, how many points fewer than the others'
        mean it gets a round, and ``rounds`` of the game.
    """
    players = game.num_players
    per_game = np.repeat(seeds, players)
    seat = np.tile(np.arange(players), len(seeds))
    batch = Batch(game, len(per_game), per_game)
    who = (np.arange(players) != seat[:, None]).astype(np.int64)
    games = PlayedBatch(batch, [policy_of(one, game), policy_of(rest, game)], who, per_game)
    while games.step():
        pass
    total = batch.state["total"].astype(np.float64)
    rows = np.arange(len(seat))
    own = total[rows, seat]
    rounds = batch.state["rounds"].astype(np.float64)
    found: Arrays = {
        "win": win_shares(batch)[rows, seat],
        "lead": ((total.sum(axis=1) - own) / (players - 1) - own) / rounds,
        "rounds": rounds,
    }
    return {name: values.reshape(len(seeds), players) for name, values in found.items()}


def play_alike(game: Game, policy: str, opener: int | None, seeds: Seeds) -> Arrays:
    """Every deal once with ``policy`` in all seats.

    Args:
        game: what ``policy`` is made for.
        policy: its name.
        opener: the seat that opens the first round; None leaves it to ``game``. A policy for games that any seat may
            open knows those that this one opens.
        seeds: (D,), one for each deal.

    Returns:
        ``win`` (D, P); ``first`` (D, P), points of each seat in the first round; ``points`` (D,), points a seat and
        round; ``rounds`` (D,).
    """
    playing = policy_of(policy, game)
    if opener is not None:
        game = game.spec.make_game(dataclasses.replace(game.config, first_player=opener))
    batch = Batch(game, len(seeds), seeds)
    games = PlayedBatch(batch, [playing], np.zeros((len(seeds), game.num_players), np.int64), seeds)
    first = np.zeros((len(seeds), game.num_players))
    running = np.ones(len(seeds), np.bool_)
    while games.step():
        ended = running & (batch.state["rounds"] > 0)
        first[ended] = batch.state["total"][ended]
        running &= ~ended
    rounds = batch.state["rounds"].astype(np.float64)
    return {
        "win": win_shares(batch),
        "first": first,
        "points": batch.state["total"].mean(axis=1) / rounds,
        "rounds": rounds,
    }
