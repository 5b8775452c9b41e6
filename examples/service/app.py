"""A service around pgrag: questions in, answers with their sources out."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query

import pgrag

LIBRARY = "kestrel"


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Hold one pool of connections while the service runs."""
    async with pgrag.connect_async() as db:
        app.state.db = db
        yield


app = FastAPI(title="Ask the handbook", lifespan=lifespan)


@app.get("/ask")
async def ask(q: Annotated[str, Query(min_length=3, max_length=500)]) -> dict[str, Any]:
    """Answer a question from the handbook."""
    try:
        answer = await app.state.db.answer(q, LIBRARY)
    except pgrag.PgragError as error:
        raise HTTPException(503, f"{error.message} {error.hint or ''}".strip()) from error
    cited = {citation.number for citation in answer.citations}
    return {
        "answer": answer.text if answer.status == "answered" else None,
        "sources": [
            {"number": source.number, "title": source.title, "url": source.url}
            for source in answer.sources
            if source.number in cited
        ],
        "to_check": [sentence.text for sentence in answer.unsupported],
        "read_on": [section.title for section in answer.related][:3],
    }
