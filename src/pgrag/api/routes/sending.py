"""Pages that callers send: one by one, which are found at once, or many, which become a job."""

from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, TypeVar

import anyio
from fastapi import Path, Query, Request, Response
from pydantic_core import from_json, to_json
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.datastructures import UploadFile

from pgrag.api.arguments import PATH, Text, VersionPath
from pgrag.api.declared import Router
from pgrag.api.openapi import problems
from pgrag.api.problems import TOO_LARGE, UNSUPPORTED, problem
from pgrag.app import App
from pgrag.db import Row
from pgrag.errors import InvalidInput, PgragError, UnknownPage
from pgrag.ingest.formats.formats import size_limit
from pgrag.ingest.source.uploads import (
    LINES,
    Page,
    checked_key,
    is_known_upload,
    media_types,
    sent_page,
)
from pgrag.values import jobs as values
from pgrag.work import Works

R = TypeVar("R")

PIECE = 1 << 20
"""Bytes of an upload that are in memory at a time."""

_PATIENCE = 10.0
_MOST_FILES = 1000


class _Shortest(StringConvertor):
    """Ends at the first place at which the address can go on: keys hold /pages/, labels do not."""

    regex = ".+?"


register_url_convertor("shortest", _Shortest())
router = Router(
    prefix="/libraries/{library:shortest}/versions/{version:shortest}",
    tags=["jobs"],
    responses=problems(404, 405, 413, 415),
)

Library = PATH["library"]
AskedKey = Annotated[
    Text | None,
    Query(max_length=1000, description="The path of the page, with a suffix; not with JSON."),
]
Key = Annotated[
    Text,
    Path(max_length=1000, description="The path of the page.", examples=["guide/tides.md"]),
]
_ANY = {"schema": {"type": "string", "format": "binary"}}
_PAGE = {
    "schema": {
        "type": "object",
        "required": ["key", "content"],
        "properties": {
            "key": {
                "type": "string",
                "description": "The path of the page, with a suffix.",
                "examples": ["guide/tides.md"],
            },
            "content": {"type": "string", "description": "Its text, in its format."},
            "media_type": {
                "type": "string",
                "default": "text/markdown",
                "description": "What the content is.",
            },
            "properties": {"type": "object", "description": "Front matter of Markdown."},
        },
    }
}


def _body(**content: Any) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": content}}


_PAGES = _body(**{"text/markdown": _ANY, "text/html": _ANY, "application/json": _PAGE, LINES: _ANY})


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
    if _media_type(request) == LINES:
        return await _upload(request, library, version, "pages.ndjson", _chunks(request))
    return await _page(request, library, version, key)


