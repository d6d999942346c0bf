"""OpenSpiel: how tests play its games, and brute force over a whole tree to check its solvers by; no test in here.

A ``table`` is a position of a plain-Python referee: ``player()``, ``after()`` (for each action or outcome its
probability, 1 for actions, and what makes the position that follows), ``rewards()`` and ``sees(seat)``.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as spiel_policy
from open_spiel.python.algorithms import expected_game_score, exploitability

import llama_envs.adapters.open_spiel  # noqa: F401  (registers the games)
from tests.cases import Case

OVER = pyspiel.PlayerId.TERMINAL
CHANCE = pyspiel.PlayerId.CHANCE

Weights = Callable[[list[int]], list[float]]


def spiel_game(case: Case) -> Any:
    """The OpenSpiel game of a case."""
    encoded = {name: "[" + " ".join(map(str, v)) + "]" if isinstance(v, tuple) else v for name, v in case[1].items()}
    return pyspiel.load_game(f"python_{case[0]}", encoded)


def move(state: Any, rng: random.Random) -> None:
    """A random action or outcome."""
    if state.is_chance_node():
        outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(rng.choices(outcomes, probabilities)[0])
    else:
        state.apply_action(rng.choice(state.legal_actions()))


def middle(game: Any, moves: int, rng: random.Random) -> Any:
    """A state with a seat to move, some moves into the game."""
    state = game.new_initial_state()
    while True:
        move(state, rng)
        if state.is_terminal():
            state = game.new_initial_state()
        moves -= 1
        if moves <= 0 and state.current_player() >= 0:
            return state


def observations(state: Any) -> list[str]:
    return [state.observation_string(seat) for seat in range(state.num_players())]


def strings(state: Any) -> list[str]:
    return [state.information_state_string(seat) for seat in range(state.num_players())]


class Recall:
    """Checks that strings and histories of own observations and actions stand for each other."""

    def __init__(self) -> None:
        self.string: dict[Any, str] = {}
        self.history: dict[str, Any] = {}

    def check(self, history: Any, string: str) -> None:
        assert self.string.setdefault(history, string) == string
        assert self.history.setdefault(string, history) == history


def playouts(game: Any, number: int, rng: random.Random) -> Recall:
    """Random games, each seat's history written down beside what OpenSpiel gives."""
    recall, repeated = Recall(), 0
    seats = range(game.num_players())
    for _ in range(number):
        state = game.new_initial_state()
        history: list[tuple[Any, ...]] = [(seat,) for seat in seats]
        while True:
            if not state.is_chance_node():
                for seat in seats:
                    seen = np.array(state.observation_tensor(seat), np.float32).tobytes()
                    history[seat] = (*history[seat], hash(seen))
                    string = state.information_state_string(seat)
                    repeated += history[seat] in recall.string
                    recall.check(history[seat], string)
            if state.is_terminal():
                break
            player = state.current_player()
            move(state, rng)
            if player >= 0:
                history[player] = (*history[player], ("did", state.history()[-1]))
    assert repeated > 0
    return recall


@dataclass
class Node:
    """A node of the whole tree; ``key`` is the history of own observations and actions of the seat to move."""

    player: int
    key: Any
    paid: list[float]
    children: dict[int, tuple[float, Node]]


def whole_tree(table: Any, state: Any, recall: Recall, histories: tuple[Any, ...]) -> Node:
    """The tree of the referee, every node compared with OpenSpiel's."""
    player = table.player()
    assert state.current_player() == player
    if player != CHANCE:
        histories = tuple((*history, hash(table.sees(seat))) for seat, history in enumerate(histories))
    for seat, history in enumerate(histories):
        recall.check(history, state.information_state_string(seat))
    if player == OVER:
        assert state.returns() == pytest.approx(table.rewards(), abs=1e-12)
        return Node(player, None, state.returns(), {})
    following = table.after()
    assert state.legal_actions() == sorted(following)
    if player == CHANCE:
        assert dict(state.chance_outcomes()) == pytest.approx({k: p for k, (p, _) in following.items()})
    children = {}
    for k, (probability, go) in sorted(following.items()):
        known = histories
        if player >= 0:
            known = tuple((*h, ("did", k)) if seat == player else h for seat, h in enumerate(histories))
        children[k] = probability, whole_tree(go(), state.child(k), recall, known)
    return Node(player, histories[player] if player >= 0 else None, [], children)


def uniform(actions: list[int]) -> list[float]:
    return [1 / len(actions)] * len(actions)


def lopsided(actions: list[int]) -> list[float]:
    """Later actions likelier."""
    return [(action + 1) / sum(other + 1 for other in actions) for action in actions]


def first(actions: list[int]) -> list[float]:
    return [1.0] + [0.0] * (len(actions) - 1)


def branches(node: Node, weights: Weights) -> list[tuple[float, Node]]:
    if node.player == CHANCE:
        return list(node.children.values())
    chances = weights(sorted(node.children))
    return [(p, child) for p, (_, child) in zip(chances, node.children.values(), strict=True)]


def values(node: Node, weights: Weights) -> np.ndarray:
    """What each seat gets when all play by ``weights``."""
    if node.player == OVER:
        return np.array(node.paid)
    return np.sum([p * values(child, weights) for p, child in branches(node, weights) if p > 0], axis=0)


def best_value(root: Node, seat: int, weights: Weights) -> float:
    """What ``seat`` gets at best when the others play by ``weights``."""
    groups: dict[Any, list[tuple[float, Node]]] = defaultdict(list)
    choice: dict[Any, int] = {}

    def collect(node: Node, reach: float) -> None:
        if node.player == seat:
            groups[node.key].append((reach, node))
            for _, child in node.children.values():
                collect(child, reach)
        elif node.player != OVER:
            for p, child in branches(node, weights):
                collect(child, reach * p)

    def value(node: Node) -> float:
        if node.player == OVER:
            return node.paid[seat]
        if node.player != seat:
            return sum(p * value(child) for p, child in branches(node, weights) if p > 0)
        if node.key not in choice:
            nodes = groups[node.key]
            gains = {k: sum(reach * value(n.children[k][1]) for reach, n in nodes if reach > 0) for k in node.children}
            choice[node.key] = max(gains, key=gains.__getitem__)
        return value(node.children[choice[node.key]][1])

    collect(root, 1.0)
    return value(root)


def open_spiel_policy(game: Any, weights: Weights) -> Any:
    def probabilities(state: Any) -> dict[int, float]:
        actions = state.legal_actions()
        return dict(zip(actions, weights(actions), strict=True))

    return spiel_policy.tabular_policy_from_callable(game, probabilities)


def agree(game: Any, table: Any, information_sets: int, policies: tuple[Weights, ...]) -> list[float]:
    """Compare everything with brute force; returns NashConv for each of ``policies``."""
    seats = range(game.num_players())
    root = whole_tree(table, game.new_initial_state(), Recall(), tuple((seat,) for seat in seats))
    found = []
    for weights in policies:
        policy = open_spiel_policy(game, weights)
        assert len(policy.states) == information_sets
        expected = values(root, weights)
        got = expected_game_score.policy_value(game.new_initial_state(), [policy] * len(seats))
        assert got == pytest.approx(expected.tolist(), abs=1e-9)
        gains = [best_value(root, seat, weights) - expected[seat] for seat in seats]
        result = exploitability.nash_conv(game, policy, return_only_nash_conv=False)
        assert list(result.player_improvements) == pytest.approx(gains, abs=1e-9)
        assert min(result.player_improvements) >= -1e-9
        found.append(float(result.nash_conv))
    return found
