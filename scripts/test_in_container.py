"""Runs every test that uses a database against PostgreSQL in a container.

`pytest` itself runs the suite on the embedded server; this lane proves the same on the image that
most people run: another major version, another locale, TCP and a password. Arguments go to pytest.

Environment: PGRAG_TEST_IMAGE names the image; PGRAG_REQUIRE_CONTAINERS=1 makes it an error that no
Docker engine answers. Exit status: pytest's; without an engine 0 (or 1 where one is required).
"""

from __future__ import annotations

import os
import signal
import sys

import psycopg
import pytest
from docker.errors import DockerException

# Its helper is a second image that only cleans up after killed runs.
os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")
from testcontainers.community.postgres import PostgresContainer
from testcontainers.core.docker_client import DockerClient

IMAGE = os.environ.get("PGRAG_TEST_IMAGE", "pgvector/pgvector:pg17")
# Nothing here must survive a crash; connections are logged to prove that the tests came.
SERVER_OPTIONS = "-c fsync=off -c full_page_writes=off -c log_connections=on"


class ContainerLane:
    """A pytest plugin: says which server the tests run on, and proves that they used it."""

    def __init__(self, container: PostgresContainer) -> None:
        self.url = container.get_connection_url(driver=None)
        self._container = container
        self._connections_before = 0

    def pytest_report_header(self) -> str:
        """Says which server the tests run on."""
        with psycopg.connect(self.url) as connection:
            version = connection.execute("select version()").fetchone()
        return f"container lane: {IMAGE}, {version[0] if version else ''}"

    def pytest_sessionstart(self) -> None:
        """Notes how many connections were not the tests'."""
        self._connections_before = self._connections()

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Fails a run whose tests went elsewhere."""
        if exitstatus == pytest.ExitCode.OK and self._connections() <= self._connections_before + 1:
            raise pytest.UsageError("the tests did not connect to the server in the container")

    def _connections(self) -> int:
        return b"".join(self._container.get_logs()).count(b"connection authorized")


def unavailable() -> str | None:
    """Why no Docker engine can be used, or None."""
    try:
        DockerClient().client.ping()
    except DockerException as error:
        return str(error)
    return None


def main() -> int:
    """Starts the container, runs pytest on it, removes the container."""
    reason = unavailable()
    if reason is not None:
        required = os.environ.get("PGRAG_REQUIRE_CONTAINERS") == "1"
        print(f"container lane not run: no Docker engine answers ({reason})", flush=True)
        return 1 if required else 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    container = PostgresContainer(IMAGE, username="pgrag", password="p@ss/word", dbname="pgrag")
    # Parallel index builds share memory; the engine's default of 64 MB is too little for them.
    container.with_kwargs(shm_size="1g").with_command(f"postgres {SERVER_OPTIONS}")
    with container:
        lane = ContainerLane(container)
        os.environ["PGRAG_TEST_DATABASE_URL"] = lane.url
        return pytest.main(["-m", "server", *sys.argv[1:]], plugins=[lane])


if __name__ == "__main__":
    sys.exit(main())
