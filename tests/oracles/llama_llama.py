"""The referee of Llama Llama: the rules page in plain Python, slow and easy to check by eye.

It shares no code with the game. Hands are lists of cards, a card is the index of its kind, and scoring works on the
letters themselves. Clause ids (P1 to P20) are those of the rules page.

Four hands are in play whatever the number of players: hands 0 to n - 1 are the players', the rest are dummies. The
player at the left of player p is player p + 1.

A round is a list of steps that is worked off from the front. A step waits for a chance event (`pending` and
`resolve`), waits for a player's choice (`to_move`, `legal` and `act`), or happens by itself. The order of the steps:

1. three players: where the dummy sits;
2. the deal, one card per event: all of hand 0, then all of hands 1, 2 and 3;
3. each player's goal, then one event per dummy for its goal;
4. one event per display for the owner of the goal laid there;
5. four times: the goal is revealed, everybody picks one card at a time in turn, all pass at once, and then the cards
   that are drawn from a dummy come one per event;
6. scoring.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

Rules = Sequence[tuple[str, int]]
Step = tuple[str, int]

HANDS = 4
DISPLAYS = 4
CHANCE_STEPS = ("dummy seat", "deal", "dummy goal", "place", "draw")
CHOICE_STEPS = ("goal", "pick")
DUMMY_DISPLAYS: Mapping[int, Sequence[int]] = {3: (4,), 2: (3, 4)}


def copies_of(combination: str, letters: str) -> int:
    """Disjoint copies of a combination among letters, by taking one after the other away (P15)."""
    left = list(letters)
    copies = 0
    while True:
        for letter in combination:
            if letter not in left:
                return copies
            left.remove(letter)
        copies += 1


def score_goal(letters: str, rules: Rules) -> int:
    """Points that the letters of a hand score on one goal card: every combination by itself (P14, P15)."""
    return sum(points * copies_of(combination, letters) for combination, points in rules)


class LlamaLlamaReferee:
    """One game of Llama Llama, from the first deal to the last score.

    Attributes:
        hands: Four sorted lists of kinds, players first. Picked cards stay in a hand until everybody has picked.
        stock: Cards that have not been dealt; those beyond four hands stay aside unseen.
        goals_by_owner: The goal's kind for each of the four hands, None until it has left the hand.
        display: The hand that owns the goal on each of the four displays, None until it is placed.
        revealed: How many displays are revealed in this round.
        goal_picks: The goal each player has chosen and not yet laid aside, else None.
        picks: The cards each player has picked in the current pass.
        passed: Of this round, for each player, one sorted list of kinds per pass.
        received: Likewise what came in: sorted when from a player, in the order drawn when from a dummy.
        dummy_seat: Three players: the player at whose left the dummy sits, None until this round's event.
        totals: Each player's points so far.
        round_scores: One list of the players' points for every round played.
        rounds_played: How many rounds have been scored.
        rewards: For each player, what has been paid since the last call of `act` began.
        terminated: Whether the game has ended.
    """

    def __init__(
        self,
        letters: Sequence[str],
        copies: Sequence[int],
        rules: Sequence[Rules],
        num_players: int = 4,
        pass_counts: Sequence[int] = (4, 3, 2, 1),
        dummy_displays: Mapping[int, Sequence[int]] = DUMMY_DISPLAYS,
        target_score: int = 100,
        num_rounds: int = 4,
        hand_size: int = 8,
        reward: str = "win",
    ) -> None:
        """Set the table for the first round.

        Args:
            letters: The letter of every kind of card, A to G.
            copies: How many cards of every kind the deck holds.
            rules: Of every kind, the combinations of both its rules as (letters, points); A = 1 is ("A", 1).
            num_players: 2 to 4.
            pass_counts: Cards passed below each of the four displays.
            dummy_displays: The displays with the dummy icon, 1 to 4, for each number of players below four.
            target_score: The total that ends the game.
            num_rounds: The number of rounds that ends the game.
            hand_size: Cards dealt to each hand.
            reward: "win", "score" or "rank".

        Raises:
            ValueError: If the deck or an option does not make a game.
        """
        if not 2 <= num_players <= HANDS:
            raise ValueError(f"2 to 4 players, not {num_players}")
        if not len(letters) == len(copies) == len(rules):
            raise ValueError("letters, copies and rules must have one entry per kind")
        if sum(copies) < HANDS * hand_size:
            raise ValueError(f"{sum(copies)} cards are not enough for four hands of {hand_size}")
        if len(pass_counts) != DISPLAYS or not all(0 <= cards < hand_size for cards in pass_counts):
            raise ValueError(f"four pass counts below the hand size, not {pass_counts}")
        if reward not in ("win", "score", "rank"):
            raise ValueError(f"unknown reward {reward!r}")
        self.letters = list(letters)
        self.copies = list(copies)
        self.rules = [list(combinations) for combinations in rules]
        self.num_players = num_players
        self.players = range(num_players)
        self.dummies = range(num_players, HANDS)
        self.pass_counts = tuple(pass_counts)
        self.marked_displays = tuple(dummy_displays[num_players]) if self.dummies else ()  # P8
        if sorted(set(self.marked_displays) & {1, 2, 3, 4}) != sorted(self.marked_displays):
            raise ValueError(f"displays are 1 to 4, each once, not {self.marked_displays}")
        if len(self.marked_displays) != len(self.dummies):
            raise ValueError(f"{len(self.dummies)} dummies, but {len(self.marked_displays)} dummy displays")
        self.target_score = target_score
        self.num_rounds = num_rounds
        self.hand_size = hand_size
        self.reward = reward

        self.totals = [0] * num_players
        self.round_scores: list[list[int]] = []
        self.rounds_played = 0
        self.terminated = False
        self.rewards = [0.0] * num_players
        self.dummy_seat: int | None = None
        self._steps: list[Step] = []
        self._set_up_round()
        self._go_on()

    # ------------------------------------------------------------------ what everybody may ask

    @property
    def phase(self) -> str:
        """What the game waits for: "chance", a "goal", a card to "pass", or nothing when it is "over"."""
        if self.terminated:
            return "over"
        return {"goal": "goal", "pick": "pass"}.get(self._steps[0][0], "chance")

    @property
    def event(self) -> str | None:
        """The pending chance event: "dummy seat", "deal", "dummy goal", "place" or "draw"; None if none is."""
        return self._steps[0][0] if self.phase == "chance" else None

    @property
    def to_move(self) -> int | None:
        """The player who must choose, None at a chance event and after the end."""
        return self._steps[0][1] if self.phase in ("goal", "pass") else None

    def dummy_left_of(self, player: int) -> int | None:
        """The hand of the dummy that sits at the left of a player, or None (P11, P12)."""
        if self.num_players == 2:
            return 2 + player
        if self.num_players == 3 and self.dummy_seat == player:
            return 3
        return None

    def winners(self) -> list[int]:
        """Who has won (P19): the highest total, then the most points in the final round; [] before the end."""
        if not self.terminated:
            return []
        best = max(self._standing(player) for player in self.players)
        return [player for player in self.players if self._standing(player) == best]

    def score(self, hand: Iterable[int], goals: Iterable[int]) -> list[int]:
        """Points of a hand on each of several goals, all given as kinds (P14-P17)."""
        letters = "".join(self.letters[kind] for kind in hand)
        return [score_goal(letters, self.rules[goal]) for goal in goals]

    # ------------------------------------------------------------------ chance

    def pending(self) -> dict[int, Fraction] | None:
        """The outcomes of the pending chance event and their probabilities, None if no event is pending.

        An outcome is a kind of card; for "dummy seat" it is the player at whose left the dummy sits, and for "place"
        the hand that owns the goal laid on the next display.
        """
        if self.phase != "chance":
            return None
        what, whom = self._steps[0]
        if what == "dummy seat":
            return _uniform(self._dummy_seats())
        if what == "deal":
            return _uniform(self.stock)
        if what == "dummy goal":
            return _uniform(self.hands[whom])
        if what == "place":
            return _uniform(self._owners_for(whom))
        return _uniform(self.hands[self._dummy_of(whom)])

    def resolve(self, outcome: int) -> None:
        """Let the pending chance event have an outcome, and go on to the next event or choice.

        Args:
            outcome: One of the outcomes in `pending`.

        Raises:
            ValueError: If no event is pending or the outcome is not possible.
        """
        possible = self.pending()
        if possible is None or outcome not in possible:
            raise ValueError(f"outcome {outcome} is not possible; possible are {possible}")
        what, whom = self._steps.pop(0)
        if what == "dummy seat":
            self.dummy_seat = outcome
        elif what == "deal":  # P4
            self.stock.remove(outcome)
            self._give(whom, [outcome])
        elif what == "dummy goal":  # P5
            self.hands[whom].remove(outcome)
            self.goals_by_owner[whom] = outcome
        elif what == "place":
            self.display[whom] = outcome
        elif what == "draw":  # P13: from the dummy at the left of `whom` to the next player to the left
            self.hands[self._dummy_of(whom)].remove(outcome)
            self._give(self._left(whom), [outcome])
            self.received[self._left(whom)][-1].append(outcome)
        self._go_on()

    def _dummy_seats(self) -> list[int]:
        """P12: first round anywhere; later between the player with the lowest total and the player at its right."""
        if self.rounds_played == 0:
            return list(self.players)
        lowest = min(self.totals)
        return [(player - 1) % self.num_players for player in self.players if self.totals[player] == lowest]

    def _owners_for(self, display: int) -> list[int]:
        """P6, P7: whose goal may come to lie on a display (counted from 0), given those that lie already."""
        left = [owner for owner in range(HANDS) if owner not in self.display]
        if self.rounds_played == 0:
            return left
        if display + 1 in self.marked_displays:
            return [owner for owner in left if owner in self.dummies]
        players = [owner for owner in left if owner in self.players]
        highest = max(self.totals[player] for player in players)
        return [player for player in players if self.totals[player] == highest]

    # ------------------------------------------------------------------ choices

    def legal(self, seat: int | None = None) -> set[int]:
        """The kinds that a player may choose now.

        Args:
            seat: The player; the one to move if None. Everybody chooses at the same time, so that a player who comes
                later in the same turn has its choice too; one who has chosen already has none.

        Returns:
            Kinds; empty at a chance event and after the end.
        """
        mover = self.to_move
        if mover is None:
            return set()
        player = mover if seat is None else seat
        if player not in range(mover, self.num_players):
            return set()
        if self.phase == "goal":
            return set(self.hands[player])  # P5
        # P9: exactly the shown number of any cards; picked in the order of their kinds, so that every set of cards is
        # picked in one way only.
        picked = self.picks[player]
        left = list(self.hands[player])
        for kind in picked:
            left.remove(kind)
        still_to_pick = self.pass_counts[self.revealed - 1] - len(picked)
        kinds = set()
        for kind in left:
            in_order = not picked or kind >= picked[-1]
            enough = len([other for other in left if other >= kind]) >= still_to_pick
            if in_order and enough:
                kinds.add(kind)
        return kinds

    def act(self, kind: int) -> None:
        """Choose a card for the player to move, and go on to the next event or choice.

        Args:
            kind: One of the kinds in `legal`.

        Raises:
            ValueError: If nobody is to move or the choice is not legal.
        """
        if kind not in self.legal():
            raise ValueError(f"player {self.to_move} may not choose {kind}; legal are {sorted(self.legal())}")
        self.rewards = [0.0] * self.num_players
        what, player = self._steps.pop(0)
        if what == "goal":
            self.goal_picks[player] = kind
        else:
            self.picks[player].append(kind)
        self._go_on()

    # ------------------------------------------------------------------ what happens by itself

    def _set_up_round(self) -> None:
        self.stock = [kind for kind, copies in enumerate(self.copies) for _ in range(copies)]
        self.hands: list[list[int]] = [[] for _ in range(HANDS)]
        self.goals_by_owner: list[int | None] = [None] * HANDS
        self.display: list[int | None] = [None] * DISPLAYS
        self.revealed = 0
        self.goal_picks: list[int | None] = [None] * self.num_players
        self.picks: list[list[int]] = [[] for _ in self.players]
        self.passed: list[list[list[int]]] = [[] for _ in self.players]
        self.received: list[list[list[int]]] = [[] for _ in self.players]
        self.dummy_seat = None

        steps: list[Step] = []
        if self.num_players == 3:
            steps += [("dummy seat", 0)]
        for hand in range(HANDS):
            steps += [("deal", hand)] * self.hand_size
        steps += [("goal", player) for player in self.players]
        steps += [("lay goals aside", 0)]
        steps += [("dummy goal", dummy) for dummy in self.dummies]
        steps += [("place", display) for display in range(DISPLAYS)]
        for cards in self.pass_counts:
            steps += [("reveal", 0)]
            steps += [("pick", player) for player in self.players] * cards
            steps += [("pass", cards)]
        steps += [("score", 0)]
        self._steps = steps

    def _go_on(self) -> None:
        """Do what happens by itself until an event or a choice comes first, or the game is over."""
        while not self.terminated and self._steps[0][0] not in CHANCE_STEPS + CHOICE_STEPS:
            what, cards = self._steps.pop(0)
            if what == "lay goals aside":
                self._lay_goals_aside()
            elif what == "reveal":
                self.revealed += 1
            elif what == "pass":
                self._pass(cards)
            elif what == "score":
                self._score_round()

    def _lay_goals_aside(self) -> None:
        """P5: all chosen goals leave the hands at the same time."""
        for player in self.players:
            goal = self.goal_picks[player]
            assert goal is not None
            self.hands[player].remove(goal)
            self.goals_by_owner[player] = goal
        self.goal_picks = [None] * self.num_players

    def _pass(self, cards: int) -> None:
        """P9, P13: all pass to the left at once; only when every card is placed is a dummy drawn from."""
        for player in self.players:
            for kind in self.picks[player]:
                self.hands[player].remove(kind)
        draws: list[Step] = []
        for player in self.players:
            going = sorted(self.picks[player])
            self.passed[player].append(going)
            dummy = self.dummy_left_of(player)
            if dummy is None:
                self._give(self._left(player), going)
                self.received[self._left(player)].append(list(going))
            else:
                self._give(dummy, going)
                self.received[self._left(player)].append([])
                draws += [("draw", player)] * cards
        self.picks = [[] for _ in self.players]
        self._steps = draws + self._steps

    def _score_round(self) -> None:
        """P10, P18: score the hands, pay, and end the game or set up the next round."""
        goals = [goal for goal in self.goals_by_owner if goal is not None]
        assert len(goals) == HANDS
        points = [sum(self.score(self.hands[player], goals)) for player in self.players]
        self.round_scores.append(points)
        self.rounds_played += 1
        self.totals = [total + new for total, new in zip(self.totals, points, strict=True)]
        self.terminated = max(self.totals) >= self.target_score or self.rounds_played == self.num_rounds
        self.rewards = [float(due) for due in self._rewards_due()]
        if not self.terminated:
            self._set_up_round()

    def _rewards_due(self) -> list[Fraction]:
        """P20: what the round that has just been scored pays to each player."""
        others = self.num_players - 1
        if self.reward == "score":
            points = self.round_scores[-1]
            means = [Fraction(sum(points) - own, others) for own in points]
            return [(own - mean) / 50 for own, mean in zip(points, means, strict=True)]
        if not self.terminated:
            return [Fraction(0)] * self.num_players
        if self.reward == "win":
            winners = self.winners()
            share = (1 - Fraction(len(winners) - 1, others)) / len(winners)
            return [share if player in winners else Fraction(-1, others) for player in self.players]
        standings = [self._standing(player) for player in self.players]
        ranks = []
        for own in standings:
            better = len([standing for standing in standings if standing > own])
            equal = standings.count(own)
            ranks.append(better + Fraction(1 + equal, 2))  # the average of the ranks better + 1 to better + equal
        return [1 - 2 * (rank - 1) / others for rank in ranks]

    def _standing(self, player: int) -> tuple[int, int]:
        """P19: what players are compared by: the total, then the points in the final round."""
        return self.totals[player], self.round_scores[-1][player]

    def _left(self, player: int) -> int:
        return (player + 1) % self.num_players

    def _dummy_of(self, player: int) -> int:
        dummy = self.dummy_left_of(player)
        assert dummy is not None
        return dummy

    def _give(self, hand: int, kinds: Iterable[int]) -> None:
        self.hands[hand] = sorted([*self.hands[hand], *kinds])


def _uniform(things: Sequence[int]) -> dict[int, Fraction]:
    """Every thing equally likely; equal ones count together."""
    return {thing: Fraction(number, len(things)) for thing, number in sorted(Counter(things).items())}
