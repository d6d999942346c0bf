"""A masked DQN among random players, with Tianshou: ``python -m experiments.examples.tianshou_rollout``."""

import torch
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.policy import DQNPolicy, MultiAgentPolicyManager, RandomPolicy
from tianshou.utils.net.common import Net

from llama_envs import lama_v0

PLAYERS = 3


def make() -> PettingZooEnv:
    """One game as Tianshou sees it: whoever is to move, its observation and its mask."""
    return PettingZooEnv(lama_v0.raw_env(num_players=PLAYERS))


def main() -> None:
    """The first seat learns, the others play at random."""
    env = make()
    network = Net(env.observation_space["observation"].shape, env.action_space.n, hidden_sizes=[64])
    learner = DQNPolicy(network, torch.optim.Adam(network.parameters(), 1e-3), discount_factor=1.0)
    learner.set_eps(0.1)
    agents = MultiAgentPolicyManager([learner, *(RandomPolicy() for _ in range(PLAYERS - 1))], env)
    collector = Collector(agents, DummyVectorEnv([make] * 8), VectorReplayBuffer(20_000, 8), exploration_noise=True)
    for _ in range(10):
        collector.collect(n_step=200)
        agents.update(128, collector.buffer)
    found = collector.collect(n_episode=100)
    print(f"payoff of each seat over 100 games: {found['rews'].mean(axis=0).round(2).tolist()}")


if __name__ == "__main__":
    main()
