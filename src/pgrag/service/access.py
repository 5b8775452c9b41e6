"""Access to a service: what each operation needs, who may call without a key, admission by key."""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from pydantic_core import to_json

from pgrag.ground.callers import Caller, calling
from pgrag.ground.calls import Row
from pgrag.ground.cancelling import uncancelled
from pgrag.ground.connections import Database
from pgrag.ground.requests import Served, current_request
from pgrag.service.app import App

Role = Literal["search", "write", "admin"]
Refusal = Literal[
    "missing", "malformed", "unknown", "revoked", "expired", "rotated", "browser", "origin",
    "publishable", "role", "separation", "answers", "rate", "concurrency", "read-only",
]  # fmt: skip
"""Why a request is refused; the audit keeps this word."""

_SECRET = re.compile(r"pgrag_[sp]k_[0-9a-f]{72}")

_PAGES = """
search search_with_body search_pages search_pages_with_body facets facets_with_body context
context_with_body suggestions resolve feedback
"""
"""What a publishable key may do: what a search box on a web page needs."""

_ANSWERS = "answer"
"""What costs money for each call: a key has so many in an hour, and a publishable one is made with
none.
"""

_OPEN = "service"
"""What everybody may ask, also without a key where one is needed: what the caller may do."""

_READING = """
search_batch tools use_tool parse intent pinned
libraries find_libraries library versions version pages reading_state changes synonyms links
enrichment text health query_pages query_pages_with_body properties page_properties find_page page
outline rendered_page page_versions backlinks related neighbourhood path edges search_edges
find_document document children siblings
ancestors history parent surroundings
mcp search_docs read_docs find_library compare_versions search_text related_pages explain_search
send_feedback
"""

_LIBRARY_CHANGES = """
set_synonyms index_docs remove_docs send_page put_page remove_page upload create_job cancel_job
retry_job
"""

_JOBS = "jobs job job_events"
"""Reading for writers only: sources and errors tell of the server's folders."""

_INSIGHT = """
configuration configuration_versions tuning_history
past_searches search_record search_metrics answer_metrics popular_queries empty_queries
gaps slow_searches evaluation_sets evaluation_runs evaluation_run evaluated_query comparison
judgements audit
"""
"""Reading for admins only: what others searched, and how the service is set up."""

_CONFIGURATION = """
apply_configuration tune undo_tuning import_evaluation_set remove_evaluation_set run_evaluation
remove_evaluation_run repeat_evaluation judge
"""


@dataclass(frozen=True, slots=True)
class Needs:
    """What an operation needs: the role of a key. `is_change`: it changes what is stored, so it
    also needs permission where no key is needed. `is_for_pages`: a publishable key may do it.
    `is_for_answers`: it counts as an answer. `is_open`: everybody may.
    """

    role: Role
    is_change: bool = False
    is_for_pages: bool = False
    is_for_answers: bool = False
    is_open: bool = False


NEEDS: dict[str, Needs] = {
    name: needs
    for names, needs in (
        (_OPEN, Needs("search", is_for_pages=True, is_open=True)),
        (_PAGES, Needs("search", is_for_pages=True)),
        (_ANSWERS, Needs("search", is_for_pages=True, is_for_answers=True)),
        (_READING, Needs("search")),
        (_JOBS, Needs("write")),
        (_LIBRARY_CHANGES, Needs("write", is_change=True)),
        (_INSIGHT, Needs("admin")),
        (_CONFIGURATION, Needs("admin", is_change=True)),
    )
    for name in names.split()
}
"""By the name of a REST operation or an MCP tool. What is not listed needs an admin."""

_UNLISTED = Needs("admin", is_change=True)
_RANKS: dict[str, int] = {"search": 0, "write": 1, "admin": 2}


def needs_of(operation: str) -> Needs:
    """What an operation needs."""
    return NEEDS.get(operation, _UNLISTED)


@dataclass(frozen=True, slots=True)
class Policy:
    """Who may call a service without a key; a key that is presented always counts. `needs_key`:
    nobody. Else everybody may read, and with `allow_writes` also change.
    """

    needs_key: bool = False
    allow_writes: bool = False

    def refusal(self, needs: Needs) -> Refusal | None:
        """Why somebody without a key may not do what has these needs; None: they may."""
        if needs.is_open:
            return None
        if self.needs_key:
            return "missing"
        return "read-only" if needs.is_change and not self.allow_writes else None


ABILITIES: dict[str, str] = {
    "search": "search", "read": "page", "answer": "answer", "rate": "feedback",
    "index": "create_job", "observe": "past_searches", "evaluate": "import_evaluation_set",
    "configure": "apply_configuration", "administer": "audit",
}  # fmt: skip
"""What a caller may do, in a word, each by an operation that needs the same."""


