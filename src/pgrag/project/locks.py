"""Lock files: the versions that are installed."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from pgrag.project.found import LONGEST, Found, newest, rows, table, toml

_MODULES = "node_modules/"
_DEEPEST = 5
"""Keys above a value that is read."""
_OF_PNPM = ("dependencies", "devDependencies", "optionalDependencies")


def npm(text: str, _: Mapping[str, str]) -> Found:
    """package-lock.json: versions 2 and 3 list packages by folder, version 1 by name."""
    lock = table(json.loads(text))
    found: Found = {}
    for folder, package in table(lock.get("packages")).items():
        before, _modules, name = folder.rpartition(_MODULES)
        version = table(package).get("version")
        # A package within another's folder is not the project's own.
        if isinstance(version, str) and _modules and _MODULES not in before:
            own = table(package).get("name", name)
            if not before or own not in found:
                found[own] = version
    for name, package in table(lock.get("dependencies")).items():
        version = table(package).get("version")
        if isinstance(version, str):
            found.setdefault(name, version)
    return found


def pipfile(text: str, _: Mapping[str, str]) -> Found:
    """Pipfile.lock."""
    lock = table(json.loads(text))
    return {
        name: package["version"]
        for part in ("develop", "default")
        for name, package in table(lock.get(part)).items()
        if isinstance(table(package).get("version"), str)
    }


def packages(text: str, _: Mapping[str, str]) -> Found:
    """uv.lock, poetry.lock and Cargo.lock. Of several versions of one name, the one that a package
    of the project itself names, else the newest.
    """
    listed = list(rows(toml(text).get("package")))
    versions = defaultdict(list)
    for package in listed:
        if isinstance(package.get("name"), str) and isinstance(package.get("version"), str):
            versions[package["name"]].append(package["version"])
    own = dict(one for package in listed if _is_own(package) for one in _named(package))
    return {
        name: own[name] if own.get(name) in each else newest(each)
        for name, each in versions.items()
    }


def pnpm(text: str, _: Mapping[str, str]) -> Found:
    """pnpm-lock.yaml of every version: the direct dependencies, first those of the root."""
    found: Found = {}
    of_root: Found = {}
    for path, value in _leaves(text):
        is_imported = path[0] == "importers" and len(path) > 2
        importer, rest = (path[1], path[2:]) if is_imported else (".", path)
        match rest:
            case (kind, name) | (kind, name, "version") if kind in _OF_PNPM:
                # What follows the version names peers: 18.2.0(react@18.2.0), 7.1.0_react@18.
                version = re.split(r"[(_]", value, maxsplit=1)[0]
                (of_root if importer == "." else found).setdefault(name, version)
    return found | of_root


def yarn(text: str, wishes: Mapping[str, str]) -> Found:
    """yarn.lock of both forms. Of several versions the one for the range of package.json, else the
    newest.
    """
    versions: dict[str, list[str]] = defaultdict(list)
    of_wish: Found = {}
    for path, value in _leaves(text):
        if len(path) != 2 or path[1] != "version" or path[0] == "__metadata":
            continue
        for name, wish in map(_split, path[0].split(", ")):
            if wish.startswith(("workspace:", "patch:", "link:", "portal:")):
                continue
            versions[name].append(value)
            if wishes.get(name) == wish.removeprefix("npm:"):
                of_wish[name] = value
    return {name: newest(each) for name, each in versions.items()} | of_wish


def _split(entry: str) -> tuple[str, str]:
    """The name and the range of `@babel/core@^7.1.0`."""
    name, _, wish = entry[1:].partition("@")
    return entry[:1] + name, wish


def _is_own(package: Mapping[str, Any]) -> bool:
    """Whether a package of the lock is of the project: it comes from no registry."""
    source = package.get("source")
    return source is None or bool({"editable", "virtual"} & table(source).keys())


def _named(package: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The dependencies of a package that name their version, as they do if there are several."""
    depends = package.get("dependencies")
    for one in depends if isinstance(depends, list) else []:
        if isinstance(one, str):
            name, _, version = one.partition(" ")
            yield name, version.partition(" ")[0]
        elif isinstance(table(one).get("version"), str):
            yield one["name"], one["version"]


def _leaves(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The values of indented lines, each with the keys above it.

    That is all that these files use of YAML, and it cannot be made to expand: anchors, aliases and
    values in braces are texts here.
    """
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        words = line[:LONGEST].strip()
        if not words or words.startswith("#"):
            continue
        if words.endswith(":"):
            key, value = words[:-1], ""
        else:
            # Version 1 of yarn.lock writes: version "26.0.1"
            key, _, value = words.partition(": " if ": " in words else " ")
        indent = len(line) - len(line.lstrip())
        while above and above[-1][0] >= indent:
            above.pop()
        above.append((indent, _bare(key)))
        if value and len(above) <= _DEEPEST:
            yield tuple(name for _, name in above), _bare(value)


def _bare(text: str) -> str:
    """A text without its quotes; a key of yarn.lock may be several quoted ones."""
    return text.strip().replace('"', "").replace("'", "")
