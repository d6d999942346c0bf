"""PettingZoo's own wrappers and the libraries that read PettingZoo (known fault B35).

Every cell of the table plays 100 random games and compares them with the core, decision by decision.
"""

from __future__ import annotations

import re
import runpy
from collections import defaultdict
from functools import partial
from importlib.metadata import version
from typing import NamedTuple

import gymnasium
import numpy as np
import pytest
import supersuit
import tianshou
import torch
from packaging.specifiers import SpecifierSet
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import aec_to_parallel, parallel_to_aec, turn_based_aec_to_parallel
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.env_checker import check_env
from tianshou.data import Collector
from tianshou.env import DummyVectorEnv
from tianshou.policy import MultiAgentPolicyManager, RandomPolicy
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.envs.utils import check_env_specs

from llama_envs.adapters.sb3 import SB3VecEnv
from llama_envs.core.registry import make_game, spec_of
from tests import cases
from tests.cases import CHECKOUT, api, cases_of, new_batch
from tests.compat import record

GAMES = 100

WAITING = "agents that wait are asked too (mask all zeros); their action is ignored"
VIDEO = '`render_mode="rgb_array"`; moviepy 1.0.3, since 2.2.1 requires pillow<12'
TIANSHOU = "Tianshou 0.5.1; 2.0.1 has the same `PettingZooEnv` and requires pandas<3, the pinned set has 3.1.1"
AGILERL = (
    "AgileRL 2.58.0 requires pettingzoo<1.27, the pinned set has 1.27.0; the last one without that limit, 2.7.1, "
    "requires tensordict==0.13.0, and the pinned TorchRL needs 0.14.3"
)

REWARDS = ({}, {"reward": "score"}, {"reward": "rank"})
CASES = {
    name: [{"num_players": n, **reward} for n, reward in zip(cases_of(name).COUNTS, REWARDS, strict=True)]
    for name in cases.GAMES
}


class Cell(NamedTuple):
    """A game with its configuration."""

    game: str
    config: dict

    @property
    def case(self):
        return self.game, self.config

    @property
    def players(self):
        return self.config["num_players"]

    @property
    def short(self):
        """For libraries that are slow."""
        return Cell(self.game, {**self.config, **cases_of(self.game).SHORT})

    def make(self, kind, **more):
        return getattr(api(self.case), kind)(**self.config, **more)

    def record(self, library, status="works", note=""):
        record(library, self.game, self.players, status, note)


def cells(*games):
    every = [Cell(game, config) for game in games for config in CASES[game]]
    return pytest.mark.parametrize("cell", every, ids=[f"{cell.game}-{cell.players}" for cell in every])


every_cell = cells(*cases.GAMES)
turns = cells(*(name for name in cases.GAMES if not make_game(name).simultaneous))  # one seat moves at a time
together = cells(*(name for name in cases.GAMES if make_game(name).simultaneous))  # all seats decide at once


class Played:
    """What a library showed of one game: who decided what, what each agent was paid, and what it saw at the end."""

    def __init__(self):
        self.decisions: list[tuple[int, int]] = []
        self.paid: dict[int, float] = defaultdict(float)
        self.last: dict[int, bytes] = {}

    def choose(self, agent, mask, rng):
        """A random legal action of an agent that decides, 0 of one that waits."""
        mask = np.asarray(mask)
        assert set(np.unique(mask).tolist()) <= {0, 1}
        if not mask.any():
            return 0
        action = int(rng.choice(np.flatnonzero(mask)))
        self.decisions.append((seat_of(agent), action))
        return action

    def pay(self, rewards):
        for agent, reward in rewards.items():
            self.paid[seat_of(agent)] += float(reward)

    def show(self, observations):
        """What agents see at the end of the game."""
        for agent, observation in observations.items():
            self.last[seat_of(agent)] = np.asarray(observation, np.float32).tobytes()


def seat_of(agent):
    return int(agent.removeprefix("player_"))


def agree(batch, played):
    """The same decisions in the core are legal, end the game, and lead to the same payoffs and last observations.

    The last observations hold everybody's score.
    """
    size = batch.game.num_players if batch.game.simultaneous else 1
    paid = np.zeros(batch.game.num_players)
    for i in range(0, len(played.decisions), size):
        cycle = dict(played.decisions[i : i + size])
        while cycle:
            paid += batch.step([cycle.pop(int(batch.to_move[0]))])[0][0]  # an illegal action is an error here
    assert batch.to_move[0] < 0
    assert [played.paid[seat] for seat in range(len(paid))] == pytest.approx(paid.tolist(), abs=1e-5)
    assert played.last
    for seat, seen in played.last.items():
        assert seen == batch.observe(seat)[0].tobytes()


