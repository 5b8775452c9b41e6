"""PgBouncer in front of the server of the tests: the installed one as a process, or an image."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

INSTALLED = "installed"
#: Images with PgBouncer, or of a Debian that has its package.
IMAGES = os.environ.get("PGRAG_TEST_POOLER_IMAGES", "debian:bookworm-slim debian:trixie-slim")

# Few sessions, so that many clients share each. Whoever comes is the owner of the database, as all
# processes of one service are.
_SETTINGS = """
[databases]
* = {target}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
max_client_conn = 500
server_reset_query = {reset}
ignore_startup_parameters = extra_float_digits
{user}
"""


def programs(lane: str) -> list[str]:
    """What can stand in front of the server of a lane."""
    return IMAGES.split() if lane == "container" else [INSTALLED]


@contextmanager
def pooled(
    url: str, folder: Path, *, program: str = INSTALLED, mode: str = "transaction", size: int = 4
) -> Iterator[str]:
    """The URL of a database by way of a PgBouncer.

    In session mode it resets nothing between clients, as an administrator may have set it.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    given = conninfo_to_dict(url)
    target = {name: given[name] for name in ("host", "port", "user", "password") if name in given}
    # Sockets are open to the user of the server alone, and PgBouncer refuses to run as root.
    sockets = Path(str(given["host"]))
    user = f"user = {sockets.owner() if sockets.is_absolute() else 'nobody'}"
    settings = _SETTINGS.format(
        target=" ".join(f"{name}='{value}'" for name, value in target.items()),
        port=port,
        mode=mode,
        size=size,
        reset="" if mode == "transaction" else "select 1",
        user=user if program == INSTALLED and os.geteuid() == 0 else "",
    )
    file = folder / f"pgbouncer-{port}.ini"
    file.write_text(settings, encoding="utf-8")
    through = f"postgresql://pgrag:unread@127.0.0.1:{port}/{given['dbname']}"
    with (_process if program == INSTALLED else _container(program))(file):
        _wait_for(through)
        yield through


def missing_program() -> str | None:
    """Return why the installed PgBouncer cannot be used, or None."""
    return None if _binary() else "PgBouncer is not installed (Debian: apt install pgbouncer)"


def _binary() -> str | None:
    # Debian's is among the programs of the administrator.
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


@contextmanager
def _process(file: Path) -> Iterator[None]:
    binary = _binary()
    assert binary, missing_program()
    with file.with_suffix(".log").open("w") as log:
        process = subprocess.Popen([binary, "--quiet", str(file)], stdout=log, stderr=log)
        try:
            yield
        finally:
            process.kill()
            process.wait()


def _container(image: str) -> Callable[[Path], AbstractContextManager[None]]:
    from containers import pooler  # noqa: PLC0415 - takes a second, and only one lane needs it

    return lambda file: pooler(image, file)


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            return psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
