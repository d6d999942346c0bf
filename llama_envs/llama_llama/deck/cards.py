"""What a deck is: combinations of letters, cards that pay for them, and the cards of a deck (P2, P14, P15)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from llama_envs.core.markdown import plural

LETTERS = "ABCDEFG"
MAX_CARDS = 32
MAX_POINTS = 1000
SCORED_HAND_SIZE = 7
PROVENANCES = ("attested", "assumed")
KIND_NAME = re.compile(r"[A-Za-z0-9:+=,._-]{1,40}")

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
            raise DeckError(f"a combination is a text of letters from A to G, not {quoted(self.letters)}.")
        if not self.letters:
            raise DeckError('the combination "" is empty; a combination has one letter or more from A to G.')
        unknown = sorted(set(self.letters) - set(LETTERS))
        if unknown:
            raise DeckError(
                f"the combination {quoted(self.letters)} has the unknown letter {quoted(unknown[0])}; "
                f"letters are {', '.join(LETTERS)}."
            )
        if not _is_int(self.points) or not 1 <= self.points <= MAX_POINTS:
            raise DeckError(
                f"the points of {quoted(self.letters)} must be an integer from 1 to {MAX_POINTS}, "
                f"not {quoted(self.points)}."
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
            raise DeckError(f'key "letter": {quoted(self.letter)} is unknown; letters are {", ".join(LETTERS)}.')
        if not _is_int(self.copies) or not 1 <= self.copies <= MAX_CARDS:
            raise DeckError(f'key "copies": must be an integer from 1 to {MAX_CARDS}, not {quoted(self.copies)}.')
        if self.provenance not in PROVENANCES:
            raise DeckError(
                f'key "provenance": must be {" or ".join(map(quoted, PROVENANCES))}, not {quoted(self.provenance)}.'
            )
        if not isinstance(self.name, str) or (self.name and not KIND_NAME.fullmatch(self.name)):
            raise DeckError(
                f'key "name": must be 1 to 40 letters, digits or characters of ":+=,._-", not {quoted(self.name)}.'
            )
        for which in ("first", "second"):
            rule = tuple(getattr(self, which))
            if not rule or not all(isinstance(combination, Combination) for combination in rule):
                raise DeckError(f'key "rules": the {which} rule must pay for one combination or more.')
            letters = [combination.letters for combination in rule]
            twice = [text for text in letters if letters.count(text) > 1]
            if twice:
                raise DeckError(f'key "rules": the {which} rule lists {quoted(twice[0])} twice; once is allowed.')
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
        return self.source or f"deck {quoted(self.name)}"

    def _check(self) -> None:
        if not isinstance(self.name, str) or not self.name or not self.name.isprintable():
            raise DeckError(f'key "name": must be a text of one printable character or more, not {quoted(self.name)}.')
        if not _is_int(self.size) or not 1 <= self.size <= MAX_CARDS:
            raise DeckError(f'key "size": must be an integer from 1 to {MAX_CARDS}, not {quoted(self.size)}.')
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
                    f'{labels[number - 1]}, key "name": {quoted(name)} is taken by card {names.index(name) + 1}; '
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
        labels = [f"card {quoted(name)}" for name in self.kind_names]
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
        """Write the deck in its file format; `deck_from_toml` reads back an equal deck.

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


def _check_holdable(cards: Sequence[Card], labels: Sequence[str], scored_hand_size: int) -> None:
    """Refuse combinations that no hand can hold, which would be points nobody can ever score."""
    available = dict.fromkeys(LETTERS, 0)
    for card in cards:
        available[card.letter] += card.copies
    for card, label in zip(cards, labels, strict=True):
        for combination in card.combinations:
            if len(combination.letters) > scored_hand_size:
                raise DeckError(
                    f'{label}, key "rules": no hand can hold {quoted(combination.letters)}; '
                    f"a combination has at most the {plural(scored_hand_size, 'letter')} of a scored hand."
                )
            for letter in sorted(set(combination.letters)):
                if combination.letters.count(letter) > available[letter]:
                    raise DeckError(
                        f'{label}, key "rules": no hand can hold {quoted(combination.letters)}; '
                        f"the deck has {plural(available[letter], 'card')} of the letter {letter}."
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


def quoted(value: object) -> str:
    """Quote an offending value as a deck file would write it, on one line and not too long."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _toml_text(text: str) -> str:
    """A TOML string; JSON writes the same for printable text."""
    return json.dumps(text, ensure_ascii=False)


def _frozen(array: npt.NDArray[_T]) -> npt.NDArray[_T]:
    array.setflags(write=False)
    return array
