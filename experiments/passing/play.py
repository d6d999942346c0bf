"""Rounds of Llama Llama played in step and forked, and the heuristic with parts of it switched off.

Seats decide all at once, so all games of a batch are always at the same pick of the same pass, and what a study asks of
a pass is read off the state arrays just before and after it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from experiments.lib.study import Arrays, Seeds, policy_of, seat_streams
from experiments.passing.measure import Bools, Floats, Ints, PassLog, Watch
from llama_envs.core.batch import Batch
from llama_envs.core.contract import States
from llama_envs.core.game import Game
from llama_envs.llama_llama.config import DISPLAYS
from llama_envs.llama_llama.heuristic import rule_of_thumb
from llama_envs.policies import Players, Policy, ScriptedPolicy, register_policy

NOBODY = -1  # in a list of goals, or of players

SWITCHES = {
    "whole": rule_of_thumb(),
    "careless": rule_of_thumb(care=0.0),
    "now": rule_of_thumb(care=0.0, unknown_goals=False),
    "own_unminded": rule_of_thumb(own_goal=False),
}


def build_switched(game: Game, argument: str) -> Policy:
    """``switched:NAME``: the heuristic of Llama Llama with the switches of that name."""
    if game.name != "llama_llama" or argument not in SWITCHES:
        raise ValueError(f"'switched:NAME' is for llama_llama; NAME is one of {', '.join(SWITCHES)}, got {argument!r}.")
    return ScriptedPolicy(SWITCHES[argument])


register_policy("switched", build_switched, "switched:NAME")


@dataclasses.dataclass
class Seats:
    """Who plays: ``passing[i, s]`` is the policy that passes for seat s of game i, ``choosing[i, s]`` chooses its goal.

    ``goals[i, s]``, where it is not NOBODY, is the kind that the seat gives as its goal, whoever plays.
    """

    policies: Sequence[Policy]
    passing: Ints
    choosing: Ints
    streams: npt.NDArray[np.uint64]
    goals: Ints | None = None


def play_round(batch: Batch, seats: Seats, watch: Watch | None = None, where: Bools | None = None) -> Bools:
    """Play one round in every game that stands at its beginning (and ``where`` is True); returns which did, (N,) bool.

    ``watch`` sees every pass: the states before its first pick, their rows in the batch, and all picks.
    """
    game = batch.game
    playing = np.asarray(batch.to_move >= 0)
    if where is not None:
        playing &= where
    rows = np.flatnonzero(playing)
    if not len(rows):
        return playing
    choosing, passing = (
        Players(batch, seats.policies, np.where(playing[:, None], who, NOBODY), streams=seats.streams)
        for who in (seats.choosing, seats.passing)
    )
    _everybody_picks(choosing, rows, seats.goals, playing)
    for count in game.config.pass_counts:
        before = batch.state[rows] if watch is not None else None
        picks = np.empty((len(rows), game.num_players, count), np.int64)
        for cycle in range(count):
            picks[:, :, cycle] = _everybody_picks(passing, rows, None, playing)
        if watch is not None and before is not None:
            watch(before, rows, picks)
    return playing


def _everybody_picks(players: Players, rows: Ints, forced: Ints | None, playing: Bools) -> Ints:
    """One cycle: every seat of the games ``rows`` picks, what is ``forced`` unless that is NOBODY; the picks (n, P)."""
    batch = players.batch
    actions = np.zeros(batch.num_games, np.int64)
    picks = np.empty((len(rows), batch.game.num_players), np.int64)
    for seat in range(batch.game.num_players):
        players.act(actions)
        if forced is not None:
            actions[rows] = np.where(forced[rows, seat] == NOBODY, actions[rows], forced[rows, seat])
        picks[:, seat] = actions[rows]
        batch.step(actions, where=playing)
    return picks


def play_arm(game: Game, one: str, rest: str, rounds: int, log: bool, choosing: str, seeds: Seeds) -> Arrays:
    """Every deal with ``one`` in each seat in turn among ``rest``; ``choosing``, if not empty, chooses its goals.

    Args:
        game: Llama Llama.
        one: name of the policy of the one seat.
        rest: name of the policy of all others.
        rounds: of each game that are played at most.
        log: add what the one seat passes in the first round (:class:`PassLog`).
        choosing: name of a policy.
        seeds: (D,), one for each deal.

    Returns:
        (D, P), by the seat that the one sits at: ``win`` its win share, NaN if games are not played to their end;
        ``lead`` its points a round less the mean of the others', ``first`` that in the first round; ``rounds`` played;
        and the sums of the log over these seats, ``held`` (D, 4, 7) and so on.
    """
    players = game.num_players
    shape = (len(seeds), players)
    per_game = np.repeat(seeds, players)
    seat = np.tile(np.arange(players), len(seeds))
    batch = Batch(game, len(per_game), per_game)
    passing = (np.arange(players) != seat[:, None]).astype(np.int64)
    choosing_policy = np.where(passing == 0, 2, passing)
    policies = [policy_of(name, game) for name in (one, rest, choosing or one)]
    seats = Seats(policies, passing, choosing_policy, seat_streams(per_game, players))
    watch = PassLog(game, len(per_game), seat) if log else None
    play_round(batch, seats, watch)
    first = lead_of(batch.state["round_score"].astype(np.float64), seat)
    for _ in range(rounds - 1):
        if not play_round(batch, seats).any():
            break
    state = batch.state
    played = state["rounds"].astype(np.float64)
    win = game.win_shares(state)[np.arange(len(seat)), seat]
    found: Arrays = {
        "win": win if rounds >= game.config.num_rounds else np.full(len(win), np.nan),
        "lead": lead_of(state["total"].astype(np.float64), seat) / played,
        "first": first,
        "rounds": played,
    }
    found = {name: values.reshape(shape) for name, values in found.items()}
    if watch is not None:
        found |= {name: sums.reshape(*shape, *sums.shape[1:]).sum(axis=1) for name, sums in watch.sums.items()}
    return found


def play_alike(game: Game, policy: str, seeds: Seeds) -> Arrays:
    """Every deal once with ``policy`` in all seats: ``points`` (D,) a round and seat, and ``rounds`` (D,) played."""
    line = Line.start(game, policy, (), seeds)
    for _ in range(game.config.num_rounds):
        line.advance()
    played = line.batch.state["rounds"].astype(np.float64)
    return {"points": line.batch.state["total"].mean(axis=1) / played, "rounds": played}


@dataclasses.dataclass(frozen=True)
class Fork:
    """A round in which one seat passes or chooses its goal by another policy ("" for that of the table)."""

    name: str
    passing: str = ""
    choosing: str = ""


@dataclasses.dataclass
class Line:
    """Games of one policy in every seat, round by round, from which rounds are forked.

    Attributes:
        batch: at the beginning of a round.
        seats: who plays on.
    """

    batch: Batch
    seats: Seats

    @classmethod
    def start(cls, game: Game, policy: str, others: Sequence[str], seeds: Seeds) -> Line:
        """All games before their first round; ``others`` are policies that forks may use, numbered from 1."""
        zeros = np.zeros((len(seeds), game.num_players), np.int64)
        policies = [policy_of(name, game) for name in (policy, *others)]
        return cls(Batch(game, len(seeds), seeds), Seats(policies, zeros, zeros, seat_streams(seeds, game.num_players)))

    def fork(
        self,
        seat: Ints,
        passing: int = 0,
        choosing: int = 0,
        goal: Ints | None = None,
        watch: Watch | None = None,
        where: Bools | None = None,
    ) -> tuple[States, Floats]:
        """The round that would be played if ``seat`` (N,) of every game passed and chose by other policies.

        ``goal`` (N,) is the kind that it gives, where that is not NOBODY. The games themselves stand still.

        Returns:
            the states after the round, and lead (N,): the seat's points in it less the mean of the others'; NaN where
            nothing was played.
        """
        batch = self.batch.clone()
        own = np.arange(batch.game.num_players) == seat[:, None]
        seats = Seats(
            self.seats.policies,
            np.where(own, passing, self.seats.passing),
            np.where(own, choosing, self.seats.choosing),
            self.seats.streams.copy(),
            None if goal is None else np.where(own, goal[:, None], NOBODY),
        )
        played = play_round(batch, seats, watch, where)
        lead = lead_of(batch.state["round_score"].astype(np.float64), seat)
        return batch.state, np.where(played, lead, np.nan)

    def advance(self) -> None:
        """The round as it is played."""
        play_round(self.batch, self.seats)


def lead_of(score: Floats, seat: Ints) -> Floats:
    """``score`` (N, P) of ``seat`` (N,) less the mean of the others': (N,)."""
    own = score[np.arange(len(seat)), seat]
    return (own - (score.sum(axis=1) - own) / (score.shape[1] - 1)).astype(np.float64)


class GoalsSeen:
    """A :data:`Watch` that remembers each seat's goal (N, P) and on which display it lies, 0 to 3; -1: not played."""

    def __init__(self, num_games: int, players: int) -> None:
        self.kind = np.full((num_games, players), -1)
        self.display = np.full((num_games, players), -1)

    def __call__(self, before: States, rows: Ints, picks: Ints) -> None:
        """Look at the first pass."""
        if before["phase"][0] != 1:
            return
        players = self.kind.shape[1]
        self.kind[rows] = before["goal"][:, :players]
        for display in range(DISPLAYS):
            owner = before["owner"][:, display]
            player = owner < players
            self.display[rows[player], owner[player]] = display
