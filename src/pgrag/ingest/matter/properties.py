"""Interpret the fields of a page's front matter: title, link, path, dates, tags and others."""

import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pgrag.ingest.matter.yaml_values import iso_date

MAX_PATH_DEPTH = 10
FOLDER_PAGES = frozenset({"index", "_index", "readme"})
"""Names (lower case, without suffix) of pages that represent their folder."""
_MAX_TITLE = 300
_MIN_SIBLINGS = 3
_PATH_SIGNS = [re.compile(sign) for sign in (r"\s[>›»→]\s", r"\s/\s", r"[/›»→]|(?<!-)>")]
_MAJORITY = 2 / 3

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Properties:
    """The fields with a meaning for pgrag; None or empty if the page lacks them. `address` is the
    page's URL (`url`, `permalink`), `slug` its path or only the last part of it. `path` is the
    page's position in a hierarchy independent of its folder.
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
    """A value does not fit its field."""


def read_properties(key: str, fields: Mapping[str, Any]) -> tuple[Properties, list[str]]:
    """Interpret the front matter of a page; a value of the wrong type is ignored with a warning."""
    names = {name.casefold(): name for name in reversed([*fields])}
    warnings: list[str] = []

    def first(reader: Callable[[Any], _Value], *candidates: str) -> _Value | None:
        for candidate in candidates:
            name = names.get(candidate)
            if name is None or fields[name] in (None, "", []):
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
            title=first(lambda value: _clipped(_text(value)), "title", "name"),
            link=first(_text, "link"),
            path=path[0] if path else (),
            uuid=first(_uuid, "uuid", "note_id"),
            topic=first(_text, "topic"),
            type=first(_text, "type", "page-type", "page_type", "content_type"),
            tags=first(_tags, "tags", "tag") or (),
            language=first(_language, "lang", "language", "locale"),
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
    """Warn of hierarchical paths (by page key) that differ in depth, first part or spelling from
    most of the pages in their folder.
    """
    folders: dict[str, list[str]] = defaultdict(list)
    for key in sorted(pages):
        folder, _, name = key.rpartition("/")
        # The page of a folder is one level above the folder's other pages.
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
            usual = [spellings[index, _folded(part)] for index, part in enumerate(path)]
            if usual != list(path):
                warnings.append(f"{where} {_joined(path)}, theirs is spelt {_joined(usual)}")
            elif root is not None and path[0] != root:
                warnings.append(f'{where} begins with "{path[0]}", theirs with "{root}"')
    return warnings


def _agreed(values: list[_Value]) -> _Value | None:
    value, count = Counter(values).most_common(1)[0]
    return value if count >= _MAJORITY * len(values) else None


def _spellings(paths: Sequence[Sequence[str]]) -> dict[tuple[int, str], str]:
    counts: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    for path in paths:
        for depth, part in enumerate(path):
            counts[depth, _folded(part)][part] += 1
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


def _language(value: Any) -> str:
    """Read a name or code; of several languages the first."""
    values = [item for item in value if item] if isinstance(value, list) else [value]
    return _text(values[0] if values else value)


def _clipped(text: str) -> str:
    """Reduce a text to one line that fits into an index."""
    text = " ".join(text.split())
    return text if len(text) <= _MAX_TITLE else text[: _MAX_TITLE - 1] + "…"


def _uuid(value: Any) -> str:
    """Normalise the spelling of a UUID; of any other identifier the case."""
    text = _text(value).lower()
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return text


def _date(value: Any) -> str:
    if isinstance(value, str) and (iso := iso_date(value)):
        return iso
    raise _WrongValueError(f"must be a date, got {_shown(value)}")


def _tags(value: Any) -> tuple[str, ...]:
    """Read a list, or text separated by commas, else by spaces; strips "#" before a tag."""
    if isinstance(value, str) and "," not in value:
        value = value.split()
    tags = (text.lstrip("#").strip() for text in _aliases(value))
    return tuple(dict.fromkeys(filter(None, tags)))


def _aliases(value: Any) -> tuple[str, ...]:
    values = value.split(",") if isinstance(value, str) else value
    values = values if isinstance(values, list) else [values]
    written = [_text(item) for item in values if item is not None and str(item).strip()]
    return tuple(dict.fromkeys(written))


def _path(value: Any) -> tuple[tuple[str, ...], list[str]]:
    """Return the usable parts of a path, and its problems. A text is split at " > ", else " / ",
    else "/".
    """
    if isinstance(value, str) and value.strip():
        sign = next((sign for sign in _PATH_SIGNS if sign.search(value)), _PATH_SIGNS[-1])
        value = [part for part in sign.split(value) if part.strip()]
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
