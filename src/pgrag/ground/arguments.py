"""The arguments of searches, declared once: type, bounds, meaning, and the faces that show them.
REST parameters and bodies, command line options, fields of MCP tools, Python signatures, the checks
in SQL (`make docs` writes sql/configuration/_argument_rules.sql) and the reference pages derive
from the classes below. An argument that is omitted or None gets its default from SQL.
"""

import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import UnionType

Face = typing.Literal["rest", "cli", "mcp"]
Fusion = typing.Literal["absolute", "rrf"]
Unit = typing.Literal["document", "page"]
Group = typing.Literal["none", "page"]
Aggregate = typing.Literal["max", "mean", "rrf"]
Hierarchy = typing.Literal["none", "depth", "breadth", "overview"]
Expansion = typing.Literal["none", "synonyms", "feedback", "both"]
Mode = typing.Literal["hybrid", "keyword", "semantic"]
Layout = typing.Literal["simple", "grouped"]


@dataclass(frozen=True, slots=True)
class Argument:
    """The declaration of an argument, apart from its name and type. `bounds` are the minimum and
    maximum of a number or of each number in a list; `shortest` and `longest` bound the length of a
    list or a text. `default` repeats SQL's default if that is a constant. `option` is the command
    line spelling if it is not `--name`. `faces` show the argument, besides Python and SQL. `in_sql`
    is false if it applies to the hits after SQL. A list that `is_repeated` is an option for each of
    its items, which may hold commas.
    """

    meaning: str
    bounds: tuple[float | None, float | None] = (None, None)
    shortest: int | None = None
    longest: int | None = None
    default: typing.Any = None
    examples: tuple[typing.Any, ...] = ()
    option: tuple[str, ...] = ()
    metavar: str | None = None
    faces: frozenset[Face] = frozenset({"rest", "cli"})
    in_sql: bool = True
    is_repeated: bool = False


EVERY_FACE: frozenset[Face] = frozenset({"rest", "cli", "mcp"})
_REST: frozenset[Face] = frozenset({"rest"})


_PageScore = typing.Annotated[
    Aggregate | None,
    Argument(
        "The score of a page: its best hit (default), the mean of its best three, or its share of"
        " the ranks."
    ),
]


def _top_k(default: int, meaning: str = "The maximum number of hits.") -> Argument:
    return Argument(meaning, bounds=(1, 1000), default=default, option=("--top-k", "--limit", "-n"))


def _after(hit: str) -> Argument:
    meaning = f"The cursor of the last {hit} of the previous response: continues after it."
    return Argument(meaning, longest=4000, metavar="CURSOR")


def _snippets(hit: str, default: bool) -> Argument:
    meaning = f"Add an excerpt of {hit}, the words of the query marked by `**`."
    return Argument(meaning, default=default, faces=_REST)


def _name(meaning: str, default: str | None = None) -> Argument:
    return Argument(meaning, longest=200, default=default, metavar="NAME")


#: Seldom do more hits fit into the budget of tokens.
_HitsToRead = typing.Annotated[int | None, _top_k(20)]


class OfLibrary(typing.TypedDict, total=False):
    """The library of a search, which methods of Python take after the query."""

    library: typing.Annotated[
        str | None,
        Argument(
            "Name of a library; by default all are searched.", longest=200, examples=("harbour",)
        ),
    ]


class Scope(typing.TypedDict, total=False):
    """The versions and pages that are searched, and the number of hits."""

    version: typing.Annotated[
        str | None,
        Argument(
            "A label (`2.1`), a range (`^2`), `latest`, `-` for documentation without a version,"
            " `*` for every version; by default the newest release.",
            longest=200,
            examples=("2.1",),
        ),
    ]
    top_k: typing.Annotated[int | None, _top_k(10)]
    filters: typing.Annotated[
        dict[str, typing.Any] | None,
        Argument(
            "Conditions on pages and passages, such as"
            ' `{"type": "guide", "tags": ["a", "b"], "created": {">=": "2024-12-01"}}`.',
            examples=({"type": "guide"},),
        ),
    ]


