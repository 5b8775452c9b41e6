"""Answers in words, with their sources."""

from __future__ import annotations

from typing import Any

import anyio.to_thread
from fastapi import APIRouter, Request, Response
from pydantic_core import to_json
from starlette.requests import ClientDisconnect

from pgrag.api.delivery import EventStream, follow
from pgrag.api.models.answers import Answer, AnswerBody
from pgrag.api.models.arguments import NoParameters
from pgrag.api.openapi import problems
from pgrag.api.problems import RETRY_AFTER_SECONDS, STOPPING, problem
from pgrag.app import App

router = APIRouter(tags=["answers"], responses=problems(400, 404, 413, 501, 502))

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            "text/event-stream": {
                "schema": {
                    "type": "string",
                    "description": "Events: intent, sources, step, token, citation, then done"
                    " (the whole answer) or error (a problem document).",
                }
            }
        }
    }
}


@router.post("/answer", response_model=Answer, responses=_STREAM)
async def answer(body: AnswerBody, request: Request, _: NoParameters) -> Response:
    """Answer a question in words, with the passages that say so; whole, or as it is written."""
    app: App = request.app.state.pgrag
    limiter = request.app.state.answer_limiter
    answerer = await anyio.to_thread.run_sync(app.answering, "rest")
    stream = answerer.stream(body.question, **body.arguments())
    wants_stream = body.stream
    if wants_stream is None:
        wants_stream = "text/event-stream" in request.headers.get("accept", "")
    if wants_stream:
        return EventStream(request, stream, limiter)
    error = await follow(stream, limiter, request.receive)
    if isinstance(error, ClientDisconnect):
        # Nobody waits any more, or the server does not.
        return problem(request, STOPPING, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})
    if error is not None:
        raise error
    return Response(
        to_json(stream.answer.as_json(), inf_nan_mode="null"),
        headers={"Cache-Control": "no-store"},
        media_type="application/json",
    )
