"""Sockets of services: where one listens, and the metrics of a process."""

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any

from pgrag.cli.output import notice
from pgrag.ground.errors import SettingsError
from pgrag.ground.settings import host_and_port

if TYPE_CHECKING:
    from pgrag.service.app import App
    from pgrag.service.metrics import Metrics

_METRICS_GRACE = 2.0


@contextmanager
def measured(app: "App") -> Iterator["Metrics | None"]:
    """Serve the metrics of this process within the block, if PGRAG_METRICS_ADDRESS is set."""
    if app.settings.metrics_address is None:
        yield None
        return
    import uvicorn
    from prometheus_client import make_asgi_app

    from pgrag.api.connections import configured
    from pgrag.service.metrics import Metrics

    host, port = host_and_port(app.settings.metrics_address)
    sockets, metrics = listening(host, port), Metrics(app)
    page: Any = make_asgi_app(metrics.registry)
    configuration: Any = configured(page, app.settings, log_config=None, lifespan="off")
    # Scrapes are not in the log.
    quiet = {"access_log": property(lambda _: False, lambda _, value: None)}
    configuration.http = type("Quiet", (configuration.http,), quiet)
    server = uvicorn.Server(configuration)
    thread = Thread(target=server.run, args=[sockets], name="pgrag metrics", daemon=True)
    thread.start()
    notice(f"Metrics are on http://{app.settings.metrics_address}/metrics.")
    try:
        yield metrics
    finally:
        server.should_exit = True
        thread.join(_METRICS_GRACE)


def listening(host: str, port: int) -> list[socket.socket]:
    """Return a listening socket for each address of a host.

    The server itself would bind them only after it has reported that it is ready. Raises
    `SettingsError` if the port is taken, or host or port cannot be used.
    """
    sockets: list[socket.socket] = []
    try:
        for family, *_, address in dict.fromkeys(
            socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        ):
            sockets.append(socket.create_server((address[0], port), family=family, backlog=2048))
            # Connections inherit it, and asyncio does not set it on a given socket. Without it, the
            # body of a response waits for the client's acknowledgement of the headers: 40 ms.
            sockets[-1].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            port = port or sockets[0].getsockname()[1]
    except OSError as error:
        # "localhost" may have an address of a family that the machine does not use.
        if error.errno != errno.EADDRNOTAVAIL or not sockets:
            for each in sockets:
                each.close()
            if error.errno == errno.EADDRINUSE:
                raise SettingsError(
                    f"Port {port} of {host} is in use: another program listens there.",
                    hint="Stop that program, or choose another port; --port 0 takes a free one.",
                ) from error
            raise SettingsError(
                f"Cannot listen on port {port} of {host}: {error.strerror}."
            ) from error
    return sockets
