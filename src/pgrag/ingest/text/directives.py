"""Directives of MyST and fenced blocks of pandoc: text that is written like code, or between signs
that no reader sees. All become the `:::kind title` of other dialects, in the same lines.
"""

import re
from collections.abc import Iterator

_OPENING = re.compile(
    r"(?P<indent>[ \t>]*)(?P<fence>`{3,}|~{3,}|:{3,})[ \t]*"
    r"(?:\{(?P<name>[A-Za-z][\w:-]*)\}[ \t]*(?P<title>.*)|\{(?P<attributes>[^{}]*)\}[ \t]*"
    r"|(?P<group>code-group|raw|v-pre|tabs?|cards?|columns?|cols?|steps|grid|spoiler)[ \t]*)"
)
_HINT = re.compile(r"^[ \t>]*(?:[`~:]{3,})[ \t]*(?:\{|[a-z-]+[ \t]*$)", re.MULTILINE)
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?P<fence>`{3,}|~{3,}|:{3,})(?P<rest>.*)")
_OPTION = re.compile(r"[ \t>]*:[\w-]+:(?:[ \t]|$)")
_CALLOUT = re.compile(
    r"\.(?:callout-)?(note|tip|warning|caution|important|danger|info|example|hint)\b"
)
_TITLE = re.compile(r"(?:title|caption|name)=[\"']([^\"'\n]*)[\"']")
_KINDS = {
    **{name: name for name in ("note", "tip", "hint", "important", "warning", "caution", "danger")},
    **dict.fromkeys(("admonition", "seealso", "error", "attention", "topic", "margin"), "note"),
    **dict.fromkeys(("sidebar", "epigraph", "versionadded", "versionchanged"), "note"),
    **dict.fromkeys(("deprecated", "versionremoved", "exercise", "solution", "proof"), "note"),
    **dict.fromkeys(("tab-item", "tab"), "tab"),
    **dict.fromkeys(("dropdown", "card", "grid-item-card"), "details"),
}
_NAMES = {"seealso": "See also", "versionadded": "Added in version", "deprecated": "Deprecated since"}
_NAMES |= {"versionchanged": "Changed in version", "versionremoved": "Removed in version"}
#: Directives whose content is text.
_CONTAINERS = frozenset({"grid", "tab-set", "grid-item", "figure", "div", "container", "tabs", "list"})
_CODE = frozenset({"code-block", "code", "code-cell", "sourcecode", "prompt"})
_LISTS = frozenset({"toctree", "contents", "tableofcontents", "index", "bibliography", "footbibliography"})


def rewrite(text: str) -> str:
    """Return a text in which directives with text are admonitions; keeps the number of lines."""
    return "\n".join(_lines(text.split("\n"))) if _HINT.search(text) else text


def _lines(lines: list[str]) -> Iterator[str]:
    opened: list[str] = []
    code = ""
    is_shown = may_be_option = True
    for line in lines:
        fence = _FENCE.fullmatch(line)
        if code:
            if fence and fence["fence"].startswith(code) and not fence["rest"].strip():
                yield line if is_shown else ""
                code = ""
                continue
            may_be_option &= bool(_OPTION.match(line))
            yield "" if may_be_option or not is_shown else line
            continue
        if may_be_option and _OPTION.match(line) and opened:
            yield ""
            continue
        may_be_option = False
        match = _OPENING.fullmatch(line)
        name = match["name"] if match else None
        if fence and opened and not fence["rest"].strip() and fence["fence"] == opened[-1]:
            opened.pop()
            yield ":::"
        elif match and (written := _opening(match)) is not None:
            opened.append(match["fence"])
            may_be_option = True
            yield written
        elif fence and fence["fence"][0] != ":":
            code, is_shown = fence["fence"], name not in _LISTS
            may_be_option = name in _CODE
            yield f"{match['indent']}{code}{match['title']}" if match and name in _CODE else (
                line if is_shown else ""
            )
        else:
            yield line


def _opening(match: re.Match[str]) -> str | None:
    """Return the line that opens an admonition or nothing but a part; None for code."""
    name, title, attributes = match.group("name", "title", "attributes")
    if attributes is not None or match["group"] is not None:
        if match["fence"][0] != ":":
            return None
        kind = _CALLOUT.search(attributes or "")
        named = _TITLE.search(attributes or "")
        return f":::{kind[1]} {named[1] if named else ''}".rstrip() if kind else ":::"
    if name in _KINDS:
        words = " ".join(filter(None, (_NAMES.get(name, ""), title.strip())))
        return f"{match['indent']}:::{_KINDS[name]} {words}".rstrip()
    return ":::" if name in _CONTAINERS else None
