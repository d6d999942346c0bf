"""``ismcts:N`` and ``ismcts:N:ROLLOUT``: information-set Monte Carlo tree search (Cowling, Powley & Whitehouse 2012).

Each of N iterations draws one world that the seat considers possible and simulates in it, with the same stream, every
action that is still in the race: after ``TRIAL`` worlds an action leaves when it is behind the best one by more than
``CONFIDENCE`` standard errors of their paired difference (Maron & Moore 1993), and the search ends when one is left.
The action with the best mean is chosen. A simulation goes to the end of the round and is counted as in ``mc``.

After the first action, a simulation follows a tree over the information sets of the searching seat: a node is one
observation of that seat and who is to move, so that nothing hidden from it tells nodes apart, and cards that it draws
or receives do. Chance is sampled. At a node the mover takes the action with the largest

    mean + scale * (EXPLORATION * sqrt(ln(available) / visits) + (BIAS / sqrt(visits) if the rollout would take it))

where mean is of the *mover's own* results (multi-player backup), ``available`` counts how often the action was legal
there, and ``scale`` is the standard deviation of the results so far. The first visit takes the rollout's action and
leaves the tree; an action not yet visited counts as visited once, with the mean of its node.

Where seats decide at the same moments, picks of the others are not nodes: they are hidden, so each other seat picks by
the rollout policy from its hand in the sampled world, and no pick depends on another one of the same cycle.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from llama_envs.core.compile import kernel
from llama_envs.core.contract import Floats, Kernel, Mask, Params, Rules, State, Streams
from llama_envs.core.game import Game
from llama_envs.policies.scripted import RandomPolicy
from llama_envs.policies.search.budget import MOST, Budget, parse_budget
from llama_envs.policies.search.rollout import (
    Scratch,
    compile_pick,
    forget,
    make_scratch,
    named_rollout,
    rollout_kernel,
    round_results,
)
from llama_envs.policies.view import Actions, Policy, View

USAGE = "ismcts:N[:ROLLOUT]"
EXPLORATION = 0.1
BIAS = 1.0
CONFIDENCE = 2.5
TRIAL = 8
MOST_NODES = 50_000  # when they are used up, the tree grows no more
DEEPEST = 128  # nodes on one path
EMPTY = -1
MULTIPLIER = np.uint64(0xBF58476D1CE4E5B9)
SHIFT = np.uint64(31)
NODE, ACTION, MOVER = 0, 1, 2  # columns of ``path``


class Tree(NamedTuple):
    """A pool of M nodes for A actions, and the table that finds them.

    Attributes:
        slots: (2^k,) int32, open addressing: a node, or ``EMPTY``.
        keys: (M,) uint64, hash of the information set (two that share a hash would share a node: one in 10^10 trees).
        guess: (M,) int32, what the rollout policy does there.
        visits: (M, A) int32.
        available: (M, A) int32, how often the action was legal when its node was visited.
        total: (M, A) float64, sum of the mover's results.
        path: (DEEPEST, 3) int64, the nodes, actions and movers of the running simulation.
        used: (1,) int64, nodes in use.
        words: uint64, the memory of ``seen``.
        seen: (D,) float32, an observation.
    """

    slots: npt.NDArray[np.int32]
    keys: npt.NDArray[np.uint64]
    guess: npt.NDArray[np.int32]
    visits: npt.NDArray[np.int32]
    available: npt.NDArray[np.int32]
    total: npt.NDArray[np.float64]
    path: npt.NDArray[np.int64]
    used: npt.NDArray[np.int64]
    words: npt.NDArray[np.uint64]
    seen: npt.NDArray[np.float32]


class Race(NamedTuple):
    """The actions of the seat that searches.

    Attributes:
        running: (A,) bool, still in the race.
        worlds: (A,) int64, how often each was simulated.
        total: (A,) float64, sum of the seat's results.
        product: (A, A) float64, sums of products of results in the same world.
        results: (A,) float64, in the running world.
    """

    running: npt.NDArray[np.bool_]
    worlds: npt.NDArray[np.int64]
    total: npt.NDArray[np.float64]
    product: npt.NDArray[np.float64]
    results: npt.NDArray[np.float64]


def make_tree(game: Game, nodes: int) -> Tree:
    """An empty tree."""
    actions, size = game.num_actions, game.observation.size
    words = np.zeros((size + 1) // 2, np.uint64)
    return Tree(
        slots=np.full(1 << (2 * nodes).bit_length(), EMPTY, np.int32),
        keys=np.zeros(nodes, np.uint64),
        guess=np.zeros(nodes, np.int32),
        visits=np.zeros((nodes, actions), np.int32),
        available=np.zeros((nodes, actions), np.int32),
        total=np.zeros((nodes, actions), np.float64),
        path=np.zeros((DEEPEST, 3), np.int64),
        used=np.zeros(1, np.int64),
        words=words,
        seen=words.view(np.float32)[:size],
    )


def make_race(game: Game) -> Race:
    """A race that :func:`start_race` can start."""
    a = game.num_actions
    return Race(np.zeros(a, np.bool_), np.zeros(a, np.int64), np.zeros(a), np.zeros((a, a)), np.zeros(a))


class TreeSearchPolicy:
    """Information-set Monte Carlo tree search; see the module.

    Args:
        game: what is played.
        iterations: worlds for each decision, or a budget; by the clock, choices cannot be reproduced.
        rollout: a policy that is a kernel, which plays on where the tree ends; None plays uniformly at random.
        nodes: size of the pool; None takes what the iterations can fill, at most ``MOST_NODES``.
        exploration: weight of exploring in the tree.
        bias: weight of what the rollout policy would do.
        confidence: standard errors behind the best at which an action leaves the race.

    Attributes:
        tree: of the last decision in this thread.

    One object may decide in several threads at once.
    """

    needs_worlds = True

    def __init__(
        self,
        game: Game,
        iterations: int | Budget,
        rollout: Policy | None,
        nodes: int | None = None,
        exploration: float = EXPLORATION,
        bias: float = BIAS,
        confidence: float = CONFIDENCE,
    ) -> None:
        self.game = game
        self.budget = iterations if isinstance(iterations, Budget) else Budget(iterations)
        self.rollout = rollout or RandomPolicy()
        self._kernel = rollout_kernel(self.rollout)
        self.weights = np.array([exploration, bias, confidence], np.float64)
        pick = compile_pick(game.rules, self._kernel.choose, self._kernel.needs_mask)
        self._search = compile_search(game.rules, pick, game.simultaneous)
        self._sign = 1 if game.most_points_win else -1
        simulations = (self.budget.count or MOST) * game.num_actions
        self.nodes = nodes or min(simulations, MOST_NODES)
        self._spare = threading.local()  # the tree and scratch memory of each thread

    @property
    def tree(self) -> Tree:
        """The tree of the last decision in this thread."""
        if not hasattr(self._spare, "tree"):
            self._spare.tree = make_tree(self.game, self.nodes)
            self._spare.race = make_race(self.game)
            self._spare.scratch = make_scratch(self.game, self._kernel)
        return self._spare.tree

    def act(self, view: View) -> Actions:
        """The action with the best mean result among those left in the race, for each row: (n,) int64."""
        return self._decide(view)[1].argmax(axis=1)

    def values(self, view: View) -> npt.NDArray[np.float64]:
        """The mean result of each legal action: (n, A) float64, in points of the game; 0 where it is not legal.

        Actions that left the race early were simulated less often.
        """
        return self._decide(view)[0]

    def _decide(self, view: View) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Means (n, A) of all legal actions, and the same with -inf for those not left in the race."""
        game, tree = view.game, self.tree
        race, scratch = self._spare.race, self._spare.scratch
        values = np.zeros(view.mask.shape, np.float64)
        left = np.full(view.mask.shape, -np.inf)
        start = game.records(view.worlds(1)[:, 0].copy())
        spare = game.records(np.zeros(2, game.state_dtype))
        params = game.records(game.params)
        for row in range(len(view)):
            rows = slice(row, row + 1)

            def search(iterations: int, rows: slice = rows) -> bool:
                return bool(
                    self._search(
                        start[rows], spare, params, view.seat[rows], view.streams[rows], self._kernel.options,
                        scratch, tree, race, self.weights, iterations, self._sign,
                    )
                )  # fmt: skip

            clear(tree)
            start_race(race, view.mask[row])
            search(0)  # compile before the clock starts
            self.budget.spend(search)
            values[row] = race.total / np.maximum(race.worlds, 1)
            left[row, race.running] = values[row, race.running]
        return values, left

    def __reduce__(self) -> tuple[Any, ...]:
        return TreeSearchPolicy, (self.game, self.budget, self.rollout, self.nodes, *self.weights.tolist())


