"""A document of reStructuredText: docutils makes HTML of it, which is then read as HTML."""

from typing import Any

from docutils import nodes
from docutils.core import publish_parts
from docutils.parsers.rst import Parser
from docutils.parsers.rst.states import Inliner
from docutils.utils import unescape
from docutils.writers.html5_polyglot import HTMLTranslator, Writer

from pgrag.ingest.formats.converted import Converted
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.formats.html import page
from pgrag.ingest.formats.loss import count_words
from pgrag.ingest.formats.rst import directives, objects, roles
from pgrag.ingest.formats.rst.bounds import Reader
from pgrag.ingest.formats.rst.scope import Scope
from pgrag.ingest.formats.rst.shown import shown_text
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
_LONGEST_TEXT = 10_000
#: Fields at the start of a document that Sphinx does not show.
_UNSEEN_FIELDS = frozenset(("orphan", "tocdepth", "nocomments", "nosearch", "no-search"))


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Read a document; headings have the ids of docutils, objects those of Sphinx."""
    text, warnings = decode(key, data, origin)
    scope = Scope()
    settings = {**_SETTINGS, "scope": scope, "has_objects": directives.register(text)}
    roles.register(text)
    parser = _Observed()
    writer = Writer()
    writer.translator_class = _Translator
    parts = publish_parts(
        text, reader=Reader(), parser=parser, writer=writer, settings_overrides=settings
    )
    faults = [f"{key}: {fault}" for fault in parser.faults[:_MOST_FAULTS]]
    if more := len(parser.faults) - len(faults):
        faults.append(f"{key}: {more} more such errors")
    if scope.unread:
        named = ", ".join(dict.fromkeys(scope.unread[:_MOST_FAULTS]))
        faults.append(f"{key}: the text of the files that it includes is not read: {named}")
    html = f"<html><body><main>{parts['body']}</main></body></html>".encode()
    converted = page.convert(key, html, Origin(None, origin.address))
    words = count_words(shown_text(text), converted.markdown)
    return Converted(converted.markdown, (*warnings, *faults, *converted.warnings), words=words)


def _bounded() -> Inliner:
    """Return a reader of the marks in a text. Each is sought up to its end: in a long text they
    stay as they are.
    """
    inliner = Inliner()
    parse = inliner.parse

    def parse_short(text: str, *rest: Any) -> Any:
        if len(text) > _LONGEST_TEXT:
            return [nodes.Text(unescape(text))], []
        return parse(text, *rest)

    inliner.parse = parse_short  # type: ignore[method-assign, assignment]
    return inliner


class _Observed(Parser):
    """A parser that keeps the errors of what it leaves out."""

    def __init__(self) -> None:
        super().__init__(inliner=_bounded())
        self.faults: list[str] = []

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Parse a document."""
        document.reporter.attach_observer(self._note)
        super().parse(inputstring, document)
        for each in list(document.findall(nodes.field)):
            name = each.children[0].astext()
            if each.parent.parent is document and name in _UNSEEN_FIELDS:
                each.parent.remove(each)
            elif shown := objects.field_name(name):
                each.children[0].children = [nodes.Text(shown)]
        document.settings.scope.resolve(document)

    def _note(self, message: nodes.system_message) -> None:
        said = message.next_node(nodes.paragraph)
        is_left_out = message.next_node(nodes.literal_block) is not None
        if message["level"] >= _ERROR and is_left_out and said is not None:
            words = " ".join(said.astext().split())
            self.faults.append(f"line {message.get('line', '?')} is left out: {words}")


class _Translator(HTMLTranslator):
    """HTML of docutils, with what its style sheet adds written into it."""

    def visit_term(self, node: Any) -> None:
        if node["ids"] or "sig" in node["classes"]:
            self.body.append(self.starttag(node, "dt", suffix=""))
        else:
            super().visit_term(node)

    def visit_math(self, node: Any) -> None:
        is_block = isinstance(node, nodes.math_block)
        start, end = ("\\[", "\\]") if is_block else ("\\(", "\\)")
        formula = self.encode(f"{start}{node.astext()}{end}")
        shown = f'<span class="math">{formula}</span>'
        self.body.append(f"<p>{shown}</p>" if is_block else shown)
        raise nodes.SkipNode

    def visit_math_block(self, node: Any) -> None:
        self.visit_math(node)

    def visit_footnote_reference(self, node: Any) -> None:
        self.body.append(f"[{self.encode(node.astext())}]")
        raise nodes.SkipNode

    visit_citation_reference = visit_footnote_reference

    def visit_footnote(self, node: Any) -> None:
        label, first = [*node.children, nodes.paragraph()][:2]
        node.remove(label)
        if isinstance(first, nodes.paragraph):
            first.insert(0, nodes.Text(f"[{label.astext()}] "))
        super().visit_footnote(node)

    def visit_citation(self, node: Any) -> None:
        self.visit_footnote(node)

    def visit_classifier(self, node: Any) -> None:
        self.body.append(" : ")
        super().visit_classifier(node)
