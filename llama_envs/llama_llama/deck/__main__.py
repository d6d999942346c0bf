"""``python -m llama_envs.llama_llama.deck``: validate a deck and print it as a table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from llama_envs.llama_llama.deck import DeckError, deck_table, deck_table_markdown, load_deck


def main(arguments: Sequence[str] | None = None) -> int:
    """Validate a deck and print it as a table.

    Args:
        arguments: The command line after the program's name; that of the process if None.

    Returns:
        The exit code: 0, or 2 for a deck that breaks the format.
    """
    parser = argparse.ArgumentParser(
        prog="python -m llama_envs.llama_llama.deck",
        description="Validate a Llama Llama deck and print it as a table.",
        epilog="Exit code 0 for a valid deck; 2 for an invalid one, with one sentence on standard error.",
    )
    parser.add_argument("deck", help='path of a deck file that ends in .toml, or a name such as "reconstructed"')
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args(arguments)
    try:
        deck = load_deck(options.deck)
    except DeckError as error:
        print(error, file=sys.stderr)
        return 2
    print(deck_table_markdown(deck) if options.markdown else deck_table(deck), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
