"""Parse Markdown into sections: the heading tree of a page with the blocks of each heading."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from markdown_it.token import Token

from pgrag.ingest.text import directives, html_headings, html_text, notes, templating
from pgrag.ingest.text.anchors import heading_anchors
from pgrag.ingest.text.block_rules import block_parser
from pgrag.ingest.text.html_text import readable
from pgrag.ingest.text.inline import heading_text
from pgrag.ingest.text.shown import reduce_lines
from pgrag.ingest.text.slugs import SlugStyle
from pgrag.ingest.values import Block, Prose, ProseBlock, Section

# Only blocks are parsed: their text is sliced from the source by line numbers.
_PARSER = block_parser()

_BLOCK_TYPES = {
    "paragraph_open": "text",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "blockquote_open": "quote",
    "html_block": "html",
}
_NESTED_TYPES = {"fence": "code", "code_block": "code", "table_open": "table"}
_CALLOUT = re.compile(
    r"[ \t]*(?:>[ \t]*(?:\[!|\*\*\w+:?\*\*)|:{3,}[ \t]*[a-z]|/{3,}[ \t]*[a-z]|!{3} |\?{3}\+? "
    r"|\{\{[<%][ \t]*(?:note|tip|info|warning|caution|danger|alert)\b)"
)
_MATH = re.compile(r"[ \t]*(?:\$\$|\\\[|\\begin\{)")
_PADDING = re.compile(r"(?<=\S)[ \t]{2,}|-{4,}")
_HTML_TABLE = re.compile(r"[ \t]*<table\b", re.IGNORECASE)
_HTML_CODE = re.compile(r"[ \t]*<(?:script|style|pre|textarea)\b", re.IGNORECASE)
_EDGE_CALLOUT = re.compile(r"\[!edge\]", re.IGNORECASE)


@dataclass(slots=True)
class _Heading:
    """A heading with the blocks below it, before the tree is built."""

    text: str
    level: int
    line: int
    anchor: str
    blocks: list[Block] = field(default_factory=list)


def parse(text: str, first_line: int = 1) -> tuple[Section, ...]:
    """Return the sections of a page in reading order."""
    return read(text, first_line)[0]


def read(
    text: str, first_line: int = 1, slugs: SlugStyle | None = "github"
) -> tuple[tuple[Section, ...], Prose]:
    """Return the sections of a page in reading order, and its prose, in linear time. Text before
    the first heading is a section of level 0. Only top-level headings with words count, of Markdown
    or HTML, not those in quotes, lists or fences. `first_line` is the line of the source on which
    the text begins; `slugs` names the generator whose anchors the headings get. With None the
    text was made of another format: only written ids (`{#id}`) count, and marks of dialects are
    words.
    """
    text = templating.prepare(text)
    if slugs is not None:
        text = directives.rewrite(notes.without_comments(text))
    lines = text.split("\n")
    environment: dict[str, Any] = {}
    tokens = _PARSER.parse(text, environment)
    definitions = environment.get("references", {})
    prose = Prose(
        tuple(_prose_blocks(tokens, definitions, lines, first_line)),
        {
            label: _address(definition)
            for label, definition in definitions.items()
            if label[0] != "^"
        },
    )
    if rewritten := html_headings.rewrite(
        lines, tokens, with_ids=slugs not in ("sphinx", "obsidian")
    ):
        lines = rewritten
        tokens = _PARSER.parse("\n".join(lines))
    steps = [
        step
        for is_needed, step in (
            (templating.has_macros(text), templating.reduce),
            (slugs is not None and notes.has_marks(text), notes.reduce),
            (html_text.has_marks(text), html_text.inline),
        )
        if is_needed
    ]
    original = lines[:] if steps else lines
    if steps:
        reduce_lines(lines, tokens, steps)
    headings = [_Heading("", 0, first_line, "")]
    anchors = heading_anchors(
        tokens, definitions, slugs, lambda token: _heading_source(token, lines)
    )
    for token, contains in _top_level(tokens):
        start, end = token.map or (0, 0)
        if token.type == "heading_open":
            if words := heading_text(_heading_source(token, lines), definitions):
                level = int(token.tag[1:])
                headings.append(_Heading(words, level, first_line + start, anchors[start]))
        elif token.type in _BLOCK_TYPES:
            kind = _block_type(token.type, original[start])
            if block := _block(kind, contains, lines, (start, end), first_line):
                headings[-1].blocks.append(block)
    last_line = first_line + len(lines) - (2 if lines[-1] == "" and len(lines) > 1 else 1)
    if not headings[0].blocks:
        del headings[0]
    return _tree(headings, last_line), prose


def _address(definition: Mapping[str, Any]) -> str:
    """Undo the parser's percent-encoding: addresses stay as written."""
    href: str = definition["href"]
    return href if "://" in href else unquote(href)


