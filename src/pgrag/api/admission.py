"""Admission of requests: a key in `Authorization: Bearer`, or what the service allows without one.

Every route passes through here before its arguments are read. A request with a key works with the
rights of that key; what it was, or why it was refused, is in the audit.
"""

import logging
import math
import re
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from json import JSONDecodeError
from typing import Any

import anyio
from fastapi.routing import APIRoute
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pgrag.api.headers import POSITION
from pgrag.api.limits import TokenBuckets, bearer, client_of, drained, too_many
from pgrag.api.problems import FORBIDDEN, Kind, problem
from pgrag.api.sizes import Bodies, is_upload
from pgrag.ground import logs
from pgrag.ground.callers import calling
from pgrag.ground.errors import InvalidInput, PgragError
from pgrag.ground.json_text import InvalidJson, read_json
from pgrag.ground.replicas import Seen, on_primary, seeing
from pgrag.ground.requests import Served, serving
from pgrag.service.access import (
    Admission,
    Needs,
    Policy,
    admit,
    ending,
    finish,
    hash_of,
    needs_of,
)
from pgrag.service.app import App
from pgrag.service.work import Works

log = logging.getLogger(__name__)

PREFIX = "/v1"
"""Where the addresses of all guarded routes begin."""

KEY_REQUIRED = Kind(401, "key-required", "The service needs a key")
INVALID_KEY = Kind(401, "invalid-key", "The key is not valid")

_LOG_POSITION = re.compile(r"[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}")

MOST_REFUSALS = 10_000
"""Refusals that a process remembers, so that repeating one costs the database nothing."""

MOST_KEYS = 10_000
"""Keys that a process knows."""