@kernel
def clear(tree: Tree) -> None:
    """Forget all nodes."""
    used = tree.used[0]
    tree.slots[:] = EMPTY
    tree.visits[:used] = 0
    tree.available[:used] = 0
    tree.total[:used] = 0.0
    tree.used[0] = 0


@kernel
def find_node(tree: Tree, key: Any) -> tuple[int, bool]:
    """The node with this key, made if there is none: (node, whether it is new); (-1, False) if there is no room."""
    last = len(tree.slots) - 1
    slot = np.int64(key & np.uint64(last))
    while tree.slots[slot] != EMPTY:
        if tree.keys[tree.slots[slot]] == key:
            return np.int64(tree.slots[slot]), False
        slot = (slot + 1) & last
    node = tree.used[0]
    if node == len(tree.keys):
        return np.int64(-1), False
    tree.used[0] += 1
    tree.slots[slot] = node
    tree.keys[node] = key
    return np.int64(node), True


@kernel
def select(tree: Tree, node: int, mask: Mask, guess: int, exploration: float, bias: float) -> int:
    """The legal action with the largest upper bound (module docstring); both weights are in points."""
    guess = np.int64(guess)
    visits = 0
    total = 0.0
    for action in range(len(mask)):
        if mask[action]:
            tree.available[node, action] += 1
            visits += tree.visits[node, action]
            total += tree.total[node, action]
    if visits == 0 or tree.visits[node, guess] == 0:
        return guess
    best = -np.inf
    best_action = guess
    for action in range(len(mask)):
        if mask[action]:
            n = tree.visits[node, action]
            value = tree.total[node, action] / n if n > 0 else total / visits
            n = max(n, 1)
            value += exploration * np.sqrt(np.log(float(tree.available[node, action])) / n)
            if action == guess:
                value += bias / np.sqrt(float(n))
            if value > best:
                best = value
                best_action = action
    return best_action


