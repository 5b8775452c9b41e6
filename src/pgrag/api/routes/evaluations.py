"""Evaluation: labelled sets, runs, and what they say."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from pgrag.api.exchange import Database
from pgrag.api.models.arguments import LARGEST_ID, NoParameters, Text
from pgrag.api.models.evaluation import (
    Comparison,
    ComparisonParameters,
    EvaluatedQuery,
    EvaluationRun,
    EvaluationRuns,
    EvaluationSets,
    ImportAnswer,
    ImportBody,
    RemovedRun,
    RemovedSet,
    RunBody,
)
from pgrag.api.openapi import problems

router = APIRouter(tags=["evaluation"], responses=problems(404))

SetName = Annotated[
    Text, Path(max_length=80, description="Name of a set.", examples=["harbour-questions"])
]
RunId = Annotated[int, Path(ge=1, le=LARGEST_ID, description="`run_id` of a run.", examples=[7])]
QueryId = Annotated[Text, Path(max_length=1000, description="Id of a query.", examples=["q1"])]


@router.get("/evaluations", response_model=EvaluationSets)
def evaluation_sets(database: Database, _: NoParameters) -> Response:
    """List the labelled sets by name."""
    return database.answer({"sets": database.call("evaluation_sets")})


@router.put("/evaluations/{name}", response_model=ImportAnswer, responses=problems(400, 413))
def import_evaluation_set(
    name: SetName, body: ImportBody, database: Database, _: NoParameters
) -> Response:
    """Make a labelled set about a library, or replace it; its runs stay."""
    [made] = database.call("import_evaluation_set", name=name, **body.model_dump())
    return database.answer(
        {
            "name": name,
            "queries": made["imported_queries"],
            "judgements": made["imported_judgements"],
            "unjudged": made["unjudged"],
        }
    )


@router.delete("/evaluations/{name}", response_model=RemovedSet)
def remove_evaluation_set(name: SetName, database: Database, _: NoParameters) -> Response:
    """Remove a set with its runs; the library stays."""
    [row] = database.call("remove_evaluation_set", evaluation_set=name)
    return database.answer({"set": name, "runs": row["remove_evaluation_set"]})


@router.get("/evaluations/{name}/runs", response_model=EvaluationRuns)
def evaluation_runs(name: SetName, database: Database, _: NoParameters) -> Response:
    """List the runs of a set, the latest first."""
    found = database.evaluation_set(name)
    return database.answer(
        {
            "set": found["name"],
            "runs": database.call("evaluation_runs", evaluation_set=found["name"]),
        }
    )


@router.post("/evaluations/{name}/runs", response_model=EvaluationRun, responses=problems(400, 413))
def run_evaluation(name: SetName, body: RunBody, database: Database, _: NoParameters) -> Response:
    """Ask every query of a set; the answer comes when all have been asked."""
    configuration = None
    if body.function is not None:
        configuration = body.model_dump(include={"function", "arguments", "aggregate", "depth"})
    run_id = database.evaluate(name, body.name, configuration)
    return database.answer(database.evaluation_run(run_id))


@router.get("/evaluation-runs/{run_id}", response_model=EvaluationRun)
def evaluation_run(run_id: RunId, database: Database, _: NoParameters) -> Response:
    """Describe one run."""
    return database.answer(database.evaluation_run(run_id))


@router.post(
    "/evaluation-runs/{run_id}/repeat", response_model=EvaluationRun, responses=problems(413)
)
def repeat_evaluation(run_id: RunId, database: Database, _: NoParameters) -> Response:
    """Run again what a run asked, with its configuration, in the library of today."""
    [row] = database.call("repeat_evaluation", run_id=run_id)
    return database.answer(database.evaluation_run(row["repeat_evaluation"]))


@router.delete("/evaluation-runs/{run_id}", response_model=RemovedRun)
def remove_evaluation_run(run_id: RunId, database: Database, _: NoParameters) -> Response:
    """Remove a run with its results."""
    database.call("remove_evaluation_run", run_id=run_id)
    return database.answer({"run_id": run_id})


@router.get("/evaluation-runs/{run_id}/comparison", response_model=Comparison)
def comparison(
    run_id: RunId, parameters: Annotated[ComparisonParameters, Query()], database: Database
) -> Response:
    """Compare a run with another one of the same set."""
    pair = {"run_id": run_id, "other_run_id": parameters.other, "metric": parameters.metric}
    [row] = database.call("compare_evaluations", **pair)
    moved = database.call("moved_queries", **pair, match_count=parameters.moved)
    return database.answer({**pair, **row, "moved": moved})


@router.get("/evaluation-runs/{run_id}/queries/{query_id:path}", response_model=EvaluatedQuery)
def evaluated_query(
    run_id: RunId, query_id: QueryId, database: Database, _: NoParameters
) -> Response:
    """Show what a run returned for a query, what was expected, and why."""
    rows = database.call("evaluation_answer", run_id=run_id, query_id=query_id)
    return database.answer({"run_id": run_id, "query_id": query_id, "results": rows})
