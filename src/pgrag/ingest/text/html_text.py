"""Reduce a block of HTML in Markdown to the equivalent Markdown."""

import html
import re

_HIDDEN = re.compile(r"\s*<\w+\s[^<>]*class=[\"'](?:[^\"'<>]*\s)?hidden[\s\"']", re.IGNORECASE)
_UNSHOWN = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|$)", re.IGNORECASE | re.DOTALL)
_LINK = re.compile(
    r"<a\s(?:[^<>]*\s)?href=[\"']([^\"'<>]*)[\"'][^<>]*>((?:(?!</?a\b).){0,1000}?)</a\s*>",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(r"`<[\w-]+>`|<(/?)([A-Za-z][\w-]*)\b([^<>]*)>|<![^<>]*>")
_ATTRIBUTE = {
    name: re.compile(rf"\b{name}=[\"']([^\"']*)[\"']", re.IGNORECASE) for name in ("alt", "src")
}
_MARKS = {
    **dict.fromkeys(("code", "kbd", "tt"), "`"),
    **dict.fromkeys(("b", "strong", "summary"), "**"),
    **dict.fromkeys(("i", "em"), "_"),
}
_SPACES = frozenset({"br", "td", "th", "dd", "dt", "p", "div"})


def readable(block: str) -> str:
    """Return the visible content of an HTML block as Markdown, with its marks, or nothing."""
    if _HIDDEN.match(block):
        return ""
    lines = _TAG.sub(_mark, _LINK.sub(_link, _UNSHOWN.sub("", block))).split("\n")
    is_code = "<pre" in block
    lines = [line.rstrip() if is_code else " ".join(line.split()) for line in lines]
    return html.unescape("\n".join(line for line in lines if line)).strip()


def _link(match: re.Match[str]) -> str:
    target, label = match.groups()
    label = " ".join(label.split())
    return f"[{label}]({target})" if label and not target.startswith("#") else label


def _mark(match: re.Match[str]) -> str:
    closing, name, attributes = match.groups()
    if name is None:
        return match[0] if match[0].startswith("`") else ""
    name = name.lower()
    if name in _MARKS:
        return _MARKS[name]
    if closing:
        return " " if name in _SPACES else ""
    if name == "li":
        return "- "
    if name == "img" and (alt := _ATTRIBUTE["alt"].search(attributes)) and alt[1].strip():
        source = _ATTRIBUTE["src"].search(attributes)
        return f"![{alt[1].strip()}]({source[1] if source else ''})"
    return " " if name in _SPACES else ""
