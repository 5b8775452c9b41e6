"""Read a presentation: each slide is a section, with its notes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element

from pgrag.ingest.formats.escaping import escape, heading
from pgrag.ingest.formats.office.drawing import drawn
from pgrag.ingest.formats.office.equations import tex
from pgrag.ingest.formats.office.package import Package, Relation, inside, named, shown, whole
from pgrag.ingest.formats.office.runs import Piece, markdown, plain
from pgrag.ingest.formats.office.seen import seen_text
from pgrag.ingest.formats.office.text import (
    Part,
    blocks,
    is_fixed_pitch,
    item,
    paragraph,
    picture,
    table,
)  # fmt: skip

_SHAPES = frozenset(map(named, ("p:sp", "p:grpSp", "p:graphicFrame", "p:pic", "p:cxnSp")))
_RUNS = frozenset(map(named, ("a:r", "a:fld")))
_SMALL = ("dt", "ftr", "sldNum")
#: Titles that programs write by default.
_MEANINGLESS_TITLES = frozenset({"", "PowerPoint Presentation"})
_LONGEST_TITLE = 80
_OFF = ("0", "false")


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


def read(package: Package, main: str) -> tuple[dict[str, Any], list[str], str]:
    """Return the properties of a presentation, its blocks of Markdown, and the seen text."""
    slides = list(_slides(package, main))
    fields = package.properties()
    if fields["title"] in _MEANINGLESS_TITLES:
        fields["title"] = next((slide.title_text for _, slide in slides if slide.title_text), "")
    written: list[str] = []
    for number, slide in slides:
        level = 1 if number == 1 and slide.is_title_slide else 2
        written.append(heading(level, slide.title or f"Slide {number}"))
        written += blocks(slide.parts())
    return fields, written, seen_text(slide.root for _, slide in slides)


def _slides(package: Package, main: str) -> Iterator[tuple[int, "_Slide"]]:
    """Yield the slides that are not hidden, with their numbers."""
    relations = package.relations(main)
    listed = package.part(main).iterfind(named("p:sldIdLst/p:sldId"))
    for number, each in enumerate(listed, start=1):
        relation = relations.get(each.get(named("r:id"), ""))
        root = package.optional(relation.part if relation else f"of slide {number}")
        if relation is None or root is None or root.get("show") in _OFF:
            continue
        if package.is_new(relation.part):
            yield number, _Slide(package, relation.part, root)


class _Slide:
    def __init__(self, package: Package, name: str, root: Element) -> None:
        def shapes(part: str | None) -> list[_Shape]:
            root = package.optional(part)
            tree = None if root is None else inside(root, "p:cSld/p:spTree")
            return [] if tree is None else _shapes_in(tree)

        self.root = root
        self._package, self._name = package, name
        self._relations = package.relations(name)
        layout = package.related(name, "slideLayout")
        self._shapes, self._layout = shapes(name), shapes(layout)
        self._master = shapes(package.related(layout, "slideMaster") if layout else None)
        self._notes = shapes(package.related(name, "notesSlide"))
        placed = [shape for shape in self._shapes if shape.placeholder]
        titles = [shape for shape in placed if shape.placeholder in ("title", "ctrTitle")]
        titles += [shape for shape in placed if shape.index == "0"]
        self._title = titles[0] if titles else None
        self.is_title_slide = self._title is not None and self._title.placeholder == "ctrTitle"
        self._first_line: Element | None = None
        pieces = self._title_pieces()
        self.title_text = " ".join(plain(pieces).split())
        self.title = " ".join(markdown(pieces, has_links=False).split())

    def _title_pieces(self) -> list[Piece]:
        """Return the title; of a slide without one its first line, if that is short."""
        if self._title is not None:
            lines = [_pieces(each, {}) for each in self._title.paragraphs]
            title = [piece for line in lines for piece in (*line, Piece("text", " "))]
            if plain(title).strip():
                return title
        shapes = (shape for shape in self._in_order(self._shapes) if shape is not self._title)
        lines_of = (line for shape in shapes for line in shape.paragraphs)
        first = next((line for line in lines_of if plain(_pieces(line, {})).strip()), None)
        pieces = [] if first is None else _pieces(first, {})
        if first is None or len(plain(pieces)) > _LONGEST_TITLE or _is_code(first):
            return []
        self._first_line = first
        return pieces

    def parts(self) -> Iterator[Part | None]:
        """Yield the content of the slide, and its notes."""
        for shape in self._in_order(self._shapes):
            if shape is self._title:
                continue
            grid = inside(shape.element, "a:graphic/a:graphicData/a:tbl")
            if grid is not None:
                yield table([self._cells(row) for row in grid.findall(named("a:tr"))])
            elif shape.element.tag == named("p:pic"):
                described = inside(shape.element, "p:nvPicPr/p:cNvPr")
                words = picture(None if described is None else described.get("descr"))
                yield paragraph(words) if words else None
            else:
                yield from self._text(shape)
                yield from drawn(self._package, self._name, shape.element)
        written = next((shape for shape in self._notes if shape.placeholder == "body"), None)
        lines = [plain(_pieces(each, {})) for each in written.paragraphs] if written else []
        notes = "\n".join(lines).strip()
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

    def _text(self, shape: _Shape) -> Iterator[Part | None]:
        """Yield the paragraphs of a shape; those of a slide's body are a list."""
        paragraphs = [each for each in shape.paragraphs if each is not self._first_line]
        lines = [_pieces(each, self._relations) for each in paragraphs]
        count = sum(bool(plain(each).strip()) for each in lines)
        is_list = shape.placeholder in {"obj", "body"}
        is_code = False
        for each, pieces in zip(paragraphs, lines, strict=True):
            if not plain(pieces).strip():
                yield Part("code", "") if is_code else None
                continue
            is_code = _is_code(each)
            properties = inside(each, "a:pPr")
            level = 0 if properties is None else max(whole(properties.get("lvl"), 0, 8), 0)
            if is_code:
                yield Part("code", plain(pieces))
            elif (is_list and count > 1) or level:
                yield item(markdown(pieces), level)
            else:
                yield paragraph(markdown(pieces))

    def _cells(self, row: Element) -> list[str]:
        """Return the cells of a row; those over which others go are empty."""
        return [
            ""
            if {cell.get("hMerge", "0"), cell.get("vMerge", "0")} & {"1", "true"}
            else " ".join(
                markdown(_pieces(each, self._relations))
                for each in cell.findall(named("a:txBody/a:p"))
            )
            for cell in row.findall(named("a:tc"))
        ]


