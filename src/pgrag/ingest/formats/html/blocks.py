"""Blocks of HTML as Markdown, in reading order."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from pgrag.ingest.formats.escaping import escape, escape_start, fence, heading
from pgrag.ingest.formats.html import dom, lists, marking, tables
from pgrag.ingest.formats.html.code import code_of, is_shown_as_code, language_of
from pgrag.ingest.formats.html.formulas import formula_of
from pgrag.ingest.formats.html.ids import Ids, Use, heading_ids
from pgrag.ingest.formats.html.inline import MAX_DEPTH, Inline, joined
from pgrag.ingest.formats.html.shapes import REOPEN, linked, quoted, with_reopened

_WRAPPERS = frozenset((
    "a", "span", "ins", "del", "font", "label", "small", "strong", "b", "em", "i", "u", "tt", "big",
    "cite", "mark", "nobr", "time", "data", "slot", "abbr",
))  # fmt: skip
#: How many of these elements in each other may wrap a block.
_MOST_WRAPPERS = 8
_SHOWN_HEADINGS = "h1, h2, h3, h4, h5, h6, [role=heading]"
_TAB_LISTS = frozenset(("tabbed-labels", "nav-tabs"))
_PANELS = frozenset(("tabbed-block", "tabbed-content", "tab-pane", "sd-tab-content", "tab-content"))


@dataclass(slots=True)
class Blocks:
    """Reads the blocks of a page. `inline` reads what is in a line, `ids` collects ids on the way.
    `headings` are those read so far, `level` is that of the last one; `tabs` are the labels of the
    panels that come next. `layout` are the elements around headings, `published` the definition
    lists that are sections. A page that `is_plain` has no headings but bold lines.
    """

    inline: Inline
    ids: Ids
    headings: list[tuple[int, str]] = field(default_factory=list)
    level: int = 1
    last_heading: str = ""
    tabs: list[deque[str]] = field(default_factory=list)
    layout: frozenset[int] = frozenset()
    published: frozenset[int] = frozenset()
    is_plain: bool = False
    depth: int = 0
    nested: int = 0

    def read(self, main: dom.Node) -> list[str]:
        """Return the blocks of a page."""
        headings = main.css(_SHOWN_HEADINGS)
        published = lists.published_lists(main, dom.around(headings, main))
        self.published = frozenset(each.mem_id for each in published)
        self.is_plain = not headings
        self.layout = dom.around([*headings, *published], main)
        blocks = self.flow(main)
        return with_reopened([*blocks, *self.ids.flushed()] if blocks else [])

    def flow(self, node: dom.Node) -> list[str]:
        """Return the blocks in an element; text between block elements is a paragraph."""
        if self.depth > MAX_DEPTH:
            return self.paragraph(escape(dom.all_text(node)))
        self.depth += 1
        blocks: list[str] = []
        line: list[str] = []
        for child in dom.children(node):
            tag = dom.tag_of(child)
            if tag == dom.TEXT or tag in ("br", "img", "script"):
                line.append(self.inline.element(child))
                continue
            if tag[0] == "-":
                continue
            attributes = child.attributes
            if tag in dom.BLOCKS or self.is_block(child, tag, attributes):
                if dom.is_skipped(tag, attributes):
                    continue
                blocks += self.paragraph(joined(line))
                line = []
                blocks += self.block(child, tag, attributes)
            else:
                line.append(self.inline.element(child))
        blocks += self.paragraph(joined(line))
        self.depth -= 1
        return blocks

    def is_block(self, node: dom.Node, tag: str, attributes: dom.Attributes) -> bool:
        """Whether an element is none of a line, though its tag may be."""
        if "-" in tag or tag in ("xmp", "listing"):
            return not tag.startswith("mjx-")
        if tag == "code":
            return is_shown_as_code(node, tag, attributes)
        return attributes.get("role") == "heading" or _wraps_blocks(node, tag)

    def paragraph(self, text: str) -> list[str]:
        """Return lines as a paragraph, after the ids that lead to it."""
        if not text and not self.inline.targets:
            return []
        lines = [line.strip() for line in text.split("\n")] if text.strip() else []
        shown = "\n".join(escape_start(line) for line in lines if line)
        if self.inline.targets:
            self.ids.meet_inline(self.inline.targets)
        return [*self.ids.flushed(), shown] if shown else []

    def block(self, node: dom.Node, tag: str, attributes: dom.Attributes) -> list[str]:
        """Return the blocks of a block element."""
        role = attributes.get("role")
        is_bold = self.is_plain and tag == "p" and not self.nested and marking.is_bold_line(node)
        if tag in dom.HEADINGS or role == "heading" or is_bold:
            return self._heading(node, marking.level_of(tag, attributes))
        # what is styled by its id has no class
        is_layout = tag == "div" and ("class" not in attributes or node.mem_id in self.layout)
        self.ids.meet(tag, attributes, Use.LOCAL if is_layout else Use.TARGET)
        names = frozenset(dom.class_of(attributes).split())
        if names and (kind := marking.kind_of(node, tag, attributes)):
            return self._callout(node, kind)
        if role == "tablist" or not _TAB_LISTS.isdisjoint(names):
            return self._tab_list(node, "[role=tab], label, a.nav-link, button")
        if role == "tabpanel" or not _PANELS.isdisjoint(names):
            return self._panel(node, names)
        reader = Blocks._pre if is_shown_as_code(node, tag, attributes) else _READERS.get(tag)
        return reader(self, node) if reader else self._container(node, names)

    def _container(self, node: dom.Node, names: frozenset[str]) -> list[str]:
        if "summary-table" in names and (lines := tables.grid_table(node, self._cell)):
            return [*self.ids.flushed(), "\n".join(lines)]
        if "tabs" in names and node.css_first("label") is not None:  # of VitePress
            return self._tab_list(node, "label")
        if "math" in names and (formula := formula_of(node, "div", node.attributes)):
            return [*self.ids.flushed(), formula]
        if "blocks" in names and self.tabs:
            return [block for child in dom.elements(node) for block in self._panel(child, names)]
        return self.flow(node)

    def _heading(self, node: dom.Node, level: int) -> list[str]:
        words = self.heading_words(node)
        if not words:
            return []
        anchor, others = self.ids.of_heading(heading_ids(node))
        self.headings.append((level, words))
        return [*others, self.add_heading(level, words, anchor)]

    def heading_words(self, node: dom.Node) -> str:
        """Return what a heading shows, as inline Markdown without links on its own page."""
        self.inline.in_heading = True
        words = " ".join(self.inline.text(node).split())
        if self.is_plain:
            words = words.replace("**", "")
        self.inline.in_heading = False
        self.inline.targets.clear()
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
        if node.css_first(_SHOWN_HEADINGS) is None:
            body = self.inside(node)
            return [*before, quoted([marking.first_line(kind, words), *body])]
        return [*before, quoted([marking.first_line(kind, words)]), *self._opened(node)]

    def _opened(self, node: dom.Node) -> list[str]:
        """Read an element with headings of its own; what follows belongs to the section around."""
        level, around = self.level, self.last_heading
        blocks = self.flow(node)
        self.level, self.last_heading = level, around
        return [*blocks, REOPEN + around]

    def _linked(self, node: dom.Node) -> list[str]:
        href = self.inline.href(node.attributes)
        return linked(self.flow(node), href) if href else self.flow(node)

    def inside(self, node: dom.Node) -> list[str]:
        """Return the blocks in an element that is part of another block."""
        self.nested += 1
        blocks = self.flow(node)
        self.nested -= 1
        return blocks

    def _pre(self, node: dom.Node) -> list[str]:
        code = code_of(node)
        return [*self.ids.flushed(), "\n".join(fence(code, language_of(node)))] if code else []

    def _quote(self, node: dom.Node) -> list[str]:
        if node.mem_id in self.layout:
            return self._opened(node)
        before = self.ids.flushed()
        blocks = self.inside(node)
        return [*before, quoted(blocks)] if blocks else []

    def _table(self, node: dom.Node) -> list[str]:
        if node.mem_id in self.layout or tables.is_layout(node):
            return self.flow(node)
        for part in node.css("tr[id], td[id], th[id]"):
            self.ids.meet(dom.tag_of(part), part.attributes)
        caption = _child(node, "caption")
        words = self.paragraph(self.inline.text(caption)) if caption is not None else []
        lines = tables.table(node, self._cell)
        self.ids.meet_inline(self.inline.targets)
        return [*words, *self.ids.flushed(), "\n".join(lines)] if lines else words

    def _cell(self, node: dom.Node) -> str:
        return self.inline.text(node).replace("\n", " ").strip()

    def _details(self, node: dom.Node) -> list[str]:
        summary = _child(node, "summary")
        if summary is None:
            return self.flow(node)
        blocks: list[str] = []
        is_shown = not dom.is_skipped("summary", summary.attributes)
        if is_shown and (summary.mem_id in self.layout or summary.css_first("section") is not None):
            blocks = self.flow(summary)
        elif is_shown and (words := self._cell(summary)):
            name = node.attributes.get("id") or summary.attributes.get("id")
            if name and not self.nested:
                return self._section(node, summary, words, name)
            blocks = self.paragraph(words if "**" in words else f"**{words}**")
        summary.decompose()
        return blocks + self.flow(node)

    def _section(self, node: dom.Node, summary: dom.Node, words: str, name: str) -> list[str]:
        """Read `<details>` with an id: its summary is the heading."""
        anchor, targets = self.ids.of_heading([name, *heading_ids(summary)])
        level, around = self.level, self.last_heading
        summary.decompose()
        blocks = [*targets, self.add_heading(level + 1, words.replace("**", ""), anchor)]
        blocks += self.flow(node)
        self.level, self.last_heading = level, around
        return [*blocks, REOPEN + around]

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


def _wraps_blocks(node: dom.Node, tag: str, depth: int = 0) -> bool:
    return tag in _WRAPPERS and any(
        dom.tag_of(child) in dom.BLOCKS
        or (depth < _MOST_WRAPPERS and _wraps_blocks(child, dom.tag_of(child), depth + 1))
        for child in dom.elements(node)
    )


def _child(node: dom.Node, tag: str) -> dom.Node | None:
    return next((each for each in dom.elements(node) if dom.tag_of(each) == tag), None)


_READERS: dict[str, Callable[[Blocks, dom.Node], list[str]]] = {
    "a": Blocks._linked,
    "pre": Blocks._pre,
    "xmp": Blocks._pre,
    "listing": Blocks._pre,
    "blockquote": Blocks._quote,
    "ul": lists.items,
    "ol": lists.items,
    "menu": lists.items,
    "dir": lists.items,
    "table": Blocks._table,
    "details": Blocks._details,
    "dl": lists.definitions,
    "hr": lambda *_: [],
}
