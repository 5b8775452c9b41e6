"""The ids with which the parts of a page are published."""

import re
from dataclasses import dataclass, field

from pgrag.ingest.formats.html.dom import Attributes, Node, class_of, has_class, tag_of
from pgrag.ingest.formats.html.inline import fragment_of, is_permalink

#: Elements whose id belongs to the first heading in them.
_SECTION = re.compile(r"(?:^|\s)(?:section|sect\d|refsect\d|refentry|chapter|part|appendix|detail)")
_AUTOMATIC = re.compile(r"(?:index-|id)\d+")
_UNSAFE = re.compile(r"[\s\"'<>&`]")


@dataclass(slots=True)
class Ids:
    """Collects ids for the next heading; the next block gets only those in `linked`."""

    linked: frozenset[str]
    _pending: list[tuple[str, bool]] = field(default_factory=list)

    def meet(self, tag: str, attributes: Attributes) -> None:
        """Note the id of a block before its content is read."""
        name = attributes.get("id") or (attributes.get("name") if tag == "a" else None)
        if name:
            is_section = tag == "section" or bool(_SECTION.search(class_of(attributes)))
            self._pending.append((name, is_section or tag == "a"))

    def meet_inline(self, names: list[tuple[str, bool]]) -> None:
        """Take the ids that were met in lines, and whether each is there only to be linked to."""
        self._pending += names
        names.clear()

    def of_heading(self, own: list[str]) -> tuple[str, list[str]]:
        """Return the anchor of a heading with these ids, and a block with the others."""
        names = dict.fromkeys(own)
        names |= dict.fromkeys(name for name, owns in self._pending if owns)
        names |= dict.fromkeys(name for name, _ in self._pending if name in self.linked)
        self._pending.clear()
        rest = sorted(names, key=lambda name: bool(_AUTOMATIC.fullmatch(name)))
        anchor = own[0] if own else next(iter(rest), "")
        others = (name for name in rest if name != anchor)
        return anchor, targets_of(
            [name for name in others if name in self.linked or not _AUTOMATIC.fullmatch(name)]
        )

    def flushed(self) -> list[str]:
        """Return a block with the pending ids that lead to the next block."""
        names = [
            name
            for name, is_target in self._pending
            if name in self.linked or (is_target and not _AUTOMATIC.fullmatch(name))
        ]
        self._pending.clear()
        return targets_of(names)


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
