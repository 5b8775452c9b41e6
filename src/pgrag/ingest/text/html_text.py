"""Reduce HTML in Markdown to the equivalent Markdown."""

import html
import re

from pgrag.ingest.text.code_spans import Marks
from pgrag.ingest.text.raised import lowered, raised

_HIDDEN = re.compile(r"\s*<\w+\s[^<>]*class=[\"'](?:[^\"'<>]*\s)?hidden[\s\"']", re.IGNORECASE)
_UNSHOWN = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|$)", re.IGNORECASE | re.DOTALL)
_RAISED_TEXT = (
    r"<(?P<raised>su[pb])\b[^<>]*>(?P<script>(?:(?!</?su[pb]\b).){0,200}?)</(?P=raised)\s*>"
)
_LINK_TEXT = (
    r"<a\s(?:[^<>]*\s)?href=[\"'](?P<target>[^\"'<>]*)[\"'][^<>]*>"
    r"(?P<label>(?:(?!</?a\b).){0,1000}?)</a\s*>"
)
_LINK = re.compile(_LINK_TEXT, re.IGNORECASE | re.DOTALL)
_RAISED = re.compile(_RAISED_TEXT, re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"`<[\w-]+>`|<(/?)([A-Za-z][\w-]*)\b([^<>]*)>|<![^<>]*>")
_ATTRIBUTE = {
    name: re.compile(rf"\b{name}=[\"']([^\"']*)[\"']", re.IGNORECASE) for name in ("alt", "src")
}
_MARKS = {
    **dict.fromkeys(("code", "kbd", "tt", "samp"), "`"),
    **dict.fromkeys(("b", "strong", "summary"), "**"),
    **dict.fromkeys(("i", "em"), "_"),
}
_SPACES = frozenset({"br", "td", "th", "dd", "dt", "p", "div"})
#: Elements whose tags are never meant as words: `<video>` in a text about HTML stays.
_FORMATTING = (
    "a|abbr|b|big|blockquote|br|center|cite|code|dd|del|details|dfn|div|dl|dt|em|figcaption|figure"
    "|font|h[1-6]|hr|i|img|ins|kbd|li|mark|nobr|ol|p|picture|q|rp|rt|ruby|s|samp|section|small"
    r"|source(?=\s[^<>]*\bsrc)|span|strike|strong|su[bp]|summary|table|tbody|td|tfoot|th|thead|tr|tt|u|ul|var|wbr"
)
_INLINE = Marks(
    r"[`<\\^~]",
    r"\\<",
    _RAISED_TEXT,
    _LINK_TEXT,
    rf"<(?P<empty>{_FORMATTING})\b[^<>]*></(?P=empty)\s*>",
    rf"<(?P<closing>/?)(?P<name>{_FORMATTING})\b(?P<attributes>(?:\s[^<>]*)?/?)>",
    r"(?<=[^\W_])\^(?P<up>[^\s^\[\]]{1,30})\^(?!\w)",
    r"(?<=[A-Za-z)])~(?P<down>\d{1,3})~(?!~)",
    flags=re.IGNORECASE,
)
_HAS_TAG = re.compile(rf"</?(?:{_FORMATTING})\b", re.IGNORECASE)
_HAS_SCRIPT = re.compile(r"\w\^[^\s^]+\^|[A-Za-z)]~\d+~")


def readable(block: str) -> str:
    """Return the visible content of an HTML block as Markdown, with its marks, or nothing."""
    if _HIDDEN.match(block):
        return ""
    shown = _RAISED.sub(lambda match: _script(*match.groups()), _UNSHOWN.sub("", block))
    lines = _TAG.sub(_mark, _LINK.sub(_link, shown)).split("\n")
    is_code = "<pre" in block
    lines = [line.rstrip() if is_code else " ".join(line.split()) for line in lines]
    return html.unescape("\n".join(line for line in lines if line)).strip()


def has_marks(text: str) -> bool:
    """Whether `inline` could change a text; a quick check."""
    has_tag = "<" in text and _HAS_TAG.search(text)
    return bool(has_tag or (("^" in text or "~" in text) and _HAS_SCRIPT.search(text)))


def inline(text: str) -> str:
    """Replace the tags of formatting within Markdown by its marks; keeps code spans and the number
    of lines.
    """
    return _INLINE.replace(_shown, text) if has_marks(text) else text


def _script(kind: str, text: str) -> str:
    text = _TAG.sub("", text).strip()
    return raised(text) if kind.lower() == "sup" else lowered(text)


def _shown(match: re.Match[str]) -> str | None:
    if (kind := match["raised"]) is not None:
        return _script(kind, match["script"])
    if match["target"] is not None:
        label = _TAG.sub(_mark, match["label"])
        return _linked(match["target"], label)
    if match["up"] is not None:
        return raised(match["up"])
    if match["down"] is not None:
        return lowered(match["down"])
    if match["name"] is not None:
        return _marked(match["closing"], match["name"], match["attributes"])
    return None if match["empty"] is None else ""


def _link(match: re.Match[str]) -> str:
    return _linked(*match.group("target", "label"))


def _linked(target: str, label: str) -> str:
    label = " ".join(label.split())
    return f"[{label}]({target})" if label and not target.startswith("#") else label


def _mark(match: re.Match[str]) -> str:
    closing, name, attributes = match.groups()
    if name is None:
        return match[0] if match[0].startswith("`") else ""
    return _marked(closing, name, attributes)


def _marked(closing: str, name: str, attributes: str) -> str:
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
