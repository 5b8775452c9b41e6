"""Quotations of pages in what a language model reads: no text can forge their tags.

The rule is that of `_pgrag.quotable` in SQL, which quotes most passages; a test compares the two.
"""

import re

_GAP = (
    r"[\u0001-\u0020\u0085\u00A0\u00AD\u0300-\u036F\u061C\u115F\u1160\u180B-\u180F\u2000-\u200F"
    r"\u2028-\u202F\u205F-\u206F\u3000\u3164\uFE00-\uFE0F\uFEFF\uFFA0"
    r"\U0001D173-\U0001D17A\U000E0000-\U000E0FFF]"
)
#: Letters with accents, Cherokee, small capitals, phonetic, raised, lowered, circled, mathematical
#: and squared letters.
_STYLED = (
    r"\u00C0-\u024F\u13A0-\u13F5\u1E00-\u1EFF\uAB70-\uABBF"
    r"\uFF21-\uFF5A\u0250-\u02B8\u1D00-\u1DBF\u2070-\u209C\u2100-\u214F\u24B6-\u24E9"
    r"\uA730-\uA731\U0001D400-\U0001D7FF\U0001F130-\U0001F189"
)
_LETTERS = {
    "a": r"aA\u0430\u0410\u03B1\u0391", "c": r"cC\u0441\u0421\u03F2\u03F9",
    "e": r"eE\u0435\u0415\u03B5\u0395", "g": r"gG\u0581\u050C", "o": r"oO0\u043E\u041E\u03BF\u039F",
    "p": r"pP\u0440\u0420\u03C1\u03A1", "r": r"rR\u0433\u0413", "s": r"sS5$\u017F\u0455\u0405",
    "u": r"uU\u057D\u03C5",
}  # fmt: skip
_SLASHES = r"/\\\uFF0F\uFF3C\u2044\u2215\u29F8\u2571"
#: What follows the bracket of a tag.
_MARK = (
    f"((?:{_GAP}|[{_SLASHES}]|&(?:#0*47|#[xX]0*2[fF]|sol);|%2[fF])*(?:"
    + "|".join(
        (_GAP + "{0,3}").join(f"[{_LETTERS[letter]}{_STYLED}]" for letter in name)
        for name in ("source", "passage")
    )
    + ")(?![A-Za-z0-9]))"
)
_CODED = re.compile(r"(?:&(?:lt|LT|#0*60|#[xX]0*3[cC]);?|%3[cC]|\\(?:u00|x|u\{)3[cC]\}?)" + _MARK)
_WRITTEN = re.compile(
    r"(?:[<\uFF1C\uFE64](?![\t ]+[A-Za-z]+[\t ]*(?:[^\t >=A-Za-z]|$))|"
    r"[\u2039\u00AB\u3008\u2329\u27E8\u276E\u2770\u02C2\u227A\u29FC\u1438]"
    r"(?=[\u0001-\u0020]*[/\uFF0F\u2044\u2215\u29F8\u2571]))" + _MARK
)


def quotable(text: str) -> str:
    """Return a text without anything that a model may read as a tag of a quotation."""
    return _WRITTEN.sub(r"&lt;\1", _CODED.sub(r"&amp;lt;\1", text))