def play_aec(env, seed):
    """One game of an AEC environment, as PettingZoo's documentation plays it."""
    env.reset(seed=seed)
    played, rng = Played(), np.random.default_rng(seed)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        played.pay({agent: reward})
        if terminated or truncated:
            played.show({agent: observation["observation"]})
            env.step(None)
        else:
            env.step(played.choose(agent, observation["action_mask"], rng))
    return played


def play_parallel(env, seed):
    """One game of a Parallel environment."""
    observations, _ = env.reset(seed=seed)
    played, rng = Played(), np.random.default_rng(seed)
    while env.agents:
        actions = {agent: played.choose(agent, seen["action_mask"], rng) for agent, seen in observations.items()}
        observations, rewards, *_ = env.step(actions)
        played.pay(rewards)
    played.show({agent: seen["observation"] for agent, seen in observations.items()})
    return played


def check_games(cell, env, play):
    for seed in range(GAMES):
        agree(new_batch(cell.case, 1, [seed]), play(env, seed))


# ---------------------------------------------------------------------------------------------------------- PettingZoo


@every_cell
@pytest.mark.parametrize("kind", ["raw_env", "env"])
def test_pettingzoo_aec(cell, kind):
    check_games(cell, cell.make(kind), play_aec)
    cell.record("PettingZoo AEC")


@every_cell
def test_pettingzoo_parallel(cell):
    check_games(cell, cell.make("parallel_env"), play_parallel)
    cell.record("PettingZoo Parallel")


@every_cell
def test_parallel_to_aec(cell):
    check_games(cell, parallel_to_aec(cell.make("parallel_env")), play_aec)
    cell.record("PettingZoo `parallel_to_aec`", note=WAITING)


@every_cell
def test_turn_based_aec_to_parallel(cell):
    env = turn_based_aec_to_parallel(cell.make("env"))
    check_games(cell, env, play_parallel)
    seen, _ = env.reset(seed=1)
    before = {agent: view["observation"].tobytes() for agent, view in seen.items()}
    mover = env.aec_env.agent_selection
    assert [agent for agent, view in seen.items() if view["action_mask"].any()] == [mover]
    first = int(np.flatnonzero(seen[mover]["action_mask"])[0])
    twin = turn_based_aec_to_parallel(cell.make("env"))
    twin.reset(seed=1)
    ours, *_ = env.step(dict.fromkeys(env.agents, first))
    theirs, *_ = twin.step({agent: first if agent == mover else 11 for agent in twin.agents})
    for agent in env.possible_agents:  # what waiting agents send changes nothing, and nobody has a stale view
        assert ours[agent]["observation"].tobytes() == theirs[agent]["observation"].tobytes()
        assert ours[agent]["observation"].tobytes() == env.aec_env.observe(agent)["observation"].tobytes()
    assert before[mover] != ours[mover]["observation"].tobytes()
    cell.record("PettingZoo `turn_based_aec_to_parallel`", note="one agent decides in each step; the others wait")


@every_cell
def test_aec_to_parallel_is_refused_at_construction(cell):
    with pytest.raises(AssertionError, match="not generally safe"):
        aec_to_parallel(cell.make("env"))
    cell.record(
        "PettingZoo `aec_to_parallel`",
        "unsupported",
        "refused at construction: an agent's mask is all zeros until it is to move; use `parallel_env`",
    )


@every_cell
def test_aec_to_parallel_gives_back_what_parallel_to_aec_took(cell):
    env = cell.make("parallel_env")
    assert aec_to_parallel(parallel_to_aec(env)) is env


@every_cell
def test_multi_episode_aec(cell):
    env = wrappers.MultiEpisodeEnv(cell.make("env"), GAMES)
    env.reset(seed=1)
    rng, games, played, dead = np.random.default_rng(0), [], Played(), 0
    for agent in env.agent_iter(10**9):
        observation, reward, terminated, truncated, _ = env.last()
        played.pay({agent: reward})
        if terminated or truncated:
            played.show({agent: observation["observation"]})
            dead += 1
            if dead == cell.players:
                games.append(played)
                played, dead = Played(), 0
            env.step(None)
        else:
            env.step(played.choose(agent, observation["action_mask"], rng))
    assert len(games) == GAMES
    for seed, game in enumerate(games, start=1):  # the wrapper gives each episode the next seed
        agree(new_batch(cell.case, 1, [seed]), game)
    cell.record("PettingZoo `MultiEpisodeEnv`")


