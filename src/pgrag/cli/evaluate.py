"""`pgrag eval …`: labelled sets, runs of them, and what is to be learnt from both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgrag.cli import options
from pgrag.cli.arguments import counted
from pgrag.cli.output import complain, notice, print_json, print_table, print_text, warn
from pgrag.cli.progress import shown_progress, shown_step
from pgrag.cli.session import opened, resumable

if TYPE_CHECKING:
    from pgrag.app import App

commands = typer.Typer(help="Measure searches by labelled sets of queries.")

SetName = Annotated[str, typer.Argument(metavar="SET", help="Its name.", show_default=False)]
RunId = Annotated[int, typer.Argument(metavar="RUN", help="Number of a run.", show_default=False)]
Metric = Annotated[
    str,
    typer.Option(help="ndcg, ndcg_exp, mrr, recall, precision or hit_rate, with a depth: mrr@10."),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric", metavar="NAME@K", help="Repeat it; default: ndcg@10, mrr@10, recall@20."
    ),
]
_LISTED = 5


@commands.command("import")
def import_(
    name: SetName,
    path: Annotated[
        Path,
        typer.Argument(
            help="A folder in BEIR's layout: queries.jsonl, qrels.tsv, perhaps corpus.jsonl and"
            " sources.tsv (pages that do not count for a query).",
            show_default=False,
        ),
    ],
    *,
    corpus: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A folder of Markdown; default: PATH/corpus.jsonl."),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            metavar="en|de|…",
            help="Language of the corpus; default: told from the text of a corpus.jsonl, else"
            " English.",
        ),
    ] = None,
    unit: Annotated[
        str, typer.Option(metavar="page|section|document", help="What the qrels name.")
    ] = "page",
    as_json: options.Json = False,
) -> None:
    """Index a corpus as library eval-SET and take in its queries and judgements.

    Importing again replaces the set; runs keep their own copy.
    """
    from pgrag.evaluation import importing

    with (
        opened() as app,
        resumable(),
        shown_progress(f"Indexing {importing.library_of(name)}", hidden=as_json) as progress,
    ):
        imported = importing.import_set(
            app, name, path, corpus=corpus, language=language, unit=unit, progress=progress
        )
    if as_json:
        print_json(importing.imported_document(imported))
        return
    if imported.unjudged:
        some = ", ".join(imported.unjudged[:_LISTED])
        warn(f"left out, as nobody judged them: {len(imported.unjudged):,} queries ({some} …)")
    pages, judgements = imported.index.pages, counted(imported.judgements, "judgement")
    print_text(
        f"{imported.name}: {imported.queries:,} queries, {judgements} about {imported.library}"
        f" ({counted(pages, 'page')}, {imported.language})."
    )


@commands.command("list")
def list_(
    name: Annotated[
        str | None, typer.Argument(metavar="[SET]", help="Its runs.", show_default=False)
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List the sets, or the runs of one."""
    from pgrag.evaluation import runs

    with opened() as app:
        if name is None:
            rows = app.database.call("evaluation_sets")
        else:
            runs.find_set(app, name)
            rows = app.database.call("evaluation_runs", evaluation_set=name)
    if as_json:
        print_json(rows)
    elif name is None and rows:
        columns = ("name", "library", "unit", "queries", "judgements", "runs")
        print_table(columns, [[row[column] for column in columns] for row in rows])
    elif rows:
        print_table(
            ("run", "config", "library", "started", *runs.METRICS),
            [
                [row["run_id"], row["name"], row["library"], row["started_at"]]
                # JSON has one kind of number: a mean of 1 comes as an integer.
                + [
                    None if mean is None else float(mean)
                    for mean in map(row["averages"].get, runs.METRICS)
                ]
                for row in rows
            ],
        )
    else:
        notice(
            "Nothing yet: pgrag eval " + ("import SET PATH." if name is None else f"run {name}.")
        )


@commands.command()
def run(
    name: SetName,
    *,
    config: Annotated[
        list[str] | None,
        typer.Option(
            "--config",
            metavar="NAME",
            help="keyword, semantic, hybrid, rrf or one of --file; repeat it. Default: all.",
        ),
    ] = None,
    file: Annotated[
        Path | None, typer.Option(metavar="YAML", help="Configurations of your own, by name.")
    ] = None,
    metric: Metrics = None,
    as_json: options.Json = False,
) -> None:
    """Ask every query of a set, keep what came back, and print what it was worth."""
    from pgrag.evaluation import runs

    metrics = metric or list(runs.METRICS)
    with opened() as app:
        results = []
        for configuration in runs.chosen(app, config or (), file):
            with shown_step(f"{name}: {configuration.name}", hidden=as_json):
                results.append(runs.run(app, name, configuration, metrics))
    if as_json:
        print_json(results[0] if config and len(config) == 1 else results)
    else:
        _print_runs(results, metrics)


