"""Inline marks of AsciiDoc as HTML: emphasis, code, links, macros, attributes."""

import re
from html import escape, unescape
from urllib.parse import quote

_ATTRIBUTE = re.compile(r"(?<!\\)\{([\w-]{1,60})\}")
_BUILT_IN = {
    "nbsp": "\u00a0", "zwsp": "", "wj": "", "apos": "'", "quot": '"', "lsquo": "‘", "rsquo": "’",
    "ldquo": "“", "rdquo": "”", "deg": "°", "plus": "+", "brvbar": "¦", "vbar": "|", "amp": "&",
    "lt": "<", "gt": ">", "startsb": "[", "endsb": "]", "caret": "^", "asterisk": "*", "tilde": "~",
    "backslash": "\\", "backtick": "`", "two-colons": "::", "two-semicolons": ";;", "cpp": "C++",
    "empty": "", "sp": " ", "blank": "", "pp": "++",
}  # fmt: skip
#: Each mark is sought up to its end: of a longer paragraph the marks stay as they are.
_LONGEST = 10_000
_EDGE = r"(?<![\w\\])"
#: What is kept as it is before other marks are read: passed text, then code. Bounded, so that the
#: time follows the size.
_PASSED = re.compile(
    r"\+\+\+(?P<a>.{1,900}?)\+\+\+|pass:[a-z,]{0,9}\[(?P<b>.{0,900}?)(?<!\\)\]"
    r"|\+\+(?P<c>.{1,900}?)\+\+|(?<![\w+`])\+(?P<d>\S|\S[^+\n]{0,900}?\S)\+(?![\w+])"
    r"|(?:stem|latexmath|asciimath):\[(?P<math>.{0,900}?)(?<!\\)\]",
    re.DOTALL,
)
_CODE = re.compile(r"``(.{1,900}?)``|(?<![\w`\\])`(\S|\S[^`]{0,900}?\S)`(?![\w`])", re.DOTALL)
_WORDS = r"(?:\\\]|[^\]]){0,900}"
_LINK = re.compile(
    rf"(?<!\\)(?:link:(?P<to>[^\s\[]{{0,900}})\[(?P<tw>{_WORDS})\]"
    rf"|xref:(?P<x>[^\s\[]{{0,900}})\[(?P<xw>{_WORDS})\]"
    r"|&lt;&lt;(?P<r>[^,&]{1,200}?)(?:,\s*(?P<rw>.{1,900}?))?&gt;&gt;"
    r"|(?P<u>(?:https?|ftp|irc|mailto):[^\s\[\]<>\0]{0,900}[^\s\[\]<>\0.,;:!?)'\"&])"
    rf"(?:\[(?P<uw>{_WORDS})\])?)",
    re.DOTALL,
)
_MACRO = re.compile(
    r"(?<!\\)\b(?:(?P<k>kbd|btn):\[(?P<kw>[^\]]{0,200})\]"
    r"|menu:(?P<m>[^\[\n]{1,200})\[(?P<mw>[^\]]{0,200})\]"
    r"|footnote(?:ref)?:[\w-]{0,60}\[(?P<f>[^\]]{0,900})\]"
    r"|image:(?P<i>[^:\s\[][^\s\[]{0,900})\[(?P<iw>[^\]]{0,900})\]"
    r"|(?:icon:[\w-]{1,60}|indexterm2?:)\[[^\]]{0,900}\]|anchor:(?P<an>[\w.-]{1,200})\[[^\]]{0,200}\])"
    r"|\[\[(?P<id>[\w.:-]{1,200})(?:,[^\]]{0,900})?\]\]|\(\(\([^()]{0,200}\)\)\)"
    r"|\(\((?P<term>[^()]{1,200})\)\)"
)
_ROLE = r"(?:\[[^\]\n]{0,60}\])?"
_MARKS = (
    (re.compile(_EDGE + _ROLE + r"\*\*(.{1,900}?)\*\*", re.DOTALL), "strong"),
    (re.compile(_EDGE + _ROLE + r"\*(\S|\S[^*]{0,900}?\S)\*(?!\w)", re.DOTALL), "strong"),
    (re.compile(r"(?<!\\)__(.{1,900}?)__", re.DOTALL), "em"),
    (re.compile(_EDGE + _ROLE + r"_(\S|\S[^_]{0,900}?\S)_(?!\w)", re.DOTALL), "em"),
    (re.compile(r"(?<!\\)" + _ROLE + r"##(.{1,900}?)##", re.DOTALL), ""),
    (re.compile(_EDGE + _ROLE + r"#(\S|\S[^#]{0,900}?\S)#(?!\w)", re.DOTALL), ""),
    (re.compile(r"(?<!\\)\^(\S[^\s^]{0,200})\^"), "sup"),
    (re.compile(r"(?<!\\)~(\S[^\s~]{0,200})~"), "sub"),
)
UNTITLED = "\1"
"""Around an id in the place of a title that is only known at the end of the document."""

