"""The paragraphs of pages: those around a passage, below their headings."""

from pgrag.ground.calls import Row
from pgrag.mcp.corpus import Documentation
from pgrag.mcp.replies import Block, breadcrumbs, count_tokens, on_one_line

_NEIGHBOURS = 2
"""Paragraphs before and after."""
_ALL = 1_000_000


def around(documentation: Documentation, row: Row, expand: str | None) -> list[Row]:
    """The paragraphs around a passage, including itself, in reading order; by default those of its
    section, or its neighbours if it is all of its section, which the agent has seen.
    """
    if expand == "none":
        return [row]
    rows = paragraphs_of(documentation, row["document_id"])
    section = [other for other in rows if _is_within(other, row)] or [row]
    is_alone = [other["document_id"] for other in section] == [row["document_id"]]
    if expand == "neighbours" or (expand is None and is_alone):
        index = _index(rows, row)
        return rows[max(index - _NEIGHBOURS, 0) : index + _NEIGHBOURS + 1]
    return section


def _is_within(paragraph: Row, row: Row) -> bool:
    """Whether a paragraph belongs to a section; a short section may lie inside a paragraph."""
    if paragraph["path"][: len(row["path"])] == row["path"]:
        return True
    begins_before = paragraph["line_start"] <= row["line_end"]
    return bool(row["level"] < 2 and begins_before and paragraph["line_end"] >= row["line_start"])


def _index(rows: list[Row], row: Row) -> int:
    """The index of a passage among the paragraphs; of a section, that of its first paragraph."""
    order = row["sort_order"]
    following = (index for index, other in enumerate(rows) if other["sort_order"] >= order)
    return next(following, len(rows) - 1)


def window(rows: list[Row], row: Row, room: int) -> list[Row]:
    """The rows around a passage that fit the room, growing alternately to both sides."""
    index = _index(rows, row)
    sizes = [
        count_tokens(other["content"]) + count_tokens(breadcrumbs(other)) + 2 for other in rows
    ]
    first = last = index
    left = room - sizes[index]
    is_open = {True: True, False: True}
    forward = True
    while any(is_open.values()):
        other = last + 1 if forward else first - 1
        if is_open[forward] and 0 <= other < len(rows) and sizes[other] <= left:
            left -= sizes[other]
            first, last = min(first, other), max(last, other)
        else:
            is_open[forward] = False
        forward = not forward
    return rows[first : last + 1]


def paragraphs_of(documentation: Documentation, document_id: int) -> list[Row]:
    """The paragraphs of a passage's page, in reading order."""
    rows = documentation.call(
        "expand_documents", document_ids=[document_id], scores=[1.0], max_chunks_per_document=_ALL
    )
    whole = [row for row in rows if row["level"] == 2]
    return sorted(whole or rows, key=lambda row: row["sort_order"])


def below_headings(rows: list[Row], shown_path: list[str]) -> list[Block]:
    """Paragraphs, each below its headings that are not yet shown; `shown_path` is shown already."""
    blocks = []
    above = shown_path
    for row in rows:
        path = row["path"]
        common = next(
            (index for index, name in enumerate(path) if above[index : index + 1] != [name]),
            len(path),
        )
        headings = [
            f"{'#' * min(depth + 1, 6)} {on_one_line(name)}"
            for depth, name in enumerate(path[common:], start=max(common - len(shown_path) + 1, 1))
        ]
        above = path
        blocks.append(
            Block(row["document_id"], "\n\n".join(headings), row["content"], is_quoted=False)
        )
    return blocks
