"""What learns: from models of Stable-Baselines3 to policy files and back. What only plays is in ``llama_envs.policies``."""
