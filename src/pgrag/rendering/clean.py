"""Sanitised HTML: what a page may show, and nothing else."""

import re
from html import escape

from nh3 import Cleaner

_TAGS = {
    "a", "abbr", "b", "blockquote", "br", "caption", "cite", "code", "dd", "del", "details", "dfn",
    "div", "dl", "dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i",
    "img", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "rp", "rt", "ruby", "s", "samp",
    "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "u", "ul", "var", "wbr",
}  # fmt: skip
#: What these contain is for programs.
_SILENT = {
    "applet", "audio", "canvas", "datalist", "embed", "iframe", "math", "noembed", "noframes",
    "noscript", "object", "plaintext", "script", "select", "style", "svg", "template", "textarea",
    "title", "video", "xmp",
}  # fmt: skip
_ATTRIBUTES = {
    "*": {"data-lines", "dir", "lang"},
    "a": {"href", "title"},
    "abbr": {"title"},
    "code": {"class"},
    "img": {"alt", "src"},
    "li": {"value"},
    "ol": {"start"},
    "sup": {"id"},
    "td": {"class", "colspan", "rowspan"},
    "th": {"class", "colspan", "rowspan", "scope"},
}
_SHAPES = {
    "class": re.compile(r"language-[\w+#.-]{1,40}|align-(?:left|right|center)"),
    "colspan": re.compile(r"\d{1,3}"),
    "data-lines": re.compile(r"\d{1,9}-\d{1,9}"),
    "dir": re.compile(r"ltr|rtl|auto"),
    "id": re.compile(r"fn-[\w.-]{1,50}"),
    "lang": re.compile(r"[A-Za-z0-9-]{1,35}"),
    "rowspan": re.compile(r"\d{1,3}"),
    "scope": re.compile(r"(?:col|row)(?:group)?"),
    "start": re.compile(r"-?\d{1,9}"),
    "value": re.compile(r"-?\d{1,9}"),
}


def _shaped(_: str, attribute: str, value: str) -> str | None:
    shape = _SHAPES.get(attribute)
    return value if shape is None or shape.fullmatch(value) else None


_CLEANER = Cleaner(
    tags=_TAGS,
    clean_content_tags=_SILENT,
    attributes=_ATTRIBUTES,
    attribute_filter=_shaped,
    link_rel=None,
    url_schemes={"http", "https", "mailto", "wiki"},
)

# Elements that HTML opens again in each paragraph until they are closed, at most three of a kind:
# of thousands of kinds, each paragraph would have all.
_REOPENED = re.compile(
    r"<(b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/][^>]*>", re.IGNORECASE
)
_PLAIN_TAG = re.compile(r'<\w+(?:\s+[\w-]+="[^"<>]*")+\s*>')
_MOST_KINDS = 8
_MOST_GROWTH = 10


def clean(html: str) -> str:
    """Return HTML with the allowed elements and attributes only, each element closed, every value
    in double quotes: `pgrag.rendering.marking` can go through it tag by tag. Links by `wiki:` name
    a page as wikilinks do, and images are still there: both are replaced there.

    HTML that would become many times as long is shown as it is written.
    """
    cleaned: str = _CLEANER.clean(_with_few_kinds(html))
    if len(cleaned) > _MOST_GROWTH * (len(html) + 1000):
        return f"<pre>{escape(html)}</pre>"
    return cleaned


def _with_few_kinds(html: str) -> str:
    kinds: set[str] = set()

    def kept(tag: re.Match[str]) -> str:
        if _PLAIN_TAG.fullmatch(tag[0]) and (len(kinds) < _MOST_KINDS or tag[0] in kinds):
            kinds.add(tag[0])
            return tag[0]
        return f"<{tag[1]}>"

    # Behind the last ">" no tag ends, and the pattern would look for one from each "<".
    end = html.rfind(">") + 1
    return _REOPENED.sub(kept, html[:end]) + html[end:]
