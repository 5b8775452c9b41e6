"""Calls of SQL functions by name: their statements and values, and what a value's type must be."""

import json
import os
from collections.abc import Callable, Mapping
from datetime import date
from functools import lru_cache, partial
from numbers import Integral
from typing import Any

import psycopg
from pgvector import HalfVector
from psycopg import sql
from psycopg.adapt import PyFormat
from psycopg.types.json import Jsonb

from pgrag.ground.driver_errors import one_sentence, translated_errors
from pgrag.ground.errors import InvalidInput

Row = dict[str, Any]
Ask = Callable[[bytes, list[Any]], list[Row]]

_DECLARED = b"""
select a.name, format_type(a.type, null) as type,
    a.nth <= p.pronargs - p.pronargdefaults as is_required
from pg_proc as p
cross join unnest(p.proargnames[:p.pronargs], p.proargtypes::oid[])
    with ordinality as a (name, type, nth)
where p.pronamespace = to_regnamespace(%s) and p.proname = %s
"""

#: By the type of an argument in SQL: what it takes, in Python and in words.
_TAKES: dict[str, tuple[type | tuple[type, ...], str, str]] = {
    "text": (str, "a text", "texts"),
    "boolean": (bool, "True or False", "True and False"),
    "integer": (int, "a whole number", "whole numbers"),
    "bigint": (int, "a whole number", "whole numbers"),
    "double precision": ((int, float), "a number", "numbers"),
    "real": ((int, float), "a number", "numbers"),
}


def call(connection: psycopg.Connection[Row], function: str, /, **arguments: Any) -> list[Row]:
    """Call `pgrag.<function>` on a connection; see `Database.call`."""
    with translated_errors():
        return asked(lambda *sent: connection.execute(*sent).fetchall(), function, arguments)


def asked(ask: Ask, function: str, arguments: Mapping[str, Any]) -> list[Row]:
    """The rows of `pgrag.<function>`; `ask` runs a statement with its values. Raises errors of the
    driver, and `InvalidInput` for a value of a wrong type.
    """
    given, statement, values = composed(function, arguments)
    try:
        return ask(statement, values)
    except psycopg.errors.UndefinedFunction as error:
        declared = _declared(ask, function)
        for name, value in arguments.items():
            if value is None and name in declared and declared[name]["is_required"]:
                raise InvalidInput(f"{name} must not be None.") from error
        if declared and set(given) <= declared.keys() and error.diag.context is None:
            types = {name: row["type"] for name, row in declared.items()}
            raise InvalidInput(
                wrong_type(dict(zip(given, values, strict=True)), types)
                or f"A value has the wrong type for pgrag.{function}:"
                f" {one_sentence(error.diag.message_primary or '')}"
            ) from error
        raise


def composed(function: str, arguments: Mapping[str, Any]) -> tuple[list[str], bytes, list[Any]]:
    """The call of a function: the names of arguments that are not None, statement and values."""
    given = [name for name, value in arguments.items() if value is not None]
    values = [_sent(name, arguments[name]) for name in given]
    formats = tuple(zip(given, map(_format, values), strict=True))
    return given, _statement(function, formats), values


def _qualified(function: str) -> tuple[str, str]:
    """Schema and name: a private function is called by `_pgrag.name`, a public one by its name."""
    schema, _, name = function.rpartition(".")
    return schema or "pgrag", name


@lru_cache(maxsize=1024)
def _statement(function: str, arguments: tuple[tuple[str, PyFormat], ...]) -> bytes:
    return (
        sql.SQL("select * from {}({})")
        .format(
            sql.Identifier(*_qualified(function)),
            sql.SQL(", ").join(
                sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(format=format_))
                for name, format_ in arguments
            ),
        )
        .as_bytes()
    )


def _declared(ask: Ask, function: str) -> dict[str, Row]:
    """The arguments of a function by their names; empty if there is none."""
    try:
        rows = ask(_DECLARED, [*_qualified(function)])
    except psycopg.errors.InFailedSqlTransaction:
        return {}
    return {row["name"]: row for row in rows}


def _format(value: Any) -> PyFormat:
    # Vectors are sent in binary: as text, thousands of them take longer to send than to compute.
    is_vectors = isinstance(value, list) and value and isinstance(value[0], HalfVector)
    return PyFormat.BINARY if is_vectors else PyFormat.AUTO


def _sent(name: str, value: Any) -> Any:
    """The value of an argument as the driver takes it.

    Paths become texts, tuples lists, other types of whole numbers int, objects and lists of objects
    JSON, with dates as texts. Raises InvalidInput.
    """
    if name in {"library", "version"}:
        # A list would become the text of an array, which is no name.
        require_texts(**{name: value})
    if isinstance(value, tuple):
        value = [*value]
    items = value if isinstance(value, list) else [value]
    if items and isinstance(items[0], dict):
        return Jsonb(value, dumps=partial(json_of, name=name))
    return _plain(value)


def json_of(value: Any, name: str = "the request") -> str:
    """The JSON of an argument, with dates and paths as texts. Raises InvalidInput with its name."""
    return json.dumps(value, default=partial(_in_json, name))


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Integral) and not isinstance(value, int):
        return int(value)
    return value


def _in_json(name: str, value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, os.PathLike | Integral):
        return _plain(value)
    raise InvalidInput(f"{name} cannot hold {_shown(value)}.", hint="It is sent as JSON.")


def wrong_type(arguments: Mapping[str, Any], types: Mapping[str, str]) -> str | None:
    """Say which argument has another type than its function takes; None if none is found."""
    for name, value in arguments.items():
        item_type = types.get(name, "").removesuffix("[]")
        if item_type not in _TAKES:
            continue
        classes, one, several = _TAKES[item_type]
        if item_type == types[name]:
            if not _fits(value, classes):
                return f"{name} must be {one}, not {_shown(value)}."
        elif not isinstance(value, list):
            return f"{name} must be a list of {several}, not {_shown(value)}."
        elif wrong := [item for item in value if not _fits(item, classes)]:
            return f"{name} must be a list of {several}; {_shown(wrong[0])} is none."
    return None


def require_texts(**arguments: Any) -> None:
    """Raise InvalidInput for the first argument that is no text."""
    if wrong := wrong_type(arguments, dict.fromkeys(arguments, "text")):
        raise InvalidInput(wrong)


def _fits(value: Any, classes: type | tuple[type, ...]) -> bool:
    # True is an int in Python.
    return isinstance(value, classes) and (classes is bool or not isinstance(value, bool))


def _shown(value: Any) -> str:
    return f"{type(value).__name__} {repr(value)[:100]}"