@router.put(
    "/pages/{key:path}",
    response_model=values.SentPage,
    openapi_extra=_body(**{"text/markdown": _ANY, "text/html": _ANY}),
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


@router.post(
    "/upload",
    response_model=values.Job,
    status_code=202,
    openapi_extra=_body(**{"application/octet-stream": _ANY, "multipart/form-data": _ANY}),
)
async def upload(
    library: Library,  # type: ignore[valid-type]
    version: VersionPath,
    request: Request,
    *,
    name: Annotated[
        Text | None,
        Query(max_length=1000, description="The name of the file, unless it is a form."),
    ] = None,
    replace: Annotated[
        bool, Query(description="Remove the pages that the upload does not have.")
    ] = False,
    base_url: Annotated[
        Text | None, Query(max_length=4000, description="Where the pages are published.")
    ] = None,
    language: Annotated[
        Text | None, Query(max_length=200, description="Of pages that name none.")
    ] = None,
) -> Response:
    """Upload a file, an archive, or several files of a form; answers with their job.

    Files are streamed into the database, so that any worker can index them.
    """
    options = {"base_url": base_url, "language": language}
    stated = {"options": {each: value for each, value in options.items() if value is not None}}
    if _media_type(request) == "multipart/form-data":
        return await _form(request, library, version, replace=replace, **stated)
    if name is None:
        raise InvalidInput(
            "The upload has no name.",
            hint="Give ?name=docs.zip and the file as the body, or send a form with files.",
        )
    return await _upload(
        request, library, version, name, _chunks(request), replace=replace, **stated
    )


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _in_turn(request: Request, run: Callable[[App], R]) -> R:
    works: Works = request.app.state.works
    return await works.run(works.write, partial(run, request.app.state.pgrag))


def _answer(content: Any, status: int = 200) -> Response:
    return Response(to_json(content), status, media_type="application/json")


async def _page(request: Request, library: str, version: str, key: str | None) -> Response:
    """Index one page; the answer comes when it can be found."""
    media_type, body = _media_type(request), await request.body()
    if media_type == "application/json":
        try:
            fields = from_json(body)
        except ValueError as error:
            raise InvalidInput(f"The body is not valid JSON: {error}.") from error
        if not isinstance(fields, dict):
            raise InvalidInput("The body is no JSON object.", hint="It has key and content.")
        page = sent_page(fields | ({} if key is None else {"key": key}))
    else:
        page = Page(checked_key(key), body, media_type)
    if not page.has_known_format():
        return _unsupported(request, media_type)
    largest = size_limit(page.key, page.origin, request.app.state.pgrag.settings.max_page_bytes)
    if largest is not None and len(page.content) > largest:
        return problem(request, TOO_LARGE, f"A page may have {largest:,} bytes.")
    report = await _in_turn(
        request, lambda app: app.send_pages(library, version, [page], patience=_PATIENCE)
    )
    for reason in report.failed.values():
        raise InvalidInput(reason)
    return _answer(
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


def _unsupported(request: Request, what: str) -> Response:
    return problem(
        request,
        UNSUPPORTED,
        f"{what or 'What has no name and no type'} is no format of pages.",
        hint=f"These are read: {', '.join(media_types())}.",
    )


async def _chunks(request: Request) -> AsyncIterator[bytes]:
    """Yield the body in pieces of 1 MB."""
    buffer = bytearray()
    async for chunk in request.stream():
        buffer += chunk
        while len(buffer) >= PIECE:
            yield bytes(buffer[:PIECE])
            del buffer[:PIECE]
    if buffer:
        yield bytes(buffer)


async def _file_chunks(file: UploadFile) -> AsyncIterator[bytes]:
    while chunk := await file.read(PIECE):
        yield chunk


async def _form(request: Request, library: str, version: str, **arguments: Any) -> Response:
    async with request.form(max_files=_MOST_FILES, max_fields=0) as form:
        files = [each for _, each in form.multi_items() if isinstance(each, UploadFile)]
        named = [(checked_key(file.filename), _file_chunks(file)) for file in files]
        if not named:
            raise InvalidInput("The form has no files.", hint="curl -F file=@docs.zip …")
        return await _stored(request, library, version, named, **arguments)


async def _upload(
    request: Request,
    library: str,
    version: str,
    name: str,
    chunks: AsyncIterator[bytes],
    **arguments: Any,
) -> Response:
    return await _stored(request, library, version, [(checked_key(name), chunks)], **arguments)


async def _stored(
    request: Request,
    library: str,
    version: str,
    files: list[tuple[str, AsyncIterator[bytes]]],
    *,
    replace: bool = False,
    options: dict[str, Any] | None = None,
) -> Response:
    """Store files as the upload of a new job; if that fails, there is no job."""
    for name, _ in files:
        if not is_known_upload(name):
            return _unsupported(request, name)

    def call(function: str, **arguments: Any) -> Any:
        return _in_turn(request, lambda app: app.database.call(function, **arguments))

    [made] = await call(
        "create_job",
        library=library,
        version=version,
        arguments={"adds": not replace, "options": options or {}},
        uploading=True,
    )
    job_id = made["create_job"]
    try:
        for number, (name, chunks) in enumerate(files):
            piece = 0
            async for data in chunks:
                await call(
                    "add_upload_piece", job_id=job_id, file=number, piece=piece, name=name,
                    data=data,
                )  # fmt: skip
                piece += 1
            if piece == 0:
                await call(
                    "add_upload_piece", job_id=job_id, file=number, piece=0, name=name, data=b""
                )
        await call("submit_upload", job_id=job_id)
    except BaseException:
        with anyio.CancelScope(shield=True), suppress(PgragError):
            await call("cancel_job", job_id=job_id)
        raise
    rows: list[Row] = await call("job", wanted_id=job_id)
    return _answer(rows[0], 202)
