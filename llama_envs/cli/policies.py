"""``llama-envs policies``: the policies that are there, and how each is written."""

from __future__ import annotations

from collections.abc import Sequence

from llama_envs.cli.command import refuse_arguments, wrapped
from llama_envs.policies.names import OWN, policy_usage


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    refuse_arguments("llama-envs policies", __doc__ or "", argv)
    for usage in policy_usage().values():
        written, space, meaning = usage.partition(" ")
        print(wrapped(written + space, meaning))
    print("and policies of your own:")
    for usage in OWN:
        print(usage)
