"""The text that a reader of an Office file sees, taken from the XML as it is: what its Markdown is
compared with, to notice what a reader would miss.
"""

from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element

from pgrag.ingest.formats.office.package import inside, named
from pgrag.ingest.formats.office.styles import is_on, value

_TEXTS = frozenset(map(named, ("w:t", "m:t", "a:t")))
_BREAKS = frozenset(map(named, ("w:tab", "w:br", "a:br")))
_APART = frozenset(map(named, (
    "w:p", "w:tc", "a:p", "m:oMath", "m:e", "m:num", "m:den", "m:sup", "m:sub", "m:fName", "m:lim",
)))  # fmt: skip
"""What stands apart from the text before and after it."""
_UNSEEN = frozenset(map(named, ("w:del", "w:moveFrom", "mc:Fallback", "w:rt")))
_CONTENTS = named("w:sdtPr") + "/" + named("w:docPartObj") + "/" + named("w:docPartGallery")
_SMALL = ("dt", "ftr", "sldNum")


def seen_text(roots: Iterable[Element]) -> str:
    """Return the text of parts of a file, without tables of contents, dates, footers and numbers of
    slides, and what is hidden or deleted.
    """
    return " ".join("".join(_texts(root)) for root in roots)


def _texts(root: Element) -> Iterator[str]:
    waiting: list[Element | None] = [root]
    while waiting:
        element = waiting.pop()
        if element is None or element.tag in _BREAKS:
            yield " "
        elif not _is_unseen(element):
            if element.tag in _TEXTS:
                yield element.text or ""
            if element.tag in _APART:
                yield " "
                waiting.append(None)
            waiting += reversed(element)


def _is_unseen(element: Element) -> bool:
    if element.tag in _UNSEEN or is_on(inside(element, "w:rPr/w:vanish")):
        return True
    if element.tag == named("w:p"):
        return (value(element, "w:pPr/w:pStyle") or "").upper().startswith("TOC")
    if element.tag == named("w:hyperlink"):
        return element.get(named("w:anchor"), "").startswith("_Toc")
    if element.tag == named("w:sdt"):
        gallery = element.find(_CONTENTS)
        return gallery is not None and gallery.get(named("w:val")) == "Table of Contents"
    if element.tag == named("p:sp"):
        placeholder = inside(element, "p:nvSpPr/p:nvPr/p:ph")
        return placeholder is not None and placeholder.get("type") in _SMALL
    return False
