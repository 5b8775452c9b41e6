"""What the configuration of Docusaurus, Antora and mike says of the versions of a site."""

import json
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

#: Reads a file by its path below the source; "" if there is none.
Text = Callable[[str], str]

_CONFIGURATIONS = tuple(f"docusaurus.config.{suffix}" for suffix in ("js", "ts", "mjs", "cjs"))
_SHOWING = re.compile(
    r"(?:.+_)?versions\.json|.*sidebars\.json|_category_\.(?:json|ya?ml)|antora\.yml"
    r"|docusaurus\.config\.[cm]?[jt]s"
)
_COMMENT = re.compile(r"/\*.*?\*/|(?<![:'\"])//[^\n]*", re.DOTALL)
#: The number that orders a file or folder and is no part of its name; 2024-01-31 and 1.2 are names.
_NUMBER = re.compile(r"^(?!\d+[-_.]\d)\d+\s*[-_.]+\s*(?=[^-_.\s])")


def shows_versions(name: str) -> bool:
    """Whether a file of this name is read here."""
    return _SHOWING.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Docs:
    """One instance of the docs plugin of Docusaurus: where its current version lies, below which
    route it is served, which version is at that route, and the paths of others by their names.
    """

    folder: str
    route: str
    last: str | None
    has_current: bool
    sidebar: str
    _block: str = ""

    @classmethod
    def of(cls, root: str, instance: str, text: Text) -> "Docs":
        """Read the configuration in the folder `root`, as far as it is plain text."""
        config = next(filter(None, (text(root + name) for name in _CONFIGURATIONS)), "")
        block = _block_of(_COMMENT.sub("", config), instance)
        route = _value(block, "routeBasePath")
        folder = _value(block, "path") or instance or "docs"
        sidebar = _value(block, "sidebarPath") or (
            f"{instance}Sidebars.json" if instance else "sidebars.json"
        )
        return cls(
            posixpath.normpath(posixpath.join(root, folder)),
            (instance or "docs") if route is None else route.strip("/"),
            _value(block, "lastVersion"),
            not re.search(r"includeCurrentVersion:\s*false", block),
            posixpath.normpath(posixpath.join(root, sidebar)),
            block,
        )

    def branch(self, version: str, last: str) -> str:
        """Return the path of a version below the route."""
        if found := re.search(
            rf"['\"]?{re.escape(version)}['\"]?\s*:\s*\{{([^{{}}]*)\}}", self._block
        ):
            path = _value(found[1], "path")
            if path is not None:
                return path.strip("/")
        if version == last:
            return ""
        return "next" if version == "current" else version


def _block_of(config: str, instance: str) -> str:
    """Return the options of an instance: the object with its id; of the first one the preset's
    docs, or the plugin's.
    """
    if instance:
        found = re.search(rf"\bid:\s*['\"]{re.escape(instance)}['\"]", config)
        return _object_around(config, found.start()) if found else ""
    found = re.search(r"\bdocs:\s*\{", config)
    if found is None:
        found = re.search(r"plugin-content-docs['\"]\s*,\s*\{", config)
    return _object_around(config, found.end()) if found else config


def _object_around(config: str, position: int) -> str:
    """Return the text between the braces around a position."""
    depth, start = 0, position
    while start > 0:
        start -= 1
        if config[start] == "{":
            if depth == 0:
                break
            depth -= 1
        depth += config[start] == "}"
    depth, end = 0, position
    while end < len(config):
        if config[end] == "}":
            if depth == 0:
                break
            depth -= 1
        depth += config[end] == "{"
        end += 1
    return config[start + 1 : end]


def _value(block: str, name: str) -> str | None:
    found = re.search(rf"\b{name}:\s*(?:require\.resolve\(\s*)?(['\"`])([^'\"`$]*)\1", block)
    return found[2] if found else None


def listed_versions(text: str) -> tuple[list[str], frozenset[str]]:
    """Return the versions of a versions.json of Docusaurus or mike, and the aliases in it."""
    rows = _json(text)
    rows = rows if isinstance(rows, list) else []
    labels = [row for row in rows if isinstance(row, str)]
    objects = [row for row in rows if isinstance(row, dict) and isinstance(row.get("version"), str)]
    aliases = {
        alias
        for row in objects
        for alias in row.get("aliases") or ()
        if isinstance(alias, str) and alias != row["version"]
    }
    return labels + [row["version"] for row in objects], frozenset(aliases)


def antora_component(text: str) -> tuple[str, str] | None:
    """Return name and version of an antora.yml; the version is "" for a component without."""
    name, version = _field(text, "name"), _field(text, "version") or ""
    # As written: YAML would read 1.10 as a number.
    return (name, "" if version in {"~", "null", "true", "false"} else version) if name else None


def sidebar_labels(text: str, version: str) -> dict[str, tuple[str, ...]]:
    """Return the labels of the categories around each document of a sidebar, by its id."""
    found: dict[str, tuple[str, ...]] = {}
    bars = _json(text)
    for bar in bars.values() if isinstance(bars, dict) else ():
        for name, labels in _items(bar, ()):
            found.setdefault(name.removeprefix(f"version-{version}/"), labels)
    return found


def _items(
    item: Any, labels: tuple[str, ...], depth: int = 0
) -> Iterator[tuple[str, tuple[str, ...]]]:
    if depth > 20:
        return
    if isinstance(item, str):
        yield item, labels
    elif isinstance(item, list):
        for each in item:
            yield from _items(each, labels, depth + 1)
    elif isinstance(item, dict) and item.get("type") == "category":
        inner = (*labels, str(item.get("label", "")))
        link = item.get("link")
        if isinstance(link, dict) and isinstance(link.get("id"), str):
            yield link["id"], inner
        yield from _items(item.get("items", []), inner, depth + 1)
    elif isinstance(item, dict) and item.get("type") in {"doc", "ref"}:
        if isinstance(item.get("id"), str):
            yield item["id"], labels
    elif isinstance(item, dict) and "type" not in item:
        for label, items in item.items():
            yield from _items(items, (*labels, label), depth + 1)


def category_label(folder: str, text: Text) -> str | None:
    """Return the label that a folder of Docusaurus gives itself."""
    fields = _json(text(f"{folder}/_category_.json"))
    if isinstance(fields, dict) and isinstance(fields.get("label"), str):
        return str(fields["label"])
    return _field(text(f"{folder}/_category_.yml") or text(f"{folder}/_category_.yaml"), "label")


def without_numbers(path: str) -> str:
    """Return a path as Docusaurus publishes it, without the numbers that order its parts."""
    return "/".join(_NUMBER.sub("", part) for part in path.split("/"))


def document_id(key: str, head: str) -> Sequence[str]:
    """Return the ids by which a sidebar may name a file: by its front matter, and by its path."""
    stem = posixpath.splitext(key)[0]
    folder = stem.rpartition("/")[0]
    found = re.match(r"---\n(?:.*\n)*?id:[ \t]*['\"]?([^'\"\n]+?)['\"]?[ \t]*\n", head)
    own = [f"{without_numbers(folder)}/{found[1]}".lstrip("/"), found[1]] if found else []
    return [*own, without_numbers(stem), stem]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _field(text: str, name: str) -> str | None:
    """Return a field of a short YAML file as it is written."""
    found = re.search(rf"^{name}:[ \t]*(['\"]?)([^\n]+?)\1[ \t]*(?:#.*)?$", text, re.MULTILINE)
    return found[2] if found else None
