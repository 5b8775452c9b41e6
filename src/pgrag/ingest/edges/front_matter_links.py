"""Links and tags in the front matter of a page."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from pgrag.ingest.edges.links import MAX_TARGET, find_links, split_target
from pgrag.ingest.edges.relations import kind_name
from pgrag.ingest.text.inline import plain
from pgrag.ingest.values import Edge, Prose, ProseBlock

LINK_KEYS = (
    "related", "up", "down", "next", "prev", "previous", "parent", "children", "see_also",
    "sources",
)  # fmt: skip
"""Fields with links to pages in every library; names ignore case, "-" and spaces."""

_MAX_WORDS = 300
_TAG_KEYS = ("tags", "tag")
_IS_PATH = re.compile(r"[^#]*[/.][^#]*#")
_FIELD = re.compile(r"[\w\"'].*?[:=]")
_SIGN = re.compile(r"[:=]")
#: How far to search for the next value of a list: lines, and characters of a line.
_LOOK_AHEAD = 50
_REACH = 2000


def find_front_matter_edges(
    fields: Mapping[str, Any], head: str, tags: Sequence[str] = (), link_keys: Sequence[str] = ()
) -> list[Edge]:
    """Return the links and tags of a page's front matter in source order. The fields of `LINK_KEYS`
    and `link_keys` hold links, also as bare names, of a kind called like the field; in all others
    only `[[note]]` and links of Markdown are such, and references.
    """
    kinds = {kind_name(key) for key in (*LINK_KEYS, *link_keys)}
    lines = _Lines(head)
    edges: list[Edge] = []
    tag_field = next((field for field in fields if field.lower() in _TAG_KEYS), None)
    if tags and tag_field is not None:
        lines_of_field = _FieldLines(lines, tag_field)
        edges += (
            Edge("tag", "tagged", 1.0, tag, lines_of_field.of(tag), 0, text=tag) for tag in tags
        )
    for field, value in fields.items():
        is_typed = (kind := kind_name(field)) in kinds
        texts = [*(_texts(value) if is_typed else _linking(value))]
        if texts and field.lower() not in _TAG_KEYS:
            lines_of_field = _FieldLines(lines, field)
            for text in texts:
                line = lines_of_field.of(text if is_typed else text.strip("[]"))
                edges += (
                    Edge(
                        rule=f"front_matter:{field}",
                        kind=kind if is_typed else "references",
                        confidence=1.0,
                        target=target,
                        line=line,
                        document=0,
                        fragment=fragment,
                        text=words,
                        sentence=f"{field}: {words}",
                    )
                    for target, fragment, words in _links(text, is_name=is_typed)
                )
    return sorted(edges, key=lambda edge: edge.line)


def _texts(value: Any) -> Iterator[str]:
    """Yield the values of a field; YAML parses an unquoted `[[note]]` as a nested list."""
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield from filter(None, [str(value).strip()])


def _linking(value: Any) -> Iterator[str]:
    """Yield the texts with links in a value of any depth; `[[note]]` as in `_texts`."""
    if isinstance(value, dict):
        for item in value.values():
            yield from _linking(item)
    elif isinstance(value, list):
        for item in value:
            is_note = isinstance(item, list) and len(item) == 1 and isinstance(item[0], str)
            yield from [f"[[{item[0]}]]"] if is_note else _linking(item)
    elif isinstance(value, str) and ("[[" in value or "](" in value):
        yield value


def _links(text: str, *, is_name: bool) -> Iterator[tuple[str, str | None, str]]:
    """Yield (target, fragment, words) of each link in a value, else of the name that it is."""
    if "[" in text:
        links = [link for link in find_links(Prose((ProseBlock(text, 1),))) if link.form != "tag"]
        for link in links:
            yield link.target, link.fragment, plain(link.words)[:_MAX_WORDS]
        if links:
            return
    if not is_name:
        return
    name, _, alias = text.partition("|")
    # the "#" of a name like "C# basics" does not start a fragment
    target, fragment = split_target(name) if _IS_PATH.match(name) else (name.strip(), None)
    if target and len(target) <= MAX_TARGET:
        yield target, fragment, (alias.strip() or name.strip())[:_MAX_WORDS]


class _Lines:
    """The lines of a head; most heads have no link, and need none."""

    def __init__(self, head: str) -> None:
        self._head = head

    @cached_property
    def all(self) -> list[str]:
        return self._head.split("\n")

    @cached_property
    def starts(self) -> dict[str, int]:
        """The first line of each field, by its name up to a colon or an equals sign."""
        starts: dict[str, int] = {}
        for number, line in enumerate(self.all):
            if sign := _SIGN.search(line):
                starts.setdefault(_bare(line[: sign.start()]), number)
        return starts


def _bare(name: str) -> str:
    name = name.rstrip()
    return name.removeprefix(name[:1] if name[:1] in "\"'" else "").rstrip("\"'")


class _FieldLines:
    def __init__(self, lines: _Lines, field: str) -> None:
        self._lines = lines.all
        self._line = lines.starts.get(_bare(_SIGN.split(field, maxsplit=1)[0]), 0)
        self._column = 0
        self._end = self._line + 1
        self._has_ended = False

    def of(self, text: str) -> int:
        """Return the line of the next value, from 1; the previous value's if missing."""
        start, stop = self._column, self._column + len(text) + _REACH
        for number in range(self._line, self._end_within(self._line + _LOOK_AHEAD)):
            if (column := self._lines[number].find(text, start, stop)) >= 0:
                self._line, self._column = number, column
                break
            start, stop = 0, len(text) + _REACH
        return self._line + 1

    def _end_within(self, most: int) -> int:
        """Return the line after the field, or `most` if it is longer."""
        while self._end < min(most, len(self._lines)) and not self._has_ended:
            self._has_ended = _FIELD.match(self._lines[self._end]) is not None
            self._end += not self._has_ended
        return min(most, self._end)
