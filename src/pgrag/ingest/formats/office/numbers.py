"""Numbers, dates and times as the cells of a workbook show them, by their number formats.

The codes of formats are those of ECMA-376, part 1, 18.8.30. Dates in the long form of the
reader's country (`[$-F800]`) are ISO dates.
"""

import calendar
import math
import re
from datetime import datetime, time, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache

_SECTION = re.compile(r'(?:"[^"]*"?|\\.|_.|\*.|\[[^\]]*\]|[^;])*', re.DOTALL)
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<space>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>General)|(?P<noon>AM/PM|A/P|上午/下午)|(?P<exponent>E[+-]0+)"
    r"|(?P<fraction>[#?0]+/[#?0-9]+)|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?|(?-i:e+))|(?P<digit>[0#?])"
    r"|(?P<point>\.)|(?P<comma>,)|(?P<percent>%)|(?P<text>@)|(?P<literal>.)",
    re.IGNORECASE | re.DOTALL,
)
_ELAPSED = re.compile(r"(?:h+|m+|s+)", re.IGNORECASE)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)(-?[\d.]+)")
_MEETS = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b, "=": lambda a, b: a == b, "<>": lambda a, b: a != b,
}  # fmt: skip
_LONG_DATE = "[$-F800]"
_MONTHS = tuple(calendar.month_name)[1:]
_DAYS = tuple(calendar.day_name)
_LAST_DAY = 2_958_465
"""31 December 9999."""
_MOST_DECIMALS, _MOST_SECTIONS = 30, 4
_LONGEST = 255
"""Longer formats are not allowed."""

_PRECISE = Context(prec=400, rounding=ROUND_HALF_UP)
"""The largest number of a workbook has 309 digits."""

Token = tuple[str, str]


def shown_number(raw: str, form: str, *, has_mac_dates: bool = False) -> str:
    """Return a stored number as a cell with a format shows it; what is no number stays as it is.
    `has_mac_dates` says that days are counted from 1904, not 1900.
    """
    try:
        number = float(raw)
    except ValueError:
        return raw
    if not math.isfinite(number):
        return raw
    if form.lower() in ("general", "", "@"):
        return general(number)
    sections = _sections(form[:_LONGEST])
    chosen, number = _choose(sections, number)
    if any(kind == "date" for kind, _ in chosen):
        return _date(chosen, form, number + (1462 if has_mac_dates else 0))
    return _number(chosen, number)


def general(number: float) -> str:
    """Return a number without a format."""
    if number == int(number) and abs(number) < 1e15:
        return str(int(number))
    return f"{number:.15g}"


def shown_text(text: str, form: str) -> str:
    """Return a text as a cell with a format shows it."""
    sections = _sections(form[:_LONGEST])
    last = sections[3] if len(sections) > 3 else sections[-1] if "@" in form else ()
    if not any(kind == "text" for kind, _ in last):
        return "" if len(sections) > 3 else text
    return "".join(text if kind == "text" else sign for kind, sign in last if kind != "condition")


@lru_cache(maxsize=1_000)
def _sections(form: str) -> tuple[tuple[Token, ...], ...]:
    """Return the tokens of each section of a format."""
    parts: list[str] = []
    at = 0
    while at <= len(form) and len(parts) < _MOST_SECTIONS:
        match = _SECTION.match(form, at)
        assert match is not None  # it matches the empty string, too
        parts.append(match[0])
        at = match.end() + 1
    return tuple(tuple(_tokens(part)) for part in parts)


def _tokens(section: str) -> list[Token]:
    tokens: list[Token] = []
    for match in _TOKEN.finditer(section):
        kind, text = match.lastgroup or "literal", match[match.lastgroup or 0]
        if kind in ("quoted", "escaped", "literal"):
            tokens.append(("literal", text))
        elif kind == "space":
            tokens.append(("literal", " "))
        elif kind == "bracket":
            tokens += _bracket(text)
        elif kind != "fill":
            tokens.append((kind, text))
    return _with_minutes(tokens)


def _bracket(text: str) -> list[Token]:
    if text.startswith("$"):
        sign = text[1:].partition("-")[0]
        return [("literal", sign)] if sign else []
    if _ELAPSED.fullmatch(text):
        return [("date", f"[{text.lower()}]")]
    return [("condition", text)] if _CONDITION.fullmatch(text) else []


