"""Helpers for the nodes of a parsed page."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from selectolax.lexbor import LexborNode

Node = LexborNode

TEXT = "-text"
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog",
    "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1",
    "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "legend", "li", "main", "menu",
    "nav", "ol", "optgroup", "p", "pre", "search", "section", "summary", "table", "tbody",
    "td", "tfoot", "th", "thead", "tr", "ul",
})  # fmt: skip
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))

SKIPPED_TAGS = frozenset({
    "script", "style", "noscript", "template", "iframe", "object", "embed", "canvas",
    "button", "input", "select", "textarea", "nav", "dialog", "audio", "video", "map",
    "colgroup", "col", "link", "meta", "title", "head", "wbr",
})  # fmt: skip
#: What themes put into the content beside the text; the order is that of the generators.
_SKIPPED_CLASSES = frozenset({
    # Sphinx
    "headerlink", "viewcode-link", "linenos", "lineno", "sphinxsidebar", "prev-next-area",
    # MkDocs
    "md-content__button", "md-source-file", "md-feedback", "md-tags", "md-annotation__index",
    # Docusaurus
    "hash-link", "theme-doc-breadcrumbs", "theme-doc-footer", "pagination-nav",
    "theme-edit-this-page", "tocCollapsible", "theme-doc-toc-mobile", "theme-doc-version-badge",
    # VitePress
    "header-anchor", "line-numbers-wrapper", "VPDocFooter", "vp-doc-footer", "edit-link",
    # Docsy
    "td-page-meta", "td-heading-self-link", "feedback--link", "print-show",
    # rustdoc, Jupyter
    "anchor-link", "doc-anchor", "test-arrow",
    # Doxygen, MediaWiki, DokuWiki
    "ttc", "mw-editsection", "mw-jump-link", "printfooter", "catlinks", "secedit",
    # DocBook
    "navheader", "navfooter", "id_link",
    # others
    "skip-nav", "copy-btn", "copybtn", "clipboard-button", "sr-only", "visually-hidden",
    "screen-reader-text", "edit-page-link", "edit-this-page", "breadcrumb", "breadcrumbs",
    "toc-nav", "cookie-banner", "cookie-consent",
})  # fmt: skip
_BANNER = re.compile(r"(?:cookie|consent|gdpr)[-_]?(?:bar|banner|notice|popup|dialog|modal|law)")
_SKIPPED_ROLES = frozenset(("navigation", "search", "dialog", "alertdialog", "menu", "menubar"))
_HIDING = frozenset(("hidden", "aria-hidden", "role", "style"))
_TAB = re.compile(r"(?:^|[\s_-])tab(?:s|bed)?(?=$|[\s_-])|tab(?:Item|panel|pane)", re.IGNORECASE)
_NO_DISPLAY = re.compile(r"display\s*:\s*none", re.IGNORECASE)
MAYBE_SKIPPED = '[class], [id], [hidden], [aria-hidden], [role], [style*="display" i]'
"""Selects the elements that `is_skipped` leaves out for more than their name."""

Attributes = dict[str, str | None]


def tag_of(node: Node) -> str:
    """Return the name of an element; that of text and comments begins with "-"."""
    return node.tag or "-"


def children(node: Node) -> Iterator[Node]:
    """Yield the children of a node, text included."""
    return node.iter(include_text=True)


def elements(node: Node) -> Iterator[Node]:
    """Yield the child elements of a node."""
    return (child for child in children(node) if tag_of(child)[0] != "-")


def class_of(attributes: Attributes) -> str:
    """Return the classes of an element as written."""
    return attributes.get("class") or ""


def has_class(node: Node, *names: str) -> bool:
    """Whether an element has one of these classes."""
    return not frozenset(names).isdisjoint(class_of(node.attributes).split())


def is_skipped(tag: str, attributes: Attributes) -> bool:
    """Whether an element is not part of the text: scripts, controls, navigation, hidden parts."""
    if tag in SKIPPED_TAGS:
        return True
    if not attributes:
        return False
    classes = attributes.get("class") or ""
    if classes and _is_beside_text(classes):
        return True
    if classes and len(attributes) == 1:  # most elements, as those of highlighted code
        return False
    if (name := attributes.get("id")) and _BANNER.search(name):
        return True
    return not _HIDING.isdisjoint(attributes) and _is_hidden(attributes, classes)


@lru_cache(maxsize=4096)
def _is_beside_text(classes: str) -> bool:
    return not _SKIPPED_CLASSES.isdisjoint(classes.split()) or bool(_BANNER.search(classes))


def _is_hidden(attributes: Attributes, classes: str) -> bool:
    """Whether an element is hidden; the panels of tabs count as shown, and so does what a search in
    the page shows (`hidden="until-found"`).
    """
    role = attributes.get("role")
    if role == "tabpanel" or _TAB.search(classes):
        return False
    return (
        (attributes.get("hidden", "until-found") or "").lower() != "until-found"
        or attributes.get("aria-hidden") == "true"
        or role in _SKIPPED_ROLES
        or bool(_NO_DISPLAY.search(attributes.get("style") or ""))
    )


def around(nodes: Iterable[Node], outermost: Node) -> frozenset[int]:
    """Return the `mem_id` of each element around these, below the outermost."""
    found: set[int] = set()
    for node in nodes:
        above = node.parent
        while above is not None and above.mem_id != outermost.mem_id and above.mem_id not in found:
            found.add(above.mem_id)
            above = above.parent
    return frozenset(found)


def words(text: str) -> str:
    """Collapse the spaces of a text as a browser does; soft hyphens vanish."""
    if text.isspace():
        return " "
    if "\u00ad" in text or "\u200b" in text:
        text = text.replace("\u00ad", "").replace("\u200b", " ")
    middle = " ".join(text.split())
    if len(middle) == len(text):
        return text
    if not middle:
        return " "
    return f"{' ' * text[0].isspace()}{middle}{' ' * text[-1].isspace()}"


def all_text(node: Node) -> str:
    """Return the whole text of a node on one line."""
    return words(node.text(deep=True)).strip()


def texts(node: Node, is_left_out: Callable[[Node], bool]) -> Iterator[str]:
    """Yield the text in a node, `<br>` as a line break, without elements that are left out."""
    pending = [children(node)]
    while pending:
        child = next(pending[-1], None)
        if child is None:
            pending.pop()
        elif tag_of(child) == TEXT:
            yield child.text_content or ""
        elif tag_of(child)[0] != "-" and not is_left_out(child):
            if tag_of(child) == "br":
                yield "\n"
            pending.append(children(child))


def shown_text(node: Node) -> str:
    """Return the text of a node on one line, without what is not part of it."""
    parts = texts(
        node, lambda each: tag_of(each) == "br" or is_skipped(tag_of(each), each.attributes)
    )
    return words("".join(parts)).strip()
