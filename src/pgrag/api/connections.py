"""How connections are served: a request must arrive in time, its answer must be read in time, and
connections are limited.

uvicorn alone waits for either for ever.
"""

import asyncio
import json
import logging
from contextlib import suppress
from email.utils import formatdate
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from pgrag.api.crowd import MOST_IDLE, Crowd
from pgrag.api.framing import Connection
from pgrag.api.headers import ALWAYS, SecurityHeaders
from pgrag.api.observed import REQUEST_ID
from pgrag.api.problems import MEDIA_TYPE, REQUEST_TIMEOUT, Kind, kind_of_status
from pgrag.ground import logs
from pgrag.ground.counts import count
from pgrag.ground.settings import Settings

try:
    import resource
except ModuleNotFoundError:  # Windows
    resource = None  # type: ignore[assignment]

SLOWEST = 10_000
"""A body that arrives, or an answer that is read, at this many bytes a second may take longer than
others.
"""


FURTHER_FILES = 1000
"""Files that may be open besides the connections of clients."""

LINGER_SECONDS = 2.0
"""How long what still arrives is dropped after a refusal: with unread data the connection would be
reset, and the reset may overtake the answer.
"""


def configured(api: FastAPI, settings: Settings, **options: Any) -> uvicorn.Config:
    """The configuration of a server; `options` are those of uvicorn."""
    most, proxies = settings.connection_limit, settings.forwarded_allow_ips
    _allow_files(most)
    app: Any = api
    trusted: Any = ProxyHeadersMiddleware(app, proxies).trusted_hosts if proxies else ()
    crowd = Crowd(most, settings.connections_per_address or -(-most // 2), trusted)
    timed = type("Timed", (TimedProtocol,), {"seconds": settings.request_timeout, "crowd": crowd})
    # The line of a request has its whole address.
    logging.getLogger("uvicorn.access").addFilter(logs.WithoutKeys())
    # Without proxies, uvicorn trusts those of this machine.
    return uvicorn.Config(api, http=timed, ws="none", forwarded_allow_ips=proxies, **options)


def _allow_files(connections: int) -> None:
    """Raise the limit of open files of this process, which many systems set to 1024."""
    with suppress(AttributeError, OSError, ValueError):  # Windows has no such limit
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = connections + FURTHER_FILES
        if soft != resource.RLIM_INFINITY and soft < wanted:
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class TimedProtocol(H11Protocol):
    """HTTP/1.1 whose requests, headers and body, must arrive within `seconds`, as a member of a
    `crowd`.

    A body that goes on arriving at `SLOWEST` bytes a second, such as an upload, may take longer.
    A late request is answered, unless the service has begun to or nothing has arrived at all. A
    connection ends whose client does not read its answer at that rate.
    """

    seconds: float
    crowd: Crowd

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect the first request."""
        super().connection_made(transport)
        self.conn: Connection = Connection()
        self._is_refused = False
        self._deadline: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None
        self._arrived, self._expected_at = 0, 0.0
        self._host = self.client[0] if self.client else ""
        if (refusal := self.crowd.enter(self, self._host)) is not None:
            refusal.app = self.app
            self.app = SecurityHeaders(refusal)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Go on, and expect the rest of a request that is not complete."""
        if self._is_refused:
            return
        self._arrived += len(data)
        super().data_received(data)
        if self.conn.their_state in {h11.IDLE, h11.SEND_BODY}:
            self._expect()
        else:
            self._expect_nothing()

    def on_response_complete(self) -> None:
        """Let uvicorn's keep-alive timeout wait for the first byte of the next request."""
        if self.conn.their_state is not h11.SEND_BODY:
            self._expect_nothing()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect no more."""
        self._expect_nothing()
        self.resume_writing()
        self.crowd.leave(self, self._host)
        super().connection_lost(exc)

    def idleness(self) -> int:
        """How readily it gives way: least with an answer on its way, most if it never asked, or
        sends a body more slowly than others may.
        """
        if self.conn.their_state is h11.SEND_BODY:
            due = SLOWEST * (self.loop.time() - self._expected_at - 1)
            return MOST_IDLE if self._arrived < due else 1
        if self.cycle is None:
            return MOST_IDLE
        return 2 if self.cycle.response_complete else 0

    def give_way(self, kind: Kind, detail: str) -> None:
        """End it, with an answer to what was begun."""
        self.crowd.leave(self, self._host)
        self._end(kind, detail)

    def abort(self) -> None:
        """End it at once."""
        self.transport.abort()

    def pause_writing(self) -> None:
        """Expect that the client reads."""
        super().pause_writing()
        self._expect_reader()

    def resume_writing(self) -> None:
        """Expect no more that the client reads."""
        super().resume_writing()
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, even if the end of the last answer is not read."""
        super().timeout_keep_alive_handler()
        if self._reading is None:
            self._expect_reader()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP, as all errors are answered."""
        status, detail = self.conn.fault or (400, msg)
        count("unreadable_requests", status=str(status))
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self._refuse(kind_of_status(HTTPStatus(status)), detail)
        self._linger()

    def _linger(self) -> None:
        """Close the connection once the client has read the answer."""
        self._is_refused = True
        self._expect_nothing()
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.transport.can_write_eof():
            self.transport.write_eof()
            self.transport.resume_reading()
            self.loop.call_later(LINGER_SECONDS, self.transport.close)
        else:
            self.transport.close()

    def _refuse(self, kind: Kind, detail: str) -> None:
        document = {
            "type": kind.type,
            "title": kind.title,
            "status": kind.status,
            "detail": detail,
            # Its address was not understood.
            "instance": "",
        }
        body = json.dumps(document).encode()
        headers = [
            *ALWAYS.items(),
            ("Cache-Control", "no-store"),
            ("Content-Type", MEDIA_TYPE),
            ("Content-Length", str(len(body))),
            (REQUEST_ID, uuid4().hex),
            ("Date", formatdate(usegmt=True)),
            ("Connection", "close"),
        ]
        reason = HTTPStatus(kind.status).phrase.encode()
        for event in (
            h11.Response(status_code=kind.status, headers=headers, reason=reason),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event))

    def _expect_reader(self) -> None:
        self._reading = self.loop.call_later(
            self.seconds, self._look_for_reader, self.transport.get_write_buffer_size()
        )

    def _look_for_reader(self, before: int) -> None:
        if before - self.transport.get_write_buffer_size() < SLOWEST * self.seconds:
            self.transport.abort()
        else:
            self._expect_reader()

    def _expect(self) -> None:
        if self._deadline is None:
            self._arrived, self._expected_at = 0, self.loop.time()
            self._deadline = self.loop.call_later(self.seconds, self._expire)

    def _expect_nothing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expire(self) -> None:
        if self.transport.is_closing():
            return
        if self._arrived >= SLOWEST * self.seconds and self.conn.their_state is h11.SEND_BODY:
            self._deadline = None
            self._expect()
            return
        self._end(REQUEST_TIMEOUT, f"A request must arrive within {self.seconds:g} seconds.")

    def _end(self, kind: Kind, detail: str) -> None:
        has_begun = bool(self.conn.trailing_data[0]) or self.conn.their_state is h11.SEND_BODY
        if has_begun and self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self._refuse(kind, detail)
        self.transport.close()
