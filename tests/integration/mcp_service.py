"""The whole service on a port of loopback, in this process, so that what it leaves can be seen."""

import asyncio
import time
from contextlib import contextmanager

import httpx
import uvicorn
from anyio.from_thread import start_blocking_portal
from mcp import Client

from pgrag.api import create_app
from pgrag.api.connections import configured
from pgrag.ground.settings import Settings
from pgrag.service.access import Policy
from pgrag.service.app import App

PATIENCE = 120.0
#: A service on its own machine that was started with --allow-writes.
LOCAL = Policy(allow_writes=True)


class Service:
    """A running service; see `mcp_service`."""

    def __init__(self, app, portal, server, address):
        self.app = app
        self.connections = server.server_state.connections
        self._portal = portal
        self.address = address
        self.http = httpx.Client(
            base_url=address,
            trust_env=False,
            timeout=PATIENCE,
            headers={"Accept": "application/json, text/event-stream"},
        )

    @property
    def mcp(self):
        """Where agents call."""
        return f"{self.address}/mcp"

    @property
    def tasks(self):
        """How many tasks the server has."""
        return self._portal.call(lambda: len(asyncio.all_tasks()))

    def post(self, method, headers=None, **params):
        """Send a request of the protocol as an older client does."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.http.post("/mcp", json=body, headers=headers)

    def session(self, work, *, era="auto"):
        """Do something with a session of the official client, in an event loop of its own."""

        async def run():
            async with Client(self.mcp, mode=era) as client:
                return await work(client)

        return asyncio.run(run())


@contextmanager
def mcp_service(url, *, pool_size=3, hosts=(), origins=(), policy=LOCAL, grace=None, **settings):
    """Serve a database until the block ends, and make sure that the server ends too."""
    app = App(Settings(database_url=url, pool_size=pool_size, **settings))
    api = create_app(app, policy=policy, hosts=hosts, cors_origins=origins)
    options = {"port": 0, "log_level": "error", "timeout_graceful_shutdown": grace}
    server = uvicorn.Server(configured(api, app.settings, **options))
    with start_blocking_portal() as portal:
        serving = portal.start_task_soon(server.serve)
        eventually(lambda: server.started or serving.done())
        port = server.servers[0].sockets[0].getsockname()[1]
        service = Service(app, portal, server, f"http://127.0.0.1:{port}")
        try:
            yield service
        finally:
            service.http.close()
            server.should_exit = True
            serving.result(PATIENCE)


def eventually(condition):
    """Wait until something is true."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
