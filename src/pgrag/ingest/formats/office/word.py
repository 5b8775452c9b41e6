"""Read a document of Word: headings by their styles, in any language of Word."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Any
from xml.etree.ElementTree import Element

from pgrag.ingest.formats.escaping import escape, heading
from pgrag.ingest.formats.office.package import Package, named
from pgrag.ingest.formats.office.text import Part, blocks, is_fixed_pitch, item, paragraph, table

_CODE_STYLE = re.compile(r"code|source|preformatted|verbatim|listing|\bpre\b", re.IGNORECASE)
_LEFT_OUT = frozenset(
    map(named, ("w:del", "w:moveFrom", "w:pPr", "w:rPr", "w:instrText", "mc:Fallback"))
)
_SPACE = {
    named("w:tab"): "\t", named("w:br"): "\n", named("w:cr"): "\n", named("w:noBreakHyphen"): "-",
}  # fmt: skip
_VALUE = named("w:val")
_CONTAINERS = frozenset(map(named, ("w:sdt", "w:sdtContent", "w:ins")))
_DOCUMENT = "word/document.xml"


@dataclass(frozen=True, slots=True)
class _Style:
    key: str
    name: str
    basis: str | None
    is_default: bool
    element: Element


def read(stream: IO[bytes]) -> tuple[dict[str, Any], list[str]]:
    """Return the properties of a document and its blocks of Markdown."""
    package = Package(stream)
    reader = _Reader(package)
    body = package.part(_DOCUMENT).find(named("w:body"))
    written = [] if body is None else list(blocks(reader.parts(body)))
    fields = package.properties()
    fields["title"] = fields["title"] or reader.title
    return fields, written


class _Reader:
    """Reads the paragraphs and tables of one document, and counts the items of its lists."""

    def __init__(self, package: Package) -> None:
        self.title = ""
        self._package = package
        self._relations = package.relations(_DOCUMENT)
        self._shift = 0
        self._numbers: Counter[tuple[str, int]] = Counter()

    def parts(self, element: Element) -> Iterator[Part | None]:
        """Yield the content of the body, that of content controls included."""
        for child in element:
            if child.tag == named("w:p"):
                yield self._paragraph(child)
            elif child.tag == named("w:tbl"):
                yield table([list(_cells(row)) for row in child.findall(named("w:tr"))])
            elif child.tag in _CONTAINERS:
                yield from self.parts(child)

    def _paragraph(self, source: Element) -> Part | None:
        styles = self._styles_of(source)
        plain = _plain(source)
        name = styles[0].name if styles else ""
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
        text = "".join(self._inline(source))
        if (position := _list_position(source, styles)) is not None:
            number, depth = position
            return item(text, depth, self._mark(number, depth))
        return paragraph(text)

    def _inline(self, element: Element) -> Iterator[str]:
        for child in element:
            if child.tag == named("w:r"):
                text = _plain(child)
                is_code = is_fixed_pitch(_font(child))
                yield f"`{text}`" if is_code and text.strip() and "`" not in text else escape(text)
            elif child.tag == named("w:hyperlink"):
                relation = self._relations.get(child.get(named("r:id"), ""))
                text = "".join(self._inline(child))
                target = relation.address if relation is not None else ""
                yield f"[{text}](<{target}>)" if target and text else text
            elif child.tag not in _LEFT_OUT:
                yield from self._inline(child)

    def _mark(self, number: str, depth: int) -> str:
        if not _is_ordered(self._numbering, number, depth):
            return "-"
        self._numbers[number, depth] += 1
        for deeper in range(depth + 1, 9):
            self._numbers[number, deeper] = 0
        return f"{self._numbers[number, depth]}."

    @cached_property
    def _numbering(self) -> Element | None:
        name = self._package.related(_DOCUMENT, "numbering")
        return None if name is None else self._package.part(name)

    @cached_property
    def _styles(self) -> dict[str, _Style]:
        name = self._package.related(_DOCUMENT, "styles")
        listed = [] if name is None else self._package.part(name).findall(named("w:style"))
        return {
            (key := each.get(named("w:styleId"), "")): _Style(
                key,
                _value(each, "w:name") or "",
                _value(each, "w:basedOn"),
                each.get(named("w:default")) in {"1", "true", "on"},
                each,
            )
            for each in listed
            if each.get(named("w:type"), "paragraph") == "paragraph"
        }

    @cached_property
    def _default(self) -> _Style | None:
        return next((style for style in self._styles.values() if style.is_default), None)

    def _styles_of(self, source: Element) -> list[_Style]:
        styles: list[_Style] = []
        style = self._styles.get(_value(source, "w:pPr/w:pStyle") or "", self._default)
        while style is not None and len(styles) < 20:
            styles.append(style)
            style = self._styles.get(style.basis or "")
        return styles


def _plain(element: Element) -> str:
    text = ""
    for child in element:
        if child.tag == named("w:t"):
            text += child.text or ""
        elif child.tag in _SPACE:
            text += _SPACE[child.tag]
        elif child.tag not in _LEFT_OUT:
            text += _plain(child)
    return text


def _value(element: Element, path: str) -> str | None:
    target = element.find(named(path))
    return None if target is None else target.get(_VALUE)


def _font(element: Element) -> str | None:
    fonts = element.find(named("w:rPr/w:rFonts"))
    return None if fonts is None else fonts.get(named("w:ascii"))


def _heading_level(source: Element, styles: list[_Style]) -> int | None:
    """Return the level of a heading, 0 for the title of the document, None for other text."""
    if styles and styles[0].key in {"Title", "Titel", "Titre"}:
        return 0
    for element in (source, *(style.element for style in styles)):
        outline = _value(element, "w:pPr/w:outlineLvl")
        if outline is not None:
            return int(outline) + 1 if int(outline) < 9 else None
    for style in styles:
        if match := re.fullmatch(r"heading (\d)", style.name, re.IGNORECASE):
            return int(match[1])
    return None


def _list_position(source: Element, styles: list[_Style]) -> tuple[str, int] | None:
    for element in (source, *(style.element for style in styles)):
        number = _value(element, "w:pPr/w:numPr/w:numId")
        if number is not None:
            depth = int(_value(element, "w:pPr/w:numPr/w:ilvl") or 0)
            in_style = re.search(r" ([2-5])$", styles[0].name) if styles else None
            depth = max(depth, int(in_style[1]) - 1 if in_style else 0)
            return (number, depth) if number != "0" else None
    return None


def _is_ordered(numbering: Element | None, number: str, depth: int) -> bool:
    if numbering is None:
        return False
    instance = _with(numbering, "w:num", "w:numId", number)
    link = _value(instance, "w:abstractNumId") if instance is not None else None
    if link is None:
        return False
    abstract = _with(numbering, "w:abstractNum", "w:abstractNumId", link)
    if abstract is None:
        return False
    level = _with(abstract, "w:lvl", "w:ilvl", str(depth))
    form = next((abstract if level is None else level).iter(named("w:numFmt")), None)
    return form is not None and form.get(_VALUE) not in {"bullet", "none"}


def _with(element: Element, tag: str, attribute: str, value: str) -> Element | None:
    children = element.findall(named(tag))
    return next((child for child in children if child.get(named(attribute)) == value), None)


def _is_code(source: Element, styles: list[_Style]) -> bool:
    """Whether all text of a paragraph is set in a font for code."""
    default = next(filter(None, (_font(style.element) for style in styles)), None)
    runs = [run for run in source.findall(named("w:r")) if _plain(run).strip()]
    return bool(runs) and all(is_fixed_pitch(_font(run) or default) for run in runs)


def _cells(row: Element) -> Iterator[str]:
    """Yield the texts of a row's cells; the text of merged ones stands in the first."""
    for cell in row.findall(named("w:tc")):
        merged = cell.find(named("w:tcPr/w:vMerge"))
        goes_on = merged is not None and merged.get(_VALUE, "continue") == "continue"
        paragraphs = map(_plain, cell.findall(named("w:p")))
        yield "" if goes_on else "\n".join(paragraphs)
        for _ in range(int(_value(cell, "w:tcPr/w:gridSpan") or 1) - 1):
            yield ""
