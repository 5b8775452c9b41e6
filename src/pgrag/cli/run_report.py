"""Reports of indexing runs."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from pgrag.cli.notations import Target, counted, label
from pgrag.cli.output import notice, print_text, warn
from pgrag.ingest.report import MOST_KEPT, IndexReport, PlannedPage

_FAULTS = {
    "unresolved": "lead to no page",
    "ambiguous": "could lead to several",
    "fragment": "to a missing heading",
}
_LISTED = 20
"""The maximum number of warnings, and of failures; --json lists more."""
_LEVELS = ("page", "section", "paragraph")


def print_report(report: IndexReport, *, verbose: bool) -> None:
    """Print what a run did, what it left out, and why."""
    for warning in _first(report.warnings, report.more_warnings):
        warn(warning)
    print_text(_plan(report, verbose=verbose) if report.dry_run else summary(report))
    if report.ignored:
        notice(
            f"{counted(report.ignored, 'file')} left out by .gitignore or .ignore;"
            " --include-ignored reads them too."
        )
    for note in report.notes:
        notice(note)
    for group in report.skipped:
        noun = "addresses" if any("://" in name for name in group.examples) else "files"
        skipped = _shown(group.examples, group.count, noun)
        notice(f"Skipped, {group.reason}: {skipped}. {group.hint}".rstrip())


def failures(report: IndexReport) -> list[str]:
    """Return why pages failed, grouped by reason."""
    keys_of: defaultdict[str, list[str]] = defaultdict(list)
    for key, reason in report.failed.items():
        keys_of[reason.removeprefix(f"{key}: ")].append(key)
    noun = "pages" if "://" in report.source else "files"
    reasons = [f"{_shown(keys, len(keys), noun)}: {reason}" for reason, keys in keys_of.items()]
    return _first(reasons, report.more_failed)


def _shown(names: Sequence[str], count: int, noun: str) -> str:
    if count == 1:
        return names[0]
    return f"{count:,} {noun} ({', '.join(names[:3])}{' …' if count > 3 else ''})"


def _first(messages: Sequence[str], not_kept: int = 0) -> list[str]:
    more = max(0, len(messages) - _LISTED) + not_kept
    listed = f"the first {MOST_KEPT:,}" if not_kept else "all"
    note = f"… and {more:,} more; --json lists {listed}."
    return [*messages[:_LISTED], *([note] if more else [])]


def summary(report: IndexReport) -> str:
    """Return a summary of a run, in a few lines."""
    name = label(report.library, report.version)
    pages, passages = counted(report.written, "page"), counted(report.documents, "passage")
    changed = (report.written, report.removed, report.embedded, report.failed)
    if not any((*changed, *report.enriched.values())):
        kept = counted(report.unchanged, "page")
        return f"Nothing changed in {name}: {kept} as before ({report.seconds:.1f} s)."
    seconds = max(report.seconds, 0.001)
    renamed = f", {len(report.renamed):,} renamed" if report.renamed else ""
    failed = f", {len(report.failed) + report.more_failed:,} failed" if report.failed else ""
    edges = counted(report.edges, "edge")
    return "\n".join(
        [
            f"{name} from {report.source}",
            *_options(report),
            f"  {pages} written, {report.unchanged:,} unchanged,"
            f" {report.removed:,} removed{renamed}{failed}",
            f"  {passages} and {edges} written, {counted(report.embedded, 'text')} embedded",
            f"  {report.seconds:.1f} s: {report.pages / seconds:,.0f} pages/s,"
            f" {report.documents / seconds:,.0f} passages/s",
            *(
                f"  {kind} written by a language model for {counted(number, 'passage')}"
                for kind, number in report.enriched.items()
                if number
            ),
            *_losses(report),
            *_broken_links(report),
            *([f"  {name} was not created: it would be empty"] if report.discarded else []),
        ]
    )


def _options(report: IndexReport) -> Iterator[str]:
    """Yield the detected slug style, and what changed options rewrite."""
    if report.slugs_from:
        yield f"  anchors as {report.slugs} makes them: {report.slugs_from}"
    yield from (f"  {change}" for change in report.changes)


def _losses(report: IndexReport) -> Iterator[str]:
    """Yield how much of the text is read, and the pages that lack most."""
    if not report.lossy:
        return
    yield (
        f"  text: {report.words_kept / report.words_shown:.1%} of {report.words_shown:,} words"
        f" are read; {counted(report.lossy, 'page')} lack more than a tenth:"
    )
    for loss in report.losses[:3]:
        yield f"    {loss.page}: {loss.words_kept:,} of {loss.words_shown:,} words"


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
        sizes = f"{counted(page.searched, 'passage')}, {counted(len(page.edges), 'edge')}"
        lines.append(f"write   {key} ({sizes})")
        if verbose:
            lines += _details(page)
    lines += (line.strip() for line in (*_options(report), *_losses(report)))
    lines += (f"rename  {old} → {new}" for old, new in report.renamed.items())
    lines += (f"remove  {key}" for key in report.gone)
    lines.append(
        f"Nothing was written. {label(report.library, report.version)} would get"
        f" {counted(report.written, 'page')} with {counted(report.documents, 'passage')} and"
        f" {counted(report.edges, 'edge')}; {report.unchanged:,} unchanged,"
        f" {report.removed:,} removed."
    )
    return "\n".join(lines)


def _details(page: PlannedPage) -> Iterator[str]:
    """Yield a line for each passage of a page, then for each edge."""
    for passage in page.documents:
        extent, level = f"{passage.line_start}-{passage.line_end}", _LEVELS[passage.level]
        covered = "" if passage.is_searched else "  (its text is in another)"
        size = f"{passage.characters:>5,} characters"
        yield f"  lines {extent:<9} {level:<9} {size}  {' / '.join(passage.path)}{covered}"
    for edge in page.edges:
        target = edge.target if edge.fragment is None else f"{edge.target}#{edge.fragment}"
        yield f"  line  {edge.line:<9} {edge.kind} -> {target}  ({edge.rule}, {edge.confidence:g})"
