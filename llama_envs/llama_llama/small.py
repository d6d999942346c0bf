"""Variants that are small enough to be solved: one round with two or three kinds of cards, one card in each pass."""

from __future__ import annotations

from llama_envs.core.spec import SmallGame
from llama_envs.llama_llama.deck import Card, Combination, Deck


def card(letter: str, points: int, second: str, second_points: int, copies: int) -> Card:
    """A card of a small deck: its letter's own points, and those of a combination."""
    return Card(letter, (Combination(letter, points),), (Combination(second, second_points),), copies)


DECKS = {
    deck.name: deck
    for deck in (
        Deck("ab8", (card("A", 1, "B", 3, 6), card("B", 2, "A", 2, 2)), 8),
        Deck("abc8", (card("A", 1, "B", 5, 4), card("B", 2, "C", 3, 2), card("C", 3, "A", 4, 2)), 8),
        Deck("ab12", (card("A", 1, "BB", 6, 10), card("B", 2, "AA", 7, 2)), 12),
        Deck("abb12", (card("A", 1, "BB", 6, 9), card("B", 2, "AA", 7, 3)), 12),
    )
}


def one_round(deck: str, num_players: int, hand_size: int, reward: str = "score", **kind: bool) -> SmallGame:
    """One round with a deck of ``DECKS``."""
    options = {
        "num_players": num_players, "deck": DECKS[deck], "hand_size": hand_size, "pass_counts": (1, 1, 1, 1),
        "num_rounds": 1, "reward": reward,
    }  # fmt: skip
    return SmallGame(f"llama_llama-{deck}-{num_players}p-{reward}", options, **kind)


SMALL = (
    one_round("ab8", 2, 2, "win"),
    one_round("ab12", 2, 3, ppo=True),
    one_round("abb12", 2, 3, slow=True),
    one_round("ab8", 3, 2),
    one_round("ab12", 3, 3, slow=True),
    one_round("ab8", 4, 2),
    one_round("abc8", 4, 2, "win"),
    one_round("ab12", 4, 3),
)
