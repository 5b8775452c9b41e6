"""The OpenAPI document: every route also lists its errors."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter
from pydantic_core import to_json

from pgrag.api.problems import MEDIA_TYPE
from pgrag.ground.schema import Finding
from pgrag.ground.values.base import Value, described

_REFERENCE = "#/components/schemas/{model}"


class FieldError(Value):
    """One bad argument."""

    in_: str = described("query, path or body.", "query", alias="in")
    field: str = described("Its name.", "top_k")
    message: str = described("", "Input should be less than or equal to 1000.")


class Problem(Value):
    """What went wrong (RFC 9457). Members that say nothing are left out."""

    type: str = described("Names the kind.", "/problems/unknown-library")
    title: str = described("", "There is no such library")
    status: int = described("", 404)
    detail: str | None = described("", "There is no library 'harbor'.", default=None)
    hint: str | None = described("The way out.", "Did you mean harbour?", default=None)
    instance: str = described("The address of the request.", "/v1/search")
    errors: tuple[FieldError, ...] | None = described("Of an invalid request.", default=None)
    findings: tuple[Finding, ...] | None = described(
        "Of a service that is not ready.", default=None
    )


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Declare that a route may answer with problem documents of these statuses."""
    reference = {"$ref": _REFERENCE.format(model=Problem.__name__)}
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": reference}},
        }
        for status in statuses
    }


def events(*names: str, description: str) -> dict[int | str, dict[str, Any]]:
    """Declare that a route may answer with server-sent events of these names."""
    # Before OpenAPI 3.2 the schema of a stream is that of each of its events.
    event = {
        "type": "object",
        "description": f"Events: {', '.join(names)}. {description}",
        "properties": {
            "event": {"type": "string", "enum": names},
            "data": {"type": "string", "contentMediaType": "application/json"},
        },
        "required": ["event", "data"],
    }
    return {200: {"content": {"text/event-stream": {"schema": event}}}}


class Described:
    """Answers with the OpenAPI document, written once: it is large, and needs no key."""

    def __init__(self, api: FastAPI) -> None:
        self._api = api
        self._body: bytes | None = None

    async def __call__(self, _: Request) -> Response:
        """Answer a request."""
        if self._body is None:
            self._body = to_json(document(self._api))
        return Response(self._body, media_type="application/json")


def document(api: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of an application, with the schema of its problem documents."""
    if api.openapi_schema is None:
        made = get_openapi(
            title=api.title,
            version=api.version,
            summary=api.summary,
            description=api.description,
            routes=api.routes,
            tags=api.openapi_tags,
        )
        problem = TypeAdapter(Problem).json_schema(ref_template=_REFERENCE)
        made["components"]["schemas"].update(problem.pop("$defs"))
        made["components"]["schemas"][Problem.__name__] = problem
        made["components"]["securitySchemes"] = {
            "key": {
                "type": "http",
                "scheme": "bearer",
                "description": "A key that `pgrag keys create` made, where the service needs one.",
            }
        }
        made["security"] = [{}, {"key": []}]
        api.openapi_schema = made
    return api.openapi_schema
