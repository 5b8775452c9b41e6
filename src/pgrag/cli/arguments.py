"""What people type, made into values; each notation is read in one place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import typer

from pgrag.models import CHUNK_PROFILES, ChunkProfile

_CONDITION = re.compile(
    r"\s*(?P<field>[^=<>!]+?)\s*(?P<operator>!=|<=|>=|=|<|>)(?P<value>.*)", re.S
)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_WORDS = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Target:
    """A library, and what was said about its version.

    `version` is None where nothing was said (`name`), and "" for the documentation without a
    version (`name@`).
    """

    library: str
    version: str | None = None

    @classmethod
    def parse(cls, text: str) -> Target:
        """Read LIBRARY[@VERSION]. Raises ValueError where there is no name before the "@"."""
        library, at, version = text.strip().partition("@")
        if not library.strip():
            raise ValueError(f"{text!r} has no library: write NAME or NAME@VERSION.")
        return cls(library.strip(), version.strip() if at else None)

    def __str__(self) -> str:
        return self.library if self.version is None else f"{self.library}@{self.version}"


def label(library: str, version: str) -> str:
    """Return how a version of a library is shown."""
    return f"{library} {version}".strip()


def counted(number: int, noun: str) -> str:
    """Return `1 page`, `1,200 pages`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def parse_target(text: str) -> Target:
    """Read LIBRARY[@VERSION]; a usage error where it cannot be one."""
    try:
        return Target.parse(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def parse_filters(conditions: Iterable[str], document: str | None) -> dict[str, Any] | None:
    """Join `--filter` and `--filters` into one filter; None where there is none.

    Equal conditions on one field are alternatives; everything else must hold together. A value
    for a front matter field may be meant as number or as text, so it is looked for as both.
    """
    alternatives: dict[str, list[Any]] = {}
    demands: list[dict[str, Any]] = []
    for condition in conditions:
        match = _CONDITION.fullmatch(condition)
        if match is None:
            raise typer.BadParameter(
                f"{condition!r} is no condition: write FIELD=VALUE (or !=, <, <=, >, >=).",
                param_hint="--filter",
            )
        field, operator, value = match["field"], match["operator"], match["value"].strip()
        if operator == "=":
            alternatives.setdefault(field, []).append(_operand(field, value))
        else:
            demands.append({field: {operator: _number(field, value)}})
    for field, operands in alternatives.items():
        choices = [{field: operand} for operand in operands]
        demands.append(choices[0] if len(choices) == 1 else {"or": choices})
    given = _json_object(document, "--filters") if document is not None else {}
    if not demands:
        return given or None
    if not given and len(demands) == 1:
        return demands[0]
    return {**given, "and": [*given.get("and", []), *demands]}


def _operand(field: str, value: str) -> Any:
    typed = _number(field, value)
    return value if typed == value else [typed, value]


def _number(field: str, value: str) -> Any:
    """Only front matter keeps types; all else is compared by the type of its column."""
    if not field.startswith("front_matter.") or not _NUMBER.fullmatch(value):
        return _WORDS.get(value, value) if field.startswith("front_matter.") else value
    return float(value) if "." in value else int(value)


def parse_levels(text: str | None) -> list[int] | None:
    """Read `0,1,2`; which levels there are is the database's to say."""
    if text is None:
        return None
    try:
        return [int(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is no list of levels, such as 1,2.", param_hint="--levels"
        ) from None


def parse_settings(pairs: Iterable[str]) -> dict[str, Any]:
    """Read KEY=VALUE pairs; a value is JSON where it can be, `a.b=1` is `{"a": {"b": 1}}`."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not key.strip() or not equals:
            raise typer.BadParameter(f"{pair!r} is not KEY=VALUE.", param_hint="KEY=VALUE")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        name, dot, member = key.strip().partition(".")
        if dot:
            group = settings.setdefault(name, {})
            if not isinstance(group, dict):
                raise typer.BadParameter(f"{name!r} is given twice.", param_hint="KEY=VALUE")
            group[member] = value
        else:
            settings[name] = value
    return settings


def _json_object(text: str, option: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"is no JSON: {error}.", param_hint=option) from None
    if not isinstance(value, dict):
        raise typer.BadParameter(
            'must be a JSON object, such as {"type": "guide"}.', param_hint=option
        )
    return value


def parse_chunk_profile(name: str | None, sizes: str | None) -> ChunkProfile | None:
    """Find a profile; `sizes` are MINIMUM,PREFERRED,MAXIMUM in characters, in place of its own.

    None where neither is given: then the types of pages choose.
    """
    if name is None and sizes is None:
        return None
    profile = CHUNK_PROFILES.get(name or "by_heading")
    if profile is None:
        raise typer.BadParameter(
            f"there is no profile {name!r}; choose {', '.join(CHUNK_PROFILES)}.",
            param_hint="--profile",
        )
    if sizes is None:
        return profile
    return replace(_sized(sizes), by_meaning=profile.by_meaning)


def _sized(text: str) -> ChunkProfile:
    try:
        minimum, preferred, maximum = (int(part) for part in text.split(","))
        return ChunkProfile("custom", minimum, preferred, maximum)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} must be three rising numbers, such as 150,900,1200; the last at least"
            " twice the first, and at least 80.",
            param_hint="--chunk-sizes",
        ) from None
