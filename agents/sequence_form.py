"""Small games in sequence form, solved by CFR+: everything here is exact, and sampling plays no part.

A game is enumerated once, move by move and with all of chance, into what a solver needs of it (von Stengel 1996): the
information sets of every seat, and for each way in which the seats' own moves can meet, the payment that chance makes
of it. An information set is everything that a seat has seen and done: perfect recall. Histories of which no seat can
ever tell one from another are followed together.

A *sequence* is an information set and one of its actions; the first P sequences stand for each seat having done nothing
yet. A *strategy* is a float64 array (S,) with the probability of every sequence's action at its information set, for
all seats together; 1 for the first P.

A :class:`~llama_envs.policies.view.Policy` sees the latest observation alone, so a strategy that it can play must
treat alike all information sets at which a seat observes the same. CFR+ is held to that here. Best responses recall
everything, so NashConv also tells what forgetting costs.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from llama_envs.core.batch import policy_streams, resampled
from llama_envs.core.chance import HALF, LOW, ONE
from llama_envs.core.compile import kernel
from llama_envs.core.contract import Floats, Kernel, Params, Rules, States
from llama_envs.core.contract import Integers as Ints
from llama_envs.core.extensive_form import CHANCE, OVER, START, compile_move
from llama_envs.core.game import Game
from llama_envs.policies import Policy, View
from llama_envs.policies.tabular import StrategyTable, hash_rows, mix, observation_keys

DENOMINATOR = 1000  # rewards are fractions of small numbers, kept as float32; this finds the fraction again
AT_ONCE = 100_000  # positions followed together; bounds memory only

Keys = npt.NDArray[np.uint64]
Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class SequenceForm:
    """A game of P seats with I information sets and S sequences.

    Attributes:
        game: the game.
        histories: nodes of the game tree, chance and ends included.
        positions: what is left of them when those that no seat can ever tell apart are one.
        seat: (I,) whose information set it is. Sets are ordered: what comes before in a seat's own play comes first.
        parent: (I,) the sequence of the seat that leads there.
        first: (I + 1,) the sequences of set i are ``first[i]`` to ``first[i + 1] - 1``.
        action: (S,) the action of each sequence; -1 for the first P.
        observation: (I, D) float32, what the seat observes there.
        example: (I,) states, one of those that are possible there.
        cell: (I,) number of the (seat, observation) pair; a policy must treat the sets of a cell alike.
        slot: (S,) number of the (seat, observation, action) triple.
        meeting: (L, P) one sequence of each seat: the ways in which they meet when something is paid.
        payment: (L, P) what each seat is paid then, times the probability of all chance on the way.
        payoff_range: the most that a seat can be paid in a game, less the least that one can.
    """

    game: Game
    histories: int
    positions: int
    seat: Ints
    parent: Ints
    first: Ints
    action: Ints
    observation: Matrix
    example: States
    cell: Ints
    slot: Ints
    meeting: Ints
    payment: Floats
    payoff_range: float

    @property
    def num_sets(self) -> int:
        """Number of information sets I."""
        return len(self.seat)

    @property
    def num_cells(self) -> int:
        """Number of different (seat, observation) pairs."""
        return int(self.cell.max()) + 1

    @property
    def set_of(self) -> Ints:
        """(S,) the information set of each sequence; -1 for the first P."""
        sets = np.repeat(np.arange(self.num_sets), np.diff(self.first))
        return np.concatenate([np.full(self.game.num_players, -1), sets])

    @property
    def mask(self) -> npt.NDArray[np.bool_]:
        """(I, A) bool: the legal actions of each information set."""
        mask = np.zeros((self.num_sets, self.game.num_actions), np.bool_)
        players = self.game.num_players
        mask[self.set_of[players:], self.action[players:]] = True
        return mask


# --------------------------------------------------------------------------------------------------------- enumeration


@dataclass(eq=False)
class _Nodes:
    """Positions after equally many moves, each for all histories that lead there and that nobody can tell apart."""

    states: States  # (n,)
    who: Ints  # (n,) the seat to move, CHANCE or OVER
    choices: Floats  # (n, C) probabilities of outcomes, or 1 for each legal action
    memory: Keys  # (n, P) a hash of all that each seat has seen and done
    last: Ints  # (n, P) each seat's latest sequence
    chance: Floats  # (n,) probability of all chance on the way
    histories: Ints  # (n,)
    least: Floats  # (n, P) what each seat was paid on the way, at least
    most: Floats  # (n, P)

    def __len__(self) -> int:
        return len(self.states)

    def take(self, rows: Any) -> _Nodes:
        return _Nodes(**{name: value[rows] for name, value in vars(self).items()})

    @staticmethod
    def concatenate(parts: list[_Nodes]) -> _Nodes:
        return _Nodes(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0])})

    def merged(self) -> _Nodes:
        """Equal positions that every seat remembers alike, as one."""
        keys = self.memory[:, 0].copy()
        for seat in range(1, self.memory.shape[1]):
            hash_rows(self.memory[:, seat : seat + 1].copy().view(np.uint32), keys)
        hash_rows(_words(self.states), keys)
        codes, unique = pd.factorize(keys)
        first = _first_of_each(codes, len(unique))
        nodes = self.take(first)
        nodes.chance = np.bincount(codes, self.chance, len(unique)).astype(np.float64)
        nodes.histories = np.zeros(len(unique), np.int64)
        np.add.at(nodes.histories, codes, self.histories)
        np.minimum.at(nodes.least, codes, self.least)
        np.maximum.at(nodes.most, codes, self.most)
        return nodes


class _Enumerator:
    """Walks through a game level by level and notes information sets and payments."""

    def __init__(self, game: Game, most_positions: int) -> None:
        self.game, self.most_positions = game, most_positions
        self.follow = compile_follow(game.rules)
        self.number: dict[int, int] = {}  # (seat and memory) hashed -> information set
        self.seat: list[Ints] = []
        self.parent: list[Ints] = []
        self.counts: list[Ints] = []
        self.actions: list[Ints] = [np.full(game.num_players, -1, np.int64)]
        self.examples: list[States] = []
        self.starts = np.zeros(0, np.int64)  # first sequence of each information set
        self.num_sequences = game.num_players
        self.meetings: list[Ints] = []
        self.payments: list[Floats] = []
        self.histories = self.positions = 0
        self.least, self.most = np.inf, -np.inf

    def run(self) -> SequenceForm:
        nodes = self.root()
        while len(nodes):
            self.histories += int(nodes.histories.sum())
            self.positions += len(nodes)
            if self.positions > self.most_positions:
                raise ValueError(f"{self.game!r} is too large: more than {self.most_positions:,} positions.")
            self.pay(nodes)
            sets = self.note(nodes)
            nodes = self.after(nodes, sets)
        return self.finish()

    def root(self) -> _Nodes:
        players = self.game.num_players
        nobody = _Nodes(
            np.zeros(1, self.game.state_dtype), np.zeros(1, np.int64), np.zeros((1, 0)),
            np.arange(players, dtype=np.uint64)[None], np.arange(players)[None], np.ones(1), np.ones(1, np.int64),
            np.zeros((1, players)), np.zeros((1, players)),
        )  # fmt: skip
        return self.move(nobody, np.array([START]))

    def move(self, nodes: _Nodes, actions: Ints) -> _Nodes:
        """The positions after one move in each of ``nodes``, which are changed."""
        game = self.game
        shape = (len(nodes), max(game.num_actions, game.max_chance_outcomes))
        nodes.who, nodes.choices = np.empty(len(nodes), np.int64), np.zeros(shape)
        seen = np.empty(nodes.memory.shape, np.uint64)
        observation = np.zeros((game.num_players, game.observation.size), np.float32)
        states, params = game.records(nodes.states), game.records(game.params)
        self.follow(
            states, params, actions, game.num_actions, nodes.who, nodes.choices, observation,
            observation.view(np.uint32), seen,
        )  # fmt: skip
        remember_seen(nodes.memory, nodes.who, seen)
        return nodes

    def pay(self, nodes: _Nodes) -> None:
        """Note what was paid by the moves that led to ``nodes``."""
        rewards = _exact(nodes.states["reward"][:, : self.game.num_players])
        rewards[nodes.who == CHANCE] = 0.0  # paid when the chance is resolved
        nodes.least += rewards
        nodes.most += rewards
        paid = rewards.any(axis=1)
        if paid.any():
            self.meetings.append(nodes.last[paid])
            self.payments.append(rewards[paid] * nodes.chance[paid, None])
        over = nodes.who == OVER
        if over.any():
            self.least = min(self.least, nodes.least[over].min())
            self.most = max(self.most, nodes.most[over].max())

    def note(self, nodes: _Nodes) -> Ints:
        """The information set of each position, -1 where nobody decides; new ones are numbered."""
        sets = np.full(len(nodes), -1, np.int64)
        deciding = np.flatnonzero(nodes.who >= 0)
        seats = nodes.who[deciding]
        codes, unique = pd.factorize(nodes.memory[deciding, seats])
        first = _first_of_each(codes, len(unique))
        numbers = np.array([self.number.setdefault(key, len(self.number)) for key in unique.tolist()], np.int64)
        new = first[numbers >= len(self.starts)]
        rows = deciding[new]
        legal = nodes.choices[rows] > 0
        counts = legal.sum(axis=1)
        self.seat.append(nodes.who[rows])
        self.parent.append(nodes.last[rows, nodes.who[rows]])
        self.counts.append(counts)
        self.actions.append(np.nonzero(legal)[1])
        self.examples.append(nodes.states[rows])
        self.starts = np.concatenate([self.starts, self.num_sequences + np.cumsum(counts) - counts])
        self.num_sequences += int(counts.sum())
        sets[deciding] = numbers[codes]
        return sets

    def after(self, nodes: _Nodes, sets: Ints) -> _Nodes:
        """All positions one move later."""
        parts = [self.children(nodes, sets, rows) for rows in _portions(np.flatnonzero(nodes.who != OVER))]
        return _Nodes.concatenate(parts).merged() if len(parts) > 1 else parts[0] if parts else nodes.take([])

    def children(self, nodes: _Nodes, sets: Ints, rows: Ints) -> _Nodes:
        where, actions = np.nonzero(nodes.choices[rows] > 0)
        parent = rows[where]
        child = nodes.take(parent)
        decided = np.flatnonzero(child.who >= 0)
        chanced = np.flatnonzero(child.who == CHANCE)
        child.chance[chanced] *= child.choices[chanced, actions[chanced]]
        place = (np.cumsum(nodes.choices[rows] > 0, axis=1) - 1)[where, actions]  # of the action among the legal ones
        child.last[decided, child.who[decided]] = self.starts[sets[parent[decided]]] + place[decided]
        remember_done(child.memory, child.who, actions)
        return self.move(child, actions).merged()

    def finish(self) -> SequenceForm:
        game, players = self.game, self.game.num_players
        seat, counts = np.concatenate(self.seat), np.concatenate(self.counts)
        first = players + np.concatenate([[0], np.cumsum(counts)])
        action, example = np.concatenate(self.actions), np.concatenate(self.examples)
        observation = np.empty((len(seat), game.observation.size), np.float32)
        game.batch_kernels.observe(game.records(example), game.records(game.params), seat, observation)
        cell, slot = _cells(seat, observation, first, action)
        paid = pd.DataFrame(np.concatenate(self.meetings))
        amounts = pd.DataFrame(np.concatenate(self.payments)).add_prefix("paid")
        grouped = pd.concat([paid, amounts], axis=1).groupby(list(paid.columns)).sum()
        meeting = np.array(grouped.index.to_frame().to_numpy(), np.int64)
        return SequenceForm(
            game, self.histories, self.positions, seat, np.concatenate(self.parent), first, action, observation,
            example, cell, slot, meeting, grouped.to_numpy(np.float64), float(self.most - self.least),
        )  # fmt: skip


def enumerate_game(game: Game, most_positions: int = 20_000_000) -> SequenceForm:
    """The sequence form of a small game.

    Raises:
        ValueError: it has more than ``most_positions`` positions.
    """
    return _Enumerator(game, most_positions).run()


def _portions(rows: Ints) -> Iterator[Ints]:
    return (rows[first : first + AT_ONCE] for first in range(0, len(rows), AT_ONCE))


def _first_of_each(codes: Ints, number: int) -> Ints:
    """Where each of the codes 0 .. number - 1 occurs first."""
    first = np.empty(number, np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return first


def _words(records: States) -> npt.NDArray[np.uint32]:
    """The fields of records, not the padding between them, as rows of whole numbers."""
    assert records.dtype.fields is not None
    held = np.zeros(-(-records.itemsize // 4) * 4, np.uint8)
    for dtype, offset, *_ in records.dtype.fields.values():
        held[offset : offset + dtype.itemsize] = 0xFF
    rows = np.zeros((len(records), len(held)), np.uint8)
    rows[:, : records.itemsize] = np.ascontiguousarray(records).view(np.uint8).reshape(len(records), -1)
    rows &= held
    return rows.view(np.uint32)


def _exact(rewards: npt.NDArray[np.float32]) -> Floats:
    """Rewards as the fractions that they were before rounding to float32."""
    values, codes = np.unique(rewards, return_inverse=True)
    exact = [float(Fraction(value).limit_denominator(DENOMINATOR)) for value in values.tolist()]
    return np.array(exact)[codes].reshape(rewards.shape)


def _cells(seat: Ints, observation: Matrix, first: Ints, action: Ints) -> tuple[Ints, Ints]:
    """``SequenceForm.cell`` and ``slot``."""
    cell, keys = pd.factorize(observation_keys(seat, observation))
    counts = np.diff(first)
    example = _first_of_each(cell, len(keys))
    players = int(first[0])
    starts = players + np.concatenate([[0], np.cumsum(counts[example])])
    sets = np.repeat(np.arange(len(seat)), counts)
    place = np.arange(players, first[-1]) - first[sets]
    slot = starts[cell[sets]] + place
    same = counts[example[cell]] == counts
    if not same.all() or not (action[players:] == action[first[example[cell[sets]]] + place]).all():
        raise ValueError("an observation does not tell which actions are legal.")
    return cell, np.concatenate([np.arange(players), slot])


@functools.cache
def compile_follow(rules: Rules) -> Kernel:
    """``follow(states, params, actions, num_actions, who, choices, observation, words, seen)``: a move in n states.

    Written are ``who`` (n,) and ``choices`` (n, C) as in :func:`llama_envs.core.extensive_form.compile_move`, and
    ``seen`` (n, P), a hash of what each seat observes unless chance is to move. ``observation`` (P, D) and its bits
    ``words`` (P, D) are scratch.
    """
    move = compile_move(rules)

    @kernel
    def follow(
        states: States, all_params: Params, actions: Ints, num_actions: int, who: Ints, choices: Floats,
        observation: Matrix, words: npt.NDArray[np.uint32], seen: Keys,
    ) -> None:  # fmt: skip
        for i in range(len(states)):
            who[i] = move(states[i : i + 1], all_params, actions[i], num_actions, choices[i], observation)
            seen[i, :] = 0
            if who[i] != CHANCE:
                hash_rows(words, seen[i])

    return follow


@kernel
def remember_done(memory: Keys, who: Ints, actions: Ints) -> None:
    """The seat that moves remembers what it does; ``memory`` (n, P)."""
    for i in range(len(memory)):
        if who[i] >= 0:
            memory[i, who[i]] = mix(memory[i, who[i]], np.uint64(actions[i]), ONE)


@kernel
def remember_seen(memory: Keys, who: Ints, seen: Keys) -> None:
    """Everybody remembers what is to be seen, unless chance is to move; ``memory`` and ``seen`` (n, P)."""
    for i in range(len(memory)):
        if who[i] != CHANCE:
            for seat in range(memory.shape[1]):
                memory[i, seat] = mix(memory[i, seat], seen[i, seat] & LOW, seen[i, seat] >> HALF)


# ----------------------------------------------------------------------------------------------- strategies and values


@kernel
def realise(parent: Ints, first: Ints, strategy: Floats, plan: Floats) -> None:
    """``plan[s]``: the probability that a seat's own choices lead through sequence s."""
    players = first[0]
    plan[:players] = 1.0
    for i in range(len(parent)):
        for s in range(first[i], first[i + 1]):
            plan[s] = plan[parent[i]] * strategy[s]


