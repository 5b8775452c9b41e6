"""The anchors of a page's headings: explicit ids, else slugs of the words that a site shows."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markdown_it.token import Token

from pgrag.ingest.text.heading_words import heading_words
from pgrag.ingest.text.inline import MAX_HEADING_SOURCE
from pgrag.ingest.text.slugs import Numbers, SlugStyle, slug

_ATTRIBUTES = re.compile(r"\{:?[ \t]*(?P<list>(?:[#.]|[\w-]{1,50}=|data-)[^{}\n]{0,500})\}[ \t]*$")
"""`{#id .class}`, `{: #id }` or `{id="id"}` at the end of a heading."""
_COMMENT = re.compile(r"\{/\*(?P<comment>[^*]{0,200})\*/\}[ \t]*$")
"""A comment of MDX at the end of a heading."""

_WRITTEN_ID = r"|(?<![\w-])id=[\"']?([^\s{}\"']+)"
_ID = re.compile(r"#([^\s#{}]+)" + _WRITTEN_ID)
_HUGO_ID = re.compile(r"#([^\s#.{}]+)" + _WRITTEN_ID)
_BARE_ID = re.compile(r"#?([\w:.-]+)")
_INLINE_ATTRIBUTES = re.compile(r"\{:?[^{}\n]{0,200}?#([\w:.-]{1,200})[^{}\n]{0,200}\}")
_MYST_LABEL = re.compile(
    r"\((?P<label>[^()\n]{1,200})\)=|\{[^{}\n]{0,200}?#(?P<id>[\w:.-]{1,200})[^{}\n]{0,200}\}"
)
_FOOTNOTE = re.compile(r"(?<!\\)\[\^([^\[\]\s]{1,200})\](?!:)")
_TEMPLATE = ("{{", "{%")


def heading_anchors(
    tokens: Sequence[Token],
    definitions: Mapping[str, Any],
    style: SlugStyle | None,
    reduced: Callable[[Token], str],
) -> dict[int, str]:
    """Return the anchor of every heading of a page by the heading's first line, counted from 0.
    Headings in quotes and lists count, because they use up numbers. A heading without a published
    id has the anchor ""; with the style None only written ids count. `definitions` are the page's
    link definitions; `reduced` gives the source of a top-level heading without macros.
    """
    anchors: dict[int, str] = {}
    numbers = Numbers(style or "github")
    labels = _Labels(numbers)
    if style == "mkdocs":  # ids written anywhere on the page are taken before the first heading
        for token in tokens:
            if token.type == "inline":
                for explicit in _INLINE_ATTRIBUTES.findall(token.content):
                    numbers.take(explicit)
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.map:
            content = tokens[index + 1].content
            if token.level == 0 and any(sign in content for sign in _TEMPLATE):
                content = reduced(token)
            anchor = _anchor(content, definitions, style, numbers)
            if style == "docusaurus" and token.tag == "h1":
                anchor = ""  # its headings of level 1 take a slug, but show none
            anchors[token.map[0]] = labels.pending or anchor
        if style == "sphinx":
            labels.see(token)
    return anchors


def _anchor(
    content: str, definitions: Mapping[str, Any], style: SlugStyle | None, numbers: Numbers
) -> str:
    if style == "mkdocs" and "\n" in content:
        return ""  # Python-Markdown parses no heading of two lines
    content, explicit = split_id(content, style)
    if explicit is not None:
        if style in ("vitepress", "hugo"):
            numbers.take(explicit)
        return explicit
    if style is None:
        return ""
    words = heading_words(content[:MAX_HEADING_SOURCE], definitions, style)
    if words is None:
        return ""
    return numbers.unique(slug(words, style))


def split_id(content: str, style: SlugStyle | None) -> tuple[str, str | None]:
    """Split the source of a heading into its text and its explicit id, or None. `{#id}` counts for
    every style but sphinx and obsidian, `{/* #id */}` for docusaurus. The style github, which
    stands for unknown generators, also takes `{/*id*/}` of React's site.
    """
    if style in ("sphinx", "obsidian"):
        return content, None
    if style in ("docusaurus", "github") and (match := _COMMENT.search(content)):
        comment = match["comment"].strip()
        if style == "docusaurus":  # the first word, if it begins with "#"
            comment = comment.partition(" ")[0] if comment.startswith("#") else ""
        if name := _BARE_ID.fullmatch(comment):
            return content[: match.start()].rstrip(), name[1]
    if match := _ATTRIBUTES.search(content):
        identifier = (_HUGO_ID if style == "hugo" else _ID).search(match["list"])
        if identifier or style != "docusaurus":
            return content[: match.start()].rstrip(), identifier and (
                identifier[1] or identifier[2]
            )
    return content, None


@dataclass(slots=True)
class _Labels:
    """MyST's labels, `(label)=` and `{#id}` on a line of their own: the id of what follows."""

    numbers: Numbers
    pending: str = ""

    def see(self, token: Token) -> None:
        """Remember the last label before a heading; count the marks of footnotes."""
        if token.type == "inline":
            for _ in _FOOTNOTE.findall(token.content):
                self.numbers.count()
            self.pending = ""
            for line in token.content.split("\n"):
                match = _MYST_LABEL.fullmatch(line.strip())
                if match is None:  # the labels above are those of a paragraph
                    self.pending = ""
                    break
                self.pending = slug(match["label"] or match["id"], "sphinx")
                self.numbers.take(self.pending)
        elif token.nesting >= 0 and token.type != "paragraph_open":
            self.pending = ""
