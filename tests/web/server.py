"""A server of the table as a user starts it, and a browser before it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cases import CHECKOUT

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """``llama-envs table`` in a folder of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.games = folder / "games.jsonl"
        env = {
            name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"
        }  # NiceGUI looks for it
        self.process = subprocess.Popen(
            [sys.executable, "-m", "llama_envs.cli.main", "table", "--port", str(self.port), "--no-browser",
             "--games", str(self.games), *arguments],
            cwd=folder, env={**env, "PYTHONPATH": str(CHECKOUT)}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        end = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(self.url, timeout=5).read()
                break
            assert time.monotonic() < end, "the server does not answer"
            assert self.process.poll() is None, self.process.stdout and self.process.stdout.read()
            time.sleep(0.1)

    def stop(self) -> tuple[int, str, float]:
        """Ctrl-C; exit code, all that was printed, seconds."""
        started = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        said, _ = self.process.communicate(timeout=20)
        return self.process.returncode, said, time.monotonic() - started


@contextlib.contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Server]:
    server = Server(folder, *arguments)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.communicate()


@contextlib.contextmanager
def browsing() -> Iterator[Any]:
    """A headless Chromium, by Playwright; skips where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium; `make .venv/browser` installs one where it can")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()
