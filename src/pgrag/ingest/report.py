"""The report of an indexing run or of a dry run."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pgrag.ground.errors import InvalidInput, SourceError
from pgrag.ingest.formats.loss import Words
from pgrag.ingest.source.source import EXAMPLES, Skipped

#: How many warnings a report keeps, and how many failed pages.
MOST_KEPT = 1_000
#: The number of pages that lack most words.
MOST_LOSSES = 10


@dataclass(frozen=True, slots=True)
class PlannedDocument:
    """A passage in brief; one that is not searched repeats the text of another."""

    level: int
    path: tuple[str, ...]
    line_start: int
    line_end: int
    characters: int
    is_searched: bool


@dataclass(frozen=True, slots=True)
class PlannedEdge:
    """An edge as written in the source; targets are resolved after all pages are stored."""

    line: int
    kind: str
    rule: str
    confidence: float
    target: str
    fragment: str | None


@dataclass(frozen=True, slots=True)
class PlannedPage:
    """The passages and edges of a page that would be written, in source order."""

    title: str
    documents: tuple[PlannedDocument, ...]
    edges: tuple[PlannedEdge, ...]

    @property
    def searched(self) -> int:
        """The number of searched passages, which is what a run counts as written."""
        return sum(document.is_searched for document in self.documents)


@dataclass(frozen=True, slots=True)
class Loss:
    """A page of which more than a tenth of the words is lost."""

    page: str
    words_shown: int
    words_kept: int


@dataclass(slots=True)
class IndexReport:
    """The report of an indexing run. `failed` maps a page to the reason, `renamed` the old key of a
    page to its new one, `links` each link state to a number, `enriched` each kind to the number of
    passages; `documents` counts passages. `ignored` files are left out by ignore files, `skipped`
    ones are no pages. With `discarded` the new version does not exist. A dry run lists `planned`
    pages, and those `gone`. `slugs` names the generator of the anchors, `slugs_from` its
    configuration. Of `words_shown` in the pages that were read, where their format counts them,
    `words_kept` are in their Markdown; `lossy` pages lack more than a tenth, and `losses` are those
    that lack most. `changes` are the options that differ from the last run. Of `warnings` and
    `failed` the first `MOST_KEPT` stay. `notes` is what a user may want to know of the source.
    `versions` are those of a report on several.
    """

    library: str
    version: str
    source: str
    pages: int = 0
    written: int = 0
    unchanged: int = 0
    removed: int = 0
    renamed: dict[str, str] = field(default_factory=dict)
    ignored: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    documents: int = 0
    edges: int = 0
    embedded: int = 0
    seconds: float = 0.0
    dry_run: bool = False
    discarded: bool = False
    warnings: list[str] = field(default_factory=list)
    more_warnings: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    more_failed: int = 0
    planned: dict[str, PlannedPage] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    words_shown: int = 0
    words_kept: int = 0
    lossy: int = 0
    losses: list[Loss] = field(default_factory=list)
    links: dict[str, int] = field(default_factory=dict)
    enriched: dict[str, int] = field(default_factory=dict)
    slugs: str = "github"
    slugs_from: str | None = None
    changes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)

    def warn(self, *warnings: str) -> None:
        """Keep the first warnings, and count the others."""
        kept = warnings[: max(0, MOST_KEPT - len(self.warnings))]
        self.warnings += kept
        self.more_warnings += len(warnings) - len(kept)

    def fail(self, key: str, reason: str) -> None:
        """Keep why the first pages failed, and count the others."""
        if len(self.failed) < MOST_KEPT:
            self.failed[key] = reason
        else:
            self.more_failed += 1

    def count_words(self, key: str, words: Words | None) -> None:
        """Add up how many words of a page are kept, if its reader counts them."""
        if words is None:
            return
        self.words_shown += words.shown
        self.words_kept += words.kept
        if words.are_lost:
            self.lossy += 1
            self._note([*self.losses, Loss(key, words.shown, words.kept)])

    def _note(self, losses: list[Loss]) -> None:
        """Keep the largest losses."""
        self.losses = sorted(losses, key=lambda each: each.words_kept - each.words_shown)[
            :MOST_LOSSES
        ]

    def plan(self, key: str, page: Mapping[str, Any]) -> None:
        """Count and list a page that a dry run would write, as `pgrag.ingest_page` takes it."""
        documents = tuple(
            PlannedDocument(
                chunk["level"],
                tuple(chunk["path"]),
                chunk["line_start"],
                chunk["line_end"],
                characters=len(chunk["content"]),
                is_searched=chunk["covers"] > 0,
            )
            for chunk in page["documents"]
        )
        edges = tuple(
            PlannedEdge(**{name: edge[name] for name in PlannedEdge.__slots__})
            for edge in page["edges"]
        )
        self.planned[key] = planned = PlannedPage(page["title"], documents, edges)
        self.written += 1
        self.documents += planned.searched
        self.edges += len(edges)


def together(
    library: str, source: str, runs: Iterable[tuple[str, IndexReport | SourceError | InvalidInput]]
) -> IndexReport:
    """Return one report on a run for each version. Raises the first error if every run failed."""
    whole = IndexReport(library, "", source)
    links: Counter[str] = Counter()
    enriched: Counter[str] = Counter()
    skipped: dict[tuple[str, str], Skipped] = {}
    faults: dict[str, SourceError | InvalidInput] = {}
    for version, run in runs:
        if not isinstance(run, IndexReport):
            faults[version] = run
            continue
        whole.versions.append(version)
        for count in _COUNTS:
            setattr(whole, count, getattr(whole, count) + getattr(run, count))
        whole.warn(*(f"{version}: {warning}" for warning in run.warnings))
        whole.changes += (f"{version}: {change}" for change in run.changes)
        whole.notes += (note for note in run.notes if note not in whole.notes)
        for key, reason in run.failed.items():
            whole.fail(f"{version}: {key}", reason)
        whole.renamed |= {f"{version}: {old}": new for old, new in run.renamed.items()}
        links.update(run.links)
        enriched.update(run.enriched)
        whole.slugs, whole.slugs_from, whole.dry_run = run.slugs, run.slugs_from, run.dry_run
        whole._note(
            [*whole.losses, *(replace(each, page=f"{version}: {each.page}") for each in run.losses)]
        )
        for group in run.skipped:
            known = skipped.get((group.reason, group.hint), replace(group, count=0, examples=()))
            examples = (*known.examples, *(f"{version}: {name}" for name in group.examples))
            skipped[group.reason, group.hint] = replace(
                known, count=known.count + group.count, examples=examples[:EXAMPLES]
            )
    if faults and not whole.versions:
        raise next(iter(faults.values()))
    whole.failed = {version: str(fault) for version, fault in faults.items()} | whole.failed
    whole.skipped = sorted(skipped.values(), key=lambda group: -group.count)
    whole.links, whole.enriched = dict(links), dict(enriched)
    return whole


_COUNTS = (
    "pages", "written", "unchanged", "removed", "ignored", "documents", "edges", "embedded",
    "more_warnings", "more_failed", "seconds", "words_shown", "words_kept", "lossy",
)  # fmt: skip
