"""Code blocks: their text without line numbers, and their language."""

import re

from pgrag.ingest.formats.html.dom import Node, class_of, tag_of, texts

_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:?|sourceCode)[- ]([\w+#.-]+)"
)
_NO_LANGUAGE = frozenset({
    "default", "none", "text", "plain", "plaintext", "txt", "notranslate", "highlight",
    "literal-block", "console-output", "line-numbers", "numberlines", "wrapper", "linenums",
    "copy",
})  # fmt: skip
_SAME = {"python3": "python", "py": "python", "ipython3": "python", "shell-session": "console"}
_NUMBERS = frozenset(("linenos", "lineno", "line-numbers", "line-number", "ln", "lnt", "hljs-ln"))
#: How far above the code a theme writes its language.
_LEVELS = 6


def code_of(node: Node) -> str:
    """Return the text of a `<pre>` as it is shown."""
    parts = texts(node, lambda each: not _NUMBERS.isdisjoint(class_of(each.attributes).split()))
    text = "".join(parts).replace("\r\n", "\n").replace("\u00a0", " ").replace("\u200b", "")
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def language_of(node: Node) -> str:
    """Return the language of a `<pre>`: from its `<code>`, its own class or those around it."""
    code = node.css_first("code")
    above: Node | None = node
    candidates = [] if code is None else [code]
    for _ in range(_LEVELS):
        if above is None or tag_of(above) in ("body", "main", "article", "section"):
            break
        candidates.append(above)
        above = above.parent
    for candidate in candidates:
        attributes = candidate.attributes
        written = attributes.get("data-lang") or attributes.get("data-language") or ""
        names = class_of(attributes)
        for name in (written, *_LANGUAGE.findall(names), *_bare(candidate, names)):
            language: str = name.lower()
            if language and language not in _NO_LANGUAGE:
                return _SAME.get(language, language)
    return ""


def _bare(node: Node, names: str) -> list[str]:
    """Return a language that is a class of its own, as rustdoc and pandoc write it."""
    listed = names.split()
    if "rust" in listed:
        return ["rust"]
    if tag_of(node) == "pre" and not {"sourceCode", "code"}.isdisjoint(listed):
        others = ("sourceCode", "numberSource", "code", "literal-block")
        return [name for name in listed if name not in others][:1]
    return []
