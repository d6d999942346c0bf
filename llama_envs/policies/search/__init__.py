"""Search: ``mc`` (flat Monte Carlo) and ``ismcts`` (information-set Monte Carlo tree search).

Both look at worlds from ``resample_hidden`` only, and play on in them by a policy that is a kernel.
"""

from llama_envs.policies.search.ismcts import TreeSearchPolicy
from llama_envs.policies.search.monte_carlo import MonteCarloPolicy
from llama_envs.policies.search.value import ValuePolicy

__all__ = ["MonteCarloPolicy", "TreeSearchPolicy", "ValuePolicy"]
