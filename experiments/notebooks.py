"""Run the notebooks and write their outputs anew, in place.

    python -m experiments.notebooks                              # all of notebooks/
    python -m experiments.notebooks notebooks/01_quickstart.ipynb

A notebook that fails, warns or grows beyond what a web page shows is left as it was.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import nbformat
import tyro
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from llama_envs.cli.command import parse_options, run_or_exit
from llama_envs.core.files import write_text
from llama_envs.core.validation import check_int

LARGEST = 500_000  # bytes


@dataclasses.dataclass(frozen=True)
class Options:
    """Run notebooks and write their outputs anew."""

    paths: tyro.conf.Positional[tuple[Path, ...]] = ()
    """The notebooks; by default all of notebooks/."""
    timeout: int = 600
    """Seconds that a cell may take."""

    def __post_init__(self) -> None:
        check_int("timeout", self.timeout, 1, 10**6)


def run(path: Path, timeout: int) -> None:
    """Execute the notebook ``path`` in its folder and write it with its outputs.

    Raises:
        ValueError: it cannot be read, a cell fails or writes to stderr, or the result is too large.
    """
    try:
        notebook = nbformat.read(path, as_version=4)
    except (OSError, ValueError) as error:
        raise ValueError(f"cannot read the notebook {path} ({error}).") from None
    client = NotebookClient(
        notebook,
        timeout=timeout,
        record_timing=False,  # so that a run that changes nothing writes the same file
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    try:
        client.execute()
    except CellExecutionError as error:
        raise ValueError(f"{path}: a cell fails with {error.ename}: {error.evalue}.") from None
    except (DeadKernelError, TimeoutError) as error:
        raise ValueError(f"{path}: {error}") from None
    warnings = [
        output["text"]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output.get("name") == "stderr"
    ]
    if warnings:
        raise ValueError(f"{path} writes to stderr: {warnings[0]}")
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if len(text.encode()) > LARGEST:
        raise ValueError(f"{path} has {len(text.encode()):,} bytes with its outputs; {LARGEST:,} are allowed.")
    write_text(path, text)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    options = parse_options(Options, __doc__.partition("\n")[0], argv)
    for path in options.paths or sorted(Path("notebooks").glob("*.ipynb")):
        run_or_exit(lambda path=path: run(path, options.timeout))  # type: ignore[misc]
        print(path)


if __name__ == "__main__":
    main()
