"""Whether the process is alive, and whether it can answer requests."""

import asyncio
import logging
from dataclasses import asdict
from functools import partial

import anyio
import anyio.to_thread
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from pgrag.api.openapi import problems
from pgrag.api.problems import NOT_READY, problem
from pgrag.ground.callers import Work, calling, working
from pgrag.ground.errors import DatabaseUnavailable, SchemaOutdated, SchemaTooNew
from pgrag.ground.schema import Finding
from pgrag.ground.standbys import Standing, standings
from pgrag.ground.values.base import Value, described
from pgrag.service.app import App

log = logging.getLogger(__name__)

router = APIRouter(tags=["health"], responses=problems(422))

PATIENCE_SECONDS = 5.0

_MODEL = """
select exists (
    select
    from pgrag.embedding_models as m
    join pgrag.model_tokens as t on t.model_id = m.model_id
    where m.name = _pgrag.builtin_model()
) as installed
"""


class Health(Value):
    """The process answers."""

    status: str = described("", "ok")


class Readiness(Value):
    """Everything that answering needs is there."""

    status: str = described("", "ready")
    findings: tuple[Finding, ...]


def _findings(app: App, work: Work) -> list[Finding]:
    """Check database, schema and built-in model in this order, up to the first failure."""
    answers = Finding("database", "ok", "The database answers.")
    fits = Finding("schema", "ok", "The database fits this version of pgrag.")
    try:
        app.require_schema()
        with calling(None), working(work):
            [row] = app.database.query(_MODEL)
    except DatabaseUnavailable as error:
        replicas = _replicas(app)
        if any(each.level == "ok" for each in replicas):
            log.warning("only standbys answer: %s", error)
            reads = "The primary does not answer; its standbys are read, and nothing is written."
            return [Finding("database", "warning", reads, error.hint or ""), *_told(replicas)]
        log.warning("not ready: %s", error)
        return [_silent(error.hint or "")]
    except (SchemaOutdated, SchemaTooNew) as error:
        return [answers, Finding("schema", "wrong", error.message, error.hint or "")]
    if row["installed"]:
        model = Finding("model", "ok", "The built-in embedding model is installed.")
    else:
        model = Finding(
            "model", "wrong", "The built-in embedding model is missing.", "Run `pgrag db upgrade`."
        )
    return [answers, fits, model, *_told(_replicas(app))]


def _replicas(app: App) -> list[Standing]:
    return [] if app.read_url is None else standings(app.url, app.read_url)


def _told(replicas: list[Standing]) -> list[Finding]:
    return [each.public(nth) for nth, each in enumerate(replicas, start=1)]


def _silent(remedy: str) -> Finding:
    """The finding for a database that does not answer; the reason goes to the log."""
    return Finding("database", "wrong", "The database does not answer.", remedy)


class Checks:
    """Checks readiness, once for all who ask meanwhile: many questions delay no answer."""

    def __init__(self, app: App, work: Work) -> None:
        self._check = partial(_findings, app, work)
        # Neither a thread nor a connection of the searches: a busy service is still ready.
        self._limiter = anyio.CapacityLimiter(1)
        self._running: asyncio.Task[list[Finding]] | None = None

    async def findings(self) -> list[Finding]:
        """The findings of the check that runs, or of a new one."""
        if self._running is None or self._running.done():
            checking = anyio.to_thread.run_sync(self._check, limiter=self._limiter)
            self._running = asyncio.ensure_future(checking)
        return await asyncio.shield(self._running)


@router.get("/healthz", response_model=Health)
async def healthz() -> Response:
    """Report that the process is alive, whatever the state of the database."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz", response_model=Readiness, responses=problems(503))
async def readyz(request: Request) -> Response:
    """Check that the database answers, fits this version of pgrag and has the built-in model."""
    findings = [_silent(f"It took longer than {PATIENCE_SECONDS:g} seconds.")]
    with anyio.move_on_after(PATIENCE_SECONDS):
        findings = await request.app.state.readiness.findings()
    rows = [asdict(finding) for finding in findings]
    if not all(finding.ok for finding in findings):
        return problem(request, NOT_READY, findings=rows)
    return JSONResponse({"status": "ready", "findings": rows})
