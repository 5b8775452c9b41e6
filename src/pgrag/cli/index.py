"""`pgrag index` and `pgrag embed`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgrag.cli import options
from pgrag.cli.arguments import Target, counted, label, parse_chunk_profile, parse_target
from pgrag.cli.output import complain, print_json, print_text, warn
from pgrag.cli.progress import shown_progress
from pgrag.cli.session import opened, resumable
from pgrag.errors import SourceError

if TYPE_CHECKING:
    from pgrag.ingest.pipeline import IndexReport
    from pgrag.ingest.plan import PlannedPage

#: What is said of links that are not as they should be.
_FAULTS = {
    "unresolved": "lead to no page",
    "ambiguous": "could lead to several",
    "fragment": "to a heading that is not there",
}
#: Warnings and failures that are listed; --json has them all.
_LISTED = 20
#: What the documents of a level are.
_LEVELS = ("page", "section", "paragraph")
#: What can stand beside --changed-config.
_WITH_CHANGED = frozenset({"target", "source", "changed_config", "dry_run", "verbose", "as_json"})


def index(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="LIBRARY[@VERSION]",
            help="Where it goes: jest (without a version), jest@29.7.",
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE",
            help="A folder with Markdown, a file, or a git repository.",
            show_default=False,
        ),
    ] = None,
    *,
    language: Annotated[
        str | None,
        typer.Option(metavar="en|de|…", help="Language of pages that name none; default: English."),
    ] = None,
    base_url: Annotated[
        str, typer.Option(metavar="URL", help="Where the pages are published.")
    ] = "",
    include: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Only these files: 'guide/**'.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Not these files: '**/draft-*'.")
    ] = None,
    subfolder: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Only this part of the source.")
    ] = None,
    ref: Annotated[
        str | None,
        typer.Option(
            metavar="REF", help="Read this branch, tag or commit, whatever is checked out."
        ),
    ] = None,
    chunk_sizes: Annotated[
        str | None,
        typer.Option(
            metavar="MINIMUM,PREFERRED,MAXIMUM",
            help="Characters of a paragraph; default: those of the profile (150,900,1200).",
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How pages are cut: by_heading, by_meaning, short, medium or long; default: as"
            " their type says, else by_heading.",
        ),
    ] = None,
    changed_config: Annotated[
        bool,
        typer.Option(
            "--changed-config",
            help="Instead of a source: read again what other page types have read, of these"
            " libraries or of all, from where it came.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read everything, write nothing, say what would be.")
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", help="With --dry-run: list each document and edge; --json does."),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Bring a version of a library to the state of a source.

    Only what has changed is read, written and embedded, so run it as often as you like. Without
    @VERSION the library has none. Exit status 1 means that some pages failed; the others are in.

    With --changed-config LIBRARY … no source is given: every version with pages that were read
    with other page types than `pgrag config show page_types` has now is indexed again, from the
    source and with the options that it had. Exit status 1 means that a source is gone, or pages
    failed.
    """
    from pgrag.ingest.page import PageOptions

    if changed_config:
        _refuse_other_options(context)
        libraries = [] if target is None else [target, *(source or ())]
        _index_changed(libraries, dry_run=dry_run, verbose=verbose, as_json=as_json)
        return
    if target is None or source is None or len(source) != 1:
        raise typer.BadParameter(
            "needs a library and one source: pgrag index LIBRARY[@VERSION] SOURCE.",
            param_hint="SOURCE",
        )
    place = parse_target(target)
    page_options = PageOptions(
        base_url=base_url, language=language, profile=parse_chunk_profile(profile, chunk_sizes)
    )
    with (
        opened() as app,
        resumable(),
        shown_progress(f"Indexing {place}", hidden=as_json) as progress,
    ):
        report = app.index(
            place.library,
            place.version or "",
            source[0],
            page_options,
            include=include or (),
            exclude=exclude or (),
            subfolder=subfolder,
            ref=ref,
            dry_run=dry_run,
            progress=progress,
        )
    if as_json:
        print_json(asdict(report))
    else:
        _list(report.warnings, warn)
        print_text(_plan(report, verbose=verbose) if report.dry_run else _told(report))
    _list([f"{key}: {reason}" for key, reason in report.failed.items()], complain)
    if report.failed:
        raise typer.Exit(1)


def _refuse_other_options(context: typer.Context) -> None:
    for name in context.params.keys() - _WITH_CHANGED:
        where = context.get_parameter_source(name)
        if where is not None and where.name != "DEFAULT":
            raise typer.BadParameter(
                "stands alone: what was indexed keeps its options.", param_hint="--changed-config"
            )


