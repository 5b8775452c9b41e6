"""The text of a paragraph of Word: runs, links, fields, equations, notes, pictures."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from xml.etree.ElementTree import Element

from pgrag.ingest.formats.escaping import escape
from pgrag.ingest.formats.office.equations import tex
from pgrag.ingest.formats.office.package import Relation, inside, named, shown, whole
from pgrag.ingest.formats.office.styles import VALUE, Style, Styles, is_on, value
from pgrag.ingest.formats.office.symbols import character, readable
from pgrag.ingest.formats.office.text import is_fixed_pitch, picture
from pgrag.ingest.text.raised import lowered, raised

_LEFT_OUT = frozenset(map(named, ("w:del", "w:moveFrom", "w:pPr", "w:rPr", "w:sdtPr", "w:rt")))
_SPACE = {
    named("w:tab"): "\t", named("w:ptab"): "\t", named("w:br"): "\n", named("w:cr"): "\n",
    named("w:noBreakHyphen"): "-",
}  # fmt: skip
_DRAWN = frozenset(map(named, ("w:drawing", "w:pict", "w:object")))
_NAVIGATION = frozenset(("TOC", "TOA", "INDEX", "TC", "XE", "RD", "PAGE", "NUMPAGES"))
_MOST_FIELDS = 20
_ADDRESS = re.compile(r'HYPERLINK\s+(?:"([^"]*)"|([^\s\\"]+))', re.IGNORECASE)
_BOOKMARK = re.compile(r'\\l\s+(?:"([^"]*)"|(\S+))', re.IGNORECASE)
_UNSAFE = re.compile(r"[\s<>\\]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a paragraph. `kind` is text, code, raised, lowered or markdown, whose text is
    written as it is; `link` is an address, if any.
    """

    kind: str
    text: str
    link: str = ""


@dataclass(slots=True)
class _Field:
    instruction: str = ""
    is_result: bool = False
    is_left_out: bool = False
    link: str = ""


@dataclass(slots=True)
class Runs:
    """Reads paragraphs in their order, because fields go on over their ends. What hangs on a
    paragraph is left in `drawn` (drawings) and `notes` (the numbers of foot- and endnotes).
    """

    styles: Styles
    relations: dict[str, Relation]
    bookmarks: frozenset[str]
    has_whole_fields: bool
    drawn: list[Element] = field(default_factory=list)
    notes: dict[tuple[str, str], int] = field(default_factory=dict)
    anchors: list[str] = field(default_factory=list)
    _fields: list[_Field] = field(default_factory=list)

    def pieces(self, paragraph: Element, chain: list[Style]) -> list[Piece]:
        """Return the text of a paragraph as its reader sees it."""
        return list(self._content(paragraph, chain, ""))

    def _content(self, element: Element, chain: list[Style], link: str) -> Iterator[Piece]:
        for child in shown(element):
            if child.tag == named("w:r"):
                yield from self._run(child, chain, link)
            elif child.tag == named("w:hyperlink"):
                yield from self._content(child, chain, link or self._target(child))
            elif child.tag == named("w:fldSimple"):
                begun = _begun(child.get(named("w:instr"), ""))
                if not begun.is_left_out:
                    yield from self._content(child, chain, link or self._leading(begun.link))
            elif child.tag in (named("m:oMath"), named("m:oMathPara")):
                yield from self._equations(child)
            elif child.tag == named("w:bookmarkStart"):
                self.anchors.append(child.get(named("w:name"), ""))
            elif child.tag not in _LEFT_OUT:
                yield from self._content(child, chain, link)

    def _target(self, hyperlink: Element) -> str:
        relation = self.relations.get(hyperlink.get(named("r:id"), ""))
        anchor = hyperlink.get(named("w:anchor"), "")
        address = (relation.address if relation else "") + (f"#{anchor}" if anchor else "")
        return self._leading(address)

    def _leading(self, address: str) -> str:
        """Return an address; "" for a bookmark that is missing or one of the table of contents."""
        is_lost = address.startswith("#") and address[1:] not in self.bookmarks
        return "" if is_lost else address

    def _equations(self, element: Element) -> Iterator[Piece]:
        is_block = element.tag == named("m:oMathPara")
        sign = "$$" if is_block else "$"
        for each in element.findall(named("m:oMath")) if is_block else [element]:
            if (written := tex(each)) and not self._is_left_out():
                yield Piece("markdown", f"{sign}{written}{sign}")

    def _run(self, run: Element, chain: list[Style], link: str) -> Iterator[Piece]:
        if is_on(self.styles.of_run(run, chain, "w:vanish")):
            return
        fonts = self.styles.of_run(run, chain, "w:rFonts")
        font = None if fonts is None else fonts.get(named("w:ascii"))
        kind = self._kind(run, chain, font)
        for child in shown(run):
            if child.tag in (named("w:fldChar"), named("w:instrText")):
                yield from self._field(child)
            elif self._is_left_out():
                continue
            elif child.tag == named("w:t"):
                text = readable(font, child.text or "")
                yield Piece(kind, text.replace("\xad", ""), link or self._link())
            elif child.tag in _SPACE:
                is_break = child.get(named("w:type"), "textWrapping") == "textWrapping"
                yield Piece(kind, _SPACE[child.tag] if is_break else " ", link or self._link())
            elif child.tag == named("w:sym"):
                yield Piece("text", _symbol(child), link)
            elif child.tag in (named("w:footnoteReference"), named("w:endnoteReference")):
                key = (child.tag, child.get(named("w:id"), ""))
                number = self.notes.setdefault(key, len(self.notes) + 1)
                yield Piece("note", f"[^{number}]")
            elif child.tag in _DRAWN:
                self.drawn.append(child)
                yield from self._pictures(child)
            elif child.tag == named("w:ruby"):
                yield from self._ruby(child, chain, link)

    def _kind(self, run: Element, chain: list[Style], font: str | None) -> str:
        place = self.styles.of_run(run, chain, "w:vertAlign")
        moved = {"superscript": "raised", "subscript": "lowered"}
        found = None if place is None else moved.get(place.get(VALUE, ""))
        return found or ("code" if is_fixed_pitch(font) else "text")

    def _ruby(self, ruby: Element, chain: list[Style], link: str) -> Iterator[Piece]:
        for part in ruby.findall(named("w:rubyBase")):
            yield from self._content(part, chain, link)

    @staticmethod
    def _pictures(drawn: Element) -> Iterator[Piece]:
        properties = (each.get("descr") for each in drawn.iter(named("wp:docPr")))
        shapes = (each.get("alt") for each in drawn.iter(named("v:shape")))
        for description in dict.fromkeys((*properties, *shapes)):
            if written := picture(description):
                yield Piece("markdown", written)

    def _field(self, element: Element) -> Iterator[Piece]:
        kind = element.get(named("w:fldCharType"))
        if element.tag == named("w:instrText"):
            if self._fields and not self._fields[-1].is_result:
                self._fields[-1].instruction += element.text or ""
        elif kind == "begin":
            self._fields.append(_Field())
            if not self._is_left_out() and (choice := _form_field(element)):
                yield Piece("text", choice)
        elif kind == "separate" and self._fields:
            begun = _begun(self._fields[-1].instruction)
            self._fields[-1] = replace(begun, is_result=True)
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _is_left_out(self) -> bool:
        return self.has_whole_fields and any(
            each.is_left_out or not each.is_result for each in self._fields[-_MOST_FIELDS:]
        )

    def _link(self) -> str:
        found = next(
            (each.link for each in reversed(self._fields[-_MOST_FIELDS:]) if each.link), ""
        )
        return self._leading(found)


