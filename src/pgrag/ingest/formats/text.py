"""Plain text: headings by simple evidence, indented text as code; Markdown stays as it is."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from textwrap import dedent

from pgrag.ingest.formats import manual
from pgrag.ingest.formats.converted import Converted
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.formats.escaping import escape, escape_start, fence, heading
from pgrag.ingest.formats.loss import count_words
from pgrag.ingest.values import Origin

_MARKDOWN = re.compile(r"^#{1,6} \S|^```|\]\((?:https?:|[\w./-]+\))", re.MULTILINE)
_PARAGRAPHS = re.compile(r"\n(?:[ \t\f]*\n)+")
_LINE = re.compile(r"([=\-~*^+.#_])\1{2,}")
_NUMBERED = re.compile(r"((?:[A-Z]\.)?\d+(?:\.\d+)*)\.?[ \t]+[A-Z][^\n]{1,70}(?<![.:;,])")
_CHAPTER = re.compile(r"(?:Chapter|Appendix|Part|Section) [\dA-Z]{1,4}[.:] +[^\n]{1,70}(?<![.,;])")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9 &/()'-]{2,70}")
_ITEM = re.compile(r"[ ]{0,3}(?:[-*+•]|o(?=  )|\d{1,3}[.)])[ \t]")
_BULLET = re.compile(r" {0,3}[-*•] +\S")
#: A character that is printed again, or over a line: how printers made letters bold.
_OVERSTRUCK = re.compile(rb"(?:[\x20-\x7f]|[\xc0-\xff][\x80-\xbf]+)\x08")
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
#: The last line of a printed page, and a line of a table of contents with its number of page.
_FOOT = re.compile(r"[^\n]*\[Page \d+\][ \t]*|[ \t]*-?[ \t]*\d{1,4}[ \t]*-?[ \t]*")
_OF_CONTENTS = re.compile(r"[^\n]*\S(?: ?\.){3,} ?[ \t]*[\divx]+[ \t]*")
_IS_CONTENTS = re.compile(r"[ \t]*(?:table of contents|contents)[ \t]*", re.IGNORECASE)
#: A longer line after a plain number begins an item of a list.
_LONGEST_OF_ITEMS = 45
_RULE = re.compile(r"[ \t]*[_━─]{3,}[ \t]*")
_TERM = re.compile(r"\S[^\n]{0,38}[^\s.,;:{(]")
#: What only tables and drawings have.
_DRAWN = re.compile(
    r"\+[-=+]{2,}|[-=]{3,}[ +|][-=]{3,}|[│┌└├─╔║]|^\s*\|.*\|\s*$|\S {3,}\S.*\S {3,}\S|\S {6,}\S"
)
#: The line below the heads of the columns of a table.
_RULED = re.compile(r"\s*[-=]{2,}(?: +[-=]{2,})+\s*")
_SENTENCE = re.compile(r"[A-Z\"'(][^\n]*[a-z,.;] [\s\S]*[.:;!?)\"']")


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Read a text; its headings have no ids, because a text is published as it is."""
    text, warnings = decode(key, _OVERSTRUCK.sub(b"", data) if b"\x08" in data else data, origin)
    text = _COLOURS.sub("", text)
    if _MARKDOWN.search(text) and not manual.is_manual(text):
        return Converted(text, tuple(warnings), words=count_words(text, text))
    text = _without_pages(text.expandtabs())
    if manual.is_manual(text):
        title, text = manual.without_margins(text)
        blocks = list(manual.manual_blocks(title, text))
    else:
        blocks = _text_blocks(dedent(text).strip("\n"))
    markdown = "\n\n".join(blocks) + "\n"
    shown = "\n".join(line for line in text.split("\n") if not _OF_CONTENTS.fullmatch(line))
    return Converted(markdown, tuple(warnings), words=count_words(shown, markdown))


def _text_blocks(text: str) -> list[str]:
    """Read a text. If most of it is indented, what stands at the margin is a heading."""
    paragraphs = list(_without_contents(_PARAGRAPHS.split(text)))
    indents = [min(len(line) - len(line.lstrip()) for line in p.split("\n")) for p in paragraphs]
    base, times = Counter(indents).most_common(1)[0] if indents else (0, 0)
    base *= 2 * times > len(indents)
    levels: dict[str, int] = {}
    blocks: list[str] = []
    for paragraph, indent in zip(paragraphs, indents, strict=True):
        is_heading = base >= 2 and not indent and _is_title(paragraph, base)
        if is_heading or (not levels and _is_centred(paragraph)):
            level = 1 if indent else 2
            number = re.match(r"[\dA-Z]{1,3}(?:\.\d+)+", paragraph)
            level += number[0].count(".") if number else 0
            levels.setdefault("margin", level)
            blocks.append(heading(level, escape(paragraph.strip())))
            continue
        lines = [line[base:] if line[:base].isspace() else line for line in paragraph.split("\n")]
        blocks += _blocks("\n".join(lines), levels)
    return blocks


def _is_title(paragraph: str, base: int) -> bool:
    is_short = "\n" not in paragraph and len(paragraph) <= 72
    return is_short and paragraph[-1] not in ".,;:" and paragraph[0].isalnum() and base > 0


def _is_centred(paragraph: str) -> bool:
    indent = len(paragraph) - len(paragraph.lstrip())
    middle = indent + len(paragraph.strip()) / 2
    return "\n" not in paragraph and indent >= 8 and abs(middle - 36) <= 4


