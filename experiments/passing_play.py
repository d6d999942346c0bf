"""Llama Llama for the passing study: rounds played and forked, passes measured, the heuristic with parts switched off.

Seats decide all at once, so all games of a batch are always at the same pick of the same pass: rounds are played in
step, and what a study asks of a pass is read off the state arrays just before and after it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from experiments.study import Arrays, Floats, Seeds, policy_of, seat_streams
from llama_envs.core.batch import Batch, resampled
from llama_envs.core.compile import kernel
from llama_envs.core.contract import Integers, Params, State, States
from llama_envs.core.game import Game
from llama_envs.llama_llama.config import DISPLAYS
from llama_envs.llama_llama.heuristic import rule_of_thumb
from llama_envs.llama_llama.rules import NUM_LETTERS, count_letters, goal_points
from llama_envs.policies import Players, Policy, ScriptedPolicy, register_policy

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Watch = Callable[[States, Ints, Ints], None]  # states before a pass (n,), rows of the batch (n,), picks (n, P, count)

NOBODY = -1  # in a list of goals, or of players

# ------------------------------------------------------------------------------------- the heuristic with switches

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


# ---------------------------------------------------------------------------------------------------- rounds, in step


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


# ----------------------------------------------------------------------------------------------------- passes measured


@kernel
def known_goals(state: State, params: Params, seat: int, known: Integers) -> int:
    """Write the kinds of the goals that ``seat`` knows to lie on the table; returns how many.

    Those revealed, and its own, unless a revealed one of the same kind may be its own (P6, P7).
    """
    number = 0
    own_seen = False
    for display in range(state.phase):
        kind = state.goal[state.owner[display]]
        known[number] = kind
        number += 1
        own_seen = own_seen or (kind == state.goal[seat] and (state.may_own[display] >> seat) & 1 == 1)
    if not own_seen:
        known[number] = state.goal[seat]
        number += 1
    return number


@kernel
def paid_by(params: Params, goals: Any, number: int, letters: Integers) -> int:
    """Points that the first ``number`` of ``goals`` pay for ``letters``."""
    points = 0
    for i in range(number):
        points += goal_points(params, goals[i], letters)
    return points


@kernel(allocates=True)
def most_kept(params: Params, goals: Integers, number: int, letters: Integers, count: int) -> int:
    """The most points that ``goals`` can pay for a hand of ``letters`` from which ``count`` cards go."""
    cards = np.zeros(params.hand_size, np.int64)
    size = 0
    for letter in range(NUM_LETTERS):
        for _ in range(letters[letter]):
            cards[size] = letter
            size += 1
    best = 0
    kept = np.zeros(NUM_LETTERS, np.int64)
    for chosen in range(1 << size):
        stay = 0
        for i in range(size):
            stay += (chosen >> i) & 1
        if stay != size - count:
            continue
        kept[:] = 0
        for i in range(size):
            kept[cards[i]] += (chosen >> i) & 1
        best = max(best, paid_by(params, goals, number, kept))
    return best


@kernel(allocates=True)
def measure_passes(
    states: Any, all_params: Params, picks: Ints, held: Ints, passed: Ints, paid: Ints, best: Ints, kept: Ints
) -> None:
    """For every game i and seat s: letters held and passed, cards that known goals pay for, points kept and possible.

    ``paid[i, s]``: cards held, and cards passed, without which the known goals pay less now. ``kept[i, s]``: points
    that the known goals pay for the cards not passed; ``best[i, s]``: the most that they could.
    """
    params = all_params[0]
    known = np.zeros(DISPLAYS + 1, np.int64)
    letters = np.zeros(NUM_LETTERS, np.int64)
    for i in range(len(states)):
        state = states[i]
        for seat in range(picks.shape[1]):
            count_letters(state, params, seat, letters)
            held[i, seat] = letters
            passed[i, seat] = 0
            for pick in range(picks.shape[2]):
                passed[i, seat, params.letter[picks[i, seat, pick]]] += 1
            number = known_goals(state, params, seat, known)
            whole = paid_by(params, known, number, letters)
            paid[i, seat] = 0
            for letter in range(NUM_LETTERS):
                if letters[letter] > 0:
                    letters[letter] -= 1
                    if paid_by(params, known, number, letters) < whole:
                        paid[i, seat, 0] += held[i, seat, letter]
                        paid[i, seat, 1] += passed[i, seat, letter]
                    letters[letter] += 1
            best[i, seat] = most_kept(params, known, number, letters, picks.shape[2])
            for letter in range(NUM_LETTERS):
                letters[letter] -= passed[i, seat, letter]
            kept[i, seat] = paid_by(params, known, number, letters)


class PassLog:
    """Adds up, for each row of a batch, what one seat of it passes; a :data:`Watch`.

    Attributes:
        sums: arrays (N, 4 passes, ...): ``held`` and ``passed`` by letter (..., 7); ``paid`` (..., 2), cards held and
            passed that a goal known to the seat pays for; ``best``, the points that these goals could pay for what is
            kept, and ``given_up``, how much less they do; ``greedy``, 1 where nothing is given up; ``passes``.
    """

    def __init__(self, game: Game, num_games: int, seat: Ints) -> None:
        self.game, self.seat = game, seat
        shape = (num_games, DISPLAYS)
        self.sums: Arrays = {
            "held": np.zeros((*shape, NUM_LETTERS), np.int64),
            "passed": np.zeros((*shape, NUM_LETTERS), np.int64),
            "paid": np.zeros((*shape, 2), np.int64),
            **{name: np.zeros(shape, np.int64) for name in ("given_up", "best", "greedy", "passes")},
        }

    def __call__(self, before: States, rows: Ints, picks: Ints) -> None:
        """Add one pass."""
        n, players, _ = picks.shape
        held, passed = np.zeros((2, n, players, NUM_LETTERS), np.int64)
        paid = np.zeros((n, players, 2), np.int64)
        best, kept = np.zeros((2, n, players), np.int64)
        records = self.game.records
        measure_passes(records(before), records(self.game.params), picks, held, passed, paid, best, kept)
        number = int(before["phase"][0]) - 1
        at = (np.arange(n), self.seat[rows])
        given_up = best[at] - kept[at]
        found = {
            "held": held[at], "passed": passed[at], "paid": paid[at], "given_up": given_up, "best": best[at],
            "greedy": given_up == 0, "passes": np.ones(n, np.int64),
        }  # fmt: skip
        for name, values in found.items():
            self.sums[name][rows, number] += values


# ---------------------------------------------------------------------------------------------------- arms of a study


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
    first = _lead(batch.state["round_score"].astype(np.float64), seat)
    for _ in range(rounds - 1):
        if not play_round(batch, seats).any():
            break
    state = batch.state
    played = state["rounds"].astype(np.float64)
    win = game.win_shares(state)[np.arange(len(seat)), seat]
    found: Arrays = {
        "win": win if rounds >= game.config.num_rounds else np.full(len(win), np.nan),
        "lead": _lead(state["total"].astype(np.float64), seat) / played,
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
        lead = _lead(batch.state["round_score"].astype(np.float64), seat)
        return batch.state, np.where(played, lead, np.nan)

    def advance(self) -> None:
        """The round as it is played."""
        play_round(self.batch, self.seats)


def _lead(score: Floats, seat: Ints) -> Floats:
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


# ------------------------------------------------------------------------------------------------------- one's own goal


def worth_of_goal(game: Game, policy: str, rounds: int, forks: Sequence[Fork], seeds: Seeds) -> Arrays:
    """What changes in a round if one seat plays otherwise: for every seat in every round, at a table of ``policy``.

    Returns:
        arrays (D, rounds, P), NaN where the game was over: ``lead`` as played; for each fork, by its name, lead in it
        less lead as played; ``display`` where the seat's goal lay, 0 to 3.
    """
    players = game.num_players
    names = list(dict.fromkeys(name for fork in forks for name in (fork.passing, fork.choosing) if name))
    number_of = {"": 0, **{name: index + 1 for index, name in enumerate(names)}}
    line = Line.start(game, policy, names, seeds)
    shape = (len(seeds), rounds, players)
    found: Arrays = {name: np.full(shape, np.nan) for name in ("lead", "display", *(f.name for f in forks))}
    for number in range(rounds):
        goals = GoalsSeen(len(seeds), players)
        for seat in range(players):
            everywhere = np.full(len(seeds), seat)
            lead = line.fork(everywhere, watch=goals)[1]
            found["lead"][:, number, seat] = lead
            for fork in forks:
                passing, choosing = number_of[fork.passing], number_of[fork.choosing]
                found[fork.name][:, number, seat] = line.fork(everywhere, passing, choosing)[1] - lead
        found["display"][:, number] = np.where(goals.display < 0, np.nan, goals.display)
        line.advance()
    return found


FIRST_ROUND, LEADER, LAST = 0, 1, 2


def worth_of_kinds(game: Game, policy: str, rounds: int, seeds: Seeds) -> Arrays:
    """What giving each kind as the goal is worth, against the mean over all kinds in the hand, by forks.

    In the first round for seat (row mod P); in later rounds for the seat alone in front, and for the one alone behind.

    Returns:
        arrays (D, 3, K), for FIRST_ROUND, LEADER and LAST: ``gain``, the sum over rounds of the lead with this kind
        given less the mean over all kinds in the hand; ``held``, in how many rounds it was there; ``given``, in how
        many the policy gave it.
    """
    players, kinds = game.num_players, game.num_actions
    line = Line.start(game, policy, (), seeds)
    deals = np.arange(len(seeds))
    found: Arrays = {name: np.zeros((len(seeds), 3, kinds)) for name in ("gain", "held", "given")}
    for number in range(rounds):
        total = line.batch.state["total"].astype(np.int64)
        alive = np.asarray(line.batch.to_move >= 0)
        cases = [(FIRST_ROUND, deals % players, alive)] if number == 0 else []
        for group, best in ((LEADER, total.max(axis=1)), (LAST, total.min(axis=1))):
            if number:
                there = total == best[:, None]
                cases.append((group, there.argmax(axis=1), alive & (there.sum(axis=1) == 1)))
        goals = GoalsSeen(len(seeds), players)
        line.fork(deals % players, watch=goals)
        for group, seat, counted in cases:
            hand = (line.batch.state["hand"][deals, seat, :kinds] > 0) & counted[:, None]
            hand &= (hand.sum(axis=1) > 1)[:, None]
            leads = np.zeros((len(seeds), kinds))
            for kind in range(kinds):
                lead = line.fork(seat, goal=np.full(len(seeds), kind), where=hand[:, kind])[1]
                leads[:, kind] = np.where(hand[:, kind], lead, 0.0)
            mean = leads.sum(axis=1) / np.maximum(hand.sum(axis=1), 1)
            found["gain"][:, group] += np.where(hand, leads - mean[:, None], 0.0)
            found["held"][:, group] += hand
            found["given"][:, group] += hand & (goals.kind[deals, seat][:, None] == np.arange(kinds))
        line.advance()
    return found


# -------------------------------------------------------------------------------------------------------------- dummies


@kernel(allocates=True)
def measure_received(states: Any, all_params: Params, picks: Ints, received: Ints, gain: Ints) -> None:
    """``gain[i, s]``: points that all four goals pay more for what seat s keeps and receives than for what it keeps."""
    params = all_params[0]
    letters = np.zeros(NUM_LETTERS, np.int64)
    for i in range(len(states)):
        state = states[i]
        for seat in range(picks.shape[1]):
            count_letters(state, params, seat, letters)
            for pick in range(picks.shape[2]):
                letters[params.letter[picks[i, seat, pick]]] -= 1
            before = paid_by(params, state.goal, DISPLAYS, letters)
            for pick in range(picks.shape[2]):
                letters[params.letter[received[i, seat, pick]]] += 1
            gain[i, seat] = paid_by(params, state.goal, DISPLAYS, letters) - before


def passes_received(game: Game, policy: str, seeds: Seeds) -> Arrays:
    """What the cards that come in are worth, at a table of ``policy``; ``game`` has one round.

    Returns:
        ``gain`` (D, P, 4), points that all four goals pay for the cards received in each pass, on top of those kept;
        ``back`` (D, P, 4), how many of the cards that the seat at the right passed were among them (by kind, at most
        those received of it); ``from_dummy`` and ``to_dummy`` (D, P) whether a dummy sits at the seat's right and left;
        ``points`` (D, P); ``lead`` (D, P).
    """
    players = game.num_players
    line = Line.start(game, policy, (), seeds)
    seen: list[tuple[States, Ints]] = []
    play_round(line.batch, line.seats, lambda before, rows, picks: seen.append((before, picks)))
    state = line.batch.state
    start = np.cumsum([0, *game.config.pass_counts])
    gain = np.zeros((len(seeds), players, DISPLAYS), np.int64)
    back = np.zeros_like(gain)
    for number, (before, picks) in enumerate(seen):
        received = state["received"][:, :, start[number] : start[number + 1]].astype(np.int64)
        into = np.zeros((len(seeds), players), np.int64)
        measure_received(game.records(before), game.records(game.params), picks, received, into)
        gain[:, :, number] = into
        kinds = np.arange(game.num_actions)
        sent = (np.roll(picks, 1, axis=1)[..., None] == kinds).sum(axis=2)
        back[:, :, number] = np.minimum(sent, (received[..., None] == kinds).sum(axis=2)).sum(axis=2)
    to_dummy = state["left"] >= players
    points = state["round_score"].astype(np.float64)
    leads = [_lead(points, np.full(len(seeds), seat)) for seat in range(players)]
    return {
        "gain": gain, "back": back, "to_dummy": to_dummy, "from_dummy": np.roll(to_dummy, 1, axis=1),
        "points": points, "lead": np.stack(leads, axis=1),
    }  # fmt: skip


def bits_about_the_next(game: Game, policy: str, worlds: int, seeds: Seeds) -> Arrays:
    """How uncertain each seat is of the hand of the next player to its left, before every pass of the first round.

    Measured over ``worlds`` possible worlds: the entropy of the number of cards of a letter, summed over letters.

    Returns:
        ``bits`` (D, P, 4) and ``to_dummy`` (D, P).
    """
    players, letters = game.num_players, game.config.cards.letters
    line = Line.start(game, policy, (), seeds)
    bits = np.zeros((len(seeds), players, DISPLAYS))
    to_dummy = np.zeros((len(seeds), players), np.bool_)
    streams = seat_streams(seeds ^ np.uint64(1), players)

    def watch(before: States, rows: Ints, picks: Ints) -> None:
        to_dummy[rows] = before["left"] >= players
        for seat in range(players):
            own = streams[:, seat].copy()
            possible = resampled(game, before, np.full(len(rows), seat), own, worlds)
            hand = possible["hand"][:, :, (seat + 1) % players, : len(letters)]
            by_letter = np.stack([hand[..., letters == letter].sum(axis=2) for letter in range(NUM_LETTERS)], axis=2)
            shares = np.stack([(by_letter == held).mean(axis=1) for held in range(game.config.hand_size)], axis=2)
            bits[rows, seat, int(before["phase"][0]) - 1] = stats.entropy(shares, base=2, axis=2).sum(axis=1)

    play_round(line.batch, line.seats, watch)
    return {"bits": bits, "to_dummy": to_dummy}


def care_by_neighbour(game: Game, care: float, seeds: Seeds) -> Arrays:
    """What ``care`` of one seat at a careless table changes in the first round.

    Returns:
        (D, P) for each seat: ``own``, change of its points; ``next``, of the next player's; ``lead``, of its points
        less the mean of the others'; ``to_dummy``, whether a dummy sits at its left.
    """
    players = game.num_players
    line = Line.start(game, "heuristic:0", (f"heuristic:{care}",), seeds)
    shape = (len(seeds), players)
    found: Arrays = {name: np.zeros(shape) for name in ("own", "next", "lead")}
    found["to_dummy"] = np.asarray(line.batch.state["left"] >= players)
    everyone = np.zeros(len(seeds), np.int64)
    usual = line.fork(everyone)[0]["round_score"].astype(np.float64)
    for seat in range(players):
        state, lead = line.fork(everyone + seat, passing=1)
        change = state["round_score"] - usual
        found["own"][:, seat] = change[:, seat]
        found["next"][:, seat] = change[:, (seat + 1) % players]
        found["lead"][:, seat] = lead - _lead(usual, everyone + seat)
    return found
