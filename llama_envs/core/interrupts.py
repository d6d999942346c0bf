"""Ctrl-C in a command of this project that has not begun yet, or is over: one line and exit code 130."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LINE = "error: stopped."


def stop(*_: object) -> None:
    """The handler. The process ends without any further code, since modules may be half imported."""
    os.write(2, f"{LINE}\n".encode())
    os._exit(130)


def stop_at_once() -> None:
    """An interrupt ends this process from now on, unless it is ignored or somebody else minds it."""
    unminded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if unminded and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, stop)


def is_command() -> bool:
    """Whether this process is ``llama-envs``, or a ``python -m`` that is about to run a module of ours.

    False in any program that merely imports the package.
    """
    if sys.argv[:1] == ["-m"]:  # until the module is found
        module = sys.orig_argv[sys.orig_argv.index("-m") + 1] if "-m" in sys.orig_argv else ""
        return module.partition(".")[0] in ("experiments", "llama_envs")
    return Path(sys.argv[0] if sys.argv else "").stem == "llama-envs"


@contextmanager
def raising() -> Iterator[None]:
    """Within, an interrupt is a KeyboardInterrupt, for whoever says what is kept."""
    if signal.getsignal(signal.SIGINT) is not stop:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, stop)
