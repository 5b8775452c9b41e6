"""Read a document of Word: headings by their styles, in any language, else by their look."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any
from xml.etree.ElementTree import Element

from pgrag.ingest.formats.escaping import escape, heading
from pgrag.ingest.formats.office.drawing import drawn
from pgrag.ingest.formats.office.grids import table_parts
from pgrag.ingest.formats.office.included import included_html
from pgrag.ingest.formats.office.looks import levels_by_look
from pgrag.ingest.formats.office.numbering import Numbering
from pgrag.ingest.formats.office.package import Package, inside, named, shown
from pgrag.ingest.formats.office.runs import Piece, Runs, markdown, plain
from pgrag.ingest.formats.office.seen import seen_text
from pgrag.ingest.formats.office.styles import Style, Styles, heading_level, list_position
from pgrag.ingest.formats.office.text import Part, blocks, item, paragraph

_CODE_STYLE = re.compile(r"code|source|preformatted|verbatim|listing|\bpre\b", re.IGNORECASE)
_CONTAINERS = frozenset(
    map(named, ("w:sdt", "w:sdtContent", "w:ins", "w:moveTo", "w:customXml", "w:smartTag"))
)
_PLAIN_NUMBER = re.compile(r"\(?(\d{1,9})[.)]?")
_LINKED = re.compile(r'(?:\\l\s+"?|\bREF\s+)([^"\s\\]+)')
_UNSAFE_ID = re.compile(r'[\s<>"]')


def read(package: Package, main: str) -> tuple[dict[str, Any], list[str], str]:
    """Return the properties of a document, its blocks of Markdown, and the text that is seen."""
    reader = _Reader(package, main)
    written = list(blocks(reader.document()))
    fields = package.properties()
    fields["title"] = fields["title"] or reader.title
    return fields, written, seen_text(reader.roots())


class _Reader:
    """Reads the paragraphs and tables of one document, and counts the items of its lists."""

    def __init__(self, package: Package, main: str) -> None:
        self.title = ""
        self._package = package
        self._main = self._owner = main
        self._root = package.part(main)
        self._styles = Styles(package.optional(package.related(main, "styles")))
        self._numbering = Numbering(package.optional(package.related(main, "numbering")))
        kinds = [e.get(named("w:fldCharType")) for e in self._root.iter(named("w:fldChar"))]
        is_whole = kinds.count("begin") == kinds.count("end")
        bookmarks = _linked_bookmarks(self._root)
        self._runs = Runs(self._styles, package.relations(main), bookmarks, is_whole)
        self._notes_of: dict[str, dict[str, Element]] = {}
        self._notes_written = 0
        self._levels: dict[Element, int] = {}
        self._shift = 0

    def document(self) -> Iterator[Part]:
        """Yield the content of the body, notes after their paragraph, table or list; of an empty
        body what stands above and below each page.
        """
        body = inside(self._root, "w:body")
        children = [] if body is None else list(_flat(body))
        self._levels = levels_by_look(children, self._styles)
        is_empty = True
        for child in children:
            before = len(self._runs.notes)
            parts = self._block(child)
            if parts and parts[0].kind != "item":
                yield from self._notes(before)
            yield from parts
            if parts and parts[-1].kind != "item":
                yield from self._notes(len(self._runs.notes))
            is_empty = is_empty and not parts
        yield from self._notes(len(self._runs.notes))
        for kind in ("header", "footer") if is_empty else ():
            for name in self._package.all_related(self._main, kind):
                root = self._package.optional(name)
                yield from [] if root is None else self._elsewhere(root, name)

    def roots(self) -> list[Element]:
        """Return the roots of the parts with the text of the document and its notes."""
        names = (self._package.related(self._main, kind) for kind in ("footnotes", "endnotes"))
        notes = (self._package.optional(name) for name in names)
        return [self._root, *(root for root in notes if root is not None)]

    def _notes(self, end: int) -> Iterator[Part]:
        """Yield the foot- and endnotes that are not written yet, up to the number `end`."""
        waiting = islice(tuple(self._runs.notes), self._notes_written, end)
        for tag, key in waiting if self._notes_written < end else ():
            self._notes_written += 1
            kind = "footnote" if tag == named("w:footnoteReference") else "endnote"
            name = self._package.related(self._main, f"{kind}s")
            if kind not in self._notes_of:
                root = self._package.optional(name)
                notes = [] if root is None else root.findall(named(f"w:{kind}"))
                self._notes_of[kind] = {each.get(named("w:id"), ""): each for each in notes}
            note = self._notes_of[kind].get(key)
            parts = [] if note is None or name is None else self._elsewhere(note, name)
            if words := " ".join(" ".join(part.text.split()) for part in parts):
                yield Part("other", f"[^{self._notes_written}]: {words}")

    def _elsewhere(self, element: Element, owner: str) -> list[Part]:
        """Return the content of an element in another part, whose links are its own."""
        before = self._owner, self._runs.relations
        self._owner, self._runs.relations = owner, self._package.relations(owner)
        parts = self._parts(element)
        self._owner, self._runs.relations = before
        return parts

    def _parts(self, element: Element) -> list[Part]:
        return [part for child in _flat(element) for part in self._block(child)]

    def _block(self, element: Element) -> list[Part]:
        if element.tag == named("w:p"):
            return self._paragraph(element) if len(element) else []
        if element.tag == named("w:tbl"):
            return list(filter(None, table_parts(element, self._parts)))
        if element.tag == named("w:altChunk"):
            return self._included(element)
        if element.tag == named("w:bookmarkStart"):
            self._runs.anchors.append(element.get(named("w:name"), ""))
        return []

    def _paragraph(self, source: Element) -> list[Part]:
        chain = self._styles.of_paragraph(source)
        pieces = self._runs.pieces(source, chain)
        drawings, self._runs.drawn = self._runs.drawn, []
        anchors = [each for each in self._runs.anchors if each in self._runs.bookmarks]
        self._runs.anchors = []
        name = chain[0].name.lower() if chain else ""
        if name.startswith(("toc ", "toc heading")):
            return []
        main = self._text(source, chain, pieces, anchors[0] if anchors else "")
        if main is not None and main.kind == "heading":
            anchors = anchors[1:]
        targets = [Part("other", f'<a id="{each}"/>') for each in anchors]
        boxes = [part for each in drawings for part in self._drawing(each)]
        return [*targets, *([main] if main else []), *boxes]

    def _text(
        self, source: Element, chain: list[Style], pieces: list[Piece], anchor: str
    ) -> Part | None:
        text = plain(pieces)
        if self._is_code(chain, pieces):
            return Part("code", text.replace("\t", "    "))
        inline = markdown(pieces)
        if not inline.strip():
            return None
        position = list_position(source, chain)
        label = self._numbering.label(*position) if position else ""
        level = heading_level(source, chain)
        level = self._levels.get(source) if level is None else level
        words = " ".join(markdown(pieces, has_links=False).split())
        if level is not None and words:
            self._shift = 1 if level == 0 and not self.title else self._shift
            self.title = self.title or " ".join(text.split())
            numbered = f"{escape(label)} {words}" if label else words
            return Part("heading", heading(level + self._shift, numbered, anchor))
        if position is None:
            return paragraph(inline)
        if match := _PLAIN_NUMBER.fullmatch(label):
            return item(inline, position[1], f"{match[1]}.")
        return item(f"{escape(label)} {inline}" if label else inline, position[1])

    def _is_code(self, chain: list[Style], pieces: list[Piece]) -> bool:
        """Whether all text of a paragraph is set in a style or a font for code."""
        if chain and _CODE_STYLE.search(chain[0].name):
            return True
        kinds = {each.kind for each in pieces if each.text.strip()}
        return kinds == {"code"}

    def _drawing(self, element: Element) -> Iterator[Part]:
        """Yield the text boxes, charts and diagrams of a drawing."""
        for box in _boxes(element):
            yield from self._parts(box)
        for shape in element.iter(named("a:p")):
            if words := "".join(each.text or "" for each in shape.iter(named("a:t"))).strip():
                yield paragraph(escape(words))
        yield from filter(None, drawn(self._package, self._owner, element))

    def _included(self, element: Element) -> list[Part]:
        relation = self._runs.relations.get(element.get(named("r:id"), ""))
        if relation is None or not self._package.is_new(relation.part):
            return []
        content = self._package.bytes_of(relation.part)
        if content.startswith((b"PK", b"{\\rtf")):
            self._package.losses.append("it includes another document, which was left out")
            return []
        written = included_html(content)
        return [Part("other", written)] if written else []


def _flat(element: Element) -> Iterator[Element]:
    """Yield the blocks of a body or a cell, those in content controls included."""
    for child in shown(element):
        if child.tag in _CONTAINERS:
            yield from _flat(child)
        else:
            yield child


def _boxes(element: Element) -> Iterator[Element]:
    """Yield the contents of the text boxes of a drawing, but not those within others."""
    for child in shown(element):
        if child.tag == named("w:txbxContent"):
            yield child
        else:
            yield from _boxes(child)


def _linked_bookmarks(root: Element) -> frozenset[str]:
    """Return the bookmarks to which links of the text lead; those of contents are left out."""
    marked = {each.get(named("w:name"), "") for each in root.iter(named("w:bookmarkStart"))}
    links = (each.get(named("w:anchor"), "") for each in root.iter(named("w:hyperlink")))
    fields = (_LINKED.findall(each.text or "") for each in root.iter(named("w:instrText")))
    simple = (_LINKED.findall(e.get(named("w:instr"), "")) for e in root.iter(named("w:fldSimple")))
    names = {*links, *(name for found in (*fields, *simple) for name in found)}
    return frozenset(
        name
        for name in names & marked
        if name and not name.startswith("_Toc") and not _UNSAFE_ID.search(name)
    )
