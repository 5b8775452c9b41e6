"""Searching: passages within a budget of tokens, none twice."""

import re
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from pgrag.ground.arguments import SearchArguments
from pgrag.ground.calls import Row
from pgrag.ground.errors import PgragError
from pgrag.mcp import fields
from pgrag.mcp.corpus import Documentation, Resolved, label, named, shown
from pgrag.mcp.replies import Block, count_tokens, fit, notes, on_one_line, page_blocks
from pgrag.mcp.seen import pack, unpack
from pgrag.mcp.tool import Paged, Reply, tool, with_declared
from pgrag.search.result import Result, substitutions

_VERSIONS = {None: "the newest version of each", "*": "every version"}
"""The versions that a search reads where several may be read."""
_NEAREST = 3
"""Pages named if there is no good match; one less for each other line that the reply needs."""
_TITLE_BYTES = 80
_REASON_BYTES = 130
_ALL = "all libraries"
_MARKS = re.compile(r'"|(?<!\S)[+-](?=\S)')
"""Marks that make a term of a query required or forbidden."""
_LACKS = {"keyword": "those words", "semantic": "a vector near it"}
"""What no passage has if a retriever has no hits."""
_NO_MATCH = "No good match"
_NOT_EXCLUDED = "exclude leaves out nothing for"
_MOST_HITS = 50
_TOKENS_OF_HIT = 100
"""Few passages are shorter: a budget has room for no more hits than it has this many tokens."""
_SENTENCE = re.compile(r"(?<=[.?!;])\s+|\n+")
_WORDS_OF_SENTENCE = 4
_SENTENCES = 5
"""Sentences of a question that are asked alone if all of it has no good match."""


