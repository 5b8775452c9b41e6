"""Files and archives that callers upload: they become a job."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
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
from pgrag.ground.callers import as_service
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
from pgrag.service.app import App

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
    try:
        if bodies.media_type_of(request) == "multipart/form-data":
            return await _form(request, library, version, arguments)
        parts = pieces(request)
        if query.name is None:
            first = await anext(parts, b"")
            name = unnamed(bodies.media_type_of(request), first)
            parts = _following(first, parts)
        else:
            name = checked_key(query.name)
        return await stored(request, library, version, (name, parts), arguments)
    except _Unsupported as error:
        return bodies.unsupported(request, str(error))


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


class _Unsupported(Exception):
    """The name of a file whose format is not read."""


def _check_known(name: str) -> None:
    if not is_known_upload(name):
        raise _Unsupported(name)


class _Upload:
    """An upload under way: its job waits for its files."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._settings = request.app.state.pgrag.settings
        self.job_id = 0

    async def call(self, function: str, **arguments: Any) -> list[Row]:
        """Call a function in the name of the caller, with its rights."""
        return await bodies.in_turn(
            self._request, lambda app: app.database.call(function, **arguments)
        )

    async def create(self, library: str, version: str, arguments: dict[str, Any]) -> None:
        """Make the job, and keep room for as many bytes as are announced, before any is read."""
        [made] = await self.call(
            "create_job", library=library, version=version, arguments=arguments, uploading=True,
            most_jobs=self._settings.max_waiting_jobs,
        )  # fmt: skip
        self.job_id = made["create_job"]

    async def reserve(self, *, is_form: bool) -> None:
        """Keep room for what will come; a form is on the disk of the service before its files are
        stored, so its length counts whether or not it is known.
        """
        length = self._request.headers.get("content-length", "")
        unknown = self._settings.max_upload_bytes if is_form else 0
        await self._count(
            "_pgrag.reserve_upload", bytes=int(length) if length.isdigit() else unknown
        )

    async def add(
        self, number: int, name: str, chunks: AsyncIterator[bytes], media_type: str = ""
    ) -> None:
        """Store a file, the `number`th of the upload."""
        piece = 0
        async for data in chunks:
            await self._add(number, name, piece, data, media_type)
            piece += 1
        if piece == 0:
            await self._add(number, name, 0, b"", media_type)

    async def add_unread(self, name: str) -> None:
        """Note the name of a field that is no file, for the report."""
        await self._add(-1, name, self._unread, b"")
        self._unread += 1

    _unread = 0

    async def _add(
        self, file: int, name: str, piece: int, data: bytes, media_type: str = ""
    ) -> None:
        await self._count(
            "_pgrag.add_upload_piece",
            file=file, piece=piece, name=name, data=data, media_type=media_type,
        )  # fmt: skip

    async def _count(self, function: str, **arguments: Any) -> None:
        """Call a function that counts the bytes of all, which the caller may not see."""
        arguments |= {"allowance": self._settings.max_waiting_upload_bytes}

        def counted(app: App) -> object:
            with as_service():
                return app.database.call(function, job_id=self.job_id, **arguments)

        await bodies.in_turn(self._request, counted)


@asynccontextmanager
async def _uploading(
    request: Request, library: str, version: str, arguments: dict[str, Any]
) -> AsyncIterator[_Upload]:
    """Make a job for the files that are added in the block; if that fails, there is no job."""
    upload = _Upload(request)
    await upload.create(library, version, arguments)
    try:
        is_form = bodies.media_type_of(request) == "multipart/form-data"
        await upload.reserve(is_form=is_form)
        yield upload
        await upload.call("_pgrag.submit_upload", job_id=upload.job_id)
    except BaseException:
        with anyio.CancelScope(shield=True), suppress(PgragError):
            await upload.call("_pgrag.discard_upload", job_id=upload.job_id)
        raise


async def _form(
    request: Request, library: str, version: str, arguments: dict[str, Any]
) -> Response:
    async with _uploading(request, library, version, arguments) as upload:
        try:
            form = await request.form(max_files=_MOST_FILES, max_fields=_MOST_FIELDS)
        except HTTPException as error:
            raise InvalidInput(
                f"The form cannot be read: {error.detail}", hint="curl -F file=@docs.zip …"
            ) from error
        try:
            items = form.multi_items()
            files = [each for _, each in items if isinstance(each, UploadFile)]
            if not files:
                raise InvalidInput("The form has no files.", hint="curl -F file=@docs.zip …")
            names = [checked_key(file.filename) for file in files]
            check_together(names)
            for name in names:
                _check_known(name)
            for name, each in items:
                if isinstance(each, str):
                    await upload.add_unread(name)
            for number, (name, file) in enumerate(zip(names, files, strict=True)):
                await upload.add(number, name, _file_chunks(file))
        finally:
            await form.close()
    return await _accepted(upload)


async def stored(
    request: Request,
    library: str,
    version: str,
    file: tuple[str, AsyncIterator[bytes]],
    arguments: dict[str, Any],
) -> Response:
    """Store a file, by its name and content, as the upload of a new job."""
    name, chunks = file
    _check_known(name)
    media_type = request.headers.get("content-type", "")[:200]
    async with _uploading(request, library, version, arguments) as upload:
        await upload.add(0, name, chunks, media_type)
    return await _accepted(upload)


async def _accepted(upload: _Upload) -> Response:
    rows = await upload.call("job", wanted_id=upload.job_id)
    return bodies.answered(rows[0], 202)
