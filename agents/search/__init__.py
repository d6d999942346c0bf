"""Search agents: ``mc`` (flat Monte Carlo) and ``ismcts`` (information-set Monte Carlo tree search).

Both look at worlds from ``resample_hidden`` only, and play on in them by a rollout policy.
"""

from agents.search import ismcts, monte_carlo
from agents.search.ismcts import TreeSearchPolicy
from agents.search.monte_carlo import MonteCarloPolicy, compile_evaluate
from agents.search.value import ValuePolicy
from llama_envs.core.policy import register_policy

__all__ = ["MonteCarloPolicy", "TreeSearchPolicy", "ValuePolicy", "compile_evaluate", "register"]


def register() -> None:
    """Register ``mc`` and ``ismcts``."""
    register_policy("mc", monte_carlo.build, f"{monte_carlo.USAGE} (W worlds or a time like 5ms)")
    register_policy("ismcts", ismcts.build, f"{ismcts.USAGE} (N iterations or a time like 5ms)")