def _prose_blocks(
    tokens: Sequence[Token],
    definitions: Mapping[str, Mapping[str, Any]],
    lines: Sequence[str],
    first_line: int,
) -> list[ProseBlock]:
    blocks: list[ProseBlock] = []
    callouts: list[int | None] = []
    for token in tokens:
        kind = token.type
        start, end = token.map or (0, 0)
        if kind == "inline" and token.content:
            if callouts and callouts[-1] is None and _EDGE_CALLOUT.match(token.content):
                callouts[-1] = len(blocks)
            callout = callouts[-1] if callouts else None
            # a table row is one block, so that a link's sentence is the row; skip its cells
            last = blocks[-1] if blocks else None
            if not (last and last.kind == "table" and last.line == first_line + start):
                blocks.append(ProseBlock(token.content, first_line + start, callout=callout))
        elif kind == "tr_open":
            blocks.append(ProseBlock(lines[start], first_line + start, "table"))
        elif kind == "html_block" and not _HTML_CODE.match(token.content):
            blocks.append(ProseBlock("\n".join(lines[start:end]), first_line + start, "html"))
        elif kind == "blockquote_open":
            callouts.append(callouts[-1] if callouts else None)
        elif kind == "blockquote_close":
            callouts.pop()
    notes = [definition["map"] for label, definition in definitions.items() if label[0] == "^"]
    if notes:
        # CommonMark parses a footnote as a link definition
        blocks += (
            ProseBlock("\n".join(lines[start:end]), first_line + start) for start, end in notes
        )
        blocks.sort(key=lambda block: block.line)
    return blocks


def parse_blocks(text: str, first_line: int) -> list[Block]:
    """Return the blocks of a list item without its marker."""
    lines = text.split("\n")
    blocks: list[Block] = []
    for token, contains in _top_level(_PARSER.parse(text)):
        start, end = token.map or (0, 0)
        kind = _BLOCK_TYPES.get(token.type, "text")
        if block := _block(kind, contains, lines, (start, end), first_line):
            blocks.append(block)
    return blocks


def _top_level(tokens: Sequence[Token]) -> Iterator[tuple[Token, tuple[str, ...]]]:
    """Yield each token that opens a top-level block, with the types of its nested blocks."""
    opened: Token | None = None
    contains: list[str] = []
    for token in tokens:
        if token.level == 0 and token.nesting >= 0 and token.map:
            if opened:
                yield opened, tuple(contains)
                contains = []
            opened = token
        elif token.type in _NESTED_TYPES and _NESTED_TYPES[token.type] not in contains:
            contains.append(_NESTED_TYPES[token.type])
    if opened:
        yield opened, tuple(contains)


def _block_type(token_type: str, first_line: str) -> str:
    kind = _BLOCK_TYPES[token_type]
    if kind in {"text", "quote"} and _CALLOUT.match(first_line):
        return "callout"
    if kind == "text" and _MATH.match(first_line):
        return "math"
    if kind == "html" and _HTML_TABLE.match(first_line):
        return "table"
    return kind


def _block(
    kind: str, contains: tuple[str, ...], lines: list[str], extent: tuple[int, int], first_line: int
) -> Block | None:
    start, end = extent
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    text = "\n".join(lines[start:end]).rstrip()
    if kind in {"text", "callout"}:
        text = text.lstrip()
    if text.lstrip().startswith("<") and (kind == "html" or _HTML_TABLE.match(text)):
        text = readable(text)
    elif kind == "table":
        text = _PADDING.sub(lambda match: "---" if match[0][0] == "-" else " ", text)
    if not text:
        return None
    return Block(kind, text, first_line + start, first_line + end - 1, contains)


def _heading_source(token: Token, lines: Sequence[str]) -> str:
    start, end = token.map or (0, 0)
    if token.markup.startswith("#"):
        return lines[start].strip().lstrip("#").strip()
    return " ".join(line.strip() for line in lines[start : end - 1])


def _tree(headings: Sequence[_Heading], last_line: int) -> tuple[Section, ...]:
    """Build the heading tree in linear time, with a stack of ancestors."""
    parents: list[int | None] = []
    children: dict[int | None, list[int]] = defaultdict(list)
    ancestors: list[int] = []
    for index, heading in enumerate(headings):
        while ancestors and headings[ancestors[-1]].level >= heading.level:
            ancestors.pop()
        parents.append(ancestors[-1] if ancestors else None)
        if heading.level:
            children[parents[-1]].append(index)
            ancestors.append(index)
    last = list(range(len(headings)))
    for index in reversed(range(len(headings))):
        last[index] = last[children[index][-1]] if children[index] else index
    positions = ["intro", *["middle"] * (len(headings) - 2), "conclusion"]
    sections: list[Section] = []
    for index, heading in enumerate(headings):
        parent = parents[index]
        path = (sections[parent].path if parent is not None else ()) + (
            (heading.text,) if heading.level else ()
        )
        following = headings[index + 1].line - 1 if index + 1 < len(headings) else last_line
        sections.append(
            Section(
                heading=heading.text,
                level=heading.level,
                path=path,
                depth=len(path),
                position=positions[index],
                line_start=heading.line,
                line_end=following,
                parent=parent,
                root=index if parent is None else sections[parent].root,
                last=last[index],
                children=tuple(children[index]),
                blocks=tuple(heading.blocks),
                anchor=heading.anchor,
            )
        )
    return tuple(sections)
