"""The cells of a workbook as they are shown."""

from xml.etree.ElementTree import Element

from pgrag.ingest.formats.office.numbers import shown_number, shown_text
from pgrag.ingest.formats.office.package import Damaged, Package, inside, named, whole

_BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy",
    18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm",
    37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)",
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
    **dict.fromkeys((*range(27, 32), 36, *range(50, 55), 57, 58), "yyyy-mm-dd"),
}  # fmt: skip
"""Formats that files name by number; dates that depend on the reader's country are ISO dates."""
_MIN_TEXT = 2_000_000
_TEXT_PER_BYTE = 100
_TEXTS = {"1": "TRUE", "0": "FALSE", "true": "TRUE", "false": "FALSE"}


class Cells:
    """Reads cells with the texts and the formats that a workbook shares among its sheets."""

    def __init__(self, package: Package, main: str) -> None:
        properties = package.part(main).find(named("s:workbookPr"))
        stated = None if properties is None else properties.get("date1904")
        self._has_mac_dates = stated in ("1", "true")
        self._texts = _shared_texts(package, package.related(main, "sharedStrings"))
        self.seen: list[str] = []
        self._room = max(_MIN_TEXT, _TEXT_PER_BYTE * package.size)
        self._formats = _formats(package.optional(package.related(main, "styles")))

    def text(self, cell: Element) -> tuple[str, bool]:
        """Return what a cell shows, and whether its formula has no stored value. Raises Damaged
        when the cells show far more text than the file has.
        """
        shown, is_missing = self._text(cell)
        self._room -= len(shown)
        if self._room < 0:
            raise Damaged("its cells repeat a long text without end")
        return shown, is_missing

    def _text(self, cell: Element) -> tuple[str, bool]:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return rich_text(inside(cell, "s:is")).strip(), False
        raw = cell.findtext(named("s:v"))
        if raw is None:
            return "", inside(cell, "s:f") is not None
        if kind == "s":
            at = whole(raw, -1)
            raw = self._texts[at] if 0 <= at < len(self._texts) else ""
        style = whole(cell.get("s"))
        form = self._formats[style] if 0 <= style < len(self._formats) else "General"
        if kind in ("s", "str"):
            return (shown_text(raw, form) if "@" in form and form != "@" else raw).strip(), False
        if kind == "b":
            return _TEXTS.get(raw, raw), False
        shown = shown_number(raw, form, has_mac_dates=self._has_mac_dates) if kind == "n" else raw
        return shown.strip(), False


def rich_text(item: Element | None) -> str:
    """Return a text, whose runs have their own fonts, without the reading aids of Japanese."""
    if item is None:
        return ""
    return "".join(
        "".join(each.text or "" for each in child.iter(named("s:t")))
        for child in item
        if child.tag != named("s:rPh")
    )


def _shared_texts(package: Package, part: str | None) -> list[str]:
    texts: list[str] = []
    try:
        for _, item in package.stream(part, ("si",)) if part else ():
            texts.append(rich_text(item))
    except Damaged as error:
        package.losses.append(str(error))
    return texts


def _formats(styles: Element | None) -> list[str]:
    """Return the number formats of the styles to which cells refer by their place."""
    if styles is None:
        return []
    own = {
        whole(each.get("numFmtId")): each.get("formatCode", "")
        for each in styles.iterfind(named("s:numFmts/s:numFmt"))
    }
    numbers = (whole(e.get("numFmtId")) for e in styles.iterfind(named("s:cellXfs/s:xf")))
    return [own.get(number) or _BUILT_IN.get(number, "General") for number in numbers]
