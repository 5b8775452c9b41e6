"""reStructuredText: docutils makes HTML of it, which is then read as HTML."""

import re
from typing import Any

from docutils import nodes
from docutils.core import publish_parts
from docutils.parsers.rst import Directive, Parser, directives, roles
from docutils.parsers.rst.languages import en
from docutils.utils import unescape

from pgrag.ingest.formats.converted import Converted
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.formats.html import page
from pgrag.ingest.values import Origin

#: No file is read, no raw HTML passes, no message is written, no title is taken from the text.
_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "auto_id_prefix": "id",
    "report_level": 5,
    "halt_level": 6,
    "doctitle_xform": False,
    "initial_header_level": 1,
    "syntax_highlight": "none",
    "math_output": "latex",
    "embed_stylesheet": False,
    "toc_backlinks": False,
    "line_length_limit": 10_000_000,
}
_ERROR = 3
_MOST_FAULTS = 5
_DIRECTIVE = re.compile(r"^[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([\w:.+-]+)::", re.MULTILINE)
_ROLE = re.compile(r":([A-Za-z][\w:.+-]*):(?=`)")
_TITLED = re.compile(r"(?P<title>.+?)\s*<(?P<target>[^<>]+)>", re.DOTALL)
#: Roles of Sphinx whose target is a page.
_PAGES = frozenset(("doc", "download"))
#: Directives of Sphinx that show no text of their own.
_UNSEEN = frozenset({
    "toctree", "index", "currentmodule", "highlight", "autosummary", "automodule", "autoclass",
    "autofunction", "tabularcolumns", "codeauthor", "sectionauthor", "literalinclude",
})  # fmt: skip
_KNOWN = frozenset(en.directives)
_CODE = frozenset(
    {"code-block", "sourcecode", "prompt", "doctest", "testcode", "ipython", "parsed"}
)


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Read a document, with what Sphinx adds to the language; ids are those of docutils."""
    text, warnings = decode(key, data, origin)
    for name in dict.fromkeys(_DIRECTIVE.findall(text)):
        if name in _CODE or name not in _KNOWN:
            directives.register_directive(name, _Unknown)
    for name in dict.fromkeys(_ROLE.findall(text)):
        if name.lower() not in en.roles:
            roles.register_local_role(name, _read_role)  # type: ignore[arg-type]
    parser = _Observed()
    parts = publish_parts(text, parser=parser, writer="html5", settings_overrides=_SETTINGS)
    faults = [f"{key}: {fault}" for fault in parser.faults[:_MOST_FAULTS]]
    if more := len(parser.faults) - len(faults):
        faults.append(f"{key}: {more} more such errors")
    html = f"<html><body>{parts['html_body']}</body></html>".encode()
    converted = page.convert(key, html, Origin(None, origin.address))
    return Converted(converted.markdown, (*warnings, *faults, *converted.warnings))


class _Observed(Parser):
    """A parser that keeps the errors of what it leaves out."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Parse a document."""
        document.reporter.attach_observer(self._note)
        super().parse(inputstring, document)

    def _note(self, message: nodes.system_message) -> None:
        said = message.next_node(nodes.paragraph)
        is_left_out = message.next_node(nodes.literal_block) is not None
        if message["level"] >= _ERROR and is_left_out and said is not None:
            words = " ".join(said.astext().split())
            self.faults.append(f"line {message.get('line', '?')} is left out: {words}")


def _read_role(
    name: str, raw: str, text: str, line: int, inliner: Any, *_: Any, **__: Any
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Read a role of Sphinx: its title or its target as code, a page as a link."""
    written = unescape(text)
    titled = _TITLED.fullmatch(written)
    title = titled["title"] if titled else written.lstrip("!~")
    if name in _PAGES:
        target = titled["target"] if titled else written
        return [nodes.reference(raw, title, refuri=target)], []
    if titled or name in ("ref", "term", "guilabel", "menuselection", "abbr"):
        return [nodes.inline(raw, title)], []
    return [nodes.literal(raw, title)], []


class _Unknown(Directive):
    """A directive that docutils does not know: its arguments and its content are text."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = None

    def run(self) -> list[nodes.Node]:
        """Return the text of the directive."""
        name = self.name.lower()
        if name in _UNSEEN:
            return []
        content = "\n".join(line for line in self.content if not re.match(r":[\w-]+:", line))
        if name in _CODE:
            block = nodes.literal_block(content, content.strip("\n"))
            block["classes"] = ["code", *self.arguments[:1]]
            return [block] if content.strip() else []
        words: list[nodes.Node] = []
        if self.arguments:
            title = nodes.strong(self.arguments[0], self.arguments[0])
            words.append(nodes.paragraph("", "", title))
        holder = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, holder)
        return [*words, *holder.children]
