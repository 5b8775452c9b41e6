"""The ids with which the parts of a page are published."""

import re
from dataclasses import dataclass, field
from enum import IntEnum
from urllib.parse import unquote

from pgrag.ingest.formats.html.dom import Attributes, Node, all_text, class_of, has_class, tag_of

#: Elements whose id belongs to the first heading in them.
_SECTION = re.compile(r"(?:^|\s)(?:section|sect\d|refsect\d|refentry|chapter|part|appendix|detail)")
#: Ids that programs count; others are there to be linked to.
_AUTOMATIC = re.compile(
    r"(?:index-|id|id[mp]|cb\d+-|line-|L|fn|fnref|toc|cite_ref-|ember|row|arr|toggle-"
    r"|(?:MathJax|react|yui)[\w-]*)?[\d.:_-]+|:\w+:|__\w+"
)
_PERMALINK_TEXT = frozenset(("¶", "#", "§", "🔗", "\uf0c1", "", "link", "permalink", "anchor"))
_UNSAFE = re.compile(r"[\s\"'<>&`]")


class Use(IntEnum):
    """What an id is for: only for links of its own page, for any link, or for the next heading."""

    LOCAL = 0
    TARGET = 1
    HEADING = 2


@dataclass(slots=True)
class Ids:
    """Collects ids for the next heading or block; `linked` are those that links on the page use."""

    linked: frozenset[str]
    _pending: list[tuple[str, Use]] = field(default_factory=list)

    def meet(self, tag: str, attributes: Attributes, use: Use = Use.TARGET) -> None:
        """Note the id of a block before its content is read."""
        name = attributes.get("id") or (attributes.get("name") if tag == "a" else None)
        if name:
            if tag in ("a", "section") or _SECTION.search(class_of(attributes)):
                use = Use.HEADING
            self._pending.append((name, use))

    def meet_inline(self, names: list[tuple[str, Use]]) -> None:
        """Take the ids that were met in lines."""
        self._pending += names
        names.clear()

    def of_heading(self, own: list[str]) -> tuple[str, list[str]]:
        """Return the anchor of a heading with these ids, and a block with the others."""
        names = dict.fromkeys(own)
        names |= dict.fromkeys(name for name, use in self._pending if use is Use.HEADING)
        names |= dict.fromkeys(name for name, _ in self._pending if name in self.linked)
        rest = sorted(names, key=lambda name: bool(_AUTOMATIC.fullmatch(name)))
        anchor = own[0] if own else next(iter(rest), "")
        targets = [name for name in rest if name in self.linked or not _AUTOMATIC.fullmatch(name)]
        targets += self._kept()
        self._pending.clear()
        return anchor, targets_of([name for name in targets if name != anchor])

    def flushed(self) -> list[str]:
        """Return a block with the pending ids that lead to the next block."""
        if not self._pending:
            return []
        names = self._kept()
        self._pending.clear()
        return targets_of(names)

    def _kept(self) -> list[str]:
        return [
            name
            for name, use in self._pending
            if name in self.linked or (use is not Use.LOCAL and not _AUTOMATIC.fullmatch(name))
        ]


def heading_ids(node: Node) -> list[str]:
    """Return the ids of a heading: the one to which its permalink leads, its own, those in it."""
    own = node.attributes.get("id")
    inner = node.css("a[href], a[name], [id]")
    links = [
        fragment_of(each.attributes)
        for each in inner
        if tag_of(each) == "a"
        and is_permalink(each, each.attributes)
        and not has_class(each, "src")
    ]
    targets = [each.attributes.get("id") or each.attributes.get("name") for each in inner]
    return [*dict.fromkeys(filter(None, [*links, own, *targets]))]


def targets_of(names: list[str]) -> list[str]:
    """Return a block without words, to whose ids links can lead."""
    lines = [f'<a id="{name}"/>' for name in dict.fromkeys(names) if not _UNSAFE.search(name)]
    return ["\n".join(lines)] if lines else []


def is_permalink(node: Node, attributes: Attributes) -> bool:
    """Whether a link only shows the address of what is beside it."""
    return all_text(node).lower() in _PERMALINK_TEXT and (
        node.css_first("img[alt]") is None or "anchor" in class_of(attributes)
    )


def fragment_of(attributes: Attributes) -> str:
    """Return the id to which a link on the same page leads; "" for other links."""
    href = attributes.get("href") or ""
    return unquote(href[1:]) if href.startswith("#") else ""
