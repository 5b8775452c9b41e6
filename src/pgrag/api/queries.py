"""The arguments of searches: as parameters of a GET, or as the JSON body of a POST.

Their names, types, bounds and descriptions are declared in `pgrag.ground.arguments`.
"""

from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import AliasChoices, Field, create_model, model_validator

from pgrag.api.arguments import Arguments, Body, Text
from pgrag.api.fields import fields, with_declared
from pgrag.ground import arguments as declared
from pgrag.ground.values.answers import AnswerMode

_QUERY: dict[str, Any] = {
    "description": 'Words and `"phrases"` rank; `+word` and `+"a phrase"` must occur, `-word` must'
    " not; `type:guide`, `created:>=2024-12-01` or `#tag` filter, joined by AND, OR, NOT and"
    " parentheses.",
    "examples": ["connection pool timeout"],
}

#: Arguments that are not the search's own, or that concern the reply.
_NOT_OURS = {"query", "question", "stream", "record"}


class Query(Arguments):
    """Common fields of every query. An argument that is None takes its default in SQL."""

    def arguments(self) -> dict[str, Any]:
        """The given arguments, without the query."""
        # Not exclude_none, which would also drop the nulls inside the filters.
        stated = self.model_dump(exclude=_NOT_OURS, exclude_unset=True)
        return {name: value for name, value in stated.items() if value is not None}


class _Search(Query):
    record: bool = Field(
        default=True,
        description="Whether the search may be recorded: not at each letter of a search as you"
        " type.",
    )

    @model_validator(mode="after")
    def _belongs_to_mode(self) -> Self:
        stated = self.arguments()
        mode = stated.pop("mode", "hybrid")
        if mode != "hybrid":
            known = {one.name for one in declared.declared(declared.FUNCTIONS[f"{mode}_search"])}
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
            **(fields(arguments, in_json=kind == "Body") if arguments else {}),
        )
        for kind, spelt in names.items()
    )
    return parameters, body


SEARCHES = query_models("Search", "A search.", _Search, declared.SearchArguments)
CONTEXTS = query_models("Context", "A context.", Query, declared.ContextArguments)
PAGE_SEARCHES = query_models("PageSearch", "A search for pages.", Query, declared.PagesArguments)
FACETS = query_models(
    "Facet",
    "A count.",
    Query,
    declared.FacetArguments,
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
        description="Each with the arguments of `POST /v1/search`, without `rerank` and `record`.",
    )

    @model_validator(mode="after")
    def _is_plain(self) -> Self:
        if any("record" in query.model_fields_set for query in self.queries):
            raise ValueError("a batch is never recorded: leave out record")
        if any(query.arguments().get("rerank") for query in self.queries):
            raise ValueError("a batch is not reranked: search for one query at a time")
        return self


@with_declared(declared.AnswerArguments)
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
