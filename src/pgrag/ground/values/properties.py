"""Queries over the front matter of pages, and its properties."""

from typing import Any

from pgrag.ground.values.base import Value, Versioned, described
from pgrag.ground.values.lists import Listing

_TYPES = "text, number, boolean, date, datetime, duration, link, list, object"


class PageQueryRow(Value):
    """One page, task or group."""

    page_id: int | None = described("Null for a group.", 7)
    key: str | None = described("Path of the page in its source.", "tides.md")
    title: str | None = described("", "Reading the tide table")
    line: int | None = described("Line of a task in the source file.", 12)
    document_id: int | None = described("The smallest passage at the line of a task.", 42)
    fields: dict[str, Any] = described("Values by the names of the columns.", {"status": "open"})
    values: tuple[Any, ...] = described("The same values in order.", ("open",))


class PageQueryResult(Listing[PageQueryRow], Versioned):
    """The rows of a query over pages."""

    list_field = "rows"
    list_columns = ("title", "key", "values")

    columns: tuple[str, ...] = described("Names of the values.", ("File", "status"))
    rows: tuple[PageQueryRow, ...]
    notices: tuple[str, ...] = described("Properties that no page has, such as misspelt ones.")


class Property(Value):
    """A property of the front matter."""

    name: str = described("", "status")
    types: tuple[str, ...] = described(f"The most frequent first: {_TYPES}.", ("text",))
    pages: int = described("Pages that have the property.", 12)
    share: float = described("Share of all pages, 0 to 1.", 0.4)
    distinct_values: int = described("", 3)
    examples: tuple[Any, ...] = described("The most frequent values.", ("open",))
    type_counts: dict[str, int] = described(
        "By type; `empty` for null and empty text.", {"text": 12}
    )
    is_mixed: bool = described("Whether the values have incompatible types.")


class PropertyList(Versioned):
    """Properties of the pages of a version, those of most pages first."""

    properties: tuple[Property, ...]


class PageProperty(Value):
    """A property of one page."""

    name: str = described("", "status")
    type: str = described(f"{_TYPES}, or `empty` for null and empty text.", "text")
    value: Any = described("", "open")
