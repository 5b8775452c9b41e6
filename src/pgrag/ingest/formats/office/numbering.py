"""The numbers of the paragraphs of Word, which the file does not store, but how they are made."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from pgrag.ingest.formats.office.package import inside, named, whole
from pgrag.ingest.formats.office.styles import is_on, value

_LEVELS = 9
_LONGEST_LABEL = 100
_PLACE = re.compile(r"%([1-9])")
_BOXES = frozenset("☐☑☒✓✔✗✘")
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Level:
    form: str
    text: str
    start: int
    is_decimal: bool


class Numbering:
    """Counts the items of the lists of one document."""

    def __init__(self, root: Element | None) -> None:
        self._abstracts: dict[str, Element] = {}
        self._instances: dict[str, Element] = {}
        if root is not None:
            of = named("w:abstractNumId")
            self._abstracts = {e.get(of, ""): e for e in root.findall(named("w:abstractNum"))}
            number = named("w:numId")
            self._instances = {e.get(number, ""): e for e in root.findall(named("w:num"))}
        self._linked = {
            link: key
            for key, each in self._abstracts.items()
            if (link := value(each, "w:styleLink")) is not None
        }
        self._levels: dict[tuple[str, int], _Level] = {}
        self._begun: set[tuple[str, int]] = set()
        self._counts: dict[tuple[str, int], int] = {}

    def label(self, number: str, depth: int) -> str:
        """Count a paragraph, and return the number or the box to tick that it shows; "" for another
        bullet or none.
        """
        instance = self._instances.get(number)
        key = self._abstract_of(instance)
        level = self._level(key, instance, number, depth)
        if level is None:
            return ""
        # instances of one list go on counting, but one that states its start begins anew
        restarts = value(self._override(instance, depth), "w:startOverride")
        if restarts is not None and (number, depth) not in self._begun:
            self._counts[key, depth] = whole(restarts, 1) - 1
        self._begun.add((number, depth))
        self._counts[key, depth] = self._counts.get((key, depth), level.start - 1) + 1
        for deeper in range(depth + 1, _LEVELS):
            self._counts.pop((key, deeper), None)
        if level.form in ("bullet", "none"):
            return level.text if level.text in _BOXES else ""

        def counted(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            above = self._level(key, instance, number, at) or level
            count = self._counts.get((key, at), above.start)
            return _written(count, "decimal" if level.is_decimal else above.form)

        return _PLACE.sub(counted, level.text).strip()

    def _abstract_of(self, instance: Element | None) -> str:
        key = value(instance, "w:abstractNumId") or ""
        abstract = self._abstracts.get(key)
        link = value(abstract, "w:numStyleLink")
        return self._linked.get(link, key) if link is not None else key

    def _level(self, key: str, instance: Element | None, number: str, depth: int) -> _Level | None:
        if (number, depth) not in self._levels:
            overridden = self._in(self._override(instance, depth), depth)
            found = self._in(self._abstracts.get(key), depth) if overridden is None else overridden
            if found is None:
                return None
            self._levels[number, depth] = _Level(
                value(found, "w:numFmt") or "decimal",
                (value(found, "w:lvlText") or "")[:_LONGEST_LABEL],
                whole(value(found, "w:start"), 1),
                bool(is_on(inside(found, "w:isLgl"))),
            )
        return self._levels[number, depth]

    @staticmethod
    def _in(parent: Element | None, depth: int) -> Element | None:
        levels = [] if parent is None else parent.findall(named("w:lvl"))
        return next((e for e in levels if e.get(named("w:ilvl")) == str(depth)), None)

    @staticmethod
    def _override(instance: Element | None, depth: int) -> Element | None:
        overrides = [] if instance is None else instance.findall(named("w:lvlOverride"))
        return next((e for e in overrides if e.get(named("w:ilvl")) == str(depth)), None)


def _written(count: int, form: str) -> str:
    """Return a number in a form such as `lowerRoman`; forms of other scripts are digits."""
    writer = _WRITERS.get(form)
    return writer(count) if writer and 0 < count < 5_000 else str(count)


def _letters(count: int) -> str:
    """Return a, b … z, aa, bb …, as Word counts."""
    return chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1)


def _roman(count: int) -> str:
    written = ""
    for size, sign in _ROMAN:
        written += sign * (count // size)
        count %= size
    return written


_WRITERS: dict[str, Callable[[int], str]] = {
    "lowerLetter": _letters,
    "upperLetter": lambda count: _letters(count).upper(),
    "lowerRoman": _roman,
    "upperRoman": lambda count: _roman(count).upper(),
    "decimalZero": "{:02}".format,
}
