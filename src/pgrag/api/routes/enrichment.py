"""What language models wrote when a library was indexed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from pgrag.api.exchange import Database
from pgrag.api.models.arguments import LibraryPath
from pgrag.api.models.enrichment import Enrichment, EnrichmentParameters
from pgrag.api.openapi import problems

router = APIRouter(tags=["libraries"], responses=problems(404))


@router.get("/libraries/{library:path}/enrichment", response_model=Enrichment)
def enrichment(
    library: LibraryPath, parameters: Annotated[EnrichmentParameters, Query()], database: Database
) -> Response:
    """Tell what language models wrote for the documents, and on which they failed."""
    version: str | None = None
    if parameters.version is not None:
        [found] = database.call("resolve_version", library=library, wanted=parameters.version)
        version = found["version"]
    return database.answer(
        {
            "library": library,
            "version": version,
            "kinds": database.call("enrichment_state", library=library, version=version),
            "failures": database.call(
                "enrichment_failures",
                library=library,
                version=version,
                match_count=parameters.limit,
            ),
        }
    )
