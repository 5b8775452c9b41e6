"""Declared arguments as fields: parameters of an address, or members of a JSON body."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pgvector import HalfVector
from pydantic import BaseModel, BeforeValidator, Field, Json, PlainSerializer, create_model

from pgrag.api.arguments import LibraryName, Text, VersionWish
from pgrag.ground.arguments import Declared, declared
from pgrag.ground.json_text import read_json

_NUMBER = {int: r"\d{1,6}", float: r"\d{1,4}(\.\d{1,6})?"}
_SCOPE: dict[str, Any] = {"library": LibraryName, "version": VersionWish}

Model = TypeVar("Model", bound=BaseModel)


def with_declared(arguments: type, *, in_json: bool = True) -> Callable[[type[Model]], type[Model]]:
    """Add the declared arguments to the fields of a body, or of the parameters of an address."""
    return lambda model: create_model(
        model.__name__,
        __base__=model,
        __module__=model.__module__,
        __doc__=model.__doc__,
        **fields(arguments, in_json=in_json),
    )


def fields(arguments: type, *, in_json: bool) -> Any:
    """The declared arguments as fields of a body or of an address."""
    return {
        one.name: (_type(one, in_json=in_json) | None, _field(one, in_json=in_json))
        for one in declared(arguments, "rest")
        if in_json or one.name != "query_embedding"
    }


def _field(one: Declared, *, in_json: bool) -> Any:
    argument = one.argument
    description, examples = argument.meaning, [*argument.examples]
    if argument.default is not None:
        description = f"{description.rstrip('.')}; by default {_shown(argument.default)}."
    if not in_json and (one.item or one.type == dict[str, Any]):
        description += " With commas." if one.item else " As JSON."
        examples = [_as_text(example) for example in examples]
    return Field(default=None, description=description, examples=examples or None)


def _shown(default: Any) -> str:
    if isinstance(default, tuple):
        return " and ".join(map(str, default))
    return str(default).lower() if isinstance(default, bool) else str(default)


def _as_text(example: Any) -> str:
    """An example as written in an address."""
    if isinstance(example, tuple):
        return ",".join(map(str, example))
    return str(example).replace("'", '"')


def _told_once(value: Any) -> Any:
    """Refuse JSON whose readers may differ; pydantic takes the last of repeated members."""
    if isinstance(value, str):
        read_json(value)
        # `read_json` takes a mark of the byte order, and pydantic does not.
        return value.removeprefix("\ufeff")
    return value


def _type(one: Declared, *, in_json: bool) -> Any:
    """The type of a field, with its bounds."""
    argument = one.argument
    minimum, maximum = argument.bounds
    if one.name in _SCOPE:
        return _SCOPE[one.name]
    if one.item:
        return _list(one) if in_json else _text_of_list(one)
    if one.type == dict[str, Any] and not in_json:
        return Annotated[Json[dict[str, Any]], BeforeValidator(_told_once)]
    if one.type is str:
        return Annotated[Text, Field(max_length=argument.longest)]
    if one.type in {int, float}:
        return Annotated[one.type, Field(ge=minimum, le=maximum)]
    return one.type


def _list(one: Declared) -> Any:
    argument = one.argument
    minimum, maximum = argument.bounds
    item: Any = (
        Annotated[Text, Field(max_length=1000)]
        if one.item is str
        else Annotated[one.item, Field(ge=minimum, le=maximum)]
    )
    bounds = Field(min_length=argument.shortest, max_length=argument.longest)
    if one.name == "query_embedding":
        return Annotated[list[item], bounds, PlainSerializer(HalfVector, Any)]
    return Annotated[list[item], bounds]


def _text_of_list(one: Declared) -> Any:
    """A comma-separated list, which the database takes as an array."""
    argument = one.argument
    number = r"[0-2]" if argument.bounds == (0, 2) else _NUMBER.get(one.item, r"[^,]+")
    more = "" if argument.longest is None else argument.longest - 1
    least = max((argument.shortest or 1) - 1, 0)
    pattern = f"^{number}(,{number}){{{least},{more}}}$"
    return Annotated[
        Text,
        Field(pattern=pattern),
        PlainSerializer(lambda text: [one.item(item) for item in text.split(",")]),
    ]
