"""Rules of thumb that settle several of their next actions at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_envs.core.game import Kernel
from llama_envs.core.policy import ScriptedPolicy


class PlanningPolicy(ScriptedPolicy):
    """A scripted policy that can also tell what it does next, so that search need not ask again each time.

    Args:
        choose: the kernel of :class:`ScriptedPolicy`.
        plan: a kernel ``plan(state, params, seat, options, actions) -> n``, which writes the next n actions of ``seat``
            to ``actions``: those that ``choose`` gives one by one, whatever the other seats do meanwhile.
        longest: the largest n.
        options: numbers that both kernels take, as float64.
    """

    def __init__(self, choose: Kernel, plan: Kernel, longest: int, options: Sequence[float] = ()) -> None:
        super().__init__(choose, options)
        self.plan = plan
        self.longest = longest

    def __reduce__(self) -> tuple[Any, ...]:
        return PlanningPolicy, (self.choose, self.plan, self.longest, self.options)
