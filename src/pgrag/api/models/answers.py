"""Questions to a language model, and its answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AliasChoices, BaseModel, Field

from pgrag.api.models.arguments import Count, Name, Text
from pgrag.api.models.queries import QueryArguments
from pgrag.api.models.results import Filters, Levels, Vector

_DEFAULT = "by default that of the question's intent"

#: What says how an answer is made, and is no argument of `pgrag.answer_context`.
_OURS = {"question", "limit", "stream"}


class AnswerBody(QueryArguments):
    """A question, and how it shall be answered."""

    question: Annotated[Text, Field(min_length=1, max_length=10_000, pattern=r"\S")] = Field(
        validation_alias=AliasChoices("question", "query", "q"),
        description="What somebody asks.",
        examples=["How do I read the tide table?"],
    )
    stream: bool | None = Field(
        default=None,
        description="Answer with a stream of events; by default if the request accepts"
        " `text/event-stream`.",
    )
    mode: Literal["direct", "agentic"] = Field(
        default="direct",
        description="`direct`: what a search finds is put into words; `agentic`: the language model"
        " searches by itself, in steps.",
    )
    limit: int = Field(default=10, ge=1, le=1000, description="At most so many hits.")
    max_steps: int | None = Field(
        default=None,
        ge=1,
        le=50,
        description="Agentic: so many times the model is asked with tools; by default 6.",
    )
    max_tokens: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Agentic: tokens read and written in all steps; by default 30000.",
    )
    intent: Name | None = Field(
        default=None,
        description="`auto` (default): the kind of question chooses what is left open here; the"
        " name of an intent or query type; or `off`.",
    )
    ask_intent: bool | None = Field(
        default=None,
        description="Let the language model say the intent where no rule does; by default the"
        " service's setting.",
    )
    template: Name | None = Field(
        default=None,
        description=f"Name of the template of the prompt; {_DEFAULT}, agentic `agent`.",
    )
    inject_types: list[Name] | None = Field(
        default=None,
        max_length=20,
        description=f"Types of pages that a second search brings in; {_DEFAULT}.",
        examples=[["reference"]],
    )
    token_budget: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="At most so many tokens of sources, of 4 bytes each; by default 4000.",
    )
    expand: bool | None = Field(
        default=None, description="Add more of the best pages; by default true."
    )
    parents: bool = Field(default=False, description="Add the section above each hit.")
    max_documents_to_expand: Count | None = Field(
        default=None, description="At most so many pages are expanded; by default 3."
    )
    max_per_page: int | None = Field(
        default=None, ge=1, le=1000, description="At most so many hits of one page."
    )
    graph: bool | None = Field(
        default=None, description="Let links count; by default the library's setting."
    )
    filters: Filters
    levels: Levels
    query_embedding: Vector

    def arguments(self) -> dict[str, Any]:
        """The arguments that were given, as `Answerer.stream` takes them."""
        given = self.model_dump(exclude=_OURS, exclude_unset=True)
        if self.mode == "direct":
            given["match_count"] = self.limit
        elif "limit" in self.model_fields_set:
            given["limit"] = self.limit  # refused by its own name
        return {name: value for name, value in given.items() if value is not None}


class AnswerIntent(BaseModel):
    """What kind of question it is, and what that chose."""

    intent: str | None = Field(examples=["PROCEDURAL"])
    query_type: str | None = Field(examples=["procedural"])
    decided_by: Literal["argument", "rule", "model", "default"]
    rule: str | None = Field(examples=["how-to-en"])
    strategy: dict[str, Any] = Field(
        description="Levels, alpha, types brought in, template and so on."
    )


class Source(BaseModel):
    """A passage that the language model was shown."""

    number: int = Field(description="That `[n]` in the text means.", examples=[1])
    document_id: int = Field(examples=[42])
    page_id: int = Field(examples=[7])
    key: str = Field(examples=["navigation/tides.md"])
    library: str = Field(examples=["harbour"])
    version: str = Field(examples=["2.1"])
    title: str = Field(examples=["Reading the tide table"])
    url: str = Field(examples=["https://harbour.example/navigation/tides"])
    anchor: str | None = Field(examples=["spring-tides"])
    path: list[str] = Field(examples=[["Navigation", "Reading the tide table"]])
    heading: str | None = Field(default=None, examples=["Spring tides"])
    type: str | None = Field(examples=["guide"])
    level: int | None = Field(examples=[2])
    score: float | None = Field(
        description="Null: read for its place, not found by a search.", examples=[0.41]
    )
    relation: str = Field(
        description="hit, expansion, parent, or injected by the strategy.", examples=["hit"]
    )
    tokens: int | None = Field(examples=[120])
    content: str


class Citation(BaseModel):
    """Where the text cites a source."""

    number: int = Field(examples=[1])
    start: int = Field(description="Characters before it in `text`.", examples=[31])
    end: int = Field(examples=[34])
    document_id: int = Field(examples=[42])


class Sentence(BaseModel):
    """A sentence of the text, and whether its sources say the same."""

    start: int
    end: int
    text: str
    cited: list[int] = Field(description="Numbers of sources.", examples=[[1]])
    support: float | None = Field(
        description="Share of the weight of its words that one of its sources has; null without a"
        " source.",
        examples=[0.86],
    )
    is_supported: bool
    doubt: str | None = Field(
        description="`no citation`, `unknown source` or `other words than its sources`."
    )


class TokenUsage(BaseModel):
    """Tokens that the language model read and wrote."""

    prompt_tokens: int
    completion_tokens: int
    is_estimated: bool = Field(description="The server of the model did not count them.")


class Answer(BaseModel):
    """An answer, and all that it rests on."""

    question: str
    text: str = Field(examples=["Two days after a full moon the range is largest [1]."])
    status: Literal["answered", "not_in_documentation"]
    mode: Literal["direct", "agentic"]
    model: str | None = Field(description="Null: no language model was needed.")
    intent: AnswerIntent | None
    sources: list[Source]
    citations: list[Citation]
    unknown_citations: list[int] = Field(description="Numbers in the text that no source has.")
    sentences: list[Sentence]
    usage: TokenUsage
    timings: dict[str, float] = Field(description="Milliseconds by step.")
    search_id: UUID | None = Field(description="For feedback; null where nothing is recorded.")
    trace: list[dict[str, Any]] | None = Field(description="Steps of the agentic mode.")
    notices: list[str]
