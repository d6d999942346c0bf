"""All worlds that a seat must reckon with, found by playing every legal course of a round with distinct cards.

Plain Python over sets of cards, written from the rules page alone; only for tiny decks. Every card has its own number;
``kind_of[card]`` is what is printed on it. The seat follows the cards it has held: a course of events is told apart by
which cards it was given, passed and received, and where every other card lies in the end. All of these count the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations, product

Cards = frozenset[int]
World = tuple[tuple[tuple[int, ...], ...], tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class View:
    """What a seat has seen in the running round, by kinds of cards.

    Attributes:
        num_players: players; hands 0 .. n-1 are theirs, n .. 3 are dummies.
        seat: whose view this is.
        kind_of: kind of each card of the deck.
        hand: kinds of its hand at the end, sorted.
        goal: kind of its goal.
        passed: kinds it passed in each finished pass, sorted.
        received: kinds it received in each, sorted.
        shown: kinds of the revealed goals, by display.
        may_own: for each display the hands whose goal may lie there.
        left: hand at the left of each player.
        hand_size: cards in each hand after the goals were taken.
    """

    num_players: int
    seat: int
    kind_of: tuple[int, ...]
    hand: tuple[int, ...]
    goal: int
    passed: tuple[tuple[int, ...], ...]
    received: tuple[tuple[int, ...], ...]
    shown: tuple[int, ...]
    may_own: tuple[tuple[int, ...], ...]
    left: tuple[int, ...]
    hand_size: int

    def kinds(self, cards: Cards | tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(self.kind_of[card] for card in cards))


@dataclass(frozen=True)
class Course:
    """A course of events up to now: the hands, the cards outside them, and what the seat held on the way."""

    hands: tuple[Cards, ...]
    rest: Cards  # goals of others and cards that were not dealt
    goal: int
    memory: tuple[Cards, ...]


def possible_worlds(view: View) -> Counter[World]:
    """How many courses of events end in each world: kinds in each hand, goal of each hand, owner of each display."""
    courses = set(deals(view))
    for number in range(len(view.passed)):
        courses = {after for course in courses for after in one_pass(view, course, number)}
    worlds: Counter[World] = Counter()
    for course in courses:
        hands = tuple(view.kinds(hand) for hand in course.hands)
        for goals, owner in placements(view, course):
            worlds[hands, goals, owner] += 1
    return worlds


def subset_of_kinds(view: View, cards: Cards, wanted: tuple[int, ...]) -> Iterator[Cards]:
    """Every set of ``cards`` that shows the ``wanted`` kinds."""
    for chosen in combinations(sorted(cards), len(wanted)):
        if view.kinds(chosen) == wanted:
            yield frozenset(chosen)


def deals(view: View) -> Iterator[Course]:
    """Every deal after the goals were taken. The seat's first hand is one choice of cards: all choices are alike."""
    deck = frozenset(range(len(view.kind_of)))
    first = list(view.hand)
    for kinds in view.passed:
        first += kinds
    for kinds in view.received:
        for kind in kinds:
            first.remove(kind)
    own = next(subset_of_kinds(view, deck, tuple(sorted(first))))
    goal = next(iter(subset_of_kinds(view, deck - own, (view.goal,))))
    hands = [own if hand == view.seat else frozenset() for hand in range(4)]
    others = [hand for hand in range(4) if hand != view.seat]

    def deal(unseen: Cards, order: list[int]) -> Iterator[Course]:
        if not order:
            yield Course(tuple(hands), unseen, next(iter(goal)), (own,))
            return
        for chosen in combinations(sorted(unseen), view.hand_size):
            hands[order[0]] = frozenset(chosen)
            yield from deal(unseen - frozenset(chosen), order[1:])

    yield from deal(deck - own - goal, others)


def one_pass(view: View, course: Course, number: int) -> Iterator[Course]:
    """Every way the pass ``number`` can go (P9, P13) that shows the seat what it saw."""
    n, count = view.num_players, len(view.passed[number])
    choices = [
        list(subset_of_kinds(view, hand, view.passed[number]))
        if player == view.seat
        else [frozenset(cards) for cards in combinations(sorted(hand), count)]
        for player, hand in enumerate(course.hands[:n])
    ]
    for passed in product(*choices):
        hands = [hand - passed[player] if player < n else hand for player, hand in enumerate(course.hands)]
        for player in range(n):
            hands[view.left[player]] |= passed[player]
        drawn_from = [player for player in range(n) if view.left[player] >= n]
        piles = [combinations(sorted(hands[view.left[player]]), count) for player in drawn_from]
        for draws in product(*piles):
            after = list(hands)
            received = passed[(view.seat - 1) % n]
            for player, cards in zip(drawn_from, draws, strict=True):
                drawn = frozenset(cards)
                after[view.left[player]] -= drawn
                after[(player + 1) % n] |= drawn
                if (player + 1) % n == view.seat:
                    received = drawn
            if view.kinds(received) == view.received[number]:
                yield Course(tuple(after), course.rest, course.goal, (*course.memory, passed[view.seat], received))


def placements(view: View, course: Course) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Kinds of the four goals and their owners on the displays, for all choices of goal cards and orders (P5-P7)."""
    others = [hand for hand in range(4) if hand != view.seat]
    orders = [
        order
        for order in permutations(range(4))
        if all(hand in allowed for hand, allowed in zip(order, view.may_own, strict=True))
    ]
    for cards in permutations(sorted(course.rest), 3):
        goals = [0] * 4
        goals[view.seat] = view.goal
        for hand, card in zip(others, cards, strict=True):
            goals[hand] = view.kind_of[card]
        for order in orders:
            if all(goals[hand] == kind for hand, kind in zip(order, view.shown, strict=False)):
                yield tuple(goals), order
