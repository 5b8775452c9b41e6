"""What would take the parser of HTML a time that grows with the square of a page is left out."""

import re
from collections import Counter, defaultdict

from pgrag.ground.errors import SourceError

#: The parser takes quadratic time for elements in elements.
_DEEPEST = 5000
_NESTING = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
#: Elements that nest in none of their kind: they have no content or only text, or end where the
#: next begins.
_FLAT = frozenset((
    "area", "base", "body", "br", "col", "dd", "dt", "embed", "head", "hr", "html", "img", "input",
    "li", "link", "meta", "option", "p", "param", "source", "tbody", "td", "th", "thead", "tr",
    "track", "wbr", "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike",
    "strong", "tt", "u", "iframe", "noembed", "noframes", "plaintext", "script", "style",
    "textarea", "title", "xmp",
))  # fmt: skip
#: Elements that the parser opens again in each paragraph until they end.
_NAMES = "b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
_FORMATTING = re.compile(rf"<(/?)({_NAMES})\b([^<>]*)>", re.IGNORECASE)
#: Those that have attributes; the others of a name are equal.
_VARIED = re.compile(rf"<(?:{_NAMES})\b[^<>]+>", re.IGNORECASE)
#: Open elements that are never too many.
_FEW = 20
#: Equal ones of which the parser opens no more again.
_EQUAL = 3
#: Elements that it may open again for each byte of a page, and in a small one.
_REOPENED, _REOPENED_AT_LEAST = 1, 50_000
#: Attributes of one element, which are compared with each other.
_ATTRIBUTES = 1000
_TAG = re.compile(r"""<([a-zA-Z][^\s/>]*+)((?:[^>"']++|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+)""")
_ATTRIBUTE = re.compile(r"""[^\s"'=/]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"']+))?|["'=/]""")


def within_limits(key: str, text: str) -> tuple[str, list[str]]:
    """Return a page without what its parser cannot bear, and warnings. Raises SourceError if the
    elements nest without end.
    """
    if text.count("<") > _DEEPEST and _depth(text) > _DEEPEST:
        raise SourceError(
            f"{key}: nests more than {_DEEPEST:,} elements in each other.",
            hint="Close its elements, or convert it to Markdown.",
        )
    warnings: list[str] = []
    has_long_tags = max(map(len, text.split("<"))) > 2 * _ATTRIBUTES
    tags = _TAG.finditer(text) if has_long_tags else ()
    if crowded := [match for match in tags if _is_crowded(match[2])]:
        warnings.append(
            f"{key}: has an element <{crowded[0][1][:40]}> with more than {_ATTRIBUTES:,}"
            " attributes; they are left out"
        )
        for match in reversed(crowded):
            text = f"{text[: match.start(2)]}{text[match.end(2) :]}"
    if surplus := _unclosed(text):
        names = ", ".join(f"<{name}>" for name in sorted(surplus))
        text = re.sub(rf"(?i)</?(?:{'|'.join(surplus)})\b[^<>]*>", "", text)
        warnings.append(f"{key}: has too many {names} that do not end; it is read without them")
    return text, warnings


def _depth(text: str) -> int:
    """Return how many elements are in each other at most."""
    depth = most = 0
    for closes, name in _NESTING.findall(text):
        if name.lower() not in _FLAT:
            depth = max(depth - 1, 0) if closes else depth + 1
            most = max(most, depth)
    return most


def _is_crowded(attributes: str) -> bool:
    return len(attributes) > 2 * _ATTRIBUTES and len(_ATTRIBUTE.findall(attributes)) > _ATTRIBUTES


def _unclosed(text: str) -> set[str]:
    """Return the names of formatting elements that never end, if they are too many."""
    largest = max(_REOPENED * len(text), _REOPENED_AT_LEAST)
    tags = text.count("<")
    # no more can be open than there are tags, nor than the different ones allow
    if tags * tags <= largest or _EQUAL * (1 + len(set(_VARIED.findall(text)))) <= _FEW:
        return set()
    opened: defaultdict[str, list[str]] = defaultdict(list)
    equal: Counter[str] = Counter()
    most: dict[str, int] = {}
    for closes, written, attributes in _FORMATTING.findall(text):
        name = written.lower()
        stack = opened[name]
        if closes:
            if stack:
                equal[stack.pop()] -= 1
        elif equal[tag := name + attributes] < _EQUAL:
            equal[tag] += 1
            stack.append(tag)
            most[name] = max(most.get(name, 0), len(stack))
    return {name for name, number in most.items() if number * tags > largest and number > _FEW}
