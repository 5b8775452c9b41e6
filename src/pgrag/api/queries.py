"""The arguments of searches: as parameters of a GET, or as the JSON body of a POST.

Their names, types, bounds and descriptions are declared in `pgrag.arguments`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

from pgvector import HalfVector
from pydantic import (
    AliasChoices,
    Field,
    Json,
    PlainSerializer,
    create_model,
    model_validator,
)

from pgrag.api.arguments import Arguments, Body, LibraryName, Text, VersionWish
from pgrag.arguments import (
    FUNCTIONS,
    AnswerArguments,
    ContextArguments,
    Declared,
    FacetArguments,
    PagesArguments,
    SearchArguments,
    declared,
)
from pgrag.values.answers import AnswerMode

_QUERY: dict[str, Any] = {
    "description": 'Words rank; `"a phrase"` and `+word` must occur, `-word` must not;'
    " `type:guide`, `created:>=2024-12-01` or `#tag` filter, joined by AND, OR, NOT and"
    " parentheses.",
    "examples": ["connection pool timeout"],
}
_NUMBER = {int: r"\d{1,6}", float: r"\d{1,4}(\.\d{1,6})?"}

#: Arguments that are not the search's own, or that concern the reply.
_NOT_OURS = {"query", "question", "stream"}

_SCOPE: dict[str, Any] = {"library": LibraryName, "version": VersionWish}

Model = TypeVar("Model", bound="Query")


class Query(Arguments):
    """Common fields of every query. An argument that is None takes its default in SQL."""

    def arguments(self) -> dict[str, Any]:
        """The given arguments, without the query."""
        # Not exclude_none, which would also drop the nulls inside the filters.
        stated = self.model_dump(exclude=_NOT_OURS, exclude_unset=True)
        return {name: value for name, value in stated.items() if value is not None}


class _Search(Query):
    @model_validator(mode="after")
    def _belongs_to_mode(self) -> Self:
        stated = self.arguments()
        mode = stated.pop("mode", "hybrid")
        if mode != "hybrid":
            known = {one.name for one in declared(FUNCTIONS[f"{mode}_search"])}
            if foreign := sorted(set(stated) - known):
                raise ValueError(f"mode={mode} has no argument {', '.join(foreign)}")
        if stated.get("rerank") and "after" in stated:
            raise ValueError("a reranked list has one page: ask for a higher top_k, without after")
        return self


def query_models(
    name: str,
    about: str,
    base: type[Arguments],
    arguments: type | None = None,
    *,
    type_: Any = Text,
    **query: Any,
) -> tuple[Any, Any]:
    """Make the models of a query: its parameters in an address, and its body.

    Both have the fields of the `base` and the declared `arguments`. `type_` and any further
    argument describe the field `query`.
    """
    query = {"default": ... if type_ is Text else None, **_QUERY, **query}
    names: dict[str, Any] = {
        "Parameters": {"alias": "q"},
        "Body": {"validation_alias": AliasChoices("query", "q")},
    }
    parameters, body = (
        create_model(
            f"{name}{kind}",
            __base__=(Body, base) if kind == "Body" else base,
            __module__=__name__,
            __doc__=about,
            query=(type_, Field(**query, **spelt)),
            **(_fields(arguments, in_json=kind == "Body") if arguments else {}),
        )
        for kind, spelt in names.items()
    )
    return parameters, body


def _with(arguments: type) -> Callable[[type[Model]], type[Model]]:
    """Add the declared arguments to the fields of a body."""
    return lambda model: create_model(
        model.__name__,
        __base__=model,
        __module__=__name__,
        __doc__=model.__doc__,
        **_fields(arguments, in_json=True),
    )


def _fields(arguments: type, *, in_json: bool) -> Any:
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


def _type(one: Declared, *, in_json: bool) -> Any:
    """The type of a field, with its bounds."""
    argument = one.argument
    minimum, maximum = argument.bounds
    if one.name in _SCOPE:
        return _SCOPE[one.name]
    if one.item:
        return _list(one) if in_json else _text_of_list(one)
    if one.type == dict[str, Any] and not in_json:
        return Json[dict[str, Any]]
    if one.type is str:
        return Annotated[Text, Field(max_length=argument.longest)]
    if one.type in {int, float}:
        return Annotated[one.type, Field(ge=minimum, le=maximum)]
    return one.type


def _list(one: Declared) -> Any:
    argument = one.argument
    minimum, maximum = argument.bounds
    item: Any = (
        Annotated[Text, Field(max_length=200)]
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


SEARCHES = query_models("Search", "A search.", _Search, SearchArguments)
CONTEXTS = query_models("Context", "A context.", Query, ContextArguments)
PAGE_SEARCHES = query_models("PageSearch", "A search for pages.", Query, PagesArguments)
FACETS = query_models(
    "Facet",
    "A count.",
    Query,
    FacetArguments,
    type_=Text | None,
    description=f"{_QUERY['description']} Without it, all pages count.",
)
if TYPE_CHECKING:

    class SearchBody(_Search):
        """The body of a search, for type checkers."""

        query: str
else:
    SearchBody = SEARCHES[1]


class BatchBody(Body):
    """Many searches at once."""

    queries: list[SearchBody] = Field(
        min_length=1,
        max_length=100,
        description="Each with the arguments of `POST /v1/search`, without `rerank`.",
    )

    @model_validator(mode="after")
    def _is_not_reranked(self) -> Self:
        if any(query.arguments().get("rerank") for query in self.queries):
            raise ValueError("a batch is not reranked: search for one query at a time")
        return self


@_with(AnswerArguments)
class AnswerBody(Body, Query):
    """A question, and how it shall be answered."""

    question: Annotated[Text, Field(min_length=1, max_length=10_000, pattern=r"\S")] = Field(
        validation_alias=AliasChoices("question", "query", "q"),
        description="The question.",
        examples=["How do I read the tide table?"],
    )
    stream: bool | None = Field(
        default=None,
        description="Answer with a stream of events; by default if the request accepts"
        " `text/event-stream`.",
    )
    mode: AnswerMode | None = Field(
        default=None,
        description="`direct` (default): the hits of a search are put into words; `agentic`: the"
        " language model searches by itself, in steps.",
    )
    max_steps: int | None = Field(
        default=None,
        ge=1,
        le=50,
        description="Agentic: the number of times that the model is asked with tools; by default"
        " 6.",
    )
    max_tokens: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Agentic: tokens read and written in all steps; by default 30000.",
    )
    ask_intent: bool | None = Field(
        default=None,
        description="Let the language model name the intent where no rule does; by default the"
        " service's setting.",
    )
