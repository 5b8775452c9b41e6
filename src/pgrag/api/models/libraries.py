"""Answers about libraries, their versions and pages."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field


class Library(BaseModel):
    """A set of documentation."""

    library: str = Field(examples=["harbour"])
    language: str = Field(description="Text search configuration.", examples=["english"])
    model: str | None = Field(description="Embedding model.", examples=["static-minilm-256"])
    versions: int = Field(description="How many.", examples=[3])
    newest: str | None = Field(
        description="The one that a search without version uses.", examples=["2.1"]
    )
    pages: int = Field(description="In all versions.", examples=[120])
    documents: int = Field(description="Searchable ones, in all versions.", examples=[1890])
    settings: dict[str, Any] = Field(description="Retrieval settings in force.")
    updated_at: datetime | None


class Libraries(BaseModel):
    """All libraries, by name."""

    libraries: list[Library]


class Version(BaseModel):
    """One version of a library."""

    library: str = Field(examples=["harbour"])
    version: str = Field(description="Empty for the unversioned documentation.", examples=["2.1"])
    version_id: int = Field(examples=[3])
    class_: str = Field(
        alias="class", description="semver, partial, tag or unversioned.", examples=["partial"]
    )
    status: str = Field(description="indexing or ready.", examples=["ready"])
    is_newest: bool = Field(description="Whether a search without version uses it.")
    pages: int = Field(examples=[40])
    documents: int = Field(description="Searchable ones.", examples=[630])
    source: dict[str, Any] = Field(description="Where it was indexed from.")
    updated_at: datetime


class Versions(BaseModel):
    """The versions of a library: releases first, the newest on top."""

    library: str = Field(examples=["harbour"])
    versions: list[Version]


class PageSummary(BaseModel):
    """One page in a list."""

    page_id: int = Field(examples=[7])
    key: str = Field(description="Its path in the source.", examples=["tides.md"])
    url: str = Field(examples=["https://harbour.example/tides"])
    title: str = Field(examples=["Reading the tide table"])
    path: list[str] = Field(examples=[["Navigation", "Reading the tide table"]])
    topic: str | None
    type: str | None = Field(examples=["guide"])
    tags: list[str] = Field(examples=[["tides"]])
    language: str = Field(examples=["english"])
    created: datetime | None
    modified: datetime | None
    documents: int = Field(description="Searchable ones.", examples=[6])
    warnings: list[str] = Field(description="What had to be repaired when it was read.")


class Pages(BaseModel):
    """Pages of one version, by key."""

    library: str = Field(examples=["harbour"])
    version: str = Field(examples=["2.1"])
    pages: list[PageSummary]
    next: str | None = Field(
        description="As `after`: the next pages. Null where there are no more.",
        examples=["tides.md"],
    )


class Page(BaseModel):
    """One page with its text and all of its front matter."""

    page_id: int = Field(examples=[7])
    library: str = Field(examples=["harbour"])
    version: str = Field(examples=["2.1"])
    key: str = Field(examples=["tides.md"])
    url: str
    title: str
    path: list[str]
    front_matter: dict[str, Any]
    head: str = Field(description="The front matter as it was written, with its fences.")
    body: str = Field(description="Markdown, without the front matter.")
    uuid: str | None
    link: str | None
    topic: str | None
    type: str | None
    tags: list[str]
    aliases: list[str]
    language: str
    created: datetime | None
    modified: datetime | None
    source_hash: str
    warnings: list[str]
    document_count: int
    indexed_at: datetime


class OutlineEntry(BaseModel):
    """The page itself, or one of its sections."""

    document_id: int = Field(examples=[42])
    parent_id: int | None
    heading: str = Field(examples=["Depth over the sill"])
    heading_level: int
    depth: int
    path: list[str]
    position: str
    root_section: str
    anchor: str
    sort_order: int
    line_start: int
    line_end: int
    paragraphs: int = Field(description="Directly below.")


class Outline(BaseModel):
    """The heading tree of a page, in reading order."""

    page_id: int = Field(examples=[7])
    outline: list[OutlineEntry]
