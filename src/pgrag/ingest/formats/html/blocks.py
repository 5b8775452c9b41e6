"""Blocks of HTML as Markdown, in reading order."""

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pgrag.ingest.formats.escaping import escape, escape_start, fence, heading
from pgrag.ingest.formats.html import dom, marking, tables
from pgrag.ingest.formats.html.ids import Ids, heading_ids, targets_of
from pgrag.ingest.formats.html.inline import MAX_DEPTH, Inline, code_span, joined
from pgrag.ingest.formats.html.marking import code_of, language_of

REOPEN = "\0"
"""Marks a heading that is written again if text of its section follows."""

_NUMBER = re.compile(r"\d{1,9}")
_ITEM = re.compile(r"(?:-|\d+\.) ")
_WRAPPERS = frozenset(("a", "span", "ins", "del", "font", "label", "small", "strong", "b", "em"))
_TAB_LISTS = frozenset(("tabbed-labels", "nav-tabs"))
_PANELS = frozenset(("tabbed-block", "tabbed-content", "tab-pane", "sd-tab-content", "tab-content"))


@dataclass(slots=True)
class Blocks:
    """Reads the blocks of a page. `inline` reads what is in a line, `ids` collects ids on the way.
    `level` is that of the last heading; `tabs` are the labels of the panels that come next.
    """

    inline: Inline
    ids: Ids
    level: int = 1
    last_heading: str = ""
    tabs: list[deque[str]] = field(default_factory=list)
    depth: int = 0
    nested: int = 0

    def flow(self, node: dom.Node) -> list[str]:
        """Return the blocks in an element; text between block elements is a paragraph."""
        if self.depth > MAX_DEPTH:
            return self._paragraph(escape(dom.all_text(node)))
        self.depth += 1
        blocks: list[str] = []
        line: list[str] = []
        for child in dom.children(node):
            tag = dom.tag_of(child)
            if tag == dom.TEXT or tag in ("br", "img", "code"):
                line.append(self.inline.element(child))
                continue
            if tag[0] == "-":
                continue
            attributes = child.attributes
            if dom.is_skipped(tag, attributes):
                continue
            if tag in dom.BLOCKS or "-" in tag or _wraps_blocks(child, tag):
                blocks += self._paragraph(joined(line))
                line = []
                blocks += self._block(child, tag, attributes)
            else:
                self.ids.meet(child, tag, attributes, is_block=False)
                line.append(self.inline.element(child))
        blocks += self._paragraph(joined(line))
        self.depth -= 1
        return blocks

    def _paragraph(self, text: str) -> list[str]:
        lines = [line.strip() for line in text.split("\n")]
        shown = "\n".join(escape_start(line) for line in lines if line)
        return [*self.ids.flushed(), shown] if shown else []

    def _block(self, node: dom.Node, tag: str, attributes: dom.Attributes) -> list[str]:
        if tag in dom.HEADINGS:
            return self._heading(node, int(tag[1]))
        self.ids.meet(node, tag, attributes, is_block=True)
        names = frozenset(dom.class_of(attributes).split())
        role = attributes.get("role")
        if names and (kind := marking.kind_of(node, tag, attributes)):
            return self._callout(node, kind)
        if role == "tablist" or not _TAB_LISTS.isdisjoint(names):
            return self._tab_list(node, "[role=tab], label, a.nav-link, button")
        if role == "tabpanel" or not _PANELS.isdisjoint(names):
            return self._panel(node, names)
        reader = _READERS.get(tag)
        return reader(self, node) if reader else self._container(node, names)

    def _container(self, node: dom.Node, names: frozenset[str]) -> list[str]:
        if "summary-table" in names and (lines := tables.grid_table(node, self._cell)):
            return [*self.ids.flushed(), "\n".join(lines)]
        if "tabs" in names and node.css_first("label") is not None:  # of VitePress
            return self._tab_list(node, "label")
        if "blocks" in names and self.tabs:
            return [block for child in dom.elements(node) for block in self._panel(child, names)]
        return self.flow(node)

    def _heading(self, node: dom.Node, level: int) -> list[str]:
        words = self._heading_words(node)
        if not words:
            return []
        anchor, others = self.ids.of_heading(heading_ids(node))
        if self.nested:
            return [*others, f"**{words}**"]
        return [*others, self.add_heading(level, words, anchor)]

    def _heading_words(self, node: dom.Node) -> str:
        self.inline.in_heading = True
        words = " ".join(self.inline.text(node).split())
        self.inline.in_heading = False
        return words

    def add_heading(self, level: int, words: str, anchor: str) -> str:
        """Return a heading, below which the next blocks are."""
        self.level = level
        self.last_heading = heading(level, words, anchor)
        return self.last_heading

    def _callout(self, node: dom.Node, kind: str) -> list[str]:
        title = marking.title_of(node)
        words = ""
        if title is not None:
            words = self._cell(title)
            title.decompose()
        before = self.ids.flushed()
        body = self._inside(node)
        return [*before, _quoted([marking.first_line(kind, words), *body])]

    def _inside(self, node: dom.Node) -> list[str]:
        self.nested += 1
        blocks = self.flow(node)
        self.nested -= 1
        return blocks

    def _pre(self, node: dom.Node) -> list[str]:
        code = code_of(node)
        return [*self.ids.flushed(), "\n".join(fence(code, language_of(node)))] if code else []

    def _quote(self, node: dom.Node) -> list[str]:
        before = self.ids.flushed()
        blocks = self._inside(node)
        return [*before, _quoted(blocks)] if blocks else []

    def _list(self, node: dom.Node) -> list[str]:
        if not self.nested and node.css_first("h1, h2, h3, h4, h5, h6") is not None:
            return self.flow(node)  # a list with headings in it is a layout
        before = self.ids.flushed()
        start = node.attributes.get("start") or "1"
        number = int(start) if dom.tag_of(node) == "ol" and _NUMBER.fullmatch(start) else 1
        items: list[str] = []
        for item in dom.elements(node):
            if dom.is_skipped(dom.tag_of(item), item.attributes):
                continue
            mark = f"{number}. " if dom.tag_of(node) == "ol" else "- "
            number += 1
            box = item.css_first('input[type="checkbox"]') if dom.tag_of(item) == "li" else None
            if box is not None and dom.tag_of(node) == "ul":
                mark += "[x] " if "checked" in box.attributes else "[ ] "
            if dom.tag_of(item) == "li":
                self.ids.meet(item, "li", item.attributes, is_block=True)
            blocks = self._inside(item) if dom.tag_of(item) == "li" else self._list(item)
            if blocks:
                items.append(_item(blocks, mark if dom.tag_of(item) == "li" else "  "))
        return [*before, "\n".join(items)] if items else []

    def _table(self, node: dom.Node) -> list[str]:
        if tables.is_layout(node):
            return self.flow(node)
        before = self.ids.flushed()
        caption = _child(node, "caption")
        words = self._paragraph(self.inline.text(caption)) if caption is not None else []
        lines = tables.table(node, self._cell)
        return [*before, *words, "\n".join(lines)] if lines else []

    def _cell(self, node: dom.Node) -> str:
        return self.inline.text(node).replace("\n", " ").strip()

    def _details(self, node: dom.Node) -> list[str]:
        summary = _child(node, "summary")
        if summary is None:
            return self.flow(node)
        blocks: list[str] = []
        is_shown = not dom.is_skipped("summary", summary.attributes)
        if is_shown and summary.css_first("h1, h2, h3, h4, h5, h6, section") is not None:
            blocks = self.flow(summary)
        elif is_shown and (words := self._cell(summary)):
            blocks = self._paragraph(words if "**" in words else f"**{words}**")
        summary.decompose()
        return blocks + self.flow(node)

    def _definitions(self, node: dom.Node) -> list[str]:
        """Read a definition list: published terms become headings, the others bold lines. What
        follows the list belongs to the section around it, which its heading opens again.
        """
        is_published = not self.nested and marking.is_published(node)
        level, around = self.level, self.last_heading
        blocks = [] if is_published else self.ids.flushed()
        for terms, details in marking.groups(node):
            if is_published and terms:
                blocks += self._published_terms(level + 1, terms)
                for detail in details:
                    blocks += self.flow(detail)
            else:
                shown = [f"**{words}**" for term in terms if (words := self._term(term))]
                body = [block for detail in details for block in self._inside(detail)]
                if body and body[0][0] not in "#>`|-<":
                    shown.append(body.pop(0))
                blocks += ["\n".join(shown), *body] if shown else body
        if is_published:
            self.level, self.last_heading = level, around
            blocks.append(REOPEN + around)
        return blocks

    def _term(self, term: dom.Node) -> str:
        return self._heading_words(term).replace("**", "")

    def _published_terms(self, level: int, terms: list[dom.Node]) -> list[str]:
        """Return a heading for the first term, and the others as lines of code below it."""
        first, *others = terms
        self.ids.meet(first, "dt", first.attributes, is_block=True)
        anchor, targets = self.ids.of_heading(heading_ids(first))
        signature = dom.shown_text(first) if marking.is_signature(first) else ""
        short = marking.shortened(signature)
        words = code_span(short) or self._term(first)
        blocks = [*targets, self.add_heading(level, words, anchor)] if words else targets
        lines = [signature] if short != signature else []
        for other in others:
            lines.append(dom.shown_text(other))
            blocks += targets_of(heading_ids(other))
        return [*blocks, "\n".join(fence("\n".join(lines)))] if lines else blocks

    def _tab_list(self, node: dom.Node, selector: str) -> list[str]:
        self.tabs.append(deque(filter(None, map(dom.all_text, node.css(selector)))))
        return []

    def _panel(self, node: dom.Node, names: frozenset[str]) -> list[str]:
        if "tabbed-content" in names or "tab-content" in names:
            classes = (dom.class_of(each.attributes).split() for each in dom.elements(node))
            if not all(map(_PANELS.isdisjoint, classes)):
                return self.flow(node)
        while self.tabs and not self.tabs[-1]:
            self.tabs.pop()
        label = self.tabs[-1].popleft() if self.tabs else ""
        depth = len(self.tabs)
        blocks = self.flow(node) if dom.tag_of(node) != "pre" else self._pre(node)
        del self.tabs[depth:]
        return [f"**{escape(label)}**", *blocks] if label and blocks else blocks


