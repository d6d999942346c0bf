"""The options of L.L.A.M.A., each with the clause of the rules page it belongs to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from llama_envs.core.payoff import REWARDS
from llama_envs.core.validation import check_bool, check_choice, check_int, make_plain

MAX_PLAYERS = 6
MAX_RANKS = 7
MAX_COPIES = 16
MAX_HISTORY = 64


@dataclass(frozen=True)
class LamaConfig:
    """Options of one game.

    Attributes:
        num_players: 2 to 6 seats (L3).
        first_player: who opens the first round: "random", or a seat (L5).
        next_starter: who opens later rounds: "last_actor" or "rotate" (L5).
        chip_return: a seat that emptied its hand decides ("choice") or returns its dearest chip ("auto") (L12).
        chip_exchange: ten white always become a black ("auto"), or every seat is asked ("choice") (L15).
        target_score: the game ends after the round in which a seat reaches it (L16).
        max_rounds: truncate after so many rounds; None for no limit (L18).
        single_round_terminates: with max_rounds = 1, the one round is a complete game and terminates (L18).
        num_ranks: ranks in the deck, the last one the llama (L19).
        copies: cards of each rank (L19).
        hand_size: cards dealt to each seat (L19).
        reward: "win", "score" or "rank" (L20).
        history: how many of the last public events the observation ends with, 0 to 64.

    Raises:
        ValueError: a field is out of range, or the deal needs more cards than the deck has.
    """

    num_players: int = 4
    first_player: int | Literal["random"] = "random"
    next_starter: Literal["last_actor", "rotate"] = "last_actor"
    chip_return: Literal["choice", "auto"] = "choice"
    chip_exchange: Literal["auto", "choice"] = "auto"
    target_score: int = 40
    max_rounds: int | None = None
    single_round_terminates: bool = False
    num_ranks: int = 7
    copies: int = 8
    hand_size: int = 6
    reward: Literal["win", "score", "rank"] = "win"
    history: int = field(default=0, metadata={"later": True})

    def __post_init__(self) -> None:
        make_plain(self)
        n = check_int("num_players", self.num_players, 2, MAX_PLAYERS)
        if self.first_player != "random":
            if isinstance(self.first_player, str):
                raise ValueError(
                    f"first_player must be 'random' or a seat from 0 to {n - 1}, got {self.first_player!r}."
                )
            check_int("first_player", self.first_player, 0, n - 1, " (a seat) or 'random'")
        check_choice("next_starter", self.next_starter, ("last_actor", "rotate"))
        check_choice("chip_return", self.chip_return, ("choice", "auto"))
        check_choice("chip_exchange", self.chip_exchange, ("auto", "choice"))
        check_int("target_score", self.target_score, 1, 10_000)
        if self.max_rounds is not None:
            check_int("max_rounds", self.max_rounds, 1, 10_000, " or None")
        if check_bool("single_round_terminates", self.single_round_terminates) and self.max_rounds != 1:
            raise ValueError(
                f"single_round_terminates = True needs max_rounds = 1, got max_rounds = {self.max_rounds}."
            )
        ranks = check_int("num_ranks", self.num_ranks, 2, MAX_RANKS)
        copies = check_int("copies", self.copies, 1, MAX_COPIES)
        hand = check_int("hand_size", self.hand_size, 1, MAX_RANKS * MAX_COPIES)
        if n + 1 > ranks * copies:
            raise ValueError(
                f"num_ranks × copies must be at least {n + 1}, a card for each of {n} hands and the first discard, got "
                f"{ranks} × {copies}."
            )
        if hand * n + 1 > ranks * copies:
            raise ValueError(
                f"hand_size must be at most {(ranks * copies - 1) // n}, so that {n} hands and the first discard fit "
                f"in a deck of {ranks * copies} cards, got {hand}."
            )
        check_choice("reward", self.reward, tuple(REWARDS))
        check_int("history", self.history, 0, MAX_HISTORY)
