"""What the fields of a page's front matter mean: title, link, path, dates, tags, and the rest."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pgrag.ingest.yaml_values import iso_date

MAX_PATH_DEPTH = 10
FOLDER_PAGES = frozenset({"index", "_index", "readme"})
"""Names, without suffix and in lower case, of the pages that stand for their folder."""
_MAX_TITLE = 300
_MIN_SIBLINGS = 3
_MAJORITY = 2 / 3

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Properties:
    """The fields that have a meaning; None or empty where the page does not say.

    `address` is where the page lives (`url`, `permalink`), `slug` the same or only the last
    part of it. `path` is the page's place in a hierarchy that its folder need not follow.
    """

    title: str | None = None
    link: str | None = None
    path: tuple[str, ...] = ()
    uuid: str | None = None
    topic: str | None = None
    type: str | None = None
    tags: tuple[str, ...] = ()
    language: str | None = None
    created: str | None = None
    modified: str | None = None
    address: str | None = None
    slug: str | None = None
    description: str | None = None
    aliases: tuple[str, ...] = ()


class _WrongValueError(Exception):
    """A value is not what its field must be."""


def read_properties(key: str, fields: Mapping[str, Any]) -> tuple[Properties, list[str]]:
    """Interpret the front matter of a page; names of fields ignore case.

    A value of a wrong type is ignored with a warning that names file and field; the first
    usable one of several names counts (`title` before `name`).
    """
    names = {name.casefold(): name for name in reversed([*fields])}
    warnings: list[str] = []

    def first(reader: Callable[[Any], _Value], *candidates: str) -> _Value | None:
        for candidate in candidates:
            name = names.get(candidate)
            if name is None or fields[name] is None or fields[name] == "":
                continue
            try:
                return reader(fields[name])
            except _WrongValueError as problem:
                warnings.append(f'{key}: front matter field "{name}" {problem}')
        return None

    path = first(_path, "path")
    if path is not None:
        warnings += [f'{key}: front matter field "{names["path"]}" {w}' for w in path[1]]
    return (
        Properties(
            title=first(_title, "title", "name"),
            link=first(_text, "link"),
            path=path[0] if path else (),
            uuid=first(_uuid, "uuid"),
            topic=first(_text, "topic"),
            type=first(_text, "type", "page-type", "page_type", "content_type"),
            tags=first(_tags, "tags", "tag") or (),
            language=first(_text, "lang", "language"),
            created=first(_date, "created", "date"),
            modified=first(_date, "modified", "updated", "lastmod"),
            address=first(_text, "url", "permalink"),
            slug=first(_text, "slug"),
            description=first(_text, "description", "summary", "short_description"),
            aliases=first(_aliases, "aliases", "alias") or (),
        ),
        warnings,
    )


def path_warnings(pages: Mapping[str, Sequence[str]]) -> list[str]:
    """Warn of hierarchical paths that are unlike those of the other pages in their folder.

    `pages` maps the keys of pages whose front matter has a path to that path. Where at least
    three pages share a folder and two thirds of them agree on the depth or on the first part of
    their paths, the others are named; so is a part that differs from a more frequent one in the
    same place only by upper case or spaces.
    """
    folders: dict[str, list[str]] = defaultdict(list)
    for key in sorted(pages):
        folder, _, name = key.rpartition("/")
        # A folder's own page stands above the others in it.
        if name.partition(".")[0].lower() not in FOLDER_PAGES:
            folders[folder].append(key)
    warnings: list[str] = []
    for folder, keys in folders.items():
        if len(keys) < _MIN_SIBLINGS:
            continue
        paths = [pages[key] for key in keys]
        depth = _agreed([len(path) for path in paths])
        root = _agreed([path[0] for path in paths])
        spellings = _spellings(paths)
        for key, path in zip(keys, paths, strict=True):
            where = f'{key}: front matter field "path" is unlike its siblings in "{folder or "."}":'
            if depth is not None and len(path) != depth:
                warnings.append(f"{where} {len(path)} parts, theirs have {depth}")
            usual = [spellings[place, _folded(part)] for place, part in enumerate(path)]
            if usual != list(path):
                warnings.append(f"{where} {_joined(path)}, theirs is spelt {_joined(usual)}")
            elif root is not None and path[0] != root:
                warnings.append(f'{where} begins with "{path[0]}", theirs with "{root}"')
    return warnings


def _agreed(values: list[_Value]) -> _Value | None:
    value, count = Counter(values).most_common(1)[0]
    return value if count >= _MAJORITY * len(values) else None


def _spellings(paths: Sequence[Sequence[str]]) -> dict[tuple[int, str], str]:
    """Map each place and folded part to its most frequent spelling."""
    counts: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    for path in paths:
        for place, part in enumerate(path):
            counts[place, _folded(part)][part] += 1
    return {where: counter.most_common(1)[0][0] for where, counter in counts.items()}


def _folded(part: str) -> str:
    return "".join(part.casefold().split())


def _joined(path: Sequence[str]) -> str:
    return '"' + " / ".join(path) + '"'


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _text(value: Any) -> str:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        text = str(value).strip()
        if text:
            return text
    raise _WrongValueError(f"must be text, got {_shown(value)}")


def _title(value: Any) -> str:
    return _clipped(_text(value))


def _clipped(text: str) -> str:
    """One line that fits into an index; nobody reads a title of a page's length."""
    text = " ".join(text.split())
    return text if len(text) <= _MAX_TITLE else text[: _MAX_TITLE - 1] + "…"


def _uuid(value: Any) -> str:
    """Two spellings of one UUID are one; any other identifier stays as it is."""
    text = _text(value)
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return text


def _date(value: Any) -> str:
    if isinstance(value, str) and (iso := iso_date(value)):
        return iso
    raise _WrongValueError(f"must be a date, got {_shown(value)}")


def _tags(value: Any) -> tuple[str, ...]:
    """Read a list, or text with commas or, without commas, with spaces; "#" is no part of a tag."""
    if isinstance(value, str):
        value = value.split(",") if "," in value else value.split()
    if not isinstance(value, list):
        value = [value]
    written = [item for item in value if item is not None and str(item).strip()]
    tags = [_text(item).lstrip("#").strip() for item in written]
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def _aliases(value: Any) -> tuple[str, ...]:
    """Read a list, or text with commas."""
    values = value.split(",") if isinstance(value, str) else value
    values = values if isinstance(values, list) else [values]
    written = [_text(item) for item in values if item is not None and str(item).strip()]
    return tuple(dict.fromkeys(written))


def _path(value: Any) -> tuple[tuple[str, ...], list[str]]:
    """Return the usable parts of a path, and what was wrong with it."""
    if not isinstance(value, list):
        raise _WrongValueError(f"must be a list of strings, got {_shown(value)}")
    problems: list[str] = []
    parts: list[str] = []
    for item in value:
        if item is None or item == "" or (isinstance(item, str) and not item.strip()):
            problems.append(f"has an empty part: {_shown(value)}")
            continue
        if not isinstance(item, str):
            problems.append(f"must be a list of strings, got {_shown(item)} in it")
            if isinstance(item, list | dict):
                continue
        parts.append(_clipped(str(item)))
    if len(parts) > MAX_PATH_DEPTH:
        problems.append(
            f"is {len(parts)} parts deep, only the first {MAX_PATH_DEPTH} are used: {_shown(value)}"
        )
    return tuple(parts[:MAX_PATH_DEPTH]), problems
