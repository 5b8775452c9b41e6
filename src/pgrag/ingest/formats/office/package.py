"""The parts of an Office file, and the relations that lead from one part to others."""

import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import IO, Any, cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser, fromstring
from xml.parsers import expat

_FORMATS = "http://schemas.openxmlformats.org"
_RELATIONS = f"{_FORMATS}/package/2006/relationships"
_MICROSOFT = "http://schemas.microsoft.com/office"
_NAMESPACES = {
    "a": f"{_FORMATS}/drawingml/2006/main",
    "c": f"{_FORMATS}/drawingml/2006/chart",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dgm": f"{_FORMATS}/drawingml/2006/diagram",
    "m": f"{_FORMATS}/officeDocument/2006/math",
    "mc": f"{_FORMATS}/markup-compatibility/2006",
    "p": f"{_FORMATS}/presentationml/2006/main",
    "r": f"{_FORMATS}/officeDocument/2006/relationships",
    "s": f"{_FORMATS}/spreadsheetml/2006/main",
    "v": "urn:schemas-microsoft-com:vml",
    "w": f"{_FORMATS}/wordprocessingml/2006/main",
    "wp": f"{_FORMATS}/drawingml/2006/wordprocessingDrawing",
    "wps": f"{_MICROSOFT}/word/2010/wordprocessingShape",
}
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")
"""The namespaces of "Strict Open XML", which name the same elements."""
_UNDERSTOOD = frozenset(("wps", "wpg", "wpc", "w14", "w15", "w16se", "cx1", "am3d", "a14", "m"))
"""Extensions whose content is read; for others there is a fallback."""
_CHUNK = 65_536
_UNPACKING = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)
_MIN_ELEMENTS = 60_000
_ELEMENTS_PER_BYTE = 2
"""Documents have one for three bytes, sheets of nearly equal rows one for each byte."""


@cache
def named(path: str) -> str:
    """Return a path such as `w:pPr/w:numPr` with the namespaces in place of their prefixes."""
    steps = (step.partition(":") for step in path.split("/"))
    return "/".join(
        f"{{{_NAMESPACES[prefix]}}}{name}" if name else prefix for prefix, _, name in steps
    )


@cache
def _steps(path: str) -> tuple[str, ...]:
    return tuple(map(named, path.split("/")))


def inside(element: Element | None, path: str) -> Element | None:
    """Return the first element at a path such as `w:pPr/w:numPr`: `find`, but ten times as fast for
    paths of several steps, as each paragraph is asked for twenty.
    """
    for step in _steps(path):
        if element is None:
            return None
        element = element.find(step)
    return element


def whole(text: str | None, default: int = 0, most: int = 1_000_000_000) -> int:
    """Return the number in an attribute, the default if there is none; never above `most`."""
    return min(int(text), most) if text and re.fullmatch(r"-?\d{1,18}", text) else default


def shown(element: Element) -> Iterator[Element]:
    """Yield the children of an element; of alternatives one, the first that is understood."""
    for child in element:
        if child.tag != named("mc:AlternateContent"):
            yield child
            continue
        choices = child.findall(named("mc:Choice"))
        chosen = next((c for c in choices if _UNDERSTOOD.issuperset(_requires(c))), None)
        if chosen is None:
            chosen = child.find(named("mc:Fallback"))
        if chosen is not None:
            yield from shown(chosen)


def _requires(choice: Element) -> list[str]:
    return choice.get("Requires", "").split()


class Damaged(Exception):
    """A part is missing or cannot be read; the message says which, and why."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of a part: its kind, such as `hyperlink`, its address, and the part there."""

    kind: str
    address: str
    part: str


