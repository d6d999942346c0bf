"""The heuristic (L6-L15): the same rank, else the next; when stuck, it quits if that is cheap and draws if not."""

from __future__ import annotations

import numpy as np
import pytest

from llama_envs import lama_v0
from llama_envs.core.batch import policy_streams
from llama_envs.policies import Players, make_policy
from tests.cases import view_of


def rule(seen, names, threshold):
    """The heuristic's rule from what its seat sees: an action's name. Same rank, next rank, then quit if cheap."""
    ranks = len(seen["hand"])
    turn, returning, _ = seen["phase"]
    if turn:
        top = int(seen["top"].argmax())
        for rank in (top, (top + 1) % ranks):
            if seen["hand"][rank]:
                return names[rank]
        penalty = sum(10 if rank == ranks - 1 else rank + 1 for rank in range(ranks) if seen["hand"][rank])
        can_draw = seen["stock"][0] > 0 and seen["active"].sum() > 1
        return "draw" if can_draw and penalty > threshold else "quit"
    if returning:
        return "return black" if seen["black"][0] else "return white"
    return None  # chip exchange: only that the choice is legal


@pytest.mark.parametrize("argument", ["", ":0", ":9", ":31"])
@pytest.mark.parametrize("config", [{"num_players": n} for n in (2, 4, 6)] + [{"chip_exchange": "choice"}], ids=str)
def test_heuristic_plays_same_rank_then_next_then_quits_at_the_threshold_or_draws(argument, config):
    batch = lama_v0.batch(300, seed=2, autoreset=True, **config)
    game, policy = batch.game, make_policy(f"heuristic{argument}", batch.game)
    threshold = int(argument[1:] or 5)
    streams, kinds = policy_streams(300, 3), set()
    for step in range(120):
        actions = policy.act(view_of(batch, policy))
        assert batch.action_mask[np.arange(300), actions].all()
        decoded = game.observation.decode(batch.observation)
        for i in range(0, 300, 10):
            expected = rule({name: array[i] for name, array in decoded.items()}, game.action_names, threshold)
            if expected is not None:
                assert game.action_names[actions[i]] == expected
                kinds.add(expected.split()[0])
        batch.step(actions if step % 2 else batch.sample_actions(streams))
    assert {"play", "return", "draw" if threshold == 0 else "quit"} <= kinds


def test_heuristic_exchanges_ten_white_for_a_black_and_ends():
    batch = lama_v0.batch(500, seed=2, autoreset=True, num_players=3, chip_exchange="choice")
    policy = make_policy("heuristic", batch.game)
    names = []
    for _ in range(400):
        actions = policy.act(view_of(batch, policy))
        names += [batch.game.action_names[a] for a in actions[batch.state["phase"] == 2]]
        batch.step(actions)
    assert set(names) == {"ten white to black", "keep"}


@pytest.mark.parametrize("argument", ["x", "-1", "32", "5.0", "5:5", "1e1", "inf"])
def test_heuristic_refuses_a_threshold_that_is_none(argument):
    game = lama_v0.batch(1).game
    with pytest.raises(ValueError, match=rf"^the threshold in 'heuristic:T' must be .* 0 to 31, got '{argument}'\.$"):
        make_policy(f"heuristic:{argument}", game)


def test_heuristic_beats_random():
    batch = lama_v0.batch(2000, seed=1, num_players=2)
    players = Players(
        batch, [make_policy(p, batch.game) for p in ("random", "heuristic")], np.tile([0, 1], (2000, 1)), seed=2
    )
    actions, paid = np.zeros(2000, np.int64), np.zeros(2)
    while players.act(actions).any():
        paid += batch.step(actions)[0].sum(axis=0)
    assert paid[1] / 2000 > 0.8
