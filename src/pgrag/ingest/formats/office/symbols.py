"""Letters of the fonts Symbol and Wingdings as characters of Unicode."""

_GREEK = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
_SYMBOL = {
    **{ord("a") + at: sign for at, sign in enumerate(_GREEK)},
    **{ord("A") + at: sign for at, sign in enumerate("ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ")},
    **dict(enumerate("ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐─↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇", 0xA1)),
    **dict(enumerate("®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈", 0xD2)),
    0x22: "∀", 0x24: "∃", 0x27: "∋", 0x2A: "∗", 0x2D: "−", 0x40: "≅", 0x5C: "∴", 0x5E: "⊥",
    0x7E: "∼", 0xE5: "∑", 0xF1: "〉", 0xF2: "∫",
}  # fmt: skip
_WINGDINGS = {
    0x4A: "☺", 0x6C: "●", 0x6E: "■", 0x6F: "□", 0x71: "❑", 0x76: "❖", 0x9F: "•", 0xA7: "▪",
    0xA8: "☐", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE7: "←", 0xE8: "→",
    0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
_WINGDINGS_2 = {0x50: "✓", 0x4F: "✗", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0xA3: "☐"}
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}


def character(font: str | None, code: int) -> str:
    """Return the character that a font shows for a code; "" for an ornament without meaning."""
    signs = _FONTS.get((font or "").lower())
    inner = code - 0xF000 if 0xF000 <= code <= 0xF0FF else code
    if signs is None:
        return chr(inner) if 0x20 <= inner < 0xD800 else ""
    return signs.get(inner) or (chr(inner) if inner < 0x80 and signs is _SYMBOL else "")


def readable(font: str | None, text: str) -> str:
    """Return a text in which the private codes of such a font are characters."""
    if not any("\uf000" <= sign <= "\uf0ff" for sign in text):
        return text
    return "".join(
        character(font, ord(sign)) if "\uf000" <= sign <= "\uf0ff" else sign for sign in text
    )
