"""How a query is read, and what else may have been meant."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from pgrag.api.models.arguments import Arguments, LibraryName, Text, VersionWish

QueryText = Annotated[Text, Field(max_length=10_000, description="As it is given to a search.")]


class ParseParameters(Arguments):
    """The query to be read."""

    q: QueryText = Field(examples=["restore type:guide created:>=2024-12-01"])


class ParsedQuery(BaseModel):
    """The two parts of a query."""

    words: str = Field(description="What is searched for.", examples=["restore"])
    filters: dict[str, Any] | None = Field(
        description="What was written among the words, as `filters` of a search takes it; null"
        " where there was none.",
        examples=[{"type": "guide", "created": {">=": "2024-12-01"}}],
    )


class SuggestionParameters(Arguments):
    """The query, and where its words are looked for."""

    q: QueryText = Field(examples=["resotre a backup"])
    library: LibraryName | None = Field(
        default=None, description="Name of a library; by default the words of all count."
    )
    version: VersionWish | None = Field(
        default=None, description="Only says which libraries count: those that have it."
    )
    limit: int = Field(default=3, ge=1, le=100, description="At most so many suggestions.")


class Suggestion(BaseModel):
    """A query with other words."""

    suggestion: str = Field(description="The whole query.", examples=["restore a backup"])
    word: str = Field(description="What no document has.", examples=["resotre"])
    replacement: str = Field(description="What some document has.", examples=["restore"])
    distance: int = Field(description="Edits between the two.", examples=[1])
    document_count: int = Field(description="Documents with the replacement.", examples=[12])
    score: float = Field(description="0 to 1; more is nearer.", examples=[0.96])


class Suggestions(BaseModel):
    """The nearest first; none where every word is known."""

    suggestions: list[Suggestion]