@commands.command()
def compare(
    one: RunId,
    other: RunId,
    *,
    metric: Metric = "ndcg@10",
    moved: Annotated[int, typer.Option(min=0, help="Show so many queries that moved most.")] = 10,
    as_json: options.Json = False,
) -> None:
    """Say how the second run differs from the first, and whether that is more than chance."""
    with opened() as app:
        pair = {"run_id": one, "other_run_id": other, "metric": metric}
        [found] = app.database.call("compare_evaluations", **pair)
        queries = app.database.call("moved_queries", **pair, match_count=moved)
    if as_json:
        print_json({**pair, **found, "moved": queries})
        return
    print_text(
        f"{metric}: {found['score']:.4f} → {found['other_score']:.4f}, {found['difference']:+.4f}"
    )
    if found["lower_bound"] is not None:
        print_text(
            f"95 % confidence interval {found['lower_bound']:+.4f} to {found['upper_bound']:+.4f},"
            f" p = {found['p_value']:.4f}"
        )
    print_text(
        f"{found['wins']:,} queries better, {found['losses']:,} worse, {found['ties']:,} equal"
    )
    if queries:
        columns = ("difference", "score", "other_score", "query_id", "query")
        print_table(columns, [[row[column] for column in columns] for row in queries])


@commands.command()
def show(
    run_id: RunId,
    query: Annotated[str, typer.Argument(help="Id of the query.", show_default=False)],
    as_json: options.Json = False,
) -> None:
    """Show what a run returned for a query, what was expected, and why."""
    with opened() as app:
        rows = app.database.call("evaluation_answer", run_id=run_id, query_id=query)
        scores = app.database.query(
            "select s.query, s.metric, s.score from pgrag.evaluation_scores(%s, %s) as s"
            " where s.query_id = %s",
            [run_id, ["ndcg@10", "mrr@10"], query],
        )
    if as_json:
        measured = {row["metric"]: row["score"] for row in scores}
        print_json(
            {
                "run": run_id,
                "query_id": query,
                "query": scores[0]["query"],
                "metrics": measured,
                "results": rows,
            }
        )
        return
    print_text(scores[0]["query"])
    print_text(", ".join(f"{row['metric']} {row['score']:.3f}" for row in scores))
    print_table(
        ("rank", "grade", "score", "target", "heading", "words"),
        [
            (
                row["rank"] or "–",
                row["grade"],
                row["score"],
                row["target"],
                row["heading"],
                row["words"],
            )
            for row in rows
        ],
    )


@commands.command()
def ablation(
    names: Annotated[
        list[str], typer.Argument(metavar="SET…", help="Their names.", show_default=False)
    ],
    *,
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only these rows; repeat it.")
    ] = None,
    metric: Metrics = None,
    as_json: options.Json = False,
) -> None:
    """Print what each part of the search is worth: one row for each thing that is changed.

    Libraries are as before afterwards. The first time, the corpus is indexed twice more: without
    its front matter as eval-SET-plain, with camelCase words kept whole as eval-SET-whole.
    """
    from pgrag.evaluation import importing, runs

    metrics = metric or list(runs.METRICS)
    results = []
    with opened() as app:
        rows = [c for c in runs.ablation(app) if not only or c.name in only]
        if only and len(rows) < len(set(only)):
            names_ = "; ".join(c.name for c in runs.ablation(app))
            raise typer.BadParameter(f"rows are: {names_}.", param_hint="--only")
        for name in names:
            missing = _missing_variants(app, name, rows, importing.index_variant)
            for row in rows:
                if row.document.get("variant") not in missing:
                    with shown_step(f"{name}: {row.name}", hidden=as_json):
                        results.append(runs.run(app, name, row, metrics))
    if as_json:
        print_json(results)
    else:
        _print_runs(results, metrics)


