"""Whether the process lives, and whether it can answer."""

from __future__ import annotations

from dataclasses import asdict

import anyio
import anyio.to_thread
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from pgrag.api.models.arguments import NoParameters
from pgrag.api.models.state import Health, Readiness
from pgrag.api.openapi import problems
from pgrag.api.problems import NOT_READY, problem
from pgrag.api.readiness import findings, silent

router = APIRouter(tags=["health"], responses=problems(422))

PATIENCE_SECONDS = 5.0


@router.get("/healthz", response_model=Health)
async def healthz(_: NoParameters) -> Response:
    """Say that the process is alive, whatever the database does."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz", response_model=Readiness, responses=problems(503))
async def readyz(request: Request, _: NoParameters) -> Response:
    """Check that the database answers, fits this version of pgrag and has the built-in model."""
    found = [silent(f"It took longer than {PATIENCE_SECONDS:g} seconds.")]
    with anyio.move_on_after(PATIENCE_SECONDS):
        # Not in line with the searches: a busy service is ready.
        found = await anyio.to_thread.run_sync(
            findings,
            request.app.state.pgrag,
            abandon_on_cancel=True,
            limiter=request.app.state.readiness_limiter,
        )
    rows = [asdict(finding) for finding in found]
    if not all(finding.ok for finding in found):
        return problem(request, NOT_READY, findings=rows)
    return JSONResponse({"status": "ready", "findings": rows})
