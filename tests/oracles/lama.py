"""The referee of L.L.A.M.A.: the rules page told once more, in the order in which it is told to players.

Nothing here is fast. A game is one generator that reads from the deal to the last score and stops at each question:
at a chance event (`Chance`) or at a seat's decision (`Decision`). Cards are lists of rank indices, 0 to
`num_ranks` - 1; the last rank is the llama. Clause ids (L1 to L20) are those of the rules page.
"""

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

FirstPlayer = Literal["random"] | int
NextStarter = Literal["last_actor", "rotate"]
ChipMode = Literal["choice", "auto"]
Reward = Literal["win", "score", "rank"]

LLAMA_PENALTY = 10
BLACK_WORTH = 10


@dataclass(frozen=True)
class Chance:
    """A chance event: one ticket is drawn, each equally likely. A rank held by several tickets is likelier."""

    tickets: tuple[int, ...]


@dataclass(frozen=True)
class Decision:
    """A question to one seat: `phase` is "turn", "return" or "exchange"; `legal` are the answers it may give."""

    seat: int
    phase: str
    legal: frozenset[str]


Question = Chance | Decision
Answer = int | str  # a rank or seat for a Chance, an action name for a Decision


class LamaReferee:
    """One game of L.L.A.M.A., driven from outside: `resolve` answers chance, `act` answers for the seat `to_move`.

    Attributes (all may be read at any time):
        hands: the cards of each seat, in the order received; kept as they were at scoring until the next deal.
        stock: the undealt cards, sorted (their order is unknown until they are drawn).
        discard: the discards of this round, the turned-up card first, the top card last.
        active: per seat, whether it has not quit this round.
        white, black: chips per seat.
        starter: the seat that opens the current round; None until it is known.
        last_actor: the seat whose play, draw or quit was the last one applied; None before the first.
        rounds_played: rounds finished.
        rewards: what the last act paid each seat.
        terminated, truncated: whether and how the game is over.
    """

    def __init__(
        self,
        num_players: int = 4,
        first_player: FirstPlayer = "random",
        next_starter: NextStarter = "last_actor",
        chip_return: ChipMode = "choice",
        chip_exchange: ChipMode = "auto",
        target_score: int = 40,
        max_rounds: int | None = None,
        single_round_terminates: bool = False,
        num_ranks: int = 7,
        copies: int = 8,
        hand_size: int = 6,
        reward: Reward = "win",
    ) -> None:
        """Start a game; raise ValueError for a setting outside the rules page."""
        _require(2 <= num_players <= 6, "num_players is 2 to 6 (L3)")
        _require(first_player == "random" or first_player in range(num_players), "first_player: random or a seat (L5)")
        _require(next_starter in ("last_actor", "rotate"), "next_starter: last_actor or rotate (L5)")
        _require(chip_return in ("choice", "auto"), "chip_return: choice or auto (L12)")
        _require(chip_exchange in ("choice", "auto"), "chip_exchange: choice or auto (L15)")
        _require(target_score >= 1, "target_score is at least 1 (L16)")
        _require(max_rounds is None or max_rounds >= 1, "max_rounds is at least 1 or None (L18)")
        _require(2 <= num_ranks <= 7, "num_ranks is 2 to 7, the llama included (L19)")
        _require(copies >= 1 and hand_size >= 1, "copies and hand_size are at least 1 (L19)")
        _require(num_players * hand_size + 1 <= num_ranks * copies, "the deck is too small for the deal (L4, L19)")
        _require(reward in ("win", "score", "rank"), "reward: win, score or rank (L20)")

        self.num_players = num_players
        self.first_player = first_player
        self.next_starter = next_starter
        self.chip_return = chip_return
        self.chip_exchange = chip_exchange
        self.target_score = target_score
        self.max_rounds = max_rounds
        self.single_round_terminates = single_round_terminates
        self.num_ranks = num_ranks
        self.hand_size = hand_size
        self.reward = reward
        self.llama = num_ranks - 1
        self.deck = [rank for rank in range(num_ranks) for _ in range(copies)]  # L1, L19
        self.play_names = [f"play {rank + 1}" for rank in range(self.llama)] + ["play llama"]

        self.hands: list[list[int]] = [[] for _ in self.seats]
        self.stock = list(self.deck)
        self.discard: list[int] = []
        self.active = [True for _ in self.seats]
        self.white = [0 for _ in self.seats]
        self.black = [0 for _ in self.seats]
        self.starter: int | None = None
        self.last_actor: int | None = None
        self.rounds_played = 0
        self.rewards = [0.0 for _ in self.seats]
        self.terminated = False
        self.truncated = False

        self._story = self._game()
        self._question: Question | None = next(self._story)

    # ---- seen from outside ----

    @property
    def seats(self) -> range:
        """All seats, in the order of play (L9)."""
        return range(self.num_players)

    @property
    def totals(self) -> list[int]:
        """Penalty points per seat: white chips count 1, black chips 10 (L2)."""
        return [self.white[seat] + BLACK_WORTH * self.black[seat] for seat in self.seats]

    @property
    def phase(self) -> str:
        """What the game waits for: "chance", "turn", "return", "exchange", or nothing more: "over"."""
        if self._question is None:
            return "over"
        return "chance" if isinstance(self._question, Chance) else self._question.phase

    @property
    def to_move(self) -> int | None:
        """The seat asked for a decision; None while chance is pending and when the game is over."""
        return self._question.seat if isinstance(self._question, Decision) else None

    def legal(self) -> set[str]:
        """Names of the actions open to the seat to move; empty when no seat is to move."""
        return set(self._question.legal) if isinstance(self._question, Decision) else set()

    def pending(self) -> dict[int, Fraction] | None:
        """The outcomes of the pending chance event with their exact probabilities; None when no chance is pending."""
        if not isinstance(self._question, Chance):
            return None
        tickets = self._question.tickets
        return {outcome: Fraction(count, len(tickets)) for outcome, count in sorted(Counter(tickets).items())}

    def resolve(self, outcome: int) -> None:
        """Let the pending chance event come out as `outcome`; ValueError when it cannot."""
        if not isinstance(self._question, Chance) or outcome not in self._question.tickets:
            raise ValueError(f"chance outcome {outcome!r} is not possible; pending: {self.pending()}")
        self._go_on(outcome)

    def act(self, name: str) -> None:
        """Take the action `name` for the seat to move; ValueError, and nothing changed, when it is not legal."""
        if name not in self.legal():
            raise ValueError(f"action {name!r} is not legal for seat {self.to_move}; legal: {sorted(self.legal())}")
        self.rewards = [0.0 for _ in self.seats]
        self._go_on(name)

    def winners(self) -> list[int]:
        """The seats with the lowest total (L17); while the game runs, the seats in the lead."""
        return [seat for seat in self.seats if self.totals[seat] == min(self.totals)]

    def _go_on(self, answer: Answer) -> None:
        try:
            self._question = self._story.send(answer)
        except StopIteration:
            self._question = None

    # ---- the game ----

    def _game(self) -> Generator[Question, Answer, None]:
        starter = self.first_player  # L5
        if starter == "random":
            starter = yield from _chance(self.seats)
        while True:
            self.starter = starter
            yield from self._deal()
            finisher = yield from self._turns(starter)
            totals_before = self.totals
            yield from self._return_chip(finisher)
            self._collect(finisher)
            yield from self._exchange(starter)
            self.rounds_played += 1
            self._end_or_go_on()
            self.rewards = self._pay(totals_before)
            if self.terminated or self.truncated:
                return
            starter = self._opener_of_next_round(starter)

    def _deal(self) -> Generator[Question, Answer, None]:
        """L4: all cards are shuffled, each seat is dealt its hand, one card is turned up."""
        self.stock = list(self.deck)
        self.hands = [[] for _ in self.seats]
        self.discard = []
        self.active = [True for _ in self.seats]
        for seat in self.seats:
            for _ in range(self.hand_size):
                self.hands[seat].append((yield from self._top_of_stock()))
        self.discard.append((yield from self._top_of_stock()))

    def _top_of_stock(self) -> Generator[Question, Answer, int]:
        card = yield from _chance(self.stock)
        self.stock.remove(card)
        return card

    def _turns(self, starter: int) -> Generator[Question, Answer, int | None]:
        """All turns of a round; returns the seat that emptied its hand, or None when the round ended otherwise."""
        seat = starter
        while True:
            action = yield from _ask(seat, "turn", self._turn_actions(seat))
            self.last_actor = seat
            if action == "draw":  # L7
                self.hands[seat].append((yield from self._top_of_stock()))
            elif action == "quit":  # L8
                self.active[seat] = False
            else:  # L6
                card = self.play_names.index(action)
                self.hands[seat].remove(card)
                self.discard.append(card)
                if not self.hands[seat]:  # L11, first way: the last card is played
                    return seat
            if not any(self.active):  # L11, second way: every seat has quit
                return None
            seat = self._next_seat(seat)
            if self._is_last_remaining(seat) and not self._playable(seat):  # L11, third way: the last one is stuck
                return None

    def _next_seat(self, seat: int) -> int:
        """L9: the next seat, those that have quit skipped; a last remaining seat follows itself."""
        seat = (seat + 1) % self.num_players
        while not self.active[seat]:
            seat = (seat + 1) % self.num_players
        return seat

    def _is_last_remaining(self, seat: int) -> bool:
        return not any(self.active[other] for other in self.seats if other != seat)

    def _playable(self, seat: int) -> set[int]:
        """L6: the ranks in the hand that equal the top discard or follow it in the cycle 1, 2, ..., llama, 1."""
        top = self.discard[-1]
        following = 0 if top == self.llama else top + 1
        return {card for card in self.hands[seat] if card in (top, following)}

    def _turn_actions(self, seat: int) -> set[str]:
        actions = {self.play_names[card] for card in self._playable(seat)}  # L6
        if self.stock and not self._is_last_remaining(seat):  # L7, L10
            actions.add("draw")
        actions.add("quit")  # L8: always allowed
        return actions

    # ---- end of a round ----

    def _return_chip(self, finisher: int | None) -> Generator[Question, Answer, None]:
        """L12: who emptied its hand may give one chip back."""
        if finisher is None:
            return
        choices = {"keep"}
        if self.white[finisher]:
            choices.add("return white")
        if self.black[finisher]:
            choices.add("return black")
        if choices == {"keep"}:
            return
        if self.chip_return == "choice":
            answer = yield from _ask(finisher, "return", choices)
        else:
            answer = "return black" if "return black" in choices else "return white"
        if answer == "return white":
            self.white[finisher] -= 1
        if answer == "return black":
            self.black[finisher] -= 1

    def _collect(self, finisher: int | None) -> None:
        """L13, L14: every other seat takes chips for its penalty."""
        for seat in self.seats:
            if seat != finisher:
                points = penalty(self.hands[seat], self.llama)
                self.black[seat] += points // BLACK_WORTH
                self.white[seat] += points % BLACK_WORTH

    def _exchange(self, starter: int) -> Generator[Question, Answer, None]:
        """L15: chips may be changed while they are collected; the owner's total stays the same."""
        if self.chip_exchange == "auto":
            for seat in self.seats:
                while self.white[seat] >= BLACK_WORTH:
                    self._ten_white_to_black(seat)
            return
        for step in self.seats:
            seat = (starter + step) % self.num_players
            directions = {"ten white to black", "black to ten white"}
            while True:
                choices = directions & self._exchanges_owned(seat)
                if not choices:
                    break
                answer = yield from _ask(seat, "exchange", {"keep"} | choices)
                if answer == "keep":
                    break
                if answer == "ten white to black":
                    self._ten_white_to_black(seat)
                else:
                    self.black[seat] -= 1
                    self.white[seat] += BLACK_WORTH
                directions = {answer}  # one direction per seat and collection

    def _exchanges_owned(self, seat: int) -> set[str]:
        owned = set()
        if self.white[seat] >= BLACK_WORTH:
            owned.add("ten white to black")
        if self.black[seat] >= 1:
            owned.add("black to ten white")
        return owned

    def _ten_white_to_black(self, seat: int) -> None:
        self.white[seat] -= BLACK_WORTH
        self.black[seat] += 1

    # ---- end of the game ----

    def _end_or_go_on(self) -> None:
        if max(self.totals) >= self.target_score:  # L16
            self.terminated = True
        elif self.max_rounds is not None and self.rounds_played >= self.max_rounds:  # L18
            self.terminated = self.single_round_terminates
            self.truncated = not self.single_round_terminates

    def _opener_of_next_round(self, starter: int) -> int:
        if self.next_starter == "rotate":  # L5
            return (starter + 1) % self.num_players
        assert self.last_actor is not None  # a round has at least one turn
        return self.last_actor

    def _pay(self, totals_before: list[int]) -> list[float]:
        """L20: what the round just finished pays; "win" and "rank" pay only when the game has terminated."""
        if self.reward == "score":
            return score_rewards([after - before for after, before in zip(self.totals, totals_before, strict=True)])
        if not self.terminated:
            return [0.0 for _ in self.seats]
        return win_rewards(self.totals) if self.reward == "win" else rank_rewards(self.totals)


