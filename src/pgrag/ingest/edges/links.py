"""Find the links in the text of a page, in every syntax of Markdown and its dialects."""

import html
import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

from pgrag.ingest.text import kumascript
from pgrag.ingest.values import Prose, definition_label

MAX_TARGET = 1000
"""Longer targets are data, not addresses."""

_MAX_TEXT = 1000

_SIGN = re.compile(r"[`\[\]<\\{$#]|%%")
_RELATION = re.compile(r"rel:[ \t]*(?P<kind>\w[\w-]*)?(?:[ \t]+(?P<target>.*))?", re.IGNORECASE)
_TICKS = re.compile(r"`+")
_WIKILINK = re.compile(
    r"\[\[(?P<target>[^\[\]\n|]{0,500}?)(?:\\?\|(?P<alias>[^\n]{0,500}?))?\]\](?P<more>\(?)"
)
_SHORTCODE = r"\{\{[<%][^\n]{0,500}?[>%]\}\}"
_DESTINATION = re.compile(
    r"\(\s*+(?:<(?P<angle>[^<>\n]{0,2000})>"
    rf"|(?!<)(?P<bare>(?:{_SHORTCODE}|\\[!-~]|[^\s()\\]"
    r"|\((?:\\[!-~]|[^\s()\\]|\([^\s()]{0,500}\)){0,500}+\)){0,2000}+))"
    r"(?:\s++(?:\"(?:\\.|[^\"\\]){0,1000}+\"|'(?:\\.|[^'\\]){0,1000}+'|\([^()]{0,1000}+\)))?\s*+\)"
)
_LABEL = re.compile(r"\[((?:\\.|[^\[\]\\]){0,999}+)\]")
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\s]{1,2000})>")
_TAG = re.compile(
    r"<(?P<name>/?[A-Za-z][\w-]*+)(?P<attributes>(?:\s*+(?:\"(?:"
    rf"{_SHORTCODE}|[^\"]){{0,2000}}+\"|'[^']{{0,2000}}+'|[^<>\"'\s]++)){{0,100}}+)\s*+>"
)
_REFERENCE_ATTRIBUTE = re.compile(
    rf"(?<![\w-])(?:href|src)\s*=\s*(?:\"((?:{_SHORTCODE}|[^\"])*+)\"|'([^']*+)'|([^\s\"'>]++))",
    re.IGNORECASE,
)
_HUGO_REFERENCE = re.compile(r"\{\{[<%]\s*(?:rel)?ref\s+[\"`]?([^\"`\s]+)[\"`]?[^\n]*?[>%]\}\}")
_SKIPPED_MACRO = re.compile(rf"{_SHORTCODE}|\{{:?[ \t]*[#.][^{{}}\n]{{0,500}}\}}")
_MACRO = re.compile(r"\{\{\s*([A-Za-z][\w-]*)\s*(?:\(([^{}]{0,1000}?)\)\s*)?\}\}")
_MATH = re.compile(r"\$\$.*?\$\$|\$(?![\s$])(?:\\.|[^$\n\\]){0,500}?(?<!\s)\$(?![\w$])", re.DOTALL)
# Obsidian's rule: no spaces, no punctuation that ends a tag, and not only digits
_TAG_NAME = re.compile(r"#(?P<name>[^\s\u2000-\u206f\u2e00-\u2e7f!-,.:-@\[-^`{-~]+)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_NO_ADDRESS = re.compile(r"data:|\{\{(?![<%])|\$\{")
_SIZE = re.compile(r"\d+(?:x\d+)?")
_IS_ADDRESS = re.compile(r"[/.#:{]")
_COMMENT_ENDS = {"<!--": "-->", "{/*": "*/}", "%%": "%%"}
_COMMENT_SIGNS = frozenset({"<", "{", "%%"})


@dataclass(frozen=True, slots=True)
class Link:
    """One link as written, from offset `start` to `end` of its block. `form` is "wikilink", "link",
    "embed" (`![[note]]` and images) or "tag". `fragment` is the part of the target after "#", or
    None. `words` is the link text as Markdown. `relation` is the kind in `[[rel:kind note]]` (the
    note is optional), else None.
    """

    form: str
    block: int
    start: int
    end: int
    target: str
    fragment: str | None
    words: str
    relation: str | None = None


def find_links(prose: Prose) -> list[Link]:
    """Return links and tags in source order; code, comments and formulas hold none."""
    return sorted(_Finder(prose).links(), key=lambda link: (link.block, link.start))


def split_target(written: str) -> tuple[str, str | None]:
    """Split an address at its "#"."""
    target, sign, fragment = written.partition("#")
    return target.strip(), fragment.strip() if sign else None


class _Finder:
    def __init__(self, prose: Prose) -> None:
        self._prose = prose
        self._text = "\n\n".join(block.text for block in prose.blocks)
        self._unclosed: set[str] = set()
        self._runs: dict[int, list[int]] | None = None
        self._links: list[Link] = []
        self._number = self._begin = self._end = 0
        #: Readers of the syntax that starts with a sign; each returns the offset of its end.
        self._html_readers: dict[str, Callable[[int], int]] = {"<": self._tag}
        self._readers: dict[str, Callable[[int], int]] = {
            "<": self._tag,
            "`": self._code,
            "{": self._macro,
            "$": self._formula,
            "#": self._hashtag,
            "\\": lambda at: at + 2,
        }

    def links(self) -> list[Link]:
        begin = position = 0
        for number, block in enumerate(self._prose.blocks):
            end = begin + len(block.text)
            if position < end:
                self._number, self._begin, self._end = number, begin, end
                position = self._read(max(position, begin), is_html=block.kind == "html")
            begin = end + 2
        return self._links

    def _read(self, position: int, *, is_html: bool) -> int:
        """Find the links of one block; returns the end, which a comment may move further."""
        text, begin, end = self._text, self._begin, self._end
        brackets: list[tuple[int, bool]] = []
        readers = self._html_readers if is_html else self._readers
        while match := _SIGN.search(text, position, end):
            at, sign = match.start(), match[0]
            position = match.end()
            if sign in _COMMENT_SIGNS and (after := self._comment(at)):
                position = after
            elif reader := readers.get(sign):
                position = reader(at)
            elif is_html:
                continue
            elif sign == "[":
                if after := self._wikilink(at):
                    position = after
                else:
                    brackets.append((at, at > begin and text[at - 1] == "!"))
            elif sign == "]" and brackets:
                position = self._close(brackets, at)
        return max(position, end)

    def _add(
        self,
        form: str,
        span: tuple[int, int],
        written: str,
        words: str,
        relation: str | None = None,
    ) -> None:
        if form == "tag":
            target, fragment = written, None
        else:
            target, fragment = split_target(written)
        is_empty = not (target or fragment) and relation is None
        # a data: address or a template variable names no page
        if is_empty or len(written) > MAX_TARGET or _NO_ADDRESS.match(target):
            return
        start, end = span[0] - self._begin, span[1] - self._begin
        self._links.append(
            Link(form, self._number, start, end, target, fragment, words[:_MAX_TEXT], relation)
        )

    def _comment(self, at: int) -> int:
        """Return the end of the comment that begins here; 0 if there is none or it is unclosed."""
        for opener, closer in _COMMENT_ENDS.items():
            if opener not in self._unclosed and self._text.startswith(opener, at):
                end = self._text.find(closer, at + len(opener))
                if end >= 0:
                    return end + len(closer)
                # repeated failing searches for the closer would take quadratic time
                self._unclosed.add(opener)
        return 0

    def _code(self, at: int) -> int:
        if self._runs is None:
            self._runs = {}
            for run in _TICKS.finditer(self._text):
                self._runs.setdefault(len(run[0]), []).append(run.start())
        ticks = _TICKS.match(self._text, at)
        size = len(ticks[0]) if ticks else 1
        closers = self._runs.get(size, [])
        index = bisect_left(closers, at + size)
        if index < len(closers) and closers[index] < self._end:
            return closers[index] + size
        return at + size

    def _formula(self, at: int) -> int:
        """Return the end of a formula; two prices with a link between them are not a formula."""
        if at > self._begin and (self._text[at - 1] == "$" or self._text[at - 1].isalnum()):
            return at + 1
        match = _MATH.match(self._text, at, self._end)
        return match.end() if match and "](" not in match[0] else at + 1

    def _wikilink(self, at: int) -> int:
        match = _WIKILINK.match(self._text, at, self._end)
        if not match:
            return 0
        if match["more"]:
            # `[[1]](address)` is a Markdown link
            address = _DESTINATION.match(self._text, match.end() - 1, self._end)
            if address and _IS_ADDRESS.search(address[0]):
                return 0
        is_embed = at > self._begin and self._text[at - 1] == "!"
        target, alias, relation = match["target"].strip(), match["alias"], None
        if not is_embed and (named := _RELATION.fullmatch(target)):
            target, relation = (named["target"] or "").strip(), named["kind"] or ""
        words = target if alias is None else alias.strip()
        if is_embed and alias and _SIZE.fullmatch(words):
            words = ""
        after = match.end() - len(match["more"])
        form = "embed" if is_embed else "wikilink"
        self._add(form, (at - is_embed, after), target, words, relation)
        return after

    def _close(self, brackets: list[tuple[int, bool]], at: int) -> int:
        opened, is_image = brackets.pop()
        words = self._text[opened + 1 : min(at, opened + 1 + _MAX_TEXT)]
        written: str | None = None
        after = at + 1
        if match := _DESTINATION.match(self._text, after, self._end):
            written = _address(match["bare"] if match["angle"] is None else match["angle"])
            after = match.end()
        elif self._prose.definitions:
            label = _LABEL.match(self._text, after, self._end)
            name = label[1] if label and label[1].strip() else words
            written = self._prose.definitions.get(definition_label(name))
            if written is not None and label:
                after = label.end()
        if written is None:
            return at + 1
        self._add("embed" if is_image else "link", (opened - is_image, after), written, words)
        if not is_image:
            # links cannot nest, so enclosing brackets are not a link
            brackets[:] = [bracket for bracket in brackets if bracket[1]]
        return after

    def _tag(self, at: int) -> int:
        if match := _AUTOLINK.match(self._text, at, self._end):
            self._add("link", (at, match.end()), match[1], match[1])
            return match.end()
        match = _TAG.match(self._text, at, self._end)
        if not match:
            return at + 1
        name = match["name"].lower()
        if name in {"a", "img"} and (reference := _REFERENCE_ATTRIBUTE.search(match["attributes"])):
            written = _address(reference[1] or reference[2] or reference[3] or "")
            after = match.end()
            words = ""
            if name == "a":
                closed = self._text.find("</a", after, min(self._end, after + _MAX_TEXT))
                words = self._text[after:closed] if closed >= 0 else ""
            self._add("embed" if name == "img" else "link", (at, after), written, words)
        return match.end()

    def _macro(self, at: int) -> int:
        if match := _SKIPPED_MACRO.match(self._text, at, self._end):
            return match.end()
        if match := _MACRO.match(self._text, at, self._end):
            if page := kumascript.target(match[1], match[2]):
                words = kumascript.words(match[1], match[2]) or ""
                self._add("link", (at, match.end()), page, words)
            return match.end()
        return at + 1

    def _hashtag(self, at: int) -> int:
        if at > self._begin and not self._text[at - 1].isspace():
            return at + 1
        match = _TAG_NAME.match(self._text, at, self._end)
        if not match:
            return at + 1
        name = match["name"].rstrip("/")
        if name and name[0] != "/" and not name.isdecimal():
            self._add("tag", (at, match.end()), name, name)
        return match.end()


def _address(written: str) -> str:
    """Return an address without escapes, and the page named by Hugo's `{{< ref "page" >}}`."""
    if "{{" in written:
        written = _HUGO_REFERENCE.sub(lambda match: match[1], written)
    if "\\" in written:
        written = _ESCAPED.sub(r"\1", written)
    return (html.unescape(written) if "&" in written else written).strip()
