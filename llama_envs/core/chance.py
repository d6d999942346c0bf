"""Random streams: one 64-bit word per game, outside the game's state, so that copying a state never copies the future.

A stream is a multiply-with-carry generator (MWC64X, D. B. Thomas: x' = A x + c mod 2^32, output x xor c). It starts
from (seed, row, episode) through Philox-2x32-10 (Salmon et al. 2011), so each episode of each game has its own stream,
whatever the size of the batch it is played in. All arithmetic stays below 2^64, so compiled and plain Python agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from llama_envs.core.compile import kernel

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ONE = np.uint64(1)
MULTIPLIER = np.uint64(0xFFFEB81B)
CARRIES = np.uint64(0xFFFEB81B - 2)
PHILOX_MULTIPLIER = np.uint64(0xD256D193)
PHILOX_WEYL = np.uint64(0x9E3779B9)
RANGE = np.uint64(0x100000000)
TO_UNIT = 1.0 / 4294967296.0

PACKED_KINDS = 8
PACKED_CARDS = 127
BYTE = np.uint64(8)
BYTE_MASK = np.uint64(0xFF)
ONES = np.uint64(0x0101010101010101)
TOP_BITS = np.uint64(0x8080808080808080)
TOP_TO_ONE = np.uint64(7)

Seeds = int | Sequence[int | None] | npt.NDArray[np.integer[Any]] | None
Streams = npt.NDArray[np.uint64]  # random streams, one for each game
Counts = npt.NDArray[np.integer[Any]]  # numbers of cards by kind (the last axis), or other whole numbers
Flags = npt.NDArray[np.bool_]


@kernel(inline=True)
def next_word(streams: Streams, i: int) -> np.uint64:
    """Advance stream ``i`` and return 32 random bits as uint64."""
    word = streams[i]
    streams[i] = MULTIPLIER * (word & LOW) + (word >> HALF)
    return (word & LOW) ^ (word >> HALF)


@kernel(inline=True)
def draw_below(streams: Streams, i: int, n: int) -> int:
    """A uniform integer in [0, n), exact (Lemire 2019), from stream ``i``; n < 2^32."""
    bound = np.uint64(n)
    product = next_word(streams, i) * bound
    if (product & LOW) < bound:
        threshold = (RANGE - bound) % bound
        while (product & LOW) < threshold:
            product = next_word(streams, i) * bound
    return np.int64(product >> HALF)  # type: ignore[return-value, unused-ignore]  # signed, also in plain Python


@kernel
def draw_unit(streams: Streams, i: int) -> float:
    """A uniform float64 in [0, 1) with 32 bits, from stream ``i``."""
    return np.float64(next_word(streams, i)) * TO_UNIT


@kernel(inline=True)
def draw_card(counts: Counts, total: int, streams: Streams, i: int) -> int:
    """The kind of a uniformly drawn card from a pile of ``counts`` per kind (all are read), ``total`` together."""
    card = draw_below(streams, i, total)
    kind = 0
    seen = 0
    for k in range(len(counts)):  # without branches: twice as fast as stopping at the kind
        seen += int(counts[k])
        kind += int(seen <= card)
    return kind


# A packed pile: up to 127 cards of up to 8 kinds in one word; byte k counts the cards of kinds 0 to k. To draw one is a
# few operations on the word, not a loop over kinds; packed piles add and subtract like numbers. A deal takes a
# quarter of the time.


@kernel(inline=True)
def pack_pile(counts: Counts) -> np.uint64:
    """The packed pile of ``counts`` per kind."""
    pile = np.uint64(0)
    cards = 0
    for k in range(PACKED_KINDS):
        if k < len(counts):
            cards += int(counts[k])
        pile |= np.uint64(cards) << (np.uint64(k) * BYTE)
    return pile


@kernel(inline=True)
def unpack_pile(pile: np.uint64, counts: Counts) -> None:
    """Write how many cards of each kind are in ``pile`` to ``counts``."""
    alone = pile - (pile << BYTE)
    for k in range(len(counts)):
        counts[k] = np.int64((alone >> (np.uint64(k) * BYTE)) & BYTE_MASK)


@kernel(inline=True)
def draw_packed_card(pile: np.uint64, total: int, streams: Streams, i: int) -> np.uint64:
    """The very card that ``draw_card`` draws from the same pile of ``total`` cards, itself as a packed pile."""
    card = np.uint64(draw_below(streams, i, total))
    lower = ((card * ONES | TOP_BITS) - pile) & TOP_BITS  # set in byte k where all cards of kinds 0 to k come before it
    return ONES ^ (lower >> TOP_TO_ONE)


@kernel(inline=True)
def draw_true(flags: Flags, streams: Streams, i: int) -> int:
    """The index of a uniformly drawn true entry of ``flags``; -1 if there is none."""
    count = 0
    for k in range(len(flags)):
        count += int(flags[k])
    if count == 0:
        return -1
    wanted = draw_below(streams, i, count)
    index = 0
    seen = 0
    for k in range(len(flags)):  # without branches, as in draw_card
        seen += int(flags[k])
        index += int(seen <= wanted)
    return index


@kernel
def philox(left: np.uint64, right: np.uint64, key: np.uint64) -> np.uint64:
    """Philox-2x32-10 of the counter (left, right) under ``key``: all uint64 below 2^32; returns 64 mixed bits."""
    for _ in range(10):
        product = PHILOX_MULTIPLIER * left
        left, right = (product >> HALF) ^ key ^ right, product & LOW
        key = (key + PHILOX_WEYL) & LOW
    return (left << HALF) | right


@kernel
def stream_start(seed: np.uint64, row: np.uint64, episode: np.uint64) -> np.uint64:
    """The first word of the stream of (seed, row, episode), all uint64."""
    key = philox(seed & LOW, seed >> HALF, PHILOX_WEYL)
    word = philox(row & LOW, episode & LOW, key & LOW)
    word = philox(word & LOW, word >> HALF, key >> HALF)
    carry = ONE + (word >> HALF) % CARRIES
    return (carry << HALF) | (word & LOW)


@kernel
def start_streams(streams: Streams, seeds: Streams, rows: Streams, episodes: Streams, where: Flags) -> None:
    """Set ``streams[i]`` to the start of (seeds[i], rows[i], episodes[i]) for every i with ``where[i]``."""
    for i in range(len(streams)):
        if where[i]:
            streams[i] = stream_start(seeds[i], rows[i], episodes[i])


@kernel
def sample_legal(mask: Flags, streams: Streams, actions: npt.NDArray[np.int64]) -> None:
    """Fill ``actions[i]`` with a uniform legal action of ``mask[i]``; -1 where nothing is legal."""
    for i in range(len(mask)):
        actions[i] = draw_true(mask[i], streams, i)


def fresh_seed() -> int:
    """A 64-bit seed from the operating system."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def derived_seed(*parts: int) -> int:
    """A seed in [0, 2^64) that all of ``parts`` (from 0) decide: seeds of other parts share no stream with it."""
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0])


