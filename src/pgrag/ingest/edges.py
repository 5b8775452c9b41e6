"""The edges of a page: its links, relations and tags, each with its line, chunk and sentence."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pgrag.ingest import templating
from pgrag.ingest.inline import plain
from pgrag.ingest.links import Link, find_links
from pgrag.ingest.prose import Passage, Prose
from pgrag.ingest.relations import find_relations
from pgrag.ingest.sentences import sentence_spans
from pgrag.models import Chunk, Edge

DEFAULT_CONFIDENCE = 0.7
"""Confidence of the edges that a page's type adds to each link."""

_MAX_SENTENCE = 300
#: Characters of source on each side of a link, in a sentence that is too long.
_WINDOW = 200
#: A line may be cut into several chunks: how many of them are tried for the text of a link.
_LOOK_AHEAD = 3
#: A text without any of these is one sentence.
_SENTENCE_END = re.compile(r"[.!?…]\s|[。！？]")


def find_edges(key: str, prose: Prose) -> tuple[list[Edge], list[str]]:
    """Return the edges in the text of a page in the order of the source, and what is wrong there.

    Their `document` is 0 until `assign_documents` finds it. Takes linear time.
    """
    passages = prose.passages
    relations, faults = find_relations(passages, find_links(prose))
    found: list[Edge] = []
    words: _Words | None = None
    number, counted, line = -1, 0, 0
    for relation in relations:
        link = relation.link
        passage = passages[link.passage]
        if words is None or link.passage != number:
            words, number, counted, line = _Words(passage), link.passage, 0, passage.line
        line += passage.text.count("\n", counted, link.start)
        counted = link.start
        text = words_of(link.words)
        found.append(
            Edge(
                rule=relation.rule,
                kind=relation.kind,
                confidence=relation.confidence,
                target=link.target,
                line=line,
                document=0,
                fragment=link.fragment,
                text=text[:_MAX_SENTENCE],
                sentence=words.around(link, text),
            )
        )
    return found, [f"{key}: {fault} in line {line}" for line, fault in faults]


def words_of(markdown: str) -> str:
    """Return what a reader sees of inline Markdown with macros."""
    if "{{" in markdown:
        markdown = templating.reduce(markdown)
    return plain(markdown)


def with_defaults(edges: Iterable[Edge], page_type: str, kinds: Sequence[str]) -> list[Edge]:
    """Add to each link and embed one edge of each kind that the type of the page gives."""
    found: list[Edge] = []
    for edge in edges:
        found.append(edge)
        if edge.rule.startswith("explicit:"):
            found += (
                replace(
                    edge,
                    rule=f"edge_defaults:{page_type}",
                    kind=kind,
                    confidence=DEFAULT_CONFIDENCE,
                )
                for kind in kinds
            )
    return found


def assign_documents(edges: Sequence[Edge], chunks: Sequence[Chunk]) -> tuple[Edge, ...]:
    """Return the edges with the index of their chunk: the paragraph with their line.

    Where a line is cut into several, it is the one with the text of the link. An edge outside
    all paragraphs belongs to the section with its line, else to the page.
    """
    lines = {edge.line for edge in edges}
    sections: dict[int, int] = {}
    paragraphs: dict[int, list[int]] = {}
    for place, chunk in enumerate(chunks):
        if lines and chunk.level:
            for line in range(chunk.line_start, chunk.line_end + 1):
                if line not in lines:
                    continue
                if chunk.level == 2:
                    paragraphs.setdefault(line, []).append(place)
                else:
                    sections[line] = place
    found: list[Edge] = []
    line = first = 0
    for edge in edges:
        if edge.line != line:
            line, first = edge.line, 0
        places = paragraphs.get(line) or [sections.get(line, 0)]
        if len(places) > 1:
            first = _with_text(edge.text, places, first, chunks)
        document = places[first]
        found.append(replace(edge, document=document) if document else edge)
    return tuple(found)


def _with_text(text: str, places: Sequence[int], first: int, chunks: Sequence[Chunk]) -> int:
    """Return which of the chunks of one line, from the first on, holds a text."""
    for place in range(first, min(first + _LOOK_AHEAD, len(places))):
        if text in chunks[places[place]].content:
            return place
    return first


class _Words:
    """The words around each link of a passage."""

    def __init__(self, passage: Passage) -> None:
        self._passage = passage
        self._spans: list[tuple[int, int]] | None = None
        self._starts: list[int] = []
        self._known: dict[tuple[int, int], str] = {}

    def around(self, link: Link, text: str) -> str:
        """Return the sentence with a link, or its line in a table, at most 300 characters."""
        start, end = self._span(link)
        if (sentence := self._known.get((start, end))) is None:
            source = self._passage.text[start:end]
            if self._passage.kind == "table":
                source = source.replace("\\|", "|")
            sentence = words_of(source)
            if self._passage.kind == "table":
                sentence = " ".join(sentence.replace("|", " ").split())
            self._known[start, end] = sentence
        if len(sentence) <= _MAX_SENTENCE:
            return sentence
        middle = max(0, sentence.find(text[:_MAX_SENTENCE])) + len(text) // 2
        first = max(0, min(middle - _MAX_SENTENCE // 2, len(sentence) - _MAX_SENTENCE))
        return sentence[first : first + _MAX_SENTENCE].strip()

    def _span(self, link: Link) -> tuple[int, int]:
        text = self._passage.text
        if self._spans is None:
            whole = [(0, len(text))]
            self._spans = sentence_spans(text) if _SENTENCE_END.search(text) else whole
            self._starts = [start for start, _ in self._spans]
        first = max(0, bisect_right(self._starts, link.start) - 1)
        last = first
        # a full stop inside a link ends no sentence
        while self._spans[last][1] < link.end and last + 1 < len(self._spans):
            last += 1
        start, end = self._spans[first][0], self._spans[last][1]
        if end - start <= 2 * _WINDOW + _MAX_SENTENCE:
            return start, end
        # pictures may stand within pictures, each around all the others
        last_sign = min(link.end, link.start + _MAX_SENTENCE)
        start, end = max(start, link.start - _WINDOW), min(end, last_sign + _WINDOW)
        return max(start, text.find(" ", start, link.start) + 1), end
