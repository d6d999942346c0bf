"""Locks among the processes that share a folder: who dies lets go of them, and nobody waits for ever.

Threads of one process share what it holds.
"""

from __future__ import annotations

import functools
import hashlib
import os
import time
from contextlib import suppress

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PATIENCE = 60.0  # seconds that a process waits for another one
PAUSE = 0.02  # seconds between two tries


class Locks:
    """Locks by name: each is a byte of one file. Where there can be none, nothing is held, and everyone goes on.

    Args:
        path: of the file; it stays open, since closing it would let go of everything.
    """

    def __init__(self, path: str) -> None:
        self._file: int | None = None
        with suppress(OSError):  # a folder that cannot be written
            if fcntl is not None:
                self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)

    def take(self, name: str, patience: float = PATIENCE) -> bool:
        """Whether this process holds ``name`` now; False if another one still does after ``patience`` seconds."""
        until = time.monotonic() + patience
        while self._file is not None:
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(name))
                return True
            except (BlockingIOError, PermissionError):
                if time.monotonic() >= until:
                    break
                time.sleep(PAUSE)
            except OSError:  # a file system without locks
                break
        return False

    def let_go(self, name: str) -> None:
        """Of a name that is held."""
        assert self._file is not None
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _place(name))


@functools.cache
def locks_in(folder: str) -> Locks:
    """Those of a folder."""
    return Locks(os.path.join(folder, ".lock"))


def _place(name: str) -> int:
    return int(hashlib.sha256(name.encode()).hexdigest()[:15], 16)
