"""What a seat of Llama Llama sees: everything it knows, nothing that it was not shown (kinds K1, K8, K13)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.llama_llama.config import LlamaLlamaConfig
from llama_envs.llama_llama.game import make_game
from tests.llama_llama.tables import Table, expand, may_own, play, small_game

CONFIGS = [LlamaLlamaConfig(num_players=n) for n in (2, 3, 4)] + [
    LlamaLlamaConfig(num_players=3, pass_counts=(7, 1, 2, 5), dummy_displays={3: (2,)}),
    small_game((3, 3, 3), num_players=2, hand_size=2, pass_counts=(1, 1, 1, 1), dummy_displays={2: (1, 4)}).config,
]


def by_kind(kinds: Any, num_kinds: int) -> list[int]:
    return np.bincount(np.asarray(kinds, int), minlength=num_kinds).tolist()


def expected(config: LlamaLlamaConfig, state: Any, seat: int) -> dict[str, list[Any]]:
    """The observation in natural units, from the record and the rules page."""
    n, kinds, target = config.num_players, config.cards.num_kinds, config.target_score
    phase, starts = int(state["phase"]), np.cumsum([0, *config.pass_counts])
    order = [(seat + ahead) % n for ahead in range(n)]
    finished = phase if state["terminated"] else max(phase - 1, 0)
    logs = {
        name: [by_kind(state[name][seat][starts[t] : starts[t + 1]] if t < finished else [], kinds) for t in range(4)]
        for name in ("passed", "received")
    }
    picks = int(state["cycle"]) + (seat < state["to_move"]) if phase > 0 and not state["terminated"] else 0
    now = starts[max(phase - 1, 0)]
    before = [int(total) for total in state["total"][:n] - state["round_score"][:n] * state["terminated"]]
    owners = may_own(config, int(state["rounds"]) - bool(state["terminated"]), before)
    shown = [int(state["goal"][state["owner"][display]]) for display in range(phase)]
    return {
        "phase": [int(k == phase) for k in range(5)],
        "goal": [int(k == state["goal"][seat]) for k in range(kinds)],
        "revealed": [[int(d < phase and shown[d] == k) for k in range(kinds)] for d in range(4)],
        "hand": state["hand"][seat][:kinds].tolist(),
        "picked": by_kind(state["passed"][seat][now : now + picks], kinds),
        **logs,
        "may_own": [[*(int(p in at) for p in order), int(any(hand >= n for hand in at))] for at in owners],
        "dummy_left": [int(state["left"][p] >= n) for p in order],
        "total": [min(int(state["total"][p]), target) for p in order],
        "round_score": [min(int(state["round_score"][p]), target) for p in order],
        "pass_count": [config.pass_counts[phase - 1] if phase else 0],
        "rounds": [int(state["rounds"])],
    }


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"{c.num_players}-{c.hand_size}")
def test_observation_says_what_the_seat_knows(config: LlamaLlamaConfig) -> None:
    game = make_game(config)
    batch = Batch(game, 5, seed=1)
    streams = policy_streams(5, 2)
    assert game.observation["rounds"].stop == game.observation.size
    while (batch.to_move >= 0).any():
        batch.step(batch.sample_actions(streams))
        for seat in range(game.num_players):
            seen = batch.observe(seat)
            assert seen.min() >= 0
            assert seen.max() <= 1
            for row in range(5):
                found = game.observation.decode(seen[row])
                wanted = expected(config, batch.state[row], seat)
                assert list(found) == list(wanted)
                for name, value in wanted.items():
                    assert np.array_equal(found[name], value), (name, seat)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"{c.num_players}-{c.hand_size}")
def test_view_does_not_change_when_another_seat_picks(config: LlamaLlamaConfig) -> None:
    game = make_game(config)
    n = game.num_players
    batch = Batch(game, 20, seed=3)
    streams = policy_streams(20, 4)
    while (batch.to_move >= 0).any():
        mover = int(batch.to_move.max())
        before = [batch.observe(seat) for seat in range(n)]
        masks = [batch.mask(seat) for seat in range(n)]
        batch.step(batch.sample_actions(streams))
        if mover < n - 1:  # the last pick of a cycle may reveal goals and pass cards
            for seat in range(n):
                if seat != mover:
                    assert np.array_equal(batch.observe(seat), before[seat])
                    assert np.array_equal(batch.mask(seat), masks[seat])
            assert not batch.mask(mover).any()


def hide(state: Any, seat: int, n: int, rng: random.Random) -> None:
    """Exchange what ``seat`` cannot see, in place and at random: other hands, the stock and face-down goals."""
    shown = [int(state["owner"][display]) for display in range(int(state["phase"]))]
    others = [hand for hand in range(4) if hand != seat]
    unseen = [kind for hand in others for kind in expand(state["hand"][hand])] + list(expand(state["stock"]))
    hidden = [hand for hand in others if state["phase"] > 0 and hand not in shown]
    unseen += [int(state["goal"][hand]) for hand in hidden]
    rng.shuffle(unseen)
    for hand in others:
        number = int(state["hand"][hand].sum())
        state["hand"][hand] = np.bincount([unseen.pop() for _ in range(number)], minlength=32)
    for hand in hidden:
        state["goal"][hand] = unseen.pop()
    state["stock"] = np.bincount(unseen, minlength=32)
    if state["phase"] == 0:
        for hand in others:
            if state["goal"][hand] >= 0:
                state["goal"][hand] = rng.choice(expand(state["hand"][hand]))
    places = list(range(len(shown), 4))
    owners = [int(state["owner"][display]) for display in places]
    if state["phase"] > 0 and state["rounds"] == 0:
        rng.shuffle(owners)
        for display, owner in zip(places, owners, strict=True):
            state["owner"][display] = owner
    for other in range(n):
        if other != seat:
            for log in ("passed", "received"):
                known = state[log][other] >= 0
                state[log][other][known] = [rng.randrange(3) for _ in range(int(known.sum()))]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"{c.num_players}-{c.hand_size}")
def test_nothing_hidden_reaches_observation_or_mask(config: LlamaLlamaConfig) -> None:
    game = make_game(config)
    n = game.num_players
    batch = Batch(game, 25, seed=5)
    streams = policy_streams(25, 6)
    rng = random.Random(7)
    while (batch.to_move >= 0).any():
        for seat in range(n):
            twin = batch.clone()
            for row in range(25):
                hide(twin.state[row], seat, n, rng)
            assert not np.array_equal(twin.state["hand"], batch.state["hand"])
            assert np.array_equal(twin.observe(seat), batch.observe(seat))
            assert np.array_equal(twin.mask(seat), batch.mask(seat))
        for _ in range(3):
            if (batch.to_move >= 0).any():
                batch.step(batch.sample_actions(streams))


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_what_is_public_does_reach_the_observation(num_players: int) -> None:
    game = make_game(LlamaLlamaConfig(num_players=num_players))
    batch = Batch(game, 1, seed=5)
    play(batch, num_players * 6, seed=1)
    for field, value in (("total", 7), ("round_score", 5), ("rounds", 3), ("may_own", 1)):
        twin = batch.clone()
        twin.state[field][0] = value
        for seat in range(num_players):
            assert not np.array_equal(twin.observe(seat), batch.observe(seat)), field
    for seat in range(num_players):
        twin = batch.clone()
        twin.state["goal"][0, twin.state["owner"][0, 0]] += 1
        assert not np.array_equal(twin.observe(seat), batch.observe(seat))


def test_where_the_own_goal_lies_stays_hidden__P6() -> None:
    """Two games that differ only in the order of face-down goals look alike, until one of them is revealed."""
    game = small_game((1,) * 16, hand_size=4, pass_counts=(1, 1, 1, 1))
    tables = [Table(game), Table(game)]
    for table, order in zip(tables, ((0, 1, 2, 3), (0, 1, 3, 2)), strict=True):
        table.deal()
        table.set_goals(order)
    for seat in range(4):
        assert np.array_equal(tables[0].observe(seat), tables[1].observe(seat))
    for table in tables:
        table.act(0, 4, 8, 12, 1, 5, 9, 13)
    for seat in range(4):
        assert not np.array_equal(tables[0].observe(seat), tables[1].observe(seat))
