"""Tuning of a library: do it, see what was done, undo it."""

from __future__ import annotations

from fastapi import APIRouter, Response

from pgrag.api.exchange import Database
from pgrag.api.models.arguments import LibraryPath, NoParameters
from pgrag.api.models.tuning import Tuning, TuningBody, Tunings
from pgrag.api.openapi import problems

router = APIRouter(tags=["libraries"], responses=problems(400, 404))


@router.post("/libraries/{library:path}/tuning", response_model=Tuning, responses=problems(413))
def tune(library: LibraryPath, body: TuningBody, database: Database, _: NoParameters) -> Response:
    """Choose alpha and field weights, and keep them if they are surely better.

    It takes about a minute.
    """
    [run] = database.call("tune", library=library, **body.model_dump())
    return database.answer(run)


@router.get("/libraries/{library:path}/tuning", response_model=Tunings)
def tuning_history(library: LibraryPath, database: Database, _: NoParameters) -> Response:
    """List what tuning has done to a library, the latest first."""
    rows = database.call("tuning_history", library=library)
    return database.answer({"library": library, "tunings": rows})


@router.delete("/libraries/{library:path}/tuning", response_model=Tuning)
def undo_tuning(library: LibraryPath, database: Database, _: NoParameters) -> Response:
    """Go back to the settings before the last accepted tuning."""
    [run] = database.call("undo_tuning", library=library)
    return database.answer(run)
