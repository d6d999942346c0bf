"""llama-envs: reinforcement-learning environments for the card games L.L.A.M.A. and Llama Llama.

Importing this package registers ``llama_envs/lama_v0`` and ``llama_envs/llama_llama_v0`` with PettingZoo, and
``llama_envs/Lama-v0`` and ``llama_envs/LlamaLlama-v0`` with Gymnasium. It compiles nothing and imports no learner.
"""

from importlib.metadata import PackageNotFoundError, version

import gymnasium
import pettingzoo

try:
    __version__ = version("llama-envs")
except PackageNotFoundError:  # a checkout that is on the path but not installed
    __version__ = "0+unknown"

for _game, _id in (("lama", "Lama"), ("llama_llama", "LlamaLlama")):
    pettingzoo.register("aec", f"llama_envs/{_game}_v0", f"llama_envs.{_game}_v0:env")
    pettingzoo.register("parallel", f"llama_envs/{_game}_v0", f"llama_envs.{_game}_v0:parallel_env")
    gymnasium.register(
        f"llama_envs/{_id}-v0",
        entry_point="llama_envs.adapters.gym_vector:GymEnv",
        vector_entry_point="llama_envs.adapters.gym_vector:GymVectorEnv",
        kwargs={"game": _game},
    )
