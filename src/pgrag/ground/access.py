"""Access to a service: who calls, what each operation needs, and who may call without a key."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, NamedTuple
from uuid import UUID

from pydantic_core import to_json

from pgrag.ground.connections import Caller, Database, calling, uncancelled

Role = Literal["search", "write", "admin"]
Refusal = Literal[
    "missing", "malformed", "unknown", "revoked", "expired", "rotated", "browser", "origin",
    "publishable", "role", "separation", "rate", "concurrency", "read-only",
]  # fmt: skip
"""Why a request is refused; the audit keeps this word."""

_SECRET = re.compile(r"pgrag_[sp]k_[0-9a-f]{72}")

_PAGES = """
search search_with_body search_pages search_pages_with_body facets facets_with_body context
context_with_body suggestions resolve feedback
"""
"""What a publishable key may do: what a search box on a web page needs."""

_READING = """
search_batch answer tools use_tool parse intent
libraries find_libraries library versions version pages changes synonyms links enrichment text
health query_pages query_pages_with_body properties page_properties find_page page outline
backlinks related neighbourhood path edges search_edges find_document document children siblings
ancestors history parent surroundings
mcp search_docs keyword_search semantic_search list_libraries find_version compare_versions
read_document get_page get_outline get_related search_text explain_search send_feedback
resolve-library-id query-docs get-library-docs
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
"""
"""Reading for admins only: what others searched, and how the service is set up."""

_CONFIGURATION = """
apply_configuration tune undo_tuning import_evaluation_set remove_evaluation_set run_evaluation
remove_evaluation_run repeat_evaluation
"""


@dataclass(frozen=True, slots=True)
class Needs:
    """What an operation needs: the role of a key.

    `is_change`: it changes what is stored, so it also needs permission where no key is needed.
    `is_for_pages`: a publishable key may do it.
    """

    role: Role
    is_change: bool = False
    is_for_pages: bool = False


NEEDS: dict[str, Needs] = {
    name: needs
    for names, needs in (
        (_PAGES, Needs("search", is_for_pages=True)),
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
_RANKS: dict[Role, int] = {"search": 0, "write": 1, "admin": 2}


def needs_of(operation: str) -> Needs:
    """What an operation needs."""
    return NEEDS.get(operation, _UNLISTED)


@dataclass(frozen=True, slots=True)
class Policy:
    """Who may call a service without a key; a key that is presented always counts.

    `needs_key`: nobody. Else everybody may read, and with `allow_writes` also change.
    """

    needs_key: bool = False
    allow_writes: bool = False


@dataclass(slots=True)
class Access:
    """One request: who calls (None: without a key), and what the audit will say of it."""

    action: str
    caller: Caller | None = None
    role: Role | None = None
    library: str | None = None
    search_id: UUID | None = None
    refusal: Refusal | None = None
    address: str = ""
    admission: "Admission | None" = None
    release: Callable[[], None] | None = None
    has_ended: bool = False

    def ending(self) -> dict[str, Any]:
        """What the database is told at the end: what ran, and the entry of the audit."""
        return {
            "key_id": self.admission and self.admission.key_id,
            "lease": self.admission and self.admission.lease,
            "entry": {
                "caller": self.caller and self.caller.name,
                "role": self.role,
                "action": self.action,
                "library": self.library and self.library.strip().lower(),
                "allowed": self.refusal is None,
                "reason": self.refusal,
                "address": self.address,
                "search_id": self.search_id,
            },
        }

    def may(self, operation: str) -> bool:
        """Whether the role of the key suffices for an operation; without a key, yes."""
        return self.role is None or _RANKS[needs_of(operation).role] <= _RANKS[self.role]


_access: ContextVar[Access | None] = ContextVar("access", default=None)


@contextmanager
def accessing(access: Access) -> Iterator[None]:
    """Let the block, its tasks and its threads work for one request."""
    token = _access.set(access)
    try:
        yield
    finally:
        _access.reset(token)


def may(operation: str) -> bool:
    """Whether the caller of this request may do something; outside of requests, yes."""
    access = _access.get()
    return access is None or access.may(operation)


def require(operation: str) -> bool:
    """Whether the caller may do something; the audit keeps that it was tried."""
    access = _access.get()
    if access is None or access.may(operation):
        return True
    access.action, access.refusal = operation, "role"
    return False


def note(*, action: str | None = None, library: Any = None, search_id: UUID | None = None) -> None:
    """Keep for the audit what only the work for a request tells."""
    access = _access.get()
    if access is not None:
        access.action = action or access.action
        access.library = library if isinstance(library, str) and library else access.library
        access.search_id = search_id or access.search_id


def to_be_ended() -> Access | None:
    """The request of this block if it came with a key and has not ended."""
    access = _access.get()
    return None if access is None or access.caller is None or access.has_ended else access


@dataclass(frozen=True, slots=True)
class Admission:
    """The answer to a request with a key.

    `limits` are those of the key: its rate a second, its burst, how many requests remain of it,
    and the seconds until it is whole; None where they are not counted. `retry_after` are the
    seconds until a request that exceeds them may come again. It holds for so many `granted`
    requests, `slots` of which may run at the same time.
    """

    refusal: Refusal | None
    key_id: int | None
    role: Role | None
    caller: Caller | None
    lease: Any = None
    limits: tuple[float, int, int, float] | None = None
    retry_after: float = 0.0
    granted: int = 1
    slots: int = 1


class Wish(NamedTuple):
    """For how many requests at once a service asks; see `_pgrag.use_key`.

    `wanted` requests, `at_once` of which run at the same time; `held` is the lease under which
    `holding` requests run, and `unused` ones were not used.
    """

    wanted: int = 1
    at_once: int = 1
    held: Any = None
    holding: int = 0
    unused: int = 0


ONE_REQUEST = Wish()


def hash_of(secret: str) -> bytes | None:
    """The hash by which the database knows a secret; None for what no key can be.

    The last digits of a secret are a checksum: a typo costs no look-up.
    """
    if not _SECRET.fullmatch(secret) or not secret.endswith(_digest(secret[:-8]).hex()[:8]):
        return None
    return _digest(secret)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


_ADMIT = """
select * from _pgrag.admit(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""


def admit(
    database: Database,
    hash_: bytes,
    needs: Needs,
    *,
    origin: str | None,
    is_foreign: bool,
    lasts: timedelta,
    wish: Wish = ONE_REQUEST,
) -> Admission:
    """Ask the database whether the holder of a secret may do something now.

    `origin` is the page that calls, `is_foreign` whether another service made that page. The
    request counts as running until `finish`, but no longer than it `lasts`; several that are
    granted at once, until `return_lease`.
    """
    [row] = database.query(
        _ADMIT, [hash_, needs.role, needs.is_for_pages, origin, is_foreign, lasts, *wish]
    )
    caller = row["caller"] and Caller(
        row["caller"], row["database_role"], row["library_ids"] or "{}", row["timeout_ms"]
    )
    counted = row["remaining"] is not None
    return Admission(
        refusal=row["refusal"],
        key_id=row["key_id"],
        role=row["role"],
        caller=caller,
        lease=row["lease"],
        limits=(row["rate"], row["burst"], row["remaining"], row["full_in"]) if counted else None,
        retry_after=row["retry_after"] or 0.0,
        granted=row["granted"] or 1,
        slots=row["slots"] or 1,
    )


def return_lease(database: Database, admission: Admission, running: int, unused: int) -> None:
    """End an admission to several requests; some may still run, some were not used."""
    with calling(None), uncancelled():
        database.query(
            "select _pgrag.return_lease(%s, %s, %s, %s)",
            [admission.key_id, admission.lease, running, unused],
        )


def finish(
    database: Database, access: Access, search: Mapping[str, Any] | None = None
) -> UUID | None:
    """End a request: it no longer counts as running, and the audit keeps it.

    With `search`, arguments of `pgrag.record_search`, a search is recorded in the same statement,
    as the one that the request made. Returns its search_id, None if it was not recorded.
    """
    ended = to_json(access.ending()).decode()
    search_id: UUID | None = None
    with calling(None), uncancelled():
        if search is None:
            database.query("select _pgrag.end_request(%s, null)", [ended])
        else:
            [row] = database.query(
                "select _pgrag.record_and_end_request(%s, %s) as search_id",
                [ended, to_json(search).decode()],
            )
            search_id = row["search_id"]
    access.has_ended = True
    return search_id


def is_any_key(database: Database) -> bool:
    """Whether a key is valid, so that somebody can use a service that needs keys."""
    return any(row["state"] == "valid" for row in database.call("keys"))