def _without_pages(text: str) -> str:
    """Drop the running heads and feet of printed pages; a paragraph goes on over the break."""
    pages = [page.strip("\n").split("\n") for page in text.split("\f")]
    if len(pages) < 3:
        return text.replace("\f", "\n\n")
    heads = Counter(re.sub(r"\d+", "", page[0]) for page in pages if page[0].strip())
    texts = []
    for lines in pages:
        while lines and not lines[-1].strip():
            lines.pop()
        end = -1 if lines and _FOOT.fullmatch(lines[-1]) else len(lines)
        start = bool(lines) and heads[re.sub(r"\d+", "", lines[0])] > 1
        texts.append("\n".join(lines[start:end]).strip("\n").rstrip())
    joined = texts[:1]
    for before, after in pairwise(texts):
        goes_on = re.search(r"[a-z,;]$", before) and re.match(r" *[a-z(]", after)
        joined += ["\n" if goes_on else "\n\n", after]
    return "".join(joined)


def _without_contents(paragraphs: list[str]) -> Iterator[str]:
    """Leave out tables of contents with numbers of pages."""
    for at, paragraph in enumerate(paragraphs):
        following = paragraphs[at + 1] if at + 1 < len(paragraphs) else ""
        is_title = _IS_CONTENTS.fullmatch(paragraph) and _is_contents(following)
        lines = paragraph.replace("\f", "").rstrip().split("\n")
        lines = lines[1:] if _RULE.fullmatch(lines[0]) else lines
        lines = lines[:-1] if lines and _RULE.fullmatch(lines[-1]) else lines
        if "".join(lines).strip() and not is_title and not _is_contents(paragraph):
            yield "\n".join(lines)


def _is_contents(paragraph: str) -> bool:
    lines = paragraph.split("\n")
    return 2 * sum(_OF_CONTENTS.fullmatch(line) is not None for line in lines) > len(lines)


def _blocks(paragraph: str, levels: dict[str, int]) -> Iterator[str]:
    lines = paragraph.split("\n")
    if over := _LINE.fullmatch(lines[0].strip()):  # a title between two lines
        if len(lines) > 2 and lines[2].strip() == lines[0].strip():
            yield heading(
                levels.setdefault("over" + over[1], len(levels) + 1), escape(lines[1].strip())
            )
            lines = lines[3:]
    elif len(lines) > 1 and _is_underlined(lines[0], lines[1].strip()):
        level = levels.setdefault(lines[1].strip()[0], len(levels) + 1)
        yield heading(level, escape(lines[0].strip()))
        lines = lines[2:]
    elif (number := _NUMBERED.fullmatch(lines[0])) and _stands_out(lines, number):
        yield heading(number[1].count(".") + 2, escape(lines[0].strip()))
        lines = lines[1:]
    elif _stands_out(lines) and (_CAPITALS.fullmatch(lines[0]) or _CHAPTER.fullmatch(lines[0])):
        yield heading(2, escape(lines[0].strip()))
        lines = lines[1:]
    if lines:
        yield _block(lines)


def _is_underlined(title: str, line: str) -> bool:
    shown = title.strip()
    is_line = _LINE.fullmatch(line) is not None and 2 * len(line) >= len(shown) > 0
    return is_line and _DRAWN.search(shown) is None and not _LINE.fullmatch(shown)


def _stands_out(lines: list[str], number: re.Match[str] | None = None) -> bool:
    """Whether the first line is alone, or short enough for a heading, with the others indented."""
    if number and len(lines) > 1 and "." not in number[1] and len(lines[0]) > _LONGEST_OF_ITEMS:
        return False
    return all(line.startswith("  ") for line in lines[1:])


def _block(lines: list[str]) -> str:
    drawn = sum(_DRAWN.search(line) is not None for line in lines)
    drawn += bool(drawn) and sum(line.startswith(" " * 16) for line in lines)
    is_ruled = any(map(_RULED.fullmatch, lines[:3]))
    if is_ruled or 2 * drawn > len(lines) or (drawn > 1 and 2 * drawn >= len(lines)):
        return "\n".join(fence(dedent("\n".join(lines))))
    if _ITEM.match(lines[0]):
        return "\n".join(_item(line) for line in lines)
    if len(lines) > 1 and _stands_out(lines) and _TERM.fullmatch(lines[0]):
        return f"**{escape(lines[0])}**\n{_prose(lines[1:])}"
    text = dedent("\n".join(lines))
    is_indented = all(line.startswith("    ") or not line for line in lines)
    if is_indented and not _is_prose(text):
        return "\n".join(fence(text))
    bullets = [at for at, line in enumerate(lines) if _BULLET.match(line)]
    if len(bullets) > 1:
        return f"{_prose(lines[: bullets[0]])}\n\n" + "\n".join(map(_item, lines[bullets[0] :]))
    return _prose(lines)


def _prose(lines: list[str]) -> str:
    return "\n".join(escape_start(escape(line.strip())) for line in lines)


def _is_prose(text: str) -> bool:
    """Whether an indented passage is wrapped sentences: long lines, single spaces."""
    lines = text.split("\n")
    is_even = len(lines) > 1 and not any(line.startswith(" ") for line in lines)
    is_long = all(len(line) > 40 for line in lines[:-1])
    return is_even and is_long and _SENTENCE.fullmatch(text) is not None


def _item(line: str) -> str:
    mark = _ITEM.match(line)
    if not mark:
        return escape(line)
    return re.sub(r"[•o](?=\s)", "-", mark[0]) + escape(line[mark.end() :])
