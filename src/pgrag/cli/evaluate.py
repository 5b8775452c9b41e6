"""`pgrag eval …`: labelled sets, their runs, and comparisons."""

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from pgrag.cli import options
from pgrag.cli.command import App, Columns, listed, member, text
from pgrag.cli.notations import counted, misuse
from pgrag.cli.output import Output, Row, print_text, warn
from pgrag.cli.progress import shown_progress, shown_step
from pgrag.cli.session import resumable

commands = typer.Typer(help="Measure searches by labelled sets of queries.")

SetName = Annotated[str, Argument(metavar="SET", help="Its name.")]
RunId = Annotated[int, Argument(metavar="RUN", help="Number of a run.")]
Metric = Annotated[
    str, Option(help="ndcg, ndcg_exp, mrr, recall, precision or hit_rate, with a depth: mrr@10.")
]
Metrics = Annotated[
    list[str] | None,
    Option("--metric", metavar="NAME@K", help="Repeat it; default: ndcg@10, mrr@10, recall@20."),
]
_LISTED = 5


@member(commands, "import")
def import_(
    app: App,
    name: SetName,
    path: Annotated[
        Path,
        Argument(
            help="A folder in BEIR's layout: queries.jsonl, qrels.tsv, perhaps corpus.jsonl and"
            " sources.tsv (pages that do not count for a query)."
        ),
    ],
    *,
    corpus: Annotated[
        Path | None,
        Option(metavar="PATH", help="A folder of Markdown; default: PATH/corpus.jsonl."),
    ] = None,
    language: Annotated[
        str | None,
        Option(
            metavar="en|de|…",
            help="Language of pages that neither name nor show one; default: that of most pages.",
        ),
    ] = None,
    unit: Annotated[str, Option(metavar="page|section|document", help="What the qrels name.")] = (
        "page"
    ),
    as_json: options.Json = False,
) -> Output:
    """Index a corpus as library eval-SET, and store its queries and judgements.

    Importing again replaces the set; runs keep their own copy.
    """
    from pgrag.evaluation import labelled

    title = f"Indexing {labelled.library_of(name)}"
    with resumable(), shown_progress(title, hidden=as_json) as progress:
        imported = labelled.import_set(
            app, name, path, corpus=corpus, language=language, unit=unit, progress=progress
        )

    def show() -> None:
        if imported.unjudged:
            some = ", ".join(imported.unjudged[:_LISTED])
            warn(f"left out, as nobody judged them: {len(imported.unjudged):,} queries ({some} …)")
        pages, judgements = imported.index.pages, counted(imported.judgements, "judgement")
        print_text(
            f"{imported.name}: {imported.queries:,} queries, {judgements} about"
            f" {imported.library} ({counted(pages, 'page')}, {imported.language})."
        )

    return Output(asdict(imported), show)


@member(commands, "list")
def list_(
    app: App, name: Annotated[str | None, Argument(metavar="[SET]", help="List its runs.")] = None
) -> Output:
    """List the sets, or the runs of one."""
    from pgrag.evaluation import runs

    if name is None:
        return listed(
            app.database.call("evaluation_sets"),
            ("name", "library", "unit", "queries", "judgements", "runs"),
            nothing="Nothing yet: pgrag eval import SET PATH.",
        )
    runs.find_set(app, name)
    columns: Columns = {
        "run": "run_id", "config": "name", "library": "library", "started": "started_at",
        **{metric: partial(_mean, field="averages", metric=metric) for metric in runs.METRICS},
    }  # fmt: skip
    rows = app.database.call("evaluation_runs", evaluation_set=name)
    return listed(rows, columns, nothing=f"Nothing yet: pgrag eval run {name}.")


def _mean(row: Row, field: str, metric: str) -> float | None:
    """As a float: JSON stores a mean of 1 as an integer."""
    mean = row[field].get(metric)
    return None if mean is None else float(mean)


