"""Directives and boxes of which text is the content, though Markdown would read it as code or as
signs: of MyST, pandoc, VitePress, MkDocs. What is left is `:::kind title`, in the same lines.
"""

import re
from collections.abc import Iterator

from pgrag.ingest.text.fences import fence_after

#: The kinds of boxes that every generator knows.
ADMONITIONS = (
    "note", "tip", "info", "hint", "important", "warning", "caution", "danger", "check", "success",
    "question", "failure", "bug", "example", "quote", "abstract", "details", "tab",
)  # fmt: skip
_FENCE = re.compile(
    r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?P<fence>`{3,}|~{3,}|:{3,})(?P<rest>.*)"
)
_OPENING = re.compile(
    r"(?P<indent>[ \t>]*)(?P<fence>`{3,}|~{3,}|:{3,})[ \t]*"
    r"(?:\{(?P<name>[A-Za-z][\w:-]*)\}[ \t]*(?P<title>.*)|\{(?P<attributes>[^{}]*)\}[ \t]*"
    r"|(?P<group>[a-z][\w-]*)[ \t]*)"
)
_HINT = re.compile(r"^[ \t>]*(?:[`~:]{3,}[ \t]*\{|:{3,}[ \t]*[a-z][\w-]*[ \t]*$)", re.MULTILINE)
_CLOSED = re.compile(r"^[ \t>]*:{3,}[ \t]*$", re.MULTILINE)
_OPTION = re.compile(r"[ \t>]*:[\w-]+:(?:[ \t]|$)")
_CLASS = re.compile(rf"\.(?:callout-)?({'|'.join(ADMONITIONS)})\b")
_TITLE = re.compile(r"(?:title|caption|name)=[\"']([^\"'\n]*)[\"']")
#: Directives of MyST with a title: the kind of their box, and what a reader sees before the title.
_DIRECTIVES = {
    **{name: (name, "") for name in ADMONITIONS},
    **dict.fromkeys(
        ("admonition", "topic", "sidebar", "margin", "error", "attention"), ("note", "")
    ),
    "seealso": ("note", "See also"),
    "versionadded": ("note", "Added in version"),
    "versionchanged": ("note", "Changed in version"),
    "deprecated": ("note", "Deprecated since version"),
    **dict.fromkeys(("tab-item", "dropdown", "card", "grid-item-card"), ("tab", "")),
}
_CONTAINERS = frozenset({"grid", "grid-item", "tab-set", "figure", "div", "container", "epigraph"})
_CODE = frozenset({"code-block", "code", "code-cell", "sourcecode"})
_LISTS = frozenset({"toctree", "contents", "tableofcontents", "index", "bibliography"})
#: What is indented below such a line is text: a box, a tab, the second line of a definition.
_BOX = r"(?:!{3}|\?{3}\+?)[ \t]+[\w-]|===[+!]*[ \t]+\"|:[ ]{3}\S"
_BOX_SIGNS = ("!!!", "???", "===", ":   ")
_SIGNS = (":::", "`{", "` {", "~{", "~ {")
_OPENS_BOX = re.compile(_BOX)
_BOXED = re.compile(rf"\n[ \t]*(?:{_BOX})")


def rewrite(text: str) -> str:
    """Return a text in which boxes of text are no code; keeps the number of lines."""
    if any(sign in text for sign in _BOX_SIGNS) and _BOXED.search(f"\n{text}"):
        text = "\n".join(_dedented(text.split("\n")))
    if any(sign in text for sign in _SIGNS) and _HINT.search(text):
        is_closed = _CLOSED.search(text) is not None
        text = "\n".join(_opened(text.split("\n"), is_closed=is_closed))
    return text


def _dedented(lines: list[str]) -> Iterator[str]:
    boxes: list[int] = []
    fence = ""
    for line in lines:
        bare = line.lstrip(" ")
        indent = len(line) - len(bare)
        while boxes and bare and not fence and indent < boxes[-1] + 4:
            boxes.pop()
        yield line[min(4 * len(boxes), indent) :]
        was, fence = fence, fence_after(line, fence)
        if not was and not fence and _OPENS_BOX.match(bare):
            boxes.append(indent)


def _opened(lines: list[str], *, is_closed: bool) -> Iterator[str]:
    """Yield the lines with directives as boxes, without their options. `::: name` is one only if a
    line like it closes it: else it may name a module.
    """
    boxes: list[str] = []
    code = ""
    is_shown, may_be_option = True, False
    for line in lines:
        fence = _FENCE.fullmatch(line)
        opening = _OPENING.fullmatch(line)
        may_be_option = may_be_option and _OPTION.match(line) is not None
        if code:
            code = fence_after(line, code)
            yield line if is_shown and not may_be_option else ""
        elif may_be_option:
            yield ""
        elif fence and boxes and fence["fence"] == boxes[-1] and not fence["rest"].strip():
            boxes.pop()
            yield ":::"
        elif opening and (box := _box(opening, is_closed=is_closed)) is not None:
            boxes.append(opening["fence"])
            may_be_option = True
            yield box
        elif fence and fence["fence"][0] != ":":
            code, name = fence["fence"], opening["name"] if opening else None
            is_shown, may_be_option = name not in _LISTS, name in _CODE
            if opening and name in _CODE:
                yield f"{opening['indent']}{code}{opening['title']}"
            else:
                yield line if is_shown else ""
        else:
            yield line


def _box(opening: re.Match[str], *, is_closed: bool) -> str | None:
    """Return the line that opens a box, or ":::" for a part that shows no title; None for code."""
    indent, fence, name = opening["indent"], opening["fence"], opening["name"]
    if name is None:
        is_part = fence[0] == ":" and (opening["group"] is None or is_closed)
        is_known = opening["group"] in ADMONITIONS
        return _part(opening["attributes"] or "") if is_part and not is_known else None
    title = opening["title"].strip()
    if name in _DIRECTIVES:
        kind, words = _DIRECTIVES[name]
        return f"{indent}:::{kind} {' '.join(filter(None, (words, title)))}".rstrip()
    if name in _CONTAINERS or fence[0] == ":":
        is_title = title and name not in _CONTAINERS and "/" not in title
        return f"{indent}:::tab {title}" if is_title else ":::"
    return None


def _part(attributes: str) -> str:
    kind, title = _CLASS.search(attributes), _TITLE.search(attributes)
    return f":::{kind[1]} {title[1] if title else ''}".rstrip() if kind else ":::"
