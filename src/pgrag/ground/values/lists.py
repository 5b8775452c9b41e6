"""Answers that are lists: with a length, items, and a form for notebooks and data frames."""

from collections.abc import Iterator
from dataclasses import asdict
from html import escape
from typing import Any, ClassVar, Generic, TypeVar, overload

from pgrag.ground.values.base import Value

T = TypeVar("T", bound=Value)
_SHOWN = 10
"""The maximum number of items in the text of a list."""
_LONGEST = 300
"""The maximum length of a value in a table, in characters."""


class Listing(Value, Generic[T]):
    """A value that is the list of one of its fields: `len`, iteration, indices and slices work, and
    it is false without items.
    """

    #: The field, and the columns of its items in a table.
    list_field: ClassVar[str]
    list_columns: ClassVar[tuple[str, ...]]

    @property
    def _items(self) -> tuple[T, ...]:
        return tuple(getattr(self, self.list_field))

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self._items[index]

    def to_dicts(self) -> list[dict[str, Any]]:
        """The items as dictionaries, such as for `pandas.DataFrame`."""
        return [asdict(item) for item in self._items]

    def __repr__(self) -> str:
        noun = self.list_field if len(self) != 1 else self.list_field.removesuffix("s")
        lines = [f"<{type(self).__name__}: {len(self)} {noun}>"]
        for number, item in enumerate(self._items[:_SHOWN], start=1):
            values = (_short(getattr(item, name), 60) for name in self.list_columns)
            lines.append(f"{number:>3}  {'  '.join(filter(None, values))}")
        if len(self) > _SHOWN:
            lines.append(f"     … and {len(self) - _SHOWN} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.list_columns)
        rows = "".join(
            f"<tr>{''.join(_cell(getattr(item, name)) for name in self.list_columns)}</tr>"
            for item in self._items
        )
        notices = "".join(f"<p>{escape(each)}</p>" for each in getattr(self, "notices", ()))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{notices}"


def _cell(value: Any) -> str:
    text = escape(_short(value, _LONGEST))
    if isinstance(value, str) and value.startswith(("http://", "https://")):
        text = f'<a href="{escape(value)}" rel="noreferrer">{text}</a>'
    return f"<td>{text}</td>"


def _short(value: Any, longest: int) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, tuple):
        value = " › ".join(map(str, value))
    text = " ".join(str(value).split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
