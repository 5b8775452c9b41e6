"""Markdown for a model: whole passages, best first, within a token budget."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise, takewhile
from operator import itemgetter

from pgrag.ground.calls import Row
from pgrag.ground.quoting import quotable
from pgrag.mcp.corpus import named
from pgrag.search.result import has_no_good_match

_BYTES_PER_TOKEN = 4
_LONGEST = 300
"""Characters of a title or a query that a reply repeats."""
_CUT = "\n[… cut here; about {tokens} more tokens: read_docs(ids=[{id}]) with a larger budget]"


@dataclass(frozen=True, slots=True)
class Block:
    """A passage of a reply: its description, and its own content.

    `id`: its document_id, or 0. Content is quoted, so that no word of it is taken for pgrag's: each
    block by itself, or all blocks together if not `is_quoted`.
    """

    id: int
    head: str
    content: str
    is_cut: bool = False
    is_quoted: bool = True

    def __str__(self) -> str:
        if self.is_quoted:
            return f"{self.head}\n{self.quotation}" if self.head else self.quotation
        content = quotable(self.content)
        return f"{self.head}\n\n{content}" if self.head else content

    @property
    def quotation(self) -> str:
        """The content between tags that it cannot forge: some clients show a model only this."""
        return f'<passage id="{self.id}">\n{quotable(self.content)}\n</passage>'


def line(text: str, *, id: int = 0) -> Block:
    """A block of pgrag's own words: an entry of a list, a row of a table."""
    return Block(id, "", text, is_quoted=False)


@dataclass(frozen=True, slots=True)
class Fitted:
    """The blocks that fit a budget, the whole text, and the cursor of the remainder."""

    text: str
    blocks: tuple[Block, ...]
    cursor: str | None = None


