"""What was asked and answered goes into the database; an answer never fails by it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from pgrag.answer.citations import Citation
from pgrag.answer.values import Mode
from pgrag.db import Database, Row
from pgrag.errors import PgragError
from pgrag.llm import Usage
from pgrag.recording import record

log = logging.getLogger(__name__)

_FUNCTIONS = {"direct": "answer_context", "agentic": "agent"}
_HIDDEN = {"library", "version", "query_embedding"}
_FOUND = {"hit", "injected"}


class Recorder:
    """Records one answer under a client's name; None: records nothing."""

    def __init__(
        self, database: Database, client: str | None, question: str, arguments: Mapping[str, Any]
    ) -> None:
        self._database = database
        self._client = client
        self._question = question
        self._arguments = arguments
        self.search_id: UUID | None = None
        """What feedback is given to, once the search is recorded."""

    def search(
        self,
        mode: Mode,
        sources: list[Row],
        *,
        timings: Mapping[str, float] | None,
        duration_ms: float | None,
    ) -> None:
        """Record what was found."""
        if self._client is None:
            return
        given = {name: value for name, value in self._arguments.items() if name not in _HIDDEN}
        self.search_id = record(
            self._database,
            self._client,
            self._question,
            [source for source in sources if source["relation"] in _FOUND],
            library=self._arguments.get("library"),
            parameters={"function": _FUNCTIONS[mode], **given},
            timings=timings,
            duration_ms=duration_ms,
        )

    def answer(
        self,
        status: str,
        text: str,
        *,
        intent: str | None,
        model: str,
        citations: list[Citation],
        sources: Mapping[int, Row],
        trace: list[dict[str, Any]] | None,
        usage: Usage,
        timings: Mapping[str, float],
    ) -> None:
        """Record what was answered, or how far it came."""
        if self._client is None or self.search_id is None:
            return
        try:
            self._database.call(
                "record_answer",
                search_id=self.search_id,
                question=self._question,
                status=status,
                answer=text,
                client=self._client,
                library=self._arguments.get("library"),
                version=self._arguments.get("version"),
                intent=intent,
                model=model,
                citations=[
                    {
                        "number": citation.number,
                        "document_id": sources[citation.number]["document_id"],
                    }
                    for citation in citations
                    if citation.number in sources
                ],
                trace=trace,
                prompt_tokens=usage.prompt_tokens,
                completion_tokens=usage.completion_tokens,
                timings=dict(timings),
            )
        except PgragError as error:
            log.warning("answer not recorded: %s", error)
