"""Run the tests of SQL, migrations and services against PostgreSQL in a container.

Plain `pytest` uses the embedded server; this lane runs on the image that most people use: a
different major version and locale, TCP and a password. It runs what depends on the server:
functions, migrations, connections and indexing. The first lane alone tests the interfaces above
them. Arguments are passed to pytest.

Environment: PGRAG_TEST_IMAGE names the image; with PGRAG_REQUIRE_CONTAINERS=1 a missing Docker
engine is an error. Exit status: pytest's; without an engine 0 (or 1 if one is required).
"""

from __future__ import annotations

import os
import signal
import sys

import psycopg
import pytest
from docker.errors import DockerException

# Disables Ryuk, a second image whose only purpose is to clean up after killed runs.
os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")
from testcontainers.community.postgres import PostgresContainer
from testcontainers.core.docker_client import DockerClient

IMAGE = os.environ.get("PGRAG_TEST_IMAGE", "pgvector/pgvector:pg17")
# What takes minutes and depends on no version of the server runs on the embedded one alone.
SELECTION = (
    "tests/sql",
    "--ignore=tests/sql/test_any_argument.py",
    "--ignore=tests/sql/test_tuning.py",
    "tests/migration",
    *(
        f"tests/integration/test_{name}.py"
        for name in ("db", "pipeline", "pipeline_failures", "client", "recording", "api_service")
    ),
)
# No data must survive a crash; logged connections prove that the tests used this server.
SERVER_OPTIONS = (
    "-c fsync=off -c full_page_writes=off -c autovacuum=off -c bgwriter_lru_maxpages=0"
    " -c bgwriter_delay=10s -c wal_writer_delay=10s -c log_connections=on"
)


class ContainerLane:
    """A pytest plugin that reports the server of the tests and proves that they used it."""

    def __init__(self, container: PostgresContainer) -> None:
        self.url = container.get_connection_url(driver=None)
        self._container = container
        self._connections_before = 0

    def pytest_report_header(self) -> str:
        """Report the server of the tests."""
        with psycopg.connect(self.url) as connection:
            version = connection.execute("select version()").fetchone()
        return f"container lane: {IMAGE}, {version[0] if version else ''}"

    def pytest_sessionstart(self) -> None:
        """Count the connections made before the tests."""
        self._connections_before = self._connections()

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Fail a run whose tests used a different server."""
        if exitstatus == pytest.ExitCode.OK and self._connections() <= self._connections_before + 1:
            raise pytest.UsageError("the tests did not connect to the server in the container")

    def _connections(self) -> int:
        return b"".join(self._container.get_logs()).count(b"connection authorized")


def unavailable() -> str | None:
    """Return why no Docker engine can be used, or None."""
    try:
        DockerClient().client.ping()
    except DockerException as error:
        return str(error)
    return None


def main() -> int:
    """Start the container, run pytest on it, remove the container."""
    reason = unavailable()
    if reason is not None:
        required = os.environ.get("PGRAG_REQUIRE_CONTAINERS") == "1"
        print(f"container lane not run: no Docker engine answers ({reason})", flush=True)
        return 1 if required else 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    container = PostgresContainer(IMAGE, username="pgrag", password="p@ss/word", dbname="pgrag")
    # Parallel index builds need more shared memory than the engine's default of 64 MB.
    container.with_kwargs(shm_size="1g").with_command(f"postgres {SERVER_OPTIONS}")
    with container:
        lane = ContainerLane(container)
        os.environ["PGRAG_TEST_DATABASE_URL"] = lane.url
        return pytest.main(["-m", "server", *SELECTION, *sys.argv[1:]], plugins=[lane])


if __name__ == "__main__":
    sys.exit(main())
