"""Versions of one documentation side by side in a source: Docusaurus, Antora, mike, and folders
named like versions.
"""

import posixpath
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pgrag.ground.errors import SourceError
from pgrag.ingest.globs import matcher
from pgrag.ingest.source.selection import Selection
from pgrag.ingest.source.sites import (
    Docs,
    antora_component,
    category_label,
    document_id,
    listed_versions,
    sidebar_labels,
)  # fmt: skip
from pgrag.ingest.source.source import EXAMPLES, Skipped, Source, SourceFile, digest_of
from pgrag.ingest.values import Origin

_NUMBERED = re.compile(
    r"(?:v|version-|release-|rel-)?(\d+(?:[._]\d+)*(?:[._]x)?(?:[-._]?(?:a|b|rc|alpha|beta|dev|pre)"
    r"[-.]?\d*)?)",
    re.IGNORECASE,
)
#: Names of versions that move.
_MOVING = frozenset({
    "latest", "stable", "next", "current", "dev", "devel", "develop", "development", "main",
    "master", "edge", "head", "trunk", "nightly", "unreleased", "canary", "snapshot",
})  # fmt: skip
#: Bytes at the beginning of a file that hold its front matter.
_HEAD = 2000
#: The share of names that folders of versions have in common.
_COMMON = 0.3
#: Versions that a note names.
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Part:
    """A folder of one version: what lies in `folder` has the key `into` + the rest. The site serves
    it below `route` and `branch`. `sidebar` is the file with its categories.
    """

    label: str
    folder: str
    into: str = ""
    route: str = ""
    branch: str = ""
    sidebar: str | None = None


@dataclass(frozen=True)
class Versions:
    """The versions in a source: its parts, and what shows them. `is_certain` means that a site
    generator says so, and not only the names of folders.
    """

    source: Source
    parts: tuple[Part, ...]
    evidence: str
    is_certain: bool

    @cached_property
    def labels(self) -> list[str]:
        """The labels in the order in which they are indexed: the oldest first."""
        return sorted({part.label for part in self.parts}, key=_age)

    def files(self, label: str) -> Iterator[SourceFile]:
        """Yield the files of a version with their keys below it."""
        for part in self.parts:
            if part.label == label:
                yield from _files(self.source, part)

    def version(self, label: str, selection: Selection, *, is_last: bool = False) -> Source:
        """Return the source of one version; the last one closes the whole. Raises SourceError."""
        if label not in self.labels:
            raise SourceError(
                f"{self.source.location}: has no version {label!r}.",
                hint=f"Its versions: {', '.join(self.labels)}.",
            )
        is_wanted = matcher(selection.include, selection.exclude)
        files = {file.key: file for file in self.files(label) if is_wanted(file.key)}
        if not files:
            raise SourceError(f"{self.source.location}: version {label} has no pages.")
        arguments = (self.source.arguments or {}) | {
            "include": [*selection.include],
            "exclude": [*selection.exclude],
        }
        return replace(
            self.source,
            location=f"{self.source.location}, version {label}",
            listed=tuple(files[key] for key in sorted(files)),
            notes=self.source.notes if is_last else (),
            skipped=(*self.source.skipped, *self._outside()) if is_last else (),
            arguments=arguments,
            release=self.source.release if is_last else lambda: None,
        )

    def _outside(self) -> Iterator[Skipped]:
        folders = tuple(part.folder for part in self.parts)
        names = [file.key for file in self.source.listed if not file.key.startswith(folders)]
        if names:
            yield Skipped(
                "outside the folders of the versions", len(names), tuple(names[:EXAMPLES])
            )


def find_versions(source: Source) -> Versions | None:
    """Return the versions that lie side by side in a source; None if there are none."""
    keys = [file.key for file in source.listed]
    for find in (_docusaurus, _antora, _folders):
        parts, evidence = find(keys, source)
        if len({part.label for part in parts}) > 1:
            is_certain = find is not _folders or evidence.endswith("versions.json")
            found = Versions(source, tuple(parts), evidence, is_certain)
            return found if is_certain else _without_copies(found)
    return None


