"""Find and parse the front matter of a file, and separate it from the text."""

import re
import tomllib
from dataclasses import dataclass, field
from typing import Any

from frontmatter.default_handlers import BaseHandler, YAMLHandler

from pgrag.ingest.matter.yaml_values import YamlError, json_value, load_yaml

_OPENING = re.compile(r"\s*^(-{3,}|\+{3,})[ \t]*\n", re.MULTILINE)
# The library's own boundaries consume the blank lines below them, which shifts line numbers.
_YAML = YAMLHandler(fm_boundary=re.compile(r"^(?:-{3,}|\.{3})[ \t]*$\n?", re.MULTILINE))
_TOML = BaseHandler(fm_boundary=re.compile(r"^\+{3,}[ \t]*$\n?", re.MULTILINE))
_KEY = re.compile(r"^([\w\"'][^:#\n\t{}\[\]]*?)[ \t]*:(?=\s|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields as JSON values; the text below them, from line `first_line`."""

    fields: dict[str, Any] = field(default_factory=dict)
    body: str = ""
    first_line: int = 1
    warnings: tuple[str, ...] = ()


def split(key: str, text: str) -> FrontMatter:
    """Separate the front matter of a file from its body; never raises. Of broken YAML every field
    that parses alone is kept, with a warning.
    """
    opening = _OPENING.match(text)
    if not opening:
        return FrontMatter(body=text)
    is_toml = opening[1].startswith("+")
    try:
        block, body = (_TOML if is_toml else _YAML).split(text[opening.start(1) :])
    except ValueError:
        if not _KEY.match(text, opening.end()):
            return FrontMatter(body=text)
        warning = f"{key}: front matter is opened in line {_line(text, opening.start(1))} and never"
        return FrontMatter(body=text, warnings=(f"{warning} closed; it is kept as text",))
    start = _line(text, opening.end())
    warnings: list[str] = []
    fields = (_read_toml if is_toml else _read_yaml)(key, block, start, warnings)
    if fields is None:
        return FrontMatter(body=text)
    return FrontMatter(
        fields=fields,
        body=body,
        first_line=_line(text, len(text) - len(body)),
        warnings=tuple(warnings),
    )


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _read_toml(key: str, block: str, start: int, warnings: list[str]) -> dict[str, Any] | None:
    try:
        return {name: json_value(value) for name, value in tomllib.loads(block).items()}
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        if "=" not in block:
            return None
        warnings.append(f"{key}: front matter in line {start} is broken TOML and left out: {error}")
        return {}


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
