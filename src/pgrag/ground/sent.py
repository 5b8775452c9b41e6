"""Values as they are sent to the database, and what is said of those that cannot be."""

import json
import os
from collections.abc import Mapping
from datetime import date
from functools import partial
from numbers import Integral
from typing import Any

from psycopg.types.json import Jsonb

from pgrag.ground.errors import InvalidInput

#: By the type of an argument in SQL: what it takes, in Python and in words.
_TAKES: dict[str, tuple[type | tuple[type, ...], str, str]] = {
    "text": (str, "a text", "texts"),
    "boolean": (bool, "True or False", "True and False"),
    "integer": (int, "a whole number", "whole numbers"),
    "bigint": (int, "a whole number", "whole numbers"),
    "double precision": ((int, float), "a number", "numbers"),
    "real": ((int, float), "a number", "numbers"),
}


def sent(name: str, value: Any) -> Any:
    """The value of an argument as the driver takes it.

    Paths are texts, tuples are lists, and what stands for a whole number is one. Objects and lists
    of objects are JSON, in which dates are texts. Raises InvalidInput.
    """
    if name in {"library", "version"}:
        # A list would become the text of an array, which is no name.
        require_texts(**{name: value})
    if isinstance(value, tuple):
        value = [*value]
    items = value if isinstance(value, list) else [value]
    if items and isinstance(items[0], dict):
        return Jsonb(value, dumps=partial(json.dumps, default=partial(_in_json, name)))
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Integral) and not isinstance(value, int):
        return int(value)
    return value


def _in_json(name: str, value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Integral):
        return int(value)
    raise InvalidInput(f"{name} cannot hold {_shown(value)}.", hint="It is sent as JSON.")


def wrong_type(arguments: Mapping[str, Any], types: Mapping[str, str]) -> str | None:
    """Say which argument has another type than its function takes, if one is seen to."""
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
