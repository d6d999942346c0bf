"""llama-envs: reinforcement-learning environments for card games.

Importing this package registers every known game with PettingZoo (``llama_envs/<name>_v0``, AEC and Parallel) and with
Gymnasium (``llama_envs/<Name>-v0``). It compiles nothing and imports no learner.
"""

from llama_envs.core import interrupts

if interrupts.is_command():
    interrupts.stop_at_once()

from importlib.metadata import PackageNotFoundError, version

import gymnasium
import pettingzoo

from llama_envs.core.registry import on_registration
from llama_envs.core.spec import GameSpec

try:
    __version__ = version("llama-envs")
except PackageNotFoundError:  # a checkout that is on the path but not installed
    __version__ = "0+unknown"


def _register(spec: GameSpec) -> None:
    kwargs = {"game": spec.name}
    pettingzoo.register("aec", spec.pettingzoo_id, "llama_envs.adapters.api:env", kwargs=kwargs)
    pettingzoo.register("parallel", spec.pettingzoo_id, "llama_envs.adapters.api:parallel_env", kwargs=kwargs)
    gymnasium.register(
        spec.gymnasium_id,
        entry_point="llama_envs.adapters.gym_vector:GymEnv",
        vector_entry_point="llama_envs.adapters.gym_vector:GymVectorEnv",
        kwargs=kwargs,
    )


on_registration(_register)