def _shapes_in(tree: Element) -> list[_Shape]:
    return [_shape(each) for each in shown(tree) if each.tag in _SHAPES and not _is_hidden(each)]


def _is_hidden(element: Element) -> bool:
    properties = element.find(named("*/p:cNvPr"))
    return properties is not None and properties.get("hidden") in ("1", "true")


def _shape(element: Element) -> _Shape:
    placeholder = element.find(named("*/p:nvPr/p:ph"))
    offset = element.find(named("*/a:xfrm/a:off"))
    if offset is None:
        offset = inside(element, "p:xfrm/a:off")
    return _Shape(
        element,
        None if placeholder is None else placeholder.get("type", "obj"),
        "" if placeholder is None else placeholder.get("idx", "0"),
        None if offset is None else (whole(offset.get("y")), whole(offset.get("x"))),
    )


def _pieces(source: Element, relations: dict[str, Relation]) -> list[Piece]:
    """Return the text of a paragraph; links lead where the relations of the slide say."""
    found: list[Piece] = []
    for child in shown(source):
        if child.tag == named("a:br"):
            found.append(Piece("text", "\n"))
        elif child.tag in _RUNS:
            found.append(_run(child, relations))
        else:
            found += [
                Piece("markdown", f"${written}$")
                for each in child.iter(named("m:oMath"))
                if (written := tex(each))
            ]
    return found


def _run(run: Element, relations: dict[str, Relation]) -> Piece:
    properties = inside(run, "a:rPr")
    link = None if properties is None else inside(properties, "a:hlinkClick")
    relation = None if link is None else relations.get(link.get(named("r:id"), ""))
    shift = 0 if properties is None else whole(properties.get("baseline"))
    kind = "raised" if shift > 0 else "lowered" if shift < 0 else "text"
    address = relation.address if relation and relation.kind == "hyperlink" else ""
    return Piece(kind, (run.findtext(named("a:t")) or "").replace("\x0b", "\n"), address)


def _is_code(source: Element) -> bool:
    """Whether all text of a paragraph is set in a font for code."""
    default = _font(inside(source, "a:pPr/a:defRPr"))
    runs = [
        run for run in source.findall(named("a:r")) if (run.findtext(named("a:t")) or "").strip()
    ]
    return bool(runs) and all(
        is_fixed_pitch(_font(inside(run, "a:rPr")) or default) for run in runs
    )


def _font(properties: Element | None) -> str | None:
    font = None if properties is None else inside(properties, "a:latin")
    return None if font is None else font.get("typeface")
