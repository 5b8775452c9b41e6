"""Quarto and R Markdown: Markdown with chunks of code, boxes and references of their own."""

import re
from collections.abc import Iterator

from pgrag.ingest.formats.converted import Converted
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.formats.loss import count_words
from pgrag.ingest.values import Origin

_MOST_NESTED = 20
_FENCE = re.compile(r"(?P<indent>\s*)(?P<mark>`{3,}|~{3,})\s*(?P<info>.*)")
_CHUNK = re.compile(r"\{(?P<language>[\w.-]+)(?P<options>[^{}]*)\}")
_OPTION = re.compile(r"\s*(?:#|//|--|%%)\|\s?(?P<name>[\w.-]+):\s*(?P<value>.*)")
_DIV = re.compile(r"\s*(?P<mark>:{3,})\s*(?P<info>\{.*\}|[\w.-]+)?\s*:*\s*")
_CALLOUT = re.compile(r"\.?callout-(note|tip|warning|caution|important)")
_HEADING = re.compile(r"#{1,6}\s+(?P<words>.*?)(?:\s*\{.*\})?\s*")
_REFERENCE = re.compile(r"(?<![\w@\\])\[?-?@(?P<id>(?P<kind>fig|tbl|sec|eq|lst|thm)-[\w-]*\w)\]?")
_KINDS = {"fig": "Figure", "tbl": "Table", "sec": "Section", "eq": "Equation", "lst": "Listing",
          "thm": "Theorem"}  # fmt: skip
_INLINE_CODE = re.compile(r"`(?:r|\{(?:r|python|julia)\})\s+([^`]+)`")
_SPAN = re.compile(r"(?<!!)\[([^\[\]]+)\]\{[.#][^{}]*\}")
_CLASSES = re.compile(r"(^#{1,6} .*?)\s*\{(?:(#[\w.:-]+)[^{}]*|[^{}#]*)\}\s*$")
_INCLUDE = re.compile(r"\{\{<\s*include\s+(\S+)\s*>\}\}|child\s*=\s*['\"]([^'\"]+)")


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Read a document; what its code would print is not known, and is not part of it."""
    text, warnings = decode(key, data, origin)
    markdown = "\n".join(_lines(text.split("\n")))
    included = [one or other for one, other in _INCLUDE.findall(text)]
    if included:
        named = ", ".join(dict.fromkeys(included[:5]))
        warnings.append(f"{key}: the text of the files that it includes is not read: {named}")
    shown = re.sub(r"\{[^{}\n]*\}|^[ \t]*#\|.*$|^[ \t]*:::.*$", " ", text, flags=re.MULTILINE)
    words = count_words(shown, markdown)
    return Converted(markdown, tuple(warnings), has_ids=False, words=words)


def _lines(lines: list[str]) -> Iterator[str]:
    """Yield the lines as Markdown."""
    boxes: list[bool] = []  # the divisions that are open: whether each is a box
    at = 0
    while at < len(lines):
        line = lines[at]
        quote = "> " * min(sum(boxes), _MOST_NESTED)
        if fence := _FENCE.fullmatch(line):
            end = _end_of_fence(lines, at, fence["mark"])
            for each in _code(fence, lines[at + 1 : end], has_end=end < len(lines)):
                yield (quote + each).rstrip() if quote else each
            at = end + 1
            continue
        if division := _DIV.fullmatch(line):
            info = division["info"]
            if info is None:
                yield "" if boxes and boxes.pop() else quote.rstrip()
            else:
                yield quote.rstrip()
                kind = _CALLOUT.search(info)
                boxes.append(kind is not None)
                if kind:
                    title, at = _title(info, lines, at)
                    yield f"{quote}> [!{kind[1]}] {title}".rstrip()
                    yield f"{quote}>"
        else:
            yield (quote + _inline(line)).rstrip() if quote else _inline(line)
        at += 1


def _end_of_fence(lines: list[str], start: int, mark: str) -> int:
    for at in range(start + 1, len(lines)):
        if re.fullmatch(rf"\s*{re.escape(mark[0])}{{{len(mark)},}}\s*", lines[at]):
            return at
    return len(lines)


def _code(fence: re.Match[str], body: list[str], *, has_end: bool) -> Iterator[str]:
    """Yield a block of code without the options of a chunk; a caption among them is shown."""
    chunk = _CHUNK.fullmatch(fence["info"].strip())
    language, options = fence["info"], {}
    if chunk:
        language = chunk["language"].lower()
        while body and (option := _OPTION.fullmatch(body[0])):
            options[option["name"]] = option["value"].strip().strip("'\"")
            body = body[1:]
        is_hidden = re.search(r"\binclude\s*=\s*F", chunk["options"])
        if is_hidden or options.get("include", "").lower() == "false":
            return
        if named := re.search(r"\bfig\.cap\s*=\s*(['\"])(.*?)\1", chunk["options"]):
            options["fig-cap"] = named[2]
    if label := options.get("label"):
        yield from (f'<a id="{label}"/>', "")
    yield f"{fence['indent']}{fence['mark']}{language}"
    yield from body
    if has_end or chunk:
        yield f"{fence['indent']}{fence['mark']}"
    for name in ("fig-cap", "tbl-cap", "lst-cap"):
        if name in options:
            yield from ("", options[name])


def _title(info: str, lines: list[str], at: int) -> tuple[str, int]:
    """Return the title of a box, and the line that states it: its own, or a heading below."""
    if stated := re.search(r"title\s*=\s*(['\"])(.*?)\1", info):
        return stated[2], at
    below = at + 1
    while below < len(lines) and not lines[below].strip():
        below += 1
    match = _HEADING.fullmatch(lines[below]) if below < len(lines) else None
    return (match["words"], below) if match else ("", at)


def _inline(line: str) -> str:
    line = _INLINE_CODE.sub(r"`\1`", line)
    line = _CLASSES.sub(lambda match: match[1] + (f" {{{match[2]}}}" if match[2] else ""), line)
    line = _SPAN.sub(r"\1", line)
    return _REFERENCE.sub(
        lambda m: f"[{_KINDS[m['kind']]} {m['id'][len(m['kind']) + 1 :]}](#{m['id']})", line
    )
