"""Admission of requests: a key in `Authorization: Bearer`, or what the service allows without one.

Every route passes through here before its arguments are read. A request with a key works with the
rights of that key; what it was, or why it was refused, is in the audit.
"""

import logging
import math
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import anyio
from fastapi.routing import APIRoute
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pgrag.api.allowances import Allowances, Release
from pgrag.api.limits import TokenBuckets, bearer, client_of, too_many
from pgrag.api.problems import FORBIDDEN, TOO_MANY, Kind, problem
from pgrag.ground.access import (
    Access,
    Admission,
    Needs,
    Policy,
    Refusal,
    Wish,
    accessing,
    admit,
    finish,
    hash_of,
    needs_of,
)
from pgrag.ground.connections import calling
from pgrag.ground.errors import PgragError
from pgrag.service.app import App
from pgrag.service.work import Works

log = logging.getLogger(__name__)

KEY_REQUIRED = Kind(401, "key-required", "The service needs a key")
INVALID_KEY = Kind(401, "invalid-key", "The key is not valid")

MOST_REMEMBERED = 10_000
"""Refusals that a process remembers, so that their repetitions cost the database nothing."""

_REMEMBERED_SECONDS = 60.0

_ANOTHER = "Ask for another key; `pgrag keys list` says what became of this one."
_REASONS: dict[Refusal, tuple[Kind, str, str | None]] = {
    "missing": (
        KEY_REQUIRED,
        "The request has no key.",
        "Send it as Authorization: Bearer pgrag_sk_…; `pgrag keys create` makes one.",
    ),
    "malformed": (
        INVALID_KEY,
        "What follows Authorization is not a key of pgrag.",
        "Send Authorization: Bearer and the whole secret, which begins with pgrag_.",
    ),
    "unknown": (INVALID_KEY, "There is no such key.", _ANOTHER),
    "revoked": (INVALID_KEY, "The key has been revoked.", _ANOTHER),
    "expired": (INVALID_KEY, "The key has expired.", _ANOTHER),
    "rotated": (INVALID_KEY, "The key was rotated, and this was its old secret.", _ANOTHER),
    "browser": (
        FORBIDDEN,
        "This is a secret key, and it came from a web page, whose readers can all see it.",
        "Revoke it if the page is public, and make a publishable key for the page:"
        " `pgrag keys create NAME --libraries A --origin URL`.",
    ),
    "origin": (
        FORBIDDEN,
        "This publishable key may only be used by the pages that it was made for.",
        "`pgrag keys list` names their origins; programs use secret keys.",
    ),
    "publishable": (
        FORBIDDEN,
        "A publishable key may only search and rate what it found.",
        "Use a secret key, from a program.",
    ),
    "role": (FORBIDDEN, "The role of the key does not include this.", "Use a key that may."),
    "separation": (
        FORBIDDEN,
        "The key is limited to some libraries, and this database cannot keep it to them.",
        "Its operator must run `pgrag db upgrade` as a role that may create roles.",
    ),
    "read-only": (
        FORBIDDEN,
        "Without a key, this service only reads.",
        "Send a key that may write, or start it with `pgrag serve --allow-writes`.",
    ),
}


