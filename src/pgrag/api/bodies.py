"""Routes whose requests are not JSON of a model: pages and files, as they are."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from fastapi import Request, Response
from pydantic_core import to_json

from pgrag.api.declared import Router
from pgrag.api.openapi import problems
from pgrag.api.problems import UNSUPPORTED, problem
from pgrag.ingest.source.uploads import media_types
from pgrag.service.app import App
from pgrag.service.work import Works

R = TypeVar("R")

BYTES: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
"""Any bytes, in the OpenAPI document."""


def router_of_version() -> Router:
    """A router for what is sent to a version."""
    return Router(
        prefix="/libraries/{library:name}/versions/{version:label}",
        tags=["jobs"],
        responses=problems(404, 405, 413, 415),
    )


def body_of(**content: Any) -> dict[str, Any]:
    """The body of a request by media types, in the OpenAPI document."""
    return {"requestBody": {"required": True, "content": content}}


def media_type_of(request: Request) -> str:
    """The media type that a request declares; empty if none."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def in_turn(request: Request, run: Callable[[App], R]) -> R:
    """Run a change when its turn has come."""
    works: Works = request.app.state.works
    return await works.run(works.write, partial(run, request.app.state.pgrag))


def answered(content: Any, status: int = 200) -> Response:
    """The content as JSON."""
    return Response(to_json(content), status, media_type="application/json")


def unsupported(request: Request, what: str) -> Response:
    """The problem of a body in a format that is not read."""
    return problem(
        request,
        UNSUPPORTED,
        f"{what or 'What has no name and no type'} is not a format of pages.",
        hint=f"These are read: {', '.join(media_types())}.",
    )
