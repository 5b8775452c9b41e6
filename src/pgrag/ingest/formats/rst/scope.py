"""What a document of reStructuredText has said so far: objects, terms, files, links that wait."""

import re
from dataclasses import dataclass, field
from typing import Any

from docutils import nodes

_NOT_IN_ID = re.compile(r"[^a-zA-Z0-9._]+")
_NOT_AT_ENDS = re.compile(r"^[-0-9._]+|-+$")


def sphinx_id(prefix: str, name: str) -> str:
    """Return the id that Sphinx gives an object; unlike that of a heading it keeps capitals."""
    written = _NOT_IN_ID.sub("-", f"{prefix}-{name}" if prefix else name)
    return _NOT_AT_ENDS.sub("", written)


@dataclass(slots=True)
class Scope:
    """The state of a document while it is parsed. `ids` has the objects and terms of the page by
    name; `waiting` the references, with the names that they may mean; `unread` the files that the
    document would insert.
    """

    module: str = ""
    program: str = ""
    language: str = ""
    within: list[str] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    waiting: list[tuple[nodes.Element, tuple[str, ...]]] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def names(self, written: str) -> tuple[str, ...]:
        """Return the full names that a name may stand for at this place."""
        plain = written.lstrip("~!.")
        outer = self.within[-1] if self.within else ""
        prefixes = (".".join(filter(None, (self.module, outer))), self.module, outer, "")
        return tuple(f"{prefix}.{plain}" if prefix else plain for prefix in prefixes)

    def resolve(self, document: nodes.document) -> None:
        """Make links of the references to labels, objects and terms of this page."""
        for node, names in self.waiting:
            label = nodes.fully_normalize_name(names[-1])
            anchor = next((self.ids[name] for name in names if name in self.ids), None)
            found: Any = None
            if anchor is None and isinstance(node, nodes.inline):
                anchor = document.nameids.get(label)
                found = document.ids.get(anchor) if anchor else None
            if anchor is None:
                continue
            title = _title_at(found) if node.get("untitled") else ""
            shown: list[nodes.Node] = [nodes.Text(title)] if title else list(node.children)
            if isinstance(node, nodes.literal):
                shown = [nodes.literal("", "", *node.children)]
            if node.parent is not None:
                node.replace_self(nodes.reference("", "", *shown, refid=anchor))


def _title_at(target: Any) -> str:
    """Return the title of what a label stands before."""
    while isinstance(target, nodes.target):
        target = target.next_node(descend=False, siblings=True, ascend=True)
    if isinstance(target, nodes.Element):
        title = target.next_node(nodes.title) or target.next_node(nodes.caption)
        return title.astext() if title is not None and title.parent is target else ""
    return ""
