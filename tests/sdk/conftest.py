"""A daemon for all tests of the Python package, and both clients behind one interface."""
from __future__ import annotations

import os
import pathlib
import sys

import anyio.from_thread
import atoll
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "api")]
import harness  # noqa: E402
from blocking import Blocking  # noqa: E402
from proxy import Proxy  # noqa: E402


@pytest.fixture(scope="session")
def daemon():
    running = harness.Daemon().start()
    os.environ["ATOLL_URL"] = f"http://127.0.0.1:{running.port}"
    os.environ["ATOLL_API_KEY"] = harness.KEY
    yield running
    running.remove()


@pytest.fixture(scope="session")
def portal():
    with anyio.from_thread.start_blocking_portal() as running:
        yield running


@pytest.fixture(params=["sync", "async"])
def make_client(request, daemon, portal):
    """Makes clients of either kind; each is closed at the end of the test."""
    made = []

    def make(**options):
        if request.param == "sync":
            made.append(atoll.SandboxClient(**options))
        else:
            made.append(Blocking(portal.call(lambda: atoll.AsyncSandboxClient(**options)), portal))
        return made[-1]

    yield make
    for one in made:
        (one.close if request.param == "sync" else one.aclose)()


@pytest.fixture
def client(make_client):
    return make_client()


@pytest.fixture
def session(client):
    with client.create(metadata={"test": "sdk"}) as made:
        yield made


@pytest.fixture
def plain(daemon):
    """The blocking client, for tests of what has one form only."""
    with atoll.SandboxClient() as made:
        yield made


@pytest.fixture
def proxy(daemon):
    with Proxy(daemon.port) as running:
        yield running
