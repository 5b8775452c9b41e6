"""`pgrag enrich`: a language model writes contexts and summaries of passages."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from pgrag.cli import options
from pgrag.cli.command import App, command, text
from pgrag.cli.notations import Target, counted, label, misuse, parse_target
from pgrag.cli.output import Output
from pgrag.cli.progress import shown_count
from pgrag.cli.session import library_names, resumable

if TYPE_CHECKING:
    from pgrag.ingest.enrichment import EnrichmentPlan, EnrichmentReport, Kind


@command
def enrich(
    app: App,
    target: Annotated[
        str,
        Argument(
            metavar="LIBRARY[@VERSION]",
            help="NAME: all versions. NAME@VERSION: this one.",
            autocompletion=library_names,
        ),
    ],
    *,
    what: Annotated[
        str,
        Option(
            metavar="context,summaries",
            help="context: a sentence on where each paragraph belongs, for search alone;"
            " summaries: of pages and sections, instead of their first sentences.",
        ),
    ] = "context,summaries",
    dry_run: Annotated[bool, Option(help="Call no model; print calls and tokens.")] = False,
    state: Annotated[bool, Option(help="Only print what is written and what failed.")] = False,
    remove: Annotated[bool, Option(help="Remove what was written, in all versions.")] = False,
    as_json: options.Json = False,
) -> Output:
    """Have the language model of PGRAG_LLM_URL write context sentences and summaries.

    Texts are stored: a repeated run requests only new ones. Passages that the model fails on stay
    unchanged; exit status 1 means that some failed.
    """
    from pgrag.ingest.enrichment import parse_kinds

    if dry_run + state + remove > 1:
        raise misuse("--dry-run", "choose one of --dry-run, --state, --remove.")
    library = parse_target(target)
    kinds = parse_kinds([what])
    if remove and library.version is not None:
        raise misuse("--remove", "affects all versions: leave out @VERSION.")
    if remove:
        return _remove(app, library.library, kinds)
    if state:
        return _state(app, library)
    enricher = app.enricher(library.library, library.version)
    if dry_run:
        return _plan(library, [enricher.plan(kind) for kind in kinds])
    reports: list[EnrichmentReport] = []
    with resumable():
        for kind in kinds:
            title = f"Writing {kind.value} of {library}"
            with shown_count(title, hidden=as_json) as progress:
                reports.append(enricher.run(kind, progress))
    errors = []
    for report in reports:
        errors += [f"{key}: no {report.kind}: {reason}" for key, reason in report.failures]
        if report.failed > len(report.failures):
            errors.append(f"… {report.failed:,} in all; see `pgrag enrich {library} --state`.")
    lines = [_written(library, report) for report in reports]
    return text([asdict(report) for report in reports], *lines, errors=errors)


def _written(target: Target, report: "EnrichmentReport") -> str:
    if not (report.calls or report.kept):
        return f"Nothing to write: {target} has its {report.kind}."
    return (
        f"{report.kind} of {target}: {counted(report.documents, 'passage')} changed"
        f" ({counted(report.calls, 'call')}, {report.kept:,} kept from before,"
        f" {report.failed:,} failed; {report.prompt_tokens:,} tokens read,"
        f" {report.completion_tokens:,} written; {report.seconds:.1f} s)"
    )


def _plan(target: Target, plans: "Sequence[EnrichmentPlan]") -> Output:
    lines = [
        f"{plan.kind} of {target}:"
        f" {counted(plan.calls, 'call')}, about {plan.prompt_tokens:,} tokens to read and at"
        f" most {plan.completion_tokens:,} to write, for"
        f" {counted(plan.documents, 'passage')}; {plan.kept:,} kept from before."
        for plan in plans
    ]
    return text([asdict(plan) for plan in plans], *lines, "No model was called.")


def _state(app: App, target: Target) -> Output:
    rows = app.database.call("enrichment_state", **target.scope)
    failures = app.database.call("enrichment_failures", **target.scope)
    lines = []
    for row in rows:
        models = f" by {', '.join(row['models'])}" if row["models"] else ""
        setting = ", and whenever it is indexed" if row["setting"] else ""
        lines.append(
            f"{row['kind']}: {row['enriched']:,} of {counted(row['documents'], 'passage')}{models}"
            f", {row['failed']:,} failed{setting}"
        )
    lines += [
        f"  {label(row['key'], row['label'])}: no {row['kind']}: {row['reason']}"
        for row in failures
    ]
    return text({"state": rows, "failures": failures}, *lines)


def _remove(app: App, library: str, kinds: "Sequence[Kind]") -> Output:
    removed: dict[str, Any] = {"library": library}
    for kind in kinds:
        [row] = app.database.call("remove_enrichments", library=library, kind=kind.name_in_database)
        removed[kind.value] = row["remove_enrichments"]
    removed["embedded"] = app.embed(library)
    lines = [
        f"{kind.value} removed from {counted(removed[kind.value], 'passage')}." for kind in kinds
    ]
    return text(removed, *lines)
