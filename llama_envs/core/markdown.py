"""Tables in Markdown, of reports, README files and docs; and numbers in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_table(header: Sequence[object], rows: Iterable[Sequence[object]], right: int | None = None) -> str:
    """A table of texts without a newline at its end; columns from number ``right`` on are aligned to the right."""
    head, *lines = [
        f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in (header, *rows)
    ]
    if right is None:
        rule = "|---" * len(header) + "|"
    else:
        rule = f"| {' | '.join('---' if column < right else '---:' for column in range(len(header)))} |"
    return "\n".join([head, rule, *lines])


def plural(number: int, noun: str) -> str:
    """ "1 card", "2,000 cards"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
