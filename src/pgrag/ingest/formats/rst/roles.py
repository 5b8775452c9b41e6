"""The roles of Sphinx: what they show, and where they lead."""

import re
from typing import Any

from docutils import nodes
from docutils.parsers.rst import roles
from docutils.parsers.rst.languages import en
from docutils.utils import unescape

_ROLE = re.compile(r":([A-Za-z][\w:.+-]*):(?=`)")
_TITLED = re.compile(r"(?P<title>.+?)\s*<(?P<target>[^<>]+)>", re.DOTALL)
#: Roles whose target is a page.
_PAGES = frozenset(("doc", "download", "any"))
_WORDS = frozenset(("ref", "numref", "term", "guilabel", "menuselection", "abbr", "dfn", "index"))
_FUNCTIONS = frozenset(("func", "meth"))


def register(text: str) -> None:
    """Make docutils read each role of a text that it does not know."""
    for name in dict.fromkeys(_ROLE.findall(text)):
        if name.lower() not in en.roles:
            roles.register_local_role(name, read_role)  # type: ignore[arg-type]


def read_role(
    name: str, raw: str, text: str, line: int, inliner: Any, *_: Any, **__: Any
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Read a role: its title or its target, as code unless it is a word or a page."""
    scope = inliner.document.settings.scope
    written = " ".join(unescape(text).split())
    titled = _TITLED.fullmatch(written)
    kind = name.lower().rpartition(":")[2]
    target = titled["target"] if titled else written
    title = titled["title"] if titled else _shown(kind, written)
    if kind in _PAGES:
        return [nodes.reference(raw, title, refuri=target)], []
    node: nodes.Element = (nodes.inline if kind in _WORDS else nodes.literal)(raw, title)
    if kind in ("ref", "numref", "term") or not target.startswith("!"):
        names = (f"term {target.lower()}", target) if kind == "term" else scope.names(target)
        if kind in ("ref", "numref"):
            names, node["untitled"] = (target,), not titled
        scope.waiting.append((node, names))
    return [node], []


def _shown(kind: str, written: str) -> str:
    """Return what Sphinx shows for the target of a role without a title."""
    if kind == "menuselection":
        return re.sub(r"\s*-->\s*", " → ", written.replace("&&", "\0").replace("&", "")).replace(
            "\0", "&"
        )
    if kind == "guilabel":
        return written.replace("&&", "\0").replace("&", "").replace("\0", "&")
    if kind in _WORDS:
        return written.lstrip("!")
    if kind in ("samp", "file"):
        return re.sub(r"(?<!\\)[{}]", "", written).replace("\\", "")
    plain = written.lstrip("!~.") if not written.startswith("~/") else written
    if written.lstrip("!").startswith("~") and plain != written:
        plain = plain.rpartition(".")[2] or plain
    return f"{plain}()" if kind in _FUNCTIONS and not plain.endswith(")") else plain
