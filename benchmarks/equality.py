"""Compare a crawled site with the sources of the same site: sections, anchors, words, code, tables.

Both are read from the database as a search would find them. Pages belong together by their names,
else by their titles.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from pgrag.service.app import App

PASSAGES = """
select p.key, p.title, d.level, d.anchor, d.content,
    d.path[cardinality(p.path) + 1 :] as headings
from pgrag.documents as d
join pgrag.pages as p using (library_id, page_id)
join pgrag.libraries as l using (library_id)
where l.name = %s and d.level > 0
order by p.key, d.sort_order
"""
EXAMPLES = 5

_PAGE_NAME = re.compile(r"(?:(?:^|/)(?:_?index|readme))?(?:\.(?:md|mdx|markdown|html?))?$")
_NAME = re.compile(r"\W|_")
_FENCED = re.compile(
    r"^[ ]*(`{3,}|~{3,})(?P<info>[^\n]*)\n(?P<code>.*?)^[ ]*\1[`~]*[ ]*$", re.MULTILINE | re.DOTALL
)
#: What MyST writes like code and is none.
_DIRECTIVE = re.compile(r"\s*\{(?!code)")
_ROW = re.compile(r"^[ ]*\|(.*)\|[ ]*$", re.MULTILINE)
_RULE = re.compile(r"[\s|:-]*")
#: Definitions of links, names of icons, where a link leads, tags of HTML, and attributes.
_NO_WORDS = re.compile(
    r"^[ ]*\[[^\]\n]+\]:[^\n]*|:[a-z0-9-]+:"
    r"|\]\([^\s()]*(?:\([^\s()]*\)[^\s()]*)*(?:\s+\"[^\"]*\")?\)|<[^<>]*>|\{[#.:][^{}]*\}",
    re.MULTILINE,
)
_WORD = re.compile(r"[^\W_]+")
_QUOTE = re.compile(r"^[ ]*>", re.MULTILINE)
_OPENING = re.compile(r"^([ ]*(?:`{3,}|~{3,}))[^`\n]*$", re.MULTILINE)
#: Generators set what is typed with the signs of a typewriter.
_TYPEWRITTEN = {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "--", "—": "---", "…": "..."}

Headings = tuple[str, ...]
Section = tuple[Headings, str]
"""The headings above a section within its page, itself included, and its anchor."""


@dataclass(slots=True)
class ReadPage:
    """What is stored of a page: its sections, and its text."""

    key: str
    title: str
    sections: Counter[Section] = field(default_factory=Counter)
    text: str = ""

    def add(self, level: int, headings: Iterable[str], anchor: str, content: str) -> None:
        """Add a passage: those of level 1 are sections, those of level 2 are text."""
        if level == 1:
            self.sections[tuple(map(_shown, headings)), anchor] += 1
        else:
            self.text += f"{content}\n\n"


@dataclass(slots=True)
class Equality:
    """What of the sources the site has. Shares are of what the sources have."""

    pages: int = 0
    unmatched: tuple[list[str], list[str]] = ([], [])
    sections: int = 0
    equal: int = 0
    words: tuple[int, int] = (0, 0)
    code: tuple[int, int] = (0, 0)
    rows: tuple[int, int] = (0, 0)
    differences: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def read_pages(app: App, library: str) -> dict[str, ReadPage]:
    """Return the pages of a library by key."""
    pages: dict[str, ReadPage] = {}
    for row in app.database.query(PASSAGES, [library]):
        page = pages.setdefault(row["key"], ReadPage(row["key"], row["title"]))
        page.add(row["level"], row["headings"], row["anchor"], row["content"])
    return pages


def pairs(written: Mapping[str, ReadPage], crawled: Mapping[str, ReadPage]) -> dict[str, str]:
    """Return the key of the crawled page for that of each source that is published."""
    found: dict[str, str] = {}
    for name in (_page_name, lambda page: _shown(page.title)):
        left = _by_name((p for p in written.values() if p.key not in found), name)
        taken = {*found.values()}
        right = _by_name((p for p in crawled.values() if p.key not in taken), name)
        found |= {left[each]: right[each] for each in left.keys() & right.keys()}
    return found


def compare(written: Mapping[str, ReadPage], crawled: Mapping[str, ReadPage]) -> Equality:
    """Compare the pages that belong together."""
    found = pairs(written, crawled)
    result = Equality(
        pages=len(found),
        unmatched=(
            sorted(written.keys() - found.keys()), sorted(crawled.keys() - {*found.values()})
        ),
    )  # fmt: skip
    for key, other in sorted(found.items()):
        _compare_pages(result, written[key], crawled[other])
    return result


def _compare_pages(result: Equality, source: ReadPage, page: ReadPage) -> None:
    equal = source.sections & page.sections
    result.sections += source.sections.total()
    result.equal += equal.total()
    for name, count in (("words", _words), ("code", _code), ("rows", _rows)):
        here, there = count(source.text), count(page.text)
        kept, whole = getattr(result, name)
        setattr(result, name, (kept + (here & there).total(), whole + here.total()))
    missing, added = source.sections - page.sections, page.sections - source.sections
    anchors = {anchor for _, anchor in added}
    paths = {headings for headings, _ in added}
    for headings, anchor in missing.elements():
        kind = "other anchor" if headings in paths else "other headings"
        if headings not in paths and (anchor not in anchors or not anchor):
            kind = "only in the sources"
        result.differences[kind].append(f"{source.key}: {' / '.join(headings)} #{anchor}")
    for headings, anchor in added.elements():
        if headings not in {h for h, _ in missing} and anchor not in {a for _, a in missing}:
            result.differences["only on the site"].append(
                f"{page.key}: {' / '.join(headings)} #{anchor}"
            )


def told(result: Equality) -> Iterable[str]:
    """Yield the lines of a report."""
    yield f"{result.pages:,} pages are compared"
    for where, keys in zip(("sources", "site"), result.unmatched, strict=True):
        if keys:
            yield f"  {len(keys):,} only in the {where}: {', '.join(keys[:EXAMPLES])}"
    yield f"sections with equal headings and anchor: {_share(result.equal, result.sections)}"
    yield f"words of these pages: {_share(*result.words)}"
    yield f"code blocks: {_share(*result.code)}"
    yield f"rows of tables: {_share(*result.rows)}"
    for kind, examples in result.differences.items():
        yield f"{len(examples):,} {kind}"
        yield from (f"  {each}" for each in examples[:EXAMPLES])


def _share(kept: int, whole: int) -> str:
    return f"{kept:,} of {whole:,}, {kept / whole:.2%}" if whole else "none"


def _page_name(page: ReadPage) -> str:
    return _NAME.sub("", _PAGE_NAME.sub("", page.key.lower()))


def _by_name(pages: Iterable[ReadPage], name: Callable[[ReadPage], str]) -> dict[str, str]:
    """The keys of pages by name, but for names that several have."""
    named: defaultdict[str, list[str]] = defaultdict(list)
    for page in pages:
        named[name(page)].append(page.key)
    return {each: keys[0] for each, keys in named.items() if len(keys) == 1}


def _shown(heading: str) -> str:
    for sign, typed in _TYPEWRITTEN.items():
        heading = heading.replace(sign, typed)
    return " ".join(heading.split())


def _words(text: str) -> Counter[str]:
    text = _OPENING.sub(r"\1", _QUOTE.sub("", text))
    return Counter(_WORD.findall(_NO_WORDS.sub("] ", text).casefold()))


def _code(text: str) -> Counter[str]:
    found = _FENCED.finditer(_QUOTE.sub("", text))
    return Counter("".join(m["code"].split()) for m in found if not _DIRECTIVE.match(m["info"]))


def _rows(text: str) -> Counter[str]:
    lines = (match[1] for match in _ROW.finditer(_FENCED.sub("", _QUOTE.sub("", text))))
    return Counter(
        "".join(_WORD.findall(_NO_WORDS.sub("] ", line)))
        for line in lines
        if not _RULE.fullmatch(line)
    )
