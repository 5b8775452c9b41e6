"""Headings of a document of Word without styles of headings: short lines, bold or larger."""

import re
from collections import Counter
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from pgrag.ingest.formats.office.package import named, shown
from pgrag.ingest.formats.office.styles import Styles, heading_level, list_position, value

_MOST_CHARACTERS = 100
_MOST_WORDS = 14
_LARGER = 1.15
_NO_END = (".", ",", ";", ":")
_NUMBER = re.compile(r"(\d+(?:\.\d+)*)[.)]?\s")
_CAPTION = re.compile(r"(?:figure|fig\.|table|abbildung|abb\.|tabelle|tableau)\s*\d", re.IGNORECASE)
_MOST_LEVELS = 4


@dataclass(frozen=True, slots=True)
class _Line:
    """A block of the body: `look` is its size and whether it is bold, if it can be a heading."""

    element: Element
    text: str
    size: int
    look: tuple[int, bool] | None


def levels_by_look(body: list[Element], styles: Styles) -> dict[Element, int]:
    """Return the levels of the paragraphs that look like headings: empty if there are headings by
    style, and if what looks so is not mostly followed by other text.
    """
    chains = {each: styles.of_paragraph(each) for each in body if each.tag == named("w:p")}
    if any((heading_level(each, chain) or 0) > 0 for each, chain in chains.items()):
        return {}
    lines = [line for each in body if (line := _line(each, styles)) is not None]
    sizes: Counter[int] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    usual = sizes.most_common(1)[0][0] if sizes else 0
    looks = [
        line.look if line.look and (line.look[1] or line.size >= usual * _LARGER) else None
        for line in lines
    ]
    kept = _consistent(looks)
    ranks = {look: rank for rank, look in enumerate(sorted(kept, reverse=True), start=1)}
    found = {
        line.element: (ranks[look], _depth(line.text))
        for line, look in zip(lines, looks, strict=True)
        if look in ranks
    }
    least = {
        rank: min(depth for other, depth in found.values() if other == rank and depth)
        for rank, depth in set(found.values())
        if depth
    }
    return {
        element: min(rank + (depth - least[rank] if depth else 0), _MOST_LEVELS)
        for element, (rank, depth) in found.items()
    }


def _consistent(looks: list[tuple[int, bool] | None]) -> set[tuple[int, bool]]:
    """Return the looks that are mostly followed by text, or by a heading of a smaller look."""
    followed: Counter[tuple[int, bool]] = Counter()
    for look, below in zip(looks, [*looks[1:], (0, False)], strict=False):
        if look is not None:
            followed[look] += 1 if below is None or (below < look and below[0] > 0) else -1
    others = sum(look is None for look in looks)
    return {look for look, more in followed.items() if more > 0 and others >= looks.count(look)}


def _line(element: Element, styles: Styles) -> _Line | None:
    """Return a block of the body; None for an empty paragraph."""
    if element.tag != named("w:p"):
        return _Line(element, "", 0, None)
    chain = styles.of_paragraph(element)
    runs = [(run, text) for run in element.iter(named("w:r")) if (text := _text(run)).strip()]
    text = "".join(text for _, text in runs).strip()
    if not text:
        return None
    size = min(styles.size_of(run, chain) for run, _ in runs)
    is_strong = all(styles.is_strong(run, chain) for run, _ in runs)
    is_short = len(text) <= _MOST_CHARACTERS and len(text.split()) <= _MOST_WORDS
    can_be = (
        is_short
        and any(map(str.isalpha, text))
        and not text.endswith(_NO_END)
        and not _CAPTION.match(text)
        and (is_strong or list_position(element, chain) is None)
        and heading_level(element, chain) is None
        and value(element, "w:pPr/w:framePr") is None
    )
    return _Line(element, text, size, (size, is_strong) if can_be else None)


def _text(run: Element) -> str:
    return "".join(each.text or "" for each in shown(run) if each.tag == named("w:t"))


def _depth(text: str) -> int:
    """Return the depth of the number with which a heading begins, 0 without one."""
    match = _NUMBER.match(text)
    return match[1].count(".") + 1 if match else 0
