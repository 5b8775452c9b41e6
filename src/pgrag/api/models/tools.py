"""The tools of agentic answers, for those who run a loop of their own."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from pgrag.answer.agent_run import RESULT_TOKENS
from pgrag.api.models.arguments import Arguments, LibraryName, VersionWish

ToolName = Literal["keyword_search", "semantic_search", "read_chunk"]


class Function(BaseModel):
    """A function in OpenAI's format."""

    name: ToolName
    description: str
    parameters: dict[str, Any] = Field(description="JSON Schema of the arguments.")


class ToolDefinition(BaseModel):
    """A tool in OpenAI's format."""

    type: Literal["function"]
    function: Function


class Tools(BaseModel):
    """What goes as `tools` to a chat model."""

    tools: list[ToolDefinition]


class ToolsParameters(Arguments):
    """Which form of the tools."""

    scoped: bool = Field(
        default=False, description="Without the arguments that choose a library and a version."
    )


class ToolBody(Arguments):
    """A call of a tool, and within what it may look."""

    arguments: dict[str, Any] | str = Field(
        description="As the model wrote them: an object, or the JSON of one.",
        examples=[{"query": "when is high water"}],
    )
    library: LibraryName | None = Field(
        default=None, description="Nothing else is searched or read.", examples=["harbour"]
    )
    version: VersionWish | None = Field(
        default=None, description="Of the library; default: the newest release."
    )
    first_number: int = Field(
        default=1, ge=1, le=100_000, description="Of the first source: one more than there are."
    )
    token_budget: int = Field(
        default=RESULT_TOKENS, ge=1, le=100_000, description="What does not fit is left out whole."
    )


class ToolSource(BaseModel):
    """A numbered source; what else it has is as in the sources of an answer."""

    model_config = ConfigDict(extra="allow")

    number: int = Field(examples=[1])
    document_id: int = Field(examples=[42])
    content: str


class ToolResult(BaseModel):
    """What the tool gave."""

    outcome: Literal["found", "nothing", "unusable", "repeated"]
    text: str = Field(description="For the model, as the content of a message of the role tool.")
    sources: list[ToolSource]
    search_id: UUID | None = Field(description="For feedback; null where nothing was recorded.")
