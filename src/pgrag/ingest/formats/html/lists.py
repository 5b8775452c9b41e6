"""Lists of items, and of terms: those that are published with ids are sections."""

import re
from collections.abc import Callable, Iterator
from typing import Protocol

from pgrag.ingest.formats.escaping import fence
from pgrag.ingest.formats.html import dom
from pgrag.ingest.formats.html.ids import Ids, heading_ids, targets_of
from pgrag.ingest.formats.html.inline import Inline, code_span
from pgrag.ingest.formats.html.navigation import and_above
from pgrag.ingest.formats.html.shapes import REOPEN, item


class Reader(Protocol):
    """What reads the blocks of a page: `Blocks`, which calls the functions of this module."""

    inline: Inline
    ids: Ids
    level: int
    last_heading: str
    layout: frozenset[int]
    published: frozenset[int]
    nested: int

    def flow(self, node: dom.Node) -> list[str]:
        """Return the blocks in an element."""

    def inside(self, node: dom.Node) -> list[str]:
        """Return the blocks in an element that is part of another block."""

    def paragraph(self, text: str) -> list[str]:
        """Return lines as a paragraph, after the ids that lead to it."""

    def block(self, node: dom.Node, tag: str, attributes: dom.Attributes) -> list[str]:
        """Return the blocks of a block element."""

    def is_block(self, node: dom.Node, tag: str, attributes: dom.Attributes) -> bool:
        """Whether an element is none of a line."""

    def heading_words(self, node: dom.Node) -> str:
        """Return what a heading shows."""

    def add_heading(self, level: int, words: str, anchor: str) -> str:
        """Return a heading, below which the next blocks are."""


_NUMBER = re.compile(r"\d{1,9}")
#: A longer signature is too long for a heading.
_LONGEST_HEADING = 120
_PUBLISHED_TERMS = (
    "dt[id], dl > a[name]:not([href]), dt a[id]:not([href]), dt a[name]:not([href]), dt span[id],"
    " dt code[id], dt a.headerlink, dt a.id_link, dt a.permalink, dt a.copiable-link,"
    " dt a.copiable-anchor"
)


def items(reader: Reader, node: dom.Node) -> list[str]:
    """Return a list of items, with its numbers."""
    if node.mem_id in reader.layout:
        return reader.flow(node)  # a list with headings in it is a layout
    before = reader.ids.flushed()
    is_numbered = dom.tag_of(node) == "ol"
    start = node.attributes.get("start") or "1"
    number = int(start) if is_numbered and _NUMBER.fullmatch(start) else 1
    items: list[list[str]] = []
    marks: list[str] = []
    for each in dom.children(node):
        tag = dom.tag_of(each)
        if tag == "li" and not dom.is_skipped(tag, each.attributes):
            marks.append(f"{number}. " if is_numbered else f"- {_box(each)}")
            number += 1
            reader.ids.meet(tag, each.attributes)
            items.append(reader.inside(each))
        elif tag != "li" and (blocks := _stray(reader, each, tag)):
            if not items:
                marks.append("- ")
                items.append([])
            items[-1] += blocks
    shown = [item(blocks, mark) for blocks, mark in zip(items, marks, strict=True) if blocks]
    return [*before, "\n".join(shown)] if shown else []


def _stray(reader: Reader, node: dom.Node, tag: str) -> list[str]:
    """Read what is in a list, but in no item of it: browsers show it below the item before."""
    if tag == dom.TEXT or tag[0] == "-":
        return reader.paragraph(reader.inline.element(node))
    attributes = node.attributes
    if dom.is_skipped(tag, attributes):
        return []
    reader.nested += 1
    is_block = tag in dom.BLOCKS or reader.is_block(node, tag, attributes)
    blocks = reader.block(node, tag, attributes) if is_block else []
    reader.nested -= 1
    return blocks if is_block else reader.paragraph(reader.inline.element(node))


def _box(item: dom.Node) -> str:
    box = item.css_first('input[type="checkbox"]')
    return "" if box is None else "[x] " if "checked" in box.attributes else "[ ] "


def definitions(reader: Reader, node: dom.Node) -> list[str]:
    """Return the blocks of a list. What follows a list of sections belongs to the section around
    it, which its heading opens again.
    """
    if node.mem_id in reader.published and not reader.nested:
        return _published(reader, node)
    reads = reader.flow if node.mem_id in reader.layout else reader.inside
    blocks = reader.ids.flushed()
    for terms, details in _groups(node):
        for term in terms:
            reader.ids.meet("dt", term.attributes)
        shown = [f"**{words}**" for term in terms if (words := _term(reader, term))]
        before = reader.ids.flushed()
        body = [block for detail in details for block in _detail(reader, detail, reads)]
        if shown and body and body[0][0] not in "#>`|-<\0":
            shown.append(body.pop(0))
        blocks += [*before, "\n".join(shown), *body] if shown else [*before, *body]
    return blocks


