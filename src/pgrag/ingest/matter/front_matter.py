"""Find and parse the front matter of a file, and separate it from the text."""

import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from frontmatter.default_handlers import BaseHandler, YAMLHandler

from pgrag.ingest.matter.yaml_values import YamlError, json_value, load_yaml

_OPENING = re.compile(
    r"\s*^(?P<sign>-{3,}|\+{3,}|;{3,})[ \t]*(?P<language>json|ya?ml|toml)?[ \t]*\n",
    re.MULTILINE,
)
# The library's own boundaries consume the blank lines below them, which shifts line numbers.
_YAML = YAMLHandler(fm_boundary=re.compile(r"^(?:-{3,}|\.{3})[ \t]*$\n?", re.MULTILINE))
_TOML = BaseHandler(fm_boundary=re.compile(r"^\+{3,}[ \t]*$\n?", re.MULTILINE))
_JSON = BaseHandler(fm_boundary=re.compile(r"^;{3,}[ \t]*$\n?", re.MULTILINE))
#: JSON without a fence, as Hugo writes it: a brace and a name in quotes, up to a brace at the front
#: of a line.
_BARE_JSON = re.compile(r"\s*^\{\s*(?://[^\n]*\s+)*(?:\"[^\"\n]+\"\s*:|\}[ \t]*$)", re.MULTILINE)
_BARE_END = re.compile(r"^\}[ \t]*$", re.MULTILINE)
_JSON_FIELD = re.compile(r"^[ \t{]*\"([^\"\n]+)\"[ \t]*:[ \t]*(.+?),?[ \t}]*$", re.MULTILINE)
#: The parser takes a time that grows with the square of the parts of a name.
_DEEP_TOML = re.compile(r"(?<![\w\"'.-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){200}")
_TOML_FIELD = re.compile(r"^([\w-]+)[ \t]*=[ \t]*(.+)$", re.MULTILINE)
_PLACE = re.compile(r" \(at line (\d+), column \d+\)$")
_KEY = re.compile(r"^([\w\"'][^:#\n\t{}\[\]]*?)[ \t]*:(?=\s|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields as JSON values; the text below them, from line `first_line`."""

    fields: dict[str, Any] = field(default_factory=dict)
    body: str = ""
    first_line: int = 1
    warnings: tuple[str, ...] = ()


def split(key: str, text: str) -> FrontMatter:
    """Separate the front matter of a file from its body; never raises. Of a broken block every
    field that parses alone is kept, with a warning.
    """
    opening = _OPENING.match(text)
    if not opening:
        return _split_bare(key, text)
    at = opening.start("sign")
    notation = _notation(opening)
    handler = {";": _JSON, "+": _TOML}.get(opening["sign"][0], _YAML)
    try:
        # without the name of the notation, which the library's boundary does not know
        block, body = handler.split(f"{opening['sign']}\n{text[opening.end() :]}")
    except ValueError:
        if not (opening["language"] or _KEY.match(text, opening.end())):
            return FrontMatter(body=text)
        warning = f"{key}: front matter is opened in line {_line(text, at)} and never"
        return FrontMatter(body=text, warnings=(f"{warning} closed; it is kept as text",))
    warnings: list[str] = []
    reads = {"toml": _read_toml, "json": _read_json}.get(notation, _read_yaml)
    fields = reads(key, block, _line(text, opening.end()), warnings)
    if fields is None:
        return FrontMatter(body=text)
    return FrontMatter(
        fields=fields,
        body=body,
        first_line=_line(text, len(text) - len(body)),
        warnings=tuple(warnings),
    )


def _notation(opening: re.Match[str]) -> str:
    return opening["language"] or {"+": "toml", ";": "json"}.get(opening["sign"][0], "yaml")


def _split_bare(key: str, text: str) -> FrontMatter:
    """Separate JSON without a fence; broken JSON that does not end is text."""
    if not _BARE_JSON.match(text):
        return FrontMatter(body=text)
    start = text.index("{")
    try:
        _, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        closing = _BARE_END.search(text, start)
        end = closing.end() if closing else start
    rest = text[end:].split("\n", 1)
    if end == start or rest[0].strip():
        return FrontMatter(body=text)
    warnings: list[str] = []
    fields = _read_json(key, text[start:end], _line(text, start), warnings)
    body = rest[1] if len(rest) > 1 else ""
    first_line = _line(text, len(text) - len(body))
    return FrontMatter(fields or {}, body, first_line, tuple(warnings))


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _read_toml(key: str, block: str, start: int, warnings: list[str]) -> dict[str, Any] | None:
    try:
        return {name: json_value(value) for name, value in _load_toml(block).items()}
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        if "=" not in block:
            return None
        place = _PLACE.search(str(error))
        line = start + min(int(place[1]) - 1 if place else 0, block.count("\n"))
        problem = _PLACE.sub("", str(error))
        warnings.append(f"{key}: front matter is broken TOML in line {line}: {problem}")
        return _salvaged(block, _TOML_FIELD, lambda value: _load_toml(f"v = {value}")["v"])


def _load_toml(text: str) -> dict[str, Any]:
    if _DEEP_TOML.search(text):
        raise ValueError("a name has more than 200 parts")
    return tomllib.loads(text)


def _read_json(key: str, block: str, start: int, warnings: list[str]) -> dict[str, Any] | None:
    """Read an object of JSON, whose braces may be missing."""
    written = block.strip()
    shift = block[: len(block) - len(block.lstrip())].count("\n")
    source = written if written.startswith("{") else f"{{{written.rstrip(',')}}}"
    try:
        value = json.loads(source, strict=False)
        return {json_value(name): json_value(item) for name, item in value.items()}
    except RecursionError:
        warnings.append(f"{key}: front matter in line {start} is nested too deep; left out")
        return {}
    except ValueError as error:
        line = start + shift + (error.lineno - 1 if isinstance(error, json.JSONDecodeError) else 0)
        problem = str(error).partition(":")[0]
        warnings.append(f"{key}: front matter is broken JSON in line {line}: {problem}")
        return _salvaged(block, _JSON_FIELD, json.loads)


def _salvaged(block: str, field: re.Pattern[str], parse: Callable[[str], Any]) -> dict[str, Any]:
    """Parse each line of a broken block alone; a value that cannot be parsed is text."""
    fields: dict[str, Any] = {}
    for name, written in field.findall(block):
        try:
            fields[name] = json_value(parse(written))
        except (ValueError, RecursionError):
            fields[name] = json_value(written.strip())
    return fields


def _read_yaml(key: str, block: str, start: int, warnings: list[str]) -> dict[str, Any] | None:
    """Return the fields, or None if the block is text between two horizontal rules."""
    try:
        value, repeated = load_yaml(block)
    except YamlError as problem:
        if block.lstrip(" \t").startswith("\n") or not _KEY.search(block):
            return None
        # libyaml reports an open bracket or quote only after the end of the block
        line = start + min(problem.line, block.count("\n") - 1)
        warnings.append(f"{key}: front matter is broken YAML in line {line}: {problem.message}")
        return _salvage(block)
    for name, line in repeated:
        warnings.append(
            f'{key}: front matter repeats the field "{name}" in line {start + line};'
            " the last value is used"
        )
    if isinstance(value, dict):
        return value
    if isinstance(value, str):
        return None
    if value is not None:
        kind = "a list" if isinstance(value, list) else repr(value)
        warnings.append(f"{key}: front matter must be fields with values, got {kind}; left out")
    return {}


def _salvage(block: str) -> dict[str, Any]:
    """Parse each top-level field of a broken block separately; tabs count as two spaces."""
    starts = [*_KEY.finditer(block := block.replace("\t", "  "))]
    fields: dict[str, Any] = {}
    ends = [following.start() for following in starts[1:]] + [len(block)]
    for match, end in zip(starts, ends, strict=True):
        entry = block[match.start() : end]
        written = block[match.end() : end].strip()
        name = match[1].strip("\"' ")
        value = _read_entry(entry) or _read_entry(entry.split("\n", 1)[0])
        fields |= value if any(part is not None for part in value.values()) else {name: written}
    return fields


def _read_entry(text: str) -> dict[str, Any]:
    try:
        value, _ = load_yaml(text)
    except YamlError:
        return {}
    return value if isinstance(value, dict) else {}
