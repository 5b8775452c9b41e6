"""Equations of Office (OMML) as TeX, in which letters stay as they are: α has no name."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from xml.etree.ElementTree import Element

from pgrag.ingest.formats.office.package import inside, named

_MATH = named("m:oMath").rpartition("}")[0] + "}"
_VALUE = named("m:val")
_SIGNS = str.maketrans({
    "{": r"\{", "}": r"\}", "%": r"\%", "$": r"\$", "#": r"\#", "&": r"\&", "\\": r"\backslash ",
    "\u2061": None, "\u2062": None, "\u200b": None, "−": "-", "–": "-", "\xa0": " ", "_": r"\_",
})  # fmt: skip
_OPERATORS = {
    "∑": r"\sum", "∏": r"\prod", "∐": r"\coprod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint",
    "∮": r"\oint", "⋃": r"\bigcup", "⋂": r"\bigcap", "⋁": r"\bigvee", "⋀": r"\bigwedge",
}  # fmt: skip
_ACCENTS = {
    "\u0300": "grave", "\u0301": "acute", "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar",
    "\u0305": "overline", "\u0306": "breve", "\u0307": "dot", "\u0308": "ddot", "\u030c": "check",
    "\u20d7": "vec", "\u20db": "dddot", "⃖": "overleftarrow", "⏞": "overbrace",
    "⏟": "underbrace", "→": "overrightarrow", "¯": "overline", "_": "underline",
}  # fmt: skip
_FUNCTIONS = frozenset((
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "det", "dim", "exp",
    "gcd", "inf", "ker", "lg", "lim", "ln", "log", "max", "min", "sec", "sin", "sinh", "sup", "tan",
    "tanh",
))  # fmt: skip


def tex(equation: Element) -> str:
    """Return the TeX of an element `m:oMath`, without the dollars around it; "" if it is empty."""
    return " ".join(_content(equation).split())


def _content(element: Element | None) -> str:
    return "" if element is None else "".join(map(_element, element))


def _element(element: Element) -> str:
    name = element.tag.removeprefix(_MATH)
    if name == element.tag:  # a run of text, or what tracks changes
        text = named("w:t")
        if element.tag in (named("w:del"), named("w:moveFrom")):
            return ""
        return _escaped(element.text or "") if element.tag == text else _content(element)
    if name.endswith("Pr"):
        return ""
    reader = _READERS.get(name)
    return reader(element) if reader else _content(element)


def _escaped(text: str) -> str:
    """Return text in TeX; italic and bold letters of mathematics are read as the plain ones."""
    return "".join(
        unicodedata.normalize("NFKC", sign) if "\U0001d400" <= sign <= "\U0001d7ff" else sign
        for sign in text
    ).translate(_SIGNS)


def _run(element: Element) -> str:
    text = "".join(each.text or "" for each in element.iter(named("m:t")))
    text += "".join(each.text or "" for each in element.iter(named("w:t")))
    is_words = inside(element, "m:rPr/m:nor") is not None
    escaped = _escaped(text)
    if is_words and len(text.strip()) > 1:
        return f"\\text{{{escaped}}}"
    return rf"\{text.strip()} " if text.strip() in _FUNCTIONS else escaped


def _part(element: Element, name: str) -> str:
    return _content(inside(element, f"m:{name}")).strip()


def _property(element: Element, path: str, default: str) -> str:
    """Return a property; one that is present without a value is empty."""
    target = inside(element, path)
    return default if target is None else target.get(_VALUE, "")


def _script(sign: str, text: str) -> str:
    return f"{sign}{{{text}}}" if text else ""


def _scripts(element: Element) -> str:
    below, above = _part(element, "sub"), _part(element, "sup")
    return _script("_", below) + _script("^", above)


def _based(element: Element) -> str:
    base = _part(element, "e")
    is_one = len(base) == 1 or re.fullmatch(r"\\?[^\W_]+", base)
    return (base if is_one else f"{{{base}}}") + _scripts(element)


def _fraction(element: Element) -> str:
    over, under = _part(element, "num"), _part(element, "den")
    kind = _property(element, "m:fPr/m:type", "bar")
    if kind == "lin":
        return f"{over}/{under}"
    return rf"\binom{{{over}}}{{{under}}}" if kind == "noBar" else rf"\frac{{{over}}}{{{under}}}"


def _root(element: Element) -> str:
    degree = _part(element, "deg")
    return rf"\sqrt{f'[{degree}]' if degree else ''}{{{_part(element, 'e')}}}"


def _operator(element: Element) -> str:
    sign = _property(element, "m:naryPr/m:chr", "∫")
    return f"{_OPERATORS.get(sign, sign)}{_scripts(element)} {_part(element, 'e')}"


def _delimited(element: Element) -> str:
    begin = _property(element, "m:dPr/m:begChr", "(")
    end = _property(element, "m:dPr/m:endChr", ")")
    between = _property(element, "m:dPr/m:sepChr", "|")
    inner = between.join(_content(each) for each in element.findall(named("m:e")))
    left, right = (sign.translate(_SIGNS) or "." for sign in (begin, end))
    if (begin, end) in (("(", ")"), ("[", "]"), ("|", "|")) and "\\" not in inner:
        return f"{begin}{inner}{end}"
    return rf"\left{left} {inner} \right{right}"


def _accented(element: Element) -> str:
    sign = _property(element, "m:accPr/m:chr", "\u0302")
    return _decorated(_ACCENTS.get(sign, "hat"), element)


def _grouped(element: Element) -> str:
    return _decorated(
        _ACCENTS.get(_property(element, "m:groupChrPr/m:chr", "⏟"), "overline"), element
    )


def _barred(element: Element) -> str:
    is_above = _property(element, "m:barPr/m:pos", "bot") == "top"
    return _decorated("overline" if is_above else "underline", element)


def _decorated(command: str, element: Element) -> str:
    return rf"\{command}{{{_part(element, 'e')}}}"


def _matrix(element: Element) -> str:
    rows = (map(_content, row.findall(named("m:e"))) for row in element.findall(named("m:mr")))
    return _lines("matrix", (" & ".join(row) for row in rows))


def _array(element: Element) -> str:
    lines = [_content(each) for each in element.findall(named("m:e"))]
    return lines[0] if len(lines) == 1 else _lines("aligned", lines)


def _lines(environment: str, lines: Iterable[str]) -> str:
    inner = r" \\ ".join(lines)
    return rf"\begin{{{environment}}} {inner} \end{{{environment}}}"


def _function(element: Element) -> str:
    return f"{_part(element, 'fName')} {_part(element, 'e')}"


def _limit(element: Element) -> str:
    base, limit = _part(element, "e"), _part(element, "lim")
    if element.tag == named("m:limLow"):
        is_known = base.startswith("\\")
        return f"{base}_{{{limit}}}" if is_known else rf"\underset{{{limit}}}{{{base}}}"
    return rf"\overset{{{limit}}}{{{base}}}"


def _before(element: Element) -> str:
    return f"{{}}{_scripts(element)}{_part(element, 'e')}"


_READERS: dict[str, Callable[[Element], str]] = {
    "r": _run, "f": _fraction, "rad": _root, "nary": _operator, "d": _delimited, "acc": _accented,
    "groupChr": _grouped, "bar": _barred, "m": _matrix, "eqArr": _array, "func": _function,
    "limLow": _limit, "limUpp": _limit, "sPre": _before,
    **dict.fromkeys(("sSub", "sSup", "sSubSup"), _based),
}  # fmt: skip