@kernel
def back_up(tree: Tree, depth: int, results: Floats) -> None:
    """Add each mover's own result to the first ``depth`` entries of the path."""
    for place in range(depth):
        node = tree.path[place, NODE]
        action = tree.path[place, ACTION]
        tree.visits[node, action] += 1
        tree.total[node, action] += results[tree.path[place, MOVER]]


@kernel
def start_race(race: Race, mask: Mask) -> None:
    """All legal actions set off."""
    for action in range(len(mask)):
        race.running[action] = mask[action]
        race.worlds[action] = 0
        race.total[action] = 0.0
        for other in range(len(mask)):
            race.product[action, other] = 0.0


@kernel
def count_world(race: Race) -> None:
    """Enter the results of the running world."""
    for action in range(len(race.running)):
        if race.running[action]:
            race.worlds[action] += 1
            race.total[action] += race.results[action]
            for other in range(len(race.running)):
                if race.running[other]:
                    race.product[action, other] += race.results[action] * race.results[other]


@kernel
def leave_race(race: Race, confidence: float) -> int:
    """Take out the actions that are clearly behind the best one; returns how many are left."""
    best = -1
    for action in range(len(race.running)):
        if race.running[action] and (best < 0 or race.total[action] > race.total[best]):
            best = action
    n = float(race.worlds[best])
    left = 0
    for action in range(len(race.running)):
        if race.running[action]:
            behind = (race.total[best] - race.total[action]) / n
            square = race.product[best, best] - 2.0 * race.product[best, action] + race.product[action, action]
            error = np.sqrt(max(square / n - behind * behind, 0.0) / n)
            race.running[action] = n < TRIAL or not behind > confidence * error  # infinity times 0 keeps it
            left += int(race.running[action])
    return left


@kernel
def deviation(race: Race) -> float:
    """The standard deviation of the results of the action that has most worlds; 1 before there are two."""
    longest = 0
    for action in range(len(race.running)):
        if race.worlds[action] > race.worlds[longest]:
            longest = action
    n = race.worlds[longest]
    if n < 2:
        return 1.0
    mean = race.total[longest] / n
    return np.sqrt(max(race.product[longest, longest] / n - mean * mean, 0.0))


