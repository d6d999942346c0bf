"""A game with a planted fault fails ``check_game``, and the message names the fault."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from kuhn_poker import game as kuhn  # noqa: E402

from llama_envs.core.chance import draw_below  # noqa: E402
from llama_envs.core.compile import kernel  # noqa: E402
from llama_envs.core.contract import PolicyKernel  # noqa: E402
from llama_envs.core.game import Game, PlainText  # noqa: E402
from llama_envs.testing import NotConformant, check_game  # noqa: E402


@kernel
def legal_for_all(state, params, seat, mask):
    mask[:] = state.to_move >= 0


@kernel
def legal_for_nobody(state, params, seat, mask):
    mask[:] = False


@kernel
def legal_beyond(state, params, seat, mask):
    kuhn.legal_actions(state, params, seat, mask)
    np.lib.stride_tricks.as_strided(mask, (3,))[2] = True


@kernel
def reward_kept(state, params, action):
    before = float(state.reward[0])
    kuhn.apply(state, params, action)
    state.reward[0] += before


@kernel
def reward_for_the_wrong_seat(state, params, action):
    kuhn.apply(state, params, action)
    if state.terminated:
        state.reward[0] = abs(state.reward[0])


@kernel
def probabilities_too_small(state, params, probs):
    n = kuhn.chance_outcomes(state, params, probs)
    for k in range(n):
        probs[k] *= 0.9
    return n


@kernel
def sample_kings(state, params, streams, i):
    return 2 if state.card[0] != 2 else draw_below(streams, i, 2)


@kernel
def resample_own_hand(state, params, seat, streams, i):
    state.card[seat] = draw_below(streams, i, 3)


@kernel
def resample_nothing(state, params, seat, streams, i):
    pass


@kernel
def resample_impossible(state, params, seat, streams, i):
    if not kuhn.shown(state):
        state.card[1 - seat] = draw_below(streams, i, 3)


@kernel
def resample_unevenly(state, params, seat, streams, i):
    if not kuhn.shown(state):
        drawn = int(draw_below(streams, i, 4) > 0)
        state.card[1 - seat] = drawn + int(drawn >= state.card[seat])


@kernel
def observe_the_other(state, params, seat, out):
    kuhn.observe(state, params, seat, out)
    if state.to_move >= 0 and state.moves == 0:
        out[6 + state.card[1 - seat]] = 1.0


@kernel
def observe_too_much(state, params, seat, out):
    kuhn.observe(state, params, seat, out)
    out[3] = state.paid[seat]


@kernel
def observe_too_little(state, params, seat, out):
    kuhn.observe(state, params, seat, out[:9])
    out[8] = np.nan


@kernel
def never_over(state, params, action):
    kuhn.apply(state, params, action)
    if state.terminated:
        state.terminated, state.to_move, state.moves = False, 0, 1


@kernel
def peek(state, params, seat, mask, options, memory, streams, i):
    return int(state.card[1 - seat] < state.card[seat])


class ShowsAll(PlainText):
    """A renderer that looks over everybody's shoulder in one of its outputs."""

    def svg(self, game, state, seat):
        return super().svg(game, state, None)


GAME = kuhn.make_game(kuhn.Config())


def with_rules(**kernels) -> Game:
    return dataclasses.replace(GAME, rules=kuhn.RULES._replace(**kernels))


def with_heuristic(choose) -> Game:
    spec = dataclasses.replace(GAME.spec, heuristic=lambda argument: PolicyKernel(choose))
    return dataclasses.replace(GAME, spec=spec)


