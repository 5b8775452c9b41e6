"""Answers made of documents: hits, contexts, neighbours."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field


class _Place(BaseModel):
    """What every row says of a document."""

    document_id: int = Field(description="Stays the same while the text stays.", examples=[42])
    page_id: int = Field(examples=[7])
    library: str = Field(examples=["harbour"])
    version: str = Field(description="Empty for the unversioned documentation.", examples=["2.1"])
    url: str = Field(examples=["https://harbour.example/tides"])
    title: str = Field(description="Of the page.", examples=["Reading the tide table"])
    path: list[str] = Field(
        description="From the root of the documentation down to the section.",
        examples=[["Navigation", "Reading the tide table", "Depth over the sill"]],
    )
    content: str = Field(description="Markdown.", examples=["Yachts wait for half tide."])


class _Document(_Place):
    key: str = Field(description="The page's path in its source.", examples=["tides.md"])
    level: int = Field(description="0 page, 1 section, 2 paragraph.", examples=[2])
    heading: str = Field(examples=["Depth over the sill"])
    anchor: str = Field(description="`url#anchor` leads there.", examples=["depth-over-the-sill"])
    types: list[str] = Field(description="text, code, table, list …", examples=[["text"]])
    sort_order: int = Field(description="Place in its page.", examples=[3])
    line_start: int = Field(description="In the source file, from 1.", examples=[11])
    line_end: int = Field(examples=[13])


class Hit(_Document):
    """One document that a search found."""

    score: float = Field(
        description="Of 0 to 1, unless fused by ranks; more is better.", examples=[0.61]
    )
    keyword_score: float | None = Field(
        description="BM25F; null where the arm was not asked.", examples=[0.58]
    )
    semantic_score: float | None = Field(
        description="Cosine; null where the arm was not asked.", examples=[0.67]
    )
    link: str | None = Field(description="The page in the system that it comes from.")
    snippet: str | None = Field(
        description="With `snippets`.", examples=["Yachts wait for half **tide**."]
    )
    cursor: str = Field(description="As `after`: what follows this hit.", examples=["0.61:42"])
    explanation: dict[str, Any] | None = Field(description="With `explain`.")
    hybrid_score: float | None = Field(
        description="The fused score, where a new order has given another one.", examples=[0.61]
    )
    search_id: UUID | None = Field(description="The search that found it, if it was recorded.")


class Passage(_Document):
    """One document and where it stands."""

    score: float | None = Field(description="Where it comes from hits; added ones have 0.1.")
    relation: str | None = Field(
        description="parent, child, before, after, ancestor, hit or expansion.",
        examples=["before"],
    )
    distance: int | None = Field(description="Steps away, in that relation.", examples=[-1])
    heading_level: int = Field(description="1 to 6, 0 without heading.", examples=[2])
    depth: int = Field(description="Number of headings above, with its own.", examples=[2])
    position: str = Field(description="intro, middle or conclusion.", examples=["middle"])
    root_section: str = Field(examples=["Reading the tide table"])
    overlap: str = Field(description="How the document before ends.")


class Resolution(BaseModel):
    """Which version a wish stands for, and why."""

    library: str = Field(examples=["harbour"])
    version: str = Field(description="Empty for the unversioned documentation.", examples=["2.1"])
    version_id: int = Field(examples=[3])
    reason: str = Field(examples=["the newest release"])


class _Answer(BaseModel):
    notices: list[str] = Field(
        description="What the database had to say, such as why an arm was left out."
    )
    resolved: list[Resolution] = Field(
        description="The version of each library that was named; empty for `*` or without name."
    )
    search_id: UUID | None = Field(
        description="What feedback is given to; null if the search was not recorded."
    )


class SearchAnswer(_Answer):
    """Hits, the best first."""

    hits: list[Hit]
    next: str | None = Field(
        description="As `after`: the next hits. Null where there are no more.", examples=["0.61:42"]
    )


class ContextBlock(_Place):
    """One document of a context."""

    score: float
    relation: str = Field(description="hit, expansion, parent or sibling.", examples=["hit"])
    tokens: int = Field(description="Estimated size of the block.", examples=[57])
    block: str = Field(description="The text, with what stands above it in the context.")


class ContextAnswer(_Answer):
    """Text for a reader or a language model, and the documents it is made of."""

    text: str = Field(description="The blocks, with an empty line between them.")
    tokens: int = Field(description="Sum of the blocks'.", examples=[1870])
    blocks: list[ContextBlock]


class Parent(BaseModel):
    """The document above; null at the top."""

    parent: Passage | None


class Children(BaseModel):
    """The documents one level below, in reading order."""

    children: list[Passage]


class Siblings(BaseModel):
    """The documents beside it, in reading order."""

    siblings: list[Passage]


class Ancestors(BaseModel):
    """The documents above, the nearest first."""

    ancestors: list[Passage]


class Surroundings(BaseModel):
    """A document among its own."""

    document: Passage
    parent: Passage | None
    siblings: list[Passage]
    expansion: list[Passage] = Field(
        description="Its page around it, in reading order; the document itself is the `hit`."
    )
