"""Common to the clients of endpoints: how they connect and close."""

from collections.abc import Callable
from typing import Self, TypedDict

import httpx

from pgrag.endpoint.endpoint import Endpoint


class Connection(TypedDict, total=False):
    """Arguments of `Endpoint` that its clients pass on unchanged."""

    api_key: str | None
    retries: int
    timeout: float
    transport: httpx.BaseTransport | None
    sleep: Callable[[float], object] | None


class Client:
    """A client of one endpoint, which it closes at the end of a `with` block."""

    _endpoint: Endpoint

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Cancel running requests and pending retries, then disconnect."""
        self._endpoint.close()
