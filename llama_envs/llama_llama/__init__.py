"""Llama Llama: choose hidden goals, pass cards 4-3-2-1."""

from pathlib import Path

from llama_envs.core.spec import GameSpec

SPEC = GameSpec(
    name="llama_llama",
    title="Llama Llama",
    gymnasium_id="llama_envs/LlamaLlama-v0",
    players=(2, 3, 4),
    config="llama_envs.llama_llama.config:LlamaLlamaConfig",
    make_game="llama_envs.llama_llama.game:make_game",
    heuristic="llama_envs.llama_llama.heuristic:heuristic",
    baselines=Path(__file__).parent / "baselines",
    picture=26,
    small="llama_envs.llama_llama.small:SMALL",
    measured=Path(__file__).parent / "measured.toml",
)
