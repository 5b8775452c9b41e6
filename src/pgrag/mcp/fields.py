"""Fields of tools: types, bounds and descriptions for the model."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from pgrag.ground.json_text import read_json
from pgrag.mcp.corpus import shown

DEFAULT_BUDGET = 8000
SEARCH_BUDGET = 2400
LARGEST_BUDGET = 20_000
SMALLEST_BUDGET = 200
"""Tokens of a reply, each 4 bytes of UTF-8; below the smallest budget no passage fits."""


def _read_json(value: Any) -> Any:
    if isinstance(value, str):
        return read_json(value)
    return value


LibraryName = Annotated[str, Field(max_length=200, examples=["react"])]
AnyLibrary = Annotated[str | None, Field(max_length=200, examples=["react"])]


def _whole(value: Any) -> Any:
    """The text of a whole number. 3.10 as a number has lost its zero, and is refused."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


VersionWish = Annotated[
    str | None, BeforeValidator(_whole), Field(max_length=200, examples=["18.2.0"])
]
Query = Annotated[str, Field(min_length=1, max_length=10_000)]
Filters = Annotated[dict[str, Any] | None, BeforeValidator(_read_json)]
TokenBudget = Annotated[
    int,
    Field(ge=SMALLEST_BUDGET, le=LARGEST_BUDGET),
]
Cursor = Annotated[
    str | None,
    Field(max_length=4000),
]


def _id(value: Any) -> str:
    if not isinstance(value, int | str) or (isinstance(value, int) and not 0 < value < 2**63):
        raise ValueError("must be an id, a name or a key")
    return str(value)


Id = Annotated[str, BeforeValidator(_id), WithJsonSchema({"type": ["integer", "string"]})]
"""The id of a page or a passage, or its name or key; see `pgrag.page_id`, `pgrag.passage_id`."""


def _ids(value: Any) -> Any:
    """A list, also of a single id or of one that is written in a text."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = read_json(value)
    return [value] if isinstance(value, str | int) and not isinstance(value, bool) else value


def texts(value: Any) -> Any:
    """A list of texts; replies write ids as numbers, and agents give them back so."""
    listed = _ids(value)
    return [*map(_whole, listed)] if isinstance(listed, list) else listed


Ids = Annotated[list[Id] | None, BeforeValidator(_ids)]
VersionLabel = Annotated[str, BeforeValidator(shown)]
"""The label of a version in the form that an agent can pass back."""


def optional_text(longest: int, description: str) -> Any:
    """A field for an optional text."""
    return Field(default=None, max_length=longest, description=description)
