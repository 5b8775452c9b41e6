"""The parts of an Office file, and the relations that lead from one part to others."""

import posixpath
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import IO, Any
from xml.etree.ElementTree import Element, ParseError, fromstring
from xml.parsers import expat

_FORMATS = "http://schemas.openxmlformats.org"
_RELATIONS = f"{_FORMATS}/package/2006/relationships"
_NAMESPACES = {
    "a": f"{_FORMATS}/drawingml/2006/main",
    "dc": "http://purl.org/dc/elements/1.1/",
    "mc": f"{_FORMATS}/markup-compatibility/2006",
    "p": f"{_FORMATS}/presentationml/2006/main",
    "r": f"{_FORMATS}/officeDocument/2006/relationships",
    "w": f"{_FORMATS}/wordprocessingml/2006/main",
}


@cache
def named(path: str) -> str:
    """Return a path such as `w:pPr/w:numPr` with the namespaces in place of their prefixes."""
    steps = (step.partition(":") for step in path.split("/"))
    return "/".join(
        f"{{{_NAMESPACES[prefix]}}}{name}" if name else prefix for prefix, _, name in steps
    )


class Damaged(Exception):
    """A part is missing or cannot be read; the message says which, and why."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of a part: its kind, such as `hyperlink`, its address, and the part there."""

    kind: str
    address: str
    part: str


class Package:
    """An Office file, whose parts are XML."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._archive = zipfile.ZipFile(stream)
        self._names = frozenset(self._archive.namelist())
        self._read: dict[str, Element] = {}

    def part(self, name: str) -> Element:
        """Return the root of a part. Raises Damaged if it is missing or not XML."""
        if name not in self._read:
            if name not in self._names:
                raise Damaged(f"its part {name} is missing")
            content = self._archive.read(name)
            try:
                _require_no_entities(content)
                self._read[name] = fromstring(content)
            except (expat.ExpatError, ParseError) as error:
                raise Damaged(f"its part {name} is not XML: {error}") from error
        return self._read[name]

    def relations(self, name: str) -> dict[str, Relation]:
        """Return the relations of a part by their ids."""
        folder, base = posixpath.split(name)
        listed = f"{folder}/_rels/{base}.rels"
        if listed not in self._names:
            return {}
        return {
            each.get("Id", ""): Relation(
                each.get("Type", "").rpartition("/")[2],
                address := each.get("Target", ""),
                posixpath.normpath(posixpath.join("/", folder, address)).lstrip("/"),
            )
            for each in self.part(listed).iter(f"{{{_RELATIONS}}}Relationship")
        }

    def related(self, name: str, kind: str) -> str | None:
        """Return the name of the first part of a kind that a part leads to, if there is one."""
        relations = self.relations(name).values()
        return next(
            (each.part for each in relations if each.kind == kind and each.part in self._names),
            None,
        )

    def properties(self) -> dict[str, str]:
        """Return title, description and language of the file; empty if not stated."""
        fields = {"title": "dc:title", "description": "dc:subject", "language": "dc:language"}
        if "docProps/core.xml" not in self._names:
            return dict.fromkeys(fields, "")
        core = self.part("docProps/core.xml")
        return {field: (core.findtext(named(path)) or "").strip() for field, path in fields.items()}


class _Begun(Exception):
    """The first element of a part has begun: nothing after it can define entities."""


def _require_no_entities(content: bytes) -> None:
    """Raise Damaged for XML with a document type, whose entities could grow without bounds."""

    def refuse(*_: Any) -> None:
        raise Damaged("it has a document type, as no Office file needs")

    def stop(*_: Any) -> None:
        raise _Begun

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = stop
    with suppress(_Begun):
        parser.Parse(content, True)
