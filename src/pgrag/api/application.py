"""The FastAPI application over an `App`."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from fastapi import Depends, FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi_offline import FastAPIOffline
from starlette.routing import Route

from pgrag.api import docs_page, limits, openapi, problems, site, sizes
from pgrag.api.admission import MOST_REFUSALS, PREFIX, Guard, GuardedEndpoint
from pgrag.api.declared import known_parameters
from pgrag.api.delivery import QuietDepartures
from pgrag.api.headers import POSITION, HeadAsGet, SecurityHeaders
from pgrag.api.observed import REQUEST_ID, Observed
from pgrag.api.origins import KnownHosts, KnownOrigins
from pgrag.api.page_keys import READABLE, KeyInAddress, KeyOrigins, PageOrigins, has_page_key
from pgrag.api.routes import (
    answers,
    configuration,
    contents,
    evaluations,
    graph,
    health,
    jobs,
    libraries,
    observation,
    pages,
    searches,
    sending,
    service,
    uploads,
)
from pgrag.mcp.http import Endpoint
from pgrag.service.access import Policy
from pgrag.service.app import App
from pgrag.service.work import Works
from pgrag.service.worker import Worker

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from pgrag.service.metrics import Metrics

DESCRIPTION = """\
Search, navigation and context over documentation that lives in PostgreSQL. Every route calls
functions of the database; their comments are the reference. Errors are problem documents
(RFC 9457).
"""
TAGS = [
    {"name": "search", "description": "Find passages, and assemble contexts of them."},
    {"name": "answers", "description": "Answers by a language model, and its tools."},
    {"name": "libraries", "description": "What there is to search."},
    {"name": "pages", "description": "Whole pages and their heading trees."},
    {"name": "jobs", "description": "Bring pages in, one by one or by jobs of workers."},
    {"name": "graph", "description": "How pages are linked."},
    {"name": "documents", "description": "One passage and its neighbours."},
    {"name": "configuration", "description": "Rules of query understanding, and synonyms."},
    {"name": "observation", "description": "What was searched, and what readers thought of it."},
    {"name": "evaluation", "description": "How good the search is, on labelled sets."},
    {"name": "service", "description": "What the service offers, to whom, and its audit."},
    {"name": "health", "description": "The state of the service."},
]
MOST_BODIES = 20
"""Bodies of the largest size that are in memory at a time."""

_AGENT_HEADERS = ["Accept", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"]


def create_app(
    app: App,
    *,
    policy: Policy,
    cors_origins: Sequence[str] = (),
    hosts: Sequence[str] | None = None,
    worker: Worker | None = None,
    metrics: "Metrics | None" = None,
) -> FastAPI:
    """Make the REST application of an `App`; its shutdown closes the `App`.

    The `policy` says who may call without a key.

    The database may still be down: until it answers, requests get status 503. Browsers may call
    only from pages of the `cors_origins`, such as "https://docs.example", and with a publishable
    key from the key's own. With `hosts`, requests must name one of these hosts or this machine.
    Agents find their tools at /mcp. A `worker` works on jobs from start to shutdown. Requests are
    counted in `metrics`.
    """
    settings = app.settings
    # Only the assets of its pages are used.
    api = FastAPIOffline(
        docs_url=None,
        redoc_url=None,
        static_url="/assets",
        title="pgrag",
        summary="PostgreSQL as a documentation search engine",
        description=DESCRIPTION,
        version=version("pgrag-search"),
        openapi_tags=TAGS,
        lifespan=_lifespan,
        generate_unique_id_function=lambda route: route.name,
        redirect_slashes=False,
    )
    api.state.pgrag = app
    api.state.worker = worker
    api.state.works = works = Works(settings)
    if metrics is not None:
        metrics.works = works
    api.state.readiness = health.Checks(app, works.probe)
    make_mcp_server = partial(_make_mcp_server, app, works)
    if settings.mcp_tools != "default":
        make_mcp_server()  # refuses wrong names now, not when the first agent calls
    # Only indexing runs long enough to need a stream.
    api.state.mcp = Endpoint(make_mcp_server, streams=settings.mcp_writes)
    problems.add_handlers(api)
    api.add_middleware(
        sizes.BodyLimit, page=settings.max_page_bytes, upload=settings.max_upload_bytes
    )
    api.add_middleware(KnownOrigins, origins=cors_origins, hosts=hosts, has_key=has_page_key)
    buckets = None
    if settings.rate_limit:
        buckets = limits.TokenBuckets(settings.rate_limit, settings.rate_limit_burst)
        api.add_middleware(limits.RateLimit, buckets=buckets)
    refused = limits.TokenBuckets(1, 1, most_clients=MOST_REFUSALS)
    bodies = sizes.Bodies(MOST_BODIES * sizes.largest_page(settings.max_page_bytes))
    api.state.guard = guard = Guard(app, works, policy, buckets, refused, bodies)
    if hosts is not None:
        api.add_middleware(KnownHosts, hosts=hosts)
    if cors_origins:
        api.add_middleware(
            CORSMiddleware,
            allow_origins=list(cors_origins),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", REQUEST_ID, POSITION, *_AGENT_HEADERS],
            expose_headers=READABLE,
        )
    api.add_middleware(PageOrigins, known=KeyOrigins(app, works), named=cors_origins)
    api.add_middleware(KeyInAddress)
    api.add_middleware(HeadAsGet, except_path="/mcp")
    for router in (
        searches.router,
        answers.router,
        configuration.router,
        contents.router,
        graph.router,
        sending.router,
        uploads.router,
        libraries.router,
        jobs.router,
        pages.pages,
        pages.documents,
        observation.router,
        searches.understanding,
        answers.tools,
        evaluations.router,
        service.router,
    ):
        api.include_router(
            router,
            prefix=PREFIX,
            dependencies=[Depends(known_parameters)],
            responses=openapi.problems(401, 403, 414, 422, 429, 431, 500, 501, 503),
        )
    api.include_router(health.router, dependencies=[Depends(known_parameters)])
    api.include_router(docs_page.router)
    api.include_router(site.router)
    # Clients use the address with and without the slash, and do not follow a redirect with a body.
    # These routes come first because routes are tried in order, and there are dozens.
    agents = GuardedEndpoint(guard, "mcp", api.state.mcp)
    api.router.routes[:0] = [Route(address, agents) for address in ("/mcp", "/mcp/")]
    api.openapi = partial(openapi.document, api)  # type: ignore[method-assign]
    described = openapi.Described(api).__call__
    api.router.routes.insert(0, Route("/openapi.json", described, methods=["GET"]))
    make_stack = api.build_middleware_stack
    # Starlette answers unforeseen errors outside the middleware that is added above.
    api.build_middleware_stack = lambda: QuietDepartures(  # type: ignore[method-assign]
        SecurityHeaders(
            Observed(make_stack(), writes_log=settings.log_format == "json", metrics=metrics)
        )
    )
    return api


@asynccontextmanager
async def _lifespan(api: FastAPI) -> AsyncIterator[None]:
    """Work on jobs, and answer agents; at the end close what is open."""
    app: App = api.state.pgrag
    worker: Worker | None = api.state.worker
    if worker is not None:
        worker.start()
    try:
        async with api.state.mcp.running():
            yield
    finally:
        if worker is not None:
            await anyio.to_thread.run_sync(worker.end)
    await anyio.to_thread.run_sync(app.close)


def _make_mcp_server(app: App, works: Works) -> "Server[Any]":
    from pgrag.mcp.server import create_server  # noqa: PLC0415 - its SDK takes half a second

    settings = app.settings
    return create_server(
        app,
        works,
        writes=settings.mcp_writes,
        read_only=settings.mcp_read_only,
        listed=settings.mcp_tools,
        # Remote callers may not read this machine's files unless the operator names folders.
        roots=settings.mcp_roots,
    )
