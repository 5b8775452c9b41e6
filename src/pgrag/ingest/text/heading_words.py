"""The words of a heading from which a generator makes its slug, as the generator reads them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pgrag.ingest.text.slugs import SlugStyle

_PARSER = MarkdownIt("commonmark").enable("strikethrough")
# VitePress keeps entities as written, so they must stay apart from the text around them.
_PARSER.core.ruler.disable("text_join")

#: What most headings are, and what needs no parser.
_WORDS_ALONE = re.compile(r"[^\W_]+(?: [^\W_]+)*")
_FOOTNOTE = re.compile(r"(?<!\\)\[\^([^\[\]\s]{1,200})\]")
_ROLE = re.compile(r"\{[\w:+.-]+\}(?=`)")
_EMOJI = re.compile(r"(?<![\w:]):[0-9+_-]*[a-z][a-z0-9+_-]*:(?![\w:])")
# remark-directive: `:name[label]{attributes}`, of which the label is text
_DIRECTIVE = re.compile(r"(?<!:):[A-Za-z](?:[\w-]*[^\W_])?(?![\w:-])(?:\{[^{}\n]*\}|(?=\[))?")
_TEXTS = frozenset({"text", "text_special", "code_inline"})
_PLAIN = frozenset({"text", "text_special"})
_BREAKS = frozenset({"softbreak", "hardbreak"})
_LINKIFIED = re.compile(
    r"(?:(?<=[\s*_~(])|^)(?:(?:https?|ftp)://|www\.)[^\s<]{1,2000}?"
    r"(?=[?!.,:*_~'\")]{0,9}(?:[\s<]|$))|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,9}"
)
_TYPOGRAPHY = re.compile(r"-{2,3}|\.{3}|<<|>>|['\"]")
_FIRST_SEGMENT = re.compile(r"(?:(?!--|\.\.\.|<<|>>)[^'\"_*~\[])*(?:[_*~\[]+)?")


def heading_words(content: str, definitions: Mapping[str, Any], style: SlugStyle) -> str | None:
    """Return the text of a heading; None if the generator makes no id for it."""
    if _WORDS_ALONE.fullmatch(content):
        return content
    if "[^" in content and style != "vitepress":
        content = _FOOTNOTE.sub(_footnote_shown if style in ("github", "sphinx") else "", content)
    if style == "sphinx":
        content = _ROLE.sub("", content)
    [inline] = _PARSER.parseInline(content, {"references": definitions})
    tokens = inline.children or []
    match style:
        case "vitepress":
            return "".join(
                token.markup if token.info == "entity" else _EMOJI.sub("", token.content)
                for token in tokens
                if token.type in _TEXTS
            )
        case "hugo":
            return _hugo_words(tokens)
        case "mkdocs" | "obsidian":
            return " ".join(_shown(tokens).split())
        case "docusaurus":
            return _docusaurus_words(tokens)
    return _shown(tokens)


def _footnote_shown(match: re.Match[str]) -> str:
    """The number of a footnote is part of the heading's text."""
    return match[1] if match[1].isdigit() else ""


def _shown(tokens: Sequence[Token]) -> str:
    return "".join(
        "\n" if token.type in _BREAKS else token.content
        for token in tokens
        if token.type in _TEXTS or token.type in _BREAKS
    )


def _docusaurus_words(tokens: Sequence[Token]) -> str:
    """mdast-util-to-string after remark-directive: with the text for images, without directives."""
    return "".join(
        _docusaurus_words(token.children or ())
        if token.type == "image"
        else _DIRECTIVE.sub("", token.content)
        if token.type == "text"
        else _shown([token])
        for token in tokens
    )


def _hugo_words(tokens: Sequence[Token]) -> str | None:
    """Hugo's `TextPlain` (markup/goldmark/internal/render/context.go), then its last line. Of a
    link, an image or emphasis only the first node counts, and text ends where goldmark ends it: at
    a sign that it replaces or tried as a mark. Addresses that are links do not count.
    """
    words = "".join(_hugo_nodes(iter(tokens), is_nested=False))
    return words.rpartition("\n")[2].strip() if words else None


def _hugo_nodes(tokens: Iterator[Token], *, is_nested: bool) -> Iterator[str]:
    """Yield the text of the nodes up to the end of their container."""
    previous = ""
    for token in tokens:
        if token.nesting < 0:
            return
        if token.type == "text" and not token.content:
            continue
        if token.nesting > 0:
            inner = "".join(_hugo_nodes(tokens, is_nested=True))
            text = "" if token.markup == "autolink" else inner
        elif token.type == "image":
            text = "".join(_hugo_nodes(iter(token.children or ()), is_nested=True))
        elif token.type in _BREAKS:
            text = "\n"
        elif token.type == "text":
            text = _hugo_text(token.content, is_nested=is_nested)
        else:
            text = token.content if token.type in _TEXTS else ""
        is_first = not previous or (previous in _PLAIN and token.type in _PLAIN | _BREAKS)
        if is_first or not is_nested:
            yield text
        previous = token.type if is_first and text == token.content else "cut"


def _hugo_text(text: str, *, is_nested: bool) -> str:
    if is_nested:
        linkified = _LINKIFIED.search(text)
        first = _FIRST_SEGMENT.match(text[: linkified.start()] if linkified else text)
        return first[0] if first else ""
    return _TYPOGRAPHY.sub("…", _LINKIFIED.sub("", text))
