"""A tool: its name, its description, its arguments, and its function."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args, get_type_hints

import mcp_types as types
import pydantic
from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, create_model

from pgrag.ground.aliases import by_own_names
from pgrag.ground.arguments import Declared, declared
from pgrag.ground.errors import UnknownLibrary
from pgrag.mcp import fields
from pgrag.mcp.corpus import Documentation


class Arguments(BaseModel):
    """The arguments of a tool, also by the names of other servers. An unknown argument is an error:
    it may be a typo.
    """

    model_config = pydantic.ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    @pydantic.model_validator(mode="before")
    @classmethod
    def _without_what_says_nothing(cls, values: Any) -> Any:
        """Drop null, and "" for a text: some clients send all arguments."""
        if not isinstance(values, dict):
            return values
        values = by_own_names(values, _taken(cls))
        texts = {name for name, field in cls.model_fields.items() if field.default is None}
        return {
            name: value
            for name, value in values.items()
            if value is not None
            and not (name in texts and isinstance(value, str) and not value.strip())
        }

    @pydantic.field_validator("*", mode="before")
    @classmethod
    def _as_the_database_takes_it(cls, value: Any) -> Any:
        if _holds_nul(value):
            raise ValueError("must not hold the character U+0000")
        return value

    @pydantic.field_validator("*", mode="before")
    @classmethod
    def _in_its_type(cls, value: Any, info: pydantic.ValidationInfo) -> Any:
        """Refuse true for a number and 1 for a boolean; models write both as texts, too."""
        takes_truth = _takes(cls.model_fields[info.field_name or ""].annotation, bool)
        if isinstance(value, int | float) and isinstance(value, bool) != takes_truth:
            raise ValueError(f"must {'be true or false' if takes_truth else 'not be a boolean'}")
        return value


class Paged(Arguments):
    """Arguments of a tool whose reply may have to be continued."""

    token_budget: fields.TokenBudget = fields.DEFAULT_BUDGET
    cursor: fields.Cursor = None


class FromVersion(BaseModel):
    """What data say of the version that was read."""

    library: str
    version: str
    version_reason: str


def _taken(arguments: type[BaseModel]) -> set[str]:
    """The names that the arguments have by themselves."""
    aliases = (field.validation_alias for field in arguments.model_fields.values())
    return {
        name
        for field, alias in zip(arguments.model_fields, aliases, strict=True)
        for name in (alias.choices if isinstance(alias, AliasChoices) else [alias or field])
        if isinstance(name, str)
    }


def _takes(annotation: Any, kind: type) -> bool:
    return annotation is kind or any(_takes(part, kind) for part in get_args(annotation))


def _holds_nul(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_nul, [*value, *value.values()]))
    if isinstance(value, list):
        return any(map(_holds_nul, value))
    return isinstance(value, str) and "\x00" in value


Request = TypeVar("Request", bound=Arguments)


def with_declared(arguments: type, **meanings: str) -> Callable[[type[Request]], type[Request]]:
    """Add the arguments that are declared for agents, unless the class defines them itself.
    `meanings` are shorter than those declared, or none: every agent pays for them in every
    conversation.
    """

    def fill(model: type[Request]) -> type[Request]:
        added: Any = {
            one.name: (
                _declared_type(one) | None,
                Field(None, description=meanings.get(one.name, one.argument.meaning) or None),
            )
            for one in declared(arguments, "mcp")
            if one.name not in model.model_fields
        }
        return create_model(model.__name__, __base__=model, __module__=model.__module__, **added)

    return fill


def _declared_type(one: Declared) -> Any:
    argument = one.argument
    minimum, maximum = argument.bounds
    bounds = Field(ge=minimum, le=maximum)
    if one.item:
        length = Field(min_length=argument.shortest, max_length=argument.longest)
        if one.item is str:
            return Annotated[list[str], BeforeValidator(fields.texts), length]
        item: Any = Annotated[one.item, bounds]
        return Annotated[list[item], length]
    if one.choices:
        # "" says nothing here: see `Arguments`.
        return Literal[tuple(filter(None, one.choices))]
    return Annotated[one.type, bounds] if one.type in {int, float} else one.type


@dataclass(frozen=True, slots=True)
class Reply:
    """A tool's answer: Markdown, and `content` if it is data. Prose is text alone: some clients
    show their model only data where there are any, and others both.
    """

    text: str
    content: BaseModel | None = None


@dataclass(frozen=True)
class Tool(Generic[Request]):
    """A tool. `run` may block: it is called in a thread. `output`: the model, or models, of the
    data beside its text.

    `is_default`: listed unless the operator chooses the tools. `writes`: it changes stored data.
    `is_destructive`: it deletes data irrevocably. `needs_permission`: offered only if writing
    through MCP is enabled. `is_costly`: it may keep the database busy for long.
    """

    name: str
    title: str
    description: str
    arguments: type[Request]
    output: Any
    run: Callable[[Documentation, Request], Reply]
    is_default: bool = False
    writes: bool = False
    is_destructive: bool = False
    needs_permission: bool = False
    is_costly: bool = False

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The schema of the arguments; how to continue a reply comes last."""
        asked = schema_of(self.arguments)
        properties = asked.get("properties", {})
        for name in [name for name in Paged.model_fields if name in properties]:
            properties[name] = properties.pop(name)
        return asked

    def definition(self, choices: Mapping[str, Sequence[str]]) -> types.Tool:
        """The tool's entry in tools/list. `choices` are the values of arguments that have few.

        It has no output schema: clients pass it to the model, which does not need it.
        """
        asked = _brief(self.schema)
        for name in choices.keys() & asked["properties"].keys():
            asked["properties"][name]["enum"] = list(choices[name])
        return types.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=asked,
            annotations=types.ToolAnnotations(
                read_only_hint=not self.writes,
                destructive_hint=self.is_destructive,
                idempotent_hint=not self.writes,
                open_world_hint=False,
            ),
        )

    def call(self, documentation: Documentation, values: dict[str, Any]) -> Reply:
        """Run the tool, also for a library by another name. Raises pydantic's `ValidationError` for
        invalid arguments.
        """
        request = self.arguments.model_validate(values)
        try:
            return self.run(documentation, request)
        except UnknownLibrary:
            given = request.model_dump(include={"library", "version"}, exclude_none=True)
            meant = documentation.meant(given.get("library", ""))
            if meant is None or self.writes:
                raise
            library, version = meant
            return self.run(
                documentation,
                request.model_copy(update={"version": version, **given, "library": library}),
            )


