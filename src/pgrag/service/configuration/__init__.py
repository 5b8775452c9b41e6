"""The configuration of all libraries as YAML: to JSON and back, with line numbers in the errors of
the database, which validates it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path as File
from typing import Any

import yaml
from psycopg import Connection

from pgrag.ground.calls import call
from pgrag.ground.errors import InvalidInput, SourceError
from pgrag.ingest.matter.yaml_values import YamlError, key_lines, load_yaml

Path = tuple[str, ...]
_SHIPPED = "defaults.yaml"
_ORDER = (
    "query_types", "intents", "rules", "synonyms", "page_types", "edge_kinds", "templates",
    "description", "language", "words", "pattern", "shape", "expansions", "intent", "unit",
    "aggregate", "levels", "alpha", "alpha_offset", "hierarchy", "query_type", "template",
    "inject_types", "inject_count", "graph", "min_score", "min_confidence", "max_per_page",
    "page_decay", "mmr_lambda", "query_expansion", "score_share", "expand", "expansion_threshold",
    "expansion_share", "max_documents_to_expand", "max_chunks_per_document", "parents",
    "confidence", "folders", "chunk_profile", "edge_defaults", "retriever_weight", "asked_by",
    "link_keys", "inject", "weight", "system", "prompt",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration from the file `name`: the document that the database takes, and the line,
    from 1, of each path ("rules", "how-to", "confidence").
    """

    name: str
    value: dict[str, Any]
    lines: dict[Path, int]

    def line(self, *path: str) -> int:
        """Return the line of a path, or of its nearest parent with a known line."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    @contextmanager
    def located_errors(self) -> Iterator[None]:
        """Add file and line to errors whose message begins with the path of an entry or a field."""
        try:
            yield
        except InvalidInput as error:
            lines = {"/".join(path): line for path, line in self.lines.items()}
            named = [path for path in lines if error.message.startswith((f"{path}:", f"{path}/"))]
            if not named:
                raise
            line = lines[max(named, key=len)]
            raise InvalidInput(f"{self.name}:{line}: {error.message}", hint=error.hint) from error


def read_file(
    file: str | File,
    *,
    wanted: str = "a configuration is a mapping of sections.",
    hint: str = "`pgrag config show` prints one.",
) -> Configuration:
    """Read a YAML file; see `read_configuration`. Raises `SourceError` if it cannot be read."""
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
    """Read a YAML text. Errors name `name`; `wanted` and `hint` explain a text without a mapping.
    Raises `InvalidInput` with the line if the text is not YAML, repeats a key or is not a mapping.
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


@cache
def shipped() -> Configuration:
    """Read the configuration that this release ships."""
    text = files("pgrag.service.configuration").joinpath(_SHIPPED).read_text(encoding="utf-8")
    return read_configuration(text, _SHIPPED)


def install(connection: Connection[Any]) -> None:
    """Install the configuration of this release in a database. Entries that a user has changed or
    removed stay so; see `_pgrag.install_configuration`. Requires the rights of the schema's owner.
    """
    configuration = shipped()
    with configuration.located_errors():
        call(connection, "_pgrag.install_configuration", entries=configuration.value)


class _Dumper(yaml.SafeDumper):
    """Writes lists on one line: one line per word would be hard to read."""


_Dumper.add_representer(
    list, lambda dumper, items: dumper.represent_sequence("tag:yaml.org,2002:seq", items, True)
)
_Dumper.add_representer(
    str,
    # Block style keeps paragraphs readable.
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
    if not isinstance(value, dict):
        return value
    return {
        key: _ordered(value[key])
        for key in sorted(
            value, key=lambda key: (_ORDER.index(key) if key in _ORDER else len(_ORDER), key)
        )
    }