def count_tokens(text: str) -> int:
    """Estimate tokens like the rest of pgrag: 4 bytes of UTF-8 each."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


def fit(
    head: str,
    blocks: Sequence[Block],
    foot: Callable[[int], str],
    budget: int,
    *,
    separator: str = "\n\n",
) -> Fitted:
    """Join as many whole blocks as the budget allows, in their order.

    `foot(n)` is the text below the first n blocks. A first block that alone exceeds the budget is
    cut and marked as cut.
    """
    sizes = list(accumulate(count_tokens(str(block)) + 1 for block in blocks))
    room = budget - count_tokens(head) - 2
    count = bisect_right(sizes, room)
    while count > 1 and sizes[count - 1] + count_tokens(foot(count)) > room:
        count -= 1
    count = min(max(count, 1), len(blocks))
    kept = list(blocks[:count])
    if count == 1 and sizes[0] + count_tokens(foot(1)) > room:
        kept = [_cut(blocks[0], room - count_tokens(foot(1)))]
    parts = [head, separator.join(map(str, kept)), foot(count)]
    return Fitted("\n\n".join(part for part in parts if part), tuple(kept))


def fit_page(
    head: str,
    blocks: Sequence[Block],
    foot: str,
    cursor: Callable[[int], str | None],
    budget: int,
    *,
    separator: str = "\n\n",
    before_more: str = "\n",
) -> Fitted:
    """Join blocks like `fit`; `cursor(n)` is the cursor after n blocks, None at the end."""

    def whole_foot(count: int) -> str:
        following = cursor(count)
        if following is None:
            return foot
        return f'{foot}{before_more}More: the same call with cursor="{following}".'

    fitted = fit(head, blocks, whole_foot, budget, separator=separator)
    return replace(fitted, cursor=cursor(len(fitted.blocks)) if blocks else None)


def _cut(block: Block, room: int) -> Block:
    """Cut the content of a block to `room` tokens in all, at the end of a line if possible."""
    encoded = block.content.encode("utf-8", "replace")
    total = count_tokens(block.content)
    mark = _CUT.format(tokens=total, id=block.id)
    around = count_tokens(str(replace(block, content=mark))) + 2
    text = encoded[: max(room - around, 0) * _BYTES_PER_TOKEN].decode("utf-8", "ignore")
    line, newline, _ = text.rpartition("\n")
    if newline and len(line) > len(text) // 2:
        text = line
    mark = _CUT.format(tokens=total - count_tokens(text), id=block.id)
    return replace(block, content=text + mark, is_cut=True)


def breadcrumbs(row: Row) -> str:
    """The path of a passage: `Guide › Hooks › Cleaning up`."""
    path = row["path"][1:] if row["path"][:1] == [row["library"]] else row["path"]
    return on_one_line(" › ".join(path) or row["title"])


def on_one_line(text: str) -> str:
    """The text as one line of limited length, safe to embed in pgrag's own sentences."""
    line = quotable(" ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def address(row: Row) -> str:
    """The address of a passage, with the anchor of its section."""
    url, anchor = on_one_line(row["url"] or ""), on_one_line(row["anchor"] or "")
    return f"{url}#{anchor}" if url and anchor and "#" not in url else url


def notes(texts: Iterable[str], mark: str = "Note: ") -> list[str]:
    """Remarks about a reply, one a line; they may name pages."""
    return [mark + on_one_line(text) for text in texts]


def page_blocks(
    packed: Sequence[Row], hits: Mapping[int, Row], *, stated: str | None
) -> list[Block]:
    """Passages page by page, the pages numbered; `hits`: the rows of those that were found, by
    document_id; `stated`: the library and version in the header of the reply.

    The first passage of a page has its path and address; of the others only what differs is said.
    """
    blocks: list[Block] = []
    for number, (_, rows) in enumerate(groupby(packed, itemgetter("page_id")), start=1):
        passages = list(rows)
        found = [hits[row["document_id"]] for row in passages if row["document_id"] in hits]
        first = passages[0]
        source = named(first["library"], first["version"])
        sure = [hit["confidence"] for hit in found if hit["confidence"] is not None]
        facts = [
            *([source] if source != stated else []),
            *([f"confidence {max(sure):.2f}"] if sure else []),
            *(["a weak match"] if has_no_good_match(found) else []),
            *_history(hits.get(first["document_id"])),
        ]
        lines = [f"## {number}. {breadcrumbs(first)}{_in_brackets(facts)}"]
        lines += [address(first)] if first["url"] else []
        blocks.append(Block(first["document_id"], "\n".join(lines), first["content"]))
        for above, row in pairwise(passages):
            head = _heading_below(above, row, _history(hits.get(row["document_id"])))
            blocks.append(Block(row["document_id"], head, row["content"]))
    return blocks


def _heading_below(above: Row, row: Row, facts: list[str]) -> str:
    """The heading of a passage on the page of the passage above; none in the same section."""
    if above["path"] == row["path"]:
        return f"###{_in_brackets(facts)}" if facts else ""
    shared = takewhile(
        lambda pair: pair[0] == pair[1], zip(above["path"], row["path"], strict=False)
    )
    path = row["path"][len([*shared]) :] or row["path"][-1:]
    anchor = [f"#{on_one_line(row['anchor'])}"] if row["url"] and row["anchor"] else []
    return f"### {on_one_line(' › '.join(path))}{_in_brackets([*anchor, *facts])}"


def _in_brackets(facts: list[str]) -> str:
    return f" ({', '.join(facts)})" if facts else ""


def _history(hit: Row | None) -> list[str]:
    """Since when a hit is there and when it changed, if that was asked for."""
    if hit is None or hit["since"] is None:
        return []
    since, changed = (each or "(unversioned)" for each in (hit["since"], hit["changed_in"]))
    return [f"since {since}" + ("" if hit["changed_in"] is None else f", changed in {changed}")]


def plural(count: int, noun: str) -> str:
    """`1 passage`, `2 passages`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") else f"{count:,} {noun}s"
