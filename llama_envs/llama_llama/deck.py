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

from __future__ import annotations

import argparse
import json
import operator
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

LETTERS = "ABCDEFG"
MAX_CARDS = 32
MAX_POINTS = 1000
SCORED_HAND_SIZE = 7
PROVENANCES = ("attested", "assumed")

_DECKS = Path(__file__).with_name("decks")
_DECK_KEYS = ("name", "size", "card")
_REQUIRED_DECK_KEYS = ("name", "card")
_CARD_KEYS = ("letter", "copies", "rules", "provenance", "name")
_REQUIRED_CARD_KEYS = ("letter", "copies", "rules", "provenance")
_KIND_NAME = re.compile(r"[A-Za-z0-9:+=,._-]{1,40}")
_RANDOM_COPIES = {"A": 7, "B": 6, "C": 5, "D": 5, "E": 4, "F": 3, "G": 2}
_RANDOM_LENGTHS = (2, 2, 2, 2, 3, 3, 4, 4, 5, 7, 7, 0)  # 0: three pairs as alternatives
_RANDOM_POINTS = {2: (5, 10), 3: (8, 12), 4: (10, 16), 5: (18, 24), 7: (50, 50)}
_RANDOM_POOL = "AABBCCDDEEFG"

Provenance: TypeAlias = Literal["attested", "assumed"]
_T = TypeVar("_T", bound=np.generic)


class DeckError(ValueError):
    """A deck that breaks the format: one sentence that names the file, the entry and the allowed values."""


@dataclass(frozen=True)
class Combination:
    """Letters that pay points once for every disjoint copy of them in a hand (P14, P15).

    Attributes:
        letters: One letter or more, from A to G, repeated as often as needed; kept in alphabetical order.
        points: Points per copy, 1 to 1000.

    Raises:
        DeckError: If the letters or the points are not allowed.
    """

    letters: str
    points: int

    def __post_init__(self) -> None:
        if not isinstance(self.letters, str):
            raise DeckError(f"a combination is a text of letters from A to G, not {_show(self.letters)}.")
        if not self.letters:
            raise DeckError('the combination "" is empty; a combination has one letter or more from A to G.')
        unknown = sorted(set(self.letters) - set(LETTERS))
        if unknown:
            raise DeckError(
                f"the combination {_show(self.letters)} has the unknown letter {_show(unknown[0])}; "
                f"letters are {', '.join(LETTERS)}."
            )
        if not _is_int(self.points) or not 1 <= self.points <= MAX_POINTS:
            raise DeckError(
                f"the points of {_show(self.letters)} must be an integer from 1 to {MAX_POINTS}, "
                f"not {_show(self.points)}."
            )
        object.__setattr__(self, "letters", "".join(sorted(self.letters)))


Rule: TypeAlias = tuple[Combination, ...]


@dataclass(frozen=True)
class Card:
    """One kind of llama card and how many copies of it a deck holds (P2).

    Attributes:
        letter: The card's letter, A to G.
        first: The first rule, as a rule of the box the card's own letter alone.
        second: The second rule: one combination, or several alternatives, each counted by itself.
        copies: Copies in the deck, at least 1.
        provenance: "attested" when letter and rules have been seen, "assumed" otherwise.
        name: A short name; empty to have the deck make one from the letter and the second rule.

    Raises:
        DeckError: If a field is not allowed; the sentence names the key of the deck file.
    """

    letter: str
    first: Rule
    second: Rule
    copies: int = 1
    provenance: Provenance = "assumed"
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.letter, str) or len(self.letter) != 1 or self.letter not in LETTERS:
            raise DeckError(f'key "letter": {_show(self.letter)} is unknown; letters are {", ".join(LETTERS)}.')
        if not _is_int(self.copies) or not 1 <= self.copies <= MAX_CARDS:
            raise DeckError(f'key "copies": must be an integer from 1 to {MAX_CARDS}, not {_show(self.copies)}.')
        if self.provenance not in PROVENANCES:
            raise DeckError(
                f'key "provenance": must be {" or ".join(map(_show, PROVENANCES))}, not {_show(self.provenance)}.'
            )
        if not isinstance(self.name, str) or (self.name and not _KIND_NAME.fullmatch(self.name)):
            raise DeckError(
                f'key "name": must be 1 to 40 letters, digits or characters of ":+=,._-", not {_show(self.name)}.'
            )
        for which in ("first", "second"):
            rule = tuple(getattr(self, which))
            if not rule or not all(isinstance(combination, Combination) for combination in rule):
                raise DeckError(f'key "rules": the {which} rule must pay for one combination or more.')
            letters = [combination.letters for combination in rule]
            twice = [text for text in letters if letters.count(text) > 1]
            if twice:
                raise DeckError(f'key "rules": the {which} rule lists {_show(twice[0])} twice; once is allowed.')
            object.__setattr__(self, which, rule)

    @property
    def combinations(self) -> Rule:
        """The combinations of both rules, those of the first rule first."""
        return self.first + self.second

    @property
    def rules_text(self) -> tuple[str, str]:
        """Both rules as the rulebook prints them, e.g. ("D = 4", "AG / CE / BF = 5")."""
        return _rule_text(self.first), _rule_text(self.second)


