"""L.L.A.M.A., version 0: ``env``, ``raw_env``, ``parallel_env``, ``batch`` (options: ``lama/README.md``)."""

from llama_envs.adapters.api import public_api

env, raw_env, parallel_env, batch = public_api("lama")

__all__ = ["batch", "env", "parallel_env", "raw_env"]
