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

from pgrag.errors import EmbeddingError, SettingsError

SHORTEST_WAIT = 0.5
LONGEST_WAIT = 60.0
"""Seconds between two attempts: the first wait, and the most that is ever waited."""

_HINTS = {
    400: "Check the model's name, its dimensions and the batch size.",
    401: "Check PGRAG_EMBEDDING_API_KEY.",
    403: "Check PGRAG_EMBEDDING_API_KEY.",
    404: "Check PGRAG_EMBEDDING_URL and PGRAG_EMBEDDING_MODEL.",
    413: "Lower the batch size.",
    422: "Check the model's name, its dimensions and the batch size.",
    429: "Lower the concurrency or the batch size, or try again later.",
}


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
    `Retry-After`; a server that wants more than a minute is not waited for. `timeout` is in
    seconds, for connecting and for every silence. `transport` and `sleep` replace the network and
    the clock.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        retries: int = 5,
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self._url = _http_url(url)
        self._api_key = _printable(api_key)
        self._retries = retries
        self._timeout = timeout
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

        Raises `EmbeddingError` when the server refuses, keeps failing, or answers without JSON.
        """
        attempts = 1
        while isinstance(outcome := self._attempt(payload), _Failure):
            if outcome.may_recover and attempts <= self._retries:
                backoff = min(LONGEST_WAIT, SHORTEST_WAIT * 2 ** (attempts - 1))
                self._sleep(max(outcome.wait, backoff * random.uniform(0.5, 1.0)))
                if not self._closed.is_set():
                    attempts += 1
                    continue
            tried = f" ({attempts} attempts)" if attempts > 1 else ""
            raise EmbeddingError(f"{self} {outcome.reason}{tried}.", hint=outcome.hint)
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
                "Check PGRAG_EMBEDDING_URL and that the server is up.",
            )
        if response.is_success:
            return response
        status = response.status_code
        wait = _retry_after(response)
        asked = f", asking to wait {wait:.0f} s" if wait else ""
        return _Failure(
            f"answered with status {status}{asked}: {self._excerpt(response)}",
            _HINTS.get(status, "The server's own log may say more."),
            may_recover=(status in {408, 429} or status >= 500) and wait <= LONGEST_WAIT,
            wait=wait,
        )

    def _decoded(self, response: httpx.Response) -> Any:
        try:
            return response.json()
        except ValueError as error:
            raise EmbeddingError(
                f"{self} did not answer with JSON: {self._excerpt(response)}.",
                hint="Check PGRAG_EMBEDDING_URL: it ends where /embeddings begins, often in /v1.",
            ) from error

    def _excerpt(self, response: httpx.Response) -> str:
        """Quote the start of an answer on one line, without the key if the server quotes it."""
        text = " ".join(response.text.split())
        if self._api_key:
            text = text.replace(self._api_key, "***")
        return repr(text[:200])


def _http_url(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise SettingsError(
            "The URL of the embedding endpoint is not an http or https address.",
            hint="Set PGRAG_EMBEDDING_URL to one like https://api.openai.com/v1.",
        )
    return parsed


def _printable(api_key: str | None) -> str:
    key = (api_key or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise SettingsError(
            "The key of the embedding endpoint holds characters that no header can carry.",
            hint="Check PGRAG_EMBEDDING_API_KEY.",
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