def abilities(policy: Policy, key: Row | None) -> dict[str, bool]:
    """Which of the `ABILITIES` the holder of a key has (a row of `pgrag.keys`), or nobody's."""

    def has(needs: Needs) -> bool:
        if key is None:
            return policy.refusal(needs) is None
        if needs.is_for_answers and key["answers_per_hour"] == 0:
            return False
        is_enough = _RANKS[needs.role] <= _RANKS[key["role"]]
        return needs.is_for_pages if key["kind"] == "publishable" else is_enough

    return {word: has(needs_of(operation)) for word, operation in ABILITIES.items()}


def may(operation: str) -> bool:
    """Whether the caller of this request may do something; without a key, yes."""
    request = current_request()
    if request is None or request.role is None:
        return True
    return _RANKS[needs_of(operation).role] <= _RANKS[request.role]


def require(operation: str) -> bool:
    """Whether the caller may do something; the audit keeps that it was tried."""
    if may(operation):
        return True
    request = current_request()
    assert request is not None
    request.action, request.reason = operation, "role"
    return False


@dataclass(frozen=True, slots=True)
class Admission:
    """The answer to a request with a key. `limits` are those of the key: its rate a second, its
    burst, how many requests remain of it, and the seconds until it is whole; None where they are
    not counted. `retry_after` are the seconds until a request that exceeds them may come again.
    `lease` ends when the request does.
    """

    refusal: Refusal | None
    key_id: int | None
    role: Role | None
    caller: Caller | None
    lease: datetime | None
    limits: tuple[float, int, int, float] | None
    retry_after: float


def hash_of(secret: str) -> bytes | None:
    """The hash of a secret; None, by its checksum, for what no key can be."""
    if not _SECRET.fullmatch(secret) or not secret.endswith(_digest(secret[:-8]).hex()[:8]):
        return None
    return _digest(secret)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


_ADMIT = "select * from _pgrag.admit(%s, %s, %s, %s, %s, %s, %s)"


def admit(
    database: Database,
    hash_: bytes,
    needs: Needs,
    *,
    origin: str | None,
    is_foreign: bool,
    lasts: timedelta,
) -> Admission:
    """Ask the database whether the holder of a secret may do something now, on a page of `origin`.
    The request counts until `finish`, or as long as it `lasts`.
    """
    # asyncio may run a request in the context of an earlier one of its connection: a connection
    # that goes on reading does so for whoever resumed it (CPython issue 140947).
    with calling(None):
        [row] = database.query(
            _ADMIT,
            [
                *(hash_, needs.role, needs.is_for_pages, origin, is_foreign, lasts),
                needs.is_for_answers,
            ],
        )
    caller = row["caller"] and Caller(
        row["caller"], row["database_role"], row["library_ids"] or "{}", row["timeout_ms"]
    )
    return Admission(
        refusal=row["refusal"],
        key_id=row["key_id"],
        role=row["role"],
        caller=caller,
        lease=row["lease"],
        limits=(row["rate"], row["burst"], row["remaining"], row["full_in"])
        if row["remaining"] is not None
        else None,
        retry_after=row["retry_after"] or 0.0,
    )


def ending(request: Served, admission: Admission | None) -> tuple[bytes, list[str]]:
    """The statement, with its values, that ends a request: it no longer counts as running, and the
    audit keeps it.
    """
    ended = {
        "key_id": admission and admission.key_id,
        "lease": admission and admission.lease,
        "entry": request.entry(),
    }
    return b"select _pgrag.end_request(%s) as has_ended", [to_json(ended).decode()]


def finish(database: Database, request: Served, admission: Admission | None) -> None:
    """End a request in a transaction of its own."""
    with calling(None), uncancelled():
        database.query(*ending(request, admission))


def page_origins(database: Database) -> frozenset[str]:
    """The origins of all publishable keys, in small letters."""
    with calling(None):
        [row] = database.query("select _pgrag.page_origins()")
    return frozenset(row["page_origins"])


def current_key(app: App) -> Row | None:
    """The key of the request that is served, a row of `pgrag.keys`; None without one, which asks no
    database.
    """
    request = current_request()
    if request is None or request.caller is None:
        return None
    with calling(None):
        keys = app.database.call("keys")
    return next((key for key in keys if key["name"] == request.caller), None)


def is_any_key(database: Database) -> bool:
    """Whether a key is valid, so that somebody can use a service that needs keys."""
    return any(row["state"] == "valid" for row in database.call("keys"))
