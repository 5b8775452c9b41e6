"""Tables of the user whose rows are pages."""

from typing import Any

from pgrag.ground.values.base import Value, described


class IndexedTable(Value):
    """A table of the user whose rows are the pages of a library."""

    library: str = described("", "tickets")
    source: str | None = described("The table; null: it has been dropped.", "public.tickets")
    columns: dict[str, Any] = described(
        "Names of columns by what they are.", {"id": ["id"], "text": ["body"]}
    )
    format: str = described("text, markdown or html.", "text")
    url: str | None = described("Address of a row, with {key}.", "https://desk.example/t/{key}")
    watched: bool = described("Whether triggers note changed rows.", True)
    pages: int = described("", 1200)
    waiting: int | None = described("Notes not read yet; null: all rows will be compared.", 0)


class RefreshedTable(Value):
    """What a refresh of an indexed table has changed."""

    written: int = described("Pages written.", 12)
    unchanged: int = described("Rows read without a change.", 0)
    removed: int = described("Pages of rows that are gone.", 1)
    failed: int = described("Rows that cannot be stored; the log names them.", 0)
    waiting: int = described("Notes of changes that were made meanwhile.", 0)
