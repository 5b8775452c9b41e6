"""Declared routes: an address, a SQL function or a Python one, the value of the answer.

Arguments are validated; answers are only described, for the OpenAPI document: rows are written as
the database returns them.
"""

import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from inspect import Parameter, Signature, cleandoc
from time import perf_counter
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from fastapi import APIRouter, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError, create_model
from pydantic_core import to_json
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.datastructures import State
from starlette.routing import request_response
from starlette.types import ASGIApp

from pgrag.api.admission import GuardedRoute
from pgrag.api.arguments import PATH, Arguments
from pgrag.api.delivery import disconnected
from pgrag.api.openapi import problems
from pgrag.api.problems import STOPPING, problem
from pgrag.ground.calls import Row
from pgrag.ground.connections import Database
from pgrag.search.result import Result
from pgrag.service.app import App
from pgrag.service.work import Abandoned, Class, Target, Works

_REPEATED: dict[str, Any] = {"type": "repeated", "msg": "is given more than once"}
_UNKNOWN: dict[str, Any] = {"type": "extra_forbidden", "msg": "there is no such argument"}

Run = TypeVar("Run", bound=Callable[..., Any])


class _Name(StringConvertor):
    """The name of a library, which may have slashes; what is below it has an address of its own."""

    regex = "(?:(?!/versions/).)+"


class _Label(StringConvertor):
    """The label of a version, which may have slashes, too."""

    regex = "(?:(?!/pages/|/upload$).)+"


class _Page(StringConvertor):
    """A page by its id, or by a name that may have slashes."""

    regex = (
        "(?:(?!/(?:outline|rendered|versions|properties|backlinks|related|neighbourhood|edges)$).)+"
    )


class _Passage(StringConvertor):
    """A passage by its id, or by its key or a page, whose names may have slashes."""

    regex = "(?:(?!/(?:children|siblings|ancestors|history|parent|context)$).)+"


register_url_convertor("page", _Page())
register_url_convertor("passage", _Passage())
register_url_convertor("name", _Name())
register_url_convertor("label", _Label())


class Exchange:
    """Calls functions for a route and times the calls. One per request, used by one thread.

    `service` is the state of the application: its guard, and its worker if it has one.
    """

    def __init__(self, app: App, service: State) -> None:
        self.app = app
        self.service = service
        self._seconds = 0.0

    @contextmanager
    def timed(self) -> Iterator[Database]:
        """The database; the time spent in the block counts as database time."""
        started = perf_counter()
        try:
            yield self.app.database
        finally:
            self._seconds += perf_counter() - started

    def call(self, function: str, /, **arguments: Any) -> list[Row]:
        """Rows of `pgrag.<function>`; see `Database.call`."""
        with self.timed() as database:
            return database.call(function, **arguments)

    def version_of(self, library: str, wish: str | None) -> dict[str, str]:
        """Library and version of a request, as arguments and as part of the answer."""
        [row] = self.call("resolve_version", library=library, wanted=wish)
        return {"library": library, "version": row["version"]}

    def search(
        self,
        function: Callable[..., Result],
        query: str | list[str],
        *,
        records: bool = True,
        **arguments: Any,
    ) -> Result:
        """Rows and notices of a method of `Search`, such as `Search.context`."""
        with self.timed():
            client = "rest" if records else None
            return function(self.app.searching_as(client, is_last=True), query, **arguments)

    def answer(self, content: Any, status: int = 200) -> Response:
        """The content as JSON."""
        return Response(
            to_json(content, inf_nan_mode="null"),
            status,
            headers={"Server-Timing": f"db;dur={1000 * self._seconds:.1f}"},
            media_type="application/json",
        )


async def known_parameters(request: Request) -> None:
    """Refuse a repeated parameter, and any parameter of a route that takes none."""
    names = [name for name, _ in request.query_params.multi_items()]
    wrong = {name: _REPEATED for name in names if names.count(name) > 1}
    if not request.scope["route"].dependant.query_params:
        wrong |= dict.fromkeys(names, _UNKNOWN)
    if wrong:
        raise RequestValidationError([{"loc": ("query", name), **wrong[name]} for name in wrong])


def _reading(model: type[BaseModel], endpoint: Callable[..., Awaitable[Response]]) -> ASGIApp:
    """A route that takes only a model of parameters, without FastAPI, which still describes it.

    FastAPI looks at the type of each field in each request: for the thirty of a search that takes
    thirty times as long as the validation.
    """

    async def answer(request: Request) -> Response:
        await known_parameters(request)
        try:
            query = model.model_validate(dict(request.query_params))
        except ValidationError as error:
            details = error.errors(include_url=False)
            raise RequestValidationError(
                [{**each, "loc": ("query", *each["loc"])} for each in details]
            ) from error
        return await endpoint(request, query=query)

    return request_response(answer)