@every_cell
def test_multi_episode_parallel(cell):
    env = wrappers.MultiEpisodeParallelEnv(cell.make("parallel_env"), GAMES)
    core, rng = new_batch(cell.case, 1, [1]), np.random.default_rng(0)
    size, paid, payoff, games = cell.players if core.game.simultaneous else 1, Played(), np.zeros(cell.players), 1
    observations, _ = env.reset(seed=1)
    while env.agents:
        step = Played()
        actions = {agent: step.choose(agent, seen["action_mask"], rng) for agent, seen in observations.items()}
        observations, rewards, terminated, truncated, _ = env.step(actions)
        paid.pay(rewards)
        cycle = dict(step.decisions)
        assert len(cycle) == size
        while cycle:
            payoff += core.step([cycle.pop(int(core.to_move[0]))])[0][0]
        if core.to_move[0] < 0:
            assert [paid.paid[seat] for seat in range(cell.players)] == pytest.approx(payoff.tolist(), abs=1e-4)
            games += 1
            core = new_batch(cell.case, 1, [games])
        assert set(terminated.values()) == {False}
        assert set(truncated.values()) == {games > GAMES}
        if games <= GAMES:
            for agent, seen in observations.items():
                assert seen["observation"].tobytes() == core.observe(seat_of(agent))[0].tobytes()
    assert games == GAMES + 1
    cell.record("PettingZoo `MultiEpisodeParallelEnv`")


@every_cell
def test_record_video_aec(cell, tmp_path):
    env = wrappers.RecordVideo(
        cell.short.make("env", render_mode="rgb_array"), str(tmp_path / "video"), lambda game: game == 1
    )
    frames = []
    env.stop_recording, stop = lambda: (frames.append(len(env.recorded_frames)), stop()), env.stop_recording
    check_games(cell.short, env, play_aec)
    env.close()
    assert [path.name for path in (tmp_path / "video").iterdir()] == ["rl-video-episode-1.mp4"]
    assert frames == [
        1 + len(play_aec(cell.short.make("env"), 1).decisions) + cell.players
    ]  # the agents' farewells too
    cell.record("PettingZoo `RecordVideo`", note=VIDEO)


@every_cell
def test_record_video_parallel(cell, tmp_path):
    env = cell.short.make("parallel_env", render_mode="rgb_array")
    env = wrappers.RecordVideoParallel(env, str(tmp_path / "video"), lambda game: game == 1)
    check_games(cell.short, env, play_parallel)
    env.close()
    assert [path.name for path in (tmp_path / "video").iterdir()] == ["rl-video-episode-1.mp4"]
    cell.record("PettingZoo `RecordVideoParallel`", note=VIDEO)


# ----------------------------------------------------------------------------------------------------------- SuperSuit