@kernel
def add_payments(meeting: Ints, payment: Floats, plan: Floats, seat: int, value: Floats) -> None:
    """``value[s]``: what ``seat`` is paid through its sequence s as its last, were its own choices to lead there."""
    value[:] = 0.0
    for k in range(len(meeting)):
        reach = payment[k, seat]
        for other in range(meeting.shape[1]):
            if other != seat:
                reach *= plan[meeting[k, other]]
        value[meeting[k, seat]] += reach


@kernel
def best_replies(owner: Ints, parent: Ints, first: Ints, seat: int, value: Floats, reply: Floats) -> None:
    """Add to ``value`` what the best further choices of ``seat`` bring, and write those (pure) to ``reply``."""
    for i in range(len(parent) - 1, -1, -1):
        if owner[i] == seat:
            best = first[i]
            for s in range(first[i], first[i + 1]):
                reply[s] = 0.0
                if value[s] > value[best]:
                    best = s
            reply[best] = 1.0
            value[parent[i]] += value[best]


@kernel
def regret_step(
    owner: Ints, parent: Ints, first: Ints, slot: Ints, seat: int, strategy: Floats, value: Floats, gained: Floats,
    regret: Floats,
) -> None:  # fmt: skip
    """One step of regret matching+ for ``seat``: ``value`` from ``add_payments``; new regrets and strategy."""
    gained[:] = 0.0
    for i in range(len(parent) - 1, -1, -1):
        if owner[i] == seat:
            mean = 0.0
            for s in range(first[i], first[i + 1]):
                mean += strategy[s] * value[s]
            for s in range(first[i], first[i + 1]):
                gained[slot[s]] += value[s] - mean
            value[parent[i]] += mean
    for i in range(len(parent)):
        if owner[i] == seat:
            for s in range(first[i], first[i + 1]):
                regret[slot[s]] = max(regret[slot[s]] + gained[slot[s]], 0.0)
                gained[slot[s]] = 0.0
    for i in range(len(parent)):
        if owner[i] == seat:
            normalise(regret, first[i], first[i + 1], slot, strategy)


