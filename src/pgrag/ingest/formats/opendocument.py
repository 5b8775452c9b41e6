"""OpenDocument (text, slides, sheets): its elements as HTML, which is then read as HTML."""

from collections.abc import Iterator
from html import escape as quoted
from xml.etree.ElementTree import Element, tostring

from pgrag.ingest.formats.converted import Converted, with_front_matter
from pgrag.ingest.formats.html import page
from pgrag.ingest.formats.loss import count_words
from pgrag.ingest.formats.zipped import Parts, attribute, first, local, texts
from pgrag.ingest.values import NOWHERE, Origin

_MOST_REPEATED = 100
#: Characters that the equal cells and rows of a file may have, which it names once.
_MOST_OF_REPEATED = 200_000
_MOST_LEVELS = 200
#: Elements that are not shown, or lists of what the document holds elsewhere.
_UNSEEN = frozenset({
    "tracked-changes", "annotation", "annotation-end", "hidden-text", "sequence-decls",
    "variable-decls", "user-field-decls", "forms", "table-of-content", "alphabetical-index",
    "illustration-index", "table-index", "object-index", "user-index", "index-title", "title",
    "desc", "event-listeners", "shapes", "calculation-settings", "named-expressions",
    "database-ranges", "table-columns", "table-column", "soft-page-break", "ruby-text",
    "date-time-decl", "footer-decl", "header-decl", "animations", "par", "meta",
})  # fmt: skip
_TAGS = {
    "list-item": "li", "list-header": "li", "table-header-rows": "thead", "section": "div",
    "text-box": "div",
}  # fmt: skip


class _Styles:
    """What the names of styles say: headings, code, bold, raised, hidden."""

    def __init__(self, roots: list[Element]) -> None:
        self._styles: dict[str, Element] = {}
        self.ordered: set[str] = set()
        for root in roots:
            for each in root.iter():
                if local(each) in ("style", "default-style"):
                    self._styles.setdefault(attribute(each, "name"), each)
                elif local(each) == "list-style" and local(next(iter(each), each)).endswith(
                    "number"
                ):
                    self.ordered.add(attribute(each, "name"))

    def chain(self, name: str) -> Iterator[Element]:
        """Yield a style and those on which it is based."""
        for _ in range(20):
            style = self._styles.get(name)
            if style is None:
                return
            yield style
            name = attribute(style, "parent-style-name")

    def value(self, name: str, field: str) -> str:
        """Return a property of a style, or of those on which it is based."""
        for style in self.chain(name):
            for properties in style:
                if found := attribute(properties, field):
                    return found
        return ""

    def is_called(self, name: str, *wanted: str) -> bool:
        """Whether a style, or one on which it is based, has one of these names of LibreOffice."""
        parents = (attribute(each, "parent-style-name") for each in self.chain(name))
        return not {*wanted}.isdisjoint((name, *parents))


