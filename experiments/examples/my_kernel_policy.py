"""The same policy as a kernel: it plays inside compiled loops, and in the rollouts of a search.

``llama-envs evaluate lama --policies mc:50:my_kernel_policy.py:Mine my_kernel_policy.py:Mine:3``
"""

import numpy as np

from llama_envs.core.compile import kernel
from llama_envs.core.contract import Floats, Integers, Mask, Params, PolicyKernel, State, Streams
from llama_envs.core.game import Game
from llama_envs.lama.rules import DRAW_CARD, QUIT
from llama_envs.policies import ScriptedPolicy


@kernel
def choose(
    state: State, params: Params, seat: int, mask: Mask, options: Floats, memory: Integers, streams: Streams, i: int
) -> int:
    """The action of ``seat`` in one game; ``options[0]`` is the largest number of cards that it quits with."""
    draw, quit_round = params.num_ranks + DRAW_CARD, params.num_ranks + QUIT
    cards = 0
    for rank in range(params.num_ranks):
        cards += int(state.hand[seat, rank])
    for action in range(len(mask) - 1, -1, -1):
        if mask[action] and action != draw and action != quit_round:
            return action
    return quit_round if mask[quit_round] and (cards <= options[0] or not mask[draw]) else draw


class Mine(ScriptedPolicy):
    """``Mine`` quits with at most two cards, ``Mine:N`` with at most N."""

    def __init__(self, game: Game, argument: str = "") -> None:
        super().__init__(PolicyKernel(choose, np.array([float(argument or 2)]), needs_mask=True))
