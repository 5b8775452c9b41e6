"""Look at a PDF before its pages are laid out: lists that go in a circle, pages that draw far more
than the file holds. The layout is native code that follows them until time or memory ends.
"""

import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from pypdf import PageObject, PdfReader, PdfWriter
from pypdf.errors import LimitReachedError, PyPdfError
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    IndirectObject,
    NameObject,
    PdfObject,
    StreamObject,
)

from pgrag.ground.errors import SourceError

#: The layout compares each painted path with each other: 10,000 curves on a page take 6 s.
_PATHS_OF_A_PAGE = 2_000
#: What the pages may draw in bytes, of which the layout reads about a million in a second.
_DRAWN_BYTES, _DRAWN_PER_BYTE = 1_500_000, 10
_DEPTH = 100
_MARKED_DEPTH = 500
_MARKED = re.compile(rb"\b(?:B[DM]C|EMC)\b")
_PAINT = re.compile(
    rb"(\((?:\\.|[^\\()])*\)|<[0-9A-Fa-f\s]*>)|(?<=[\s\]>)])(?:S|s|f\*?|F|B\*?|b\*?)(?=\s|$)"
)
_PAINTING = (b"S", b"s", b"f", b"F", b"B", b"b")
_USE = re.compile(rb"/([^\s/\[\]()<>{}%]+)\s+Do\b")
_INHERITED = ("/Resources", "/MediaBox", "/CropBox", "/Rotate")
_OF_A_PAGE = (*_INHERITED, "/Contents", "/UserUnit")
#: What makes a sound PDF of a damaged one.
REMEDY = "Print it to a new PDF from a viewer, or write it anew, for example by: qpdf"


@dataclass(frozen=True, slots=True)
class Guarded:
    """A PDF that can be laid out. `left_out` are the numbers of pages that draw too much and are
    empty in `data`; without `has_bookmarks` its outline goes in a circle.
    """

    data: bytes
    left_out: tuple[int, ...] = ()
    has_bookmarks: bool = True


@dataclass(slots=True)
class _Drawing:
    """The size of what is drawn, each use of a form counted, and the streams that draw it."""

    size: float = 0
    paths: float = 0
    streams: dict[int, StreamObject] = field(default_factory=dict)


#: By the stream and the forms that its names mean: pypdf keeps each object that it has read.
_Known = dict[tuple[int, ...], _Drawing]


def guard(key: str, data: bytes, reader: PdfReader) -> Guarded:
    """Return the PDF, or a copy of what can be read of it. Raises SourceError if its list of pages
    has no end; a PDF that cannot be examined is left to the layout, which repairs more.
    """
    try:
        pages, is_sound = _pages(key, reader)
        has_bookmarks = _is_tree(reader.root_object.get("/Outlines"), "/First", "/Next")
        is_tagged = "/StructTreeRoot" in reader.root_object
        if is_tagged and not _is_tree(reader.root_object["/StructTreeRoot"], "/K"):
            is_sound = False
        left_out, crowded = _heavy(pages, _DRAWN_BYTES + _DRAWN_PER_BYTE * len(data))
        if is_sound and has_bookmarks and not left_out and not crowded:
            return Guarded(data)
        return Guarded(_copy(pages, left_out, crowded), tuple(left_out), has_bookmarks)
    except SourceError:
        raise
    except LimitReachedError as error:
        raise SourceError(f"{key}: has lists too long for a PDF: {error}", hint=REMEDY) from error
    except Exception:  # pypdf reads less of what is damaged than the layout does
        return Guarded(data)


def _pages(key: str, reader: PdfReader) -> tuple[list[PageObject], bool]:
    """Return the pages, and whether the tree of pages is as it says."""
    known = sum(map(len, reader.xref.values())) + len(reader.xref_objStm)
    root = reader.root_object.raw_get("/Pages")
    pages: list[PageObject] = []
    stack: list[tuple[PdfObject, dict[str, PdfObject], int]] = [(root, {}, 0)]
    entries, deepest = 0, 0
    while stack:
        reference, inherited, depth = stack.pop()
        entries += 1
        if entries > known:
            raise SourceError(
                f"{key}: its list of pages goes in a circle or names pages again and again.",
                hint=REMEDY,
            )
        node = reference.get_object()
        if not isinstance(node, DictionaryObject):
            continue
        deepest = max(deepest, depth)
        inherited = inherited | {name: node.raw_get(name) for name in _INHERITED if name in node}
        kids = node.get("/Kids")
        if isinstance(kids, ArrayObject):
            stack += [(kid, inherited, depth + 1) for kid in reversed(kids)][-known:]
            continue
        page = PageObject(reader, reference if isinstance(reference, IndirectObject) else None)
        page.update({name: node.raw_get(name) for name in _OF_A_PAGE if name in node})
        page.update({NameObject(name): value for name, value in inherited.items()})
        pages.append(page)
    tree = root.get_object()
    count = tree.get("/Count") if isinstance(tree, DictionaryObject) else None
    return pages, count == len(pages) and deepest <= _DEPTH


