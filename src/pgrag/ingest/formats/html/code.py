"""Code in HTML as it is shown: line by line, without numbers of lines and buttons."""

import re
from functools import lru_cache
from textwrap import dedent

from pgrag.ingest.formats.html import dom
from pgrag.ingest.text.raised import lowered, raised

_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:?|sourceCode)[- ]([\w+#.-]+)"
)
_NO_LANGUAGE = frozenset({
    "default", "none", "text", "plain", "plaintext", "txt", "notranslate", "highlight",
    "literal-block", "console-output", "line-numbers", "numberlines", "wrapper", "linenums",
    "copy",
})  # fmt: skip
_SAME = {"python3": "python", "py": "python", "ipython3": "python", "shell-session": "console"}
#: How far above the code a theme writes its language.
_LEVELS = 6

_NUMBERS = re.compile(
    r"(?:^|[\s_-])(?:line-?num(?:ber)?s?|linenos?|linenr|gutter|blob-num|crayon-nums?|hljs-ln-n\w*)"
    r"(?:$|[\s_-])|(?:^|\s)lnt?(?:$|\s)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[\d\s.:]*")
_COPY = re.compile(
    r"(?:^|[\s_-])(?:copy|copied|copybtn|copybutton|clipboard|btn|button)(?:$|[\s_-])",
    re.IGNORECASE,
)
_LONGEST_LABEL = 30
_CONTROLS = frozenset((
    "button", "script", "style", "template", "svg", "input", "select", "clipboard-copy",
))  # fmt: skip
#: Classes of elements that hold a line each, though they need not be blocks.
_LINES = frozenset(("line", "token-line", "code-line", "ec-line", "view-line", "hljs-ln-line"))
_SHOWN_AS_BLOCK = re.compile(r"display\s*:\s*(?:block|flex|grid|list-item|table)\b")
_PRESERVED = re.compile(r"white-space\s*:\s*(?:pre|break-spaces)")
#: The last are what Doxygen shows when the mouse is over a name.
_HIDDEN = frozenset(("sr-only", "visually-hidden", "screen-reader-text", "ttc"))
_STACKED = dom.BLOCKS - {"td", "th"}
_DEEPEST = 100


def code_of(node: dom.Node) -> str:
    """Return the text of code as it is shown."""
    reader = _Lines()
    text = reader.read(node).replace("\r\n", "\n").replace("\u00a0", " ").replace("\u200b", "")
    text = "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
    return dedent(text) if reader.has_numbers else text


class _Lines:
    """Reads code; with `has_numbers` numbers of lines were left out, whose indents remain."""

    def __init__(self) -> None:
        self.has_numbers = False

    def read(self, node: dom.Node, depth: int = 0) -> str:
        """Return the text in an element; a block in it ends its line, once."""
        if depth > _DEEPEST:
            return node.text(deep=True)
        parts: list[str] = []
        ended = True  # whether a block ended the line
        awaits_break = False  # whether an inline element was the line, which `<br>` ends
        for child in dom.children(node):
            tag = dom.tag_of(child)
            if tag == dom.TEXT:
                text = child.text_content or ""
                if ended and parts:
                    text = re.sub(r"^[ \t]*\r?\n[ \t]*(?!.)|^\r?\n", "", text)
                if text:
                    parts.append(text)
                    ended = awaits_break = False
            elif tag == "br":
                if not awaits_break:
                    parts.append("\n")
                ended = awaits_break = False
            elif tag[0] != "-" and not self._is_left_out(child, tag, child.attributes):
                text, is_line = self._element(child, tag, depth)
                if is_line and parts and not parts[-1].endswith("\n"):
                    parts.append("\n")
                if text:
                    parts.append(text)
                    ended = is_line
                    is_inline = tag not in dom.BLOCKS and not _is_block(child.attributes)
                    awaits_break = is_line and is_inline
        return "".join(parts)

    def _element(self, node: dom.Node, tag: str, depth: int) -> tuple[str, bool]:
        """Return the text of an element, and whether it has lines of its own."""
        only = node.child
        if only is not None and only.next is None and dom.tag_of(only) == dom.TEXT:
            text = only.text_content or ""
        else:
            text = self.read(node, depth + 1)
        if tag in ("sup", "sub"):
            return (raised if tag == "sup" else lowered)(text), False
        attributes = node.attributes
        is_line = tag in ("li", "tr") or (
            bool(attributes)
            and tag not in ("td", "th")
            and ("data-line" in attributes or "line" in _kinds(attributes.get("class")))
        )
        is_block = is_line or tag in _STACKED or _is_block(attributes)
        if is_block and (text or (is_line and node.child is None)):
            return text.removesuffix("\n") + "\n", True
        return text, is_block

    def _is_left_out(self, node: dom.Node, tag: str, attributes: dom.Attributes) -> bool:
        if tag in _CONTROLS:
            return True
        if not attributes:
            return False
        kinds = _kinds(attributes.get("class"))
        if are_numbers(node, attributes):
            self.has_numbers = True
            return True
        if "copy" in kinds and tag != "code":
            return len(dom.all_text(node)) <= _LONGEST_LABEL
        return (
            "hidden" in kinds
            or attributes.get("role") == "button"
            or attributes.get("aria-hidden") == "true"
        )


def are_numbers(node: dom.Node, attributes: dom.Attributes) -> bool:
    """Whether an element shows the numbers of lines of code."""
    is_named = "number" in _kinds(attributes.get("class"))
    return is_named and _NUMBER.fullmatch(dom.all_text(node)) is not None


@lru_cache(1000)
def _kinds(written: str | None) -> frozenset[str]:
    """Return what classes say of an element in code: number, copy, line, hidden."""
    names = written or ""
    listed = frozenset(names.split())
    says = {
        "number": _NUMBERS.search(names),
        "copy": _COPY.search(names),
        "line": not _LINES.isdisjoint(listed),
        "hidden": not _HIDDEN.isdisjoint(listed),
    }
    return frozenset(kind for kind, is_said in says.items() if is_said)


def _is_block(attributes: dom.Attributes) -> bool:
    style = attributes.get("style")
    return bool(style and _SHOWN_AS_BLOCK.search(style))


def is_shown_as_code(node: dom.Node, tag: str, attributes: dom.Attributes) -> bool:
    """Whether an element is a block of code without `<pre>`: by its style, or that of its theme."""
    if tag == "code":
        only = node.child
        if not attributes and (only is None or only.next is None):
            return False
        is_preserved = _PRESERVED.search(attributes.get("style") or "") is not None
        return is_preserved or _is_block(attributes) or node.css_first("br") is not None
    if tag in ("xmp", "listing", "plaintext"):
        return True
    names = dom.class_of(attributes)
    if tag == "div":  # of Doxygen
        return "fragment" in names.split() and node.css_first("div.line, pre") is not None
    if tag == "table":  # of GitHub and SyntaxHighlighter
        return node.css_first("td.blob-code, td.code .line, td.hljs-ln-code") is not None
    return False


def language_of(node: dom.Node) -> str:
    """Return the language of a `<pre>`: from its `<code>`, its own class or those around it."""
    code = node.css_first("code")
    above: dom.Node | None = node
    candidates = [] if code is None else [code]
    for _ in range(_LEVELS):
        if above is None or dom.tag_of(above) in ("body", "main", "article", "section"):
            break
        candidates.append(above)
        above = above.parent
    for candidate in candidates:
        attributes = candidate.attributes
        written = attributes.get("data-lang") or attributes.get("data-language") or ""
        names = dom.class_of(attributes)
        for name in (written, *_LANGUAGE.findall(names), *_bare(candidate, names)):
            language: str = name.lower()
            if language and language not in _NO_LANGUAGE:
                return _SAME.get(language, language)
    return ""


def _bare(node: dom.Node, names: str) -> list[str]:
    """Return a language that is a class of its own, as rustdoc and pandoc write it."""
    listed = names.split()
    if "rust" in listed:
        return ["rust"]
    if dom.tag_of(node) == "pre" and not {"sourceCode", "code"}.isdisjoint(listed):
        others = ("sourceCode", "numberSource", "code", "literal-block")
        return [name for name in listed if name not in others][:1]
    return []
