"""Every error becomes a problem document (RFC 9457), never a traceback."""

import json
import logging
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match

from pgrag.ground import errors

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 5
LIMIT_SECONDS = 60
"""Until a caller that has too many jobs, or too large uploads, may ask again: jobs take time."""
MOST_ERRORS = 20
"""Fields that one problem names: a bad vector has thousands."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem: its status, its address and its title.

    `detail`, if given, replaces the error's own message, which goes to the log because it reveals
    the server's internals.
    """

    status: int
    slug: str
    title: str
    detail: str | None = None

    @property
    def type(self) -> str:
        """The stable address that identifies the kind."""
        return f"/problems/{self.slug}"


FORBIDDEN = Kind(403, "forbidden", "The caller may not do this")
INVALID_REQUEST = Kind(422, "invalid-request", "The request has invalid arguments")
INTERNAL = Kind(
    500,
    "internal-error",
    "The server failed",
    "The server failed to answer; its log says why.",
)
NOT_READY = Kind(503, "not-ready", "The service is not ready", "A check failed; see findings.")
STOPPING = Kind(
    503,
    "stopping",
    "The service stops",
    "The service is shutting down; the request may be sent again.",
)
REQUEST_TIMEOUT = Kind(408, "request-timeout", "The request did not arrive in time")
TOO_LARGE = Kind(413, "too-large", "The request is too large")
UNSUPPORTED = Kind(415, "unsupported-media-type", "The format cannot be read")
TOO_MANY = Kind(429, "too-many-requests", "The client sends too many requests")
LIMIT_REACHED = Kind(429, "limit-reached", "The caller has as much as one may have")
HTTP_KINDS = {
    400: Kind(400, "unreadable-request", "The request cannot be read"),
    404: Kind(404, "not-found", "There is nothing at this address"),
    405: Kind(405, "method-not-allowed", "The address does not support this method"),
    413: TOO_LARGE,
    414: Kind(414, "too-long", "The address of the request is too long"),
    431: Kind(431, "too-long", "The headers of the request are too long"),
}


def kind_of_status(status: HTTPStatus) -> Kind:
    """The kind of an error that only its status tells."""
    return HTTP_KINDS.get(status) or Kind(
        status, status.phrase.lower().replace(" ", "-"), status.phrase
    )


_UNFIT = "The database's schema does not fit this version of pgrag."


def _failed(what: str, title: str) -> Kind:
    return Kind(502, f"{what}-failed", title, f"{title}; the server's log says why.")


KINDS: dict[type[errors.PgragError], Kind] = {
    errors.UnknownLibrary: Kind(404, "unknown-library", "There is no such library"),
    errors.UnknownVersion: Kind(404, "unknown-version", "The library has no such version"),
    errors.UnknownPage: Kind(404, "unknown-page", "There is no such page"),
    errors.UnknownDocument: Kind(404, "unknown-document", "There is no such passage"),
    errors.UnknownModel: Kind(404, "unknown-model", "There is no such embedding model"),
    errors.UnknownSearch: Kind(404, "unknown-search", "There is no such recorded search"),
    errors.UnknownEvaluationSet: Kind(
        404, "unknown-evaluation-set", "There is no such evaluation set"
    ),
    errors.UnknownEvaluationRun: Kind(
        404, "unknown-evaluation-run", "There is no such evaluation run"
    ),
    errors.UnknownKey: Kind(404, "unknown-key", "There is no such key"),
    errors.UnknownJob: Kind(404, "unknown-job", "There is no such job"),
    errors.NotFound: Kind(404, "not-found", "There is no such thing"),
    errors.InvalidFilter: Kind(422, "invalid-filter", "The filters are invalid"),
    errors.InvalidQuery: Kind(422, "invalid-query", "The query does not follow the grammar"),
    errors.InvalidCursor: Kind(422, "invalid-cursor", "The cursor cannot be used"),
    errors.DimensionMismatch: Kind(
        422, "dimension-mismatch", "The vector does not have the model's dimensions"
    ),
    errors.InvalidInput: Kind(422, "invalid-input", "An argument is invalid"),
    errors.LimitReached: LIMIT_REACHED,
    errors.TimeExceeded: Kind(422, "took-too-long", "The search ran out of time"),
    errors.Busy: Kind(503, "busy", "Others are in the way; the request may be sent again"),
    errors.DatabaseUnavailable: Kind(
        503,
        "database-unavailable",
        "The database does not answer",
        "The database does not answer; the request may be sent again.",
    ),
    errors.DatabaseFull: Kind(
        503,
        "database-full",
        "The database lacks disk space or memory",
        "The database has no disk space or memory left for the request; its operator must free"
        " some.",
    ),
    errors.NotPermitted: FORBIDDEN,
    errors.SchemaOutdated: Kind(
        503, "schema-outdated", "The database is older than the service", _UNFIT
    ),
    errors.SchemaTooNew: Kind(
        503, "schema-too-new", "The database is newer than the service", _UNFIT
    ),
    errors.EmbeddingError: _failed("embedding", "The embedding model failed"),
    errors.RerankingError: _failed("reranking", "The reranker failed"),
    errors.LanguageModelError: _failed("language-model", "The language model failed"),
    errors.DiskFull: Kind(
        507,
        "disk-full",
        "The service lacks disk space",
        "The disk of the service is full; its operator must free some.",
    ),
    errors.ReadOnly: Kind(501, "read-only", "The database of the service is read-only"),
    errors.NotConfigured: Kind(501, "not-configured", "The service is not set up for this"),
    errors.PgragError: INTERNAL,
}


