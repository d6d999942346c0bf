"""L.L.A.M.A.: shed your cards, or quit in time."""

from pathlib import Path

from llama_envs.core.spec import GameSpec

SPEC = GameSpec(
    name="lama",
    title="L.L.A.M.A.",
    gymnasium_id="llama_envs/Lama-v0",
    players=(2, 3, 4, 5, 6),
    config="llama_envs.lama.config:LamaConfig",
    make_game="llama_envs.lama.game:make_game",
    heuristic="llama_envs.lama.heuristic:heuristic",
    baselines=Path(__file__).parent / "baselines",
    picture=46,
    small="llama_envs.lama.small:SMALL",
    measured=Path(__file__).parent / "measured.toml",
)