def _missing_variants(app: App, name: str, rows: list[Any], index_variant: Any) -> set[str]:
    """Index the variants that rows need; return those whose corpus is not there any more."""
    from pgrag.errors import SourceError
    from pgrag.evaluation.runs import find_set

    evaluation_set = find_set(app, name)
    missing: set[str] = set()
    wanted = {str(c.document["variant"]) for c in rows if "variant" in c.document}
    for variant in sorted(wanted):
        try:
            index_variant(app, evaluation_set, variant)
        except (SourceError, KeyError) as error:
            warn(f"no {variant} variant of {name}: {error}")
            missing.add(variant)
    return missing


@commands.command()
def gate(
    name: SetName,
    baseline: Annotated[
        Path, typer.Argument(help="JSON with the scores to keep.", show_default=False)
    ],
    *,
    tolerance: Annotated[
        float, typer.Option(min=0, max=1, help="A drop of nDCG@10 up to this passes.")
    ] = 0.01,
    update: Annotated[
        bool, typer.Option("--update", help="Write the baseline anew instead.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Fail if nDCG@10 has fallen below a committed baseline; for continuous integration."""
    from pgrag.evaluation import runs

    with opened() as app, shown_step(f"{name}: asking again", hidden=as_json):
        rows = runs.gate(app, name, baseline, tolerance=tolerance, update=update)
    if as_json:
        print_json(rows)
    else:
        columns = ("config", "metric", "baseline", "score", "passed", "run")
        print_table(columns, [[row[column] for column in columns] for row in rows])
    failed = [row["config"] for row in rows if not row["passed"]]
    if failed:
        complain(
            f"Fallen by more than {tolerance:g}: {', '.join(failed)}.",
            "Compare with an earlier run: pgrag eval compare RUN RUN.",
        )
        raise typer.Exit(1)


@commands.command()
def repeat(run_id: RunId, metric: Metrics = None, as_json: options.Json = False) -> None:
    """Run again what a run asked, with its configuration, in the library of today."""
    from pgrag.evaluation import runs

    metrics = metric or list(runs.METRICS)
    with opened() as app, shown_step(f"run {run_id} again", hidden=as_json):
        runs.check_metrics(app, metrics)
        [row] = app.database.call("repeat_evaluation", run_id=run_id)
        result = runs.told(app, row["repeat_evaluation"], metrics)
    if as_json:
        print_json(result)
    else:
        _print_runs([result], metrics)


@commands.command()
def remove(
    name: Annotated[
        str | None, typer.Argument(metavar="[SET]", help="Its name.", show_default=False)
    ] = None,
    *,
    run_id: Annotated[
        int | None, typer.Option("--run", metavar="RUN", help="Only this run.")
    ] = None,
    keep_library: Annotated[
        bool, typer.Option("--keep-library", help="Leave eval-SET in the database.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Remove a set with its runs and its library, or one run."""
    if (name is None) == (run_id is None):
        raise typer.BadParameter("name a set, or a run with --run.", param_hint="SET")
    with opened() as app:
        if run_id is not None:
            app.database.call("remove_evaluation_run", run_id=run_id)
            told: dict[str, Any] = {"run": run_id}
        else:
            told = _remove_set(app, str(name), keep_library=keep_library)
    if as_json:
        print_json(told)
    elif run_id is not None:
        print_text(f"Removed run {run_id}.")
    else:
        gone = "".join(f", library {library}" for library in told["libraries"])
        print_text(f"Removed {told['set']}: {counted(told['runs'], 'run')}{gone}.")


def _remove_set(app: App, name: str, *, keep_library: bool) -> dict[str, Any]:
    """Remove a set and those libraries that its import has made."""
    from pgrag.evaluation.importing import VARIANTS, library_of
    from pgrag.evaluation.runs import find_set

    found = find_set(app, name)
    [row] = app.database.call("remove_evaluation_set", evaluation_set=name)
    own = {library_of(name), *(f"{library_of(name)}-{variant}" for variant in VARIANTS)}
    there = {row["library"] for row in app.database.call("libraries")}
    libraries = [] if keep_library else sorted(own & there)
    for library in libraries:
        app.database.call("remove_library", library=library)
    return {"set": found["name"], "runs": row["remove_evaluation_set"], "libraries": libraries}


def _print_runs(results: list[dict[str, Any]], metrics: list[str]) -> None:
    print_table(
        ("set", "config", *metrics, "queries", "seconds", "run"),
        [
            (
                result["set"],
                result["config"],
                *(result["metrics"].get(metric) for metric in metrics),
                result["queries"],
                result["seconds"],
                result["run"],
            )
            for result in results
        ],
    )