@member(commands)
def run(
    app: App,
    name: SetName,
    *,
    config: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="keyword, semantic, hybrid, rrf or one of --file; repeat it. Default: all.",
        ),
    ] = None,
    file: Annotated[
        Path | None, Option(metavar="YAML", help="Configurations of your own, by name.")
    ] = None,
    metric: Metrics = None,
    as_json: options.Json = False,
) -> Output:
    """Run every query of a set, keep the results, and print their metrics."""
    from pgrag.evaluation import runs

    metrics = metric or list(runs.METRICS)
    results = []
    for configuration in runs.chosen(app, config or (), file):
        with shown_step(f"{name}: {configuration.name}", hidden=as_json):
            result = runs.run(app, name, configuration, metrics)
        results.append(result | {"change": runs.change(app, result)})
    return _results(results, metrics, alone=config is not None and len(config) == 1)


@member(commands)
def compare(
    app: App,
    one: RunId,
    other: RunId,
    *,
    metric: Metric = "ndcg@10",
    moved: Annotated[
        int, Option(min=0, help="Show this many of the queries that moved most.")
    ] = 10,
) -> Output:
    """Compare the second run with the first, and test whether they differ by more than chance."""
    pair = {"run_id": one, "other_run_id": other, "metric": metric}
    [row] = app.database.call("compare_evaluations", **pair)
    queries = app.database.call("moved_queries", **pair, top_k=moved)

    def show() -> None:
        means = f"{row['score']:.4f} → {row['other_score']:.4f}"
        print_text(f"{metric}: {means}, {_difference(row)}.")
        if queries:
            listed(queries, ("difference", "score", "other_score", "query_id", "query")).show()

    return Output({**pair, **row, "moved": queries}, show)


@member(commands)
def show(
    app: App, run_id: RunId, query: Annotated[str, Argument(help="Id of the query.")]
) -> Output:
    """Show the hits of a run for a query, what was expected, and why."""
    rows = app.database.call("evaluation_answer", run_id=run_id, query_id=query)
    scores = app.database.query(
        "select s.query, s.metric, s.score from _pgrag.evaluation_scores(%s, %s) as s"
        " where s.query_id = %s",
        [run_id, ["ndcg@10", "mrr@10"], query],
    )
    metrics = {row["metric"]: row["score"] for row in scores}
    wording = scores[0]["query"]
    columns: Columns = {
        "rank": lambda row: row["rank"] or "–",
        **{name: name for name in ("grade", "score", "target", "heading", "words")},
    }

    def show() -> None:
        print_text(wording)
        print_text(", ".join(f"{name} {score:.3f}" for name, score in metrics.items()))
        listed(rows, columns).show()

    answer = {"run": run_id, "query_id": query, "query": wording, "metrics": metrics}
    return Output(answer | {"results": rows}, show)


@member(commands)
def ablation(
    app: App,
    names: Annotated[list[str], Argument(metavar="SET…", help="Their names.")],
    *,
    only: Annotated[list[str] | None, Option(metavar="NAME", help="Only this row; repeat it.")] = (
        None
    ),
    metric: Metrics = None,
    as_json: options.Json = False,
) -> Output:
    """Measure each part of the search: one row per changed part.

    Libraries are restored afterwards.
    """
    from pgrag.evaluation import runs

    metrics = metric or list(runs.METRICS)
    results = []
    rows = [row for row in runs.ablation(app) if not only or row.name in only]
    if only and len(rows) < len(set(only)):
        known = "; ".join(row.name for row in runs.ablation(app))
        raise misuse("--only", f"rows are: {known}.")
    for name in names:
        for row in rows:
            with shown_step(f"{name}: {row.name}", hidden=as_json):
                results.append(runs.run(app, name, row, metrics))
    return _results(results, metrics)


@member(commands)
def gate(
    app: App,
    name: SetName,
    baseline: Annotated[Path, Argument(help="JSON with the scores to keep.")],
    *,
    tolerance: Annotated[
        float, Option(min=0, max=1, help="A drop of nDCG@10 up to this passes.")
    ] = 0.01,
    update: Annotated[bool, Option(help="Write a new baseline instead.")] = False,
    as_json: options.Json = False,
) -> Output:
    """Fail if nDCG@10 has fallen below a committed baseline; for continuous integration."""
    from pgrag.evaluation import runs

    with shown_step(f"{name}: asking again", hidden=as_json):
        rows = runs.gate(app, name, baseline, tolerance=tolerance, update=update)
    table = listed(rows, ("config", "metric", "baseline", "score", "passed", "run"))
    fallen = ", ".join(row["config"] for row in rows if not row["passed"])
    error = (
        f"Dropped by more than {tolerance:g}: {fallen}.\n"
        "Compare with an earlier run: pgrag eval compare RUN RUN."
    )
    return replace(table, errors=[error] if fallen else [])