@functools.cache
def compile_search(rules: Rules, pick: Kernel, simultaneous: bool) -> Kernel:
    """The kernel that goes on with a search, for a game and a rollout."""
    apply, resample_hidden = rules.apply, rules.resample_hidden
    sample_chance, apply_chance = rules.sample_chance, rules.apply_chance
    observe, legal_actions = rules.observe, rules.legal_actions

    @kernel
    def information_set(state: State, params: Params, seat: int, tree: Tree) -> Any:
        """A hash of what ``seat`` sees and who is to move."""
        observe(state, params, seat, tree.seen)
        key = np.uint64(state.to_move + 1)
        for k in range(len(tree.words)):
            key = (key ^ tree.words[k]) * MULTIPLIER
            key ^= key >> SHIFT
        return key

    @kernel
    def guess_action(state: State, params: Params, scratch: Scratch, options: Floats, stream: Streams) -> int:
        """What the rollout policy would do here, without settling on anything."""
        return pick(state, params, scratch, scratch.memory[state.to_move, :0], options, stream)

    @kernel
    def simulate(
        state: State, params: Params, seat: int, rounds: int, scratch: Scratch, options: Floats, stream: Streams,
        tree: Tree, exploration: float, bias: float,
    ) -> int:  # fmt: skip
        """Play to the end of the round, by the tree as far as it goes; returns the length of the path in it."""
        depth = 0
        inside = True
        while state.rounds == rounds:
            if state.chance != 0:
                apply_chance(state, params, sample_chance(state, params, stream, 0))
                continue
            mover = np.int64(state.to_move)
            if not inside or (simultaneous and mover != seat):
                apply(state, params, pick(state, params, scratch, scratch.memory[mover], options, stream))
                continue
            legal_actions(state, params, mover, scratch.mask)
            action = only_true(scratch.mask)
            if action >= 0:
                apply(state, params, action)
                continue
            node, new = find_node(tree, information_set(state, params, seat, tree))
            inside = node >= 0 and not new and depth + 1 < len(tree.path)
            if node < 0:
                continue
            if new or mover != seat:  # the seat itself always does the same in an information set
                tree.guess[node] = guess_action(state, params, scratch, options, stream)
                legal_actions(state, params, mover, scratch.mask)
            action = select(tree, node, scratch.mask, tree.guess[node], exploration, bias)
            tree.path[depth, NODE] = node
            tree.path[depth, ACTION] = action
            tree.path[depth, MOVER] = mover
            depth += 1
            apply(state, params, action)
        return depth

    @kernel(allocates=True)
    def search(
        start: Any, spare: Any, all_params: Params, seats: npt.NDArray[np.int64], streams: Streams, options: Floats,
        scratch: Scratch, tree: Tree, race: Race, weights: Floats, iterations: int, sign: int,
    ) -> bool:  # fmt: skip
        """So many more worlds, fewer if the race ends; returns whether it goes on."""
        params = all_params[0]
        seat = seats[0]
        rounds = start[0].rounds
        results = np.zeros(params.num_players, np.float64)
        stream = np.zeros(1, np.uint64)
        left = count_true(race.running)
        for _ in range(iterations):
            spare[0] = start[0]
            resample_hidden(spare[0], params, seat, streams, 0)
            scale = deviation(race)
            for action in range(len(race.running)):
                if race.running[action]:
                    spare[1] = spare[0]
                    stream[0] = streams[0]
                    forget(scratch)
                    apply(spare[1], params, action)
                    depth = simulate(
                        spare[1], params, seat, rounds, scratch, options, stream, tree,
                        weights[0] * scale, weights[1] * scale,
                    )  # fmt: skip
                    round_results(start[0], spare[1], params.num_players, sign, results)
                    back_up(tree, depth, results)
                    race.results[action] = results[seat]
            count_world(race)
            left = leave_race(race, weights[2])
            if left == 1:
                break
        return left > 1

    return search


@kernel
def only_true(flags: npt.NDArray[np.bool_]) -> int:
    """The index of the only entry that is set; -1 if there are others."""
    only = -1
    for k in range(len(flags)):
        if flags[k]:
            if only >= 0:
                return -1
            only = k
    return only


@kernel
def count_true(flags: npt.NDArray[np.bool_]) -> int:
    """How many entries are set."""
    n = 0
    for k in range(len(flags)):
        n += int(flags[k])
    return n


def build(game: Game, argument: str) -> Policy:
    """``ismcts:N`` with the heuristic as rollout, or ``ismcts:N:ROLLOUT``; N is a number or a time such as ``5ms``."""
    number, _, name = argument.partition(":")
    return TreeSearchPolicy(game, parse_budget(number, "iterations", USAGE), named_rollout(game, name, USAGE))