@kernel
def normalise(weight: Floats, start: int, stop: int, slot: Ints, strategy: Floats) -> None:
    """The strategy of one information set in proportion to ``weight[slot]``; uniform where all weights are 0."""
    total = 0.0
    for s in range(start, stop):
        total += weight[slot[s]]
    for s in range(start, stop):
        strategy[s] = weight[slot[s]] / total if total > 0.0 else 1.0 / (stop - start)


@kernel
def normalise_all(first: Ints, weight: Floats, slot: Ints, strategy: Floats) -> None:
    """``normalise`` for every information set."""
    for i in range(len(first) - 1):
        normalise(weight, first[i], first[i + 1], slot, strategy)


@kernel
def add_plan(plan: Floats, slot: Ints, weight: float, total: Floats) -> None:
    """Add ``weight`` times the plan to ``total``, slot by slot."""
    for s in range(len(plan)):
        total[slot[s]] += weight * plan[s]


def normalised(form: SequenceForm, weight: Floats, slot: Ints | None = None) -> Floats:
    """The strategy (S,) in proportion to ``weight[slot]`` (by default a weight for each sequence)."""
    strategy = np.ones(len(form.action))
    normalise_all(form.first, weight, np.arange(len(form.action)) if slot is None else slot, strategy)
    return strategy


