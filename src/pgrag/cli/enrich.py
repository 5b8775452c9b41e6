"""`pgrag enrich`: a language model writes what helps to find and to grasp documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgrag.cli import options
from pgrag.cli.arguments import Target, counted, label, parse_target
from pgrag.cli.output import complain, print_json, print_text
from pgrag.cli.progress import shown_count
from pgrag.cli.session import opened, resumable

if TYPE_CHECKING:
    from pgrag.app import App
    from pgrag.enrichment import EnrichmentPlan, EnrichmentReport, Kind


def enrich(
    target: Annotated[
        str,
        typer.Argument(
            metavar="LIBRARY[@VERSION]",
            help="NAME: all versions. NAME@VERSION: this one.",
            show_default=False,
        ),
    ],
    *,
    what: Annotated[
        str,
        typer.Option(
            metavar="context,summaries",
            help="context: a sentence that places each paragraph on its page, for search alone;"
            " summaries: of pages and sections, in place of their first sentences.",
        ),
    ] = "context,summaries",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Ask nothing, say how many calls and tokens it takes.")
    ] = False,
    state: Annotated[
        bool, typer.Option("--state", help="Only say what has been written, and what failed.")
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take out, in all versions, what was written.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Have the language model of PGRAG_LLM_URL write situations and summaries.

    What is written is kept: run it as often as you like, it asks only what is new. Documents that
    the model fails on stay as they are; exit status 1 means that there were some.
    """
    from pgrag.enrichment import parse_kinds

    if dry_run + state + remove > 1:
        raise typer.BadParameter(
            "choose one of --dry-run, --state and --remove.", param_hint="--dry-run"
        )
    place = parse_target(target)
    kinds = parse_kinds([what])
    if remove and place.version is not None:
        raise typer.BadParameter(
            f"--remove takes it out of all versions: say {place.library}.", param_hint="TARGET"
        )
    with opened() as app:
        if remove:
            _remove(app, place.library, kinds, as_json=as_json)
        elif state:
            _show_state(app, place, as_json=as_json)
        elif dry_run:
            _show_plan(place, [app.enricher(*_of(place)).plan(kind) for kind in kinds], as_json)
        else:
            _run(app, place, kinds, as_json=as_json)


def _run(app: App, place: Target, kinds: Sequence[Kind], *, as_json: bool) -> None:
    enricher = app.enricher(*_of(place))
    reports: list[EnrichmentReport] = []
    with resumable():
        for kind in kinds:
            title = f"Writing {kind.value} of {place}"
            with shown_count(title, hidden=as_json) as progress:
                reports.append(enricher.run(kind, progress))
    if as_json:
        print_json([asdict(report) for report in reports])
    for report in reports:
        if not as_json:
            print_text(_told(place, report))
        for key, reason in report.failures:
            complain(f"{key}: no {report.kind}: {reason}")
        if report.failed > len(report.failures):
            complain(f"… {report.failed:,} in all; `pgrag enrich {place} --state` lists them.")
    if any(report.failed for report in reports):
        raise typer.Exit(1)


def _told(place: Target, report: EnrichmentReport) -> str:
    name = str(place)
    if not (report.calls or report.kept):
        return f"Nothing to write: {name} has its {report.kind}."
    return (
        f"{report.kind} of {name}: {counted(report.documents, 'document')} changed"
        f" ({counted(report.calls, 'call')}, {report.kept:,} kept from before,"
        f" {report.failed:,} failed; {report.prompt_tokens:,} tokens read,"
        f" {report.completion_tokens:,} written; {report.seconds:.1f} s)"
    )


def _show_plan(place: Target, plans: Sequence[EnrichmentPlan], as_json: bool) -> None:
    if as_json:
        print_json([asdict(plan) for plan in plans])
        return
    for plan in plans:
        print_text(
            f"{plan.kind} of {place}:"
            f" {counted(plan.calls, 'call')}, about {plan.prompt_tokens:,} tokens to read and at"
            f" most {plan.completion_tokens:,} to write, for"
            f" {counted(plan.documents, 'document')}; {plan.kept:,} kept from before."
        )
    print_text("Nothing was asked.")


def _show_state(app: App, place: Target, *, as_json: bool) -> None:
    library, version = _of(place)
    rows = app.database.call("enrichment_state", library=library, version=version)
    failures = app.database.call("enrichment_failures", library=library, version=version)
    if as_json:
        print_json({"state": rows, "failures": failures})
        return
    for row in rows:
        models = f" by {', '.join(row['models'])}" if row["models"] else ""
        setting = ", and whenever it is indexed" if row["setting"] else ""
        print_text(
            f"{row['kind']}: {row['enriched']:,} of {counted(row['documents'], 'document')}{models}"
            f", {row['failed']:,} failed{setting}"
        )
    for row in failures:
        print_text(f"  {label(row['key'], row['label'])}: no {row['kind']}: {row['reason']}")


def _remove(app: App, library: str, kinds: Sequence[Kind], *, as_json: bool) -> None:
    told: dict[str, Any] = {"library": library}
    for kind in kinds:
        [row] = app.database.call("remove_enrichments", library=library, kind=kind.name_in_database)
        told[kind.value] = row["remove_enrichments"]
    told["embedded"] = app.embed(library)
    if as_json:
        print_json(told)
        return
    for kind in kinds:
        print_text(f"{kind.value} taken out of {counted(told[kind.value], 'document')}.")


def _of(place: Target) -> tuple[str, str | None]:
    return place.library, place.version
