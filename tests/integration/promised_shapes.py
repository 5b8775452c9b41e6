"""Holds answers of REST to the models that their routes declare, and to the calls behind them."""

import json
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from api_client import ApiClient
from fastapi import APIRouter
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from pydantic_core import to_json
from starlette.routing import Match

from pgrag.api import routes


def assert_promised(address: str, answer: dict[str, Any]) -> None:
    """A GET of the address declares all members of the answer, with their types, and no others."""
    path = address.partition("?")[0].removeprefix("/v1")
    scope = {"type": "http", "method": "GET", "path": path}
    route = next(route for route in _routes() if route.matches(scope)[0] is Match.FULL)
    model: TypeAdapter[Any] = TypeAdapter(route.response_model)
    read = model.validate_python(answer, extra="forbid")
    assert model.dump_python(read, mode="json", by_alias=True).keys() == answer.keys()


def assert_answered(client: ApiClient, path: str, member: str, call: str, ids: dict[str, Any]):
    """The answer, or a member of it, has the rows of the call, with all of their values.

    Path and call may name `ids`.
    """
    address = f"/v1/{path.format(**ids)}"
    answer = client.ok(address)
    assert_promised(address, answer)
    told = answer[member] if member else answer
    call = call.format(**ids)
    rows = client.app.database.query(
        f"select r.* from pgrag.{call}{'' if ' as r' in call else ' as r'}"
    )
    told = told if isinstance(told, list) else [told]
    for row, given in zip(json.loads(to_json(rows)), told, strict=True):
        assert {name: given[name] for name in row} == row


@cache
def _routes() -> list[APIRoute]:
    """All routes, the longest addresses first: names of libraries may contain slashes."""
    return sorted(_declared(), key=lambda route: -len(route.path))


def _declared() -> Iterator[APIRoute]:
    for module in iter_modules(routes.__path__, "pgrag.api.routes."):
        for member in vars(import_module(module.name)).values():
            if isinstance(member, APIRouter):
                yield from (route for route in member.routes if isinstance(route, APIRoute))
