"""JSON that callers send, of which every reader makes the same: RFC 8259 leaves open what a
repeated member or half a pair of surrogates means, and Python's reader takes them, and NaN.
"""

import json
import re
from collections import Counter
from itertools import accumulate
from json import JSONDecodeError
from math import isfinite
from typing import Any, NoReturn

DEEPEST = 200
"""Arrays and objects within each other."""

_MARKS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[][{}]', re.DOTALL)
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


class InvalidJson(ValueError):
    """What is wrong with a text that should be JSON."""


def read_json(text: str | bytes, *, halves: bool = False) -> Any:
    """Read a text of JSON, in UTF-8 with or without a mark of the byte order. Raises `InvalidJson`
    if it is none, repeats a member, has a number that is none, is nested too deeply, or, without
    `halves`, has half a pair of surrogates.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode()
        if text.count("[") + text.count("{") > DEEPEST:
            _check_depth(text)
        value = _DECODER.decode(text.removeprefix("\ufeff"))
        if not halves and _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise InvalidJson(f"Byte {error.start} is not UTF-8") from None
    except UnicodeEncodeError:
        raise InvalidJson("A string has half a pair of surrogates") from None
    except JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        raise InvalidJson(f"{error.msg} ({line}column {error.colno})") from None
    except InvalidJson:
        raise
    except ValueError as error:
        raise InvalidJson("A number has thousands of digits") from error
    return value


def _check_depth(text: str) -> None:
    steps = (_STEPS.get(text[mark.start()], 0) for mark in _MARKS.finditer(text))
    if any(depth > DEEPEST for depth in accumulate(steps)):
        raise InvalidJson(f"It is nested more than {DEEPEST} levels deep")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        [(repeated, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise InvalidJson(f"The member {json.dumps(repeated)[:100]} is given more than once")
    return members


def _number(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise InvalidJson(f"The number {digits[:40]} is too large")
    return number


def _constant(word: str) -> NoReturn:
    raise InvalidJson(f"{word} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_number, parse_constant=_constant
)
