"""The words that a component of MDX or Vue shows by its attributes: `<TabItem label="npm">`."""

import re
from collections.abc import Mapping

_SHOWN = (
    "label", "title", "header", "heading", "summary", "question", "caption", "subtitle", "text",
    "description", "alt",
)  # fmt: skip
_ADDRESSES = ("href", "to", "link", "url")
#: Where no label is given, tabs show their value.
_TAB = re.compile(r"Tab(?:Item|s\.Tab)?|Tabs\.Item")
_PARAMETER = re.compile(r"(?:Param|Response|Request|Property)\w*|Property|Prop")
_PARAMETERS = ("path", "query", "body", "name", "type", "default")
_ICON = re.compile(r"(?i:icon|emoji|avatar|logo)")


def words(name: str, attributes: Mapping[str, str]) -> str:
    """Return the words of a component as Markdown: a link, a picture or bold words; else "". The
    `attributes` are those whose values are known.
    """
    address = next((attributes[key] for key in _ADDRESSES if attributes.get(key)), "")
    shown = [attributes[key] for key in _SHOWN if attributes.get(key)]
    if not shown and _TAB.fullmatch(name):
        shown = [attributes[key] for key in ("value", "name") if attributes.get(key)][:1]
    if _PARAMETER.fullmatch(name):
        shown[:0] = [f"`{attributes[key]}`" for key in _PARAMETERS if attributes.get(key)]
    if _ICON.search(name):
        shown = []
    if source := attributes.get("src"):
        alternative = attributes.get("alt", "") if shown else ""
        return f"![{alternative}]({source})" if alternative else ""
    if not shown:
        return ""
    first, *more = shown
    first = f"[{first}]({address})" if address and "`" not in first else first
    first = first if first.startswith(("[", "`")) else f"**{first}**"
    return ": ".join([first, *more])
