"""Positions of L.L.A.M.A. set up from words, random play, and a chi-square test; no test in here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import stats

from llama_envs import lama_v0
from llama_envs.core.batch import Batch, policy_streams
from llama_envs.lama.state import EXCHANGE, RETURN, TURN


def rank_of(card: str, num_ranks: int = 7) -> int:
    """Index of a card written as a player writes it: "1" is 0, "L" the last rank."""
    return num_ranks - 1 if card == "L" else int(card) - 1


def count_cards(text: str, num_ranks: int = 7) -> np.ndarray:
    """Cards of each rank in a text such as "1 6 L"."""
    counts = np.zeros(num_ranks, np.int64)
    for card in text.split():
        counts[rank_of(card, num_ranks)] += 1
    return counts


def write_cards(counts: Sequence[int] | np.ndarray) -> str:
    """The inverse of ``count_cards``, sorted."""
    names = [*map(str, range(1, len(counts))), "L"]
    return " ".join(name for name, count in zip(names, counts, strict=True) for _ in range(count))


def table(
    *hands: str,
    top: str = "1",
    to_move: int = 0,
    quitters: Sequence[int] = (),
    stock: str | None = None,
    white: Sequence[int] | None = None,
    black: Sequence[int] | None = None,
    starter: int = 0,
    seed: int = 0,
    **options: Any,
) -> Batch:
    """One game, in the middle of its first round, with these hands in seat order.

    Args:
        hands: the cards of each seat.
        top: the top discard.
        to_move: whose turn it is.
        quitters: seats that have quit.
        stock: the stock; the rest of the deck then lies among the discards. None: all the rest is the stock.
        white: chips of each seat.
        black: chips of each seat.
        starter: who opened the round.
        seed: of the cards to come.
        options: of the game.
    """
    players = len(hands)
    batch = lama_v0.batch(1, num_players=players, seed=seed, **options)
    config = batch.game.config
    ranks = config.num_ranks
    state = batch.state[0]
    held = np.array([count_cards(hand, ranks) for hand in hands])
    unseen = config.copies - held.sum(0) - count_cards(top, ranks)
    left = unseen if stock is None else count_cards(stock, ranks)
    assert (unseen >= left).all(), "more cards on the table than in the deck"
    assert (left >= 0).all(), "more cards on the table than in the deck"
    state["hand"][:, :ranks] = held
    state["hand_size"] = held.sum(1)
    state["played"] = 0
    state["drew_on"] = 0
    state["stock"][:ranks] = left
    state["stock_size"] = left.sum()
    state["discard"][:ranks] = config.copies - held.sum(0) - left
    state["top"] = rank_of(top, ranks)
    state["active"] = [seat not in quitters for seat in range(players)]
    state["num_active"] = players - len(quitters)
    state["to_move"], state["starter"], state["last_actor"] = to_move, starter, starter
    state["white"] = np.zeros(players) if white is None else white
    state["black"] = np.zeros(players) if black is None else black
    state["total"] = state["white"] + 10 * state["black"]
    batch.refresh()
    return batch


def act(batch: Batch, *names: str) -> tuple[list[float], bool, bool]:
    """Take the named actions in turn in the only game; reward, terminated and truncated of the last one."""
    for name in names:
        reward, terminated, truncated = batch.step([batch.game.action_id(name)])
    return reward[0].tolist(), bool(terminated[0]), bool(truncated[0])


def legal(batch: Batch, row: int = 0) -> set[str]:
    """Names of what the seat to move may do."""
    return {batch.game.action_names[a] for a in np.flatnonzero(batch.action_mask[row])}


def hand(batch: Batch, seat: int) -> str:
    """The cards of a seat, sorted."""
    return write_cards(batch.state["hand"][0, seat, : batch.game.config.num_ranks].tolist())


def field(batch: Batch, name: str) -> Any:
    """A field of the only game, as plain Python."""
    return batch.state[name][0].tolist()


def chips(batch: Batch) -> tuple[list[int], list[int]]:
    """White and black chips of each seat."""
    return field(batch, "white"), field(batch, "black")


def penalties(hands: np.ndarray) -> np.ndarray:
    """Points of each hand (..., ranks): each rank held counts once, the last one ten (L13)."""
    ranks = hands.shape[-1]
    worth = np.array([*range(1, ranks), 10])
    return (hands > 0) @ worth


def random_play(batch: Batch, steps: int, seed: int = 0) -> Iterator[np.ndarray]:
    """Play uniform legal actions; yields the actions about to be taken (which may be changed), and steps after each."""
    streams = policy_streams(batch.num_games, seed)
    for _ in range(steps):
        if (batch.to_move < 0).all():
            return
        actions = batch.sample_actions(streams)
        yield actions
        batch.step(actions)


def moments(state: np.ndarray) -> dict[str, np.ndarray]:
    """(N,) bool for each kind of moment in a game: which of the records ``state`` (N,) are at it."""
    turn = (state["phase"] == TURN) & (state["to_move"] >= 0)
    players, active = state["active"].shape[1], state["num_active"]
    return {
        "a turn": turn & (active == players),
        "a turn after a quit": turn & (active < players) & (active > 1),
        "the last remaining seat's turn": turn & (active == 1),
        "a round was just dealt": turn & (state["rounds"] > 0) & (state["discard"].sum(1) == 1),
        "returning a chip": state["phase"] == RETURN,
        "exchanging chips": (state["phase"] == EXCHANGE) & (state["to_move"] >= 0),
        "the end": state["to_move"] < 0,
    }


def positions(number: int, seed: int = 0, **options: Any) -> Batch:
    """So many games of these options, at random moments of all kinds that the options allow, in equal shares."""
    batch = lama_v0.batch(400, seed=seed, autoreset=True, **options)
    rng = np.random.default_rng(seed)
    found: dict[str, list[np.ndarray]] = {}
    for actions in random_play(batch, 250, seed):
        for states in (batch.state, batch.final_state):
            for moment, here in moments(states).items():
                found.setdefault(moment, []).append(states[here][:5])
        eager = rng.random(len(actions)) < 0.6  # plays come first among the actions; so hands get empty more often
        actions[eager] = batch.action_mask[eager].argmax(1)
    kinds = [np.concatenate(records) for records in found.values() if sum(map(len, records)) > 20]
    chosen = lama_v0.batch(number, seed=seed, **options)
    for row in range(number):
        records = kinds[row % len(kinds)]
        chosen.state[row] = records[rng.integers(len(records))]
    chosen.refresh()
    return chosen


def chi_square_p(observed: np.ndarray, expected: np.ndarray) -> float:
    """P-value of Pearson's chi-square test of counts against expected counts."""
    return float(stats.chisquare(observed, expected).pvalue)