@member(commands)
def repeat(
    app: App, run_id: RunId, metric: Metrics = None, as_json: options.Json = False
) -> Output:
    """Repeat a run with its configuration, in the current library."""
    from pgrag.evaluation import runs

    metrics = metric or list(runs.METRICS)
    with shown_step(f"run {run_id} again", hidden=as_json):
        runs.check_metrics(app, metrics)
        [row] = app.database.call("repeat_evaluation", run_id=run_id)
        result = runs.described(app, row["repeat_evaluation"], metrics)
    return _results([result], metrics, alone=True)


@member(commands)
def remove(
    app: App,
    name: Annotated[str | None, Argument(metavar="[SET]", help="Its name.")] = None,
    *,
    run_id: Annotated[int | None, Option("--run", metavar="RUN", help="Only this run.")] = None,
    keep_library: Annotated[bool, Option(help="Leave eval-SET in the database.")] = False,
) -> Output:
    """Remove a set with its runs and its library, or one run."""
    from pgrag.evaluation.labelled import library_of
    from pgrag.evaluation.runs import find_set

    if run_id is not None and name is None:
        app.database.call("remove_evaluation_run", run_id=run_id)
        return text({"run": run_id}, f"Removed run {run_id}.")
    if run_id is not None or name is None:
        raise misuse("SET", "name a set, or a run with --run.")
    evaluation_set = find_set(app, name)["name"]
    existing = {row["library"] for row in app.database.call("libraries")}
    libraries = [] if keep_library else sorted({library_of(name)} & existing)
    for library in libraries:
        app.database.call("remove_library", library=library)
    [row] = app.database.call("remove_evaluation_set", evaluation_set=name)
    runs = row["remove_evaluation_set"]
    removed = ", library ".join([f"Removed {evaluation_set}: {counted(runs, 'run')}", *libraries])
    return text({"set": evaluation_set, "runs": runs, "libraries": libraries}, f"{removed}.")


def _mean_and_margin(row: Row, metric: str) -> str | None:
    """A mean with half of its 95 % confidence interval."""
    mean, margin = row["metrics"].get(metric), row["margins"].get(metric)
    if mean is None:
        return None
    return f"{mean:.4f}" if margin is None else f"{mean:.4f} ± {margin:.3f}"


def _results(results: list[Row], metrics: list[str], *, alone: bool = False) -> Output:
    """Return the output of runs; `alone`: as JSON, a single run without a list around it."""
    columns: Columns = {
        "set": "set", "config": "config",
        **{metric: partial(_mean_and_margin, metric=metric) for metric in metrics},
        "queries": "queries", "seconds": "seconds", "run": "run",
    }  # fmt: skip

    def show() -> None:
        listed(results, columns).show()
        print_text(*(_change(row) for row in results if row.get("change")))

    return Output(results[0] if alone else results, show)


def _change(row: Row) -> str:
    change = row["change"]
    told = f"{row['config']}, {change['metric']} since run {change['run_id']}:"
    if not change["moved"]:
        return f"{told} no query moved."
    moved = ", ".join(f"{each['query_id']} {each['difference']:+.2f}" for each in change["moved"])
    return f"{told} {_difference(change)}. Moved most: {moved}."


def _difference(compared: Row) -> str:
    bounds = ""
    # A single query has no interval.
    if compared["lower_bound"] is not None:
        bounds = (
            f" (95 % interval {compared['lower_bound']:+.4f} to {compared['upper_bound']:+.4f},"
            f" p = {compared['p_value']:.4f})"
        )
    return (
        f"{compared['difference']:+.4f}{bounds}, {compared['wins']:,} queries better,"
        f" {compared['losses']:,} worse, {compared['ties']:,} equal"
    )
