"""Read a document of Word: headings by their styles, in any language of Word."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import IO, Any

from docx import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml.ns import qn
from docx.table import Table
from docx.text.paragraph import Paragraph

from pgrag.ingest.formats.escaping import escape, heading
from pgrag.ingest.formats.office.text import (
    Part,
    blocks,
    is_fixed_pitch,
    item,
    paragraph,
    table,
)

_CODE_STYLE = re.compile(r"code|source|preformatted|verbatim|listing|\bpre\b", re.IGNORECASE)
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_LEFT_OUT = frozenset(
    (*map(qn, ("w:del", "w:moveFrom", "w:pPr", "w:rPr", "w:instrText")), _FALLBACK)
)
_SPACE = {qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}


def read(stream: IO[bytes]) -> tuple[dict[str, Any], list[str]]:
    """Return the properties of a document and its blocks of Markdown."""
    document = Document(stream)
    reader = _Reader(document)
    written = list(blocks(reader.parts(document.element.body)))
    properties = document.core_properties
    fields = {
        "title": properties.title or reader.title,
        "description": properties.subject,
        "language": properties.language,
    }
    return fields, written


class _Reader:
    """Reads the paragraphs and tables of one document, and counts the items of its lists."""

    def __init__(self, document: Any) -> None:
        self.document = document
        self.title = ""
        self._shift = 0
        self._numbers: Counter[tuple[str, int]] = Counter()

    def parts(self, element: Any) -> Iterator[Part | None]:
        """Yield what stands in the body, also within content controls."""
        for child in element:
            if child.tag == qn("w:p"):
                yield self._paragraph(Paragraph(child, self.document._body))
            elif child.tag == qn("w:tbl"):
                yield table(_rows(Table(child, self.document._body)))
            elif child.tag in {qn("w:sdt"), qn("w:sdtContent"), qn("w:ins")}:
                yield from self.parts(child)

    def _paragraph(self, source: Paragraph) -> Part | None:
        styles = _styles(source)
        plain = _plain(source._p)
        name = (styles[0].name or "") if styles else ""
        if name.lower().startswith(("toc ", "toc heading")):
            return None
        if _CODE_STYLE.search(name) or (plain.strip() and _is_code(source, styles)):
            return Part("code", plain.replace("\t", "    "))
        if not plain.strip():
            return None
        level = _heading_level(source, styles)
        if level is not None:
            if level == 0:
                self._shift = 1
            self.title = self.title or " ".join(plain.split())
            return Part("other", heading(level + self._shift, escape(plain)))
        text = "".join(self._inline(source._p))
        if (place := _list_place(source, styles)) is not None:
            number, depth = place
            return item(text, depth, self._mark(number, depth))
        return paragraph(text)

    def _inline(self, element: Any) -> Iterator[str]:
        for child in element:
            if child.tag == qn("w:r"):
                text = _plain(child)
                font = child.find(f"{qn('w:rPr')}/{qn('w:rFonts')}")
                is_code = font is not None and is_fixed_pitch(font.get(qn("w:ascii")))
                yield f"`{text}`" if is_code and text.strip() and "`" not in text else escape(text)
            elif child.tag == qn("w:hyperlink"):
                address = self.document.part.rels.get(child.get(qn("r:id")) or "")
                text = "".join(self._inline(child))
                target = address.target_ref if address is not None else ""
                yield f"[{text}](<{target}>)" if target and text else text
            elif child.tag not in _LEFT_OUT:
                yield from self._inline(child)

    def _mark(self, number: str, depth: int) -> str:
        """Return the mark of the next item of a list: its number, or a hyphen."""
        if not _is_ordered(self.document, number, depth):
            return "-"
        self._numbers[number, depth] += 1
        for deeper in range(depth + 1, 9):
            self._numbers[number, deeper] = 0
        return f"{self._numbers[number, depth]}."


def _plain(element: Any) -> str:
    """Return the text of a paragraph or run, without what is deleted."""
    text = ""
    for child in element:
        if child.tag == qn("w:t"):
            text += child.text or ""
        elif child.tag in _SPACE:
            text += _SPACE[child.tag]
        elif child.tag not in _LEFT_OUT:
            text += _plain(child)
    return text


def _styles(source: Paragraph) -> list[Any]:
    """Return the style of a paragraph, and those on which it is based."""
    styles: list[Any] = []
    style: Any = source.style
    while style is not None and len(styles) < 20:
        styles.append(style)
        style = style.base_style
    return styles


def _heading_level(source: Paragraph, styles: list[Any]) -> int | None:
    """Return the level of a heading, 0 for the title of the document, None for other text."""
    if styles and styles[0].style_id in {"Title", "Titel", "Titre"}:
        return 0
    for element in (source._p, *(style.element for style in styles)):
        outline = element.find(f"{qn('w:pPr')}/{qn('w:outlineLvl')}")
        if outline is not None:
            level = int(outline.get(qn("w:val")))
            return level + 1 if level < 9 else None
    for style in styles:
        if match := re.fullmatch(r"heading (\d)", style.name or "", re.IGNORECASE):
            return int(match[1])
    return None


def _list_place(source: Paragraph, styles: list[Any]) -> tuple[str, int] | None:
    """Return the list and the depth of an item; None for what is none."""
    for element in (source._p, *(style.element for style in styles)):
        number = element.find(f"{qn('w:pPr')}/{qn('w:numPr')}/{qn('w:numId')}")
        if number is not None:
            level = element.find(f"{qn('w:pPr')}/{qn('w:numPr')}/{qn('w:ilvl')}")
            depth = int(level.get(qn("w:val"))) if level is not None else 0
            named = re.search(r" ([2-5])$", styles[0].name or "") if styles else None
            depth = max(depth, int(named[1]) - 1 if named else 0)
            return (number.get(qn("w:val")), depth) if number.get(qn("w:val")) != "0" else None
    return None


def _is_ordered(document: Any, number: str, depth: int) -> bool:
    """Whether a list counts its items at this depth."""
    parts = (
        relation.target_part
        for relation in document.part.rels.values()
        if relation.reltype == RELATIONSHIP_TYPE.NUMBERING
    )
    numbering = next(parts, None)
    if numbering is None:
        return False
    instance = _with(numbering.element, "w:num", "w:numId", number)
    link = instance.find(qn("w:abstractNumId")) if instance is not None else None
    if link is None:
        return False
    abstract = _with(numbering.element, "w:abstractNum", "w:abstractNumId", link.get(qn("w:val")))
    if abstract is None:
        return False
    level = _with(abstract, "w:lvl", "w:ilvl", str(depth))
    form = (abstract if level is None else level).find(f".//{qn('w:numFmt')}")
    return form is not None and form.get(qn("w:val")) not in {"bullet", "none"}


def _with(element: Any, tag: str, attribute: str, value: str) -> Any:
    """Return the first child with a tag whose attribute has a value, or None."""
    children = element.findall(qn(tag))
    return next((child for child in children if child.get(qn(attribute)) == value), None)


def _is_code(source: Paragraph, styles: list[Any]) -> bool:
    """Whether all text of a paragraph is set in a font for code."""
    default = next((style.font.name for style in styles if style.font.name), None)
    runs = [run for run in source.runs if run.text.strip()]
    return bool(runs) and all(is_fixed_pitch(run.font.name or default) for run in runs)


def _rows(source: Table) -> Iterator[list[str]]:
    """Yield the texts of a table's rows; the text of merged cells stands in the first."""
    seen: set[Any] = set()
    for row in source.rows:
        texts = []
        for cell in row.cells:
            texts.append("" if cell._tc in seen else cell.text)
            seen.add(cell._tc)
        yield texts
