"""``llama-envs games``: the games that are there, and the options of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from llama_envs.cli.command import attribute_docs, refuse_arguments, wrapped
from llama_envs.core.registry import game_specs


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    refuse_arguments("llama-envs games", __doc__ or "", argv)
    for spec in game_specs():
        print(f"{spec.name}: {spec.title}, {min(spec.players)} to {max(spec.players)} players, {spec.gymnasium_id}")
        config = spec.config()
        docs = attribute_docs(spec.config)
        for field in fields(spec.config):
            default = field.metadata.get("cli_default", field.default if field.compare else getattr(config, field.name))
            option = f"--{field.name.replace('_', '-')}"
            print(wrapped(f"  {option:26} ", f"{docs.get(field.name, '')} (default {default!r})"))
