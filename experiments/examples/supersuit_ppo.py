"""Parameter-sharing PPO through SuperSuit: ``python -m experiments.examples.supersuit_ppo``.

SuperSuit makes a row of every agent of a Parallel environment, so one policy learns from all seats. Stable-Baselines3's
PPO knows no masks: an illegal action ends the game at -1. ``SB3VecEnv(..., seats="all")`` does the same with masks.
"""

import supersuit
from stable_baselines3 import PPO

from llama_envs import llama_llama_v0


def main() -> None:
    """Train for a moment."""
    env = supersuit.pettingzoo_env_to_vec_env_v1(llama_llama_v0.parallel_env(num_players=3))
    env = supersuit.concat_vec_envs_v1(env, 8, base_class="stable_baselines3")
    model = PPO("MultiInputPolicy", env, n_steps=128, batch_size=512, n_epochs=4, gamma=1.0, device="cpu")
    model.learn(6_000)  # no seed: SuperSuit's environments cannot be seeded by Stable-Baselines3
    print(f"{model.num_timesteps} decisions of {env.num_envs} agents")


if __name__ == "__main__":
    main()
