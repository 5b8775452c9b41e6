"""Read a presentation: each slide is a section, with its notes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any
from xml.etree.ElementTree import Element

from pgrag.ingest.formats.escaping import escape, heading
from pgrag.ingest.formats.office.package import Package, named
from pgrag.ingest.formats.office.text import Part, blocks, is_fixed_pitch, item, paragraph, table

_PRESENTATION = "ppt/presentation.xml"
_SHAPES = frozenset(map(named, ("p:sp", "p:grpSp", "p:graphicFrame", "p:pic", "p:cxnSp")))
_SMALL = ("dt", "ftr", "sldNum")
#: Titles that programs write by default.
_MEANINGLESS_TITLES = frozenset({"", "PowerPoint Presentation"})


@dataclass(frozen=True, slots=True, eq=False)
class _Shape:
    """A shape, its kind of placeholder (`obj` if unstated), and its position."""

    element: Element
    placeholder: str | None
    index: str
    position: tuple[int, int] | None

    @property
    def paragraphs(self) -> list[Element]:
        return self.element.findall(named("p:txBody/a:p"))


def read(stream: IO[bytes]) -> tuple[dict[str, Any], list[str]]:
    """Return the properties of a presentation and its blocks of Markdown."""
    package = Package(stream)
    relations = package.relations(_PRESENTATION)
    listed = package.part(_PRESENTATION).iterfind(named("p:sldIdLst/p:sldId"))
    slides = [_Slide(package, relations[each.attrib[named("r:id")]].part) for each in listed]
    fields = package.properties()
    if fields["title"] in _MEANINGLESS_TITLES:
        fields["title"] = next((slide.title_text for slide in slides if slide.title_text), "")
    written: list[str] = []
    for number, slide in enumerate(slides, start=1):
        level = 1 if number == 1 and slide.is_title_slide else 2
        written.append(heading(level, escape(slide.title_text or f"Slide {number}")))
        written += blocks(slide.parts())
    return fields, written


class _Slide:
    def __init__(self, package: Package, name: str) -> None:
        def shapes(part: str | None) -> list[_Shape]:
            tree = package.part(part).find(named("p:cSld/p:spTree")) if part else None
            return [] if tree is None else _shapes_in(tree)

        layout = package.related(name, "slideLayout")
        self._shapes, self._layout = shapes(name), shapes(layout)
        self._master = shapes(package.related(layout, "slideMaster") if layout else None)
        self._notes = shapes(package.related(name, "notesSlide"))
        titles = (shape for shape in self._shapes if shape.placeholder and shape.index == "0")
        self._title = next(titles, None)
        self.title_text = " ".join(_text_of(self._title).split()) if self._title else ""
        self.is_title_slide = self._title is not None and self._title.placeholder == "ctrTitle"

    def parts(self) -> Iterator[Part | None]:
        """Yield the content of the slide, and its notes."""
        for shape in self._in_order(self._shapes):
            if shape is self._title:
                continue
            grid = shape.element.find(named("a:graphic/a:graphicData/a:tbl"))
            if grid is not None:
                yield table([_cells(row) for row in grid.findall(named("a:tr"))])
            else:
                yield from _text(shape)
        written = next((shape for shape in self._notes if shape.placeholder == "body"), None)
        notes = _text_of(written).strip() if written else ""
        yield paragraph(escape(f"Notes: {notes}")) if notes else None

    def _in_order(self, shapes: Iterable[_Shape]) -> Iterator[_Shape]:
        """Yield shapes from top to bottom, those of groups included."""
        for shape in sorted(shapes, key=self._position):
            if shape.element.tag == named("p:grpSp"):
                yield from self._in_order(_shapes_in(shape.element))
            elif shape.placeholder not in _SMALL:
                yield shape

    def _position(self, shape: _Shape) -> tuple[int, int]:
        position = shape.position
        if position is None and shape.placeholder:
            model = next((each for each in self._layout if each.index == shape.index), None)
            if model is not None:
                position = model.position or self._position_in_master(model.placeholder)
        return position or (0, 0)

    def _position_in_master(self, placeholder: str | None) -> tuple[int, int] | None:
        kind = "title" if placeholder in {"title", "ctrTitle"} else placeholder
        wanted = kind if kind in {"title", *_SMALL} else "body"
        return next((each.position for each in self._master if each.placeholder == wanted), None)


def _shapes_in(tree: Element) -> list[_Shape]:
    return [_shape(element) for element in tree if element.tag in _SHAPES]


def _shape(element: Element) -> _Shape:
    placeholder = element.find(named("*/p:nvPr/p:ph"))
    offset = element.find(named("*/a:xfrm/a:off"))
    if offset is None:
        offset = element.find(named("p:xfrm/a:off"))
    return _Shape(
        element,
        None if placeholder is None else placeholder.get("type", "obj"),
        "" if placeholder is None else placeholder.get("idx", "0"),
        None if offset is None else (int(offset.get("y", 0)), int(offset.get("x", 0))),
    )


def _text(shape: _Shape) -> Iterator[Part | None]:
    """Yield the paragraphs of a shape; those of a slide's body are a list."""
    paragraphs = shape.paragraphs
    count = sum(bool(_line(each).strip()) for each in paragraphs)
    is_list = shape.placeholder in {"obj", "body"}
    is_code = False
    for each in paragraphs:
        text = _line(each)
        if not text.strip():
            yield Part("code", "") if is_code else None
            continue
        default = _font(each.find(named("a:pPr/a:defRPr")))
        runs = [run for run in each.findall(named("a:r")) if _line_of_run(run).strip()]
        is_code = bool(runs) and all(
            is_fixed_pitch(_font(run.find(named("a:rPr"))) or default) for run in runs
        )
        properties = each.find(named("a:pPr"))
        level = 0 if properties is None else int(properties.get("lvl", 0))
        if is_code:
            yield Part("code", text)
        elif (is_list and count > 1) or level:
            yield item(escape(text), level)
        else:
            yield paragraph(escape(text))


def _font(properties: Element | None) -> str | None:
    font = None if properties is None else properties.find(named("a:latin"))
    return None if font is None else font.get("typeface")


def _cells(row: Element) -> list[str]:
    return [
        "\n".join(map(_line, cell.findall(named("a:txBody/a:p"))))
        for cell in row.findall(named("a:tc"))
    ]


def _text_of(shape: _Shape) -> str:
    return "\n".join(map(_line, shape.paragraphs))


def _line(source: Element) -> str:
    written = {named("a:r"), named("a:fld")}
    return "".join(
        "\n" if child.tag == named("a:br") else _line_of_run(child)
        for child in source
        if child.tag in written or child.tag == named("a:br")
    )


def _line_of_run(run: Element) -> str:
    return run.findtext(named("a:t")) or ""
