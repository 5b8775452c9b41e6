"""Convert YAML to JSON values with the types of YAML 1.2, limited to what PostgreSQL can store:
unlike in PyYAML `lang: no` is text. A date becomes an ISO string.
"""

import math
import re
from datetime import date, datetime
from typing import Any

import yaml

try:
    from yaml import CSafeLoader as _BaseLoader
except ImportError:  # PyYAML without libyaml: same results, slower
    from yaml import SafeLoader as _BaseLoader  # type: ignore[assignment]

_MAX_DEPTH = 30
_MAX_VALUES = 20_000
_MAX_DIGITS = 300
_TAG = "tag:yaml.org,2002:"
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class YamlError(Exception):
    """A YAML text cannot be parsed; `line` counts from 0."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class _Loader(_BaseLoader):
    """libyaml's parser with the scalar types of YAML 1.2's core schema, and dates."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


for _name, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", list("-+.0123456789")),
    ("timestamp", r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?", list("0123456789")),
    ("merge", r"<<", ["<"]),
):
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(rf"^(?:{_pattern})$"), _first)


def load_yaml(text: str) -> tuple[Any, list[tuple[str, int]]]:
    """Return the JSON value of a YAML text, and its repeated keys with lines from 0."""
    reader = _Reader()
    try:
        node = _compose(text)
        value = None if node is None else reader.value(node, 0)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "syntax error"
        raise YamlError(problem, mark.line if mark else 0) from error
    except yaml.YAMLError as error:
        raise YamlError(str(error).split("\n", 1)[0]) from error
    return value, reader.repeated


def _compose(text: str) -> yaml.Node | None:
    """Parse a text to nodes, its depth checked first: libyaml's composer has no limit."""
    depth = 0
    field = "it"
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MAX_DEPTH + 1:
                mark = event.start_mark
                raise YamlError(
                    f"{field} is nested deeper than {_MAX_DEPTH} levels", mark.line if mark else 0
                )
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif depth == 1 and isinstance(event, yaml.ScalarEvent):
            field = f'"{event.value[:80]}"'
    return yaml.compose(text, _Loader)


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Map the path of every key of a YAML text to its line, from 0. Raises YamlError."""
    lines: dict[tuple[str, ...], int] = {}

    def walk(node: yaml.Node, path: tuple[str, ...]) -> None:
        if not isinstance(node, yaml.MappingNode) or len(path) > _MAX_DEPTH:
            return
        for key_node, value_node in node.value:
            child = (*path, _key_text(key_node))
            lines[child] = key_node.start_mark.line
            walk(value_node, child)

    node = _compose(text)
    if node is not None:
        walk(node, ())
    return lines


def json_value(value: Any) -> Any:
    """Convert a TOML value for JSON and PostgreSQL: dates as ISO strings, no infinity."""
    if isinstance(value, dict):
        return {_storable(str(key)): json_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [json_value(item) for item in value]
    is_finite = not isinstance(value, float) or math.isfinite(value)
    if is_finite and (value is None or isinstance(value, bool | int | float)):
        return value
    return _storable(value.isoformat() if hasattr(value, "isoformat") else str(value))


def iso_date(text: str) -> str | None:
    """Return ISO 8601 for a date or time, also `2024/01/31`, `31.01.2024`; else None."""
    text = text.strip()
    if match := re.fullmatch(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})", text):
        year, month, day = match.groups()
    elif match := re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(\d{4})", text):
        day, month, year = match.groups()
    else:
        return _iso_time(text)
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None


def _iso_time(text: str) -> str | None:
    if not re.match(r"\d{4}-\d\d-\d\d[Tt ]", text):
        return None
    try:
        # fromisoformat rejects the common "2024-01-31 10:00:00 +02:00"
        return datetime.fromisoformat(re.sub(r"\s+(?=[-+Zz])", "", text).upper()).isoformat()
    except ValueError:
        return None


def _storable(text: str) -> str:
    """Remove NUL and surrogates, which YAML escapes can produce but PostgreSQL cannot store."""
    return _UNSTORABLE.sub("", text)


class _Reader:
    """Converts a graph of nodes within limits: aliases can make it huge or cyclic."""

    def __init__(self) -> None:
        self.repeated: list[tuple[str, int]] = []
        self._values = 0

    def value(self, node: yaml.Node, depth: int) -> Any:
        self._values += 1
        if depth > _MAX_DEPTH:
            raise YamlError(
                f"aliases nest it deeper than {_MAX_DEPTH} levels", node.start_mark.line
            )
        if self._values > _MAX_VALUES:
            raise YamlError(
                f"it has more than {_MAX_VALUES:,} values, aliases included", node.start_mark.line
            )
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, depth + 1) for item in node.value]
        return _scalar(node.tag, node.value)

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            value = self.value(value_node, depth + 1)
            if key_node.tag == _TAG + "merge":
                for mapping in reversed(value if isinstance(value, list) else [value]):
                    merged.update(mapping if isinstance(mapping, dict) else {})
                continue
            key = _key_text(key_node)
            if key in result:
                self.repeated.append((key, key_node.start_mark.line))
            result[key] = value
        return {**merged, **result}


def _key_text(node: yaml.Node) -> str:
    """Return a key as a string, as JSON requires: the scalar as written."""
    if not isinstance(node, yaml.ScalarNode):
        raise YamlError("a list or mapping cannot be a key", node.start_mark.line)
    return _storable(node.value)


def _scalar(tag: str, text: str) -> Any:
    kind = tag.removeprefix(_TAG)
    value: Any = None
    try:
        if kind == "null":
            return None
        if kind == "bool":
            value = {"true": True, "false": False}.get(text.lower())
        elif kind == "int" and len(text) <= _MAX_DIGITS:
            value = int(text)
        elif kind == "float" and math.isfinite(number := float(text)):
            value = number
        elif kind == "timestamp":
            value = iso_date(text)
    except ValueError:
        value = None
    return _storable(text) if value is None else value
