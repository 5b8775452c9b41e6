"""Generated answers: text, sources, citations, and checks of each sentence."""

from dataclasses import asdict
from typing import Any, Literal
from uuid import UUID

from pgrag.ground.values.base import Value, described

AnswerMode = Literal["direct", "agentic"]
AnswerStatus = Literal["answered", "not_in_documentation"]
#: Why a sentence counts as unsupported.
Doubt = Literal[
    "no citation",
    "unknown source",
    "other words than its sources",
    "other numbers than its sources",
    "names that its sources lack",
    "the opposite of its sources",
    "more than its sources say",
]
Verdict = Literal["supported", "doubtful", "not in the sources"]


class AnswerIntent(Value):
    """The kind of question, and the strategy that follows."""

    intent: str | None = described("", "PROCEDURAL")
    query_type: str | None = described("", "procedural")
    decided_by: Literal["argument", "rule", "model", "default"]
    rule: str | None = described("", "how-to-en")
    strategy: dict[str, Any] = described("Levels, alpha, injected types, template and so on.")


class Source(Value):
    """A passage that the language model was shown."""

    number: int = described("`[n]` in the text means this source.", 1)
    document_id: int = described("", 42)
    page_id: int = described("", 7)
    key: str = described("", "navigation/tides.md")
    library: str = described("", "harbour")
    version: str = described("", "2.1")
    title: str = described("", "Reading the tide table")
    url: str = described("", "https://harbour.example/navigation/tides")
    anchor: str | None = described("", "spring-tides")
    path: tuple[str, ...] = described("", ("Navigation", "Reading the tide table"))
    heading: str | None = described("", "Spring tides")
    type: str | None = described("", "guide")
    level: int | None = described("", 2)
    score: float | None = described("Null: read for its position in the page, not retrieved.", 0.41)
    hybrid_score: float | None = described("Of a hit: the fused score.", 0.41)
    keyword_score: float | None = described("Of a hit: by the keyword retriever.", 0.58)
    semantic_score: float | None = described("Of a hit: by the vector retriever.", 0.67)
    keyword_rank: int | None = described("Of a hit: among those of the keyword retriever.", 2)
    semantic_rank: int | None = described("Of a hit: among those of the vector retriever.", 1)
    confidence: float | None = described("Of a hit: whether it answers the question.", 0.93)
    relation: str = described("hit, expansion, parent, or injected by the strategy.", "hit")
    tokens: int | None = described("", 120)
    content: str


class Citation(Value):
    """A citation in the text that names a source."""

    number: int = described("Number of the source.", 1)
    start: int = described("Offset of the citation in `text`, in characters.", 31)
    end: int = described("", 34)
    document_id: int = described("", 42)


class Sentence(Value):
    """A sentence of the text, and whether its sources support it."""

    start: int = described("Offset in `text`, in characters.")
    end: int
    text: str
    cited: tuple[int, ...] = described("Numbers of the sources that exist.", (1,))
    support: float | None = described(
        "The largest share of the weight of its terms in one of its sources; null without a"
        " source.",
        0.86,
    )
    is_supported: bool
    doubt: Doubt | None = described("Why the sentence is not supported.")
    verdict: Verdict = described(
        "`doubtful`: its sources, or all where it cites none, have its words; something differs."
    )


class Usage(Value):
    """Tokens that the language model read and wrote."""

    prompt_tokens: int = described("", default=0)
    completion_tokens: int = described("", default=0)
    is_estimated: bool = described("Estimated: 4 bytes of UTF-8 are one token.", default=False)

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            is_estimated=self.is_estimated or other.is_estimated,
        )


class RelatedSection(Value):
    """A section to read after the sources."""

    document_id: int = described("", 57)
    page_id: int = described("", 8)
    key: str = described("", "navigation/currents.md")
    library: str = described("", "harbour")
    version: str = described("", "2.1")
    title: str = described("", "Currents")
    url: str = described("", "https://harbour.example/navigation/currents")
    anchor: str | None = described("", "at-the-pier")
    path: tuple[str, ...] = described("", ("Navigation", "Currents"))
    heading: str | None = described("", "At the pier")
    relation: str = described("link, backlink, child, before or after.", "link")
    score: float = described("Strength of the links from the sources, below 1.", 0.5)


class Answer(Value):
    """An answer with its sources, citations and checks."""

    question: str
    text: str = described("", "Two days after a full moon the range is largest [1].")
    status: AnswerStatus
    mode: AnswerMode
    model: str | None = described("Null: no language model was needed.")
    intent: AnswerIntent | None = described("Null in the agentic mode.")
    sources: tuple[Source, ...] = described("What the language model was shown, by number.")
    related: tuple[RelatedSection, ...] = described("Sections to read next, the best first.")
    citations: tuple[Citation, ...]
    unknown_citations: tuple[int, ...] = described("Numbers in the text without a source.")
    sentences: tuple[Sentence, ...]
    usage: Usage
    timings: dict[str, float] = described("Milliseconds by step.")
    search_id: UUID | None = described("Feedback names this id; null if not recorded.")
    trace: tuple[dict[str, Any], ...] | None = described("Steps of the agentic mode.")
    notices: tuple[str, ...] = described("Notices of the database.")

    @property
    def unsupported(self) -> tuple[Sentence, ...]:
        """The sentences that a reader should check."""
        return tuple(sentence for sentence in self.sentences if not sentence.is_supported)

    def as_json(self) -> dict[str, Any]:
        """The answer as plain values."""
        return asdict(self) | {"search_id": self.search_id and str(self.search_id)}