def check_seed(seed: Any, name: str = "seed") -> int:
    """``seed`` as a Python int in [0, 2^64); ValueError with one sentence otherwise."""
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise ValueError(f"{name} must be an integer in [0, 2**64), got {seed!r}.")
    return int(seed)


def expand_seeds(seed: Seeds, num_games: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], list[bool]]:
    """(seeds, rows, given) per game: the stream of game i is that of (seeds[i], rows[i]).

    An int s gives (s, 0), (s, 1), ...: game i does not depend on how many games there are, and two seeds share no game.
    A sequence gives (seed_i, 0) to each game, so a game can be replayed alone with that seed. ``None`` (also as an
    entry) asks the operating system; ``given`` is False there.
    """
    if seed is None:
        seed = [None] * num_games
    if isinstance(seed, np.ndarray) and seed.ndim == 0:
        seed = seed.item()
    if isinstance(seed, (int, np.integer)):
        seeds = np.full(num_games, check_seed(seed), np.uint64)
        return seeds, np.arange(num_games, dtype=np.uint64), [True] * num_games
    if isinstance(seed, (str, bytes, float)) or not hasattr(seed, "__len__"):
        check_seed(seed)
    if len(seed) != num_games:
        raise ValueError(f"seed must be one integer or {num_games} of them, one for each game, got {len(seed)}.")
    given = [s is not None for s in seed]
    checked = [check_seed(s, f"seed[{i}]") if s is not None else fresh_seed() for i, s in enumerate(seed)]
    return np.array(checked, np.uint64), np.zeros(num_games, np.uint64), given
