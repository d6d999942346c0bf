"""Decks drawn at random under the constraints of the default one."""

from __future__ import annotations

import operator

import numpy as np

from llama_envs.llama_llama.deck.cards import LETTERS, Card, Combination, Deck, DeckError, Rule, quoted

_COPIES = {"A": 7, "B": 6, "C": 5, "D": 5, "E": 4, "F": 3, "G": 2}
_LENGTHS = (2, 2, 2, 2, 3, 3, 4, 4, 5, 7, 7, 0)  # 0: three pairs as alternatives
_POINTS = {2: (5, 10), 3: (8, 12), 4: (10, 16), 5: (18, 24), 7: (50, 50)}
_POOL = "AABBCCDDEEFG"


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
        raise DeckError(f"random_deck: the seed must be an integer of 0 or more, not {quoted(seed)}.")
    rng = np.random.default_rng(number)
    cards: list[Card] = []
    for place, (letter, copies) in enumerate(_COPIES.items(), start=1):
        first = (Combination(letter, place),)
        seconds: list[Rule] = []
        for _ in range(1 + min(_below(rng, 3), copies // 2 - 1)):
            second = _second_rule(rng)
            while frozenset(second) in map(frozenset, seconds):
                second = _second_rule(rng)
            seconds.append(second)
        shares = [1] * len(seconds)
        for _ in range(copies - len(seconds)):
            shares[_below(rng, len(seconds))] += 1
        cards += [Card(letter, first, second, share) for second, share in zip(seconds, shares, strict=True)]
    return Deck(f"random-{number}", tuple(cards))


def _second_rule(rng: np.random.Generator) -> Rule:
    length = _LENGTHS[_below(rng, len(_LENGTHS))]
    if length == 0:
        letters = _draw_letters(rng, LETTERS, 6)
        return tuple(Combination(letters[start : start + 2], 5) for start in (0, 2, 4))
    letters = LETTERS if length == len(LETTERS) else _draw_letters(rng, _POOL, length)
    low, high = _POINTS[length]
    return (Combination(letters, low + _below(rng, high - low + 1)),)


def _draw_letters(rng: np.random.Generator, pool: str, number: int) -> str:
    left = list(pool)
    return "".join(left.pop(_below(rng, len(left))) for _ in range(number))


def _below(rng: np.random.Generator, bound: int) -> int:
    """A uniform integer from 0 to bound - 1; int64 whatever the platform's default integer."""
    return int(rng.integers(bound, dtype=np.int64))
