"""The OpenAPI document: every route also says how it fails."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from pgrag.api.models.state import Problem
from pgrag.api.problems import MEDIA_TYPE

_REFERENCE = "#/components/schemas/{model}"


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


def document(api: FastAPI) -> dict[str, Any]:
    """The document of an application, with the schema that its problems refer to."""
    if api.openapi_schema is None:
        made = get_openapi(
            title=api.title,
            version=api.version,
            summary=api.summary,
            description=api.description,
            routes=api.routes,
            tags=api.openapi_tags,
        )
        problem = Problem.model_json_schema(ref_template=_REFERENCE)
        made["components"]["schemas"].update(problem.pop("$defs"))
        made["components"]["schemas"][Problem.__name__] = problem
        api.openapi_schema = made
    return api.openapi_schema
