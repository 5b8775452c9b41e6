"""XHTML as the HTML that shows the same: XML closes `<script/>`, `<title/>` and `<a id="x"/>`."""

import re

_VOID = frozenset((
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
))  # fmt: skip
_NAMESPACE = re.compile(
    r"""\sxmlns:([\w.-]{1,50})\s*=\s*["']http://www\.w3\.org/1999/xhtml["']""", re.ASCII
)
_DECLARED = re.compile(r"\s*<\?xml\b")
_ENTITY = re.compile(r"""<!ENTITY\s+([\w.-]{1,50})\s+(["'])([^<%]{0,200}?)\2\s*>""")
#: A "<" ends every attempt, and what is never closed reaches to the end: the time is linear.
_ATTRIBUTES = r"""(?:[^<>"'/]|"[^"<]*"|'[^'<]*'|/(?!>))*"""
_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[(?P<data>.*?)(?:\]\]>|\Z)|<\?[^>]*>"
    r"|<!DOCTYPE(?P<doctype>[^<>\[]*(?:\[[^\]]{0,5000}\]\s*)?)>"
    rf"|<(?:[\w.-]+:)?(?P<raw>script|style)\b{_ATTRIBUTES}>"
    r".*?(?:</(?:[\w.-]+:)?(?P=raw)\s*>|\Z)"
    r"|<(?P<end>/?)(?P<prefix>[\w.-]+:)?(?P<name>[A-Za-z][\w.-]*)"
    rf"(?P<attributes>{_ATTRIBUTES})(?P<closed>/?)>",
    re.DOTALL,
)


def is_xhtml(key: str, text: str, media_type: str | None) -> bool:
    """Whether a page is read as XML: by its name, its media type or its first line."""
    return (
        key.lower().endswith((".xhtml", ".xht"))
        or (media_type or "").startswith("application/xhtml+xml")
        or _DECLARED.match(text) is not None
    )


def as_html(text: str) -> str:
    """Write out what only XML closes, its sections of text, and the prefix of its elements."""
    prefixes = {f"{name}:" for name in _NAMESPACE.findall(text[:4096])}
    entities: dict[str, str] = {}

    def rewritten(match: re.Match[str]) -> str:
        if match["data"] is not None:
            return match["data"].replace("&", "&amp;").replace("<", "&lt;")
        if match["doctype"] is not None:
            entities.update((name, value) for name, _, value in _ENTITY.findall(match["doctype"]))
            return "<!DOCTYPE html>"
        name = match["name"]
        if not name:  # scripts, comments, instructions
            return "" if match[0].startswith("<?") else match[0]
        prefix = match["prefix"] or ""
        if prefix not in prefixes:
            name = prefix + name
        is_void = name.lower() in _VOID
        if match["end"]:
            return "" if is_void else f"</{name}>"
        start = f"<{name}{match['attributes']}>"
        return f"{start}</{name}>" if match["closed"] and not is_void else start

    shown = _MARKUP.sub(rewritten, text)
    if not entities:
        return shown
    named = re.compile(f"&({'|'.join(map(re.escape, entities))});")
    return named.sub(lambda match: entities[match[1]], shown)