class KeywordRanking(typing.TypedDict, total=False):
    """Arguments of the keyword retriever."""

    page_evidence: typing.Annotated[
        float | None,
        Argument(
            "Share of the page in the keyword score; by default the library's.", bounds=(0, 1)
        ),
    ]
    query_expansion: typing.Annotated[
        Expansion | None,
        Argument("Add terms: the library's synonyms, terms of the best hits, or both."),
    ]
    prefix: typing.Annotated[
        bool | None,
        Argument(
            "The last word, unless a blank follows it, is also the beginning of words: search as"
            " you type.",
            default=False,
        ),
    ]


class VectorRanking(typing.TypedDict, total=False):
    """Arguments of the vector retriever."""

    query_embedding: typing.Annotated[
        list[float] | None,
        Argument(
            "The vector of the query by the model; by default it is computed.",
            shortest=1,
            longest=4000,
            bounds=(-65504, 65504),
            faces=_REST,
        ),
    ]
    model: typing.Annotated[
        str | None, _name("Name of the embedding model; by default the library's.")
    ]


class Fusing(typing.TypedDict, total=False):
    """Arguments of the fusion of both retrievers."""

    alpha: typing.Annotated[
        float | None,
        Argument(
            "Share of the vector retriever in the score; by default the library's, the model's,"
            " or 0.3. With `rrf`, of its rank: 0.7 is the weights 0.6 and 1.4; by default equal.",
            bounds=(0, 1),
        ),
    ]
    fusion: typing.Annotated[
        Fusion | None,
        Argument(
            "How the two retrievers become one score: the sum of their scores, or Reciprocal Rank"
            " Fusion.",
            default="absolute",
        ),
    ]
    rrf_k: typing.Annotated[int | None, Argument("k of `rrf`.", bounds=(0, 10_000), default=60)]
    rrf_weights: typing.Annotated[
        list[float] | None,
        Argument(
            "Weights of the keyword and the vector retriever in `rrf`, instead of `alpha`.",
            bounds=(0, 1000),
            shortest=2,
            longest=2,
            default=(1, 1),
            examples=((1, 0.7),),
        ),
    ]
    candidate_count: typing.Annotated[
        int | None,
        Argument(
            "The number of candidates that each retriever reads at first.",
            bounds=(1, 20_000),
            default=64,
        ),
    ]
    intent: typing.Annotated[
        str | None,
        _name(
            "`auto`: the kind of question sets levels, unit, aggregate, hierarchy, alpha and the"
            " arguments of its strategy, unless given; the name of an intent or query type; or"
            " `off`; by default the library's setting, `off`."
        ),
    ]


class Ranking(typing.TypedDict, total=False):
    """Arguments that decide which hits are returned, and in which order."""

    dependencies: typing.Annotated[
        dict[str, typing.Any] | None,
        Argument(
            "What the reader's project depends on: names with versions or ranges, or names of its"
            " lock files and manifests with their text. Without a `version`, the version that they"
            " pin is searched.",
            examples=({"jest": "26.0.1"},),
            faces=_REST,
        ),
    ]
    project: typing.Annotated[
        str | None,
        Argument(
            "A folder with lock files or manifests (package-lock.json, uv.lock, go.mod …), or one"
            " such file: without a `version`, the version that it pins is searched.",
            in_sql=False,
            metavar="PATH",
            faces=frozenset({"cli"}),
        ),
    ]
    min_score: typing.Annotated[
        float | None,
        Argument("Hits with a lower score are left out before the limit counts.", default=0),
    ]
    min_confidence: typing.Annotated[
        float | None,
        Argument(
            "Hits with a lower confidence are left out before the limit counts. In an answer, 0"
            " asks the language model even if nothing seems to answer.",
            bounds=(0, 1),
            faces=EVERY_FACE,
        ),
    ]
    levels: typing.Annotated[
        list[int] | None,
        Argument(
            "0 page summaries, 1 section summaries, 2 paragraphs; by default 1 and 2, without"
            " summaries whose paragraphs answer as well.",
            bounds=(0, 2),
            shortest=1,
            longest=10,
            examples=((1, 2),),
            metavar="0,1,2",
        ),
    ]
    exclude: typing.Annotated[
        list[str] | None,
        Argument(
            "Passages and pages to leave out, such as those seen already: `42` or `guide.md#c3` is"
            " a passage, `page:7` or `guide.md` a whole page.",
            longest=1000,
            examples=(("42", "page:7"),),
            metavar="42,page:7",
            faces=EVERY_FACE,
        ),
    ]
    changed_since: typing.Annotated[
        str | None,
        Argument(
            "Only sections added or changed since this version: a label or a range.",
            longest=200,
            examples=("1.4",),
            metavar="VERSION",
            faces=EVERY_FACE,
        ),
    ]
    hierarchy: typing.Annotated[
        Hierarchy | None,
        Argument("Prefer the section of the best hit, other sections, or introductions."),
    ]
    mmr_lambda: typing.Annotated[
        float | None,
        Argument(
            "Below 1, hits that differ from the hits before them move up; for example 0.7.",
            bounds=(0, 1),
        ),
    ]
    graph: typing.Annotated[
        bool | None,
        Argument(
            "Let links count, and add pages that only links lead to; by default the library's"
            " setting, and false for a single retriever."
        ),
    ]


