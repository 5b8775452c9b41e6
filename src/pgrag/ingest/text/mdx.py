"""Reduce MDX to Markdown: imports and exports, expressions, comments and the markup of components
go; their text stays, and what they show of their attributes. Every line keeps its number.
"""

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pgrag.ingest.text import components
from pgrag.ingest.text.code_spans import CODE_SPAN
from pgrag.ingest.text.fences import fence_after
from pgrag.ingest.text.scripts import MATH, Statements, braces

_MODULE = re.compile(
    r"(?<![^\n])(?:import[ \t]+(?:[\"'{*]|type\b|[\w$]+[ \t]*(?:,|\bfrom\b|\n))"
    r"|export[ \t]+(?:const|let|var|default|function|async|class|type|interface|[*{]))"
)
_CONSTANT = re.compile(
    r"export[ \t]+(?:const|let|var)[ \t]+([\w$]+)[ \t]*=[ \t]*"
    r"(?:\"([^\"\n]*)\"|'([^'\n]*)'|`([^`$]*)`|(-?\d[\d.]*))[ \t]*;?[ \t]*$"
)
_IMPORT = re.compile(
    r"^import[ \t]+(?:[\w$*{][^\n;]{0,300}?[ \t]from[ \t]+)?[\"'][^\"'\n]+[\"'];?[ \t]*$", re.M
)
_COMPONENT = re.compile(r"^[ \t]*</?[A-Z][\w.]*(?:[ \t][^\n]*)?>[ \t]*$", re.MULTILINE)
_EXPRESSION = re.compile(r"\{/\*|\w=\{")
_SIGN = re.compile(rf"{CODE_SPAN}|\\.|{MATH}|[{{<]", re.DOTALL)
_NAME = re.compile(r"<(?P<closing>/?)(?P<name>[A-Za-z][\w.:-]*|(?=>))")
_ATTRIBUTE = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_@:][\w.:@-]*)(?:\s*=\s*(?:\"(?P<double>[^\"]{0,5000})\""
    r"|'(?P<single>[^']{0,5000})'|(?=\{)))?|(?=\{))"
)
_END = re.compile(r"\s*/?>")
_STRING = re.compile(r"\s*(?:\"([^\"\n]*)\"|'([^'\n]*)'|`([^`$]*)`|(-?\d[\d.]*))\s*")
_LITERAL = re.compile(r"\"([^\"\n]{1,100})\"|'([^'\n]{1,100})'")
_PATH = re.compile(r"\s*(?:(?:props|frontMatter|frontmatter|metadata)\??\.)?([\w$]+)\s*")
_MARKUP = re.compile(r"<(?:[A-Za-z][\w.]*(?:\s[^<>]*)?)?>.*</?[^<>]*>", re.DOTALL)
#: Elements of HTML that are read as such in Markdown.
_KEPT = frozenset({
    "a", "br", "code", "dd", "details", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "img",
    "kbd", "li", "ol", "pre", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr",
    "ul",
})  # fmt: skip
_KEPT_ATTRIBUTES = ("id", "href", "src", "alt", "colspan", "rowspan")
_BLOCKS = frozenset({"div", "p", "section", "center", "figure", "figcaption", "blockquote"})
_UNSHOWN = frozenset({"script", "style", "svg", "head", "Head"})
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(?=\S)")


def is_mdx(key: str, text: str) -> bool:
    """Whether a page of Markdown is one of MDX: by its name, else by imports, or components beside
    expressions, outside code.
    """
    if key.lower().endswith(".mdx"):
        return True
    if not _has_signs(text):
        return False
    return _has_signs("\n".join(part for part, is_code in _parts(text) if not is_code))


def _has_signs(text: str) -> bool:
    if "import " in text and _IMPORT.search(text):
        return True
    has_expression = ("{/*" in text or "={" in text) and _EXPRESSION.search(text)
    return bool(has_expression and _COMPONENT.search(text))


def reduce(text: str, fields: Mapping[str, Any]) -> str:
    """Return a text of MDX as Markdown; `fields` are those of its front matter, which expressions
    may show.
    """
    known = {**fields}
    parts = (
        part if is_code else _markdown(_without_modules(part, known), known)
        for part, is_code in _parts(text)
    )
    return "\n".join(_dedented("\n".join(parts).split("\n")))


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Split a text at its lines of fenced code; indented lines are no code in MDX."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        was, fence = fence, fence_after(line, fence)
        if fence and not was and lines:
            yield "\n".join(lines), False
            lines = []
        lines.append(line)
        if was and not fence:
            yield "\n".join(lines), True
            lines = []
    if lines:
        yield "\n".join(lines), bool(fence)


def _without_modules(text: str, known: dict[str, Any]) -> str:
    """Empty the lines of imports and exports, and remember the constants that they define."""
    statements = Statements(text)
    parts: list[str] = []
    copied = 0
    while match := _MODULE.search(text, copied):
        start, end = match.start(), statements.end(match.start())
        if constant := _CONSTANT.fullmatch(text[start : min(end, start + 500)]):
            known[constant[1]] = next(filter(None, constant.groups()[1:]), "")
        parts += (text[copied:start], "\n" * text.count("\n", start, end))
        copied = end
    return "".join((*parts, text[copied:]))


def _markdown(text: str, known: Mapping[str, Any]) -> str:
    pairs = braces(text)
    parts: list[str] = []
    copied = at = 0
    while match := _SIGN.search(text, at):
        at, start = match.end(), match.start()
        if match[0] == "{":
            found = _expression(text, start, pairs, known)
        elif match[0] == "<":
            found = _element(text, start, pairs, known)
        else:
            continue
        if found:
            shown, at = found
            lines = text.count("\n", start, at) - shown.count("\n")
            parts += (text[copied:start], shown, "\n" * lines)
            copied = at
    return "".join((*parts, text[copied:]))


def _expression(
    text: str, start: int, pairs: Mapping[int, int], known: Mapping[str, Any]
) -> tuple[str, int] | None:
    """Return what an expression shows, and its end; None if it is the id of a heading, attributes
    of an admonition, or none.
    """
    end = pairs.get(start)
    line = text[text.rfind("\n", 0, start) + 1 : start].lstrip()
    if end is None or (line.startswith((":::", "#")) and text.startswith(("{/*", "{#"), start)):
        return None
    if line.startswith(":::"):
        return None
    return _value(text[start + 1 : end - 1], known) or "", end


def _value(script: str, known: Mapping[str, Any]) -> str | None:
    """Return the text of a literal, a field or constant, or of markup; else None."""
    if literal := _STRING.fullmatch(script):
        return next(filter(None, literal.groups()), "")
    if (path := _PATH.fullmatch(script)) and isinstance(known.get(path[1]), str | int | float):
        return str(known[path[1]])
    if markup := _MARKUP.search(script):
        return _markdown(markup[0], known).strip()
    return None


def _element(
    text: str, start: int, pairs: Mapping[int, int], known: Mapping[str, Any]
) -> tuple[str, int] | None:
    """Return what a tag shows, and its end; None if it is text."""
    opening = _NAME.match(text, start)
    if not opening:
        return None
    at, name = opening.end(), opening["name"]
    attributes: dict[str, str] = {}
    while not (end := _END.match(text, at)):
        match = _ATTRIBUTE.match(text, at)
        if not match or (match.end() == at and text[at : at + 1] != "{"):
            return None
        at = match.end()
        value: str | None = match["double"] if match["single"] is None else match["single"]
        if text[at : at + 1] == "{":
            closed = pairs.get(at)
            if closed is None:
                return None
            script = text[at + 1 : closed - 1]
            value = _value(script, known)
            if value is None and name == "Tabs" and match["name"] == "items":
                labels = (label[1] or label[2] for label in _LITERAL.finditer(script))
                attributes["label"] = ", ".join(labels)
            at = closed
        if match["name"] and value is not None:
            attributes[match["name"]] = " ".join(html.unescape(value).split())
    if opening["closing"]:
        is_before_text = text[end.end() : end.end() + 1] not in ("", "\n", " ", "<")
        gap = _gap(text, start, name) if is_before_text else ""
        return (f"</{name}>" if name in _KEPT else gap), end.end()
    if name in _UNSHOWN:
        closing = text.find(f"</{name}>", end.end())
        if closing >= 0:
            return "", closing + len(name) + 3
    return _shown(text, start, end.end(), name, attributes), end.end()


def _shown(text: str, start: int, end: int, name: str, attributes: Mapping[str, str]) -> str:
    if name in _KEPT:
        kept = (f' {key}="{attributes[key]}"' for key in _KEPT_ATTRIBUTES if key in attributes)
        return f"<{name}{''.join(kept)}>"
    identifier = attributes.get("id") or attributes.get("titleId")
    anchor = f'<a id="{identifier}"></a>' if identifier else ""
    words = components.words(name, attributes) if name[:1].isupper() else ""
    is_followed = words and text[end : end + 1] not in ("", "\n", " ")
    return anchor + (words or _gap(text, start, name)) + (" " if is_followed else "")


def _gap(text: str, start: int, name: str) -> str:
    """Return a space in the place of a block of HTML within a line."""
    return " " if name in _BLOCKS and start and text[start - 1] not in " \n" else ""


def _dedented(lines: list[str]) -> Iterator[str]:
    """Remove the indents by which components nest; those of lists stay."""
    items: list[tuple[int, int]] = []
    fence = ""
    indent = shown = 0
    for line in lines:
        bare = line.lstrip()
        if not bare:
            yield line
            continue
        was, fence = fence, fence_after(line, fence)
        if was:
            cut = min(indent, len(line) - len(bare))
            yield " " * shown + line[cut:]
            continue
        indent = len(line.expandtabs(4)) - len(bare.expandtabs(4))
        while items and indent < items[-1][0]:
            items.pop()
        shown = items[-1][1] if items else 0
        yield " " * shown + bare
        if item := _ITEM.match(bare):
            items.append((indent + item.end(), shown + item.end()))
