"""What a tool is: its name, what it says of itself, its arguments, and what it does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Generic, TypeVar

import mcp_types as types
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from pgrag.mcp.documentation import Documentation

DEFAULT_BUDGET = 8000
LARGEST_BUDGET = 20_000
SMALLEST_BUDGET = 200
"""Tokens of a reply, each counted as 4 bytes of UTF-8; below the last one no passage has room."""

LARGEST_ID = 2**63 - 1


class Arguments(BaseModel):
    """The arguments of a tool. One that it does not know is an error: it may be a typo."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_what_says_nothing(cls, given: Any) -> Any:
        """Some clients send every argument there is: null, or "" for a text, is not given."""
        if not isinstance(given, dict):
            return given
        texts = {name for name, field in cls.model_fields.items() if field.default is None}
        return {
            name: value
            for name, value in given.items()
            if value is not None
            and not (name in texts and isinstance(value, str) and not value.strip())
        }

    @field_validator("*", mode="before")
    @classmethod
    def _as_the_database_takes_it(cls, value: Any) -> Any:
        if _holds_nul(value):
            raise ValueError("must not hold the character U+0000")
        return value


def _holds_nul(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_nul, [*value, *value.values()]))
    if isinstance(value, list):
        return any(map(_holds_nul, value))
    return isinstance(value, str) and "\x00" in value


def _read_json(value: Any) -> Any:
    """Read an object that a model has written as text."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


LibraryName = Annotated[
    str,
    Field(
        max_length=200,
        description="Name of a library, as list_libraries gives it.",
        examples=["react"],
    ),
]
_WISH = (
    "Version to read: a label (18.2.0), a range (18, 5.x, ^2.1, >=2 <3) or `latest`; `-` is"
    " documentation without versions. Leave it out for the newest release."
)
VersionWish = Annotated[str | None, Field(max_length=200, description=_WISH, examples=["18.2.0"])]
VersionWishes = Annotated[
    str | None,
    Field(max_length=200, description=f"{_WISH} `*` is every version.", examples=["18.2.0"]),
]
Query = Annotated[str, Field(min_length=1, max_length=10_000)]
Filters = Annotated[dict[str, Any] | None, BeforeValidator(_read_json)]
TokenBudget = Annotated[
    int,
    Field(
        ge=SMALLEST_BUDGET,
        le=LARGEST_BUDGET,
        description="At most so many tokens of reply; what does not fit comes with the cursor.",
    ),
]
Cursor = Annotated[
    str | None,
    Field(
        max_length=4000,
        description="The cursor of the reply before, with the same other arguments: continues"
        " behind it.",
    ),
]
PageId = Annotated[int, Field(ge=1, le=LARGEST_ID)]
DocumentId = Annotated[int, Field(ge=1, le=LARGEST_ID)]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool answers: Markdown for the model, and the same as data for programs."""

    text: str
    content: BaseModel


Given = TypeVar("Given", bound=Arguments)


@dataclass(frozen=True)
class Tool(Generic[Given]):
    """A tool. `run` may block: it is called in a thread.

    `writes`: it changes what is stored. `is_destructive`: what it takes away is gone.
    `needs_permission`: offered only where writing through MCP is switched on. One that is not
    listed answers those who know it.
    """

    name: str
    title: str
    description: str
    arguments: type[Given]
    output: type[BaseModel]
    run: Callable[[Documentation, Given], Reply]
    writes: bool = False
    is_destructive: bool = False
    needs_permission: bool = False
    is_listed: bool = True

    @cached_property
    def definition(self) -> types.Tool:
        """What tools/list tells of it."""
        return types.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=_schema(self.arguments.model_json_schema()),
            output_schema=_schema(self.output.model_json_schema(mode="serialization")),
            annotations=types.ToolAnnotations(
                read_only_hint=not self.writes,
                destructive_hint=self.is_destructive,
                idempotent_hint=not self.writes,
                open_world_hint=False,
            ),
        )

    def call(self, documentation: Documentation, given: dict[str, Any]) -> Reply:
        """Run it. Raises pydantic's `ValidationError` where the arguments cannot be used."""
        return self.run(documentation, self.arguments.model_validate(given))


def _schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of ours; what the class says of itself is for people."""
    plain: dict[str, Any] = _plain(schema)
    plain.pop("description", None)
    return plain


def _plain(schema: Any, *, is_names: bool = False) -> Any:
    """Simplify a schema: no titles that repeat names, and what may be left out is not "or null".

    Models fill in a plain type more surely, and every client reads it. `is_names`: the keys are
    names of properties.
    """
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if is_names:
        return {name: _plain(value) for name, value in schema.items()}
    kept = {
        name: _plain(value, is_names=name in {"properties", "$defs"})
        for name, value in schema.items()
        if name != "title"
    }
    if "default" in kept and kept["default"] is None:
        del kept["default"]
        choices = [choice for choice in kept.pop("anyOf", []) if choice != {"type": "null"}]
        if len(choices) == 1:
            kept = {**choices[0], **kept}
        elif choices:
            kept["anyOf"] = choices
    return kept
