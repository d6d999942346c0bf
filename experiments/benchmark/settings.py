"""What is played with each number of players of each game."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Setting:
    """What is played with one number of players of one game.

    Attributes:
        game: its name.
        players: at a table.
        policies: of the tournament.
        deals: of the tournament.
        alone_deals: of every policy alone among P-1 of the reference; 0 where the tournament has those tables anyway.
        duel: policies that are compared at equal time.
        duel_deals: of that comparison.
        targets: of best responses.
        steps: that a best response is trained on.
    """

    game: str
    players: int
    policies: tuple[str, ...]
    deals: int
    alone_deals: int
    duel: tuple[str, ...]
    duel_deals: int
    targets: tuple[str, ...]
    steps: int

    def scaled(self, factor: float) -> Setting:
        """As many times the deals and steps, at least 2 of what is not 0."""
        sizes = {name: getattr(self, name) for name in ("deals", "alone_deals", "duel_deals", "steps")}
        larger = {name: max(round(size * factor), 2) for name, size in sizes.items() if size}
        return dataclasses.replace(self, **larger)

    @property
    def label(self) -> str:
        """As in ``lama-4p``."""
        return f"{self.game}-{self.players}p"


FAST = ("random", "heuristic", "baseline")
LAMA = (*FAST, "heuristic:3", "mc:100", "mc:400", "ismcts:1000")
LLAMA = (*FAST, "heuristic:0", "mc:8", "mc:32", "ismcts:100")
LAMA_DUEL = ("mc:1ms", "ismcts:1ms")
LLAMA_DUEL = ("mc:2ms", "ismcts:2ms")
TARGETS = ("heuristic", "baseline")
FULL = (
    Setting("lama", 2, LAMA, 300, 0, LAMA_DUEL, 300, TARGETS, 800_000),
    Setting("lama", 3, LAMA, 200, 300, LAMA_DUEL, 50, TARGETS, 800_000),
    Setting("lama", 4, LAMA, 100, 300, LAMA_DUEL, 40, TARGETS, 800_000),
    Setting("lama", 6, LAMA, 40, 120, LAMA_DUEL, 20, TARGETS, 800_000),
    Setting("llama_llama", 2, LLAMA, 80, 0, LLAMA_DUEL, 100, TARGETS, 500_000),
    Setting("llama_llama", 3, LLAMA, 60, 80, LLAMA_DUEL, 36, TARGETS, 500_000),
    Setting("llama_llama", 4, LLAMA, 30, 60, LLAMA_DUEL, 18, TARGETS, 500_000),
)
SMALL_LAMA = (*FAST, "mc:10", "ismcts:20")
SMALL_LLAMA = (*FAST, "mc:2", "ismcts:5")
QUICK = (
    Setting("lama", 2, SMALL_LAMA, 40, 0, LAMA_DUEL, 10, TARGETS, 65_536),
    Setting("lama", 3, SMALL_LAMA, 10, 10, (), 0, (), 0),
    Setting("lama", 4, SMALL_LAMA, 10, 10, (), 0, (), 0),
    Setting("lama", 6, SMALL_LAMA, 6, 6, (), 0, (), 0),
    Setting("llama_llama", 2, SMALL_LLAMA, 10, 0, LLAMA_DUEL, 4, ("heuristic",), 65_536),
    Setting("llama_llama", 3, SMALL_LLAMA, 4, 4, (), 0, (), 0),
    Setting("llama_llama", 4, SMALL_LLAMA, 4, 4, (), 0, (), 0),
)
