"""The small variants that are solved."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from llama_envs.core.game import Game
from llama_envs.core.registry import game_names, game_specs, make_game
from llama_envs.core.spec import SmallGame


@dataclasses.dataclass(frozen=True)
class Variant(SmallGame):
    """A small variant, with the ``game`` that it is one of."""

    game: str = ""

    def make(self) -> Game:
        """The game."""
        return make_game(self.game, **self.options)


VARIANTS = tuple(
    Variant(small.name, small.options, small.slow, small.ppo, spec.name)
    for spec in game_specs()
    for small in spec.small
)


def chosen_variants(names: Sequence[str], quick: bool) -> list[Variant]:
    """The variants of these names, or registered games, each with its default options; without names all of them.

    Raises:
        ValueError: there is no variant and no game of a name, or a game does not exist with its default options.
    """
    known = {variant.name: variant for variant in VARIANTS}
    known |= {name: Variant(name, {}, ppo=True, game=name) for name in game_names()}
    for name in names:
        if name not in known:
            listed = ", ".join(variant.name for variant in VARIANTS)
            raise ValueError(f"there is no variant {name!r} and no game of this name; the variants are {listed}.")
    if names:
        return [known[name] for name in names]
    return [variant for variant in VARIANTS if not (quick and variant.slow)]
