"""Arguments and answers of what is made of hits: pages, counts, and many searches at once."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pgvector import HalfVector
from pydantic import AliasChoices, BaseModel, Field, Json, PlainSerializer, model_validator

from pgrag.api.models.arguments import Arguments, Name, Text
from pgrag.api.models.documents import Hit
from pgrag.api.models.queries import Component, QueryArguments, SearchBody, Share

_QUERY = (
    'Words rank; `"a phrase"` and `+word` must occur, `-word` must not; `type:guide` or `#tag`'
    " filter."
)
_FILTERS = 'Conditions on pages and documents, such as `{"type": "guide"}`.'
_LEVELS = "0 page summaries, 1 section summaries, 2 paragraphs; by default 1 and 2."
_VECTOR = "The query's vector by the model; by default it is made here."
_NUMBERS = PlainSerializer(lambda text: [int(part) for part in text.split(",")])

FiltersText = Annotated[
    Json[dict[str, Any]] | None,
    Field(default=None, description=f"{_FILTERS} As JSON.", examples=['{"type": "guide"}']),
]
LevelsText = Annotated[
    Annotated[str, _NUMBERS] | None,
    Field(
        default=None,
        pattern="^[0-2](,[0-2]){0,9}$",
        description=f"{_LEVELS} With commas.",
        examples=["1,2"],
    ),
]
Filters = Annotated[
    dict[str, Any] | None,
    Field(default=None, description=_FILTERS, examples=[{"type": "guide"}]),
]
Levels = Annotated[
    list[Annotated[int, Field(ge=0, le=2)]] | None,
    Field(default=None, min_length=1, max_length=10, description=_LEVELS, examples=[[1, 2]]),
]
Vector = Annotated[
    Annotated[list[Component], PlainSerializer(HalfVector, Any)] | None,
    Field(default=None, min_length=1, max_length=4000, description=_VECTOR),
]


class _Pages(QueryArguments):
    limit: int = Field(default=10, ge=1, le=1000, description="At most so many pages.")
    fusion: Literal["absolute", "rrf"] | None = Field(
        default=None,
        description="How the arms are joined: by default the sum of their scores, or Reciprocal"
        " Rank Fusion.",
    )
    intent: Name | None = Field(
        default=None,
        description="`auto`: the kind of question chooses what is left open here; or the name of"
        " an intent or query type; by default the library's setting, `off`.",
    )
    aggregate: Literal["max", "mean", "rrf"] | None = Field(
        default=None,
        description="What a page scores: its best hit (default), the mean of its best three, or"
        " its share of the ranks.",
    )
    hierarchy: Literal["none", "depth", "breadth", "overview"] | None = Field(
        default=None,
        description="Prefer the section of the best hit, other sections, or introductions.",
    )
    mmr_lambda: Share | None = Field(
        default=None, description="Below 1, pages that differ from those before come earlier."
    )
    graph: bool | None = Field(
        default=None,
        description="Let links count, and pages in that only links lead to; by default the"
        " library's setting.",
    )
    after: Name | None = Field(
        default=None, description="The `next` of the answer before: continues behind it."
    )
    whole: bool = Field(default=False, description="`content` is the page's whole text.")
    snippets: bool = Field(
        default=True, description="Add an excerpt of the best passage, its words marked by `**`."
    )


class PageSearchParameters(_Pages):
    """Parameters of a search for pages."""

    query: Text = Field(alias="q", description=_QUERY, examples=["connection pool timeout"])
    filters: FiltersText
    levels: LevelsText


class PageSearchBody(_Pages):
    """A search for pages."""

    query: Text = Field(
        validation_alias=AliasChoices("query", "q"),
        description=_QUERY,
        examples=["connection pool timeout"],
    )
    filters: Filters
    levels: Levels
    query_embedding: Vector


class _Facets(QueryArguments):
    limit: int = Field(default=200, ge=1, le=1000, description="Count over so many best hits.")
    value_count: int | None = Field(
        default=None, ge=1, le=10_000, description="Values of each facet at most; by default 20."
    )


class FacetParameters(_Facets):
    """Parameters of a count."""

    query: Text | None = Field(
        default=None,
        alias="q",
        description=f"{_QUERY} Without it, all pages count.",
        examples=["connection pool timeout"],
    )
    filters: FiltersText
    levels: LevelsText


class FacetBody(_Facets):
    """A count."""

    query: Text | None = Field(
        default=None,
        validation_alias=AliasChoices("query", "q"),
        description=f"{_QUERY} Without it, all pages count.",
        examples=["connection pool timeout"],
    )
    filters: Filters
    levels: Levels
    query_embedding: Vector


class BatchBody(Arguments):
    """Many searches."""

    queries: list[SearchBody] = Field(
        min_length=1,
        max_length=100,
        description="Each with the arguments of `POST /v1/search`, without `rerank`.",
    )

    @model_validator(mode="after")
    def _is_not_reranked(self) -> Self:
        if any(query.rerank for query in self.queries):
            raise ValueError("a batch is not reranked: search for one query at a time")
        return self


class FoundPage(BaseModel):
    """One page that a search found."""

    page_id: int = Field(examples=[7])
    library: str = Field(examples=["harbour"])
    version: str = Field(description="Empty for the unversioned documentation.", examples=["2.1"])
    key: str = Field(description="The page's path in its source.", examples=["tides.md"])
    url: str = Field(examples=["https://harbour.example/tides"])
    title: str = Field(examples=["Reading the tide table"])
    path: list[str] = Field(description="From the root of the documentation down to the page.")
    link: str | None = Field(description="The page in the system that it comes from.")
    content: str = Field(description="The best passage, or with `whole` the page; Markdown.")
    score: float = Field(description="Of 0 to 1; more is better.", examples=[0.61])
    keyword_score: float | None = Field(description="The best passage's, by words.")
    semantic_score: float | None = Field(description="The best passage's, by meaning.")
    hybrid_score: float = Field(description="The best passage's, of both arms.")
    aggregate: str = Field(description="How the score was made.", examples=["max"])
    passage_count: int = Field(description="Passages that have a word of the query.", examples=[3])
    document_id: int = Field(description="The best passage.", examples=[42])
    heading: str = Field(description="Above the best passage.", examples=["Spring tides"])
    anchor: str = Field(description="`url#anchor` leads to it.", examples=["spring-tides"])
    snippet: str | None = Field(examples=["Yachts wait for half **tide**."])
    cursor: str = Field(description="As `after`: what follows this page.", examples=["p1:100"])


class PagesAnswer(BaseModel):
    """Pages, the best first."""

    pages: list[FoundPage]
    search_id: UUID | None = Field(
        description="What feedback is given to; null if the search was not recorded."
    )
    next: str | None = Field(
        description="As `after`: the next pages. Null where there are no more.",
        examples=["p10:100"],
    )
    notices: list[str] = Field(description="What the database had to say.")


class FacetValue(BaseModel):
    """One value of a facet."""

    value: str = Field(description="As a filter it narrows the search to it.", examples=["guide"])
    page_count: int = Field(description="Pages that have it.", examples=[12])


class FacetsAnswer(BaseModel):
    """What the pages found are."""

    facets: dict[str, list[FacetValue]] = Field(
        description="By the name of the filter: library, version, topic, type, tags, language,"
        " content_tags; those without a value are left out. The most frequent values first."
    )
    notices: list[str] = Field(description="What the database had to say.")


class Failure(BaseModel):
    """Why one query of a batch has no answer."""

    code: str = Field(description="SQLSTATE.", examples=["PGR02"])
    detail: str = Field(examples=["There is no library 'harbor'."])
    hint: str | None = Field(examples=["Did you mean harbour?"])


class BatchItem(BaseModel):
    """The answer to one query of a batch."""

    query: str
    hits: list[Hit] = Field(description="The best first.")
    next: str | None = Field(description="As `after` of this query: the next hits.")
    error: Failure | None = Field(description="Null where the query was answered.")


class BatchAnswer(BaseModel):
    """The answers to many queries, in their order."""

    answers: list[BatchItem]
    notices: list[str] = Field(description="What the database had to say.")
