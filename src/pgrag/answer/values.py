"""What an answer is made of, and what is told while it is made."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal
from uuid import UUID

from pgrag.db import Row
from pgrag.llm import Usage

Mode = Literal["direct", "agentic"]
Status = Literal["answered", "not_in_documentation"]
#: Why a sentence counts as not supported.
Doubt = Literal["no citation", "unknown source", "other words than its sources"]


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """A step of an answer: intent, sources, step, token, citation, done; `data` is plain JSON."""

    name: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A citation that leads to a source; `start` and `end` are offsets in the answer's text."""

    number: int
    start: int
    end: int
    document_id: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the answer, and whether what it cites says the same.

    `cited`: numbers of sources that exist. `support`: share of the weight of its words that is
    found in one of them, 0 to 1; None where it cites nothing. `doubt`: why it is not supported.
    """

    start: int
    end: int
    text: str
    cited: tuple[int, ...]
    support: float | None
    is_supported: bool
    doubt: Doubt | None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with all that it rests on.

    `intent`: name, query_type, decided_by ("argument", "rule", "model" or "default"), rule and
    strategy; None in the agentic mode. `sources` are those that the model was shown, by number;
    `citations` those of the text that exist, `unknown_citations` the numbers that do not.
    `timings` are in milliseconds. `trace`: the steps of the agentic mode, else None.
    `search_id` is what feedback is given to; None where nothing is recorded.
    """

    question: str
    text: str
    status: Status
    mode: Mode
    model: str | None
    intent: dict[str, Any] | None
    sources: list[Row]
    citations: list[CitedSource]
    unknown_citations: list[int]
    sentences: list[Sentence]
    usage: Usage
    timings: dict[str, float]
    search_id: UUID | None = None
    trace: list[dict[str, Any]] | None = None
    notices: list[str] = field(default_factory=list)

    @property
    def unsupported(self) -> list[Sentence]:
        """The sentences that a reader should check."""
        return [sentence for sentence in self.sentences if not sentence.is_supported]

    def as_json(self) -> dict[str, Any]:
        """The whole of it as plain values."""
        return asdict(self) | {"search_id": self.search_id and str(self.search_id)}
