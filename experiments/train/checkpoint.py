"""The state from which a run goes on exactly: kept in memory at every whole moment, and written now and then."""

from __future__ import annotations

import hashlib
import pickle
import threading
from pathlib import Path
from typing import Any

from llama_envs.core.files import write_atomically


class Checkpoint:
    """The last whole state of a run and its file, which is there as a whole or not at all, under a check sum.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._state: dict[str, Any] | None = None
        self._writing = threading.Lock()

    def keep(self, state: dict[str, Any], write: bool) -> None:
        """A new state, of which nothing changes any more; with ``write`` also into the file.

        After :meth:`close` it never returns: what the state needs besides may not change any more either.
        """
        with self._writing:
            self._state = state
            if write:
                self._write()

    def close(self) -> None:
        """Write the state that was kept last, and nothing afterwards, whatever another thread still does."""
        self._writing.acquire()
        self._write()

    def _write(self) -> None:
        if self._state is not None:
            content = pickle.dumps(self._state)
            whole = hashlib.sha256(content).digest() + content
            write_atomically(self.path, lambda path: path.write_bytes(whole))

    def read(self) -> dict[str, Any] | None:
        """The state in the file; None without one.

        Raises:
            ValueError: the file is damaged.
        """
        if not self.path.is_file():
            return None
        whole = self.path.read_bytes()
        if hashlib.sha256(whole[32:]).digest() != whole[:32]:
            raise ValueError(f"{self.path} is damaged.")
        state: dict[str, Any] = pickle.loads(whole[32:])
        self._state = state
        return state
