"""Sends requests into a REST application without a network, each handled as by a server."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import unquote

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal

from pgrag.api import create_app
from pgrag.ground.settings import Settings
from pgrag.service.access import Policy
from pgrag.service.app import App

#: A service on its own machine that was started with --allow-writes.
LOCAL = Policy(allow_writes=True)


class ApiClient:
    """Requests to one application, started and shut down with it; see `serving`."""

    def __init__(
        self, portal: BlockingPortal, client: httpx.AsyncClient, app: App, metrics: Any
    ) -> None:
        self._portal = portal
        self._client = client
        self.app = app
        self.metrics = metrics

    def start(self, method: str, url: str, **options: Any) -> Future[httpx.Response]:
        """Send a request and go on; the future's result is the response."""
        send = partial(self._client.request, method, url, **options)
        return self._portal.start_task_soon(send)

    def request(self, method: str, url: str, **options: Any) -> httpx.Response:
        """Send a request and wait for the response."""
        return self.start(method, url, **options).result(timeout=60)

    def get(self, url: str, **parameters: Any) -> httpx.Response:
        """GET with query parameters."""
        return self.request("GET", url, params=parameters or None)

    def post(self, url: str, body: Any) -> httpx.Response:
        """POST with a JSON body."""
        return self.request("POST", url, json=body)

    def ok(self, url: str, **parameters: Any) -> Any:
        """The JSON of a GET that must succeed."""
        response = self.get(url, **parameters)
        assert response.status_code == 200, response.text
        assert response.headers["content-type"] == "application/json"
        return response.json()


@contextmanager
def serving(
    url: str,
    *,
    pool_size: int = 4,
    cors_origins: tuple[str, ...] = (),
    policy: Policy = LOCAL,
    metrics: Callable[[App], Any] = lambda _: None,
    **settings: Any,
) -> Iterator[ApiClient]:
    """An application on a database, in an event loop of its own."""
    app = App(Settings(database_url=url, pool_size=pool_size, **settings))
    measured = metrics(app)
    api = create_app(app, policy=policy, cors_origins=cors_origins, metrics=measured)
    transport = httpx.ASGITransport(api, raise_app_exceptions=False)
    with start_blocking_portal() as portal:
        client = httpx.AsyncClient(transport=transport, base_url="http://api.example")
        try:
            # As a server does: in one task from start to end.
            with portal.wrap_async_context_manager(api.router.lifespan_context(api)):
                yield ApiClient(portal, client, app, measured)
        finally:
            portal.call(client.aclose)


def problem(response: httpx.Response, status: int, slug: str) -> dict[str, Any]:
    """The problem document of a response, which must be of this kind."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = response.json()
    assert document["type"] == f"/problems/{slug}"
    assert document["status"] == status
    assert document["title"]
    assert document["detail"]
    assert unquote(document["instance"]) == response.request.url.path
    assert "Traceback" not in response.text
    return document
