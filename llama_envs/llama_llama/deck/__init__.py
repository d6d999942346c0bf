"""Decks of Llama Llama: what every card says, as data (P2, P14-P17).

A card has a letter, A to G, and two scoring rules. A rule pays for one combination of letters or for several
alternative ones, each of which is counted by itself (P15); a letter rule such as A = 1 is the combination "A" worth 1.
A *kind* of card is one distinct (letter, rules); a deck holds some copies of every kind. Kinds are numbered by letter,
then by their order in the file, so that the kind index never decreases in the letter.

A deck is a TOML file. Anyone who owns the box can write down the true list::

    name = "my-deck"            # required: how reports call the deck
    size = 32                   # optional, 1 to 32, default 32: what the copies of all cards add up to

    [[card]]                    # one block for each kind of card
    letter = "D"                # required: A to G
    copies = 3                  # required: how many of these cards the deck holds
    rules = [{ D = 4 }, { AG = 5, CE = 5, BF = 5 }]     # required: two rules, each { letters = points, ... }
    provenance = "attested"     # required: "attested" (seen) or "assumed"
    name = "D:pairs"            # optional: a short name of the kind, made from letter and second rule if left out

``python -m llama_envs.llama_llama.deck my.toml`` validates such a file and prints the deck as a table.
"""

from llama_envs.llama_llama.deck.cards import (
    LETTERS,
    MAX_CARDS,
    MAX_POINTS,
    PROVENANCES,
    SCORED_HAND_SIZE,
    Card,
    Combination,
    Deck,
    DeckError,
    Provenance,
    Rule,
)
from llama_envs.llama_llama.deck.files import deck_from_text, deck_from_toml, load_deck
from llama_envs.llama_llama.deck.random_decks import random_deck
from llama_envs.llama_llama.deck.scoring import score_hands
from llama_envs.llama_llama.deck.tables import deck_table, deck_table_markdown

__all__ = [
    "LETTERS",
    "MAX_CARDS",
    "MAX_POINTS",
    "PROVENANCES",
    "SCORED_HAND_SIZE",
    "Card",
    "Combination",
    "Deck",
    "DeckError",
    "Provenance",
    "Rule",
    "deck_from_text",
    "deck_from_toml",
    "deck_table",
    "deck_table_markdown",
    "load_deck",
    "random_deck",
    "score_hands",
]
