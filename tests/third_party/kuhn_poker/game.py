"""State, rules, observation and configuration of Kuhn poker."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from kuhn_poker import SPEC
from llama_envs.core.chance import draw_below
from llama_envs.core.compile import kernel
from llama_envs.core.contract import Rules
from llama_envs.core.game import Game
from llama_envs.core.observation import Observation, Slice
from llama_envs.core.validation import check_int

DEAL, PASS, BET, CARDS = 1, 0, 1, 3
STATE = np.dtype(
    [
        ("to_move", np.int8), ("chance", np.int8), ("terminated", np.bool_), ("truncated", np.bool_),
        ("rounds", np.int8), ("reward", np.float32, (2,)), ("total", np.int16, (2,)),
        ("card", np.int8, (2,)),  # 0, 1, 2 for jack, queen, king; -1: not dealt yet
        ("paid", np.int8, (2,)),  # chips in the pot
        ("moves", np.int8),
    ],
    align=True,
)  # fmt: skip


@dataclass(frozen=True)
class Config:
    """Options of one game.

    Attributes:
        num_players: 2.
    """

    num_players: int = 2

    def __post_init__(self):
        check_int("num_players", self.num_players, 2, 2)


@kernel
def start_game(state, params):
    state.to_move, state.chance, state.moves, state.rounds = -1, DEAL, 0, 0
    state.terminated = state.truncated = False
    for seat in range(2):
        state.card[seat], state.paid[seat], state.total[seat], state.reward[seat] = -1, 1, 0, 0.0


@kernel
def chance_outcomes(state, params, probs):
    for card in range(CARDS):
        free = CARDS if state.card[0] < 0 else CARDS - 1
        probs[card] = 0.0 if card == state.card[0] else 1.0 / free
    return CARDS


@kernel
def apply_chance(state, params, outcome):
    if state.card[0] < 0:
        state.card[0] = outcome
    else:
        state.card[1], state.chance, state.to_move = outcome, 0, 0


@kernel
def legal_actions(state, params, seat, mask):
    mask[PASS] = mask[BET] = seat == state.to_move


@kernel
def apply(state, params, action):
    state.reward[0] = state.reward[1] = 0.0
    seat, other = int(state.to_move), 1 - int(state.to_move)
    state.moves += 1
    if action == BET:
        state.paid[seat] = 2
    if action == PASS and state.paid[other] == 2:
        finish(state, other)
    elif state.moves > 1 and state.paid[0] == state.paid[1]:
        finish(state, 0 if state.card[0] > state.card[1] else 1)
    else:
        state.to_move = other


@kernel
def finish(state, winner):
    state.to_move, state.rounds, state.terminated = -1, 1, True
    won = state.paid[1 - winner]
    state.total[winner], state.total[1 - winner] = won, -won
    state.reward[winner], state.reward[1 - winner] = won, -won


@kernel
def shown(state):
    return state.terminated and state.paid[0] == state.paid[1]


@kernel
def resample_hidden(state, params, seat, streams, i):
    if not shown(state):
        drawn = draw_below(streams, i, CARDS - 1)
        state.card[1 - seat] = drawn + int(drawn >= state.card[seat])


LAYOUT = [
    Slice("card", (CARDS,), 1, "one-hot: own card"), Slice("paid", (2,), 2, "chips in the pot, own first"),
    Slice("moves", (1,), 3, "decisions so far"), Slice("shown", (CARDS,), 1, "one-hot: the other's card, once shown"),
]  # fmt: skip


@kernel
def observe(state, params, seat, out):
    for card in range(CARDS):
        out[card] = state.card[seat] == card
        out[6 + card] = shown(state) and state.card[1 - seat] == card
    out[3], out[4], out[5] = state.paid[seat] / 2.0, state.paid[1 - seat] / 2.0, state.moves / 3.0


RULES = Rules(start_game, legal_actions, apply, chance_outcomes, apply_chance, resample_hidden, observe)


@cache
def make_game(config):
    return Game(
        spec=SPEC, config=config, num_players=2, action_names=("pass", "bet"), observation=Observation(LAYOUT),
        state_dtype=STATE, seat_fields=("reward", "total", "card", "paid"),
        params=np.array([(2,)], [("num_players", np.int64)]), rules=RULES, most_points_win=True, score_name="chips",
        simultaneous=False, max_chance_outcomes=CARDS, max_decisions=3, max_chance_events=2, max_return=2.0,
    )  # fmt: skip
