"""The blocks of AsciiDoc as HTML: sections, lists, code, tables, boxes."""

import re
from dataclasses import dataclass, field
from html import escape

from pgrag.ingest.formats.asciidoc.inline import UNTITLED, inline, quote_href, with_attributes
from pgrag.ingest.formats.asciidoc.tables import table

_ENTRY = re.compile(r":(!?[\w-]+!?):(?:\s+(.*))?")
_TITLE = re.compile(r"(={1,6}|#{1,6})\s+(\S.*)")
_UNDERLINES = "=-~^+"
_ID = re.compile(r"\[\[([\w.:-]+)(?:,[^\]]*)?\]\]|\[#([\w.:-]+)[^\]]*\]")
_LIST = re.compile(r"\s*(?P<mark>\*{1,6}|-|•|\.{1,6}|\d+\.|[a-zA-Z]\.)\s+(?P<text>\S.*)")
_TERM = re.compile(r"\s*(?P<term>\S.*?)(?P<mark>:{2,4}|;;)(?:\s+(?P<text>.*))?")
_CALLOUT = re.compile(r"<(\d+|\.)>\s+(.*)")
_BOX = re.compile(r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION):\s+")
_BOXES = frozenset(("NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"))
_FENCE = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|```[\w+-]*|[|,:!]===)\s*")
_MARK = re.compile(r"\s*(?:(?:<!--)|//|#|--|;;)?\s*<(?:\d+|\.)>(?:\s*-->)?(?=\s|$)")
_MOST_NESTED = 60


@dataclass(slots=True)
class Blocks:
    """Reads lines of a document. `attributes` are those in force; `unread` the files included."""

    attributes: dict[str, str]
    unread: list[str] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list)
    _at: int = 0
    _used: dict[str, int] = field(default_factory=dict)
    _depth: int = 0
    _in_item: bool = False
    _titles: dict[str, str] = field(default_factory=dict)

    def with_titles(self, html: str) -> str:
        """Put the titles of sections in the place of references to their ids."""
        pattern = f"{UNTITLED}([^{UNTITLED}]*){UNTITLED}"
        return re.sub(pattern, lambda match: self._titles.get(match[1], match[1]), html)

    def html(self, lines: list[str]) -> str:
        """Return lines as HTML; called again for the content of a block."""
        if self._depth > _MOST_NESTED:
            return f"<pre>{escape(chr(10).join(lines))}</pre>"
        saved = self._lines, self._at, self._in_item
        self._lines, self._at, self._in_item = lines, 0, False
        self._depth += 1
        written = []
        while self._at < len(self._lines):
            written.append(self._block())
        self._lines, self._at, self._in_item = saved
        self._depth -= 1
        return "\n".join(filter(None, written))

    def text(self, words: str) -> str:
        """Return a text with inline marks."""
        return inline(words, self.attributes)

    def _next(self) -> str:
        return self._lines[self._at] if self._at < len(self._lines) else ""

    def _block(self) -> str:
        """Read the next block, with the lines of attributes before it."""
        anchor, style, title = "", "", ""
        while self._at < len(self._lines):
            line = self._next().rstrip()
            if match := _ID.fullmatch(line):
                anchor = match[1] or match[2]
            elif re.fullmatch(r"\[(?:[\w\"'.#%,*=]|\s)?.*\]", line) and not line.startswith("[["):
                style = f"{style},{line[1:-1]}" if style else line[1:-1]
            elif re.fullmatch(r"\.[^\s.].*", line):
                title = line[1:]
            elif line.startswith("//") and not re.fullmatch("/{4,}", line):
                pass
            elif (entry := _ENTRY.fullmatch(line)) and not self._in_item:
                self._define(entry)
            elif line:
                break
            self._at += 1
        if self._at >= len(self._lines):
            return ""
        named = re.search(r"#([\w.:-]+)", style.partition(",")[0])
        if not anchor and (named or (named := re.search(r"\bid=\"?([\w.:-]+)", style))):
            anchor = named[1]
        mark = f'<a id="{anchor}"></a>' if anchor else ""
        caption = f"<p><strong>{self.text(title)}</strong></p>" if title else ""
        line = self._next().rstrip()
        if section := self._section(line, anchor):
            return section
        return mark + caption + self._content(line, style)

    def _define(self, entry: re.Match[str]) -> None:
        name, value = entry[1].lower(), entry[2] or ""
        while value.endswith((" \\", " +")) and self._at + 1 < len(self._lines):
            self._at += 1
            value = f"{value[:-2]} {self._next().strip()}"
        if "!" in name:
            self.attributes.pop(name.strip("!"), None)
        else:
            self.attributes[name] = with_attributes(value, self.attributes)

    def _section(self, line: str, anchor: str) -> str:
        match = _TITLE.fullmatch(line)
        below = self._lines[self._at + 1].rstrip() if self._at + 1 < len(self._lines) else ""
        if match:
            level, words = len(match[1]), match[2]
        elif _is_underlined(line, below):
            level, words = _UNDERLINES.index(below[0]) + 1, line
            self._at += 1
        else:
            return ""
        self._at += 1
        own = re.search(r"\[\[([\w.:-]+)\]\]", words)
        shown = self.text(re.sub(r"\s*\[\[[\w.:-]+\]\]|\s=+$", "", words))
        name = anchor or (own[1] if own else self._automatic(shown))
        self._titles.setdefault(name, shown)
        return f'<h{level} id="{name}">{shown}</h{level}>' if level > 1 else f"<h1>{shown}</h1>"

    def _automatic(self, shown: str) -> str:
        """Return the id that AsciiDoctor gives a title."""
        prefix = self.attributes.get("idprefix", "_")
        sign = self.attributes.get("idseparator", "_")[:1]
        plain = re.sub(r"<[^>]*>|&\w+;", "", shown).lower()
        name = prefix + re.sub(r"[\s.-]+", sign or "", re.sub(r"[^\w\s.-]", "", plain))
        name = name.rstrip(sign) if sign else name
        self._used[name] = self._used.get(name, 0) + 1
        return name if self._used[name] == 1 else f"{name}{sign}{self._used[name]}"

    def _content(self, line: str, style: str) -> str:
        kind = re.split(r"[,%#.]", style)[0].strip()
        if fence := _FENCE.fullmatch(line):
            return self._fenced(fence[1], kind, style)
        if macro := re.fullmatch(
            r"(image|video|audio|include|toc|ifdef|endif)::([^\[]*)\[(.*)\]", line
        ):
            self._at += 1
            return self._macro(*macro.groups())
        if re.fullmatch(r"'{3,}|<{3,}|-{3}|\*{3}", line):
            self._at += 1
            return ""
        if _CALLOUT.match(line):
            return self._callouts()
        is_verbatim = kind in ("source", "listing", "literal", "verse")
        return (not is_verbatim and self._list(())) or self._paragraph(kind, style)

    def _macro(self, name: str, target: str, words: str) -> str:
        target = with_attributes(target, self.attributes)
        if name == "include":
            self.unread.append(target)
            href = quote_href(target)
            is_page = target.endswith((".adoc", ".asciidoc"))
            shown = (
                f'<a href="{href}">{escape(target)}</a>'
                if is_page
                else f"<code>{escape(target)}</code>"
            )
            return f"<p>{shown}</p>"
        if name != "image":
            return ""
        alt = words.split(",", maxsplit=1)[0].strip('" ')
        return f'<p><img src="{quote_href(target)}" alt="{escape(alt)}"/></p>'

    def _fenced(self, mark: str, kind: str, style: str) -> str:
        self._at += 1
        start = self._at
        end = mark[:3] if mark.startswith("```") else mark
        while self._at < len(self._lines) and self._next().rstrip() != end:
            self._at += 1
        lines = self._lines[start : self._at]
        self._at += 1
        if mark[0] == "/" or kind == "comment":
            return ""
        if mark[1:] == "===" and mark[0] in "|,:!":
            return table(lines, style, mark[0], self.text, self.html)
        if mark[0] == "+":
            is_math = kind in ("stem", "latexmath", "asciimath")
            body = "\n".join(lines)
            return rf'<p><span class="math">\[{escape(body)}\]</span></p>' if is_math else body
        if mark[0] in "-.`" and mark != "--":
            return self._code(lines, style, mark[3:] if mark[0] == "`" else "")
        if mark == "--" and kind in ("source", "listing", "literal"):
            return self._code(lines, style, "")
        inner = self.html(lines)
        return self._wrapped(kind, style, inner, quotes=mark[0] == "_")

    def _wrapped(self, kind: str, style: str, inner: str, *, quotes: bool) -> str:
        if kind in _BOXES:
            return _box(kind, inner)
        if quotes or kind in ("quote", "verse"):
            by = ", ".join(filter(None, (part.strip() for part in style.split(",")[1:])))
            return f"<blockquote>{inner}{f'<p>— {self.text(by)}</p>' if by else ''}</blockquote>"
        return f"<div>{inner}</div>"

    def _code(self, lines: list[str], style: str, language: str) -> str:
        parts = [part.strip() for part in style.split(",")]
        if parts[0].startswith(("source", ",")) or not parts[0]:
            language = language or (parts[1] if len(parts) > 1 and "=" not in parts[1] else "")
            language = language or self.attributes.get("source-language", "") * bool(parts[0])
        code = "\n".join(_MARK.sub("", line) if "<" in line else line for line in lines)
        for included in re.findall(r"^include::([^\[]+)\[", code, re.MULTILINE):
            self.unread.append(with_attributes(included, self.attributes))
        code = with_attributes(code, self.attributes) if "attributes" in style else code
        classes = f' class="language-{escape(language)}"' if language else ""
        return f"<pre><code{classes}>{escape(code, quote=False)}</code></pre>"

    def _callouts(self) -> str:
        items = []
        while match := _CALLOUT.match(self._next()):
            self._at += 1
            items.append(f"<li>{self.text(' '.join([match[2], *self._more()]))}</li>")
        return f"<ol>{''.join(items)}</ol>"

    def _more(self) -> list[str]:
        """Return the lines that continue a paragraph."""
        start = self._at
        while self._at < len(self._lines):
            line = self._next().rstrip()
            is_new = _LIST.fullmatch(line) or _CALLOUT.match(line) or _FENCE.fullmatch(line)
            if (
                not line
                or line == "+"
                or is_new
                or re.fullmatch(r"\[\[?[\w#.,%\"= *-]+\]?\]", line)
            ):
                break
            if (term := _TERM.fullmatch(line)) and not re.search(r"https?$|\w::?\[", term["term"]):
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
        if match := _LIST.fullmatch(line.rstrip()):
            mark = match["mark"]
            return ("." if mark[0] not in "*.-•" else mark), "", match["text"]
        term = _TERM.fullmatch(line.rstrip())
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
            elif line and at == self._at and (_FENCE.fullmatch(line) or _CALLOUT.match(line)):
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

    def _paragraph(self, kind: str, style: str) -> str:
        start = self._at
        is_literal = self._next()[:1].isspace()
        self._at += 1
        while self._at < len(self._lines) and (line := self._next().rstrip()):
            if _FENCE.fullmatch(line) or line == "+":
                break
            if self._in_item and self._marked(line):
                break
            if re.fullmatch(r"\[[\w#.,%\"= *-]+\]|\[\[[\w.:-]+\]\]", line):
                break
            self._at += 1
        lines = [line for line in self._lines[start : self._at] if not line.startswith("//")]
        if is_literal or kind in ("source", "listing", "literal"):
            indent = min(
                (len(each) - len(each.lstrip()) for each in lines if each.strip()), default=0
            )
            return self._code([each[indent:] for each in lines], style or "literal", "")
        if kind in ("stem", "latexmath"):
            return rf'<p><span class="math">\[{escape(chr(10).join(lines))}\]</span></p>'
        words = "\n".join(lines)
        if box := _BOX.match(words):
            return _box(box[1], f"<p>{self.text(words[box.end() :])}</p>")
        inner = f"<p>{self.text(words)}</p>"
        return self._wrapped(kind, style, inner, quotes=False) if kind else inner


def _is_underlined(title: str, line: str) -> bool:
    is_line = len(line) > 2 and line[0] in _UNDERLINES and line == line[0] * len(line)
    is_title = bool(title) and title[0].isalnum() and not title.startswith(("|", "+"))
    return is_line and is_title and abs(len(line) - len(title)) <= 2


def _box(kind: str, inner: str) -> str:
    title = f'<p class="admonition-title">{kind.title()}</p>'
    return f'<div class="admonition {kind.lower()}">{title}{inner}</div>'
