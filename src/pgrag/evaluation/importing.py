"""Imports a labelled set and its corpus into the database."""

import json
from dataclasses import dataclass
from pathlib import Path

from pgrag.evaluation.labelled import corpus_of, open_corpus, read_labelled_set, sample
from pgrag.ground.errors import InvalidInput, SourceError
from pgrag.ingest.reader import Progress
from pgrag.ingest.report import IndexReport
from pgrag.service.app import App

UNITS = ("page", "section", "document")
"""The targets that a judgement may name."""


@dataclass(frozen=True, slots=True)
class Imported:
    """Result of an import: numbers of queries and judgements, ids of queries without judgements."""

    name: str
    library: str
    language: str
    queries: int
    judgements: int
    unjudged: list[str]
    index: IndexReport


def library_of(name: str) -> str:
    """The name of the library that holds the corpus of a set."""
    return f"eval-{name.strip().lower()}"


def import_set(
    app: App,
    name: str,
    folder: Path,
    *,
    corpus: Path | None = None,
    language: str | None = None,
    unit: str = "page",
    held_out: bool = False,
    progress: Progress | None = None,
) -> Imported:
    """Index the corpus as library `eval-NAME` and import the set, replacing an earlier import.
    `corpus` defaults to the set's own `corpus.jsonl`; `language` is detected from the text of a
    corpus.jsonl. Tuning never learns from a set that is `held_out`. Raises SourceError, naming file
    and line, before anything is written.
    """
    if unit not in UNITS:
        raise InvalidInput(f"The judged unit must be page, section or document, got {unit!r}.")
    labelled = read_labelled_set(folder)
    path = corpus or corpus_of(folder)
    with open_corpus(path) as pages:
        if unit == "page":
            labelled.require_pages([file.key for file in pages.files()])
        if language is None and path.suffix == ".jsonl":
            [row] = app.database.call("likely_language", input=sample(pages))
            language = str(row["likely_language"])
        report = app.index(library_of(name), "", pages, language=language, progress=progress)
    if report.failed:
        key, reason = next(iter(report.failed.items()))
        raise SourceError(f"{key}: {reason}", hint="Every page of a labelled corpus must be read.")
    source = {
        "path": str(folder.resolve()), "corpus": str(path.resolve()), "language": language,
        "held_out": held_out,
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
