"""Tables of texts, for the terminal and for reports."""

from __future__ import annotations

import pandas as pd
import rich
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from llama_envs.core.markdown import markdown_table
from llama_envs.evaluation.intervals import UNBOUNDED, UNBOUNDED_NOTE


def markdown(frame: pd.DataFrame) -> str:
    """A frame of texts as a Markdown table, numbers right-aligned, a newline at its end."""
    return markdown_table(list(frame.columns), frame.itertuples(index=False), right=1) + "\n"


def explained(frame: pd.DataFrame) -> str:
    """What to write below a frame of texts: a sentence on infinite intervals, if there are any."""
    return UNBOUNDED_NOTE if any(UNBOUNDED in str(cell) for cell in frame.to_numpy().ravel()) else ""


def show_table(frame: pd.DataFrame, title: str, *notes: str) -> None:
    """Print a frame of texts, no wider than the terminal (80 columns where there is none), with ``notes`` below.

    Columns that do not fit follow in further tables, each beside the first column. Nothing is cut: a name that is
    longer than a third of the width goes on in the next line.
    """
    console = rich.get_console()
    first = min(_widest(frame, 0, whole=True), max(console.width // 3, len(str(frame.columns[0]))))
    others = range(1, frame.shape[1])
    whole = first + sum(_widest(frame, column, whole=True) + 2 for column in others) <= console.width
    parts: list[dict[int, int]] = [{}]
    for column in others:
        width = min(_widest(frame, column, whole), console.width - first - 2)
        if parts[-1] and first + sum(taken + 2 for taken in parts[-1].values()) + width + 2 > console.width:
            parts.append({})
        parts[-1][column] = width
    for number, part in enumerate(parts):
        table = Table(
            title=Text(title if number == 0 else f"{title} (more columns)"), title_justify="left", box=SIMPLE_HEAD,
            show_edge=False, pad_edge=False, padding=(0, 0, 0, 1),
        )  # fmt: skip
        for column, width in {0: first, **part}.items():
            table.add_column(
                Text(str(frame.columns[column])), justify="right" if column else "left", overflow="fold", width=width
            )
        for row in frame.itertuples(index=False):
            table.add_row(*(Text(str(row[column])) for column in (0, *part)))
        console.print(table)
    for note in (*notes, explained(frame)):
        if note:
            console.print(Text(note))


def _widest(frame: pd.DataFrame, column: int, whole: bool) -> int:
    """The width of the widest cell of a column, and of its ``whole`` heading or of the words in it."""
    head = str(frame.columns[column])
    return max(map(cell_len, ("", *([head] if whole else head.split()), *map(str, frame.iloc[:, column]))))