_KEPT = re.compile("\0(\\d+)\0")
#: Characters of the value of an attribute, as AsciiDoctor limits it, and those that the values in a
#: text may have for each of its own.
LONGEST_VALUE, _GROWTH = 4096, 10


def with_attributes(text: str, attributes: dict[str, str]) -> str:
    """Put the values of attributes in the place of their names; unknown names stay, and those whose
    values would make far more of the text.
    """
    room = LONGEST_VALUE + _GROWTH * len(text)

    def value(match: re.Match[str]) -> str:
        nonlocal room
        name = match[1].lower()
        found = attributes.get(name, _BUILT_IN.get(name, match[0]))
        room -= len(found)
        return found if room >= 0 else match[0]

    return _ATTRIBUTE.sub(value, text)


def inline(text: str, attributes: dict[str, str]) -> str:
    """Return a text with its inline marks as HTML."""
    if len(text) > _LONGEST:
        return escape(text.replace("\0", ""), quote=False)
    kept: list[str] = []

    def keep(html: str) -> str:
        kept.append(html)
        return f"\0{len(kept) - 1}\0"

    def passed(match: re.Match[str]) -> str:
        if match["math"] is not None:
            return keep(rf'<span class="math">\({escape(match["math"])}\)</span>')
        plain = next(filter(None, match.groups()), "")
        return (
            keep(escape(plain, quote=False)) if match["a"] is None else re.sub("<[^>]*>", "", plain)
        )

    def code(match: re.Match[str]) -> str:
        inner = (match[1] or match[2]).strip("+")
        return keep(f"<code>{escape(_restored(inner, kept, escaped=False), quote=False)}</code>")

    text = with_attributes(_PASSED.sub(passed, text.replace("\0", "")), attributes)
    text = escape(_CODE.sub(code, text), quote=False)
    text = _MACRO.sub(lambda match: _macro(match, keep), text)
    text = _LINK.sub(lambda match: _link(match, keep), text)
    for pattern, tag in _MARKS:
        text = pattern.sub(rf"<{tag}>\1</{tag}>" if tag else r"\1", text)
    text = re.sub(r" \+$", "<br/>", text, flags=re.MULTILINE)
    text = re.sub(r"\\(?=[*_`#^~{\[<&+:(-]|https?:|link:|xref:)", "", text)
    text = re.sub(r"(?<=\w)--(?=\w)| -- ", lambda match: "—" if len(match[0]) == 2 else " — ", text)
    return _restored(text, kept)


def _restored(text: str, kept: list[str], *, escaped: bool = True) -> str:
    while _KEPT.search(text):
        text = _KEPT.sub(lambda match: kept[int(match[1])], text)
    return text if escaped else unescape(re.sub("<[^>]*>", "", text))


def _link(match: re.Match[str], keep: object) -> str:
    assert callable(keep)
    if match["u"] is not None:
        href, words = match["u"], match["uw"]
    elif match["to"] is not None:
        href, words = match["to"], match["tw"]
    else:
        href, words = _target(match["x"] or match["r"]), match["xw"] or match["rw"]
    words = (words or "").replace("\\]", "]").removesuffix("^")
    if "=" in words:
        words = re.split(r",\s*[\w-]{1,60}=", words)[0]
    if not words.strip() and href.startswith("#"):
        words = f"{UNTITLED}{href[1:]}{UNTITLED}"
    shown = words.strip().strip('"') or re.sub(r"^mailto:|^.*#(?=.)", "", href)
    return f"{keep(f'<a href={chr(34)}{quote_href(href)}{chr(34)}>')}{shown}{keep('</a>')}"


def quote_href(href: str) -> str:
    """Return an address as the value of an attribute."""
    return quote(href, safe="/:?#[]@!$&'()*+,;=%~")


def _target(reference: str) -> str:
    """Return the address of a cross reference: to an id of the page, or to a file."""
    reference = reference.strip()
    is_file = "#" in reference.lstrip("#") or reference.endswith((".adoc", ".asciidoc"))
    return reference if is_file or reference.startswith("#") else f"#{reference}"


def _macro(match: re.Match[str], keep: object) -> str:
    assert callable(keep)
    if match["k"]:
        shown = match["kw"].strip()
        return str(keep(f"<kbd>{shown}</kbd>")) if match["k"] == "kbd" else shown
    if match["m"]:
        return " → ".join([match["m"], *filter(None, map(str.strip, match["mw"].split("&gt;")))])
    if match["f"] is not None:
        return f" ({match['f']})" if match["f"] else ""
    if match["i"]:
        alt = match["iw"].split(",")[0].strip('" ') or match["i"]
        return str(keep(f'<img src="{quote_href(match["i"])}" alt="{escape(alt)}"/>'))
    if name := match["an"] or match["id"]:
        return str(keep(f'<a id="{name}"></a>'))
    return match["term"] or ""