_ANOTHER = "Ask for another key; `pgrag keys list` says what became of this one."
_UNKNOWN_KEY = {"unknown", "revoked", "expired", "rotated"}
_REASONS: dict[str, tuple[Kind, str, str | None]] = {
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
        "A publishable key may only search, rate what it found and, if made so, ask for answers.",
        "Use a secret key, from a program.",
    ),
    "answers": (
        FORBIDDEN,
        "The key may not ask for answers: each costs a call of the language model.",
        "`pgrag keys create NAME --libraries A --origin URL --answers-per-hour 100` makes one that"
        " may.",
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
    refused: TokenBuckets
    bodies: Bodies
    known: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    """The secrets that were admitted last, by their hashes."""

    async def __call__(
        self, operation: str, inner: ASGIApp, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Let `inner` answer a request for an operation, or refuse it."""
        headers, needs = Headers(scope=scope), needs_of(operation)
        seen = _seen(headers)
        served = Served(
            operation, library=scope.get("path_params", {}).get("library"), address=client_of(scope)
        )
        admission: Admission | None = None
        if "authorization" not in headers:
            served.reason = self.policy.refusal(needs)
        elif (hash_ := hash_of(bearer(headers))) is None:
            served.reason = "malformed"
        else:
            admission = await self._admitted(hash_, needs, headers, served.address)
            served.caller = admission.caller.name if admission.caller else None
            served.role, served.reason = admission.role, admission.refusal
            logs.note(key=served.caller)
        if served.reason is not None:
            await self._refuse(served, admission, scope, receive, send)
            return
        if admission is not None:
            served.ending = partial(ending, served, admission)
        has_ended = False

        async def end() -> None:
            nonlocal has_ended
            # A request with a key may have ended with its last statement.
            if not has_ended and (admission is None or served.ending is not None):
                await self._end(served, admission, scope)
            has_ended = True

        async def send_part(message: Message) -> None:
            if message["type"] == "http.response.start":
                if admission is not None:
                    MutableHeaders(scope=message).update(_limit_headers(admission))
                if seen.has_written and (written := await self._written(served)) is not None:
                    MutableHeaders(scope=message)[POSITION] = written
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                # Before the answer is complete, so that the client's next request finds it ended.
                await end()
            await send(message)

        # What is uploaded is passed on piece by piece.
        is_kept = not is_upload(scope)
        with (
            serving(served),
            seeing(seen),
            on_primary() if needs.is_change else nullcontext(),
            calling(admission.caller if admission else None),
            self.bodies.counted(served.holder, receive) as counted,
        ):
            try:
                await inner(scope, counted if is_kept else receive, send_part)
            finally:
                await end()

    async def _admitted(
        self, hash_: bytes, needs: Needs, headers: Headers, address: str
    ) -> Admission:
        origin = headers.get("origin")
        host = headers.get("host", "").lower()
        # Made-up secrets have the turns of one caller, however many they are.
        by = f"secret {hash_.hex()}" if hash_ in self.known else f"address {address}"
        admission = await self.works.in_turn(
            self.works.admission,
            lambda: admit(
                self.app.database,
                hash_,
                needs,
                origin=origin,
                is_foreign=origin is not None and origin.lower().partition("://")[2] != host,
                lasts=timedelta(seconds=self.app.settings.costly_timeout),
            ),
            by,
        )
        self.known.pop(hash_, None)
        if admission.refusal not in _UNKNOWN_KEY:
            self.known[hash_] = None
            if len(self.known) > MOST_KEYS:
                self.known.popitem(last=False)
        return admission

    async def _refuse(
        self,
        served: Served,
        admission: Admission | None,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        same = repr((served.caller, served.action, served.reason, served.address))
        if self.refused.draw(same).is_allowed:
            await self._end(served, admission, scope)
        answer = _refusal(served, admission, Request(scope))
        if self.buckets is not None and served.reason in _UNKNOWN_KEY:
            # The limit of addresses let them pass, because they have what looks like a key.
            verdict = self.buckets.draw(served.address)
            if not verdict.is_allowed:
                answer = drained(Request(scope), self.buckets, verdict)
        await answer(scope, receive, send)

    async def _written(self, served: Served) -> str | None:
        """Where the log of the primary is after what a request has written, if standbys are read;
        the answer never fails by this.
        """
        try:
            return await self.works.in_turn(
                self.works.admission, self.app.database.position, served.holder
            )
        except PgragError as error:
            log.warning("%s: no position of what it has written: %s", served.action, error)
            return None

    async def _end(self, served: Served, admission: Admission | None, scope: Scope) -> None:
        """End a lease and write the audit; the answer never fails by this."""
        is_reading = served.reason is None and not needs_of(served.action).is_change
        if is_reading and admission is None:
            return
        if served.library is None:
            served.library = QueryParams(scope.get("query_string", b"")).get("library")
        with anyio.CancelScope(shield=True):
            try:
                await self.works.in_turn(
                    self.works.admission,
                    lambda: finish(self.app.database, served, admission),
                    served.holder,
                )
            except PgragError as error:
                log.warning("%s is not in the audit: %s", served.action, error)


def _seen(headers: Headers) -> Seen:
    """What the reads of a request have to see. Raises `InvalidInput`."""
    position = headers.get(POSITION)
    if position is None or position == "now":
        return Seen(has_written=position is not None)
    if not _LOG_POSITION.fullmatch(position):
        raise InvalidInput(
            f"{POSITION} must be like 0/16B3748, not {position[:40]!r}.",
            hint="Send what an answer had in this header, or `now`.",
        )
    return Seen(position)


class _Strict(Request):
    """A request whose body means the same to every reader of JSON."""

    async def json(self) -> Any:
        """The body. Raises `JSONDecodeError`, as FastAPI expects."""
        try:
            return read_json(await self.body())
        except InvalidJson as error:
            raise JSONDecodeError(str(error), "", 0) from error


class GuardedRoute(APIRoute):
    """A route whose requests are admitted by its name."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        answer = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await answer(_Strict(request.scope, request.receive))

        return strict

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["method"] not in (self.methods or ()):
            await super().handle(scope, receive, send)
            return
        logs.note(route=PREFIX + self.path_format)
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
        logs.note(route="/" + self._operation)
        await self._guard(self._operation, self._inner, scope, receive, send)


def _refusal(served: Served, admission: Admission | None, request: Request) -> Response:
    if admission is not None and admission.retry_after:
        detail = "As many requests of the key are running as may run at the same time."
        if admission.refusal == "rate" and admission.limits is not None:
            rate, burst, *_ = admission.limits
            detail = f"The key may send {rate:g} requests a second, {burst:,} of them at once."
        elif admission.refusal == "answers":
            detail = "The key has asked for as many answers in this hour as it may."
        return too_many(request, detail, admission.retry_after, _limit_headers(admission))
    refusal = served.reason
    assert refusal is not None
    kind, detail, hint = _REASONS[refusal]
    headers = None
    if kind.status == 401:
        error = "" if refusal == "missing" else ', error="invalid_token"'
        headers = {"WWW-Authenticate": f'Bearer realm="pgrag"{error}'}
    if refusal == "role":
        detail = f"A key of role {served.role} may not do this."
        hint = f"Use a key of role {needs_of(served.action).role}."
    return problem(request, kind, detail, hint=hint, headers=headers)


def _limit_headers(admission: Admission) -> dict[str, str]:
    if admission.limits is None:
        return {}
    rate, burst, remaining, full_in = admission.limits
    return {
        "RateLimit": f'"key";r={remaining};t={math.ceil(full_in)}',
        "RateLimit-Policy": f'"key";q={burst};w={math.ceil(burst / rate)}',
    }
