"""What readers of lock files and manifests have in common."""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

Found: TypeAlias = dict[str, str]
"""Names of dependencies with versions, or with ranges as the file writes them."""

Reader: TypeAlias = Callable[[str, Mapping[str, str]], Found]
"""Reads the text of a file, given the ranges that manifests ask for."""

LONGEST = 10_000
"""Characters of a line that are read."""

_NUMBERS = re.compile(r"\d+")


def table(value: Any) -> Mapping[str, Any]:
    """The value if it is a table, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def toml(text: str) -> dict[str, Any]:
    """The content of a TOML file; tomllib takes hours for a name of a million parts."""
    if any(len(line) > LONGEST for line in text.splitlines()):
        raise ValueError(f"a line has more than {LONGEST:,} characters")
    return tomllib.loads(text)


def rows(value: Any) -> Iterator[Mapping[str, Any]]:
    """The tables of a list."""
    return (
        (one for one in value if isinstance(one, Mapping)) if isinstance(value, list) else iter(())
    )


def newest(versions: Iterable[str]) -> str:
    """The highest version by its numbers; a release is above its pre-releases."""
    return max(versions, key=_order)


def _order(version: str) -> tuple[list[int], bool, str]:
    core, dash, _ = version.partition("-")
    return [int(number[:18]) for number in _NUMBERS.findall(core)], not dash, version
