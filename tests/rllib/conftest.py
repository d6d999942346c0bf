"""Ray for these tests: on the loopback interface alone, with its own temporary files, and nothing sent anywhere."""

from __future__ import annotations

import gc
import os
import secrets
import shutil
import tempfile
import warnings

import pytest

os.environ.update(
    RAY_USAGE_STATS_ENABLED="0",
    RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0",  # what Ray listens on the loopback interface by, on every system
    RAY_AUTH_MODE="token",
    RAY_AUTH_TOKEN=secrets.token_hex(32),  # no token file in the home folder
    RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0",
    RAY_DEDUP_LOGS="0",
)
RAY_WARNINGS = (  # of Ray's own making
    "ignore:.*Overriding environment rllib-multi-agent-env-v0:UserWarning",
    "ignore::DeprecationWarning",
    "ignore::ResourceWarning",
    "ignore::FutureWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
    "ignore::pytest.PytestUnhandledThreadExceptionWarning",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name == "rllib":
            for warning in RAY_WARNINGS:
                item.add_marker(pytest.mark.filterwarnings(warning))


def pytest_sessionfinish() -> None:
    """Let go of what Ray has left open while nobody minds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


@pytest.fixture(scope="session")
def ray_folder():
    """A short path: Ray's sockets must fit into 107 characters."""
    folder = tempfile.mkdtemp(prefix="ray")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
