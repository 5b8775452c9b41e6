"""Queries over the properties of pages, and the properties."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, Field

from pgrag.api.models.arguments import Arguments, Text, VersionWish

_EXAMPLE = "TABLE status, due FROM #project WHERE priority > 3 SORT due DESC"


class _Chosen(Arguments):
    version: VersionWish | None = Field(
        default=None,
        description="A label or a range; `-` for the unversioned documentation; default: the"
        " newest.",
        examples=["2.1"],
    )


class _Bounded(_Chosen):
    limit: int = Field(default=1000, ge=0, le=100_000, description="At most so many rows.")
    timeout_ms: int = Field(
        default=30_000, ge=1, le=600_000, description="Gives up after so many milliseconds."
    )


class PageQueryParameters(_Bounded):
    """A query over pages."""

    query: Annotated[Text, Field(max_length=10_000)] = Field(
        alias="q",
        description="TABLE, LIST or TASK, in a part of Dataview's language.",
        examples=[_EXAMPLE],
    )


class PageQueryBody(_Bounded):
    """A query over pages."""

    query: Annotated[Text, Field(max_length=10_000)] = Field(
        validation_alias=AliasChoices("query", "q"),
        description="TABLE, LIST or TASK, in a part of Dataview's language.",
        examples=[_EXAMPLE],
    )


class PageQueryRow(BaseModel):
    """One page, task or group."""

    page_id: int | None = Field(description="Null for a group.", examples=[7])
    key: str | None = Field(description="Its path in the source.", examples=["tides.md"])
    title: str | None = Field(examples=["Reading the tide table"])
    line: int | None = Field(description="Of a task, in the source file.", examples=[12])
    document_id: int | None = Field(
        description="The smallest document at a task's line.", examples=[42]
    )
    fields: dict[str, Any] = Field(
        description="Values by the names of their columns.", examples=[{"status": "open"}]
    )
    values: list[Any] = Field(description="The same in order.", examples=[["open"]])


class PageQueryAnswer(BaseModel):
    """What a query over pages has found."""

    library: str = Field(examples=["harbour"])
    version: str = Field(examples=["2.1"])
    columns: list[str] = Field(description="Names of the values.", examples=[["File", "status"]])
    rows: list[PageQueryRow]
    notices: list[str] = Field(description="Properties that no page has, such as misspelt ones.")


class PropertiesParameters(_Chosen):
    """Whose properties."""

    examples: int = Field(default=3, ge=0, le=100, description="Examples of values of each.")


class Property(BaseModel):
    """A property of the front matter."""

    name: str = Field(examples=["status"])
    types: list[str] = Field(
        description="As they are found, the most frequent first: text, number, boolean, date,"
        " datetime, duration, link, list, object.",
        examples=[["text"]],
    )
    pages: int = Field(description="Pages that have it.", examples=[12])
    share: float = Field(description="Of all pages, 0 to 1.", examples=[0.4])
    distinct_values: int = Field(examples=[3])
    examples: list[Any] = Field(description="The most frequent values.", examples=[["open"]])
    type_counts: dict[str, int] = Field(
        description="Pages by type; `empty` for null and empty text.", examples=[{"text": 12}]
    )
    is_mixed: bool = Field(description="Whether its values are of types that do not fit.")


class Properties(BaseModel):
    """Properties of the pages of a version, those of most pages first."""

    library: str = Field(examples=["harbour"])
    version: str = Field(examples=["2.1"])
    properties: list[Property]


class PageProperty(BaseModel):
    """A property of one page."""

    name: str = Field(examples=["status"])
    type: str = Field(
        description="text, number, boolean, date, datetime, duration, link, list, object, or"
        " `empty` for null and empty text.",
        examples=["text"],
    )
    value: Any = Field(examples=["open"])


class PageProperties(BaseModel):
    """The properties of one page, by name."""

    properties: list[PageProperty]