FAULTS = {
    "masks: player_1 has legal actions while player_0 is to move": lambda: with_rules(legal_actions=legal_for_all),
    "masks: player_0 is to move and has no legal action": lambda: with_rules(legal_actions=legal_for_nobody),
    "memory: legal_actions writes past the end": lambda: with_rules(legal_actions=legal_beyond),
    "rewards: apply must clear the reward": lambda: with_rules(apply=reward_kept),
    "rewards: what the seats are paid must sum to 0": lambda: with_rules(apply=reward_for_the_wrong_seat),
    "chance: the probabilities of an event of kind 1 sum to 0.9": lambda: with_rules(
        chance_outcomes=probabilities_too_small
    ),
    "chance: sample_chance does not follow chance_outcomes": lambda: with_rules(sample_chance=sample_kings),
    "resampling: player_0 sees a difference after resample_hidden": lambda: with_rules(
        resample_hidden=resample_own_hand
    ),
    "resampling: resample_hidden never changes anything": lambda: with_rules(resample_hidden=resample_nothing),
    "worlds that cannot have come about": lambda: with_rules(resample_hidden=resample_impossible),
    "does not draw the worlds of player_": lambda: with_rules(resample_hidden=resample_unevenly),
    "or the observation shows what is hidden": lambda: with_rules(observe=observe_the_other),
    "observation: paid is": lambda: with_rules(observe=observe_too_much),
    "observation: observe leaves entry 8 (shown)": lambda: with_rules(observe=observe_too_little),
    "hidden information: the SVG picture for player_0 shows": lambda: dataclasses.replace(GAME, renderer=ShowsAll()),
    "end: a random game did not end": lambda: with_rules(apply=never_over),
    "limits: a seat was paid 2 in a game, max_return says 1": lambda: dataclasses.replace(GAME, max_return=1.0),
    "did not end within 2 decisions, as max_decisions says": lambda: dataclasses.replace(GAME, max_decisions=2),
    "policies: the heuristic depends on what its seat cannot see": lambda: with_heuristic(peek),
}


def verdict(fault: str) -> str:
    try:
        check_game(FAULTS[fault](), games=40)
    except NotConformant as error:
        return str(error)
    return "conforms"


def test_each_planted_fault_is_named() -> None:
    """In one process without compilation: what is checked is the same, and nothing is compiled for each fault."""
    code = "import test_check_game as t\nfor fault in t.FAULTS: print(fault, '->', t.verdict(fault))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=HERE, capture_output=True, text=True, check=False,
        env={**__import__("os").environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": f"{HERE.parents[1]}:{HERE}"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    named = dict(line.split(" -> ", 1) for line in done.stdout.splitlines() if " -> " in line)
    assert len(named) == len(FAULTS) >= 10
    wrong = {fault: said for fault, said in named.items() if fault.strip() not in said}
    assert not wrong


@kernel
def overflowing(state, params, action):
    kuhn.apply(state, params, action)
    if state.terminated and state.moves + np.int8(126) > 0:  # plain int8 wraps, compiled int64 does not
        state.total[0] += 0
        state.reward[0], state.reward[1] = state.reward[1], state.reward[0]


def make_overflowing(config) -> Game:
    spec = dataclasses.replace(GAME.spec, make_game=make_overflowing)
    return dataclasses.replace(GAME, spec=spec, rules=kuhn.RULES._replace(apply=overflowing))


def test_a_game_that_plays_differently_in_plain_python_is_named() -> None:
    with pytest.raises(NotConformant, match="compiled = plain"):
        check_game(make_overflowing(kuhn.Config()), games=40)


@pytest.mark.parametrize(("change", "missing"), [
    ({"rules": kuhn.RULES._replace(observe=None)}, "a kernel observe with 4 arguments"),
    ({"rules": kuhn.RULES._replace(apply=kuhn.observe)}, "a kernel apply with 3 arguments"),
    ({"state_dtype": np.dtype([f for f in kuhn.STATE.descr if f[0] and f[0] != "rounds"])}, "no field 'rounds'"),
    ({"seat_fields": ("reward", "card", "paid")}, "'total' of its state must have a place for each seat"),
    ({"params": np.array([(2,)], [("players", np.int64)])}, "a field 'num_players'"),
    ({"params": np.array([(3,)], [("num_players", np.int64)])}, "params say num_players = 3"),
    ({"action_names": ("pass", "pass")}, "action_names must be different"),
])  # fmt: skip
def test_an_incomplete_game_cannot_be_made_and_says_what_is_missing(change, missing) -> None:
    with pytest.raises(ValueError, match="the game 'kuhn' is not complete") as raised:
        dataclasses.replace(GAME, **change)
    assert missing in str(raised.value)
