"""`pgrag index` and `pgrag embed`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from typer import Argument, Option

from pgrag.cli import options
from pgrag.cli.command import App, command, taking, text
from pgrag.cli.dialect import AS_OPTION
from pgrag.cli.jobs import queued
from pgrag.cli.notations import Target, counted, label, misuse, parse_duration, parse_target
from pgrag.cli.output import Output, complain, notice, print_text
from pgrag.cli.progress import shown_progress
from pgrag.cli.run_report import failures, print_report, summary
from pgrag.cli.session import library_names, resumable
from pgrag.ground.errors import NotFound, PgragError, SourceError
from pgrag.ingest.arguments import JobArguments
from pgrag.ingest.report import IndexReport

if TYPE_CHECKING:
    from pgrag.ingest.reader import Progress

#: A version, and the report of its run or why there is none.
_Run: TypeAlias = "tuple[dict[str, Any], IndexReport | PgragError]"
#: Options that can be combined with --changed-config.
_WITH_CHANGED = frozenset(
    {"target", "source", "changed_config", "dry_run", "verbose", "as_json", AS_OPTION}
)


@taking(JobArguments)
def index(
    app: App,
    context: typer.Context,
    target: Annotated[
        str | None,
        Argument(
            metavar="LIBRARY[@VERSION]",
            help="The target: jest (unversioned), jest@29.7.",
            autocompletion=library_names,
        ),
    ] = None,
    source: Annotated[
        list[str] | None,
        Argument(
            metavar="[SOURCE]",
            help="A folder, a file, an archive, the path or address of a git repository, or the"
            " address of a website, a sitemap or an llms.txt; default: that of the last run.",
        ),
    ] = None,
    *,
    watch: Annotated[bool, Option(help="Keep running; index changes within two seconds.")] = False,
    changed_config: Annotated[
        bool,
        Option(
            help="Without a source: index pages of these libraries, or of all, again if they were"
            " read with other page types."
        ),
    ] = False,
    dry_run: Annotated[bool, Option(help="Write nothing, print what would change.")] = False,
    verbose: Annotated[bool, Option(help="With --dry-run: list each passage and edge.")] = False,
    job: Annotated[bool, Option(help="Queue it for a worker; see `pgrag worker`.")] = False,
    every: Annotated[str | None, Option(metavar="TIME", help="Repeat it, as a job: 12h.")] = None,
    as_json: options.Json = False,
    arguments: dict[str, Any],
) -> Output:
    """Bring a version of a library to the state of a source.

    Only changes are read, written and embedded, so repeated runs are cheap. Without @VERSION the
    documentation is unversioned. Without SOURCE the named version, or each, is read again from
    where it came from, with the options of its last run; of a repository the newest commit of the
    branch. The version remembers --base-url, --language, --profile, --chunk-sizes, --slugs and
    --converter; an empty value (--base-url '') forgets one. Exit status 1 means that some pages
    failed; the rest are indexed.

    With --changed-config LIBRARY … no source is given: every version with pages that were read with
    other page types (`pgrag config show page_types`) is indexed again, from its source and with its
    options. Exit status 1 means that a source is gone, or pages failed.
    """
    if changed_config:
        _refuse_other_options(context)
        libraries = [] if target is None else [target, *(source or ())]
        return _index_changed(app, libraries, dry_run=dry_run, verbose=verbose, as_json=as_json)
    if target is None or len(source or ()) > 1:
        raise misuse(
            "SOURCE", "needs a library and one source: pgrag index LIBRARY[@VERSION] SOURCE."
        )
    library, is_job = parse_target(target), job or every is not None
    tags, is_tree = arguments.get("tags"), "versions" in arguments
    _refuse_contradictions(library, arguments, has_source=source is not None)
    if source is None:
        versions = _stored_versions(app, library)
        is_whole_tree = library.version is None and any(_tree_of(app, each) for each in versions)
        if len(versions) > 1 or is_whole_tree:
            if watch or is_job or "ref" in arguments:
                raise misuse("LIBRARY", f"{library} has several versions: name one, or a source.")
            return _refreshed(
                app, versions, arguments, dry_run=dry_run, verbose=verbose, as_json=as_json
            )
        [library] = versions
        arguments = app.remembered(library.library, library.version or "") | arguments
        if is_job and "versions" in arguments:
            library = Target(library.library, None)  # a job reads all versions of a tree
        source = [arguments.pop("source")]
    if watch:
        if tags or "ref" in arguments or dry_run or as_json or is_job:
            raise misuse(
                "--watch",
                "follows a folder: leave out --tags, --ref, --dry-run, --job, --every and --json.",
            )
        return _watch(app, library, source[0], arguments)
    if is_job:
        if dry_run:
            raise misuse("--dry-run", "cannot be combined with --job or --every.")
        wait = None if every is None else parse_duration(every, "--every", least=60)
        return queued(app, library, source[0], arguments, every=wait)
    if tags or is_tree:
        return _index_each(
            app, library.library, source[0], arguments,
            dry_run=dry_run, verbose=verbose, as_json=as_json,
        )  # fmt: skip
    with resumable(), shown_progress(f"Indexing {library}", hidden=as_json) as progress:
        report = app.index(
            library.library, library.version, source[0],
            dry_run=dry_run, progress=progress, **arguments,
        )  # fmt: skip
    return Output(
        asdict(report), lambda: print_report(report, verbose=verbose), errors=failures(report)
    )


def _refuse_contradictions(
    library: Target, arguments: Mapping[str, Any], *, has_source: bool
) -> None:
    if "versions" in arguments and (
        "tags" in arguments or library.version is not None or not has_source
    ):
        raise misuse(
            "--versions",
            "makes versions of the folders of a source: pgrag index LIBRARY SOURCE --versions auto,"
            " without --tags and @VERSION.",
        )
    if "tags" in arguments and not has_source:
        raise misuse("--tags", "needs a source: pgrag index LIBRARY SOURCE --tags GLOB.")
    if "tags" in arguments and (library.version or "ref" in arguments):
        raise misuse(
            "--tags", "the versions and refs are those of the tags: leave out @VERSION and --ref."
        )


def _stored_versions(app: App, library: Target) -> list[Target]:
    """Return the named version of a library, or all, which must exist."""
    try:
        rows = app.database.call("library_versions", library=library.library)
    except NotFound as error:
        is_path = Path(library.library).expanduser().exists()
        made = f"NAME {library}" if is_path else f"{library} SOURCE"
        hint = f"A new library needs a name and a source: pgrag index {made}."
        raise SourceError(error.message, hint=hint) from error
    wanted = None if library.version is None else library.version.lower()
    versions = [row["version"] for row in rows if wanted in (None, row["version"])]
    return [Target(library.library, version) for version in versions] or [library]


def _tree_of(app: App, target: Target) -> dict[str, Any] | None:
    """Return the arguments of the tree of versions that a version is from; None if of none."""
    with suppress(SourceError):
        known = app.remembered(target.library, target.version or "")
        return known if known.get("versions") else None
    return None


def _refreshed(
    app: App, versions: Sequence[Target], arguments: dict[str, Any], *, dry_run: bool, **shown: bool
) -> Output:
    """Index versions again, each from its own source; those of one tree once, with those that are
    new in it.
    """

    def of_trees() -> Iterator[_Run]:
        seen: list[dict[str, Any]] = []
        for each in versions:
            known = _tree_of(app, each)
            if not known or known in seen:
                continue
            seen.append(known)
            for label_, outcome in app.index_versions(
                each.library, **known | arguments, dry_run=dry_run
            ):
                yield {"library": each.library, "version": label_}, outcome

    def runs() -> Iterator[_Run]:
        yield from of_trees()
        for each in versions:
            if _tree_of(app, each):
                continue
            outcome: IndexReport | PgragError
            try:
                with shown_progress(f"Indexing {each}", hidden=shown["as_json"]) as progress:
                    known = app.remembered(each.library, each.version or "") | arguments
                    outcome = app.index(
                        each.library, each.version, **known, dry_run=dry_run, progress=progress
                    )
            except SourceError as error:
                outcome = error
            yield each.scope, outcome

    with resumable():
        return _reported(runs(), **shown)


def _watch(app: App, target: Target, source: str, arguments: dict[str, Any]) -> Output:
    """Print what each run changed, and new failures, until Ctrl+C."""
    complaints: set[str] = set()
    runs = app.watch(target.library, target.version or "", source, **arguments)
    with suppress(KeyboardInterrupt):
        for number, outcome in enumerate(runs):
            if isinstance(outcome, PgragError):
                current = {outcome.message}
            else:
                current = {*outcome.warnings, *failures(outcome)}
                if number == 0 or outcome.written or outcome.removed:
                    print_text(f"{datetime.now():%H:%M:%S} {summary(outcome)}")
                    if number == 0:
                        notice(f"Watching {outcome.source}; Ctrl+C ends it.")
            for complaint in sorted(current - complaints):
                complain(complaint)
            complaints = current
    return text(None, "Watching has ended; indexed pages stay.")


def _index_each(
    app: App, library: str, source: str, arguments: dict[str, Any], *, dry_run: bool, **shown: bool
) -> Output:
    """Index the version of each tag, or of each folder of a version."""
    with resumable(), ExitStack() as bars:

        def progress(version: str) -> Progress:
            bars.close()
            title = f"Indexing {label(library, version)}"
            return bars.enter_context(shown_progress(title, hidden=shown["as_json"]))

        if pattern := arguments.pop("tags", None):
            each = app.index_tags(
                library, source, pattern, dry_run=dry_run, progress=progress, **arguments
            )
        else:
            each = app.index_versions(
                library, source, dry_run=dry_run, progress=progress, **arguments
            )

        def runs() -> Iterator[_Run]:
            for version, outcome in each:
                bars.close()
                yield {"library": library, "version": version}, outcome

        return _reported(runs(), **shown)


def _reported(runs: Iterable[_Run], *, verbose: bool, as_json: bool) -> Output:
    """Report runs one by one, or together with --json; continue after those that fail."""
    results: list[dict[str, Any]] = []
    for version, outcome in runs:
        if isinstance(outcome, PgragError):
            results.append(version | {"report": None, "error": str(outcome)})
            name = label(version["library"], version["version"])
            complain(f"{name}: {outcome.message}", outcome.hint)
            continue
        results.append(version | {"report": asdict(outcome), "error": None})
        if not as_json:
            print_report(outcome, verbose=verbose)
        for failure in failures(outcome):
            complain(failure)
    return text(results, failed=any(each["error"] or each["report"]["failed"] for each in results))


def _refuse_other_options(context: typer.Context) -> None:
    for name in context.params.keys() - _WITH_CHANGED:
        where = context.get_parameter_source(name)
        if where is not None and where.name != "DEFAULT":
            raise misuse(
                "--changed-config",
                "takes no other options: pages keep those they were indexed with.",
            )


def _index_changed(app: App, libraries: Sequence[str], *, dry_run: bool, **shown: bool) -> Output:
    targets = [parse_target(name) for name in libraries]
    rows = [
        row
        for target in targets
        for row in app.database.call("outdated_pages", wanted=target.library)
        if target.version in (None, row["version"])
    ]
    rows = rows if targets else app.database.call("outdated_pages")
    if not rows:
        return text([], "Every page was read with the current page types.")

    def runs() -> Iterator[_Run]:
        for row in rows:
            title = f"Indexing {label(row['library'], row['version'])}"
            outcome: IndexReport | SourceError
            try:
                with shown_progress(title, hidden=shown["as_json"]) as progress:
                    outcome = app.index_again(row, dry_run=dry_run, progress=progress)
            except SourceError as error:
                outcome = error
            yield {key: row[key] for key in ("library", "version", "pages")}, outcome

    with resumable():
        return _reported(runs(), **shown)


@command
def embed(
    app: App,
    library: options.LibraryName,
    model: Annotated[str | None, Option(metavar="NAME", help="Default: the library's.")] = None,
    activate: Annotated[bool, Option(help="Switch searches to this model.")] = False,
    edges: Annotated[bool, Option(help="Embed edges, too, now and at each indexing.")] = False,
) -> Output:
    """Embed the texts of a library that lack a vector of a model, and build its index."""
    with resumable():
        count = app.embed(library, model, activate=activate, edges=edges)
        used = model or app.library_model(library)
    switched = [f"Searches in {library} use {used} from now on."] if activate else []
    return text(
        {"library": library, "model": used, "embedded": count, "activated": activate},
        f"{counted(count, 'text')} of {library} embedded by {used}.",
        *switched,
    )
