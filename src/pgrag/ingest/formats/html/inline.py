"""Inline HTML as inline Markdown."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from urllib.parse import urldefrag, urljoin

from pgrag.ingest.formats.escaping import escape
from pgrag.ingest.formats.html import dom
from pgrag.ingest.formats.html.code import code_of
from pgrag.ingest.formats.html.formulas import escaped, formula_of, is_formula_class
from pgrag.ingest.formats.html.ids import Use, is_permalink
from pgrag.ingest.text.raised import lowered, raised

MAX_DEPTH = 100
"""Deeper elements are read as their text."""

_MARKS = {"em": "*", "i": "*", "strong": "**", "b": "**", "del": "~~", "s": "~~", "strike": "~~"}
_TICKS = re.compile(r"`+")
_UNSAFE = re.compile(r"[\s<>\\]")
_FORMULAS = frozenset(("math", "mjx-container", "script"))
#: Links, emphasis and marks of footnotes.
_MARKED = re.compile(r"[\[\]`*\\†‡§]")
_LONGEST_MOVED = 30
_NO_ADDRESS = ("javascript:", "data:", "about:")


@dataclass(slots=True)
class Inline:
    """Reads inline HTML; with an `address` links are resolved against it (`base` if it differs)."""

    address: str | None = None
    base: str | None = None
    in_heading: bool = field(default=False)
    #: Ids that were met in lines.
    targets: list[tuple[str, Use]] = field(default_factory=list)

    def text(self, node: dom.Node, depth: int = 0) -> str:
        """Return the content of an element on one line, `<br>` as a line break."""
        return joined(self.element(child, depth + 1) for child in dom.children(node))

    def element(self, node: dom.Node, depth: int = 0) -> str:
        """Return one node; what is not text is empty."""
        tag = dom.tag_of(node)
        if tag == dom.TEXT:
            return escaped(dom.words(node.text_content or ""))
        attributes = node.attributes
        if tag in _FORMULAS or ("class" in attributes and is_formula_class(attributes["class"])):
            formula = formula_of(node, tag, attributes)
            if formula is not None:
                self._meet(tag, attributes)
                return formula
        if tag[0] == "-" or dom.is_skipped(tag, attributes):
            return ""
        if "id" in attributes or "name" in attributes:
            self._meet(tag, attributes)
        if depth > MAX_DEPTH:
            return escape(dom.all_text(node))
        names = dom.class_of(attributes).split()
        # docutils writes code as a span
        if reader := _READERS.get("code" if "literal" in names and tag == "span" else tag):
            return reader(self, node, depth)
        text = self.text(node, depth)
        return f" {text} " if tag in dom.BLOCKS else text

    def _meet(self, tag: str, attributes: dom.Attributes) -> None:
        name = attributes.get("id") or (attributes.get("name") if tag == "a" else None)
        if name:
            is_local = tag == "sup" or (tag == "a" and "href" in attributes)
            use = Use.HEADING if tag in ("a", "span") else Use.TARGET
            self.targets.append((name, Use.LOCAL if is_local else use))

    def href(self, attributes: dom.Attributes) -> str:
        """Return where a link leads as it is written into Markdown; "" if nowhere."""
        written = (attributes.get("href") or "").strip()
        if not written or written.lower().startswith(_NO_ADDRESS):
            return ""
        if self.address and not written.startswith("#"):
            try:
                written = urljoin(urljoin(self.address, self.base or ""), written)
            except ValueError:
                return ""
            page, fragment = urldefrag(written)
            if fragment and page == self.address:
                written = f"#{fragment}"
        written = _UNSAFE.sub(lambda match: f"%{ord(match[0]):02X}", written)
        if written.count("(") != written.count(")"):
            written = written.replace("(", "%28").replace(")", "%29")
        return written

    def _link(self, node: dom.Node, depth: int) -> str:
        attributes = node.attributes
        href = self.href(attributes)
        if href.startswith("#") and is_permalink(node, attributes):
            return ""
        label = self.text(node, depth)
        if not href or not label.strip() or (self.in_heading and href.startswith("#")):
            return label
        before, label, after = _trimmed(label)
        return f"{before}[{label}]({href}){after}"

    def _marked(self, node: dom.Node, depth: int) -> str:
        return wrapped(self.text(node, depth), _MARKS[dom.tag_of(node)])

    def _image(self, node: dom.Node, _: int) -> str:
        attributes = node.attributes
        alt = dom.words(attributes.get("alt") or "").strip()
        source = self.href({"href": attributes.get("src")})
        return f"![{escape(alt)}]({source})" if alt else ""

    def _moved(self, node: dom.Node, depth: int) -> str:
        """Return a superscript or subscript; a mark of a footnote stays as it is written."""
        text = self.text(node, depth)
        if node.css_first("i, em, b, strong") is not None:
            text = text.replace("*", "")
        if len(text) > _LONGEST_MOVED or _MARKED.search(text):
            return text
        return raised(text) if dom.tag_of(node) == "sup" else lowered(text)

    def _reading(self, node: dom.Node, depth: int) -> str:
        return f"({self.text(node, depth).strip()})"

    def _quoted(self, node: dom.Node, depth: int) -> str:
        return f"“{self.text(node, depth)}”"

    def _code(self, node: dom.Node, depth: int) -> str:
        only = node.child
        if only is None or (only.next is None and dom.tag_of(only) == dom.TEXT):
            return code_span(dom.all_text(node))
        for each in node.css("[id], a[name]"):
            self._meet(dom.tag_of(each), each.attributes)
        if node.css_first("a[href]") is None:
            is_plain = node.css_first("sup, sub, br, button") is None
            return code_span(dom.all_text(node) if is_plain else dom.words(code_of(node)))
        parts = []
        for child in dom.children(node):
            if dom.tag_of(child) == "a" and (href := self.href(child.attributes)):
                label = code_span(dom.all_text(child))
                parts.append(f"[{label}]({href})" if label else "")
            elif dom.tag_of(child) == dom.TEXT:
                before, text, after = _trimmed(dom.words(child.text_content or ""))
                parts.append(f"{before}{code_span(text)}{after}")
            elif dom.tag_of(child)[0] != "-" and depth < MAX_DEPTH:
                parts.append(self._code(child, depth + 1))
        return joined(parts)


def joined(parts: Iterable[str]) -> str:
    """Join parts of a line, so that no two spaces meet."""
    text = ""
    pieces: list[str] = []
    for part in parts:
        kept = part.lstrip(" ") if text[-1:] in (" ", "\n") else part
        if kept:
            pieces.append(kept)
            text = kept
    return "".join(pieces)


def code_span(text: str) -> str:
    """Return a text as a code span; "" if it has no words."""
    if not text:
        return ""
    ticks = "`" * (1 + max(map(len, _TICKS.findall(text)), default=0))
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def wrapped(text: str, mark: str) -> str:
    """Put marks of emphasis around a text, inside the spaces at its ends."""
    before, text, after = _trimmed(text)
    if not text or text[0] == mark[0] or text[-1] == mark[0]:
        return before + text + after
    return f"{before}{mark}{text}{mark}{after}"


def _trimmed(text: str) -> tuple[str, str, str]:
    inner = text.strip()
    start = text.find(inner) if inner else 0
    return text[:start], inner, text[start + len(inner) :]


_READERS: dict[str, Callable[[Inline, dom.Node, int], str]] = {
    "a": Inline._link,
    "img": Inline._image,
    "q": Inline._quoted,
    "br": lambda *_: "\n",
    "pre": lambda _, node, __: f" {code_span(dom.all_text(node))} ",
    "rt": Inline._reading,
    "rp": lambda *_: "",
    "sup": Inline._moved,
    "sub": Inline._moved,
    "svg": lambda _, node, __: escape(" ".join(dom.all_text(text) for text in node.css("text"))),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), Inline._code),
    **dict.fromkeys(_MARKS, Inline._marked),
}