def tool(
    name: str, title: str, output: Any = None, **traits: bool
) -> Callable[[Callable[[Documentation, Request], Reply]], Tool[Request]]:
    """Make a tool of a function, whose docstring describes it; `traits` are flags of `Tool`."""

    def make(run: Callable[[Documentation, Request], Reply]) -> Tool[Request]:
        description = " ".join((run.__doc__ or "").split())
        return Tool(name, title, description, get_type_hints(run)["request"], output, run, **traits)

    return make


def schema_of(
    model: type[BaseModel], mode: Literal["validation", "serialization"] = "validation"
) -> dict[str, Any]:
    """A schema without the class's docstring, which is for people."""
    schema: dict[str, Any] = _plain(model.model_json_schema(mode=mode))
    schema.pop("description", None)
    return schema


_UNTOLD = {
    "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "examples",
    "additionalProperties",
}  # fmt: skip
"""What a model does without until it errs; a refusal tells it."""


def _brief(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema for agents, without bounds."""
    properties = {
        name: {key: value for key, value in of.items() if key not in _UNTOLD}
        for name, of in schema.get("properties", {}).items()
    }
    return {**schema, "properties": properties}


def _plain(schema: Any, *, is_names: bool = False) -> Any:
    """Simplify a schema: no titles that repeat names, and no "or null" for optional arguments.

    Models fill in a plain type more reliably, and every client reads it. `is_names`: the keys are
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