@dataclass(frozen=True)
class Deck:
    """A deck of at most 32 llama cards: immutable, hashable, with the tables that scoring needs.

    K is the number of kinds, C the largest number of combinations on one card. The arrays are read-only.

    Attributes:
        name: How reports call the deck.
        cards: One entry per kind; brought into the order of the letters, otherwise kept as given.
        size: How many cards the deck holds; 32 unless the deck is for a smaller game.
        source: The file the deck was read from, empty when built in Python; no part of equality.

    Raises:
        DeckError: If the copies do not add up to `size`, a kind or a name occurs twice, or no hand can hold one of
            the combinations.
    """

    name: str
    cards: tuple[Card, ...]
    size: int = MAX_CARDS
    source: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cards", tuple(self.cards))
        try:
            self._check()
        except DeckError as error:
            raise DeckError(f"{self._where}: {error}") from None
        object.__setattr__(self, "cards", tuple(sorted(self.cards, key=lambda card: card.letter)))

    def __reduce__(self) -> tuple[type[Deck], tuple[str, tuple[Card, ...], int, str]]:
        """Copy and pickle the data alone: numpy does not keep the read-only flag of the tables."""
        return Deck, (self.name, self.cards, self.size, self.source)

    def __str__(self) -> str:
        return self.name

    @property
    def _where(self) -> str:
        return self.source or f"deck {_show(self.name)}"

    def _check(self) -> None:
        if not isinstance(self.name, str) or not self.name or not self.name.isprintable():
            raise DeckError(f'key "name": must be a text of one printable character or more, not {_show(self.name)}.')
        if not _is_int(self.size) or not 1 <= self.size <= MAX_CARDS:
            raise DeckError(f'key "size": must be an integer from 1 to {MAX_CARDS}, not {_show(self.size)}.')
        if not all(isinstance(card, Card) for card in self.cards):
            raise DeckError('key "card": every entry must be a Card.')
        labels = [f"card {number} ({_short_name(card)})" for number, card in enumerate(self.cards, start=1)]
        kinds: dict[object, int] = {}
        for number, card in enumerate(self.cards, start=1):
            kind = (card.letter, frozenset(card.first), frozenset(card.second))
            if kind in kinds:
                raise DeckError(
                    f"{labels[number - 1]} has the letter and the rules of card {kinds[kind]}; "
                    'each kind is listed once, with its number in "copies".'
                )
            kinds[kind] = number
        total = sum(card.copies for card in self.cards)
        if total != self.size:
            raise DeckError(f'the "copies" of all cards add up to {total}, but must add up to size = {self.size}.')
        names = _kind_names(self.cards)
        for number, name in enumerate(names, start=1):
            if names.index(name) != number - 1:
                raise DeckError(
                    f'{labels[number - 1]}, key "name": {_show(name)} is taken by card {names.index(name) + 1}; '
                    "names are unique."
                )
        _check_holdable(self.cards, labels, SCORED_HAND_SIZE)

    def check_scored_hand(self, scored_hand_size: int) -> None:
        """Check that hands of this size can hold every combination.

        Args:
            scored_hand_size: Cards that a player scores, its dealt hand less the goal card (P5).

        Raises:
            DeckError: If a combination has more letters than that.
        """
        labels = [f"card {_show(name)}" for name in self.kind_names]
        try:
            _check_holdable(self.cards, labels, scored_hand_size)
        except DeckError as error:
            raise DeckError(f"{self._where}: {error}") from None

    @property
    def num_kinds(self) -> int:
        """Number of kinds, K."""
        return len(self.cards)

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """Copies of every kind, (K,) int64."""
        return _frozen(np.array([card.copies for card in self.cards], dtype=np.int64))

    @cached_property
    def letters(self) -> npt.NDArray[np.int64]:
        """Letter of every kind, (K,) int64: 0 for A to 6 for G, never decreasing."""
        return _frozen(np.array([LETTERS.index(card.letter) for card in self.cards], dtype=np.int64))

    @cached_property
    def need(self) -> npt.NDArray[np.int8]:
        """Cards of every letter that a combination needs, (K, C, 7) int8; zeros beyond a card's combinations."""
        need = np.zeros((self.num_kinds, self._max_combinations, len(LETTERS)), dtype=np.int8)
        for kind, card in enumerate(self.cards):
            for index, combination in enumerate(card.combinations):
                need[kind, index] = [combination.letters.count(letter) for letter in LETTERS]
        return _frozen(need)

    @cached_property
    def points(self) -> npt.NDArray[np.int16]:
        """Points that one copy of a combination pays, (K, C) int16; zeros beyond a card's combinations."""
        points = np.zeros((self.num_kinds, self._max_combinations), dtype=np.int16)
        for kind, card in enumerate(self.cards):
            for index, combination in enumerate(card.combinations):
                points[kind, index] = combination.points
        return _frozen(points)

    @property
    def _max_combinations(self) -> int:
        return max(len(card.combinations) for card in self.cards)

    @cached_property
    def kind_names(self) -> tuple[str, ...]:
        """A short unique name of every kind, such as "A:ABCDEFG" or "D:AG+CE+BF"."""
        return _kind_names(self.cards)

    def to_toml(self) -> str:
        """Write the deck in its file format; `Deck.from_toml` reads back an equal deck.

        Returns:
            The text of a deck file.
        """
        lines = [f"name = {_toml_text(self.name)}", f"size = {self.size}"]
        for card in self.cards:
            rules = ", ".join(
                "{ " + ", ".join(f"{combination.letters} = {combination.points}" for combination in rule) + " }"
                for rule in (card.first, card.second)
            )
            lines += ["", "[[card]]", f"letter = {_toml_text(card.letter)}", f"copies = {card.copies}"]
            lines += [f"rules = [{rules}]", f"provenance = {_toml_text(card.provenance)}"]
            if card.name:
                lines.append(f"name = {_toml_text(card.name)}")
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, path_or_text: str | os.PathLike[str]) -> Deck:
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


