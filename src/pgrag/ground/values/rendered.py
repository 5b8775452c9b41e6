"""A page as HTML, with what is around it."""

from typing import Literal

from pgrag.ground.values.base import Value, Versioned, described
from pgrag.ground.values.libraries import PageName


class AdjacentPage(PageName):
    """The page before or after a page in the order of the documentation."""

    relation: str = described("previous or next.", "next")


class MarkedPassage(Value):
    """A passage in the HTML of its page."""

    document_id: int = described("", 42)
    line_start: int = described("First line in the source; 0: unknown.", 12)
    line_end: int = described("Last line in the source; 0: unknown.", 18)
    marked: Literal["lines", "text", "page", "nothing"] = described(
        "`lines`: its lines are marked; `text`: what has its words, because its lines are unknown;"
        " `page`: it is the whole page, so nothing is marked; `nothing`: it was not found.",
        "lines",
    )


class RenderedPage(Versioned):
    """A page as HTML for a reader.

    The HTML has only elements and attributes of an allow-list: no script, style, image or form, and
    nothing that asks another host. The blocks of the page have `data-lines`, their lines in the
    source; headings have their anchor as `id`. Whole blocks of the passage are in an element of the
    class `passage`; of a list, table or block of code that only begins or ends there, its items,
    rows and lines have the class. The first of these elements has the id `passage`, unless a
    heading has. Words of the query are in `mark`. Links to indexed pages have `data-page-id`; an
    image is a link with its alternative text.
    """

    page_id: int = described("", 7)
    key: str = described("Path of the page in its source.", "tides.md")
    url: str = described("", "https://harbour.example/tides")
    link: str | None = described("The page in the system it was exported from.")
    title: str = described("", "Reading the tide table")
    path: tuple[str, ...] = described("", ("Navigation", "Reading the tide table"))
    language: str = described("A code; simple: not known.", "en")
    html: str = described("", '<h1 id="reading-the-tide-table" data-lines="7-7">Reading …</h1>')
    first_line: int = described("First line of the page's text, below its front matter.", 7)
    line_start: int = described("First line of the source that `html` shows.", 7)
    line_end: int = described("Last line of the source that `html` shows.", 23)
    next_line: int | None = described(
        "Where a page that is too long for one answer goes on: send it as `line`. Null: it ends."
    )
    passage: MarkedPassage | None = described("Null without `document_id`.")
    words: tuple[str, ...] = described("What is marked for the query.", ("tide", "tides"))
    previous: AdjacentPage | None = described("Null: the first page.")
    next: AdjacentPage | None = described("Null: the last page.")
