"""Classify links: a plain link, an embed, a tag, or a relation that the author named."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from pgrag.ingest.edges.links import Link
from pgrag.ingest.text.prose import Passage

_INLINE_CONFIDENCE = 0.95
_CALLOUT_CONFIDENCE = 0.90

_RELATION_BEFORE = re.compile(r"(?<![\w:])rel:[ \t]*(\w[\w-]*):?[ \t]+$", re.IGNORECASE)
_BETWEEN = re.compile(r"[ \t]*(?:(?:[,;&]|(?:and|und|и)\b)[ \t]*){0,3}")
_KIND = r"(?P<kind>[^\W\d][\w -]{0,60}?)"
_CALLOUT = re.compile(
    rf"\[!edge\][+-]?[ \t]*(?:{_KIND}[ \t]*(?:::?(?=\s|\[|$)|(?=!?\[\[|\n|$)))?", re.IGNORECASE
)
_NEXT_KIND = re.compile(rf"^[ \t]*{_KIND}[ \t]*::?(?=\s|\[\[|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Relation:
    """A link with its meaning."""

    link: Link
    rule: str
    kind: str
    confidence: float


@dataclass(slots=True)
class _Callout:
    """A callout `> [!edge]`: its kinds, each after the passage and offset where it starts."""

    line: int
    kinds: list[tuple[int, int, str]] = field(default_factory=list)
    is_used: bool = False

    def kind(self, link: Link) -> str:
        index = bisect_right(self.kinds, (link.passage, link.start), key=itemgetter(0, 1))
        return self.kinds[index - 1][2] if index else ""


def kind_name(written: str) -> str:
    """Return the normalised name of an edge kind: lower case, words joined by "_"."""
    return re.sub(r"[\W_]+", "_", written.lower()).strip("_")


def find_relations(
    passages: Sequence[Passage], links: Sequence[Link]
) -> tuple[list[Relation], list[tuple[int, str]]]:
    """Return the meaning of each link, and (line, fault) for each relation without a target.

    A relation extends to the links that follow in its line, separated only by commas, spaces
    or "and"; `[[rel:kind]]` without a note opens a relation for the links after it.
    """
    callouts = _callouts(passages)
    relations: list[Relation] = []
    faults: list[tuple[int, str]] = []
    kind: str | None = None
    before: Link | None = None
    waiting: Link | None = None
    for link in links:
        text = passages[link.passage].text
        opened = _opened(link, text)
        if opened is not None or not (before and _follows(before, link, text)):
            kind = opened
            if waiting:
                faults.append(_no_target(passages, waiting))
        before, waiting = link, None
        if kind is not None and not (link.target or link.fragment):
            waiting = link
        elif kind:
            relations.append(Relation(link, "inline:rel", kind, _INLINE_CONFIDENCE))
        else:
            relations.append(_unnamed(link, callouts.get(passages[link.passage].callout)))
    if waiting:
        faults.append(_no_target(passages, waiting))
    faults += (
        (callout.line, f"the callout [!edge] names no {'target' if callout.kinds else 'kind'}")
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
        before.passage == link.passage
        and link.form in {"wikilink", "link"}
        and link.start - before.end <= 20
        and _BETWEEN.fullmatch(text, before.end, link.start) is not None
    )


def _unnamed(link: Link, callout: _Callout | None) -> Relation:
    if link.form == "tag":
        return Relation(link, "tag", "tagged", 1.0)
    if callout and (kind := callout.kind(link)):
        callout.is_used = True
        return Relation(link, "callout:edge", kind, _CALLOUT_CONFIDENCE)
    kind = "embeds" if link.form == "embed" else "links_to"
    return Relation(link, f"explicit:{link.form}", kind, 1.0)


def _no_target(passages: Sequence[Passage], link: Link) -> tuple[int, str]:
    passage = passages[link.passage]
    line = passage.line + passage.text.count("\n", 0, link.start)
    return line, f"the relation {passage.text[link.start : link.end]} names no target"


def _callouts(passages: Sequence[Passage]) -> dict[int | None, _Callout]:
    """Map the number of each callout `> [!edge]` of a page to the callout."""
    callouts: dict[int | None, _Callout] = {}
    for number, passage in enumerate(passages):
        if passage.callout is None:
            continue
        start = 0
        callout = callouts.get(passage.callout)
        if callout is None:
            callout = callouts[passage.callout] = _Callout(passage.line)
            if opening := _CALLOUT.match(passage.text):
                start = opening.end()
                if opening["kind"]:
                    callout.kinds.append((number, 0, kind_name(opening["kind"])))
        callout.kinds += (
            (number, match.start(), kind_name(match["kind"]))
            for match in _NEXT_KIND.finditer(passage.text, start)
        )
    return callouts