def _begun(instruction: str) -> _Field:
    """Return what a field does with the text that it shows."""
    name = instruction.split(maxsplit=1)[0].upper() if instruction.strip() else ""
    address, bookmark = _ADDRESS.search(instruction), _BOOKMARK.search(instruction)
    link = ""
    if name == "HYPERLINK":
        link = (address[1] or address[2] or "") if address else ""
        link += f"#{bookmark[1] or bookmark[2]}" if bookmark else ""
    elif name == "REF" and r"\h" in instruction:
        link = f"#{instruction.split()[1]}"
    return _Field(instruction, is_left_out=name in _NAVIGATION, link=link)


def _symbol(element: Element) -> str:
    code = element.get(named("w:char"), "")
    is_code = re.fullmatch(r"[0-9A-Fa-f]{1,4}", code)
    return character(element.get(named("w:font")), int(code, 16)) if is_code else ""


def _form_field(element: Element) -> str:
    """Return what a box to tick or a list to choose from shows; "" for other fields."""
    box = inside(element, "w:ffData/w:checkBox")
    if box is not None:
        state = inside(box, "w:checked")
        return "☒" if is_on(inside(box, "w:default") if state is None else state) else "☐"
    choices = inside(element, "w:ffData/w:ddList")
    if choices is None:
        return ""
    entries = choices.findall(named("w:listEntry"))
    chosen = whole(value(choices, "w:result") or value(choices, "w:default"))
    return entries[chosen].get(VALUE, "") if 0 <= chosen < len(entries) else ""


def plain(pieces: Iterable[Piece]) -> str:
    """Return the text of pieces as it is shown, equations as TeX, without the marks of notes."""
    return "".join(
        moved(each.text) if (moved := _MOVED.get(each.kind)) else each.text
        for each in pieces
        if each.kind != "note" and not each.text.startswith("![")
    )


def markdown(pieces: Iterable[Piece], *, has_links: bool = True) -> str:
    """Return pieces as inline Markdown; `has_links` keeps links and the marks of notes."""
    written = ""
    for link, linked in groupby(pieces, key=lambda each: each.link):
        text = ""
        for kind, run in groupby(_with_whole_words(linked), key=lambda each: each.kind):
            between = " " if kind == "markdown" else ""
            text += _marked(kind, between.join(each.text for each in run), has_links)
        if link and text.strip() and has_links:
            inner = text.strip()
            address = _UNSAFE.sub(lambda match: f"%{ord(match[0]):02X}", link)
            text = text.replace(inner, f"[{inner}](<{address}>)", 1)
        written += text
    return written


def _with_whole_words(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield pieces; a part of a word in the font of code is no code."""
    before: Piece | None = None
    for piece in pieces:
        following = piece
        if before is not None:
            ends = before.text[-1:], piece.text[:1]
            if all(map(str.isalnum, ends)) and {before.kind, piece.kind} == {"code", "text"}:
                before, following = replace(before, kind="text"), replace(piece, kind="text")
            yield before
        before = following
    if before is not None:
        yield before


def _marked(kind: str, text: str, has_notes: bool) -> str:
    if kind == "markdown":
        return text
    if kind == "note":
        return text if has_notes else ""
    if kind == "code" and text.strip() and "`" not in text:
        inner = text.strip()
        return text.replace(inner, f"`{' '.join(inner.split())}`", 1)
    moved = _MOVED.get(kind)
    return escape(moved(text) if moved else text)


_MOVED = {"raised": raised, "lowered": lowered}
