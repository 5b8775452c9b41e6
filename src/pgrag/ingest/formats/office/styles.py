"""The styles of a document of Word: what a paragraph or a run has by itself, and what by style."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from pgrag.ingest.formats.office.package import inside, named, whole

VALUE = named("w:val")
_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|overskrift|nagłówek|заголовок|标题|見出し)"
    r"\s*(\d)",
    re.IGNORECASE,
)
_TITLES = frozenset(("title", "titel", "titre"))
_MOST_BASES = 20
_LEVELS = 9


@dataclass(frozen=True, slots=True)
class Style:
    """A style, the key of the style that it is based on, and its element."""

    key: str
    name: str
    basis: str | None
    is_default: bool
    element: Element


def value(element: Element | None, path: str) -> str | None:
    """Return what the element at a path states; None if it is missing."""
    target = inside(element, path)
    return None if target is None else target.get(VALUE)


def is_on(element: Element | None) -> bool | None:
    """Whether a switch such as `w:b` is on; None if it is not stated."""
    return None if element is None else element.get(VALUE, "true") not in {"0", "false", "off"}


class Styles:
    """The paragraph and character styles of a document."""

    def __init__(self, root: Element | None) -> None:
        listed = [] if root is None else root.findall(named("w:style"))
        self._styles: dict[tuple[str, str], Style] = {}
        self._default: Style | None = None
        self._found: dict[tuple[str, str, str], Element | None] = {}
        self._defaults = None if root is None else inside(root, "w:docDefaults/w:rPrDefault")
        for each in listed:
            kind = each.get(named("w:type"), "paragraph")
            style = Style(
                each.get(named("w:styleId"), ""),
                value(each, "w:name") or "",
                value(each, "w:basedOn"),
                each.get(named("w:default")) in {"1", "true", "on"},
                each,
            )
            self._styles[kind, style.key] = style
            if kind == "paragraph" and style.is_default:
                self._default = self._default or style

    def of_paragraph(self, source: Element) -> list[Style]:
        """Return the style of a paragraph and those that it is based on."""
        return self._chain("paragraph", value(source, "w:pPr/w:pStyle") or "", self._default)

    def _chain(self, kind: str, key: str, default: Style | None = None) -> list[Style]:
        chain: list[Style] = []
        style = self._styles.get((kind, key), default)
        while style is not None and len(chain) < _MOST_BASES:
            chain.append(style)
            style = self._styles.get((kind, style.basis or ""))
        return chain

    def of_run(self, run: Element, chain: list[Style], name: str) -> Element | None:
        """Return a property of a run, such as `w:vanish`: its own, else that of its style, else
        that of the paragraph's styles.
        """
        properties = inside(run, "w:rPr")
        if properties is not None:
            found = inside(properties, name)
            key = value(properties, "w:rStyle") if found is None else None
            if key is not None:
                found = self._of_style("character", key, name)
            if found is not None:
                return found
        return self._of_style("paragraph", chain[0].key, name) if chain else None

    def _of_style(self, kind: str, key: str, name: str) -> Element | None:
        if (kind, key, name) not in self._found:
            stated = (
                inside(each.element, f"w:rPr/{name}")
                for each in self._chain(kind, key)
                # a document whose every line has the font of a typewriter is no code
                if not (name == "w:rFonts" and each.is_default)
            )
            found = next((each for each in stated if each is not None), None)
            self._found[kind, key, name] = found
        return self._found[kind, key, name]

    def size_of(self, run: Element, chain: list[Style]) -> int:
        """Return the size of a run's letters in half points."""
        own = self.of_run(run, chain, "w:sz")
        stated = own.get(VALUE) if own is not None else value(self._defaults, "w:rPr/w:sz")
        return whole(stated, 20, 1_000)

    def is_strong(self, run: Element, chain: list[Style]) -> bool:
        """Whether a run is bold."""
        return bool(is_on(self.of_run(run, chain, "w:b")))


def heading_level(source: Element, styles: list[Style]) -> int | None:
    """Return the level of a heading, 0 for the title of the document, None for other text."""
    if styles and (styles[0].name.lower() in _TITLES or styles[0].key.lower() in _TITLES):
        return 0
    outline = _first([source, *(style.element for style in styles)], "w:pPr/w:outlineLvl")
    if outline is not None:
        level = whole(outline, _LEVELS)
        return level + 1 if 0 <= level < _LEVELS else None
    for style in styles:
        if match := _HEADING.fullmatch(style.name):
            return int(match[1]) or None
    return None


def list_position(source: Element, styles: list[Style]) -> tuple[str, int] | None:
    """Return the list of a paragraph and its depth there; None for other text."""
    elements = [source, *(style.element for style in styles)]
    number = _first(elements, "w:pPr/w:numPr/w:numId")
    if number in (None, "0"):
        return None
    depth = whole(_first(elements, "w:pPr/w:numPr/w:ilvl"), 0, _LEVELS - 1)
    in_style = re.search(r" ([2-5])$", styles[0].name) if styles else None
    if in_style and heading_level(source, styles) is None:
        depth = max(depth, int(in_style[1]) - 1)
    return number, max(depth, 0)


def _first(elements: Iterable[Element], path: str) -> str | None:
    stated = (value(each, path) for each in elements)
    return next((each for each in stated if each is not None), None)
