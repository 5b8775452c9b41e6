"""Manifests: the ranges that people ask for."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pgrag.project.found import Found, rows, table, toml

_REQUIREMENT = re.compile(
    r"\s*(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*\(?(?P<range>[~<>=!][^;#@)]*)?"
)
_GO = re.compile(r"(?:require\s+)?([\w~-]+\.[\w.~/-]+)\s+(v\d\S*)")
_GO_REPLACED = re.compile(r"(?:replace\s+)?(\S+)(?:\s+v\S+)?\s+=>\s+\S+\s+(v\d\S*)")


def npm(text: str, _: Mapping[str, str]) -> Found:
    """package.json; `npm:other@^1` is a version of the other package."""
    manifest = table(json.loads(text))
    found: Found = {}
    for kind in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"):
        for name, wish in table(manifest.get(kind)).items():
            if isinstance(wish, str):
                other, at, of_other = wish.removeprefix("npm:").rpartition("@")
                is_other = wish.startswith("npm:") and at and other
                found.setdefault(other if is_other else name, of_other if is_other else wish)
    return found


def requirements(text: str, _: Mapping[str, str]) -> Found:
    """requirements.txt; options, addresses and hashes say no version."""
    lines = map(str.strip, text.replace("\\\n", " ").splitlines())
    return dict(_required(line.partition(" --")[0] for line in lines))


def pyproject(text: str, _: Mapping[str, str]) -> Found:
    """pyproject.toml, also of Poetry."""
    content = toml(text)
    project, poetry = table(content.get("project")), table(table(content.get("tool")).get("poetry"))
    listed = [
        project.get("dependencies"),
        *table(project.get("optional-dependencies")).values(),
        *table(content.get("dependency-groups")).values(),
    ]
    groups = [
        poetry, {"dependencies": poetry.get("dev-dependencies")},
        *map(table, table(poetry.get("group")).values()),
    ]  # fmt: skip
    found: Found = {}
    for group in groups:
        for name, wish in _of_table(group.get("dependencies"), bare=""):
            found.setdefault(name, wish)
    for name, wish in _required(
        one for ones in listed if isinstance(ones, list) for one in ones if isinstance(one, str)
    ):
        found.setdefault(name, wish)
    found.pop("python", None)
    return found


def cargo(text: str, _: Mapping[str, str]) -> Found:
    """Cargo.toml, where a bare 1.2 means ^1.2."""
    content = toml(text)
    places = [
        content,
        table(content.get("workspace")),
        *map(table, table(content.get("target")).values()),
    ]
    return {
        name: wish
        for place in places
        for kind in ("build-dependencies", "dev-dependencies", "dependencies")
        for name, wish in _of_table(place.get(kind), bare="^")
    }


def go(text: str, _: Mapping[str, str]) -> Found:
    """go.mod, which is a lock, too: each version in it is the lowest that is read."""
    found: Found = {}
    replaced: Found = {}
    for line in map(str.strip, re.sub(r"//.*", "", text).splitlines()):
        if match := _GO_REPLACED.match(line):
            replaced[match[1]] = match[2]
        elif match := _GO.match(line):
            found[match[1]] = match[2]
    return found | {name: version for name, version in replaced.items() if name in found}


def _required(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        if match := _REQUIREMENT.match(line):
            yield match["name"], (match["range"] or "").strip()


def _of_table(value: Any, *, bare: str) -> Iterator[tuple[str, str]]:
    """Names with versions or tables; Poetry and Cargo write them alike. `bare`: what a version
    without an operator means.
    """
    for name, wish in table(value).items():
        for one in rows(wish) if isinstance(wish, list) else [wish]:
            version = one if isinstance(one, str) else table(one).get("version")
            package = table(one).get("package")
            if isinstance(version, str):
                is_bare = version.lstrip()[:1].isdigit() and "*" not in version
                own = package if isinstance(package, str) else name
                yield own, (bare if is_bare else "") + version.strip()