@dataclass(frozen=True, slots=True)
class Guard:
    """Admits the requests of one service."""

    app: App
    works: Works
    policy: Policy
    buckets: TokenBuckets | None
    refused: "Recently"
    allowances: Allowances

    async def __call__(
        self, operation: str, inner: ASGIApp, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Let `inner` answer a request for an operation, or refuse it."""
        access = Access(
            operation, library=scope.get("path_params", {}).get("library"), address=client_of(scope)
        )
        headers = Headers(scope=scope)
        admission: Admission | None = None
        if "authorization" in headers:
            refusal, admission, access.release = await self._ask(needs_of(operation), headers)
        else:
            refusal = self._without_key(needs_of(operation))
        if admission is not None:
            access.admission = admission
            access.caller, access.role = admission.caller, admission.role
        if refusal is not None:
            access.refusal = refusal
            await self._refuse(access, scope, receive, send)
            return
        with accessing(access), calling(access.caller):
            try:
                await inner(scope, receive, partial(self._send, access, scope, send))
            finally:
                await self._end(access, scope)

    async def _send(self, access: Access, scope: Scope, send: Send, message: Message) -> None:
        """Send a part of the answer; before the client has the last of it, the request has ended.

        Otherwise its next request could still count this one as running.
        """
        if message["type"] == "http.response.start" and access.admission is not None:
            MutableHeaders(scope=message).update(_limit_headers(access.admission))
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            await self._end(access, scope)
        await send(message)

    def _without_key(self, needs: Needs) -> Refusal | None:
        if self.policy.needs_key:
            return "missing"
        return "read-only" if needs.is_change and not self.policy.allow_writes else None

    async def _ask(
        self, needs: Needs, headers: Headers
    ) -> tuple[Refusal | None, Admission | None, Release | None]:
        hash_ = hash_of(bearer(headers))
        if hash_ is None:
            return "malformed", None, None
        origin = headers.get("origin")
        host = headers.get("host", "").lower()
        is_foreign = origin is not None and origin.lower().partition("://")[2] != host

        async def ask(wish: Wish) -> Admission:
            return await self.works.run(
                self.works.admission,
                lambda: admit(
                    self.app.database,
                    hash_,
                    needs,
                    origin=origin,
                    is_foreign=is_foreign,
                    lasts=timedelta(seconds=self.app.settings.costly_timeout),
                    wish=wish,
                ),
            )

        what = (hash_, needs.role, needs.is_for_pages, origin, is_foreign)
        admission, release = await self.allowances.admit(what, ask)
        return admission.refusal, admission, release

    async def _refuse(self, access: Access, scope: Scope, receive: Receive, send: Send) -> None:
        if access.release is not None:
            access.release()
        name = access.caller.name if access.caller else None
        if self.refused.is_new((name, access.action, access.refusal, access.address)):
            await self._end(access, scope)
        answer = _refusal(access, Request(scope))
        if (
            self.buckets is not None
            and answer.status_code == 401
            and hash_of(bearer(Headers(scope=scope)))
        ):
            # Their limit left out what looked like a key.
            verdict = self.buckets.draw(access.address)
            if not verdict.is_allowed:
                answer = too_many(Request(scope), self.buckets, verdict)
        await answer(scope, receive, send)

    async def _end(self, access: Access, scope: Scope) -> None:
        """Free what the request held, and write the audit; the answer never fails by this."""
        if access.release is not None:
            access.release()
        if access.has_ended:
            return
        access.has_ended = True
        is_reading = access.refusal is None and not needs_of(access.action).is_change
        if is_reading and access.caller is None:
            return
        if access.library is None:
            access.library = QueryParams(scope.get("query_string", b"")).get("library")
        with anyio.CancelScope(shield=True):
            try:
                await self.works.run(
                    self.works.admission, lambda: finish(self.app.database, access)
                )
            except PgragError as error:
                log.warning("%s is not in the audit: %s", access.action, error)


class Recently:
    """What happened within the last minute, so that it is noticed once. Not thread-safe."""

    def __init__(self) -> None:
        self._until: OrderedDict[Any, float] = OrderedDict()

    def is_new(self, what: Any) -> bool:
        """Whether it did not happen within the last minute; remembers that it has happened now."""
        now = time.monotonic()
        if self._until.get(what, 0.0) > now:
            return False
        self._until[what] = now + _REMEMBERED_SECONDS
        self._until.move_to_end(what)
        while len(self._until) > MOST_REMEMBERED:
            self._until.popitem(last=False)
        return True


class WithoutInheritedCaller:
    """ASGI middleware: no request begins with the caller of an earlier one of its connection.

    asyncio lets a connection that goes on reading do so in the context of who said so, from then on
    (CPython issue 140947); in uvicorn that is a request with a body over 64 KB.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        with calling(None):
            await self._app(scope, receive, send)


class GuardedRoute(APIRoute):
    """A route whose requests are admitted by its name."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["method"] not in (self.methods or ()):
            await super().handle(scope, receive, send)
            return
        guard: Guard = scope["app"].state.guard
        inner = getattr(self.endpoint, "reading", super().handle)
        await guard(self.name, inner, scope, receive, send)


class GuardedEndpoint:
    """An ASGI application whose requests are admitted as one operation."""

    def __init__(self, guard: Guard, operation: str, inner: ASGIApp) -> None:
        self._guard = guard
        self._operation = operation
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._guard(self._operation, self._inner, scope, receive, send)


def _refusal(access: Access, request: Request) -> Response:
    admission = access.admission
    if admission is not None and admission.limits is not None and admission.retry_after:
        return _exceeded(request, admission)
    refusal = access.refusal
    assert refusal is not None
    kind, detail, hint = _REASONS[refusal]
    headers = None
    if kind.status == 401:
        error = "" if refusal == "missing" else ', error="invalid_token"'
        headers = {"WWW-Authenticate": f'Bearer realm="pgrag"{error}'}
    if refusal == "role":
        detail = f"A key of role {access.role} may not do this."
        hint = f"Use a key of role {needs_of(access.action).role}."
    return problem(request, kind, detail, hint=hint, headers=headers)


def _exceeded(request: Request, admission: Admission) -> Response:
    seconds = max(1, math.ceil(admission.retry_after))
    detail = "As many requests of the key are running as may run at the same time."
    if admission.refusal == "rate" and admission.limits is not None:
        rate, burst, *_ = admission.limits
        detail = f"The key may send {rate:g} requests a second, {burst:,} of them at once."
    return problem(
        request,
        TOO_MANY,
        detail,
        hint=f"Send it again in {seconds} second{'s' if seconds > 1 else ''}.",
        headers={**_limit_headers(admission), "Retry-After": str(seconds)},
    )


def _limit_headers(admission: Admission) -> dict[str, str]:
    if admission.limits is None:
        return {}
    rate, burst, remaining, full_in = admission.limits
    return {
        "RateLimit": f'"key";r={remaining};t={math.ceil(full_in)}',
        "RateLimit-Policy": f'"key";q={burst};w={math.ceil(burst / rate)}',
    }
