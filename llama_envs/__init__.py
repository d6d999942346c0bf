"""llama-envs: reinforcement-learning environments for the card games L.L.A.M.A. and Llama Llama.

Importing this package registers ``llama_envs/lama_v0`` and ``llama_envs/llama_llama_v0`` with PettingZoo. It compiles
nothing and imports no learning library.
"""

from importlib.metadata import PackageNotFoundError, version

import pettingzoo

try:
    __version__ = version("llama-envs")
except PackageNotFoundError:  # a checkout that is on the path but not installed
    __version__ = "0+unknown"

for _name in ("lama_v0", "llama_llama_v0"):
    pettingzoo.register("aec", f"llama_envs/{_name}", f"llama_envs.{_name}:env")
    pettingzoo.register("parallel", f"llama_envs/{_name}", f"llama_envs.{_name}:parallel_env")
