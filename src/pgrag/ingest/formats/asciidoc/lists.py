"""The lists of AsciiDoc as HTML: items, terms, callouts, and the blocks that belong to an item."""

import re
from dataclasses import dataclass, field

from pgrag.ingest.formats.asciidoc.inline import inline

LIST = re.compile(r"\s*(?P<mark>\*{1,6}|-|•|\.{1,6}|\d+\.|[a-zA-Z]\.)\s+(?P<text>\S.*)")
TERM = re.compile(r"\s*(?P<term>\S.*?)(?P<mark>:{2,4}|;;)(?:\s+(?P<text>.*))?")
CALLOUT = re.compile(r"<(\d+|\.)>\s+(.*)")
FENCE = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|```[\w+-]*|[|,:!]===)\s*")


@dataclass(slots=True)
class Lists:
    """Reads the lists among the lines of a document. `attributes` are those in force, `unread` the
    files that are included.
    """

    attributes: dict[str, str]
    unread: list[str] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list)
    _at: int = 0
    _used: dict[str, int] = field(default_factory=dict)
    _depth: int = 0
    _in_item: bool = False
    _titles: dict[str, str] = field(default_factory=dict)

    def text(self, words: str) -> str:
        """Return a text with inline marks."""
        return inline(words, self.attributes)

    def _next(self) -> str:
        return self._lines[self._at] if self._at < len(self._lines) else ""

    def _block(self) -> str:
        """Read the next block."""
        raise NotImplementedError

    def _paragraph(self, kind: str, style: str) -> str:
        """Read a paragraph of a kind."""
        raise NotImplementedError

    def _callouts(self) -> str:
        items = []
        while match := CALLOUT.match(self._next()):
            self._at += 1
            items.append(f"<li>{self.text(' '.join([match[2], *self._more()]))}</li>")
        return f"<ol>{''.join(items)}</ol>"

    def _more(self) -> list[str]:
        """Return the lines that continue a paragraph."""
        start = self._at
        while self._at < len(self._lines):
            line = self._next().rstrip()
            is_new = LIST.fullmatch(line) or CALLOUT.match(line) or FENCE.fullmatch(line)
            if (
                not line
                or line == "+"
                or is_new
                or re.fullmatch(r"\[\[?[\w#.,%\"= *-]+\]?\]", line)
            ):
                break
            if (term := TERM.fullmatch(line)) and not re.search(r"https?$|\w::?\[", term["term"]):
                break
            self._at += 1
        lines = (line for line in self._lines[start : self._at] if not line.startswith("//"))
        return [line.strip() for line in lines]

    def _list(self, outer: tuple[str, ...]) -> str:
        """Read a list whose marks differ from those of the lists around it."""
        first = self._marked(self._next())
        if first is None:
            return ""
        mark, items = first[0], []
        while (found := self._marked(self._next())) and found[0] == mark:
            self._at += 1
            term, text = found[1], found[2]
            words = " ".join(filter(None, [text, *(self._more() if text or not term else [])]))
            if term and not words:
                self._skip_blank_before_text()
                words = " ".join(self._more())
            inner = (self._item_text(words) if words else "") + self._attached((*outer, mark))
            items.append(self._item(term, inner))
            if not self._goes_on(mark):
                break
        tag = "dl" if mark[0] in ":;" else "ol" if mark[0] == "." else "ul"
        return f"<{tag}>{''.join(items)}</{tag}>"

    def _item_text(self, words: str) -> str:
        box = re.match(r"\[([ x*])\]\s+", words)
        ticked = f'<input type="checkbox"{" checked" * (box[1] != " ")}/>' if box else ""
        return f"<p>{ticked}{self.text(words[box.end() :] if box else words)}</p>"

    def _item(self, term: str, inner: str) -> str:
        if not term:
            return f"<li>{inner}</li>"
        own = re.match(r"\[\[([\w.:-]+)\]\]", term)
        anchor = f' id="{own[1]}"' if own else ""
        shown = self.text(term[own.end() :] if own else term)
        return f"<dt{anchor}>{shown}</dt><dd>{inner}</dd>"

    def _marked(self, line: str) -> tuple[str, str, str] | None:
        """Return the mark of a list in a line, its term if it has one, and its text."""
        if match := LIST.fullmatch(line.rstrip()):
            mark = match["mark"]
            return ("." if mark[0] not in "*.-•" else mark), "", match["text"]
        term = TERM.fullmatch(line.rstrip())
        if term and not re.search(r"https?$|\w::?\[", term["term"]) and not line.startswith("//"):
            return term["mark"], term["term"], term["text"] or ""
        return None

    def _skip_blank_before_text(self) -> None:
        at = self._at
        while at < len(self._lines) and not self._lines[at].strip():
            at += 1
        is_text = at < len(self._lines) and self._lines[at][:1].isspace()
        if is_text and self._marked(self._lines[at]) is None:
            self._at = at

    def _attached(self, marks: tuple[str, ...]) -> str:
        """Read the blocks that belong to an item: after `+`, nested lists, indented text."""
        written = []
        while self._at < len(self._lines):
            line = self._next().rstrip()
            at = self._at
            while not line and at + 1 < len(self._lines):
                at += 1
                line = self._lines[at].rstrip()
            if line == "+":
                self._at, self._in_item = at + 1, True
                written.append(self._block())
                self._in_item = False
            elif (found := self._marked(line)) and found[0] not in marks:
                self._at = at
                written.append(self._list(marks))
            elif at > self._at and line[:1].isspace() and not found:
                self._at = at
                written.append(self._paragraph("", ""))
            elif line and at == self._at and (FENCE.fullmatch(line) or CALLOUT.match(line)):
                break
            else:
                break
        return "".join(written)

    def _goes_on(self, mark: str) -> bool:
        at = self._at
        while at < len(self._lines) and not self._lines[at].strip():
            at += 1
        if at < len(self._lines) and (found := self._marked(self._lines[at])) and found[0] == mark:
            self._at = at
            return True
        return False
