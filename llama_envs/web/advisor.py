"""What a move is worth: flat Monte Carlo over worlds that the seat considers possible, and the shipped network.

Nothing here looks at the true state: a :class:`~llama_envs.policies.view.View` is all that there is to look at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from llama_envs.core.batch import Batch
from llama_envs.core.chance import derived_seed
from llama_envs.core.game import Game
from llama_envs.core.recording import RecordedGame, replay
from llama_envs.evaluation.intervals import Estimate
from llama_envs.policies import View, make_policy, make_view
from llama_envs.policies.network import NetworkPolicy, probabilities
from llama_envs.policies.search import MonteCarloPolicy

WORLDS = (100, 400, 1600, 6400)  # budgets to choose from
LANE = 2  # of the seed, for what the advisor draws


@dataclass(frozen=True)
class Advice:
    """What is thought of one legal action.

    Attributes:
        action: its number.
        name: its name.
        value: what it brings the seat this round against the mean of the others, in points, with its interval.
        loss: how much less that is than what the best action brings, likewise.
        chance: how likely the network takes it; None if no network ships for this game.
    """

    action: int
    name: str
    value: Estimate
    loss: Estimate
    chance: float | None


@dataclass(frozen=True)
class Judged:
    """One decision of a recorded game.

    Attributes:
        number: which decision of the game, from 0.
        seat: who took it.
        kind: of decision.
        action: the name of what was done.
        best: the name of what is thought best.
        loss: what that cost, in points.
    """

    number: int
    seat: int
    kind: str
    action: str
    best: str
    loss: Estimate


class Advisor:
    """Thinks about decisions of one game.

    Args:
        game: what is played.
        seed: of what it draws.
    """

    def __init__(self, game: Game, seed: int = 0) -> None:
        self.game = game
        self.seed = derived_seed(seed, LANE)
        search = make_policy("mc:1", game)
        assert isinstance(search, MonteCarloPolicy)
        self.search = search
        try:
            network = make_policy("baseline", game)
        except ValueError:  # none ships for this configuration
            network = None
        self.network = network if isinstance(network, NetworkPolicy) else None

    def advise(self, batch: Batch, row: int, worlds: int) -> list[Advice]:
        """Every legal action of the seat that is to move in one game of ``batch``, the best first."""
        view = self._view(batch, row)
        chances = self._chances(view)
        results = self.search.results(view, worlds)[:, 0]  # (worlds, A)
        legal = np.flatnonzero(view.mask[0]).tolist()
        best = max(legal, key=lambda action: float(results[:, action].mean()))
        found = [
            Advice(
                action,
                self.game.action_names[action],
                _estimate(results[:, action]),
                _estimate(results[:, best] - results[:, action]),
                None if chances is None else float(chances[action]),
            )
            for action in legal
        ]
        return sorted(found, key=lambda advice: -advice.value.mean)

    def judge(self, recorded: RecordedGame, seats: Sequence[int], worlds: int) -> Iterator[Judged]:
        """The decisions that ``seats`` took in a game where there was a choice, one after the other."""
        for number, decision in enumerate(replay([recorded])):
            batch, action = decision.batch, int(decision.actions[0])
            seat = int(batch.to_move[0])
            if seat not in seats or batch.action_mask[0].sum() == 1:
                continue
            kind = self.game.kind_of(batch.state[0], action)
            advice = self.advise(batch, 0, worlds)
            (own,) = [each for each in advice if each.action == action]
            yield Judged(number, seat, kind, own.name, advice[0].name, own.loss)

    def _view(self, batch: Batch, row: int) -> View:
        rows = np.array([row])
        streams = np.array([self.seed], np.uint64)
        return make_view(batch, rows, batch.to_move[rows].astype(np.int64), streams, self.search)

    def _chances(self, view: View) -> npt.NDArray[np.float64] | None:
        if self.network is None:
            return None
        return probabilities(self.network.network(view.observation, view.mask), view.mask)[0]


def costs_by_kind(judged: Iterable[Judged]) -> dict[str, tuple[int, float]]:
    """For each kind of decision: how many there were, and what they cost together, in points; the dearest first."""
    sums: defaultdict[str, list[float]] = defaultdict(list)
    for each in judged:
        sums[each.kind].append(each.loss.mean)
    return {kind: (len(sums[kind]), sum(sums[kind])) for kind in sorted(sums, key=lambda kind: -sum(sums[kind]))}


def _estimate(samples: npt.NDArray[np.float64]) -> Estimate:
    """The mean of independent samples."""
    count = len(samples)
    error = float(samples.std(ddof=1)) / np.sqrt(count) if count > 1 else float("inf")
    return Estimate(float(samples.mean()), float(error), count)
