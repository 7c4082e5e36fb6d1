"""A daemon for the integrations, each tested with the real package."""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "api"))
import harness  # noqa: E402


@pytest.fixture(scope="session")
def daemon():
    running = harness.Daemon()
    built = os.environ.get("ATOLL_ENVIRONMENTS")
    if built:
        (running.work / "data").symlink_to(os.path.abspath(built))
    running.start()
    os.environ["ATOLL_URL"] = f"http://127.0.0.1:{running.port}"
    os.environ["ATOLL_API_KEY"] = harness.KEY
    yield running
    running.remove()


@pytest.fixture
def anyio_backend():
    return "asyncio"
