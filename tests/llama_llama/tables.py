"""Small decks, games and views shared by the tests of Llama Llama."""

from __future__ import annotations

from typing import Any

import numpy as np

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.game import Game
from llama_envs.llama_llama.config import LlamaLlamaConfig
from llama_envs.llama_llama.deck import Card, Combination, Deck
from llama_envs.llama_llama.game import make_game
from tests.llama_llama.possible_worlds import View


def small_deck(copies: tuple[int, ...], pairs: bool = False) -> Deck:
    """A deck with so many copies of each kind, of up to seven letters from A on; ``pairs``: AB also pays, and so on."""
    letters = ["ABCDEFG"[kind * min(7, len(copies)) // len(copies)] for kind in range(len(copies))]
    cards = []
    for kind, number in enumerate(copies):
        second = [Combination(letters[kind], kind + 2)]
        if pairs and letters[kind - 1] != letters[kind]:
            second.append(Combination(letters[kind] + letters[kind - 1], kind % 3 + 1))
        cards.append(Card(letters[kind], (Combination(letters[kind], kind % 5 + 1),), tuple(second), number))
    return Deck("small", tuple(cards), sum(copies))


def small_game(copies: tuple[int, ...], **options: Any) -> Game:
    return make_game(LlamaLlamaConfig(deck=small_deck(copies), **options))


def play(batch: Batch, decisions: int, seed: int) -> None:
    """Uniform legal picks in every game."""
    streams = policy_streams(batch.num_games, seed)
    for _ in range(decisions):
        batch.step(batch.sample_actions(streams))


def expand(counts: Any) -> tuple[int, ...]:
    """Counts per kind as a sorted tuple of kinds."""
    return tuple(int(kind) for kind in np.repeat(np.arange(len(counts)), counts))


def may_own(config: LlamaLlamaConfig, rounds: int, totals: list[int]) -> tuple[tuple[int, ...], ...]:
    """The hands whose goal may lie on each display (P6, P7), from the rules page."""
    n = config.num_players
    if rounds == 0:
        return (tuple(range(4)),) * 4
    order = sorted(totals, reverse=True)
    owners = []
    for display in range(1, 5):
        if display in config.marked_displays:
            owners.append(tuple(range(n, 4)))
        else:
            points = order.pop(0)
            owners.append(tuple(seat for seat in range(n) if totals[seat] == points))
    return tuple(owners)


def view_of(game: Game, state: Any, seat: int) -> View:
    """What ``seat`` has seen in the running round of ``state``, one record, while somebody must decide on a pass."""
    config: LlamaLlamaConfig = game.config
    finished = int(state["phase"]) - 1
    starts = np.cumsum([0, *config.pass_counts])
    logs = {
        name: tuple(tuple(sorted(map(int, state[name][seat][starts[t] : starts[t + 1]]))) for t in range(finished))
        for name in ("passed", "received")
    }
    kinds = config.cards.num_kinds
    return View(
        num_players=config.num_players,
        seat=seat,
        kind_of=expand(config.cards.counts),
        hand=expand(state["hand"][seat][:kinds]),
        goal=int(state["goal"][seat]),
        passed=logs["passed"],
        received=logs["received"],
        shown=tuple(int(state["goal"][state["owner"][display]]) for display in range(finished + 1)),
        may_own=may_own(config, int(state["rounds"]), [int(total) for total in state["total"][: config.num_players]]),
        left=tuple(int(hand) for hand in state["left"][: config.num_players]),
        hand_size=config.hand_size - 1,
    )


class Table:
    """One game whose chance events and picks a test chooses: calls the rules on one record."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.n = game.num_players
        self.array = np.zeros(1, game.state_dtype)
        self.state = game.records(self.array)[0]
        self.params = game.records(game.params)[0]
        game.rules.start_game(self.state, self.params)

    def twin(self) -> Table:
        """An independent copy."""
        other = Table(self.game)
        other.array[:] = self.array
        return other

    def __getitem__(self, name: str) -> Any:
        return self.state[name]

    def probabilities(self) -> list[float]:
        """Of the outcomes of the pending event."""
        probs = np.zeros(self.game.max_chance_outcomes)
        number = self.game.rules.chance_outcomes(self.state, self.params, probs)
        return [float(p) for p in probs[:number]]

    def chance(self, *outcomes: int) -> None:
        for outcome in outcomes:
            assert self.state["chance"] != 0
            assert self.probabilities()[outcome] > 0
            self.game.rules.apply_chance(self.state, self.params, outcome)

    def legal(self, seat: int | None = None) -> set[int]:
        mask = np.zeros(self.game.num_actions, np.bool_)
        self.game.rules.legal_actions(self.state, self.params, self.state["to_move"] if seat is None else seat, mask)
        return {int(kind) for kind in np.flatnonzero(mask)}

    def act(self, *actions: int) -> None:
        for action in actions:
            assert action in self.legal()
            self.game.rules.apply(self.state, self.params, action)

    def observe(self, seat: int) -> Any:
        out = np.full(self.game.observation.size, np.nan, np.float32)
        self.game.rules.observe(self.state, self.params, seat, out)
        return out

    def decode(self, seat: int) -> dict[str, Any]:
        return self.game.observation.decode(self.observe(seat))

    def hand(self, hand: int) -> tuple[int, ...]:
        return expand(self.state["hand"][hand])

    def hands(self) -> list[tuple[int, ...]]:
        return [self.hand(hand) for hand in range(4)]

    def deal(self, dummy_seat: int = 0) -> None:
        """The cards in the order of the deck: hand 0 gets the lowest kinds."""
        if self.n == 3:
            self.chance(dummy_seat)
        for kind in expand(self.game.config.cards.counts)[: 4 * self.game.config.hand_size]:
            self.chance(kind)

    def set_goals(self, order: tuple[int, ...] = (0, 1, 2, 3)) -> None:
        """Every hand gives its highest card as goal; ``order``: the owners of displays 1 to 4."""
        self.act(*(max(self.hand(seat)) for seat in range(self.n)))
        self.chance(*(max(self.hand(dummy)) for dummy in range(self.n, 4)))
        self.chance(*order)

    def step_anyhow(self) -> None:
        """The first possible pick or outcome."""
        if self.state["to_move"] >= 0:
            self.act(min(self.legal()))
        else:
            self.chance(int(np.argmax(self.probabilities())))