def with_reopened(blocks: Iterable[str]) -> list[str]:
    """Resolve the marks of headings that may have to be written again."""
    kept: list[str] = []
    waiting = ""
    for block in blocks:
        if block.startswith(REOPEN):
            waiting = block[len(REOPEN) :]
        else:
            if waiting and not block.startswith(("#", "<a id=")):
                kept.append(waiting)
            if not block.startswith("<a id="):
                waiting = ""
            kept.append(block)
    return kept


def _wraps_blocks(node: dom.Node, tag: str) -> bool:
    return tag in _WRAPPERS and any(dom.tag_of(child) in dom.BLOCKS for child in dom.elements(node))


def _child(node: dom.Node, tag: str) -> dom.Node | None:
    return next((each for each in dom.elements(node) if dom.tag_of(each) == tag), None)


def _quoted(blocks: Iterable[str]) -> str:
    text = "\n\n".join(blocks)
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def _item(blocks: list[str], mark: str) -> str:
    """Return a list item; its blocks are close together if they are a line and lists."""
    is_tight = all(_ITEM.match(block) for block in blocks[1:])
    text = ("\n" if is_tight else "\n\n").join(blocks)
    indent = " " * (len(mark) - 4 if mark.endswith("] ") else len(mark))
    return mark + text.replace("\n", "\n" + indent).replace("\n" + indent + "\n", "\n\n")


_READERS: dict[str, Callable[[Blocks, dom.Node], list[str]]] = {
    "pre": Blocks._pre,
    "blockquote": Blocks._quote,
    "ul": Blocks._list,
    "ol": Blocks._list,
    "menu": Blocks._list,
    "dir": Blocks._list,
    "table": Blocks._table,
    "details": Blocks._details,
    "dl": Blocks._definitions,
    "hr": lambda *_: [],
}
