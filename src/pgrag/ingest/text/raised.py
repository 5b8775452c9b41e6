"""Raised and lowered text as characters, so that 2 to the 31st is not read as 231."""

import re

_RAISED = str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
#: Raised by habit of writing: the word means the same without.
_ENDINGS = re.compile(
    r"st|nd|rd|th|er|[èe]me|ère|tm|sm|[™®©℠†‡*]|\([rc]\)|\[.*", re.IGNORECASE | re.DOTALL
)


def raised(text: str) -> str:
    """Return a superscript: 2³¹, else xᵏ as x^k and e^(x/2); endings as of 1st and TM stay."""
    return text if _ENDINGS.fullmatch(text.strip()) else _moved(text, _RAISED, "^")


def lowered(text: str) -> str:
    """Return a subscript: H₂O, else x_k and v_(max)."""
    return _moved(text, _LOWERED, "_")


def _moved(text: str, characters: dict[int, int], mark: str) -> str:
    inner = text.strip()
    if not inner:
        return text
    if all(ord(character) in characters for character in inner):
        return text.replace(inner, inner.translate(characters))
    return text.replace(inner, f"{mark}{inner}" if len(inner) == 1 else f"{mark}({inner})")
