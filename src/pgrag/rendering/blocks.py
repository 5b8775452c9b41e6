"""Markdown to HTML, block by block; not sanitised: see `pgrag.rendering.clean`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from pgrag.ingest.text.inline import EXPLICIT_ID

#: Parsing inline Markdown is not linear: a longer paragraph is shown as it is written.
_MOST_INLINE = 10_000
_WIKILINK = re.compile(r"!?\[\[([^\[\]\n|]{1,500}?)(?:\\?\|([^\[\]\n]{0,500}))?\]\]")
_FOOTNOTE = re.compile(r"\[\^([\w.-]{1,50})\]")
_KINDS = {
    "heading_open": "heading", "bullet_list_open": "list", "ordered_list_open": "list",
    "table_open": "table", "fence": "fence", "code_block": "code", "html_block": "html",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page in HTML that nobody has sanitised. Its lines are from `first` to `last`,
    counted from 1. `kind` is "heading", "list", "table", "fence", "code", "html" or "text". `tag`
    is its only element; empty if HTML of the page may have made others.
    """

    html: str
    first: int
    last: int
    kind: str
    tag: str


def blocks(text: str, *, above: int = 0, has_wikilinks: bool) -> Iterator[Block]:
    """Render the blocks of a page one after the other; `above` lines of its source are above the
    text.
    """
    parser = _parser(has_wikilinks=has_wikilinks)
    lines = text.split("\n")
    environment: dict[str, Any] = {}
    for tokens in _top_level(parser.parse(text, environment)):
        is_mixed = False
        for token in tokens:
            if token.map and token.nesting >= 0:
                first, last = _extent(token.map, lines, above)
                token.attrSet("data-lines", f"{first}-{last}")
            if token.type == "inline":
                is_mixed |= _parse_inline(parser, token, environment, tokens[0])
        first, last = _extent(tokens[0].map or [0, 0], lines, above)
        kind = _KINDS.get(tokens[0].type, "text")
        tag = {"fence": "pre", "code": "pre", "html": ""}.get(kind, tokens[0].tag)
        yield Block(
            html=parser.renderer.render(tokens, parser.options, environment),
            first=first,
            last=last,
            kind=kind,
            tag="" if is_mixed or any(t.type == "html_block" for t in tokens) else tag,
        )


def _extent(extent: Sequence[int], lines: Sequence[str], above: int) -> tuple[int, int]:
    """The first and the last line of a block, from 1, without the empty ones behind it."""
    first, end = extent
    while end > first + 1 and not lines[end - 1].strip():
        end -= 1
    return above + first + 1, above + end


def _parse_inline(
    parser: MarkdownIt, token: Token, environment: dict[str, Any], block: Token
) -> bool:
    """Parse the content of an inline token; returns whether it contains HTML."""
    content = token.content
    if block.type == "heading_open":
        content = EXPLICIT_ID.sub("", content).rstrip()
    children: list[Token] = []
    if len(content) > _MOST_INLINE:
        children = [Token("text", "", 0, content=content)]
    else:
        parser.inline.parse(content, parser, environment, children)
        for child in children:
            # Escaped characters and entities, which nothing reads as syntax any more.
            if child.type == "text_special":
                child.type = "text"
    token.children = children
    return any(child.type == "html_inline" for child in children)


def _top_level(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    start = 0
    for number, token in enumerate(tokens):
        if token.level == 0 and token.nesting <= 0:
            yield [*tokens[start : number + 1]]
            start = number + 1


def _parser(*, has_wikilinks: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "tasklists": False})
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.block.ruler.at("reference", _reference, {"alt": []})
    parser.inline.ruler.before("link", "footnote", _footnote)
    if has_wikilinks:
        parser.inline.ruler.before("footnote", "wikilink", _wikilink)
        parser.inline.ruler.before("wikilink", "embed", _wikilink)
    for kind in ("td_open", "th_open"):
        parser.add_render_rule(kind, _cell)
    for kind in ("fence", "code_block"):
        parser.add_render_rule(kind, _code)
    return parser


def _reference(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """A footnote is none of the definitions of links: it is shown where it stands."""
    start = state.bMarks[line] + state.tShift[line]
    return not state.src.startswith("[^", start) and reference(state, line, end, silent)


def _wikilink(state: StateInline, silent: bool) -> bool:
    match = _WIKILINK.match(state.src, state.pos)
    if match is None or state.src.startswith("(", match.end()):
        return False
    if not silent:
        page, _, heading = match[1].strip().partition("#")
        words = (match[2] or "").strip() or " > ".join(filter(None, (page, heading)))
        address = quote(page) + (f"#{quote(heading)}" if heading else "")
        state.push("link_open", "a", 1).attrSet("href", f"wiki:{address}")
        state.push("text", "", 0).content = words
        state.push("link_close", "a", -1)
    state.pos = match.end()
    return True


def _footnote(state: StateInline, silent: bool) -> bool:
    match = _FOOTNOTE.match(state.src, state.pos)
    if match is None:
        return False
    is_note = state.pos == 0 and state.src.startswith(":", match.end())
    if not silent:
        mark = state.push("sup_open", "sup", 1)
        if is_note:
            mark.attrSet("id", f"fn-{match[1]}")
        else:
            state.push("link_open", "a", 1).attrSet("href", f"#fn-{match[1]}")
        state.push("text", "", 0).content = match[1]
        if not is_note:
            state.push("link_close", "a", -1)
        state.push("sup_close", "sup", -1)
    state.pos = match.end() + is_note
    return True


def _cell(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, _: Any
) -> str:
    """A cell says its alignment by a class: pages that forbid styles in line show it, too."""
    style = tokens[at].attrGet("style")
    if isinstance(style, str):
        del tokens[at].attrs["style"]
        tokens[at].attrSet("class", "align-" + style.removeprefix("text-align:"))
    return renderer.renderToken(tokens, at, options, {})


def _code(_: RendererHTML, tokens: Sequence[Token], at: int, *__: Any) -> str:
    token = tokens[at]
    name = (token.info.strip().split(maxsplit=1) or [""])[0].partition("{")[0].partition(":")[0]
    named = f' class="language-{escape(name)}"' if name else ""
    lines = escape(str(token.attrGet("data-lines") or ""))
    code = escape(token.content, quote=False)
    return f'<pre data-lines="{lines}"><code{named}>{code}</code></pre>\n'
