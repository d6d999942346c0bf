"""What is played with each number of players of each game."""

from __future__ import annotations

import dataclasses

from experiments.lib.measured import measured


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
        """As in ``chess-2p``."""
        return f"{self.game}-{self.players}p"


def settings(quick: bool) -> list[Setting]:
    """What is played with every number of players of every game whose package says so."""
    return [
        Setting(
            game, policies=tuple(plan["policies"]), duel=tuple(plan["duel"]) if table["duel_deals"] else (),
            targets=tuple(plan["targets"]) if table["steps"] else (), **table,
        )
        for game, plan in measured("quick" if quick else "full").items()
        for table in plan["tables"]
    ]  # fmt: skip
