"""What a filter means, in Python: the twin that the compiler to SQL is held to."""

import operator
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from library import Row

ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
KINDS = {
    "tags": "list", "depth": "number", "level": "number", "depth_min": "minimum",
    "created": "time", "modified": "time", "type": "text", "topic": "text", "uuid": "text",
}  # fmt: skip
OF_DOCUMENTS = {"depth": 0, "depth_min": 0, "level": 2}
COMPARISONS = {*ORDER, "!=", "in", "exists"}
OPERATORS = {
    "list": {"=", "!=", "in", "all", "exists"},
    "minimum": {"="},
    "number": COMPARISONS,
    "time": COMPARISONS,
    "text": COMPARISONS | {"like"},
    "json": COMPARISONS | {"like", "all"},
}


class Refused(Exception):
    """The filter has no meaning."""


def matches(filter_: dict[str, Any], page: Row, document: Row) -> bool:
    """Whether a passage passes a filter; every part is evaluated, so that its faults are raised."""
    return all([_part(name, value, page, document) for name, value in filter_.items()])  # noqa: C419


def _part(name: str, condition: Any, page: Row, document: Row) -> bool:
    if name in ("and", "or"):
        if not condition:
            raise Refused
        found = [matches(member, page, document) for member in condition]
        return all(found) if name == "and" else any(found)
    if name == "not":
        return not matches(condition, page, document)
    if not isinstance(condition, dict):
        condition = {"in" if isinstance(condition, list) else "=": condition}
    if not condition:
        raise Refused
    kind = "json" if name.startswith("front_matter.") else KINDS[name]
    stored = _stored(name, page, document)
    return all([_holds(kind, stored, *one) for one in condition.items()])  # noqa: C419


def _stored(name: str, page: Row, document: Row) -> Any:
    if name in OF_DOCUMENTS:
        return document.get(name.removesuffix("_min"), OF_DOCUMENTS[name])
    if not name.startswith("front_matter."):
        return page.get(name)
    value: Any = page.get("front_matter", {})
    for part in name.split(".")[1:]:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _holds(kind: str, stored: Any, op: str, operand: Any) -> bool:
    if op not in OPERATORS[kind] or (operand is None and op not in ("=", "!=")):
        raise Refused
    if op == "!=":
        return not _holds(kind, stored, "=", operand)
    is_there = stored not in (None, [])
    if op == "exists":
        return is_there is (operand is not False)
    if operand is None:
        return not is_there
    if op == "in" and kind != "list":
        members = operand if isinstance(operand, list) else [operand]
        return any([_holds(kind, stored, "=", member) for member in members])  # noqa: C419
    return TESTS[kind](stored, op, operand)


def _list(stored: list[str] | None, op: str, operand: Any) -> bool:
    wanted = {tag.lower() for tag in (operand if isinstance(operand, list) else [operand])}
    # A nested tag is also those above it.
    has = {
        "/".join(parts[:count])
        for parts in (tag.lower().split("/") for tag in stored or ())
        for count in range(1, len(parts) + 1)
    }
    return wanted <= has if op == "all" else bool(wanted & has)


def _text(stored: str | None, op: str, operand: Any) -> bool:
    if stored is None:
        return False
    if op == "like":
        pattern = "".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in _as_text(operand))
        return re.fullmatch(pattern, stored, re.DOTALL | re.IGNORECASE) is not None
    if op == "=":
        return stored.lower() == _as_text(operand).lower()
    return ORDER[op](stored, _as_text(operand))


def _number(stored: float, op: str, operand: Any) -> bool:
    try:
        return ORDER[op](stored, float(operand))
    except (TypeError, ValueError):
        raise Refused from None


def _time(stored: str | None, op: str, operand: Any) -> bool:
    try:
        moment = _moment(operand)
    except (TypeError, ValueError):
        raise Refused from None
    if stored is None:
        return False
    at = _moment(stored)
    if len(operand) == len("2024-12-01"):
        after = moment + timedelta(days=1)
        if op == "=":
            return moment <= at < after
        if op in ("<=", ">"):
            return (at < after) is (op == "<=")
    return ORDER[op](at, moment)


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _json(stored: Any, op: str, operand: Any) -> bool:
    if stored is None:
        return False
    if op in ("=", "all"):
        has = stored if isinstance(stored, list) else [stored]
        wanted = operand if isinstance(operand, list) else [operand]
        return all(any(_same(value, member) for value in has) for member in wanted)
    if _type(operand) is float and op != "like":
        return _type(stored) is float and ORDER[op](stored, operand)
    return _text(_as_text(stored), op, operand)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one.lower() == other.lower()
    return _type(one) is _type(other) and one == other


def _type(value: Any) -> type:
    return float if type(value) is int else type(value)


def _as_text(value: Any) -> str:
    """As jsonb shows it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(f'"{v}"' if isinstance(v, str) else _as_text(v) for v in value) + "]"
    return "null" if value is None else str(value)


TESTS: dict[str, Callable[[Any, str, Any], bool]] = {
    "list": _list,
    "text": _text,
    "number": _number,
    "minimum": lambda stored, _, operand: _number(stored, ">=", operand),
    "time": _time,
    "json": _json,
}
