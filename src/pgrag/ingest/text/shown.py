"""The Markdown of a page as the reader of its site sees it: macros and marks of dialects reduced to
words, in the same lines.
"""

import re
from collections.abc import Callable, Sequence

from markdown_it.token import Token

from pgrag.ingest.text import directives, html_headings, kumascript, notes, templating
from pgrag.ingest.text.block_rules import block_parser
from pgrag.ingest.text.code_spans import Marks

_PARSER = block_parser()
_MACROS = Marks(
    r"[`{]", r"\{\{\s*(?P<macro>[A-Za-z]\w*)\s*\((?P<arguments>[^{}\n]{0,1000}?)\)\s*\}\}"
)
_ALERT = re.compile(r"^([ \t>]*>[ \t]*)\[!(\w+)\][ \t]*(\S.*?)?[ \t]*$", re.MULTILINE)
_TASK = re.compile(r"^([ \t>]*(?:[-*+]|\d+[.)])[ \t]+)\[([ xX])\](?=[ \t])", re.MULTILINE)


def shown(text: str, *, is_markdown: bool) -> str:
    """Return the text of a page for rendering. Without `is_markdown` it was made of another
    format: marks of dialects are words.
    """
    text = templating.prepare(text)
    if is_markdown:
        text = directives.rewrite(notes.without_comments(text))
    lines = text.split("\n")
    tokens = _PARSER.parse(text)
    if rewritten := html_headings.rewrite(lines, tokens, with_ids=False):
        lines = rewritten
        tokens = _PARSER.parse("\n".join(lines))
    steps: list[Callable[[str], str]] = []
    if templating.has_macros(text):
        steps += [_with_links, templating.reduce]
    if is_markdown:
        steps += [_with_boxes, notes.reduce]
    if steps:
        reduce_lines(lines, tokens, steps)
    return "\n".join(lines)


def _with_links(text: str) -> str:
    """Cross-references of MDN as links."""
    return _MACROS.replace(_link, text) if "{{" in text else text


def _link(match: re.Match[str]) -> str | None:
    name, arguments = match["macro"], match["arguments"]
    target, words = kumascript.target(name, arguments), kumascript.words(name, arguments)
    if not target or not words or "[" in words or "]" in words or "<" in target:
        return None
    is_code = "`" not in words and name.lower() in {"domxref", "jsxref", "cssxref", "httpheader"}
    return f"[`{words}`](<{target}>)" if is_code else f"[{words}](<{target}>)"


def _with_boxes(text: str) -> str:
    """The heads of GitHub's alerts as bold words, and the boxes of tasks as signs."""
    if "[!" in text:
        text = _ALERT.sub(lambda m: f"{m[1]}**{m[3] or m[2].capitalize()}**\\", text)
    return _TASK.sub(lambda m: m[1] + ("☐" if m[2] == " " else "☑"), text)


def reduce_lines(
    lines: list[str], tokens: Sequence[Token], steps: Sequence[Callable[[str], str]]
) -> None:
    """Reduce the lines of a page without those of code to what a reader sees. Blocks of HTML keep
    their tags.
    """
    start = 0
    of_html = [step for step in steps if step is templating.reduce]
    for token in tokens:
        is_html = token.type == "html_block" and token.level == 0 and steps != of_html
        if token.map and (is_html or token.type in {"fence", "code_block"}):
            first, end = token.map
            _replace(lines, start, first, steps)
            _replace(lines, first, end, of_html if is_html else ())
            start = end
    _replace(lines, start, len(lines), steps)


def _replace(lines: list[str], start: int, end: int, steps: Sequence[Callable[[str], str]]) -> None:
    if start < end and steps:
        text = "\n".join(lines[start:end])
        for step in steps:
            text = step(text)
        lines[start:end] = text.split("\n")
