"""The tables that only this game's README has; ``python -m docs.generate`` writes them."""

from __future__ import annotations

from llama_envs.core.game import Game
from llama_envs.llama_llama.deck import deck_table_markdown


def deck(game: Game) -> str:
    """The cards of the deck."""
    return deck_table_markdown(game.config.deck).rstrip()


TABLES = {"deck": deck}
