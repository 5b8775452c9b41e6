"""One JSON endpoint over HTTP, asked again while it is worth it."""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Any

import httpx

from pgrag.errors import PgragError, SettingsError

SHORTEST_WAIT = 0.5
LONGEST_WAIT = 60.0
"""Seconds between two attempts: the first wait, and the most that is waited by default."""


@dataclass(frozen=True, slots=True)
class Service:
    """What an endpoint is for, in the words of its errors.

    `name`: such as "embedding"; `variables`: how its settings begin, "PGRAG_EMBEDDING"; `error`:
    what is raised when it fails; `address`: where its address ends; `example`: one as it should
    be; `demands`: what else of a request a server may refuse.
    """

    name: str
    variables: str
    error: type[PgragError]
    address: str
    example: str
    demands: str

    def hint(self, status: int) -> str:
        """Say what to do about a status."""
        demands = f"Check the model's name, {self.demands} and the batch size."
        key = f"Check {self.variables}_API_KEY."
        return {
            400: demands,
            401: key,
            403: key,
            404: f"Check {self.variables}_URL and {self.variables}_MODEL.",
            413: "Lower the batch size.",
            422: demands,
            429: "Lower the concurrency or the batch size, or try again later.",
        }.get(status, "The server's own log may say more.")


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why an attempt failed; `wait` is the server's own wish, in seconds."""

    reason: str
    hint: str
    may_recover: bool = True
    wait: float = 0.0


class Endpoint:
    """POSTs JSON to one address; usable by several threads at once.

    Rate limits (429), server errors (5xx), timeouts and broken connections are tried again up to
    `retries` times, after waits that double and vary at random, never shorter than the server's
    `Retry-After`; a server that wants more than `longest_wait` is not waited for. `timeout` is in
    seconds, for connecting and for every silence. `transport` and `sleep` replace the network and
    the clock.
    """

    def __init__(
        self,
        url: str,
        service: Service,
        *,
        api_key: str | None = None,
        retries: int = 5,
        timeout: float = 60.0,
        longest_wait: float = LONGEST_WAIT,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self._service = service
        self._url = _http_url(url, service)
        self._api_key = _printable(api_key, service)
        self._retries = retries
        self._timeout = timeout
        self._longest_wait = longest_wait
        self._closed = Event()
        self._sleep = sleep or self._closed.wait
        headers = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
        self._client = httpx.Client(headers=headers, timeout=timeout, transport=transport)

    def __str__(self) -> str:
        """Name the address without what may be secret in it: user, password and parameters."""
        return str(self._url.copy_with(username=None, password=None, query=None, fragment=None))

    def close(self) -> None:
        """Close the connections and end every wait for another attempt."""
        self._closed.set()
        self._client.close()

    def post(self, payload: dict[str, Any]) -> Any:
        """Send a payload and return the decoded answer.

        Raises the service's error when the server refuses, keeps failing, or answers without JSON.
        """
        attempts = 1
        while isinstance(outcome := self._attempt(payload), _Failure):
            if outcome.may_recover and attempts <= self._retries:
                backoff = min(self._longest_wait, SHORTEST_WAIT * 2 ** (attempts - 1))
                self._sleep(max(outcome.wait, backoff * random.uniform(0.5, 1.0)))
                if not self._closed.is_set():
                    attempts += 1
                    continue
            tried = f" ({attempts} attempts)" if attempts > 1 else ""
            raise self._service.error(f"{self} {outcome.reason}{tried}.", hint=outcome.hint)
        return self._decoded(outcome)

    def _attempt(self, payload: dict[str, Any]) -> httpx.Response | _Failure:
        try:
            response = self._client.post(self._url, json=payload)
        except httpx.TimeoutException:
            return _Failure(
                f"did not answer within {self._timeout:g} s",
                "Check that the server is up; raise the timeout or lower the batch size.",
            )
        except httpx.RequestError as error:
            return _Failure(
                f"cannot be reached ({error or type(error).__name__})",
                f"Check {self._service.variables}_URL and that the server is up.",
            )
        if response.is_success:
            return response
        status = response.status_code
        wait = _retry_after(response)
        asked = f", asking to wait {wait:.0f} s" if wait else ""
        return _Failure(
            f"answered with status {status}{asked}: {self._excerpt(response)}",
            self._service.hint(status),
            may_recover=(status in {408, 429} or status >= 500) and wait <= self._longest_wait,
            wait=wait,
        )

    def _decoded(self, response: httpx.Response) -> Any:
        try:
            return response.json()
        except ValueError as error:
            raise self._service.error(
                f"{self} did not answer with JSON: {self._excerpt(response)}.",
                hint=f"Check {self._service.variables}_URL: {self._service.address}.",
            ) from error

    def _excerpt(self, response: httpx.Response) -> str:
        """Quote the start of an answer on one line, without the secrets that it may quote back."""
        text = " ".join(response.text.split())
        sent = response.request.headers.get("Authorization", "").rpartition(" ")[2]
        for secret in (self._api_key, sent, self._url.password):
            if secret:
                text = text.replace(secret, "***")
        return repr(text[:200])


def _http_url(url: str, service: Service) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise SettingsError(
            f"The URL of the {service.name} endpoint is not an http or https address.",
            hint=f"Set {service.variables}_URL to one like {service.example}.",
        )
    return parsed


def _printable(api_key: str | None, service: Service) -> str:
    key = (api_key or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise SettingsError(
            f"The key of the {service.name} endpoint holds characters that no header can carry.",
            hint=f"Check {service.variables}_API_KEY.",
        )
    return key


def _retry_after(response: httpx.Response) -> float:
    """Return the seconds that the server asks to wait, as a number or a date; 0 if it does not."""
    value = response.headers.get("Retry-After", "")
    if value.isdecimal():
        return float(value)
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    return max(0.0, moment.timestamp() - time.time())