def penalty(hand: list[int], llama: int) -> int:
    """Points of a hand at scoring: each rank once, numbers their number, the llama ten (L13)."""
    return sum(LLAMA_PENALTY if rank == llama else rank + 1 for rank in set(hand))


def win_rewards(totals: list[int]) -> list[float]:
    """L20: a sole winner gets 1, every other seat -1/(n-1); k winners share what they win together equally."""
    others = len(totals) - 1
    winners = [seat for seat, total in enumerate(totals) if total == min(totals)]
    share = (1 - Fraction(len(winners) - 1, others)) / len(winners)
    return [float(share if seat in winners else Fraction(-1, others)) for seat in range(len(totals))]


def rank_rewards(totals: list[int]) -> list[float]:
    """L20: from 1 for the lowest total to -1 for the highest in equal steps; ties take the mean of their ranks."""
    places = sorted(totals)
    rewards = []
    for total in totals:
        ranks = [place for place, other in enumerate(places, start=1) if other == total]
        rank = Fraction(sum(ranks), len(ranks))
        rewards.append(float(1 - 2 * (rank - 1) / (len(totals) - 1)))
    return rewards


def score_rewards(changes: list[int]) -> list[float]:
    """L20: own change in total against the mean of the others' changes, in tens; fewer points than they is positive."""
    others = len(changes) - 1
    return [float((Fraction(sum(changes) - own, others) - own) / 10) for own in changes]


def _chance(tickets: range | list[int]) -> Generator[Question, Answer, int]:
    outcome = yield Chance(tuple(tickets))
    assert isinstance(outcome, int)
    return outcome


def _ask(seat: int, phase: str, legal: set[str]) -> Generator[Question, Answer, str]:
    answer = yield Decision(seat, phase, frozenset(legal))
    assert isinstance(answer, str)
    return answer


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)
