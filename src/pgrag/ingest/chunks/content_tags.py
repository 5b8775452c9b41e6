"""Classify chunks by content tags, with the rules of `content_rules`."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from pgrag.ingest.chunks.content_rules import AUDIENCES, CONTENT_TAGS, KINDS, RULES, Place, Rule
from pgrag.ingest.values import Chunk

#: Maximum length of a first sentence that is a definition.
_OPENING = 300
#: Longest heading whose tags are cached: a few headings recur in most sections of a site.
_REMEMBERED = 200
#: The rules that differ from chunk to chunk.
_TEXT_RULES = tuple(rule for rule in RULES if rule.place in ("opening", "text"))
_KNOWLEDGE = tuple(rule for rule in _TEXT_RULES if rule.tag == "intermediate")
_CODE = re.compile(r"^ *(`{3,}|~{3,})[^\n]*\n.*?(?:^ *\1[`~]* *$|\Z)", re.MULTILINE | re.DOTALL)
_FENCE_ONLY = "```\n"
_SENTENCE_END = re.compile(r"[.!?…](?=\s|$)|\n\s*\n")
_MARKUP = re.compile(r"\[([^\]\n]*)\]\([^)\n]*\)")
#: Front matter in which authors name the audience.
_AUDIENCE_KEYS = ("audience", "difficulty", "level", "skill_level", "skill-level", "experience")


def tag_chunks(
    chunks: Sequence[Chunk],
    *,
    page_path: tuple[str, ...],
    page_type: str | None,
    audience: str | None = None,
) -> tuple[Chunk, ...]:
    """Return the chunks with their content tags: of text and headings, else of the page. A summary
    gets the tags of more than half of the paragraphs below it.
    """
    kind = _first("type", (page_type or "").strip())
    audience = audience or _page_audience(chunks, page_path)
    tags_of_row: list[list[set[str]]] = [[] for _ in chunks]
    for index, chunk in enumerate(chunks):
        if chunk.level == 2:
            tags = _paragraph_tags(chunk, page_path, kind, audience)
            row: int | None = index
            while row is not None:
                tags_of_row[row].append(tags)
                row = chunks[row].parent
    final = map(_in_order, map(_shared, tags_of_row))
    return tuple(
        replace(chunk, content_tags=tags) if tags else chunk
        for chunk, tags in zip(chunks, final, strict=True)
    )


def content_tags(
    content: str, *, heading: str = "", above: Sequence[str] = (), kind: str | None = None
) -> tuple[str, ...]:
    """Return the tags of a text below its headings; `kind` is the page's, for a text
    without one.
    """
    tags = {*_text_tags(content, _TEXT_RULES), *_tags("heading", _plain(heading))}
    for each in (*above, heading):
        tags.update(_tags("path", _plain(each)))
    if kind == "reference" or (kind and not tags & set(KINDS)):
        tags = tags - set(KINDS) | {kind}
    return _in_order(tags)


def declared_audience(fields: Mapping[str, Any], tags: Iterable[str]) -> str | None:
    """Return the audience that an author names in the front matter or by a tag, if any."""
    values: list[Any] = []
    for key in _AUDIENCE_KEYS:
        value = fields.get(key)
        values += value if isinstance(value, list) else [value]
    written = [value for value in (*values, *tags) if isinstance(value, str)]
    return next(filter(None, (_first("audience", value.strip()) for value in written)), None)


def _text_tags(content: str, rules: Iterable[Rule]) -> set[str]:
    has_code = "```" in content or "~~~" in content
    prose = _CODE.sub(_FENCE_ONLY, content) if has_code else content
    lower, opening = prose.lower(), _opening(prose)
    return {
        rule.tag
        for rule in rules
        if (rule.fits(prose, lower) if rule.place == "text" else rule.fits(opening, opening))
    }


def _first(place: Place, written: str) -> str | None:
    return next(iter(_tags(place, written)), None)


def _tags(place: Place, written: str) -> tuple[str, ...]:
    cached = _remembered_tags if len(written) <= _REMEMBERED else _remembered_tags.__wrapped__
    return cached(place, written)


@lru_cache(maxsize=4096)
def _remembered_tags(place: Place, written: str) -> tuple[str, ...]:
    return tuple(rule.tag for rule in RULES if rule.place == place and rule.fits(written, written))


def _page_audience(chunks: Sequence[Chunk], page_path: tuple[str, ...]) -> str | None:
    """Return the audience of a page by its title, else by its prerequisites. Prerequisites are in
    the first paragraphs, or a section directly below the page; a page that has some is not for
    beginners.
    """
    titled = _first("title", _plain(page_path[-1]))
    if titled == "advanced":
        return titled
    opening = [chunk.content for chunk in chunks if chunk.level == 2][:3]
    if any(_text_tags(content, _KNOWLEDGE) for content in opening):
        return "intermediate"
    headings = {chunk.heading for chunk in chunks if len(chunk.path) == len(page_path) + 1}
    if any("intermediate" in _tags("heading", _plain(heading)) for heading in headings):
        return titled or "intermediate"
    return titled


def _paragraph_tags(
    chunk: Chunk, page_path: tuple[str, ...], kind: str | None, page_audience: str | None
) -> set[str]:
    """Tag a paragraph; the page's title counts as a heading above, never as its own heading. One
    audience stays: "Getting started" on a page for experts is for experts.
    """
    headings = chunk.path[len(page_path) :]
    above = (*page_path[-1:], *headings[:-1])
    heading = headings[-1] if headings else ""
    tags = {*content_tags(chunk.content, heading=heading, above=above, kind=kind)}
    audience = "advanced" if "advanced" in tags else page_audience
    audience = audience or ("beginner" if "beginner" in tags else None)
    return tags - set(AUDIENCES) | ({audience} if audience else set())


def _shared(paragraphs: Sequence[set[str]]) -> set[str]:
    counts = Counter(tag for tags in paragraphs for tag in tags)
    return {tag for tag, count in counts.items() if 2 * count > len(paragraphs)}


def _in_order(tags: set[str]) -> tuple[str, ...]:
    return tuple(tag for tag in CONTENT_TAGS if tag in tags)


def _plain(heading: str) -> str:
    return heading.strip(" #*:").lower()


def _opening(prose: str) -> str:
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
