"""What holds for all libraries, and the synonyms of one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from pgrag.api.exchange import Database
from pgrag.api.models.arguments import LibraryPath, NoParameters
from pgrag.api.models.understanding import (
    Configuration,
    ConfigurationBody,
    ConfigurationChanges,
    ConfigurationHistory,
    ConfigurationVersions,
    Synonyms,
    SynonymsBody,
)
from pgrag.api.openapi import problems

router = APIRouter(tags=["configuration"])


@router.get("/configuration", response_model=Configuration)
def configuration(database: Database, _: NoParameters) -> Response:
    """Give intents, query types, rules, page types and kinds of edges, and synonyms by library."""
    [row] = database.call("configuration")
    return database.answer(row)


@router.patch(
    "/configuration", response_model=ConfigurationChanges, responses=problems(400, 404, 413)
)
def apply_configuration(body: ConfigurationBody, database: Database, _: NoParameters) -> Response:
    """Bring in entries: all of them, or, where something in them is wrong, none."""
    entries = {"entries": body.entries, "exact": body.exact}
    if body.dry_run:
        changes = database.call("compare_configuration", **entries)
    else:
        changes = database.call("apply_configuration", **entries, note=body.note)
    is_reading_changed = any(change["section"] == "page_types" for change in changes)
    outdated = database.call("outdated_pages") if is_reading_changed and not body.dry_run else []
    for row in outdated:
        del row["source"]
    return database.answer({"changes": changes, "outdated": outdated})


@router.get("/configuration/versions", response_model=ConfigurationVersions)
def configuration_versions(
    parameters: Annotated[ConfigurationHistory, Query()], database: Database
) -> Response:
    """List the states that the configuration had, the newest first."""
    rows = database.call("configuration_history", match_count=parameters.limit)
    return database.answer({"versions": rows})


@router.get("/libraries/{library:path}/synonyms", response_model=Synonyms, responses=problems(404))
def synonyms(library: LibraryPath, database: Database, _: NoParameters) -> Response:
    """List the synonyms of a library."""
    return database.answer(
        {"library": library, "synonyms": database.call("synonyms", library=library)}
    )


@router.patch(
    "/libraries/{library:path}/synonyms",
    response_model=Synonyms,
    responses=problems(400, 404, 413),
)
def set_synonyms(
    library: LibraryPath, body: SynonymsBody, database: Database, _: NoParameters
) -> Response:
    """Add, change or remove synonyms of a library; the answer lists those that it has then."""
    database.call("set_synonyms", library=library, synonyms=body.synonyms)
    return database.answer(
        {"library": library, "synonyms": database.call("synonyms", library=library)}
    )