def uniform_strategy(form: SequenceForm) -> Floats:
    """Every legal action alike: (S,)."""
    return normalised(form, np.zeros(len(form.action)))


def game_values(form: SequenceForm, strategy: Floats) -> Floats:
    """What each seat is paid on average when all play ``strategy``: (P,)."""
    plan = np.empty_like(strategy)
    realise(form.parent, form.first, strategy, plan)
    return form.payment.T @ plan[form.meeting].prod(axis=1)


@dataclass(frozen=True)
class BestResponse:
    """What one seat could have against the strategy of the others.

    Attributes:
        value: what it would be paid on average.
        strategy: (S,) its pure best response at its own information sets; the others' part as given.
    """

    value: float
    strategy: Floats


def best_response(form: SequenceForm, strategy: Floats, seat: int) -> BestResponse:
    """The best that ``seat`` can do, recalling everything, against the others' part of ``strategy``."""
    plan, value, reply = np.empty_like(strategy), np.empty_like(strategy), strategy.copy()
    realise(form.parent, form.first, strategy, plan)
    add_payments(form.meeting, form.payment, plan, seat, value)
    best_replies(form.seat, form.parent, form.first, seat, value, reply)
    return BestResponse(float(value[seat]), reply)


def nash_conv(form: SequenceForm, strategy: Floats) -> float:
    """What the seats could gain, each by itself, from their best responses, together; 0 at an equilibrium."""
    best = [best_response(form, strategy, seat).value for seat in range(form.game.num_players)]
    return float(np.sum(best) - game_values(form, strategy).sum())


