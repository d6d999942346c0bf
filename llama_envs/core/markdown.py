"""Tables in Markdown: of reports, README files and docs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_table(header: Sequence[object], rows: Iterable[Sequence[object]], right: int | None = None) -> str:
    """A table of texts without a newline at its end; columns from number ``right`` on are aligned to the right."""
    lines = ["|".join(["", *("---" if right is None or k < right else "---:" for k in range(len(header))), ""])]
    for cells in (header, *rows):
        lines.append(f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join([lines[1], lines[0], *lines[2:]])
