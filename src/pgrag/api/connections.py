"""How connections are served: a request must arrive in time, and connections are limited.

uvicorn alone waits for the rest of a request for ever.
"""

import asyncio
import json
from email.utils import formatdate
from http import HTTPStatus
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from pgrag.api.framing import Connection
from pgrag.api.headers import ALWAYS
from pgrag.api.problems import MEDIA_TYPE, REQUEST_TIMEOUT, Kind, kind_of_status
from pgrag.ground.counts import count
from pgrag.ground.settings import Settings

SLOWEST = 10_000
"""A body that arrives at this many bytes a second may take longer than other requests."""

LINGER_SECONDS = 2.0
"""How long what still arrives is dropped after a refusal: with unread data the connection would be
reset, and the reset may overtake the answer.
"""


def configured(api: FastAPI, settings: Settings, **options: Any) -> uvicorn.Config:
    """The configuration of a server; `options` are those of uvicorn."""
    timed = type("Timed", (TimedProtocol,), {"seconds": settings.request_timeout})
    return uvicorn.Config(
        api, http=timed, ws="none", limit_concurrency=settings.connection_limit, **options
    )


class TimedProtocol(H11Protocol):
    """HTTP/1.1 whose requests, headers and body, must arrive within `seconds`.

    A body that goes on arriving at `SLOWEST` bytes a second, such as an upload, may take longer.
    A late request is answered, unless the service has begun to or nothing has arrived at all.
    """

    seconds: float

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect the first request."""
        super().connection_made(transport)
        self.conn: Connection = Connection()
        self._is_refused = False
        self._deadline: asyncio.TimerHandle | None = None
        self._arrived = 0
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
        super().connection_lost(exc)

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
        }
        body = json.dumps(document).encode()
        headers = [
            *ALWAYS.items(),
            ("Cache-Control", "no-store"),
            ("Content-Type", MEDIA_TYPE),
            ("Content-Length", str(len(body))),
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

    def _expect(self) -> None:
        if self._deadline is None:
            self._arrived = 0
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
        has_begun = bool(self.conn.trailing_data[0]) or self.conn.their_state is h11.SEND_BODY
        if has_begun and self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self._refuse(REQUEST_TIMEOUT, f"A request must arrive within {self.seconds:g} seconds.")
        self.transport.close()
