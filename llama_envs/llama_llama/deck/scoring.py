"""What hands are paid by goal cards, for arrays of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from llama_envs.llama_llama.deck.cards import LETTERS, Deck


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
