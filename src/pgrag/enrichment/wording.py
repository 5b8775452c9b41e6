"""What models put around an answer is taken off, and what is too long is cut at a good place."""

from __future__ import annotations

import re

from pgrag.ingest.sentences import sentence_spans

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_FENCED = re.compile(r"\A```\w*\n(.*?)\n?```\Z", re.DOTALL)
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "`": "`"}
_SENTENCE_ENDS = ".!?…。！？"


def one_line(answer: str, limit: int, *, is_whole: bool = True) -> str:
    """Return an answer as one line of at most `limit` characters.

    Of one that is not whole, the sentence is left out in which it was cut short.
    """
    return _cut(" ".join(_bare(answer).split()), limit, is_whole=is_whole)


def paragraphs(answer: str, limit: int, *, is_whole: bool = True) -> str:
    """Do the same, its lines kept."""
    lines = (line.rstrip() for line in _bare(answer).splitlines())
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return _cut(text, limit, is_whole=is_whole)


def _bare(answer: str) -> str:
    """Remove fences, quotation marks around everything, and what no text can hold."""
    text = answer.encode("utf-8", "ignore").decode().replace("\r\n", "\n")
    text = _CONTROL.sub("", text).strip()
    fenced = _FENCED.match(text)
    text = fenced[1].strip() if fenced else text
    if len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    return text


def _cut(text: str, limit: int, *, is_whole: bool) -> str:
    """Return as many whole sentences as fit, or the beginning of the first one."""
    if len(text) <= limit and is_whole:
        return text
    end = 0
    for _, sentence_end in sentence_spans(text[: limit + 1]):
        if sentence_end <= limit and text[sentence_end - 1] in _SENTENCE_ENDS:
            end = sentence_end
    if end or not text:
        return text[:end]
    head = text[: limit - 1]
    return (head.rsplit(None, 1)[0] if " " in head else head).rstrip(",;:– -") + "…"