class Package:
    """An Office file, whose parts are XML. `losses` names the parts that could not be read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._archive = zipfile.ZipFile(stream)
        self.names = frozenset(self._archive.namelist())
        self.losses: list[str] = []
        self._read: dict[str, Element] = {}
        self._taken: set[str] = set()
        self._relations: dict[str, dict[str, Relation]] = {}
        self.size = stream.seek(0, 2)
        self._room = max(_MIN_ELEMENTS, _ELEMENTS_PER_BYTE * self.size)

    def is_new(self, name: str) -> bool:
        """Whether a part is asked for the first time: a part that a file shows thousands of times
        is read once.
        """
        is_new = name not in self._taken
        self._taken.add(name)
        return is_new

    def main(self) -> str | None:
        """Return the name of the part with which reading begins."""
        return self.related("", "officeDocument")

    def content(self, name: str) -> bytes:
        """Return the bytes of a part. Raises Damaged if it is missing or cannot be unpacked."""
        if name not in self.names:
            raise Damaged(f"its part {name} is missing")
        try:
            return self._archive.read(name)
        except _UNPACKING as error:
            raise Damaged(f"its part {name} cannot be unpacked: {error}") from error

    def part(self, name: str) -> Element:
        """Return the root of a part. Raises Damaged if it is missing or not XML."""
        if name not in self._read:
            content = self.content(name)
            self._use(content.count(b"<") // 2, name)
            try:
                _require_no_entities(content)
                self._read[name] = fromstring(_transitional(content))
            except (expat.ExpatError, ParseError, ValueError) as error:
                raise Damaged(f"its part {name} is not XML: {error}") from error
        return self._read[name]

    def stream(self, name: str, wanted: tuple[str, ...]) -> Iterator[tuple[str, Element]]:
        """Yield the elements of a part with the wanted names, without keeping the whole part: a
        sheet can be larger than the memory. Raises Damaged as `part` does.
        """
        if name not in self.names:
            raise Damaged(f"its part {name} is missing")
        try:
            with self._archive.open(name) as source:
                first = source.read(_CHUNK)
                _require_no_entities(first, is_whole=False)
                chunks = chain([_transitional(first)], iter(lambda: source.read(_CHUNK), b""))
                yield from self._ended(name, chunks, wanted)
        except (expat.ExpatError, ParseError, ValueError) as error:
            raise Damaged(f"its part {name} is not XML: {error}") from error
        except _UNPACKING as error:
            raise Damaged(f"its part {name} cannot be unpacked: {error}") from error

    def _ended(
        self, name: str, chunks: Iterable[bytes], wanted: tuple[str, ...]
    ) -> Iterator[tuple[str, Element]]:
        parser: XMLPullParser[Any] = XMLPullParser(("start", "end"))
        above: list[Element] = []
        for chunk in chunks:
            parser.feed(chunk)
            events = cast("Iterator[tuple[str, Element]]", parser.read_events())
            for event, element in events:
                if event == "start":
                    self._use(1, name)
                    above.append(element)
                    continue
                above.pop()
                kind = element.tag.rpartition("}")[2]
                if kind in wanted:
                    yield kind, element
                if above and (kind in wanted or len(above) == 1):
                    above[-1].clear()
        parser.close()

    def _use(self, elements: int, name: str) -> None:
        self._room -= elements
        if self._room < 0:
            raise Damaged(f"its part {name} has more elements than a file of this size can use")

    def optional(self, name: str | None) -> Element | None:
        """Return the root of a part without which the rest can be read; None adds to `losses`."""
        if name is None:
            return None
        try:
            return self.part(name)
        except Damaged as error:
            if str(error) not in self.losses:
                self.losses.append(str(error))
            return None

    def bytes_of(self, name: str) -> bytes:
        """Return a part that is not XML; one that is missing adds to `losses`."""
        try:
            return self.content(name)
        except Damaged as error:
            self.losses.append(str(error))
            return b""

    def relations(self, name: str) -> dict[str, Relation]:
        """Return the relations of a part by their ids."""
        if name not in self._relations:
            self._relations[name] = self._relations_of(name)
        return self._relations[name]

    def _relations_of(self, name: str) -> dict[str, Relation]:
        folder, base = posixpath.split(name)
        listed = posixpath.join(folder, f"_rels/{base}.rels")
        root = self.optional(listed) if listed in self.names else None
        return {
            each.get("Id", ""): Relation(
                each.get("Type", "").rpartition("/")[2],
                address := each.get("Target", ""),
                posixpath.normpath(posixpath.join("/", folder, address)).lstrip("/"),
            )
            for each in (() if root is None else root.iter(f"{{{_RELATIONS}}}Relationship"))
        }

    def related(self, name: str, kind: str) -> str | None:
        """Return the name of the first part of a kind that a part leads to, if there is one."""
        return next(self.all_related(name, kind), None)

    def all_related(self, name: str, kind: str) -> Iterator[str]:
        """Yield the names of the parts of a kind that a part leads to."""
        for each in self.relations(name).values():
            if each.kind == kind and each.part in self.names:
                yield each.part

    def properties(self) -> dict[str, str]:
        """Return title, description and language of the file; empty if not stated."""
        fields = {"title": "dc:title", "description": "dc:subject", "language": "dc:language"}
        name = "docProps/core.xml"
        core = self.optional(name if name in self.names else None)
        if core is None:
            return dict.fromkeys(fields, "")
        return {field: (core.findtext(named(path)) or "").strip() for field, path in fields.items()}


class _Begun(Exception):
    """The first element of a part has begun: nothing after it can define entities."""


def _transitional(content: bytes) -> bytes:
    return _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/\2", content)


def _require_no_entities(content: bytes, *, is_whole: bool = True) -> None:
    """Raise Damaged for XML with a document type, whose entities could grow without bounds."""

    def refuse(*_: Any) -> None:
        raise Damaged("it has a document type, as no Office file needs")

    def stop(*_: Any) -> None:
        raise _Begun

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = stop
    with suppress(_Begun):
        parser.Parse(content, is_whole)
