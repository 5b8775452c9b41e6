"""Evaluation: labelled sets, runs, and comparisons."""

from typing import Annotated, Any, Literal, Self

from fastapi import Path
from pydantic import Field, model_validator

from pgrag.api.arguments import Arguments, Body, LibraryName, Name, Text, VersionWish
from pgrag.api.declared import Exchange, Router
from pgrag.api.openapi import problems
from pgrag.evaluation import runs
from pgrag.ground.values import evaluation as values

router = Router(tags=["evaluation"], responses=problems(404))

METRIC = r"^(ndcg|ndcg_exp|mrr|recall|precision|hit_rate)(@[1-9][0-9]{0,3})?$"

SetName = Annotated[
    Text, Path(max_length=80, description="Name of a set.", examples=["harbour-questions"])
]


class RunBody(Body):
    """How to search. Without `function` the built-in configuration called `name` is run."""

    name: Name = Field(
        default="hybrid", description="keyword, semantic, hybrid, rrf, or a name for your own."
    )
    function: Name | None = Field(
        default=None, description="A search function of the database.", examples=["search"]
    )
    arguments: dict[str, Any] = Field(
        default={}, description="Its arguments by name.", examples=[{"alpha": 0.5}]
    )
    aggregate: Literal["max", "mean", "sum", "rrf"] = Field(
        default="max", description="How the hits of a page are merged."
    )
    depth: int = Field(default=20, ge=1, le=1000, description="Results kept for a query.")

    @model_validator(mode="after")
    def _has_function(self) -> Self:
        own = sorted({"arguments", "aggregate", "depth"} & self.model_fields_set)
        if self.function is None and own:
            raise ValueError(f"{', '.join(own)} without function: name one, such as search")
        return self


class ImportBody(Body):
    """A labelled set for an indexed library."""

    library: LibraryName = Field(description="What the queries ask.", examples=["harbour"])
    queries: list[dict[str, Any]] = Field(
        min_length=1,
        description="`id`, `text`, `judgements` (`{target: grade}`), and optionally `excluded`"
        " (pages that do not count).",
        examples=[[{"id": "q1", "text": "tide table", "judgements": {"navigation/tides.md": 1}}]],
    )
    unit: Literal["page", "section", "document"] = Field(
        default="page", description="What the targets name."
    )
    source: dict[str, Any] = Field(default={}, description="Where it comes from; kept with it.")


class JudgementBody(Body):
    """A grade for one result of a query."""

    library: LibraryName = Field(description="What the set is about.", examples=["harbour"])
    query: Annotated[Text, Field(min_length=1, max_length=10_000, pattern=r"\S")] = Field(
        description="The query; the same text is the same query.", examples=["tide table"]
    )
    target: Annotated[Text, Field(min_length=1, max_length=4000)] = Field(
        description="Of a hit: `key` where the set judges pages, `key#anchor` for sections,"
        " `chunk_key` for documents.",
        examples=["navigation/tides.md"],
    )
    grade: int | None = Field(
        ge=0,
        le=999_999,
        description="0 not relevant, 1 relevant, 2 exactly right; null removes it.",
    )
    unit: Literal["page", "section", "document"] | None = Field(
        default=None, description="What targets of a new set name; default: page."
    )
    version: VersionWish | None = Field(
        default=None, description="The target must be in this version; default: in any."
    )


class JudgementParameters(Arguments):
    """Which judgements."""

    query: Annotated[Text, Field(max_length=10_000)] | None = Field(
        default=None, description="Only of this query.", examples=["tide table"]
    )


class ComparisonParameters(Arguments):
    """What to compare by."""

    other: int = Field(ge=1, description="The other run.", examples=[8])
    metric: str = Field(default="ndcg@10", pattern=METRIC, description="Such as mrr@10.")
    moved: int = Field(
        default=10, ge=0, le=1000, description="Maximum number of queries that moved most."
    )


router.declare(
    "/evaluations",
    list[values.EvaluationSet],
    "List the labelled sets by name.",
    function="evaluation_sets",
    key="sets",
)
router.declare(
    "/evaluation-runs/{run_id}/queries/{query_id:path}",
    list[values.EvaluatedResult],
    "Show what a run returned for a query, what was expected, and why.",
    work="costly",
    function="evaluation_answer",
    name="evaluated_query",
    key="results",
    echo=True,
)


