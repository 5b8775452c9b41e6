"""A manual page as text, as `man x > x.txt` writes it: headings at the margin, indented bodies."""

import re
from collections.abc import Iterator, Sequence
from textwrap import dedent

from pgrag.ingest.formats.escaping import escape, escape_start, fence, heading

#: The first line of a manual page, and with other words the last: LS(1) … LS(1).
_HEAD = re.compile(r"\s*([\w.:+@-]+(?: [\w.:+@-]+){0,5}\(\w{1,5}\))(?:\s.*)?\s\1\s*")
_NAME = re.compile(r"^NAME\n {3,8}\S.* (?:-|–|—|--) ", re.MULTILINE)
_BESIDE = re.compile(r"(\S+(?:[ ,|]\S+){0,4})( {2,})(?=\S)")
_GAP = re.compile(r"\S {3,}\S")
_BULLET = re.compile(r"(?:[•·*o-]|\d{1,2}[.)])(?= +\S)")
_CODE_SECTIONS = frozenset(("SYNOPSIS", "SYNTAX", "USAGE"))
#: The indents that troff gives the headings of parts of a section.
_PART = re.compile(r" {2,3}(?=\S)")
_MOST_NESTED = 8


def is_manual(text: str) -> bool:
    """Whether a text is a formatted manual page."""
    first = text.lstrip().partition("\n")[0]
    return _HEAD.fullmatch(first) is not None or _NAME.search(text) is not None


def without_margins(text: str) -> tuple[str, str]:
    """Return the title in the first line of a manual page, if any, and the text between that line
    and the last, which repeat it on every page.
    """
    lines = text.strip("\n").split("\n")
    match = _HEAD.fullmatch(lines[0]) if lines else None
    title = match[1] if match else ""
    if title:
        ends = re.compile(rf".*{re.escape(title)}\s*|\S.*\s{{3,}}\S.*\s{{3,}}\S+\s*", re.IGNORECASE)
        last = len(lines) - 1 if ends.fullmatch(lines[-1]) else len(lines)
        lines = [line for line in lines[1:last] if not _HEAD.fullmatch(line)]
    return title, _joined("\n".join(lines))


def _joined(text: str) -> str:
    """Join the words that troff has hyphenated: those that the text has elsewhere in one piece."""
    words = {*re.findall(r"\w+", text.casefold())}

    def without_break(match: re.Match[str]) -> str:
        first, margin, second, rest = match.groups()
        if f"{first}{second}".casefold() not in words:
            return match[0]
        return f"{first}{second}{rest}{margin if match[0].endswith(' ') else ''}"

    return re.sub(r"(\w+)[\u2010-](\n +)(\w+)(\S*) ?", without_break, text)


def manual_blocks(title: str, text: str) -> Iterator[str]:
    """Yield the blocks of a manual page."""
    if title:
        yield heading(1, escape(title))
    section: list[str] = []
    name = ""
    for line in [*text.split("\n"), "."]:
        is_part = _PART.match(line) is not None and name != "" and not _BULLET.match(line.strip())
        if line[:1].strip() or is_part:
            yield from _section(name, section)
            section = []
            if line != ".":
                name = name if is_part else line.strip()
                yield heading(3 if is_part else 2, escape(line.strip()))
        else:
            section.append(line)


def _section(name: str, lines: list[str]) -> Iterator[str]:
    text = dedent("\n".join(lines)).strip("\n")
    if name.upper() in _CODE_SECTIONS and text:
        yield "\n".join(fence(text))
    elif text:
        yield from _blocks(text.split("\n"), 0)


def _blocks(lines: list[str], depth: int) -> list[str]:
    """Read lines at a margin: what stands out is a term or an item, what is indented its text."""
    blocks: list[str] = []
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        end = at
        while end < len(lines) and lines[end].strip() and not lines[end].startswith(" "):
            end += 1
        body = end
        while body < len(lines) and (not lines[body].strip() or lines[body].startswith(" ")):
            body += 1
        head, rest = lines[at:end], lines[end:body]
        is_close = end < len(lines) and bool(lines[end].strip())
        if not head:
            blocks.append(_code(rest))
        elif depth < _MOST_NESTED and (item := _item(head, rest, depth, is_close=is_close)):
            blocks.append(item)
        else:
            blocks.append(_code(head) if _is_laid_out(head) else _prose(head))
            blocks += [_code(rest)] if "".join(rest).strip() else []
        at = body
    return blocks


def _item(head: list[str], rest: list[str], depth: int, *, is_close: bool) -> str:
    """Return a term or an item with its text below it; empty if the lines are neither."""
    *others, last = head
    beside = _BULLET.match(last) or _BESIDE.match(last)
    start = 0
    if beside is not None:
        start = len(last) - len(last[beside.end() :].lstrip())
        followed = next((len(each) - len(each.lstrip()) for each in rest if each.strip()), start)
        if followed < start or (others and not _BULLET.match(last) and len(head) > 3):
            beside = None
    if beside is None and not is_close:
        return ""
    term = last if beside is None else beside[0].strip()
    body = [*([] if beside is None else [" " * start + last[start:]]), *rest]
    inner = _blocks(dedent("\n".join(body)).split("\n"), depth + 1)
    mark = "- "
    if beside is not None and _BULLET.fullmatch(term):
        mark = f"{term} " if term[0].isdigit() else "- "
        before = [_prose(others)] if others else []
        return "\n\n".join([*before, _indented(mark, "\n\n".join(inner))])
    terms = [f"**{escape(each.strip())}**" for each in [*others, term]]
    shown = "\n".join(terms)
    if inner and inner[0][0] not in "`#-":
        shown += "\n" + inner.pop(0)
    return _indented(mark, "\n\n".join([shown, *inner]))


def _indented(mark: str, text: str) -> str:
    return mark + re.sub(r"\n(?=[^\n])", "\n" + " " * len(mark), text)


def _is_laid_out(lines: Sequence[str]) -> bool:
    return len(lines) > 1 and 2 * sum(_GAP.search(each) is not None for each in lines) > len(lines)


def _code(lines: Sequence[str]) -> str:
    return "\n".join(fence(dedent("\n".join(lines)).strip("\n")))


def _prose(lines: Sequence[str]) -> str:
    return "\n".join(escape_start(escape(" ".join(each.split()))) for each in lines)