def random_deck(seed: int) -> Deck:
    """Draw a deck of 32 cards under the constraints of the default deck, so that findings can be checked on others.

    Kept from the default: the copies of each letter (A 7, B 6, C 5, D 5, E 4, F 3, G 2) and a first rule that pays the
    letter's place in the alphabet. Drawn: into how many kinds the copies of a letter are split (1 to 3, at most half as
    many as copies), how many copies each gets, and the second rules. A second rule is, out of twelve: four times a
    pair (5 to 10 points), twice three letters (8 to 12), twice four (10 to 16), once five (18 to 24), twice ABCDEFG
    (50), once three disjoint pairs as alternatives (5 each). The letters of a combination are drawn without
    replacement from AABBCCDDEEFG, so that only letters with four copies or more are asked for twice.

    Args:
        seed: A non-negative integer. The same seed gives the same deck on every platform.

    Returns:
        A deck named "random-<seed>", every card assumed.

    Raises:
        DeckError: If the seed is not a non-negative integer.
    """
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise DeckError(f"random_deck: the seed must be an integer of 0 or more, not {_show(seed)}.")
    rng = np.random.default_rng(number)
    cards: list[Card] = []
    for place, (letter, copies) in enumerate(_RANDOM_COPIES.items(), start=1):
        first = (Combination(letter, place),)
        seconds: list[Rule] = []
        for _ in range(1 + min(_below(rng, 3), copies // 2 - 1)):
            second = _random_second_rule(rng)
            while frozenset(second) in map(frozenset, seconds):
                second = _random_second_rule(rng)
            seconds.append(second)
        shares = [1] * len(seconds)
        for _ in range(copies - len(seconds)):
            shares[_below(rng, len(seconds))] += 1
        cards += [Card(letter, first, second, share) for second, share in zip(seconds, shares, strict=True)]
    return Deck(f"random-{number}", tuple(cards))


def _random_second_rule(rng: np.random.Generator) -> Rule:
    length = _RANDOM_LENGTHS[_below(rng, len(_RANDOM_LENGTHS))]
    if length == 0:
        letters = _draw_letters(rng, LETTERS, 6)
        return tuple(Combination(letters[start : start + 2], 5) for start in (0, 2, 4))
    letters = LETTERS if length == len(LETTERS) else _draw_letters(rng, _RANDOM_POOL, length)
    low, high = _RANDOM_POINTS[length]
    return (Combination(letters, low + _below(rng, high - low + 1)),)


def _draw_letters(rng: np.random.Generator, pool: str, number: int) -> str:
    left = list(pool)
    return "".join(left.pop(_below(rng, len(left))) for _ in range(number))


def _below(rng: np.random.Generator, bound: int) -> int:
    """A uniform integer from 0 to bound - 1; int64 whatever the platform's default integer."""
    return int(rng.integers(bound, dtype=np.int64))


def score_hands(hands: npt.ArrayLike, goals: npt.ArrayLike, deck: Deck) -> npt.NDArray[np.int64]:
    """Score hands on goal cards (P14-P17).

    A combination pays once for every disjoint copy in the hand, the minimum over its letters of held // needed; every
    combination and every goal is counted by itself. Only the letters of a hand matter, so a hand need not be one that
    the deck can deal.

    Args:
        hands: Cards of every kind, integers of shape (..., K), 0 or more.
        goals: Kinds of the goal cards, integers of shape (..., 4), from 0 to K - 1. Any number of goals works.
        deck: The deck that the kinds belong to.

    Returns:
        Points on each goal, int64 of shape (..., 4); the leading axes of hands and goals are broadcast. The score of a
        round is the sum over the last axis.

    Raises:
        ValueError: If a shape, a dtype or a value is not as above, or the leading axes do not broadcast.
    """
    cards, kinds = np.asarray(hands), np.asarray(goals)
    if cards.ndim < 1 or cards.shape[-1] != deck.num_kinds:
        raise ValueError(
            f"hands must have the shape (..., {deck.num_kinds}), one count per kind of {deck.name}, not {cards.shape}."
        )
    if kinds.ndim < 1:
        raise ValueError("goals must have the shape (..., 4), one kind per goal, not ().")
    if cards.dtype.kind not in "iu" or kinds.dtype.kind not in "iu":
        raise ValueError(f"hands and goals must be integer arrays, not {cards.dtype} and {kinds.dtype}.")
    if np.any(cards < 0):
        raise ValueError("hands must hold 0 cards of a kind or more, not fewer.")
    if np.any((kinds < 0) | (kinds >= deck.num_kinds)):
        raise ValueError(f"goals must be kinds from 0 to {deck.num_kinds - 1}.")
    held = cards.astype(np.int64) @ np.eye(len(LETTERS), dtype=np.int64)[deck.letters]
    need = deck.need.astype(np.int64)[kinds]
    points = deck.points.astype(np.int64)[kinds]
    shape = np.broadcast_shapes(held.shape[:-1], kinds.shape[:-1]) + need.shape[-3:-1]
    copies = np.full(shape, np.iinfo(np.int32).max, dtype=np.int64)
    for letter in range(len(LETTERS)):
        needed = need[..., letter]
        whole = held[..., np.newaxis, np.newaxis, letter] // np.maximum(needed, 1)
        np.minimum(copies, whole, out=copies, where=needed > 0)
    scores: npt.NDArray[np.int64] = (copies * points).sum(axis=-1)
    return scores


def deck_table_markdown(deck: Deck) -> str:
    """Write the deck as a Markdown table, one row per kind.

    Args:
        deck: The deck.

    Returns:
        The table, ending in a newline.
    """
    lines = ["| kind | letter | copies | first rule | second rule | provenance |", "|---|---|---|---|---|---|"]
    lines += [
        f"| `{name}` | {card.letter} | {card.copies} | {' | '.join(card.rules_text)} | {card.provenance} |"
        for name, card in zip(deck.kind_names, deck.cards, strict=True)
    ]
    return "\n".join(lines) + "\n"


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
    lines = [f"{deck.name}: {_plural(deck.size, 'card')} of {_plural(deck.num_kinds, 'kind')}"]
    lines += ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join(lines) + "\n"


def _load(spec: str | os.PathLike[str]) -> Deck:
    text = os.fspath(spec) if isinstance(spec, (str, os.PathLike)) else ""
    if isinstance(spec, os.PathLike) or text.lower().endswith(".toml") or "/" in text or os.sep in text:
        return _parse(_read(text), text)
    known = sorted(path.stem for path in _DECKS.glob("*.toml"))
    if text not in known:
        raise DeckError(
            f"unknown deck {_show(spec)}; known by name: {', '.join(known)}, "
            "and any other deck is given as a path that ends in .toml or as a Deck."
        )
    return _parse(_read(str(_DECKS / f"{text}.toml")), f"{text}.toml")


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
    label = next((f"card {number} ({title})" for title in titles if _KIND_NAME.fullmatch(title)), f"card {number}")
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
        found = f"a list of {len(rules)}" if isinstance(rules, list) else _show(rules)
        raise DeckError(f'key "rules": must be a list of exactly two rules, not {found}.')
    try:
        return [_parse_rule(rule) for rule in rules]
    except DeckError as error:
        raise DeckError(f'key "rules": {error}') from None


def _parse_rule(rule: object) -> Rule:
    if not isinstance(rule, dict) or not rule:
        raise DeckError(f"a rule pays for one combination or more, {{ letters = points, ... }}, not {_show(rule)}.")
    return tuple(Combination(letters, points) for letters, points in rule.items())


def _check_keys(table: Mapping[str, Any], label: str, allowed: Sequence[str], required: Sequence[str]) -> None:
    for key in table:
        if key not in allowed:
            raise DeckError(f"{label} has the unknown key {_show(key)}; allowed keys are {', '.join(allowed)}.")
    for key in required:
        if key not in table:
            raise DeckError(f"{label} lacks the key {_show(key)}; required keys are {', '.join(required)}.")


def _check_holdable(cards: Sequence[Card], labels: Sequence[str], scored_hand_size: int) -> None:
    """Refuse combinations that no hand can hold, which would be points nobody can ever score."""
    available = dict.fromkeys(LETTERS, 0)
    for card in cards:
        available[card.letter] += card.copies
    for card, label in zip(cards, labels, strict=True):
        for combination in card.combinations:
            if len(combination.letters) > scored_hand_size:
                raise DeckError(
                    f'{label}, key "rules": no hand can hold {_show(combination.letters)}; '
                    f"a combination has at most the {_plural(scored_hand_size, 'letter')} of a scored hand."
                )
            for letter in sorted(set(combination.letters)):
                if combination.letters.count(letter) > available[letter]:
                    raise DeckError(
                        f'{label}, key "rules": no hand can hold {_show(combination.letters)}; '
                        f"the deck has {_plural(available[letter], 'card')} of the letter {letter}."
                    )


def _kind_names(cards: Sequence[Card]) -> tuple[str, ...]:
    """The names given, and for every other card the shortest form that tells it from all cards."""
    given = [card.name for card in cards if card.name]
    forms = [_name_forms(card) for card in cards]
    taken = [[*column, *given] for column in zip(*forms, strict=True)]
    return tuple(
        card.name or next((form for form, others in zip(own, taken, strict=True) if others.count(form) == 1), own[-1])
        for card, own in zip(cards, forms, strict=True)
    )


def _name_forms(card: Card) -> tuple[str, str, str]:
    """Names of a kind from short to complete: "A:AABB", "A:AABB=10", "A:A=1,AABB=10"."""
    letters = "+".join(combination.letters for combination in card.second)
    first, second = ("+".join(f"{pays.letters}={pays.points}" for pays in rule) for rule in (card.first, card.second))
    return f"{card.letter}:{letters}", f"{card.letter}:{second}", f"{card.letter}:{first},{second}"


def _short_name(card: Card) -> str:
    return card.name or _name_forms(card)[0]


def _rule_text(rule: Rule) -> str:
    """A rule as the rulebook prints it: alternatives of equal points share one price."""
    parts: list[str] = []
    for index, combination in enumerate(rule):
        last_of_price = index + 1 == len(rule) or rule[index + 1].points != combination.points
        parts.append(f"{combination.letters} = {combination.points}" if last_of_price else combination.letters)
    return " / ".join(parts)


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _show(value: object) -> str:
    """Quote an offending value as a deck file would write it, on one line and not too long."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _toml_text(text: str) -> str:
    """A TOML string; JSON writes the same for printable text."""
    return json.dumps(text, ensure_ascii=False)


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _frozen(array: npt.NDArray[_T]) -> npt.NDArray[_T]:
    array.setflags(write=False)
    return array


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
