"""The blocks of AsciiDoc as HTML: sections, code, tables, boxes."""

import re
from html import escape

from pgrag.ingest.formats.asciidoc.inline import (
    LONGEST_VALUE,
    UNTITLED,
    quote_href,
    with_attributes,
)
from pgrag.ingest.formats.asciidoc.lists import CALLOUT, FENCE, Lists
from pgrag.ingest.formats.asciidoc.tables import table

_ENTRY = re.compile(r":(!?[\w-]+!?):(?:\s+(.*))?")
_TITLE = re.compile(r"(={1,6}|#{1,6})\s+(\S.*)")
_UNDERLINES = "=-~^+"
_ID = re.compile(r"\[\[([\w.:-]+)(?:,[^\]]*)?\]\]|\[#([\w.:-]+)[^\]]*\]")
_BOX = re.compile(r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION):\s+")
_BOXES = frozenset(("NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"))
_MARK = re.compile(r"\s*(?:(?:<!--)|//|#|--|;;)?\s*<(?:\d+|\.)>(?:\s*-->)?(?=\s|$)")
_MOST_NESTED = 60


class Blocks(Lists):
    """Reads the lines of a document."""

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
            self.attributes[name] = with_attributes(value, self.attributes)[:LONGEST_VALUE]

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
        if fence := FENCE.fullmatch(line):
            return self._fenced(fence[1], kind, style)
        if macro := re.fullmatch(
            r"(image|video|audio|include|toc|ifdef|endif)::([^\[]*)\[(.*)\]", line
        ):
            self._at += 1
            return self._macro(*macro.groups())
        if re.fullmatch(r"'{3,}|<{3,}|-{3}|\*{3}", line):
            self._at += 1
            return ""
        if CALLOUT.match(line):
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

    def _paragraph(self, kind: str, style: str) -> str:
        start = self._at
        is_literal = self._next()[:1].isspace()
        self._at += 1
        while self._at < len(self._lines) and (line := self._next().rstrip()):
            if FENCE.fullmatch(line) or line == "+" or re.match(r"include::[^\[\s]+\[", line):
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
