"""Boxes and headings: what HTML says only by classes and roles."""

import re

from pgrag.ingest.formats.html import dom

#: A longer line is a paragraph.
_LONGEST_LINE = 80


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