# -------------------------------------------------------------------------------------------------------------- solver


class CFRPlus:
    """CFR+ (Tammelin 2014): regret matching+, seats in turn, averages weighted by the iteration.

    Args:
        form: the game.
        by_observation: hold the strategy to what a policy can play; otherwise it may depend on everything recalled.

    With two seats and a zero-sum game the average strategy goes to an equilibrium if it may depend on everything
    recalled; otherwise, and with more seats, nothing is promised and :func:`nash_conv` tells.
    """

    def __init__(self, form: SequenceForm, by_observation: bool = True) -> None:
        self.form = form
        self.slot = form.slot if by_observation else np.arange(len(form.action))
        self.iterations = 0
        self.strategy = uniform_strategy(form)
        self._regret = np.zeros(len(form.action))
        self._total = np.zeros(len(form.action))
        self._scratch = np.zeros((3, len(form.action)))

    def iterate(self, iterations: int = 1) -> None:
        """Go on for so many iterations."""
        form, (plan, value, gained) = self.form, self._scratch
        for _ in range(iterations):
            self.iterations += 1
            for seat in range(form.game.num_players):
                realise(form.parent, form.first, self.strategy, plan)
                add_payments(form.meeting, form.payment, plan, seat, value)
                regret_step(
                    form.seat, form.parent, form.first, self.slot, seat, self.strategy, value, gained, self._regret
                )
            realise(form.parent, form.first, self.strategy, plan)
            add_plan(plan, self.slot, float(self.iterations), self._total)

    def average(self) -> Floats:
        """The average strategy so far: (S,)."""
        return normalised(self.form, self._total, self.slot)

    def run(self, target: float, most_iterations: int = 100_000, check_every: int = 50) -> Floats:
        """Iterate until NashConv is at most ``target``, or ``most_iterations`` are done; the average strategy (S,)."""
        while True:
            self.iterate(min(check_every, most_iterations - self.iterations))
            strategy = self.average()
            if self.iterations >= most_iterations or nash_conv(self.form, strategy) <= target:
                return strategy