class Crowding(typing.TypedDict, total=False):
    """How many hits a page may have."""

    max_per_page: typing.Annotated[
        int | None, Argument("The maximum number of hits per page.", bounds=(1, 1000), metavar="N")
    ]


class Decaying(Crowding, total=False):
    """How many hits a page may have, and what each counts, in a list of passages."""

    page_decay: typing.Annotated[
        float | None,
        Argument(
            "Each hit counts this factor for every better hit of its page, so that a list has more"
            " pages; by default 0.97, and 1 in lists of pages and with a `hierarchy`.",
            bounds=(0, 1),
        ),
    ]


class Listing(typing.TypedDict, total=False):
    """Arguments for the form of a list of hits."""

    mode: typing.Annotated[
        Mode | None,
        Argument(
            "Both retrievers, or a single one.",
            default="hybrid",
            faces=frozenset({"rest", "mcp"}),
        ),
    ]
    unit: typing.Annotated[
        Unit | None, Argument("Hits are passages, or pages shown by their best passage.")
    ]
    aggregate: _PageScore
    group: typing.Annotated[
        Group | None,
        Argument(
            "`page`: one entry per page, with its best hits, at most three; `top_k` counts pages."
            " By default `none`; on the command line `page`, if people read the list.",
            in_sql=False,
        ),
    ]
    page_hits: typing.Annotated[
        int | None,
        Argument(
            "Hits come page by page: the maximum number for each; `top_k` counts pages.",
            bounds=(1, 100),
            faces=frozenset(),
        ),
    ]
    after: typing.Annotated[str | None, _after("hit")]
    snippets: typing.Annotated[bool | None, _snippets("each hit", default=False)]
    history: typing.Annotated[
        bool | None,
        Argument(
            "Say since which version each section exists, and which last changed it.",
            default=False,
        ),
    ]
    explain: typing.Annotated[
        bool | None,
        Argument(
            "Add every number behind the score of each hit, and the reasons in words.",
            default=False,
        ),
    ]


class Reranking(typing.TypedDict, total=False):
    """Arguments of the reranker."""

    rerank: typing.Annotated[
        bool | None,
        Argument(
            "Let the reranker score the best hits again; `hybrid_score` keeps the fused score.",
            default=False,
            in_sql=False,
        ),
    ]
    rerank_depth: typing.Annotated[
        int | None,
        Argument(
            "The number of hits that the reranker scores; by default 50. Only with `rerank`.",
            bounds=(1, 1000),
            in_sql=False,
        ),
    ]
    reranked: typing.Annotated[
        dict[str, float] | None,
        Argument(
            "Scores of a reranker by document_id: only these passages are hits, in their order.",
            faces=frozenset(),
        ),
    ]


class _Gathering(typing.TypedDict, total=False):
    token_budget: typing.Annotated[
        int | None,
        Argument(
            "The maximum length, in tokens of 4 bytes.",
            bounds=(1, 1_000_000),
            default=4000,
            option=("--tokens",),
        ),
    ]
    expand: typing.Annotated[
        bool | None, Argument("Add more passages of the best pages.", default=True)
    ]
    expansion_threshold: typing.Annotated[
        float | None,
        Argument("The score that a page needs to be expanded; by default confidence decides."),
    ]
    expansion_share: typing.Annotated[
        float | None,
        Argument(
            "Pages below this share of the best score, or of its confidence, are not expanded.",
            bounds=(0, 1),
            default=0.8,
        ),
    ]
    max_documents_to_expand: typing.Annotated[
        int | None,
        Argument("The maximum number of pages that are expanded.", bounds=(0, 10_000), default=3),
    ]
    max_chunks_per_document: typing.Annotated[
        int | None,
        Argument(
            "The maximum number of passages of an expanded page.", bounds=(0, 10_000), default=20
        ),
    ]
    score_share: typing.Annotated[
        float | None,
        Argument(
            "Pages whose best hit is below this share of the best score are left out.",
            bounds=(0, 1),
            default=0.65,
        ),
    ]
    parents: typing.Annotated[
        bool | None,
        Argument(
            "Add the summary of the section above each hit, without sentences already there.",
            default=False,
        ),
    ]
    inject_types: typing.Annotated[
        list[str] | None,
        Argument(
            "Types of pages whose best passages a second search adds; by default those of the"
            " question's intent.",
            longest=20,
            examples=(("reference",),),
            option=("--inject",),
            metavar="TYPES",
        ),
    ]
    inject_count: typing.Annotated[
        int | None,
        Argument(
            "The maximum number of passages that the second search adds.",
            bounds=(0, 100),
            default=3,
        ),
    ]


