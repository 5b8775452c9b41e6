"""Files that are zip archives of XML: opened within bounds, their parts without entities."""

import io
import posixpath
import zipfile
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

from pgrag.ground.errors import SourceError

_MAX_UNPACKED = 1_000_000_000
#: Text compresses to a tenth, repetitive tables to a fiftieth.
_MAX_FACTOR = 200


#: Elements that are no part of the word before them.
_ENDS = frozenset(("p", "h", "tab", "line-break", "s", "text", "table-cell", "note"))


class Parts:
    """The parts of a file that is a zip archive; every fault is a SourceError with its name."""

    def __init__(self, key: str, data: bytes, kind: str) -> None:
        self.key = key
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise SourceError(f"{key}: is not {kind}, or is cut off: {error}.") from error
        unpacked = sum(member.file_size for member in self._archive.infolist())
        if unpacked > min(_MAX_UNPACKED, max(_MAX_FACTOR * len(data), 10_000_000)):
            raise SourceError(f"{key}: is refused: its {len(data):,} bytes unpack to {unpacked:,}.")
        self.names = frozenset(self._archive.namelist())

    def read(self, name: str) -> bytes:
        """Return the bytes of a part."""
        try:
            return self._archive.read(name)
        except RuntimeError as error:
            raise SourceError(
                f"{self.key}: needs a password.", hint="Save it without one."
            ) from error
        except (KeyError, zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
            raise SourceError(f"{self.key}: is damaged: its part {name} cannot be read.") from error

    def xml(self, name: str) -> Element:
        """Return the root of a part of XML."""
        try:
            root: Element = fromstring(self.read(name))
        except (ParseError, DefusedXmlException, ValueError) as error:
            raise SourceError(
                f"{self.key}: is damaged: its part {name} is no XML that can be read."
            ) from error
        return root


def below(part: str, href: str) -> str:
    """Return the name of the part to which a part leads."""
    path = unquote(href.partition("#")[0])
    return posixpath.normpath(posixpath.join(posixpath.dirname(part), path)) if path else part


def local(element: Element) -> str:
    """Return the name of an element without its namespace; empty for a comment."""
    tag: Any = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element, name: str) -> str:
    """Return an attribute whatever its namespace; empty if the element lacks it."""
    return next((v for k, v in element.attrib.items() if k.rpartition("}")[2] == name), "")


def first(element: Element, *names: str) -> Element | None:
    """Return the first element below with one of the local names."""
    return next((each for each in element.iter() if local(each) in names), None)


def texts(element: Element, accepts: Callable[[str], bool] = lambda _: True) -> str:
    """Return the words in an element, apart from the elements that are not accepted."""
    parts = [element.text or ""] if accepts(local(element)) else []
    for child in element if accepts(local(element)) else ():
        parts += [texts(child, accepts), child.tail or ""]
    return f" {''.join(parts)} " if local(element) in _ENDS else "".join(parts)