def kind_of(error: errors.PgragError) -> Kind:
    """The kind of an error, or that of its nearest ancestor."""
    return next(KINDS[ancestor] for ancestor in type(error).__mro__ if ancestor in KINDS)


def problem(
    request: Request,
    kind: Kind,
    detail: str | None = None,
    *,
    hint: str | None = None,
    headers: dict[str, str] | None = None,
    **members: Any,
) -> Response:
    """The response for a problem; `members` are additional members of the document."""
    document = {
        "type": kind.type,
        "title": kind.title,
        "status": kind.status,
        "detail": detail or kind.detail,
        "hint": hint,
        "instance": quote(request.scope["path"]),
        **members,
    }
    stated = {name: value for name, value in document.items() if value is not None}
    return Response(
        # A name from the caller may be invalid Unicode.
        json.dumps(stated, ensure_ascii=False).encode("utf-8", "replace"),
        status_code=kind.status,
        headers=headers,
        media_type=MEDIA_TYPE,
    )


async def pgrag_problem(request: Request, error: Exception) -> Response:
    """The response for an error of pgrag; logs the errors that are the server's fault."""
    error = cast(errors.PgragError, error)
    kind = kind_of(error)
    is_busy = isinstance(error, errors.Busy)
    if kind.status >= 500:
        level = logging.WARNING if is_busy else logging.ERROR
        log.log(level, "%s %s: %s", request.method, request.url.path, error)
    is_outage = isinstance(error, errors.DatabaseUnavailable | errors.DatabaseFull)
    is_unfit = isinstance(error, errors.SchemaOutdated | errors.SchemaTooNew)
    seconds = RETRY_AFTER_SECONDS if is_outage or is_busy else None
    if kind is LIMIT_REACHED:
        seconds = LIMIT_SECONDS
    return problem(
        request,
        kind,
        kind.detail or error.message,
        hint=error.hint if kind.status < 500 or kind.status == 501 or is_unfit or is_busy else None,
        headers=None if seconds is None else {"Retry-After": str(seconds)},
        column=error.column if isinstance(error, errors.InvalidQuery) else None,
    )


async def _invalid_request(request: Request, error: Exception) -> Response:
    items = cast(RequestValidationError, error).errors()
    faults = [_field_error(item) for item in items[:MOST_ERRORS]]
    media_type = request.headers.get("content-type", "").partition(";")[0]
    without_json = request.method == "POST" and media_type != "application/json"
    return problem(
        request,
        INVALID_REQUEST,
        " ".join(f"{item['field'] or item['in']}: {item['message']}" for item in faults[:3]),
        hint="Send the body as JSON, with Content-Type: application/json."
        if without_json
        else "The arguments of every route are listed in /openapi.json.",
        errors=faults,
    )


def _field_error(item: dict[str, Any]) -> dict[str, str]:
    """One bad argument: `in` is "query", "path" or "body", `field` its name, "" for the whole."""
    where, *names = item["loc"]
    message = item["msg"].removeprefix("Value error, ")
    if item["type"] == "extra_forbidden":
        message = "there is no such argument"
    elif item["type"] == "json_invalid":
        message = f"not valid JSON: {item.get('ctx', {}).get('error', message)}"
        names = [name for name in names if isinstance(name, str)]
    return {
        "in": str(where),
        "field": ".".join(str(name) for name in names),
        "message": f"{message.rstrip('.')}.",
    }


async def _http_error(request: Request, error: Exception) -> Response:
    error = cast(HTTPException, error)
    status = HTTPStatus(error.status_code)
    if request.scope["path"] == "*":  # OPTIONS of the whole service
        return Response(status_code=204, headers={"Allow": ", ".join(_METHODS)})
    kind = kind_of_status(status)
    headers = dict(error.headers or {})
    if status == 405:
        headers["Allow"] = ", ".join(_allowed(request))
    return problem(
        request,
        kind,
        error.detail if error.detail != status.phrase else f"{request.method} {request.url.path}",
        hint="The addresses are listed at /docs and in /openapi.json."
        if status in {404, 405}
        else None,
        headers=headers,
    )


_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def _allowed(request: Request) -> list[str]:
    """The methods of all routes of this address; a router names only those of the first."""
    methods = [
        method
        for method in _METHODS
        if any(
            route.matches({**request.scope, "method": method})[0] is Match.FULL
            for route in request.app.routes
        )
    ]
    return ["GET", "HEAD", *methods[1:]] if "GET" in methods else methods


async def _system_error(request: Request, error: Exception) -> Response:
    if full := errors.disk_full(error):
        return await pgrag_problem(request, full)
    raise error


async def _unexpected(request: Request, _: Exception) -> Response:
    # The server logs the traceback itself.
    return problem(request, INTERNAL)


def add_handlers(api: FastAPI) -> None:
    """Make every error of an application a problem document."""
    api.add_exception_handler(errors.PgragError, pgrag_problem)
    api.add_exception_handler(RequestValidationError, _invalid_request)
    api.add_exception_handler(HTTPException, _http_error)
    api.add_exception_handler(OSError, _system_error)
    api.add_exception_handler(Exception, _unexpected)