def _docusaurus(keys: Sequence[str], source: Source) -> tuple[list[Part], str]:
    found = re.compile(r"((?:.*/)?)((?:[^/]+_)?)versioned_docs/version-([^/]+)/")
    trees: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key in keys:
        if (match := found.match(key)) and match[3] not in trees[match[1], match[2]]:
            trees[match[1], match[2]].append(match[3])
    parts: list[Part] = []
    evidence = ""
    for (root, prefix), present in sorted(trees.items(), key=lambda each: each[0][::-1]):
        name = f"{root}{prefix}versions.json"
        listed = [each for each in listed_versions(source.text(name))[0] if each in present]
        labels = listed or sorted(present, key=_age, reverse=True)
        evidence = evidence or (name if listed else f"{root}{prefix}versioned_docs")
        docs = Docs.of(root, prefix.rstrip("_"), source.text)
        into = f"{prefix.rstrip('_')}/" if prefix else ""
        last = docs.last or labels[0]
        versioned, sidebars = f"{root}{prefix}versioned_docs", f"{root}{prefix}versioned_sidebars"
        parts += [
            Part(
                label,
                f"{versioned}/version-{label}/",
                into,
                docs.route,
                docs.branch(label, last),
                f"{sidebars}/version-{label}-sidebars.json",
            )
            for label in labels
        ]
        if docs.has_current and any(key.startswith(f"{docs.folder}/") for key in keys):
            label = "current" if last == "current" else "next"
            branch = docs.branch("current", last)
            parts.append(Part(label, f"{docs.folder}/", into, docs.route, branch, docs.sidebar))
    return parts, evidence


def _antora(keys: Sequence[str], source: Source) -> tuple[list[Part], str]:
    found = re.compile(r"((?:.*/)?)modules/([^/]+)/pages/")
    folders = {match.groups() for key in keys if (match := found.match(key))}
    components = {
        root: component
        for root in sorted({root for root, _ in folders})
        if (component := antora_component(source.text(f"{root}antora.yml")))
    }
    names = {name for name, _ in components.values()}
    parts: list[Part] = []
    for root, module in sorted(folders):
        if root in components:
            name, version = components[root]
            within = "" if module == "ROOT" else f"{module}/"
            into = f"{name}/{within}" if len(names) > 1 else within
            where = "" if name == "ROOT" else name
            branch = posixpath.join(where, version, within).rstrip("/")
            folder = f"{root}modules/{module}/pages/"
            parts.append(Part(version or "latest", folder, into, "", branch))
    return parts, f"{next(iter(components))}antora.yml" if components else ""


def _folders(keys: Sequence[str], source: Source) -> tuple[list[Part], str]:
    """Find folders beside each other whose names are those of versions; a versions.json of mike
    says which are.
    """
    below: dict[str, set[str]] = defaultdict(set)
    for key in keys:
        folders = key.split("/")[:-1]
        for depth, name in enumerate(folders):
            parent = "/".join(folders[:depth])
            below[f"{parent}/" if parent else ""].add(name)
            if _NUMBERED.fullmatch(name):
                break  # what is deeper belongs to that version
    parents: dict[str, list[str]] = {}
    evidence = ""
    for parent, names in below.items():
        if len(names) < 2:
            continue
        listed, aliases = listed_versions(source.text(f"{parent}versions.json"))
        if named := [name for name in listed if name in names]:
            evidence = evidence or f"{parent}versions.json"
        else:
            named = _named_like_versions(names)
        if len(named) > 1:
            parents[parent] = [name for name in named if name not in aliases]
    parts = [
        Part(
            _label(name), f"{parent}{name}/", parent if len(parents) > 1 else "",
            "" if len(parents) > 1 else parent.rstrip("/"), name,
        )
        for parent, names in parents.items()
        for name in sorted(names)
    ]  # fmt: skip
    if len(parents) > 1:
        # The key begins with the parent; the site serves the version between them.
        parts = [replace(part, branch=f"{part.into}{part.branch}") for part in parts]
    return parts, evidence or ", ".join(part.folder for part in parts[:3])


def _named_like_versions(names: set[str]) -> list[str]:
    numbered = [name for name in names if _NUMBERED.fullmatch(name)]
    # 2023 and 2024, 01 and 02 are years and chapters unless something else is a version.
    certain = [name for name in numbered if not name.isdecimal()]
    moving = [name for name in names if _label(name).lower() in _MOVING]
    return numbered + moving if certain or (numbered and moving) else []


