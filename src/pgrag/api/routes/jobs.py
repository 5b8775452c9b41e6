"""Jobs: sources that workers index, with their progress."""

from collections.abc import AsyncIterator
from functools import partial
from time import monotonic
from typing import Annotated, Any, Literal

import anyio
from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field
from pydantic_core import to_json

from pgrag.api.arguments import PATH, Arguments, Body, LibraryName, Text, VersionWish, at_most
from pgrag.api.declared import Exchange, Router
from pgrag.api.delivery import HEARTBEAT_SECONDS, frame
from pgrag.api.fields import with_declared
from pgrag.api.openapi import events, problems
from pgrag.ground.calls import Row
from pgrag.ground.errors import PgragError
from pgrag.ground.values.base import Value
from pgrag.ground.values.jobs import Job, JobState, JobSummary
from pgrag.ingest.arguments import JobArguments, part_of
from pgrag.ingest.source.allowed import require_allowed
from pgrag.search.result import next_cursor
from pgrag.service.app import App
from pgrag.service.jobs import ENDED, create
from pgrag.service.work import Works

router = Router(prefix="/jobs", tags=["jobs"], responses=problems(404))

_LOOK_SECONDS = 0.5
JobId: Any = PATH["job_id"]


@with_declared(JobArguments)
class JobBody(Body):
    """What to index, and as what."""

    library: LibraryName = Field(description="Is made if there is none.", examples=["harbour"])
    version: VersionWish = Field(default="", description="Its label.", examples=["2.1"])
    source: Annotated[Text, Field(min_length=1, max_length=4000)] = Field(
        description="The address of a website, or a folder, file or repository below the folders"
        " that the operator allows (PGRAG_MCP_ROOTS).",
        examples=["https://docs.example/"],
    )
    every: Annotated[str, Field(pattern=r"^\d{1,6} ?(min|h|d)$")] | None = Field(
        default=None,
        description="Repeat the job this long after each end: 30min, 12h, 1d.",
        examples=["1d"],
    )
    priority: int = Field(
        default=0,
        ge=-100,
        le=100,
        description="Higher ones come first; only administrators may set it. Jobs of equal priority"
        " take turns between those who ask.",
    )


class JobsParameters(Arguments):
    """Which of the jobs."""

    state: Literal["uploading", "queued", "running", "succeeded", "failed", "cancelled"] | None = (
        Field(default=None, serialization_alias="wanted_state", description="Only in this state.")
    )
    library: LibraryName | None = Field(
        default=None, serialization_alias="wanted_library", description="Only of this library."
    )
    top_k: int = at_most(100, 1000, "jobs")
    before: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="`next` of the previous response: continues after it."
    )


class Jobs(Value):
    """Jobs, the latest first."""

    jobs: tuple[JobSummary, ...]
    next: int | None


@router.answers("", Job, method="POST", status=202, work="write")
def create_job(exchange: Exchange, body: JobBody) -> Any:
    """Let a worker bring a version to the state of a source; answers at once with the job."""
    arguments = part_of(body.model_dump(), JobArguments)
    require_allowed(exchange.app.settings.mcp_roots, {"source": body.source, **arguments})
    number = create(
        exchange.call, body.library, body.version, body.source, arguments,
        every=body.every, priority=body.priority,
        most_jobs=exchange.app.settings.max_waiting_jobs,
    )  # fmt: skip
    return job(exchange, number)


@router.answers("", Jobs)
def jobs(exchange: Exchange, query: JobsParameters) -> Any:
    """List the jobs of the libraries that the caller may see, the latest first."""
    rows = exchange.call("jobs", **query.for_sql())
    return {"jobs": rows, "next": next_cursor(rows, query.top_k, "job_id")}


@router.answers("/{job_id}", Job)
def job(exchange: Exchange, job_id: int) -> Any:
    """Describe a job: where it stands, what it did, and why it failed."""
    [row] = exchange.call("job", wanted_id=job_id)
    return row


@router.answers("/{job_id}/cancel", JobState, method="POST", work="write", responses=problems(413))
def cancel_job(exchange: Exchange, job_id: int) -> Any:
    """Cancel a job, and its schedule; a running one ends within seconds. What it wrote stays."""
    [row] = exchange.call("cancel_job", job_id=job_id)
    return {"job_id": job_id, "state": row["cancel_job"]}


@router.answers("/{job_id}/retry", JobState, method="POST", work="write", responses=problems(413))
def retry_job(exchange: Exchange, job_id: int) -> Any:
    """Queue a job again that has ended, or that waits for its time."""
    most = exchange.app.settings.max_waiting_jobs
    [row] = exchange.call("retry_job", job_id=job_id, most_jobs=most)
    return {"job_id": job_id, "state": row["retry_job"]}


@router.get(
    "/{job_id}/events",
    response_class=StreamingResponse,
    responses=events(
        *("progress", "end"), description="The job, whenever it has changed, and when it has ended."
    ),
)
async def job_events(job_id: JobId, request: Request) -> Response:
    """Follow a job by server-sent events, until it has ended."""
    app: App = request.app.state.pgrag
    works: Works = request.app.state.works

    def look() -> Row:
        [row] = app.database.call("job", wanted_id=job_id)
        return row

    first = await works.run(works.read, look)
    return StreamingResponse(
        _events(first, partial(works.run, works.read, look)),
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        media_type="text/event-stream",
    )


async def _events(row: Row, look: Any) -> AsyncIterator[bytes]:
    said, at = b"", monotonic()
    while True:
        data = to_json(row | {"leased_until": None})
        if row["state"] in ENDED:
            yield frame("end", data)
            return
        if data != said:
            yield frame("progress", data)
            said, at = data, monotonic()
        elif monotonic() - at > HEARTBEAT_SECONDS:
            yield b": still here\n\n"
            at = monotonic()
        await anyio.sleep(_LOOK_SECONDS)
        try:
            row = await look()
        except PgragError:
            # The client connects again, and learns what is wrong.
            return
