"""Classify links: a plain link, an embed, a tag, or a relation that the author named."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from pgrag.ingest.edges.links import Link
from pgrag.ingest.values import ProseBlock

_INLINE_CONFIDENCE = 0.95
_CALLOUT_CONFIDENCE = 0.90

_RELATION_BEFORE = re.compile(r"(?<![\w:])rel:[ \t]*(\w[\w-]*):?[ \t]+$", re.IGNORECASE)
_BETWEEN = re.compile(r"[ \t]*(?:(?:[,;&]|(?:and|und|и)\b)[ \t]*){0,3}")
_KIND = r"(?P<kind>[^\W\d][\w -]{0,60}?)"
# a line of a callout begins with a kind and a colon; after the mark a kind needs no colon
_LINE = re.compile(
    rf"^[ \t]*(?P<mark>\[!edge\][+-]?[ \t]*)?"
    rf"(?:{_KIND}[ \t]*(?:::?(?=\s|\[|$)|(?(mark)(?=!?\[\[|$)|(?!))))?",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Relation:
    """A link with its meaning."""

    link: Link
    rule: str
    kind: str
    confidence: float


@dataclass(slots=True)
class _Callout:
    """The lines from one `[!edge]` to the next."""

    line: int
    has_kind: bool = False
    is_used: bool = False


@dataclass(frozen=True, slots=True)
class _Kind:
    """The kind of the links of a callout from an offset of a block on; "" is none."""

    block: int
    start: int
    name: str
    callout: _Callout


class Lines:
    """Finds the lines of offsets that only grow in a block, counting no text twice."""

    def __init__(self, blocks: Sequence[ProseBlock]) -> None:
        self._prose_blocks = blocks
        self._block = -1
        self._line = self._offset = 0

    def of(self, block: int, offset: int) -> int:
        """Return the line of an offset in a block."""
        if block != self._block:
            self._block, self._line, self._offset = block, self._prose_blocks[block].line, 0
        self._line += self._prose_blocks[block].text.count("\n", self._offset, offset)
        self._offset = offset
        return self._line


def kind_name(written: str) -> str:
    """Return the normalised name of an edge kind: lower case, words joined by "_"."""
    return re.sub(r"[\W_]+", "_", written.lower()).strip("_")


def find_relations(
    blocks: Sequence[ProseBlock], links: Sequence[Link]
) -> tuple[list[Relation], list[tuple[int, str]]]:
    """Return the meaning of each link, and (line, fault) for each relation without a target.
    `[[rel:kind note]]` is the relation of that note alone. `rel: kind` before a link, and
    `[[rel:kind]]` without a note, extend to the links that follow in the line, separated only by
    commas, spaces or "and".
    """
    kinds = _kinds(blocks)
    relations: list[Relation] = []
    faults: list[tuple[int, str]] = []
    lines = Lines(blocks)
    kind: str | None = None
    before: Link | None = None
    waiting: Link | None = None
    for link in links:
        text = blocks[link.block].text
        opened = _opened(link, text)
        if opened is not None or not (before and _follows(before, link, text)):
            kind = opened
            if waiting:
                faults.append(_no_target(blocks, lines, waiting))
        has_target = bool(link.target or link.fragment)
        waiting = None if kind is None or has_target else link
        before = None if link.relation is not None and has_target else link
        if waiting:
            continue
        if kind:
            relations.append(Relation(link, "inline:rel", kind, _INLINE_CONFIDENCE))
        else:
            relations.append(_unnamed(link, kinds.get(blocks[link.block].callout, ())))
    if waiting:
        faults.append(_no_target(blocks, lines, waiting))
    callouts = {kind.callout.line: kind.callout for each in kinds.values() for kind in each}
    faults += (
        (callout.line, f"the callout [!edge] names no {'target' if callout.has_kind else 'kind'}")
        for callout in callouts.values()
        if not callout.is_used
    )
    return relations, sorted(faults)


def _opened(link: Link, text: str) -> str | None:
    """Return the kind of the relation that this link opens: `rel:` in the link or before it."""
    if link.relation is not None:
        return kind_name(link.relation)
    if link.form in {"wikilink", "link"}:
        start = max(0, link.start - 80)
        if "rel:" in text[start : link.start].lower():
            before = _RELATION_BEFORE.search(text, start, link.start)
            return kind_name(before[1]) if before else None
    return None


def _follows(before: Link, link: Link, text: str) -> bool:
    return (
        before.block == link.block
        and link.form in {"wikilink", "link"}
        and link.start - before.end <= 20
        and _BETWEEN.fullmatch(text, before.end, link.start) is not None
    )


def _unnamed(link: Link, kinds: Sequence[_Kind]) -> Relation:
    """Return the meaning of a link outside relations; `kinds` are those of its callout's lines."""
    if link.form == "tag":
        return Relation(link, "tag", "tagged", 1.0)
    index = bisect_right(kinds, (link.block, link.start), key=attrgetter("block", "start"))
    if index and (kind := kinds[index - 1]).name:
        kind.callout.is_used = True
        return Relation(link, "callout:edge", kind.name, _CALLOUT_CONFIDENCE)
    name = "embeds" if link.form == "embed" else "references"
    return Relation(link, f"explicit:{link.form}", name, 1.0)


def _no_target(blocks: Sequence[ProseBlock], lines: Lines, link: Link) -> tuple[int, str]:
    written = blocks[link.block].text[link.start : link.end]
    return lines.of(link.block, link.start), f"the relation {written} names no target"


def _kinds(blocks: Sequence[ProseBlock]) -> dict[int | None, list[_Kind]]:
    """Map the number of each quote that begins with `[!edge]` to the kinds of its lines."""
    kinds: dict[int | None, list[_Kind]] = {}
    lines = Lines(blocks)
    for number, block in enumerate(blocks):
        if block.callout is None:
            continue
        of_quote = kinds.setdefault(block.callout, [])
        for line in _LINE.finditer(block.text):
            if not (line["mark"] or line["kind"]):
                continue
            if line["mark"]:
                callout = _Callout(lines.of(number, line.start()))
            callout.has_kind |= bool(line["kind"])
            of_quote.append(_Kind(number, line.start(), kind_name(line["kind"] or ""), callout))
    return kinds
