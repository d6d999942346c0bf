"""A deck as a table: for a terminal and in Markdown."""

from __future__ import annotations

from llama_envs.core.markdown import markdown_table, plural
from llama_envs.llama_llama.deck.cards import Deck


def deck_table(deck: Deck) -> str:
    """Write the deck as an aligned table for a terminal, one row per kind, below a line with its name and size.

    Args:
        deck: The deck.

    Returns:
        The table, ending in a newline.
    """
    rows = [("letter", "copies", "first rule", "second rule", "provenance")]
    rows += [(card.letter, str(card.copies), *card.rules_text, card.provenance) for card in deck.cards]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"{deck.name}: {plural(deck.size, 'card')} of {plural(deck.num_kinds, 'kind')}"]
    lines += ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join(lines) + "\n"


def deck_table_markdown(deck: Deck) -> str:
    """Write the deck as a Markdown table, one row per kind.

    Args:
        deck: The deck.

    Returns:
        The table, ending in a newline.
    """
    rows = [
        (f"`{name}`", card.letter, card.copies, *card.rules_text, card.provenance)
        for name, card in zip(deck.kind_names, deck.cards, strict=True)
    ]
    return markdown_table(("kind", "letter", "copies", "first rule", "second rule", "provenance"), rows) + "\n"
