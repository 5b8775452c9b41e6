"""Files and archives that callers upload: they become a job."""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, Any

import anyio
from fastapi import Query, Request, Response
from pydantic import Field
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartParser

from pgrag.api import bodies
from pgrag.api.arguments import PATH, Arguments, Text, VersionPath
from pgrag.api.fields import with_declared
from pgrag.ground.calls import Row
from pgrag.ground.errors import InvalidInput, PgragError
from pgrag.ground.values import jobs as values
from pgrag.ingest.arguments import Reading, checked, part_of
from pgrag.ingest.source.uploads import (
    check_together,
    checked_key,
    is_known_upload,
    unnamed,
)

router = bodies.router_of_version()

PIECE = 1 << 20
"""Bytes of an upload that are in memory at a time."""

# Of a form with a thousand files, as many pieces are in memory.
MultiPartParser.spool_max_size = 1 << 16
_MOST_FILES = 1000
_MOST_FIELDS = 100

Library = PATH["library"]


@with_declared(Reading, in_json=False)
class UploadParameters(Arguments):
    """How what is uploaded is read."""

    name: Annotated[Text, Field(max_length=1000)] | None = Field(
        default=None,
        description="The name of the file, unless it is a form or its content tells the format.",
    )
    replace: bool = Field(
        default=False, description="Remove the pages that the upload does not have."
    )


@router.post(
    "/upload",
    response_model=values.Job,
    status_code=202,
    openapi_extra=bodies.body_of(
        **{"application/octet-stream": bodies.BYTES, "multipart/form-data": bodies.BYTES}
    ),
)
async def upload(
    library: Library,  # type: ignore[valid-type]
    version: VersionPath,
    request: Request,
    query: Annotated[UploadParameters, Query()],
) -> Response:
    """Upload a file, an archive, or several files of a form; answers with their job.

    Files are streamed into the database, so that any worker can index them.
    """
    arguments = checked(part_of(query.model_dump(), Reading))
    arguments["adds"] = not query.replace
    if bodies.media_type_of(request) == "multipart/form-data":
        return await _form(request, library, version, arguments)
    parts = pieces(request)
    if query.name is None:
        first = await anext(parts, b"")
        name, parts = unnamed(bodies.media_type_of(request), first), _following(first, parts)
    else:
        name = checked_key(query.name)
    files = [(name, parts)]
    return await stored(request, library, version, files, arguments)


async def pieces(request: Request) -> AsyncIterator[bytes]:
    """Yield the body in pieces of 1 MB."""
    buffer = bytearray()
    async for chunk in request.stream():
        buffer += chunk
        while len(buffer) >= PIECE:
            yield bytes(buffer[:PIECE])
            del buffer[:PIECE]
    if buffer:
        yield bytes(buffer)


async def _following(first: bytes, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for part in parts:
        yield part


async def _file_chunks(file: UploadFile) -> AsyncIterator[bytes]:
    while chunk := await file.read(PIECE):
        yield chunk


async def _form(
    request: Request, library: str, version: str, arguments: dict[str, Any]
) -> Response:
    try:
        form = await request.form(max_files=_MOST_FILES, max_fields=_MOST_FIELDS)
    except HTTPException as error:
        raise InvalidInput(
            f"The form cannot be read: {error.detail}", hint="curl -F file=@docs.zip …"
        ) from error
    try:
        files = [each for _, each in form.multi_items() if isinstance(each, UploadFile)]
        # Programs send names of their users, for example: the report says that nothing reads them.
        if unread := [name for name, each in form.multi_items() if isinstance(each, str)]:
            arguments["unread"] = unread
        named = [(checked_key(file.filename), _file_chunks(file)) for file in files]
        if not named:
            raise InvalidInput("The form has no files.", hint="curl -F file=@docs.zip …")
        return await stored(request, library, version, named, arguments)
    finally:
        await form.close()


async def stored(
    request: Request,
    library: str,
    version: str,
    files: list[tuple[str, AsyncIterator[bytes]]],
    arguments: dict[str, Any],
) -> Response:
    """Store files as the upload of a new job; if that fails, there is no job."""
    check_together([name for name, _ in files])
    for name, _ in files:
        if not is_known_upload(name):
            return bodies.unsupported(request, name)

    def call(function: str, **arguments: Any) -> Any:
        return bodies.in_turn(request, lambda app: app.database.call(function, **arguments))

    [made] = await call(
        "create_job", library=library, version=version, arguments=arguments, uploading=True
    )
    job_id = made["create_job"]
    try:
        for number, (name, chunks) in enumerate(files):
            piece, upload = 0, {"job_id": job_id, "file": number, "name": name}
            if len(files) == 1:
                upload["media_type"] = request.headers.get("content-type", "")[:200]
            async for data in chunks:
                await call("_pgrag.add_upload_piece", **upload, piece=piece, data=data)
                piece += 1
            if piece == 0:
                await call("_pgrag.add_upload_piece", **upload, piece=0, data=b"")
        await call("_pgrag.submit_upload", job_id=job_id)
    except BaseException:
        with anyio.CancelScope(shield=True), suppress(PgragError):
            await call("cancel_job", job_id=job_id)
        raise
    rows: list[Row] = await call("job", wanted_id=job_id)
    return bodies.answered(rows[0], 202)
