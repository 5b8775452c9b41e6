"""Boxes, definition lists and code: what HTML says only by classes."""

import re
from collections.abc import Iterator

from pgrag.ingest.formats.html import dom

#: A longer signature is too long for a heading.
LONGEST_HEADING = 120


def groups(node: dom.Node) -> list[tuple[list[dom.Node], list[dom.Node]]]:
    """Return the entries of a list: the terms of each, and the definitions that they share."""
    pairs: list[tuple[list[dom.Node], list[dom.Node]]] = []
    for child in _parts(node):
        is_term = dom.tag_of(child) == "dt"
        if not pairs or (is_term and pairs[-1][1]):
            pairs.append(([], []))
        pairs[-1][0 if is_term else 1].append(child)
    return pairs


def _parts(node: dom.Node) -> Iterator[dom.Node]:
    for child in dom.elements(node):
        if dom.tag_of(child) == "div":  # which may group a term with its definitions
            yield from (each for each in dom.elements(child) if dom.tag_of(each) in ("dt", "dd"))
        else:
            yield child


def is_published(node: dom.Node) -> bool:
    """Whether the terms of a list are published with ids, and so are sections of their page."""
    if dom.has_class(node, "footnote", "citation"):
        return False
    return any(
        term.attributes.get("id") or term.css_first("a.headerlink, a.id_link, a.permalink")
        for term in _parts(node)
        if term.tag == "dt"
    )


def is_signature(term: dom.Node) -> bool:
    """Whether a term is the signature of a function, a class or an option, as Sphinx writes it."""
    return "sig-object" in dom.class_of(term.attributes) or term.css_first(".descname") is not None


def shortened(signature: str) -> str:
    """Return a signature without its arguments if it is too long for a heading."""
    if len(signature) <= LONGEST_HEADING:
        return signature
    name = signature.partition("(")[0]
    return f"{name}(…)" if len(name) < LONGEST_HEADING else name[:LONGEST_HEADING] + "…"


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


def code_of(node: dom.Node) -> str:
    """Return the text of a `<pre>` as it is shown."""
    parts = dom.texts(
        node, lambda each: not _NUMBERS.isdisjoint(dom.class_of(each.attributes).split())
    )
    text = "".join(parts).replace("\r\n", "\n").replace("\u00a0", " ").replace("\u200b", "")
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


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


_KINDS = (
    "note", "tip", "info", "hint", "important", "warning", "caution", "danger", "attention",
    "error", "seealso", "success", "question", "failure", "bug", "example", "quote",
    "abstract", "todo", "check", "deprecated",
)  # fmt: skip
_BOXES = re.compile(
    r"(?:^|\s)(?:admonition(?:block)?|theme-admonition|custom-block|markdown-alert|alert"
    r"|starlight-aside|callout|warning)(?=\s|$|--)"
)
#: DocBook's boxes have no class but their kind, and a heading for a title.
_DOCBOOK = frozenset(("note", "tip", "warning", "caution", "important"))
_TITLES = (
    "admonition-title", "custom-block-title", "markdown-alert-title", "alert-heading",
    "starlight-aside__title", "callout-title", "title",
)  # fmt: skip
_ALERTS = {"primary": "note", "secondary": "note", "success": "tip"}


def kind_of(node: dom.Node, tag: str, attributes: dom.Attributes) -> str:
    """Return the kind of a box, such as "note"; "" for what is none."""
    names = dom.class_of(attributes)
    if tag not in ("div", "aside", "details", "section") or not names:
        return ""
    listed = names.lower().split()
    if not _BOXES.search(names) and not (len(listed) == 1 and listed[0] in _DOCBOOK):
        return ""
    parts = {part for name in listed for part in re.split(r"-+|_", name)}
    kind = next((kind for kind in _KINDS if kind in parts), "")
    if not kind and ("alert" in listed or attributes.get("role") == "alert"):
        kind = next((kind for name, kind in _ALERTS.items() if name in parts), "note")
    return kind or ("note" if "admonition" in listed or "custom-block" in listed else "")


def title_of(node: dom.Node) -> dom.Node | None:
    """Return the element with the title of a box: its first one, or the first one inside it."""
    for _ in range(2):
        first = next(dom.elements(node), None)
        if first is None:
            return None
        is_titled = dom.has_class(first, *_TITLES) or dom.tag_of(first) == "summary"
        if is_titled or "admonitionHeading" in dom.class_of(first.attributes):
            return first
        node = first
    return None


def first_line(kind: str, words: str) -> str:
    """Return the first line of a box: kind and title, or the title alone if it names a kind."""
    name = re.sub(r"\W", "", words).lower()
    return f"[!{name}]" if name in _KINDS else f"[!{kind}] {words}".rstrip()
