"""Deck files: TOML in the format that the docstring of the package tells."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from llama_envs.llama_llama.deck.cards import (
    KIND_NAME,
    MAX_CARDS,
    SCORED_HAND_SIZE,
    Card,
    Combination,
    Deck,
    DeckError,
    Rule,
    quoted,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

SHIPPED = Path(__file__).parents[1] / "decks"

_DECK_KEYS = ("name", "size", "card")
_REQUIRED_DECK_KEYS = ("name", "card")
_CARD_KEYS = ("letter", "copies", "rules", "provenance", "name")
_REQUIRED_CARD_KEYS = ("letter", "copies", "rules", "provenance")


def load_deck(spec: str | os.PathLike[str] | Deck, scored_hand_size: int = SCORED_HAND_SIZE) -> Deck:
    """Get a deck from whatever names it.

    Args:
        spec: The name of a deck that comes with the package ("reconstructed"), the path of a TOML file, or a `Deck`.
        scored_hand_size: Cards that a player scores: the dealt hand less the goal card.

    Returns:
        The deck, validated for hands of that size.

    Raises:
        DeckError: If there is no such deck or file, or it breaks the format.
    """
    deck = spec if isinstance(spec, Deck) else _load(spec)
    deck.check_scored_hand(scored_hand_size)
    return deck


def deck_from_toml(path_or_text: str | os.PathLike[str]) -> Deck:
    """Read a deck from a TOML file or from the text of one.

    Args:
        path_or_text: A path object, or a text of a single line that ends in ".toml", is a file to read; any other
            text is TOML itself.

    Returns:
        The deck, validated.

    Raises:
        DeckError: If the file cannot be read or breaks the format.
    """
    if isinstance(path_or_text, str) and ("\n" in path_or_text or not path_or_text.lower().endswith(".toml")):
        return _parse(path_or_text)
    path = os.fspath(path_or_text)
    return _parse(_read(path), path)


def deck_from_text(text: str) -> Deck:
    """Read a deck from the text of a TOML file; nothing of this machine is read.

    Raises:
        DeckError: If it breaks the format.
    """
    return _parse(text)


def _load(spec: str | os.PathLike[str]) -> Deck:
    text = os.fspath(spec) if isinstance(spec, (str, os.PathLike)) else ""
    if isinstance(spec, os.PathLike) or text.lower().endswith(".toml") or "/" in text or os.sep in text:
        return _parse(_read(text), text)
    known = sorted(path.stem for path in SHIPPED.glob("*.toml"))
    if text not in known:
        raise DeckError(
            f"unknown deck {quoted(spec)}; known by name: {', '.join(known)}, "
            "and any other deck is given as a path that ends in .toml or as a Deck."
        )
    return _parse(_read(str(SHIPPED / f"{text}.toml")), f"{text}.toml")


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DeckError(f"{path}: no such deck file.") from None
    except UnicodeDecodeError:
        raise DeckError(f"{path}: not valid TOML, which is UTF-8 text.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DeckError(f"{path}: cannot be read as a deck file ({reason}).") from None


def _parse(text: str, source: str = "") -> Deck:
    where = source or "deck text"
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DeckError(f"{where}: not valid TOML: {error}.") from None
    try:
        _check_keys(table, "the deck", _DECK_KEYS, _REQUIRED_DECK_KEYS)
        entries = table["card"]
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise DeckError('key "card": must be a list of [[card]] blocks, one for each kind of card.')
        cards = tuple(_parse_card(entry, number) for number, entry in enumerate(entries, start=1))
    except DeckError as error:
        raise DeckError(f"{where}: {error}") from None
    return Deck(table["name"], cards, table.get("size", MAX_CARDS), source)


def _parse_card(entry: Mapping[str, Any], number: int) -> Card:
    titles = [entry[key] for key in ("name", "letter") if isinstance(entry.get(key), str)]
    label = next((f"card {number} ({title})" for title in titles if KIND_NAME.fullmatch(title)), f"card {number}")
    _check_keys(entry, label, _CARD_KEYS, _REQUIRED_CARD_KEYS)
    try:
        if entry.get("name") == "":
            raise DeckError('key "name": must not be empty; leave the key out to have a name made.')
        first, second = _parse_rules(entry["rules"])
        return Card(entry["letter"], first, second, entry["copies"], entry["provenance"], entry.get("name", ""))
    except DeckError as error:
        raise DeckError(f"{label}, {error}") from None


def _parse_rules(rules: object) -> list[Rule]:
    if not isinstance(rules, list) or len(rules) != 2:
        found = f"a list of {len(rules)}" if isinstance(rules, list) else quoted(rules)
        raise DeckError(f'key "rules": must be a list of exactly two rules, not {found}.')
    try:
        return [_parse_rule(rule) for rule in rules]
    except DeckError as error:
        raise DeckError(f'key "rules": {error}') from None


def _parse_rule(rule: object) -> Rule:
    if not isinstance(rule, dict) or not rule:
        raise DeckError(f"a rule pays for one combination or more, {{ letters = points, ... }}, not {quoted(rule)}.")
    return tuple(Combination(letters, points) for letters, points in rule.items())


def _check_keys(table: Mapping[str, Any], label: str, allowed: Sequence[str], required: Sequence[str]) -> None:
    for key in table:
        if key not in allowed:
            raise DeckError(f"{label} has the unknown key {quoted(key)}; allowed keys are {', '.join(allowed)}.")
    for key in required:
        if key not in table:
            raise DeckError(f"{label} lacks the key {quoted(key)}; required keys are {', '.join(required)}.")
