"""Llama Llama, version 0: ``env``, ``raw_env``, ``parallel_env``, ``batch`` (options: ``llama_llama/README.md``)."""

from llama_envs.adapters.api import public_api

env, raw_env, parallel_env, batch = public_api("llama_llama")

__all__ = ["batch", "env", "parallel_env", "raw_env"]