class Router(APIRouter):
    """A router that also takes declarations.

    A route that changes something (PUT, PATCH, DELETE) is `write` work, any other is `read` work,
    unless it says otherwise; see `Works`. A client that disconnects ends the work for its request.
    The name of a route decides what a key must allow; see `pgrag.service.access`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(route_class=GuardedRoute, **options)

    def answers(
        self,
        path: str,
        value: Any,
        *,
        method: str = "GET",
        name: str = "",
        description: str = "",
        types: dict[str, Any] | None = None,
        work: Class | None = None,
        status: int = 200,
        **route: Any,
    ) -> Callable[[Run], Run]:
        """Declare a route by a function that returns the answer, a `value` as rows.

        It is called with an exchange and, if it names them, the path parameters, the query
        parameters as `query`, and the body as `body`. `name`, `description` and the `types` of its
        arguments default to its name, its docstring and its annotations.
        """
        of_class = work or ("read" if method in {"GET", "POST"} else "write")

        def declare(run: Run) -> Run:
            given = types or {
                name: Annotated[hint, Query()] if name == "query" else hint
                for name, hint in get_type_hints(run, include_extras=True).items()
                if name not in {"exchange", "return"}
            }

            async def endpoint(request: Request, **arguments: Any) -> Response:
                works: Works = request.app.state.works
                app: App = request.app.state.pgrag
                exchange = Exchange(app, request.app.state)
                target = None
                if of_class == "write" and "library" in arguments:
                    library, patience = arguments["library"], app.settings.lock_timeout
                    target = Target(app.database, library, patience)
                try:
                    return await works.run(
                        works.named(of_class),
                        lambda: exchange.answer(run(exchange, **arguments), status),
                        target=target,
                        until=partial(disconnected, request.receive),
                    )
                except Abandoned:
                    return problem(request, STOPPING)

            variables = _variables(path)
            if method == "GET" and [*given, *variables] == ["query"]:
                endpoint.reading = _reading(get_args(given["query"])[0], endpoint)  # type: ignore[attr-defined]
            if any(
                isinstance(hint, type) and issubclass(hint, BaseModel) for hint in given.values()
            ):
                responses = problems(400, 413) | (route.get("responses") or {})
                route["responses"] = dict(sorted(responses.items()))
            # FastAPI reads the arguments of a route from its signature.
            endpoint.__signature__ = Signature(  # type: ignore[attr-defined]
                [
                    Parameter(argument, Parameter.KEYWORD_ONLY, annotation=type_)
                    for argument, type_ in (given | variables | {"request": Request}).items()
                ]
            )
            self.add_api_route(
                path, endpoint, response_model=value, status_code=status, methods=[method],
                name=name or run.__name__, description=description or cleandoc(run.__doc__ or ""),
                **route,
            )  # fmt: skip
            return run

        return declare

    def declare(
        self,
        path: str,
        value: Any,
        description: str,
        *,
        method: str = "GET",
        work: Class | None = None,
        function: str = "",
        name: str = "",
        key: str = "",
        echo: bool = False,
        column: str = "",
        body: type[Arguments] | None = None,
        base: type[Arguments] = Arguments,
        fixed: dict[str, Any] | None = None,
        responses: dict[int | str, dict[str, Any]] | None = None,
        **parameters: Any,
    ) -> Any:
        """Declare a route that calls a SQL function; returns the model of its answer.

        For `list[...]` the answer holds all rows under `key` (default: the name) and, with `echo`,
        the path parameters; for any other value it is the only row, or one `column` of that row.
        Arguments of the function are the path parameters, the query parameters (the fields of
        `base` and those in `parameters`, each a pair of type and field), the fields of the `body`,
        and those that are `fixed`. `function` defaults to the last part of the path, the
        operation's `name` to that of the function.
        """
        function = function or path.rpartition("/")[2]
        name = name or function
        key = key or name
        variables = _variables(path)
        is_list = get_origin(value) is list
        answer = value
        if is_list:
            members: Any = {
                part: int if part == "page_id" else get_args(variables[part])[0]
                for part in variables
                if echo
            }
            title = "".join(word.title() for word in name.split("_")) + "Answer"
            answer = create_model(title, __doc__=description, **members, **{key: value})

        def run(exchange: Exchange, query: Arguments, **arguments: Any) -> Any:
            sent = arguments.pop("body", query)
            if echo and "page_id" in arguments:
                [arguments] = exchange.call("page_id", page=arguments["page_id"])
            rows = exchange.call(function, **arguments, **sent.for_sql(), **(fixed or {}))
            if is_list:
                return {**(arguments if echo else {}), key: rows}
            [row] = rows
            return row[column] if column else row

        query = create_model(f"{name}_query", __base__=base, **parameters) if parameters else base
        types = {"query": Annotated[query, Query()]} | ({"body": body} if body else {})
        self.answers(
            path, answer, method=method, work=work, name=name, description=description,
            types=types, responses=responses,
        )(run)  # fmt: skip
        return answer

    def declare_query(
        self,
        path: str,
        value: Any,
        descriptions: tuple[str, str],
        *,
        models: tuple[Any, Any],
        run: Callable[..., Any],
        name: str = "",
        work: Class | None = None,
    ) -> None:
        """Declare two routes for a query: its arguments in the address (GET), or as a body (POST).

        `run` makes the answer, a `value`, from an exchange, the `query` and the path parameters.
        Each of the two routes has its own model of the query and its own description.
        """
        name = name or path.rpartition("/")[2]
        parameters, body = models
        of_get, of_post = descriptions
        for method, query, suffix, description in (
            ("GET", Annotated[parameters, Query()], "", of_get),
            ("POST", body, "_with_body", of_post),
        ):
            self.answers(
                path, value, method=method, work=work, name=name + suffix,
                description=description, types={"query": query},
            )(run)  # fmt: skip


def _variables(path: str) -> dict[str, Any]:
    """The path parameters that several routes have, each with its type."""
    return {part: PATH[part] for part in re.findall(r"\{(\w+)", path) if part in PATH}