def _with_minutes(tokens: list[Token]) -> list[Token]:
    """Write `m` that follows hours or precedes seconds as `i`, the others are months."""
    places = [at for at, (kind, _) in enumerate(tokens) if kind == "date"]
    for order, at in enumerate(places):
        text = tokens[at][1].lower()
        if set(text) == {"m"}:
            before = tokens[places[order - 1]][1].lower() if order else ""
            after = tokens[places[order + 1]][1].lower() if order + 1 < len(places) else ""
            if before.strip("[").startswith("h") or after.startswith("s"):
                text = "i" * len(text)
        tokens[at] = ("date", text)
    return tokens


def _choose(
    sections: tuple[tuple[Token, ...], ...], number: float
) -> tuple[tuple[Token, ...], float]:
    """Return the section for a number, and the number without the sign that the section shows."""
    for section in sections[:3]:
        for kind, text in section:
            if kind == "condition" and (match := _CONDITION.fullmatch(text)):
                if _MEETS[match[1]](number, float(match[2].strip(".") or 0)):
                    return section, number
                break
    if any(kind == "condition" for section in sections[:3] for kind, _ in section):
        plain = [s for s in sections[:3] if not any(kind == "condition" for kind, _ in s)]
        return (plain[-1], number) if plain else ((("general", ""),), number)
    if number < 0 and len(sections) > 1:
        return sections[1], -number
    if number == 0 and len(sections) > 2:
        return sections[2], number
    return sections[0], number


def _number(tokens: tuple[Token, ...], number: float) -> str:
    kinds = [kind for kind, _ in tokens]
    if "general" in kinds:
        return _filled(tokens, {"general": general(number)})
    if "text" in kinds:
        return _filled(tokens, {"text": general(number)})
    value = Decimal(repr(number)) * Decimal(100) ** min(kinds.count("percent"), 3)
    sign = "-" if value < 0 else ""
    value = abs(value)
    if "fraction" in kinds:
        return sign + _fraction(tokens, value)
    if "digit" not in kinds:
        return sign + _filled(tokens, {}) if kinds else ""
    first = kinds.index("digit")
    last = len(kinds) - 1 - kinds[::-1].index("digit")
    scale = 0
    while last + scale + 1 < len(kinds) and kinds[last + scale + 1] == "comma":
        scale += 1
    value /= Decimal(1_000) ** scale
    exponent = next((text for kind, text in tokens if kind == "exponent"), "")
    core = tokens[first : last + 1]
    written = _scientific(core, value, exponent) if exponent else _digits(core, value)
    if set(written) <= set("0.,"):
        sign = ""
    before = _filled(tokens[:first], {})
    after = _filled(tuple(t for t in tokens[last + 1 :] if t[0] != "exponent"), {})
    return f"{sign}{before}{written}{after}".strip()


def _digits(core: tuple[Token, ...], value: Decimal) -> str:
    """Write a number into places for digits, which other signs may separate (`000-00`)."""
    kinds = [kind for kind, _ in core]
    point = _point(core)
    decimals = [text for kind, text in core[point:] if kind == "digit"][:_MOST_DECIMALS]
    rounded = value.quantize(Decimal(1).scaleb(-len(decimals)), context=_PRECISE)
    whole_part, _, fraction = f"{rounded:f}".partition(".")
    while fraction and decimals[len(fraction) - 1] != "0" and fraction[-1] == "0":
        fraction = fraction[:-1]
    places = [text for kind, text in core[:point] if kind == "digit"]
    whole_part = whole_part.lstrip("0").rjust(places.count("0"), "0")
    if "comma" in kinds[:point]:
        whole_part = f"{int(whole_part or 0):0{len(whole_part)},}" if whole_part else ""
    elif "literal" in kinds[:point]:
        whole_part = _spread(core[:point], whole_part)
    tail = "".join(text for kind, text in core[point + 1 :] if kind == "literal")
    has_point = fraction or (point < len(core) and decimals[:1] == ["0"])
    return f"{whole_part}{f'.{fraction}' if has_point else ''}{tail}"


def _spread(core: tuple[Token, ...], digits: str) -> str:
    written = ""
    left = list(digits)
    first = next(at for at, (kind, _) in enumerate(core) if kind == "digit")
    for at in range(len(core) - 1, -1, -1):
        kind, text = core[at]
        if kind == "literal":
            written = text + written
        elif kind == "digit" and left:
            written = left.pop() + written
        if at == first:
            written = "".join(left) + written
    return written


