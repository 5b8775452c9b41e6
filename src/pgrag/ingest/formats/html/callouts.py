"""Notes, warnings and the like: how each theme writes them."""

import re

from pgrag.ingest.formats.html.dom import Attributes, Node, class_of, elements, tag_of

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


def kind_of(node: Node, tag: str, attributes: Attributes) -> str:
    """Return the kind of a box, such as "note"; "" for what is none."""
    names = class_of(attributes)
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


def title_of(node: Node) -> Node | None:
    """Return the element with the title of a box: its first one, or the first one inside it."""
    for _ in range(2):
        first = next(elements(node), None)
        if first is None:
            return None
        names = class_of(first.attributes)
        if tag_of(first) == "summary" or any(title in names.split() for title in _TITLES):
            return first
        if "admonitionHeading" in names:
            return first
        node = first
    return None


def first_line(kind: str, words: str) -> str:
    """Return the first line of a box: its kind and title; a title that is a kind is the kind."""
    name = re.sub(r"\W", "", words).lower()
    return f"[!{name}]" if name in _KINDS else f"[!{kind}] {words}".rstrip()
