"""Small decks, games and views shared by the tests of Llama Llama."""

from __future__ import annotations

from typing import Any

import numpy as np

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.game import Game
from llama_envs.llama_llama.config import LlamaLlamaConfig
from llama_envs.llama_llama.deck import Card, Combination, Deck
from llama_envs.llama_llama.game import make_game

from .possible_worlds import View

SECONDS = ("AA", "AB", "BB", "BC", "CC", "DD", "AD", "EE", "AE", "FF", "AF", "GG")


def small_deck(copies: tuple[int, ...]) -> Deck:
    """A deck with so many copies of each kind, its letters from A on, several kinds to a letter after G."""
    cards = []
    for kind, number in enumerate(copies):
        letter = "ABCDEFG"[kind * min(7, len(copies)) // len(copies)]
        cards.append(Card(letter, (Combination(letter, kind % 5 + 1),), (Combination(letter, kind + 2),), number))
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