class SearchOptions(
    Scope,
    KeywordRanking,
    VectorRanking,
    Fusing,
    Ranking,
    Decaying,
    Listing,
    Reranking,
    total=False,
):
    """Arguments of `pgrag.search` but the library."""


class SearchArguments(OfLibrary, SearchOptions, total=False):
    """Arguments of `pgrag.search`."""


class KeywordArguments(
    OfLibrary, Scope, KeywordRanking, Ranking, Decaying, Listing, Reranking, total=False
):
    """Arguments of `pgrag.keyword_search`."""


class SemanticArguments(
    OfLibrary, Scope, VectorRanking, Ranking, Decaying, Listing, Reranking, total=False
):
    """Arguments of `pgrag.semantic_search`."""


class PagesOptions(Scope, KeywordRanking, VectorRanking, Fusing, Ranking, total=False):
    """Arguments of `pgrag.search_pages` but the library."""

    aggregate: _PageScore
    after: typing.Annotated[str | None, _after("page")]
    whole: typing.Annotated[bool | None, Argument("`content` is the whole text.", default=False)]
    snippets: typing.Annotated[bool | None, _snippets("the best passage", default=True)]


class PagesArguments(OfLibrary, PagesOptions, total=False):
    """Arguments of `pgrag.search_pages`."""


class FacetOptions(Scope, KeywordRanking, VectorRanking, Fusing, Ranking, Crowding, total=False):
    """Arguments of `pgrag.facets` but the library."""

    top_k: typing.Annotated[
        int | None, _top_k(200, "The number of best hits whose pages are counted.")
    ]
    value_count: typing.Annotated[
        int | None,
        Argument(
            "The maximum number of values per facet.",
            bounds=(1, 10_000),
            default=20,
            option=("--values",),
            metavar="N",
        ),
    ]


class FacetArguments(OfLibrary, FacetOptions, total=False):
    """Arguments of `pgrag.facets`."""


class ContextOptions(
    Scope,
    KeywordRanking,
    VectorRanking,
    Fusing,
    Ranking,
    Decaying,
    Reranking,
    _Gathering,
    total=False,
):
    """Arguments of `pgrag.context` but the library."""

    top_k: _HitsToRead
    format: typing.Annotated[
        Layout | None,
        Argument(
            "Breadcrumbs above each passage, or headings above sections; both with the relevance.",
            default="grouped",
        ),
    ]
    siblings: typing.Annotated[
        int | None,
        Argument(
            "The number of neighbours before and after each hit that are added.",
            bounds=(0, 10_000),
            default=0,
            metavar="N",
        ),
    ]
    overlap: typing.Annotated[
        bool | None,
        Argument("Begin with the end of the paragraph before, unless it is shown.", default=False),
    ]


class ContextArguments(OfLibrary, ContextOptions, total=False):
    """Arguments of `pgrag.context`."""


class AnswerOptions(
    Scope,
    KeywordRanking,
    VectorRanking,
    Fusing,
    Ranking,
    Decaying,
    Reranking,
    _Gathering,
    total=False,
):
    """Arguments of an answer but the library."""

    top_k: _HitsToRead
    intent: typing.Annotated[
        str | None,
        _name(
            "`auto`: the kind of question sets the arguments left open; the name of an intent or"
            " query type; or `off`.",
            default="auto",
        ),
    ]
    template: typing.Annotated[
        str | None,
        _name(
            "Name of the prompt's template; by default that of the question's intent, in the"
            " agentic mode `agent`."
        ),
    ]


