"""Pages that callers send: one by one, which are found at once, or many, which become a job."""

from functools import partial
from typing import Annotated, Any

from fastapi import Path, Query, Request, Response
from pydantic import BaseModel, Field

from pgrag.api import bodies
from pgrag.api.arguments import PATH, Text, VersionPath
from pgrag.api.delivery import disconnected
from pgrag.api.problems import STOPPING, TOO_LARGE, problem
from pgrag.api.routes.uploads import pieces, stored
from pgrag.ground.errors import InvalidInput, UnknownPage
from pgrag.ground.json_text import InvalidJson, read_json
from pgrag.ground.values import jobs as values
from pgrag.ingest.formats.formats import size_limit
from pgrag.ingest.kept_pages import KeptPages
from pgrag.ingest.source.uploads import LINES, UploadedPage, checked_key, sent_page
from pgrag.service.app import App
from pgrag.service.work import Abandoned, Target, Works

router = bodies.router_of_version()

_PATIENCE = 10.0
"""Seconds that a page waits for other writers of its library."""

Library = PATH["library"]
AskedKey = Annotated[
    Text | None,
    Query(max_length=1000, description="The path of the page, with a suffix; not with JSON."),
]
Key = Annotated[
    Text,
    Path(max_length=1000, description="The path of the page.", examples=["guide/tides.md"]),
]


class SentPage(BaseModel):
    """A page as JSON; it is read by `sent_page`."""

    key: str = Field(
        description="The path of the page, with a suffix.", examples=["guide/tides.md"]
    )
    content: str = Field(description="Its text, in its format.")
    media_type: str = Field(default="text/markdown", description="What the content is.")
    properties: dict[str, Any] | None = Field(default=None, description="Front matter of Markdown.")


_PAGE = {"schema": SentPage.model_json_schema()}
_TEXTS: dict[str, Any] = {"text/markdown": bodies.BYTES, "text/html": bodies.BYTES}
_PAGES = bodies.body_of(**_TEXTS, **{"application/json": _PAGE, LINES: bodies.BYTES})


@router.post(
    "/pages",
    response_model=values.SentPage,
    responses={202: {"model": values.Job, "description": "The job of lines of JSON."}},
    openapi_extra=_PAGES,
)
async def send_page(
    library: Library,  # type: ignore[valid-type]
    version: VersionPath,
    request: Request,
    key: AskedKey = None,
) -> Response:
    """Add a page or replace the one with its key; it is found when the answer comes.

    Send it as JSON, or as it is (Markdown, HTML …) with `key`. Many pages as lines of JSON
    (`application/x-ndjson`) become a job. No other page is changed.
    """
    if bodies.media_type_of(request) == LINES:
        return await stored(
            request, library, version, ("pages.ndjson", pieces(request)), {"adds": True}
        )
    return await _page(request, library, version, key)


@router.put(
    "/pages/{key:path}",
    response_model=values.SentPage,
    openapi_extra=bodies.body_of(**_TEXTS),
)
async def put_page(
    library: Library,  # type: ignore[valid-type]
    version: VersionPath,
    key: Key,
    request: Request,
) -> Response:
    """Add the page with this key, or replace it; it is found when the answer comes."""
    return await _page(request, library, version, key)


@router.answers("/pages/{key:path}", values.RemovedPages, method="DELETE")
def remove_page(exchange: Any, library: Library, version: VersionPath, key: Key) -> Any:  # type: ignore[valid-type]
    """Remove the page with this key."""
    [row] = exchange.call("remove_pages", library=library, version=version, keys=[key])
    if not row["remove_pages"]:
        raise UnknownPage(f"{library} {version} has no page {key!r}.")
    return {"library": library, "version": version, "removed": row["remove_pages"]}


async def _page(request: Request, library: str, version: str, key: str | None) -> Response:
    """Index one page; the answer comes when it can be found."""
    media_type, body = bodies.media_type_of(request), await request.body()
    if media_type == "application/json":
        try:
            fields = read_json(body)
        except InvalidJson as error:
            raise InvalidInput(f"The body is not valid JSON: {error}.") from error
        if not isinstance(fields, dict):
            raise InvalidInput("The body is not a JSON object.", hint="It has key and content.")
        page = sent_page(fields | ({} if key is None else {"key": key}))
    else:
        page = UploadedPage(checked_key(key), body, request.headers.get("content-type", ""))
    if not page.has_known_format():
        return bodies.unsupported(request, media_type)
    largest = size_limit(page.key, page.origin, request.app.state.pgrag.settings.max_page_bytes)
    if largest is not None and len(page.content) > largest:
        return problem(request, TOO_LARGE, f"A page may have {largest:,} bytes.")
    app: App = request.app.state.pgrag
    works: Works = request.app.state.works
    with KeptPages() as kept:
        send = partial(app.send_pages, library, version, [page], kept_pages=kept)
        # What takes long, the reading, comes first: for others the library stays free.
        report = await works.run(works.page, partial(send, dry_run=True))
        if not report.failed:
            target = Target(app.database, library, _PATIENCE)
            try:
                gone = partial(disconnected, request.receive)
                report = await works.run(works.write, send, target=target, until=gone)
            except Abandoned:
                return problem(request, STOPPING)
    for reason in report.failed.values():
        raise InvalidInput(reason)
    return bodies.answered(
        {
            "library": report.library,
            "version": report.version,
            "key": page.key,
            "status": "written" if report.written else "unchanged",
            "documents": report.documents,
            "embedded": report.embedded,
            "warnings": report.warnings,
        }
    )
