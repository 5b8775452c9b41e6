"""Searching: passages within a budget of tokens, none twice."""

from dataclasses import replace
from itertools import takewhile

from pgrag.ground.calls import Row
from pgrag.mcp.asked import ALL_LIBRARIES, Asked, SearchDocs
from pgrag.mcp.corpus import Documentation, Resolved, label, named
from pgrag.mcp.no_match import answers_in_part, doubts, nearest_pages, unknown_words, ways_out
from pgrag.mcp.replies import Block, count_tokens, fit, notes, on_one_line, page_blocks
from pgrag.mcp.seen import pack, unpack
from pgrag.mcp.tool import Reply, tool
from pgrag.search.result import Result, substitutions

_VERSIONS = {None: "the newest version of each", "*": "every version"}
"""The versions that a search reads where several may be read."""
_NO_MATCH = "No good match"
_NOT_EXCLUDED = "exclude leaves out nothing for"


@tool("search_docs", "Search the documentation", is_default=True)
def search_docs(documentation: Documentation, request: SearchDocs) -> Reply:
    """Search documentation of libraries, frameworks and products in the version that is used: APIs,
    options, errors, how-to. Returns whole passages with ids, urls and the version read.
    """
    own = {"query", "version", "type", "filters", "seen", "token_budget", "cursor", "top_k"}
    seen = unpack(request.seen) if request.seen else []
    asked = Asked(documentation, request, request.model_dump(exclude=own), seen)
    result = documentation.search.search(
        request.query,
        **asked.arguments
        | asked.scope
        | {
            "top_k": request.hits,
            "after": request.cursor,
            "history": asked.arguments["changed_since"] is not None,
        },
    )
    if not asked.arguments["exclude"]:
        # What was shown may have been removed since; it is not shown again.
        kept = [each for each in result.notices if not each.startswith(_NOT_EXCLUDED)]
        result = replace(result, notices=kept)
    read = _version_read(documentation, request, result)
    if read is not None:
        # The second line of the reply says it.
        said = substitutions(result.resolved)
        kept = [each for each in result.notices if each not in said]
        result = replace(result, notices=kept)
    if result.rows:
        lacking = unknown_words(asked, read)
        if result.no_good_match and asked.is_hybrid and not answers_in_part(asked):
            return nearest_pages(asked, read, result, lacking)
        if result.no_good_match and asked.is_hybrid:
            kept = [each for each in result.notices if not each.startswith(_NO_MATCH)]
            result = replace(result, notices=kept)
        return _passages(asked, read, result, lacking)
    said = ["There are no more passages. Go on with what you have, or ask in other words."]
    if asked.excluded:
        said = ["All that fits has been shown (seen, exclude)."]
    elif request.cursor is None:
        said = [*result.notices, *ways_out(asked)]
    lines = [_head(request, read, result), "", "Nothing was found.", *notes(said, "- ")]
    rating = _rating(documentation, result)
    return Reply("\n".join([*lines, *(["", "---", rating] if rating else [])]))


def _version_read(
    documentation: Documentation, request: SearchDocs, result: Result
) -> Resolved | None:
    """The version that a search of one library read, and why; None if several may be read."""
    if request.library is None or len(result.resolved) != 1:
        return None
    if label(request.version) == "":
        return documentation.resolve(request.library, request.version)
    [read] = result.resolved
    reason = "the version asked for" if read["reason"] == "exact" else read["reason"]
    return Resolved(read["library"], read["version"], reason)


def _passages(asked: Asked, read: Resolved | None, result: Result, lacking: list[str]) -> Reply:
    request, rows = asked.request, result.rows
    head = "\n".join(
        [
            _head(request, read, result),
            *notes([*lacking, *result.notices, *(doubts(rows) if asked.is_hybrid else [])]),
        ]
    )
    hits = {row["document_id"]: row for row in rows}
    last = "".join(row["cursor"] for row in rows[-1:])
    # What the reply says beside its passages, with the longest foot.
    beside = count_tokens(head) + count_tokens(_foot(asked, result, [*hits], last)) + 4
    packed = asked.documentation.call(
        "pack_passages",
        document_ids=[*hits],
        token_budget=max(request.token_budget - beside, 1),
        # Whoever asks for a number of hits, one retriever, or what is new wants nothing else.
        expand=(
            request.top_k is None and asked.is_hybrid and asked.arguments["changed_since"] is None
        ),
        exclude=asked.excluded or None,
    )
    stated = None if read is None else named(read.library, read.label)
    blocks = page_blocks(packed, hits, stated=stated)
    # Headings may be longer than SQL counts. A reply that is cut at its end may lose the best.
    while len(blocks) > 1 and beside + _length(blocks) > request.token_budget:
        packed.remove(max(packed, key=lambda row: _turn(row, [*hits])))
        blocks = page_blocks(packed, hits, stated=stated)

    def foot(count: int) -> str:
        shown = [block.id for block in blocks[:count]]
        # Hits come page by page: what follows the first that is missing is listed again.
        unbroken = list(takewhile(lambda id: id in shown, hits)) or shown[:1]
        is_all = len(unbroken) == len(hits) and len(hits) < request.hits
        return _foot(asked, result, shown, None if is_all else hits[unbroken[-1]]["cursor"])

    return Reply(fit(head, blocks, foot, request.token_budget).text)


def _length(blocks: list[Block]) -> int:
    return sum(count_tokens(str(block)) + 1 for block in blocks)


def _turn(row: Row, ids: list[int]) -> tuple[int, int]:
    """When SQL takes a passage: the best two hits, what is beside them, the other hits."""
    if row["relation"] != "hit":
        return 1, row["distance"]
    place = ids.index(row["document_id"])
    return 0 if place < 2 else 2, place


def _foot(asked: Asked, result: Result, shown: list[int], cursor: str | None) -> str:
    """How to go on."""
    more = "" if cursor is None else f' More: cursor="{cursor}".'
    best = next(row["document_id"] for row in result.rows if row["document_id"] in shown)
    said = f'Read on: read_docs(ids=[{best}]).{more} Next search: seen="'
    rating = _rating(asked.documentation, result)
    seen = pack([*asked.seen, *shown])
    return "\n".join(["---", f'{said}{seen}".', *([rating] if rating else [])])


def _head(request: SearchDocs, read: Resolved | None, result: Result) -> str:
    versions = _VERSIONS.get(request.version, f"version {request.version}")
    where = (
        str(read)
        if read
        else "; ".join(
            [f"{request.library or ALL_LIBRARIES}, {versions}", *_pinned_versions(result)]
        )
    )
    following = " (continued)" if request.cursor else ""
    return f"# Passages for {on_one_line(request.query)!r}{following}\nFrom: {where}"


def _pinned_versions(result: Result) -> list[str]:
    """The libraries of the hits that were read in the version of the project; a notice tells those
    whose version is not indexed.
    """
    shown = {row["library"] for row in result.rows}
    return [
        str(Resolved(read["library"], read["version"], read["reason"]))
        for read in result.resolved
        if read["library"] in shown
        and "pinned" in read["reason"]
        and "is not indexed" not in read["reason"]
    ]


def _rating(documentation: Documentation, result: Result) -> str:
    if result.search_id is None or not documentation.asks_for_ratings:
        return ""
    return f'Rate it: send_feedback(search_id="{result.search_id}", rating=1 to 5).'