class AnswerArguments(OfLibrary, AnswerOptions, total=False):
    """Arguments of `pgrag.answer_context`, and of an answer."""


#: The SQL search functions and their arguments.
FUNCTIONS: dict[str, type] = {
    "search": SearchArguments,
    "keyword_search": KeywordArguments,
    "semantic_search": SemanticArguments,
    "search_pages": PagesArguments,
    "facets": FacetArguments,
    "context": ContextArguments,
    "answer_context": AnswerArguments,
}


@dataclass(frozen=True, slots=True)
class Declared:
    """An argument of a function: its name, its type without `| None`, and its declaration."""

    name: str
    type: typing.Any
    argument: Argument

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed values of an enumerated argument; empty for any other."""
        return typing.get_args(self.type) if typing.get_origin(self.type) is typing.Literal else ()

    @property
    def item(self) -> typing.Any:
        """The type of the items of a list; None for anything else."""
        return typing.get_args(self.type)[0] if typing.get_origin(self.type) is list else None


def declared(arguments: type, face: Face | None = None) -> Iterator[Declared]:
    """Yield the arguments of one of the classes above; with `face` only those it shows."""
    if not typing.is_typeddict(arguments):
        raise TypeError(f"{arguments!r} declares no arguments.")
    for name, hint in typing.get_type_hints(arguments, include_extras=True).items():
        annotated, argument = typing.get_args(hint)
        if face is None or face in argument.faces:
            yield Declared(name, _without_none(annotated), argument)


def _without_none(hint: typing.Any) -> typing.Any:
    if typing.get_origin(hint) not in {typing.Union, UnionType}:
        return hint
    [stated] = [part for part in typing.get_args(hint) if part is not type(None)]
    return stated


def rules() -> dict[str, dict[str, typing.Any]]:
    """Return the declaration in the form of `_pgrag.argument_rules()`."""
    taken = {
        function: [one for one in declared(arguments) if _is_checked(one)]
        for function, arguments in FUNCTIONS.items()
    }
    return {
        "arguments": {one.name: _rule(one) for ones in reversed(taken.values()) for one in ones},
        "functions": {function: [one.name for one in ones] for function, ones in taken.items()},
    }


def _is_checked(one: Declared) -> bool:
    """Whether a rule in SQL checks the argument; a vector is checked by its SQL type."""
    return one.argument.in_sql and one.name != "query_embedding"


def _rule(one: Declared) -> dict[str, typing.Any]:
    names: dict[typing.Any, str] = {
        int: "integer", float: "number", bool: "boolean", str: "string", dict: "object",
    }  # fmt: skip
    kind = "array" if one.item else names.get(typing.get_origin(one.type) or one.type, "string")
    argument = one.argument
    minimum, maximum = argument.bounds
    default = argument.default
    rule = {
        "type": kind,
        "choices": list(one.choices) or None,
        "minimum": minimum,
        "maximum": maximum,
        "shortest": argument.shortest if one.item else None,
        "longest": argument.longest if one.item else None,
        "default": list(default) if isinstance(default, tuple) else default,
    }
    return {name: value for name, value in rule.items() if value is not None}


_SHARED = frozenset(Scope.__annotations__) | {
    "library", "query", "question", "query_embedding", "client", "search_id", "options",
}  # fmt: skip
_OWN = {
    function: _SHARED | arguments.__annotations__.keys() - SearchArguments.__annotations__.keys()
    for function, arguments in FUNCTIONS.items()
    if function != "search"
} | {"recorded_search": _SHARED}
#: `pgrag.search` has arguments of the same names, with other meanings or defaults.
_OWN["search_pages"] |= {"snippets"}
_OWN["answer_context"] |= {"intent"}


def named_and_options(function: str, arguments: Mapping[str, typing.Any]) -> dict[str, typing.Any]:
    """Return the arguments as an SQL function takes them: its own by name, others in `options`.
    `pgrag.search`, and any function that is not a search, takes every argument by name. Arguments
    that are None are omitted.
    """
    stated = {name: value for name, value in arguments.items() if value is not None}
    named = _OWN.get(function, stated.keys())
    options = {name: stated.pop(name) for name in [*stated] if name not in named}
    return stated | ({"options": options | stated.get("options", {})} if options else {})
