"""llama_envs."""
