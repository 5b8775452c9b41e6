"""The arguments of searches: as parameters of a GET, or as the JSON body of a POST."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pgvector import HalfVector
from pydantic import AliasChoices, Field, Json, PlainSerializer, model_validator

from pgrag.api.models.arguments import Arguments, Count, LibraryName, Name, Text, VersionWish

Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0, le=100)]
#: What a half-precision vector can hold.
Component = Annotated[float, Field(ge=-65504, le=65504)]

_QUERY = (
    'Words rank; `"a phrase"` and `+word` must occur, `-word` must not; `type:guide`,'
    " `created:>=2024-12-01` or `#tag` filter, joined by AND, OR, NOT and parentheses."
)
_FILTERS = (
    "Conditions on pages and documents, such as"
    ' `{"type": "guide", "tags": ["a", "b"], "created": {">=": "2024-12-01"}}`.'
)
_LEVELS = (
    "0 page summaries, 1 section summaries, 2 paragraphs; by default 1 and 2, without summaries"
    " whose paragraphs answer as well."
)
_RRF_WEIGHTS = "Weights of the keyword arm and the vector arm in `rrf`; by default 1 and 1."
_NUMBER = r"(100|\d{1,2}(\.\d{1,6})?)"

#: Arguments of a search that one of its modes alone has no use for.
_FUSING = ("alpha", "fusion", "candidate_count", "rrf_k", "rrf_weights")
_FOREIGN = {
    "hybrid": (),
    "keyword": (*_FUSING, "intent", "model", "query_embedding"),
    "semantic": (*_FUSING, "intent", "query_expansion", "page_evidence"),
}


def _split(number: Callable[[str], float]) -> PlainSerializer:
    """Numbers with commas between them, which the database takes as an array."""
    return PlainSerializer(lambda text: [number(part) for part in text.split(",")])


class QueryArguments(Arguments):
    """What every query has. An argument that is None is left to the default in SQL."""

    library: LibraryName | None = Field(
        default=None, description="Name of a library; by default all are searched."
    )
    version: VersionWish | None = Field(
        default=None,
        description="A label (`2.1`), a range (`^2`), `latest`, `-` for the unversioned"
        " documentation, `*` for every version; by default the newest release.",
    )
    limit: int = Field(default=10, ge=1, le=1000, description="At most so many hits.")
    alpha: Share | None = Field(
        default=None,
        description="Share of the vector arm; by default the library's, the model's, or 0.3.",
    )
    min_score: float | None = Field(
        default=None, description="Hits with a lower score are left out before the limit counts."
    )
    model: Name | None = Field(
        default=None, description="Name of the embedding model; by default the library's."
    )

    def arguments(self) -> dict[str, Any]:
        """The arguments that were given, under their names in SQL, without the query."""
        given = self.model_dump(exclude={"query", "limit", "mode"})
        # Not by exclude_none, which would also take the nulls out of the filters.
        stated = {name: value for name, value in given.items() if value is not None}
        return {"match_count": self.limit, **stated}


class _Ranked(QueryArguments):
    """What decides which hits there are, and their order."""

    fusion: Literal["absolute", "rrf"] | None = Field(
        default=None,
        description="How the arms are joined: by default the sum of their scores, or Reciprocal"
        " Rank Fusion.",
    )
    max_per_page: int | None = Field(
        default=None, ge=1, le=1000, description="At most so many hits of one page."
    )
    page_evidence: Share | None = Field(
        default=None,
        description="Share of the page in the keyword score; by default the library's.",
    )
    intent: Name | None = Field(
        default=None,
        description="`auto`: the kind of question chooses what is left open here (levels, unit,"
        " aggregate, hierarchy, alpha); or the name of an intent or query type; by default the"
        " library's setting, `off`.",
    )
    hierarchy: Literal["none", "depth", "breadth", "overview"] | None = Field(
        default=None,
        description="Prefer the section of the best hit, other sections, or introductions.",
    )
    mmr_lambda: Share | None = Field(
        default=None,
        description="Below 1: hits that differ from those before them come earlier.",
    )
    query_expansion: Literal["none", "synonyms", "feedback", "both"] | None = Field(
        default=None,
        description="Add words: the library's synonyms, words of the best hits, or both.",
    )
    graph: bool | None = Field(
        default=None,
        description="Let links count, and pages in that only links lead to; by default the"
        " library's setting, for one arm alone false.",
    )


class _Search(_Ranked):
    mode: Literal["hybrid", "keyword", "semantic"] = Field(
        default="hybrid", description="Both arms, or one of them alone."
    )
    after: Name | None = Field(
        default=None, description="The `next` of the answer before: continues behind it."
    )
    candidate_count: int | None = Field(
        default=None,
        ge=1,
        le=20_000,
        description="How deep each arm is read at first; by default 100.",
    )
    rrf_k: int | None = Field(
        default=None, ge=1, le=10_000, description="k of `rrf`; by default 60."
    )
    snippets: bool = Field(
        default=False, description="Add an excerpt of each hit, its words marked by `**`."
    )
    explain: bool = Field(
        default=False,
        description="Add every number behind the score of each hit, and the reasons in words.",
    )
    unit: Literal["document", "page"] | None = Field(
        default=None, description="Hits are documents, or pages shown by their best document."
    )
    aggregate: Literal["max", "mean", "rrf"] | None = Field(
        default=None, description="What makes the score of a page of those of its documents."
    )
    rerank: bool = Field(
        default=False,
        description="Let the reranker score the best hits anew; `hybrid_score` keeps the fused"
        " score.",
    )
    rerank_depth: int | None = Field(
        default=None, ge=1, le=1000, description="So many hits are scored anew; by default 50."
    )

    @model_validator(mode="after")
    def _belongs_to_mode(self) -> Self:
        foreign = [name for name in _FOREIGN[self.mode] if getattr(self, name, None) is not None]
        if foreign:
            raise ValueError(f"mode={self.mode} has no use for {', '.join(foreign)}")
        if self.rerank and self.after is not None:
            raise ValueError("a reranked list has one page: ask for a higher limit, without after")
        return self


class _Context(_Ranked):
    token_budget: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="At most so many tokens, of 4 bytes each; by default 4000.",
    )
    format: Literal["simple", "grouped"] | None = Field(
        default=None,
        description="Breadcrumbs above every document, or by default headings above sections.",
    )
    expand: bool | None = Field(
        default=None, description="Add more of the best pages; by default true."
    )
    expansion_threshold: float | None = Field(
        default=None, description="Score that a page needs to be expanded; by default 0.3."
    )
    max_documents_to_expand: Count | None = Field(
        default=None, description="At most so many pages are expanded; by default 3."
    )
    max_chunks_per_document: Count | None = Field(
        default=None,
        description="At most so many documents are added for each page; by default 20.",
    )
    score_share: Share | None = Field(
        default=None,
        description="Hits below this share of the best one's score are left out; by default 0.5.",
    )
    expansion_share: Share | None = Field(
        default=None,
        description="Pages below this share of the best one's score are not expanded; by default"
        " 0.8.",
    )
    parents: bool = Field(default=False, description="Add the section above each hit.")
    siblings: Count | None = Field(
        default=None,
        description="Add so many neighbours before and after each hit; by default none.",
    )
    overlap: bool = Field(
        default=False,
        description="Begin with the end of the paragraph before, where that is not there itself.",
    )


class _AsParameters(Arguments):
    """The parts of every query that look different in an address."""

    query: Text = Field(alias="q", description=_QUERY, examples=["connection pool timeout"])
    filters: Json[dict[str, Any]] | None = Field(
        default=None, description=f"{_FILTERS} As JSON.", examples=['{"type": "guide"}']
    )
    levels: Annotated[str, _split(int)] | None = Field(
        default=None,
        pattern="^[0-2](,[0-2]){0,9}$",
        description=f"{_LEVELS} With commas.",
        examples=["1,2"],
    )


class _AsBody(Arguments):
    """The parts of every query that look different in JSON, and its vector."""

    query: Text = Field(
        validation_alias=AliasChoices("query", "q"),
        description=_QUERY,
        examples=["connection pool timeout"],
    )
    filters: dict[str, Any] | None = Field(
        default=None, description=_FILTERS, examples=[{"type": "guide"}]
    )
    levels: list[Annotated[int, Field(ge=0, le=2)]] | None = Field(
        default=None, min_length=1, max_length=10, description=_LEVELS, examples=[[1, 2]]
    )
    query_embedding: Annotated[list[Component], PlainSerializer(HalfVector, Any)] | None = Field(
        default=None,
        min_length=1,
        max_length=4000,
        description="The query's vector by the model; by default it is made here.",
    )


class SearchParameters(_Search, _AsParameters):
    """Parameters of a search."""

    rrf_weights: Annotated[str, _split(float)] | None = Field(
        default=None,
        pattern=f"^{_NUMBER},{_NUMBER}$",
        description=f"{_RRF_WEIGHTS} With a comma.",
        examples=["1,0.7"],
    )


class SearchBody(_Search, _AsBody):
    """A search."""

    rrf_weights: list[Weight] | None = Field(
        default=None, min_length=2, max_length=2, description=_RRF_WEIGHTS, examples=[[1, 0.7]]
    )


class ContextParameters(_Context, _AsParameters):
    """Parameters of a context."""


class ContextBody(_Context, _AsBody):
    """A context."""


AnyQuery = SearchParameters | SearchBody | ContextParameters | ContextBody
