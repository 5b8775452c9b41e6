"""Search for exact text, and what is wrong with a library."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from pgrag.api.models.arguments import Arguments, Text, VersionWish


class TextParameters(Arguments):
    """What a line must hold, and where to look."""

    pattern: Annotated[Text, Field(min_length=1, max_length=1000)] = Field(
        description="What a line must hold.", examples=["spring tide"]
    )
    version: VersionWish | None = Field(
        default=None, description="A label, a range, or `-`; default: the newest."
    )
    mode: Literal["literal", "regex", "word"] = Field(
        default="literal", description="The text as it is, an expression, or whole words."
    )
    case: Literal["sensitive", "ignore", "smart"] = Field(
        default="sensitive", description="smart: ignore, unless the pattern has a capital letter."
    )
    context: int = Field(default=0, ge=0, le=100, description="So many lines before and after.")
    path: Annotated[Text, Field(max_length=1000)] | None = Field(
        default=None, description="A glob over the keys: docs/*.md, guide/, **/a.md."
    )
    limit: int = Field(default=100, ge=1, le=1000, description="At most so many lines.")
    after: Annotated[Text, Field(max_length=4000)] | None = Field(
        default=None, description="The `next` of the answer before: continues behind it."
    )
    timeout_ms: int = Field(
        default=5000, ge=1, le=60_000, description="Gives up after so many milliseconds."
    )


class Match(BaseModel):
    """A part of a line that matches; columns count characters from 1."""

    start: int = Field(examples=[5])
    end: int = Field(description="Exclusive.", examples=[16])


class TextLine(BaseModel):
    """A line that holds what was looked for."""

    page_id: int = Field(examples=[7])
    key: str = Field(description="The path of its page in the source.", examples=["tides.md"])
    title: str = Field(examples=["Reading the tide table"])
    line: int = Field(description="From 1, in the file.", examples=[12])
    column: int = Field(description="Of the first match, from 1.", examples=[5])
    content: str = Field(description="The line.", examples=["The spring tide is high."])
    matches: list[Match] = Field(description="The first hundred.")
    lines_before: list[str]
    lines_after: list[str]
    document_id: int | None = Field(description="The document that holds it.", examples=[42])
    cursor: str = Field(description="As `after`: continues behind this line.")


class TextLines(BaseModel):
    """Lines by key and line."""

    library: str = Field(examples=["harbour"])
    version: str = Field(examples=["2.1"])
    lines: list[TextLine]
    next: str | None = Field(
        description="As `after`: the next lines. Null where there are no more.",
        examples=["tides.md:12"],
    )


class HealthParameters(Arguments):
    """What to check."""

    version: VersionWish | None = Field(
        default=None, description="Only this version; default: all of them."
    )
    checks: Annotated[Text, Field(max_length=200)] | None = Field(
        default=None,
        description="Of documents, pages, vectors, links and statistics, with commas between"
        " them; default: all.",
        examples=["links,vectors"],
    )


class LibraryFinding(BaseModel):
    """Something that is not as the rows say."""

    check: str = Field(examples=["links"])
    problem: str = Field(examples=["links that wait to be connected"])
    count: int = Field(description="How often it was found.", examples=[3])
    examples: list[str] = Field(description="The first five.")
    repairable: bool = Field(description="Whether `pgrag doctor LIBRARY --repair` mends it.")
    remedy: str | None = Field(description="Else, the command that does.")


class LibraryHealth(BaseModel):
    """What is wrong with a library; nothing, mostly."""

    library: str = Field(examples=["harbour"])
    healthy: bool
    findings: list[LibraryFinding]
