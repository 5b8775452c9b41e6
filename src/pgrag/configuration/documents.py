"""YAML to the configuration that the database takes, and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

import yaml

from pgrag.errors import InvalidInput, SourceError
from pgrag.ingest.yaml_values import YamlError, key_lines, load_yaml

Path = tuple[str, ...]
_ORDER = (
    "query_types", "intents", "rules", "synonyms", "page_types", "edge_kinds", "templates",
    "description", "language", "words", "pattern", "shape", "expansions", "intent", "unit",
    "aggregate", "levels", "alpha", "alpha_offset", "hierarchy", "query_type", "template",
    "inject_types", "confidence",
    "folders", "chunk_profile", "edge_defaults", "retriever_weight", "link_keys", "inject",
    "weight", "system", "prompt",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration that was read from a file.

    `value` is what the database takes. `lines` says at which line (from 1) each section, entry and
    field stands, by its path ("rules", "how-to", "confidence"); `name` is the file's.
    """

    name: str
    value: dict[str, Any]
    lines: dict[Path, int]

    def line(self, *path: str) -> int:
        """Return the line of a place, or of what it is in, where it has none of its own."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    @contextmanager
    def located_errors(self) -> Iterator[None]:
        """Add file and line to the errors that begin with the place of an entry or a field."""
        try:
            yield
        except InvalidInput as error:
            places = sorted(
                ((line, "/".join(path)) for path, line in self.lines.items()),
                key=lambda place: -len(place[1]),
            )
            for line, place in places:
                if error.message.startswith((f"{place}:", f"{place}/")):
                    raise InvalidInput(
                        f"{self.name}:{line}: {error.message}", hint=error.hint
                    ) from error
            raise


def read_file(
    file: str | File,
    *,
    wanted: str = "a configuration is a mapping of sections.",
    hint: str = "`pgrag config show` prints one.",
) -> Configuration:
    """Read a YAML file; see `read_configuration`. Raises `SourceError` where it cannot be read."""
    try:
        text = File(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SourceError(f"{file} cannot be read: {reason}.") from error
    return read_configuration(text, str(file), wanted=wanted, hint=hint)


def read_configuration(
    text: str,
    name: str,
    *,
    wanted: str = "a configuration is a mapping of sections.",
    hint: str = "`pgrag config show` prints one.",
) -> Configuration:
    """Read a YAML text; `name` is said in errors, `wanted` and `hint` where it is no mapping.

    Raises `InvalidInput`, with the line, where it is not YAML, names a key twice or is no mapping.
    """
    try:
        value, repeated = load_yaml(text)
        lines = {path: line + 1 for path, line in key_lines(text).items()}
    except YamlError as error:
        raise InvalidInput(
            f"{name}:{error.line + 1}: this is not YAML: {error.message}."
        ) from error
    for key, line in repeated:
        raise InvalidInput(
            f"{name}:{line + 1}: {key!r} is there twice.", hint="Keep one of the two."
        )
    if not isinstance(value, dict):
        raise InvalidInput(f"{name}:1: {wanted}", hint=hint)
    return Configuration(name, value, lines)


class _Dumper(yaml.SafeDumper):
    """Lists of words on lines of their own would be hard to read."""


_Dumper.add_representer(
    list, lambda dumper, items: dumper.represent_sequence("tag:yaml.org,2002:seq", items, True)
)
_Dumper.add_representer(
    str,
    # Paragraphs stay readable.
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    ),
)


def to_yaml(value: Any) -> str:
    """Write a configuration as YAML that `read_configuration` reads back."""
    value = _ordered(value)
    written: str = yaml.dump(value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100)
    return written


def _ordered(value: Any) -> Any:
    """Put sections and fields in the order in which people write them, entries by name."""
    if not isinstance(value, dict):
        return value
    return {
        key: _ordered(value[key])
        for key in sorted(
            value, key=lambda key: (_ORDER.index(key) if key in _ORDER else len(_ORDER), key)
        )
    }
