"""The notations of the command line: their parsers and writers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pgrag.ground.json_text import InvalidJson, read_json

if TYPE_CHECKING:
    from typer import BadParameter

_CONDITION = re.compile(
    r"\s*(?P<field>[^=<>!]+?)\s*(?P<operator>!=|<=|>=|=|<|>)(?P<value>.*)", re.S
)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_DURATION = re.compile(r"\s*(?P<number>\d+(\.\d+)?)\s*(?P<unit>s|min|h|d)\s*")
_RATE = re.compile(r"\s*(?P<number>\d+(\.\d+)?)\s*/\s*(?P<unit>s|min|h)\s*")
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86_400}
_SWITCHES = ("true", "false")
_LONGEST_DAYS = 36_500
_WORDS = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Target:
    """A library and a version: None if none was requested, "" for the unversioned (`name@`)."""

    library: str
    version: str | None = None

    @property
    def scope(self) -> dict[str, str | None]:
        """Library and version, as the SQL functions take them."""
        return asdict(self)

    def __str__(self) -> str:
        return self.library if self.version is None else f"{self.library}@{self.version}"


def misuse(option: str | None, complaint: str) -> BadParameter:
    """Return the usage error of an option or argument."""
    from typer import BadParameter

    return BadParameter(complaint, param_hint=option)


def as_options(message: str) -> str:
    """Return an error of the database with arguments of searches as the options that they are:
    `--rrf-k` for rrf_k, `--fusion rrf` for fusion=rrf.
    """
    from pgrag.ground.arguments import FUNCTIONS, declared

    spelt = {
        one.name: (one.argument.option or (f"--{one.name.replace('_', '-')}",))[0]
        for arguments in FUNCTIONS.values()
        for one in declared(arguments, "cli")
    }

    def spell(found: re.Match[str]) -> str:
        option, value = spelt.get(found["name"]), found["value"]
        is_name = value or "_" in found["name"] or found["says"] is not None
        if option is None or not is_name:
            return found[0]
        if value in _SWITCHES:
            return option if value == "true" else f"--no-{option.removeprefix('--')}"
        return option + (f" {value}" if value else "")

    return re.sub(
        r"(?<![\w.\"'`/-])(?P<name>[a-z]\w*)(?![\w(])"
        r"(?:=(?P<value>[\w.,]*\w)|(?P<says>(?= (?:must|has an effect|and \w+_))))?",
        spell,
        message,
    )


def label(library: str, version: str) -> str:
    """Return a version of a library as shown to users."""
    return f"{library} {version}".strip()


def counted(number: int, noun: str) -> str:
    """Return `1 page`, `1,200 pages`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def parse_target(text: str) -> Target:
    """Read LIBRARY[@VERSION]; a usage error if the name before the "@" is missing."""
    library, at, version = text.strip().partition("@")
    if not library.strip():
        raise misuse(None, f"{text!r} has no library: write NAME or NAME@VERSION.")
    return Target(library.strip(), version.strip() if at else None)


def parse_filters(conditions: Iterable[str], document: str | None) -> dict[str, Any] | None:
    """Join `--filter` and `--filters` into one filter; None if neither is given.

    Several `=` on one field are alternatives; all other conditions must hold. A value for a front
    matter field may be a number or a text, so both match.
    """
    alternatives: dict[str, list[dict[str, Any]]] = {}
    demands: list[dict[str, Any]] = []
    for condition in conditions:
        match = _CONDITION.fullmatch(condition)
        if match is None:
            raise misuse(
                "--filter",
                f"{condition!r} is not a condition: write FIELD=VALUE (or !=, <, <=, >, >=).",
            )
        field, operator, value = match["field"], match["operator"], match["value"].strip()
        typed = _typed(field, value)
        if operator == "=":
            operand = value if typed == value else [typed, value]
            alternatives.setdefault(field, []).append({field: operand})
        else:
            demands.append({field: {operator: typed}})
    demands += (
        choices[0] if len(choices) == 1 else {"or": choices} for choices in alternatives.values()
    )
    filters = _json_object(document) if document is not None else {}
    if not demands:
        return filters or None
    if not filters and len(demands) == 1:
        return demands[0]
    return {**filters, "and": [*filters.get("and", []), *demands]}


def _typed(field: str, value: str) -> Any:
    """Only front matter has typed values; other fields have the type of their column."""
    if not field.startswith("front_matter."):
        return value
    if _NUMBER.fullmatch(value):
        return float(value) if "." in value else int(value)
    return _WORDS.get(value, value)


def parse_settings(pairs: Iterable[str]) -> dict[str, Any]:
    """Read KEY=VALUE pairs; a value is JSON if it parses, `a.b=1` is `{"a": {"b": 1}}`."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not key.strip() or not equals:
            raise misuse("KEY=VALUE", f"{pair!r} is not KEY=VALUE.")
        try:
            value = read_json(text)
        except InvalidJson as error:
            if text.lstrip().startswith(("{", "[")):
                raise misuse("KEY=VALUE", f"{key} is not JSON: {error}.") from None
            value = text
        name, dot, member = key.strip().partition(".")
        if dot:
            group = settings.setdefault(name, {})
            if not isinstance(group, dict):
                raise misuse("KEY=VALUE", f"{name!r} is given twice.")
            group[member] = value
        else:
            settings[name] = value
    return settings


def parse_duration(text: str, option: str, *, least: float = 1e-3) -> timedelta:
    """Read a duration of at least `least` seconds: 30s, 15min, 12h, 90d."""
    match = _DURATION.fullmatch(text)
    seconds = float(match["number"]) * _SECONDS[match["unit"]] if match else -1
    if 0 < seconds < least:
        raise misuse(option, f"{text!r} is too short; at least {least:g} seconds are needed.")
    if not 0 < seconds <= _LONGEST_DAYS * _SECONDS["d"]:
        raise misuse(option, f"{text!r} is not a duration, such as 30s, 15min, 12h or 90d.")
    return timedelta(seconds=seconds)


def parse_rate(text: str) -> float:
    """Read a rate such as 10/s, 600/min or 100/h, as requests per second."""
    match = _RATE.fullmatch(text)
    rate = float(match["number"]) / _SECONDS[match["unit"]] if match else 0
    if rate <= 0:
        raise misuse("--rate", f"{text!r} is not a rate, such as 10/s, 600/min or 100/h.")
    return rate


def members(settings: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the settings by name; a member of a group is `group.member`."""
    for name, value in sorted(settings.items()):
        if isinstance(value, dict):
            yield from ((f"{name}.{member}", value[member]) for member in sorted(value))
        else:
            yield name, value


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = read_json(text)
    except InvalidJson as error:
        raise misuse("--filters", f"is not JSON: {error}.") from None
    if isinstance(value, dict):
        return value
    raise misuse("--filters", 'must be a JSON object, such as {"type": "guide"}.')
