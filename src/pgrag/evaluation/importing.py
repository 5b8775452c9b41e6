"""A labelled set and its corpus into the database."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgrag.errors import InvalidInput, SourceError
from pgrag.evaluation.corpus import corpus_of, open_corpus, sample
from pgrag.evaluation.labelled import read_labelled_set
from pgrag.ingest.page import PageOptions

if TYPE_CHECKING:
    from pgrag.app import App
    from pgrag.ingest.pipeline import IndexReport, Progress

PLAIN = "plain"
"""The variant of a library whose pages have lost their front matter."""
WHOLE = "whole"
"""The variant of a library in which camelCase words are not split."""
UNLINKED = "unlinked"
"""The variant of a library whose links have lost their words; the edges are there."""
VARIANTS = (PLAIN, WHOLE, UNLINKED)
UNITS = ("page", "section", "document")
"""What a judgement may name."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What came in: numbers of queries and judgements, ids of queries that nobody judged."""

    name: str
    library: str
    language: str
    queries: int
    judgements: int
    unjudged: list[str]
    index: IndexReport


def library_of(name: str) -> str:
    """The library that the corpus of a set becomes."""
    return f"eval-{name.strip().lower()}"


def import_set(
    app: App,
    name: str,
    folder: Path,
    *,
    corpus: Path | None = None,
    language: str | None = None,
    unit: str = "page",
    progress: Progress | None = None,
) -> Imported:
    """Index the corpus as library `eval-NAME` and import the set, replacing what was there.

    Without `corpus` it is the set's own `corpus.jsonl`; without `language` that of a corpus.jsonl
    is told from its text. Raises SourceError, naming file and line, before anything is written.
    """
    if unit not in UNITS:
        raise InvalidInput(f"What is judged must be page, section or document, got {unit!r}.")
    labelled = read_labelled_set(folder)
    path = corpus or corpus_of(folder)
    with open_corpus(path) as found:
        if unit == "page":
            labelled.require_pages([file.key for file in found.files()])
        if language is None and path.suffix == ".jsonl":
            [row] = app.database.call("likely_language", input=sample(found))
            language = str(row["likely_language"])
        report = app.index_source(
            library_of(name), "", found, PageOptions(language=language), progress=progress
        )
    if report.failed:
        key, reason = next(iter(report.failed.items()))
        raise SourceError(f"{key}: {reason}", hint="Every page of a labelled corpus must be read.")
    source = {
        "path": str(folder.resolve()), "corpus": str(path.resolve()), "language": language,
    }  # fmt: skip
    [row] = app.database.call(
        "import_evaluation_set",
        name=name,
        library=library_of(name),
        queries=json.dumps(labelled.document()),
        unit=unit,
        source=source,
    )
    return Imported(
        name=name.strip().lower(),
        library=library_of(name),
        language=language or "english",
        queries=row["imported_queries"],
        judgements=row["imported_judgements"],
        unjudged=row["unjudged"],
        index=report,
    )


def index_variant(app: App, evaluation_set: dict[str, Any], variant: str) -> IndexReport:
    """Bring the variant of a set's library up to date; its corpus must still be where it was.

    Raises SourceError where it is not.
    """
    if variant not in VARIANTS:
        raise InvalidInput(
            f"There is no variant {variant!r}.",
            hint=f"{PLAIN!r} has no front matter, {WHOLE!r} keeps camelCase words whole,"
            f" {UNLINKED!r} has no words of links.",
        )
    source = evaluation_set["source"]
    library = f"{evaluation_set['library']}-{variant}"
    with open_corpus(Path(source["corpus"]), plain=variant == PLAIN) as found:
        report = app.index_source(
            library,
            "",
            found,
            PageOptions(language=source.get("language"), link_texts=variant != UNLINKED),
        )
    if variant == WHOLE:
        app.database.call("_keep_identifiers_whole", library=library)
    return report


def imported_document(imported: Imported) -> dict[str, Any]:
    """What is said about an import, as JSON."""
    return asdict(imported)