def _published(reader: Reader, node: dom.Node) -> list[str]:
    level, around = reader.level, reader.last_heading
    blocks: list[str] = []
    for terms, details in _groups(node):
        if terms:
            blocks += _section(reader, level + 1, terms)
        for detail in details:
            blocks += _detail(reader, detail, reader.flow)
    reader.level, reader.last_heading = level, around
    return [*blocks, REOPEN + around]


def _section(reader: Reader, level: int, terms: list[dom.Node]) -> list[str]:
    """Return a heading for the first term, and the others as lines of code below it."""
    first, *others = terms
    reader.ids.meet("dt", first.attributes)
    anchor, targets = reader.ids.of_heading(heading_ids(first))
    signature = dom.shown_text(first) if _is_signature(first) else ""
    short = _shortened(signature)
    words = code_span(short) or _term(reader, first)
    blocks = [*targets, reader.add_heading(level, words, anchor)] if words else targets
    lines = [signature] if short != signature else []
    for other in others:
        lines.append(dom.shown_text(other))
        blocks += targets_of(heading_ids(other))
    return [*blocks, "\n".join(fence("\n".join(lines)))] if lines else blocks


def _term(reader: Reader, term: dom.Node) -> str:
    return reader.heading_words(term).replace("**", "")


def _detail(reader: Reader, node: dom.Node, reads: Callable[[dom.Node], list[str]]) -> list[str]:
    tag = dom.tag_of(node)
    if tag == dom.TEXT:
        return reader.paragraph(reader.inline.element(node))
    if dom.is_skipped(tag, node.attributes):
        return []
    if tag == "dd" or tag not in dom.BLOCKS:  # an anchor belongs to the next term
        reader.ids.meet(tag, node.attributes)
        return reads(node)
    return reader.block(node, tag, node.attributes)


def _groups(node: dom.Node) -> list[tuple[list[dom.Node], list[dom.Node]]]:
    """Return the entries of a list: the terms of each, and the definitions that they share."""
    pairs: list[tuple[list[dom.Node], list[dom.Node]]] = []
    for child in _parts(node):
        is_term = dom.tag_of(child) == "dt"
        if not pairs or (is_term and pairs[-1][1]):
            pairs.append(([], []))
        pairs[-1][0 if is_term else 1].append(child)
    return pairs


def _parts(node: dom.Node) -> Iterator[dom.Node]:
    """Yield terms, definitions and what else is in a list; a `<div>` may group the first two."""
    for child in dom.children(node):
        tag = dom.tag_of(child)
        if tag == "div" and any(dom.tag_of(each) in ("dt", "dd") for each in dom.elements(child)):
            yield from _parts(child)
        elif tag[0] != "-" or (tag == dom.TEXT and (child.text_content or "").strip()):
            yield child


def published_lists(node: dom.Node, layout: frozenset[int]) -> list[dom.Node]:
    """Return the lists whose terms are published with ids, and so are sections of their page. In an
    item of a list, unless it is of the `layout`, terms belong to the item.
    """
    lists: dict[int, dom.Node] = {}
    seen: set[int] = set()
    for each in node.css(_PUBLISHED_TERMS):
        above: dom.Node | None = each
        while above is not None and above.mem_id not in seen and dom.tag_of(above) != "dl":
            seen.add(above.mem_id)
            above = above.parent
        is_list = above is not None and dom.tag_of(above) == "dl"
        if above is not None and is_list and not dom.has_class(above, "footnote", "citation"):
            lists[above.mem_id] = above
    items = {each.mem_id for each in node.css("li")} - layout
    return [
        each
        for each in lists.values()
        if items.isdisjoint(above.mem_id for above in and_above(each))
    ]


def _is_signature(term: dom.Node) -> bool:
    """Whether a term is the signature of a function, a class or an option, as Sphinx writes it."""
    return "sig-object" in dom.class_of(term.attributes) or term.css_first(".descname") is not None


def _shortened(signature: str) -> str:
    """Return a signature without its arguments if it is too long for a heading."""
    if len(signature) <= _LONGEST_HEADING:
        return signature
    name = signature.partition("(")[0]
    return f"{name}(…)" if len(name) < _LONGEST_HEADING else name[:_LONGEST_HEADING] + "…"
