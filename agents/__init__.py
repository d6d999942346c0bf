"""What learns and what solves; what only plays is in ``llama_envs.policies``."""
