"""Lines of the sources that contain a text."""

from typing import Literal

from pydantic import Field

from pgrag.ground.calls import Row
from pgrag.mcp import fields
from pgrag.mcp.corpus import Documentation
from pgrag.mcp.replies import Block, fit_page, line, on_one_line
from pgrag.mcp.tool import Paged, Reply, tool

_TIMEOUT_MS = 5000
_LONGEST_LINE = 600
"""Characters shown of a line, around its first match."""


class SearchText(Paged):
    """The pattern of a line, and the pages to search."""

    library: fields.LibraryName
    pattern: str = Field(
        min_length=1,
        max_length=1000,
        description="What a line must contain, exactly.",
        examples=["useEffect("],
    )
    version: fields.VersionWish = None
    mode: Literal["literal", "word", "regex"] = Field(
        default="literal", description="The text as it is, whole words, or a regular expression."
    )
    case: Literal["sensitive", "ignore", "smart"] = Field(
        default="smart", description="smart: ignore, unless the pattern has a capital letter."
    )
    path: str | None = fields.optional_text(1000, "Only these files: guide/, docs/*.md, **/a.md.")
    context: int = Field(default=0, ge=0, le=10, description="Lines before and after.")
    top_k: int = Field(default=30, ge=1, le=200, description="The maximum number of lines.")


@tool("search_text", "Search for exact text", is_costly=True)
def search_text(documentation: Documentation, request: SearchText) -> Reply:
    """List the lines of a library's sources that contain an exact text, as grep does, with page
    and line. Use it to check whether a name, flag or message occurs at all, and for regular
    expressions; for questions use search_docs.
    """
    read = documentation.resolve(request.library, request.version)
    rows = documentation.app.database.call_in_time(
        "search_text", timeout_ms=_TIMEOUT_MS, pattern=request.pattern, library=request.library,
        version=read.label, mode=request.mode, case_mode=request.case, context=request.context,
        path=request.path, top_k=request.top_k, after=request.cursor,
    )  # fmt: skip

    def cursor(count: int) -> str | None:
        is_all = count == len(rows) and len(rows) < request.top_k
        return None if is_all else str(rows[count - 1]["cursor"])

    head = f"# Lines with {on_one_line(request.pattern)!r}\nFrom: {read}"
    if not rows:
        return Reply(f"{head}\n\n{_no_line(request)}")
    foot = "</passage>\n\nRead on: read_docs(page=ID), read_docs(ids=[…])."
    page = fit_page(
        f"{head}\n<passage>", _line_blocks(rows), foot, cursor, request.token_budget, separator="\n"
    )
    return Reply(page.text)


def _line_blocks(rows: list[Row]) -> list[Block]:
    blocks = []
    page_id = None
    for row in rows:
        lines = []
        if row["page_id"] != page_id:
            page_id = row["page_id"]
            page = on_one_line(f"{row['key']}: {row['title']}")
            lines.append(f"[{page}, page={page_id}]")
        number = row["line"]
        lines += _context(row["lines_before"], number - len(row["lines_before"]))
        document = f" (id={row['document_id']})" if row["document_id"] else ""
        lines.append(f"{number}: {_shortened(row)}{document}")
        lines += _context(row["lines_after"], number + 1)
        blocks.append(line("\n".join(lines), id=row["document_id"] or 0))
    return blocks


def _context(lines: list[str], first: int) -> list[str]:
    return [f"{number}- {each[:_LONGEST_LINE]}" for number, each in enumerate(lines, first)]


def _shortened(row: Row) -> str:
    """The line; a very long one is cut around its first match."""
    content: str = row["content"]
    if len(content) <= _LONGEST_LINE:
        return content
    start = max(row["column"] - 1 - _LONGEST_LINE // 3, 0)
    end = start + _LONGEST_LINE
    return ("…" if start else "") + content[start:end] + ("…" if end < len(content) else "")


def _no_line(request: SearchText) -> str:
    if request.cursor is not None:
        return "There are no more lines."
    is_cased = request.case == "sensitive" or (
        request.case == "smart" and request.pattern != request.pattern.lower()
    )
    ways = ['case="ignore"'] * is_cased + ["no path"] * (request.path is not None)
    ways += ['mode="literal"'] * (request.mode != "literal") + ["a shorter pattern", "search_docs"]
    return f"No line has it. Try {', '.join(ways)}."