@every_cell
def test_supersuit_vector_env(cell):
    copies, players = 4, cell.players
    env = supersuit.pettingzoo_env_to_vec_env_v1(cell.make("parallel_env"))
    env = supersuit.concat_vec_envs_v1(env, copies, base_class="gymnasium")
    observations, _ = env.reset(seed=7)
    rng = np.random.default_rng(0)
    cores = [new_batch(cell.case, 1, [7 + copy]) for copy in range(copies)]  # a copy's next game is its stream's next
    games, playing = [0] * copies, [Played() for _ in range(copies)]
    while min(games) < GAMES // copies:
        actions = [
            playing[row // players].choose(f"player_{row % players}", mask, rng)
            for row, mask in enumerate(observations["action_mask"])
        ]
        observations, rewards, terminated, truncated, infos = env.step(np.array(actions))
        assert not truncated.any()
        for copy, (core, played) in enumerate(zip(cores, playing, strict=True)):
            rows = range(copy * players, (copy + 1) * players)
            played.pay({f"player_{seat}": rewards[row] for seat, row in enumerate(rows)})
            assert len({int(terminated[row]) for row in rows}) == 1
            if terminated[rows[0]]:
                last = [infos[row]["terminal_observation"]["observation"] for row in rows]
                played.show({f"player_{seat}": seen for seat, seen in enumerate(last)})
                agree(core, played)
                core.reset()
                playing[copy] = Played()
                games[copy] += 1
                for seat, row in enumerate(rows):
                    assert observations["observation"][row].tobytes() == core.observe(seat)[0].tobytes()
                    assert (observations["action_mask"][row] == core.mask(seat)[0]).all()
    cell.record("SuperSuit `pettingzoo_env_to_vec_env_v1`", note="a row for each agent; " + WAITING)


@every_cell
@pytest.mark.filterwarnings("ignore:agent_selector is deprecated:DeprecationWarning")  # SuperSuit's own use
def test_supersuit_aec_vector_env_loses_rewards(cell):
    env = supersuit.vectorize_aec_env_v0(cell.make("env"), 1)
    env.reset(seed=0)
    rng, got = np.random.default_rng(0), dict.fromkeys(env.possible_agents, 0.0)
    final, over = {}, False
    while not over:
        observation, reward, terminated, _, _, _, waits, _ = env.last()
        got[env.agent_selection] += 0 if waits[0] else float(reward[0])
        free = not waits[0] and not terminated[0]
        env.step([int(rng.choice(np.flatnonzero(observation[0]["action_mask"]))) if free else None])
        over = bool(env.envs_dones[0])
        final = final if over else {agent: float(paid[0]) for agent, paid in env.rewards.items()}
    assert sum(value != 0 for value in final.values()) > 1
    assert got != final  # only the agent that is asked next is told before the game starts again
    cell.record(
        "SuperSuit `vectorize_aec_env_v0`",
        "unsupported",
        "SuperSuit 3.11.0 starts the next game before every agent was given its last reward; "
        "use `pettingzoo_env_to_vec_env_v1` on `parallel_env`",
    )


# ------------------------------------------------------------------------------------------------------------- TorchRL


def play_torchrl(env, seed):
    """One game; each agent, or the one group of all agents, is a sub-dictionary."""
    data = env.reset(seed=seed)
    played, rng = Played(), np.random.default_rng(seed)
    over = False
    while not over:
        for group, agents in env.group_map.items():
            here = data[group]
            asked = here["mask"].tolist() if "mask" in here.keys() else [True] * len(agents)  # noqa: SIM118
            actions = [
                played.choose(agent, mask, rng) if decides else 0
                for agent, mask, decides in zip(agents, here["action_mask"].numpy(), asked, strict=True)
            ]
            data[group, "action"] = torch.tensor(actions)
        data = env.step(data)["next"]
        for group, agents in env.group_map.items():
            played.pay(dict(zip(agents, data[group, "reward"].flatten().tolist(), strict=True)))
        over = bool(data["done"])
    for group, agents in env.group_map.items():
        played.show(dict(zip(agents, data[group, "observation", "observation"].numpy(), strict=True)))
    return played


ignore_torchrl_version = pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version:UserWarning")


@every_cell
@ignore_torchrl_version
def test_torchrl_aec(cell):
    check_games(cell.short, PettingZooWrapper(cell.short.make("env"), use_mask=True), play_torchrl)
    torch.manual_seed(0)  # the check samples an action after three steps, when a game may just have ended
    check_env_specs(PettingZooWrapper(cell.make("env"), use_mask=True, seed=0))
    env = PettingZooWrapper(cell.short.make("raw_env"), use_mask=True)  # for which an illegal action is an error
    assert bool(env.rollout(1000)["next", "done"][-1])  # TorchRL's own random policy keeps to the masks
    with pytest.raises(ValueError, match="use_mask=True"):
        PettingZooWrapper(cell.make("env"))
    cell.record("TorchRL `PettingZooWrapper`, AEC", note="`use_mask=True`")


@together
@ignore_torchrl_version
def test_torchrl_parallel(cell):
    check_games(cell.short, PettingZooWrapper(cell.short.make("parallel_env")), play_torchrl)
    torch.manual_seed(0)
    check_env_specs(PettingZooWrapper(cell.make("parallel_env"), seed=0))
    env = PettingZooWrapper(cell.short.make("parallel_env", illegal_action="error"))
    assert bool(env.rollout(1000)["next", "done"][-1])
    cell.record("TorchRL `PettingZooWrapper`, Parallel")


@turns
@ignore_torchrl_version
def test_torchrl_cannot_sample_for_agents_that_wait(cell):
    env = PettingZooWrapper(cell.make("parallel_env"))
    with pytest.raises(RuntimeError, match="sum of probabilities <= 0"):
        env.rollout(3)
    cell.record(
        "TorchRL `PettingZooWrapper`, Parallel",
        "unsupported",
        "TorchRL 0.14.1 samples an action for every agent, and those that wait have none; use AEC",
    )


# ------------------------------------------------------------------------------------------------------------ Tianshou


def play_tianshou(env, seed):
    """One game through Tianshou's view of it: whoever is to move, its observation, its mask; rewards of all agents."""
    seen, _ = env.reset(seed=seed)
    played, rng = Played(), np.random.default_rng(seed)
    over = False
    while not over:
        action = played.choose(seen["agent_id"], seen["mask"], rng)
        seen, rewards, terminated, truncated, _ = env.step(action)
        played.pay(dict(zip(env.env.possible_agents, rewards, strict=True)))
        over = terminated or truncated
    played.show({seen["agent_id"]: seen["obs"]})
    return played


@every_cell
def test_tianshou(cell):
    check_games(cell, tianshou.env.PettingZooEnv(cell.make("env")), play_tianshou)
    make = partial(tianshou.env.PettingZooEnv, cell.make("raw_env"))  # for which an illegal action is an error
    agents = MultiAgentPolicyManager([RandomPolicy() for _ in range(cell.players)], make())
    found = Collector(agents, DummyVectorEnv([make])).collect(n_episode=5)
    assert found["rews"].shape == (5, cell.players)
    assert found["rews"].sum(axis=1) == pytest.approx(0, abs=1e-4)
    cell.record("Tianshou `PettingZooEnv`", note=TIANSHOU)


# ------------------------------------------------------------------------------------------------------------- AgileRL


@every_cell
def test_agilerl_excludes_the_installed_versions(cell):
    assert version("pettingzoo") not in SpecifierSet("<1.27,>=1.23.1")  # AgileRL 2.9.0 to 2.58.0
    assert version("tensordict") not in SpecifierSet("==0.13.0")  # AgileRL 2.7.1, which does not limit PettingZoo
    cell.record("AgileRL", "unsupported", AGILERL)


# --------------------------------------------------------------------------------------------------- Stable-Baselines3


@every_cell
def test_plain_stable_baselines3_learns_on_a_gymnasium_id(cell):
    """Environments are checked decision by decision in test_gym; here each algorithm trains on them."""
    options = {PPO: {"n_steps": 64}, A2C: {}, DQN: {"learning_starts": 32}}
    env = gymnasium.make(spec_of(cell.game).gymnasium_id, illegal_action="lose", **cell.config)
    check_env(env)
    for algorithm, more in options.items():
        model = algorithm("MultiInputPolicy", env, gamma=1.0, seed=0, device="cpu", **more).learn(128)
        returns = [episode["r"] for episode in model.ep_info_buffer]
        assert returns
        assert all(np.isfinite(value.numpy()).all() for value in model.policy.state_dict().values())
        assert np.isfinite(returns).all()
    cell.record(
        "Stable-Baselines3 PPO, A2C, DQN",
        note='trained for a moment; no masks: `illegal_action="lose"` ends the episode at -1',
    )


@every_cell
def test_maskableppo_trains_and_plays_100_games_without_an_illegal_action(cell):
    """``SB3VecEnv`` refuses illegal actions with an error; it is compared with the AEC environment in test_sb3."""
    env = SB3VecEnv(cell.game, num_envs=8, seed=0, **cell.config)
    model = MaskablePPO("MlpPolicy", env, n_steps=32, gamma=1.0, seed=0, device="cpu").learn(512)
    returns, _ = evaluate_policy(model, env, n_eval_episodes=GAMES, return_episode_rewards=True, warn=False)
    assert len(returns) >= GAMES
    assert np.isfinite(returns).all()
    cell.record("sb3-contrib MaskablePPO, `SB3VecEnv`")


# ------------------------------------------------------------------------------------------------------------ examples

EXAMPLES = {
    "sb3_maskable": r"^payoff against two random opponents: \+0\.[4-9]",
    "sb3_plain": r"^(PPO|A2C|DQN): illegal endings \d+% before, \d+% after$",
    "supersuit_ppo": r"^6144 decisions of 24 agents$",
    "tianshou_rollout": r"^payoff of each seat over 100 games: \[",
    "torchrl_rollout": r"^44 steps, payoffs \[",
}


@pytest.mark.exhaustive
@ignore_torchrl_version
@pytest.mark.parametrize("name", EXAMPLES)
def test_example_runs_as_written(name, capsys):
    path = CHECKOUT / "experiments" / "examples" / f"{name}.py"
    assert len(path.read_text().splitlines()) <= 40
    runpy.run_path(str(path), run_name="__main__")
    said = capsys.readouterr().out.splitlines()
    assert said
    assert all(re.match(EXAMPLES[name], line) for line in said)
