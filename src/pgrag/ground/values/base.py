"""The base of all values: frozen fields with descriptions, and a reader of SQL rows."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import date, datetime
from functools import cache
from types import NoneType
from typing import Any, Self, dataclass_transform, get_args, get_origin, get_type_hints
from uuid import UUID

_Reader = Callable[[Any], Any]


def described(
    description: str = "",
    example: Any = None,
    *,
    alias: str | None = None,
    default: Any = MISSING,
    hidden: bool = False,
) -> Any:
    """A field with its description and an example, as the OpenAPI document shows them.

    `alias` names the column and the JSON member where Python reserves the word. A `hidden` field is
    neither shown nor compared.
    """
    metadata: dict[str, Any] = {}
    if description:
        metadata["description"] = description
    if example is not None:
        metadata["examples"] = [example]
    if alias:
        metadata["alias"] = alias
    return field(default=default, metadata=metadata, repr=not hidden, compare=not hidden)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(described,))
class _Frozen(type):
    """Turns an annotated class into a frozen, slotted dataclass with keyword-only arguments."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type[Any]:
        cls = super().__new__(mcs, name, bases, namespace)
        # dataclass(slots=True) creates the class a second time, through this method.
        is_finished = "__slots__" in namespace
        if is_finished:
            return cls
        # Lists have a text of their own, which the fields of a subclass must not replace.
        shows_fields = not hasattr(cls, "to_dicts")
        return dataclass(frozen=True, slots=True, kw_only=True, repr=shows_fields)(cls)


class Value(metaclass=_Frozen):
    """A row of an SQL function, or an answer made of rows."""

    __slots__ = ()

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """The value of a row: columns in any order; extra columns are ignored.

        Lists become tuples, nested objects values. Raises TypeError if the row lacks a column.
        """
        return cls(
            **{
                name: row[column] if read is None else read(row[column])
                for name, column, read in _columns(cls)
                if column in row
            }
        )


class Versioned(Value):
    """A part of a version of a library."""

    library: str = described("", "harbour")
    version: str = described("Empty for the unversioned documentation.", "2.1")


@cache
def _columns(cls: type[Any]) -> list[tuple[str, str, _Reader | None]]:
    """Name, column and reader of each field of a value; None leaves a column unchanged."""
    hints = get_type_hints(cls)
    return [
        (each.name, each.metadata.get("alias", each.name), _reader(hints[each.name]))
        for each in fields(cls)
    ]


def _reader(hint: Any) -> _Reader | None:
    origin, inner = get_origin(hint), get_args(hint)
    if NoneType in inner:
        [member, *others] = [choice for choice in inner if choice is not NoneType]
        read = None if others else _reader(member)
        return None if read is None else lambda column: None if column is None else read(column)
    if origin is tuple:
        read_item = _reader(inner[0])
        return tuple if read_item is None else lambda column: tuple(map(read_item, column))
    if origin is dict and (read_value := _reader(inner[1])):
        return lambda column: {name: read_value(value) for name, value in column.items()}
    if isinstance(hint, type) and issubclass(hint, Value):
        return hint.from_row
    return _FROM_JSON.get(hint)


def _from_text(read: Callable[[str], Any]) -> _Reader:
    """Parse text: rows hold these values typed, except inside a JSON object."""
    return lambda column: read(column) if isinstance(column, str) else column


_FROM_JSON: dict[Any, _Reader] = {
    datetime: _from_text(datetime.fromisoformat),
    date: _from_text(date.fromisoformat),
    UUID: _from_text(UUID),
}
