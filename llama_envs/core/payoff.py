"""What a finished game pays: share of the win, or rank; both zero-sum and in [-1, 1].

Every function takes ``score`` (one number a seat), the number of seats ``n``, ``sign`` (+1: most points win, -1:
fewest), and writes ``out[:n]``.
"""

from __future__ import annotations

from llama_envs.core.compile import kernel
from llama_envs.core.contract import Counts, Vector

WIN, SCORE, RANK = 0, 1, 2
REWARDS = {"win": WIN, "score": SCORE, "rank": RANK}


@kernel
def win_share(score: Counts, n: int, sign: int, out: Vector) -> None:
    """Winner +1, others -1/(n-1); k winners share: each gets the mean of the first k places."""
    best = sign * score[0]
    for seat in range(1, n):
        best = max(best, sign * score[seat])
    winners = 0
    for seat in range(n):
        winners += int(sign * score[seat] == best)
    for seat in range(n):
        if sign * score[seat] == best:
            out[seat] = (1.0 - (winners - 1) / (n - 1)) / winners
        else:
            out[seat] = -1.0 / (n - 1)


@kernel
def rank_payoff(score: Counts, n: int, sign: int, out: Vector) -> None:
    """First place +1 down to last place -1 in equal steps; tied seats get the mean of their places."""
    for seat in range(n):
        ahead = 0
        behind = 0
        for other in range(n):
            ahead += int(sign * score[other] > sign * score[seat])
            behind += int(sign * score[other] < sign * score[seat])
        out[seat] = (behind - ahead) / (n - 1)


@kernel
def against_the_others(points: Counts, n: int, sign: int, scale: float, out: Vector) -> None:
    """Own points minus the mean of the others' (times ``sign``), divided by ``scale``."""
    everyone = 0
    for seat in range(n):
        everyone += int(points[seat])
    for seat in range(n):
        out[seat] = sign * (points[seat] - (everyone - points[seat]) / (n - 1)) / scale
