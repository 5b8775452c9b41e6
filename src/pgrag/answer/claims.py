"""The sentences of a text that claim something, and the sources that each sentence cites."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pgrag.answer.citations import Citation
from pgrag.ingest.text.sentences import sentence_spans

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s|\s*\*\*[^*]+\*\*:?\s*$|\s*[=-]{3,}\s*$")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_ROW = re.compile(r"\s*\|")
_RULE = re.compile(r"\s*\|[\s|:]*-[\s|:-]*$")
_WORD = re.compile(r"\w+")

Kind: TypeAlias = Literal["text", "item", "head"]
"""A part of a text: a paragraph; a list item or table row; the head of a table."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence by its offsets, and the numbers of the sources it cites."""

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(slots=True)
class _Sentence:
    start: int
    end: int
    kind: Kind
    numbers: list[int] = field(default_factory=list)


def find_claims(text: str, citations: Sequence[Citation]) -> list[Claim]:
    """Return the sentences of a text; headings, code and single words are not claims. A citation
    belongs to the sentence that contains or precedes it; a lead-in that ends with a colon cites
    what its list cites.
    """
    # A full stop before a citation also ends a sentence.
    blank = without_citations(text, citations)
    sentences: list[_Sentence] = []
    for start, end, kind in _blocks(text):
        spans = sentence_spans(blank[start:end])
        block_sentences = [_Sentence(start + a, start + b, kind) for a, b in spans]
        for citation in citations:
            if start <= citation.start < end:
                _cite(citation, block_sentences or sentences[-1:])
        sentences.extend(block_sentences)
    _introduce(text, sentences)
    return [
        Claim(sentence.start, sentence.end, tuple(dict.fromkeys(sentence.numbers)))
        for sentence in sentences
        if sentence.numbers or (sentence.kind != "head" and _has_words(blank, sentence))
    ]


def without_citations(text: str, citations: Sequence[Citation]) -> str:
    """Return a text with its citations replaced by blanks."""
    masked = list(text)
    for citation in citations:
        masked[citation.start : citation.end] = " " * (citation.end - citation.start)
    return "".join(masked)


def _cite(citation: Citation, sentences: list[_Sentence]) -> None:
    if not sentences:
        return
    before = [sentence for sentence in sentences if sentence.start <= citation.start]
    sentence = before[-1] if before else sentences[0]
    sentence.numbers.append(citation.number)
    sentence.start = min(sentence.start, citation.start)
    sentence.end = max(sentence.end, citation.end)


def _introduce(text: str, sentences: list[_Sentence]) -> None:
    for index, sentence in enumerate(sentences):
        is_open = text.endswith((":", "："), 0, sentence.end)
        if sentence.numbers or not (is_open and _has_words(text, sentence)):
            continue
        for item in sentences[index + 1 :]:
            if item.kind == "text":
                break
            sentence.numbers.extend(item.numbers)


def _has_words(text: str, sentence: _Sentence) -> bool:
    return len(_WORD.findall(text[sentence.start : sentence.end])) > 1


def _blocks(text: str) -> Iterator[tuple[int, int, Kind]]:
    """Yield paragraphs, list items and rows of tables as (start, end, kind)."""
    fence = ""
    start: int | None = None
    kind: Kind = "text"
    position = 0
    lines = text.splitlines(keepends=True)
    for before, line, following in zip(["", *lines], lines, [*lines[1:], ""], strict=False):
        begin, position = position, position + len(line)
        marker = _FENCE.match(line)
        if fence:
            fence = "" if marker and marker[1].startswith(fence) else fence
            continue
        item = _ITEM.match(line)
        ends = bool(marker or item or _HEADING.match(line) or _ROW.match(line) or not line.strip())
        if ends and start is not None:
            yield start, begin, kind
            start = None
        if marker:
            fence = marker[1]
        elif item:
            start, kind = begin + item.end(), "item"
        elif _ROW.match(line):
            is_head = _RULE.match(following) and not _ROW.match(before)
            if re.search(r"[^\s|:-]", line):
                yield begin, position, "head" if is_head else "item"
        elif not ends and start is None:
            start, kind = begin, "text"
    if start is not None:
        yield start, len(text), kind