@router.answers("/evaluations/{name}", values.ImportedSet, method="PUT")
def import_evaluation_set(exchange: Exchange, name: SetName, body: ImportBody) -> Any:
    """Create or replace a labelled set for a library; its runs are kept."""
    [row] = exchange.call("import_evaluation_set", name=name, **body.for_sql())
    return {
        "name": name,
        "queries": row["imported_queries"],
        "judgements": row["imported_judgements"],
        "unjudged": row["unjudged"],
    }


@router.answers("/evaluations/{name}", values.RemovedSet, method="DELETE")
def remove_evaluation_set(exchange: Exchange, name: SetName) -> Any:
    """Remove a set with its runs; the library is kept."""
    [row] = exchange.call("remove_evaluation_set", evaluation_set=name)
    return {"set": name, "runs": row["remove_evaluation_set"]}


@router.answers("/evaluations/{name}/judgements", values.GradedResult, method="PUT")
def judge(exchange: Exchange, name: SetName, body: JudgementBody) -> Any:
    """Grade one result of a query; makes the set and the query if they are missing."""
    [row] = exchange.call("judge", evaluation_set=name, **body.for_sql())
    return row


@router.answers("/evaluations/{name}/judgements", values.JudgementList)
def judgements(exchange: Exchange, name: SetName, query: JudgementParameters) -> Any:
    """List the judgements of a set, or of one of its queries."""
    rows = exchange.call("evaluation_judgements", evaluation_set=name, **query.for_sql())
    stored = runs.find_set(exchange.app, name)
    return {"set": stored["name"], "library": stored["library"], "unit": stored["unit"]} | {
        "judgements": rows
    }


@router.answers("/evaluations/{name}/runs", values.EvaluationRunList)
def evaluation_runs(exchange: Exchange, name: SetName) -> Any:
    """List the runs of a set, the latest first."""
    stored_name = runs.find_set(exchange.app, name)["name"]
    return {
        "set": stored_name,
        "runs": exchange.call("evaluation_runs", evaluation_set=stored_name),
    }


@router.answers("/evaluations/{name}/runs", values.EvaluationRun, method="POST", work="costly")
def run_evaluation(exchange: Exchange, name: SetName, body: RunBody) -> Any:
    """Run every query of a set; the answer arrives after the last query."""
    with exchange.timed():
        if body.function is None:
            [configuration] = runs.chosen(exchange.app, [body.name])
        else:
            configuration = runs.Configuration(body.name, body.model_dump(exclude={"name"}))
        run_id = int(runs.run(exchange.app, name, configuration)["run"])
    return evaluation_run(exchange, run_id)


@router.answers("/evaluation-runs/{run_id}", values.EvaluationRun)
def evaluation_run(exchange: Exchange, run_id: int) -> Any:
    """Describe one run."""
    # Raises UnknownEvaluationRun.
    exchange.call("evaluation_metrics", run_id=run_id, metrics=["mrr@1"])
    [row] = [row for row in exchange.call("evaluation_runs") if row["run_id"] == run_id]
    return row


@router.answers(
    "/evaluation-runs/{run_id}/repeat",
    values.EvaluationRun,
    method="POST",
    work="costly",
    responses=problems(413),
)
def repeat_evaluation(exchange: Exchange, run_id: int) -> Any:
    """Repeat a run with its configuration, in the current library."""
    [row] = exchange.call("repeat_evaluation", run_id=run_id)
    return evaluation_run(exchange, row["repeat_evaluation"])


@router.answers("/evaluation-runs/{run_id}", values.RemovedRun, method="DELETE")
def remove_evaluation_run(exchange: Exchange, run_id: int) -> Any:
    """Remove a run with its results."""
    exchange.call("remove_evaluation_run", run_id=run_id)
    return {"run_id": run_id}


@router.answers("/evaluation-runs/{run_id}/comparison", values.Comparison, work="costly")
def comparison(exchange: Exchange, run_id: int, query: ComparisonParameters) -> Any:
    """Compare a run with another one of the same set."""
    pair = {"run_id": run_id, "other_run_id": query.other, "metric": query.metric}
    [row] = exchange.call("compare_evaluations", **pair)
    moved = exchange.call("moved_queries", **pair, top_k=query.moved)
    return {**pair, **row, "moved": moved}
