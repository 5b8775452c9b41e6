"""Libraries, their versions, the pages of a version, and tunings.

Names and labels may contain slashes, so the longest address is tried first.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from pgrag.api.arguments import (
    CONTINUES,
    Arguments,
    Body,
    Cursor,
    Text,
    VersionPath,
    VersionWish,
    at_most,
)
from pgrag.api.declared import Exchange, Router
from pgrag.api.openapi import problems
from pgrag.ground.calls import Row
from pgrag.ground.errors import UnknownVersion
from pgrag.ground.values.base import Value
from pgrag.ground.values.changes import VersionChanges
from pgrag.ground.values.evaluation import Tuning
from pgrag.ground.values.libraries import Library, PageList, ReadingState, Version
from pgrag.search.changes import compare_versions
from pgrag.search.result import next_cursor

router = Router(tags=["libraries"], responses=problems(404))


class PagesParameters(Arguments):
    """Which of the pages."""

    top_k: int = at_most(100, 1000, "pages")
    after: Cursor | None = Field(default=None, description=CONTINUES)
    name: Annotated[Text, Field(min_length=1, max_length=1000)] | None = Field(
        default=None, description="Only pages with this text in key or title.", examples=["tide"]
    )
    warned: bool = Field(default=False, description="Only pages with warnings.")


class TuningBody(Body):
    """How to search for better settings. It takes a minute or two."""

    version: VersionWish | None = Field(
        default=None, description="The version that is searched; default: the newest."
    )
    query_count: int = Field(
        default=400,
        ge=50,
        le=5000,
        description="At most this many questions; more give more certainty.",
    )
    seed: int = Field(
        default=42,
        ge=-(2**62),
        le=2**62,
        description="Seed of the drawn questions and of their split.",
    )
    dry_run: bool = Field(default=False, description="Change nothing.")
    source: Literal["judgements", "feedback", "library"] | None = Field(
        default=None, description="Default: the first of these that has enough questions."
    )


class ChangesParameters(Arguments):
    """Which versions to compare."""

    from_version: VersionWish = Field(
        description="The old version: a label, a range, or `-`.", examples=["2.0"]
    )
    to_version: VersionWish | None = Field(
        default=None, description="The new version; default: the newest.", examples=["2.1"]
    )
    page: Annotated[Text, Field(max_length=4000)] | None = Field(
        default=None, description="Only this page, by its key in either version."
    )
    diff: bool = Field(default=False, description="Add a unified diff of each page.")


class Versions(Value):
    """The versions of a library: releases first, the newest on top."""

    library: str
    versions: tuple[Version, ...]


router.declare(
    "/libraries/{library:name}/tuning",
    Tuning,
    "Choose alpha and field weights, and keep them if they are significantly better; this takes a"
    " minute.",
    method="POST",
    work="costly",
    function="tune",
    body=TuningBody,
)
router.declare(
    "/libraries/{library:name}/tuning",
    list[Tuning],
    "List the tunings of a library, the latest first.",
    function="tuning_history",
    key="tunings",
    echo=True,
    responses=problems(400),
)
router.declare(
    "/libraries/{library:name}/tuning",
    Tuning,
    "Go back to the settings before the last accepted tuning.",
    method="DELETE",
    function="undo_tuning",
    responses=problems(400),
)
router.declare("/libraries", list[Library], "List the libraries by name.")
router.declare(
    "/libraries/{library:name}/reading",
    list[ReadingState],
    "Count warnings, lost words and broken links of each version, the newest first.",
    function="reading_state",
    key="versions",
    echo=True,
    version=(
        VersionWish | None,
        Field(
            default=None,
            serialization_alias="wanted",
            description="Only this version: a label, a range, or `-`.",
        ),
    ),
)


@router.answers("/libraries/{library:name}/changes", VersionChanges, work="costly")
def changes(exchange: Exchange, library: str, query: ChangesParameters) -> Any:
    """List the pages and sections that were added, removed, changed or moved between versions."""
    with exchange.timed() as database:
        return compare_versions(database, library, **query.model_dump())


@router.answers("/libraries/{library:name}/versions/{version:label}/pages", PageList)
def pages(exchange: Exchange, library: str, version: VersionPath, query: PagesParameters) -> Any:
    """List the pages of a version by key."""
    scope = {"library": library, "version": _version(exchange, library, version)["version"]}
    rows = exchange.call("pages", **scope, **query.for_sql())
    return {**scope, "pages": rows, "next": next_cursor(rows, query.top_k, "key")}


@router.answers("/libraries/{library:name}/versions/{version:label}", Version)
def version(exchange: Exchange, library: str, version: VersionPath) -> Any:
    """Describe one version."""
    return _version(exchange, library, version)


@router.answers("/libraries/{library:name}/versions", Versions)
def versions(exchange: Exchange, library: str) -> Any:
    """List the versions of a library: releases first, the newest on top."""
    return {"library": library, "versions": _versions(exchange, library)}


@router.answers("/libraries/{library:name}", Library)
def library(exchange: Exchange, library: str) -> Any:
    """Describe one library."""
    _versions(exchange, library)
    [row] = [row for row in exchange.call("libraries") if row["library"] == library]
    return row


def _versions(exchange: Exchange, library: str) -> list[Row]:
    rows = exchange.call("library_versions", library=library)
    return [{"library": library, **row} for row in rows]


def _version(exchange: Exchange, library: str, label: str) -> Row:
    """The version with exactly this label: an address names one thing, and no substitute."""
    rows = _versions(exchange, library)
    for row in rows:
        if row["version"] == label.strip().lower():
            return row
    existing = ", ".join(row["version"] or "-" for row in rows)
    raise UnknownVersion(
        f"Library {library!r} has no version {label or '-'!r}.",
        hint=f"It has: {existing}." if existing else "It has no version yet.",
    )
