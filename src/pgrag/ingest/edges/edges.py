"""The edges of a page: its links, relations and tags, each with its line, chunk and sentence."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from pgrag.ingest.edges.links import Link, find_links
from pgrag.ingest.edges.relations import Lines, find_relations
from pgrag.ingest.text import notes, templating
from pgrag.ingest.text.inline import plain
from pgrag.ingest.text.sentences import sentence_spans
from pgrag.ingest.values import Chunk, Edge, Prose, ProseBlock

DEFAULT_CONFIDENCE = 0.7
"""Confidence of an edge that the page's type adds to a link."""

_MAX_SENTENCE = 300
#: Characters of source kept on each side of a link in an overlong sentence.
_WINDOW = 200
#: How many chunks of one line are searched for the text of a link.
_LOOK_AHEAD = 3
#: A text without any of these is one sentence.
_SENTENCE_END = re.compile(r"[.!?…]\s|[。！？]")
_LINE = re.compile(r".+")
_MARKED = re.compile(r"\[!|:: |%%|(?i:rel):")


def find_edges(key: str, prose: Prose) -> tuple[list[Edge], list[str]]:
    """Return the edges in a page in source order, and warnings; `document` is 0 until assigned."""
    blocks, edges = prose.blocks, list[Edge]()
    lines = Lines(blocks)
    relations, faults = find_relations(blocks, find_links(prose))
    for number, relations_of_block in groupby(relations, lambda each: each.link.block):
        block = blocks[number]
        words = _Words(block)
        for relation in relations_of_block:
            link = relation.link
            text = _words_of(link.words)
            edges.append(
                Edge(
                    rule=relation.rule,
                    kind=relation.kind,
                    confidence=relation.confidence,
                    target=link.target,
                    line=lines.of(link.block, link.start),
                    document=0,
                    fragment=link.fragment,
                    text=text[:_MAX_SENTENCE],
                    sentence=words.around(link, text),
                )
            )
    return edges, [f"{key}: {fault} in line {line}" for line, fault in faults]


def _words_of(markdown: str) -> str:
    if "{{" in markdown:
        markdown = templating.reduce(markdown)
    return plain(markdown)


def with_defaults(edges: list[Edge], page_type: str, kinds: Sequence[str]) -> list[Edge]:
    """Add one edge of each of the page type's kinds to every link and embed."""
    if not kinds:
        return edges
    rule = f"edge_defaults:{page_type}"
    result: list[Edge] = []
    for edge in edges:
        result.append(edge)
        if edge.rule.startswith("explicit:"):
            added = replace(edge, rule=rule, confidence=DEFAULT_CONFIDENCE)
            result += (replace(added, kind=kind) for kind in kinds)
    return result


def assign_documents(edges: Sequence[Edge], chunks: Sequence[Chunk]) -> tuple[Edge, ...]:
    """Return the edges with the index of the chunk that contains their line and, of several, their
    text.
    """
    lines = {edge.line for edge in edges}
    sections: dict[int, int] = {}
    paragraphs: dict[int, list[int]] = {}
    for index, chunk in enumerate(chunks):
        if lines and chunk.level:
            for line in range(chunk.line_start, chunk.line_end + 1):
                if line not in lines:
                    continue
                if chunk.level == 2:
                    paragraphs.setdefault(line, []).append(index)
                else:
                    sections[line] = index
    assigned: list[Edge] = []
    line = first = 0
    for edge in edges:
        if edge.line != line:
            line, first = edge.line, 0
        candidates = paragraphs.get(line) or [sections.get(line, 0)]
        if len(candidates) > 1:
            near = range(first, min(first + _LOOK_AHEAD, len(candidates)))
            shown = (index for index in near if edge.text in chunks[candidates[index]].content)
            first = next(shown, first)
        document = candidates[first]
        assigned.append(replace(edge, document=document) if document else edge)
    return tuple(assigned)


class _Words:
    def __init__(self, block: ProseBlock) -> None:
        self._block = block
        self._spans: list[tuple[int, int]] | None = None
        self._starts: list[int] = []
        self._known: dict[tuple[int, int], str] = {}

    def around(self, link: Link, text: str) -> str:
        """Return the sentence or table row of a link, at most 300 characters."""
        start, end = self._span(link)
        if (sentence := self._known.get((start, end))) is None:
            source = self._block.text[start:end]
            if _MARKED.search(source):
                source = notes.reduce(source)
            if self._block.kind == "table":
                source = source.replace("\\|", "|")
            sentence = _words_of(source)
            if self._block.kind == "table":
                sentence = " ".join(sentence.replace("|", " ").split())
            self._known[start, end] = sentence
        if len(sentence) <= _MAX_SENTENCE:
            return sentence
        middle = max(0, sentence.find(text[:_MAX_SENTENCE])) + len(text) // 2
        first = max(0, min(middle - _MAX_SENTENCE // 2, len(sentence) - _MAX_SENTENCE))
        return sentence[first : first + _MAX_SENTENCE].strip()

    def _span(self, link: Link) -> tuple[int, int]:
        text = self._block.text
        if self._spans is None:
            if self._block.callout is not None:
                # each line says a relation of its own
                self._spans = [match.span() for match in _LINE.finditer(text)]
            elif _SENTENCE_END.search(text):
                self._spans = sentence_spans(text)
            else:
                self._spans = [(0, len(text))]
            self._starts = [start for start, _ in self._spans]
        first = max(0, bisect_right(self._starts, link.start) - 1)
        last = first
        # a full stop inside a link does not end a sentence
        while self._spans[last][1] < link.end and last + 1 < len(self._spans):
            last += 1
        start, end = self._spans[first][0], self._spans[last][1]
        if end - start <= 2 * _WINDOW + _MAX_SENTENCE:
            return start, end
        # images may nest, so a link can span the whole block: limit the window at its end, too
        last_sign = min(link.end, link.start + _MAX_SENTENCE)
        start, end = max(start, link.start - _WINDOW), min(end, last_sign + _WINDOW)
        return max(start, text.find(" ", start, link.start) + 1), end
