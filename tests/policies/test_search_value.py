"""``mc:W:network=PATH``: a value network looks at what the seat would see next, in worlds it considers possible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.game import Game
from llama_envs.core.registry import make_game
from llama_envs.policies import ScriptedPolicy, make_policy
from llama_envs.policies.network import read_policy
from llama_envs.policies.search.budget import Budget
from llama_envs.policies.search.rollout import named_rollout
from llama_envs.policies.search.value import ValuePolicy
from tests.cases import GAMES, cases_of, view_of
from tests.policies.files import write_random

CASES = [(name, options) for name in GAMES for options in cases_of(name).CONFIGS]


class Weighing:
    """A network that tells observations apart, and keeps those it is shown."""

    inputs = ("observation",)

    def __init__(self) -> None:
        self.shown: list[np.ndarray] = []

    def __call__(self, seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
        self.shown.append(seen.copy())
        return (seen * np.arange(1, seen.shape[1] + 1, dtype=np.float32)).sum(axis=1, keepdims=True) / 100


def value_policy(game: Game, network: Any, worlds: int) -> ValuePolicy:
    return ValuePolicy(game, Budget(worlds), network, named_rollout(game, "", "mc"))


def at_many_points(name: str, options: dict[str, object], games: int = 3) -> list[Batch]:
    """Batches from the deal on to the last decisions of games."""
    batch = Batch(make_game(name, **options), games, seed=8)
    streams = policy_streams(games, 1)
    kept = []
    while (batch.to_move >= 0).any():
        kept.append(batch.clone())
        batch.step(batch.sample_actions(streams), batch.to_move >= 0)
    return kept[:: max(len(kept) // 12, 1)] + kept[-4:]


@pytest.mark.parametrize(("name", "options"), CASES)
def test_values_are_those_of_a_plain_python_look_ahead(name: str, options: dict[str, object]) -> None:
    ended = paid = 0
    for batch in at_many_points(name, options):
        game = batch.game
        network = Weighing()
        policy = value_policy(game, network, 2)
        view, again = view_of(batch, policy), view_of(batch, policy)
        values = policy.values(view)
        rules, params = game.rules, game.records(game.params)[0]
        heuristic = make_policy("heuristic", game)
        assert isinstance(heuristic, ScriptedPolicy)
        rule, mask, nothing = heuristic.kernel, np.zeros(game.num_actions, np.bool_), np.zeros(0, np.int64)
        start = game.records(again.worlds(1)[:, 0].copy())
        for i in range(len(again)):
            seat = int(again.seat[i])
            expected = np.zeros(game.num_actions)
            for _ in range(2):
                world = start[i : i + 1].copy()
                rules.resample_hidden(world[0], params, seat, again.streams, i)
                for action in np.flatnonzero(again.mask[i]):
                    played, luck = world.copy(), again.streams[i : i + 1].copy()
                    choice, value = int(action), 0.0
                    while True:
                        rules.apply(played[0], params, choice)
                        while played["chance"][0]:
                            rules.apply_chance(played[0], params, rules.sample_chance(played[0], params, luck, 0))
                        value += float(played["reward"][0][seat])
                        mover = int(played["to_move"][0])
                        if mover in (-1, seat):
                            break
                        rules.legal_actions(played[0], params, mover, mask)
                        choice = int(rule.choose(played[0], params, mover, mask, rule.options, nothing, luck, 0))
                    paid += value != 0
                    ended += mover < 0
                    if mover == seat:
                        seen = np.zeros((1, game.observation.size), np.float32)
                        rules.observe(played[0], params, seat, seen[0])
                        value += network(seen, mask[None]).item()
                    expected[action] += value
            legal = again.mask[i]
            assert values[i][legal] == pytest.approx(expected[legal] / 2, rel=1e-5)
    assert paid > 0
    assert ended > 0


@pytest.mark.parametrize(("name", "options"), CASES)
def test_the_network_is_shown_nothing_that_depends_on_hidden_cards__B02(name: str, options: dict[str, object]) -> None:
    batch = at_many_points(name, options)[3]
    shown = []
    for disguise in range(3):
        twin = batch.clone()
        rows = np.flatnonzero(twin.to_move >= 0)
        seats = np.maximum(twin.to_move, 0).astype(np.int64)
        twin.state[rows] = twin.worlds(seats, policy_streams(3, 70 + disguise))[:, 0][rows]
        twin.refresh()
        network = Weighing()
        value_policy(batch.game, network, 3).values(view_of(twin, value_policy(batch.game, network, 3)))
        shown.append(np.concatenate(network.shown))
    assert len(shown[0]) > 5
    assert np.array_equal(shown[0], shown[1])
    assert np.array_equal(shown[0], shown[2])


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("layers", [(12, 6), ()], ids=str)
def test_the_value_network_of_a_file_is_asked(name: str, layers: tuple[int, ...], tmp_path: Path) -> None:
    path, game = tmp_path / "policy.npz", make_game(name, num_players=3)
    write_random(path, game, layers=layers)
    batch = Batch(game, 5, seed=1)
    for prefix in ("network", "ppo"):
        policy = make_policy(f"mc:3:{prefix}={path}", game)
        assert isinstance(policy, ValuePolicy)
        alone = value_policy(game, read_policy(path).network("value"), 3)
        assert np.array_equal(policy.values(view_of(batch, policy)), alone.values(view_of(batch, alone)))
    with pytest.raises(ValueError, match="num_players = 3, not with 2"):
        make_policy(f"mc:3:network={path}", make_game(name, num_players=2))


@pytest.mark.parametrize("argument", ["ppo=", "network=", "network=nowhere.npz"])
def test_a_missing_file_is_refused_in_one_sentence(argument: str) -> None:
    with pytest.raises(ValueError, match=r"mc:W:network=PATH|there is no policy file nowhere.npz") as refused:
        make_policy(f"mc:3:{argument}", make_game(GAMES[0]))
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("name", GAMES)
def test_a_network_that_reads_masks_is_refused(name: str, tmp_path: Path) -> None:
    game = make_game(name, num_players=3)
    write_random(tmp_path / "policy.npz", game, inputs=("observation", "action_mask"))
    with pytest.raises(ValueError, match=r"reads observation and action_mask; a search has observations\.$"):
        make_policy(f"mc:3:network={tmp_path / 'policy.npz'}", game)
