"""`pgrag index` and `pgrag embed`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from pgrag.cli import options
from pgrag.cli.arguments import (
    Target,
    counted,
    label,
    parse_chunk_profile,
    parse_converter,
    parse_duration,
    parse_slug_style,
    parse_target,
)
from pgrag.cli.command import App, Output, command, text
from pgrag.cli.jobs import queued
from pgrag.cli.output import complain, notice, print_text, warn
from pgrag.cli.progress import shown_progress
from pgrag.cli.session import resumable
from pgrag.errors import PgragError, SourceError
from pgrag.ingest.report import IndexReport, PlannedPage

if TYPE_CHECKING:
    from pgrag.ingest.page import PageOptions
    from pgrag.ingest.reader import Progress
    from pgrag.ingest.source.selection import Selection

#: The states of broken links, in words.
_FAULTS = {
    "unresolved": "lead to no page",
    "ambiguous": "could lead to several",
    "fragment": "to a heading that is not there",
}
#: Warnings and failures in the report; --json lists all.
_LISTED = 20
#: What the documents of a level are called.
_LEVELS = ("page", "section", "paragraph")
#: Options that can be combined with --changed-config.
_WITH_CHANGED = frozenset({"target", "source", "changed_config", "dry_run", "verbose", "as_json"})


@command
def index(
    app: App,
    context: typer.Context,
    target: Annotated[
        str | None,
        Argument(
            metavar="LIBRARY[@VERSION]", help="Where it goes: jest (without a version), jest@29.7."
        ),
    ] = None,
    source: Annotated[
        list[str] | None,
        Argument(
            metavar="SOURCE",
            help="A folder, a file, an archive, the path or address of a git repository, or the"
            " address of a website, a sitemap or an llms.txt.",
        ),
    ] = None,
    *,
    language: Annotated[
        str | None,
        Option(metavar="en|de|…", help="Language of pages that name none; default: English."),
    ] = None,
    base_url: Annotated[
        str | None, Option(metavar="URL", help="Where the pages are published.")
    ] = None,
    slugs: Annotated[
        str | None,
        Option(
            metavar="STYLE",
            help="Whose anchors the headings get: github, vitepress, docusaurus, mkdocs, sphinx,"
            " hugo or obsidian; default: guessed from the configuration around the source.",
        ),
    ] = None,
    converter: Annotated[
        str | None,
        Option(metavar="docling", help="What reads PDF files, in place of the usual converter."),
    ] = None,
    include: Annotated[
        list[str] | None, Option(metavar="GLOB", help="Only these files: 'guide/**'.")
    ] = None,
    exclude: Annotated[
        list[str] | None, Option(metavar="GLOB", help="Not these files: '**/draft-*'.")
    ] = None,
    subfolder: Annotated[
        str | None, Option(metavar="FOLDER", help="Only this part of the source.")
    ] = None,
    ref: Annotated[
        str | None,
        Option(metavar="REF", help="Read this branch, tag or commit, whatever is checked out."),
    ] = None,
    tags: Annotated[
        str | None,
        Option(
            metavar="GLOB",
            help="Each tag that matches becomes a version: 'v1.*' gives 1.0, 1.1 …",
        ),
    ] = None,
    include_ignored: Annotated[
        bool, Option(help="Also the files that .gitignore and .ignore name.")
    ] = False,
    max_pages: Annotated[
        int | None,
        Option(min=1, metavar="N", help="Of a website, no more pages; default: 10000."),
    ] = None,
    max_depth: Annotated[
        int | None,
        Option(min=0, metavar="N", help="Of a website, not more links from SOURCE; default: 30."),
    ] = None,
    max_bytes: Annotated[
        int | None,
        Option(min=1, metavar="N", help="Of a website, no more; default: 2000000000."),
    ] = None,
    allow_private: Annotated[
        bool, Option(help="Let a website be on this machine or in a private network.")
    ] = False,
    chunk_sizes: Annotated[
        str | None,
        Option(
            metavar="MINIMUM,PREFERRED,MAXIMUM",
            help="Characters of a paragraph; default: those of the profile (150,900,1200).",
        ),
    ] = None,
    profile: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="How pages are cut: by_heading, by_meaning, short, medium or long; default: as"
            " their type says, else medium.",
        ),
    ] = None,
    watch: Annotated[
        bool, Option(help="Stay, and index each change in the folder within two seconds.")
    ] = False,
    changed_config: Annotated[
        bool,
        Option(
            help="Without a source: index again the pages of these libraries, or of all, that were"
            " read with other page types."
        ),
    ] = False,
    dry_run: Annotated[
        bool, Option(help="Read everything, write nothing, print what would be written.")
    ] = False,
    verbose: Annotated[
        bool, Option(help="With --dry-run: list each document and edge, as --json does.")
    ] = False,
    job: Annotated[
        bool, Option("--job", help="Leave it to a worker: `pgrag serve`, `pgrag worker`.")
    ] = False,
    every: Annotated[
        str | None,
        Option(metavar="TIME", help="As a job, again and again: 1d, 12h; refreshes what changed."),
    ] = None,
    as_json: options.Json = False,
) -> Output:
    """Bring a version of a library to the state of a source.

    Only what has changed is read, written and embedded, so repeated runs are cheap. Without
    @VERSION the documentation is unversioned. The version remembers --base-url, --language,
    --profile, --chunk-sizes, --slugs and --converter; an empty value (--base-url '') forgets one.
    Exit status 1 means that some pages failed; the rest are indexed.

    With --changed-config LIBRARY … no source is given: every version with pages read with
    page types that have changed since (`pgrag config show page_types`) is indexed again, from its
    source and with its options. Exit status 1 means that a source is gone, or pages failed.
    """
    from pgrag.ingest.page import PageOptions
    from pgrag.ingest.source.selection import Selection

    if changed_config:
        _refuse_other_options(context)
        libraries = [] if target is None else [target, *(source or ())]
        return _index_changed(app, libraries, dry_run=dry_run, verbose=verbose, as_json=as_json)
    if target is None or source is None or len(source) != 1:
        raise typer.BadParameter(
            "needs a library and one source: pgrag index LIBRARY[@VERSION] SOURCE.",
            param_hint="SOURCE",
        )
    library = parse_target(target)
    page_options = PageOptions(
        base_url=base_url,
        language=language,
        profile=parse_chunk_profile(profile, chunk_sizes),
        slugs=parse_slug_style(slugs),
        converter=parse_converter(converter),
    )
    selection = Selection(
        tuple(include or ()), tuple(exclude or ()), subfolder, ref, include_ignored
    )
    if watch:
        if tags or ref or dry_run or as_json or job or every:
            raise typer.BadParameter(
                "follows a folder: leave out --tags, --ref, --dry-run, --job, --every and --json.",
                param_hint="--watch",
            )
        return _watch(app, library, source[0], page_options, selection)
    if tags is not None:
        if library.version or ref or job or every:
            raise typer.BadParameter(
                "the versions and refs are those of the tags, and none is a job: leave out"
                " @VERSION, --ref, --job and --every.",
                param_hint="--tags",
            )
        return _index_tags(
            app, (library.library, source[0], tags), page_options, selection,
            dry_run=dry_run, verbose=verbose, as_json=as_json,
        )  # fmt: skip
    if job or every:
        if dry_run:
            raise typer.BadParameter("a job writes.", param_hint="--dry-run")
        wait = None if every is None else parse_duration(every, "--every", least=60)
        return queued(app, library, selection, source[0], page_options, every=wait)
    with resumable(), shown_progress(f"Indexing {library}", hidden=as_json) as progress:
        report = app.index(
            library.library,
            library.version,
            source[0],
            page_options,
            include=include or (),
            exclude=exclude or (),
            subfolder=subfolder,
            ref=ref,
            include_ignored=include_ignored,
            max_pages=max_pages,
            max_depth=max_depth,
            max_bytes=max_bytes,
            allow_private=allow_private,
            dry_run=dry_run,
            progress=progress,
        )
    return Output(
        asdict(report), lambda: _print_report(report, verbose=verbose), errors=_failures(report)
    )


def _watch(
    app: App, target: Target, source: str, page_options: PageOptions, selection: Selection
) -> Output:
    """Print what each run changed, and failures when they are new, until Ctrl+C."""
    complaints: set[str] = set()
    runs = app.watch(
        target.library, target.version or "", source, page_options, selection=selection
    )
    with suppress(KeyboardInterrupt):
        for number, outcome in enumerate(runs):
            if isinstance(outcome, PgragError):
                found = {outcome.message}
            else:
                found = {*outcome.warnings, *_failures(outcome)}
                if number == 0 or outcome.written or outcome.removed:
                    print_text(f"{datetime.now():%H:%M:%S} {_summary(outcome)}")
                    if number == 0:
                        notice(f"Watching {outcome.source}; Ctrl+C ends it.")
            for complaint in sorted(found - complaints):
                complain(complaint)
            complaints = found
    return text(None, "Watching has ended; what is indexed stays.")


def _index_tags(
    app: App,
    what: tuple[str, str, str],
    page_options: PageOptions,
    selection: Selection,
    *,
    dry_run: bool,
    verbose: bool,
    as_json: bool,
) -> Output:
    """Index each tag as a version; continue if one cannot be read."""
    library, source, pattern = what
    results: list[dict[str, Any]] = []
    with resumable(), ExitStack() as shown:

        def progress(version: str) -> Progress:
            shown.close()
            title = f"Indexing {label(library, version)}"
            return shown.enter_context(shown_progress(title, hidden=as_json))

        runs = app.index_tags(
            library, source, pattern, page_options,
            selection=selection, dry_run=dry_run, progress=progress,
        )  # fmt: skip
        for version, outcome in runs:
            shown.close()
            result = {"library": library, "version": version}
            if isinstance(outcome, SourceError):
                results.append(result | {"report": None, "error": str(outcome)})
                complain(f"{label(library, version)}: {outcome.message}", outcome.hint)
            else:
                results.append(result | {"report": asdict(outcome), "error": None})
                _show(outcome, verbose=verbose, as_json=as_json)
    return _output_of(results)


def _show(report: IndexReport, *, verbose: bool, as_json: bool) -> None:
    """Show one of several reports; all are printed together with --json."""
    if not as_json:
        _print_report(report, verbose=verbose)
    for failure in _failures(report):
        complain(failure)


def _output_of(results: list[dict[str, Any]], *texts: str) -> Output:
    return replace(
        text(results, *texts),
        failed=any(each["error"] or each["report"]["failed"] for each in results),
    )


def _refuse_other_options(context: typer.Context) -> None:
    for name in context.params.keys() - _WITH_CHANGED:
        where = context.get_parameter_source(name)
        if where is not None and where.name != "DEFAULT":
            raise typer.BadParameter(
                "takes no other options: pages keep those they were indexed with.",
                param_hint="--changed-config",
            )


def _index_changed(
    app: App, libraries: Sequence[str], *, dry_run: bool, verbose: bool, as_json: bool
) -> Output:
    """Reindex pages read with other page types; continue if a source is gone."""
    targets = [parse_target(name) for name in libraries]
    results: list[dict[str, Any]] = []
    with resumable():
        rows = [
            row
            for target in targets
            for row in app.database.call("outdated_pages", wanted=target.library)
            if target.version in (None, row["version"])
        ]
        for row in rows if targets else app.database.call("outdated_pages"):
            name = label(row["library"], row["version"])
            result = {key: row[key] for key in ("library", "version", "pages")}
            try:
                with shown_progress(f"Indexing {name}", hidden=as_json) as progress:
                    report = app.index_again(row, dry_run=dry_run, progress=progress)
            except SourceError as error:
                results.append(result | {"report": None, "error": str(error)})
                complain(f"{name}: {error.message}", error.hint)
                continue
            results.append(result | {"report": asdict(report), "error": None})
            _show(report, verbose=verbose, as_json=as_json)
    nothing = "Every page was read with the current page types."
    return _output_of(results, *([] if results else [nothing]))


@command
def embed(
    app: App,
    library: options.LibraryName,
    model: Annotated[
        str | None, Option(metavar="NAME", help="Default: the library's model.")
    ] = None,
    activate: Annotated[bool, Option(help="Let searches use this model from now on.")] = False,
    edges: Annotated[
        bool, Option(help="Embed edges too, for `pgrag edges`, now and whenever pages are indexed.")
    ] = False,
) -> Output:
    """Embed the texts of a library that lack a vector of a model, and build its index.

    Two models coexist until --activate switches.
    """
    with resumable():
        count = app.embed(library, model, activate=activate, edges=edges)
        used = model or app.library_model(library)
    switched = [f"Searches in {library} use {used} from now on."] if activate else []
    return text(
        {"library": library, "model": used, "embedded": count, "activated": activate},
        f"{counted(count, 'text')} of {library} embedded by {used}.",
        *switched,
    )


def _print_report(report: IndexReport, *, verbose: bool) -> None:
    for warning in _first(report.warnings):
        warn(warning)
    print_text(_plan(report, verbose=verbose) if report.dry_run else _summary(report))
    if report.ignored:
        notice(
            f"{counted(report.ignored, 'file')} left out by .gitignore or .ignore;"
            " --include-ignored reads them too."
        )
    for group in report.skipped:
        skipped = _shown(group.examples, group.count)
        notice(f"Skipped, {group.reason}: {skipped}. {group.hint}".rstrip())


def _failures(report: IndexReport) -> list[str]:
    """Return why pages failed, with those together that have one reason."""
    keys_of: defaultdict[str, list[str]] = defaultdict(list)
    for key, reason in report.failed.items():
        keys_of[reason.removeprefix(f"{key}: ")].append(key)
    return _first([f"{_shown(keys, len(keys))}: {reason}" for reason, keys in keys_of.items()])


def _shown(names: Sequence[str], count: int) -> str:
    """Return a name, or their number with examples."""
    if count == 1:
        return names[0]
    return f"{count:,} files ({', '.join(names[:3])}{' …' if count > 3 else ''})"


def _first(messages: Sequence[str]) -> list[str]:
    more = len(messages) - _LISTED
    return [*messages[:_LISTED], *([f"… and {more:,} more; --json lists all."] if more > 0 else [])]


def _summary(report: IndexReport) -> str:
    """Return a summary of a run, in a few lines."""
    name = label(report.library, report.version)
    pages, documents = counted(report.written, "page"), counted(report.documents, "document")
    changed = (report.written, report.removed, report.embedded, report.failed)
    if not any((*changed, *report.enriched.values())):
        kept = counted(report.unchanged, "page")
        return f"Nothing changed in {name}: {kept} as before ({report.seconds:.1f} s)."
    seconds = max(report.seconds, 0.001)
    renamed = f", {len(report.renamed):,} renamed" if report.renamed else ""
    failed = f", {len(report.failed):,} failed" if report.failed else ""
    edges = counted(report.edges, "edge")
    return "\n".join(
        [
            f"{name} from {report.source}",
            *_options(report),
            f"  {pages} written, {report.unchanged:,} unchanged,"
            f" {report.removed:,} removed{renamed}{failed}",
            f"  {documents} and {edges} written, {counted(report.embedded, 'text')} embedded",
            f"  {report.seconds:.1f} s: {report.pages / seconds:,.0f} pages/s,"
            f" {report.documents / seconds:,.0f} documents/s",
            *(
                f"  {kind} written by a language model for {counted(number, 'document')}"
                for kind, number in report.enriched.items()
                if number
            ),
            *_broken_links(report),
            *([f"  {name} was not made: it would be empty"] if report.discarded else []),
        ]
    )


def _options(report: IndexReport) -> Iterator[str]:
    """Yield what was guessed, and what changed options rewrite."""
    if report.slugs_from:
        yield f"  anchors as {report.slugs} makes them: {report.slugs_from}"
    yield from (f"  {change}" for change in report.changes)


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
    lines += (line.strip() for line in _options(report))
    lines += (f"rename  {old} → {new}" for old, new in report.renamed.items())
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
