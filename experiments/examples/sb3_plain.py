"""Plain Stable-Baselines3, which knows no masks, on a Gymnasium id: ``python -m experiments.examples.sb3_plain``.

The observation holds the mask, and an illegal action ends the episode at -1 (``illegal_action="lose"``): the agent
learns to keep to the rules as it learns to win. ``sb3_maskable`` needs no such lesson and is the better start.
"""

import gymnasium
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm

import llama_envs  # noqa: F401  registers the ids


def illegal_share(model: BaseAlgorithm, episodes: int = 100) -> float:
    """The share of episodes that the greedy policy ends with an illegal action."""
    env = gymnasium.make("llama_envs/Lama-v0", num_players=2, illegal_action="lose")
    count = 0
    for seed in range(episodes):
        observation, info = env.reset(seed=seed)
        over = False
        while not over:
            action, _ = model.predict(observation, deterministic=True)
            observation, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        count += info.get("illegal_action", False)
    return count / episodes


def main() -> None:
    """Train three algorithms for a moment."""
    for algorithm in (PPO, A2C, DQN):
        env = gymnasium.make("llama_envs/Lama-v0", num_players=2, opponents="random", illegal_action="lose")
        model = algorithm("MultiInputPolicy", env, gamma=1.0, seed=0, device="cpu")
        before = illegal_share(model)
        model.learn(4096)
        print(f"{algorithm.__name__}: illegal endings {before:.0%} before, {illegal_share(model):.0%} after")


if __name__ == "__main__":
    main()
