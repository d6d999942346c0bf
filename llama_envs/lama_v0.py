"""L.L.A.M.A., version 0: ``env``, ``raw_env``, ``parallel_env``, ``batch`` (options: ``lama/README.md``)."""

from llama_envs.adapters.door import Door

_door = Door("lama")
env, raw_env, parallel_env, batch = _door.env, _door.raw_env, _door.parallel_env, _door.batch

__all__ = ["batch", "env", "parallel_env", "raw_env"]
