"""One HTTP endpoint that takes JSON, with retries, and what its clients have in common."""

import random
import socket
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from threading import Event, Lock
from typing import Any, Self, TypedDict
from weakref import WeakSet

import httpx

from pgrag.ground.counts import count
from pgrag.models.endpoint.service import Failure, Service

#: httpcore events after which a connection has a new socket.
_OPENED = (".connect_tcp.complete", ".start_tls.complete")


class Cancelled(Exception):
    """The request was cancelled."""


class Cancellation:
    """The cancel switch of requests. A blocked read ends at once, since its socket, reported to
    `trace`, is shut down; connecting has a short timeout.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._cancelled = Event()
        self._sockets: WeakSet[socket.socket] = WeakSet()

    @property
    def is_cancelled(self) -> bool:
        """Whether the request was cancelled."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Cancel the current requests and all later ones; idempotent."""
        with self._lock:
            self._cancelled.set()
            for opened in self._sockets:
                _shut_down(opened)

    def wait(self, seconds: float) -> None:
        """Wait until the time has passed or the request is cancelled."""
        self._cancelled.wait(seconds)

    def check(self) -> None:
        """Raise `Cancelled` if the request was cancelled."""
        if self.is_cancelled:
            raise Cancelled

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Record the socket of a request; see the extension `trace` of httpx."""
        if event.endswith(_OPENED):
            with self._lock:
                opened = info["return_value"].get_extra_info("socket")
                self._sockets.add(opened)
                if self.is_cancelled:
                    _shut_down(opened)


def _shut_down(opened: socket.socket) -> None:
    with suppress(OSError):  # already closed
        # Not the TLS socket's own method: it changes state that another thread is reading.
        socket.socket.shutdown(opened, socket.SHUT_RDWR)


#: Seconds between two attempts: the first wait, and the default maximum.
SHORTEST_WAIT = 0.5
LONGEST_WAIT = 60.0
#: Bytes of one line of a response.
LONGEST_LINE = 16_000_000
#: Seconds to connect: a model may load for minutes, but its server listens before that.
LONGEST_CONNECT = 10.0

#: Returns another payload for one that a server refused with an error text, or None.
Amend = Callable[[dict[str, Any], str], dict[str, Any] | None]


class Endpoint:
    """POSTs JSON to one address, `url` and the path of the service. Thread-safe. Rate limits (429),
    server errors (5xx), timeouts and broken connections are retried up to `retries` times with
    randomised exponential backoff, never sooner than the server's `Retry-After`, and not if that
    exceeds `longest_wait`. `timeout` is the longest silence in seconds; a timeout is retried only
    with `is_patient`. Requests can be cancelled only without `keep_alive`: each then has its own
    connection. `transport` and `sleep` replace the network and the clock.
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
        is_patient: bool = True,
        keep_alive: bool = True,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self._service = service
        address = service.http_url(url)
        self._password = address.password
        # httpx logs URLs verbatim.
        self.url = address.copy_with(username=None, password=None)
        self._api_key = service.printable(api_key)
        self._retries = retries
        self._timeout = timeout
        self._longest_wait = longest_wait
        self._is_patient = is_patient
        self._lock = Lock()
        self._is_closed = False
        self._running: list[Cancellation] = []  # one for each request, which may share it
        self._sleep = sleep
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {self._api_key}"} if self._api_key else {},
            auth=(address.username, address.password) if address.userinfo else None,
            timeout=httpx.Timeout(timeout, connect=min(timeout, LONGEST_CONNECT)),
            limits=httpx.Limits(max_keepalive_connections=None if keep_alive else 0),
            transport=transport,
        )

    def __str__(self) -> str:
        """Name the address without its possible secrets: user, password and parameters."""
        return str(self.url.copy_with(query=None, fragment=None))

    def close(self) -> None:
        """Close the connections, end pending retries, cancel running requests where possible."""
        with self._lock:
            self._is_closed = True
            running = list(self._running)
        for cancellation in running:
            cancellation.cancel()
        self._client.close()

    def post(
        self,
        payload: dict[str, Any],
        *,
        cancellation: Cancellation | None = None,
        amend: Amend | None = None,
    ) -> Any:
        """Send a payload, or what `amend` makes of a refused one; return the decoded response.
        Raises the service's error, and `Cancelled`.
        """
        with self._started(cancellation) as running:
            response, _ = self._answered(payload, cancellation, running, amend, in_pieces=False)
        return self._decoded(response)

    def get(self, path: str, *, timeout: float) -> Any:
        """Return the JSON at another path of the same server; None if there is none. Never retries.
        Raises the service's error if the server cannot be reached or refuses.
        """
        try:
            response = self._client.get(self.url.copy_with(path=path), timeout=timeout)
        except httpx.RequestError as error:
            failure = self._service.silence(error, timeout)
            # Neither the configured timeout nor the request's size is the cause here.
            hint = f"Check {self._service.variables}_URL and that the server is up."
            raise self._service.error(f"{self} {failure.reason}.", hint=hint) from error
        if response.status_code in {404, 405, 501}:
            return None
        if not response.is_success:
            failure = self._refusal(response)
            raise self._service.error(f"{self} {failure.reason}.", hint=failure.hint)
        return self._decoded(response)

    def lines(
        self, payload: dict[str, Any], cancellation: Cancellation, amend: Amend | None = None
    ) -> Generator[str, None, None]:
        """Send a payload and yield the lines of the response as they arrive. Retries like `post`
        until the first byte; a response that ends early later raises the service's `broken_off`.
        """
        with self._started(cancellation) as running:
            response, pieces = self._answered(payload, cancellation, running, amend, in_pieces=True)
            try:
                for line in _lines(pieces):
                    cancellation.check()
                    yield line
            except Exception as error:
                cancellation.check()
                if not isinstance(error, httpx.RequestError):
                    raise
                is_silent = isinstance(error, httpx.TimeoutException)
                why = f"silent for {self._timeout:g} s" if is_silent else str(error)
                raise self._service.broken_off(
                    f"{self} broke off in the middle of its answer ({why}).",
                    hint="Try again; the server's own log may say more.",
                ) from error
            finally:
                response.close()
            cancellation.check()

    @contextmanager
    def _started(self, cancellation: Cancellation | None) -> Iterator[Cancellation]:
        """Register a running request; closing the endpoint ends its waits."""
        running = cancellation or Cancellation()
        with self._lock:
            self._running.append(running)
            is_late = self._is_closed
        try:
            if is_late:
                running.cancel()
            yield running
        finally:
            with self._lock:
                self._running.remove(running)

    def _answered(
        self,
        payload: dict[str, Any],
        cancellation: Cancellation | None,
        running: Cancellation,
        amend: Amend | None,
        *,
        in_pieces: bool,
    ) -> tuple[httpx.Response, Iterable[bytes]]:
        """Try until there is a response; with `in_pieces`, its bytes arrive in pieces."""
        attempts = 1
        while isinstance(outcome := self._attempt(payload, cancellation, in_pieces), Failure):
            count("model_calls", model=self._service.name, outcome="failed")
            if amend and outcome.refusal is not None:
                amended = amend(payload, outcome.refusal)
                if amended is not None:
                    payload = amended
                    continue
            if outcome.may_recover and attempts <= self._retries:
                backoff = min(self._longest_wait, SHORTEST_WAIT * 2 ** (attempts - 1))
                wait = self._sleep or running.wait
                wait(max(outcome.wait, backoff * random.uniform(0.5, 1.0)))
                if not running.is_cancelled:
                    attempts += 1
                    continue
            if cancellation is not None:
                cancellation.check()
            tried = f" ({attempts} attempts)" if attempts > 1 else ""
            raise self._service.error(f"{self} {outcome.reason}{tried}.", hint=outcome.hint)
        count("model_calls", model=self._service.name, outcome="answered")
        return outcome

    def _attempt(
        self, payload: dict[str, Any], cancellation: Cancellation | None, in_pieces: bool
    ) -> tuple[httpx.Response, Iterable[bytes]] | Failure:
        if cancellation is not None:
            cancellation.check()
        extensions = {} if cancellation is None else {"trace": cancellation.trace}
        request = self._client.build_request("POST", self.url, json=payload, extensions=extensions)
        try:
            response = self._client.send(request, stream=in_pieces)
            try:
                if response.is_success and in_pieces:
                    pieces = response.iter_bytes()
                    return response, chain([next(pieces, b"")], pieces)
                response.read()
            except BaseException:
                response.close()
                raise
        except Exception as error:
            if cancellation is not None:
                cancellation.check()
            if not isinstance(error, httpx.RequestError):
                raise
            return self._service.silence(error, self._timeout, is_patient=self._is_patient)
        return (response, ()) if response.is_success else self._refusal(response)

    def _refusal(self, response: httpx.Response) -> Failure:
        excerpt = self._excerpt(response)
        return self._service.refusal(response, excerpt, longest_wait=self._longest_wait)

    def _decoded(self, response: httpx.Response) -> Any:
        try:
            return response.json()
        except (ValueError, RecursionError) as error:
            raise self._service.error(
                f"{self} did not answer with JSON: {self._excerpt(response)}.",
                hint=f"Check {self._service.variables}_URL: {self._service.address}.",
            ) from error

    def quoted(self, text: str) -> str:
        """Quote the start of a server's message on one line, with its secrets masked."""
        text = " ".join(text.split())
        for secret in (self._api_key, self._password, *self.url.params.values()):
            if secret:
                text = text.replace(secret, "***")
        return repr(text[:200])

    def _excerpt(self, response: httpx.Response) -> str:
        sent = response.request.headers.get("Authorization", "").rpartition(" ")[2]
        return self.quoted(response.text.replace(sent, "***") if sent else response.text)


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


def _lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """Split bytes at line feeds only: JSON may contain any other line separator."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        if len(rest) > LONGEST_LINE:
            raise httpx.DecodingError("a line without end")
        for line in whole:
            yield line.removesuffix(b"\r").decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")