def _scientific(core: tuple[Token, ...], value: Decimal, exponent: str) -> str:
    places = sum(kind == "digit" for kind, _ in core[_point(core) :][:_MOST_DECIMALS])
    mantissa, _, power = f"{value:.{places}E}".partition("E")
    sign = "-" if power.startswith("-") else "+" if exponent[1] == "+" else ""
    return f"{mantissa}E{sign}{power.lstrip('+-').rjust(len(exponent) - 2, '0')}"


def _point(core: tuple[Token, ...]) -> int:
    return next((at for at, (kind, _) in enumerate(core) if kind == "point"), len(core))


def _fraction(tokens: tuple[Token, ...], value: Decimal) -> str:
    form = next(text for kind, text in tokens if kind == "fraction").partition("/")[2]
    fraction = Fraction(value)
    if form.isdecimal() and int(form):
        above, rest = divmod(round(fraction * int(form)), int(form))
        written = f"{rest}/{form}" if rest else ""
    else:
        above, rest_of = divmod(fraction, 1)
        near = rest_of.limit_denominator(10 ** min(len(form), 5) - 1)
        above, near = (above + 1, Fraction(0)) if near == 1 else (above, near)
        written = f"{near.numerator}/{near.denominator}" if near else ""
    return " ".join(filter(None, (str(above) if above or not written else "", written)))


def _filled(tokens: tuple[Token, ...], texts: dict[str, str]) -> str:
    kept = ("literal", "percent", *texts)
    return "".join(texts.get(kind, text) for kind, text in tokens if kind in kept)


def _date(tokens: tuple[Token, ...], form: str, days: float) -> str:
    if not 0 <= days < _LAST_DAY:
        return general(days)
    # 1900 was no leap year, but day 60 is its 29 February
    first = datetime(1899, 12, 30) if days >= 60 else datetime(1899, 12, 31)
    seconds = days * 86_400
    has_parts = any(text.startswith("s") and "." in text for _, text in tokens)
    moment = first + timedelta(seconds=round(seconds, 3 if has_parts else 0))
    if form.startswith(_LONG_DATE):
        return f"{moment:%Y-%m-%d}"
    letters = {text.strip("[")[0] for kind, text in tokens if kind == "date"}
    has_noon = any(kind == "noon" for kind, _ in tokens)
    if "y" in letters and "d" in letters and letters & set("hs") and moment.time() == time():
        tokens = _without_time(tokens)
    return "".join(
        _date_token(kind, text, moment, seconds, has_noon) for kind, text in tokens
    ).strip()


def _without_time(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return a format of a date and a time, which is midnight, without the time after the date."""
    first = next(at for at, (kind, text) in enumerate(tokens) if kind == "date" and text[0] in "hs")
    last = max(at for at, (kind, text) in enumerate(tokens) if kind == "date" and text[0] in "ymd")
    return tokens[: last + 1] if last < first else tokens


def _date_token(kind: str, text: str, moment: datetime, seconds: float, has_noon: bool) -> str:
    if kind == "noon":
        return "AM" if moment.hour < 12 else "PM"
    if kind in ("literal", "point", "comma", "digit", "percent"):
        return text
    if kind != "date":
        return ""
    if text.startswith("["):
        unit = {"h": 3_600, "i": 60, "m": 60, "s": 1}[text[1]]
        return str(int(round(seconds) // unit)).rjust(len(text) - 2, "0")
    return _calendar(text, moment, has_noon)


def _calendar(text: str, moment: datetime, has_noon: bool) -> str:
    hour = (moment.hour - 1) % 12 + 1 if has_noon else moment.hour
    if text.startswith("s"):
        places = len(text.partition(".")[2])
        rest = f".{moment.microsecond:06}"[: places + 1] if places else ""
        return f"{moment.second:0{len(text.partition('.')[0])}}{rest}"
    if text.startswith(("y", "e")):
        return f"{moment:%y}" if len(text) == 2 else f"{moment.year:04}"
    if text.startswith("m"):
        name = _MONTHS[moment.month - 1]
        written = (str(moment.month), f"{moment.month:02}", name[:3], name, name[0])
        return written[min(len(text), 5) - 1]
    if text.startswith("d"):
        name = _DAYS[moment.weekday()]
        return (str(moment.day), f"{moment.day:02}", name[:3], name)[min(len(text), 4) - 1]
    number = hour if text.startswith("h") else moment.minute
    return f"{number:0{min(len(text), 2)}}"