# ------------------------------------------------------------------------------------------------- policies and tables


def strategy_table(form: SequenceForm, strategy: Floats) -> StrategyTable:
    """``strategy`` as a table for :class:`llama_envs.policies.tabular.TabularPolicy`.

    Raises:
        ValueError: it differs between information sets at which a seat observes the same.
    """
    rows = np.zeros((form.num_sets, form.game.num_actions))
    players = form.game.num_players
    rows[form.set_of[players:], form.action[players:]] = strategy[players:]
    _, example = np.unique(form.cell, return_index=True)
    if not np.array_equal(rows, rows[example[form.cell]]):
        raise ValueError("the strategy depends on more than the latest observation; solve it by_observation.")
    return StrategyTable(form.seat[example], form.observation[example], rows[example])


def strategy_of(form: SequenceForm, probabilities: npt.NDArray[np.floating[Any]]) -> Floats:
    """The strategy (S,) with ``probabilities`` (I, A) at the information sets."""
    players = form.game.num_players
    strategy = np.ones(len(form.action))
    strategy[players:] = probabilities[form.set_of[players:], form.action[players:]]
    return strategy


def views_of(form: SequenceForm, policy: Policy, seed: int = 0) -> View:
    """What ``policy`` would be shown at every information set, (I,) rows."""
    streams = policy_streams(form.num_sets, seed)
    possible = None
    if policy.needs_worlds:
        possible = resampled(form.game, form.example, form.seat, streams, 1)[:, 0].copy()
    return View(form.game, form.observation.copy(), form.mask, form.seat.copy(), streams, possible)


def strategy_of_deterministic(form: SequenceForm, policy: Policy) -> Floats:
    """The strategy (S,) of a policy that never draws: what it does at every information set."""
    actions = policy.act(views_of(form, policy))
    return strategy_of(form, np.eye(form.game.num_actions)[actions])
