"""Libraries, their versions, and the pages of a version.

Names and labels may contain slashes, so the longest address is tried first.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from pgrag.api.exchange import Database
from pgrag.api.models.arguments import Arguments, LibraryPath, NoParameters, Text, VersionPath
from pgrag.api.models.libraries import Libraries, Library, Pages, Version, Versions
from pgrag.api.openapi import problems
from pgrag.errors import UnknownVersion

router = APIRouter(tags=["libraries"], responses=problems(404))


class PagesParameters(Arguments):
    """Which of the pages."""

    limit: int = Field(default=100, ge=1, le=1000, description="At most so many pages.")
    after: Annotated[Text, Field(max_length=4000)] | None = Field(
        default=None, description="The `next` of the answer before: continues behind it."
    )


@router.get("/libraries", response_model=Libraries)
def libraries(database: Database, _: NoParameters) -> Response:
    """List the libraries by name."""
    return database.answer({"libraries": database.call("libraries")})


@router.get("/libraries/{library:path}/versions/{version:path}/pages", response_model=Pages)
def pages(
    library: LibraryPath,
    version: VersionPath,
    parameters: Annotated[PagesParameters, Query()],
    database: Database,
) -> Response:
    """List the pages of a version by key."""
    found = _version(database, library, version)
    rows = database.call(
        "pages",
        library=found["library"],
        version=found["version"],
        match_count=parameters.limit,
        after=parameters.after,
    )
    is_full = len(rows) == parameters.limit
    return database.answer(
        {
            "library": found["library"],
            "version": found["version"],
            "pages": rows,
            "next": rows[-1]["key"] if is_full else None,
        }
    )


@router.get("/libraries/{library:path}/versions/{version:path}", response_model=Version)
def version(
    library: LibraryPath, version: VersionPath, database: Database, _: NoParameters
) -> Response:
    """Describe one version."""
    return database.answer(_version(database, library, version))


@router.get("/libraries/{library:path}/versions", response_model=Versions)
def versions(library: LibraryPath, database: Database, _: NoParameters) -> Response:
    """List the versions of a library: releases first, the newest on top."""
    rows = _versions(database, library)
    return database.answer({"library": library, "versions": rows})


@router.get("/libraries/{library:path}", response_model=Library)
def library(library: LibraryPath, database: Database, _: NoParameters) -> Response:
    """Describe one library."""
    _versions(database, library)
    [row] = [row for row in database.call("libraries") if row["library"] == library]
    return database.answer(row)


def _versions(database: Database, library: str) -> list[dict[str, Any]]:
    rows = database.call("library_versions", library=library)
    return [{"library": library, **row} for row in rows]


def _version(database: Database, library: str, label: str) -> dict[str, Any]:
    """The version with exactly this label: an address names one thing, and no substitute."""
    rows = _versions(database, library)
    for row in rows:
        if row["version"] == label.strip().lower():
            return row
    existing = ", ".join(row["version"] or "-" for row in rows)
    raise UnknownVersion(
        f"Library {library!r} has no version {label or '-'!r}.",
        hint=f"It has: {existing}." if existing else "It has no version yet.",
    )
