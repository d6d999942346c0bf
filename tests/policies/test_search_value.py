"""``mc:W:ppo=PATH``: a value network looks at what the seat would see next, in worlds it considers possible."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from llama_envs.policies.policy import ScriptedPolicy, View, look, make_policy
from sb3_contrib import MaskablePPO
from torch import nn

import agents  # noqa: F401
from agents.ppo import describe
from llama_envs.adapters.sb3 import SB3VecEnv
from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.game import Game
from llama_envs.core.registry import game_names, make_game
from llama_envs.policies.search.budget import Budget
from llama_envs.policies.search.rollout import named_policy
from llama_envs.policies.search.value import ValuePolicy, load_critic
from tests.lama.tables import table

CASES = [
    ("lama", {"num_players": 2}),
    ("lama", {"num_players": 4, "reward": "score", "chip_exchange": "choice"}),
    ("llama_llama", {"num_players": 2, "reward": "score"}),
    ("llama_llama", {"num_players": 4}),
]


class Constant(nn.Module):
    """A network that expects the same of every position."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        return torch.full((len(seen), 1), self.value)


class Weighing(nn.Module):
    """A network that tells observations apart, and keeps those it is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[np.ndarray] = []

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        self.shown.append(seen.numpy().copy())
        return (seen * torch.arange(1, seen.shape[1] + 1)).sum(dim=1, keepdim=True) / 100


def value_policy(game: Game, network: nn.Module, worlds: int) -> ValuePolicy:
    return ValuePolicy(game, Budget(worlds), network, named_policy(game, "", "mc"))


def view_of(batch: Batch, policy: ValuePolicy) -> View:
    rows = np.flatnonzero(batch.to_move >= 0)
    return look(batch, rows, batch.to_move[rows].astype(np.int64), policy_streams(batch.num_games, 3)[rows], policy)


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
                        choice = int(heuristic.choose(played[0], params, mover, heuristic.options))
                    paid += value != 0
                    ended += mover < 0
                    if mover == seat:
                        seen = np.zeros((1, game.observation.size), np.float32)
                        rules.observe(played[0], params, seat, seen[0])
                        value += network(torch.from_numpy(seen)).item()
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


def test_a_game_that_is_won_at_once_counts_as_what_it_pays() -> None:
    batch = table("L", "1 2 3", top="L", white=[0, 9], black=[0, 3])  # the other gets 6 more, which makes 45
    policy = value_policy(batch.game, Constant(0.25), 5)
    values = policy.values(view_of(batch, policy))[0]
    names = batch.game.action_names
    assert values[names.index("play llama")] == 1.0
    assert values[names.index("draw")] == 0.25
    assert values[names.index("quit")] < 1.0


@pytest.mark.parametrize("layers", [{"pi": [8], "vf": [12, 6]}, {"pi": [8], "vf": []}], ids=str)
@pytest.mark.parametrize("name", game_names())
def test_the_value_network_of_a_file_expects_what_the_model_expects(
    name: str, layers: dict[str, list[int]], tmp_path: Path
) -> None:
    torch.manual_seed(0)
    env = SB3VecEnv(name, 4, seed=1, num_players=2)
    model = MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=8, device="cpu", policy_kwargs={"net_arch": layers})
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter.mul_(3.0)
    model.llama_envs = describe(env.game, layers)
    model.save(tmp_path / "model.zip")
    seen = np.random.default_rng(0).random((50, env.game.observation.size), np.float32)
    with torch.no_grad():
        expected = model.policy.predict_values(torch.from_numpy(seen)).numpy()
        found = load_critic(tmp_path / "model.zip", env.game)(torch.from_numpy(seen)).numpy()
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-5)
    assert len(np.unique(found)) > 40
    policy = make_policy(f"mc:3:ppo={tmp_path / 'model.zip'}", env.game)
    assert isinstance(policy, ValuePolicy)
    with pytest.raises(ValueError, match="2 players, not for"):
        make_policy(f"mc:3:ppo={tmp_path / 'model.zip'}", make_game(name, num_players=3))


@pytest.mark.parametrize("argument", ["ppo=", "ppo=nowhere.zip"])
def test_a_missing_file_is_refused_in_one_sentence(argument: str) -> None:
    with pytest.raises(ValueError, match=r"mc:W:ppo=PATH|there is no model file nowhere.zip") as refused:
        make_policy(f"mc:3:{argument}", make_game("lama"))
    assert len(str(refused.value).splitlines()) == 1
