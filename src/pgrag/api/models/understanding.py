"""Answers about queries themselves."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from pgrag.api.models.arguments import Arguments, Count, Text


class Intent(BaseModel):
    """What kind of question a query is, and what that chooses for a search."""

    intent: str = Field(examples=["PROCEDURAL"])
    query_type: str = Field(examples=["procedural"])
    confidence: float = Field(description="0: no rule says an intent.", examples=[0.9])
    rule: str | None = Field(description="That says the intent.", examples=["how-to-en"])
    matched: str | None = Field(description="The words it matched.", examples=["how do I"])
    type_rule: str | None = Field(description="That says the type.", examples=["how-to-en"])
    type_matched: str | None = Field(examples=["how do I"])
    levels: list[int] = Field(examples=[[1, 2]])
    unit: str = Field(description="document or page.", examples=["document"])
    aggregate: str = Field(description="max, mean or rrf.", examples=["max"])
    alpha: float | None = Field(description="Null: the library's.")
    alpha_offset: float | None = Field(description="To be added to alpha.")
    hierarchy: str = Field(description="none, depth, breadth or overview.", examples=["depth"])


class Configuration(BaseModel):
    """What holds for all libraries: intents, query types and rules, synonyms, types of pages."""

    configuration: dict[str, dict[str, Any]] = Field(
        description="query_types, intents, rules, synonyms, page_types, edge_kinds, templates; each"
        " by name."
    )


class ConfigurationBody(Arguments):
    """Entries to bring in."""

    entries: dict[str, Any] = Field(
        description="By section and name; null removes an entry. Others stay as they are.",
        examples=[{"rules": {"tickets": {"pattern": "T-[0-9]{4,}", "intent": "KNOWN_ITEM"}}}],
    )
    exact: bool = Field(default=False, description="A section given is all there is of it.")
    note: Text = Field(default="", max_length=1000, description="Why; kept with the version.")
    dry_run: bool = Field(default=False, description="Say what would change, and change nothing.")


class ConfigurationChange(BaseModel):
    """One entry that changes."""

    section: str = Field(examples=["rules"])
    name: str = Field(examples=["tickets"])
    change: Literal["add", "change", "remove"]
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class OutdatedPages(BaseModel):
    """A version with pages that other page types have read."""

    library: str = Field(examples=["jest"])
    version: str = Field(examples=["29.7"])
    pages: int = Field(description="Those that must be read again.", examples=[12])
    total: int = Field(description="All pages of the version.", examples=[120])


class ConfigurationChanges(BaseModel):
    """What changed, or would."""

    changes: list[ConfigurationChange]
    outdated: list[OutdatedPages] = Field(
        description="Where page types have changed: the versions that must be indexed again."
    )


class ConfigurationHistory(Arguments):
    """How many versions to list."""

    limit: Count = Field(default=20, ge=1, description="Versions at most.")


class ConfigurationVersion(BaseModel):
    """A state that the configuration had."""

    version_id: int = Field(examples=[2])
    origin: str = Field(description="`package` as a release brought it, `user` otherwise.")
    note: str
    created_at: datetime
    configuration: dict[str, Any]


class ConfigurationVersions(BaseModel):
    """States of the configuration, the newest first."""

    versions: list[ConfigurationVersion]


class SynonymsBody(Arguments):
    """Synonyms to add, change or remove."""

    synonyms: dict[str, Any] = Field(
        description="By term: a list, or an object with `expansions`, `weight` and `mutual`; null"
        " removes the term.",
        examples=[{"PTO": ["paid time off", "leave"], "old": None}],
    )


class Synonym(BaseModel):
    """What else a term stands for."""

    term: str = Field(examples=["PTO"])
    expansions: list[str] = Field(examples=[["paid time off", "leave"]])
    weight: float = Field(description="Of one of the query's own words.", examples=[0.5])
    mutual: bool = Field(description="Whether each of them finds the others.")


class Synonyms(BaseModel):
    """The synonyms of a library, by term."""

    library: str
    synonyms: list[Synonym]