def _is_tree(root: Any, *names: str) -> bool:
    """Whether no object is reached twice by these entries, nor one too deep for recursion."""
    seen: set[int] = set()
    stack: list[tuple[Any, int]] = [(root, 0)]
    while stack:
        value, depth = stack.pop()
        if isinstance(value, IndirectObject):
            if value.idnum in seen or depth > _DEPTH:
                return False
            seen.add(value.idnum)
            value = value.get_object()
        if isinstance(value, ArrayObject):
            stack += [(each, depth) for each in value if not isinstance(each, (int, float))]
        elif isinstance(value, DictionaryObject) and value.get("/Type") not in {"/OBJR", "/MCR"}:
            stack += [
                (value.raw_get(name), depth + (name != "/Next")) for name in names if name in value
            ]
    return True


def _heavy(pages: list[PageObject], limit: float) -> tuple[list[int], dict[int, _Drawing]]:
    """Return the pages that exceed the limit, and those whose paths are too many to compare."""
    left_out: list[int] = []
    crowded: dict[int, _Drawing] = {}
    drawings: _Known = {}
    for number, page in enumerate(pages, start=1):
        drawing = _drawing(page.get("/Contents"), page.get("/Resources"), drawings, ())
        if drawing.size > limit:
            left_out.append(number)
            continue
        if drawing.paths > _PATHS_OF_A_PAGE:
            crowded[number] = drawing
        limit -= drawing.size
    return left_out, crowded


def _drawing(contents: Any, resources: Any, known: _Known, outer: tuple[int, ...]) -> _Drawing:
    total = _Drawing()
    forms = _forms(resources)
    for stream in _streams(contents):
        if id(stream) in outer or len(outer) > _DEPTH // 4:
            return _Drawing(float("inf"))
        use = id(stream), *sorted(map(id, forms.values()))
        if use not in known:
            known[use] = _of_stream(stream, forms, known, (*outer, id(stream)))
        total.size += known[use].size
        total.paths += known[use].paths
        total.streams |= known[use].streams
    return total


def _of_stream(
    stream: StreamObject,
    forms: dict[str, StreamObject],
    known: _Known,
    outer: tuple[int, ...],
) -> _Drawing:
    try:
        data = stream.get_data()
    except PyPdfError:  # it unpacks to more than pypdf allows, 75 MB
        return _Drawing(float("inf"))
    if _nests_too_deep(data):
        return _Drawing(float("inf"))
    # the letters of the painting operators are an upper bound, and fast to count
    may_crowd = forms or len(outer) > 1 or sum(map(data.count, _PAINTING)) > _PATHS_OF_A_PAGE
    paths = sum(not match[1] for match in _PAINT.finditer(data)) if may_crowd else 0
    drawing = _Drawing(len(data), paths, {id(stream): stream})
    for name, uses in Counter(_USE.findall(data)).items() if forms else ():
        form = forms.get("/" + name.decode("latin-1"))
        if form is not None:
            inner = _drawing(form, form.get("/Resources"), known, outer)
            drawing.size += uses * (inner.size + 100)
            drawing.paths += uses * inner.paths
            drawing.streams |= inner.streams
    return drawing


def _nests_too_deep(data: bytes) -> bool:
    """Whether marked parts are in each other without end, for which the layout has too small a
    stack.
    """
    if data.count(b"BDC") + data.count(b"BMC") <= _MARKED_DEPTH:
        return False
    steps = accumulate(-1 if mark == b"EMC" else 1 for mark in _MARKED.findall(data))
    return max(steps, default=0) > _MARKED_DEPTH


def _streams(contents: Any) -> Iterator[StreamObject]:
    contents = contents.get_object() if contents is not None else None
    for each in contents if isinstance(contents, ArrayObject) else [contents]:
        stream = each.get_object() if each is not None else None
        if isinstance(stream, StreamObject):
            yield stream


def _forms(resources: Any) -> dict[str, StreamObject]:
    objects = resources.get_object().get("/XObject") if resources is not None else None
    items = objects.get_object().items() if objects is not None else ()
    found = ((str(name), value.get_object()) for name, value in items)
    return {
        name: value
        for name, value in found
        if isinstance(value, StreamObject) and value.get("/Subtype") == "/Form"
    }


def _copy(pages: list[PageObject], left_out: list[int], crowded: dict[int, _Drawing]) -> bytes:
    """Write the pages alone; what is left out is empty, what is crowded keeps its text."""
    writer = PdfWriter()
    for number, page in enumerate(pages, start=1):
        if number in left_out:
            writer.add_blank_page(595, 842)
            continue
        for stream in crowded[number].streams.values() if number in crowded else ():
            stream.set_data(_PAINT.sub(lambda match: match[1] or b"n", stream.get_data()))
        writer.add_page(page)
    copy = io.BytesIO()
    writer.write(copy)
    return copy.getvalue()
