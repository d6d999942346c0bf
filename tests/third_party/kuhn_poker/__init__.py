"""Kuhn poker (Kuhn 1950): three cards, one bet; the smallest game that a package outside llama_envs may add."""

from llama_envs.core.spec import GameSpec

SPEC = GameSpec(
    name="kuhn",
    title="Kuhn poker",
    gymnasium_id="kuhn_poker/KuhnPoker-v0",
    players=(2,),
    config="kuhn_poker.game:Config",
    make_game="kuhn_poker.game:make_game",
)