def _index_changed(
    libraries: Sequence[str], *, dry_run: bool, verbose: bool, as_json: bool
) -> None:
    """Index again what was read with other page types; go on where a source is gone."""
    targets = [parse_target(name) for name in libraries]
    found: list[dict[str, Any]] = []
    with opened() as app, resumable():
        rows = [
            row
            for target in targets
            for row in app.database.call("outdated_pages", wanted=target.library)
            if target.version in (None, row["version"])
        ]
        for row in rows if targets else app.database.call("outdated_pages"):
            name = label(row["library"], row["version"])
            told = {key: row[key] for key in ("library", "version", "pages")}
            try:
                with shown_progress(f"Indexing {name}", hidden=as_json) as progress:
                    report = app.index_again(row, dry_run=dry_run, progress=progress)
            except SourceError as error:
                found.append(told | {"report": None, "error": str(error)})
                complain(f"{name}: {error.message}", error.hint)
                continue
            found.append(told | {"report": asdict(report), "error": None})
            if not as_json:
                _list(report.warnings, warn)
                print_text(_plan(report, verbose=verbose) if dry_run else _told(report))
            _list([f"{key}: {reason}" for key, reason in report.failed.items()], complain)
    if as_json:
        print_json(found)
    elif not found:
        print_text("Every page was read with the page types that there are.")
    if any(each["error"] or each["report"]["failed"] for each in found):
        raise typer.Exit(1)


def embed(
    library: options.LibraryName,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Default: the library's model.")
    ] = None,
    activate: Annotated[
        bool, typer.Option("--activate", help="Let searches use this model from now on.")
    ] = False,
    edges: Annotated[
        bool,
        typer.Option(
            "--edges",
            help="The edges too, for `pgrag edges`; from now on when indexing as well.",
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Embed the texts of a library that lack a vector by a model, and build its index.

    Two models live side by side until --activate switches.
    """
    with opened() as app, resumable():
        count = app.embed(library, model, activate=activate, edges=edges)
        used = model or app.library_model(library)
    if as_json:
        print_json({"library": library, "model": used, "embedded": count, "activated": activate})
        return
    print_text(f"{counted(count, 'text')} of {library} embedded by {used}.")
    if activate:
        print_text(f"Searches in {library} use {used} from now on.")


def _told(report: IndexReport) -> str:
    """Return what a run did, in a few lines."""
    name = label(report.library, report.version)
    pages, documents = counted(report.written, "page"), counted(report.documents, "document")
    changed = (report.written, report.removed, report.embedded, report.failed)
    if not any((*changed, *report.enriched.values())):
        kept = counted(report.unchanged, "page")
        return f"Nothing changed in {name}: {kept} as before ({report.seconds:.1f} s)."
    seconds = max(report.seconds, 0.001)
    failed = f", {len(report.failed):,} failed" if report.failed else ""
    edges = counted(report.edges, "edge")
    return "\n".join(
        [
            f"{name} from {report.source}",
            f"  {pages} written, {report.unchanged:,} unchanged,"
            f" {report.removed:,} removed{failed}",
            f"  {documents} and {edges} written, {counted(report.embedded, 'text')} embedded",
            f"  {report.seconds:.1f} s: {report.pages / seconds:,.0f} pages/s,"
            f" {report.documents / seconds:,.0f} documents/s",
            *(
                f"  {kind} written by a language model for {counted(number, 'document')}"
                for kind, number in report.enriched.items()
                if number
            ),
            *_broken_links(report),
        ]
    )


def _broken_links(report: IndexReport) -> Iterator[str]:
    faults = ", ".join(
        f"{report.links[state]:,} {words}"
        for state, words in _FAULTS.items()
        if report.links.get(state)
    )
    if faults:
        target = Target(report.library, report.version or None)
        yield f"  links: {faults}; see `pgrag links {target} --check`"


def _plan(report: IndexReport, *, verbose: bool) -> str:
    """Return what a dry run would do, page by page."""
    lines: list[str] = []
    for key, page in report.planned.items():
        sizes = f"{counted(page.searched, 'document')}, {counted(len(page.edges), 'edge')}"
        lines.append(f"write   {key} ({sizes})")
        if verbose:
            lines += _details(page)
    lines += (f"remove  {key}" for key in report.gone)
    lines.append(
        f"Nothing was written. {label(report.library, report.version)} would get"
        f" {counted(report.written, 'page')} with {counted(report.documents, 'document')} and"
        f" {counted(report.edges, 'edge')}; {report.unchanged:,} unchanged,"
        f" {report.removed:,} removed."
    )
    return "\n".join(lines)


def _details(page: PlannedPage) -> Iterator[str]:
    """Yield a line for each document of a page, then for each edge."""
    for document in page.documents:
        extent = f"{document.line_start}-{document.line_end}"
        path = " / ".join(document.path)
        level = _LEVELS[document.level]
        covered = "" if document.is_searched else "  (its text is in another)"
        yield (
            f"  lines {extent:<9} {level:<9} {document.characters:>5,} characters  {path}{covered}"
        )
    for edge in page.edges:
        target = edge.target if edge.fragment is None else f"{edge.target}#{edge.fragment}"
        yield f"  line  {edge.line:<9} {edge.kind} -> {target}  ({edge.rule}, {edge.confidence:g})"


def _list(complaints: Sequence[str], say: Callable[[str], None]) -> None:
    for complaint in complaints[:_LISTED]:
        say(complaint)
    if len(complaints) > _LISTED:
        say(f"… and {len(complaints) - _LISTED:,} more; --json lists all.")
