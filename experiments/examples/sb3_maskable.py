"""MaskablePPO on a batch of games: ``python -m experiments.examples.sb3_maskable``."""

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy

from llama_envs.adapters.sb3 import SB3VecEnv


def main() -> None:
    """Train against random opponents, and measure on other deals."""
    env = SB3VecEnv("lama", num_envs=64, opponents="random", seed=0, num_players=3)
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=512, gamma=1.0, seed=0, device="cpu")
    model.learn(16_384)
    test = SB3VecEnv("lama", num_envs=64, opponents="random", seed=10_000, num_players=3)
    mean, _ = evaluate_policy(model, test, n_eval_episodes=500, warn=False)
    print(f"payoff against two random opponents: {mean:+.2f} (equal play: 0, always first: +1)")


if __name__ == "__main__":
    main()
