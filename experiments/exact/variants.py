"""The small variants that are solved."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from llama_envs.core.game import Game
from llama_envs.core.registry import game_names, make_game
from llama_envs.llama_llama.deck import Card, Combination, Deck


@dataclasses.dataclass(frozen=True)
class Variant:
    """A small game to be solved.

    Attributes:
        name: in tables and files.
        game: the registered game.
        options: of its config.
        slow: left out by --quick.
        ppo: PPO is trained on it.
    """

    name: str
    game: str
    options: dict[str, Any]
    slow: bool = False
    ppo: bool = False

    def make(self) -> Game:
        """The game."""
        return make_game(self.game, **self.options)


def small_lama(num_ranks: int, copies: int, hand_size: int, reward: str = "score", **kind: bool) -> Variant:
    """One round of L.L.A.M.A. between two, opened by seat 0."""
    options = {
        "num_players": 2, "num_ranks": num_ranks, "copies": copies, "hand_size": hand_size, "first_player": 0,
        "max_rounds": 1, "single_round_terminates": True, "reward": reward,
    }  # fmt: skip
    return Variant(f"lama-{num_ranks}x{copies}-{hand_size}-{reward}", "lama", options, **kind)


TWO_ROUNDS = Variant(  # with a chip to return in the second
    "lama-2x2-1-score-2rounds",
    "lama",
    {
        "num_players": 2, "num_ranks": 2, "copies": 2, "hand_size": 1, "first_player": 0, "max_rounds": 2,
        "reward": "score",
    },
)  # fmt: skip


def small_card(letter: str, points: int, second: str, second_points: int, copies: int) -> Card:
    """A card of a small deck: its letter's own points, and those of a combination."""
    return Card(letter, (Combination(letter, points),), (Combination(second, second_points),), copies)


DECKS = {
    deck.name: deck
    for deck in (
        Deck("ab8", (small_card("A", 1, "B", 3, 6), small_card("B", 2, "A", 2, 2)), 8),
        Deck("abc8", (small_card("A", 1, "B", 5, 4), small_card("B", 2, "C", 3, 2), small_card("C", 3, "A", 4, 2)), 8),
        Deck("ab12", (small_card("A", 1, "BB", 6, 10), small_card("B", 2, "AA", 7, 2)), 12),
        Deck("abb12", (small_card("A", 1, "BB", 6, 9), small_card("B", 2, "AA", 7, 3)), 12),
    )
}


def small_llamas(deck: str, num_players: int, hand_size: int, reward: str = "score", **kind: bool) -> Variant:
    """One round of Llama Llama with one card in each pass."""
    options = {
        "num_players": num_players, "deck": DECKS[deck], "hand_size": hand_size, "pass_counts": (1, 1, 1, 1),
        "num_rounds": 1, "reward": reward,
    }  # fmt: skip
    return Variant(f"llama_llama-{deck}-{num_players}p-{reward}", "llama_llama", options, **kind)


VARIANTS = (
    small_lama(2, 2, 1, "win"),
    small_lama(2, 3, 2, "win"),
    TWO_ROUNDS,
    small_lama(3, 2, 1),
    small_lama(3, 2, 2, "win"),
    small_lama(3, 2, 2, ppo=True),
    small_lama(7, 1, 2),
    small_lama(4, 2, 2, slow=True),
    small_lama(4, 2, 1, slow=True),
    small_lama(3, 3, 2, slow=True),
    small_llamas("ab8", 2, 2, "win"),
    small_llamas("ab12", 2, 3, ppo=True),
    small_llamas("abb12", 2, 3, slow=True),
    small_llamas("ab8", 3, 2),
    small_llamas("ab12", 3, 3, slow=True),
    small_llamas("ab8", 4, 2),
    small_llamas("abc8", 4, 2, "win"),
    small_llamas("ab12", 4, 3),
)


def chosen_variants(names: Sequence[str], quick: bool) -> list[Variant]:
    """The variants of these names, or registered games, each with its default options; without names all of them.

    Raises:
        ValueError: there is no variant and no game of a name, or a game does not exist with its default options.
    """
    known = {variant.name: variant for variant in VARIANTS}
    known |= {name: Variant(name, name, {}, ppo=True) for name in game_names()}
    for name in names:
        if name not in known:
            listed = ", ".join(variant.name for variant in VARIANTS)
            raise ValueError(f"there is no variant {name!r} and no game of this name; the variants are {listed}.")
    if names:
        return [known[name] for name in names]
    return [variant for variant in VARIANTS if not (quick and variant.slow)]