class _Writer:
    """Writes the elements of a document as HTML; notes come after their paragraph."""

    def __init__(self, parts: Parts, styles: _Styles) -> None:
        self._parts = parts
        self._styles = styles
        self._notes: list[str] = []
        self._ordered: list[bool] = []
        self._depth = 0
        self._room = _MOST_OF_REPEATED

    def inner(self, element: Element) -> str:
        """Return what is in an element."""
        if self._depth > _MOST_LEVELS:
            return quoted(texts(element))
        self._depth += 1
        written = [quoted(element.text or "", quote=False)]
        for child in element:
            written += [self.element(child), quoted(child.tail or "", quote=False)]
        self._depth -= 1
        return "".join(written)

    def element(self, element: Element) -> str:
        """Return an element as HTML."""
        name = local(element)
        reader = getattr(self, f"_{name.replace('-', '_')}", None)
        if not name or name in _UNSEEN:
            return ""
        if reader is not None:
            result: str = reader(element)
            return result
        tag = _TAGS.get(name, "")
        inner = self.inner(element)
        return f"<{tag}>{inner}</{tag}>" if tag else inner

    def _h(self, element: Element) -> str:
        level = attribute(element, "outline-level")
        inner = self.inner(element).strip()
        tag = f"h{level if level in tuple('123456') else 6}"
        return f"<{tag}>{inner}</{tag}>{self._flush()}"

    def _p(self, element: Element) -> str:
        style = attribute(element, "style-name")
        if self._styles.value(style, "display") == "none":
            return ""
        inner = self.inner(element)
        tag = "h1" if self._styles.is_called(style, "Title") else "p"
        if self._styles.is_called(style, "Preformatted_20_Text"):
            tag = "pre"
        return f"<{tag}>{inner}</{tag}>{self._flush()}"

    def _hidden_paragraph(self, element: Element) -> str:
        return "" if attribute(element, "is-hidden") == "true" else self.inner(element)

    def _flush(self) -> str:
        notes, self._notes = "".join(self._notes), []
        return notes

    def _span(self, element: Element) -> str:
        style = attribute(element, "style-name")
        inner = self.inner(element)
        if self._styles.value(style, "display") == "none":
            return ""
        position = self._styles.value(style, "text-position").partition(" ")[0]
        tag = "strong" if self._styles.value(style, "font-weight") == "bold" else ""
        if self._styles.is_called(style, "Source_20_Text"):
            tag = "code"
        elif position and position not in ("0%", "baseline"):
            tag = "sub" if position.startswith(("sub", "-")) else "sup"
        return f"<{tag}>{inner}</{tag}>" if tag and inner.strip() else inner

    def _s(self, element: Element) -> str:
        count = attribute(element, "c")
        return " " * min(int(count) if count.isdigit() else 1, _MOST_REPEATED)

    def _tab(self, element: Element) -> str:
        return "\t"

    def _line_break(self, element: Element) -> str:
        return "<br/>"

    def _a(self, element: Element) -> str:
        href = attribute(element, "href")
        return f'<a href="{quoted(href)}">{self.inner(element)}</a>'

    def _bookmark(self, element: Element) -> str:
        return f'<a id="{quoted(attribute(element, "name"))}"></a>'

    _bookmark_start = _bookmark

    def _note(self, element: Element) -> str:
        citation, body = first(element, "note-citation"), first(element, "note-body")
        mark = quoted(citation.text or "*") if citation is not None else "*"
        waiting, self._notes = self._notes, []
        text = self.inner(body).replace("<p>", f"<p>[{mark}] ", 1) if body is not None else ""
        self._notes = [*waiting, text, *self._notes]
        return f"[{mark}]"

    def _list(self, element: Element) -> str:
        style = attribute(element, "style-name")
        outer = self._ordered[-1] if self._ordered else False
        self._ordered.append(style in self._styles.ordered if style else outer)
        tag = "ol" if self._ordered[-1] else "ul"
        written = f"<{tag}>{self.inner(element)}</{tag}>"
        self._ordered.pop()
        return written

    def _table(self, element: Element) -> str:
        rows = self.inner(element)
        head, _, rest = rows.partition("</tr>")
        if "<thead" not in rows and "<table" not in head:
            rows = f"{head.replace('<td', '<th').replace('</td', '</th')}</tr>{rest}"
        return f"<table>{rows}</table>" if "<tr" in rows else ""

    def _table_row(self, element: Element) -> str:
        cells = [(each, self.element(each)) for each in element]
        while cells and not cells[-1][1].replace("<td>", "").replace("</td>", "").strip():
            cells.pop()
        row = "".join(written for _, written in cells)
        if not row or attribute(element, "visibility") in ("collapse", "filter"):
            return ""
        return self._repeated(f"<tr>{row}</tr>", attribute(element, "number-rows-repeated"))

    def _table_cell(self, element: Element) -> str:
        spans = "".join(
            f' {name}="{count}"'
            for name, field in (("colspan", "columns"), ("rowspan", "rows"))
            if (count := attribute(element, f"number-{field}-spanned")) not in ("", "1")
        )
        inner = self.inner(element)
        count = attribute(element, "number-columns-repeated")
        return self._repeated(f"<td{spans}>{inner}</td>", count)

    def _repeated(self, written: str, count: str) -> str:
        """Return what stands for many equal cells or rows, while there is room for them."""
        times = min(int(count), _MOST_REPEATED) if count.isdecimal() else 1
        more = (times - 1) * len(written)
        if more > self._room:
            return written
        self._room -= max(more, 0)
        return written * times

    def _covered_table_cell(self, element: Element) -> str:
        return ""

    def _page(self, element: Element) -> str:
        return f"<h2>{quoted(attribute(element, 'name'))}</h2>{self.inner(element)}"

    def _frame(self, element: Element) -> str:
        for child in element:
            if local(child) == "object":
                return self._object(child)
        shown = "".join(self.element(child) for child in element)
        if shown.strip():
            return shown
        named = first(element, "desc", "title")
        return quoted(" ".join(texts(named).split())) if named is not None else ""

    def _object(self, element: Element) -> str:
        name = attribute(element, "href").removeprefix("./").rstrip("/") + "/content.xml"
        root = first(element, "math")
        if root is None and name in self._parts.names:
            root = first(self._parts.xml(name), "math")
        if root is None:
            return ""
        for each in root.iter():
            each.tag = local(each)
        return tostring(root, encoding="unicode")


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Read a text, a presentation or a workbook; its headings have no anchors."""
    parts = Parts(key, data, "an OpenDocument file")
    root = parts.xml("content.xml")
    others = [parts.xml("styles.xml")] if "styles.xml" in parts.names else []
    body = first(root, "body")
    writer = _Writer(parts, _Styles([root, *others]))
    content = next(iter(body), root) if body is not None else root
    is_workbook = local(content) == "spreadsheet"
    written = "".join(
        (f"<h2>{quoted(attribute(each, 'name'))}</h2>" if is_workbook else "")
        + writer.element(each)
        for each in content
        if not is_workbook or local(each) == "table"
    )
    html = f"<html><body><main>{written}</main></body></html>"
    converted = page.convert(key, html.encode(), NOWHERE)
    text = converted.markdown
    if text.startswith("---\n"):
        text = text.partition("\n---\n\n")[2]
    meta = parts.xml("meta.xml") if "meta.xml" in parts.names else root
    fields = {
        name: " ".join((found.text or "").split())
        for name, tag in (("title", "title"), ("description", "subject"), ("language", "language"))
        if (found := first(meta, tag)) is not None and meta is not root
    }
    words = count_words(texts(content, lambda name: name not in _UNSEEN), text)
    return Converted(with_front_matter(fields, text), converted.warnings, words=words)
