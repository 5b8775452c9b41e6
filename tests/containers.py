"""The servers of the test databases in containers; PGRAG_TEST_IMAGE names their image.

This is the installation that most people have: another version and locale than the embedded
server's, TCP and a password.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from docker.errors import DockerException

from servers import SETTINGS, runs

# Ryuk is a second image whose only purpose is to clean up after killed runs.
os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")
from testcontainers.community.postgres import PostgresContainer
from testcontainers.core.docker_client import DockerClient

IMAGE = os.environ.get("PGRAG_TEST_IMAGE", "pgvector/pgvector:pg17")
_LABEL = "pgrag.tests"


@contextmanager
def container() -> Iterator[str]:
    """A server in a container, over TCP and with a password. Fails if the tests do not use it."""
    options = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())
    server = (
        PostgresContainer(IMAGE, username="pgrag", password="p@ss/word", dbname="pgrag")
        .with_command(f"postgres {options} -c log_connections=on")
        .with_env("PGDATA", "/databases")
        .with_tmpfs_mount("/databases")
        .with_kwargs(
            # Parallel index builds need more shared memory than the engine's default of 64 MB.
            shm_size="1g",
            labels={_LABEL: _owner(os.getpid())},
        )
    )

    def connections() -> int:
        return b"".join(server.get_logs()).count(b"connection authorized")

    with server:
        url = server.get_connection_url(driver=None)
        before = connections()
        yield url
        # The first one only asks for the version.
        assert connections() > before + 1, "the tests did not use the server in the container"


@contextmanager
def pooler(base: str, settings: Path) -> Iterator[None]:
    """A PgBouncer of this image, or of the Debian in it, that listens on this machine."""
    client = DockerClient().client
    image, _ = client.images.build(
        path=str(Path(__file__).parents[1] / "docker"),
        dockerfile="pooler.Dockerfile",
        buildargs={"BASE_IMAGE": base},
        rm=True,
    )
    running = client.containers.run(
        image,
        ["pgbouncer", "/settings.ini"],
        detach=True,
        network_mode="host",
        volumes={str(settings): {"bind": "/settings.ini", "mode": "ro"}},
        labels={_LABEL: _owner(os.getpid())},
    )
    try:
        yield
    finally:
        running.remove(force=True)


def missing_engine() -> str | None:
    """Return why no Docker engine can be used, or None."""
    try:
        DockerClient().client.ping()
    except DockerException as error:
        return str(error)
    return None


def remove_leftovers() -> None:
    """Remove the containers of runs that were killed."""
    for left in DockerClient().client.containers.list(all=True, filters={"label": _LABEL}):
        pid = left.labels[_LABEL].split("@")[0]
        if left.labels[_LABEL] == _owner(pid) and not runs(pid):
            left.remove(v=True, force=True)


def _owner(pid: int | str) -> str:
    return f"{pid}@{socket.gethostname()}"
