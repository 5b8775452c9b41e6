"""Boxes and definition lists: what HTML says only by classes."""

import re
from collections.abc import Iterator

from pgrag.ingest.formats.html import dom

#: A longer signature is too long for a heading.
LONGEST_HEADING = 120
_LONGEST_LINE = 80
_PUBLISHED_TERMS = (
    "dt[id], dl > a[name]:not([href]), dt a[id]:not([href]), dt a[name]:not([href]), dt span[id], dt code[id],"
    " dt a.headerlink, dt a.id_link, dt a.permalink, dt a.copiable-link, dt a.copiable-anchor"
)


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
    """Yield terms, definitions and what else is in a list; a `<div>` may group the first two."""
    for child in dom.children(node):
        tag = dom.tag_of(child)
        if tag == "div" and any(dom.tag_of(each) in ("dt", "dd") for each in dom.elements(child)):
            yield from _parts(child)
        elif tag[0] != "-" or (tag == dom.TEXT and (child.text_content or "").strip()):
            yield child


def published_lists(node: dom.Node) -> list[dom.Node]:
    """Return the lists whose terms are published with ids, and so are sections of their page."""
    lists: dict[int, dom.Node] = {}
    for each in node.css(_PUBLISHED_TERMS):
        above: dom.Node | None = each
        while above is not None and dom.tag_of(above) != "dl":
            above = above.parent
        if above is not None and not dom.has_class(above, "footnote", "citation"):
            lists[above.mem_id] = above
    return [*lists.values()]


def level_of(tag: str, attributes: dom.Attributes) -> int:
    """Return the level of a heading."""
    level = attributes.get("aria-level") or "2"
    return int(tag[1]) if tag in dom.HEADINGS else int(level) if level in "123456" else 6


def is_bold_line(node: dom.Node) -> bool:
    """Whether a paragraph is one short bold line, as pages without headings write theirs."""
    bold = node.css_first("b, strong")
    words = dom.all_text(node) if bold is not None else ""
    return (
        bold is not None
        and 0 < len(words) <= _LONGEST_LINE
        and words[-1] not in ".,;"
        and words == dom.all_text(bold)
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
