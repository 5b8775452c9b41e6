"""Tags that say of what kind the content of a chunk is, by the rules of `content_rules`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from pgrag.ingest.content_rules import CONTENT_TAGS, KINDS, RULES, Place, Rule
from pgrag.models import Chunk

#: A first sentence that defines something is not longer.
_OPENING = 300
_CODE = re.compile(r"^ *(`{3,}|~{3,})[^\n]*\n.*?(?:^ *\1[`~]* *$|\Z)", re.MULTILINE | re.DOTALL)
_FENCE_ONLY = "```\n"
_SENTENCE_END = re.compile(r"[.!?…](?=\s|$)|\n\s*\n")
_MARKUP = re.compile(r"\[([^\]\n]*)\]\([^)\n]*\)")


def tag_chunks(
    chunks: Sequence[Chunk], *, page_path: tuple[str, ...], page_type: str | None
) -> tuple[Chunk, ...]:
    """Return the chunks with their content tags, in the order of `CONTENT_TAGS`.

    A paragraph is tagged by its own text and headings. Where these do not tell its kind, the
    page's type does, if its author wrote one that says so. A summary has the tags that more than
    half of the paragraphs below it have.
    """
    declared = _declared_kind(page_type or "")
    given = [
        _paragraph_tags(chunk, page_path, declared) if chunk.level == 2 else frozenset()
        for chunk in chunks
    ]
    below: list[list[frozenset[str]]] = [[] for _ in chunks]
    for place, chunk in enumerate(chunks):
        above = chunk.parent if chunk.level == 2 else None
        while above is not None:
            below[above].append(given[place])
            above = chunks[above].parent
    return tuple(
        replace(chunk, content_tags=_in_order(tags if chunk.level == 2 else _shared(paragraphs)))
        for chunk, tags, paragraphs in zip(chunks, given, below, strict=True)
    )


def content_tags(
    content: str, *, heading: str = "", above: Sequence[str] = (), kind: str | None = None
) -> tuple[str, ...]:
    """Return the tags of a text with this heading, below others.

    `kind` is that of its page, which it has if it shows none; in a reference it has it always,
    because there headings such as "Create a volume" name what is looked up.
    """
    prose = _CODE.sub(_FENCE_ONLY, content)
    lower = prose.lower()
    texts: dict[Place, str] = {
        "heading": _plain(heading),
        "path": "\n".join(map(_plain, (*above, heading))),
        "opening": _opening(prose),
        "text": prose,
    }
    found = {
        rule.tag
        for rule, pattern in _patterns()
        if any(map((lower if rule.place == "text" else texts[rule.place]).__contains__, rule.needs))
        and _occurs(pattern, texts[rule.place], rule.times)
    }
    if kind == "reference" or (kind and not found & set(KINDS)):
        found = found - set(KINDS) | {kind}
    return _in_order(found)


def _paragraph_tags(chunk: Chunk, page_path: tuple[str, ...], kind: str | None) -> frozenset[str]:
    """The title stands above the whole page, so it is no heading of one chunk's own."""
    headings = chunk.path[len(page_path) :]
    tags = content_tags(
        chunk.content,
        heading=headings[-1] if headings else "",
        above=(*page_path[-1:], *headings[:-1]),
        kind=kind,
    )
    return frozenset(tags)


def _declared_kind(page_type: str) -> str | None:
    for tag, pattern in _type_patterns():
        if pattern.search(page_type.strip()):
            return tag
    return None


def _shared(paragraphs: Sequence[frozenset[str]]) -> set[str]:
    counts = Counter(tag for tags in paragraphs for tag in tags)
    return {tag for tag, count in counts.items() if 2 * count > len(paragraphs)}


def _in_order(tags: set[str] | frozenset[str]) -> tuple[str, ...]:
    return tuple(tag for tag in CONTENT_TAGS if tag in tags)


def _occurs(pattern: re.Pattern[str], text: str, times: int) -> bool:
    if times == 1:
        return pattern.search(text) is not None
    return sum(1 for _, _ in zip(range(times), pattern.finditer(text), strict=False)) == times


def _plain(heading: str) -> str:
    return heading.strip(" #*:").lower()


def _opening(prose: str) -> str:
    """Return the first sentence below the headings at the top of a text, in one line."""
    rest = prose.lstrip()
    while rest.startswith("#"):
        rest = rest.partition("\n")[2].lstrip()
    if not rest[:1].isalnum() and rest[:1] not in {"*", "`", "«", '"', "„", "["}:
        return ""
    if rest.startswith(("* ", "[!", "```")):
        return ""
    head = _MARKUP.sub(r"\1", rest[:_OPENING])
    end = _SENTENCE_END.search(head, 10)
    if end is None and len(rest) > _OPENING:
        return ""
    return " ".join(head[: end.start() if end else None].lower().split())


@cache
def _patterns() -> tuple[tuple[Rule, re.Pattern[str]], ...]:
    return tuple((rule, _compiled(rule.patterns)) for rule in RULES if rule.place != "type")


@cache
def _type_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((rule.tag, _compiled(rule.patterns)) for rule in RULES if rule.place == "type")


def _compiled(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.I | re.M)
