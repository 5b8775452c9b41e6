"""Pages with their outlines and properties, and passages with their neighbours."""

from typing import Annotated, Any

from pydantic import Field

from pgrag.api.arguments import Arguments, Count, LibraryName, OfVersion, Text
from pgrag.api.declared import Exchange, Router
from pgrag.api.openapi import problems
from pgrag.ground.values.base import Value
from pgrag.ground.values.changes import PageVersion, SectionVersion
from pgrag.ground.values.libraries import OutlineEntry, Page, PageName
from pgrag.ground.values.passages import Passage, Surroundings
from pgrag.ground.values.rendered import RenderedPage
from pgrag.rendering.page import rendered_page
from pgrag.search.changes import section_history

pages = Router(tags=["pages"], responses=problems(404))
documents = Router(tags=["documents"], responses=problems(404))


class SurroundingsParameters(Arguments):
    """How far to look."""

    before: Count = Field(default=1, description="At most this many siblings before.")
    after: Count = Field(default=1, description="At most this many siblings after.")
    max_chunks_per_document: Count = Field(
        default=20, description="At most this many passages of the page, the nearest ones."
    )


class RenderedParameters(Arguments):
    """What to mark, and where to begin."""

    document_id: Annotated[Text, Field(max_length=4000)] | None = Field(
        default=None,
        description="A passage of the page to mark, by its id or key.",
        examples=["42"],
    )
    q: Annotated[Text, Field(max_length=10_000)] | None = Field(
        default=None, description="A query whose words to mark.", examples=["depth sill"]
    )
    prefix: bool = Field(
        default=False, description="The last word of the query is also the beginning of words."
    )
    line: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000_000,
        description="`next_line` of the previous answer: where a long page goes on. By default the"
        " answer has the whole page or, of a long one, what is around the passage.",
    )


class HistoryParameters(Arguments):
    """What to tell of each version."""

    diff: bool = Field(
        default=False, description="Add the text, and its unified diff to the version before."
    )


class Parent(Value):
    """The passage above; null at the top."""

    parent: Passage | None


class History(Value):
    """A section in the versions of its library."""

    history: tuple[SectionVersion, ...]


pages.declare(
    "/pages",
    PageName,
    "Find a page by its key, name, title, alias or url. An ambiguous name is an error that lists"
    " the keys.",
    function="find_page",
    base=OfVersion,
    library=(LibraryName, Field(description="Name of a library.", examples=["harbour"])),
    page=(
        Annotated[Text, Field(max_length=4000)],
        Field(description="Its key, name, title, alias, url or id.", examples=["tides"]),
    ),
)
pages.declare(
    "/pages/{page_id:page}",
    Page,
    "Give a page with its text and all of its front matter.",
    function="page",
)
pages.declare(
    "/pages/{page_id:page}/outline",
    list[OutlineEntry],
    "Give the heading tree of a page, in reading order.",
    echo=True,
)
pages.declare(
    "/pages/{page_id:page}/versions",
    list[PageVersion],
    "List the page in each version that has it, its own included, the newest first.",
    function="page_versions",
    name="page_versions",
    key="versions",
)


@pages.answers("/pages/{page_id:page}/rendered", RenderedPage, name="rendered_page")
def rendered(exchange: Exchange, page_id: str, query: RenderedParameters) -> Any:
    """Give a page as sanitised HTML, with a passage and the words of a query marked."""
    with exchange.timed() as database:
        return rendered_page(
            database, page_id, document=query.document_id, query=query.q, prefix=query.prefix,
            line=query.line,
        )  # fmt: skip


documents.declare(
    "/documents",
    Passage,
    "Find a passage by its key, the `chunk_key` of a hit.",
    function="find_document",
    base=OfVersion,
    library=(LibraryName, Field(description="Name of a library.", examples=["harbour"])),
    chunk_key=(
        Annotated[Text, Field(max_length=4000)],
        Field(description="A page, `#c` and a number.", examples=["tides.md#c3"]),
    ),
)
documents.declare(
    "/documents/{document_id:passage}", Passage, "Give one passage.", function="document"
)
documents.declare(
    "/documents/{document_id:passage}/children",
    list[Passage],
    "List the passages one level below, in reading order; for a page also the pages below.",
)
documents.declare(
    "/documents/{document_id:passage}/siblings",
    list[Passage],
    "List the passages of the same level beside it, in reading order, also on pages with its path.",
    before=(Count, Field(default=1000, description="At most this many before.")),
    after=(Count, Field(default=1000, description="At most this many after.")),
)
documents.declare(
    "/documents/{document_id:passage}/ancestors",
    list[Passage],
    "List the passages above, the nearest first, up to the root of the documentation.",
)


@documents.answers("/documents/{document_id:passage}/history", History)
def history(exchange: Exchange, document_id: str, query: HistoryParameters) -> Any:
    """List a passage's section in each version that has it, the oldest first."""
    with exchange.timed() as database:
        return {"history": section_history(database, document_id, diff=query.diff)}


@documents.answers("/documents/{document_id:passage}/parent", Parent)
def parent(exchange: Exchange, document_id: str) -> Any:
    """Return the section of a paragraph, the section or page above it, or the parent page."""
    rows = exchange.call("parent", document_id=document_id)
    return {"parent": rows[0] if rows else None}


@documents.answers("/documents/{document_id:passage}/context", Surroundings)
def surroundings(exchange: Exchange, document_id: str, query: SurroundingsParameters) -> Any:
    """Return a passage with its parent, its nearest siblings and its page around it."""
    [document] = exchange.call("document", document_id=document_id)
    return {
        "document": document,
        **parent(exchange, document_id),
        "siblings": exchange.call(
            "siblings", document_id=document_id, before=query.before, after=query.after
        ),
        "expansion": exchange.call(
            "expand_documents",
            document_ids=[document_id],
            scores=[1.0],
            max_chunks_per_document=query.max_chunks_per_document,
        ),
    }
