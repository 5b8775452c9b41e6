"""Sanitised HTML gets its links, its marked words, and the class of the parts of a passage."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape, unescape
from unicodedata import normalize

from pgrag.rendering.links import Links

Lines = tuple[int, int]
"""The first and the last line."""

#: What `clean` writes: every value is in double quotes.
_TAG = re.compile(r'<(?P<closes>/?)(?P<name>[a-z][a-z0-9]*)(?P<attributes>(?: [a-z-]+="[^"]*")*)>')
_ATTRIBUTE = re.compile(r' (?P<name>[a-z-]+)="(?P<value>[^"]*)"')
_LINES = re.compile(r' data-lines="(\d+)-(\d+)"')
_ADDRESS = re.compile(r"https?://(?:(?!&(?:lt|gt|quot|nbsp);)[^\s<>\"'`])*(?<![.,:;!?)\]])")
_ENTITY = r"&#?\w+;"
#: Letters of scripts that write no blanks between words.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
PART = ' class="passage"\0'
"""The class of a part of the passage, and a sign, which no sanitised HTML has, after it."""


def word_pattern(words: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern that finds words in the text of HTML, whole and in any case; None without words.
    It also matches entities, whose names are no words: what is one begins with "&".
    """
    forms = {form for word in words for form in (word, normalize("NFD", word)) if word.strip()}
    if not forms:
        return None
    written = "|".join(map(_bounded, sorted(forms, key=len, reverse=True)))
    return re.compile(f"(?:{written})|{_ENTITY}", re.IGNORECASE)


def _bounded(word: str) -> str:
    inside = rf"[^\W_{_UNSPACED}]"
    before = f"(?<!{inside})" if re.match(inside, word) else ""
    after = f"(?!{inside})" if re.match(inside, word[-1]) else ""
    return before + re.escape(escape(word, quote=False)) + after


class Marking:
    """Marks blocks of a page; `words` is a `word_pattern`."""

    def __init__(self, links: Links, words: re.Pattern[str] | None) -> None:
        self._links = links
        self._words = words

    def marked(self, html: str, parts: Sequence[Lines] = (), code: Lines | None = None) -> str:
        """Return a block with links and marked words. `parts` are the lines of the items and rows
        that a passage has, `code` those of its lines of code, from 1 within the block of code.
        """
        written: list[str] = []
        opened: Counter[str] = Counter()
        for tag, text in _split(html):
            if text:
                written.append(self._text(text, opened, code))
                continue
            name = tag["name"]
            if tag["closes"]:
                opened[name] -= 1
                written.append(tag[0])
            elif name == "img":
                written.append(self._image(tag, is_linked=opened["a"] > 0))
            else:
                opened[name] += 1
                written.append(self._opened(tag, parts))
        return "".join(written)

    def _opened(self, tag: re.Match[str], parts: Sequence[Lines]) -> str:
        name, attributes = tag["name"], tag["attributes"]
        if name == "a":
            values = _values(attributes)
            title = f' title="{values["title"]}"' if values.get("title") else ""
            return f"<a{self._links.attributes(values.get('href', ''))}{title}>"
        if name == "details":
            return f"<details{attributes} open>"
        if name in {"li", "tr"} and (found := _LINES.search(attributes)):
            is_part = (int(found[1]), int(found[2])) in parts
            return f"<{name}{attributes}{PART if is_part else ''}>"
        return tag[0]

    def _image(self, tag: re.Match[str], *, is_linked: bool) -> str:
        """An image is a link to it: to show a page asks no other host."""
        values = _values(tag["attributes"])
        source = values.get("src", "")
        alternative = unescape(values.get("alt", "")).strip()
        # What an attribute may have, such as "<", text may not.
        words = self._worded(
            escape(alternative or unescape(source).rpartition("/")[2], quote=False)
        )
        target = "" if is_linked else self._links.attributes(source) if source else ""
        return f"<a{target}>{words}</a>" if target else words

    def _text(self, text: str, opened: Counter[str], code: Lines | None) -> str:
        if code and opened["code"]:
            lines = text.split("\n")
            first, last = code[0] - 1, code[1]
            parts = ("\n".join(each) for each in (lines[:first], lines[first:last], lines[last:]))
            before, within, after = (self._worded(part) for part in parts)
            return "\n".join(
                part
                for part, is_there in (
                    (before, first > 0),
                    (f"<span{PART}>{within}</span>", True),
                    (after, last < len(lines)),
                )
                if is_there
            )
        if opened["a"] or opened["code"] or opened["pre"] or "://" not in text:
            return self._worded(text)
        return self._with_addresses(text)

    def _with_addresses(self, text: str) -> str:
        written: list[str] = []
        copied = 0
        for address in _ADDRESS.finditer(text):
            target = self._links.attributes(address[0])
            linked = f"<a{target}>{self._worded(address[0])}</a>"
            written += (self._worded(text[copied : address.start()]), linked)
            copied = address.end()
        return "".join((*written, self._worded(text[copied:])))

    def _worded(self, text: str) -> str:
        if self._words is None:
            return text
        return self._words.sub(lambda m: m[0] if m[0][0] == "&" else f"<mark>{m[0]}</mark>", text)


def parts_within(html: str, passage: Lines) -> list[Lines]:
    """The lines of the items and rows of a block that a passage has: those wholly in it, else the
    smallest that it touches; none if the block has none.
    """
    found = [
        (int(match[1]), int(match[2]))
        for tag, text in _split(html)
        if not text and tag["name"] in {"li", "tr"}
        for match in _LINES.finditer(tag["attributes"])
    ]
    first, last = passage
    whole: list[Lines] = []
    for part in found:
        is_below = whole and whole[-1][0] <= part[0] and part[1] <= whole[-1][1]
        if first <= part[0] and part[1] <= last and not is_below:
            whole.append(part)
    touched = [part for part in found if part[0] <= last and part[1] >= first]
    return whole or sorted(touched, key=lambda part: part[1] - part[0])[:1]


def _split(html: str) -> Iterator[tuple[re.Match[str], str]]:
    """The tags of HTML, and the texts between them, each with a tag beside it."""
    copied = 0
    tag = None
    for tag in _TAG.finditer(html):
        if copied < tag.start():
            yield tag, html[copied : tag.start()]
        yield tag, ""
        copied = tag.end()
    if tag and copied < len(html):
        yield tag, html[copied:]


def _values(attributes: str) -> dict[str, str]:
    return {match["name"]: match["value"] for match in _ATTRIBUTE.finditer(attributes)}
