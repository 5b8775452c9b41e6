"""What the service offers to whom, and what callers did: for pages and programs that ask first."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from pgrag.api.arguments import Arguments, LibraryName, Name, at_most
from pgrag.api.declared import Exchange, Router
from pgrag.ground.errors import PgragError
from pgrag.ground.values import service as values
from pgrag.service.access import Policy, abilities, current_key

router = Router(tags=["service"])


@router.answers("/service", values.ServiceState)
def service(exchange: Exchange) -> Any:
    """Say what this service offers, who calls, and what the caller may do.

    It also answers without a key where one is needed.
    """
    settings, providers = exchange.app.settings, exchange.app.providers
    policy: Policy = exchange.service.guard.policy
    key = current_key(exchange.app)
    may = abilities(policy, key)
    return {
        "version": version("pgrag-search"),
        "needs_key": policy.needs_key,
        "allows_writes": policy.allow_writes,
        "caller": key
        and {name: key[name] for name in ("name", "kind", "role", "libraries", "expires_at")},
        "may": may,
        "answers": _feature(
            providers.require_language_model, settings.llm_model, is_told=may["search"]
        ),
        "reranker": _feature(
            providers.require_reranker, settings.reranker_model, is_told=may["search"]
        ),
        "records_searches": settings.record_searches,
        "works_on_jobs": exchange.service.worker is not None,
    }


def _feature(require: Callable[[], object], model: str | None, *, is_told: bool) -> dict[str, Any]:
    remedy = None
    try:
        require()
    except PgragError as error:
        remedy = f"{error.message} {error.hint or ''}".strip()
    return {
        "configured": remedy is None,
        "model": model if is_told and remedy is None else None,
        "remedy": remedy if is_told else None,
    }


def _written_out(value: object) -> object:
    # A number, also as text, would be taken for the seconds since 1970.
    if isinstance(value, str) and re.match(r"\d{4}-", value):
        return value
    raise ValueError("give a date, or a date and a time: 2026-11-01, 2026-11-01T12:00:00Z")


def _in_utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


Moment = Annotated[
    datetime,
    BeforeValidator(_written_out),
    AfterValidator(_in_utc),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "format": name} for name in ("date-time", "date")]}
    ),
]


class AuditParameters(Arguments):
    """Which entries."""

    since: Moment | None = Field(
        default=None,
        description="From this moment on, in UTC unless it says otherwise.",
        examples=["2026-11-01T00:00:00Z"],
    )
    until: Moment | None = Field(default=None, description="Before it.")
    caller: Name | None = Field(default=None, description="Only of this key.", examples=["docs"])
    library: LibraryName | None = Field(default=None, description="Only of this library.")
    refused: bool | None = Field(
        default=None, description="Only what was refused, or only what was allowed."
    )
    top_k: int = at_most(100, 1000, "entries")


router.declare(
    "/audit",
    list[values.AuditEntry],
    "List what callers did and were refused, the latest first.",
    function="audit_log",
    name="audit",
    key="entries",
    base=AuditParameters,
)
