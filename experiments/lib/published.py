"""Where a report goes: a published one is replaced only by another answer to the same questions."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from llama_envs.cli.run_folder import RUNS, default_name
from llama_envs.cli.spread import Spread

PUBLISHED = Path(__file__).parents[1] / "reports"
NO_RESULT = {  # options that change none
    "out", "quick", "tables", "name", "resume", *(field.name for field in dataclasses.fields(Spread)),
}  # fmt: skip


def is_usual(options: Any) -> bool:
    """Whether the options of a command line ask what is published."""
    fields = [field for field in dataclasses.fields(options) if field.name not in NO_RESULT]
    return not options.quick and all(getattr(options, field.name) == field.default for field in fields)


def report_folder(name: str, options: Any, published: Path = PUBLISHED, usual: bool = True) -> Path:
    """``--out``; with ``--quick`` a folder to try things; ``published`` with the usual options; else one of its own.

    Args:
        name: of the experiment.
        options: of its command line, with ``out`` and ``quick``.
        published: where the report stands that is published.
        usual: False if something besides ``options`` differs from what is published.
    """
    if options.out is not None:
        return Path(options.out)
    if options.quick:
        return RUNS / name / "quick"
    return published if usual and is_usual(options) else RUNS / default_name(name)