def _without_copies(found: Versions) -> Versions | None:
    """Leave out moving names whose folder is a copy of a version, such as stable of 2.1."""
    numbered = [label for label in found.labels if label.lower() not in _MOVING]
    contents = {label: {file.key: file for file in found.files(label)} for label in found.labels}
    copies = {
        label
        for label in found.labels
        if label.lower() in _MOVING
        and any(_are_same(contents[label], contents[other]) for other in numbered)
    }
    parts = tuple(part for part in found.parts if part.label not in copies)
    return replace(found, parts=parts) if len({part.label for part in parts}) > 1 else None


def _are_same(files: Mapping[str, SourceFile], others: Mapping[str, SourceFile]) -> bool:
    if files.keys() != others.keys():
        return False
    try:
        return all(_digest(file) == _digest(others[key]) for key, file in files.items())
    except SourceError:
        return False


def _digest(file: SourceFile) -> str:
    return file.digest or digest_of(file.read())


def noting_versions(
    source: Source, library: str, named: str, arguments: Mapping[str, Any]
) -> Source:
    """Return a source; one in which versions lie side by side says with which command they become
    versions.
    """
    found = find_versions(source)
    if found is None or not (found.is_certain or _look_alike(found)):
        return source
    options = [
        part
        for name in ("subfolder", "ref", "base_url", "include", "exclude")
        for value in _values(arguments.get(name))
        for part in (f"--{name.replace('_', '-')}", shlex.quote(value))
    ]
    command = shlex.join(["pgrag", "index", library, named, "--versions", "auto"])
    note = (
        f"{len(found.labels)} versions lie side by side in it ({found.evidence}):"
        f" {', '.join(found.labels[-_SHOWN:][::-1])}{' …' if len(found.labels) > _SHOWN else ''}."
        f" Here they are pages of one version. To make a version of each:"
        f" {' '.join([command, *options])}"
    )
    return replace(source, notes=(*source.notes, note))


def _values(value: Any) -> Sequence[str]:
    return [value] if isinstance(value, str) else value or []


def _look_alike(found: Versions) -> bool:
    """Whether the folders have pages in common, as versions of one documentation have."""
    counts = Counter(key for label in found.labels for key in {f.key for f in found.files(label)})
    return sum(count > 1 for count in counts.values()) >= _COMMON * len(counts)


def _label(name: str) -> str:
    match = _NUMBERED.fullmatch(name)
    return match[1] if match else name.removeprefix("version-")


def _age(label: str) -> tuple[bool, list[tuple[int, str]]]:
    parts = re.split(r"(\d+)", label)
    numbers = [(int(part), "") if part.isdecimal() else (-1, part) for part in parts if part]
    return not label[:1].isdecimal(), numbers


def _files(source: Source, part: Part) -> Iterator[SourceFile]:
    labels_of = sidebar_labels(source.text(part.sidebar), part.label) if part.sidebar else {}
    folders: dict[str, tuple[str, ...]] = {"": ()}

    def labels(folder: str) -> tuple[str, ...]:
        if folder not in folders:
            own = category_label(f"{part.folder}{folder}".rstrip("/"), source.text)
            folders[folder] = (*labels(folder.rpartition("/")[0]), *([own] if own else []))
        return folders[folder]

    for file in source.listed:
        if not file.key.startswith(part.folder):
            continue
        key = file.key.removeprefix(part.folder)
        shown: tuple[str, ...] = ()
        if part.sidebar:
            if f"/{key}".count("/_"):
                continue  # what Docusaurus includes in other pages, and publishes nowhere
            head = _head(file) if labels_of else ""
            ids = document_id(key, head)
            shown = next((labels_of[each] for each in ids if each in labels_of), ())
            shown = shown or labels(key.rpartition("/")[0])
        origin = Origin(None, None, part.route, part.branch, key, shown)
        yield replace(file, key=f"{part.into}{key}", origin=origin, path=file.key)


def _head(file: SourceFile) -> str:
    try:
        return file.load(_HEAD).decode("utf-8", "replace").replace("\r\n", "\n")
    except (OSError, SourceError):
        return ""  # reading the page says why
