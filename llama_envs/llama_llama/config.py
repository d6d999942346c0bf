"""The options of Llama Llama, each with the clause of the rules page it belongs to."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from llama_envs.core.payoff import REWARDS
from llama_envs.core.validation import check_choice, check_int, make_plain
from llama_envs.llama_llama.deck import MAX_CARDS, Deck, deck_from_text, load_deck

MAX_PLAYERS = 4
HANDS = 4  # dealt in every game; those that nobody plays are dummies (P4)
DISPLAYS = 4
MAX_KINDS = MAX_CARDS
MAX_HAND = MAX_CARDS // HANDS
MAX_PASSED = DISPLAYS * (MAX_HAND - 1)  # cards that a player can pass in one round
MAX_HISTORY = 16
MAX_COMBINATIONS = 256  # in all kinds of a deck together

DummyDisplays = tuple[tuple[int, tuple[int, ...]], ...]
DUMMY_DISPLAYS: DummyDisplays = ((2, (3, 4)), (3, (4,)))


@dataclass(frozen=True)
class LlamaLlamaConfig:
    """Options of one game.

    Attributes:
        num_players: 2 to 4 seats (P1).
        deck: the name of a deck ("reconstructed"), the path of a deck file, or a ``Deck``; kept as a ``Deck`` (P2).
        pass_counts: how many cards are passed under each of the four displays (P3).
        dummy_displays: the displays with the dummy icon, for 2 and 3 players such as {3: (4,), 2: (3, 4)}, or just
            those for this number of players, such as (3, 4); kept as a tuple of pairs (P8).
        target_score: the game ends after the round in which a seat reaches it (P18).
        num_rounds: the game ends after so many rounds (P18).
        hand_size: cards dealt to each of the four hands (P4).
        reward: "win", "score" or "rank" (P20).
        history: how many of the last public events the observation ends with, 0 to 16.

    Raises:
        ValueError: a field is out of range, the deck breaks its format, or four hands need more cards than it has.
    """

    num_players: int = 4
    deck: str | os.PathLike[str] | Deck = field(
        default="reconstructed", metadata={"cli": str, "upload": deck_from_text}
    )
    pass_counts: Sequence[int] = field(default=(4, 3, 2, 1), metadata={"cli": tuple[int, int, int, int]})
    dummy_displays: Mapping[int, Sequence[int]] | Sequence[int] | DummyDisplays = field(
        default=DUMMY_DISPLAYS, metadata={"cli": tuple[int, ...] | None, "cli_default": None}
    )
    target_score: int = 100
    num_rounds: int = 4
    hand_size: int = 8
    reward: Literal["win", "score", "rank"] = "win"
    history: int = field(default=0, metadata={"later": True})

    def __post_init__(self) -> None:
        make_plain(self)
        n = check_int("num_players", self.num_players, 2, MAX_PLAYERS)
        hand = check_int("hand_size", self.hand_size, 2, MAX_HAND)
        deck = load_deck(self.deck, hand - 1)
        combinations = sum(len(card.combinations) for card in deck.cards)
        if combinations > MAX_COMBINATIONS:
            raise ValueError(
                f"deck must have at most {MAX_COMBINATIONS} combinations on its cards, got {combinations}."
            )
        if deck.size < 2 * HANDS:
            raise ValueError(
                f"deck must have at least {2 * HANDS} cards, two for each of {HANDS} hands, got {deck.size}."
            )
        if HANDS * hand > deck.size:
            raise ValueError(
                f"hand_size must be from 2 to {deck.size // HANDS}, so that {HANDS} hands fit in a deck of {deck.size} "
                f"cards, got {hand}."
            )
        object.__setattr__(self, "deck", deck)
        object.__setattr__(self, "pass_counts", check_pass_counts(self.pass_counts, hand))
        object.__setattr__(self, "dummy_displays", check_dummy_displays(self.dummy_displays, n))
        check_int("target_score", self.target_score, 1, 1_000_000)
        check_int("num_rounds", self.num_rounds, 1, 100)
        check_choice("reward", self.reward, tuple(REWARDS))
        check_int("history", self.history, 0, MAX_HISTORY)

    @property
    def cards(self) -> Deck:
        """``deck`` as the ``Deck`` that it is after construction."""
        assert isinstance(self.deck, Deck)
        return self.deck

    @property
    def marked_displays(self) -> tuple[int, ...]:
        """The displays, 1 to 4, with the dummy icon at this number of players (P8)."""
        pairs: dict[int, tuple[int, ...]] = dict(self.dummy_displays)  # type: ignore[arg-type]
        return pairs.get(self.num_players, ())


def check_pass_counts(value: Any, hand_size: int) -> tuple[int, ...]:
    """Four integers of at least 1 that leave a hand its goal card (P3, P5)."""
    allowed = f"{DISPLAYS} integers from 1 to {hand_size - 1} (a hand without its goal card)"
    counts = _integers(value)
    if counts is None or len(counts) != DISPLAYS or not all(1 <= count < hand_size for count in counts):
        raise ValueError(f"pass_counts must be {allowed}, got {value!r}.")
    return counts


def check_dummy_displays(value: Any, num_players: int) -> DummyDisplays:
    """For each number of players with dummies, as many distinct displays as there are dummies (P8)."""
    if not isinstance(value, Mapping) and _integers(value):
        value = {**dict(DUMMY_DISPLAYS), num_players: value}
    try:
        pairs = sorted(value.items() if isinstance(value, Mapping) else [(players, shown) for players, shown in value])
    except (TypeError, ValueError):
        raise ValueError(f"dummy_displays must look like {{3: (4,), 2: (3, 4)}}, got {value!r}.") from None
    checked = {}
    for players, shown in pairs:
        check_int("the number of players in dummy_displays", players, 2, MAX_PLAYERS)
        displays, dummies = _integers(shown), HANDS - players
        fits = displays is not None and len(set(displays)) == len(displays) == dummies
        if displays and dummies == 0:
            raise ValueError(f"dummy_displays does not apply to {players} players, who have no dummies, got {shown!r}.")
        if displays is None or not fits or not set(displays) <= set(range(1, DISPLAYS + 1)):
            raise ValueError(
                f"dummy_displays for {players} players must name {dummies} distinct displays from 1 to {DISPLAYS}, "
                f"got {shown!r}."
            )
        checked[int(players)] = tuple(sorted(displays))
    if num_players < HANDS and num_players not in checked:
        raise ValueError(
            f"dummy_displays must have an entry for {num_players} players, as in {{3: (4,), 2: (3, 4)}}, got {value!r}."
        )
    return tuple(checked.items())


def _integers(value: Any) -> tuple[int, ...] | None:
    """``value`` as a tuple of ints; None if it is something else."""
    if isinstance(value, (str, bytes)):
        return None
    try:
        return tuple(check_int("entry", entry, -(2**31), 2**31) for entry in value)
    except (TypeError, ValueError):
        return None