@with_declared(
    SearchArguments,
    exclude="Ids not to show; page:ID for a page.",
    changed_since="Only what is new or changed since this version.",
    min_confidence="0 to 1; 0 shows weak matches.",
    mode="",
)
class SearchDocs(Paged):
    """A question, and where to look."""

    query: fields.Query = Field(
        description="A question or key terms; spell names as they are.",
        examples=["clean up an effect on unmount"],
    )
    library: fields.AnyLibrary = Field(default=None, description="By default all.")
    version: fields.VersionWish = Field(
        default=None,
        description="18.2.0, 5.x, ^2.1, latest; * is all, - unversioned. By default the newest.",
    )
    type: str | None = Field(default=None, max_length=200, description="Of pages.")
    top_k: int | None = Field(default=None, ge=1, le=50, description="By default what fits.")
    filters: fields.Filters = Field(
        default=None,
        description='Front matter: {"tags": ["a"], "created": {">=": "2024-12"}}.',
    )
    #: Answered, not listed: whoever knows one version gives it as `version`, which costs no tokens.
    dependencies: SkipJsonSchema[fields.Filters] = None
    seen: str | None = Field(
        default=None, max_length=8000, description="From the last reply: repeats no passage."
    )
    token_budget: fields.TokenBudget = fields.SEARCH_BUDGET
    cursor: fields.Cursor = Field(default=None, description="From a reply: goes on after it.")

    @property
    def hits(self) -> int:
        """How many hits are searched for."""
        return self.top_k or min(max(self.token_budget // _TOKENS_OF_HIT, 8), _MOST_HITS)

    @property
    def conditions(self) -> dict[str, Any] | None:
        """The filters with the type."""
        if self.type is None:
            return self.filters
        wanted = {"type": self.type}
        return {"and": [self.filters, wanted]} if self.filters else wanted


@dataclass(frozen=True, slots=True)
class _Asked:
    """A search as it was asked for, with the `arguments` that SQL takes as they are, and what the
    agent has seen.
    """

    documentation: Documentation
    request: SearchDocs
    arguments: dict[str, Any]
    seen: list[int]

    @property
    def excluded(self) -> list[str]:
        return [*(self.arguments["exclude"] or []), *map(str, self.seen)]

    @property
    def is_hybrid(self) -> bool:
        return self.arguments["mode"] in {None, "hybrid"}


@tool("search_docs", "Search the documentation", is_default=True)
def search_docs(documentation: Documentation, request: SearchDocs) -> Reply:
    """Search documentation of libraries, frameworks and products in the version that is used: APIs,
    options, errors, how-to. Returns whole passages with ids, urls and the version read.
    """
    own = {"query", "version", "type", "filters", "seen", "token_budget", "cursor", "top_k"}
    seen = unpack(request.seen) if request.seen else []
    asked = _Asked(documentation, request, request.model_dump(exclude=own), seen)
    result = documentation.search.search(
        request.query,
        **asked.arguments
        | {
            "version": label(request.version), "filters": request.conditions,
            "top_k": request.hits,
            "exclude": asked.excluded or None, "after": request.cursor,
            "history": asked.arguments["changed_since"] is not None,
            "dependencies": request.dependencies or _pinned(documentation, request),
        },
    )  # fmt: skip
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
    # Whoever asks one retriever alone wants to see what it finds.
    if result.rows:
        lacking = _unknown(asked, read)
        if result.no_good_match and asked.is_hybrid and not _answers_in_part(asked):
            return _nearest(asked, read, result, lacking)
        if result.no_good_match and asked.is_hybrid:
            kept = [each for each in result.notices if not each.startswith(_NO_MATCH)]
            result = replace(result, notices=kept)
        return _passages(asked, read, result, lacking)
    said = ["There are no more passages. Go on with what you have, or ask in other words."]
    if asked.excluded:
        said = ["All that fits has been shown (seen, exclude)."]
    elif request.cursor is None:
        said = [*result.notices, *_no_hits(asked)]
    lines = [_head(request, read, result), "", "Nothing was found.", *notes(said, "- ")]
    rating = _rating(documentation, result)
    return Reply("\n".join([*lines, *(["", "---", rating] if rating else [])]))


def _pinned(documentation: Documentation, request: SearchDocs) -> Any:
    return documentation.pinned() if request.version is None else None


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


def _passages(asked: _Asked, read: Resolved | None, result: Result, lacking: list[str]) -> Reply:
    request, rows = asked.request, result.rows
    doubts = _doubts(rows) if asked.is_hybrid else []
    head = "\n".join([_head(request, read, result), *notes([*lacking, *result.notices, *doubts])])
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


def _foot(asked: _Asked, result: Result, shown: list[int], cursor: str | None) -> str:
    """How to go on."""
    more = "" if cursor is None else f' More: cursor="{cursor}".'
    best = next(row["document_id"] for row in result.rows if row["document_id"] in shown)
    said = f'Read on: read_docs(ids=[{best}]).{more} Next search: seen="'
    rating = _rating(asked.documentation, result)
    seen = pack([*asked.seen, *shown])
    return "\n".join(["---", f'{said}{seen}".', *([rating] if rating else [])])


def _unknown(asked: _Asked, read: Resolved | None) -> list[str]:
    """Words of the query that the library does not have."""
    if read is None or not asked.is_hybrid:
        return []
    rows = asked.documentation.call(
        "unknown_words", query=asked.request.query, library=read.library
    )
    words = ", ".join(f'"{row["unknown_words"]}"' for row in rows)
    return [f"No passage of {read.library} contains {words}."] if words else []


def _answers_in_part(asked: _Asked) -> bool:
    """Whether a sentence of a question has a good match: all of them together may have none."""
    sentences = [each.strip() for each in _SENTENCE.split(asked.request.query)]
    asking = [each for each in sentences if len(each.split()) >= _WORDS_OF_SENTENCE]
    if len(asking) < 2:
        return False
    request = asked.request
    scope: dict[str, Any] = {
        "library": request.library, "version": label(request.version), "top_k": 1,
        "filters": request.conditions, "exclude": asked.excluded or None,
        "dependencies": request.dependencies or _pinned(asked.documentation, request),
    }  # fmt: skip

    def is_answered(sentence: str) -> bool:
        try:
            result = asked.documentation.unrecorded.search(sentence, **scope)
        except PgragError:
            # A part of a query may be no query, such as one of excluded words.
            return False
        return bool(result.rows) and not result.no_good_match

    return any(map(is_answered, asking[:_SENTENCES]))


def _nearest(asked: _Asked, read: Resolved | None, result: Result, lacking: list[str]) -> Reply:
    """The reply if no passage is likely to answer: the nearest pages, without their texts."""
    pages = {row["page_id"]: _short(row["title"]) for row in result.rows}
    count = _NEAREST
    where = _short(named(read.library, read.label) if read else asked.request.library or _ALL)
    if read and ("pinned" in read.reason or "is not indexed" in read.reason):
        # Another version may have it.
        where += f" ({_short(read.reason, _REASON_BYTES)})"
        count -= 1
    count -= bool(lacking)
    nearest = [f"- {title} (page {id})" for id, title in [*pages.items()][:count]]
    lines = [
        f"No {'further ' if asked.excluded else ''}good match in {where}. Nearest pages:",
        *nearest,
        *(_short(each) for each in lacking),
        'Ask in other words; read_docs(page=ID); mode="keyword" or min_confidence=0 shows all.',
    ]
    return Reply("\n".join(lines))


def _short(text: str, size: int = _TITLE_BYTES) -> str:
    """The beginning of a title: its alphabet decides how many letters a token has."""
    return on_one_line(text.encode()[:size].decode("utf-8", "ignore"))


def _head(request: SearchDocs, read: Resolved | None, result: Result) -> str:
    versions = _VERSIONS.get(request.version, f"version {request.version}")
    where = (
        str(read)
        if read
        else "; ".join([f"{request.library or _ALL}, {versions}", *_pinned_versions(result)])
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


def _doubts(rows: list[Row]) -> list[str]:
    """Warnings if a retriever of the hybrid search has no hits; none for a list by filters."""
    if all(row["keyword_score"] is row["semantic_score"] is None for row in rows):
        return []
    if not any(row["keyword_score"] for row in rows):
        return [
            "The keyword retriever has no hits: no passage has a term of the query. These are the"
            " nearest by meaning, and may be off topic."
        ]
    if all(row["semantic_score"] is None for row in rows):
        return ["By words alone: the vector retriever had no vectors to compare."]
    return []


def _rating(documentation: Documentation, result: Result) -> str:
    if result.search_id is None or not documentation.asks_for_ratings:
        return ""
    return f'Rate it: send_feedback(search_id="{result.search_id}", rating=1 to 5).'


def _no_hits(asked: _Asked) -> list[str]:
    """Say which retrievers have no hits, and which changes of the search lead to hits."""
    documentation, request = asked.documentation, asked.request
    query, filters = request.query, request.conditions
    scope = {
        "library": request.library, "version": label(request.version),
        "mode": asked.arguments["mode"],
    }  # fmt: skip

    def find(words: str, **changed: Any) -> list[Row]:
        """The hits of a search, one unless `top_k` is changed; none if the search fails."""
        arguments = {"top_k": 1, "filters": filters} | scope | changed
        try:
            return documentation.unrecorded.search(words, **arguments).rows
        except PgragError:
            return []

    retrievers = [
        f'The {mode} retriever alone has hits: mode="{mode}".'
        if find(query, mode=mode)
        else f"The {mode} retriever has no hits: no passage in scope has {lacking}."
        for mode, lacking in _LACKS.items()
    ]
    said = []
    if filters and find(query, filters=None):
        given = [name for name in ("type", "filters") if getattr(request, name)]
        said.append(f"Leave out {' and '.join(given)}: then there are hits.")
    words = _words(documentation, query)
    if words != query and words and find(words):
        said.append(f"Leave out the conditions in the query: {on_one_line(words)!r} has hits.")
    plain = " ".join(_MARKS.sub(" ", words).split())
    if plain != words and plain and find(plain):
        said.append(f"Leave out quotation marks, + and -: {on_one_line(plain)!r} has hits.")
    if scope["version"] != "*":
        rows = find(query, version="*", top_k=20)
        labels = dict.fromkeys(shown(row["version"]) for row in rows)
        if labels:
            said.append(f"Other versions have hits: {', '.join(labels)}.")
    alone = plain or query
    if not said and find(alone, version="*", filters=None):
        shown_alone = f"{on_one_line(alone)!r} alone, in version '*'"
        said.append(f"Leave out all conditions at once: {shown_alone}, has hits.")
    return retrievers + (said or ["Other words may help: shorter, more general, as the"
        " documentation would put it."])  # fmt: skip


def _words(documentation: Documentation, query: str) -> str:
    try:
        [row] = documentation.call("parse_query", query=query)
    except PgragError:
        return query
    return str(row["words"])
